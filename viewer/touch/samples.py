"""Keeps the samples of a touch sensor after every step, for its curves and for a return to a step."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sensors.contacts import Array
from .device import TouchSensor

CAPACITY = 5_000
"""Least number of steps that are kept."""
_SAME_TIME = 1e-9
"""Largest difference between times of the same step [s]; above 1 s, as a part of the time."""


class TouchHistory:
    """The last steps of one touch sensor."""

    def __init__(self, size: int, capacity: int = CAPACITY) -> None:
        """Allocate samples. `size`: values of the sensor, 1 or 3."""
        self._size = size
        self._capacity = capacity
        # Every row is written twice, a capacity apart, so that the last rows always lie in one piece.
        self._rows: NDArray[np.float64] = np.empty((2 * capacity, 3 + 3 * size))
        self.clear()

    def clear(self) -> None:
        self._stop = self._peak = self._next = 0

    def __len__(self) -> int:
        return self._stop - self.first

    @property
    def first(self) -> int:
        """Number of the oldest step that is kept, counted from where the history began."""
        return max(0, self._peak - self._capacity)

    def append(self, time: float, true: ArrayLike, state: ArrayLike) -> None:
        """Keep a step: the output of an ideal device, (size,), and the state that the device saved. After `go_to`,
        this is the next step, and later ones are dropped."""
        place = self._next % self._capacity
        row = self._rows[place]
        row[0] = time
        row[1 : 1 + self._size] = true
        row[1 + self._size :] = state
        self._rows[place + self._capacity] = row
        self._stop = self._next = self._next + 1
        self._peak = max(self._peak, self._stop)

    def find(self, time: float) -> int | None:
        """Return the number of the step at a time [s]; None if it is not kept."""
        times = self.times
        near = np.flatnonzero(np.abs(times - time) <= _SAME_TIME * max(1.0, abs(time)))
        return self.first + int(near[-1]) if near.size else None

    def go_to(self, step: int) -> Array:
        """Return the state that the device had saved after a step. Later steps are kept until the next `append`."""
        self._next = step + 1
        return self._kept[step - self.first, 1 + self._size :]

    @property
    def times(self) -> Array:
        """Simulated time of each step [s], oldest first, (n,)."""
        return self._kept[:, 0]

    @property
    def true(self) -> Array:
        """Outputs of an ideal device [N], (n, size)."""
        return self._kept[:, 1 : 1 + self._size]

    def values(self, device: TouchSensor, start: int = 0) -> Array:
        """Return the device's outputs, as it is set now, for the samples that it held, (n - start, size)."""
        return device.respond_to(self._kept[start:, 1 + self._size :])

    @property
    def _kept(self) -> NDArray[np.float64]:
        start = self.first % self._capacity
        return self._rows[start : start + len(self)]


def thin(times: Array, values: Array, first: int, point_count: int) -> tuple[Array, Array]:
    """Return a curve of a number of points that keeps every peak: the smallest and largest value of each bin of steps.

    `times` and `values` are (n,), of steps that are numbered from `first`: bins begin at multiples of their width, so
    that a curve which scrolls keeps its shape.
    """
    width = -(-2 * len(times) // point_count)
    if width <= 2:
        return np.ascontiguousarray(times), np.ascontiguousarray(values)
    start = -first % width
    stop = start + (len(times) - start) // width * width
    bins = values[start:stop].reshape(-1, width)
    ends = np.stack([np.fmin.reduce(bins, axis=1), np.fmax.reduce(bins, axis=1)], axis=1)
    return (
        np.concatenate([np.repeat(times[start:stop:width], 2), times[stop:]]),
        np.concatenate([ends.ravel(), values[stop:]]),
    )
