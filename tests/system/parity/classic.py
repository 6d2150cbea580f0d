"""Gymnasium's classic control environments, seed for seed: 100,000 vector steps each, resets and all, half of them by
policies that know what they do: poles that stay up, cars that reach the hill, pendulums that swing."""

import sys
import warnings
from unittest import mock

import gymnasium as gym
import numpy as np

import rlcore

ENVS = {1: "CartPole-v1", 2: "MountainCar-v0", 3: "MountainCarContinuous-v0", 4: "Acrobot-v1", 5: "Pendulum-v1"}
STEPS, SEED = 100_000, 11
MODES = {rlcore.SAME_STEP: gym.vector.AutoresetMode.SAME_STEP, rlcore.NEXT_STEP: gym.vector.AutoresetMode.NEXT_STEP}

# numpy's sine is that of the machine's C library: of a hundred angles it differs from ours in one, in the last of 53 bits.
# A double pendulum multiplies that by a billion within an episode, and of a pole that stays up a number may show it in the
# last bit of an f32. These are therefore compared step by step from one state: theirs is set to ours, which also shows that
# the state in the block is Gymnasium's own. CartPole is compared once more with our sine in Gymnasium's place of numpy's:
# then whole episodes have to be equal to the bit, as everything else has.
TOLERANCE = {"Acrobot-v1": 1e-6, "Pendulum-v1": 1e-6, "CartPole-v1": 2e-7}
STATE_AT, STATE_LEN = 128, {"Acrobot-v1": 4, "Pendulum-v1": 2, "CartPole-v1": 4}


class OurSine:
    """numpy with the library's sine and cosine of small angles, as src/num.rs has them."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def sin(x):
        z = x * x
        series = 8.33333333332249e-3 + z * (-1.984126982985795e-4 + z * 2.7557313707070068e-6)
        series += z * (z * z) * (-2.5050760253406863e-8 + z * 1.58969099521155e-10)
        return x + z * x * (-1.6666666666666632e-1 + z * series)

    @staticmethod
    def cos(x):
        z = x * x
        fourth, half = z * z, 0.5 * z
        series = z * (4.16666666666666e-2 + z * (-1.388888888887411e-3 + z * 2.480158728947673e-5))
        series += fourth * fourth * (-2.7557314351390663e-7 + z * (2.087572321298175e-9 + z * -1.1359647557788195e-11))
        near = 1.0 - half
        return near + (((1.0 - near) - half) + z * series)


def sensible(name, obs):
    """What one who knows the task would do, for each row."""
    if name == "CartPole-v1":
        return (obs @ np.float32([0.05, 0.1, 1, 1]) > 0).astype(np.int32)
    if name == "MountainCar-v0":
        return np.where(obs[:, 1] >= 0, 2, 0).astype(np.int32)
    if name == "MountainCarContinuous-v0":
        return np.where(obs[:, 1:] >= 0, 1, -1).astype(np.float32)
    if name == "Acrobot-v1":
        return np.where(obs[:, 4] >= 0, 2, 0).astype(np.int32)
    cos, sin, speed = obs.T
    up = -10 * np.arctan2(sin, cos) - 2 * speed
    return np.where(cos > 0.9, up, 2 * np.sign(speed)).clip(-2, 2).astype(np.float32)[:, None]


def check(name, what, ours, theirs, exact):
    """Returns how many numbers are not the same to the bit."""
    theirs = np.float32(theirs)
    different = ours != theirs
    if not different.any():
        return 0
    error = np.abs(ours - theirs) / (1 + np.abs(theirs))
    if exact or error.max() > TOLERANCE.get(name, 0):
        raise AssertionError(f"{name}: {what}: ours {ours.tolist()}, theirs {theirs.tolist()}")
    return int(different.sum())


def compare(lib, env_id, mode, num_envs, steps, policy, exact=False, seed=SEED):
    """By a policy or at random (None); exact: whole episodes, to the bit."""
    name = ENVS[env_id]
    exact |= name not in TOLERANCE
    warnings.filterwarnings("ignore")
    theirs = gym.make_vec(name, num_envs, vectorization_mode="sync", vector_kwargs={"autoreset_mode": MODES[mode]})
    ours = rlcore.VecEnv(lib, lib.builtin(env_id), num_envs, autoreset=mode)
    rng = np.random.default_rng(SEED)
    obs, _ = theirs.reset(seed=seed)
    off = check(name, "first observations", ours.reset(seed), obs, exact)
    discrete = isinstance(theirs.single_action_space, gym.spaces.Discrete)
    states = None
    if not exact:
        states = ours.mem.view(np.uint8)[STATE_AT:][: num_envs * 8 * STATE_LEN[name]].view(np.float64).reshape(num_envs, -1)
        assert all((states[i, : STATE_LEN[name]] == env.unwrapped.state).all() for i, env in enumerate(theirs.envs))
    episodes = 0
    for step in range(steps):
        if states is not None:
            for row, env in zip(states, theirs.envs):
                env.unwrapped.state = row[: STATE_LEN[name]].copy()
        if policy is not None:
            action = policy(name, ours.obs)
        elif discrete:
            action = rng.integers(0, theirs.single_action_space.n, num_envs, dtype=np.int32)
        else:
            action = rng.uniform(-2, 2, (num_envs, 1)).astype(np.float32)
        obs, reward, terminated, truncated, info = theirs.step(action)
        ours.step(action)
        at = f"step {step}"
        off += check(name, at, ours.obs, obs, exact) + check(name, at, ours.reward, reward, exact)
        ended = terminated | truncated
        if (ours.terminated != terminated).any() or (ours.truncated != truncated).any():
            raise AssertionError(f"{name}: {at}: terminated {terminated}, truncated {truncated}, not so ours")
        if ended.any():
            episodes += int(ended.sum())
            if mode == rlcore.SAME_STEP:
                for row in np.flatnonzero(ended):
                    off += check(name, at, ours.final_obs[row], info["final_obs"][row], exact)
    theirs.close()
    how = "equal to the bit" if off == 0 else f"equal, {off} numbers but for their last bits"
    who = "random actions" if policy is None else f"a {policy.__name__} policy"
    print(f"  {name}: {steps} steps of {num_envs} by {who}, {episodes} episodes: {how}", flush=True)


def main(lib):
    for env_id in ENVS:
        for policy in (None, sensible):
            compare(lib, env_id, rlcore.SAME_STEP, 2, STEPS // 2, policy)
            compare(lib, env_id, rlcore.NEXT_STEP, 3, STEPS // 50, policy)
    with mock.patch("gymnasium.envs.classic_control.cartpole.np", OurSine()):
        for policy in (None, sensible):
            # Seed 98's first balanced pole is one that numpy's sine has otherwise.
            compare(lib, 1, rlcore.SAME_STEP, 3, STEPS // 4, policy, exact=True, seed=98)


if __name__ == "__main__":
    main(rlcore.Library(sys.argv[1]))
