"""Wrappers of built-in environments, which run inside the library.

    rlcore.make_vec("MinAtar/Breakout-v1", 8, wrappers=[rlcore.wrappers.frame_stack(4), "clip_reward"])

Fields and their meanings are those of rlcore_wrapper in rlcore.h. A kind alone, such as "clip_reward", is a wrapper with
defaults, and `("time_limit", {"steps": 200})` one with fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._lib import call, constants, ffi
from ._names import choose
from ._structs import fill

KINDS = constants("wrap", "RLCORE_WRAP_")


class Wrapper:
    """One rlcore_wrapper: a kind of `KINDS` and its fields."""

    def __init__(self, kind: str | int, **fields: Any) -> None:
        number = choose("wrapper", kind, KINDS)
        if number == KINDS["observe"]:
            raise TypeError("observe calls a function of the host's in each step: use a wrapper of Gymnasium's")
        self.struct = ffi.new("rlcore_wrapper *")
        fill("wrapper", self.struct, {**fields, "kind": number})

    def __repr__(self) -> str:
        return f"Wrapper({next(name for name, number in KINDS.items() if number == self.struct.kind)!r})"


def wrapper_of(given: Wrapper | str | tuple[str, dict[str, Any]]) -> Wrapper:
    """A wrapper, of a kind's name, or of a kind's name and fields."""
    if isinstance(given, Wrapper):
        return given
    return Wrapper(given) if isinstance(given, str) else Wrapper(given[0], **given[1])


def array_of(wrappers: Iterable[Any]) -> Any:
    """rlcore_wrapper[], innermost first."""
    made = [wrapper_of(given).struct[0] for given in wrappers]
    return ffi.new("rlcore_wrapper[]", made) if made else ffi.NULL


def atari(**settings: Any) -> list[Wrapper]:
    """The usual wrappers of Atari games; settings are the fields of rlcore_atari_config."""
    config = ffi.new("rlcore_atari_config *")
    call.atari_config_init(config, ffi.sizeof(config[0]))
    fill("atari_config", config, settings)
    structs, count = ffi.new("rlcore_wrapper[16]"), ffi.new("uint32_t *")
    call.wrappers_atari(config, structs, 16, count)
    made = []
    for struct in structs[0 : count[0]]:
        wrapper = Wrapper(struct.kind)
        ffi.memmove(wrapper.struct, ffi.addressof(struct), ffi.sizeof(struct))
        made.append(wrapper)
    return made


def time_limit(steps: int) -> Wrapper:
    """Truncates episodes after `steps` steps of the inner environment."""
    return Wrapper("time_limit", steps=steps)


def frame_stack(count: int = 4) -> Wrapper:
    """Stacks the last `count` observations along the last axis, oldest first."""
    return Wrapper("frame_stack", count=count)


def action_repeat(count: int = 4) -> Wrapper:
    """Repeats actions and sums rewards."""
    return Wrapper("action_repeat", count=count)


def sticky_actions(probability: float = 0.25) -> Wrapper:
    """Repeats the previous action with this probability."""
    return Wrapper("sticky_actions", probability=probability)


def rescale_action(low: float = -1, high: float = 1) -> Wrapper:
    """Maps actions from [low, high] to the bounds of the action space."""
    return Wrapper("rescale_action", low=low, high=high)


def clip_reward() -> Wrapper:
    """Replaces the reward by its sign."""
    return Wrapper("clip_reward")


def scale_reward(factor: float) -> Wrapper:
    """Multiplies the reward."""
    return Wrapper("scale_reward", factor=factor)


def scaled_float() -> Wrapper:
    """Converts bytes to floats from 0 to 1."""
    return Wrapper("scaled_float")
