"""Eight CartPoles through ctypes, as in cartpole.c: `cartpole.py <librlcore.so> <layout.c>`.

Structures lie as the golden layouts say, which a C compiler has agreed to; that is checked before the first call.
"""

import ctypes
import re
import sys
from ctypes import POINTER, byref, c_char, c_float, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p, sizeof


class rlcore_space(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("len", c_uint32), ("low", POINTER(c_float)), ("high", POINTER(c_float)), ("n", POINTER(c_uint32))]


class rlcore_env_def(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32), ("env_id", c_uint32), ("state_size", c_uint32), ("max_episode_steps", c_uint32),
        ("obs", rlcore_space), ("action", rlcore_space), ("user", c_void_p), ("reset", c_void_p), ("step", c_void_p),
        ("render", c_void_p), ("lives", c_void_p), ("action_mask", c_void_p), ("restart", c_void_p), ("fields", c_void_p),
        ("num_fields", c_uint32), ("num_wrappers", c_uint32), ("wrappers", c_void_p),
    ]  # fmt: skip


class rlcore_vecenv_config(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32), ("num_envs", c_uint32), ("seed", c_uint64), ("autoreset", c_uint32),
        ("max_episode_steps", c_uint32),
    ]  # fmt: skip


class rlcore_vecenv_out(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [
        (name, c_void_p) for name in ("obs", "reward", "terminated", "truncated", "final_obs", "valid")
    ]


def check_layouts(golden):
    """Compares every structure above with `SIZE(name, ...)` and `FIELD(name, member, ...)` of the golden file."""
    column = 0 if sizeof(c_void_p) == 8 else 1 if ctypes.alignment(c_uint64) == 8 else 2
    sizes = {name: numbers for name, *numbers in re.findall(r"^SIZE\((\w+), (\d+), (\d+), (\d+)\)", golden, re.M)}
    fields = re.findall(r"^FIELD\((\w+), (\w+), (\d+), (\d+), (\d+)\)", golden, re.M)
    for struct in (rlcore_space, rlcore_env_def, rlcore_vecenv_config, rlcore_vecenv_out):
        name = struct.__name__
        assert sizeof(struct) == int(sizes[name][column]), f"sizeof({name}) is {sizeof(struct)}, golden {sizes[name][column]}"
        ours = [(member, getattr(struct, member).offset) for member, *_ in struct._fields_]
        theirs = [(member, int(numbers[column])) for of, member, *numbers in fields if of == name]
        assert ours == theirs, f"{name}: {ours}, golden {theirs}"


library, layouts = sys.argv[1:]
check_layouts(open(layouts).read())
lib = ctypes.CDLL(library)


def check(status):
    if status != 0:
        why = (c_char * 256)()
        lib.rlcore_last_error(why, c_size_t(256))
        sys.exit(why.value.decode())


N, STEPS = 8, 1000
env, config, envs, size = rlcore_env_def(), rlcore_vecenv_config(), c_void_p(), c_size_t()
check(lib.rlcore_env_builtin(c_uint32(1), byref(env), c_size_t(sizeof(env))))
check(lib.rlcore_vecenv_config_init(byref(config), c_size_t(sizeof(config))))
config.num_envs, config.seed = N, 1
check(lib.rlcore_vecenv_size(byref(env), byref(config), byref(size)))
block = (c_uint64 * (size.value // 8))()
check(lib.rlcore_vecenv_init(block, size, byref(env), byref(config), byref(envs)))

obs, final_obs, reward = (c_float * 4 * N)(), (c_float * 4 * N)(), (c_float * N)()
terminated, truncated, action = (c_uint8 * N)(), (c_uint8 * N)(), (c_int32 * N)()
out = rlcore_vecenv_out(sizeof(rlcore_vecenv_out), 0, *(ctypes.addressof(x) for x in (obs, reward, terminated, truncated, final_obs)), None)
check(lib.rlcore_vecenv_reset(envs, byref(env), None, obs))
episodes = 0
for _ in range(STEPS):
    for i in range(N):
        action[i] = obs[i][2] > 0
    check(lib.rlcore_vecenv_step(envs, byref(env), action, byref(out)))
    episodes += sum(1 for i in range(N) if terminated[i] or truncated[i])
hashed = c_uint64()
check(lib.rlcore_hash(block, size, byref(hashed)))
print(f"cartpole: {episodes} episodes, {hashed.value:016x}")
