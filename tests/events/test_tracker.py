"""Events of whole simulations: the same at any frame rate, after going back, and after a reset."""

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.event_log import LogEntry
from contact_viewer.events.tracker import ContactTracker, TrackingOptions, default_pairs
from contact_viewer.mjmodel.pair_selection import all_pairs
from contact_viewer.session.pace import Pace
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

Row = tuple[float, str, str, float, float, float, float, float]


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def open_session(
    scene: str | Path | Any, options: TrackingOptions | None = None, engine: str = "mujoco"
) -> tuple[Session, ContactTracker, Clock]:
    session = Session(open_engine(scene, engine), ViewState())
    clock = Clock()
    session.pace = Pace(clock=clock)
    tracker = ContactTracker(session.engine, options=options)
    session.simulation.observers.append(tracker)
    return session, tracker, clock


def play(session: Session, clock: Clock, seconds: float, fps: float) -> None:
    """Run as a window does: frame by frame, each with its budget."""
    end = session.engine.time + seconds
    while session.engine.time < end - 1e-9:
        session.advance(math.inf)
        clock.now += 1 / fps


def run_to(session: Session, time: float) -> None:
    """Take single steps up to a time."""
    while session.engine.time < time - 1e-9:
        session.take_steps(1)


def row(entry: LogEntry) -> Row:
    contact = entry.contact
    speed, duration = entry.approach_speed, entry.event.duration
    return entry.time, entry.subject, entry.kind, speed, contact.peak_force, contact.begin, contact.end, duration


def rows(tracker: ContactTracker) -> list[Row]:
    return [row(entry) for entry in tracker.log]


def same(one: list[Row], other: list[Row]) -> None:
    assert [entry[1:3] for entry in one] == [entry[1:3] for entry in other]
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.array(ours[3:] + ours[:1], float), np.array(theirs[3:] + theirs[:1], float))


@pytest.mark.parametrize("scene", ["bounce", "targets"])
@pytest.mark.parametrize("precise", [False, True])
def test_the_list_is_the_same_at_any_frame_rate_and_headless(scene: str, precise: bool) -> None:
    options = TrackingOptions(precise=precise)
    engine = open_engine(scene)
    headless = ContactTracker(engine, options=options)
    for _ in range(600):
        engine.step()
        headless.after_step(Step(engine))
    expected = rows(headless)
    assert len(expected) > 10
    for fps in (10, 60, 1000):
        session, tracker, clock = open_session(scene, options)
        play(session, clock, 1.2, fps)
        now = min(session.engine.time, engine.time)
        found = [entry for entry in rows(tracker) if entry[0] < 1.19]
        wanted = [entry for entry in expected if entry[0] < 1.19]
        assert now >= 1.2 - 1e-9
        assert [entry[:4] for entry in found if entry[3] == entry[3]] == [
            entry[:4] for entry in wanted if entry[3] == entry[3]
        ]
        assert len(found) == len(wanted)


@pytest.mark.parametrize("back", [0.1, 0.2856, 0.32, 0.7, 0.9001])
def test_going_back_and_on_gives_the_same_list(back: float) -> None:
    straight, expected, _ = open_session("bounce")
    run_to(straight, 1.5)
    session, tracker, clock = open_session("bounce")
    play(session, clock, 1.2, 60)
    before = rows(tracker)
    session.go_to_time(back)
    # Looking back forgets nothing.
    same(rows(tracker), before)
    session.toggle_paused()
    run_to(session, 1.5)
    same(rows(tracker), rows(expected))
    assert tracker.pairs.events.contacts.keys() == expected.pairs.events.contacts.keys()


def test_going_back_and_returning_to_the_end_loses_nothing() -> None:
    straight, expected, _ = open_session("bounce")
    run_to(straight, 1.0)
    session, tracker, _ = open_session("bounce")
    # 0.286 s: the step in which four balls meet the slab is not seen yet.
    for stop in (0.286, 0.336, 0.62, 1.0):
        run_to(session, stop)
        assert session.history is not None
        session.go_to_time(0.05)
        session.go_to(session.history.last)
        session.toggle_paused()
    same(rows(tracker), rows(expected))


def test_reset_starts_again() -> None:
    session, tracker, _ = open_session("bounce")
    run_to(session, 0.5)
    first = rows(tracker)
    session.reset()
    run_to(session, 0.004)
    assert rows(tracker) == []
    run_to(session, 0.5)
    same(rows(tracker), first)
    assert tracker.sensors.timing.contact_count.tolist() == [1, 1, 1, 1, 1]


