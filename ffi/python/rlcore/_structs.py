"""Structures of the library by keywords: a field that it does not have is refused with the nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._lib import constants, ffi
from ._names import choose, unknown

# Fields whose numbers have names.
ENUMS = {
    "activation": constants("activation", "RLCORE_ACTIVATION_"),
    "initializer": constants("initializer", "RLCORE_INIT_"),
    "optimizer": constants("optimizer", "RLCORE_OPTIMIZER_"),
    "accumulate": constants("accumulate", "RLCORE_ACCUMULATE_"),
    "autoreset": constants("autoreset", "RLCORE_AUTORESET_"),
    "screen": constants("atari_screen", "RLCORE_ATARI_"),
    "order": constants("atari_order", "RLCORE_ATARI_"),
    "names": constants("onnx_names", "RLCORE_ONNX_"),
}
HIDDEN = frozenset(("struct_size", "reserved"))


def fields_of(struct: str) -> dict[str, Any]:
    """The fields of rlcore_<struct> that a caller sets, with their types."""
    return {name: field.type for name, field in ffi.typeof("rlcore_" + struct).fields if name not in HIDDEN}


def fill(struct: str, target: Any, settings: Mapping[str, Any]) -> None:
    """Sets fields of a structure: numbers, flags, names of constants, short arrays and texts."""
    known = fields_of(struct)
    for name, value in settings.items():
        if name not in known:
            raise unknown(struct.replace("_", " ") + " setting", name, known)
        kind = known[name]
        if name in ENUMS:
            value = choose(name, value, ENUMS[name])
        try:
            if kind.kind == "array" and kind.item.cname == "char":
                value = value.encode()
            elif kind.kind == "array":
                numbers = [value] * kind.length if isinstance(value, int) else list(value)
                value = numbers + [0] * (kind.length - len(numbers))
            elif kind.kind == "primitive" and kind.cname != "float":
                value = int(value) if value == int(value) else value
            setattr(target, name, value)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise type(error)(f"{name}: {error}") from None
