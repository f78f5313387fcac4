"""Turns curves into the part of the value axis that shows them, and what of them is beyond its ends."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..settings import PlotSettings, ValueAxis

Columns = NDArray[np.floating]

_USUAL = 0.98
"""Part of the columns that the axis always holds."""
_FAR = 2.0
"""An impact is left out if it is so many times as high as what is usual."""
_FEWEST = 20
"""Columns below which nothing is unusual."""
_ROOM, _ROOM_ABOVE = 1.05, 1.25
"""Height of the axis by the highest value, and by the highest usual one where some are above it."""
_NOISE = 1e-3
"""Values below zero that are so small a part of the axis do not stretch it."""
_DECADES = 4.0
"""That a logarithmic axis shows at most."""
_TOPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of an axis: round, so that it seldom changes while values do."""


class ValueRange(NamedTuple):
    """The part of the values that a plot shows."""

    low: float
    high: float


class Mark(NamedTuple):
    """Where a curve leaves the plot."""

    column: int
    """The farthest of neighbouring columns that do."""
    value: float
    """The curve's value there."""
    is_above: bool
    """True if it leaves at the top, False at the bottom."""


def value_range(low: Columns, high: Columns, settings: PlotSettings, least: float = 0.0) -> ValueRange:
    """What the axis of some curves shows, by the extremes of their columns, (..., columns) each; NaN without value.

    `least`: length of a linear axis at least, so that rounding errors do not fill it.
    """
    if settings.axis is ValueAxis.FIXED and settings.value_low < settings.value_high:
        return ValueRange(settings.value_low, settings.value_high)
    if settings.axis is ValueAxis.LOG and not (low < 0.0).any():
        return _logarithmic(low, _reach(high, _usual(high) if settings.fit_usual else 0.0))
    values = linear_range(low, high, settings.fit_usual)
    if values.high - values.low < least:
        return ValueRange(-least if values.low < 0.0 else 0.0, least)
    return values


def linear_range(low: Columns, high: Columns, fit_usual: bool) -> ValueRange:
    """The same for a linear axis; `fit_usual`: as in `PlotSettings`.

    It holds zero, so that noise on a constant stays small.
    """
    # What is usual of pushes, of pulls, and of both: one pull is rare beside many pushes, however few other pulls are.
    parts = (high, -low, np.concatenate([high.ravel(), -low.ravel()])) if fit_usual else ()
    usual = max((_usual(part) for part in parts), default=0.0)
    top, bottom = _reach(high, usual), -_reach(-low, usual)
    if top == bottom == 0.0:
        return ValueRange(0.0, 1.0)
    return ValueRange(bottom if bottom < -_NOISE * top else 0.0, top)


def _usual(values: Columns) -> float:
    """How high most of the positive ones of some values are; 0 if there are too few."""
    positive = values[values > 0.0]
    if len(positive) < _FEWEST:
        return 0.0
    place = math.ceil(_USUAL * len(positive)) - 1
    return float(np.partition(positive, place)[place])


def _reach(values: Columns, usual: float) -> float:
    """How far an axis goes for the positive ones of some values, given how high most are; 0 without any."""
    most = float(np.max(values, initial=0.0, where=values > 0.0))
    if most == 0.0:
        return 0.0
    return _round_up(_ROOM_ABOVE * usual if most > _FAR * usual > 0.0 else _ROOM * most)


def _logarithmic(low: Columns, top: float) -> ValueRange:
    positive = low[low > 0.0]
    if not len(positive):
        return ValueRange(1e-3, max(top, 1.0))
    return ValueRange(max(0.5 * float(positive.min()), top * 10.0**-_DECADES), top)


def _round_up(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return decade * next((step for step in _TOPS if step * decade >= value), 10.0)


def few_ticks(low: float, high: float) -> list[float]:
    """Places on a low axis whose numbers do not cover each other: its ends, and zero or the middle between them."""
    near = 0.3 * (high - low)
    if low < 0.0 < high:
        return [end for end in (low, high) if abs(end) > near] + [0.0]
    return [low, 0.5 * (low + high), high]


def marks_beyond(low: Columns, high: Columns, values: ValueRange) -> list[Mark]:
    """The places where one curve, whose columns have these extremes, (columns,), is beyond the ends of the axis."""
    above = [Mark(column, float(high[column]), True) for column in _peaks(high, values.high)]
    # What is a hair below zero is noise that the axis was not to hold.
    end = min(values.low, -_NOISE * values.high)
    return above + [Mark(column, float(low[column]), False) for column in _peaks(-low, -end)]


def _peaks(values: Columns, end: float) -> list[int]:
    """Of each group of neighbouring columns above a value, the highest."""
    above = np.flatnonzero(values > end)
    if not len(above):
        return []
    groups = np.split(above, np.flatnonzero(np.diff(above) > 1) + 1)
    return [int(group[np.argmax(values[group])]) for group in groups]
