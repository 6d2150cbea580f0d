"""Names that a caller may have misspelled."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: str, known: Iterable[str]) -> TypeError:
    """The refusal of a name, with the nearest one that there is."""
    all_known = sorted(known)
    near = difflib.get_close_matches(name, all_known, 1, 0.5)
    return TypeError(f"no {kind} {name!r}" + (f": did you mean {near[0]!r}?" if near else f"; there are {', '.join(all_known)}"))


def choose(kind: str, value: object, known: dict[str, int]) -> int:
    """The number of a constant that is given by number or by name."""
    if isinstance(value, str):
        name = value.lower().replace("-", "_")
        if name not in known:
            raise unknown(kind, value, known)
        return known[name]
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"{kind}: a name or a number is needed, given {value!r}")
