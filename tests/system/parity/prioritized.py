"""Transitions drawn by priority, against cpprb: how often each is drawn, and the corrections for it.

    tests/system/parity/prioritized.py target/release/librlcore.so [--items 20000] [--draws 4000000] [--seed 1]

Both memories get the same priorities, twice. Frequencies of both are compared with the exact probabilities, corrections
with each other, transition by transition. Prints how far off they are; exits 1 if that is too far.
"""

import argparse
import sys
from ctypes import POINTER, Structure, byref, c_char, c_float, c_size_t, c_uint32, c_uint64, c_void_p, sizeof

import numpy as np
from cpprb import PrioritizedReplayBuffer

import rlcore
from rlcore import F32, address

ALPHA, EPSILON, BATCH = 0.6, 1e-4, 500


class Column(Structure):
    _fields_ = [("name", c_char * 24)] + [(name, c_uint32) for name in ("kind", "len", "num_stack", "channels")]


class Config(Structure):
    _fields_ = (
        [(name, c_uint32) for name in ("struct_size", "num_envs", "num_rows", "num_columns")]
        + [("columns", POINTER(Column)), ("observations", c_uint32), ("num_steps", c_uint32)]
        + [(name, c_float) for name in ("discount", "alpha", "epsilon")]
        + [("reserved", c_uint32)]
    )


class Index(Structure):
    _fields_ = [("number", c_uint64), ("env", c_uint32), ("reserved", c_uint32)]


INDEX = np.dtype([("number", np.uint64), ("env", np.uint32), ("reserved", np.uint32)])
assert INDEX.itemsize == sizeof(Index)


class Replay:
    """One environment whose row i holds the number i."""

    def __init__(self, lib, items, seed):
        self.lib = lib
        columns = (Column * 1)(Column(b"obs", F32, 1, 0, 0))
        config = Config()
        lib.replay_config_init(byref(config), c_size_t(sizeof(config)))
        config.num_rows, config.num_columns, config.columns = items + 1, 1, columns
        config.alpha, config.epsilon = ALPHA, EPSILON
        size = c_size_t()
        lib.replay_size(byref(config), byref(size))
        self.mem, self.at = rlcore.block(size.value), c_void_p()
        lib.replay_init(address(self.mem), size, byref(config), byref(self.at))
        self.rng = np.zeros(5, np.uint64)
        lib.rng_seed(address(self.rng), c_uint64(seed))
        obs, step = np.zeros(1, np.float32), rlcore.ReplayStep(sizeof(rlcore.ReplayStep))
        values = (c_void_p * 1)(obs.ctypes.data)
        for i in range(items + 1):
            obs[0] = i
            lib.replay_add(self.at, byref(step), values, None, None)

    def update(self, numbers, priorities):
        index = np.zeros(len(numbers), INDEX)
        index["number"] = numbers
        self.lib.replay_update(self.at, address(index), address(priorities), c_uint32(len(index)), None)

    def sample(self, beta, independent):
        index, weight = np.zeros(BATCH, INDEX), np.zeros(BATCH, np.float32)
        draw = rlcore.ReplayDraw(sizeof(rlcore.ReplayDraw), beta, 0, independent)
        rest = (c_uint32(BATCH), address(index), address(weight), None)
        self.lib.replay_sample(self.at, address(self.rng), byref(draw), *rest)
        return index["number"].astype(np.int64), weight


class Cpprb:
    def __init__(self, items):
        self.buffer = PrioritizedReplayBuffer(items, {"obs": {}}, alpha=ALPHA, eps=EPSILON)
        self.buffer.add(obs=np.arange(items, dtype=np.float32), priorities=np.ones(items, np.float32))

    def update(self, numbers, priorities):
        self.buffer.update_priorities(numbers, priorities)

    def sample(self, beta, _):
        sample = self.buffer.sample(BATCH, beta=beta)
        return sample["indexes"].astype(np.int64), sample["weights"]


def draws(memory, items, count, beta, independent=False):
    """How often each item was drawn, and its correction."""
    drawn, corrections = np.zeros(items), np.full(items, np.nan)
    for _ in range(count // BATCH):
        index, weight = memory.sample(beta, independent)
        drawn += np.bincount(index, minlength=items)
        corrections[index] = weight
    return drawn, corrections


def deviations(drawn, probability):
    """How many standard deviations chi-square is above its mean, over groups of items that expect 20 draws or more."""
    expected = probability * drawn.sum()
    groups = np.floor(np.cumsum(expected) / 20).astype(np.int64)
    expected, drawn = (np.bincount(groups, weights=x) for x in (expected, drawn))
    expected, drawn = expected[expected >= 8], drawn[expected >= 8]
    chi, freedom = ((drawn - expected) ** 2 / expected).sum(), len(expected) - 1
    return (chi - freedom) / np.sqrt(2 * freedom)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--items", type=int, default=20000)
    parser.add_argument("--draws", type=int, default=4000000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    items = arguments.items
    ours, theirs = Replay(rlcore.Library(arguments.library), items, arguments.seed), Cpprb(items)
    priorities = np.zeros(items, np.float32)
    for part in (np.arange(items), rng.integers(0, items, items // 2)):
        priorities[part] = np.exp(rng.normal(0, 2, len(part)))
        for memory in (ours, theirs):
            memory.update(part, np.ascontiguousarray(priorities[part]))
    weights = (priorities.astype(np.float64) + EPSILON) ** ALPHA
    probability = weights / weights.sum()

    failed = False
    for beta in (0.4, 1.0):
        exact = (weights / weights.min()) ** -beta
        tables = {}
        for name, memory, independent in (("stratified", ours, False), ("independent", ours, True), ("cpprb", theirs, False)):
            drawn, tables[name] = draws(memory, items, arguments.draws, beta, independent)
            seen = ~np.isnan(tables[name])
            off = np.abs(tables[name][seen] / exact[seen] - 1).max()
            chi = deviations(drawn, probability)
            print(f"beta {beta}, {name}: chi-square {chi:+.2f} deviations from its mean, corrections off by {off:.1g} at most")
            failed |= chi > 5 or off > 1e-5
        both = ~np.isnan(tables["independent"]) & ~np.isnan(tables["cpprb"])
        off = np.abs(tables["independent"][both] / tables["cpprb"][both] - 1).max()
        print(f"beta {beta}: {both.sum()} corrections differ from those of cpprb by {off:.1g} at most")
        failed |= not off <= 1e-5 or both.sum() < items // 2
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
