"""Lets Stable-Baselines3's environment side be imported without torch and matplotlib, 5 GB that it names in annotations only.

Importing this module first puts empty ones in their place, and skips the package's own __init__, which imports the learners.
"""

import importlib.util
import sys
import types


class Nothing(type):
    """Any attribute, subscript or union of it is nothing again."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name, (), {})

    def __getitem__(cls, key):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__


class Empty(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name, (), {})


for name in (
    "torch", "torch.nn", "torch.nn.functional", "torch.distributions", "torch.utils", "torch.utils.tensorboard",
    "torch.utils.tensorboard.summary", "matplotlib", "matplotlib.figure",
):
    sys.modules[name] = Empty(name)

package = types.ModuleType("stable_baselines3")
package.__path__ = list(importlib.util.find_spec("stable_baselines3").submodule_search_locations)
sys.modules["stable_baselines3"] = package
