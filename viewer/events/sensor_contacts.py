"""Turns the steps of an engine into contacts of its sensors by their force: when, how long, how often, how hard."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engines.contract import Engine
from ..engines.steps import Step, StepBlock, StepBuffer
from ..metrics import OFF, ON, check_thresholds, next_in_contact, start_times
from .contact_events import EventKind, SensorEvent
from .event_log import LogEntry, LoggedContact, PeakHold


class ForceTrigger:
    """Contact of sensors by their force: begins above `on`, ends below `off`, and lasts at least a while.

    `raw` changes at the two thresholds at once. `debounced` becomes `raw` once that has held for the minimum
    duration; shorter changes, in either direction, never show in it. Steps are counted, not times added up,
    so that a change is confirmed at the same step however long the simulation has run.
    The first update sets both states and returns no events.
    """

    def __init__(
        self,
        count: int,
        on: float = ON,
        off: float = OFF,
        min_duration: float = 0.0,
        timestep: float = 0.002,
        begin_times: Mapping[int, float] | None = None,
    ) -> None:
        """For `count` sensors; `on` and `off` in newtons, times in seconds.

        `begin_times`: sensors in contact at the instant from which to continue, by position, with the time at which it
        began. They stay so until their force is below the lower threshold; the others are decided by the upper one.
        """
        check_thresholds(on, off)
        self.on, self.off = on, off
        self.min_steps = _step_count(min_duration, timestep)
        """Steps for which a change must hold before it is confirmed; 0 confirms it at once."""
        self.raw = np.zeros(count, bool)
        """Contact by the two thresholds alone, (sensors,)."""
        self.debounced = np.zeros(count, bool)
        """Contact that has held for the minimum duration, until its absence has, (sensors,)."""
        self._resumed = begin_times or {}
        self._started = self._pending = False
        self._step = 0
        self._edge_step = np.zeros(count, np.int64)
        self._edge_time, self._edge_force, self._begin_time = np.zeros((3, count))

    def update(self, time: float, forces: ArrayLike) -> list[SensorEvent]:
        """The changes confirmed by this step, by sensor. To be called after every physics step.

        `time` is simulation time [s]; `forces` [N], (sensors,); a sensor with a NaN force keeps its raw state.
        """
        force = np.asarray(forces, np.float64)
        if force.shape != self.raw.shape:
            raise ValueError(f"values of shape {force.shape} for {len(self.raw)} sensors")
        if not self._started:
            self._start(time, force)
            return []
        self._step += 1
        raw = self._next(force)
        edges = raw != self.raw
        if edges.any():
            self.raw = raw
            self._edge_step[edges], self._edge_time[edges], self._edge_force[edges] = self._step, time, force[edges]
            self._pending = True
        if not self._pending:
            return []
        waiting = self.raw != self.debounced
        confirmed = waiting & (self._step - self._edge_step >= self.min_steps)
        self.debounced = self.debounced ^ confirmed
        self._pending = bool((waiting & ~confirmed).any())
        return [self._event(sensor) for sensor in np.flatnonzero(confirmed).tolist()]

    def quiet_steps(self, forces: NDArray[np.float64]) -> int:
        """How many of the first steps change nothing, of forces [N], (steps, sensors)."""
        if not self._started or self._pending:
            return 0
        edges = (self._next(forces) != self.raw).any(axis=1)
        return int(edges.argmax()) if edges.any() else len(forces)

    def skip(self, steps: int) -> None:
        """Count steps that change nothing, as `quiet_steps` found."""
        self._step += steps

    def _start(self, time: float, force: NDArray[np.float64]) -> None:
        self._started = True
        self._begin_time[:] = time
        for sensor, begin_time in self._resumed.items():
            self.raw[sensor], self._begin_time[sensor] = True, begin_time
        self.raw = self._next(force) & ~np.isnan(force)
        self.debounced = self.raw

    def _next(self, forces: NDArray[np.float64]) -> NDArray[np.bool_]:
        states: NDArray[np.bool_] = next_in_contact(self.raw, forces, self.on, self.off)
        return states

    def _event(self, sensor: int) -> SensorEvent:
        time = float(self._edge_time[sensor])
        begins = bool(self.debounced[sensor])
        if begins:
            self._begin_time[sensor] = time
        duration = 0.0 if begins else time - float(self._begin_time[sensor])
        kind = EventKind.BEGIN if begins else EventKind.END
        return SensorEvent(time, sensor, kind, float(self._edge_force[sensor]), duration)


class SensorContacts:
    """Contacts of sensors, updated with every step.

    Steps are only buffered, and read many at once, by `flush`; call it before anything is read.
    """

    def __init__(
        self,
        engine: Engine,
        on: float = ON,
        off: float = OFF,
        min_duration: float = 0.0,
        names: Sequence[str] | None = None,
    ) -> None:
        """Contact begins above `on` and ends below `off` [N]; shorter changes than the duration [s] do not count.
        `names`: of the sensors; all without."""
        self._engine, self._chosen = engine, names
        self._thresholds = on, off, min_duration
        self._buffer = StepBuffer(engine, names, only_forces=True)
        self._starts: list[float] = []
        """When the buffered steps began [s]: their arrays are of that instant."""
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Start again, or continue from an instant that was returned to: `last` are the last events before it."""
        sensors, timestep = self._engine.sensors, self._engine.timestep
        self.names = sensors.names if self._chosen is None else tuple(self._chosen)
        """Names of the sensors."""
        self.declared_names = tuple(sensors[name].declared_name for name in self.names)
        """Those in the scene of them, or of the first that each is joined of."""
        count = len(self.names)
        self._resumed = {
            entry.sensor: entry.contact
            for entry in last
            if entry.sensor is not None and entry.sensor < count and entry.kind is EventKind.BEGIN
        }
        self.forces: NDArray[np.float64] = np.zeros(count)
        """How hard the sensors are pressed [N], (sensors,)."""
        begins = {sensor: contact.begin for sensor, contact in self._resumed.items()}
        self.trigger = ForceTrigger(count, *self._thresholds, timestep, begins)
        """Which are in contact."""
        self.timing = start_times(self.trigger.raw, timestep).held(-1)
        """How long they have been, since the start or since the simulation last returned to an instant."""
        self.step_count = 0
        """Steps since then."""
        self._places = np.arange(count)
        self._peaks = PeakHold(count)

    def add(self, step: Step, start: float) -> list[LogEntry]:
        """Buffer a step that began at a time [s]; the events of steps that were read."""
        self._starts.append(start)
        block = self._buffer.add(step)
        return [] if block is None else self._read(block)

    def flush(self) -> list[LogEntry]:
        """Read the buffered steps; the events that they show."""
        block = self._buffer.take()
        return [] if block is None else self._read(block)

    def _read(self, block: StepBlock) -> list[LogEntry]:
        count = len(block)
        starts, ends = self._starts[:count], block.times.tolist()
        del self._starts[:count]
        if len(block.names) != len(self.names):
            # A sensor was added.
            self.resume(())
        forces = block.forces()
        entries: list[LogEntry] = []
        i = 0
        while i < count:
            quiet = self.trigger.quiet_steps(forces[i:])
            if quiet:
                self.trigger.skip(quiet)
                self.timing = self.timing.held(quiet)
                self._peaks.update_steps(starts[i : i + quiet], self._places, forces[i : i + quiet])
            else:
                entries += self._ingest(starts[i], ends[i], forces[i])
            i += quiet or 1
            self.step_count += quiet or 1
        self.forces = forces[-1]
        return entries

    def _ingest(self, start: float, end: float, forces: NDArray[np.float64]) -> list[LogEntry]:
        """The events that one step shows."""
        found = self.trigger.update(start, forces)
        if self.step_count:
            self.timing = self.timing.next(self.trigger.debounced)
        else:
            self.timing = start_times(self.trigger.debounced, self._engine.timestep)
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
            contact = self._peaks.close(event.sensor)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.names[event.sensor], event, contact)


def _step_count(duration: float, timestep: float) -> int:
    """Whole steps that last at least `duration`."""
    if not (0 <= duration < math.inf and 0 < timestep < math.inf):
        raise ValueError(f"no number of steps of {timestep!r} s makes up {duration!r} s")
    # 0.035 / 0.005 is a little over 7: a rounding error must not cost a step.
    return math.ceil(duration / timestep * (1 - 1e-9))
