"""How the MotrixSim engine fails: in one line, and without taking us with it."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.motrix.probe import Probe
from contact_viewer.errors import EngineError, SceneError

from .scenes import write_scene


@pytest.fixture
def scene(tmp_path: Path) -> Any:
    return partial(write_scene, tmp_path)


@pytest.mark.parametrize(
    ("sensor", "words"),
    [
        ('<contact name="c" geom1="box"/>', "it needs both targets of a pair"),
        ('<contact name="c" body1="world" body2="box"/>', "it panics on the world body as a target"),
        ('<contact name="c" geom1="box" geom2="box"/>', "it panics in its first step where the two targets overlap"),
        ('<contact name="c" geom1="floor" geom2="box" data="linvel"/>', "it does not know the data linvel"),
    ],
)
def test_a_sensor_that_it_refuses_is_left_out_and_told(
    scene: Any, sensor: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = open_engine(scene(f'{sensor}<contact name="good" geom1="floor" geom2="box" num="4"/>'), "motrix")
    assert words in engine.unread["c"]
    assert engine.sensors.names == ("good",)
    engine.step(300)
    assert engine.contacts("good").filled.any()
    assert capfd.readouterr().err == ""


def test_a_scene_that_it_refuses_is_one_line_with_its_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(
        "<mujoco><worldbody><body><joint type='slide' stiffness='1 2'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(SceneError) as caught:
        open_engine(path, "motrix")
    assert "MotrixSim cannot run" in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_the_bundled_scene_targets_opens_with_what_it_does_not_know_left_out_and_told() -> None:
    engine = open_engine("targets", "motrix")
    assert "MotrixSim does not know material@emission: it is left out" in engine.notes
    assert set(engine.unread) == {"in_zone", "sweeper_and_paddles", "marked_puck", "puck_in_zone", "everything"}
    assert "site" in engine.unread["puck_in_zone"]
    # The sweeper turns, by the same motor as in MuJoCo.
    start = engine.data.qpos.copy()
    engine.step(500)
    assert abs(engine.data.qpos[0] - start[0]) > 0.3


def test_a_scene_that_kills_it_does_not_kill_us(tmp_path: Path) -> None:
    depth = 3000
    bodies = '<body pos="0 0 .1"><joint/><geom size=".05"/>' * depth + "</body>" * depth
    deep, plain = tmp_path / "deep.xml", tmp_path / "plain.xml"
    deep.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    plain.write_text("<mujoco/>")
    # Asked of the process that goes first: MuJoCo would refuse such nesting before the engine sees it.
    results = Probe([{"path": str(plain)}, {"path": str(deep)}, {"path": str(plain)}]).results()
    assert [result.error for result in results] == [None, "it crashes (SIGSEGV)", None]


def test_more_contacts_than_it_could_hold_are_refused(scene: Any) -> None:
    sensor = '<contact name="c" geom1="floor" geom2="box" data="found" num="5000000"/>'
    with pytest.raises(SceneError, match="num='5000000'"):
        open_engine(scene(sensor), "motrix")


def test_a_panic_in_a_step_is_one_line(scene: Any, capfd: pytest.CaptureFixture[str]) -> None:
    engine: Any = open_engine(scene(""), "motrix")
    engine._motrix.options.gravity = np.array([0, 0, -1e30], np.float32)
    with pytest.raises(EngineError, match="failed to step: LTL factorization failed"):
        engine.step(20)
    assert capfd.readouterr().err == ""
    assert isinstance(EngineError(""), SceneError)
    engine._motrix.options.gravity = np.array([0, 0, -9.81], np.float32)
    engine.reset()
    engine.step(3)


def test_a_panic_in_a_read_is_one_line(scene: Any, capfd: pytest.CaptureFixture[str]) -> None:
    engine: Any = open_engine(scene('<contact name="c" geom1="floor" geom2="box"/>'), "motrix")
    with pytest.raises(SceneError, match="no contact sensor named 'x'"):
        engine.array("x")
    with pytest.raises(EngineError, match="cannot get given sensor's view"):
        engine._reader._values("x")
    assert capfd.readouterr().err == ""


def test_standard_error_comes_back(scene: Any, capfd: pytest.CaptureFixture[str]) -> None:
    open_engine(scene(""), "motrix").step(2)
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def test_missing_is_one_line(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "motrixsim", None)
    with pytest.raises(SceneError, match=r"pip install contact-viewer\[motrix\]"):
        open_engine(scene(""), "motrix")


def test_it_is_imported_only_when_asked_for(scene: Any) -> None:
    program = (
        "import sys, contact_viewer; "
        f"contact_viewer.open_engine({str(scene(''))!r}).step(); assert 'motrixsim' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_compiled_models_are_not_for_it(scene: Any, tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(scene("")))
    with pytest.raises(SceneError, match="needs a scene file"):
        open_engine(model, "motrix")
    mujoco.mj_saveModel(model, str(tmp_path / "box.mjb"))
    with pytest.raises(SceneError, match="not compiled MuJoCo models"):
        open_engine(tmp_path / "box.mjb", "motrix")


def test_unknown_engines_and_counts_are_named(scene: Any) -> None:
    with pytest.raises(SceneError, match="unknown engine 'bullet': choose from mujoco, motrix"):
        open_engine(scene(""), "bullet")
    for count in (0, -1, 2.5, True, 10**9):
        with pytest.raises(SceneError, match="num_envs must be"):
            open_engine(scene(""), num_envs=count)  # type: ignore[arg-type]
