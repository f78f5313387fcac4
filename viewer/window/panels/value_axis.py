"""Turns curves into the part of the value axis that shows them, and what of them is above it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...settings import PlotSettings, ValueAxis

Columns = NDArray[np.floating]

_USUAL = 0.98
"""Part of the columns that the axis always holds."""
_FAR = 2.0
"""An impact is left out if it is so many times as high as what is usual."""
_FEWEST = 20
"""Columns below which nothing is unusual."""
_ROOM, _ROOM_ABOVE = 1.05, 1.25
"""Height of the axis by the highest value, and by the highest usual one where some are above it."""
_DECADES = 4.0
"""That a logarithmic axis shows at most."""
_TOPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Ends of an axis: round, so that it seldom changes while values do."""


class ValueRange(NamedTuple):
    """The part of the values that a plot shows."""

    low: float
    high: float


class Mark(NamedTuple):
    """Where a curve leaves the plot at its top."""

    column: int
    """The highest of neighbouring columns that do."""
    value: float
    """How high it is there."""


def value_range(low: Columns, high: Columns, settings: PlotSettings) -> ValueRange:
    """What the axis of some curves shows, given the extremes of their columns, (..., columns) each, NaN without value.

    A linear axis holds zero, so that noise on a constant stays small.
    """
    if settings.axis is ValueAxis.FIXED and settings.value_low < settings.value_high:
        return ValueRange(settings.value_low, settings.value_high)
    top, bottom = _reach(high, settings.fit_usual), -_reach(-low, settings.fit_usual)
    if settings.axis is ValueAxis.LOG and bottom == 0.0:
        return _logarithmic(low, top)
    if top == bottom == 0.0:
        return ValueRange(0.0, 1.0)
    return ValueRange(bottom, top)


def _reach(values: Columns, fit_usual: bool) -> float:
    """How far an axis goes for the positive ones of some values; 0 without any."""
    positive = values[values > 0.0]
    if not len(positive):
        return 0.0
    most = float(positive.max())
    if fit_usual and len(positive) >= _FEWEST:
        place = math.ceil(_USUAL * len(positive)) - 1
        usual = float(np.partition(positive, place)[place])
        if most > _FAR * usual:
            return _round_up(_ROOM_ABOVE * usual)
    return _round_up(_ROOM * most)


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


def marks_above(high: Columns, top: float) -> list[Mark]:
    """The places where one curve, (columns,), is above the end of the axis."""
    above = np.flatnonzero(high > top)
    if not len(above):
        return []
    groups = np.split(above, np.flatnonzero(np.diff(above) > 1) + 1)
    highest = [group[np.argmax(high[group])] for group in groups]
    return [Mark(int(column), float(high[column])) for column in highest]
