"""Distances, velocities and forces of pairs against MuJoCo's own functions, asked of every pair at every step."""

import math
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.contact_events import ContactEvent, ContactEvents, EventRule
from contact_viewer.events.pair_contacts import PairContacts
from contact_viewer.mjmodel.contact_list import ContactList
from contact_viewer.mjmodel.distances import FARTHEST, PairDistances, distance_bounds
from contact_viewer.mjmodel.pair_selection import PairSelection, PairSource, all_pairs, named_pairs
from numpy.typing import NDArray

EPS = 1e-8
TUMBLING = """
<mujoco>
  <option gravity="0 0 0"/>
  <asset><mesh name="m" vertex=".1 0 0 -.1 0 0 0 .1 0 0 -.1 0 0 0 .1 0 0 -.07"/></asset>
  <worldbody>
    <body name="a"><freejoint/><geom name="a" {a} mass="1"/></body>
    <body name="b">
      <freejoint/>
      <geom name="far" size=".01" pos=".3 0 0" mass="2" contype="0" conaffinity="0"/>
      <body name="c" pos="0 0 .05"><joint axis="0 1 0"/><geom name="c" {b} mass="1"/></body>
    </body>
  </worldbody>
</mujoco>
"""
SHAPES = ('size=".1"', 'type="capsule" size=".05 .1"', 'type="box" size=".1 .07 .05"', 'type="mesh" mesh="m"')


def measure(model: Any, data: Any, geoms: NDArray[Any]) -> list[float]:
    """Distances of all pairs, each asked for."""
    return [mujoco.mj_geomDistance(model, data, int(a), int(b), FARTHEST, None) for a, b in geoms]


def track(
    model: Any, data: Any, choice: PairSelection, steps: int, act: Callable[[int], None] = lambda step: None
) -> tuple[list[ContactEvent], list[ContactEvent], list[int]]:
    """Events as they are tracked, events by measuring every pair at every step, and how many were measured."""
    distances, events = PairDistances(model, choice, EPS), ContactEvents(choice.labels, EPS)
    brute = ContactEvents(choice.labels, EPS)
    found, expected, counts = [], [], []
    unknown = np.full(len(choice.labels), math.nan)
    for step in range(steps):
        act(step)
        start = data.time
        mujoco.mj_step(model, data)
        crossing = distances.update(data, start, events.in_contact)
        if math.isnan(events.time):
            events.update(*distances.start())
        elif crossing:
            found += events.update_pairs(start, distances.traces())
        distances.rest(events.in_contact)
        counts.append(len(distances._measured))
        expected += brute.update(start, measure(model, data, choice.geoms), unknown)
        assert np.array_equal(events.in_contact, brute.in_contact)
    return found, expected, counts


def same_events(found: list[ContactEvent], expected: list[ContactEvent], step: float) -> None:
    """The same pairs begin and end in the same steps."""
    assert sorted((e.pair_id, e.kind) for e in found) == sorted((e.pair_id, e.kind) for e in expected)
    for pair in {event.pair_id for event in expected}:
        ours, theirs = ([e for e in events if e.pair_id == pair] for events in (found, expected))
        assert [event.kind for event in ours] == [event.kind for event in theirs]
        assert all(abs(one.time - other.time) <= step for one, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("scene", "steps"),
    [("bounce", 800), ("targets", 600), ("stack", 300), ("rolling", 800), ("gripper", 1500), ("pile", 400)],
)
def test_no_event_is_missed_or_made_up(scene: str, steps: int) -> None:
    engine = open_engine(scene)
    model, data = engine.model, engine.data
    choice = all_pairs(model)
    found, expected, counts = track(model, data, choice, steps)
    same_events(found, expected, model.opt.timestep)
    assert len(expected) >= 2
    # All pairs at the start, then a small part of them.
    assert counts[0] == len(choice.labels)
    assert np.mean(counts[1:]) < 0.01 * len(choice.labels)


