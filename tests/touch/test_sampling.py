"""When touch sensors take their samples."""

import math

import numpy as np
import pytest
from contact_viewer.touch.device import TouchSensor
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from .devices import TYPES, UP, X_DOWN, accumulate, changes, read, sample, sensor


def test_samples_at_multiples_of_the_period() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    seen = changes(device, accumulate(0.002, 100_001))
    assert [round(time * 1000) for time, _ in seen] == list(range(10, 200_001, 10))
    assert all(value == pytest.approx(time) for time, value in seen)


def test_no_value_before_the_first_period() -> None:
    for type in TYPES:
        device = TouchSensor(type=type, sampling_period=10)
        assert np.isnan(read(device)).all()
        for time in (0.0, 0.002, 0.004, 0.006, 0.008, 0.0099):
            device.update(time, force=UP, rotation=X_DOWN, found=1)
            assert np.isnan(read(device)).all()
        device.update(0.01, force=UP, rotation=X_DOWN, found=1)
        assert np.isfinite(read(device)).all()


def test_period_counts_from_the_first_update_after_enable() -> None:
    device = TouchSensor(type="force", lookup_table=[])
    device.update(0.5, force=UP, rotation=X_DOWN, found=1)
    device.enable(10)
    assert [time for time, _ in changes(device, 1.001 + 0.001 * np.arange(25))] == pytest.approx([1.011, 1.021])
    device.enable(20)
    assert math.isnan(device.get_value())
    assert [time for time, _ in changes(device, 1.026 + 0.001 * np.arange(25))] == pytest.approx([1.046])


def test_period_between_steps_is_kept_on_average() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=5)
    seen = [round(time * 1000) for time, _ in changes(device, accumulate(0.002, 1001))]
    assert seen[:4] == [6, 10, 16, 20]
    assert len(seen) == 400


@settings(deadline=None)
@given(
    period=st.floats(0.5, 50),
    step=st.floats(0.1, 5),
    start=st.floats(0, 1e4),
    count=st.integers(2, 300),
)
def test_sampling_of_any_period(period: float, step: float, start: float, count: int) -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=period)
    times = start + 0.001 * step * np.arange(1, count)
    seen = changes(device, times)
    elapsed = (count - 2) * step
    expected = elapsed / period if period > step else count - 2
    assert abs(len(seen) - expected) <= 1
    for k, (time, _) in enumerate(seen, start=1):
        assert (time - times[0]) * 1000 >= k * min(period, step) - 0.02 * step


def test_steps_longer_than_the_period_are_all_sampled() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=1)
    times = [0.0, 1.0, 2.0, 2.002, 2.004, 2.006]
    assert [time for time, _ in changes(device, times)] == times[1:]


def test_time_going_backwards_restarts() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    changes(device, accumulate(0.002, 200))
    assert math.isfinite(device.get_value())
    device.update(0.0, force=UP, rotation=X_DOWN, found=1)
    assert math.isnan(device.get_value())
    assert [time for time, _ in changes(device, accumulate(0.002, 11))] == pytest.approx([0.01, 0.02])


def test_a_paused_clock_changes_nothing() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    changes(device, accumulate(0.002, 6))
    for _ in range(20):
        device.update(0.01, force=7 * UP, rotation=X_DOWN, found=1)
    assert device.get_value() == pytest.approx(0.01)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("period", [1, 5, 10, 13.7])
def test_going_back_and_on_repeats_every_sample(type: str, period: float) -> None:
    device = TouchSensor(type, lookup_table=[[0, 0, 0.3], [100, 1000, 0.3]], sampling_period=period)
    times = accumulate(0.002, 100)

    def feed(time: float) -> NDArray[np.float64]:
        device.update(time, force=(50 + time) * UP, rotation=X_DOWN, found=int(time * 1000) % 3)
        return read(device)

    saved, reports = [], []
    for time in times:
        reports.append(feed(time))
        saved.append(device.save())
    for back in (0, 3, 50, 98):
        device.restore(times[back], saved[back])
        again = [read(device), *(feed(time) for time in times[back + 1 :])]
        assert np.array_equal(again, reports[back:], equal_nan=True)


