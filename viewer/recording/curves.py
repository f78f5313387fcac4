"""Values over time to a strip of smooth curves that grows to the right, and then scrolls."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .encoders import Picture
from .patches import Color

_GRID: Color = (255, 255, 255, 26)
_ZERO: Color = (255, 255, 255, 64)
_AXIS_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
_NOISE = 1e-3
"""Values this small a part of the axis do not stretch it below zero."""
_SHRINK = 0.4
"""The axis shrinks when it needs less than this part of its length."""


class CurveStrip:
    """Several curves on one pair of axes, painted column by column into a part of a picture.

    A column holds the smallest and largest value of its time, so that no peak between two pictures is lost.
    """

    def __init__(self, pixels: Picture, colors: Sequence[Color], seconds: float, thickness: float, top: float) -> None:
        """`pixels`: where to paint, filled with the ground's colour; `seconds`: time across; `top`: least range."""
        self._pixels = pixels
        self._ground = pixels[0, 0].astype(float)
        self._height, self._width = pixels.shape[:2]
        self._colors = colors
        self._column_time = seconds / self._width
        self.division = nice_above(seconds / 5)
        """Time between two vertical grid lines."""
        self._thickness = thickness
        self._top_min = nice_above(top)
        self.bottom, self.top = 0.0, self._top_min
        """Values at the ends of the axis."""
        self._low = np.zeros((len(colors), self._width))
        self._high = self._low.copy()
        self._last = np.zeros(len(colors))
        self._start: float | None = None
        """Time of the first sample."""
        self._first = 0
        """Number of the column at the left edge; column 0 holds the first sample."""
        self._newest = -1
        self._stale = 0
        """Number of the first column whose paint may be out of date."""

    def sample(self, time: float, values: NDArray[np.float64]) -> None:
        """Take the curves' values at a time, which never goes back."""
        if self._start is None:
            self._start, self._last = time, values
        values = np.where(np.isfinite(values), values, 0.0)
        column = int((time - self._start) / self._column_time + 1e-6)
        self._scroll(column)
        if column > self._newest:
            # The curve comes from the last value, through every column that a long step has passed.
            passed = slice(max(self._newest + 1 - self._first, 0), column + 1 - self._first)
            self._low[:, passed] = self._high[:, passed] = self._last[:, None]
            self._newest = column
        at = column - self._first
        np.minimum(self._low[:, at], values, out=self._low[:, at])
        np.maximum(self._high[:, at], values, out=self._high[:, at])
        self._last = values

    def paint(self) -> None:
        """Bring the strip up to date."""
        if self._newest < 0:
            return
        shown = slice(0, self._newest + 1 - self._first)
        if self._fit_axis(float(self._low[:, shown].min()), float(self._high[:, shown].max())):
            self._stale = self._first
        self._paint(max(self._stale - self._first, 0), shown.stop)
        # The newest column may still grow.
        self._stale = self._newest

    def _scroll(self, column: int) -> None:
        shift = column - self._first - self._width + 1
        if shift <= 0:
            return
        self._first += shift
        for values in (self._low, self._high, self._pixels):
            values[:, :-shift] = values[:, shift:].copy()

    def _fit_axis(self, lowest: float, highest: float) -> bool:
        """Give the axis room for what is shown; whether it has changed."""
        top = max(nice_above(highest, _AXIS_STEPS), self._top_min)
        bottom = -nice_above(-lowest, _AXIS_STEPS) if lowest < -_NOISE * top else 0.0
        fits = top <= self.top and bottom >= self.bottom
        # An axis that has become much too long shrinks; a little too long it stays, or it would jump back and forth.
        if fits and top - bottom > _SHRINK * (self.top - self.bottom):
            return False
        changed = (bottom, top) != (self.bottom, self.top)
        self.bottom, self.top = bottom, top
        return changed

    def _paint(self, start: int, end: int) -> None:
        colors = np.tile(self._ground, (self._height, end - start, 1))
        zero = self._row(np.zeros(1))[0]
        for edge, paint in ((0.0, _GRID), (self._height - 1.0, _GRID), (zero, _ZERO)):
            _cover(colors[min(int(edge), self._height - 1)], paint, np.ones(end - start))
        times = (np.arange(start - 1, end) + self._first) * self._column_time + (self._start or 0.0)
        marks = np.diff(np.floor(times / self.division + 1e-6)) > 0
        _cover(colors, _GRID, np.broadcast_to(marks, colors.shape[:2]))
        rows = np.arange(self._height)[:, None]
        # The first curve is the most important one, and painted last.
        for curve in reversed(range(len(self._colors))):
            upper = self._row(self._high[curve, start:end]) - self._thickness / 2
            lower = self._row(self._low[curve, start:end]) + self._thickness / 2
            coverage = np.clip(np.minimum(rows + 1, lower) - np.maximum(rows, upper), 0.0, 1.0)
            _cover(colors, self._colors[curve], coverage)
        self._pixels[:, start:end] = np.rint(colors)

    def _row(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distance from the strip's upper edge [px]."""
        room = self._height - self._thickness
        return self._thickness / 2 + room * (self.top - values) / (self.top - self.bottom)


def nice_above(value: float, steps: Sequence[float] = (1.0, 2.0, 5.0, 10.0)) -> float:
    """The smallest number not below a positive value whose digits are one of the steps."""
    if not 1e-300 < value < math.inf:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(value))
    # A hair of tolerance: 10 must not become 20 because of rounding.
    return float(next(step * decade for step in steps if step * decade * (1 + 1e-9) >= value))


def _cover(colors: NDArray[np.float64], paint: Color, coverage: NDArray[np.floating] | NDArray[np.bool_]) -> None:
    """Lay paint over colours, (..., 3), as far as it covers them, (...)."""
    colors += (np.array(paint[:3], float) - colors) * (coverage * (paint[3] / 255))[..., None]
