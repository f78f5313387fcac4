"""All contacts of a scene without contact sensors: read from a hidden sensor, as the contact list has them."""

import json
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.cli import main
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.tracker import ContactTracker, default_pairs
from contact_viewer.mjmodel.pair_selection import PairSource
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.settings import Reduce
from contact_viewer.sweeps.sweep import make_plan
from contact_viewer.sweeps.task import Task

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
BALLS = """<mujoco>
  <option {option}><flag {flag}/></option>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <replicate count="{count}" offset=".25 0 0">
      <body pos="0 0 {height}"><freejoint/><geom size=".1"/></body>
    </replicate>
  </worldbody>
</mujoco>"""


def balls(folder: Path, count: int = 30, height: float = 0.3, option: str = "", flag: str = "") -> Path:
    path = folder / "balls.xml"
    path.write_text(BALLS.format(count=count, height=height, option=option, flag=flag))
    return path


def listed(engine: Engine) -> np.ndarray[Any, Any]:
    """Contact forces by MuJoCo's own function, (contacts, 3)."""
    data = engine.contact_data()
    forces = np.zeros((data.ncon, 6))
    for i, force in enumerate(forces):
        mujoco.mj_contactForce(engine.model, data, i, force)
    return forces[:, :3]


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
def test_the_hidden_sensor_changes_no_bit_of_the_physics(tmp_path: Path, integrator: str) -> None:
    path = balls(tmp_path, option=f'integrator="{integrator}"')
    engine, model = open_engine(path), mujoco.MjModel.from_xml_path(str(path))
    assert not engine.watch_all().reconstructed
    data = mujoco.MjData(model)
    for _ in range(200):
        engine.step()
        mujoco.mj_step(model, data)
        np.testing.assert_array_equal(engine.data.qpos, data.qpos)
        np.testing.assert_array_equal(engine.data.qvel, data.qvel)


def test_nobody_sees_the_hidden_sensor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = balls(tmp_path)
    engine = open_engine(path)
    assert len(engine.sensors) == 0
    assert default_pairs(engine.model).source is PairSource.ALL
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sensors"] == []
    assert engine.watch_all().name == "all contacts"
    assert engine.sensors.names == ("all contacts",)


def test_more_contacts_than_the_hidden_sensor_has_slots_are_all_there(tmp_path: Path) -> None:
    """Thirty balls have a slot each, and several more; two hundred have not."""
    path = balls(tmp_path, count=200)
    engine = open_engine(path)
    name, seen = engine.watch_all().name, set()
    for _ in range(250):
        engine.step()
        forces = listed(engine)
        batch, sensor = engine.contacts(name), engine.sensors[name]
        assert batch.found == batch.filled.sum() == len(forces)
        assert batch.force is not None
        np.testing.assert_array_equal(batch.force[: len(forces)], forces)
        magnitude = np.linalg.norm(np.einsum("kji,kj->i", engine.data.contact.frame.reshape(-1, 3, 3), forces))
        assert engine.get_contact_force_magnitude(name)[0] == pytest.approx(magnitude, rel=1e-9)
        seen.add(sensor.reconstructed)
    assert seen == {False, True}


def test_a_sweep_counts_contacts_beyond_the_slots_too(tmp_path: Path) -> None:
    """The weight of all balls, whichever way their contacts are read."""
    path = balls(tmp_path, count=200, height=0.11)
    plan = make_plan([path], [0], 1.0)
    result = Task(plan, lambda number: open_safely(plan.scenes[number])).run(plan.run(0))
    (figures,) = result.figures
    model = mujoco.MjModel.from_xml_path(str(path))
    momentum = float(model.body_mass.sum()) * 9.81 * 1.0
    assert figures["impulse_z"] == pytest.approx(momentum, rel=0.02)
    assert figures["dropped_contacts"] == 0


@pytest.mark.parametrize("reduce", list(Reduce))
def test_all_contacts_can_be_read_in_every_mode(tmp_path: Path, reduce: Reduce) -> None:
    path = balls(tmp_path)
    engine, theirs = open_engine(path), open_engine(mujoco.MjModel.from_xml_path(str(path)))
    for each in (engine, theirs):
        each.watch_all()
        each.step(150)
        each.set_reduce("all contacts", reduce)
    for _ in range(20):
        ours, other = engine.contacts("all contacts"), theirs.contacts("all contacts")
        count = int(ours.filled.sum())
        assert count > 0
        for field in ("found", "force", "pos", "dist"):
            here, there = getattr(ours, field), getattr(other, field)
            np.testing.assert_allclose(here[:count] if here.ndim else here, there[:count] if there.ndim else there)
        engine.step()
        theirs.step()


@pytest.mark.parametrize("flag", ['sensor="disable"', 'sleep="enable"'])
def test_sensors_that_are_off_or_asleep_are_not_relied_on(tmp_path: Path, flag: str) -> None:
    engine = open_engine(balls(tmp_path, flag=flag))
    name = engine.watch_all().name
    assert engine.sensors[name].reconstructed
    for _ in range(300):
        engine.step()
        assert engine.contacts(name).found == engine.data.ncon


@pytest.mark.parametrize("robot", ["hopper.xml", "ant.xml", "walker2d_v5.xml"])
def test_events_of_a_robot_are_the_same_whether_steps_are_buffered_or_not(robot: str) -> None:
    """Its geoms have margins: they are in the contact list before they touch."""
    engine = open_engine(ASSETS / robot)
    buffered, stepwise = (ContactTracker(engine, limit=None) for _ in range(2))
    # With a break, every step is read.
    stepwise.breaks.append(Break(BreakWhen.FORCE, force=1e9))
    rng = np.random.default_rng(3)
    for step in range(1500):
        if step % 10 == 0:
            engine.data.ctrl[:] = rng.uniform(-1, 1, engine.model.nu)
        engine.step()
        buffered.after_step(Step(engine))
        stepwise.after_step(Step(engine))
    ours, theirs = list(buffered.log), list(stepwise.log)
    assert len(ours) > 10
    assert [(each.time, each.subject, each.kind) for each in ours] == [
        (each.time, each.subject, each.kind) for each in theirs
    ]
    # Slips have none.
    peaks = [each.contact.peak_force for each in theirs]
    assert [each.contact.peak_force for each in ours] == pytest.approx(peaks, nan_ok=True)
    assert np.isfinite([peak for peak, each in zip(peaks, theirs, strict=True) if each.kind in ("begin", "end")]).all()
