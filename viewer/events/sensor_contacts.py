"""Turns the steps of an engine into contacts of its sensors by their force: when, how long, how often, how hard."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import SensorList
from ..engines.contract import Engine
from ..sensors.layout_groups import LayoutGroup, group_by_layout
from ..settings import Reduce
from .contact_events import EventKind
from .event_log import LogEntry, LoggedContact, PeakHold
from .timing import ContactTiming, ForceTrigger, SensorEvent

_FEW_SENSORS = 100
"""Sensors up to which reading all of them is faster than looking for those that are touched."""
_NOTHING = np.zeros(0)


class SensorForces:
    """How hard the sensors of an engine are pressed: `get_contact_force_magnitude` of each.

    Sensors whose contacts are in the rows of MuJoCo are read together, which takes a fraction of the time.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sensors: SensorList | None = None
        self._groups: list[tuple[list[int], LayoutGroup]] = []
        """Positions of the sensors of each group."""
        self._alone: list[tuple[int, str]] = []
        """Position and name of the sensors that have to be read one by one."""

    def read(self) -> NDArray[np.float64]:
        """Forces now [N], (sensors,)."""
        self.find_sensors()
        forces: NDArray[np.float64] = self.decode(self.values()[np.newaxis])[0]
        for position, name in self._alone:
            forces[position] = self._engine.get_contact_force_magnitude(name)[0]
        return forces

    def find_sensors(self) -> bool:
        """Find the sensors that exist now; True if all of them can be read together."""
        # The list is replaced whenever a sensor is added, or read in another way.
        if self._engine.sensors is not self._sensors:
            self._sensors = self._engine.sensors
            self._plan(self._sensors)
        return not self._alone

    def values(self) -> NDArray[np.float64]:
        """Values now of the sensors that can be read together, (size,): a view, for `decode`."""
        return self._engine.row() if self._groups else _NOTHING

    def decode(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Forces [N], (n, sensors), from rows of `values`, (n, size); 0 for sensors that are read one by one."""
        forces = np.zeros((len(rows), len(self._sensors or ())))
        for positions, group in self._groups:
            batch = group.decode(rows)
            assert batch.force is not None
            # Slots that no step fills add nothing, and are the last ones.
            used = np.flatnonzero(batch.force[..., 0].any(axis=(0, 1)))
            batch = batch.cut(0, int(used.max(initial=0)) + 1)
            if len(positions) > _FEW_SENSORS:
                # Most of many are not touched.
                touched = np.flatnonzero(batch.filled.any(axis=(0, 2)))
                positions, batch = [positions[i] for i in touched.tolist()], batch.of_sensors(touched)
            forces[:, positions] = batch.force_magnitude(group.layout.reduce)
        return forces

    def _plan(self, sensors: SensorList) -> None:
        """Decide how to read each sensor."""
        # Other engines make a row by reading every sensor.
        has_rows = self._engine.has_contact_list
        together = [i for i, sensor in enumerate(sensors) if has_rows and not sensor.reconstructed]
        read = set(together)
        self._alone = [(i, sensor.name) for i, sensor in enumerate(sensors) if i not in read]
        sources = [(columns.start, layout) for columns, layout in (self._engine.source(sensors[i]) for i in together)]
        self._groups = []
        for group in group_by_layout(sources):
            positions = [together[member] for member in group.members]
            # The strongest contact comes first, and a net contact is alone.
            if group.layout.reduce in (Reduce.MAXFORCE, Reduce.NETFORCE):
                first = group.layout.shortened(1)
                (group,) = group_by_layout((sources[member][0], first) for member in group.members)
            self._groups.append((positions, group))


class SensorContacts:
    """Contacts of all sensors, updated with every step.

    Where an engine can read all sensors together, their arrays are only buffered, and decoded for many steps at once,
    by `flush`; call it before anything is read.
    """

    def __init__(self, engine: Engine, on: float, off: float, min_duration: float) -> None:
        """Contact begins above `on` and ends below `off` [N]; shorter changes than the duration [s] do not count."""
        self._engine = engine
        self._thresholds = on, off, min_duration
        self._reader = SensorForces(engine)
        self._sensors: SensorList | None = None
        self.bufferable: SensorList | None = None
        """The sensors whose steps can be buffered; None if those of the engine cannot."""
        self.buffer: Callable[[float, float], object] = _skip
        """Buffers a step between two times [s], to the first of which the arrays belong. For `bufferable` only."""
        # Arrays of the buffered steps, and when these began and ended [s].
        self._rows: list[bytes] = []
        self._times: list[tuple[float, float]] = []
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Start again, or continue from an instant that was returned to: `last` are the last events before it."""
        self.names = self._engine.sensors.names
        """Names of the sensors."""
        self.declared_names = tuple(sensor.declared_name for sensor in self._engine.sensors)
        """Those in the scene of them, or of the first that each is joined of."""
        count, timestep = len(self.names), self._engine.timestep
        self.forces: NDArray[np.float64] = np.zeros(count)
        """How hard the sensors are pressed [N], (sensors,)."""
        self.trigger = ForceTrigger(count, *self._thresholds, timestep)
        """Which are in contact."""
        self.timing = ContactTiming(count, timestep)
        """How long they have been, since the start or since the simulation last returned to an instant."""
        self._places = np.arange(count)
        self._peaks = PeakHold(count)
        self._started = False
        self._resumed: dict[int, LoggedContact] = {}
        for entry in last:
            if entry.sensor is not None and entry.sensor < count and entry.kind is EventKind.BEGIN:
                self._resumed[entry.sensor] = entry.contact
        self.trigger.resume({sensor: contact.begin for sensor, contact in self._resumed.items()})

    def update(self, engine: Engine, start: float, end: float) -> list[LogEntry]:
        """Read or buffer a step between two times [s], whatever sensors exist now; the events known so far."""
        entries: list[LogEntry] = []
        if engine.sensors is not self._sensors:
            entries = self.flush()
            self._find_sensors(engine.sensors)
        if self.bufferable is None:
            return entries + self._ingest(start, end, self._reader.read())
        self.buffer(start, end)
        return entries

    def flush(self) -> list[LogEntry]:
        """Decode the buffered steps; the events that they show."""
        if not self._times:
            return []
        forces = self._reader.decode(np.frombuffer(b"".join(self._rows)).reshape(len(self._rows), -1))
        times = self._times.copy()
        self._rows.clear()
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
                entries += self._ingest(*times[i], forces[i])
                i += 1
        return entries

    def _find_sensors(self, sensors: SensorList) -> None:
        """Read the sensors that exist now."""
        self._sensors, self.bufferable = sensors, None
        together = self._reader.find_sensors()
        if len(sensors) != len(self.names):
            # A sensor was added.
            self.resume(())
        if together or not len(sensors):
            self.bufferable, self.buffer = sensors, self._make_buffer()

    def _make_buffer(self) -> Callable[[float, float], object]:
        view = self._reader.values()
        if not view.size:
            return _skip
        # It runs after every step, so it has everything at hand.
        read, add_row, add_time = view.data.tobytes, self._rows.append, self._times.append

        def add_step(start: float, end: float) -> None:
            add_row(read())
            add_time((start, end))

        return add_step

    def _ingest(self, start: float, end: float, forces: NDArray[np.float64]) -> list[LogEntry]:
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
            contact = self._peaks.close(event.sensor)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.names[event.sensor], event, contact)


def _skip(start: float, end: float) -> None:
    """Buffers a step without sensors."""
