"""Records reference traces of Gymnasium's classic environments (package gymnasium 1.4.0 with numpy 2).

    python tests/golden/record.py tests/golden

One file a trace, little-endian, in this order:
    u32  seed, num_steps T, num_envs N, obs_len, action_kind (0 f32, 1 i32)
    f32  first observation [N, obs_len]
    then T times: action [N] (f32 or i32), obs [N, obs_len] f32, reward [N] f32, terminated [N] u8, truncated [N] u8,
                  final_obs [N, obs_len] f32 of those rows only that ended
Environment 0 acts at random, the others balance or feed the motion nine times out of ten, so that episodes end in every
way they can. Some continuous actions lie beyond their bounds.
"""

import struct
import sys

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

T, N, SEED = 1000, 3, 7


class Lcg:
    """Numerical Recipes' generator: the upper 16 bits of x = 1664525 x + 1013904223 mod 2^32."""

    def __init__(self):
        self.x = 1

    def below(self, n):
        self.x = (1664525 * self.x + 1013904223) % 2**32
        return (self.x >> 16) * n >> 16


def pump(name, obs):
    """An action that balances the pole, or feeds the motion of the others."""
    if name == "CartPole-v1":
        return int(obs[2] + 0.5 * obs[3] + 0.05 * obs[0] + 0.1 * obs[1] > 0)
    if name == "MountainCar-v0":
        return 2 if obs[1] >= 0 else 0
    if name == "MountainCarContinuous-v0":
        return 1.5 if obs[1] >= 0 else -0.75
    if name == "Acrobot-v1":
        return 0 if obs[4] > 0 else 2
    return 2.5 if obs[2] >= 0 else -2.0


def record(path, name, mode):
    env = SyncVectorEnv([lambda: gym.make(name) for _ in range(N)], autoreset_mode=mode)
    discrete = isinstance(env.single_action_space, gym.spaces.Discrete)
    obs, _ = env.reset(seed=SEED)
    lcg = Lcg()
    ends = [0, 0, 0]
    with open(path, "wb") as out:
        out.write(struct.pack("<5I", SEED, T, N, obs.shape[1], int(discrete)))
        out.write(obs.astype("<f4").tobytes())
        for _ in range(T):
            action = []
            for i in range(N):
                if i == 0 or lcg.below(10) == 0:
                    if discrete:
                        action.append(lcg.below(int(env.single_action_space.n)))
                    else:
                        high = float(env.single_action_space.high[0])
                        action.append((lcg.below(2501) / 1000.0 - 1.25) * high)
                else:
                    action.append(pump(name, obs[i]))
            action = np.array(action, dtype="<i4" if discrete else "<f4")
            given = action if discrete else action.reshape(N, 1)
            obs, reward, terminated, truncated, info = env.step(given)
            out.write(action.tobytes())
            out.write(obs.astype("<f4").tobytes())
            out.write(reward.astype("<f4").tobytes())
            out.write(terminated.astype("u1").tobytes())
            out.write(truncated.astype("u1").tobytes())
            for i in range(N):
                ends[0] += int(terminated[i])
                ends[1] += int(truncated[i])
                if terminated[i] or truncated[i]:
                    last = info["final_obs"][i] if mode == AutoresetMode.SAME_STEP else obs[i]
                    out.write(np.asarray(last).astype("<f4").tobytes())
    env.close()
    print(path, "terminated", ends[0], "truncated", ends[1])


if __name__ == "__main__":
    folder = sys.argv[1]
    for name in ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1"]:
        record(f"{folder}/{name}.same-step.bin", name, AutoresetMode.SAME_STEP)
    record(f"{folder}/CartPole-v1.next-step.bin", "CartPole-v1", AutoresetMode.NEXT_STEP)
