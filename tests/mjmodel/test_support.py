"""Support polygon and centre of pressure, against the statics of what stands, leans and hangs."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.support import convex_hull, distance_inside, heaviest_root, measure_support

TABLE = """
<mujoco>
  <option gravity="{gravity}"/>
  <worldbody>
    <geom type="plane" size="9 9 .1" friction="2" zaxis="{up}"/>
    <body name="light" pos="3 0 3"><freejoint/><geom size=".01"/></body>
    <body name="table" pos="0 0 .1" {turn}><freejoint/>
      <geom type="box" size=".5 .3 .1" mass="4"/>
      <body name="load" pos="{load} 0 .2"><geom type="box" size=".05 .05 .05" mass="6"/></body></body>
  </worldbody>
</mujoco>"""


def standing(
    load: float = 0.2, gravity: str = "0 0 -9.81", up: str = "0 0 1", turn: str = ""
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(TABLE.format(load=load, gravity=gravity, up=up, turn=turn))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 600)
    return model, data


def test_the_centre_of_pressure_of_what_stands_is_below_its_centre_of_mass() -> None:
    model, data = standing()
    root = heaviest_root(model)
    assert root == model.body("table").id
    support = measure_support(model, data, model.body("load").id)
    assert support is not None
    assert support.body == root
    assert support.force == pytest.approx(10 * 9.81, rel=1e-3)
    np.testing.assert_allclose(support.center[:2], [0.12, 0], atol=2e-3)
    np.testing.assert_allclose(support.pressure[:2], support.center[:2], atol=2e-3)
    np.testing.assert_allclose(support.below[:2], support.center[:2], atol=1e-9)
    assert support.below[2] == pytest.approx(support.pressure[2])
    # The load is 0.3 m from the long sides' edge, and 0.38 from the short one.
    assert support.margin == pytest.approx(0.3, abs=2e-3)
    np.testing.assert_allclose(np.ptp(support.polygon[:, :2], axis=0), [1, 0.6], atol=2e-3)


def test_gravity_may_point_anywhere() -> None:
    model, data = standing(gravity="-9.81 0 0", up="1 0 0", turn='euler="0 90 0"')
    support = measure_support(model, data, model.body("table").id)
    assert support is not None
    assert support.below[0] == pytest.approx(support.pressure[0])
    np.testing.assert_allclose(support.below[1:], support.center[1:], atol=1e-9)


def test_a_centre_of_mass_beside_the_support_is_outside() -> None:
    model = mujoco.MjModel.from_xml_string(TABLE.format(load=0.9, gravity="0 0 -9.81", up="0 0 1", turn=""))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    data.qpos[9] -= 0.001
    mujoco.mj_forward(model, data)
    support = measure_support(model, data, model.body("table").id)
    assert support is not None
    # 0.54 m from the middle: what is pressed already is the edge at 0.5.
    assert support.margin < 0
    assert abs(support.margin) >= 0.04 - 1e-3


def test_what_falls_has_no_support() -> None:
    model, data = standing()
    data.qpos[9] = 5
    mujoco.mj_forward(model, data)
    assert measure_support(model, data, model.body("table").id) is None


def test_hulls_and_distances_are_those_of_brute_force() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        points = random.normal(size=(int(random.integers(3, 20)), 2))
        corners = convex_hull(points)
        for point in [*points, *random.normal(size=(5, 2), scale=2)]:
            angles = np.linspace(0, 2 * np.pi, 3600)
            directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            # The distance to the farthest supporting line is negative inside, and the distance outside.
            gaps = (directions @ point) - (points @ directions.T).max(axis=0)
            assert distance_inside(corners, point) == pytest.approx(-gaps.max(), abs=5e-3)
    assert np.isnan(distance_inside(convex_hull(np.array([[0.0, 0], [1, 1], [2, 2]])), np.zeros(2)))


def test_what_fingers_hold_does_not_stand() -> None:
    """The block between two fingers has contacts that lift it, and no ground below it."""
    engine = open_engine("gripper")
    engine.step(2000)
    model, data = engine.model, engine.data
    assert data.ncon >= 4
    assert measure_support(model, data, model.body("block").id) is None
