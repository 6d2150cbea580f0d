"""Structures of the C interface for ctypes, made from include/rlcore_bindings.h. Every pointer is a c_void_p."""

import ctypes
import re

NUMBERS = {
    "float": ctypes.c_float, "double": ctypes.c_double, "char": ctypes.c_char, "size_t": ctypes.c_size_t,
    "int32_t": ctypes.c_int32, "uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
}  # fmt: skip


def structures(bindings):
    """A class for each structure of these declarations, by name."""
    made = {}
    for name, body in re.findall(r"^typedef struct (\w+) \{\n(.*?)^\}", bindings, re.M | re.S):
        fields = []
        for line in body.splitlines():
            declared = re.sub(r"/\*.*?\*/", "", line).strip().rstrip(";")
            kind, pointer, field, dims = re.fullmatch(r"(?:const )?(\w+) ((?:\*(?:const )?)*)(\w+)((?:\[\d+\])*)", declared).groups()
            of = ctypes.c_void_p if pointer or kind.endswith("_fn") else NUMBERS.get(kind) or made[kind]
            for dim in reversed(re.findall(r"\d+", dims)):
                of *= int(dim)
            fields.append((field, of))
        made[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return made
