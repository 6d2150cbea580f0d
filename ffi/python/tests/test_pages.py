"""Code that people read: the README, the notebook, the types of settings, and what Stable-Baselines3 makes of a model."""

import json
import re
import subprocess
import sys
from pathlib import Path

import rlcore

HERE = Path(__file__).parent
ROOT = HERE.parent


def test_the_code_of_the_readme_runs_in_order_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len(blocks) >= 8
    scope = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
        printed = capsys.readouterr().out
        for words in re.findall(r"print\(error\)  # (.*)", block):
            assert words in printed, (words, printed)
    assert (tmp_path / "logs/monitor.csv").exists() and (tmp_path / "cartpole.onnx").exists() and scope["model"].stats["num_updates"] > 0


def test_the_notebook_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples/cartpole.ipynb").read_text())
    assert notebook["nbformat"] == 4
    scope = {"__name__": "notebook"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), "cartpole.ipynb", "exec"), scope)
    assert scope["returns"][-1] > 400 and scope["total"] > 400
    assert "mean return" in capsys.readouterr().out


def test_types_of_settings_are_those_of_the_library():
    from rlcore._config import ALIASES, SETTINGS
    from rlcore._structs import ENUMS, fields_of
    from rlcore.settings import Settings

    fields, types = fields_of("learner_config"), Settings.__annotations__
    assert set(types) == {*SETTINGS, *ALIASES}
    for name in SETTINGS:
        said = getattr(types[name], "__forward_arg__", types[name])
        assert said == ("Sequence[int] | int" if fields[name].kind == "array" else "int | str" if name in ENUMS else "float" if fields[name].cname == "float" else "int"), name
    source = Path(rlcore.settings.__file__).read_text()
    assert source.count('    """') == len(SETTINGS) + 2
    assert '    discount: float\n    """Discount factor (0.99; 0 to 1)"""' in source


def test_stable_baselines3_evaluates_a_model_and_reads_its_monitor(tmp_path):
    done = subprocess.run([sys.executable, str(HERE / "with_sb3.py"), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("ok\n"), done.stdout + done.stderr


def test_the_package_has_the_version_of_the_library():
    from importlib.metadata import version

    from rlcore._lib import raw

    number = raw.rlcore_version()
    assert version("rlcore") == rlcore.__version__ == f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
