"""Times of sensors at an instant that is looked at again."""

import numpy as np
from contact_viewer import open_engine
from contact_viewer.events.timing import ContactTiming
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


def columns(timing: ContactTiming) -> list[list[float]]:
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
