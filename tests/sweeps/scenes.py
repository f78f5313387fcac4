"""Scenes whose contacts are known by formula, and logs of runs that were taken by MuJoCo alone."""

from pathlib import Path

import mujoco
import numpy as np
from contact_viewer.scene_files.scene import find_scene

SLIDE = """<mujoco>
  <option timestep="0.001" cone="elliptic" impratio="100" gravity="5 0 -8"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 0.05"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.05" mass="2"/></body>
  </worldbody>
  <contact>
    <pair geom1="floor" geom2="box" condim="3" friction="0.4 0.4 0 0 0" solreffriction="1 1" solimp="0.5 0.9 0.004"/>
  </contact>
  <sensor><contact name="box" geom1="floor" geom2="box" data="found" num="4"/></sensor>
</mujoco>"""
"""A box on a slope: a floor with tilted gravity. Weak damping of the tangential motion keeps the box from hopping."""

BALL = """<mujoco>
  <option timestep="0.0005"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" solref="-200000 0" solimp="0.99 0.99 0.001"/>
    <body name="ball" pos="0 0 0.55">
      <freejoint/><geom name="ball" type="sphere" size="0.05" mass="0.5" solref="-200000 0" solimp="0.99 0.99 0.001"/>
    </body>
  </worldbody>
  <sensor><contact name="ball" geom1="floor" geom2="ball" data="found force" num="1"/></sensor>
</mujoco>"""
"""A ball that loses nothing when it bounces, from half a metre above the floor."""


def write_log(path: Path, runs: int, steps: int) -> None:
    """Log some runs of the bundled slope, each pushed by what numpy draws from its number."""
    model = mujoco.MjModel.from_xml_path(str(find_scene("slope")))
    states = []
    for run in range(runs):
        data = mujoco.MjData(model)
        data.qvel[1:3] = np.random.default_rng(run).normal(size=2)
        rows = [np.concatenate([[data.time], data.qpos, data.qvel])]
        for _ in range(steps):
            mujoco.mj_step(model, data)
            rows.append(np.concatenate([[data.time], data.qpos, data.qvel]))
        states.append(rows)
    np.savez(path, state=np.array(states))
