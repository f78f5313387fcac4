"""Forces of all sensors at once against what the engine reports of each."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines import steps as reading
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import StepBuffer
from contact_viewer.settings import Reduce

SCENES = [scene.name for scene in bundled_scenes()]


def read_forces(engine: Engine, buffer: StepBuffer | None = None) -> np.ndarray:
    """How hard the sensors are pressed after the present step, (sensors,)."""
    buffer = buffer or StepBuffer(engine, only_forces=True)
    block = buffer.add() or buffer.pop_block()
    assert block is not None
    forces: np.ndarray = block.forces()[-1]
    return forces


@pytest.mark.parametrize("scene", SCENES)
def test_forces_are_those_of_each_sensor(scene: str) -> None:
    engine = open_engine(scene)
    buffer = StepBuffer(engine, only_forces=True)
    strongest = 0.0
    for mode in (None, *Reduce):
        for name in engine.sensors.names if mode is not None else ():
            engine.set_reduce(name, mode)
        for _ in range(40):
            engine.step(3)
            expected = [engine.get_contact_force_magnitude(name)[0] for name in engine.sensors.names]
            assert read_forces(engine, buffer) == pytest.approx(expected, rel=1e-12, abs=1e-12)
            strongest = max(strongest, *expected)
    assert strongest > 1.0


def test_of_many_sensors_those_that_are_touched_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a hundred, those that nothing touches are not read at all."""
    monkeypatch.setattr(reading, "_FEW_SENSORS", 0)
    engine = open_engine("bounce")
    buffer = StepBuffer(engine, only_forces=True)
    touched = set()
    for _ in range(200):
        engine.step()
        expected = [float(engine.get_contact_force_magnitude(name)[0]) for name in engine.sensors.names]
        assert read_forces(engine, buffer).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)
        touched.add(sum(force > 0 for force in expected))
    assert {1, 5} <= touched


def test_contacts_without_friction_press_in_every_slot(tmp_path: Path) -> None:
    """A box on four corners: all of its weight counts, though nothing acts along the floor."""
    scene = tmp_path / "ice.xml"
    scene.write_text("""
        <mujoco>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1" condim="1"/>
            <body pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2" condim="1"/></body>
          </worldbody>
          <sensor><contact name="box" geom1="floor" geom2="box" num="12" data="found force"/></sensor>
        </mujoco>""")
    engine = open_engine(scene)
    engine.step(500)
    assert engine.data.ncon == 4
    assert read_forces(engine) == pytest.approx([2 * 9.81], rel=1e-6)


def test_sensors_of_all_modes_and_slots_beside_each_other(tmp_path: Path) -> None:
    """Boxes that rub on a floor, read by sensors of every mode, with fewer slots than contacts and with more."""
    boxes = "".join(
        f'<body name="box{i}" pos="{0.3 * i} 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        for i in range(5)
    )
    sensors = "".join(
        f'<contact name="{mode}{slots}" body2="box{slots % 5}" num="{slots}" reduce="{mode}" data="found"/>'
        f'<contact name="all {mode}{slots}" num="{slots}" reduce="{mode}" data="force"/>'
        for slots in (1, 2, 4, 9, 40)
        for mode in Reduce
    )
    scene = tmp_path / "boxes.xml"
    scene.write_text(f"""
        <mujoco>
          <option gravity="2 1 -9.81"/>
          <worldbody><geom type="plane" size="5 5 .1" friction=".1"/>{boxes}</worldbody>
          <sensor>{sensors}</sensor>
        </mujoco>""")
    engine = open_engine(scene)
    buffer, blocks, expected = StepBuffer(engine, only_forces=True), [], []
    for _ in range(200):
        engine.step()
        blocks.append(buffer.add())
        expected.append([engine.get_contact_force_magnitude(name)[0] for name in engine.sensors.names])
        assert read_forces(engine) == pytest.approx(expected[-1], rel=1e-12, abs=1e-12)
    complete = [block for block in (*blocks, buffer.pop_block()) if block is not None]
    assert len(complete) > 1
    assert not any(block.read_alone for block in complete)
    decoded = np.concatenate([block.forces() for block in complete])
    np.testing.assert_allclose(decoded, expected, rtol=1e-12, atol=1e-12)
    assert (decoded[-1] > 1.0).all()
    # A sensor sums the forces in its slots, and more slots hold more of them.
    shown = dict(zip(engine.sensors.names, decoded[-1], strict=True))
    assert shown["all none1"] < shown["all none4"] < shown["all none40"] == pytest.approx(shown["all netforce1"])
    assert shown["all maxforce1"] == pytest.approx(shown["all maxforce40"])


def test_sources_hold_the_contacts_of_the_sensors() -> None:
    engine = open_engine("slope")
    for mode in Reduce:
        for name in engine.sensors.names:
            engine.set_reduce(name, mode)
        engine.step(50)
        for sensor in engine.sensors:
            columns, layout = engine.source(sensor)
            assert layout.reduce is mode
            expected = engine.contacts(sensor.name)
            batch = layout.decode(engine.row()[columns])
            np.testing.assert_array_equal(batch.force, expected.force)
            np.testing.assert_array_equal(batch.linvel, expected.linvel)


def test_sensors_without_companions_and_without_names() -> None:
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom type="plane" size="1 1 .1"/>
            <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
          </worldbody>
          <sensor><contact data="found" num="4"/><contact data="force" reduce="maxforce" num="1"/></sensor>
        </mujoco>""")
    engine = open_engine(model)
    buffer = StepBuffer(engine, only_forces=True)
    engine.step(1000)
    assert read_forces(engine, buffer) == pytest.approx([19.62, 19.62 / 4], rel=1e-3)
    engine.watch_all()
    assert read_forces(engine, buffer) == pytest.approx([19.62, 19.62 / 4, 19.62], rel=1e-3)


def test_environments_are_read_one_by_one() -> None:
    engine = open_engine("stack", num_envs=2)
    engine.pose(1).qvel[2] = 3.0
    engine.step(20)
    shown = [read_forces(engine.environment(i)) for i in range(2)]
    for i in range(2):
        expected = [engine.get_contact_force_magnitude(name)[i] for name in engine.sensors.names]
        assert shown[i] == pytest.approx(expected, rel=1e-12)
    assert not np.allclose(shown[0], shown[1])


def test_another_engine_is_asked_sensor_by_sensor() -> None:
    engine = open_engine("gripper", "motrix")
    engine.step(500)
    expected = [engine.get_contact_force_magnitude(name)[0] for name in engine.sensors.names]
    assert read_forces(engine) == pytest.approx(expected)
    assert max(expected) > 1.0
