"""Boxes on a floor under sideways gravity: arrays of real sensors, and what physics says of them."""

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from contact_viewer import ContactLayout, open_engine

REDUCES = ("none", "mindist", "maxforce", "netforce")
FIELDS = "found force torque dist pos normal tangent linvel angvel"
GRAVITY = np.array([1.3, -2.1, -9.81])
MASS = 2.0
SCENE = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81" timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="1.5"/>
    <body name="box" pos="0 0 .15"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="{first}" geom2="{second}" data="{data}" num="8" reduce="{reduce}"/></sensor>
</mujoco>"""


class Recorded(NamedTuple):
    """A sensor over time."""

    layout: ContactLayout
    arrays: np.ndarray
    """(steps, size)."""
    net: np.ndarray
    """Force on object 2 that the engine applied in each step [N], world, (steps, 3)."""


def contact_force(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Sum of all contact forces on the box, by `mj_contactForce`."""
    total, wrench = np.zeros(3), np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        world = data.contact[i].frame.reshape(3, 3).T @ wrench[:3]
        total += world if model.geom(int(data.contact[i].geom[1])).name == "box" else -world
    return total


@cache
def falling_box(reduce: str, first: str = "floor", second: str = "box") -> Recorded:
    """MuJoCo's arrays while the box falls, lands and comes to rest."""
    fields = FIELDS.removesuffix(" linvel angvel") if reduce == "netforce" else FIELDS
    model = mujoco.MjModel.from_xml_string(SCENE.format(first=first, second=second, data=fields, reduce=reduce))
    data = mujoco.MjData(model)
    arrays, net = [], []
    for _ in range(300):
        mujoco.mj_step(model, data)
        arrays.append(data.sensordata.copy())
        net.append(contact_force(model, data) * (1 if second == "box" else -1))
    # Every slot is empty in some steps and some are filled in others.
    return Recorded(ContactLayout(fields, 8, reduce), np.array(arrays), np.array(net))


@cache
def motrix_arrays() -> dict[tuple[str, str], Recorded]:
    """MotrixSim's own arrays of the box at rest, by reduce mode and the geom that is object 2."""
    fields = FIELDS.removesuffix(" linvel angvel")
    sensors = "".join(
        f'<contact name="{reduce} {second}" geom1="{first}" geom2="{second}" data="{fields}" num="8" '
        f'reduce="{reduce}"/>'
        for reduce in REDUCES
        for first, second in (("floor", "box"), ("box", "floor"))
    )
    scene = SCENE.partition("<sensor>")[0] + f"<sensor>{sensors}</sensor></mujoco>"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "box.xml"
        path.write_text(scene)
        engine = open_engine(path, "motrix")
    engine.step(1000)
    recorded = {}
    for sensor in engine.sensors:
        reduce, second = sensor.name.split()
        weight = -MASS * GRAVITY * (1 if second == "box" else -1)
        recorded[reduce, second] = Recorded(sensor.layout, engine.array(sensor.name), weight)
    return recorded
