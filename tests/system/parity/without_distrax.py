"""Lets the estimators of rlax be imported without distrax, whose TensorFlow Probability only its other parts use.

Importing this module first puts an empty one in its place, and skips the package's own __init__, which imports everything.
"""

import importlib.util
import sys
import types


class Empty(types.ModuleType):
    """Any attribute of it is `object`."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return object


sys.modules["distrax"] = Empty("distrax")

package = types.ModuleType("rlax")
package.__path__ = list(importlib.util.find_spec("rlax").submodule_search_locations)
sys.modules["rlax"] = package
