"""A session on the scene read again goes on where the other stood, with everything that a user chose."""

from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.tracker import TrackingOptions
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.spec_changes import SensorChange
from contact_viewer.sensors.contact_declaration import ContactDeclaration
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.carry_over import successor
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from contact_viewer.touch.declaration import TouchDeclaration
from contact_viewer.touch.device import TouchType
from numpy.typing import NDArray

SCENE = """<mujoco>
  <custom><text name="touch:sole" data="type=force body=ball"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 .3"><freejoint/><geom name="ball" size=".1" mass="{mass}" solref="-2000 -10"/></body>
  </worldbody>
  <sensor><contact name="a" geom1="floor" num="3"/><contact name="b" geom2="ball"/></sensor>
  <keyframe><key name="high" qpos="0 0 1 1 0 0 0"/></keyframe>
</mujoco>"""
MADE = SensorChange(ContactDeclaration("made"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(mass=1))
    return path


@pytest.fixture(autouse=True)
def has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time to take all steps again, however busy the machine is."""
    monkeypatch.setattr("contact_viewer.session.carry_over._RETRACE_TIME", 60.0)


def running(path: Path, steps: int, *changes: SensorChange, paused: bool = True) -> Session:
    session = Session(MujocoEngine(open_safely(path, changes=changes)), ViewState())
    session.track_events()
    session.take_steps(steps)
    session.paused = paused
    return session


def reopened(session: Session, path: Path, *changes: SensorChange) -> Session:
    return successor(session, [MujocoEngine(open_safely(path, changes=changes))])


def first_touch(path: Path) -> int:
    """The step after which the ball first touches the floor."""
    engine = open_engine(path)
    step = 0
    while not engine.array("a")[0]:
        engine.step()
        step += 1
    return step


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_step_that_stands_still_shows_the_forces_that_were_applied_in_it(path: Path, after: int) -> None:
    steps = first_touch(path) + after
    declared, session = running(path, steps, MADE), running(path, steps)
    session = reopened(session, path, MADE)
    assert session.engine.time == declared.engine.time
    for name in ("a", "b", "made"):
        assert session.engine.array(name).tobytes() == declared.engine.array(name).tobytes()
    assert session.reading("made").reported == 1
    for _ in range(100):
        session.step_once()
        declared.step_once()
    assert session.engine.data.qpos.tobytes() == declared.engine.data.qpos.tobytes()
    assert session.engine.array("made").tobytes() == declared.engine.array("made").tobytes()


def test_an_earlier_step_that_is_looked_at_is_kept(path: Path) -> None:
    session = running(path, 200)
    session.go_to(150)
    qpos = session.engine.data.qpos.tobytes()
    session = reopened(session, path, MADE)
    assert session.engine.data.qpos.tobytes() == qpos
    assert session.engine.time == pytest.approx(0.3)


def test_what_a_hand_moved_or_the_file_changed_stays(path: Path) -> None:
    session = running(path, 100)
    session.engine.data.qpos[0] += 0.25
    session.engine.data.xfrc_applied[1, 2] = 3.0
    moved = session.engine.data.qpos.copy()
    session = reopened(session, path, MADE)
    np.testing.assert_array_equal(session.engine.data.qpos, moved)
    assert session.engine.data.xfrc_applied[1, 2] == 3.0
    path.write_text(SCENE.format(mass=7))
    session = reopened(session, path)
    np.testing.assert_array_equal(session.engine.data.qpos, moved)
    assert session.engine.model.body_mass[1] == 7


def test_choices_go_along(path: Path) -> None:
    session = running(path, 50, paused=False)
    session.set_reduce("a", "netforce")
    session.watch_all()
    session.visible["b"] = False
    session.selected = "b"
    session.reset("high")
    assert session.events is not None
    session.events.configure(TrackingOptions(on=2.0, off=1.0))
    session.events.breaks = [Break(BreakWhen.BEGIN, sensor=1), Break(BreakWhen.FORCE, force=5.0)]
    labels = [session.events.break_label(each) for each in session.events.breaks]
    touch = session.engine.touch_sensors
    assert touch is not None
    touch.change("sole", lookup_table=((0, 0, 0), (10, 20, 0)))
    touch.add(TouchDeclaration("more", TouchType.BUMPER, body="ball"))
    session = reopened(session, path, MADE)
    assert not session.paused
    assert [sensor.name for sensor in session.engine.sensors] == ["a", "b", "made", "all contacts"]
    assert session.engine.sensors["a"].reduce == "netforce"
    assert session.engine.sensors["a"].modified
    assert session.visible == {"a": True, "b": False, "made": True, "all contacts": True}
    assert session.selected == "b"
    assert session.events is not None
    assert session.events.options.on == 2.0
    assert [session.events.break_label(each) for each in session.events.breaks] == labels
    touch = session.engine.touch_sensors
    assert touch is not None
    assert {sensor.name: sensor.modified for sensor in touch} == {"sole": True, "more": True}
    assert touch["sole"].device.lookup_table == ((0, 0, 0), (10, 20, 0))
    fed = len(touch["sole"].history)
    session.take_steps(3)
    assert len(touch["sole"].history) == fed + 3
    session.reset()
    assert session.engine.data.qpos[2] == 1


def test_changes_in_the_file_win(path: Path) -> None:
    session = running(path, 50)
    session.set_reduce("a", "netforce")
    touch = session.engine.touch_sensors
    assert touch is not None
    touch.change("sole", lookup_table=((0, 0, 0), (10, 20, 0)))
    text = SCENE.format(mass=1).replace("type=force", "type=bumper").replace('num="3"', 'num="3" reduce="mindist"')
    path.write_text(text)
    session = reopened(session, path)
    assert session.engine.sensors["a"].reduce == "mindist"
    touch = session.engine.touch_sensors
    assert touch is not None
    assert touch["sole"].device.type is TouchType.BUMPER
    assert not touch["sole"].modified


def test_another_scene_starts_from_its_beginning(path: Path) -> None:
    session = successor(running(path, 50), [open_engine("slope")])
    assert session.engine.time == 0
    assert session.events is None


def contact_bytes(session: Session) -> bytes:
    batch = session.engine.contacts("made")
    assert batch.force is not None
    assert batch.pos is not None
    return batch.force.tobytes() + batch.pos.tobytes()


@pytest.mark.parametrize("shown", [None, 260, 40])
@pytest.mark.parametrize(
    "option",
    [
        "",
        '<option integrator="implicitfast" cone="elliptic"/>',
        '<option sleep_tolerance=".01"><flag sleep="enable"/></option>',
    ],
    ids=["plain", "elliptic", "sleep"],
)
def test_a_new_sensor_has_a_past(path: Path, option: str, shown: int | None) -> None:
    scene = SCENE.format(mass=1).replace("<keyframe>", "<!--").replace("</keyframe>", "-->")
    crate = '<body pos=".6 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body></worldbody>'
    path.write_text(scene.replace("<worldbody>", f"{option}<worldbody>", 1).replace("</worldbody>", crate))
    declared, session = running(path, 0, MADE), running(path, 0)
    expected = {}
    for each in (declared, session):
        for step in range(400):
            # A push by hand in between.
            each.engine.data.xfrc_applied[1, 2] = 30.0 if 100 <= step < 120 else 0.0
            each.take_steps(1)
            if each is declared:
                expected[each.engine.time] = contact_bytes(each)
    assert session.events is not None
    events = [(entry.time, entry.kind) for entry in session.events.log if entry.sensor == 1]
    assert len(events) > 2
    assert ("sleep" in option) == (session.engine.data.ntree_awake < 2)
    if shown is not None:
        session.go_to(shown)
    qpos, time = session.engine.data.qpos.tobytes(), session.engine.time
    session = reopened(session, path, MADE)
    assert session.engine.data.qpos.tobytes() == qpos
    assert session.engine.time == time
    assert session.history is not None
    assert (session.history.first, session.history.last) == (0, 400)
    assert session.history.current == (400 if shown is None else shown)
    assert session.events is not None
    assert [(entry.time, entry.kind) for entry in session.events.log if entry.sensor == 1] == events
    touched = 0
    for step in range(1, 401, 7):
        session.go_to(step)
        assert contact_bytes(session) == expected[session.engine.time]
        touched += session.reading("made").reported
    assert touched > 5


def bounced(path: Path, steps: int, *changes: SensorChange) -> Session:
    """Pushed by hand from time to time, so that the ball never rests."""
    session = running(path, 0, *changes)
    for step in range(steps):
        session.engine.data.xfrc_applied[1, 2] = 14.0 if step % 200 < 100 else 0.0
        session.take_steps(1)
    session.paused = True
    return session


def curve(session: Session, name: str, signal: Signal = Signal.NORMAL) -> NDArray[np.float32]:
    history = session.history
    assert history is not None
    while not history.curves.update(10_000):  # type: ignore[call-arg]
        pass
    return history.curves.values(name, signal, history.first, history.last + 1)


@pytest.mark.parametrize("megabytes", [64.0, 0.6], ids=["whole", "forgotten"])
def test_curves_of_a_new_sensor_are_filled_in_while_the_scene_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: float
) -> None:
    monkeypatch.setattr("contact_viewer.session.carry_over._RETRACE_TIME", 0.005)
    declared, session = bounced(path, 3000, MADE), bounced(path, 0)
    session.set_history(megabytes)
    for step in range(3000):
        session.engine.data.xfrc_applied[1, 2] = 14.0 if step % 200 < 100 else 0.0
        session.take_steps(1)
    assert session.events is not None
    events = [(entry.time, entry.kind, entry.subject) for entry in session.events.log]
    assert len(events) > 10
    session = reopened(session, path, MADE)
    history, filling = session.history, session.filling
    assert history is not None
    assert filling is not None
    assert history.last == 3000
    assert (history.first == 0) is (megabytes > 1)
    assert 2000 < history.unread < 3000
    newest = curve(session, "made")
    assert len(newest) == 3001 - history.unread
    assert session.events is not None
    seen = [(entry.time, entry.kind, entry.subject) for entry in session.events.log if entry.subject != "made"]
    assert seen == events
    # A step that is not filled in is shown as it was.
    session.go_to(history.first + 20)
    time = session.engine.time
    batch = session.engine.contacts("made")
    assert batch.force is not None
    shown = batch.force[batch.filled][:, 0].sum()
    session.go_to(history.last)
    parts = []
    while session.filling is not None:
        parts.append(filling.progress)
        session.take_steps(1)
        declared.engine.data.xfrc_applied[:] = session.engine.data.xfrc_applied
        declared.take_steps(1)
        session.advance(0.001)
        if filling._thread is not None:
            filling._thread.join()
    assert all(part is None or 0.0 <= part <= 1.0 for part in parts)
    assert history.unread <= history.first
    values, expected = curve(session, "made"), curve(declared, "made")
    assert len(values) == len(history)
    np.testing.assert_array_equal(values, expected[history.first : history.last + 1])
    place = history.step_at(time) - history.first
    assert values[place] == pytest.approx(shown, rel=1e-5)
    low, high = (
        each.reduce(["made"], [Signal.NORMAL], history.first, history.last + 1, 40)
        for each in (history.curves, declared.history.curves)  # type: ignore[union-attr]
    )
    # The first column may begin a little before the oldest step.
    np.testing.assert_array_equal(low.high[..., 1:], high.high[..., 1:])


def test_a_run_that_goes_another_way_while_its_past_is_filled_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.session.carry_over._RETRACE_TIME", 0.005)
    declared, session = bounced(path, 1500, MADE), reopened(bounced(path, 2500), path, MADE)
    history, filling = session.history, session.filling
    assert history is not None
    assert filling is not None
    filling.advance()
    session.go_to(1500)
    session.engine.data.xfrc_applied[:] = 0.0
    declared.engine.data.xfrc_applied[:] = 0.0
    for each in (session, declared):
        each.take_steps(1500)
    filling.wait()
    assert history.last == 3000
    np.testing.assert_array_equal(curve(session, "made"), curve(declared, "made"))
    session.reset()
    filling.advance()
    assert filling.progress is None
    assert len(curve(session, "made")) == 1


def test_a_changed_file_starts_a_new_past(path: Path) -> None:
    session = running(path, 600)
    time = session.engine.time
    path.write_text(SCENE.format(mass=2))
    session = reopened(session, path, MADE)
    assert session.history is not None
    assert session.history.last == 0
    assert session.filling is None
    assert session.engine.time == time


def test_all_environments_go_along(path: Path) -> None:
    def opened(*changes: SensorChange) -> MujocoEngine:
        return MujocoEngine(open_safely(path, changes=changes), num_envs=3)

    session = Session(opened(), ViewState())
    for env in range(3):
        session.simulation.engine.pose(env).qvel[0] = env
    session.take_steps(100)
    session.show_environment(2)
    before = [session.simulation.engine.pose(env).qpos.copy() for env in range(3)]
    session = successor(session, [opened(MADE)])
    assert session.env == 2
    assert "made" in session.engine.sensors.names
    for env in range(3):
        np.testing.assert_array_equal(session.simulation.engine.pose(env).qpos, before[env])
    assert session.engine.data.qpos[0] > 0.1
