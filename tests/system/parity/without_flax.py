"""Lets gymnax's games be imported without flax and matplotlib, of which they use dataclasses and nothing.

Importing this module first puts chex's dataclasses and an empty module in their place, and skips the __init__ files, which
import every environment.
"""

import importlib.util
import sys
import types

import chex

flax = types.ModuleType("flax")
flax.struct = types.ModuleType("flax.struct")
flax.struct.dataclass = chex.dataclass
matplotlib = types.ModuleType("matplotlib")
matplotlib.pyplot = types.ModuleType("matplotlib.pyplot")
for module in (flax, flax.struct, matplotlib, matplotlib.pyplot):
    sys.modules[module.__name__] = module

where = importlib.util.find_spec("gymnax").submodule_search_locations[0]
for name in ("gymnax", "gymnax.environments", "gymnax.environments.bsuite", "gymnax.environments.minatar"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [where + name.removeprefix("gymnax").replace(".", "/")]
