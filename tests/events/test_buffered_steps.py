"""Steps are buffered and read together: a read in between gives the values of the newest step."""

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import Step, StepBlock
from contact_viewer.events import tracker as tracking
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.contact_events import ContactEvent, EventRule
from contact_viewer.events.event_log import LogEntry
from contact_viewer.events.pair_contacts import PairContacts
from contact_viewer.events.sensor_contacts import ForceTrigger
from contact_viewer.events.tracker import ContactTracker, TrackingOptions
from contact_viewer.mjmodel.pair_selection import all_pairs, named_pairs
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

DROPS = """
<mujoco>
  <option timestep="0.002" {option}>{flag}</option>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" {floor}/>
    <body pos="0 0 .31"><freejoint/><geom name="ball" size=".1" solref=".01 .3"/></body>
    <body pos=".6 0 .12"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
    <body pos=".6 0 .38"><freejoint/><geom name="upper" type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <sensor>
    <contact name="under_ball" geom1="floor" geom2="ball" num="2"/>
    <contact name="under_box" geom1="floor" geom2="box" num="4"/>
  </sensor>
</mujoco>"""
SCENES = {
    "pyramidal": DROPS.format(option="", flag="", floor=""),
    "elliptic": DROPS.format(option='cone="elliptic"', flag="", floor=""),
    "intermediate": DROPS.format(option='integrator="RK4"', flag="", floor=""),
    "sleep": DROPS.format(option='sleep_tolerance="1e-2"', flag='<flag sleep="enable"/>', floor=""),
    "gap": DROPS.format(option="", flag="", floor='gap="0.03"'),
}


def pair_forces(engine: Engine) -> dict[frozenset[int], float]:
    """Normal forces between geoms by MuJoCo's own function [N]."""
    model, data = engine.model, engine.contact_data()
    forces: dict[frozenset[int], float] = {}
    wrench = np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        pair = frozenset(data.contact.geom[i].tolist())
        forces[pair] = forces.get(pair, 0.0) + float(wrench[0])
    return forces


def summary(entry: LogEntry) -> tuple[float, str, str]:
    return entry.time, entry.subject, str(entry.kind)


@pytest.mark.parametrize("name", SCENES)
def test_every_reader_sees_the_latest_step(name: str, tmp_path: Path) -> None:
    path = tmp_path / "drops.xml"
    path.write_text(SCENES[name])
    engine = open_engine(path)
    unread, watched = (ContactTracker(engine, all_pairs(engine.model)) for _ in range(2))
    peaks: dict[frozenset[int], float] = {}
    strides, until = (1, 1, 2, 3, 1, 5, 8, 1, 13, 2), 0
    seen = 0
    for step in range(400):
        engine.step()
        for tracker in (unread, watched):
            tracker.after_step(Step(engine))
        forces = pair_forces(engine)
        for pair, force in forces.items():
            peaks[pair] = max(peaks.get(pair, 0.0), force)
        if step < until:
            continue
        until = step + strides[step % len(strides)]
        pairs, sensors = watched.pairs, watched.sensors
        geoms = [frozenset(pair) for pair in pairs.choice.geoms.tolist()]
        found = {geoms[i]: force for i, force in zip(pairs.pressed_pairs.tolist(), pairs.forces.tolist(), strict=True)}
        assert found == pytest.approx(forces, rel=1e-9, abs=1e-9)
        felt = [float(engine.get_contact_force_magnitude(sensor)[0]) for sensor in sensors.names]
        assert sensors.forces.tolist() == pytest.approx(felt, rel=1e-9, abs=1e-9)
        # What a step shows is there after it, and not before.
        assert len(watched.log) >= seen
        assert all(entry.seen <= engine.time + 1e-9 for entry in watched.log)
        seen = len(watched.log)
        assert len(pairs._buffered) <= 1, "steps that were read are kept"
    assert [summary(entry) for entry in watched.log] == [summary(entry) for entry in unread.log]
    assert {entry.subject for entry in unread.log} >= {"floor × ball", "box × upper", "under_ball"}
    # Each contact has one peak, from its begin to its end.
    names = [engine.model.geom(i).name for i in range(engine.model.ngeom)]
    for pair, force in peaks.items():
        label = " × ".join(names[i] for i in sorted(pair))
        contacts = {id(e.contact): e.contact for e in unread.log if e.subject == label}
        assert max(contact.peak_force for contact in contacts.values()) == pytest.approx(force, rel=1e-9)
    for end in (entry for entry in unread.log if entry.kind == "end"):
        begins = [entry for entry in unread.log if entry.contact is end.contact and entry.kind == "begin"]
        assert [entry.subject for entry in begins] == [end.subject]
        assert end.contact.end == end.time
        # The force of a step counts from its start, also if the surfaces meet later in it.
        assert end.contact.begin - 0.002 <= end.contact.peak_time <= end.time


