"""Statistics of a training as TensorBoard event files, by tensorboardX: `pip install rlcore[tensorboard]`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

# Names that Stable-Baselines3 gives these numbers; all others are train/<name>.
NAMES = {
    "return_mean": "rollout/ep_rew_mean", "length_mean": "rollout/ep_len_mean", "exploration_rate": "rollout/exploration_rate",
    "num_episodes": "time/episodes", "num_updates": "train/n_updates", "temperature": "train/ent_coef", "entropy": "train/entropy",
    "return_std": "rollout/ep_rew_std", "return_min": "rollout/ep_rew_min", "return_max": "rollout/ep_rew_max",
    "return_last": "rollout/ep_rew_last", "num_stored": "rollout/num_stored",
}  # fmt: skip
LEFT_OUT = frozenset(("num_steps", "minibatches_left"))


class TensorBoard:
    """Event files in folder/<name>_1, or the next number that is free."""

    def __init__(self, folder: str | PathLike[str], name: str) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError("tensorboard_log needs tensorboardX: pip install rlcore[tensorboard]") from None
        number = next(n for n in range(1, 10**6) if not (Path(folder) / f"{name}_{n}").exists())
        self.folder = Path(folder) / f"{name}_{number}"
        self._writer: Any = SummaryWriter(str(self.folder))
        self._start: tuple[float, int] | None = None

    def write(self, stats: Mapping[str, float]) -> None:
        """Writes the statistics that the algorithm has, at their number of steps."""
        steps = int(stats["num_steps"])
        if self._start is None:
            self._start = (time.time(), steps)
        for name, value in stats.items():
            if name not in LEFT_OUT and not math.isnan(value):
                self._writer.add_scalar(NAMES.get(name, "train/" + name), value, steps)
        seconds = time.time() - self._start[0]
        if seconds > 0 and steps > self._start[1]:
            self._writer.add_scalar("time/fps", (steps - self._start[1]) / seconds, steps)

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()
