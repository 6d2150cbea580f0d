"""Gymnasium's classic control environments, seed for seed: 100,000 vector steps each, resets and all."""

import sys
import warnings

import gymnasium as gym
import numpy as np

import rlcore

ENVS = {1: "CartPole-v1", 2: "MountainCar-v0", 3: "MountainCarContinuous-v0", 4: "Acrobot-v1", 5: "Pendulum-v1"}
STEPS, SEED = 100_000, 11
MODES = {rlcore.SAME_STEP: gym.vector.AutoresetMode.SAME_STEP, rlcore.NEXT_STEP: gym.vector.AutoresetMode.NEXT_STEP}

# numpy's sine depends on the machine: in some thousands it differs from ours in the last of 53 bits, and a double pendulum
# multiplies that by a billion within an episode. These two are therefore compared step by step from one state: theirs is
# set to ours, which also shows that the state in the block is Gymnasium's own. Everything else has to be equal to the bit.
TOLERANCE = {"Acrobot-v1": 1e-6, "Pendulum-v1": 1e-6}
STATE_AT, STATE_LEN = 128, {"Acrobot-v1": 4, "Pendulum-v1": 2}


def check(name, what, ours, theirs):
    """Returns how many numbers are not the same to the bit."""
    theirs = np.float32(theirs)
    different = ours != theirs
    if not different.any():
        return 0
    error = np.abs(ours - theirs) / (1 + np.abs(theirs))
    if error.max() > TOLERANCE.get(name, 0):
        raise AssertionError(f"{name}: {what}: ours {ours.tolist()}, theirs {theirs.tolist()}")
    return int(different.sum())


def compare(lib, env_id, mode, num_envs, steps):
    name = ENVS[env_id]
    warnings.filterwarnings("ignore")
    theirs = gym.make_vec(name, num_envs, vectorization_mode="sync", vector_kwargs={"autoreset_mode": MODES[mode]})
    ours = rlcore.VecEnv(lib, lib.builtin(env_id), num_envs, autoreset=mode)
    rng = np.random.default_rng(SEED)
    obs, _ = theirs.reset(seed=SEED)
    off = check(name, "first observations", ours.reset(SEED), obs)
    discrete = isinstance(theirs.single_action_space, gym.spaces.Discrete)
    states = None
    if name in STATE_LEN:
        states = ours.mem.view(np.uint8)[STATE_AT:][: num_envs * ours.env.state_size].view(np.float64).reshape(num_envs, -1)
        assert all((states[i, : STATE_LEN[name]] == env.unwrapped.state).all() for i, env in enumerate(theirs.envs))
    episodes = 0
    for step in range(steps):
        if states is not None:
            for row, env in zip(states, theirs.envs):
                env.unwrapped.state = row[: STATE_LEN[name]].copy()
        if discrete:
            action = rng.integers(0, theirs.single_action_space.n, num_envs, dtype=np.int32)
        else:
            action = rng.uniform(-2, 2, (num_envs, 1)).astype(np.float32)
        obs, reward, terminated, truncated, info = theirs.step(action)
        ours.step(action)
        at = f"step {step}"
        off += check(name, at, ours.obs, obs) + check(name, at, ours.reward, reward)
        ended = terminated | truncated
        if (ours.terminated != terminated).any() or (ours.truncated != truncated).any():
            raise AssertionError(f"{name}: {at}: terminated {terminated}, truncated {truncated}, not so ours")
        if ended.any():
            episodes += int(ended.sum())
            if mode == rlcore.SAME_STEP:
                for row in np.flatnonzero(ended):
                    off += check(name, at, ours.final_obs[row], info["final_obs"][row])
    theirs.close()
    how = "equal to the bit" if off == 0 else f"equal, {off} numbers but for their last bits"
    print(f"  {name}: {steps} steps of {num_envs}, {episodes} episodes: {how}", flush=True)


def main(lib):
    for env_id in ENVS:
        compare(lib, env_id, rlcore.SAME_STEP, 2, STEPS)
        compare(lib, env_id, rlcore.NEXT_STEP, 3, STEPS // 50)


if __name__ == "__main__":
    main(rlcore.Library(sys.argv[1]))
