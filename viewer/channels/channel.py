"""Named values over time that are added to a run, and limits at which it pauses: rewards, positions, measurements."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sensors.curves import Curves, Reduced

Numbers = NDArray[np.float64]
CAPACITY = 2**20
"""Most values that a channel keeps; older ones are forgotten."""
BOOLEAN = "true or false"
"""Unit of values that are 0 or 1."""
_FIRST_SIZE = 1024
_LATE = 1e-9
"""Largest difference between times that count as equal [s]."""


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
    """Values in the channel's unit, (n,)."""


class Channel:
    """Values of one name in the order of time; of several values at one time the last counts."""

    def __init__(self, name: ChannelName, is_whole: bool = False) -> None:
        self.name = name
        self.is_whole = is_whole
        """True if all values of the run are known, such as from its file: they stay when the run goes back."""
        self._added: list[tuple[float, float]] = []
        """Times [s] and values that `append` has added and nobody has read yet."""
        self._times: Numbers = np.empty(_FIRST_SIZE)
        self._values: Numbers = np.empty(_FIRST_SIZE)
        self._curves = Curves(1, CAPACITY)

    def __len__(self) -> int:
        self._settle()
        return self._curves.stop - self._first

    @property
    def version(self) -> int:
        """Number that changes whenever the values do."""
        self._settle()
        return self._curves.version

    @property
    def times(self) -> Numbers:
        """Simulated time of each value [s], (n,)."""
        self._settle()
        return self._ordered(self._times)

    @property
    def values(self) -> Numbers:
        """Values in the channel's unit, (n,)."""
        self._settle()
        return self._ordered(self._values)

    def append(self, time: float, value: float) -> None:
        """Add one value, which takes little time in every step."""
        self._added.append((time, value))

    def extend(self, times: Numbers, values: Numbers) -> None:
        """Add values; those at times before the last one are left out."""
        self._settle()
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
        place = int(np.searchsorted(self.times, time + _LATE, side="right")) - 1
        return float(self.values[place]) if place >= 0 else float("nan")

    def reduce(self, start: float, stop: float, columns: int) -> tuple[Numbers, Reduced]:
        """Return the extremes of the values between two times [s] in at most `columns` columns, and the time at which
        each column begins, (columns,)."""
        times, first = self.times, self._first
        low = max(int(np.searchsorted(times, start)) - 1, 0)
        high = min(int(np.searchsorted(times, stop, side="right")) + 1, len(times))
        reduced = self._curves.reduce(0, first + low, first + high, columns)
        return times[np.clip(reduced.steps[:-1] - first, 0, max(len(times) - 1, 0))], reduced

    def between(self, start: float, stop: float) -> tuple[Numbers, Numbers]:
        """Return times [s] and values after `start` and up to `stop` [s], (n,) each."""
        times = self.times
        part = slice(*np.searchsorted(times, [start + _LATE, stop + _LATE], side="right").tolist())
        return times[part], self.values[part]

    def truncate(self, time: float) -> None:
        """Forget the values after a time [s]."""
        keep = int(np.searchsorted(self.times, time + _LATE, side="right"))
        self._curves.truncate(self._first + keep)

    def _settle(self) -> None:
        if self._added:
            added, self._added = self._added, []
            self.extend(*np.array(added).T)

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


