"""Returns and lengths of episodes, in monitor.csv as Stable-Baselines3 writes and reads it."""

from __future__ import annotations

import os
import time
from os import PathLike
from types import TracebackType
from typing import Any

import numpy as np

from ._lib import block, call, ffi, number, pointer, raw

EPISODES = 256


class Monitor:
    """Counts the episodes of N environments, and writes each one that ends to a file.

    path: a file, or a folder in which it is monitor.csv.
    """

    def __init__(self, path: str | PathLike[str], num_envs: int, env_id: str = "") -> None:
        name = os.fspath(path)
        if os.path.isdir(name):
            name = os.path.join(name, "monitor.csv")
        elif not name.endswith("monitor.csv"):
            name += ".monitor.csv"
        self.path = name
        config = ffi.new("rlcore_monitor_config *")
        call.monitor_config_init(config, ffi.sizeof("rlcore_monitor_config"))
        config.num_envs, config.start = num_envs, time.time()
        self.block = block(number("monitor_size", config))
        out = ffi.new("rlcore_monitor **")
        call.monitor_init(self.block, self.block.size, config, out)
        self.handle, self._next = out[0], ffi.new("uint64_t *")
        self._episodes, self._count = ffi.new("rlcore_episode[]", EPISODES), ffi.new("uint32_t *")
        self._text, self._len = np.zeros(8192, np.uint8), ffi.new("size_t *")
        self._file = open(name, "wb")
        env_name = ffi.new("char[]", env_id.encode("ascii", "replace"))
        call.monitor_format_header(config.start, env_name, ffi.NULL, 0, self._chars, self._text.size, self._len)
        self._write()

    @property
    def _chars(self) -> Any:
        return ffi.cast("char *", pointer(self._text))

    def _write(self) -> None:
        self._file.write(self._text[: self._len[0]].tobytes())

    def reset(self) -> None:
        """Begins new episodes in all environments."""
        call.monitor_reset(self.handle)

    def step(self, rows: Any) -> None:
        """Counts a step of rlcore_rows, and writes the episodes that it ended."""
        call.monitor_step(self.handle, rows, time.time(), ffi.NULL)
        while True:
            call.monitor_read(self.handle, self._next, self._episodes, ffi.NULL, EPISODES, self._count, ffi.NULL)
            for i in range(self._count[0]):
                call.monitor_format_row(self._episodes + i, ffi.NULL, 0, self._chars, raw.RLCORE_MONITOR_ROW_SIZE, self._len)
                self._write()
            if self._count[0]:
                self._file.flush()
            if self._count[0] < EPISODES:
                return

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
