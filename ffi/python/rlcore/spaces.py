"""Observations and actions: how rows of the library's arrays lie in memory, and the Gymnasium spaces that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._lib import ffi, pointer, raw

DTYPES: dict[int, Any] = {raw.RLCORE_F32: np.float32, raw.RLCORE_I32: np.int32, raw.RLCORE_U8: np.uint8, raw.RLCORE_STRUCT: np.uint8}
MAX_FIELDS = 8


@dataclass(frozen=True)
class Leaf:
    """One array of an observation or action: a whole one, or an entry of a dictionary or tuple."""

    path: tuple[str | int, ...]
    """Keys that lead to it: () for a whole one, strings for dictionaries, numbers for tuples."""
    form: str
    """box, discrete, multi_discrete or multi_binary."""
    shape: tuple[int, ...]
    dtype: str
    """The host's type, which may differ from the library's: float64 is rounded to float32."""
    kind: int
    """RLCORE_F32, RLCORE_I32 or RLCORE_U8."""
    low: list[float] | None = None
    high: list[float] | None = None
    n: list[int] | None = None
    start: list[int] | None = None
    """The host's number of the first choice, where it is not 0."""

    @property
    def len(self) -> int:
        """Elements."""
        return int(np.prod(self.shape, dtype=np.int64))


