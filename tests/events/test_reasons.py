"""Why a pair moves, in a sentence: each is true where it is said, and the cure that it names holds what it promises."""

import math
import re
from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.contact_events import EventKind
from contact_viewer.events.event_log import MotionEvent, event_record, merge_bodies
from contact_viewer.events.reasons import Reason, ReasonKind
from contact_viewer.events.tracker import ContactTracker
from contact_viewer.mjmodel.creep import WANTED
from contact_viewer.mjmodel.pair_selection import all_pairs

GRASP = """<mujoco><option {option}/><worldbody>
<body pos="-.06 0 .5"><joint type="slide" axis="1 0 0" name="left"/>
  <geom name="left" type="box" size=".01 .02 .02" mass="{finger}" friction="{friction}"/></body>
<body pos=".06 0 .5"><joint type="slide" axis="-1 0 0" name="right"/>
  <geom name="right" type="box" size=".01 .02 .02" mass="{finger}" friction="{friction}"/></body>
<body name="box" pos="0 0 .5"><freejoint/>
  <geom name="box" type="box" size=".05 .03 .03" mass="{mass}" friction="{friction}"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator>
<keyframe><key ctrl="{grip} {grip}"/></keyframe></mujoco>"""
PLANE = """<mujoco><option gravity="{x} 0 -9.7"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>
<body pos="0 0 .05"><freejoint/><geom name="body" {geom}/></body></worldbody>
<keyframe><key qvel="{speed}"/></keyframe></mujoco>"""


def grasp(
    option: str = "", friction: float = 1.0, grip: float = 20.0, mass: float = 0.5, finger: float = 0.1
) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        GRASP.format(option=option, friction=friction, grip=grip, mass=mass, finger=finger)
    )


def plane(geom: str, x: float = 0.0, speed: str = "0 0 0 0 0 0") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(PLANE.format(geom=geom, x=x, speed=speed))


def follow(
    model: mujoco.MjModel, seconds: float, drive: Callable[[mujoco.MjData], None] | None = None
) -> ContactTracker:
    engine = open_engine(model)
    engine.reset(0)
    tracker = ContactTracker(engine, all_pairs(model))
    for _ in range(round(seconds / model.opt.timestep)):
        if drive is not None:
            drive(engine.data)
        engine.step()
        tracker.after_step(Step(engine))
    return tracker


def reason(tracker: ContactTracker, first: str, second: str) -> Reason | None:
    model = tracker._engine.model
    geoms = np.array([model.geom(first).id, model.geom(second).id])
    return tracker.explain(geoms, tracker.time - model.opt.timestep)


def sinking(model: mujoco.MjModel, seconds: float = 1.5) -> float:
    """Speed of the box between the pads at last [m/s]."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    heights = []
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        heights.append(data.body("box").xpos[2])
    half = len(heights) // 2
    return float((heights[half] - heights[-1]) / ((len(heights) - 1 - half) * model.opt.timestep))


GRIPS = [
    ("", {}),
    ('cone="elliptic"', {"mass": 0.2, "grip": 10.0}),
    ('impratio="3"', {"friction": 0.7}),
    ('cone="elliptic" impratio="10"', {"mass": 1.0, "grip": 40.0}),
]


@pytest.mark.parametrize(("option", "numbers"), GRIPS)
def test_the_cure_makes_what_creeps_as_slow_as_it_says(option: str, numbers: dict[str, float]) -> None:
    model = grasp(option, **numbers)
    why = reason(follow(model, 1.0), "left", "box")
    assert why is not None
    assert why.kind is ReasonKind.CREEP
    assert why.speed == pytest.approx(sinking(model), rel=0.05)
    assert "friction acts as a damper" in why.text
    named = re.search(r'cone="elliptic" impratio="(\S+)" would make it about 10 um/s', why.text)
    assert named is not None
    assert float(named[1]) == pytest.approx(why.impratio, rel=0.01)
    cured = grasp(f'cone="elliptic" impratio="{named[1]}"', **numbers)
    assert sinking(cured) == pytest.approx(WANTED, rel=0.2)


def test_of_what_is_held_unevenly_the_least_impratio_is_said() -> None:
    numbers = {"mass": 0.5, "grip": 30.0}

    def uneven(option: str) -> mujoco.MjModel:
        spec = mujoco.MjSpec.from_string(GRASP.format(option=option, friction=1.0, finger=0.05, **numbers))
        left = spec.geom("left")
        assert left is not None
        left.mass = 2.0
        return spec.compile()

    why = reason(follow(uneven(""), 1.0), "left", "box")
    assert why is not None
    named = re.search(r'It takes cone="elliptic" impratio="(\S+)" or more to make it 10 um/s, because', why.text)
    assert named is not None
    assert sinking(uneven(f'cone="elliptic" impratio="{named[1]}"'), 4.0) > WANTED


def test_no_cure_is_named_that_is_softer_than_the_scene_is_now() -> None:
    # Three light fingers press on each other: each creeps on the next, and all together hold nothing.
    fingers = "".join(
        f'<body euler="0 0 {120 * i}"><body pos=".0386 0 0"><joint name="f{i}" type="slide" axis="-1 0 0" damping="5"/>'
        f'<geom name="f{i}" type="box" size=".01 .05 .05" mass=".0595"/></body></body>'
        for i in range(3)
    )
    motors = "".join(f'<motor joint="f{i}"/>' for i in range(3))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep=".001" cone="elliptic" impratio="5.2" integrator="implicitfast"/><default><geom
        condim="4" friction=".63 .011 1e-4" solref=".0084 .93" solimp=".816 .969 .0028"/></default><worldbody>{fingers}
        </worldbody><actuator>{motors}</actuator><keyframe><key ctrl="24.8 24.8 24.8"/></keyframe></mujoco>"""
    )
    events = [entry.event for entry in follow(model, 2.0).log if isinstance(entry.event, MotionEvent)]
    texts = [event.why for event in events if event.kind is EventKind.CREEP_BEGIN]
    assert sum("friction acts as a damper here." in text for text in texts) >= 1
    assert all(float(named) > 5.2 for text in texts for named in re.findall(r'impratio="(\S+)"', text))


