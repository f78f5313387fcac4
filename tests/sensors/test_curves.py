"""Reduced curves against all the values they were made of."""

import time

import numpy as np
import pytest
from contact_viewer.sensors.curves import BYTES_PER_VALUE, Curves
from hypothesis import given, settings
from hypothesis import strategies as st

ACTIONS = st.one_of(
    st.tuples(st.just("extend"), st.integers(0, 700)),
    st.tuples(st.just("truncate"), st.integers(0, 400)),
    st.tuples(st.just("restart"), st.integers(0, 2000)),
)


def test_a_plot_without_width_is_one_column() -> None:
    curves = Curves(1, 100)
    curves.extend(np.array([[3.0, 1.0, 2.0]]))
    for columns in (-1, 0, 1):
        reduced = curves.reduce(0, 0, 3, columns)
        assert (reduced.low.tolist(), reduced.high.tolist()) == ([1.0], [3.0])


def test_of_steps_that_are_not_kept_nothing_is_shown() -> None:
    curves = Curves(2, 100)
    curves.extend(np.ones((2, 10)))
    for start, stop in ((20, 30), (10, 10), (-5, -1), (7, 3)):
        reduced = curves.reduce([0, 1], start, stop, 50)
        assert reduced.low.shape == reduced.high.shape == (2, 0)
        assert reduced.low.dtype == np.float32
        assert len(reduced.steps) == 1


