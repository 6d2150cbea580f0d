"""One recorded run of Pong, kept by us and by a store that keeps every stack it is shown, compared frame for frame.

Frames go through rings of frames (rlcore_lazy_frames_*) and through replay memories of one and of three steps
(rlcore_replay_*), which are smaller than the run. The naive store is a list of numpy arrays.
"""

import ctypes
import sys

import numpy as np
from ale_py.env import AtariEnv
from gymnasium.wrappers import AtariPreprocessing

import rlcore

STEPS, KEPT, STACK, SIDE, BATCH, SEED = 6000, 1500, 4, 84, 64, 5
# An episode is cut here, so that some end without the game's being over.
CUT, DISCOUNT = 900, 0.99
HWC, CHW = 0, 1


def pointer(array):
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


def block(size):
    words = np.zeros(size // 8, np.uint64)
    return words, ctypes.c_size_t(size)


class Frames:
    """Rings of frames that the library keeps."""

    def __init__(self, lib):
        config, size, self.handle = rlcore.LazyFramesConfig(), ctypes.c_size_t(), ctypes.c_void_p()
        lib.lazy_frames_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(config)))
        config.num_frames, config.num_stack = KEPT, STACK
        lib.lazy_frames_size(ctypes.byref(config), ctypes.byref(size))
        self.lib, (self.mem, bytes) = lib, block(size.value)
        lib.lazy_frames_init(pointer(self.mem), bytes, ctypes.byref(config), ctypes.byref(self.handle))

    def push(self, frame, first):
        number = ctypes.c_uint64()
        self.lib.lazy_frames_push(self.handle, 0, pointer(frame), int(first), ctypes.byref(number))
        return number.value

    def stacks(self, numbers, layout):
        out = np.zeros((len(numbers), STACK * SIDE * SIDE), np.uint8)
        index = indices(numbers)
        self.lib.lazy_frames_gather(self.handle, pointer(index), len(index), layout, rlcore.U8, pointer(out))
        return out


class Replay:
    """A replay memory of the library: the frame before an action, and the action."""

    def __init__(self, lib, num_steps):
        config, size, self.handle = rlcore.ReplayConfig(), ctypes.c_size_t(), ctypes.c_void_p()
        lib.replay_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(config)))
        self.columns = (rlcore.Column * 2)(
            rlcore.Column(b"screen", rlcore.U8, SIDE * SIDE, STACK, 1), rlcore.Column(b"action", rlcore.I32, 1)
        )
        config.num_rows, config.num_columns, config.columns = KEPT, 2, self.columns
        config.num_steps, config.discount = num_steps, DISCOUNT
        lib.replay_size(ctypes.byref(config), ctypes.byref(size))
        self.lib, (self.mem, bytes) = lib, block(size.value)
        lib.replay_init(pointer(self.mem), bytes, ctypes.byref(config), ctypes.byref(self.handle))
        self.rng = np.zeros(4, np.uint64)
        lib.rng_seed(pointer(self.rng), ctypes.c_uint64(SEED))

    def add(self, frame, action, reward, terminated, truncated, final_frame):
        values = (ctypes.c_void_p * 2)(pointer(frame), pointer(action))
        final_values = None if final_frame is None else (ctypes.c_void_p * 2)(pointer(final_frame), None)
        number = ctypes.c_uint64()
        step = rlcore.ReplayStep(ctypes.sizeof(rlcore.ReplayStep), 0, reward, int(terminated), int(truncated))
        self.lib.replay_add(self.handle, ctypes.byref(step), values, final_values, ctypes.byref(number))
        return number.value

    def sample(self, rows):
        index, weight = np.zeros(rows, rlcore.FRAME_INDEX), np.zeros(rows, np.float32)
        draw = rlcore.ReplayDraw(ctypes.sizeof(rlcore.ReplayDraw), 0.4)
        self.lib.replay_sample(
            self.handle, pointer(self.rng), ctypes.byref(draw), rows, pointer(index), pointer(weight), None
        )
        return index

    def transitions(self, index, layout, kind):
        rows = len(index)
        stack = lambda: np.zeros((rows, STACK * SIDE * SIDE), np.uint8 if kind == rlcore.U8 else np.float32)
        obs, next_obs, action = stack(), stack(), np.zeros((rows, 1), np.int32)
        reward, discount = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        terminated, truncated = np.zeros(rows, np.uint8), np.zeros(rows, np.uint8)
        self.lib.replay_gather(self.handle, pointer(index), rows, 0, layout, kind, pointer(obs))
        self.lib.replay_gather_next(self.handle, pointer(index), rows, 0, layout, kind, pointer(next_obs))
        self.lib.replay_gather(self.handle, pointer(index), rows, 1, HWC, rlcore.I32, pointer(action))
        self.lib.replay_transitions(
            self.handle, pointer(index), rows, pointer(reward), pointer(discount), pointer(terminated), pointer(truncated)
        )
        return obs, next_obs, action[:, 0], reward, discount, terminated, truncated


def indices(numbers):
    index = np.zeros(len(numbers), rlcore.FRAME_INDEX)
    index["number"] = numbers
    return index


