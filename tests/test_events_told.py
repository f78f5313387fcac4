"""Steps taken in as blocks, whose contacts the sensors' arrays tell, against steps looked at one by one."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.following.told_pairs import TellingSensors
from contact_viewer.engines.following.tracking import ContactTracker, TrackingOptions, default_pairs
from contact_viewer.engines.following.watched_pairs import all_pairs
from contact_viewer.engines.mujoco.blocks import StepBlock
from contact_viewer.session import Session
from contact_viewer.settings import ViewState

from .test_events_blocks import told

BATCHES = [int(size) for size in np.random.default_rng(4).integers(1, 90, 60)]
"""Steps at once, about 2700."""
TILES = """
<mujoco>
  <option><flag {flag}/></option>
  <worldbody>
    <geom name="left" type="box" pos="-.5 0 -.01" size=".5 1 .01"/>
    <geom name="right" type="box" pos=".5 0 -.01" size=".5 1 .01"/>
    <body pos="-.05 0 .0299"><freejoint/><geom name="ball" size=".03" mass=".1" {ball}/></body>
    <body name="hand" mocap="true" pos="2 0 .03"><geom name="hand" type="box" size=".05 .2 .02"/></body>
  </worldbody>
  <sensor>
    <contact name="on_left" geom1="left" geom2="ball" data="found" {sensor}/>
    <contact name="on_right" geom1="right" geom2="ball" data="found"/>
    <contact name="pushed" geom1="hand" geom2="ball" data="found force"/>
  </sensor>
