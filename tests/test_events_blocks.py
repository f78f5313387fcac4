"""Steps that are put by and looked at together, against steps that are looked at one by one."""

import math
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.following.tracking import ContactTracker, TrackingOptions
from contact_viewer.sensors.breaks import Break, BreakWhen

STEPS = 400
RESTING = """
<mujoco>
  <option cone="{cone}"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body pos="0 0 .25" gravcomp="{floats}"><freejoint/><geom name="box" type="box" size=".25 .25 .25" mass="3"/></body>
    <body pos="1 0 .6"><freejoint/><geom name="ball" size=".1" mass="1"/></body>
    <body pos="-1 0 1"><joint name="hinge" axis="0 1 0" range="-1 1" damping=".01"/>
      <geom name="arm" type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>"""


def leave_alone(engine: Engine, step: int) -> None:
    """Only step."""


def meddle(engine: Engine, step: int) -> None:
    """What a person does while it runs, at steps that divide no number of steps that are put by."""
    if step % 37 == 5:
        # In turns more and less of what is pressed counts.
        engine.set_reduce(engine.sensors.names[0], "maxforce" if step % 2 else "none")
    if step == 203:
        engine.watch_all()
    if step == 290:
        engine.data.qvel[:] += 0.2


def told(tracker: ContactTracker) -> dict[str, Any]:
    """Everything that can be asked."""
    timing, trigger = tracker.sensors.timing, tracker.sensors.trigger
    contacts = [
        (entry.contact.begin, entry.contact.end, entry.contact.peak_force, entry.contact.peak_time)
        for entry in tracker.log
    ]
    return {
        "entries": [repr(entry._replace(contact=None)) for entry in tracker.log],  # type: ignore[arg-type]
        "contacts": repr(contacts),
        "sensor forces": tracker.sensors.forces.tolist(),
        "pair forces": (tracker.pairs.pressed_pairs.tolist(), tracker.pairs.forces.tolist()),
        "times": [
            getattr(timing, name).tolist()
            for name in ("air_time", "contact_time", "last_air_time", "last_contact_time", "duty_factor")
        ],
        "flags": [timing.first_contact.tolist(), timing.first_air.tolist(), timing.contact_count.tolist()],
        "states": [trigger.raw.tolist(), trigger.debounced.tolist(), tracker.pairs.events.in_contact.tolist()],
    }


@pytest.mark.parametrize("act", [leave_alone, meddle])
@pytest.mark.parametrize("options", [TrackingOptions(), TrackingOptions(eps=1e-5, min_duration=0.007, on=3.0)])
@pytest.mark.parametrize("integrator", ["EULER", "RK4"])
@pytest.mark.parametrize("scene", ["slope", "bounce", "clamp", "targets", "touch"])
def test_when_it_is_asked_changes_nothing(
    scene: str, integrator: str, options: TrackingOptions, act: Callable[[Engine, int], None]
) -> None:
    engine = open_engine(scene)
    engine.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    asked, silent = (ContactTracker(engine, options=options) for _ in range(2))
    for step in range(STEPS):
        act(engine, step)
        engine.step()
        for tracker in (asked, silent):
            tracker.after_step(engine)
        answer = told(asked)
        if step in (59, 233):
            assert told(silent) == answer
    assert answer["entries"]
    assert told(silent) == answer


