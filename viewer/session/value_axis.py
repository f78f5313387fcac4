"""Chooses the value axis of some curves, and marks where curves leave it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..settings import PlotSettings, ValueAxis

Columns = NDArray[np.floating]

_USUAL = 0.98
"""Part of the columns whose values the axis always shows."""
_FAR = 2.0
"""Height of an impact that the axis leaves out, as a multiple of the usual values."""
_FEWEST = 20
"""Number of columns below which no value counts as unusual."""
_ROOM, _ROOM_ABOVE = 1.05, 1.25
"""Height of the axis as a multiple of the highest value, and of the highest usual value where impacts are left out."""
_NOISE = 1e-3
"""Size of negative values, as a part of the axis, below which they do not extend it."""
_DECADES = 4.0
"""Most decades that a logarithmic axis shows."""
_TOPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of an axis: round, so that it seldom changes while values do."""


class ValueRange(NamedTuple):
    """Part of the values that a plot shows."""

    low: float
    high: float


class Mark(NamedTuple):
    """Place where a curve leaves the plot."""

    column: int
    """Column with the farthest value among neighbouring columns that leave the plot."""
    value: float
    """Value of the curve in that column."""
    is_above: bool
    """True if the curve leaves the plot at the top, False at the bottom."""


def value_range(low: Columns, high: Columns, settings: PlotSettings, least: float = 0.0) -> ValueRange:
    """Return the axis of some curves from the extremes of their columns, (..., columns) each; NaN for no value.

    `least`: shortest length of a linear axis, so that rounding errors do not fill it.
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
    """Return the linear axis of some curves, as in `value_range`. `fit_usual`: see `PlotSettings`.

    The axis contains zero, so that noise on a constant value stays small.
    """
    # Usual pushes, usual pulls, and both together: one pull is rare beside many pushes, however few other pulls are.
    parts = (high, -low, np.concatenate([high.ravel(), -low.ravel()])) if fit_usual else ()
    usual = max((_usual(part) for part in parts), default=0.0)
    top, bottom = _reach(high, usual), -_reach(-low, usual)
    if top == bottom == 0.0:
        return ValueRange(0.0, 1.0)
    return ValueRange(bottom if bottom < -_NOISE * top else 0.0, top)


def _usual(values: Columns) -> float:
    """Return the height below which most of the positive values lie; 0 if there are too few values."""
    positive = values[values > 0.0]
    if len(positive) < _FEWEST:
        return 0.0
    place = math.ceil(_USUAL * len(positive)) - 1
    return float(np.partition(positive, place)[place])


def _reach(values: Columns, usual: float) -> float:
    """Return the end of an axis for the positive values, most of which lie below `usual`; 0 if none is positive."""
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
    """Return ticks of a short axis whose labels do not overlap: its ends, and zero or the middle between them."""
    near = 0.3 * (high - low)
    if low < 0.0 < high:
        return [end for end in (low, high) if abs(end) > near] + [0.0]
    return [low, 0.5 * (low + high), high]


def marks_beyond(low: Columns, high: Columns, values: ValueRange) -> list[Mark]:
    """Return marks where a curve, given by the extremes of its columns, (columns,), leaves the axis."""
    above = [Mark(column, float(high[column]), True) for column in _peaks(high, values.high)]
    # Values slightly below zero are noise that the axis leaves out on purpose.
    end = min(values.low, -_NOISE * values.high)
    return above + [Mark(column, float(low[column]), False) for column in _peaks(-low, -end)]


def _peaks(values: Columns, end: float) -> list[int]:
    """Return the highest column of each group of neighbouring columns above a value."""
    above = np.flatnonzero(values > end)
    if not len(above):
        return []
    groups = np.split(above, np.flatnonzero(np.diff(above) > 1) + 1)
    return [int(group[np.argmax(values[group])]) for group in groups]
