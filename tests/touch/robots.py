"""A robot that stands on its one foot, with the touch sensors that a test asks for."""

import math
from collections.abc import Callable
from pathlib import Path

from contact_viewer.engines.contract import Engine
from contact_viewer.touch.touch_sensors import TouchSensors

DOWN, SLANTED, ALOFT, AHEAD = "0 0 -1 0 1 0", f"{math.sqrt(3) / 2} 0 -0.5 0 1 0", "0 0 1 0 1 0", "1 0 0 0 1 0"
ROBOT = """<mujoco>
  <option timestep="0.002"/>
  <custom>
    {entries}
  </custom>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="robot" pos="0 0 {height}">
      <freejoint name="robot"/>
      <geom name="trunk" type="box" size="0.1 0.1 0.1" pos="0 0 0.12" mass="{trunk}" contype="0" conaffinity="0"/>
      <body name="foot">
        <geom name="foot" type="box" size="0.1 0.1 0.02" mass="{foot}"/>
        <site name="sole" type="box" size="0.11 0.11 0.01" pos="0 0 -0.02"/>
        <site name="down" xyaxes="{down}"/>
        <site name="slanted" xyaxes="{slanted}"/>
        <site name="aloft" xyaxes="{aloft}"/>
        <site name="ahead" xyaxes="{ahead}"/>
      </body>
    </body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""
Write = Callable[..., Path]


def write_robot(
    path: Path, *entries: str, height: float = 0.02, trunk: float = 4, foot: float = 1, sensors: str = ""
) -> Path:
    """A scene whose touch sensors are named 0, 1, ...; masses in kilograms."""
    named = [f'<text name="touch:{i}" data="{entry}"/>' for i, entry in enumerate(entries)]
    fields = {"down": DOWN, "slanted": SLANTED, "aloft": ALOFT, "ahead": AHEAD, "sensors": sensors}
    path.write_text(ROBOT.format(entries="\n    ".join(named), height=height, trunk=trunk, foot=foot, **fields))
    return path


def run(engine: Engine, touch: TouchSensors, seconds: float) -> None:
    for _ in range(round(seconds / engine.timestep)):
        engine.step()
        touch.after_step(engine)
