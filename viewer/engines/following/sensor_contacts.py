"""Every step of an engine to the contacts of its sensors by their force: when, how long, how often, how hard."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...sensors.event_log import LogEntry, LoggedContact, PeakHold
from ...sensors.events import EventKind
from ...sensors.timing import ContactTiming, ForceTrigger, SensorEvent
from ..contract import Engine, SensorList
from .sensor_forces import SensorForces


class SensorContacts:
    """Contacts of all sensors, followed step by step.

    Where an engine lets all sensors be read together, what they say is only put by, and looked at for many steps at
    once: by `settle`, which has to be called before anything is asked.
    """

    def __init__(self, engine: Engine, on: float, off: float, min_duration: float, capacity: int) -> None:
        """Contact begins above `on` and ends below `off` [N]; shorter changes than the duration [s] do not count.

        `capacity`: steps that can be put by.
        """
        self._engine = engine
        self._thresholds = on, off, min_duration
        self._capacity = capacity
        self._reader = SensorForces(engine)
        self._sensors: SensorList | None = None
        self.known: SensorList | None = None
        """The sensors of which steps can be put by; None if that cannot be."""
        self.put_by: Callable[[float, float], object] = _pass_over
        """Takes in a step between two times [s], to the first of which the arrays belong. Only of sensors `known`."""
        self._rows: NDArray[np.float64] = np.zeros((0, 0))
        # When the steps that are not yet looked at began and ended [s]; their arrays are the first of the rows.
        self._times: list[tuple[float, float]] = []
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Begin anew, or go on from an instant that was returned to: `last` are the last events before it."""
        self.names = self._engine.sensors.names
        """Names of the sensors."""
        count, timestep = len(self.names), self._engine.timestep
        self.forces: NDArray[np.float64] = np.zeros(count)
        """How hard the sensors are pressed [N], (sensors,)."""
        self.trigger = ForceTrigger(count, *self._thresholds, timestep)
        """Which are in contact."""
        self.timing = ContactTiming(count, timestep)
        """How long they have been, since the start or since time was last turned back."""
        self._places = np.arange(count)
        self._peaks = PeakHold(count)
        self._started = False
        self._times.clear()
        self._resumed: dict[int, LoggedContact] = {}
        begins: dict[int, float | None] = {}
        for entry in last:
            if entry.sensor is not None and entry.sensor < count:
                begins[entry.sensor] = None
                if entry.kind is EventKind.BEGIN:
                    begins[entry.sensor] = entry.contact.begin
                    self._resumed[entry.sensor] = entry.contact
        self.trigger.resume(begins)

    def follow(self, engine: Engine, start: float, end: float) -> list[LogEntry]:
        """As `put_by`, whatever sensors there are now; the events that are known."""
        entries: list[LogEntry] = []
        if engine.sensors is not self._sensors:
            entries = self.settle()
            self._look_up(engine.sensors)
        if self.known is None:
            return entries + self._take_in(start, end, self._reader.read())
        self.put_by(start, end)
        return entries

    def put_by_block(self, times: Sequence[float], rows: NDArray[np.float64]) -> None:
        """As `put_by`, of steps between these times [s], (n + 1,), after each of which `sensordata` was a row."""
        if self._rows.size:
            place = len(self._times)
            self._rows[place : place + len(rows)] = rows[:, self._reader.columns]
            self._times += pairwise(times)

    def settle(self) -> list[LogEntry]:
        """Look at the steps that were put by; the events that they show."""
        if not self._times:
            return []
        forces = self._reader.decode(self._rows[: len(self._times)])
        times = self._times.copy()
        self._times.clear()
        entries: list[LogEntry] = []
        i = 0
        while i < len(forces):
            quiet = self.trigger.quiet_steps(forces[i:])
            if quiet:
                starts = [start for start, _ in times[i : i + quiet]]
                self.trigger.skip(starts[-1], quiet)
                self.timing.skip(quiet)
                self._peaks.update_steps(starts, self._places, forces[i : i + quiet])
                self.forces = forces[i + quiet - 1]
                i += quiet
            else:
                entries += self._take_in(*times[i], forces[i])
                i += 1
        return entries

    def _look_up(self, sensors: SensorList) -> None:
        """Follow the sensors that there are now."""
        self._sensors, self.known = sensors, None
        together = self._reader.look_up()
        if len(sensors) != len(self.names):
            # A sensor was added.
            self.resume(())
        if together or not len(sensors):
            self.known, self.put_by = sensors, self._make_room()

    def _make_room(self) -> Callable[[float, float], object]:
        """A place for steps that are put by, and what puts them there."""
        view = self._reader.values()
        self._rows = np.empty((self._capacity, view.size))
        if not view.size:
            return _pass_over
        # What runs after every step has everything at hand; to copy bytes takes half the time.
        values, rows, times, size = view.data.cast("B"), self._rows.data.cast("B"), self._times, view.nbytes

        def put_by(start: float, end: float) -> None:
            place = len(times) * size
            rows[place : place + size] = values
            times.append((start, end))

        return put_by

    def _take_in(self, start: float, end: float, forces: NDArray[np.float64]) -> list[LogEntry]:
        """The events that one step shows."""
        self.forces = forces
        found = self.trigger.update(start, forces)
        self.timing.update(self.trigger.debounced)
        if not self._started:
            self._started = True
            for sensor in np.flatnonzero(self.trigger.debounced).tolist():
                self._peaks.open(sensor, self._resumed.get(sensor) or LoggedContact(start))
        entries = [self._entry(event, end) for event in found]
        self._peaks.update(start, self._places, forces)
        return entries

    def _entry(self, event: SensorEvent, seen: float) -> LogEntry:
        if event.kind is EventKind.BEGIN:
            # It may have been confirmed after its peak.
            contact = LoggedContact(event.time, peak_force=event.force, peak_time=event.time)
            self._peaks.open(event.sensor, contact)
        else:
            contact = self._peaks.close(event.sensor) or LoggedContact(event.time - event.duration)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.names[event.sensor], event, contact)


def _pass_over(start: float, end: float) -> None:
    """A step of no sensors."""
