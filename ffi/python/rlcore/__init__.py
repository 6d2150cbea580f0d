"""rlcore: reinforcement learning in one native library.

    import rlcore

    model = rlcore.PPO("CartPole-v1", num_envs=8, learning_rate=3e-3).learn(100_000)
    model.save("cartpole.rlcore")

`make` and `make_vec` are Gymnasium's environments, and need it; algorithms on built-in environments need numpy and cffi alone.
"""

from __future__ import annotations

from typing import Any

from . import layers, wrappers
from ._lib import Error, RefusedError
from .algorithms import A2C, DQN, IMPALA, PPO, PQN, SAC, TD3, UNREAL, Algorithm, StreamAC, StreamQ, load
from .environments import Environments, names
from .monitor import Monitor
from .policy import Policy

__version__ = "0.1.0"
__all__ = [
    "A2C", "DQN", "IMPALA", "PPO", "PQN", "SAC", "TD3", "UNREAL", "Algorithm", "Environments", "Error", "Monitor", "Policy", "RefusedError",
    "StreamAC", "StreamQ", "layers", "load", "make", "make_vec", "names", "wrappers",
]  # fmt: skip


def make(name: str, **settings: Any) -> Any:
    """One built-in environment as a `gymnasium.Env`: see `rlcore.vec_env.make`."""
    from .vec_env import make

    return make(name, **settings)


def make_vec(name: str, num_envs: int = 1, **settings: Any) -> Any:
    """N built-in environments as a `gymnasium.vector.VectorEnv`: see `rlcore.vec_env.make_vec`."""
    from .vec_env import make_vec

    return make_vec(name, num_envs, **settings)
