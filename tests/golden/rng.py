"""Records draws of numpy's Generator(PCG64) (numpy 2.4.6).

    python tests/golden/rng.py > tests/golden/rng.txt

A line is one stream or one draw:
    seed S | stream S K                       PCG64(S) | PCG64(SeedSequence(S, spawn_key=(K,)))
    random x | random32 x                     random() as f64 bits | random(dtype=float32) as f32 bits, in hexadecimal
    integers LOW HIGH x
    permutation N x x...                      the FNV-1a hash of all as u32 (little end first), the first 8, the last
"""

import struct

import numpy as np


def permutation(rng, n):
    p = rng.permutation(n)
    h = 0xCBF29CE484222325
    for byte in p.astype("<u4").tobytes():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    print("permutation", n, f"{h:016x}", *p[:8], *p[-1:])


def integers(rng, low, high):
    print("integers", low, high, rng.integers(low, high))


def draws(rng):
    print("random", struct.pack(">d", rng.random()).hex())
    print("random32", struct.pack(">f", rng.random(dtype=np.float32)).hex())
    for low, high in [
        (0, 1), (0, 2), (0, 6), (-3, 4), (0, 1000), (0, 3 << 30), (0, 2**32 - 1), (0, 2**32), (5, 2**32 + 6),
        (0, 3 << 61), (-(2**63), 2**63 - 1),
    ]:  # fmt: skip
        for _ in range(3):
            integers(rng, low, high)
    print("random", struct.pack(">d", rng.random()).hex())
    integers(rng, 0, 7)
    for n in [1, 2, 10, 1000, 5000]:
        permutation(rng, n)
        integers(rng, 10, 13)
        print("random", struct.pack(">d", rng.random()).hex())
    print("random32", struct.pack(">f", rng.random(dtype=np.float32)).hex())
    integers(rng, -(2**63), 2**63 - 1)


for seed in [0, 1, 42, 2**32 + 5, 2**64 - 1]:
    print("seed", seed)
    draws(np.random.Generator(np.random.PCG64(seed)))
for seed, key in [(0, 0), (0, 1), (42, 7), (2**32 + 5, 2**32 - 1), (2**64 - 1, 2**32), (1, 2**64 - 1)]:
    print("stream", seed, key)
    draws(np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,)))))
