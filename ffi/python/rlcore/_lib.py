"""The native library: its declarations from rlcore_bindings.h, and calls whose failures are exceptions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
FILE = {"win32": "rlcore.dll", "darwin": "librlcore.dylib"}.get(sys.platform, "librlcore.so")

ffi: Any = cffi.FFI()
ffi.cdef((HERE / "rlcore_bindings.h").read_text())
raw: Any = ffi.dlopen(os.environ.get("RLCORE_LIBRARY", str(HERE / FILE)))


class Error(Exception):
    """A call that the library refused. `status` is its number, `name` that of the status, the text its sentence."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.name: str = ffi.string(raw.rlcore_status_name(status)).decode()


class RefusedError(Error, ValueError):
    """A call with arguments, a configuration or bytes that the library does not take."""


# Statuses that tell of something other than the arguments.
OTHER = frozenset((raw.RLCORE_E_CALLBACK, raw.RLCORE_E_NOT_READY, raw.RLCORE_E_BUSY, raw.RLCORE_E_NOT_PENDING, raw.RLCORE_E_DISABLED))


def last_error() -> str:
    """The library's sentence about the last failure of this thread."""
    text = ffi.new("char[512]")
    raw.rlcore_last_error(text, 512)
    said: str = ffi.string(text).decode(errors="replace")
    return said


def pointer(array: NDArray[Any] | None) -> Any:
    """The address of a contiguous array, which must live as long as the library reads it."""
    return ffi.NULL if array is None else ffi.cast("void *", array.ctypes.data)


class Calls:
    """`call.x(...)` is rlcore_x: arrays are passed by their addresses, None as NULL, and a status becomes an exception."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(raw, "rlcore_" + name)

        def checked(*arguments: Any) -> None:
            status = function(*(pointer(a) if a is None or isinstance(a, np.ndarray) else a for a in arguments))
            if status:
                raise (Error if status in OTHER else RefusedError)(status, last_error())

        setattr(self, name, checked)
        return checked


call: Any = Calls()


def block(size: int) -> NDArray[np.uint8]:
    """`size` zeroed bytes on a 64-byte boundary: the memory of an object of the library."""
    room = np.zeros(size + 63, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size]


def number(name: str, *arguments: Any, of: str = "size_t") -> int:
    """The number that a call writes through its last parameter."""
    out = ffi.new(of + " *")
    getattr(call, name)(*arguments, out)
    return int(out[0])


def constants(enum: str, prefix: str) -> dict[str, int]:
    """The enumerators of rlcore_<enum> without their prefix, in lower case, by number."""
    found = ffi.typeof("rlcore_" + enum).relements
    return {key.removeprefix(prefix).lower(): value for key, value in sorted(found.items(), key=lambda entry: entry[1])}


if raw.rlcore_abi_version() != raw.RLCORE_ABI_VERSION:
    raise ImportError(f"{FILE} has version {raw.rlcore_abi_version()} of the interface, and its declarations {raw.RLCORE_ABI_VERSION}")
