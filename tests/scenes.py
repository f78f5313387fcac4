"""Small scenes that several test modules share."""

from pathlib import Path

ARM = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="arm" pos="0 0 .3">
      <joint name="shoulder" axis="0 1 0" damping=".5"/>
      <geom name="arm" type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
    </body>
  </worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="30" ctrlrange="-1 1.5"/></actuator>
  <sensor><contact name="touch" geom1="floor" geom2="arm" data="found force"/></sensor>
</mujoco>"""
"""An arm on a servo above a floor."""
ROBOT = """
<mujoco>
  <option timestep=".002" {option}><flag {flag}/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="robot" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .1 .05"/>
      <body pos=".2 0 0"><joint name="hip" axis="0 1 0" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"/></body>
      <body pos="-.2 0 0"><joint name="knee" axis="0 1 0" damping=".2"/>
        <geom type="capsule" fromto="0 0 0 -.2 0 -.1" size=".03"/></body>
    </body>
    <body name="crate" pos=".4 .5 .3"><freejoint/><geom name="crate" type="box" size=".1 .1 .1"/></body>
    <body pos=".4 .52 .6" euler="10 20 30"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body pos=".42 .52 .9"><freejoint/><geom size=".1"/></body>
    <body name="paddle" mocap="true" pos=".3 -.2 .09"><geom type="box" size=".1 .02 .1"/></body>
  </worldbody>
  <actuator>
    <position joint="hip" kp="20" {actuator}/>
    <general joint="knee" dyntype="filter" dynprm=".1" gainprm="5"/>
  </actuator>
  <sensor>
    <contact name="robot" body1="robot" num="8" data="found force pos" {sensor}/>
    <contact name="floor" geom1="floor" num="12" data="found"/>
  </sensor>
</mujoco>"""
"""A robot with a servo and a muscle-like drive beside a heap, with room for options: see `str.format`."""
PILLAR = """
<mujoco>
  <option timestep="0.002" gravity="0 0 -{gravity}"/>
  <statistic extent="{extent}" meansize="{extent}"/>
  <visual>
    <global azimuth="90" elevation="-20"/>
    <headlight ambient="0.7 0.7 0.7" diffuse="0 0 0" specular="0 0 0"/>
    <rgba haze="0.5 0.5 0.5 1"/>
  </visual>
  <worldbody>
    <geom name="floor" type="plane" size="{floor} {floor} 1" rgba="0.5 0.5 0.5 1"/>
    <body name="ball" pos="0 0 {radius}">
      <freejoint/><geom name="ball" size="{radius}" mass="{mass}" rgba="0.5 0.5 0.5 0.3"/>
    </body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="ball" data="found force" num="4"/></sensor>
</mujoco>
"""
"""A ball at rest on a floor, grey and translucent: one green arrow upright, one white sphere."""


def write_many_sensors(path: Path, count: int) -> Path:
    """Nine boxes on a floor, each with a sensor, and many sensors of pairs of boxes that never touch."""
    boxes = "".join(
        f'<body pos="{i % 3} {i // 3} .0999"><freejoint/><geom name="b{i}" type="box" size=".1 .1 .1"/></body>'
        for i in range(9)
    )
    sensors = "".join(
        f'<contact name="s{i}" geom1="{"floor" if i < 9 else f"b{(i + 1) % 9}"}" geom2="b{i % 9}" num="4"/>'
        for i in range(count)
    )
    floor = '<geom name="floor" type="plane" size="5 5 .1"/>'
    path.write_text(f"<mujoco><worldbody>{floor}{boxes}</worldbody><sensor>{sensors}</sensor></mujoco>")
    return path
