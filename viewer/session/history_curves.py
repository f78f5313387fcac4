"""Turns the steps that a history keeps into curves: every signal of every sensor."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import Past
from ..engines.contract import Engine
from ..mjmodel.friction import model_cone
from ..mjmodel.names import sensor_names
from ..mjmodel.pairs import sensor_friction
from ..sensors.contacts import ContactBatch
from ..sensors.curves import BYTES_PER_VALUE, Curves, Reduced, Values
from ..sensors.signals import Signal, measure_signals
from .ring import StepRing

GroupedContacts = Callable[[int, int], Iterator[tuple[NDArray[np.intp], ContactBatch]]]
_UPDATE_STEPS = 512
"""Most steps that one update reads, so that a panel opened late does not freeze the window."""
_FRICTION_PAIRS = 20_000
"""Number of geom pairs above which the friction of a sensor is not looked up."""
_MANY = 64
"""Number of sensors above which it saves time to leave out those that nothing touches."""
SIGNAL_PLACES = {signal: place for place, signal in enumerate(Signal)}
"""Place of each signal among the curves of one object."""


class SignalCurves(ABC):
    """Signals of some objects over the steps of a ring."""

    def __init__(self, count: int, ring: StepRing) -> None:
        """Allocate curves of at most `count` objects."""
        self._ring, self._curves = ring, Curves(count * len(Signal), ring.capacity)

    @abstractmethod
    def place(self, name: str) -> int:
        """Return the index of an object by its name."""

    @property
    def first(self) -> int:
        """Oldest step that has values."""
        return max(self._curves.first, self._ring.first)

    @property
    def stop(self) -> int:
        """Step after the newest that has values."""
        return self._curves.stop

    @property
    def version(self) -> int:
        """Number that changes whenever the values do."""
        return self._curves.version

    def reduce(self, names: Sequence[str], signals: Sequence[Signal], start: int, stop: int, columns: int) -> Reduced:
        """Return the extremes of signals between two steps, in at most `columns` columns: (names, signals, columns).

        Reducing all signals at once takes a tenth of the time of reducing them one by one.
        """
        rows = [self._row(name, signal) for name in names for signal in signals]
        shaped = np.array(rows, np.int64).reshape(len(names), len(signals))
        return self._curves.reduce(shaped, max(start, self.first), stop, columns)

    def values(self, name: str, signal: Signal, start: int, stop: int) -> Values:
        """Return a signal at steps start to stop - 1, (n,)."""
        return self._curves.values(self._row(name, signal), max(start, self.first), stop)

    def _row(self, name: str, signal: Signal) -> int:
        return self.place(name) * len(Signal) + SIGNAL_PLACES[signal]


class HistoryCurves(SignalCurves):
    """Every signal of every kept sensor after every step that the history holds.

    The curves are computed only while they are shown: call `update` once a frame.
    """

    def __init__(
        self, names: tuple[str, ...], grouped_contacts: GroupedContacts, ring: StepRing, engine: Engine
    ) -> None:
        """Read the contacts of sensors by `grouped_contacts`: see `History.grouped_contacts`."""
        super().__init__(len(names), ring)
        self._grouped_contacts = grouped_contacts
        self.names = names
        """Sensors with curves."""
        self._places = {name: place for place, name in enumerate(self.names)}
        ring.derived.append(self._curves)
        model = engine.model
        self._cone = model_cone(model)
        self._friction = np.full((len(self.names), 2), np.nan)
        """Sliding coefficients along both tangents, (sensors, 2); looked up when a sensor first has a contact."""
        self._unknown = np.full(len(self.names), engine.has_contact_list)
        """True for sensors whose friction was not looked up yet, (sensors,)."""
        self._engine = engine

    def place(self, name: str) -> int:
        return self._places[name]

    def update(self, limit: int = _UPDATE_STEPS) -> bool:
        """Compute the curves of at most `limit` new steps, then of past ones; return True if none is left."""
        ring, curves = self._ring, self._curves
        oldest = max(ring.first, ring.unread)
        if curves.stop < oldest:
            curves.restart(oldest)
        if curves.stop > ring.last and curves.first > oldest:
            start = max(oldest, curves.first - limit, ring.epoch(curves.first - 1)[0])
            curves.prepend(self._measure(start, curves.first))
        stop = min(ring.last + 1, curves.stop + limit)
        starts = [step for step, _ in ring.epochs if curves.stop < step < stop]
        for start, end in pairwise([curves.stop, *starts, stop]):
            if start < end:
                curves.extend(self._measure(start, end))
        return curves.stop > ring.last and curves.first <= oldest

    def _measure(self, start: int, stop: int) -> Values:
        block = np.empty((len(self.names), len(Signal), stop - start), np.float32)
        for members, batch in self._grouped_contacts(start, stop):
            touched = batch.filled.any(axis=(0, 2))
            self._look_up_friction(members[touched])
            if len(members) > _MANY and not touched.all():
                # Sensors that no step touches all read the same: one of them stands for the others.
                untouched = np.flatnonzero(~touched)[:1]
                block[members] = measure_signals(batch.of_sensors(untouched)).transpose(2, 0, 1)
                members, batch = members[touched], batch.of_sensors(np.flatnonzero(touched))
            signals = measure_signals(batch, self._friction[members], self._cone)
            block[members] = signals.transpose(2, 0, 1)
        return block.reshape(-1, stop - start)

    def _look_up_friction(self, touching: NDArray[np.intp]) -> None:
        """Find the friction of sensors that have contacts: there may be thousands that never have any."""
        places = touching[self._unknown[touching]]
        if len(places):
            engine = self._engine
            ids = {name: sensor_id for sensor_id, name in enumerate(sensor_names(engine.model))}
            declared = [ids[engine.sensors[self.names[place]].declared_name] for place in places]
            self._friction[places] = sensor_friction(engine.model, declared, _FRICTION_PAIRS)
            self._unknown[places] = False


def curve_bytes(past: Past) -> int:
    """Return the memory that the curves of a past take per step [bytes]."""
    return math.ceil(len(past.names) * len(Signal) * BYTES_PER_VALUE)
