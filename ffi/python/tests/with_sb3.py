"""Stable-Baselines3's side of a model: its evaluate_policy takes one, and load_results reads its monitor.csv.

Run alone: an empty torch stands in for the real one, which is 5 GB and named in annotations only."""

import sys
from pathlib import Path

import gymnasium

import rlcore

# Behind the package, whose name a module there has.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/system/parity"))

import without_torch  # noqa: E402, F401 - before stable_baselines3

from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import load_results  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

folder = Path(sys.argv[1])
model = rlcore.PPO("CartPole-v1", num_envs=8, learning_rate=3e-3, monitor=folder).learn(80_000)
results = load_results(str(folder))
assert len(results) == model.stats["num_episodes"], len(results)
assert abs(results["r"].tail(100).mean() - model.stats["return_mean"]) < 1e-3
mean, deviation = evaluate_policy(model, DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 4), n_eval_episodes=12, warn=False)
print(f"{len(results)} episodes in monitor.csv; evaluate_policy: {mean:.1f} +/- {deviation:.1f}")
assert mean > 400, mean

memory = rlcore.PPO("CartPoleNoVel", policy=[rlcore.layers.lstm(16)], monitor=folder / "memory").learn(2000)
mean, _ = evaluate_policy(memory, DummyVecEnv([lambda: rlcore.make("CartPoleNoVel")] * 2), n_eval_episodes=4, warn=False)
assert mean > 5, mean
print("ok")
