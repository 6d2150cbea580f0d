"""The training of same_as_c.c from Python: the same parameters to the bit, and how fast beside it. `same_as_c.py <program>`"""

import subprocess
import sys
import time

import numpy as np

import rlcore
from rlcore._lib import call, ffi

STEPS, RUNS = 204_800, 3

best, last = {"C": 0.0, "Python": 0.0}, {}
for _ in range(RUNS):
    last["C"], speed = subprocess.run([sys.argv[1], str(STEPS)], check=True, capture_output=True, text=True).stdout.split()
    best["C"] = max(best["C"], float(speed))
    model = rlcore.PPO("CartPole-v1", num_envs=8)
    begin = time.perf_counter()
    model.learn(STEPS)
    best["Python"] = max(best["Python"], model.num_timesteps / (time.perf_counter() - begin))
    out = ffi.new("uint64_t *")
    params = np.empty(sum(value.size for value in model.state_dict().values()), np.float32)
    call.learner_params_read(model.handle, params, params.size)
    call.hash(params, params.nbytes, out)
    last["Python"] = f"{out[0]:016x}"
print(f"CartPole-v1, PPO, steps a second: C {best['C']:.0f}, Python {best['Python']:.0f}, a ratio of {best['Python'] / best['C']:.2f}")
assert last["C"] == last["Python"], last
