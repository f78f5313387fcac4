"""Branches with changed values: bit-equal without a change, and what bare MuJoCo does with one."""

import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import SceneError, open_engine
from contact_viewer.compare.branches import describe, edits_of, make_branch, run_branch
from contact_viewer.engines.registry import open_log
from contact_viewer.mjmodel.model_changes import read_change
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import ViewState

BUDGET = 2**27
SLOPE = """<mujoco>
  <option timestep="0.002" integrator="{integrator}" gravity="3 0 -9"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.2"/>
    <body name="box" pos="0 0 .0499"><freejoint/>
      <geom name="box" type="box" size=".05 .05 .05" friction="0.2" mass="1"/>
    </body>
    <body name="arm" pos="0 1 .2"><joint name="arm" axis="0 1 0" damping=".1"/>
      <geom name="arm" type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".2"/>
    </body>
  </worldbody>
  <actuator><position name="arm" joint="arm" kp="5"/></actuator>
  <sensor><contact name="box" geom1="box" geom2="floor" data="found force" reduce="netforce"/></sensor>
</mujoco>
"""


def state(simulation: Simulation) -> bytes:
    values = np.empty(simulation.shown.past.state_size)
    simulation.shown.past.save(values)
    return values.tobytes()


def bare(text: str, steps: int) -> Any:
    """Return the data of bare MuJoCo after some steps of a scene."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, steps)
    return data


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
def test_nothing_changed_is_the_past_bit_for_bit(integrator: str, tmp_path: Path) -> None:
    path = tmp_path / "slope.xml"
    path.write_text(SLOPE.format(integrator=integrator))
    total = [0.0]

    def control(model: Any, data: Any) -> None:
        total[0] += 0.01 * data.qpos[7]
        data.ctrl[0] = 0.5 * np.sin(3 * data.time) - total[0]

    session = Session(open_engine(path, control=control), ViewState(history_megabytes=128))
    session.drive.set_noise(0.1, 0.05)
    seen = []
    for step in range(2000):
        if step % 400 == 150:
            session.drive.set_position(7, [0.1 * (step % 3)])
        session.take_steps(1)
        seen.append(state(session.simulation))
    branch = make_branch(session.simulation, (), 0)
    for step in range(2000):
        branch.step()
        assert state(branch) == seen[step], step
    assert state(session.simulation) == seen[-1]


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("friction:box=0.6", 'size=".05 .05 .05" friction="0.2"', 'size=".05 .05 .05" friction="0.6"'),
        ("cone=elliptic", "<option timestep", '<option cone="elliptic" timestep'),
        ("timestep=0.001", 'timestep="0.002"', 'timestep="0.001"'),
        ("gravity=1 0 -5", 'gravity="3 0 -9"', 'gravity="1 0 -5"'),
        ("solref:floor=0.05 0.5", 'size="0 0 1"', 'size="0 0 1" solref="0.05 0.5"'),
        ("solimp:box=0.8 0.9", 'mass="1"', 'mass="1" solimp="0.8 0.9"'),
        ("condim=1", "<worldbody>", '<default><geom condim="1"/></default><worldbody>'),
        ("margin:floor=0.01", 'size="0 0 1"', 'size="0 0 1" margin="0.01"'),
        ("mass:arm=0.4", 'mass=".2"', 'mass=".4"'),
        ("gain:arm=9", 'kp="5"', 'kp="9"'),
    ],
)
def test_a_change_does_what_the_same_change_of_the_file_does(change: str, old: str, new: str, tmp_path: Path) -> None:
    text = SLOPE.format(integrator="Euler")
    path = tmp_path / "slope.xml"
    path.write_text(text)
    first = Simulation(open_engine(path), history_bytes=BUDGET)
    first.step(200)
    branch = make_branch(first, [read_change(change)], 0)
    run_branch(branch, 0.4)
    assert text.count(old) == 1
    wanted = bare(text.replace(old, new), round(0.4 / branch.shown.timestep))
    np.testing.assert_allclose(branch.shown.data.qpos, wanted.qpos, atol=1e-9)
    assert not np.allclose(branch.shown.data.qpos, first.shown.data.qpos, atol=1e-9)
    assert describe([read_change(change)]) == change


def test_a_force_acts_from_the_first_step_of_the_branch_on(tmp_path: Path) -> None:
    path = tmp_path / "slope.xml"
    path.write_text(SLOPE.format(integrator="Euler"))
    first = Simulation(open_engine(path), history_bytes=BUDGET)
    first.step(100)
    branch = make_branch(first, [read_change("force:box=0 4 0")], 0)
    run_branch(branch, 0.5)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.xfrc_applied[1, 1] = 4
    mujoco.mj_step(model, data, 250)
    np.testing.assert_allclose(branch.shown.data.qpos, data.qpos, atol=1e-12)


@pytest.mark.parametrize("numbers", [np.float32, np.float64])
def test_a_branch_of_a_log_goes_its_own_way_whatever_the_log_is_rounded_to(numbers: Any, tmp_path: Path) -> None:
    text = SLOPE.format(integrator="Euler")
    path, log = tmp_path / "slope.xml", tmp_path / "log.npz"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    rows = []
    for _ in range(300):
        rows.append((data.time, data.qpos.copy(), data.qvel.copy()))
        mujoco.mj_step(model, data)
    times, positions, velocities = (np.array(column) for column in zip(*rows, strict=True))
    np.savez(log, time=times, qpos=positions.astype(numbers), qvel=velocities.astype(numbers))
    engine = open_engine(path)
    open_log(engine, log)
    first = Simulation(engine, history_bytes=BUDGET)
    first.step(299)
    same, held = make_branch(first, [], 0), make_branch(first, [read_change("friction:box=0.6")], 0)
    for branch, friction in ((same, "0.2"), (held, "0.6")):
        run_branch(branch, 0.598)
        wanted = bare(text.replace('.05 .05" friction="0.2"', f'.05 .05" friction="{friction}"'), 299)
        np.testing.assert_allclose(branch.shown.data.qpos, wanted.qpos, atol=1e-5)
    assert same.shown.data.qpos[0] > 10 * held.shown.data.qpos[0] > 0
    same.reset()
    for step in range(1, 300):
        same.step()
        first.go_to(step)
        assert same.shown.data.qpos.tobytes() == first.shown.data.qpos.tobytes()


def test_inputs_are_those_of_the_same_time_with_another_time_step(tmp_path: Path) -> None:
    path = tmp_path / "slope.xml"
    path.write_text(SLOPE.format(integrator="Euler"))

    def control(model: Any, data: Any) -> None:
        data.ctrl[0] = np.sin(5 * data.time)

    first = Simulation(open_engine(path, control=control), history_bytes=BUDGET)
    first.step(500)
    for timestep in ("0.001", "0.004"):
        branch = make_branch(first, [read_change(f"timestep={timestep}")], 0)
        while branch.shown.time < 0.9:
            branch.step()
            began = branch.shown.time - branch.shown.timestep
            seen = np.floor(began / 0.002 + 1e-6) * 0.002
            assert branch.shown.data.ctrl[0] == pytest.approx(np.sin(5 * seen), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frcition:box=1", "friction"),
        ("friction:box", "changes nothing"),
        ("cone=round", "pyramidal or elliptic"),
        ("timestep=0", "no timestep"),
        ("condim:box=2", "no condim"),
        ("gravity=-9.81", "three numbers"),
        ("cone:box=elliptic", "without a name"),
        ("mass=2", "name the body"),
        ("friction=nan", "up to 5"),
    ],
)
def test_what_cannot_be_changed_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(SceneError, match=said):
        read_change(text)


def test_a_name_that_the_scene_lacks_is_said() -> None:
    first = Simulation(open_engine("gripper"), history_bytes=BUDGET)
    with pytest.raises(SceneError, match="no geom or <pair> named 'blok'"):
        make_branch(first, [read_change("friction:blok=1")])
    with pytest.raises(SceneError, match="steps that can be continued"):
        make_branch(Simulation(open_engine("gripper")), [])


def test_values_are_written_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "slope.xml"
    text = SLOPE.format(integrator="Euler")
    path.write_text(text)
    engine = open_engine(path)
    for change in ("friction:box=0.6", "cone=elliptic", "timestep=0.0005", "solref:floor=0.01 1"):
        (edit,) = edits_of(engine, engine.model, [read_change(change)])
        before, after = edit.before.decode().splitlines(), edit.after.decode().splitlines()
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1, change
    both = [read_change(text) for text in ("friction:box=0.6", "friction:floor=0.7", "cone=elliptic", "impratio=10")]
    (edit,) = edits_of(engine, engine.model, both)
    model = mujoco.MjModel.from_xml_string(edit.after.decode())
    assert model.geom_friction[:2, 0].tolist() == [0.7, 0.6]
    assert (model.opt.cone, model.opt.impratio) == (1, 10)
    with pytest.raises(SceneError, match="edit the file"):
        edits_of(engine, engine.model, [read_change("force:box=1 0 0")])


@pytest.mark.alone
def test_fifty_branches_of_a_thousand_steps_are_quick() -> None:
    first = Simulation(open_engine("gripper"), history_bytes=BUDGET)
    first.step(1000)
    # Of the processor: other programs may have it meanwhile.
    began = time.process_time()
    for number in range(50):
        run_branch(make_branch(first, [read_change(f"friction:block={0.5 + 0.02 * number}")], 0), first.shown.time)
    assert time.process_time() - began < 10
