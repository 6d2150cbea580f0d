"""Eight CartPoles through ctypes, as in cartpole.c: `cartpole.py <librlcore.so> <rlcore_bindings.h> <layout.c>`.

Structures lie as layout.c says, with which C compilers agree (tests/system/abi); that is checked before the first call.
"""

import ctypes
import re
import sys
from ctypes import byref, c_char, c_float, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p, sizeof

from structures import structures


def check_layouts(made, golden):
    """Compares every structure with `SIZE(name, ...)` and `FIELD(name, member, ...)` of the golden file."""
    column = 0 if sizeof(c_void_p) == 8 else 1 if ctypes.alignment(c_uint64) == 8 else 2
    sizes = {name: numbers for name, *numbers in re.findall(r"^SIZE\((\w+), (\d+), (\d+), (\d+)\)", golden, re.M)}
    fields = re.findall(r"^FIELD\((\w+), (\w+), (\d+), (\d+), (\d+)\)", golden, re.M)
    for name, struct in made.items():
        assert sizeof(struct) == int(sizes[name][column]), f"sizeof({name}) is {sizeof(struct)}, golden {sizes[name][column]}"
        ours = [(member, getattr(struct, member).offset) for member, *_ in struct._fields_]
        theirs = [(member, int(numbers[column])) for of, member, *numbers in fields if of == name]
        assert ours == theirs, f"{name}: {ours}, golden {theirs}"


library, bindings, layouts = sys.argv[1:]
made = structures(open(bindings).read())
check_layouts(made, open(layouts).read())
lib = ctypes.CDLL(library)


def check(status):
    if status != 0:
        why = (c_char * 256)()
        lib.rlcore_last_error(why, c_size_t(256))
        sys.exit(why.value.decode())


N, STEPS = 8, 1000
game, env, config, envs, size = (c_uint64 * 128)(), c_void_p(), made["rlcore_vecenv_config"](), c_void_p(), c_size_t()
check(lib.rlcore_env_builtin(game, c_size_t(sizeof(game)), c_uint32(1), byref(env)))
check(lib.rlcore_vecenv_config_init(byref(config), c_size_t(sizeof(config))))
config.num_envs, config.seed = N, 1
check(lib.rlcore_vecenv_size(env, byref(config), byref(size)))
block = (c_uint64 * (size.value // 8))()
check(lib.rlcore_vecenv_init(block, size, env, byref(config), byref(envs)))

obs, final_obs, reward = (c_float * 4 * N)(), (c_float * 4 * N)(), (c_float * N)()
terminated, truncated, action = (c_uint8 * N)(), (c_uint8 * N)(), (c_int32 * N)()
rows = made["rlcore_rows"]()
rows.struct_size, rows.obs, rows.action, rows.reward = sizeof(rows), *map(ctypes.addressof, (obs, action, reward))
rows.terminated, rows.truncated, rows.final_obs = map(ctypes.addressof, (terminated, truncated, final_obs))
check(lib.rlcore_vecenv_reset(envs, env, None, obs))
episodes = 0
for _ in range(STEPS):
    for i in range(N):
        action[i] = obs[i][2] > 0
    check(lib.rlcore_vecenv_step(envs, env, byref(rows)))
    episodes += sum(1 for i in range(N) if terminated[i] or truncated[i])
hashed = c_uint64()
check(lib.rlcore_hash(block, size, byref(hashed)))
print(f"cartpole: {episodes} episodes, {hashed.value:016x}")
