"""`help()` of everything that a program calls explains each parameter, the result and the errors."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer import gymnasium, metrics
from contact_viewer.cli import main

MADE_BY_FUNCTIONS = ("PassiveViewer", "BatchViewer")
"""Classes that a program gets from `launch_passive` and `launch_batch`, which explain their parameters."""
NEVER_RAISE = ("ContactEvents.update_pairs",)


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions, and the methods of classes, that users call, by name."""
    named = {name: getattr(contact_viewer, name) for name in contact_viewer.__all__}
    named |= {"gymnasium.ContactViewer": gymnasium.ContactViewer}
    here = {name: each for name, each in vars(metrics).items() if getattr(each, "__module__", "") == metrics.__name__}
    named |= {f"metrics.{name}": each for name, each in here.items() if not name.startswith("_")}
    for name, each in named.items():
        if inspect.isfunction(each):
            yield name, each
        elif inspect.isclass(each):
            for method in dir(each):
                member = inspect.getattr_static(each, method)
                function = getattr(member, "__func__", member)
                is_called = not method.startswith("_") or (method == "__init__" and name not in MADE_BY_FUNCTIONS)
                # Those that dataclasses make have no file.
                is_ours = str(getattr(function, "__module__", "")).startswith("contact_viewer.")
                if is_called and is_ours and inspect.isfunction(function) and function.__code__.co_filename[0] != "<":
                    yield f"{name}.{method}", function


FUNCTIONS = dict(_public())


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def test_every_public_function_says_what_it_does() -> None:
    assert len(FUNCTIONS) > 60
    assert not [name for name, function in FUNCTIONS.items() if not inspect.getdoc(function) and "__" not in name]


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if len(_parameters(each)) > 3])
def test_many_parameters_are_explained_one_by_one(name: str) -> None:
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    _, _, rest = text.partition("\nArgs:\n")
    arguments = rest.partition("\n\n")[0].splitlines()
    explained = [line.partition(":")[0].strip() for line in arguments if line[4:5] != " "]
    assert explained == _parameters(function)
    signature = inspect.signature(function)
    returns = signature.return_annotation not in (None, "None") and not name.endswith("__init__")
    assert ("\nReturns:\n" in text) is returns
    assert ("\nRaises:\n" in text) is (name not in NEVER_RAISE)


EXAMPLES = {
    name: match[1]
    for name, each in [
        *((name, getattr(contact_viewer, name)) for name in contact_viewer.__all__),
        ("gymnasium.ContactViewer", gymnasium.ContactViewer),
    ]
    if (match := re.search(r"Example:\n +```python\n(.*?)```", inspect.getdoc(each) or "", re.DOTALL))
}
"""The example of each public name, from its docstring."""
DOCS = Path(__file__).parent.parent / "docs"
SIZES = {"qpos": "nq", "qvel": "nv", "ctrl": "nu"}
ROBOT = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <sensor><contact name="box" geom1="floor" geom2="box" data="found force pos normal tangent" num="4"/></sensor>
</mujoco>"""
WITHOUT = {"metrics", "gymnasium", "ContactEvent", "__version__"}
"""Modules, and names that the examples of others show."""


def test_every_public_name_has_an_example() -> None:
    assert set(contact_viewer.__all__) - WITHOUT <= set(EXAMPLES)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_of_a_public_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = textwrap.dedent(EXAMPLES[name])
    model = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(model)
    Path("robot.xml").write_text(ROBOT)
    Path("grasp.xml").write_text((DOCS / "symptoms/scenes/grasp.xml").read_text())
    if "run.npz" in code:
        np.savez("run.npz", qpos=np.tile(data.qpos, (5, 1)), time=np.arange(5) * 0.002)
    if "run.cvrun" in code:
        assert main(["export", "robot.xml", "--duration", "0.2", "-o", "x.csv", "--save-run", "run.cvrun"]) == 0
    # Loops of examples last as long as their window: here for three steps.
    code = code.replace("viewer.is_running()", "next(turns)").replace("seeds=100", "seeds=2, duration=0.1")
    state = SimpleNamespace(**{part: np.zeros((4096, getattr(model, size))) for part, size in SIZES.items()})
    names = {"contact_viewer": contact_viewer, "mujoco": mujoco, "np": np, "model": model, "data": data}
    names |= {"turns": iter((True, True, True, False)), "state": state, "step": lambda state: state}
    exec(compile(code, f"example of {name}", "exec"), names)
