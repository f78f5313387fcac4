"""Turns long curves into as many columns as a screen has, with the smallest and largest value of each."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float32]

FACTOR = 16
"""Number of values of one level whose smallest and largest value the next level keeps."""
_LEVELS = 3
_BLOCK = FACTOR ** (_LEVELS - 1)
BYTES_PER_VALUE = 4 * (1 + sum(2 / FACTOR**level for level in range(1, _LEVELS)))
"""Memory of one value of one curve, with its part of the higher levels [bytes]."""


class Reduced(NamedTuple):
    """A curve in columns."""

    steps: NDArray[np.int64]
    """First step of each column, then the step after the last column, (columns + 1,)."""
    low: Values
    """Smallest value, (..., columns); NaN where there is none."""
    high: Values
    """Largest value, (..., columns)."""


class Curves:
    """The last values of some curves, one for each step, numbered as in a history.

    Besides the values, it keeps the extremes of every 16 and every 256 values: ten minutes are then drawn as fast as
    a second.
    """

    def __init__(self, count: int, capacity: int) -> None:
        """Allocate `count` curves of at least `capacity` values."""
        # One block more, because the one that is being overwritten is neither old nor new.
        self.capacity = -(-capacity // _BLOCK) * _BLOCK + _BLOCK
        # Curve by curve, so that reading one touches no other; where there are more curves than steps, step by step, so
        # that adding a step does not touch every page of the memory.
        order: Literal["C", "F"] = "F" if count > self.capacity else "C"
        self._values: Values = np.empty((count, self.capacity), np.float32, order)
        sizes = [self.capacity // FACTOR**level for level in range(1, _LEVELS)]
        self._lows: list[Values] = [np.empty((count, size), np.float32, order) for size in sizes]
        self._highs: list[Values] = [np.empty((count, size), np.float32, order) for size in sizes]
        self.stop = 0
        """Number of the step after the newest."""
        self.version = 0
        """Number that changes whenever the values do."""
        self._base = self._peak = 0

    @property
    def first(self) -> int:
        """Oldest step."""
        newest = max(self.stop, self._peak)
        return max(self._base, -(-newest // _BLOCK) * _BLOCK - self.capacity)

    def restart(self, step: int) -> None:
        """Forget everything; the next value is that of `step`."""
        self.version += 1
        self.stop = self._base = self._peak = step
        # The step may be in the middle of values that are summed up together.
        end = step % self.capacity
        begin = end - step % _BLOCK
        self._values[:, begin:end] = np.nan
        for level, (lows, highs) in enumerate(zip(self._lows, self._highs, strict=True), start=1):
            part = slice(begin // FACTOR**level, end // FACTOR**level)
            lows[:, part] = highs[:, part] = np.nan

    def compacted(self) -> "Curves":
        """Return a copy in no more memory than its values need."""
        steps = np.arange(self.first, self.stop)
        copy = Curves(len(self._values), max(len(steps), 1))
        copy.restart(self.first)
        copy.extend(self._values[:, steps % self.capacity])
        return copy

    def truncate(self, stop: int) -> None:
        """Forget the steps from `stop` on."""
        self.version += 1
        if stop <= self.first:
            self.restart(stop)
        elif stop < self.stop:
            # What the ring has overwritten stays lost.
            self._peak, self.stop = max(self._peak, self.stop), stop

    def extend(self, values: ArrayLike) -> None:
        """Add the values of the next steps, (count, n)."""
        self.version += 1
        added = np.asarray(values, np.float32)
        begin = 0
        while begin < added.shape[1]:
            place = self.stop % self.capacity
            end = min(begin + self.capacity - place, added.shape[1])
            self._values[:, place : place + end - begin] = added[:, begin:end]
            self.stop += end - begin
            self._sum_up(place, place + end - begin)
            begin = end

    def prepend(self, values: ArrayLike) -> None:
        """Add the values of the steps before the oldest, (count, n), as many of the newest as there is room for."""
        self.version += 1
        added = np.asarray(values, np.float32)
        room = self._base + self.capacity - -(-max(self.stop, self._peak) // _BLOCK) * _BLOCK
        left = min(added.shape[1], room)
        while left > 0:
            end = (self._base - 1) % self.capacity + 1
            begin = end - min(end, left)
            self._values[:, begin:end] = added[:, left - (end - begin) : left]
            left -= end - begin
            self._base -= end - begin
            # Summed up are whole blocks: what is older is not known, what is newer may not be whole yet.
            block = begin - begin % _BLOCK
            self._values[:, block:begin] = np.nan
            self._sum_up(block, min(-(-end // _BLOCK) * _BLOCK, end + self.stop - self._base - (end - begin)))

    def values(self, curve: int, start: int, stop: int) -> Values:
        """Return the values of one curve at steps start to stop - 1, (n,)."""
        steps = np.arange(max(start, self.first), min(stop, self.stop))
        return self._values[curve].take(steps % self.capacity)

    def reduce(self, curves: ArrayLike, start: int, stop: int, columns: int) -> Reduced:
        """Return one curve, or several at once (any shape of numbers), between two steps in at most `columns` columns.

        Columns are of equal length, a power of two, and begin at multiples of it, so that a curve that scrolls does
        not flicker. The steps may lie outside of what is kept.
        """
        rows = np.asarray(curves, np.int64)
        start = max(start, self.first)
        stop = max(min(stop, self.stop), start)
        width = 1
        while -(-stop // width) - start // width > max(columns, 1):
            width *= 2
        level = min(_LEVELS - 1, (width.bit_length() - 1) // (FACTOR.bit_length() - 1))
        size = FACTOR**level
        # Whole columns: what is a little outside is kept too, or unknown.
        first, last = start // width, -(-stop // width)
        entries = range(first * width // size, last * width // size)
        steps = np.clip(np.arange(first, last + 1, dtype=np.int64) * width, start, stop)
        if width == 1:
            values = self._read(self._values, rows, entries)
            return Reduced(steps, values, values)
        if level == 0:
            low = high = self._read(self._values, rows, entries)
        else:
            low, high = (self._read(rings[level - 1], rows, entries) for rings in (self._lows, self._highs))
        if level and self.stop // size in entries and self.stop % size:
            # What is not yet whole is not yet summed up.
            newest = entries.index(self.stop // size)
            end = (self.stop - 1) % self.capacity + 1
            values = self._values[rows, end - self.stop % size : end]
            low[..., newest] = np.fmin.reduce(values, axis=-1)
            high[..., newest] = np.fmax.reduce(values, axis=-1)
        return Reduced(steps, *_extremes(low, high, last - first))

    def _read(self, ring: Values, rows: NDArray[np.int64], entries: range) -> Values:
        """Return `entries` of some curves in the ring of a level, (..., entries); NaN where they are not known."""
        count = ring.shape[1]
        size = self.capacity // count
        values = np.full((*rows.shape, len(entries)), np.nan, np.float32)
        begin = max(entries.start, self.first // size)
        stop = min(entries.stop, -(-self.stop // size))
        while begin < stop:
            place = begin % count
            end = min(begin + count - place, stop)
            # By slices, which takes a fiftieth of the time of positions.
            values[..., begin - entries.start : end - entries.start] = ring[rows, place : place + end - begin]
            begin = end
        return values

    def _sum_up(self, begin: int, end: int) -> None:
        """Set the extremes of all blocks that the values at places begin to end - 1 complete; the places do not wrap.

        Incomplete blocks are left out: to update them once in 16 steps takes a sixteenth of the time.
        """
        lows = highs = self._values
        for low_ring, high_ring in zip(self._lows, self._highs, strict=True):
            begin, end = begin // FACTOR, end // FACTOR
            if end <= begin:
                return
            part = slice(begin * FACTOR, end * FACTOR)
            low = lows[:, part]
            high = low if highs is lows else highs[:, part]
            low_ring[:, begin:end], high_ring[:, begin:end] = _extremes(low, high, end - begin)
            lows, highs = low_ring, high_ring


def _extremes(low: Values, high: Values, columns: int) -> tuple[Values, Values]:
    """Return the smallest value of `low` and the largest value of `high` in each column, (..., columns)."""
    lows = _in_columns(low, columns)
    highs = lows if high is low else _in_columns(high, columns)
    return np.fmin.reduce(lows, axis=0), np.fmax.reduce(highs, axis=0)


def _in_columns(values: Values, columns: int) -> Values:
    """Return the values with each column along the first axis, (n, ..., columns): numpy is slow along a short last
    axis."""
    shape = (*values.shape[:-1], columns, values.shape[-1] // columns)
    return np.ascontiguousarray(np.moveaxis(values.reshape(shape), -1, 0))
