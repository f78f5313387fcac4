"""Tests the types of MuJoCo that mypy reads: stubs/mujoco, which stubs/make_mujoco_stubs.py makes."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.scene_files.scene import find_scene

ROOT = Path(__file__).parents[1]
STUBS = ROOT / "stubs" / "mujoco"
SCRIPT = ROOT / "stubs" / "make_mujoco_stubs.py"


def numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def made_from() -> str:
    """The version of MuJoCo whose types are in the tree."""
    return (STUBS / "_structs.pyi").read_text().splitlines()[0].split()[-1].rstrip(".")


def test_stubs_are_those_of_the_newest_mujoco() -> None:
    if numbers(mujoco.__version__) < numbers(made_from()):
        pytest.skip(f"the stubs are of MuJoCo {made_from()}, newer than {mujoco.__version__}")
    made = runpy.run_path(str(SCRIPT))["make"]()
    kept = {path.name: path.read_text() for path in STUBS.glob("*.pyi")}
    assert made.keys() == kept.keys(), f"run {SCRIPT.relative_to(ROOT)} and commit what it writes"
    different = [name for name, text in made.items() if text != kept[name]]
    assert not different, f"run {SCRIPT.relative_to(ROOT)} and commit what it writes: {different}"


def test_stubs_name_no_address_and_no_path_of_a_machine() -> None:
    for path in STUBS.glob("*.pyi"):
        assert not re.search(r"0x[0-9a-f]{6}|/site-packages|/home", path.read_text()), path.name


def declared_types(name: str) -> dict[str, str]:
    """Type that the stub gives to each value of a class, by the value's name."""
    tree = ast.parse((STUBS / "_structs.pyi").read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name).body
    found = {ast.unparse(node.target): ast.unparse(node.annotation) for node in body if isinstance(node, ast.AnnAssign)}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.returns and "property" in map(ast.unparse, node.decorator_list):
            found[node.name] = ast.unparse(node.returns)
    return {key: re.sub(r"^Field\[(.*), \w+\]$", r"\1", text) for key, text in found.items()}


@pytest.mark.parametrize("kind", ["MjModel", "MjData", "MjOption", "MjContact", "_MjContactList", "MjvCamera"])
def test_values_have_the_types_that_the_stubs_say(kind: str) -> None:
    model = mujoco.MjModel.from_xml_path(str(find_scene("quadruped")))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 200)
    values = {"MjModel": model, "MjData": data, "MjOption": model.opt, "_MjContactList": data.contact}
    value = values.get(kind) or {"MjContact": data.contact[0], "MjvCamera": mujoco.MjvCamera()}[kind]
    compared = 0
    for name, text in declared_types(kind).items():
        if array := re.fullmatch(r"NDArray\[np\.(\w+)\]", text):
            assert getattr(value, name).dtype == np.dtype(array[1]), name
        elif text in ("int", "float", "bool", "str", "bytes"):
            assert type(getattr(value, name)).__name__ == text, name
        else:
            continue
        compared += 1
    assert compared >= 8


def test_mypy_sees_mujoco(tmp_path: Path) -> None:
    """Wrong arguments, names and assignments are errors, and right ones are none."""
    module = tmp_path / "uses_mujoco.py"
    module.write_text(
        "import mujoco\n"
        "model = mujoco.MjModel.from_xml_string('<mujoco/>')\n"
        "data = mujoco.MjData(model)\n"
        "model.opt.gravity = (0, 0, -1)\n"
        "flags: int = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT\n"
        "depths: list[float] = [contact.dist for contact in data.contact]\n"
        "mujoco.mj_step(data, model)\n"
        "model.nq = 3\n"
        "data.nothing\n"
        "mujoco.mj_contactForce(model, data, 0.5, data.qpos)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(module)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert sorted({int(line) for line in re.findall(r"uses_mujoco\.py:(\d+): error", run.stdout)}) == [7, 8, 9, 10], run