def test_a_reset_without_notice_starts_again() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(250):
        engine.step()
        tracker.after_step(Step(engine))
    assert len(tracker.log) > 4
    engine.reset()
    engine.step()
    tracker.after_step(Step(engine))
    assert len(tracker.log) == 0
    assert tracker.time == engine.time


def test_a_reset_after_the_first_step_starts_again() -> None:
    """A second first step ends at the same time as the one before."""
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    for _ in range(2):
        engine.reset()
        engine.step()
        tracker.after_step(Step(engine))
        assert tracker.time == engine.time == pytest.approx(0.002)
        assert tracker.sensors.timing.steps.tolist() == [1] * 5


def test_a_contact_that_is_open_at_reset_ends_without_an_event() -> None:
    session, tracker, clock = open_session("bounce")
    play(session, clock, 0.3, 60)
    assert tracker.pairs.events.in_contact.sum() == 5
    session.reset()
    session.step_once()
    session.step_once()
    assert len(tracker.log) == 0
    assert tracker.pairs.events.in_contact.sum() == 1


def test_another_scene_has_pairs_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    geoms = '<body pos="0 0 {z}"><freejoint/><geom name="{name}" size=".1"/></body>'
    scene = '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>{geoms}</worldbody></mujoco>'
    path.write_text(scene.format(geoms=geoms.format(z=0.2, name="a") + geoms.format(z=0.5, name="b")))
    session, tracker, clock = open_session(path)
    play(session, clock, 0.5, 60)
    names = {entry.subject for entry in tracker.log}
    assert names == {"floor × a", "a × b"}
    path.write_text(scene.format(geoms=geoms.format(z=0.3, name="a")))
    session, tracker, clock = open_session(path)
    play(session, clock, 0.5, 60)
    assert {entry.subject for entry in tracker.log} == {"floor × a"}


def test_peaks_are_the_largest_forces_that_mujoco_reports() -> None:
    engine = open_engine("bounce")
    model, data = engine.model, engine.data
    tracker = ContactTracker(engine)
    forces: dict[str, list[float]] = {}
    wrench = np.zeros(6)
    for _ in range(400):
        engine.step()
        tracker.after_step(Step(engine))
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, wrench)
            names = {model.geom(int(geom)).name for geom in data.contact.geom[i]}
            forces.setdefault("".join(names - {"slab"}), []).append(wrench[0])
        for sensor in tracker.sensors.names:
            forces.setdefault(sensor, []).append(float(engine.get_contact_force_magnitude(sensor)[0]))
    first_contacts = {entry.subject: entry.contact for entry in reversed(tracker.log.entries)}
    for name in ("soft", "lively", "everlasting", "dead"):
        assert first_contacts[f"slab × {name}"].peak_force == pytest.approx(max(forces[name]), rel=1e-12)
        assert first_contacts[f"{name}_ball"].peak_force == pytest.approx(max(forces[f"{name}_ball"]), rel=1e-12)
    # A ball that bounces back presses with twice its momentum over the time it takes.
    soft = first_contacts["slab × soft"]
    assert soft.peak_force > 0.4 * 2 * 2.8 / soft.duration(math.nan)
    assert soft.begin < soft.peak_time < soft.end


def test_times_of_sensors() -> None:
    session, tracker, clock = open_session("bounce")
    play(session, clock, 2.0, 60)
    timing = tracker.sensors.timing
    for i, name in enumerate(tracker.sensors.names):
        begins = [entry for entry in tracker.log if entry.sensor == i and entry.kind == "begin"]
        assert timing.contact_count[i] == len(begins) + (name == "heavy_ball")
    lively = tracker.sensors.names.index("lively_ball")
    contacts = [entry.contact for entry in tracker.log if entry.sensor == lively and entry.kind == "end"]
    assert timing.last_contact_time[lively] == pytest.approx(contacts[-1].end - contacts[-1].begin)
    assert timing.last_air_time[lively] == pytest.approx(contacts[-1].begin - contacts[-2].end)
    touching = sum(contact.end - contact.begin for contact in contacts)
    assert timing.duty_factor[lively] == pytest.approx(touching / session.engine.time, abs=0.002)