@dataclass
class Limit:
    """Value of a channel at which a run pauses, once each time that it is passed."""

    channel: str
    limit: float
    below: bool = False
    """True to pause when the values fall below the limit, False when they rise above it."""
    enabled: bool = True
    _seen: float = -np.inf
    """Time of the last value that was compared with the limit [s]."""
    _beyond: bool = False
    """True if the last value that was compared was beyond the limit."""

    @property
    def text(self) -> str:
        """The condition in words, such as `reward/feet_slip < -1`."""
        return f"{self.channel} {'<' if self.below else '>'} {self.limit:g}"

    def restart(self, time: float = -np.inf) -> None:
        """Forget the values that were checked after a time [s]."""
        self._seen, self._beyond = min(self._seen, time), False

    def first_beyond(self, channel: Channel, until: float) -> tuple[float, float] | None:
        """Return time [s] and value at which new values up to a time [s] first pass the limit; None if none does."""
        times, values = channel.between(self._seen, until)
        if not len(times):
            return None
        beyond = values < self.limit if self.below else values > self.limit
        passed = np.flatnonzero(beyond & ~np.append(self._beyond, beyond[:-1]))
        self._seen, self._beyond = float(times[-1]), bool(beyond[-1])
        return (float(times[passed[0]]), float(values[passed[0]])) if self.enabled and len(passed) else None


class Channels:
    """The channels of a run, in the order in which they first had a value."""

    def __init__(self, kept: Iterable[Channel] = ()) -> None:
        """Begin with the channels `kept`."""
        self._channels: dict[str, Channel] = {channel.name.name: channel for channel in kept}
        self.limits: list[Limit] = []
        """Values at which the run pauses."""
        self.on_limit: Callable[[Limit, float, float], None] = lambda limit, time, value: None
        """Function that is called when a limit is passed, with the time [s] and the value."""

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._channels.values())

    def __len__(self) -> int:
        return len(self._channels)

    def __getitem__(self, name: str) -> Channel:
        if name not in self._channels:
            raise KeyError(f"no channel named {name!r}; there are: {', '.join(self._channels) or 'none'}")
        return self._channels[name]

    def __contains__(self, name: object) -> bool:
        return name in self._channels

    def open(self, name: ChannelName, is_whole: bool = False) -> Channel:
        """Return the channel of a name; create it if there is none."""
        if name.name not in self._channels:
            self._channels[name.name] = Channel(name, is_whole)
        return self._channels[name.name]

    def add(self, samples: Samples) -> None:
        """Add values to a channel; create it if there is none of the name."""
        self.open(samples.channel).extend(samples.times, samples.values)

    def remove(self, name: str) -> None:
        """Forget a channel, and the limits on it."""
        self._channels.pop(name, None)
        self.limits[:] = [limit for limit in self.limits if limit.channel != name]

    def check(self, until: float = np.inf) -> None:
        """Look whether new values up to a time [s] pass a limit."""
        for limit in self.limits:
            if limit.channel in self._channels:
                passed = limit.first_beyond(self._channels[limit.channel], until)
                if passed is not None:
                    self.on_limit(limit, *passed)

    def clear(self) -> None:
        """Forget all values except those of files; the names stay."""
        self._channels = {
            name: channel if channel.is_whole else Channel(channel.name) for name, channel in self._channels.items()
        }
        for limit in self.limits:
            limit.restart()

    def detach(self) -> "Channels":
        """Return a copy of the channels that keeps its values when these are cleared."""
        other = Channels(self)
        other.limits, other.on_limit = self.limits, self.on_limit
        return other

    def truncate(self, time: float) -> None:
        """Forget the values after a time [s], except those of files."""
        for channel in self:
            if not channel.is_whole:
                channel.truncate(time)
        for limit in self.limits:
            limit.restart(time)

    def samples(self, start: float, stop: float) -> list[Samples]:
        """Return the values between two times [s] of all channels that have some then."""
        found = (Samples(channel.name, *channel.between(start - 2 * _LATE, stop)) for channel in self)
        return [each for each in found if len(each.times)]

    def groups(self) -> dict[str, list[Channel]]:
        """Return the channels of each plot, those of one group and unit, by the plot's title."""
        found: dict[str, list[Channel]] = {}
        for channel in self:
            if channel.name.group == "episode":
                # They say how an episode ended.
                continue
            group, unit = channel.name.group, channel.name.unit
            found.setdefault(f"{group} [{unit}]".strip() if unit else group, []).append(channel)
        return found
