"""A simulation stops where a contact begins to slip."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.registry import open_engine
from contact_viewer.events.breaks import Break, BreakWhen, pair_slip
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

MU, MASS, RATE = 0.5, 2.0, 50.0
"""Friction, mass [kg], and how fast the push grows [N/s]."""
SCENE = f"""
<mujoco>
  <option cone="{{cone}}" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction="{MU}"/>
    <body name="box" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom name="box" type="box" size=".1 .1 .1" mass="{MASS}" friction="{MU}"/></body>
    <body name="still" pos="0 1 .1"><freejoint/><geom name="still" type="box" size=".1 .1 .1" friction="{MU}"/></body>
  </worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
  <sensor>
    <contact name="pushed" geom1="floor" geom2="box" num="4"/>
    <contact name="resting" geom1="floor" geom2="still" num="4"/>
  </sensor>
</mujoco>"""


@pytest.fixture(params=["elliptic", "pyramidal"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    path = tmp_path / "ramp.xml"
    path.write_text(SCENE.format(cone=request.param))
    session = Session(open_engine(path), ViewState())
    session.track_events()
    return session


def run(session: Session, seconds: float) -> None:
    """Push harder and harder, until a time or a break."""
    while session.engine.time < seconds and not session.paused:
        session.engine.data.ctrl[0] = RATE * session.engine.time
        session.take_steps(1)


def test_a_push_breaks_loose_at_the_friction_limit(session: Session) -> None:
    assert session.events is not None
    session.events.breaks.append(Break(BreakWhen.SLIP, sensor=0))
    run(session, 0.5)
    assert session.paused
    assert session.trouble is not None
    assert "pushed slips (floor × box) at" in session.trouble
    # What creeps is not a slip: the excess of the push has to bring it to 2 mm/s, v = RATE t^2 / 2 m.
    excess = (2 * MASS * 2e-3 * RATE) ** 0.5
    assert RATE * session.engine.time == pytest.approx(MU * MASS * 9.81 + excess, rel=0.06)


@pytest.mark.parametrize("pair", ["floor × box", None])
def test_pairs_slip_too_and_only_once(session: Session, pair: str | None) -> None:
    tracker = session.events
    assert tracker is not None
    number = None if pair is None else tracker.pairs.labels.index(pair)
    tracker.breaks.append(Break(BreakWhen.SLIP, pair_id=number))
    run(session, 0.5)
    assert session.trouble is not None
    assert f"{pair or 'floor × box'} slips" in session.trouble
    stopped = session.engine.time
    session.paused = False
    run(session, 0.5)
    assert session.engine.time == pytest.approx(0.5, abs=0.003), f"stopped at {stopped} and again"


def test_what_sticks_never_stops_the_run(session: Session) -> None:
    tracker = session.events
    assert tracker is not None
    tracker.breaks += [
        Break(BreakWhen.SLIP, sensor=1),
        Break(BreakWhen.SLIP, pair_id=tracker.pairs.labels.index("floor × still")),
        Break(BreakWhen.SLIP, sensor=0, enabled=False),
    ]
    run(session, 0.5)
    assert not session.paused
    assert session.engine.data.qvel[0] > 0.5


@pytest.mark.parametrize(("number", "stops"), [(0, False), (1, True)])
def test_a_pair_that_slides_stops_no_run_that_waits_for_the_one_before_it(
    session: Session, number: int, stops: bool
) -> None:
    tracker = session.events
    assert tracker is not None
    choice = tracker.pairs.choice
    tracker.select(replace(choice, geoms=choice.geoms[::-1].copy(), labels=choice.labels[::-1]))
    assert tracker.pairs.labels == ["floor × still", "floor × box"]
    tracker.breaks.append(Break(BreakWhen.SLIP, pair_id=number))
    run(session, 0.5)
    assert session.paused is stops
    assert (session.engine.data.qvel[0] > 0.5) is not stops


def test_an_engine_that_does_not_tell_slip_runs_on() -> None:
    session = Session(open_engine("slope", "motrix"), ViewState())
    session.track_events()
    assert session.events is not None
    session.events.breaks += [Break(BreakWhen.SLIP), Break(BreakWhen.SLIP, sensor=0)]
    for _ in range(50):
        session.take_steps(1)
    assert not session.paused


def test_whatever_the_order_of_contacts_each_pair_slips_for_itself() -> None:
    """A box lies on another one and both stick, while the geom that comes last slides on the floor."""
    box = '<body pos="{x} 0 {z}"><freejoint/><geom name="{name}" type="box" size=".1 .1 .1" friction=".5"/></body>'
    boxes = [box.format(name=name, x=x, z=z) for name, x, z in (("lower", 0, 0.1), ("upper", 0, 0.3), ("last", 1, 0.1))]
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <worldbody><geom name="floor" type="plane" size="9 9 .1" friction=".5"/>{"".join(boxes)}</worldbody>
        </mujoco>""")
    engine = open_engine(model)
    engine.step(300)
    engine.data.qvel[12] = 0.3
    engine.step()
    floor, lower, upper, last = (model.geom(name).id for name in ("floor", "lower", "upper", "last"))
    slip = pair_slip(engine, np.array([[last, floor], [upper, lower], [floor, lower]]))
    assert slip.sliding == {0}
    assert slip.sticking == {1, 2}
