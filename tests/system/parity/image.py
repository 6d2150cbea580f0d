"""The picture kernels against OpenCV and numpy, byte for byte, over random frames of several kinds.

    tests/system/parity/image.py target/release/librlcore.so [--frames 2000] [--seed 1]

OpenCV 4.10 and 5.0 are known to agree. Prints what was compared; exits 1 on any difference.
"""

import argparse
import sys
from ctypes import Structure, byref, c_size_t, c_uint32

import cv2
import numpy as np

import rlcore
from rlcore import address


class Size(Structure):
    _fields_ = [("height", c_uint32), ("width", c_uint32), ("channels", c_uint32)]


class Images:
    """The calls on numpy arrays."""

    def __init__(self, lib):
        self.lib = lib

    def gray(self, rgb):
        out = np.empty(rgb.shape[:-1], np.uint8)
        self.lib.image_gray(address(rgb), c_size_t(out.size), address(out))
        return out

    def warp(self, a, b, height, width, channels):
        source, to = Size(*a.shape), Size(height, width, channels)
        needed = c_size_t()
        self.lib.image_scratch_len(byref(source), byref(to), byref(needed))
        out, scratch = np.empty((height, width, channels), np.uint8), np.full(needed.value, np.nan, np.float32)
        rest = (byref(to), address(out), address(scratch), needed)
        self.lib.image_warp(byref(source), address(a), None if b is None else address(b), *rest)
        if b is None and a.shape[2] == channels:
            warped = out.copy()
            self.lib.image_area(byref(source), address(a), *rest)
            assert np.array_equal(out, warped), "area and warp differ"
        return out

    def rescale42(self, rgb):
        out = np.empty((42, 42, 1), np.float32)
        self.lib.image_rescale42(address(rgb), address(out))
        return out


def frame(rng, height, width, channels):
    """A picture of one of several kinds: noise, few values that often lie between two bytes, gradients, flat pieces."""
    shape = (height, width, channels)
    y, x, c = np.ogrid[:height, :width, :channels]
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(0, 256, shape, dtype=np.uint8)
    if kind == 1:
        return (rng.integers(0, 36) + 20 * rng.integers(0, 12, shape)).astype(np.uint8)
    if kind == 2:
        return ((x * rng.integers(0, 9) + y * rng.integers(0, 9) + c * rng.integers(0, 99)) % 256).astype(np.uint8)
    if kind == 3:  # what games draw: flat rectangles on a flat ground
        picture = np.empty(shape, np.uint8)
        picture[:] = rng.integers(0, 256, channels)
        for _ in range(40):
            top, left = rng.integers(0, height), rng.integers(0, width)
            picture[top : top + rng.integers(1, 30), left : left + rng.integers(1, 30)] = rng.integers(0, 256, channels)
        return picture
    if kind == 4:  # soft noise, as photographs have it
        return cv2.GaussianBlur(rng.integers(0, 256, shape, dtype=np.uint8), (9, 9), 3).reshape(shape)
    columns = rng.integers(0, 256, (1, width, channels), dtype=np.uint8)
    return np.ascontiguousarray(np.broadcast_to(columns, shape))


def shrink(picture, height, width):
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA).reshape(height, width, -1)


def rescale42(rgb):
    half = cv2.resize(rgb[34 : 34 + 160, :160], (80, 80))
    mean = cv2.resize(half, (42, 42)).mean(2)
    return (mean.astype(np.float32) * np.float32(1.0 / 255.0)).reshape(42, 42, 1)


class Count:
    """What was compared and how much of it differed."""

    def __init__(self):
        self.pictures, self.values, self.different = {}, {}, {}

    def compare(self, what, got, want):
        assert got.shape == want.shape and got.dtype == want.dtype, (what, got.shape, want.shape)
        self.pictures[what] = self.pictures.get(what, 0) + 1
        self.values[what] = self.values.get(what, 0) + got.size
        self.different[what] = self.different.get(what, 0) + int((got != want).sum())

    def report(self):
        for what, pictures in self.pictures.items():
            print(f"{what}: {pictures} pictures, {self.values[what]} values, {self.different[what]} different")
        return sum(self.different.values())