def record():
    """Episodes of (stacks [L + 1, STACK, SIDE, SIDE], actions, rewards, terminated), as a stacking wrapper shows them."""
    env = AtariPreprocessing(
        AtariEnv(game="pong", frameskip=1, repeat_action_probability=0.0, obs_type="grayscale"), noop_max=30, frame_skip=4
    )
    rng, total, seed = np.random.default_rng(SEED), 0, SEED
    while total < STEPS:
        obs, _ = env.reset(seed=seed)
        stacks, actions, rewards, terminated, seed = [np.stack([obs] * STACK)], [], [], False, None
        while not terminated and len(actions) < CUT and total < STEPS:
            action = int(rng.integers(0, env.action_space.n))
            obs, reward, terminated, _, _ = env.step(action)
            stacks.append(np.concatenate([stacks[-1][1:], obs[None]]))
            actions.append(action)
            rewards.append(float(reward))
            total += 1
        yield stacks, actions, rewards, terminated


def as_layout(stack, layout):
    return (stack if layout == CHW else np.moveaxis(stack, 0, -1)).ravel()


def compare(what, ours, theirs):
    if not np.array_equal(ours, theirs):
        raise AssertionError(f"{what}: {int((ours != theirs).sum())} of {theirs.size} differ")


def compare_transitions(replay, steps, index, layout, kind, naive):
    ours = replay.transitions(index, layout, kind)
    for row, number in enumerate(index["number"]):
        stacks, actions, rewards, terminated, t = naive[int(number)]
        end = min(t + steps, len(actions))
        ended = end == len(actions)
        reward = np.float32(sum(DISCOUNT_F32**i * r for i, r in enumerate(rewards[t:end])))
        discount = np.float32(0 if ended and end - t and terminated else DISCOUNT_F32 ** (end - t))
        last = end == len(actions)
        facts = (actions[t], reward, discount, last and terminated, last and not terminated)
        for name, x, y in zip(("action", "reward", "discount", "terminated", "truncated"), (o[row] for o in ours[2:]), facts):
            if not np.isclose(x, y, rtol=1e-6, atol=0):
                raise AssertionError(f"row {number}, {name}: {x} is not {y}")
        for name, x, stack in (("obs", ours[0], stacks[t]), ("next_obs", ours[1], stacks[end])):
            y = as_layout(stack, layout)
            compare(f"row {number}, {name}", x[row], y if kind == rlcore.U8 else (y / 255.0).astype(np.float32))


DISCOUNT_F32 = float(np.float32(DISCOUNT))


def main():
    lib = rlcore.Library(sys.argv[1])
    episodes = list(record())
    rng = np.random.default_rng(1)
    frames, seen, compared = Frames(lib), [], 0
    for stacks, *_ in episodes:
        for t, stack in enumerate(stacks):
            number = frames.push(np.ascontiguousarray(stack[-1]), t == 0)
            assert number == len(seen)
            seen.append(stack)
            if len(seen) % 97 == 0 or len(seen) == STEPS + len(episodes):
                begin = max(0, len(seen) - KEPT + STACK - 1)
                everything = len(seen) == STEPS + len(episodes)
                numbers = range(begin, len(seen)) if everything else rng.integers(begin, len(seen), BATCH)
                for layout in (HWC, CHW):
                    ours = frames.stacks(numbers, layout)
                    compare("stacks", ours, np.stack([as_layout(seen[n], layout) for n in numbers]))
                    compared += len(ours)
    print(f"  rings of frames: {len(seen)} frames of {len(episodes)} episodes, {compared} stacks: equal to the bit", flush=True)

    for steps in (1, 3):
        replay, naive, compared, added = Replay(lib, steps), {}, 0, 0
        for stacks, actions, rewards, terminated in episodes:
            for t, action in enumerate(actions):
                ended = t + 1 == len(actions)
                number = replay.add(
                    np.ascontiguousarray(stacks[t][-1]), np.array([action], np.int32), rewards[t], ended and terminated,
                    ended and not terminated, np.ascontiguousarray(stacks[t + 1][-1]) if ended else None,
                )
                naive[number], added = (stacks, actions, rewards, terminated, t), added + 1
                if added % 97 == 0:
                    index = replay.sample(BATCH)
                    assert all(int(n) in naive and int(n) > number - KEPT for n in index["number"])
                    layout, kind = (HWC, CHW)[added % 2], (rlcore.U8, rlcore.F32)[added // 97 % 2]
                    compare_transitions(replay, steps, index, layout, kind, naive)
                    compared += len(index)
        # Every row that has its stacks, the end of each episode included.
        last = max(naive) + 1
        rows = [n for n in naive if n > last - KEPT + STACK - 1]
        for begin in range(0, len(rows), BATCH):
            compare_transitions(replay, steps, indices(rows[begin : begin + BATCH]), CHW, rlcore.U8, naive)
        compared += len(rows)
        print(f"  replay of {steps} steps: {added} steps added, {compared} transitions: frames equal to the bit, rewards and discounts within 1e-6", flush=True)


main()
