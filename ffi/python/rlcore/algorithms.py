"""The ten algorithms, with the names and habits of Stable-Baselines3."""

from __future__ import annotations


import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _file, tensors
from ._config import ALGORITHMS, Config, make_config, read_config
from ._lib import Error, RefusedError, block, call, ffi, number, pointer, raw
from .environments import Environments
from .hosts import Host, host_of
from .monitor import Monitor
from .policy import SAMPLING, Policy, answer
from .spaces import Layout
from .tensorboard import TensorBoard

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .settings import Settings

Callback = Callable[["Algorithm"], Any]


class Algorithm:
    """A learner in a block of memory of its own.

    env:             what it learns in: a name of `rlcore.names()`, environments of `make_vec`, any Gymnasium environment or
                     vector of them, a list of environments or of functions that make them, a parallel one of PettingZoo, or
                     None for a learner that only predicts until `set_env`.
    policy:          "mlp" (hidden layers), numbers of hidden units such as [64, 64], a network that is known by name
                     ("nature", "minatar", ... see `rlcore.layers.NETS`), or a list of `rlcore.layers`.
    num_envs:        environments to make of a name.
    monitor:         monitor.csv to write, a file or a folder. Episodes are then counted step by step.
    tensorboard_log: folder for event files, which needs tensorboardX.
    verbose:         1: `learn` prints a line of statistics now and then.
    preset:          settings of another package: a name of rlcore_preset in lower case, such as "zoo_ppo_cartpole".
    settings:        fields of rlcore_learner_config in rlcore.h, or their names in Stable-Baselines3 (gamma, n_steps, ...).

    Settings that do not exist, that the algorithm does not read, or that it cannot have are refused with the reason.
    """

    number: int

    def __init__(
        self,
        env: Any,
        *,
        policy: str | Sequence[Any] = "mlp",
        num_envs: int | None = None,
        monitor: str | PathLike[str] | None = None,
        tensorboard_log: str | PathLike[str] | None = None,
        verbose: int = 0,
        preset: str | None = None,
        spaces: tuple[Any, Any] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        given: dict[str, Any] = dict(settings)
        self.env: Host | None = None
        if env is None:
            if spaces is None:
                raise TypeError("without an environment, spaces=(observation, action) of Gymnasium are needed")
            obs, action = Layout.of_gymnasium(spaces[0], False), Layout.of_gymnasium(spaces[1], True)
        else:
            if isinstance(env, str) and num_envs is None:
                num_envs = _default_num_envs(self.number)
            self.env = host_of(env, num_envs)
            if num_envs not in (None, self.env.num_envs):
                raise ValueError(f"num_envs: the environment has {self.env.num_envs}, given {num_envs}")
            num_envs, obs, action = self.env.num_envs, self.env.obs, self.env.action
        config = make_config(self.number, num_envs, obs, action, policy, given, preset)
        self._config: Config = config
        size = number("learner_size", config.struct, obs.space, action.space)
        self.block = block(size)
        out = ffi.new("rlcore_learner **")
        call.learner_init(self.block, size, config.struct, obs.space, action.space, out)
        self._start(out[0], obs, action, monitor, tensorboard_log, verbose)

    def _start(self, handle: Any, obs: Layout, action: Layout, monitor: Any, tensorboard_log: Any, verbose: int) -> None:
        self.handle, self.obs, self.action, self.verbose = handle, obs, action, verbose
        self.monitor, self.tensorboard_log = monitor, tensorboard_log
        self._monitor: Monitor | None = None
        config = ffi.new("rlcore_learner_config *")
        call.learner_config_read(handle, config, ffi.sizeof("rlcore_learner_config"), ffi.NULL)
        self.num_envs, self.use_action_mask = config.num_envs, bool(config.use_action_mask)
        self._off_policy = self.number in (raw.RLCORE_ALGORITHM_DQN, raw.RLCORE_ALGORITHM_TD3, raw.RLCORE_ALGORITHM_SAC)
        self.state_len = number("learner_state_len", handle)
        self._stats = ffi.new("rlcore_learner_stats *", {"struct_size": ffi.sizeof("rlcore_learner_stats")})
        if self.env is not None:
            self.env.use_mask(self.use_action_mask)

    # ---- learning

    def learn(self, total_timesteps: int, callback: Callback | None = None, log_interval: int = 100, progress_bar: bool = False, tb_log_name: str = "") -> Self:
        """Learns for so many more steps of all environments together, rounded up to whole rollouts on policy.

        callback:     called with this learner after each update; False ends the training.
        progress_bar: shows one, which needs tqdm.
        log_interval: updates from one line to the next, with verbose, and from one point to the next in event files.

        A built-in environment is stepped inside the library, a rollout in one call, unless monitor needs every step. A second
        call goes on where the first ended.
        """
        env = self._ready()
        self._read_stats()
        end = self.num_timesteps + total_timesteps
        log = TensorBoard(self.tensorboard_log, tb_log_name or type(self).__name__) if self.tensorboard_log is not None else None
        bar = _progress_bar(total_timesteps) if progress_bar else None
        shown, began, first, logged = self.num_timesteps, time.perf_counter(), self.num_timesteps, self._stats.num_updates
        try:
            while self.num_timesteps < end:
                self._collect(env, end - self.num_timesteps)
                updated = self._phase() == raw.RLCORE_LEARNER_LEARN
                if updated:
                    self._update(env)
                else:
                    self._read_stats()
                if bar is not None:
                    bar.update(min(self.num_timesteps, end) - shown)
                    shown = min(self.num_timesteps, end)
                if updated and (logged == 0 or self._stats.num_updates >= logged + log_interval or self.num_timesteps >= end):
                    logged = self._stats.num_updates
                    if log is not None:
                        log.write(self.stats)
                    if self.verbose:
                        rate = (self.num_timesteps - first) / (time.perf_counter() - began)
                        print(f"{self.num_timesteps} steps, {rate:.0f} a second: mean return {self._stats.return_mean:.2f}")
                if updated and callback is not None and callback(self) is False:
                    break
        finally:
            for opened in (log, bar):
                if opened is not None:
                    opened.close()
        return self

    def _ready(self) -> Host:
        """The environments, started; the monitor, opened."""
        env = self.env
        if env is None:
            raise RuntimeError("there is no environment to learn in: set_env")
        if self.monitor is not None and self._monitor is None:
            self._monitor = Monitor(self.monitor, env.num_envs, env.name)
        if not env.started:
            self._read_stats()
            if self.num_timesteps or self._phase() != raw.RLCORE_LEARNER_ACT:
                call.learner_cut(self.handle, np.ones(self.num_envs, np.uint8))
            env.reset()
            if self._monitor is not None:
                self._monitor.reset()
        return env

    def _collect(self, env: Host, left: int) -> None:
        """Takes steps until an update is due, or so many are taken."""
        most = -(-left // self.num_envs)
        if isinstance(env, Environments):
            if self._monitor is None:
                env.collect(self.handle, most if self._off_policy else 0)
                return
            while self._phase() != raw.RLCORE_LEARNER_LEARN and (most or not self._off_policy):
                env.collect(self.handle, 1)
                self._monitor.step(env.rows.struct)
                most -= 1
            return
        before = getattr(env, "acting", None)
        try:
            while self._phase() != raw.RLCORE_LEARNER_LEARN and (most > 0 or not self._off_policy):
                if before is not None:
                    before()
                call.learner_act(self.handle, env.rows.struct)
                env.step()
                if self._monitor is not None:
                    self._count(env)
                call.learner_observe(self.handle, env.rows.struct)
                most -= 1
        except BaseException:
            # The step is in no episode that goes on: the next call of learn begins new ones.
            env.started = False
            raise

    def _count(self, env: Host) -> None:
        """Counts a step of a host's for monitor.csv; rows that did not act are no steps."""
        assert self._monitor is not None
        env.rows.valid[:] = env.rows.active
        self._monitor.step(env.rows.struct)

    def _update(self, env: Host) -> None:
        while True:
            call.learner_learn(self.handle, env.rows.struct, 0, self._stats)
            if not self._stats.minibatches_left or self._phase() != raw.RLCORE_LEARNER_LEARN:
                return

    def _phase(self) -> int:
        return number("learner_phase", self.handle, of="uint32_t")

    def _read_stats(self) -> None:
        call.learner_stats_read(self.handle, self._stats)

    def set_env(self, env: Any) -> None:
        """Goes on in other environments, of the same number and spaces. Episodes that were not over are cut."""
        host = host_of(env, self.num_envs)
        if host.num_envs != self.num_envs:
            raise ValueError(f"{self.num_envs} environments expected, given {host.num_envs}")
        for own, other, what in ((self.obs, host.obs, "observations"), (self.action, host.action, "actions")):
            if not own.agrees(other):
                raise ValueError(f"{what} are others than those that the learner was made for")
        self.env, self.obs, self.action = host, host.obs, host.action
        host.use_mask(self.use_action_mask)

    def get_env(self) -> Host | None:
        """The environments."""
        return self.env

    # ---- numbers

    @property
    def num_timesteps(self) -> int:
        """Steps of all environments together that are counted so far."""
        return int(self._stats.num_steps)

    @property
    def stats(self) -> dict[str, float]:
        """rlcore_learner_stats: NaN where the algorithm has no such number, and before there is one."""
        self._read_stats()
        return {name: getattr(self._stats, name) for name, _ in ffi.typeof("rlcore_learner_stats").fields if name != "struct_size"}

    @property
    def config(self) -> dict[str, Any]:
        """The settings that it has now."""
        config = ffi.new("rlcore_learner_config *")
        call.learner_config_read(self.handle, config, ffi.sizeof("rlcore_learner_config"), ffi.NULL)
        return read_config(config)

    def configure(self, **settings: Unpack[Settings]) -> None:
        """Changes settings between updates: rates, clips, schedules, exploration; those that set sizes are refused."""
        from ._config import ALIASES, Given
        from ._structs import fill

        config = ffi.new("rlcore_learner_config *")
        call.learner_config_read(self.handle, config, ffi.sizeof("rlcore_learner_config"), ffi.NULL)
        given = Given(self.number, config.num_envs, config.num_steps)
        for name, value in dict(settings).items():
            fill("learner_config", config, ALIASES[name](value, given) if name in ALIASES else {name: value})
        call.learner_configure(self.handle, config)

    # ---- acting

    def predict(
        self,
        observation: Any,
        state: NDArray[np.float32] | None = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, NDArray[np.float32] | None]:
        """Actions for an observation, or for a batch of any number of them, and the state of recurrent layers after them.

        observation:   one, or with a leading axis [M] many.
        state:         [M, state_len] from the call before; None where episodes start. Returned None without such layers.
        episode_start: [M] bool: where an episode starts, the state is read as zeros.
        deterministic: the best actions; else they are drawn. Training is not affected by what is drawn.
        action_masks:  [M, sum of choices] bool: choices that are allowed.
        """

        def act(rows: Any, num_rows: int, inner: Any, reset: Any) -> None:
            if deterministic:
                out = ffi.new("rlcore_distribution *", {"struct_size": ffi.sizeof("rlcore_distribution")})
                out.best = rows.action
                call.learner_distribution(self.handle, num_rows, rows, inner, reset, out)
            else:
                self._draw(rows, num_rows, inner, reset)

        if self.use_action_mask and action_masks is None:
            action_masks = np.ones((self.obs.batch_len(observation) or 1, self.action.mask_len), np.uint8)
        return answer(self, act, observation, state, episode_start, action_masks)

    def _draw(self, rows: Any, num_rows: int, state: Any, reset: Any) -> None:
        """rlcore_learner_predict for any number of rows: it takes as many as the learner has environments."""
        sizes = {"obs": self.obs.len * self.obs.dtype().itemsize, "action": self.action.len * self.action.dtype().itemsize, "action_mask": self.action.mask_len}
        few = {name: np.zeros((self.num_envs, size), np.uint8) for name, size in sizes.items() if getattr(rows, name)}
        struct = ffi.new("rlcore_rows *", {"struct_size": ffi.sizeof("rlcore_rows")})
        for name, array in few.items():
            setattr(struct, name, pointer(array))
        sampling = ffi.new("rlcore_sampling *", {"method": SAMPLING["basic"]})
        states = np.zeros((self.num_envs, self.state_len), np.float32) if self.state_len else None
        resets = np.zeros(self.num_envs, np.uint8) if self.state_len else None
        whole = {name: np.frombuffer(ffi.buffer(ffi.cast("char *", getattr(rows, name)), num_rows * sizes[name]), np.uint8).reshape(num_rows, -1) for name in few}
        for begin in range(0, num_rows, self.num_envs):
            part = slice(begin, min(begin + self.num_envs, num_rows))
            count = part.stop - begin
            for name in few.keys() - {"action"}:
                few[name][:count] = whole[name][part]
                few[name][count:] = whole[name][begin]
            if states is not None and resets is not None:
                states[:count], resets[:count] = state[part], reset[part]
                states[count:] = 0
            call.learner_predict(self.handle, struct, states, resets, sampling)
            whole["action"][part] = few["action"][:count]
            if states is not None:
                state[part] = states[:count]

    def policy(self) -> Policy:
        """The policy as it is now, in a block of its own: for other threads, files, C programs and ONNX."""
        made = block(number("policy_size", self.handle))
        out = ffi.new("rlcore_policy **")
        call.policy_export(self.handle, made, made.size, out)
        return Policy(made.tobytes(), self.obs, self.action)

    def save_onnx(self, path: str | PathLike[str], **options: Any) -> None:
        """Writes the policy as an ONNX file: see `Policy.onnx`."""
        self.policy().save_onnx(path, **options)

    # ---- weights and files

    def state_dict(self, of: str = "params") -> tensors.StateDict:
        """Weights by name, with PyTorch's names and shapes; or of="targets", "first_moments", "second_moments"."""
        return tensors.read_learner(self.handle, of)

    def load_state_dict(self, weights: Mapping[str, Any], strict: bool = True) -> None:
        """Sets weights by name, arrays or torch tensors; with strict all of them have to be there."""
        tensors.write_learner(self.handle, weights, strict)

    def to_bytes(self) -> bytes:
        """The sealed block: rlcore_learner_attach of any program goes on with exactly these results."""
        copy = block(self.block.size)
        copy[:] = self.block
        call.block_seal(copy, copy.size)
        return copy.tobytes()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `rlcore.load` reads without an environment, and that a C program attaches."""
        _file.write(path, self.to_bytes(), {"obs": self.obs.to_json(), "action": self.action.to_json()})

    @classmethod
    def load(cls, path: str | PathLike[str], env: Any = None) -> Self:
        """A saved learner of this algorithm: see `rlcore.load`."""
        model = load(path, env)
        if not isinstance(model, cls):
            raise TypeError(f"{path}: a {type(model).__name__}, not a {cls.__name__}")
        return model


def _default_num_envs(algorithm: int) -> int:
    config = ffi.new("rlcore_learner_config *")
    call.learner_config_init(config, ffi.sizeof("rlcore_learner_config"), algorithm)
    return int(config.num_envs)


def _progress_bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress_bar needs tqdm: pip install rlcore[progress]") from None
    return tqdm(total=total, unit="step")


class PPO(Algorithm):
    """Proximal policy optimization."""

    number = ALGORITHMS["ppo"]


class A2C(Algorithm):
    """Advantage actor-critic."""

    number = ALGORITHMS["a2c"]


class IMPALA(Algorithm):
    """Actor-critic that corrects by V-trace for what older policies did."""

    number = ALGORITHMS["impala"]


class UNREAL(Algorithm):
    """A2C with auxiliary tasks on past steps: pixel control, rewards, values."""

    number = ALGORITHMS["unreal"]


class DQN(Algorithm):
    """Deep Q-networks, also with quantiles (num_quantiles) or atoms (num_atoms)."""

    number = ALGORITHMS["dqn"]


class TD3(Algorithm):
    """Twin delayed deterministic policy gradients; DDPG with num_critics=1, policy_interval=1 and target_noise=0."""

    number = ALGORITHMS["td3"]


class SAC(Algorithm):
    """Soft actor-critic, for continuous and for discrete actions; TQC with num_quantiles."""

    number = ALGORITHMS["sac"]


class PQN(Algorithm):
    """Q(lambda) over rollouts."""

    number = ALGORITHMS["pqn"]


class StreamAC(Algorithm):
    """Actor-critic that learns from each step alone, by eligibility traces; one environment."""

    number = ALGORITHMS["stream_ac"]


class StreamQ(Algorithm):
    """Q(lambda) that learns from each step alone, by eligibility traces; one environment."""

    number = ALGORITHMS["stream_q"]


CLASSES: dict[int, type[Algorithm]] = {cls.number: cls for cls in (PPO, A2C, IMPALA, UNREAL, DQN, TD3, SAC, PQN, StreamAC, StreamQ)}


def load(path: str | PathLike[str], env: Any = None) -> Any:
    """A saved learner, of the class of its algorithm, or a saved policy; also of a file that a C program has saved.

    Without env it predicts; `set_env` or env let it go on with learning.
    """
    data, about = _file.read(path)
    obs, action = (Layout.of_json(about[name], name == "action") if about else None for name in ("obs", "action"))
    mem = block(len(data))
    mem[:] = np.frombuffer(data, np.uint8)
    out = ffi.new("rlcore_learner **")
    try:
        call.learner_attach(mem, mem.size, 0, ffi.NULL, ffi.NULL, out)
    except Error as refused:
        try:
            return Policy(data, obs, action)
        except Error:
            raise RefusedError(refused.status, f"{path}: {refused}") from None
    seen, taken, count = ffi.new("rlcore_space *"), ffi.new("rlcore_space *"), ffi.new("uint32_t *")
    call.learner_spaces(out[0], count, seen, taken)
    config = ffi.new("rlcore_learner_config *")
    call.learner_config_read(out[0], config, ffi.sizeof("rlcore_learner_config"), ffi.NULL)
    model = object.__new__(CLASSES[config.algorithm])
    model.block, model.env = mem, None
    seen_rows = obs.check(seen, "observations") if obs else Layout.of_native(seen, None, 0, False)
    taken_rows = action.check(taken, "actions") if action else Layout.of_native(taken, None, 0, True)
    lengths = [ffi.new("size_t *") for _ in range(4)]
    call.learner_batch_len(out[0], *lengths)
    if config.use_action_mask and lengths[1][0] != taken_rows.mask_len:
        raise ValueError(f"{path}: a description of other choices than the block has")
    model._start(out[0], seen_rows, taken_rows, None, None, 0)
    if env is not None:
        model.set_env(env)
    return model