def ball(extra: str = "", body: str = "", option: str = "") -> Any:
    return mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <option timestep="0.002" {option}/>
          <worldbody>
            <geom name="floor" type="plane" size="2 2 .1"/>
            <body name="ball" pos="0 0 1.1"><freejoint/><geom name="ball" size=".1" {extra}/></body>
            {body}
          </worldbody>
        </mujoco>""")


def test_a_falling_ball_is_looked_at_only_when_it_lands() -> None:
    model = ball()
    data = mujoco.MjData(model)
    found, expected, counts = track(model, data, all_pairs(model), 230)
    same_events(found, expected, 0.002)
    # At the start, and in the step that shows the contact.
    assert sum(counts) == 2
    # Linear interpolation, which is all that is left without velocities, is within 3e-6 s.
    assert found[0].time == pytest.approx(expected[0].time, abs=3e-6)
    assert found[0].approach_speed == pytest.approx(math.sqrt(2 * 9.81), rel=1e-4)


def test_a_kick_that_nothing_announced() -> None:
    model = ball(option='gravity="0 0 0"')
    data = mujoco.MjData(model)

    def kick(step: int) -> None:
        if step == 100:
            data.qpos[2] = 0.11
            data.qvel[2] = -6.0

    found, expected, _ = track(model, data, all_pairs(model), 110, kick)
    # 1 cm at 6 m/s from the state at 0.2 s on.
    assert found[0].time == pytest.approx(0.2 + 0.01 / 6, abs=1e-9)
    assert found[0].approach_speed == pytest.approx(6.0)
    same_events(found[:1], expected[:1], 0.002)


@pytest.mark.parametrize("extra", ['margin=".005"', 'margin=".005" gap=".005"', 'margin=".02" gap=".005"'])
def test_margins_do_not_begin_contact(extra: str) -> None:
    model = ball(extra + ' solref=".05 .1"')
    data = mujoco.MjData(model)
    found, expected, _ = track(model, data, all_pairs(model), 700)
    same_events(found, expected, 0.002)
    assert len(found) >= 2


def test_pairs_that_cannot_collide_are_tracked_too() -> None:
    model = ball('contype="0" conaffinity="0"')
    data = mujoco.MjData(model)
    assert all_pairs(model).total == 0
    choice = named_pairs(model, [("ball", "floor")])
    assert choice.labels == (("ball", "floor"),)
    found, expected, _ = track(model, data, choice, 400)
    same_events(found, expected, 0.002)
    assert [event.kind for event in found] == ["begin"]


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_disabled_contacts_are_measured(flag: str) -> None:
    model = ball()
    model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}")
    data = mujoco.MjData(model)
    found, expected, _ = track(model, data, all_pairs(model), 300)
    same_events(found, expected, 0.002)
    assert len(found) == 1


@pytest.mark.skipif(not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"), reason="this MuJoCo never sleeps")
def test_bodies_asleep_stay_in_contact() -> None:
    model = ball('solref=".02 1"')
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    data = mujoco.MjData(model)
    found, expected, _ = track(model, data, all_pairs(model), 3000)
    same_events(found, expected, 0.002)
    assert found[-1].kind == "begin"
    assert data.time - found[-1].time > 3


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_velocities_are_how_fast_distances_change(a: str, b: str) -> None:
    model = mujoco.MjModel.from_xml_string(TUMBLING.format(a=a, b=b))
    data = mujoco.MjData(model)
    distances = PairDistances(model, named_pairs(model, [("a", "c")]), EPS)
    rng = np.random.default_rng(len(a) + len(b))
    position, moved, tested = np.zeros(model.nq), np.zeros(model.nq), 0
    for _ in range(40):
        data.qpos[:] = rng.normal(size=model.nq)
        data.qpos[:3], data.qpos[7:10] = 0.0, rng.normal(size=3) * 0.15
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_normalizeQuat(model, data.qpos)
        position[:] = data.qpos
        mujoco.mj_forward(model, data)
        distance = distances.distance(data, 0)
        velocity = distances.velocity(data, 0, distance)
        if distance < 0.002:
            continue
        tested += 1
        changes = []
        for time in (1e-6, -1e-6):
            moved[:] = position
            mujoco.mj_integratePos(model, moved, data.qvel, time)
            data.qpos[:] = moved
            mujoco.mj_kinematics(model, data)
            changes.append(distances.distance(data, 0))
        assert velocity == pytest.approx((changes[0] - changes[1]) / 2e-6, abs=2e-3)
    assert tested > 8


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("geom", ["", 'condim="1"', 'condim="6"', 'margin=".02" gap=".01"', 'adhesion="3"'])
def test_forces_are_the_sums_of_what_mujoco_says_of_each_contact(cone: str, geom: str) -> None:
    if "adhesion" in geom and not hasattr(mujoco.MjModel, "geom_adhesion"):
        pytest.skip("this MuJoCo has no adhesion of geoms")
    boxes = "".join(
        f'<body pos="{0.05 * i} 0 {0.06 + 0.11 * i}" euler="{3 * i} 4 0"><freejoint/>'
        f'<geom name="box{i}" type="box" size=".05 .04 .05" {geom}/></body>'
        for i in range(4)
    )
    joint = '<joint range="-1 .1" limited="true" frictionloss=".1"/>'
    arm = f'<body pos="1 0 1">{joint}<geom size=".05" pos=".2 0 0"/></body>'
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <option cone="{cone}"/>
          <worldbody><geom name="floor" type="plane" size="2 2 .1"/>{boxes}{arm}</worldbody>
        </mujoco>""")
    data = mujoco.MjData(model)
    choice = named_pairs(model, [("box0", "floor"), ("box1", "box0"), ("box2", "box1"), ("box3", "floor")])
    groups, strongest, summed, wrench = ContactList(model, choice.geoms), 0.0, 0, np.zeros(6)
    for _ in range(300):
        mujoco.mj_step(model, data)
        expected = np.zeros(len(choice.labels) + 1)
        depths = np.full(len(choice.labels) + 1, math.inf)
        for i in range(data.ncon):
            geoms = sorted(data.contact.geom[i].tolist())
            pair = next((k for k, pair in enumerate(choice.geoms.tolist()) if sorted(pair) == geoms), -1)
            mujoco.mj_contactForce(model, data, i, wrench)
            expected[pair] += wrench[0]
            depths[pair] = min(depths[pair], data.contact.dist[i])
        groups.read(data)
        forces = np.zeros(len(expected))
        forces[groups.pairs] = groups.forces(data)
        assert forces[:-1] == pytest.approx(expected[:-1], abs=1e-9)
        summation = groups.summation(data)
        if summation is not None:
            summed += 1
            later = np.zeros(len(expected))
            later[groups.pairs] = summation(np.array([data.efc_force, 2 * data.efc_force]))[1] / 2
            assert later[:-1] == pytest.approx(expected[:-1], abs=1e-9)
        known = groups.pairs >= 0
        assert groups.depths(data)[known] == pytest.approx(depths[groups.pairs[known]], abs=0)
        strongest = max(strongest, forces[:-1].max())
    assert strongest > 1.0
    assert (summed > 200) == ("gap" not in geom and "adhesion" not in geom)


