"""Environments of the library's own, stepped together in its memory. They need neither Gymnasium nor a Python loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._lib import RefusedError, block, call, constants, ffi, number, raw
from ._names import choose, unknown
from ._rows import Rows
from ._structs import ENUMS
from .spaces import MAX_FIELDS, Layout
from .wrappers import array_of

# Names that others gave these environments. All others are those of rlcore_env_id.
NAMES = {
    "CartPole-v1": "cartpole", "MountainCar-v0": "mountain_car", "MountainCarContinuous-v0": "mountain_car_continuous",
    "Acrobot-v1": "acrobot", "Pendulum-v1": "pendulum", "MinAtar/Breakout-v1": "breakout", "MinAtar/Asterix-v1": "asterix",
    "MinAtar/Freeway-v1": "freeway", "MinAtar/SpaceInvaders-v1": "space_invaders", "Catch-bsuite-v0": "catch",
    "RepeatPreviousEasy-v0": "repeat_previous",
}  # fmt: skip
IDS = constants("env_id", "RLCORE_ENV_")


def names() -> list[str]:
    """The names of all built-in environments, for `make`, `make_vec` and algorithms."""
    known = {name: other for other, name in NAMES.items()}
    return [known.get(name, name) for name in IDS]


def env_id(name: str) -> int:
    """The rlcore_env_id of a built-in environment."""
    plain = {_plain(own): number for own, number in IDS.items()} | {_plain(other): IDS[own] for other, own in NAMES.items()}
    found = plain.get(_plain(name.removeprefix("rlcore/")))
    if found is None:
        raise unknown("environment", name, names())
    return found


def _plain(name: str) -> str:
    """A name by which CartPoleNoVel is cartpole_no_vel."""
    return "".join(c for c in name.lower() if c.isalnum())


class Environments:
    """N built-in environments.

    name:              one of `names()`.
    num_envs:          N.
    wrappers:          innermost first: see `rlcore.wrappers`.
    seed:              environment i draws from the stream of seed + i.
    autoreset:         "same_step" (what learners need), "next_step" or "disabled".
    max_episode_steps: replaces the environment's own limit; None leaves it.

    `obs` and `action` say what the rows of `rows`, arrays that each step writes in place, hold.
    """

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        *,
        wrappers: Iterable[Any] = (),
        seed: int = 0,
        autoreset: str = "same_step",
        max_episode_steps: int | None = None,
        use_action_mask: bool = False,
    ) -> None:
        number_of_kind = env_id(name)
        self.name = next(known for known, of in zip(names(), IDS.values()) if of == number_of_kind)
        self.num_envs, self.autoreset = num_envs, autoreset
        wrappers = list(wrappers)
        self._arguments: dict[str, Any] = {"wrappers": wrappers, "seed": seed, "max_episode_steps": max_episode_steps}
        given = array_of(wrappers)
        definition = ffi.new("rlcore_env_def *", {"struct_size": ffi.sizeof("rlcore_env_def"), "env_id": number_of_kind})
        definition.wrappers, definition.num_wrappers = given, len(given) if given else 0
        self._env_block = block(number("env_size", definition))
        out = ffi.new("rlcore_env **")
        call.env_init(self._env_block, self._env_block.size, definition, out)
        self.env = out[0]
        seen, taken, fields, count = ffi.new("rlcore_space *"), ffi.new("rlcore_space *"), ffi.new("rlcore_field[]", MAX_FIELDS), ffi.new("uint32_t *")
        call.env_spaces(self.env, seen, taken)
        call.env_fields(self.env, fields, MAX_FIELDS, count)
        self.obs = Layout.of_native(seen, fields, count[0], False)
        self.action = Layout.of_native(taken, fields, 0, True)
        self.config = ffi.new("rlcore_vecenv_config *")
        call.vecenv_config_init(self.config, ffi.sizeof("rlcore_vecenv_config"))
        self.config.num_envs, self.config.seed = num_envs, seed % 2**64
        self.config.autoreset = choose("autoreset", autoreset, ENUMS["autoreset"])
        self.config.max_episode_steps = max_episode_steps or 0
        self.block = block(number("vecenv_size", self.env, self.config))
        handle = ffi.new("rlcore_vecenv **")
        call.vecenv_init(self.block, self.block.size, self.env, self.config, handle)
        self.handle = handle[0]
        self.rows = Rows(num_envs, self.obs, self.action, use_action_mask)
        self.started = False

    def again(self, autoreset: str) -> Environments:
        """Environments of the same kind, number and seed with another autoreset."""
        return Environments(self.name, self.num_envs, autoreset=autoreset, **self._arguments)

    def use_mask(self, used: bool) -> None:
        """Passes masks of allowed choices, or passes none. The arrays of `rows` are made anew if that changes."""
        if used != self.rows.use_mask:
            rows = Rows(self.num_envs, self.obs, self.action, used)
            rows.obs[...] = self.rows.obs
            self.rows = rows
            if self.started:
                self._read_mask()

    def _read_mask(self) -> None:
        if self.rows.use_mask:
            call.vecenv_action_mask(self.handle, self.env, self.rows.action_mask)

    def reset(self, seed: int | None = None) -> None:
        """Starts an episode in each environment, and writes rows.obs. With a seed, environment i has the stream of seed + i."""
        given = ffi.NULL if seed is None else ffi.new("uint64_t *", seed % 2**64)
        call.vecenv_reset(self.handle, self.env, given, self.rows.obs)
        self.started = True
        self._read_mask()

    def reset_one(self, index: int, seed: int | None = None) -> None:
        """Starts an episode in one environment."""
        given = ffi.NULL if seed is None else ffi.new("uint64_t *", seed % 2**64)
        call.vecenv_reset_one(self.handle, self.env, index, given, self.rows.obs)

    def step(self) -> None:
        """Takes the actions in rows.action, and writes all else in rows."""
        status = raw.rlcore_vecenv_step(self.handle, self.env, self.rows.struct)
        if status:
            call.vecenv_step(self.handle, self.env, self.rows.struct)

    def collect(self, learner: Any, max_steps: int = 0) -> int:
        """Steps that a learner takes in these environments until it learns, or max_steps: rlcore_collect."""
        return number("collect", learner, self.handle, self.env, self.rows.struct, max_steps, of="uint32_t")

    def render(self, index: int = 0, size: tuple[int, int] = (400, 600)) -> NDArray[np.uint8]:
        """A picture [height, width, 3] of an environment."""
        rgb = np.zeros((*size, 3), np.uint8)
        call.vecenv_render(self.handle, self.env, index, size[1], size[0], rgb)
        return rgb

    def action_mask(self) -> NDArray[np.uint8]:
        """[N, sum of n]: 1 for each choice that is allowed now, else 0."""
        mask = np.zeros((self.num_envs, self.action.mask_len), np.uint8)
        call.vecenv_action_mask(self.handle, self.env, mask)
        return mask

    def state(self) -> bytes:
        """All that the next steps depend on, as bytes: the block and the observations."""
        return self.block.tobytes() + self.rows.obs.tobytes()

    def set_state(self, state: bytes) -> None:
        """Goes on from the bytes of `state` of environments with the same name, number and wrappers."""
        if len(state) != self.block.size + self.rows.obs.nbytes:
            raise ValueError(f"{self.block.size + self.rows.obs.nbytes} bytes expected, given {len(state)}")
        fresh = block(self.block.size)
        fresh[:] = np.frombuffer(state, np.uint8, fresh.size)
        handle = ffi.new("rlcore_vecenv **")
        call.vecenv_attach(fresh, fresh.size, self.env, handle)
        if number("vecenv_num_envs", handle[0], of="uint32_t") != self.num_envs:
            raise RefusedError(raw.RLCORE_E_SHAPE, "environments: another number of environments")
        self.block, self.handle, self.started = fresh, handle[0], True
        self.rows.obs[...] = np.frombuffer(state, self.rows.obs.dtype, offset=fresh.size).reshape(self.rows.obs.shape)
        self._read_mask()

    def view_of(self, name: str) -> Any:
        """An array of rows as the host sees it: rows.obs or rows.final_obs in parts."""
        return self.obs.view(getattr(self.rows, name))

