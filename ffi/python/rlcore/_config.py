"""Configurations of learners: the library's own names, and those of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._lib import call, constants, ffi, raw
from ._names import choose, unknown
from ._structs import fields_of, fill
from .layers import NETS, PICTURES, RECURRENT, Layer, net
from .spaces import Layout

ALGORITHMS = constants("algorithm", "RLCORE_ALGORITHM_")
PRESETS = constants("preset", "RLCORE_PRESET_")
# Lists and counts that `policy` and the spaces give.
GIVEN = frozenset(("algorithm", "num_envs", "layers", "num_layers", "obs_fields", "num_obs_fields", "action_fields", "num_action_fields"))
SETTINGS = tuple(name for name in fields_of("learner_config") if name not in GIVEN)

Alias = Callable[[Any, "Given"], dict[str, Any]]


class Given:
    """What an alias may need to know beside its value."""

    def __init__(self, algorithm: int, num_envs: int, num_steps: int) -> None:
        self.algorithm, self.num_envs, self.num_steps = algorithm, num_envs, num_steps
        self.off_policy = algorithm in (raw.RLCORE_ALGORITHM_DQN, raw.RLCORE_ALGORITHM_TD3, raw.RLCORE_ALGORITHM_SAC)


def _same(name: str) -> Alias:
    return lambda value, _: {name: value}


def _batch_size(value: int, given: Given) -> dict[str, Any]:
    if given.off_policy:
        return {"batch_size": value}
    rows = given.num_steps * given.num_envs
    if rows % value:
        raise ValueError(f"batch_size: {rows} transitions of a rollout are no multiple of {value}")
    return {"num_minibatches": rows // value}


def _ent_coef(value: Any, given: Given) -> dict[str, Any]:
    if given.algorithm != raw.RLCORE_ALGORITHM_SAC:
        return {"entropy_coef": value}
    if isinstance(value, str):
        start = value.removeprefix("auto").lstrip("_")
        return {"temperature": float(start)} if start else {}
    return {"temperature": value, "temperature_rate": 0}


# Names of Stable-Baselines3. Its value loss is the whole squared error, here half of it counts.
ALIASES: dict[str, Alias] = {
    "gamma": _same("discount"),
    "n_steps": lambda value, given: {"n_step" if given.off_policy else "num_steps": value},
    "n_epochs": _same("num_epochs"),
    "batch_size": _batch_size,
    "ent_coef": _ent_coef,
    "vf_coef": lambda value, _: {"value_coef": 2 * value},
    "clip_range": lambda value, _: {"clip": value, "clip_end": value},
    "clip_range_vf": lambda value, _: {"value_clip": value or 0},
    "tau": _same("target_rate"),
    "train_freq": _same("train_interval"),
    "target_update_interval": _same("target_interval"),
    "exploration_initial_eps": _same("exploration_start"),
    "exploration_final_eps": _same("exploration_end"),
    "policy_delay": _same("policy_interval"),
    "target_policy_noise": _same("target_noise"),
    "rms_prop_eps": _same("adam_epsilon"),
    "use_rms_prop": lambda value, _: {"optimizer": "rmsprop" if value else "adam"},
}


def make_config(algorithm: int, num_envs: int | None, obs: Layout, action: Layout, policy: Any, settings: Mapping[str, Any], preset: str | None = None) -> Config:
    """The configuration of an algorithm with these settings, for these spaces."""
    config = Config()
    layers = _layers(policy, settings)
    if preset is None:
        call.learner_config_init(config.struct, ffi.sizeof("rlcore_learner_config"), algorithm)
    else:
        known = ffi.new("uint32_t *")
        call.learner_config_preset(config.struct, ffi.sizeof("rlcore_learner_config"), choose("preset", preset, PRESETS), known)
        if config.struct.algorithm != algorithm:
            raise ValueError(f"preset {preset!r} is one of {algorithm_name(config.struct.algorithm)}")
        if known[0] and not layers:
            layers = net(next(name for name, number in NETS.items() if number == known[0]))
    if num_envs is not None:
        config.struct.num_envs = num_envs
    given = Given(algorithm, config.struct.num_envs, config.struct.num_steps)
    given.num_steps = settings.get("num_steps", settings.get("n_steps", given.num_steps))
    wanted: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in ALIASES and name not in SETTINGS:
            raise unknown("setting", name, [*SETTINGS, *ALIASES])
        for own, number in (ALIASES[name](value, given) if name in ALIASES else {name: value}).items():
            if own in wanted:
                raise TypeError(f"{own} is given twice, once as {name}")
            wanted[own] = number
    if isinstance(policy, Sequence) and policy and isinstance(policy[0], int):
        wanted.update(num_hidden=len(policy), hidden_len=policy)
    _networks(config, wanted, layers, obs)
    fill("learner_config", config.struct, wanted)
    config.lists(layers, obs, action)
    return config


class Config:
    """`struct`, an rlcore_learner_config, and the lists that it points to."""

    def __init__(self) -> None:
        self.struct = ffi.new("rlcore_learner_config *")
        self._kept: Any = None

    def lists(self, layers: Sequence[Layer], obs: Layout, action: Layout) -> None:
        """Points to these layers, and to the fields of structures."""
        struct = self.struct
        array = ffi.new("rlcore_layer[]", [layer.struct[0] for layer in layers]) if layers else ffi.NULL
        struct.layers, struct.num_layers = array, len(layers)
        if not obs.whole or obs.fields[0].flags:
            struct.obs_fields, struct.num_obs_fields = obs.fields, len(obs.leaves)
        if action.kind == raw.RLCORE_STRUCT:
            struct.action_fields, struct.num_action_fields = action.fields, len(action.leaves)
        self._kept = (array, obs, action)


def read_config(struct: Any) -> dict[str, Any]:
    """Settings of a configuration as plain data."""
    values = {name: getattr(struct, name) for name in SETTINGS}
    return {name: list(value) if isinstance(value, ffi.CData) else value for name, value in values.items()}


def algorithm_name(number: int) -> str:
    """The name of an rlcore_algorithm."""
    return next((name for name, value in ALGORITHMS.items() if value == number), str(number))


def _layers(policy: Any, settings: Mapping[str, Any]) -> list[Layer]:
    if isinstance(policy, str):
        name = policy.lower().removesuffix("policy")
        if name in ("mlp", "multiinput"):
            return []
        return net("nature" if name == "cnn" else name)
    if not isinstance(policy, Sequence):
        raise TypeError(f"policy: a name, numbers of hidden units, or layers are needed, given {policy!r}")
    if all(isinstance(entry, int) for entry in policy):
        return []
    wrong = [entry for entry in policy if not isinstance(entry, Layer)]
    if wrong:
        raise TypeError(f"policy: layers of rlcore.layers are needed, given {wrong[0]!r}")
    return list(policy)


def _networks(config: Config, wanted: dict[str, Any], layers: Sequence[Layer], obs: Layout) -> None:
    """Fills in what listed layers need and the caller has left out."""
    if not layers:
        return
    kinds = {layer.struct.kind for layer in layers}
    wanted.setdefault("num_hidden", 0)
    first = obs.leaves[0]
    if kinds & PICTURES and "obs_dims" not in wanted and len(first.shape) == 3 and (obs.whole or first.kind == raw.RLCORE_U8):
        shape = first.shape
        wanted["obs_dims"] = [*shape[1:], shape[0]] if obs.fields[0].flags & raw.RLCORE_FIELD_CHANNELS_FIRST else list(shape)
    if kinds & RECURRENT and "sequence_len" not in wanted:
        steps = wanted.get("num_steps", config.struct.num_steps)
        wanted["sequence_len"] = 8 if config.struct.buffer_size else next(n for n in (16, 10, 8, 5, 4, 3, 2, 1) if steps % n == 0)


