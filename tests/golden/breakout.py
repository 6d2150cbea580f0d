"""Records episodes of gymnax's Breakout (package gymnax, Apache-2.0): python tests/golden/breakout.py tests/golden/Breakout-MinAtar.bin

One episode after another: 1 if the ball starts at the left (u8), steps (u16, little-endian), then a step each: action, reward,
done (u8 each), and the observation after it as 50 bytes, a bit for each of [10, 10, 4], lowest first. The player follows the
ball as well as each episode's share of random actions lets it; the last one is cut after 1000 steps."""

import struct
import sys

import jax
import numpy as np
from gymnax.environments.minatar.breakout import MinBreakout

env = MinBreakout()
params = env.default_params
step = jax.jit(env.step_env)
rng = np.random.default_rng(1)
out, left = b"", set()
for episode, noise in enumerate([1.0, 0.5, 0.3, 0.2, 0.1, 0.1, 0.0]):
    obs, state = env.reset_env(jax.random.PRNGKey(episode), params)
    start, steps, done = int(state.ball_x) == 0, b"", False
    count = 0
    while not done and count < 1000:
        x, last = int(state.ball_x), int(state.last_x)
        goal = x + (1 if int(state.ball_dir) in (1, 2) else -1)
        goal = min(9, max(0, goal)) if int(state.ball_y) >= 7 else x
        action = int(rng.integers(3)) if rng.random() < noise else (1 if goal < state.pos else 2 if goal > state.pos else 0)
        obs, state, reward, done, _ = step(jax.random.PRNGKey(0), state, action, params)
        steps += bytes([action, int(reward), int(done)]) + np.packbits(np.asarray(obs).reshape(-1) != 0, bitorder="little").tobytes()
        count += 1
    out += struct.pack("<BH", start, count) + steps
    print(episode, start, count, sum(steps[1::53]))
open(sys.argv[1], "wb").write(out)
