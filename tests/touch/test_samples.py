"""The ring of a touch sensor's samples, and curves that keep their peaks."""

import numpy as np
import pytest
from contact_viewer.touch.device import TouchSensor
from contact_viewer.touch.samples import TouchHistory, thin


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 13, 14, 15, 100])
def test_the_last_steps_are_kept_in_order(count: int) -> None:
    history = TouchHistory(3, capacity=7)
    for i in range(count):
        history.append(i / 10, [i, 2 * i, -i], [0, 0, 0, i, 100 + i, 0, 0, 0])
    kept = np.arange(max(0, count - 7), count)
    assert len(history) == len(kept)
    assert history.times.tolist() == (kept / 10).tolist()
    assert history.true.tolist() == np.stack([kept, 2 * kept, -kept], axis=1).tolist()
    device = TouchSensor("force-3d", lookup_table=[[0, 0, 0], [1000, 2000, 0]])
    assert history.values(device) == pytest.approx(np.stack([0 * kept, 2 * kept, 200 + 2 * kept], axis=1))
    history.clear()
    assert len(history) == len(history.times) == 0


def test_values_follow_the_device_as_it_is_now() -> None:
    history = TouchHistory(1)
    history.append(0.0, [3], [0, 0, 2, 1])
    device = TouchSensor("force", lookup_table=[[0, 0, 0.5], [10, 100, 0.5]])
    assert history.values(device).tolist() == [[30]]
    device.lookup_table = [[0, 0, 0], [10, 10, 0]]
    assert history.values(device).tolist() == [[2]]


@pytest.mark.parametrize("count", [5, 7, 10, 30])
@pytest.mark.parametrize("back", [0, 1, 3, 6])
def test_going_back_keeps_what_followed_until_the_next_step(count: int, back: int) -> None:
    history = TouchHistory(1, capacity=7)
    for i in range(count):
        history.append(i / 10, [i], [0, i, i, 0])
    step = history.find((count - 1 - back) / 10)
    if back >= count:
        assert step is None
        return
    assert step == count - 1 - back
    assert history.go_to(step).tolist() == [0, step, step, 0]
    before = history.times.tolist()
    assert len(before) == min(count, 7)
    history.append(9.9, [99], [0, 99, 99, 0])
    assert history.times.tolist() == [*[time for time in before if time < (step + 0.5) / 10], 9.9][-7:]
    assert history.true[-1] == [99]


def test_times_that_are_not_kept_are_not_found() -> None:
    history = TouchHistory(1, capacity=3)
    assert history.find(0.0) is None
    history.append(0.0, [0], [0, 0, 0, 0])
    assert (history.find(1e-10), history.find(2e-9)) == (0, None)
    history.clear()
    for i in range(5):
        history.append(0.002 * i, [0], [0, 0, 0, 0])
    assert [history.find(time) for time in (0.0, 0.002, 0.004, 0.005, 0.008, 0.01)] == [None, None, 2, None, 4, None]
    # After an hour, times are sums of millions of steps: a part in a billion of them is rounding.
    history.append(3600.0, [0], [0, 0, 0, 0])
    assert [history.find(3600 + error) for error in (-3e-6, 3e-6, -4e-6, 4e-6)] == [5, 5, None, None]


@pytest.mark.parametrize("first", [0, 1, 7, 1003])
@pytest.mark.parametrize("peak", [0, 1, 499, 5000, 9998, 9999])
def test_thin_curves_keep_every_peak(first: int, peak: int) -> None:
    values = np.zeros(10_000)
    values[peak] = 5.0
    times, thinned = thin(np.arange(10_000) / 500, values, first, 400)
    assert len(times) == len(thinned) < 500
    assert (np.diff(times) >= 0).all()
    # Of the oldest bin, which is leaving, steps may already be gone.
    if peak > 50:
        assert thinned.max() == 5
        assert times[thinned.argmax()] == pytest.approx(peak / 500, abs=0.1)


def test_thin_curves_do_not_shimmer_as_they_scroll() -> None:
    values = np.random.default_rng(0).standard_normal(3000)
    curves = [thin(np.arange(i, i + 2000) / 1, values[i : i + 2000], i, 200) for i in (100, 101, 113)]
    for times, thinned in curves[1:]:
        shared = np.isin(times[:150], curves[0][0])
        assert shared.sum() > 100
        assert np.isin(thinned[:150][shared], curves[0][1]).all()


def test_short_curves_and_missing_values_stay() -> None:
    times, values = thin(np.arange(100.0), np.arange(100.0), 0, 400)
    assert times.tolist() == values.tolist() == list(range(100))
    # As many values as points: they stay in their order.
    _, values = thin(np.arange(100.0), np.arange(100.0)[::-1], 0, 100)
    assert values.tolist() == list(range(99, -1, -1))
    broken = np.full(1000, np.nan)
    broken[500] = 1.0
    _, values = thin(np.arange(1000.0), broken, 0, 100)
    assert np.isnan(values).any()
    assert np.nanmax(values) == 1
