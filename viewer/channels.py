"""Named values over time that a program adds to a run: rewards, observations, anything that is no contact."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sensors.curves import Curves, Reduced

Numbers = NDArray[np.float64]
CAPACITY = 2**20
"""Most values that a channel keeps; older ones are forgotten."""
_FIRST_SIZE = 1024


class ChannelName(NamedTuple):
    """Name of a channel, and the unit of its values."""

    name: str
    unit: str = ""

    @property
    def group(self) -> str:
        """The part of the name before its last slash, which channels of one plot share."""
        return self.name.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The part of the name after its last slash."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class Samples:
    """New values of one channel, in the order of time."""

    channel: ChannelName
    times: Numbers
    """Simulated time [s], (n,)."""
    values: Numbers
    """In the channel's unit, (n,)."""


class Channel:
    """Values of one name in the order of time; of several at one time, the last counts."""

    def __init__(self, name: ChannelName) -> None:
        self.name = name
        self._times: Numbers = np.empty(_FIRST_SIZE)
        self._values: Numbers = np.empty(_FIRST_SIZE)
        self._curves = Curves(1, CAPACITY)

    def __len__(self) -> int:
        return self._curves.stop - self._first

    @property
    def version(self) -> int:
        """Number that changes whenever the values do."""
        return self._curves.version

    @property
    def times(self) -> Numbers:
        """Simulated time of each value [s], (n,)."""
        return self._ordered(self._times)

    @property
    def values(self) -> Numbers:
        """Values in the channel's unit, (n,)."""
        return self._ordered(self._values)

    def extend(self, times: Numbers, values: Numbers) -> None:
        """Add values; those at times before the last one are left out."""
        last = self._last_time
        ahead = np.maximum.accumulate(np.append(last, times))[:-1] <= times
        times, values = times[ahead], values[ahead]
        if not len(times):
            return
        if times[0] == last:
            self._curves.truncate(self._curves.stop - 1)
        # Of several values at one time the last one stays.
        newest = np.append(times[1:] != times[:-1], True)
        times, values = times[newest][-CAPACITY:], values[newest][-CAPACITY:]
        start = self._curves.stop
        self._make_room(start + len(times))
        places = np.arange(start, start + len(times)) % len(self._times)
        self._times[places], self._values[places] = times, values
        self._curves.extend(values[np.newaxis])

    def value_at(self, time: float) -> float:
        """Return the newest value up to a time [s]; NaN where there is none."""
        place = int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1
        return float(self.values[place]) if place >= 0 else float("nan")

    def reduce(self, start: float, stop: float, columns: int) -> tuple[Numbers, Reduced]:
        """Return the extremes of the values between two times [s] in at most `columns` columns, and the time at which
        each column begins, (columns,)."""
        times, first = self.times, self._first
        low = max(int(np.searchsorted(times, start)) - 1, 0)
        high = min(int(np.searchsorted(times, stop, side="right")) + 1, len(times))
        reduced = self._curves.reduce(0, first + low, first + high, columns)
        return times[np.clip(reduced.steps[:-1] - first, 0, max(len(times) - 1, 0))], reduced

    def truncate(self, time: float) -> None:
        """Forget the values after a time [s]."""
        keep = int(np.searchsorted(self.times, time + 1e-9, side="right"))
        self._curves.truncate(self._first + keep)

    @property
    def _first(self) -> int:
        return max(self._curves.stop - CAPACITY, 0)

    @property
    def _last_time(self) -> float:
        stop = self._curves.stop
        return float(self._times[(stop - 1) % len(self._times)]) if stop else -np.inf

    def _ordered(self, ring: Numbers) -> Numbers:
        start, stop, size = self._first, self._curves.stop, len(ring)
        if stop <= size:
            return ring[start:stop]
        return np.concatenate([ring[start % size :], ring[: stop % size]])[: stop - start]

    def _make_room(self, count: int) -> None:
        size = len(self._times)
        if count > size and size < CAPACITY:
            grown = min(max(2 * size, count), CAPACITY)
            for name in ("_times", "_values"):
                setattr(self, name, np.concatenate([getattr(self, name), np.empty(grown - size)]))


class Channels:
    """The channels of a run, in the order in which they first had a value."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._channels.values())

    def __len__(self) -> int:
        return len(self._channels)

    def __getitem__(self, name: str) -> Channel:
        return self._channels[name]

    def __contains__(self, name: object) -> bool:
        return name in self._channels

    def add(self, samples: Samples) -> None:
        """Add values to a channel, which is made where there is none of the name."""
        name = samples.channel
        if name.name not in self._channels:
            self._channels[name.name] = Channel(name)
        self._channels[name.name].extend(samples.times, samples.values)

    def clear(self) -> None:
        """Forget all values; the names stay."""
        self._channels = {name: Channel(channel.name) for name, channel in self._channels.items()}

    def truncate(self, time: float) -> None:
        """Forget the values after a time [s]."""
        for channel in self:
            channel.truncate(time)

    def groups(self) -> dict[str, list[Channel]]:
        """Return the channels of each plot, those of one group and unit, by the plot's title."""
        found: dict[str, list[Channel]] = {}
        for channel in self:
            group, unit = channel.name.group, channel.name.unit
            found.setdefault(f"{group} [{unit}]".strip() if unit else group, []).append(channel)
        return found
