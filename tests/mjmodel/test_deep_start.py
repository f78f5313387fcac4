"""Scenes that start with bodies inside each other, and the keyframes that do not."""

import mujoco
import pytest
from contact_viewer.mjmodel.deep_start import find_deep_start

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body pos="0 0 {height}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
  <keyframe>
    <key name="worse" qpos="0 0 .04 1 0 0 0"/>
    <key name="above" qpos="0 0 .5 1 0 0 0"/>
    <key name="resting" qpos="0 0 .0999 1 0 0 0"/>
  </keyframe>
</mujoco>"""


@pytest.mark.parametrize(("height", "is_deep"), [(0.5, False), (0.0999, False), (0.06, True)])
def test_a_start_is_deep_where_bodies_are_inside_each_other(height: float, is_deep: bool) -> None:
    model = mujoco.MjModel.from_xml_string(XML.format(height=height))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = find_deep_start(model, data)
    assert (found is not None) is is_deep
    if found is not None:
        assert found.depth == pytest.approx(0.04, abs=1e-6)
        # Each keyframe was tried.
        assert found.keys == ("above", "resting")
        assert "40 mm" in found.text
