"""Thousands of sensors: all of them are drawn, in a fraction of the time that reading each of them takes."""

import time
from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import ColorMode, Moment, ViewState

from ...scenes import write_many_sensors


def opened(path: Path) -> Session:
    session = Session(open_engine(path), ViewState())
    session.simulation.step(20)
    return session


@pytest.mark.parametrize("moment", [Moment.INSTANT, Moment.PEAK])
def test_every_sensor_has_its_own_glyphs_and_colours(tmp_path: Path, moment: Moment) -> None:
    session = opened(write_many_sensors(tmp_path / "some.xml", 20))
    session.settings.gizmos.color_mode, session.settings.gizmos.moment = ColorMode.SENSOR, moment
    session.visible["s4"] = False
    glyphs = session_glyphs(session)
    shown = [i for i in range(9) if i != 4]
    for i in shown:
        own = glyphs.sphere_owner[:, 0] == i
        np.testing.assert_array_equal(np.sort(glyphs.sphere_owner[own, 1]), [0, 1, 2, 3])
        positions = session.reading(f"s{i}").batch.pos
        assert positions is not None
        np.testing.assert_allclose(glyphs.spheres[own, :3], positions, atol=1e-6)
        assert len(np.unique(glyphs.spheres[own, 4:], axis=0)) == 1
    assert sorted(set(glyphs.sphere_owner[:, 0])) == shown
    assert len(np.unique(glyphs.spheres[:, 4:7], axis=0)) == len(shown)
    assert session.contact_count == 4 * len(shown)


def test_curves_of_many_sensors_say_which_of_them_bear_the_weight(tmp_path: Path) -> None:
    session = opened(write_many_sensors(tmp_path / "some.xml", 200))
    session.simulation.step(400)
    history = session.history
    assert history is not None
    history.curves.update()
    step, weight = history.last, 8.0 * 9.81
    for i in (0, 4, 8):
        assert history.curves.values(f"s{i}", Signal.MAGNITUDE, step, step + 1)[0] == pytest.approx(weight, rel=1e-3)
        assert history.curves.values(f"s{i}", Signal.FOUND, step, step + 1)[0] == 4
    for name in ("s9", "s199"):
        assert not history.curves.values(name, Signal.MAGNITUDE, 0, step + 1).any()
        assert not history.curves.values(name, Signal.FOUND, 0, step + 1).any()
        assert np.isnan(history.curves.values(name, Signal.USE, 0, step + 1)).all()


def fastest(session: Session) -> float:
    """Time to find what is drawn of a step [s]."""
    times = []
    for _ in range(5):
        session.simulation.step()
        started = time.thread_time()
        session_glyphs(session)
        assert session.contact_count == 36
        times.append(time.thread_time() - started)
    return min(times)


@pytest.mark.alone
def test_ten_thousand_sensors_are_drawn_in_a_fraction_of_reading_each(tmp_path: Path) -> None:
    session = opened(write_many_sensors(tmp_path / "many.xml", 10_000))
    started = time.thread_time()
    for sensor in session.engine.sensors:
        session.reading(sensor.name)
    assert fastest(session) < 0.3 * (time.thread_time() - started)
