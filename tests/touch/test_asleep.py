"""Touch sensors on what sleeps: MuJoCo lists none of its contacts, though it lies there as before."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.session.simulation import Simulation

pytestmark = pytest.mark.skipif(
    not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"), reason="in this MuJoCo nothing sleeps"
)

SCENE = """
<mujoco>
  <option><flag sleep="enable"/></option>
  <custom>
    <text name="touch:bumper" data="body=box period=2"/>
    <text name="touch:weight" data="type=force site=under table='' period=2"/>
    <text name="touch:button" data="body=button period=2"/>
  </custom>
  <worldbody>
    <body name="button"><geom type="box" size=".2 .2 .05" pos="0 0 -.05"/></body>
    <body name="box" pos="0 0 .05"><freejoint/><site name="under" euler="0 90 0"/>
      <geom type="box" size=".05 .05 .05" mass="1"/></body>
  </worldbody>
</mujoco>"""


def test_a_box_that_fell_asleep_is_still_felt_and_no_longer_once_it_is_lifted(tmp_path: Path) -> None:
    path = tmp_path / "sleep.xml"
    path.write_text(SCENE)
    engine = open_engine(path)
    simulation = Simulation(engine, history_bytes=2**22)

    def felt() -> list[float]:
        return [engine.touch(name).get_value() for name in ("bumper", "weight", "button")]

    simulation.step(300)
    assert engine.data.ncon == 0
    assert felt() == pytest.approx([1, 9.81, 1], rel=0.02)
    assert engine.touch_sensors["bumper"].found == 4
    # Back in the past, and on from there, it sleeps as before.
    simulation.go_to(250)
    assert felt() == pytest.approx([1, 9.81, 1], rel=0.02)
    simulation.step(20)
    assert engine.data.ncon == 0
    assert engine.touch_sensors["bumper"].found == 4
    assert felt() == pytest.approx([1, 9.81, 1], rel=0.02)
    engine.data.qpos[2] += 0.2
    engine.data.qvel[:] = 0.1
    simulation.step(3)
    np.testing.assert_allclose(felt(), [0, 0, 0], atol=1e-9)
