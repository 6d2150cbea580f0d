"""Rollout files against the safetensors package, which has to read from ours what went in.

    tests/system/parity/rollout_file.py target/release/librlcore.so [--files 200] [--seed 1]

Prints what was compared; exits 1 on any difference.
"""

import argparse
from ctypes import Structure, byref, c_size_t, c_uint32, c_uint64, c_void_p, sizeof

import numpy as np
import safetensors.numpy

import rlcore
from rlcore import address

KINDS = {rlcore.F32: np.float32, rlcore.I32: np.int32, rlcore.U8: np.uint8}
ARRAYS = (
    "obs action log_prob value bootstrap_value reward terminated truncated valid final_index final_obs final_value state"
).split()


class RolloutFile(Structure):
    _fields_ = (
        [(name, c_uint32) for name in ("struct_size", "num_steps", "num_envs", "obs_kind", "obs_rank")]
        + [("obs_dims", c_uint32 * 4)]
        + [(name, c_uint32) for name in ("action_kind", "action_len", "state_len", "num_finals", "absent")]
        + [(name, c_uint64) for name in ("seed", "policy_version", "global_step", "num_episodes")]
        + [(name, c_uint32) for name in ("metadata_len", "reserved")]
    )


class RolloutArrays(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_void_p) for name in (*ARRAYS, "metadata")]

    def __init__(self, arrays):
        super().__init__(sizeof(RolloutArrays), 0, *(address(arrays[name]) for name in ARRAYS))


def draw(rng):
    """A rollout of any shape and kinds, and what is said of it."""
    t, n, a, m = rng.integers(1, 9), rng.integers(1, 5), rng.integers(1, 4), rng.integers(0, 4)
    dims = tuple(rng.integers(1, 6, size=rng.integers(0, 5)))
    obs_kind, action_kind = rng.integers(3, size=2)

    def values(kind, *shape):
        raw = rng.integers(0, 256, size=(*shape, np.dtype(KINDS[kind]).itemsize), dtype=np.uint8)
        return raw.view(KINDS[kind])[..., 0] if kind == rlcore.U8 else raw.view(KINDS[kind]).reshape(shape)

    def real(*shape):
        return rng.normal(size=shape).astype(np.float32)

    flags = {name: (rng.random((t, n)) < rate).astype(np.uint8) for name, rate in (("terminated", 0.2), ("truncated", 0.2), ("valid", 0.8))}
    ended = (flags["terminated"] | flags["truncated"]) & flags["valid"]
    final_index = np.flatnonzero(ended).astype(np.int64)
    k = len(final_index)
    arrays = {
        "obs": values(obs_kind, t + 1, n, *dims), "action": values(action_kind, t, n, a), "log_prob": real(t, n), "value": real(t, n),
        "bootstrap_value": real(n), "reward": real(t, n), **flags, "final_index": final_index,
        "final_obs": values(obs_kind, k, *dims), "final_value": real(k), "state": real(n, m),
    }  # fmt: skip
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    counters = [int(x) for x in rng.integers(0, 1 << 63, size=4)]
    padded = (c_uint32 * 4)(*dims, *[1] * (4 - len(dims)))
    return arrays, RolloutFile(sizeof(RolloutFile), t, n, obs_kind, len(dims), padded, action_kind, a, m, k, 0, *counters)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lib, rng = rlcore.Library(args.library), np.random.default_rng(args.seed)
    total = 0
    for i in range(args.files):
        arrays, file = draw(rng)
        size = c_size_t()
        lib.rollout_file_size(byref(file), byref(size))
        data = np.full(size.value, 0xAA, np.uint8)
        lib.rollout_file_write(byref(file), byref(RolloutArrays(arrays)), address(data), size)
        found = safetensors.numpy.load(data.tobytes())
        meta = found.pop("meta")
        assert meta.dtype == np.uint64 and list(meta[[3, 4, 5, 6]]) == [file.seed, file.policy_version, file.global_step, file.num_episodes]
        assert sorted(found) == sorted(ARRAYS), found.keys()
        for name, array in arrays.items():
            other = found[name]
            assert (other.dtype, other.shape) == (array.dtype, array.shape), (name, other.dtype, other.shape, array.dtype, array.shape)
            assert other.tobytes() == array.tobytes(), f"file {i}: {name} differs"
        said = RolloutFile(struct_size=sizeof(RolloutFile))
        lib.rollout_file_check(address(data), size, byref(said))
        assert bytes(said) == bytes(file), "what the file says of itself"
        back = {name: np.zeros_like(array) for name, array in arrays.items()}
        lib.rollout_file_read(address(data), size, byref(RolloutArrays(back)))
        assert all(back[name].tobytes() == array.tobytes() for name, array in arrays.items()), f"file {i}: another rollout came back"
        # The same arrays in another order are another file: refused by name, whatever they hold.
        again = np.frombuffer(safetensors.numpy.save({**found, "meta": meta}), np.uint8).copy()
        try:
            lib.rollout_file_check(address(again), c_size_t(again.size), byref(said))
        except RuntimeError as refused:
            assert "rollout file" in str(refused), refused
        else:
            raise AssertionError("a file of another layout was accepted")
        total += data.size
    print(f"{args.files} files, {total} bytes: {safetensors.__version__} reads every array as it was written; what it writes itself is refused by name")


if __name__ == "__main__":
    main()
