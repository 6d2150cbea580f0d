"""The rollout that examples-c/experience/record.c writes, read by the safetensors package: shapes, what the numbers have to
be by themselves, and the means that the example prints, recomputed from the file.

    tests/system/parity/recorded.py target/release/librlcore.so

Builds and runs the example with that library; prints what was compared; exits 1 on any difference.
"""

import pathlib
import re
import subprocess
import sys

import numpy as np
import safetensors
import safetensors.numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
DISCOUNT, GAE_LAMBDA = 0.99, 0.95  # the learner's defaults
STEP = 0.02  # seconds of a cart's step


def record(library):
    """The file's arrays, and what the example says of them."""
    program, path = ROOT / "examples-c/out/bin/record", ROOT / "target/recorded.safetensors"
    target = pathlib.Path(library).resolve().parents[1]
    subprocess.run(["make", "-s", "-C", ROOT / "examples-c", f"TARGET={target}", "out/bin/record"], check=True)
    said = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
    return safetensors.numpy.load_file(path), [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", said)]


def value_targets(f):
    """GAE over the file, in f64."""
    t, n = f["reward"].shape
    ended = (f["terminated"] | f["truncated"]) != 0
    following = np.vstack([f["value"][1:], f["bootstrap_value"]]).astype(np.float64)
    following.reshape(-1)[f["final_index"].astype(np.int64)] = f["final_value"]
    delta = f["reward"] + DISCOUNT * np.where(f["terminated"], 0, following) - f["value"]
    advantage, later = np.zeros((t, n)), np.zeros(n)
    for i in reversed(range(t)):
        advantage[i] = later = delta[i] + DISCOUNT * GAE_LAMBDA * np.where(ended[i], 0, later)
    return advantage + f["value"]


def main():
    f, (size, t, n, num_finals, num_cut, log_prob, target, *_) = record(sys.argv[1])
    t, n, k = int(t), int(n), int(num_finals)
    shapes = {
        "obs": (t + 1, n, 4), "action": (t, n, 1), "log_prob": (t, n), "value": (t, n), "bootstrap_value": (n,), "reward": (t, n),
        "terminated": (t, n), "truncated": (t, n), "valid": (t, n), "final_index": (k,), "final_obs": (k, 4), "final_value": (k,), "state": (n, 0),
    }  # fmt: skip
    for name, shape in shapes.items():
        assert f[name].shape == shape, (name, f[name].shape, shape)
        assert np.isfinite(f[name]).all(), name
    assert f["valid"].all() and set(np.unique(f["action"])) == {0, 1} and (f["log_prob"] < 0).all()
    ended = (f["terminated"] | f["truncated"]) != 0
    assert (np.flatnonzero(ended) == f["final_index"]).all()
    assert (f["truncated"] & ~f["terminated"] & 1).sum() == num_cut

    # Each observation follows from the one before, also where an episode ended: a cart moves as fast as it was seen to.
    following = f["obs"][1:].copy()
    following[ended] = f["final_obs"]
    assert np.allclose(following[..., 0], f["obs"][:-1, :, 0] + STEP * f["obs"][:-1, :, 1], atol=1e-6), "observations"
    assert abs(f["log_prob"].mean(dtype=np.float64) - log_prob) < 1e-6, "log-probabilities"
    assert abs(value_targets(f).mean() - target) < 1e-4, (value_targets(f).mean(), target)
    print(f"{size:.0f} bytes that PPO recorded in C: safetensors {safetensors.__version__} reads {t} steps of {n} carts; log-probabilities and value targets as there")


if __name__ == "__main__":
    main()
