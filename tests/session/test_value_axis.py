"""What the value axes of curves hold, and what is beyond their ends."""

from typing import Any

import numpy as np
from contact_viewer.session.value_axis import ValueRange, few_ticks, marks_beyond, value_range
from contact_viewer.settings import PlotSettings, ValueAxis


def ranged(*curves: list[float], **chosen: Any) -> tuple[float, float]:
    """What the axis of some curves shows, one value a column each."""
    values = np.array(curves, np.float32)
    return value_range(values, values, PlotSettings(**chosen))


def test_value_axes_hold_zero_and_every_value() -> None:
    # Noise on a constant force must not fill the plot.
    low, high = ranged([2.4525, 2.45250001, 2.4525])
    assert low == 0.0
    assert 2.46 < high <= 3
    low, high = ranged([-3, 1], [np.nan, 8])
    assert -4 <= low < -3
    assert 8 < high <= 10
    assert ranged([]) == ranged([0, 0]) == ranged([np.nan, np.nan]) == (0.0, 1.0)
    low, high = ranged([-1e-4, -2e-4])
    assert -3e-4 < low < -2e-4
    assert high == 0.0


def test_a_value_axis_seldom_changes() -> None:
    """A force that grows by a half in 500 small steps moves the axis a few times."""
    tops = [ranged([force])[1] for force in np.linspace(100, 150, 500)]
    assert len(set(tops)) <= 3
    assert all(top >= force for top, force in zip(tops, np.linspace(100, 150, 500), strict=True))


def test_one_impact_does_not_flatten_the_rest() -> None:
    steady = [30.0 + i % 3 for i in range(300)]
    impact = [*steady[:100], 2500.0, 1800.0, *steady[102:]]
    low, high = ranged(impact)
    assert low == 0.0
    assert 32 < high < 50
    assert ranged(impact, fit_usual=False)[1] > 2500
    marks = marks_beyond(np.array(impact), np.array(impact), ValueRange(low, high))
    assert marks == [(100, 2500.0, True)]
    # What is high often is not rare, and a few contacts of different strength are no outliers.
    assert ranged([*steady, *[200.0] * 20])[1] > 200
    assert ranged([0.0] * 200 + [5.0, 80.0, 4.0])[1] > 80
    assert marks_beyond(np.array(steady), np.array(steady), ValueRange(0.0, 50.0)) == []


def test_a_rare_pull_is_cut_and_marked_as_a_rare_push_is() -> None:
    pull = [-30.0 - i % 3 for i in range(300)]
    pull[100:102] = [-2500.0, -1800.0]
    low, high = ranged(pull)
    assert -50 < low < -32
    assert marks_beyond(np.array(pull), np.array(pull), ValueRange(low, high)) == [(100, -2500.0, False)]
    # Beside steady pushes too, of which there are enough to know what is usual.
    low, high = ranged([30.0] * 300 + [-2500.0])
    assert -50 < low < -30
    assert 30 < high < 50
    # Some of many are not rare, of whatever sign.
    assert ranged([5.0] * 90 + [-28.0] * 10)[0] < -28


def test_noise_below_zero_neither_stretches_the_axis_nor_is_marked() -> None:
    noise = np.array([19.6, -1e-15, -1e-9, 19.6])
    values = value_range(noise, noise, PlotSettings())
    assert values.low == 0.0
    assert marks_beyond(noise, noise, values) == []


def test_a_logarithmic_and_a_fixed_axis() -> None:
    low, high = ranged([0.0, 0.5, 3.0, 700.0], axis=ValueAxis.LOG)
    assert 0 < low <= 0.5
    assert high > 700
    low, high = ranged([1e-9, 1000.0], axis=ValueAxis.LOG)
    assert low >= 0.1
    assert ranged([-5.0, 5.0], axis=ValueAxis.LOG)[0] < -5
    assert ranged([0.0, 0.0], axis=ValueAxis.LOG)[0] > 0
    assert ranged([700.0], axis=ValueAxis.FIXED, value_low=-2.0, value_high=9.0) == (-2.0, 9.0)
    assert ranged([700.0], axis=ValueAxis.FIXED, value_low=9.0, value_high=9.0)[1] > 700


def test_numbers_of_a_low_axis_do_not_cover_each_other() -> None:
    for low, high in ((0.0, 50.0), (-25.0, 50.0), (-1.0, 50.0), (-50.0, 2.0), (3.0, 4.0), (-4.0, -3.0)):
        places = sorted(few_ticks(low, high))
        assert len(places) >= 2
        assert min(np.diff(places)) >= 0.3 * (high - low)
        assert low <= places[0]
        assert places[-1] <= high
