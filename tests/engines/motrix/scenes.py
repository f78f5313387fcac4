"""A scene for the MotrixSim engine, with sensors to choose."""

from pathlib import Path

BOX = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="1.5"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
    <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
  <sensor>{sensors}</sensor>
  <keyframe>
    <key name="high" time="2" qpos="0 0 1 1 0 0 0 .5" ctrl=".7"/><key qpos="0 0 2 1 0 0 0 0"/>
  </keyframe>
</mujoco>"""


def write_scene(folder: Path, sensors: str, text: str = BOX) -> Path:
    path = folder / "scene.xml"
    path.write_text(text.format(sensors=sensors))
    return path