def test_raw_and_debounced_contact_of_sensors() -> None:
    options = TrackingOptions(on=5.0, off=2.0, min_duration=0.02)
    session, tracker, _ = open_session("bounce", options)
    lively = tracker.sensors.names.index("lively_ball")
    raw_first = debounced_first = math.nan
    for _ in range(200):
        session.step_once()
        if tracker.sensors.trigger.raw[lively] and math.isnan(raw_first):
            raw_first = session.engine.time
        if tracker.sensors.trigger.debounced[lively] and math.isnan(debounced_first):
            debounced_first = session.engine.time
    assert debounced_first == pytest.approx(raw_first + 0.02)
    entry = next(entry for entry in tracker.log if entry.sensor == lively)
    assert entry.time == pytest.approx(raw_first - 0.002)
    assert entry.seen == pytest.approx(debounced_first)
    # In order of time, though it was found later than others.
    assert [one.time for one in tracker.log] == sorted(one.time for one in tracker.log)


@pytest.mark.parametrize(
    ("broken", "subject"),
    [
        (Break(BreakWhen.BEGIN), "slab × dead begins"),
        (Break(BreakWhen.END, pair_id=1), "slab × soft ends"),
        (Break(BreakWhen.BEGIN, sensor=2), "lively_ball begins"),
        (Break(BreakWhen.FORCE, pair_id=0, force=100.0), "slab × dead exceeds 100 N: 120 N"),
        (Break(BreakWhen.FORCE, sensor=2, force=70.0), "lively_ball exceeds 70 N"),
        (Break(BreakWhen.FORCE, force=100.0), "any pair exceeds 100 N: 120 N"),
    ],
)
def test_breaks(broken: Break, subject: str) -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    hits: list[str] = []
    tracker.on_break = hits.append
    tracker.breaks = [broken, Break(BreakWhen.BEGIN, enabled=False)]
    while not hits:
        engine.step()
        tracker.after_step(Step(engine))
    assert hits[0].startswith(subject)
    if broken.when is BreakWhen.FORCE:
        sensor = {"slab × dead": "dead_ball", "any pair": "dead_ball"}.get(subject.split(" exceeds")[0], "lively_ball")
        assert engine.get_contact_force_magnitude(sensor)[0] > broken.force
        # Still above: that is no new reason to stop.
        engine.step()
        tracker.after_step(Step(engine))
        assert len(hits) == 1
    elif broken.when is BreakWhen.BEGIN:
        # The arrays of this very step show it.
        assert engine.get_contact_force_magnitude("dead_ball")[0] > 0


def test_a_break_looks_at_its_own_sensor_alone() -> None:
    engine = open_engine("bounce")
    tracker, names = ContactTracker(engine), engine.sensors.names
    hits: list[str] = []
    tracker.on_break = hits.append
    tracker.breaks = [Break(BreakWhen.FORCE, sensor=i, force=30.0) for i in range(len(names))]
    above, expected = dict.fromkeys(names, True), []
    for _ in range(600):
        engine.step()
        tracker.after_step(Step(engine))
        for name in names:
            before, above[name] = above[name], engine.get_contact_force_magnitude(name)[0] > 30.0
            if above[name] and not before:
                expected.append(name)
    assert [hit.split()[0] for hit in hits] == expected
    assert len(set(expected)) > 2


def test_a_break_looks_at_its_own_pair_alone() -> None:
    """The pairs of `bounce` are pressed by different weights, and at different times."""
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    labels = tracker.pairs.labels
    hits: list[str] = []
    tracker.on_break = hits.append
    tracker.breaks = [Break(BreakWhen.FORCE, pair_id=i, force=30.0) for i in range(len(labels))]
    above, expected = dict.fromkeys(labels, True), []
    wrench = np.zeros(6)
    for _ in range(600):
        engine.step()
        tracker.after_step(Step(engine))
        forces = dict.fromkeys(labels, 0.0)
        for i in range(engine.data.ncon):
            mujoco.mj_contactForce(engine.model, engine.data, i, wrench)
            names = [engine.model.geom(int(geom)).name for geom in engine.data.contact.geom[i]]
            forces[" × ".join(sorted(names, key="slab".__ne__))] += float(wrench[0])
        for label in labels:
            before, above[label] = above[label], forces[label] > 30.0
            if above[label] and not before:
                expected.append(label)
    assert [hit.partition(" exceeds")[0] for hit in hits] == expected
    assert len(set(expected)) > 2


