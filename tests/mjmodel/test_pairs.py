"""Which geoms collide and how they rub, against the contacts that MuJoCo makes."""

import mujoco
import numpy as np
import pytest
from contact_viewer.mjmodel.friction import contact_friction, model_cone
from contact_viewer.mjmodel.matching import ContactMatcher, pressing_force, rebuild_contacts
from contact_viewer.mjmodel.pairs import Obstacle, find_obstacles, pair_friction, sensor_friction, sensor_pairs
from contact_viewer.sensors.friction import Cone
from contact_viewer.settings import Reduce

# Everything overlaps everything, so that whatever can collide does.
HEAP = """
<mujoco>
  <option><flag filterparent="{filterparent}"/></option>
  <asset><hfield name="hills" nrow="3" ncol="3" size=".3 .3 .3 .3" elevation="1 1 1 1 1 1 1 1 1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/><geom name="wall" type="plane" size="1 1 .1"/>
    <geom name="rock" size=".3"/>
    <body name="pillar"><geom name="pillar" size=".3" friction=".2"/><geom name="top" size=".3"/></body>
    <body name="hand" mocap="true"><geom name="hand" size=".3"/>
      <body><geom name="finger" size=".3"/></body></body>
    <body name="robot"><freejoint/>
      <geom name="trunk" size=".3" friction=".7 .1 .01" condim="4"/>
      <geom name="shell" size=".3" contype="2" conaffinity="0"/>
      <body name="thigh"><joint/><geom name="thigh" size=".3"/>
        <body name="shin"><joint/><geom name="shin" size=".3" condim="6"/>
          <body name="pad"><geom name="pad" size=".3"/>
            <body name="toe"><joint/><geom name="toe" size=".3"/></body></body></body></body>
    </body>
    <body name="ice"><freejoint/><geom name="ice" size=".3" priority="2" friction=".1" condim="1"/></body>
    <body name="ghost"><joint/><geom name="ghost" size=".3" contype="0" conaffinity="2"/></body>
    <body name="land"><joint/><geom name="land" type="hfield" hfield="hills"/></body>
  </worldbody>
  <contact>
    <exclude body1="ice" body2="robot"/><exclude body1="world" body2="toe"/>
    <pair geom1="trunk" geom2="thigh" friction="1 2 3 4 5" condim="3"/><pair geom1="ice" geom2="trunk"/>
    <pair geom1="floor" geom2="wall"/><pair geom1="rock" geom2="pillar"/><pair geom1="trunk" geom2="shell" condim="6"/>
  </contact>
  <sensor>
    <contact name="robot" subtree1="robot" subtree2="robot" num="50"/>
    <contact name="floor" geom1="floor" subtree2="robot" num="50"/>
    <contact name="ice" body1="ice" num="50"/>
    <contact name="pair" geom1="thigh" geom2="trunk"/>
    <contact name="mixed" geom1="rock" subtree2="robot"/>
  </sensor>
</mujoco>"""


def heap(filterparent: str = "enable") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(HEAP.format(filterparent=filterparent))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("filterparent", ["enable", "disable"])
def test_possible_pairs_are_those_that_collide(filterparent: str) -> None:
    model, data = heap(filterparent)
    touching = {frozenset(map(int, geoms)) for geoms in data.contact.geom}
    pairs = sensor_pairs(model, None)
    assert {frozenset(map(int, geoms)) for geoms in pairs.possible} == touching
    assert len(touching) > 50
    assert len(pairs.geoms) == model.ngeom * (model.ngeom - 1) // 2
    # All obstacles are there to be distinguished.
    expected = set(Obstacle) - ({Obstacle.PARENT} if filterparent == "disable" else set())
    assert set(map(Obstacle, pairs.obstacles.tolist())) == expected


@pytest.mark.parametrize("sensor", range(3))
def test_a_sensors_pairs_are_those_it_reports(sensor: int) -> None:
    model, data = heap()
    slots = int(model.sensor_intprm[sensor, 2])
    reported = data.sensordata[model.sensor_adr[sensor] :][:slots]
    assert 0 < reported[0] <= slots
    contacts = {frozenset(map(int, geoms)) for geoms in data.contact.geom}
    touching = [pair for pair in sensor_pairs(model, sensor).possible if frozenset(map(int, pair)) in contacts]
    count = sum(
        1 for geoms in data.contact.geom if any(set(map(int, geoms)) == set(map(int, pair)) for pair in touching)
    )
    assert count == reported[0]


def test_friction_is_that_of_the_contacts() -> None:
    model, data = heap()
    everything = np.arange(data.ncon)
    np.testing.assert_array_equal(pair_friction(model, data.contact.geom), contact_friction(data, everything))
    frictions = {tuple(row) for row in contact_friction(data, everything)}
    assert (1, 2, 0, 0, 0) in frictions
    assert (0, 0, 0, 0, 0) in frictions
    assert any(row[2] and not row[3] for row in frictions)


def test_a_sensor_has_one_friction_or_none() -> None:
    model, _ = heap()
    unknown = [np.nan, np.nan]
    np.testing.assert_array_equal(sensor_friction(model, [3, 2, 4]), [[1, 2], unknown, [1, 1]])
    assert np.isnan(sensor_friction(model, [2], limit=1)).all()
    assert sensor_friction(model, []).shape == (0, 2)


def test_the_name_of_an_obstacle_is_the_first_filter() -> None:
    model, _ = heap()

    def obstacle(one: str, other: str) -> Obstacle:
        pair = np.array([[model.geom(one).id, model.geom(other).id]])
        assert find_obstacles(model, pair) == find_obstacles(model, pair[:, ::-1])
        return Obstacle(int(find_obstacles(model, pair)[0]))

    assert obstacle("shin", "pad") is Obstacle.WELDED
    assert obstacle("rock", "floor") is Obstacle.SAME_BODY
    assert obstacle("floor", "top") is Obstacle.UNMOVED
    assert obstacle("hand", "floor") is Obstacle.UNMOVED
    assert obstacle("thigh", "pad") is Obstacle.PARENT
    assert obstacle("trunk", "shin") is Obstacle.NONE
    assert obstacle("toe", "rock") is Obstacle.EXCLUDE
    assert obstacle("ghost", "thigh") is Obstacle.BITMASK
    assert obstacle("ghost", "shell") is Obstacle.NONE
    assert obstacle("land", "floor") is Obstacle.NO_FUNCTION


@pytest.mark.parametrize("cone", Cone)
def test_the_cone_is_the_models(cone: Cone) -> None:
    assert model_cone(mujoco.MjModel.from_xml_string(f'<mujoco><option cone="{cone}"/></mujoco>')) is cone


@pytest.mark.parametrize("reduce", Reduce)
@pytest.mark.parametrize("slots", [1, 2, 60])
def test_how_hard_a_sensor_is_pressed_is_what_its_contacts_say(reduce: Reduce, slots: int) -> None:
    model, data = heap()
    pressed = 0
    for sensor in (None, *range(model.nsensor)):
        matches = ContactMatcher(model, sensor).match(data)
        for part in (matches, matches.take(slice(1)), matches.take(slice(0))):
            force = pressing_force(model, data, part, reduce, slots)
            expected = rebuild_contacts(model, data, part, reduce, slots).force_magnitude(reduce)
            assert expected is not None
            assert force == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
            pressed += force > 1
    assert pressed > 5