def test_of_creep_that_has_ended_the_speed_alone_is_said() -> None:
    def carry(data: mujoco.MjData) -> None:
        if data.time > 0.8:
            data.xfrc_applied[-1, 2] = 0.5 * 9.81

    tracker = follow(grasp(), 1.6, carry)
    begin = next(entry.event for entry in tracker.log if entry.kind is EventKind.CREEP_BEGIN)
    assert isinstance(begin, MotionEvent)
    assert begin.motion.end == pytest.approx(0.8, abs=0.3)
    assert re.fullmatch(r"Creeps at most \d\.\d mm/s with 12 % of its friction used\.", begin.why)


def test_with_noslip_the_speed_alone_is_said() -> None:
    why = reason(follow(grasp('noslip_iterations="1"'), 1.5), "left", "box")
    assert why is not None
    assert why.kind is ReasonKind.MOVES
    assert "impratio" not in why.text
    assert "damper" not in why.text
    assert math.isnan(why.impratio)


def test_of_what_is_held_nothing_is_said() -> None:
    tracker = follow(grasp('cone="elliptic" impratio="1000"'), 1.0)
    assert reason(tracker, "left", "box") is None
    assert reason(tracker, "left", "right") is None


def test_a_weaker_grip_is_named_as_the_cause_of_a_slide() -> None:
    def release(data: mujoco.MjData) -> None:
        data.ctrl[:] = np.interp(data.time, [0.4, 0.5], [20.0, 1.0])

    tracker = follow(grasp('cone="elliptic" impratio="1000"'), 0.6, release)
    why = reason(tracker, "left", "box")
    assert why is not None
    assert why.kind is ReasonKind.SLIDE
    since, before, after = map(float, re.findall(r"since (\S+) s.*fell from (\S+) to (\S+) N", why.text)[0])
    assert since == pytest.approx(0.49, abs=0.03)
    assert before == pytest.approx(20.0, rel=0.05)
    assert after < 5
    assert not [each for each in tracker.log if each.kind is EventKind.CREEP_BEGIN], "the start of a slip"
    assert "rose" not in why.text


def test_a_harder_push_is_named_as_the_cause_of_a_slide() -> None:
    def push(data: mujoco.MjData) -> None:
        data.qfrc_applied[0] = 0.0 if data.time < 0.5 else 15.0

    model = plane('type="box" size=".1 .1 .02" pos="0 0 -.03" mass="1"')
    tracker = follow(model, 0.6, push)
    why = reason(tracker, "floor", "body")
    assert why is not None
    assert why.kind is ReasonKind.SLIDE
    assert "the tangential force rose from" in why.text
    assert "fell" not in why.text
    assert reason(follow(model, 0.6), "floor", "body") is None


def test_points_that_part_before_a_slide_are_counted() -> None:
    model = plane('type="box" size=".05 .05 .05" mass="1"')
    model.geom_friction[:, 0] = 0.5

    def slide(lever: float) -> str:
        def push(data: mujoco.MjData) -> None:
            data.qfrc_applied[0], data.qfrc_applied[4] = 10 * data.time, lever * 10 * data.time

        log = follow(model, 0.55, push).log
        event = next(entry.event for entry in log if entry.kind is EventKind.SLIP_BEGIN)
        assert isinstance(event, MotionEvent)
        assert "the tangential force rose from" in event.why
        assert "soon after it touched" not in event.why
        return event.why

    # Pushed high up it begins to tip before it slides; low down it does not.
    assert re.search(r"; (two|three) of four points are left\.", slide(0.045))
    assert "left" not in slide(-0.04)


