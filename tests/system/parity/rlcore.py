"""The C interface through ctypes: as much of include/rlcore.h as the comparisons with other packages need."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p, sizeof

import numpy as np

F32, I32, U8 = 0, 1, 2
SAME_STEP, NEXT_STEP, DISABLED, LEGACY = 0, 1, 2, 3


class Space(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("len", c_uint32), ("low", POINTER(c_float)), ("high", POINTER(c_float)), ("n", POINTER(c_uint32))]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 24), ("kind", c_uint32), ("rank", c_uint32), ("dims", c_uint32 * 4), ("offset", c_uint32), ("reserved", c_uint32)]


class Wrapper(ctypes.Structure):
    _fields_ = (
        [(name, c_uint32) for name in ("kind", "count", "steps", "noop_max", "noop_count", "noop", "fire", "second")]
        + [(name, c_float) for name in ("probability", "low", "high", "factor")]
        + [(name, c_uint32) for name in ("height", "width", "gray", "len")]
        + [("field", ctypes.c_char * 24), ("reserved", c_uint32 * 4), ("observe", c_void_p), ("user", c_void_p)]
    )


class Step(ctypes.Structure):
    _fields_ = [("reward", c_float), ("terminated", c_uint8), ("truncated", c_uint8), ("reserved", c_uint8 * 2)]


RESET = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p)
STEP = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(Step))
LIVES = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint32, c_void_p, POINTER(c_uint32))


class EnvDef(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32), ("env_id", c_uint32), ("state_size", c_uint32), ("max_episode_steps", c_uint32),
        ("obs", Space), ("action", Space), ("user", c_void_p), ("reset", c_void_p), ("step", c_void_p), ("render", c_void_p),
        ("lives", c_void_p), ("action_mask", c_void_p), ("restart", c_void_p), ("fields", POINTER(Field)),
        ("num_fields", c_uint32), ("num_wrappers", c_uint32), ("wrappers", POINTER(Wrapper)),
    ]


class VecEnvConfig(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("num_envs", c_uint32), ("seed", c_uint64), ("autoreset", c_uint32), ("max_episode_steps", c_uint32)]


ARRAYS = ("active obs action_mask action reward terminated truncated valid final_obs final_action_mask duration").split()


class Rows(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [(name, c_void_p) for name in ARRAYS]


class ReplayStep(ctypes.Structure):
    _fields_ = [(name, c_float if name == "reward" else c_uint32) for name in "struct_size env reward terminated truncated".split()]


class ReplayDraw(ctypes.Structure):
    _fields_ = [(name, c_float if name == "beta" else c_uint32) for name in "struct_size beta normalize independent".split()]


class OffPolicy(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("discount", c_float), ("td_lambda", c_float), ("reserved", c_uint32)] + [
        (name, c_void_p) for name in ("q", "log_rho")
    ]


class Column(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 24)] + [(name, c_uint32) for name in ("kind", "len", "num_stack", "channels")]


class LazyFramesConfig(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("struct_size", "num_envs", "num_frames", "height", "width", "channels", "num_stack")]


class ReplayConfig(ctypes.Structure):
    _fields_ = (
        [(name, c_uint32) for name in ("struct_size", "num_envs", "num_rows", "num_columns")]
        + [("columns", POINTER(Column)), ("observations", c_uint32), ("num_steps", c_uint32)]
        + [(name, c_float) for name in ("discount", "alpha", "epsilon")] + [("reserved", c_uint32)]
    )


FRAME_INDEX = np.dtype([("number", "<u8"), ("env", "<u4"), ("reserved", "<u4")])


class Library:
    """Every call checked: a status other than 0 raises what rlcore_last_error says."""

    def __init__(self, path):
        self.raw = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self.raw, "rlcore_" + name)
        function.restype = c_int32

        def checked(*arguments):
            if function(*arguments) != 0:
                raise RuntimeError(f"rlcore_{name}: {self.last_error()}")

        setattr(self, name, checked)
        return checked

    def last_error(self):
        text = ctypes.create_string_buffer(300)
        self.raw.rlcore_last_error(text, c_size_t(sizeof(text)))
        return text.value.decode()

    def builtin(self, env_id):
        return Env(self, EnvDef(sizeof(EnvDef), env_id))


class Env:
    """A compiled environment, and what it shows and takes."""

    def __init__(self, lib, definition):
        size, self.at, self.obs, self.action = c_size_t(), c_void_p(), Space(), Space()
        lib.env_size(byref(definition), byref(size))
        self.mem = block(size.value)
        lib.env_init(address(self.mem), size, byref(definition), byref(self.at))
        lib.env_spaces(self.at, byref(self.obs), byref(self.action))


def address(array):
    return c_void_p(array.ctypes.data)


def block(size):
    """Zeroed memory on an 8-byte boundary."""
    return np.zeros((size + 7) // 8, np.uint64)


class VecEnv:
    """N environments with the arrays of a step."""

    def __init__(self, lib, env, num_envs, seed=0, autoreset=SAME_STEP, max_episode_steps=0, obs=None):
        self.lib, self.env, self.num_envs = lib, env, num_envs
        config = VecEnvConfig(sizeof(VecEnvConfig), num_envs, seed, autoreset, max_episode_steps)
        size = c_size_t()
        lib.vecenv_size(env.at, byref(config), byref(size))
        self.mem, self.at = block(size.value), c_void_p()
        lib.vecenv_init(address(self.mem), size, env.at, byref(config), byref(self.at))
        kind, length = obs or (env.obs.kind, env.obs.len)
        dtype = np.uint8 if kind == U8 else np.float32
        self.obs, self.final_obs = (np.zeros((num_envs, length), dtype) for _ in range(2))
        self.reward = np.zeros(num_envs, np.float32)
        self.terminated, self.truncated, self.valid = (np.zeros(num_envs, np.uint8) for _ in range(3))
        names = ("obs", "reward", "terminated", "truncated", "final_obs", "valid")
        self.rows = Rows(sizeof(Rows), **{name: getattr(self, name).ctypes.data for name in names})

    def reset(self, seed=None):
        seed = None if seed is None else byref(c_uint64(seed))
        self.lib.vecenv_reset(self.at, self.env.at, seed, address(self.obs))
        return self.obs

    def step(self, action):
        self.rows.action = address(action)
        self.lib.vecenv_step(self.at, self.env.at, byref(self.rows))
