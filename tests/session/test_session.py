"""A session without a window: choices in, readings and glyphs out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.errors import SceneError
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.session import SPEEDS, Highlight, Session
from contact_viewer.settings import Options, ViewState


def open_session(scene: str = "quadruped", **options: Any) -> Session:
    return Session(open_engine(scene), ViewState(), Options(scene=Path(scene), **options))


def test_everything_is_visible_and_the_first_sensor_selected() -> None:
    session = open_session()
    assert all(session.visible.values())
    assert session.selected == "foot_FL"


def test_hidden_sensors_draw_nothing() -> None:
    session = open_session()
    session.engine.step(500)
    session.forget()
    everything = session_glyphs(session)
    assert len(everything.spheres) == session.contact_count == 4
    session.visible["foot_FL"] = False
    session.visible["foot_RR"] = False
    assert len(session_glyphs(session).spheres) == session.contact_count == 2


def test_a_contact_that_two_sensors_report_counts_once() -> None:
    session = open_session("targets")
    session.engine.step(700)
    session.forget()
    count, net = session.distinct_contacts
    assert count + net < session.contact_count
    everything = Session(open_engine("targets"), ViewState())
    everything.engine.step(700)
    everything.watch_all()
    everything.visible = {name: everything.engine.sensors[name].virtual for name in everything.visible}
    # Every contact, by a sensor that matches all of them.
    assert count <= everything.distinct_contacts[0] == everything.engine.data.ncon


def test_a_reading_is_taken_once_an_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session()
    calls = []
    contacts = session.engine.contacts

    def counted(name: str) -> Any:
        calls.append(name)
        return contacts(name)

    monkeypatch.setattr(session.engine, "contacts", counted)
    first = session.reading("foot_FL")
    assert session.reading("foot_FL") is first
    assert calls == ["foot_FL"]
    session.step_once()
    assert session.reading("foot_FL") is not first


def test_feet_carry_the_robot() -> None:
    session = open_session()
    session.engine.step(2000)
    session.forget()
    total = sum(session.reading(f"foot_{leg}").net_force for leg in ("FL", "FR", "RL", "RR"))
    model = session.engine.model
    weight = model.body_subtreemass[0] * 9.81
    assert np.asarray(total)[2] == pytest.approx(weight, rel=0.02)


def test_dropped_contacts_are_counted() -> None:
    session = open_session("stack")
    session.engine.step(500)
    session.forget()
    reading = session.reading("lower_on_base")
    assert reading.found > reading.sensor.slots == reading.reported
    assert reading.dropped == reading.found - reading.reported
    session.set_reduce("lower_on_base", "netforce")
    assert session.reading("lower_on_base").dropped == 0


def test_speed_walks_through_the_steps_and_stays_within() -> None:
    session = open_session()
    for _ in range(20):
        session.change_speed(1)
    assert session.pace.speed == SPEEDS[-1]
    for _ in range(20):
        session.change_speed(-1)
    assert session.pace.speed == SPEEDS[0]
    session.set_speed(3.0)
    session.change_speed(1)
    assert session.pace.speed == 5.0


def test_a_highlight_changes_the_glyphs() -> None:
    session = open_session()
    session.engine.step(500)
    session.forget()
    plain = session_glyphs(session)
    session.highlight = Highlight("foot_FL", 0, 0)
    assert not np.array_equal(session_glyphs(session).arrows, plain.arrows)
    session.highlight = Highlight("nobody", 0)
    np.testing.assert_array_equal(session_glyphs(session).arrows, plain.arrows)


def test_reset_goes_back_to_the_chosen_keyframe() -> None:
    session = open_session("gripper", key="hold")
    held = session.engine.data.qpos.copy()
    session.engine.step(100)
    session.reset()
    np.testing.assert_array_equal(session.engine.data.qpos, held)


def test_divergence_pauses_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(
        '<mujoco><option timestep="0.1"/><worldbody><body><joint type="slide" stiffness="-1e7"/><geom size=".1"/>'
        '</body></worldbody><keyframe><key qpos="1"/></keyframe></mujoco>'
    )
    session = Session(open_engine(path), ViewState(), Options(scene=path, key="0"))
    for _ in range(200):
        session.step_once()
    assert session.paused
    assert session.trouble is not None
    assert "unstable" in session.trouble


class Recorder:
    """An observer that writes down what it sees."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.resets = 0

    def after_step(self, step: Step) -> None:
        self.times.append(step.time)

    def after_reset(self, engine: Any) -> None:
        self.resets += 1


def test_observers_see_every_step() -> None:
    session = open_session()
    watcher = Recorder()
    session.simulation.observers.append(watcher)
    session.take_steps(7)
    np.testing.assert_allclose(watcher.times, session.engine.timestep * np.arange(1, 8))
    session.reset()
    assert watcher.resets == 1


def test_unknown_names_are_told() -> None:
    with pytest.raises(SceneError, match="no camera named 'x'; the scene has: three_quarter"):
        open_session(camera="x")
    with pytest.raises(SceneError, match="no contact sensor named 'x'"):
        open_session(sensors=("x",))


def test_a_break_pauses_at_the_step_that_shows_it() -> None:
    session = open_session("bounce")
    session.track_events()
    assert session.events is not None
    session.events.breaks.append(Break(BreakWhen.BEGIN))
    session.advance(10.0)
    session.take_steps(500)
    assert session.paused
    assert session.trouble is not None
    first = next(entry for entry in session.events.log.entries if entry.kind == "begin")
    assert session.engine.time == pytest.approx(first.seen, abs=1e-9)
    session.take_steps(200)
    session.go_to_event(-1)
    assert session.engine.time < first.seen + 0.4 + 1e-9
