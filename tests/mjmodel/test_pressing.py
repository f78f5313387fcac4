"""Who presses on whom, what touches at the start, and what a <touch> sensor leaves out, against MuJoCo and physics."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.pressing import (
    PressingPair,
    describe_passed_load,
    describe_relation,
    find_pressing_pairs,
    find_start_touches,
    measure_passed_load,
)

ARM = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="table" pos="1 0 .1"><geom type="box" size=".1 .1 .1"/></body>
    <body name="base" pos="0 0 .1"><geom type="box" size=".1 .1 .1"/>
      <body name="mount"><geom type="sphere" size=".01" contype="0" conaffinity="0"/>
        <body name="link" pos="0 0 .09"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".05"/>
          <body name="tip" pos="0 0 .3"><joint axis="0 1 0"/><geom type="box" size=".05 .05 .05"/></body></body></body>
    </body>
    <body name="crate" pos="1 0 .298"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <keyframe><key name="high" qpos="0 0 1 0 2 1 0 0 0"/></keyframe>
</mujoco>"""
FOOT = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="foot" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/>
      <site name="sole" type="box" size=".2 .2 .1"/>
      <body name="toe" pos=".1 0 0"><geom type="box" size=".05 .05 .05" mass="1"/></body>
    </body>
  </worldbody>
  <sensor><touch name="touch" site="sole"/></sensor>
</mujoco>"""


def by_names(pairs: list[PressingPair]) -> dict[tuple[str, str], PressingPair]:
    return {pair.names: pair for pair in pairs}


def test_a_stack_presses_down_with_its_weight() -> None:
    engine = open_engine("stack")
    engine.step(1500)
    model, data = engine.model, engine.data
    pairs = by_names(find_pressing_pairs(model, data))
    above = ["base", "lower", "middle", "upper", "top"]
    for i, (lower, upper) in enumerate(zip(["table", *above], above, strict=False)):
        weight = sum(model.body(name).mass[0] for name in above[i:]) * 9.81
        assert pairs[lower, upper].force[2] == pytest.approx(weight, rel=0.02)
        assert pairs[lower, upper].pressure == pytest.approx(weight, rel=0.02)


def test_sums_are_those_of_mujocos_contact_forces() -> None:
    engine = open_engine("pile")
    model, data = engine.model, engine.data
    for _ in range(3):
        engine.step(200)
        expected: dict[tuple[int, int], list[float]] = {}
        for i, contact in enumerate(data.contact):
            wrench = np.zeros(6)
            first, second = model.geom_bodyid[contact.geom].tolist()
            mujoco.mj_contactForce(model, data, i, wrench)
            force = contact.frame.reshape(3, 3).T @ wrench[:3] * (1 if first < second else -1)
            sums = expected.setdefault((min(first, second), max(first, second)), [0.0] * 4)
            expected[min(first, second), max(first, second)] = np.add(sums, [*force, wrench[0]]).tolist()
        found = find_pressing_pairs(model, data)
        assert len(found) > 10
        for pair in found:
            np.testing.assert_allclose([*pair.force, pair.pressure], expected[pair.bodies], atol=1e-9)
        assert [pair.pressure for pair in found] == sorted((pair.pressure for pair in found), reverse=True)


def test_what_touches_at_the_start_is_listed_with_how_deep() -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    pairs = by_names(find_start_touches(model))
    assert set(pairs) == {("base", "link"), ("table", "crate")}
    assert pairs["table", "crate"].depth == pytest.approx(0.002)
    assert ("table", "crate") not in by_names(find_start_touches(model, "high"))


def test_a_base_without_a_joint_collides_with_its_child_and_that_is_said() -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    pairs = by_names(find_start_touches(model))
    said = describe_relation(model, pairs["base", "link"].bodies)
    assert said.startswith("base has no joint and so counts as part of the world")
    # With a joint MuJoCo leaves the pair out: the reason is the true one.
    jointed = ARM.replace('<body name="base" pos="0 0 .1">', '<body name="base" pos="0 0 .1"><joint type="slide"/>')
    jointed = jointed.replace('qpos="', 'qpos="0 ')
    assert ("base", "link") not in by_names(find_start_touches(mujoco.MjModel.from_xml_string(jointed)))
    # A crate on a table, and a link of the arm that touches the table, are no parent and child.
    ids = {name: model.body(name).id for name in ("table", "crate", "link", "base", "tip")}
    for pair in (("table", "crate"), ("table", "link"), ("base", "crate")):
        assert describe_relation(model, (ids[pair[0]], ids[pair[1]])) == ""
    assert describe_relation(model, (ids["base"], ids["tip"])) == ""


def test_the_load_that_a_touch_sensor_does_not_feel() -> None:
    """Two blocks of 1 kg on the floor, the second one on a body below that of the sensor: half of the load."""
    model = mujoco.MjModel.from_xml_string(FOOT)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    foot = model.body("foot").id
    load = measure_passed_load(model, data, foot)
    assert load.own == pytest.approx(data.sensordata[0])
    assert load.own + load.passed == pytest.approx(2 * 9.81, rel=1e-3)
    assert load.share == pytest.approx(0.5, abs=0.05)
    said = describe_passed_load(model, foot, load)
    assert said is not None
    assert "of the load" in said
    line = said[said.index("<contact") : said.index("/>") + 2]
    # The line that is offered sees all of it.
    seeing = mujoco.MjModel.from_xml_string(FOOT.replace("</sensor>", line + "</sensor>"))
    data = mujoco.MjData(seeing)
    mujoco.mj_step(seeing, data, 500)
    assert np.linalg.norm(data.sensordata[2:5]) == pytest.approx(2 * 9.81, rel=1e-3)


def test_a_touch_sensor_without_bodies_below_it_misses_nothing() -> None:
    model = mujoco.MjModel.from_xml_string(FOOT)
    assert describe_passed_load(model, model.body("toe").id) is None
