"""As much of include/rlcore.h as train.py needs, through ctypes on numpy arrays."""

import ctypes
import sys
from ctypes import byref, c_size_t, c_uint32, c_void_p, sizeof
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "examples-c/shared"))

from structures import structures  # noqa: E402

ENV_CARTPOLE, ALGORITHM_PPO = 1, 0
ELEMENTS = (np.float32, np.int32, np.uint8)


STRUCTURES = structures((ROOT / "include/rlcore_bindings.h").read_text())
Space, VecenvConfig, Rows, Batch, LearnerConfig, Stats = (
    STRUCTURES["rlcore_" + name]
    for name in ("space", "vecenv_config", "rows", "learner_batch", "learner_config", "learner_stats")
)


class Library:
    """library.x calls rlcore_x; a failure is an exception with the library's words."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self.library, "rlcore_" + name)

        def call(*arguments):
            status = function(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments))
            if status:
                text = ctypes.create_string_buffer(256)
                self.library.rlcore_last_error(text, c_size_t(256))
                raise RuntimeError(f"rlcore_{name}: {text.value.decode()}")

        return call

    def config(self, structure, name, *arguments):
        config = structure()
        getattr(self, name + "_config_init")(byref(config), c_size_t(sizeof(config)), *map(c_uint32, arguments))
        return config


def block(size):
    """Bytes for a block, on an 8-byte boundary."""
    return np.zeros((size + 7) // 8, np.uint64).view(np.uint8)


COLUMNS = ("obs", "action", "log_prob", "value", "advantage", "value_target")


def arrays_of(structure, **arrays):
    """A structure of these arrays, which must live as long."""
    return structure(sizeof(structure), **{name: array.ctypes.data for name, array in arrays.items() if array.size})


def columns_of(batch, moments):
    return arrays_of(Batch, **dict(zip(COLUMNS, batch)), moments=moments)


class Learner:
    """A learner in a block of its own, or in `image`, which holds a saved one."""

    def __init__(self, library, environment, image=None, **settings):
        self.lib, self.handle = library, c_void_p()
        self.stats = Stats(sizeof(Stats))
        self.config = library.config(LearnerConfig, "learner", ALGORITHM_PPO)
        for name, value in settings.items():
            setattr(self.config, name, value)
        self.obs, self.action = environment.obs, environment.action
        size = c_size_t()
        library.learner_size(byref(self.config), byref(self.obs), byref(self.action), byref(size))
        self.image = block(size.value)
        if image is None:
            arguments = (byref(self.config), byref(self.obs), byref(self.action), byref(self.handle))
            library.learner_init(self.image, c_size_t(self.image.size), *arguments)
        else:
            self.image[:] = image
            arguments = (c_uint32(self.config.num_envs), byref(self.obs), byref(self.action), byref(self.handle))
            library.learner_attach(self.image, c_size_t(self.image.size), *arguments)

    def params(self):
        params = np.empty(self.length("params"), np.float32)
        self.lib.learner_params_read(self.handle, params, c_size_t(params.size))
        return params

    def moments(self):
        """The statistics that normalize observations and rewards; empty without."""
        moments = np.empty(self.length("moments"), np.float64)
        self.lib.learner_moments_read(self.handle, moments, c_size_t(moments.size))
        return moments

    def length(self, array):
        length = c_size_t()
        getattr(self.lib, f"learner_{array}_len")(self.handle, byref(length))
        return length.value

    def take(self, params, moments):
        """Sets parameters and the moments that belong to them."""
        self.lib.learner_params_write(self.handle, params, c_size_t(params.size), moments, c_size_t(moments.size))

    def batch(self):
        """Arrays for the transitions of one update, in the order of COLUMNS."""
        rows = self.config.num_envs * self.config.num_steps
        obs = np.empty((rows, self.obs.len), np.float32)
        action = np.empty((rows, self.action.len), ELEMENTS[self.action.kind])
        return [obs, action] + [np.empty(rows, np.float32) for _ in COLUMNS[2:]]

    def record(self, obs):
        """The transitions of the rollout that is complete, for another learner, and the moments that go with them."""
        batch, moments = self.batch(), self.moments()
        self.lib.learner_learn_begin(self.handle, byref(arrays_of(Rows, obs=obs)), byref(self.stats))
        self.lib.learner_batch_read(self.handle, byref(columns_of(batch, moments)))
        self.lib.learner_learn_drop(self.handle)
        return batch, moments

    def merge(self, moments, others):
        """Moments of several learners that began with these, which are counted once."""
        merged = moments.copy()
        for other in others if moments.size else ():
            self.lib.learner_moments_merge(moments, other, c_size_t(moments.size), merged)
        return merged

    def learn(self, batch, moments):
        """A whole update from the transitions of others, which these moments have normalized."""
        self.lib.learner_learn_batch(self.handle, byref(columns_of(batch, moments)), byref(self.stats))
        self.lib.learner_learn(self.handle, None, c_uint32(0), byref(self.stats))


class Environments:
    """Environments of one built-in kind."""

    def __init__(self, library, env_id, num_envs, seed=0, image=None):
        self.lib, self.handle = library, c_void_p()
        self.compiled, self.env = np.zeros(128, np.uint64), c_void_p()
        self.obs, self.action = Space(), Space()
        library.env_builtin(self.compiled, c_size_t(self.compiled.nbytes), c_uint32(env_id), byref(self.env))
        library.env_spaces(self.env, byref(self.obs), byref(self.action))
        config = library.config(VecenvConfig, "vecenv")
        config.num_envs, config.seed = num_envs, seed
        size = c_size_t()
        library.vecenv_size(self.env, byref(config), byref(size))
        self.image = block(size.value)
        shape = (num_envs, self.obs.len)
        self.now, self.final = (np.zeros(shape, ELEMENTS[self.obs.kind]) for _ in range(2))
        self.reward, self.terminated, self.truncated = (np.zeros(num_envs, t) for t in (np.float32, np.uint8, np.uint8))
        self.chosen = np.zeros((num_envs, self.action.len), ELEMENTS[self.action.kind])
        self.rows = arrays_of(Rows, obs=self.now, action=self.chosen, reward=self.reward, terminated=self.terminated,
                              truncated=self.truncated, final_obs=self.final)
        if image is None:
            library.vecenv_init(self.image, c_size_t(size.value), self.env, byref(config), byref(self.handle))
            library.vecenv_reset(self.handle, self.env, None, self.now)
        else:
            self.image[:] = image
            library.vecenv_attach(self.image, c_size_t(size.value), self.env, byref(self.handle))

    def step(self):
        """Takes the actions in self.chosen."""
        self.lib.vecenv_step(self.handle, self.env, byref(self.rows))
