"""Weights as torch tensors. `pip install rlcore[torch]`; everything else works without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def state_dict(model: Any) -> dict[str, torch.Tensor]:
    """The weights of an algorithm or of a policy as torch tensors of their own."""
    return {name: torch.from_numpy(value.copy()) for name, value in model.state_dict().items()}


def load_state_dict(model: Any, weights: Mapping[str, Any], strict: bool = True) -> None:
    """Sets the weights of an algorithm to those of a torch state_dict with the same names."""
    model.load_state_dict(weights, strict)
