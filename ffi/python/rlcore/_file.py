"""Files: a sealed block of the library, as a C program saves and attaches it, then what only this package needs to know."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

MAGIC = b"rlcorepy"


def write(path: str | PathLike[str], block: bytes, about: dict[str, Any]) -> None:
    """Writes block and description to a file in one step, so that an interrupted write leaves the old file."""
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 8)
    beside = Path(f"{os.fspath(path)}.part")
    beside.write_bytes(block + text + len(text).to_bytes(8, "little") + MAGIC)
    beside.replace(path)


def read(path: str | PathLike[str]) -> tuple[bytes, dict[str, Any]]:
    """Block and description of a file; of one that a C program wrote, all of it and no description."""
    data = Path(path).read_bytes()
    if not data.endswith(MAGIC) or len(data) < 16:
        return data, {}
    length = int.from_bytes(data[-16:-8], "little")
    if length > len(data) - 16:
        raise ValueError(f"{os.fspath(path)}: a damaged file")
    about = json.loads(data[len(data) - 16 - length : -16])
    return data[: len(data) - 16 - length], about
