"""Which pairs of geoms slide, creep and stick, judged by how far their bodies have moved."""

import math

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.friction_states import FrictionStates, Motion
from contact_viewer.events.tracker import ContactTracker
from contact_viewer.mjmodel.pair_motion import pair_key
from contact_viewer.mjmodel.pair_selection import all_pairs
from contact_viewer.sensors.friction import ContactState

GRASP = """<mujoco><option timestep="{timestep}" {option}/><worldbody>
<body pos="-.06 0 .5"><joint name="left" type="slide" axis="1 0 0"/>
  <geom name="left" type="box" size=".01 .02 .02" mass="5" friction="{friction}"/></body>
<body pos=".06 0 .5"><joint name="right" type="slide" axis="-1 0 0"/>
  <geom name="right" type="box" size=".01 .02 .02" mass="5" friction="{friction}"/></body>
<body name="box" pos="0 0 .5"><freejoint/>
  <geom name="box" type="box" size=".05 .03 .03" mass=".5" friction="{friction}"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator>
<keyframe><key ctrl="{grip} {grip}"/></keyframe></mujoco>"""
PLANE = """<mujoco><option gravity="{x} 0 {z}"/><worldbody>
<geom name="floor" type="plane" size="9 9 .1" friction="{friction}"/>
<body name="body" pos="0 0 {height}" {turn}><freejoint/><geom name="body" {geom} friction="{friction}"/></body>
</worldbody></mujoco>"""
BOX = 'type="box" size=".05 .05 .05"'


def grasp(option: str = "", friction: float = 1.0, grip: float = 20.0, timestep: float = 0.002) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(GRASP.format(option=option, friction=friction, grip=grip, timestep=timestep))


def on_plane(
    degrees: float, geom: str = BOX, friction: float = 1.0, height: float = 0.05, turn: str = ""
) -> mujoco.MjModel:
    x, z = 9.81 * math.sin(math.radians(degrees)), -9.81 * math.cos(math.radians(degrees))
    return mujoco.MjModel.from_xml_string(
        PLANE.format(x=x, z=z, geom=geom, friction=friction, height=height, turn=turn)
    )


def watch(model: mujoco.MjModel, seconds: float, most: int = 10**9) -> tuple[FrictionStates, mujoco.MjData]:
    """`most`: samples after which they are decided on."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    states = FrictionStates(model, model.opt.timestep)
    for step in range(round(seconds / model.opt.timestep)):
        start = data.time
        mujoco.mj_step(model, data)
        if states.is_due():
            states.add(data, start)
        if states.full or step % most == 0:
            states.flush()
    states.flush()
    return states, data


def motions(states: FrictionStates, *which: ContactState) -> list[Motion]:
    return [each for of_pair in states.motions.values() for each in of_pair if each.state in (which or ContactState)]


@pytest.mark.parametrize("option", ["", 'cone="elliptic"', 'cone="elliptic" impratio="10"'])
def test_what_sinks_between_two_pads_creeps_as_far_as_it_sinks(option: str) -> None:
    model = grasp(option)
    states, data = watch(model, 2.0)
    sunk = 0.5 - data.body("box").xpos[2]
    creeps = motions(states, ContactState.CREEPING)
    assert len(creeps) == 2
    assert not motions(states, ContactState.SLIDING)
    for each in creeps:
        assert each.end == math.inf
        assert each.distance == pytest.approx(sunk, rel=0.05)
        assert 0.1 < each.at[2] < 0.14, "friction use"
    last = states.moving_at(1.95)
    assert [each.state for each in last.values()] == [ContactState.CREEPING] * 2
    assert last[creeps[0].key].speed == pytest.approx(-data.body("box").cvel[5], rel=0.05)


def test_what_the_cure_holds_does_not_creep() -> None:
    assert not motions(watch(grasp('cone="elliptic" impratio="1000"'), 3.0)[0])


def test_what_the_pads_cannot_hold_slides() -> None:
    states, _ = watch(grasp(friction=0.1), 0.2)
    slides = motions(states, ContactState.SLIDING)
    assert {each.key for each in slides} == {
        int(pair_key(states._model, np.array([states._model.geom(pad).id, states._model.geom("box").id])))
        for pad in ("left", "right")
    }
    assert not motions(states, ContactState.CREEPING)


def test_a_box_creeps_down_a_slope_that_it_does_not_slide_down() -> None:
    states, data = watch(on_plane(15), 2.0)
    (creep,) = motions(states)
    assert creep.state is ContactState.CREEPING
    assert creep.distance == pytest.approx(data.body("body").xpos[0], rel=0.1)
    slide, *chatter = motions(watch(on_plane(30, friction=0.3), 0.3)[0])
    assert slide.begin < 0.05
    assert {each.state for each in (slide, *chatter)} == {ContactState.SLIDING}


@pytest.mark.parametrize(
    ("geom", "degrees", "height", "turn"),
    [
        ('type="sphere" size=".05"', 15, 0.05, ""),
        ('type="sphere" size=".01" mass="1"', 20, 0.01, ""),
        ('type="cylinder" size=".05 .03"', 10, 0.05, 'euler="90 0 0"'),
        ('type="sphere" size=".05"', 0, 0.05, ""),
        (BOX, 0, 0.05, ""),
        (BOX, 0, 0.3, 'euler="30 40 0"'),
        ('type="capsule" size=".04 .06"', 0, 0.3, 'euler="30 40 0"'),
    ],
)
def test_what_rolls_rests_or_is_dropped_does_not_creep(geom: str, degrees: float, height: float, turn: str) -> None:
    states, _ = watch(on_plane(degrees, geom, height=height, turn=turn), 2.0)
    assert not motions(states, ContactState.CREEPING)


@pytest.mark.parametrize("frequency", [1.0, 2.0, 7.0, 20.0, 100.0])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_what_is_shaken_to_and_fro_does_not_creep(frequency: float, share: float) -> None:
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>
      <body gravcomp="1"><joint type="slide" axis="1 0 0"/><geom type="box" size=".4 .4 .02" mass="500"/></body>
      <body pos="0 0 .07"><freejoint/><geom {BOX} mass="1"/></body></worldbody></mujoco>""")
    data, states = mujoco.MjData(model), FrictionStates(model, model.opt.timestep)
    omega, push = 2 * math.pi * frequency, share * 9.81
    data.qvel[:2] = -push / omega
    for _ in range(1500):
        start = data.time
        data.qfrc_applied[0] = 501 * push * math.sin(omega * start)
        mujoco.mj_step(model, data)
        if states.is_due():
            states.add(data, start)
    states.flush()
    assert not motions(states)