def test_the_contact_list_stays_in_one_place() -> None:
    """Steps are compared with the last one through a view of the list."""
    for scene in ("pile", "targets", "bounce"):
        engine = open_engine(scene)
        engine.step(200)
        view = engine.data.contact.geom
        places = {view.__array_interface__["data"][0]}
        for step in range(150):
            if step == 80:
                engine.reset()
                engine.step(150)
            engine.step()
            contact = engine.data.contact.geom
            places.add(contact.__array_interface__["data"][0])
            shared = min(len(view), len(contact))
            assert shared > 0
            np.testing.assert_array_equal(view[:shared], contact[:shared])
        assert len(places) == 1


def test_gaps_are_those_of_all_pairs() -> None:
    engine = open_engine("targets")
    model, data = engine.model, engine.data
    choice = all_pairs(model)
    distances, events = PairDistances(model, choice, EPS), ContactEvents(choice.labels, EPS)
    for _ in range(400):
        start = data.time
        mujoco.mj_step(model, data)
        crossing = distances.update(data, start, events.in_contact)
        if math.isnan(events.time):
            events.update(*distances.start())
        elif crossing:
            events.update_pairs(start, distances.traces())
        distances.rest(events.in_contact)
        in_contact, known = events.in_contact, np.array(measure(model, data, choice.geoms))
        largest, nearest = distances.gaps(data, in_contact)
        assert nearest == pytest.approx(known[~in_contact].min(), abs=1e-12)
        # The list holds the depth of contacts; where it adds contacts of its own it can be a little off.
        assert largest == pytest.approx(known.max(where=in_contact, initial=-math.inf), abs=2e-4)


def test_nothing_to_track() -> None:
    model = ball('contype="0" conaffinity="0"')
    data = mujoco.MjData(model)
    choice = PairSelection(PairSource.ALL, np.zeros((0, 2), np.intp), (), 0, np.zeros(0, bool))
    found, expected, _ = track(model, data, choice, 10)
    assert (found, expected) == ([], [])
    distances = PairDistances(model, choice, EPS)
    assert distances.gaps(data, np.zeros(0, bool)) == (-math.inf, math.inf)


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_are_below_the_distances_and_meet_those_of_spheres_and_planes(shape: str) -> None:
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <asset><mesh name="m" vertex=".1 0 0 -.1 0 0 0 .1 0 0 -.1 0 0 0 .1 0 0 -.07"/></asset>
          <worldbody>
            <geom type="plane" size="1 1 .1" euler="20 10 0" pos=".1 .2 .3"/>
            <body pos="0 0 1"><freejoint/><geom {shape}/></body>
            <body pos=".5 0 2"><freejoint/><geom size=".2"/></body>
            <body pos="-.5 1 1.5"><freejoint/><geom size=".1"/></body>
            <geom type="plane" size="1 1 .1" euler="180 0 0" pos="0 0 5"/>
          </worldbody>
        </mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    # The geoms of the world come first: two planes, the shape, two spheres.
    pairs = np.array([(a, b) for a in range(5) for b in range(5) if a != b and {a, b} != {0, 1}])
    bounds, distances = distance_bounds(model, data, pairs), measure(model, data, pairs)
    exact = ~(pairs == 2).any(axis=1)
    np.testing.assert_allclose(bounds[exact], np.array(distances)[exact], atol=1e-12)
    assert (bounds <= np.array(distances) + 1e-12).all()