</mujoco>"""


class Counted(ContactTracker):
    """A tracker that knows how many steps it took in as blocks."""

    counted = refused = 0

    def take_block(self, block: StepBlock) -> bool:
        taken = super().take_block(block)
        self.counted += len(block.rows) if taken else 0
        self.refused += not taken
        return taken


class Single(ContactTracker):
    """A tracker that looks at every step."""

    def can_take_block(self, count: int) -> bool:
        return False


def open_session(scene: Any, kind: type[ContactTracker], options: TrackingOptions | None = None) -> Session:
    session = Session(open_engine(scene), ViewState())
    session.events = kind(session.engine, options=options)
    session.watchers[:] = [session.events]
    return session


def answer(session: Session) -> dict[str, Any]:
    """Everything that can be asked; the order of pairs in the contact list is not told by arrays."""
    assert session.events is not None
    found = told(session.events)
    # Sums of normal forces may differ in the last digit.
    found["contacts"] = [
        (each.begin, each.end, round(each.peak_force, 9), each.peak_time)
        for entry in session.events.log
        if not math.isnan((each := entry.contact).peak_force)
    ]
    pairs, forces = found.pop("pair forces")
    pressed = {pair: round(force, 9) for pair, force in zip(pairs, forces, strict=True) if pair >= 0}
    return found | {"pressed": pressed, "state": session.engine.data.qpos.tobytes()}


def leave_alone(session: Session, batch: int) -> None:
    """Only step."""


def meddle(session: Session, batch: int) -> None:
    """What a person does while it runs."""
    engine = session.engine
    if batch % 11 == 5:
        engine.set_reduce(engine.sensors.names[0], ["netforce", "maxforce", "none"][batch % 3])
    if batch % 13 == 8:
        engine.data.qvel[:] += 0.1
    if batch % 17 == 9:
        session.go_to(session.timeline.current - 40 if session.timeline is not None else 0)
    if batch == 30:
        session.reset()
    if batch == 45:
        engine.watch_all()


@pytest.mark.parametrize("options", [TrackingOptions(), TrackingOptions(eps=1e-5, min_duration=0.007, on=3.0)])
@pytest.mark.parametrize("act", [leave_alone, meddle])
@pytest.mark.parametrize("scene", ["bounce", "quadruped", "rolling", "slope", "stack", "turntable"])
def test_who_looks_at_every_step_sees_the_same(
    scene: str, act: Callable[[Session, int], None], options: TrackingOptions
) -> None:
    blocks, single = (open_session(scene, kind, options) for kind in (Counted, Single))
    for batch, size in enumerate(BATCHES):
        for session in (blocks, single):
            act(session, batch)
            session._step(size)
        if batch % 7 == 3:
            assert answer(blocks) == answer(single)
    assert answer(blocks) == answer(single)
    assert isinstance(blocks.events, Counted)
    # A box that lies on another has more contacts than the one slot of a sensor in this scene.
    assert blocks.events.counted == 0 if scene == "stack" else blocks.events.counted > 500
    assert blocks.events.refused < 10


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_a_ball_that_rolls_from_one_tile_to_another(tmp_path: Path, integrator: str) -> None:
    """In one step one pair leaves the list and another takes its place; a hand then pushes the ball back."""
    path = tmp_path / "tiles.xml"
    path.write_text(TILES.format(ball="", sensor="", flag=""))
    sessions = [open_session(path, kind) for kind in (Counted, Single)]
    for session in sessions:
        engine = session.engine
        engine.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        engine.data.qvel[0], engine.data.qvel[4] = 0.3, 10.0
        for batch in range(40):
            if batch > 10:
                engine.data.mocap_pos[0, 0] = 1.2 - 0.03 * batch
            session._step(20)
    assert answer(sessions[0]) == answer(sessions[1])
    tracker = sessions[0].events
    assert isinstance(tracker, Counted)
    assert (tracker.counted > 600) == (integrator != "RK4")
    subjects = {entry.subject for entry in tracker.log}
    assert subjects >= {"left · ball", "right · ball", "hand · ball"}


@pytest.mark.parametrize(
    ("ball", "sensor", "flag", "why"),
    [
        ("", 'reduce="netforce"', "", "a net force is not a sum of normal forces"),
        ("", 'nsample="5" delay="0.01" interp="zoh"', "", "the array is older than the contact list"),
        ('margin=".01" gap=".01"', "", "", "contacts in the gap are listed but not solved"),
        ("", "", 'sensor="disable"', "arrays stay as they are"),
    ],
)
def test_arrays_that_do_not_tell_all_are_not_relied_on(
    tmp_path: Path, ball: str, sensor: str, flag: str, why: str
) -> None:
    path = tmp_path / "tiles.xml"
    path.write_text(TILES.format(ball=ball, sensor=sensor, flag=flag))
    sessions = [open_session(path, kind) for kind in (Counted, Single)]
    for session in sessions:
        session.engine.data.qvel[0] = 0.3
        session._step(400)
    assert answer(sessions[0]) == answer(sessions[1])
    tracker = sessions[0].events
    assert isinstance(tracker, Counted)
    assert tracker.counted == 0, why
    # With a gap the ball floats where it is.
    assert any(entry.subject == "right · ball" for entry in tracker.log) or "gap" in ball


@pytest.mark.parametrize("scene", ["clamp", "gripper", "pile", "targets", "touch"])
def test_sensors_that_match_more_than_a_pair_tell_nothing(scene: str) -> None:
    engine = open_engine(scene)
    assert TellingSensors(engine.model, default_pairs(engine.model)).tell(engine.sensors) is None


def test_pairs_without_a_sensor_are_not_told() -> None:
    engine = open_engine("quadruped")
    assert TellingSensors(engine.model, default_pairs(engine.model)).tell(engine.sensors) is not None
    assert TellingSensors(engine.model, all_pairs(engine.model)).tell(engine.sensors) is None


def test_breaks_and_curves_have_every_step_looked_at() -> None:
    session = open_session("bounce", Counted)
    tracker = session.events
    assert isinstance(tracker, Counted)
    session._step(100)
    assert tracker.can_take_block(8)
    assert not tracker.can_take_block(10**6)
    tracker.curves_wanted_until = 1e18
    assert not tracker.can_take_block(8)
    session._step(50)
    assert tracker.curves.shape[1] == 50
    assert np.isfinite(tracker.curves[2, :40]).all()