@pytest.mark.parametrize("most", [1, 7, 100])
def test_motion_is_the_same_however_many_steps_are_read_at_once(most: int) -> None:
    model = mujoco.MjModel.from_xml_string(on_slope_then_flat())
    whole, parts = (watch(model, 1.5, each)[0] for each in (10**9, most))
    assert len(motions(whole)) >= 2
    for one, other in zip(motions(whole), motions(parts), strict=True):
        assert (one.state, one.key, one.begin, one.seen, one.end) == (
            other.state,
            other.key,
            other.begin,
            other.seen,
            other.end,
        )
        assert other.distance == pytest.approx(one.distance, rel=1e-6)
        assert other.speed == pytest.approx(one.speed, rel=1e-6)


def on_slope_then_flat() -> str:
    """A box that is thrown on a slope: it slides, and then creeps."""
    return PLANE.format(x=2.0, z=-9.6, geom=BOX, friction=0.5, height=0.05, turn="").replace(
        "</worldbody>", '</worldbody><keyframe><key qvel="1 0 0 0 0 0"/></keyframe>'
    )


def test_a_pair_that_leaves_the_list_for_a_moment_still_creeps() -> None:
    # Every third sample sees no contact at all.
    model = grasp()
    data, states = mujoco.MjData(model), FrictionStates(model, model.opt.timestep)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for step in range(500):
        start = data.time
        mujoco.mj_step(model, data)
        if states.is_due():
            hidden = step % 15 > 9
            if hidden:
                model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
                mujoco.mj_forward(model, data)
                model.opt.disableflags = 0
            states.add(data, start)
            if hidden:
                mujoco.mj_forward(model, data)
    states.flush()
    assert {each.state for each in motions(states)} == {ContactState.CREEPING}
    assert len(motions(states)) == 2
    assert all(each.end == math.inf for each in motions(states))


def test_what_came_after_an_instant_is_forgotten_when_a_run_goes_back_to_it() -> None:
    engine = open_engine(grasp())
    tracker = ContactTracker(engine, all_pairs(engine.model))
    engine.reset(0)
    tracker.after_reset(engine)
    for _ in range(1000):
        engine.step()
        tracker.after_step(Step(engine))
    friction = tracker.friction
    assert friction is not None
    assert len(friction.creeping_at(1.9)) == 2
    engine.reset(0)
    tracker.after_reset(engine)
    for _ in range(50):
        engine.step()
        tracker.after_step(Step(engine))
    friction = tracker.friction
    assert friction is not None
    assert not friction.creeping_at(0.09)
    assert not friction.moving_at(1.9)


def test_an_engine_without_a_contact_list_says_that_creep_is_not_known() -> None:
    engine = open_engine(grasp())
    engine.has_contact_list = False
    assert ContactTracker(engine, all_pairs(engine.model)).friction is None