def modia_flags(contact: NDArray[np.bool_] | None, distances: NDArray[np.float64], eps: float) -> NDArray[np.bool_]:
    """Modia3D's rule in its own words: `contact` is set at events, by distanceOrg < -zEps."""
    if contact is None:
        return distances < -eps
    with_hysteresis = np.where(contact, distances, distances + 2 * eps)
    is_event = (contact & (with_hysteresis > 0)).any() or (~contact & (with_hysteresis < 0)).any()
    return distances < -eps if is_event else contact


@pytest.mark.parametrize("scene", ["pile", "stack", "gripper"])
def test_the_rule_of_modia_decides_all_pairs_at_every_event(scene: str) -> None:
    engine, eps = open_engine(scene), 2e-5
    choice = all_pairs(engine.model)
    trackers = [PairContacts(engine, choice, eps, False, rule) for rule in (EventRule.MODIA, EventRule.SURFACE)]
    flags: NDArray[np.bool_] | None = None
    differences, counts = 0, np.zeros(len(choice.labels), int)
    for _ in range(400):
        start = engine.time
        engine.step()
        entries = [tracker.update(Step(engine), start) for tracker in trackers]
        ours, alone = (tracker.events.in_contact for tracker in trackers)
        before, flags = flags, modia_flags(flags, np.array(measure(engine.model, engine.data, choice.geoms)), eps)
        assert np.array_equal(ours, flags)
        differences += not np.array_equal(ours, alone)
        changed: list[int] = np.flatnonzero(before != flags).tolist() if before is not None else []
        assert sorted(entry.pair_id for entry in entries[0] if entry.pair_id is not None) == changed
        counts[changed] += 1
        for entry in entries[0]:
            if entry.kind == "begin" and entry.time < start:
                assert entry.event.distance == -2 * eps  # type: ignore[union-attr]
    assert counts.any()
    if scene == "pile":
        assert differences > 20


def test_a_distance_with_the_wrong_sign_parts_nothing() -> None:
    """Where shapes penetrate by less than a micrometre, mj_geomDistance may have the right size and the wrong sign.

    The contact list of the same state has the contact, with the depth that presses: it decides.
    """
    bodies = (
        ("0.186 0.189 0.470", "-43.4 -103.6 178.6", 'type="box" size=".09 .07 .05" solref="0.02 1"'),
        ("0.084 0.134 0.151", "-54.4 148.0 101.2", 'size=".08" solref="0.01 0.5"'),
        ("0.120 -0.028 0.276", "118.3 -54.5 13.1", 'type="cylinder" size=".07 .05" solref="0.01 1"'),
        ("0.196 -0.089 0.125", "9.5 -104.8 3.2", 'type="box" size=".09 .07 .05" solref="0.004 0.5"'),
    )
    model: Any = mujoco.MjModel.from_xml_string(f"""
        <mujoco><option timestep="0.004"/>
          <worldbody><geom name="floor" type="plane" size="5 5 .1"/>{
        "".join(
            f'<body pos="{place}" euler="{turn}"><freejoint/><geom {shape}/></body>' for place, turn, shape in bodies
        )
    }</worldbody></mujoco>""")
    data: Any = mujoco.MjData(model)
    choice = all_pairs(model)
    distances, events = PairDistances(model, choice, EPS), ContactEvents(choice.labels, EPS)
    wrong = 0
    for _ in range(60):
        start = data.time
        mujoco.mj_step(model, data)
        crossing = distances.update(data, start, events.in_contact)
        if math.isnan(events.time):
            events.update(*distances.start())
        elif crossing:
            events.update_pairs(start, distances.traces())
        distances.rest(events.in_contact)
        for pair, distance in enumerate(measure(model, data, choice.geoms)):
            depths = [c.dist for c in data.contact if sorted(c.geom) == sorted(choice.geoms[pair])]
            if distance > 0 and events.in_contact[pair]:
                assert max(depths) < 0
                assert distance < 1e-6
                wrong += 1
    if mujoco.mj_version() == 4_000_000:
        assert wrong == 1
