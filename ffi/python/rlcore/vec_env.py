"""Built-in environments as `gymnasium.vector.VectorEnv` and `gymnasium.Env`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .environments import Environments, names

MODES = {"same_step": AutoresetMode.SAME_STEP, "next_step": AutoresetMode.NEXT_STEP, "disabled": AutoresetMode.DISABLED}


class VecEnv(VectorEnv[Any, Any, Any]):
    """N built-in environments; arguments are those of `rlcore.make_vec`.

    Arrays that reset and step return are views of the same memory each time: copy those that have to outlast the next step.
    Rewards are float32, terminations and truncations bool, all [N]. Where an episode ended, with "same_step",
    infos["final_obs"] has its last observation, an object array [N], and infos["_final_obs"] says where.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, name: str, num_envs: int = 1, *, render_mode: str | None = None, autoreset: str | AutoresetMode = "same_step", **settings: Any) -> None:
        mode = autoreset.name.lower() if isinstance(autoreset, AutoresetMode) else autoreset
        self.environments = Environments(name, num_envs, autoreset=mode, **settings)
        self.metadata = {**self.metadata, "autoreset_mode": MODES[mode]}
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space = self.environments.obs.gymnasium()
        self.single_action_space = self.environments.action.gymnasium()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts episodes: observations [N, ...] and an empty dictionary. `options` may have a "reset_mask" of [N] bool."""
        mask = None if options is None else options.get("reset_mask")
        if options and set(options) - {"reset_mask"}:
            raise ValueError("reset of a built-in environment takes no options but reset_mask")
        envs = self.environments
        if mask is None and (seed is None or isinstance(seed, (int, np.integer))):
            envs.reset(None if seed is None else int(seed))
        else:
            seeds = list(seed) if isinstance(seed, (list, tuple)) else [None if seed is None else seed + i for i in range(self.num_envs)]
            if len(seeds) != self.num_envs or (mask is not None and np.shape(mask) != (self.num_envs,)):
                raise ValueError(f"seeds and reset_mask have to be {self.num_envs} long")
            for i in range(self.num_envs):
                if mask is None or mask[i]:
                    envs.reset_one(i, seeds[i])
            envs.started = True
        return envs.view_of("obs"), {}

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps all environments: observations, rewards, terminations, truncations and infos."""
        envs = self.environments
        rows = envs.rows
        envs.action.pack(actions, rows.action)
        envs.step()
        terminated, truncated = rows.terminated.view(np.bool_), rows.truncated.view(np.bool_)
        infos: dict[str, Any] = {}
        if envs.autoreset == "same_step":
            ended = terminated | truncated
            if ended.any():
                infos = self._final(ended)
        return envs.view_of("obs"), rows.reward, terminated, truncated, infos

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        last = self.environments.view_of("final_obs")
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended):
            final[i] = _copy(self.environments.obs.one(last, int(i)))
        return {"final_obs": final, "_final_obs": ended, "final_info": {}, "_final_info": ended.copy()}

    def render(self) -> Any:
        """A picture [400, 600, 3] of each environment, if render_mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self.environments.render(i) for i in range(self.num_envs))

    def action_masks(self) -> NDArray[np.bool_]:
        """[N, sum of choices]: the choices that are allowed now."""
        return self.environments.action_mask().view(np.bool_)


class Env(gymnasium.Env[Any, Any]):
    """One built-in environment; arguments are those of `rlcore.make`. Observations are arrays of their own."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, name: str, *, render_mode: str | None = None, **settings: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode: rgb_array or None, given {render_mode!r}")
        self.environments = Environments(name, 1, autoreset="disabled", **settings)
        self.render_mode = render_mode
        self.observation_space = self.environments.obs.gymnasium()
        self.action_space = self.environments.action.gymnasium()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode: its observation and an empty dictionary."""
        super().reset(seed=seed)
        if seed is None and not self.environments.started:
            seed = int(self.np_random.integers(2**63))
        self.environments.reset(seed)
        return self._one("obs"), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a step: observation, reward, whether the episode terminated, whether it was truncated, and no infos."""
        envs, rows = self.environments, self.environments.rows
        envs.action.pack(envs.action.batch_of_one(action), rows.action)
        envs.step()
        return self._one("obs"), float(rows.reward[0]), bool(rows.terminated[0]), bool(rows.truncated[0]), {}

    def _one(self, name: str) -> Any:
        return _copy(self.environments.obs.one(self.environments.view_of(name), 0))

    def render(self) -> Any:
        """A picture [400, 600, 3], if render_mode is "rgb_array"."""
        return self.environments.render() if self.render_mode else None

    def action_masks(self) -> NDArray[np.bool_]:
        """[sum of choices]: the choices that are allowed now."""
        mask: NDArray[np.bool_] = self.environments.action_mask().view(np.bool_)[0]
        return mask


def make(name: str, *, wrappers: Iterable[Any] = (), render_mode: str | None = None, max_episode_steps: int | None = None) -> Env:
    """One built-in environment as a `gymnasium.Env`: see `rlcore.names()`. Also `gymnasium.make("rlcore/<name>")`."""
    env = Env(name, wrappers=wrappers, render_mode=render_mode, max_episode_steps=max_episode_steps)
    if not wrappers:
        env.spec = gymnasium.spec(f"rlcore/{_registered(env.environments.name)}")
    return env


def make_vec(
    name: str,
    num_envs: int = 1,
    *,
    wrappers: Iterable[Any] = (),
    seed: int = 0,
    autoreset: str | AutoresetMode = "same_step",
    max_episode_steps: int | None = None,
    render_mode: str | None = None,
) -> VecEnv:
    """N built-in environments as a `gymnasium.vector.VectorEnv`: see `Environments` for the arguments."""
    return VecEnv(name, num_envs, wrappers=wrappers, seed=seed, autoreset=autoreset, max_episode_steps=max_episode_steps, render_mode=render_mode)


def _copy(value: Any) -> Any:
    """The same value in memory of its own."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _registered(name: str) -> str:
    """A name without the slash of its family, which would be a namespace of Gymnasium's."""
    return name.removeprefix("rlcore/").replace("/", "-")


for _name in names():
    _id = f"rlcore/{_registered(_name)}"
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point="rlcore.vec_env:Env", kwargs={"name": _name}, disable_env_checker=True, order_enforce=False)
