"""The numbers of learners and policies by name, as dictionaries like a torch state_dict: names, shapes and order of dimensions
are PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._lib import call, constants, ffi
from ._names import choose, unknown

KINDS = constants("tensors", "RLCORE_TENSORS_")
StateDict = dict[str, NDArray[np.float32]]


def _listed(of: str, handle: Any) -> Any:
    """rlcore_tensor[], which owns the structures that it has."""
    count = ffi.new("uint32_t *")
    getattr(call, f"{of}_tensors")(handle, ffi.NULL, 0, count)
    tensors = ffi.new("rlcore_tensor[]", count[0])
    getattr(call, f"{of}_tensors")(handle, tensors, count[0], count)
    return tensors


def _shape(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.dims[0 : tensor.rank])


def _name(tensor: Any) -> str:
    name: str = ffi.string(tensor.name).decode()
    return name


def _split(tensors: Any, values: NDArray[np.float32]) -> StateDict:
    made = {}
    for tensor in tensors:
        shape = _shape(tensor)
        made[_name(tensor)] = values[tensor.offset : tensor.offset + int(np.prod(shape))].reshape(shape)
    return made


def _length(tensors: Any) -> int:
    return int(sum(np.prod(_shape(tensor)) for tensor in tensors))


def read_learner(handle: Any, of: str = "params") -> StateDict:
    """Tensors of a learner: its "params", "targets", "first_moments" or "second_moments"."""
    tensors = _listed("learner", handle)
    values = np.empty(_length(tensors), np.float32)
    call.learner_tensors_read(handle, choose("tensors", of, KINDS), values, values.size)
    return _split(tensors, values)


def read_policy(handle: Any) -> StateDict:
    """Tensors of a policy."""
    tensors = _listed("policy", handle)
    values = np.empty(_length(tensors), np.float32)
    call.policy_tensors_read(handle, values, values.size)
    return _split(tensors, values)


def as_array(value: Any) -> NDArray[np.float32]:
    """An array of the numbers of an array or of a torch tensor."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.ascontiguousarray(value, np.float32)


def write_learner(handle: Any, state_dict: Mapping[str, Any], strict: bool = True, of: str = "params") -> None:
    """Writes tensors into a learner; all of them, unless strict is False, when others stay as they are."""
    tensors = _listed("learner", handle)
    known = {_name(tensor): tensor for tensor in tensors}
    missing = known.keys() - state_dict.keys()
    if strict and missing:
        raise KeyError(f"tensors are missing: {', '.join(sorted(missing))}")
    given, values, offset = ffi.new("rlcore_tensor[]", len(state_dict)), [], 0
    for tensor, (name, value) in zip(given, state_dict.items()):
        if name not in known:
            raise unknown("tensor", name, known)
        array = as_array(value)
        if array.shape != _shape(known[name]):
            raise ValueError(f"{name}: {_shape(known[name])} expected, given {array.shape}")
        ffi.memmove(ffi.addressof(tensor), ffi.addressof(known[name]), ffi.sizeof("rlcore_tensor"))
        tensor.offset = offset
        offset += array.size
        values.append(array.ravel())
    if values:
        numbers = np.concatenate(values)
        call.learner_tensors_write(handle, choose("tensors", of, KINDS), given, len(given), numbers, numbers.size)