def test_a_break_on_any_pair_feels_each_of_them() -> None:
    """One box lies on the floor, and another falls on it: the pair that comes last in the list is pressed hardest."""
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 .099"><freejoint/><geom name="light" type="box" size=".1 .1 .1" mass="1"/></body>
            <body pos="1 0 .4"><freejoint/><geom name="heavy" type="box" size=".1 .1 .1" mass="20"/></body>
          </worldbody>
        </mujoco>""")
    engine = open_engine(model)
    tracker = ContactTracker(engine)
    hits: list[str] = []
    tracker.on_break = hits.append
    tracker.breaks = [Break(BreakWhen.FORCE, force=100.0)]
    while not hits and engine.time < 1:
        engine.step()
        tracker.after_step(Step(engine))
    # It has fallen 0.3 m.
    assert engine.time == pytest.approx(math.sqrt(2 * 0.3 / 9.81), abs=0.006)


def test_breaks_on_pairs_go_with_the_pairs_and_others_stay() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    any_pair, of_pair, of_sensor = (
        Break(BreakWhen.BEGIN),
        Break(BreakWhen.END, pair_id=1),
        Break(BreakWhen.END, sensor=1),
    )
    tracker.breaks = [any_pair, of_pair, of_sensor]
    tracker.select(all_pairs(engine.model))
    assert tracker.breaks == [any_pair, of_sensor]


def test_a_contact_that_was_undone_at_an_instant_that_was_returned_to_ends_there() -> None:
    """Someone returns to a landed ball, and lifts it before the simulation goes on."""
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 .15"><freejoint/><geom name="ball" size=".1"/></body>
          </worldbody>
        </mujoco>""")
    session, tracker, _ = open_session(model)
    run_to(session, 0.8)
    (landing,) = tracker.log
    assert landing.contact.lasting
    session.go_to_time(0.4)
    engine = session.engine
    session.toggle_paused()
    engine.data.qpos[2] = 0.5
    engine.data.qvel[:] = 0.0
    run_to(session, 0.5)
    assert tracker.pairs.events.contacts == {}
    assert not landing.contact.lasting
    assert landing.contact.end == pytest.approx(0.4, abs=0.003)


def test_a_sensor_between_its_thresholds_stays_without_contact_after_a_return() -> None:
    """The heavy ball presses with 39 N from the start: more than ends a contact, and less than begins one."""
    session, tracker, _ = open_session("bounce", TrackingOptions(on=60.0, off=5.0))
    heavy = tracker.sensors.names.index("heavy_ball")
    # The others have landed, and are in contact.
    run_to(session, 0.32)
    assert tracker.pairs.events.in_contact.sum() == 5
    for _ in range(2):
        assert 5.0 < tracker.sensors.forces[heavy] < 60.0
        assert not tracker.sensors.trigger.debounced[heavy]
        session.go_to_time(0.31)
        session.toggle_paused()
        run_to(session, 0.32)


def test_a_sensor_that_is_read_in_another_way_goes_on_in_contact() -> None:
    session, tracker, _ = open_session("bounce")
    heavy = tracker.sensors.names.index("heavy_ball")
    run_to(session, 0.1)
    session.engine.set_reduce("heavy_ball", "netforce")
    run_to(session, 0.2)
    assert tracker.sensors.timing.contact_time[heavy] == pytest.approx(0.2)
    assert not [entry for entry in tracker.log if entry.sensor == heavy]


def test_contact_of_a_sensor_is_more_than_one_newton_until_less_than_half_of_one() -> None:
    trigger = ContactTracker(open_engine("bounce")).sensors.trigger
    forces = [[force] * 5 for force in (0.0, 1.0, 1.01, 0.5, 0.49)]
    kinds = [[str(event.kind) for event in trigger.update(0.002 * i, row)] for i, row in enumerate(forces)]
    assert kinds == [[], [], ["begin"] * 5, [], ["end"] * 5]