class Layout:
    """How a row of observations or actions lies in memory: one array, or a structure of several.

    `kind` and `len` are those of rlcore_space; `leaves` are its arrays and `offsets` where they begin, in bytes.
    """

    def __init__(self, leaves: Sequence[Leaf], is_action: bool) -> None:
        self.leaves, self.is_action, self.offsets = tuple(leaves), is_action, [0]
        if len(leaves) > MAX_FIELDS:
            raise ValueError(f"{len(leaves)} entries in a space; a structure has at most {MAX_FIELDS} fields")
        self.whole = len(leaves) == 1 and not leaves[0].path
        if self.whole:
            self.kind, self.len = leaves[0].kind, leaves[0].len
        else:
            for leaf in leaves:
                item = DTYPES[leaf.kind]().itemsize
                self.offsets[-1] = -(-self.offsets[-1] // item) * item
                self.offsets.append(self.offsets[-1] + leaf.len * item)
            self.kind, self.len = raw.RLCORE_STRUCT, -(-self.offsets.pop() // 4) * 4
        self.dtype = DTYPES[self.kind]
        numbers = [leaf for leaf in leaves if leaf.kind == raw.RLCORE_F32]
        counts = [n for leaf in leaves if leaf.kind == raw.RLCORE_I32 for n in leaf.n or ()]
        bounded = is_action and numbers and all(leaf.low is not None for leaf in numbers)
        self.low = np.array([x for leaf in numbers for x in leaf.low or ()], np.float32) if bounded else None
        self.high = np.array([x for leaf in numbers for x in leaf.high or ()], np.float32) if bounded else None
        self.n = np.array(counts, np.uint32) if counts else None
        self.mask_len = sum(counts) if is_action else 0
        self.fields = self._fields()
        self.space = ffi.new("rlcore_space *", {"kind": self.kind, "len": self.len})
        self.space.low, self.space.high, self.space.n = pointer(self.low), pointer(self.high), pointer(self.n)

    def _fields(self) -> Any:
        """The rlcore_field of each array; of a whole one its shape, by which networks see a picture."""
        fields = ffi.new("rlcore_field[]", len(self.leaves))
        for i, (field, leaf, offset) in enumerate(zip(fields, self.leaves, self.offsets)):
            name = ".".join(map(str, leaf.path)).encode()
            field.name = name if len(name) < 24 else f"{name[:16].decode(errors='ignore')}.{i}".encode()
            shape = leaf.shape
            if len(shape) > 4:
                shape = (leaf.len,)
            field.kind, field.rank, field.dims, field.offset = leaf.kind, len(shape), shape, offset
            if leaf.kind == raw.RLCORE_U8 and len(shape) == 3 and shape[0] < min(shape[1:]):
                field.flags = raw.RLCORE_FIELD_CHANNELS_FIRST
        return fields

    def check(self, space: Any, what: str) -> Layout:
        """This layout, if rows of an rlcore_space, which the library reads and writes, are as long: a file may say anything."""
        # A structure of bytes alone is an observation of bytes to the library.
        bytes_alone = all(leaf.kind == raw.RLCORE_U8 for leaf in self.leaves)
        if space.len != self.len or space.kind not in (self.kind, raw.RLCORE_U8 if bytes_alone else self.kind):
            raise ValueError(f"{what}: a description of other rows than the block has")
        return self

    def agrees(self, other: Layout) -> bool:
        """Whether rows of another layout mean the same to a learner."""
        mine, others = ([(leaf.kind, leaf.len) for leaf in layout.leaves if layout.leaves[0].kind != raw.RLCORE_STRUCT] for layout in (self, other))
        ends = all(np.array_equal(np.asarray(a, object), np.asarray(b, object)) for a, b in ((self.n, other.n), (self.low, other.low), (self.high, other.high)))
        return (self.kind, self.len) == (other.kind, other.len) and ends and (mine == others or not (mine and others))

    # ---- rows

    def rows(self, num_rows: int) -> NDArray[Any]:
        """Zeroed rows [num_rows, len] of the library's type."""
        return np.zeros((num_rows, self.len), self.dtype)

    def parts(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Views [num_rows, shape...] of each array in these rows, without a copy."""
        if self.whole:
            return [rows.reshape((len(rows), *self.leaves[0].shape))]
        made = []
        for leaf, offset in zip(self.leaves, self.offsets):
            dtype = np.dtype(DTYPES[leaf.kind])
            inner = np.empty(leaf.shape, dtype).strides
            made.append(np.ndarray((len(rows), *leaf.shape), dtype, rows, offset, (rows.strides[0], *inner)))
        return made

    def view(self, rows: NDArray[Any]) -> Any:
        """These rows as the host sees them, batched: an array, or a dictionary or tuple of arrays; no copies, so choices count from 0."""
        return self._nest(self.parts(rows))

    def pack(self, batch: Any, rows: NDArray[Any]) -> None:
        """Writes a batch of the host's values, each array with a leading axis of len(rows), to rows."""
        for leaf, part in zip(self.leaves, self.parts(rows)):
            value = np.asarray(_get(batch, leaf.path))
            if leaf.start is not None:
                value = value - np.reshape(leaf.start, leaf.shape)
            if value.size != part.size:
                raise ValueError(f"{leaf.path or 'values'}: {part.shape} expected, given {value.shape}")
            part[...] = value.reshape(part.shape)

    def unpack(self, rows: NDArray[Any]) -> Any:
        """The values of rows as the host takes them, batched, in arrays of their own."""
        values = []
        for leaf, part in zip(self.leaves, self.parts(rows)):
            value = part.astype(leaf.dtype)
            values.append(value if leaf.start is None else value + np.asarray(leaf.start, leaf.dtype).reshape(leaf.shape))
        return self._nest(values)

    def one(self, batch: Any, index: int) -> Any:
        """Value `index` of a batch; a discrete one is a number."""
        values = [np.asarray(_get(batch, leaf.path))[index] for leaf in self.leaves]
        return self._nest([int(v) if leaf.form == "discrete" else v for leaf, v in zip(self.leaves, values)])

    def batch_len(self, value: Any) -> int | None:
        """How many rows a value of the host's has; None if it is a single one, without a leading axis."""
        leaf = self.leaves[0]
        shape = np.shape(_get(value, leaf.path))
        if len(shape) == len(leaf.shape):
            return None
        if len(shape) != len(leaf.shape) + 1:
            raise ValueError(f"{leaf.shape} expected, or a batch of that, given {shape}")
        return int(shape[0])

    def batch_of_one(self, value: Any) -> Any:
        """A single value as a batch."""
        return self._nest([np.asarray(_get(value, leaf.path))[None] for leaf in self.leaves])

    def _nest(self, values: Sequence[Any]) -> Any:
        if self.whole:
            return values[0]
        nested: Any = {}
        for leaf, value in zip(self.leaves, values):
            at = nested
            for key in leaf.path[:-1]:
                at = at.setdefault(key, {})
            at[leaf.path[-1]] = value
        return _tuples(nested)

    # ---- other forms

    @classmethod
    def of_native(cls, space: Any, fields: Any, num_fields: int, is_action: bool) -> Layout:
        """That of an rlcore_space and its rlcore_field list, as the library tells them."""
        low, high, n = ([at[i] for i in range(space.len)] if at and space.kind != raw.RLCORE_STRUCT else None for at in (space.low, space.high, space.n))
        if num_fields > 1:
            if space.kind == raw.RLCORE_STRUCT and space.n:
                raise ValueError("a structure with choices, whose entries the library does not tell apart")
            leaves = []
            for field in fields[0:num_fields]:
                shape = tuple(field.dims[0 : field.rank])
                leaves.append(_leaf((ffi.string(field.name).decode(),), shape, field.kind, None, None, None))
            layout = cls(leaves, is_action)
            layout.offsets = [field.offset for field in fields[0:num_fields]]
            layout.kind, layout.len = space.kind, space.len
            layout.dtype = DTYPES[space.kind]
            layout.space.kind, layout.space.len = space.kind, space.len
            for own, field in zip(layout.fields, fields[0:num_fields]):
                ffi.memmove(ffi.addressof(own), ffi.addressof(field), ffi.sizeof("rlcore_field"))
            return layout
        shape = tuple(fields[0].dims[0 : fields[0].rank]) if num_fields else (space.len,)
        layout = cls([_leaf((), shape, space.kind, low, high, n)], is_action)
        if num_fields:
            layout.fields[0].flags = fields[0].flags
        return layout

    @classmethod
    def of_gymnasium(cls, space: Any, is_action: bool) -> Layout:
        """That of a Gymnasium space: Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple of them."""
        return cls(list(_leaves(space, (), is_action)), is_action)

    def gymnasium(self) -> Any:
        """The Gymnasium space."""
        from gymnasium import spaces

        made: list[Any] = []
        for leaf in self.leaves:
            if leaf.form == "discrete":
                made.append(spaces.Discrete(int((leaf.n or [1])[0]), start=(leaf.start or [0])[0]))
            elif leaf.form == "multi_discrete":
                start = None if leaf.start is None else np.reshape(leaf.start, leaf.shape)
                made.append(spaces.MultiDiscrete(np.reshape(leaf.n or [], leaf.shape), start=start))
            elif leaf.form == "multi_binary":
                made.append(spaces.MultiBinary(leaf.shape[0] if len(leaf.shape) == 1 else leaf.shape))
            else:
                dtype: Any = np.dtype(leaf.dtype)
                ends = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
                low, high = (np.full(leaf.shape, end) if at is None else np.reshape(at, leaf.shape) for at, end in zip((leaf.low, leaf.high), ends))
                made.append(spaces.Box(low.astype(dtype), high.astype(dtype), dtype=dtype))
        return made[0] if self.whole else _spaces(self._nest(made))

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data that of_json makes this of again."""
        return [asdict(leaf) for leaf in self.leaves]

    @classmethod
    def of_json(cls, data: list[dict[str, Any]], is_action: bool) -> Layout:
        return cls([Leaf(**{**leaf, "path": tuple(leaf["path"]), "shape": tuple(leaf["shape"])}) for leaf in data], is_action)


def _leaf(path: tuple[str | int, ...], shape: tuple[int, ...], kind: int, low: Any, high: Any, n: Any) -> Leaf:
    form = "box"
    if kind == raw.RLCORE_I32 and n is None:
        return Leaf(path, form, shape, "int32", kind)
    if kind == raw.RLCORE_I32:
        form = "discrete" if np.prod(shape) == 1 else "multi_discrete"
        shape = () if form == "discrete" else shape
    dtype = "int64" if kind == raw.RLCORE_I32 else np.dtype(DTYPES[kind]).name
    return Leaf(path, form, shape, dtype, kind, low, high, n)


def _leaves(space: Any, path: tuple[str | int, ...], is_action: bool) -> Any:
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            yield from _leaves(inner, (*path, key), is_action)
    elif isinstance(space, spaces.Tuple):
        for i, inner in enumerate(space.spaces):
            yield from _leaves(inner, (*path, i), is_action)
    elif isinstance(space, spaces.Discrete):
        start = [int(space.start)] if space.start else None
        yield Leaf(path, "discrete", (), "int64", raw.RLCORE_I32, n=[int(space.n)], start=start)
    elif isinstance(space, spaces.MultiDiscrete):
        n, start = space.nvec.ravel().tolist(), np.asarray(space.start).ravel().tolist()
        yield Leaf(path, "multi_discrete", tuple(space.nvec.shape), str(space.dtype), raw.RLCORE_I32, n=n, start=start if any(start) else None)
    elif isinstance(space, spaces.MultiBinary):
        kind = raw.RLCORE_I32 if is_action else raw.RLCORE_F32
        yield Leaf(path, "multi_binary", tuple(space.shape), str(space.dtype), kind, n=[2] * int(np.prod(space.shape)) if is_action else None)
    elif isinstance(space, spaces.Box):
        kind = raw.RLCORE_U8 if space.dtype == np.uint8 and not is_action else raw.RLCORE_F32
        ends = [bound.astype(np.float64).ravel() for bound in (space.low, space.high)]
        bounded = not is_action or np.isfinite(ends).all()
        low, high = (end.tolist() if bounded else None for end in ends)
        yield Leaf(path, "box", tuple(space.shape), str(space.dtype), kind, low, high)
    else:
        raise TypeError(f"a space of {type(space).__name__} is not supported{f' at {path}' if path else ''}")


def _get(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _tuples(nested: Any) -> Any:
    """Turns dictionaries with numbers as keys into tuples."""
    if not isinstance(nested, dict):
        return nested
    made = {key: _tuples(value) for key, value in nested.items()}
    return tuple(made.values()) if made and isinstance(next(iter(made)), int) else made


def _spaces(nested: Any) -> Any:
    from gymnasium import spaces

    if isinstance(nested, dict):
        return spaces.Dict({key: _spaces(value) for key, value in nested.items()})
    return spaces.Tuple([_spaces(value) for value in nested]) if isinstance(nested, tuple) else nested
