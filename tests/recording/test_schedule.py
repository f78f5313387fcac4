"""Frames to physics steps: exact, whatever the rates."""

import dataclasses
import itertools
from fractions import Fraction

import pytest
from contact_viewer.recording.schedule import Schedule, SlowMotion, exact, frame_rate
from hypothesis import given
from hypothesis import strategies as st

RATES = st.sampled_from([Fraction(24), Fraction(25), Fraction(30), Fraction(60), Fraction(144), Fraction(30000, 1001)])
STEPS = st.sampled_from([Fraction(1, 500), Fraction(1, 1000), Fraction(1, 480), Fraction(1, 600), Fraction(1, 240)])
SPEEDS = st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(3, 10), Fraction(2), Fraction(10)])


@given(RATES, STEPS, SPEEDS, st.integers(0, 100_000), st.sampled_from([0.0, 0.1, 1.5]))
def test_a_frame_shows_the_last_step_at_or_before_its_time(
    fps: Fraction, step: Fraction, speed: Fraction, frame: int, start: float
) -> None:
    # The schedule gets floats, as engines and command lines have them; the judge uses the exact numbers.
    schedule = Schedule.plan(float(step), 10.0, fps, float(speed), start)
    time = Fraction(str(start)) + frame * speed / fps
    shown = schedule.step(frame)
    assert shown * step <= time < (shown + 1) * step


def test_frames_that_fall_on_steps_hit_them_for_ever() -> None:
    # 1/600 as a float is a little more than 1/600: ten such steps overshoot a frame, and floor would show nine.
    schedule = Schedule.plan(1 / 600, 3600.0, Fraction(60))
    assert [schedule.step(frame) for frame in (1, 2, 215_999)] == [10, 20, 2_159_990]


@pytest.mark.parametrize(
    ("duration", "fps", "count"),
    [(10.0, 60, 600), (5.0, 25, 125), (0.1, 60, 6), (0.001, 60, 1), (1.0, 29.97, 30), (1 / 3, 60, 20)],
)
def test_number_of_frames(duration: float, fps: float, count: int) -> None:
    assert Schedule.plan(0.002, duration, frame_rate(fps)).frame_count == count


@given(RATES, STEPS, SPEEDS, st.sampled_from([0.0, 0.25]))
def test_a_step_names_the_first_frame_that_shows_it(
    fps: Fraction, step: Fraction, speed: Fraction, start: float
) -> None:
    schedule = Schedule.plan(float(step), 0.5, fps, float(speed), start)
    first: dict[int, int] = {}
    for frame in range(schedule.frame_count):
        first.setdefault(schedule.step(frame), frame)
    for number in range(schedule.first_step, schedule.last_step + 1):
        assert schedule.frame(number) == first.get(number)


def test_every_step_has_its_frame_without_rounding() -> None:
    schedule = Schedule.every_step(0.002, 1.0, 0.5)
    assert (schedule.first_step, schedule.last_step, schedule.frame_count) == (250, 750, 501)
    assert [schedule.step(frame) for frame in range(501)] == list(range(250, 751))


def test_rates_and_decimals_are_the_numbers_that_were_meant() -> None:
    assert frame_rate(29.97) == Fraction(2997, 100)
    assert frame_rate(Fraction(30000, 1001)) == Fraction(30000, 1001)
    assert exact(0.002) == Fraction(1, 500)
    assert exact(1 / 480) == Fraction(1, 480)


def slowed(at: float, start: float = 0.0, speed: float = 1.0) -> Schedule:
    """Six seconds of video, two of which show a fifth of a second around a time."""
    schedule = Schedule.plan(0.001, 6.0, Fraction(50), speed, start)
    return dataclasses.replace(schedule, slow=SlowMotion.around(at, 0.1, 2.0))


def test_slow_motion_shows_the_time_around_an_event_slowly() -> None:
    schedule = slowed(at=1.5)
    times = [schedule.step(frame) / 1000 for frame in range(300)]
    # 1.4 s as it is, 0.2 s in two seconds, then as it is again: 20 and 2 steps a frame.
    assert [round(1000 * (b - a)) for a, b in itertools.pairwise(times)] == [20] * 70 + [2] * 100 + [20] * 129
    assert times[120] == 1.5
    assert [float(schedule.speed_at(frame)) for frame in (0, 69, 70, 169, 170)] == [1.0, 1.0, 0.1, 0.1, 1.0]
    assert schedule.simulated == pytest.approx(1.4 + 0.2 + 2.6)


@pytest.mark.parametrize(
    ("at", "start", "speed"), [(1.5, 0.0, 1.0), (0.05, 0.0, 1.0), (1.5, 1.45, 1.0), (2.0, 0.5, 0.5)]
)
def test_a_step_of_slow_motion_names_the_first_frame_that_shows_it(at: float, start: float, speed: float) -> None:
    schedule = slowed(at, start, speed)
    first: dict[int, int] = {}
    for frame in range(schedule.frame_count):
        first.setdefault(schedule.step(frame), frame)
    assert list(first) == sorted(first)
    for number in range(schedule.first_step, schedule.last_step + 1):
        assert schedule.frame(number) == first.get(number)


def test_slow_motion_that_lies_before_the_film_changes_nothing() -> None:
    schedule = slowed(at=0.5, start=1.0)
    plain = dataclasses.replace(schedule, slow=None)
    assert [schedule.step(frame) for frame in range(300)] == [plain.step(frame) for frame in range(300)]
