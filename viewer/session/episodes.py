"""Keeps the episodes of a run that have ended: their steps, channels and events, within the memory of the history."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..channels.channel import Channels
from ..events.event_log import EventLog
from .history import History

_MOST = 1000
"""Episodes that are kept at most."""
RETURN, REWARD = "episode/return", "reward"
"""Channels that give the return of an episode: the last value of the first channel, or the sum of the second."""
_ENDINGS = ("episode/terminated", "episode/truncated")
"""Channels that name the ending of an episode if their last value is not 0."""


@dataclass
class Episode:
    """Steps between two resets. Channels whose names begin with `episode/` hold its ending and its return."""

    number: int
    """Number of the episode in its run, from 1."""
    history: History
    channels: Channels
    ending: str = ""
    """Ending: `terminated`, `truncated`, `reset`, or the cause of an instability; empty while the episode lasts."""
    events: EventLog | None = None
    """Contact events; None if events are not tracked."""

    @property
    def steps(self) -> int:
        """Number of steps, forgotten steps included."""
        return self.history.last

    @property
    def seconds(self) -> float:
        """Simulated time from the oldest kept step to the last [s]."""
        return self.history.seconds

    @property
    def total(self) -> float | None:
        """Return of the episode; None if no rewards were handed over."""
        for name in (RETURN, REWARD):
            if name in self.channels and len(values := self.channels[name].values):
                return float(values[-1] if name == RETURN else values.sum())
        return None


class Episodes:
    """The last episodes that ended, oldest first."""

    def __init__(self) -> None:
        self._kept: deque[Episode] = deque()
        self.count = 0
        """Number of episodes that ended so far, forgotten episodes included."""
        self.read_events: Callable[[], EventLog | None] = lambda: None
        """Function that returns the events of the episode that ends now."""

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, place: int) -> Episode:
        return self._kept[place]

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._kept)

    def end(self, history: History, channels: Channels, reason: str = "") -> Episode:
        """Keep an episode that ends now, in no more memory than its steps take."""
        self.count += 1
        ended = [name.rpartition("/")[2] for name in _ENDINGS if name in channels and channels[name].value_at(np.inf)]
        episode = Episode(
            self.count,
            history.frozen(),
            channels.detach(),
            reason or next(iter(ended), "reset"),
            _copied(self.read_events()),
        )
        self._kept.append(episode)
        self.fit(history.budget)
        return episode

    def fit(self, budget: int, keep: Episode | None = None) -> None:
        """Forget the oldest episodes, but not one that is shown, until the others fit into some memory [bytes]."""
        sizes = [episode.history.bytes for episode in self._kept]
        while self._kept and (len(sizes) > _MOST or sum(sizes) > budget) and self._kept[0] is not keep:
            self._kept.popleft()
            del sizes[0]

    def clear(self) -> None:
        """Forget all episodes."""
        self._kept.clear()


def _copied(log: EventLog | None) -> EventLog | None:
    """Return a copy of a log whose contacts do not change when the original grows."""
    if log is None:
        return None
    contacts = {id(entry.contact): replace(entry.contact) for entry in log}
    copy = EventLog(None)
    copy.entries = [entry._replace(contact=contacts[id(entry.contact)]) for entry in log]
    copy.dropped = log.dropped
    return copy