def test_a_list_that_is_read_after_every_step_is_complete() -> None:
    engine = open_engine("bounce")
    unread, watched = ContactTracker(engine), ContactTracker(engine)
    known = []
    for _ in range(350):
        engine.step()
        for tracker in (unread, watched):
            tracker.after_step(Step(engine))
        assert watched.time == unread.time == engine.time
        known.append((engine.time, len(watched.log)))
    for time, count in known:
        assert count == sum(entry.seen <= time + 1e-9 for entry in unread.log)


def test_curves_keep_the_last_steps_without_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "CURVE_STEPS", 40)
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    tracker.curves_wanted_until = math.inf
    for count in range(1, 205):
        engine.step()
        tracker.after_step(Step(engine))
        kept = tracker.curves[0]
        assert min(count, 40) <= len(kept) <= 80
        assert kept == pytest.approx((count - len(kept) + np.arange(len(kept))) * 0.002)
    # Other pairs have curves of their own.
    tracker.select(tracker.pairs.choice)
    assert tracker.curves.shape == (3, 0)


def test_curves_end_where_a_run_goes_on_from_an_instant_that_was_returned_to() -> None:
    engine = open_engine("bounce")
    session = Session(engine, ViewState())
    tracker = ContactTracker(session.engine)
    session.simulation.observers.append(tracker)
    tracker.curves_wanted_until = math.inf
    session.simulation.step(200)
    before = tracker.curves.copy()
    session.go_to_time(0.3)
    session.toggle_paused()
    session.simulation.step(10)
    times = tracker.curves[0]
    assert times == pytest.approx(np.arange(160) * 0.002)
    np.testing.assert_allclose(tracker.curves, before[:, :160], atol=1e-12)


def test_curves_are_kept_only_while_someone_looks() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    # At first nobody does.
    for wanted, length in ((tracker.curves_wanted_until, 0), (1e-9, 0), (math.inf, 10)):
        tracker.curves_wanted_until = wanted
        for _ in range(10):
            engine.step()
            tracker.after_step(Step(engine))
        assert tracker.curves.shape[1] == length


def test_other_options_count_from_now_on() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(200):
        engine.step()
        tracker.after_step(Step(engine))
    assert len(tracker.log) > 0
    options = TrackingOptions(eps=1e-3, on=7.0, off=6.0)
    tracker.configure(options)
    assert tracker.options is options
    assert len(tracker.log) == 0
    assert tracker.pairs.events.eps == 1e-3
    assert (tracker.sensors.trigger.on, tracker.sensors.trigger.off) == (7.0, 6.0)


def test_a_sensor_that_is_added_while_others_are_tracked_is_tracked_too() -> None:
    """Watching all contacts adds one, whose contacts are found step by step and not read in rows."""
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(100):
        engine.step()
        tracker.after_step(Step(engine))
    count = len(tracker.sensors.names)
    name = engine.watch_all().name
    for _ in range(100):
        engine.step()
        tracker.after_step(Step(engine))
        sensors = tracker.sensors
        assert sensors.names[count:] == (name,)
        felt = [float(engine.get_contact_force_magnitude(sensor)[0]) for sensor in sensors.names]
        assert sensors.forces.tolist() == pytest.approx(felt, rel=1e-9, abs=1e-9)
    # From the start the heavy ball lies there; the others land at 0.286 s.
    assert sensors.timing.contact_count[count] == 1
    assert sensors.timing.contact_time[count] == pytest.approx(100 * 0.002)
    assert {entry.subject for entry in tracker.log if entry.sensor is not None} >= {"soft_ball", "lively_ball"}