def test_a_simulation_that_diverges_keeps_its_list() -> None:
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 .3"><freejoint/><geom name="ball" size=".1"/></body>
          </worldbody>
        </mujoco>""")
    session, tracker, clock = open_session(model)
    play(session, clock, 0.6, 60)
    before = rows(tracker)
    assert before
    session.engine.data.qvel[:] = 1e12
    session.paused = False
    for _ in range(30):
        session.advance(math.inf)
        clock.now += 0.05
    assert session.trouble is not None
    assert rows(tracker)[: len(before)] == before
    session.reset()
    session.paused = False
    play(session, clock, 0.6, 60)
    assert [entry[:3] for entry in rows(tracker)] == [entry[:3] for entry in before]


def test_environments_are_tracked_one_at_a_time() -> None:
    session = Session(open_engine("bounce", num_envs=2), ViewState())
    tracker = ContactTracker(session.engine)
    session.simulation.observers.append(tracker)
    session.take_steps(200)
    assert len(tracker.log) > 4
    session.show_environment(1)
    session.take_steps(1)
    assert len(tracker.log) == 0
    session.take_steps(300)
    assert {entry.subject for entry in tracker.log} >= {"slab × soft", "soft_ball"}


def test_other_engines_are_tracked_by_their_positions() -> None:
    session, tracker, clock = open_session("bounce", engine="motrix")
    play(session, clock, 1.0, 60)
    entries = [entry for entry in tracker.log if entry.pair_id is not None]
    begins = {entry.subject: entry for entry in reversed(entries) if entry.kind == "begin"}
    assert set(begins) == {"slab × dead", "slab × soft", "slab × lively", "slab × everlasting"}
    for entry in begins.values():
        assert entry.time == pytest.approx(math.sqrt(2 * 0.4 / 9.81), abs=0.002)
        assert entry.approach_speed == pytest.approx(math.sqrt(2 * 9.81 * 0.4), rel=2e-3)
    ends = {entry.subject: entry for entry in reversed(entries) if entry.kind == "end"}
    # The two lively balls leave about as fast as they came.
    for name in ("slab × lively", "slab × everlasting"):
        assert -ends[name].approach_speed == pytest.approx(begins[name].approach_speed, rel=0.05)
        assert ends[name].contact.duration(math.nan) == pytest.approx(0.0497, abs=0.002)


def test_scenes_without_sensors_track_all_pairs() -> None:
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom type="plane" size="1 1 .1"/>
            <body pos="0 0 .3"><freejoint/><geom size=".1"/></body>
            <body pos="1 0 .3"><freejoint/><geom size=".1"/></body>
          </worldbody>
        </mujoco>""")
    assert default_pairs(model).geoms.tolist() == all_pairs(model).geoms.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_curves_show_the_crossing_functions() -> None:
    engine = open_engine("bounce")
    tracker = ContactTracker(engine)
    tracker.curves_wanted_until = math.inf
    for _ in range(300):
        engine.step()
        tracker.after_step(Step(engine))
    times, z1, z2 = tracker.curves
    assert times == pytest.approx(np.arange(300) * 0.002)
    # The heavy ball lies there from the start, the others fall 0.4 m.
    falling = times < 0.28
    assert z2[falling] == pytest.approx(0.4 - 9.81 / 2 * times[falling] * (times[falling] + 0.002) + 2e-8, abs=1e-9)
    assert (z1 < 0).all()
    assert (z2 > 0).all()


@pytest.mark.parametrize("place", ["floor", "ball", "pair"])
def test_a_gap_changes_no_event(place: str) -> None:
    """A gap lists a pair before it touches, without a force: the ball bounces as without one."""

    def run(gap: float) -> list[tuple[float, str]]:
        gaps = {name: f'gap="{gap if name == place else 0}"' for name in ("floor", "ball", "pair")}
        pair = (
            f'<contact><pair geom1="floor" geom2="ball" {gaps["pair"]} solref="-20000 -5"/></contact>'
            if place == "pair"
            else ""
        )
        model = mujoco.MjModel.from_xml_string(f"""
            <mujoco>
              <worldbody>
                <geom name="floor" type="plane" size="1 1 .1" {gaps["floor"]} solref="-20000 -5"/>
                <body pos="0 0 .4"><freejoint/><geom name="ball" size=".1" {gaps["ball"]} solref="-20000 -5"/></body>
              </worldbody>{pair}
            </mujoco>""")
        engine = open_engine(model)
        tracker = ContactTracker(engine)
        for _ in range(1500):
            engine.step()
            tracker.after_step(Step(engine))
        return [(entry.time, str(entry.kind)) for entry in tracker.log]

    without, with_gap = run(0.0), run(0.05)
    assert len(without) > 8
    assert [kind for _, kind in with_gap] == [kind for _, kind in without]
    np.testing.assert_allclose([time for time, _ in with_gap], [time for time, _ in without], atol=1e-6)


@pytest.mark.parametrize("precise", [False, True])
def test_who_begins_contact_approaches(precise: bool) -> None:
    """In a stirred pile contact forces turn velocities within the very step in which geoms meet."""
    engine = open_engine("pile")
    engine.step(200)
    tracker = ContactTracker(engine, options=TrackingOptions(precise=precise), limit=None)
    for _ in range(60 if precise else 400):
        engine.step()
        tracker.after_step(Step(engine))
    speeds = [entry.approach_speed for entry in tracker.log if entry.pair_id is not None and entry.kind == "begin"]
    assert len(speeds) > (40 if precise else 500)
    assert min(speeds) >= 0
