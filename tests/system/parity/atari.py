"""The Arcade Learning Environment, frame by frame, through our wrappers and through the packages' own.

The engine's environment is one ALE frame, supplied by callbacks; ours and theirs are two emulators of one seed.
"""

import ctypes
import sys

import ale_py
import cv2
import numpy as np
from ale_py.env import AtariEnv
from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import AtariPreprocessing

import rlcore

NOOP_RESET, MAX_AND_SKIP, CLIP_REWARD, WARP, STACK, CHANNELS_FIRST = 2, 5, 10, 12, 15, 16
GAMES, STEPS, SEED = ("pong", "breakout", "seaquest"), 2000, 5


def emulator(game, colour):
    return AtariEnv(game=game, frameskip=1, repeat_action_probability=0.0, obs_type="rgb" if colour else "grayscale")


class Engine:
    """One emulator as an rlcore_env_def: every frame is a step. Seeds go to the emulator as Gymnasium hands them on."""

    def __init__(self, game, colour, wrappers, seed):
        self.env, self.seed = emulator(game, colour), seed
        self.channels = 3 if colour else 1
        self.choices = (ctypes.c_uint32 * 1)(int(self.env.action_space.n))
        self.callbacks = rlcore.RESET(self.reset), rlcore.STEP(self.step), rlcore.LIVES(self.lives)
        self.field = rlcore.Field(b"", rlcore.U8, 3, (ctypes.c_uint32 * 4)(210, 160, self.channels, 1))
        self.wrappers = (rlcore.Wrapper * len(wrappers))(*wrappers)
        obs = rlcore.Space(rlcore.U8, 210 * 160 * self.channels)
        action = rlcore.Space(rlcore.I32, 1, None, None, self.choices)
        reset, step, lives = (ctypes.cast(c, ctypes.c_void_p) for c in self.callbacks)
        self.table = rlcore.EnvDef(
            struct_size=ctypes.sizeof(rlcore.EnvDef), env_id=1000, state_size=8, obs=obs, action=action, reset=reset, step=step,
            lives=lives, fields=ctypes.pointer(self.field), num_fields=1, num_wrappers=len(wrappers), wrappers=self.wrappers,
        )

    def write(self, frame, obs):
        ctypes.memmove(obs, np.ascontiguousarray(frame).ctypes.data, frame.size)

    def reset(self, user, row, state, rng, obs):
        frame, _ = self.env.reset(seed=self.seed)
        self.seed = None
        self.write(frame, obs)
        return 0

    def step(self, user, row, state, rng, action, obs, out):
        frame, reward, terminated, truncated, _ = self.env.step(ctypes.c_int32.from_address(action).value)
        out[0].reward, out[0].terminated, out[0].truncated = reward, terminated, truncated
        self.write(frame, obs)
        return 0

    def lives(self, user, row, state, out):
        out[0] = self.env.ale.lives()
        return 0


def wrapped(lib, game, colour, wrappers, length, seed=SEED):
    engine = Engine(game, colour, wrappers, seed)
    # Gymnasium draws no-ops from a stream that the emulator's seed sequence seeds in its turn.
    stream = int(np.random.SeedSequence(seed).generate_state(2)[0])
    envs = rlcore.VecEnv(lib, rlcore.Env(lib, engine.table), 1, obs=(rlcore.U8, length))
    envs.engine = engine
    envs.reset(stream)
    return envs


def equal(what, step, ours, theirs):
    if not np.array_equal(ours, theirs):
        raise AssertionError(f"{what}: step {step}: {int((ours != theirs).sum())} of {theirs.size} differ")