@settings(max_examples=400, deadline=None)
@given(
    capacity=st.integers(1, 1500),
    actions=st.lists(ACTIONS, min_size=1, max_size=12),
    seed=st.integers(0, 2**32 - 1),
    columns=st.integers(1, 300),
    span=st.tuples(st.floats(-0.2, 1.2), st.floats(-0.2, 1.2)),
)
def test_columns_hold_the_extremes_of_their_steps(
    capacity: int, actions: list[tuple[str, int]], seed: int, columns: int, span: tuple[float, float]
) -> None:
    random = np.random.default_rng(seed)
    curves = Curves(2, capacity)
    kept = np.empty((2, 0), np.float32)
    base = 0
    for action, amount in actions:
        if action == "extend":
            added = random.normal(size=(2, amount)).astype(np.float32)
            added[random.random(added.shape) < 0.3] = np.nan
            curves.extend(added)
            kept = np.hstack([kept, added])
        elif action == "truncate":
            stop = max(curves.stop - amount, 0)
            curves.truncate(stop)
            kept = kept[:, : max(stop - base, 0)]
            base = min(base, stop)
        else:
            curves.restart(amount)
            kept, base = kept[:, :0], amount
    assert curves.stop == base + kept.shape[1]
    assert curves.first >= base
    if kept.shape[1] and not any(action == "truncate" for action, _ in actions):
        assert curves.stop - curves.first >= min(capacity, kept.shape[1])
    length = curves.stop - curves.first
    start, stop = sorted(curves.first + round(part * length) for part in span)
    for curve in range(2):
        reduced = curves.reduce(curve, start, stop, columns)
        assert len(reduced.low) == len(reduced.high) == len(reduced.steps) - 1 <= columns
        inside = slice(max(start, curves.first), min(stop, curves.stop))
        np.testing.assert_array_equal(
            curves.values(curve, start, stop), kept[curve, inside.start - base : max(inside.stop, inside.start) - base]
        )
        if inside.stop <= inside.start:
            assert len(reduced.low) == 0
            continue
        assert (reduced.steps[0], reduced.steps[-1]) == (inside.start, inside.stop)
        widths = np.diff(reduced.steps)
        assert (widths > 0).all()
        width = next(2**i for i in range(30) if -(-inside.stop // 2**i) - inside.start // 2**i <= columns)
        assert (widths <= width).all()
        assert (widths[1:-1] == width).all()
        for low, high, begin in zip(reduced.low, reduced.high, reduced.steps[:-1], strict=True):
            # Whole columns: the outer ones also cover the steps just outside.
            column = begin // width * width
            steps = slice(max(column, curves.first) - base, min(column + width, curves.stop) - base)
            values = kept[curve, steps]
            known = values[~np.isnan(values)]
            assert np.array_equal(
                [low, high], [known.min(), known.max()] if len(known) else [np.nan] * 2, equal_nan=True
            )


@pytest.mark.parametrize("step", [0, 1, 17, 4095, 4096, 77_777, 299_999])
def test_an_impact_of_one_step_shows_at_every_zoom(step: int) -> None:
    values = np.zeros((1, 300_000), np.float32)
    values[0, step] = 123.0
    curves = Curves(1, 300_000)
    for start in range(0, 300_000, 8):
        curves.extend(values[:, start : start + 8])
    for zoom in (300_000, 100_000, 20_000, 1_000, 100, 3):
        start = max(0, min(step - zoom // 2, 300_000 - zoom))
        for columns in (2, 333, 1000):
            reduced = curves.reduce(0, start, start + zoom, columns)
            hit = np.flatnonzero(reduced.high == 123.0)
            assert len(hit) == 1
            assert reduced.steps[hit[0]] <= step < reduced.steps[hit[0] + 1]


def test_columns_stay_in_place_while_the_curve_scrolls() -> None:
    curves = Curves(1, 10_000)
    curves.extend(np.random.default_rng(2).normal(size=(1, 9_000)))
    before = curves.reduce(0, 1_000, 9_000, 100)
    curves.extend(np.zeros((1, 40)))
    after = curves.reduce(0, 1_040, 9_040, 100)
    common = set(before.steps[1:-1]) & set(after.steps[1:-1])
    assert len(common) > 50
    for step in sorted(common)[:-1]:
        i, j = list(before.steps).index(step), list(after.steps).index(step)
        assert (before.low[i], before.high[i]) == (after.low[j], after.high[j])


@pytest.mark.alone
def test_ten_minutes_of_ten_sensors_reduce_within_a_frame() -> None:
    """A third of a frame at 60 Hz is 5.6 ms, and it has to hold the drawing as well."""
    curves = Curves(80, 300_000)
    block = np.random.default_rng(1).normal(size=(80, 10_000)).astype(np.float32)
    for _ in range(30):
        curves.extend(block)
    arrays = [curves._values, *curves._lows, *curves._highs]
    assert sum(array.nbytes for array in arrays) == pytest.approx(80 * curves.capacity * BYTES_PER_VALUE)

    def seconds(start: int) -> float:
        started = time.thread_time()
        for curve in range(10):
            curves.reduce(curve, start, 300_000, 1000)
        return time.thread_time() - started

    for start in (0, 250_000, 280_000, 299_000):
        fastest = min(seconds(start) for _ in range(20))
        print(f"10 curves from step {start}: {fastest * 1e3:.2f} ms")
        assert fastest < 0.003


def test_several_curves_at_once_are_the_same_as_one_after_the_other() -> None:
    random = np.random.default_rng(3)
    curves = Curves(6, 3000)
    for _ in range(5):
        values = random.normal(size=(6, 1000)).astype(np.float32)
        values[random.random(values.shape) < 0.2] = np.nan
        curves.extend(values)
    for start, stop, columns in ((0, 5000, 40), (2500, 4900, 700), (4000, 4100, 700), (2100, 5000, 2), (5000, 5000, 9)):
        several = curves.reduce([[0, 1], [5, 2]], start, stop, columns)
        for place, curve in (((0, 0), 0), ((0, 1), 1), ((1, 0), 5), ((1, 1), 2)):
            one = curves.reduce(curve, start, stop, columns)
            np.testing.assert_array_equal(several.steps, one.steps)
            np.testing.assert_array_equal(several.low[place], one.low)
            np.testing.assert_array_equal(several.high[place], one.high)


def test_what_was_overwritten_is_in_no_column() -> None:
    """The oldest step kept is in the middle of the first column, whose first half is overwritten already."""
    curves = Curves(1, 1000)
    curves.extend(-np.arange(2000.0)[np.newaxis])
    assert curves.first == 768
    reduced = curves.reduce(0, 768, 2000, 3)
    np.testing.assert_array_equal(reduced.steps, [768, 1024, 1536, 2000])
    np.testing.assert_array_equal(reduced.high, [-768, -1024, -1536])
    np.testing.assert_array_equal(reduced.low, [-1023, -1535, -1999])


def test_the_memory_of_a_value_is_what_it_takes() -> None:
    curves = Curves(3, 100_000)
    arrays = [curves._values, *curves._lows, *curves._highs]
    assert sum(array.nbytes for array in arrays) == pytest.approx(3 * curves.capacity * BYTES_PER_VALUE, rel=1e-12)


def test_many_curves_of_few_steps_hold_the_same_values() -> None:
    """They are stored in another order than few curves of many steps."""
    random, capacity = np.random.default_rng(3), 40
    steps = random.normal(size=(2000, 1500)).astype(np.float32)
    many, few = Curves(2000, capacity), Curves(2, capacity)
    for start in range(0, 1500, 7):
        many.extend(steps[:, start : start + 7])
        few.extend(steps[[5, 1999], start : start + 7])
    assert (many.first, many.stop) == (few.first, few.stop)
    for columns in (3, 20, 600):
        one, other = many.reduce([5, 1999], many.first, 1500, columns), few.reduce([0, 1], few.first, 1500, columns)
        np.testing.assert_array_equal(one.low, other.low)
        np.testing.assert_array_equal(one.high, other.high)
        assert one.high.max() == steps[[5, 1999], many.first :].max()


def test_a_column_that_is_not_full_yet_shows_nothing_of_a_lap_before() -> None:
    """Values fall, so that what was overwritten, or is about to be, is larger than all that is kept."""
    curves = Curves(1, 300)
    values = -np.arange(2000, dtype=np.float32)
    for stop in range(16, len(values), 16):
        curves.extend(values[np.newaxis, stop - 16 : stop])
        reduced = curves.reduce(0, stop - 100, stop, 4)
        assert reduced.steps[-1] == stop
        for begin, low, high in zip(reduced.steps[1:-1].tolist(), reduced.low[1:], reduced.high[1:], strict=True):
            assert high == values[begin]
            assert low >= values[stop - 1]


@pytest.mark.parametrize("columns", [8, 200, 2000])
def test_a_scene_without_sensors_has_columns_without_curves(columns: int) -> None:
    curves = Curves(0, 1000)
    curves.extend(np.empty((0, 700)))
    reduced = curves.reduce(np.empty((0, 3), np.int64), 0, 700, columns)
    assert reduced.low.shape == reduced.high.shape == (0, 3, len(reduced.steps) - 1)