def main(lib, frames=2000, seed=1):
    images, rng, count = Images(lib), np.random.default_rng(seed), Count()
    print(f"OpenCV {cv2.__version__}, numpy {np.__version__}, seed {seed}")

    cube = np.stack(np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 3, indexing="ij"), axis=-1).reshape(4096, 4096, 3)
    count.compare("gray, every colour", images.gray(cube), cv2.cvtColor(cube, cv2.COLOR_RGB2GRAY))

    for i in range(frames):
        images.lib.cpu_set_limit(c_uint32(i % 3))
        a, b = frame(rng, 210, 160, 3), frame(rng, 210, 160, 3)
        both, gray_a = np.maximum(a, b), cv2.cvtColor(a, cv2.COLOR_RGB2GRAY)
        count.compare("colour to 84x84 gray", images.warp(a, None, 84, 84, 1), shrink(gray_a, 84, 84))
        want = shrink(cv2.cvtColor(both, cv2.COLOR_RGB2GRAY), 84, 84)
        count.compare("larger of two in colour to 84x84 gray", images.warp(a, b, 84, 84, 1), want)
        one, two = np.ascontiguousarray(a[:, :, :1]), np.ascontiguousarray(b[:, :, 1:2])
        count.compare("gray to 84x84", images.warp(one, None, 84, 84, 1), shrink(one, 84, 84))
        count.compare("larger of two in gray to 84x84", images.warp(one, two, 84, 84, 1), shrink(np.maximum(one, two), 84, 84))
        count.compare("colour to 42x42 numbers", images.rescale42(a), rescale42(a))
        if i % 4 == 0:
            count.compare("colour to 84x84 colour", images.warp(a, None, 84, 84, 3), shrink(a, 84, 84))
            tall = frame(rng, 250, 160, 3)
            gray = cv2.cvtColor(tall, cv2.COLOR_RGB2GRAY)
            count.compare("250x160 to 84x84", images.warp(tall, None, 84, 84, 1), shrink(gray, 84, 84))

        channels = int(rng.integers(1, 5))
        height, width = (int(n) for n in rng.integers(1, 80, 2))
        # Half of the time a whole fraction, which OpenCV treats by another rule.
        low, high = (int(rng.integers(1, n + 1)) for n in (height, width))
        if i % 2:
            low, high = (max(1, n // int(rng.integers(1, 6))) for n in (height, width))
            height, width = low * (height // low), high * (width // high)
        other = frame(rng, height, width, channels)
        count.compare("any size to any smaller", images.warp(other, None, low, high, channels), shrink(other, low, high))

        numbers, turned = np.empty(other.shape, np.float32), np.empty((channels, height, width), np.uint8)
        images.lib.image_scale(address(other), c_size_t(other.size), address(numbers))
        count.compare("bytes to numbers", numbers, other.astype(np.float32) / np.float32(255))
        images.lib.image_channels_first(byref(Size(*other.shape)), address(other), address(turned))
        count.compare("channels first", turned, np.ascontiguousarray(other.transpose(2, 0, 1)))

    for n in range(1, 40):
        rows = int(np.ceil(np.sqrt(n)))
        columns = int(np.ceil(n / rows))
        pictures = rng.integers(0, 256, (n, 5, 3, 2), dtype=np.uint8)
        padded = np.concatenate([pictures, np.zeros((rows * columns - n, 5, 3, 2), np.uint8)])
        want = padded.reshape(rows, columns, 5, 3, 2).transpose(0, 2, 1, 3, 4).reshape(rows * 5, columns * 3, 2)
        out = np.full(want.shape, 77, np.uint8)
        images.lib.image_tile(c_uint32(n), byref(Size(5, 3, 2)), address(pictures), address(out))
        count.compare("tiles", out, want)

    different = count.report()
    print("equal, byte for byte" if different == 0 else f"{different} values differ")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lib", nargs="?", default="target/release/librlcore.so", help="path to librlcore.so")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    sys.exit(main(rlcore.Library(args.lib), args.frames, args.seed))
