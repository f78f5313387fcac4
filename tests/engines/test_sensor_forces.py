"""Forces of all sensors at once against those that the engine tells of each."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.following.sensor_forces import SensorForces, is_stepped_by_mujoco
from contact_viewer.settings import Reduce

SCENES = [scene.name for scene in bundled_scenes()]


@pytest.mark.parametrize("scene", SCENES)
def test_forces_are_those_of_each_sensor(scene: str) -> None:
    engine = open_engine(scene)
    forces = SensorForces(engine)
    strongest = 0.0
    for mode in (None, *Reduce):
        for name in engine.sensors.names if mode is not None else ():
            engine.set_reduce(name, mode)
        for _ in range(40):
            engine.step(3)
            expected = [engine.get_contact_force_magnitude(name)[0] for name in engine.sensors.names]
            assert forces.read() == pytest.approx(expected, rel=1e-12, abs=1e-12)
            strongest = max(strongest, *expected)
    assert strongest > 1.0


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
    forces = SensorForces(engine)
    engine.step(1000)
    assert forces.read() == pytest.approx([19.62, 19.62 / 4], rel=1e-3)
    engine.watch_all()
    assert forces.read() == pytest.approx([19.62, 19.62 / 4, 19.62], rel=1e-3)


def test_environments_are_read_one_by_one() -> None:
    engine = open_engine("stack", num_envs=2)
    engine.pose(1).qvel[2] = 3.0
    engine.step(20)
    shown = [SensorForces(engine.environment(i)).read() for i in range(2)]
    for i in range(2):
        expected = [engine.get_contact_force_magnitude(name)[i] for name in engine.sensors.names]
        assert shown[i] == pytest.approx(expected, rel=1e-12)
    assert not np.allclose(shown[0], shown[1])
    assert is_stepped_by_mujoco(engine)
    assert is_stepped_by_mujoco(engine.environment(1))


def test_another_engine_is_asked_sensor_by_sensor() -> None:
    engine = open_engine("gripper", "motrix")
    assert not is_stepped_by_mujoco(engine)
    engine.step(500)
    expected = [engine.get_contact_force_magnitude(name)[0] for name in engine.sensors.names]
    assert SensorForces(engine).read() == pytest.approx(expected)
    assert max(expected) > 1.0
