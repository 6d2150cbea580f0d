"""Layers of networks, for `policy=[...]` of algorithms.

    policy = [layers.conv(16, 3, activation="relu"), layers.dense(128, activation="relu"), layers.lstm(64)]

Each function makes one rlcore_layer; keywords are its fields in rlcore.h, flags by name (no_bias=True), and `source` is
what the layer reads: nothing for the layer before it, k for layer k, counted from 1, INPUT or INPUT | k.
"""

from __future__ import annotations

from typing import Any

from ._lib import call, constants, ffi, raw
from ._names import choose
from ._structs import fill

KINDS = constants("layer_kind", "RLCORE_LAYER_")
FLAGS = constants("layer_flag", "RLCORE_LAYER_")
NETS = constants("net", "RLCORE_NET_")
RECURRENT = frozenset(KINDS[name] for name in ("lstm", "gru", "mingru", "attention"))
PICTURES = frozenset(KINDS[name] for name in ("conv", "deconv", "depthwise", "pool"))
INPUT: int = raw.RLCORE_LAYER_INPUT


class Layer:
    """One rlcore_layer: a kind of `KINDS`, its fields, and flags as `name=True`."""

    def __init__(self, kind: str | int, **fields: Any) -> None:
        self.struct = ffi.new("rlcore_layer *")
        flags = sum(bit for name, bit in FLAGS.items() if fields.pop(name, False))
        source = fields.pop("source", None)
        if isinstance(source, int):
            source = [source]
        if source is not None:
            fields["source"] = source
        fill("layer", self.struct, {**fields, "kind": choose("layer", kind, KINDS), "flags": flags | fields.get("flags", 0)})

    def __repr__(self) -> str:
        return f"Layer({next(name for name, number in KINDS.items() if number == self.struct.kind)!r}, units={self.struct.units})"


def net(name: str) -> list[Layer]:
    """The layers of a network that is known by name, one of `NETS`: rlcore_net_preset."""
    structs, count = ffi.new("rlcore_layer[64]"), ffi.new("uint32_t *")
    call.net_preset(choose("network", name, NETS), structs, 64, count)
    made = []
    for struct in structs[0 : count[0]]:
        layer = Layer(struct.kind)
        ffi.memmove(layer.struct, ffi.addressof(struct), ffi.sizeof(struct))
        made.append(layer)
    return made


def dense(units: int, **fields: Any) -> Layer:
    """Weighted sums of everything that it reads; tanh unless an `activation` is named."""
    return Layer("dense", units=units, **fields)


def conv(units: int, size: int | tuple[int, int], stride: int | tuple[int, int] = 1, **fields: Any) -> Layer:
    """2-D convolution with so many channels, channels last; tanh unless an `activation` is named."""
    return Layer("conv", units=units, size=size, stride=stride, **fields)


def depthwise(units: int, size: int | tuple[int, int], stride: int | tuple[int, int] = 1, **fields: Any) -> Layer:
    """2-D convolution of each channel by itself."""
    return Layer("depthwise", units=units, size=size, stride=stride, **fields)


def deconv(units: int, size: int | tuple[int, int], stride: int | tuple[int, int] = 1, **fields: Any) -> Layer:
    """Transposed 2-D convolution."""
    return Layer("deconv", units=units, size=size, stride=stride, **fields)


def pool(size: int | tuple[int, int], **fields: Any) -> Layer:
    """The maximum of each channel in each window, or with mean=True the mean; identity unless an `activation` is named."""
    return Layer("pool", size=size, **{"activation": "identity", **fields})


def norm(**fields: Any) -> Layer:
    """Layer normalization over the channels; identity unless an `activation` is named."""
    return Layer("norm", **{"activation": "identity", **fields})


def lstm(units: int, **fields: Any) -> Layer:
    """Long short-term memory."""
    return Layer("lstm", units=units, **fields)


def gru(units: int, **fields: Any) -> Layer:
    """Gated recurrent unit."""
    return Layer("gru", units=units, **fields)


def mingru(units: int, **fields: Any) -> Layer:
    """GRU whose gates read the input only."""
    return Layer("mingru", units=units, **fields)


def attention(units: int, heads: int, window: int, **fields: Any) -> Layer:
    """Causal multi-head attention over the last `window` steps of an episode."""
    return Layer("attention", units=units, heads=heads, window=window, **fields)


def embed(units: int, symbols: int, **fields: Any) -> Layer:
    """Sum of the embeddings of a pixel's channels, whole numbers below `symbols`."""
    return Layer("embed", units=units, symbols=symbols, **{"activation": "identity", **fields})


def add(source: tuple[int, int], **fields: Any) -> Layer:
    """Sum of two layers."""
    return Layer("add", source=source, **{"activation": "identity", **fields})


def multiply(source: tuple[int, int], **fields: Any) -> Layer:
    """Product of two layers."""
    return Layer("multiply", source=source, **{"activation": "identity", **fields})


def join(source: tuple[int, int], **fields: Any) -> Layer:
    """Channels of two layers, pixel by pixel."""
    return Layer("join", source=source, **{"activation": "identity", **fields})
