"""Builds the release library with cargo and puts it into the wheel, with the declarations that it is called by and the types of
the settings of algorithms, which are made of its header."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
# A source distribution has the crates in a folder of its own.
ROOT = HERE / "crates" if (HERE / "crates").is_dir() else HERE.parents[1]
PREFIX, SUFFIX = {"win32": ("", ".dll"), "darwin": ("lib", ".dylib")}.get(sys.platform, ("lib", ".so"))

HEAD = '''"""The settings of algorithms for editors and type checkers, made of rlcore.h. In parentheses: the default, those of algorithms
where they differ, and the values that a setting may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Aliases(TypedDict, total=False):
    """Settings by the names of Stable-Baselines3."""

    gamma: float
    n_steps: int
    n_epochs: int
    ent_coef: float | str
    vf_coef: float
    clip_range: float
    clip_range_vf: float | None
    tau: float
    train_freq: int
    target_update_interval: int
    exploration_initial_eps: float
    exploration_final_eps: float
    policy_delay: int
    target_policy_noise: float
    rms_prop_eps: float
    use_rms_prop: bool


class Settings(Aliases, total=False):
    """Fields of rlcore_learner_config."""
'''
# What the package sets by itself.
GIVEN = ("struct_size", "reserved", "algorithm", "num_envs", "layers", "num_layers")


def settings(header):
    """The text of rlcore/settings.py."""
    body = re.search(r"typedef struct rlcore_learner_config \{\n(.*?)\n\} rlcore_learner_config;", header, re.S).group(1)
    made, said = [HEAD], ""
    for comment, kind, name, length, behind in re.findall(r"/\*(.*?)\*/|^  (?:const )?(\w+) \*?(\w+)(\[\d+\])?;(?:[ ]*/\*(.*?)\*/)?", body, re.S | re.M):
        if comment:
            said = "" if comment.startswith(" -- ") else comment
            continue
        text, said = " ".join((said + behind).split()), ""
        if name in GIVEN or "fields" in name:
            continue
        python = "Sequence[int] | int" if length else "float" if kind == "float" else "int | str" if "an rlcore_" in text else "int"
        made.append(f'    {name}: {python}\n    """{text[:1].upper()}{text[1:]}"""\n')
    return "\n".join(made)


class CargoBuild(BuildHookInterface):
    def initialize(self, version, build_data):
        cargo = [os.environ.get("CARGO", "cargo"), "build", "--release", "-p", "rlcore-ffi"]
        subprocess.run(cargo, cwd=ROOT, check=True)
        known = subprocess.run([cargo[0], "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        target = Path(json.loads(known.stdout)["target_directory"])
        library, types = target / "release" / f"{PREFIX}rlcore{SUFFIX}", target / "release/settings.py"
        types.write_text(settings((ROOT / "include/rlcore.h").read_text()), encoding="utf-8")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["force_include"] = {
            str(library): "rlcore/" + library.name,
            str(types): "rlcore/settings.py",
            str(ROOT / "include/rlcore_bindings.h"): "rlcore/rlcore_bindings.h",
        }
