"""Times of sensors at an instant that is looked at again."""

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.metrics import ContactTimes
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState


def test_times_of_sensors_at_a_past_instant_are_those_that_were_counted_then() -> None:
    engine = open_engine("bounce")
    session = Session(engine, ViewState())
    session.track_events()
    tracker = session.events
    assert tracker is not None
    then: list[tuple[float, list[list[float]]]] = []
    # The last ones step by step: a ball may land in the very last.
    for count in (17,) * 60 + (1,) * 5:
        session.simulation.step(count)
        then.append((engine.time, columns(tracker.sensors.timing)))
    for time, expected in then:
        session.go_to_time(time)
        np.testing.assert_allclose(columns(tracker.timing_at(session.engine.time)), expected, atol=1e-9)


def test_before_the_first_step_that_was_seen_nothing_has_lasted() -> None:
    session = Session(open_engine("bounce"), ViewState())
    session.simulation.step(100)
    session.track_events()
    tracker = session.events
    assert tracker is not None
    # The heavy ball lies there all the time, the others fly.
    session.simulation.step(20)
    live = tracker.sensors.timing
    assert sorted((live.contact_time + live.air_time).tolist()) == pytest.approx([20 * 0.002] * 5)
    for step in (100, 99, 0):
        session.go_to_time(step * 0.002)
        past = tracker.timing_at(session.engine.time)
        assert not past.contact_time.any()
        assert not past.air_time.any()
        assert not past.duty_factor.any()
    # Later than all that was seen is now.
    assert tracker.timing_at(1.0) is tracker.sensors.timing
    session.go_to_time(101 * 0.002)
    past = tracker.timing_at(session.engine.time)
    assert sorted((past.contact_time + past.air_time).tolist()) == pytest.approx([0.002] * 5)


def columns(timing: ContactTimes) -> list[list[float]]:
    return [
        column.tolist()
        for column in (
            timing.contact_time,
            timing.air_time,
            timing.last_contact_time,
            timing.last_air_time,
            timing.contact_count,
            timing.duty_factor,
        )
    ]