def test_going_back_to_samples_of_another_period() -> None:
    device = TouchSensor("force", lookup_table=[], sampling_period=2)
    changes(device, accumulate(0.002, 101))
    saved = device.save()
    device.enable(20)
    device.restore(0.2, saved)
    assert device.get_value() == pytest.approx(0.2)
    seen = [time for time, _ in changes(device, 0.2 + 0.002 * np.arange(1, 40))]
    assert seen[1:] == pytest.approx([0.22, 0.24, 0.26])


def test_enable_and_disable() -> None:
    device = TouchSensor(type="force", lookup_table=[])
    assert device.get_sampling_period() == 0
    device.enable(32)
    assert device.get_sampling_period() == 32
    changes(device, accumulate(0.002, 50))
    assert math.isfinite(device.get_value())
    device.disable()
    assert device.get_sampling_period() == 0
    assert math.isnan(device.get_value())
    with pytest.raises(ValueError, match=r"greater than 0 ms; disable\(\)"):
        device.enable(0)


def test_a_disabled_sensor_looks_at_nothing() -> None:
    class Untouchable:
        def __array__(self, *_: object, **__: object) -> NDArray[np.float64]:
            raise AssertionError("a disabled sensor read its input")

    device = TouchSensor(type="force-3d")
    for time in (0.0, 1.0, math.nan):
        device.update(time, force=Untouchable(), rotation=Untouchable(), found=1)
    device.enable(10)
    device.update(0.0, force=Untouchable(), rotation=Untouchable(), found=1)
    with pytest.raises(AssertionError, match="read its input"):
        device.update(0.01, force=Untouchable(), rotation=Untouchable(), found=1)


def test_broken_physics_shows_as_nan() -> None:
    assert np.isnan(sample(sensor("force"), [math.nan] * 3)).all()
    assert np.isnan(sample(sensor("force-3d", resolution=1), [math.nan] * 3)).all()
    with pytest.raises(ValueError, match="time must be a finite number"):
        sensor("force").update(math.nan, force=UP, rotation=X_DOWN, found=1)


def bumps(device: TouchSensor, hits: list[float], count: int = 21) -> list[float]:
    """What a bumper reports at multiples of 10 ms, fed every 2 ms; in contact at these times [ms] alone."""
    reports = []
    for i, time in enumerate(accumulate(0.002, count)):
        device.update(time, force=np.zeros(3), rotation=X_DOWN, found=2 * i in hits)
        if i and i % 5 == 0:
            reports.append(device.get_value())
    return reports


def test_a_bumper_reports_a_hit_between_two_samples_once() -> None:
    device = TouchSensor(sampling_period=10)
    assert bumps(device, []) == [0, 0, 0, 0]
    assert bumps(device, [14]) == [0, 1, 0, 0]
    assert bumps(device, [12, 18, 22]) == [0, 1, 1, 0]
    assert bumps(device, [20]) == [0, 1, 0, 0]
    # The very first state belongs to no earlier sample.
    assert bumps(device, [0]) == [1, 0, 0, 0]


def test_a_bumper_forgets_a_hit_that_it_has_reported_or_that_was_before_it_was_enabled() -> None:
    device = TouchSensor(sampling_period=10)
    bumps(device, [10], count=6)
    for _ in range(3):  # a paused clock
        device.update(0.01, force=UP, rotation=X_DOWN, found=1)
    for time in (0.012, 0.02):
        device.update(time, force=UP, rotation=X_DOWN, found=0)
    assert device.get_value() == 0
    device.update(0.022, force=UP, rotation=X_DOWN, found=1)
    device.enable(10)
    for time in (0.024, 0.034):
        device.update(time, force=UP, rotation=X_DOWN, found=0)
    assert device.get_value() == 0


@pytest.mark.parametrize("first", [0.0, 0.01])
def test_a_bumper_that_goes_back_to_just_after_a_hit_still_reports_it(first: float) -> None:
    device = TouchSensor(sampling_period=10)
    saved = []
    for time in accumulate(0.002, 11):
        device.update(time, force=UP, rotation=X_DOWN, found=time == pytest.approx(first + 0.004))
        saved.append(device.save())
    back = round(first / 0.002) + 3
    for state, expected in ((saved[back], 1), (saved[back - 2], 0)):
        device.restore(first + 0.006, state)
        device.update(first + 0.01, force=UP, rotation=X_DOWN, found=0)
        assert device.get_value() == expected
