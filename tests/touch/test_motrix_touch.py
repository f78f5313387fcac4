"""Touch sensors on MotrixSim, against the weight of what stands on them and the same device on MuJoCo."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.motrix.sensor_reader import MotrixForces
from contact_viewer.touch.touch_sensors import TouchSensors

ROBOT = """<mujoco>
  <option timestep="0.002"/>
  <custom>
    <text name="touch:device" data="type=force site=sole"/>
    <text name="touch:newtons" data="type=force site=sole table=''"/>
    <text name="touch:coarse" data="type=force site=sole table='' resolution=5"/>
    <text name="touch:vector" data="type=force-3d site=sole table=''"/>
    <text name="touch:aloft" data="type=force body=foot table=''"/>
    <text name="touch:bumper" data="type=bumper site=sole"/>
    <text name="touch:mount" data="type=force site=sole measure=mount"/>
    <text name="touch:world" data="type=force body=world"/>
  </custom>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="robot" pos="0 0 {height}">
      <freejoint name="robot"/>
      <geom name="trunk" type="box" size="0.1 0.1 0.1" pos="0 0 0.12" mass="4" contype="0" conaffinity="0"/>
      <body name="foot">
        <geom name="foot" type="box" size="0.1 0.1 0.02" mass="1"/>
        <site name="sole" type="box" size="0.11 0.11 0.01" pos="0 0 -0.02" xyaxes="0 0 -1 0 1 0"/>
      </body>
    </body>
  </worldbody>
  <sensor><touch name="own" site="sole"/></sensor>
</mujoco>"""


def touch_sensors(engine: Any) -> TouchSensors:
    forces = MotrixForces(engine._motrix, engine._links, lambda: engine._state, engine.num_envs)
    return TouchSensors(engine, forces)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(height=0.1))
    return path


@pytest.mark.parametrize("num_envs", [1, 3])
def test_a_robot_of_5_kg_on_one_foot(scene: Path, num_envs: int) -> None:
    engine = open_engine(scene, engine="motrix", num_envs=num_envs)
    touch = touch_sensors(engine)
    for _ in range(30):
        engine.step()
        touch.after_step(engine)
    assert touch.value("newtons") == touch.value("bumper") == [0]
    for _ in range(970):
        engine.step()
        touch.after_step(engine)
    expected = {
        "device": [490.5],
        "newtons": [49.05],
        "coarse": [50],
        "vector": [-49.05, 0, 0],
        "aloft": [0],
        "bumper": [1],
    }
    assert [sensor.name for sensor in touch] == list(expected)
    for name, value in expected.items():
        assert touch.value(name) == pytest.approx(value, rel=1e-3, abs=0.05)
    assert touch.problems == [
        "robot.xml:10: touch:mount: measure mount is known on MuJoCo only",
        "robot.xml:11: touch:world: MotrixSim does not report the forces on this body",
        "own: MuJoCo's own touch sensors are read with MuJoCo only",
    ]
    engine.reset()
    touch.after_reset(engine)
    assert np.isnan(touch.value("newtons")).all()


def test_both_engines_report_alike(scene: Path) -> None:
    engines: list[Any] = [open_engine(scene), open_engine(scene, engine="motrix")]
    devices = [TouchSensors(engines[0]), touch_sensors(engines[1])]
    for engine, touch in zip(engines, devices, strict=True):
        for _ in range(1000):
            engine.step()
            touch.after_step(engine)
    for name in ("device", "newtons", "coarse", "vector", "aloft", "bumper"):
        mujoco_value, motrix_value = (touch.value(name) for touch in devices)
        assert motrix_value == pytest.approx(mujoco_value, rel=1e-3, abs=0.05)
    times = [touch["newtons"].history.times for touch in devices]
    assert times[0] == pytest.approx(times[1])
