"""Policies: trained networks, read-only, a few kilobytes, which a C program loads as well."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _file, tensors
from ._lib import block, call, constants, ffi, number
from ._rows import rows_struct
from ._structs import fill
from .spaces import Layout

SAMPLING = constants("sampling_method", "RLCORE_SAMPLING_")


class Policy:
    """An exported policy: `Algorithm.policy()`, or `rlcore.load` of its file.

    Any number of threads may share it; each call works in memory of its own.
    """

    def __init__(self, data: bytes, obs: Layout | None = None, action: Layout | None = None, seed: int = 0) -> None:
        self.block = block(len(data))
        self.block[:] = np.frombuffer(data, np.uint8)
        out = ffi.new("const rlcore_policy **")
        call.policy_attach(self.block, self.block.size, ffi.NULL, ffi.NULL, out)
        self.handle = out[0]
        seen, taken = ffi.new("rlcore_space *"), ffi.new("rlcore_space *")
        call.policy_spaces(self.handle, seen, taken)
        info = ffi.new("rlcore_policy_info *", {"struct_size": ffi.sizeof("rlcore_policy_info")})
        call.policy_info_read(self.handle, info)
        self.obs = obs.check(seen, "observations") if obs else Layout.of_native(seen, None, 0, False)
        self.action = action.check(taken, "actions") if action else Layout.of_native(taken, None, 0, True)
        if self.action.mask_len not in (0, info.num_choices) or (action and not self.action.mask_len and info.num_choices):
            raise ValueError("actions: a description of other choices than the block has")
        self.state_len = number("policy_state_len", self.handle)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Starts the random stream that `predict` draws from anew."""
        self._rng = ffi.new("rlcore_rng *")
        call.rng_seed(self._rng, seed % 2**64)

    def predict(
        self,
        observation: Any,
        state: NDArray[np.float32] | None = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, NDArray[np.float32] | None]:
        """Actions for an observation, or for a batch of any number: see `Algorithm.predict`."""

        def act(rows: Any, num_rows: int, inner: Any, reset: Any) -> None:
            scratch = np.empty(number("policy_scratch_len", self.handle, num_rows), np.float32)
            buffers = ffi.new("rlcore_policy_buffers *", {"struct_size": ffi.sizeof("rlcore_policy_buffers")})
            buffers.scratch, buffers.scratch_len = ffi.cast("float *", scratch.ctypes.data), scratch.size
            if inner is not None:
                buffers.state = ffi.cast("float *", inner.ctypes.data)
            if reset is not None:
                buffers.reset = ffi.cast("uint8_t *", reset.ctypes.data)
            sampling = ffi.new("rlcore_sampling *", {"method": SAMPLING["greedy" if deterministic else "basic"]})
            call.policy_act(self.handle, num_rows, rows, buffers, sampling, self._rng)

        return answer(self, act, observation, state, episode_start, action_masks)

    def state_dict(self) -> tensors.StateDict:
        """Weights by name, with PyTorch's shapes."""
        return tensors.read_policy(self.handle)

    def onnx(self, **options: Any) -> bytes:
        """The bytes of an ONNX file; options are the fields of rlcore_onnx_options: names="ml_agents", action_mask=True."""
        given = ffi.new("rlcore_onnx_options *", {"struct_size": ffi.sizeof("rlcore_onnx_options")})
        fill("onnx_options", given, options)
        made = np.empty(number("policy_onnx_size", self.handle, given), np.uint8)
        call.policy_onnx_write(self.handle, given, made, made.size)
        return made.tobytes()

    def save_onnx(self, path: str | PathLike[str], **options: Any) -> None:
        """Writes an ONNX file: see `onnx`."""
        Path(path).write_bytes(self.onnx(**options))

    def to_bytes(self) -> bytes:
        """The sealed block, which rlcore_policy_attach opens in any program on any machine."""
        return self.block.tobytes()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `rlcore.load` reads, and that a C program attaches."""
        _file.write(path, self.to_bytes(), {"obs": self.obs.to_json(), "action": self.action.to_json()})


def answer(model: Any, act: Any, observation: Any, state: Any, episode_start: Any, action_masks: Any) -> tuple[Any, Any]:
    """What `predict` of a policy and of an algorithm have in common; `act(rows, num_rows, state, reset)` chooses."""
    obs, action = model.obs, model.action
    num_rows = obs.batch_len(observation)
    single = num_rows is None
    if num_rows is None:
        observation, num_rows = obs.batch_of_one(observation), 1
    if num_rows == 0:
        raise ValueError("predict: a batch without rows")
    seen, taken = obs.rows(num_rows), action.rows(num_rows)
    obs.pack(observation, seen)
    mask = None
    if action_masks is not None:
        mask = np.ascontiguousarray(np.reshape(action_masks, (num_rows, action.mask_len)), np.uint8)
    inner = reset = None
    if model.state_len:
        inner = np.zeros((num_rows, model.state_len), np.float32)
        if state is not None:
            inner[...] = np.reshape(state, inner.shape)
        reset = np.zeros(num_rows, np.uint8)
        if state is None:
            reset[:] = 1
        elif episode_start is not None:
            reset[:] = np.reshape(episode_start, -1)
    elif state is not None:
        raise ValueError("predict: a state is given, and the policy carries none")
    arrays = {"obs": seen, "action": taken} | ({} if mask is None else {"action_mask": mask})
    act(rows_struct(**arrays), num_rows, inner, reset)
    batch = action.unpack(taken)
    return (action.one(batch, 0) if single else batch), inner