def test_who_looks_at_every_step_sees_the_same() -> None:
    """A ball rolls from tile to tile: one takes the place of another in the list, which stays as long as it was."""
    tiles = "".join(
        f'<geom name="tile{i}" type="box" pos="{0.05 * i - 0.2:.2f} 0 -.01" size=".0249 .1 .01"/>' for i in range(12)
    )
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <worldbody>
            {tiles}
            <body pos="-.2 0 .03"><freejoint/><geom name="ball" size=".03" condim="1" mass=".1"/></body>
            <body pos="-.2 .07 .02"><freejoint/><geom name="slow" size=".02" condim="1" mass=".1"/></body>
          </worldbody>
        </mujoco>""")
    engine = open_engine(model)
    silent, looking = (ContactTracker(engine) for _ in range(2))
    # A break, even one that is switched off, has every step looked at.
    looking.breaks = [Break(BreakWhen.BEGIN, enabled=False)]
    engine.data.qvel[0], engine.data.qvel[6] = 0.6, 0.1
    counts, lists = set(), set()
    for _ in range(300):
        engine.step()
        counts.add(engine.data.ncon)
        lists.add(engine.data.contact.geom.tobytes())
        for tracker in (silent, looking):
            tracker.after_step(engine)
    assert len(lists) > len(counts)
    assert len(told(silent)["entries"]) > 5
    assert told(silent) == told(looking)


def test_a_reset_and_a_return_change_nothing() -> None:
    engine = open_engine("slope")
    asked, silent = (ContactTracker(engine) for _ in range(2))
    state = np.empty(mujoco.mj_stateSize(engine.model, mujoco.mjtState.mjSTATE_INTEGRATION))
    for step in range(STEPS):
        if step == 150:
            mujoco.mj_getState(engine.model, engine.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        if step in (170, 351):
            mujoco.mj_setState(engine.model, engine.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        if step == 263:
            engine.reset()
        for tracker in (asked, silent):
            if step in (170, 263, 351):
                tracker.after_reset(engine)
        engine.step()
        for tracker in (asked, silent):
            tracker.after_step(engine)
        told(asked)
    assert told(silent) == told(asked)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("floats", [0, 1])
def test_forces_are_those_of_mujoco(cone: str, floats: int) -> None:
    """Limits come and go, and a box only just touches, without a constraint: at first, or, if it floats, always."""
    model = mujoco.MjModel.from_xml_string(RESTING.format(cone=cone, floats=floats))
    engine = open_engine(model)
    tracker = ContactTracker(engine)
    labels, wrench = tracker.pairs.labels, np.zeros(6)
    highest = dict.fromkeys(labels, -math.inf)
    solved, limits = set(), set()
    for step in range(STEPS):
        engine.step()
        tracker.after_step(engine)
        data, pressed = engine.data, dict.fromkeys(labels, 0.0)
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, wrench)
            pressed[" · ".join(model.geom(geom).name for geom in data.contact.geom[i])] += wrench[0]
        highest = {name: max(highest[name], force) for name, force in pressed.items()}
        solved |= set((data.contact.efc_address >= 0).tolist())
        limits.add(data.nl)
        if step % 90 in (0, 71):
            pairs = tracker.pairs
            for pair, force in zip(pairs.pressed_pairs.tolist(), pairs.forces.tolist(), strict=True):
                assert force == pytest.approx(pressed[labels[pair]], abs=1e-9)
    assert solved == {False, True}
    assert limits == {0, 1}
    begins = {entry.subject: entry.contact for entry in tracker.log if entry.kind == "begin"}
    assert set(begins) == ({"floor · ball"} if floats else {"floor · box", "floor · ball"})
    for name, contact in begins.items():
        assert contact.peak_force == pytest.approx(highest[name], rel=1e-12)


def test_a_break_looks_at_what_happens_after_it_was_made() -> None:
    def run(made_after: float, until: float) -> tuple[list[float], ContactTracker]:
        """Times at which a break is hit that is made after a time [s]."""
        engine = open_engine("slope")
        tracker, hits = ContactTracker(engine), []
        tracker.on_break = lambda reason, time: hits.append(time)
        while engine.time < until:
            engine.step()
            tracker.after_step(engine)
            if engine.time > made_after and not tracker.breaks:
                tracker.breaks.append(Break(BreakWhen.BEGIN, sensor=0))
        return hits, tracker

    hits, tracker = run(-1.0, 1.0)
    seen = [entry.seen for entry in tracker.log if entry.sensor == 0 and entry.kind == "begin"]
    assert len(seen) > 0
    assert hits == seen
    # Made right after the step that shows the first one, which was only put by until then.
    assert run(seen[0] - 1e-6, 1.0)[0] == seen[1:]
