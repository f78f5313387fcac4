"""Controllers on every engine, and the files they come from."""

import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.controller import Controller
from contact_viewer.engines.controller_file import ControllerFile, read_param
from contact_viewer.errors import ControlError, SceneError
from contact_viewer.session.simulation import Simulation

from ..scenes import ARM

FILE = """
KP = 3.0
LIMIT = 2 * KP
'''Of the force [N].'''
names = "ab"
count = 0

def control(model, data):
    global count
    count += 1
    data.ctrl[0] = 0.1 * KP

def reset(model, data, rng):
    data.qpos[0] = rng.uniform(-0.5, 0.5)

def vary(model, rng):
    model.geom_friction[:, 0] = rng.uniform(0.5, 1.5)
    model.body_mass[1] *= 2

def still(model, data):
    pass
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "steer.py"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
@pytest.mark.parametrize("envs", [1, 3])
def test_a_controller_drives_every_environment_of_every_engine(arm: Path, engine: str, envs: int) -> None:
    seen: list[float] = []

    def control(model: Any, data: Any) -> None:
        seen.append(data.time)
        data.ctrl[0] = 0.7

    driven = open_engine(arm, engine, envs, control=control)
    driven.step(1500)
    assert len(seen) == 1500 * envs
    assert seen[envs] == pytest.approx(0.002)
    for env in range(envs):
        data = driven.pose(env)
        # Statics: what the arm weighs at its middle is what the spring of the actuator gives.
        angle = data.qpos[0]
        assert 30 * (0.7 - angle) == pytest.approx(-0.5 * 9.81 * 0.15 * np.cos(angle), rel=0.02)
        assert abs(data.qvel[0]) < 0.01


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_a_controller_sees_velocities_as_they_are(arm: Path, engine: str) -> None:
    pairs: list[tuple[float, float]] = []

    def control(model: Any, data: Any) -> None:
        data.ctrl[0] = np.sin(8 * data.time)
        pairs.append((float(data.qpos[0]), float(data.qvel[0])))

    open_engine(arm, engine, control=control).step(300)
    positions, velocities = np.array(pairs).T
    np.testing.assert_allclose(velocities[1:], np.diff(positions) / 0.002, atol=0.01)


def test_driving_changes_nothing_but_what_it_writes(arm: Path) -> None:
    """Against MuJoCo and the same controller in a loop of one's own, bit for bit."""

    def control(model: Any, data: Any) -> None:
        data.ctrl[0] = np.sin(9 * data.time) - data.qvel[0]
        data.qfrc_applied[0] = 0.1 * data.qpos[0]

    engine = open_engine(arm, control=control)
    Simulation(engine, history_bytes=2**24).step(700)
    model = mujoco.MjModel.from_xml_path(str(arm))
    data = mujoco.MjData(model)
    for _ in range(700):
        control(model, data)
        mujoco.mj_step(model, data)
    assert engine.data.qpos.tobytes() == data.qpos.tobytes()
    assert engine.data.qvel.tobytes() == data.qvel.tobytes()


def test_motrix_says_what_it_cannot_do(arm: Path, file: Path) -> None:
    def control(model: Any, data: Any) -> None:
        data.qfrc_applied[0] = 1.0

    with pytest.raises(SceneError, match="MotrixSim takes no qfrc_applied"):
        open_engine(arm, "motrix", control=control).step()
    engine = open_engine(arm, "motrix", control=ControllerFile(str(file)).load())
    assert any("vary" in note for note in engine.notes)


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_reset_begins_where_the_file_says_and_a_seed_decides(arm: Path, file: Path, engine: str) -> None:
    def starts(seed: int) -> list[float]:
        opened = open_engine(arm, engine, 2, control=ControllerFile(str(file), seed=seed).load())
        first = [float(opened.pose(env).qpos[0]) for env in range(2)]
        opened.step(3)
        opened.reset()
        return [*first, *(float(opened.pose(env).qpos[0]) for env in range(2))]

    values = starts(4)
    assert len({round(value, 4) for value in values}) == 4
    assert all(abs(value) < 0.5 for value in values)
    assert starts(4) == values
    assert starts(5) != values


def test_vary_changes_the_model_before_anything_is_computed_from_it(arm: Path, file: Path) -> None:
    engine = open_engine(arm, control=ControllerFile(str(file), seed=1).load())
    friction = engine.model.geom_friction[:, 0]
    assert friction[0] == friction[1] != 1.0
    judge = mujoco.MjModel.from_xml_string(ARM.replace('mass=".5"', 'mass="1"'))
    assert engine.model.body_subtreemass[0] == pytest.approx(judge.body_subtreemass[0])
    assert engine.model.stat.extent == judge.stat.extent


def test_a_file_gives_functions_and_constants(file: Path) -> None:
    source = ControllerFile(str(file), {"KP": 5})
    source.load()
    assert source.constants == {"KP": 5, "LIMIT": 10}
    assert source.descriptions == {"LIMIT": "Of the force [N]."}
    assert ControllerFile(f"{file}:still").load().control.__name__ == "still"
    source.set_constant("KP", 2.0)
    assert source.module.KP == 2.0
    source.load()
    assert source.constants == {"KP": 2.0, "LIMIT": 4.0}
    # A second engine has a state of its own.
    other = source.copy()
    arm = mujoco.MjModel.from_xml_string(ARM)
    other.load().control(arm, mujoco.MjData(arm))
    assert (other.module.count, source.module.count) == (1, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def control(model, data)\n  pass", r"bad.py, line 1: SyntaxError: expected ':'"),
        ("import nowhere_to_be_found", r"bad.py, line 1: ModuleNotFoundError: No module named"),
        ("x = 1\ny = x / 0", r"bad.py, line 2: ZeroDivisionError: division by zero"),
        ("def steer(model, data): pass", r"bad.py has no function control\(model, data\)"),
        ("def control(data): pass", r"bad.py: control has to take \(model, data\)"),
        ("def control(m, d): pass\ndef vary(m): pass", r"bad.py: vary has to take \(model, rng\)"),
        ("def control(m, d): pass\nreset = 3", r"bad.py: reset has to take \(model, data, rng\)"),
        ("import sys; sys.exit(3)", r"bad.py ended the program"),
        ("\0", "bad.py"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(ControlError, match=message) as caught:
        ControllerFile(str(tmp_path / "bad.py")).load()
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_named(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ControlError, match="cannot be read"):
        ControllerFile(str(tmp_path / "none.py")).load()
    with pytest.raises(ControlError, match="has no constant GAIN"):
        ControllerFile(str(file), {"GAIN": 1}).load()
    with pytest.raises(ControlError, match="not a parameter"):
        read_param("GAIN")
    assert [read_param(text) for text in ("A=1", "b=-2.5", "C=fast", "D=[1, 2]")] == [
        ("A", 1),
        ("b", -2.5),
        ("C", "fast"),
        ("D", [1, 2]),
    ]
    with pytest.raises(ControlError, match="a function of model and data"):
        open_engine("bounce", control=3)


@pytest.mark.alone
def test_a_controller_that_does_nothing_costs_little() -> None:
    """At most 1.5 us a step more than none, in the window's own way of stepping."""

    def nothing(model: Any, data: Any) -> None:
        pass

    runs = [Simulation(open_engine("quadruped", control=c), history_bytes=2**26) for c in (None, Controller(nothing))]
    best = [1e9, 1e9]
    for _ in range(60):
        for k, run in enumerate(runs):
            began = time.thread_time()
            run.step(100)
            best[k] = min(best[k], (time.thread_time() - began) / 100)
    assert best[1] - best[0] < 1.5e-6