def test_a_break_does_not_stop_a_run_for_what_happened_before_it_was_set() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    hits: list[str] = []
    tracker.on_break = hits.append
    # The balls land at 0.286 s; nobody has read that yet.
    for _ in range(146):
        engine.step()
        tracker.after_step(Step(engine))
    tracker.breaks = [Break(BreakWhen.BEGIN)]
    engine.step()
    tracker.after_step(Step(engine))
    assert hits == []
    assert sum(entry.pair_id is not None and entry.kind == "begin" for entry in tracker.log) == 4


def test_to_track_another_pair_stops_no_run_because_that_one_is_pressed() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine, named_pairs(engine.model, [("slab", "soft")]))
    hits: list[str] = []
    tracker.on_break = hits.append
    tracker.breaks = [Break(BreakWhen.FORCE, force=10.0)]
    for pair in (None, ("slab", "heavy")):
        if pair is not None:
            # It has been lying there all along, with 39 N: that is no rise.
            tracker.select(named_pairs(engine.model, [pair]))
        for _ in range(5):
            engine.step()
            tracker.after_step(Step(engine))
    assert tracker.pairs.forces.max() == pytest.approx(4 * 9.81, rel=0.05)
    assert hits == []


def test_curves_of_runge_kutta_are_those_of_the_state_before_each_step() -> None:
    """As with every integrator. It leaves the positions of another one behind, here of a pendulum with long steps."""
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <option integrator="RK4" timestep="0.05"/>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 1"><joint axis="0 1 0"/><geom name="bob" pos="0 0 -.5" size=".1"/></body>
          </worldbody>
        </mujoco>""")
    engine = open_engine(model)
    tracker = ContactTracker(engine, all_pairs(engine.model))
    tracker.curves_wanted_until = math.inf
    engine.data.qvel[0] = 3.0
    for _ in range(10):
        gap, time = 1 - 0.5 * math.cos(engine.data.qpos[0]) - 0.1, engine.time
        engine.step()
        tracker.after_step(Step(engine))
        assert tracker.curves[0, -1] == time
        assert tracker.curves[2, -1] == pytest.approx(gap + 2e-8, abs=1e-12)


def balls_above_a_floor(**heights: float) -> mujoco.MjModel:
    """Balls of 0.1 m that can only rise and fall, side by side, at these heights [m]."""
    ball = '<body pos="{x} 0 {z}"><joint type="slide" axis="0 0 1"/><geom name="{name}" size=".1" mass="1"/></body>'
    balls = "".join(ball.format(name=name, x=x, z=z) for x, (name, z) in enumerate(heights.items()))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="2 2 .1"/>{balls}</worldbody></mujoco>'
    )


def test_balls_that_take_turns_in_the_same_step_are_noticed() -> None:
    """As many contacts as before, and as many forces, but between others."""
    engine = open_engine(balls_above_a_floor(one=0.0995, other=0.5))
    tracker = ContactTracker(engine)
    for i in range(60):
        if i == 50:
            # Someone lifts one and puts the other down.
            engine.data.qpos[:] = 0.4, -0.4005
            engine.data.qvel[:] = 0.0
        engine.step()
        tracker.after_step(Step(engine))
    seen = {(entry.subject.split()[-1], str(entry.kind)) for entry in tracker.log}
    assert seen == {("one", "end"), ("other", "begin")}


def test_a_ball_that_falls_through_a_floor_without_collisions_meets_it_all_the_same() -> None:
    """Someone switches collisions off while nothing touches: MuJoCo's list stays empty, but surfaces meet."""
    model = balls_above_a_floor(ball=0.5)
    engine = open_engine(model)
    tracker = ContactTracker(engine)
    for i in range(170):
        if i == 20:
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        engine.step()
        tracker.after_step(Step(engine))
    assert engine.data.ncon == 0
    (entry,) = tracker.log
    # It has fallen 0.4 m.
    assert entry.time == pytest.approx(math.sqrt(2 * 0.4 / 9.81), abs=0.002)


def test_forces_of_sensors_are_current_without_other_reads() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(160):
        engine.step()
        tracker.after_step(Step(engine))
    felt = [float(engine.get_contact_force_magnitude(name)[0]) for name in engine.sensors.names]
    assert max(felt) > 50
    assert tracker.sensors.forces.tolist() == pytest.approx(felt, rel=1e-9, abs=1e-9)