@pytest.mark.parametrize("cone", [mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtCone.mjCONE_ELLIPTIC])
def test_a_box_that_slides_as_soon_as_it_touches_is_said_to_and_never_faster_than_it_is(cone: int) -> None:
    model = plane('type="box" size=".1 .1 .02" pos="0 0 -.01" mass="1"', speed="2 0 0 0 0 0")
    model.opt.cone, model.geom_friction[:, 0] = cone, 0.3
    slides = [entry.event for entry in follow(model, 0.4).log if entry.kind is EventKind.SLIP_BEGIN]
    assert slides
    for slide in slides:
        assert isinstance(slide, MotionEvent)
        assert ", soon after it touched. " in slide.why
        assert "friction use reached 1" not in slide.why
        # A sample in 20 ms; it turns a little, and pyramids throw it up.
        assert slide.speed < 2.1


@pytest.mark.parametrize(
    ("geom", "x", "speed", "kind"),
    [
        ('type="sphere" size=".05" mass="1"', 1.5, "0 0 0 0 0 0", ReasonKind.ROLL),
        ('type="box" size=".05 .05 .05" mass="1"', 1.5, "0 0 0 0 0 0", ReasonKind.CREEP),
        ('type="sphere" size=".05" mass="1"', 0.0, "0 0 0 0 0 3", ReasonKind.PIVOT),
        ('type="sphere" size=".05" mass="1"', 0.0, "0 0 0 0 0 0", None),
    ],
)
def test_what_rolls_pivots_or_creeps_is_said_to(geom: str, x: float, speed: str, kind: ReasonKind | None) -> None:
    why = reason(follow(plane(geom, x, speed), 1.0), "floor", "body")
    assert (why and why.kind) == kind
    if why is not None:
        assert ("Rolls: no sliding" in why.text) is (kind is ReasonKind.ROLL)
        assert ("condim 3 has no torsional friction" in why.text) is (kind is ReasonKind.PIVOT)


def test_slips_and_creep_are_events_with_their_way_and_their_reason() -> None:
    tracker = follow(grasp(), 1.0)
    events = [entry.event for entry in tracker.log if isinstance(entry.event, MotionEvent)]
    assert [event.kind for event in events] == [EventKind.CREEP_BEGIN] * 2
    record = event_record(next(entry for entry in tracker.log if entry.motion is not None))
    assert record["kind"] == "creep_begin"
    assert record["bodies"] == ["body 1", "box"]
    assert record["distance"] == pytest.approx(sinking(grasp()), rel=0.1)
    assert record["speed"] == pytest.approx(record["distance"], rel=0.1)
    assert "damper" in record["why"]


def test_a_sliding_body_slips_once() -> None:
    model = plane('type="box" size=".05 .05 .05" mass="1" friction=".3"', speed="2 0 0 0 0 0")
    model.geom_friction[:, 0] = 0.3
    kinds = [entry.kind for entry in follow(model, 1.5).log if entry.motion is not None]
    assert kinds[:2] == [EventKind.SLIP_BEGIN, EventKind.SLIP_END]
    assert kinds.count(EventKind.SLIP_BEGIN) <= 2


def test_a_foot_of_four_geoms_touches_down_once() -> None:
    balls = "".join(
        f'<geom name="ball{i}" type="sphere" size=".02" pos="{x} {y} 0"/>'
        for i, (x, y) in enumerate([(-0.05, -0.05), (0.05, -0.05), (-0.05, 0.05), (0.05, 0.05)])
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
        <body name="foot" pos="0 0 .08" euler="3 2 0"><freejoint/>{balls}</body></worldbody>
        <keyframe><key/></keyframe></mujoco>"""
    )
    tracker = follow(model, 0.6)
    entries = [entry for entry in tracker.log if entry.motion is None]
    assert sum(entry.kind is EventKind.BEGIN for entry in entries) >= 4
    merged = merge_bodies(entries, tracker.body_labels, tracker.pairs.events.contacts)
    assert merged[0].kind is EventKind.BEGIN
    begins, ends = (sum(entry.kind is kind for entry in merged) for kind in (EventKind.BEGIN, EventKind.END))
    assert begins == ends + 1, "it stands on the floor at last"
    assert begins < sum(entry.kind is EventKind.BEGIN for entry in entries)
    assert merged[0].subject == "floor × foot"
    assert merged[0].time == min(entry.time for entry in entries)
    together = [entry for entry in entries if entry.time <= (merged[1].time if len(merged) > 1 else math.inf)]
    assert merged[0].contact.peak_force == max(entry.contact.peak_force for entry in together)