def preprocessing(lib, game, colour):
    """Gymnasium's AtariPreprocessing: no-ops, skip, max, OpenCV's area."""
    what = f"{game}: AtariPreprocessing, {'colour' if colour else 'gray'}"
    channels = 3 if colour else 1
    wrappers = [
        rlcore.Wrapper(kind=NOOP_RESET, noop_max=30), rlcore.Wrapper(kind=MAX_AND_SKIP, count=4),
        rlcore.Wrapper(kind=WARP, height=84, width=84),
    ]
    ours = wrapped(lib, game, colour, wrappers, 84 * 84 * channels)
    theirs = AtariPreprocessing(emulator(game, colour), noop_max=30, frame_skip=4, grayscale_obs=not colour)
    obs, _ = theirs.reset(seed=SEED)
    equal(what, "reset", ours.obs[0], obs.ravel())
    rng, episodes = np.random.default_rng(1), 0
    for step in range(STEPS):
        action = rng.integers(0, theirs.action_space.n, 1, dtype=np.int32)
        obs, reward, terminated, truncated, _ = theirs.step(int(action[0]))
        ours.step(action)
        facts = (reward, terminated, truncated)
        equal(what, step, np.array([ours.reward[0], ours.terminated[0], ours.truncated[0]]), np.float32(facts))
        if terminated or truncated:
            # Their last picture mixes frames of the step before; ours is of the frames that were seen.
            obs, _ = theirs.reset()
            episodes += 1
        equal(what, step, ours.obs[0], obs.ravel())
    print(f"  {what}: {STEPS} steps, {episodes} episodes: equal to the bit", flush=True)


def luma(lib, game):
    """Two colour frames, their maximum, OpenCV's gray, OpenCV's area: the order of the first Atari wrappers."""
    what = f"{game}: maximum, gray, area"
    wrappers = [rlcore.Wrapper(kind=MAX_AND_SKIP, count=4), rlcore.Wrapper(kind=WARP, height=84, width=84, gray=1)]
    ours = wrapped(lib, game, True, wrappers, 84 * 84)
    theirs = emulator(game, True)
    theirs.reset(seed=SEED)
    rng = np.random.default_rng(2)
    for step in range(STEPS):
        action, frames, ended = rng.integers(0, theirs.action_space.n, 1, dtype=np.int32), [], False
        for _ in range(4):
            frame, _, terminated, truncated, _ = theirs.step(int(action[0]))
            frames.append(frame)
            ended = terminated or truncated
            if ended:
                break
        picture = np.maximum(frames[-1], frames[-2]) if len(frames) > 1 else frames[-1]
        obs = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (84, 84), interpolation=cv2.INTER_AREA)
        ours.step(action)
        equal(what, step, (ours.final_obs if ended else ours.obs)[0], obs.ravel())
        if ended:
            theirs.reset()
    print(f"  {what}: {STEPS} steps: equal to the bit", flush=True)


def vector(lib, game):
    """ALE's own vector environment, which stacks channel first."""
    what = f"{game}: AtariVectorEnv"
    wrappers = [
        rlcore.Wrapper(kind=MAX_AND_SKIP, count=4), rlcore.Wrapper(kind=WARP, height=84, width=84),
        rlcore.Wrapper(kind=CLIP_REWARD), rlcore.Wrapper(kind=STACK, count=4), rlcore.Wrapper(kind=CHANNELS_FIRST),
    ]
    ours = wrapped(lib, game, False, wrappers, 4 * 84 * 84)
    theirs = AtariVectorEnv(
        game, 1, noop_max=0, use_fire_reset=False, reward_clipping=True, autoreset_mode=AutoresetMode.SAME_STEP, num_threads=1,
    )
    obs, _ = theirs.reset(seed=SEED)
    rng, episodes = np.random.default_rng(3), 0
    for step in range(STEPS):
        action = rng.integers(0, theirs.single_action_space.n, 1, dtype=np.int32)
        obs, reward, terminated, truncated, _ = theirs.step(action)
        ours.step(action)
        facts = (reward[0], terminated[0], truncated[0])
        equal(what, step, np.array([ours.reward[0], ours.terminated[0], ours.truncated[0]]), np.float32(facts))
        since = 0 if terminated[0] or truncated[0] or step == 0 else since + 1
        episodes += bool(terminated[0] or truncated[0])
        # Theirs begins an episode with black pictures, ours with the first one; from the fourth step on it is one stack.
        fresh = 4 if since >= 3 else since + 1
        equal(what, step, ours.obs[0].reshape(4, -1)[-fresh:], obs[0].reshape(4, -1)[-fresh:])
    print(f"  {what}: {STEPS} steps, {episodes} episodes: equal to the bit", flush=True)


def main(lib):
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    for game in GAMES:
        preprocessing(lib, game, colour=False)
        preprocessing(lib, game, colour=True)
        luma(lib, game)
        vector(lib, game)


if __name__ == "__main__":
    main(rlcore.Library(sys.argv[1]))