def test_before_the_first_step_nothing_is_pressed() -> None:
    tracker = ContactTracker(open_engine("bounce"))
    assert (len(tracker.pairs.pressed_pairs), len(tracker.pairs.forces)) == (0, 0)


def test_a_long_run_buffers_no_more_steps_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "_BUFFER_STEPS", 10)
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(50):
        engine.step()
        tracker.after_step(Step(engine))
        assert tracker._step_count < 10


def test_large_arrays_are_not_buffered_without_bound(tmp_path: Path) -> None:
    """Each sensor has room for 100 contacts: a step of all of them takes some hundred kilobytes."""
    sensors = "".join(f'<contact name="s{i}" geom1="floor" num="100" data="found force"/>' for i in range(10))
    path = tmp_path / "wide.xml"
    path.write_text(SCENES["pyramidal"].replace("</sensor>", f"{sensors}</sensor>"))
    engine = open_engine(path)
    tracker = ContactTracker(engine)
    most = 0
    for _ in range(300):
        engine.step()
        tracker.after_step(Step(engine))
        most = max(most, sum(len(row) for row in tracker._sensors._buffer._rows))
    assert 0.75 * 2**22 < most <= 2**22


def test_a_scene_in_which_nothing_can_touch_is_tracked() -> None:
    engine = open_engine(mujoco.MjModel.from_xml_string("<mujoco/>"))
    tracker = ContactTracker(engine)
    for _ in range(5):
        engine.step()
        tracker.after_step(Step(engine))
    assert len(tracker.log) == 0
    assert tracker.time == pytest.approx(5 * 0.002)


@pytest.mark.parametrize("lifted", [False, True], ids=["at rest", "in the air"])
def test_steps_in_which_nothing_happens_are_read_many_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lifted: bool
) -> None:
    """As long as nothing begins or ends, a step is only kept: to read each one would cost more than many a step."""
    path = tmp_path / "drops.xml"
    path.write_text(SCENES["pyramidal"])
    engine = open_engine(path)
    tracker = ContactTracker(engine)
    for _ in range(1500):
        engine.step()
        tracker.after_step(Step(engine))
    assert len(tracker.log) > 0
    if lifted:
        engine.model.opt.gravity[:] = 0.0
        engine.data.qvel[:] = 0.0
        engine.data.qpos[2::7] += (1.0, 2.0, 3.0)
        for _ in range(10):
            engine.step()
            tracker.after_step(Step(engine))
    assert (engine.data.ncon == 0) == lifted
    calls: list[str] = []
    spied = [(PairContacts, "update"), (StepBlock, "forces"), (ForceTrigger, "update")]
    for owner, name in spied:
        original = getattr(owner, name)

        def count(self: object, *args: object, original: Any = original, name: str = name) -> object:
            calls.append(name)
            return original(self, *args)

        monkeypatch.setattr(owner, name, count)
    for _ in range(400):
        engine.step()
        tracker.after_step(Step(engine))
    felt = tracker.sensors.forces.tolist()
    assert len(calls) < 10, calls
    assert felt == pytest.approx([float(engine.get_contact_force_magnitude(name)[0]) for name in tracker.sensors.names])


def test_modias_rule_reports_a_begin_where_surfaces_have_sunk_in() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine, options=TrackingOptions(eps=1e-3, rule=EventRule.MODIA))
    for _ in range(160):
        engine.step()
        tracker.after_step(Step(engine))
    events = [entry.event for entry in tracker.log if isinstance(entry.event, ContactEvent)]
    begins = [event.distance for event in events if event.kind == "begin"]
    assert begins == pytest.approx([-2e-3] * 4, rel=1e-6)


def test_a_shortest_contact_is_counted_in_the_steps_of_the_scene() -> None:
    model = mujoco.MjModel.from_xml_string(DROPS.format(option="", flag="", floor=""))
    model.opt.timestep = 0.005
    tracker = ContactTracker(open_engine(model), options=TrackingOptions(min_duration=0.02))
    assert tracker.sensors.trigger.min_steps == 4
