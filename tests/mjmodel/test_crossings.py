"""Where a distance passes a level, of samples whose motion is known."""

import math

import pytest
from contact_viewer.mjmodel.crossings import Sample, Trace, interpolate

UNKNOWN = Sample(math.nan, math.nan, math.nan)


def trace(before: Sample, after: Sample, earlier: Sample = UNKNOWN) -> Trace:
    return Trace(after, before, lambda: earlier)


@pytest.mark.parametrize(
    ("first", "expected"),
    [(-0.5, -1.5), (-2.0, -2.0), (0.5, -1.5)],
    ids=["slower than the mean", "faster than the mean", "parting"],
)
def test_a_velocity_that_a_force_has_turned_is_not_that_of_the_approach(first: float, expected: float) -> None:
    """The surfaces came 1.5 mm closer in a millisecond, whatever the velocity at the end says."""
    crossing = interpolate(trace(Sample(0.0, 1e-3, first), Sample(1e-3, -5e-4, 9.0)), 0.0)
    assert crossing.normal_velocity == pytest.approx(expected)
    assert 0 < crossing.time < 1e-3


def test_a_distance_that_jumps_has_passed_where_it_is_seen() -> None:
    crossing = interpolate(trace(Sample(1.0, math.inf, math.nan), Sample(1.5, -0.1, -3.0)), 0.0)
    assert crossing == (1.5, -0.1, -3.0)


def test_a_straight_motion_passes_where_the_line_does() -> None:
    crossing = interpolate(trace(Sample(2.0, 0.03, math.nan), Sample(2.1, -0.01, math.nan)), 0.01)
    assert crossing == pytest.approx((2.05, 0.01, -0.4))


def test_where_only_the_last_velocity_is_known_the_motion_is_traced_back_from_the_end() -> None:
    crossing = interpolate(trace(Sample(1.0, 0.5, math.nan), Sample(1.01, -0.001, -1.0)), 0.0)
    assert crossing == pytest.approx((1.009, 0.0, -1.0))


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["meet", "part"])
def test_who_turns_round_within_a_step_passes_on_the_way_back(sign: float) -> None:
    """As Euler moves in a part u of a millisecond: by h (v u + h a u^2), here 2 um away and then back across 10 um."""
    away, back, gap = 2e-6, -14e-6, 10e-6
    passage = (away + math.sqrt(away**2 - 4 * back * gap)) / (-2 * back)
    before = Sample(0.0, sign * gap, sign * away / 1e-3)
    after = Sample(1e-3, sign * (gap + away + back), sign * (away + back) / 1e-3)
    crossing = interpolate(trace(before, after), 0.0)
    assert crossing.time == pytest.approx(passage * 1e-3)
    assert crossing.normal_velocity * sign < 0


def test_a_step_with_a_force_of_another_contact_is_not_continued() -> None:
    """A kick before made it fast; now it moves evenly, and both velocities and the distances say so."""
    earlier, before, after = Sample(0.0, 8.4e-3, -0.1), Sample(1e-3, 4.4e-3, -3.975), Sample(2e-3, 0.44e-3, -3.949)
    crossing = interpolate(trace(before, after, earlier), 2e-3)
    assert crossing.normal_velocity == pytest.approx(-3.96, abs=0.02)
