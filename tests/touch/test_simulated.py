"""Touch sensors fed by MuJoCo's own sensors, against the weight of what stands on them."""

import math

import mujoco
import numpy as np
import pytest
from contact_viewer.touch.device import Measure, TouchSensor
from numpy.typing import NDArray

from .devices import TYPES, changes, read, sensor

ROBOT = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" pos="0 0 0.12" mass="4" contype="0" conaffinity="0"/>
      <body name="sensor">
        <geom type="box" size="0.1 0.1 0.02" mass="1" contype="{collide}" conaffinity="0"/>
        <site name="sensor" xyaxes="{xyaxes}"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <contact body2="sensor" data="found force" reduce="netforce"/>
    <force site="sensor"/>
  </sensor>
</mujoco>
"""
BOXES = ROBOT.replace('mass="4"', 'mass="100"').replace('mass="1"', 'mass="100"')


def settle(xml: str, device: TouchSensor, until: float = 3.0) -> NDArray[np.float64]:
    """Run a scene up to `until` [s], feeding the device after every step; what it reports at the end.

    MuJoCo's force sensor reports what the parent does to the sensor: the opposite of what is passed on.
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    while data.time < until:
        mujoco.mj_step(model, data)
        rotation = data.site("sensor").xmat.reshape(3, 3)
        found, force = data.sensordata[0], data.sensordata[1:4]
        if device.measure is Measure.MOUNT:
            force = -rotation @ data.sensordata[4:7]
        device.update(data.time, force=force, rotation=rotation, found=found)
    return read(device)


DOWN, SLANTED, ALOFT = "0 0 -1 0 1 0", f"{math.sqrt(3) / 2} 0 -0.5 0 1 0", "0 0 1 0 1 0"
EMPTY: dict[str, object] = {"lookup_table": []}


@pytest.mark.parametrize(
    ("type", "settings", "xyaxes", "expected"),
    [
        ("bumper", {}, DOWN, [1]),
        ("force", {}, DOWN, [490.5]),
        ("force", EMPTY, DOWN, [49.05]),
        ("force", {**EMPTY, "resolution": 5}, DOWN, [50]),
        ("force", EMPTY, SLANTED, [49.05 / 2]),
        ("force", EMPTY, ALOFT, [0]),
        ("force-3d", EMPTY, DOWN, [-49.05, 0, 0]),
        ("force", {**EMPTY, "measure": "mount"}, DOWN, [39.24]),
        ("force-3d", {**EMPTY, "measure": "mount"}, DOWN, [-39.24, 0, 0]),
    ],
)
def test_mujoco_robot_on_one_foot(type: str, settings: dict[str, object], xyaxes: str, expected: list[float]) -> None:
    report = settle(ROBOT.format(collide="1", xyaxes=xyaxes, height=0.02), sensor(type, **settings))
    assert report == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("measure", "expected"), [("mount", 981), ("contact", 1962)])
def test_mujoco_two_boxes(measure: str, expected: float) -> None:
    xml = BOXES.format(collide="1", xyaxes=DOWN, height=0.5)
    assert settle(xml, sensor("force", lookup_table=[], measure=measure), until=0.2) == pytest.approx([0], abs=1e-6)
    assert settle(xml, sensor("force", lookup_table=[], measure=measure)) == pytest.approx([expected], abs=1)


def test_mujoco_samples_every_10_ms() -> None:
    model = mujoco.MjModel.from_xml_string(ROBOT.format(collide="1", xyaxes=DOWN, height=0.02))
    data = mujoco.MjData(model)
    times = [data.time]
    for _ in range(2500):
        mujoco.mj_step(model, data)
        times.append(data.time)
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    assert [time for time, _ in changes(device, times)] == pytest.approx(0.01 * np.arange(1, 501))


@pytest.mark.parametrize("type", TYPES)
def test_types_bounding_object_is_required(type: str) -> None:
    reports = [
        settle(ROBOT.format(collide=collide, xyaxes=DOWN, height=0.02), sensor(type), until=0.1) for collide in (0, 1)
    ]
    assert [report.any() for report in reports] == [False, True]
