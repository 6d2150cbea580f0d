"""The arrays that go round the loop: rlcore_rows over numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._lib import ffi, pointer
from .spaces import Layout


class Rows:
    """Arrays of N rows, and `struct`, the rlcore_rows of their addresses.

    obs, final_obs: [N, obs.len]; action: [N, action.len]; reward: [N] float32; terminated, truncated, valid, active: [N]
    uint8, of which active is passed only after `use_active`; action_mask, final_action_mask: [N, sum of n] uint8, passed
    only with use_mask.
    """

    def __init__(self, num_envs: int, obs: Layout, action: Layout, use_mask: bool = False) -> None:
        self.num_envs, self.use_mask = num_envs, use_mask
        self.obs, self.final_obs, self.action = obs.rows(num_envs), obs.rows(num_envs), action.rows(num_envs)
        self.reward = np.zeros(num_envs, np.float32)
        self.terminated, self.truncated, self.valid = (np.zeros(num_envs, np.uint8) for _ in range(3))
        self.active = np.ones(num_envs, np.uint8)
        self.action_mask, self.final_action_mask = (np.ones((num_envs, action.mask_len), np.uint8) for _ in range(2))
        self.struct = ffi.new("rlcore_rows *", {"struct_size": ffi.sizeof("rlcore_rows")})
        for name in ("obs", "final_obs", "action", "reward", "terminated", "truncated", "valid"):
            setattr(self.struct, name, pointer(getattr(self, name)))
        if use_mask:
            if not action.mask_len:
                raise ValueError("use_action_mask: the actions have no choices")
            self.struct.action_mask, self.struct.final_action_mask = pointer(self.action_mask), pointer(self.final_action_mask)

    def use_active(self, used: bool) -> None:
        """Passes `active`, or passes that all rows are there."""
        self.struct.active = pointer(self.active) if used else ffi.NULL


def rows_struct(**arrays: Any) -> Any:
    """rlcore_rows of some arrays, which must live as long."""
    struct = ffi.new("rlcore_rows *", {"struct_size": ffi.sizeof("rlcore_rows")})
    for name, array in arrays.items():
        setattr(struct, name, pointer(array))
    return struct
