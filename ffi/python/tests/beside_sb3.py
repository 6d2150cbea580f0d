"""The seconds of processor time that CartPole-v1 takes until the mean return of 100 episodes is 475: rlcore from Python and
Stable-Baselines3 with the settings of RL Baselines3 Zoo, in turns on one core. `beside_sb3.py [SEEDS]`. Needs
stable-baselines3 with its torch (5 GB, so CI does not run this)."""

import os
import statistics
import sys
import time
from collections import deque

os.environ["OMP_NUM_THREADS"] = "1"

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

import rlcore

GOAL, STEPS = 475, 100_000


class Until(BaseCallback):
    def __init__(self):
        super().__init__()
        self.returns, self.passed = deque(maxlen=100), None

    def _on_step(self):
        self.returns.extend(info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
        if len(self.returns) == 100 and sum(self.returns) >= 100 * GOAL:
            self.passed = self.num_timesteps
        return self.passed is None


def theirs(seed):
    torch.manual_seed(seed)
    env = DummyVecEnv([lambda: Monitor(gymnasium.make("CartPole-v1"))] * 8)
    model = PPO(
        "MlpPolicy", env, n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0, seed=seed, device="cpu",
        learning_rate=lambda left: left * 1e-3, clip_range=lambda left: left * 0.2,
    )  # fmt: skip
    until = Until()
    model.learn(STEPS, callback=until)
    return until.passed


def ours(seed):
    """The settings of examples-c/shared/tasks.c."""
    model = rlcore.PPO(
        "CartPole-v1", num_envs=4, n_steps=64, num_minibatches=8, n_epochs=1, learning_rate=3e-3, gamma=0.98, gae_lambda=0.8, ent_coef=0,
        total_steps=STEPS, seed=seed,
    )  # fmt: skip
    model.learn(STEPS, callback=lambda m: not m.stats["return_mean"] >= GOAL)
    return model.num_timesteps if model.stats["return_mean"] >= GOAL else None


def timed(train, seed):
    begin = time.process_time()
    passed = train(seed)
    return passed, time.process_time() - begin


torch.set_num_threads(1)
ours(0)  # what is loaded only once
seeds, times = int(sys.argv[1]) if len(sys.argv) > 1 else 5, {ours: [], theirs: []}
for seed in range(1, seeds + 1):
    for train in (ours, theirs):
        passed, seconds = timed(train, seed)
        print(f"{train.__name__} seed {seed}: {f'passed after {passed} steps' if passed else 'not passed'}, {seconds:.3f} s")
        if passed:
            times[train].append(seconds)
middle = {train: statistics.median(taken) for train, taken in times.items()}
with open("/proc/cpuinfo") if os.path.exists("/proc/cpuinfo") else os.popen("sysctl -n machdep.cpu.brand_string") as told:
    processor = next((line.split(":")[-1].strip() for line in told if "model name" in line or ":" not in line), "a processor")
print(f"{processor}: {middle[ours]:.3f} s and {middle[theirs]:.2f} s: {middle[theirs] / middle[ours]:.0f} times")
