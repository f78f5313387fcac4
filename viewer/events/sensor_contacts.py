"""Turns the steps of an engine into contacts of its sensors by their force: begins, ends, durations and forces."""

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
    """Contact states of sensors by their force: contact begins above `on` and ends below `off`.

    `raw` changes at the two thresholds at once. `debounced` follows `raw` when a change has lasted for the minimum
    duration; shorter changes, in either direction, never show in it. Steps are counted instead of adding up times, so
    that a change is confirmed at the same step however long the simulation has run.
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
        """Begin with `count` sensors; `on` and `off` in newtons, times in seconds.

        `begin_times`: times at which contact began, by index of the sensors that are in contact at the start. They stay
        in contact until their force is below the lower threshold; all others are decided by the upper one.
        """
        check_thresholds(on, off)
        self.on, self.off = on, off
        self.min_steps = _step_count(min_duration, timestep)
        """Number of steps for which a change must last before it is confirmed; 0 confirms it at once."""
        self.raw = np.zeros(count, bool)
        """True for contact by the two thresholds alone, (sensors,)."""
        self.debounced = np.zeros(count, bool)
        """True for contact that has lasted for the minimum duration, until it has been absent as long, (sensors,)."""
        self._resumed = begin_times or {}
        self._started = self._pending = False
        self._step = 0
        self._edge_step = np.zeros(count, np.int64)
        self._edge_time, self._edge_force, self._begin_time = np.zeros((3, count))

    def update(self, time: float, forces: ArrayLike) -> list[SensorEvent]:
        """Return the changes that this step confirms, by sensor. Call it after every physics step.

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
        """Return the number of first steps in which nothing changes, for forces [N], (steps, sensors)."""
        if not self._started or self._pending:
            return 0
        edges = (self._next(forces) != self.raw).any(axis=1)
        return int(edges.argmax()) if edges.any() else len(forces)

    def skip(self, steps: int) -> None:
        """Count steps in which nothing changes, as `quiet_steps` found."""
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

    Steps are only buffered, and processed many at once by `flush`; call it before you read attributes.
    """

    def __init__(
        self,
        engine: Engine,
        on: float = ON,
        off: float = OFF,
        min_duration: float = 0.0,
        names: Sequence[str] | None = None,
    ) -> None:
        """Begin contact above `on` and end it below `off` [N]; changes shorter than `min_duration` [s] do not count.
        `names`: sensors to track; all by default."""
        self._engine, self._chosen = engine, names
        self._thresholds = on, off, min_duration
        self._buffer = StepBuffer(engine, names, only_forces=True)
        self._starts: list[float] = []
        """Times at which the buffered steps began [s]: their arrays belong to that instant."""
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Start again, or continue from a past instant. `last`: the last events before it."""
        sensors, timestep = self._engine.sensors, self._engine.timestep
        self.names = sensors.names if self._chosen is None else tuple(self._chosen)
        """Names of the tracked sensors."""
        self.declared_names = tuple(sensors[name].declared_name for name in self.names)
        """Name of each sensor in the scene; for a joined sensor, of its first part."""
        count = len(self.names)
        self._resumed = {
            entry.sensor: entry.contact
            for entry in last
            if entry.sensor is not None and entry.sensor < count and entry.kind is EventKind.BEGIN
        }
        self.forces: NDArray[np.float64] = np.zeros(count)
        """Forces of the sensors [N], (sensors,)."""
        begins = {sensor: contact.begin for sensor, contact in self._resumed.items()}
        self.trigger = ForceTrigger(count, *self._thresholds, timestep, begins)
        """Contact states of the sensors."""
        self.timing = start_times(self.trigger.raw, timestep).held(-1)
        """Contact and air times of the sensors since the start, or since the simulation returned to a past instant."""
        self.step_count = 0
        """Number of steps in `timing`."""
        self._places = np.arange(count)
        self._peaks = PeakHold(count)

    def add(self, step: Step, start: float) -> list[LogEntry]:
        """Buffer a step that began at a time [s]; return the events of steps that were processed."""
        self._starts.append(start)
        block = self._buffer.add(step)
        return [] if block is None else self._read(block)

    def flush(self) -> list[LogEntry]:
        """Process the buffered steps, and return their events."""
        block = self._buffer.pop_block()
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
        """Process one step, and return its events."""
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
            # A begin may have been confirmed after the peak.
            contact = LoggedContact(event.time, peak_force=event.force, peak_time=event.time)
            self._peaks.open(event.sensor, contact)
        else:
            contact = self._peaks.close(event.sensor)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.names[event.sensor], event, contact)


def _step_count(duration: float, timestep: float) -> int:
    """Return the least number of steps that last at least `duration` [s]."""
    if not (0 <= duration < math.inf and 0 < timestep < math.inf):
        raise ValueError(f"no number of steps of {timestep!r} s makes up {duration!r} s")
    # 0.035 / 0.005 is a little over 7: a rounding error must not cost a step.
    return math.ceil(duration / timestep * (1 - 1e-9))
