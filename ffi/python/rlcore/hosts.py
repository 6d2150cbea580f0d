"""Environments of others as rows of a learner: Gymnasium's, vectors of them, and parallel ones of PettingZoo.

A host has `num_envs`, `obs` and `action` (layouts), `rows`, `reset(seed)` and `step()`, which takes rows.action and writes all
else: an environment whose episode ended starts the next one in the same step, and its last observation is in final_obs.
Rows that are absent have rows.active 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._rows import Rows
from .environments import Environments
from .spaces import Layout


class Host(Protocol):
    """What a learner needs of environments."""

    name: str
    num_envs: int
    obs: Layout
    action: Layout
    rows: Rows
    started: bool

    def use_mask(self, used: bool) -> None: ...
    def reset(self, seed: int | None = None) -> None: ...
    def step(self) -> None: ...


class _Base:
    """What all hosts have in common: their rows."""

    def __init__(self, name: str, num_envs: int, obs_space: Any, action_space: Any) -> None:
        self.name, self.num_envs, self.started = name, num_envs, False
        self.obs = Layout.of_gymnasium(obs_space, False)
        self.action = Layout.of_gymnasium(action_space, True)
        self.rows = Rows(num_envs, self.obs, self.action)

    def use_mask(self, used: bool) -> None:
        """Reads masks of allowed choices from the environments, or none."""
        if used != self.rows.use_mask:
            self.rows = Rows(self.num_envs, self.obs, self.action, used)
            self.started = False

    def _put(self, name: str, index: int, value: Any) -> None:
        """Writes an observation to a row of rows.obs or rows.final_obs."""
        self.obs.pack(self.obs.batch_of_one(value), getattr(self.rows, name)[index : index + 1])

    def _clear(self) -> None:
        rows = self.rows
        rows.reward[:] = 0
        rows.terminated[:] = 0
        rows.truncated[:] = 0


class EnvList(_Base):
    """Gymnasium environments that are stepped one after another."""

    def __init__(self, envs: Sequence[Any]) -> None:
        self.envs = [env() if isinstance(env, type) or not hasattr(env, "step") else env for env in envs]
        first = self.envs[0]
        super().__init__(name_of(first), len(self.envs), first.observation_space, first.action_space)
        for i, env in enumerate(self.envs):
            if env.observation_space != first.observation_space or env.action_space != first.action_space:
                raise ValueError(f"environment {i} has other spaces than environment 0")

    def reset(self, seed: int | None = None) -> None:
        for i, env in enumerate(self.envs):
            obs, info = env.reset(seed=None if seed is None else seed + i)
            self._put("obs", i, obs)
            self._mask("action_mask", i, env, info)
        self.started = True

    def _mask(self, name: str, i: int, env: Any, info: Any) -> None:
        if self.rows.use_mask:
            getattr(self.rows, name)[i] = np.reshape(mask_of(env, info), -1)

    def step(self) -> None:
        rows, actions = self.rows, self.action.unpack(self.rows.action)
        for i, env in enumerate(self.envs):
            obs, reward, terminated, truncated, info = env.step(self.action.one(actions, i))
            rows.reward[i], rows.terminated[i], rows.truncated[i] = reward, terminated, truncated
            if terminated or truncated:
                self._put("final_obs", i, obs)
                self._mask("final_action_mask", i, env, info)
                obs, info = env.reset()
            self._put("obs", i, obs)
            self._mask("action_mask", i, env, info)


class Vector(_Base):
    """A `gymnasium.vector.VectorEnv` in any mode of autoreset."""

    def __init__(self, envs: Any) -> None:
        self.envs = envs
        super().__init__(name_of(envs), envs.num_envs, envs.single_observation_space, envs.single_action_space)
        mode = (envs.metadata or {}).get("autoreset_mode")
        self.mode = str(getattr(mode, "name", mode or "NEXT_STEP")).upper()
        self._ended = np.zeros(self.num_envs, bool)
        self.rows.use_active(self.mode == "NEXT_STEP")

    def use_mask(self, used: bool) -> None:
        super().use_mask(used)
        self.rows.use_active(self.mode == "NEXT_STEP")

    def reset(self, seed: int | None = None) -> None:
        obs, infos = self.envs.reset(seed=seed)
        self.obs.pack(obs, self.rows.obs)
        self._ended[:] = False
        self.rows.active[:] = 1
        if self.rows.use_mask:
            self.rows.action_mask[...] = self._masks(infos)
        self.started = True

    def _masks(self, infos: Any) -> NDArray[Any]:
        """What is allowed in the observations that the environments show now."""
        if "action_mask" in infos:
            masks = infos["action_mask"]
        elif hasattr(self.envs, "action_masks"):
            masks = self.envs.action_masks()
        else:
            masks = self.envs.call("action_masks")
        return np.reshape(masks, self.rows.action_mask.shape)

    def step(self) -> None:
        rows = self.rows
        rows.active[:] = ~self._ended  # those that were only reset in this step
        obs, reward, terminated, truncated, infos = self.envs.step(self.action.unpack(rows.action))
        rows.reward[:], rows.terminated[:], rows.truncated[:] = reward, terminated, truncated
        ended = np.asarray(terminated, bool) | np.asarray(truncated, bool)
        if self.mode == "SAME_STEP":
            # Masks of final observations that are in no infos are not known any more: all choices count.
            last = infos.get("final_info", {}).get("action_mask")
            for i in np.flatnonzero(ended):
                self._put("final_obs", int(i), infos["final_obs"][i])
                if rows.use_mask:
                    rows.final_action_mask[i] = 1 if last is None else np.reshape(last[i], -1)
        else:
            if rows.use_mask:
                rows.final_action_mask[ended] = self._masks(infos)[ended]
            seen = self.obs.rows(self.num_envs)
            self.obs.pack(obs, seen)
            rows.final_obs[ended] = seen[ended]
            if self.mode == "NEXT_STEP":
                self._ended[:] = ended
            elif ended.any():
                obs, infos = self.envs.reset(options={"reset_mask": ended})
        self.obs.pack(obs, rows.obs)
        if rows.use_mask:
            rows.action_mask[...] = self._masks(infos)

    def acting(self) -> None:
        """Called before a learner acts: rows whose environment is only reset in this step do not act."""
        self.rows.active[:] = ~self._ended


class Parallel(_Base):
    """A PettingZoo `ParallelEnv`: a row for each of possible_agents, which share the policy. Absent agents do not act.

    An observation that is a dictionary of "observation" and "action_mask" is an observation and its mask.
    """

    def __init__(self, env: Any) -> None:
        self.env, self.agents = env, list(env.possible_agents)
        seen = [_without_mask(env.observation_space(agent)) for agent in self.agents]
        taken = [env.action_space(agent) for agent in self.agents]
        for agent, obs, action in zip(self.agents, seen, taken):
            if obs != seen[0] or action != taken[0]:
                raise ValueError(f"agent {agent!r} has other spaces than {self.agents[0]!r}: agents that share a learner have the same")
        super().__init__(name_of(env), len(self.agents), seen[0], taken[0])
        self.rows.use_active(True)

    def use_mask(self, used: bool) -> None:
        super().use_mask(used)
        self.rows.use_active(True)

    def reset(self, seed: int | None = None) -> None:
        self._begin(seed)
        self.rows.active[:] = self._there
        self.started = True

    def _begin(self, seed: int | None = None) -> None:
        seen, infos = self.env.reset(seed=seed)
        for i, agent in enumerate(self.agents):
            if agent in seen:
                self._see("obs", "action_mask", i, seen[agent], infos.get(agent, {}))
        self._there = np.array([agent in seen for agent in self.agents], np.uint8)
        if not self._there.any():
            raise ValueError("reset of the environment gave no agent an observation")

    def _see(self, name: str, mask_name: str, i: int, obs: Any, info: Any) -> None:
        mask = obs["action_mask"] if _is_masked(obs) else None
        self._put(name, i, obs["observation"] if _is_masked(obs) else obs)
        if self.rows.use_mask:
            getattr(self.rows, mask_name)[i] = np.reshape(mask_of(self.env, info) if mask is None else mask, -1)

    def step(self) -> None:
        rows, actions = self.rows, self.action.unpack(self.rows.action)
        taken = {agent: self.action.one(actions, i) for i, agent in enumerate(self.agents) if rows.active[i]}
        seen, rewards, terminated, truncated, infos = self.env.step(taken)
        self._clear()
        for i, agent in enumerate(self.agents):
            if not rows.active[i]:
                continue
            rows.reward[i] = rewards.get(agent, 0)
            # An agent that is gone without a word, or without a last observation to value, has ended.
            ended = bool(terminated.get(agent, False)) or agent not in seen
            rows.terminated[i], rows.truncated[i] = ended, truncated.get(agent, False)
            if agent in seen:
                over = ended or truncated.get(agent, False)
                names = ("final_obs", "final_action_mask") if over else ("obs", "action_mask")
                self._see(*names, i, seen[agent], infos.get(agent, {}))
        if self.env.agents:
            alive = set(self.env.agents)
            self._there = np.array([agent in alive for agent in self.agents], np.uint8)
            for i, agent in enumerate(self.agents):
                if self._there[i] and not rows.active[i] and agent in seen:
                    self._see("obs", "action_mask", i, seen[agent], infos.get(agent, {}))
        else:
            self._begin()

    def acting(self) -> None:
        """Called before a learner acts: agents that are not there do not act."""
        self.rows.active[:] = self._there


def host_of(env: Any, num_envs: int | None) -> Host:
    """The rows of any environment that a learner takes."""
    if isinstance(env, str):
        return Environments(env, num_envs or 1)
    own = getattr(env, "unwrapped", env)
    inner = getattr(own, "environments", None)
    if own is env and isinstance(inner, Environments):
        return inner if inner.autoreset == "same_step" else inner.again(autoreset="same_step")
    if isinstance(env, (Environments, EnvList, Vector, Parallel)):
        return env
    if hasattr(env, "possible_agents"):
        return Parallel(env)
    if hasattr(env, "single_observation_space"):
        return Vector(env)
    if hasattr(env, "step") or callable(env):
        return EnvList([env])
    if isinstance(env, Sequence) and env:
        return EnvList(env)
    raise TypeError(f"an environment is needed: a name of rlcore.names(), one of Gymnasium or PettingZoo, or a list of them; given {env!r}")


def mask_of(env: Any, info: Any) -> NDArray[Any]:
    """The mask of allowed choices: infos["action_mask"], or what action_masks() of the environment returns."""
    if "action_mask" in info:
        return np.asarray(info["action_mask"])
    masks: Callable[[], Any] = env.get_wrapper_attr("action_masks") if hasattr(env, "get_wrapper_attr") else env.action_masks
    return np.asarray(masks())


def name_of(env: Any) -> str:
    """A name to write into files."""
    spec = getattr(env, "spec", None)
    return str(getattr(spec, "id", None) or type(getattr(env, "unwrapped", env)).__name__)


def _is_masked(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"observation", "action_mask"}


def _without_mask(space: Any) -> Any:
    inner: Any = getattr(space, "spaces", None)
    return inner["observation"] if hasattr(inner, "items") and _is_masked(dict(inner)) else space
