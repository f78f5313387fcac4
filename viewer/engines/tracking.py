"""Every step of an engine to contact events, times in contact, and reasons to stop."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic as time_now
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.breaks import Break, BreakWhen
from ..sensors.event_log import LIMIT, EventLog, LogEntry, LoggedContact, PeakHold
from ..sensors.events import ContactEvent, ContactEvents, ContactPair, EventKind
from ..sensors.timing import ContactTiming, ForceTrigger, SensorEvent
from .contract import Engine
from .distances import ContactGroups, PairDistances
from .replay import StepReplay
from .sensor_forces import SensorForces, is_stepped_by_mujoco
from .watched_pairs import PairChoice, all_pairs, pairs_of_sensors

CURVE_STEPS = 4000
"""Steps of the crossing functions that are kept."""
_STRAY_STEPS = 64
"""Steps for which time may run backwards unannounced: a simulation that diverges starts anew by itself, and may then be
set back to its last good step. What it did in between did not happen."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@dataclass(frozen=True)
class TrackingOptions:
    """What counts as contact."""

    eps: float = 1e-8
    """Half the hysteresis band of a pair's distance [m]."""
    precise: bool = False
    """Find the instants of events by taking steps again in parts, instead of by interpolation. MuJoCo only."""
    on: float = 1.0
    """A sensor is in contact above this force [N] ..."""
    off: float = 0.5
    """... until it is below this one [N]."""
    min_duration: float = 0.0
    """How long a sensor has to stay above or below before that counts [s]."""


class ContactTracker:
    """Watches an engine's steps.

    Like the sensors' arrays, what is known of pairs after a step belongs to the state from which the step started: a
    contact is seen when the arrays show it. Runge-Kutta leaves an intermediate state behind, and other engines none at
    all: there the positions after the step are looked at.
    """

    def __init__(
        self,
        engine: Engine,
        choice: PairChoice | None = None,
        options: TrackingOptions | None = None,
        limit: int | None = LIMIT,
    ) -> None:
        """Follows `default_pairs` without a choice. `limit`: events that are kept, None for all."""
        self.log = EventLog(limit)
        """What happened, oldest first."""
        self.breaks: list[Break] = []
        self.on_break: Callable[[str, float], None] = lambda reason, time: None
        """Called when a break is hit: why, for a person, and the simulation time of the step that shows it [s]."""
        self.curves_wanted_until = -math.inf
        """Keep the crossing functions of steps until then, by `time.monotonic` [s]: it costs more than all the rest."""
        self._engine = engine
        self._options = options or TrackingOptions()
        self.watch(choice or default_pairs(engine.model))

    @property
    def options(self) -> TrackingOptions:
        return self._options

    @property
    def time(self) -> float:
        """Simulation time of the last step that was seen [s]; -inf before the first."""
        return self._time

    @property
    def choice(self) -> PairChoice:
        """The pairs that are followed."""
        return self._choice

    @property
    def curves(self) -> NDArray[np.float64]:
        """Time [s], z1 [m] and z2 [m] of the last steps, (3, steps); infinite where there is no such pair."""
        return self._curves[:, : self._curve_count]

    def configure(self, options: TrackingOptions) -> None:
        """Count contacts in another way. Starts anew."""
        self._options = options
        self.watch(self._choice)

    def watch(self, choice: PairChoice) -> None:
        """Follow other pairs. Starts anew."""
        model, options = self._engine.model, self._options
        native = is_stepped_by_mujoco(self._engine)
        self._choice = choice
        self._native = native
        self.events = ContactEvents(choice.labels, options.eps)
        """Contact of the pairs; of their distances only those at which they met or parted."""
        self.distances = PairDistances(model, choice, options.eps, has_velocities=native)
        self._pressed = ContactGroups(model, choice.geoms)
        self._replay = StepReplay(model, self.distances) if options.precise and native else None
        self._scratch: Any = None
        self.pair_labels = [" · ".join(map(str, geoms)) for geoms in choice.labels]
        """Names of the pairs, for people."""
        self._sensor_forces = SensorForces(self._engine)
        self._watch_sensors()
        self.breaks = [each for each in self.breaks if each.pair_id is None]
        self.log.clear()
        self._curves = np.empty((3, 2 * CURVE_STEPS))
        self._curve_count = 0
        self._time = -math.inf
        self._restart([])

    def after_step(self, engine: Engine) -> None:
        if engine is not self._engine:
            # Another environment is shown, to which nothing belongs that was seen so far.
            self._engine = engine
            self.watch(self._choice)
        time = engine.time
        if time <= self._time and self._stray_steps < _STRAY_STEPS:
            self._stray_steps += 1
            return
        # The sum of many steps, not a difference from it, is what saved states go by.
        start = self._time if abs(time - engine.timestep - self._time) < 1e-6 * engine.timestep else None
        start = time - engine.timestep if start is None else start
        if self._jumped or time <= self._time:
            self._land(start)
        self._time, self._stray_steps = time, 0
        if self._replay is not None:
            self._replay.save(engine.data)
        entries = [*self._follow_pairs(engine, start), *self._follow_sensors(start)]
        for entry in entries:
            self.log.add(entry)
        if self.breaks:
            self._check_breaks(entries)

    def after_reset(self, engine: Engine) -> None:
        """What was seen later than this instant is forgotten once the simulation goes on from here."""
        self._jumped = True
        self._time = engine.time
        if self._replay is not None:
            self._replay.reset()
            self._replay.save(engine.data)

    def _follow_pairs(self, engine: Engine, start: float) -> list[LogEntry]:
        data, time = self._positions(engine, start)
        first = math.isnan(self.events.time)
        found: list[ContactEvent] = []
        if self.distances.follow(data, time, self.events.in_contact):
            locate = self._replay.locate if self._replay is not None else None
            for update in self.distances.updates(self.events.time):
                found += self.events.update(*update, locate)
        if first:
            self._open_pairs()
        entries = [self._pair_entry(event) for event in found]
        self._pair_forces = self._forces(engine, data)
        self._pair_peaks.update(start, *self._pair_forces)
        if time_now() < self.curves_wanted_until:
            self._draw(time, self.distances.gaps(data, time, self.events.in_contact))
        return entries

    def _positions(self, engine: Engine, start: float) -> tuple[Any, float]:
        """A state whose positions, contacts and velocities belong together, and its time [s]."""
        data, model = engine.data, engine.model
        if self._native and model.opt.integrator != _RK4:
            return data, start
        if self._scratch is None:
            self._scratch = mujoco.MjData(model)
        scratch = self._scratch
        scratch.qpos[:], scratch.qvel[:] = data.qpos, data.qvel
        scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(model, scratch)
        mujoco.mj_fwdVelocity(model, scratch)
        return scratch, self._time

    def _forces(self, engine: Engine, data: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Pairs that are pressed together and how hard [N], (k,) each; -1 for pairs that are not followed."""
        if not self._native:
            return np.zeros(0, np.intp), np.zeros(0)
        groups = self.distances.groups
        if data is not engine.data:
            groups = self._pressed
            groups.read(engine.data)
        return groups.pairs, groups.forces(engine.data)

    def _pair_entry(self, event: ContactEvent) -> LogEntry:
        if event.kind is EventKind.BEGIN:
            contact = LoggedContact(event.time)
            self._pair_peaks.open(event.pair_id, contact)
        else:
            contact = self._pair_peaks.close(event.pair_id) or LoggedContact(event.time - event.duration)
            contact.end = event.time
        return LogEntry(event.time, self._time, event.kind, self.pair_labels[event.pair_id], event, contact)

    def _open_pairs(self) -> None:
        """Take over the contacts that were there at the start, or at the instant that was returned to."""
        for pair_id, pair in self.events.contacts.items():
            self._pair_peaks.open(pair_id, self._resumed_pairs.pop(pair_id, None) or LoggedContact(pair.time))
        for contact in self._resumed_pairs.values():
            contact.end = self.events.time

    def _follow_sensors(self, time: float) -> list[LogEntry]:
        self.sensor_values = self._sensor_forces.read()
        if len(self.sensor_values) != len(self.sensor_names):
            self._watch_sensors()
        if not self.sensor_names:
            return []
        first = self._sensors_unseen
        found = self.trigger.update(time, self.sensor_values)
        self.timing.update(self.trigger.debounced)
        if first:
            self._sensors_unseen = False
            for sensor in np.flatnonzero(self.trigger.debounced).tolist():
                self._sensor_peaks.open(sensor, self._resumed_sensors.get(sensor) or LoggedContact(time))
        entries = [self._sensor_entry(event) for event in found]
        self._sensor_peaks.update(time, self._sensor_places, self.sensor_values)
        return entries

    def _sensor_entry(self, event: SensorEvent) -> LogEntry:
        if event.kind is EventKind.BEGIN:
            contact = LoggedContact(event.time, peak_force=event.force, peak_time=event.time)
            self._sensor_peaks.open(event.sensor, contact)
        else:
            contact = self._sensor_peaks.close(event.sensor) or LoggedContact(event.time - event.duration)
            contact.end = event.time
        return LogEntry(event.time, self._time, event.kind, self.sensor_names[event.sensor], event, contact)

    def _watch_sensors(self) -> None:
        """Begin to follow the sensors that there are now."""
        self.sensor_names = self._engine.sensors.names
        count, options, timestep = len(self.sensor_names), self._options, self._engine.timestep
        self.sensor_values = np.zeros(count)
        """How hard the sensors are pressed [N], (sensors,)."""
        self.trigger = ForceTrigger(count, options.on, options.off, options.min_duration, timestep)
        """Contact of the sensors by their force."""
        self.timing = ContactTiming(count, timestep)
        """Times of the sensors in contact and in the air, since the start or since time was last turned back."""
        self._sensor_places = np.arange(count)
        self._sensor_peaks = PeakHold(count)
        self._resumed_sensors: dict[int, LoggedContact] = {}
        self._sensors_unseen = True

    def _land(self, time: float) -> None:
        """Go on from an instant that was returned to, with what is known of it."""
        self._restart(self.log.truncate(time))
        kept = int(np.searchsorted(self.curves[0], time, side="right"))
        self._curve_count = kept

    def _restart(self, last: Iterable[LogEntry]) -> None:
        """Begin anew; `last`: the last event of each pair and sensor before."""
        self._jumped = False
        self._stray_steps = 0
        self._pair_forces = np.zeros(0, np.intp), np.zeros(0)
        self.distances.reset()
        self._pair_peaks = PeakHold(len(self.pair_labels))
        self._watch_sensors()
        pairs: dict[int, ContactPair | None] = {}
        sensors: dict[int, float | None] = {}
        self._resumed_pairs: dict[int, LoggedContact] = {}
        for entry in last:
            event, lasting = entry.event, entry.kind is EventKind.BEGIN
            if isinstance(event, ContactEvent):
                velocity = event.normal_velocity
                pairs[event.pair_id] = (
                    ContactPair(event.pair_id, event.geoms, event.time, velocity, initial=False) if lasting else None
                )
                if lasting:
                    self._resumed_pairs[event.pair_id] = entry.contact
            else:
                sensors[event.sensor] = event.time if lasting else None
                if lasting:
                    self._resumed_sensors[event.sensor] = entry.contact
        self.events.resume(pairs)
        self.trigger.resume(sensors)
        for each in self.breaks:
            each.restart()

    def _draw(self, time: float, gaps: tuple[float, float]) -> None:
        if self._curve_count == self._curves.shape[1]:
            self._curves[:, :CURVE_STEPS] = self._curves[:, -CURVE_STEPS:]
            self._curve_count = CURVE_STEPS
        largest, nearest = gaps
        self._curves[:, self._curve_count] = time, largest, nearest + 2 * self._options.eps
        self._curve_count += 1

    def _check_breaks(self, entries: Iterable[LogEntry]) -> None:
        for each in self.breaks:
            if each.when is BreakWhen.FORCE:
                forces = self._forces_for(each)
                if each.is_exceeded(forces.tolist()):
                    self.on_break(f"{self.break_label(each)}: {forces.max():.4g} N", self._time)
                continue
            hit = next((entry for entry in entries if each.is_event(entry)), None)
            if hit is not None:
                self.on_break(f"{hit.subject} {each.when} at {hit.time:.6f} s", self._time)

    def break_label(self, each: Break) -> str:
        """A break, for people."""
        if each.sensor is not None:
            subject = self.sensor_names[each.sensor]
        else:
            subject = "any pair" if each.pair_id is None else self.pair_labels[each.pair_id]
        return f"{subject} {each.when}" + (f" {each.force:g} N" if each.when is BreakWhen.FORCE else "")

    def _forces_for(self, each: Break) -> NDArray[np.float64]:
        """Forces that a break looks at [N]."""
        if each.sensor is not None:
            return self.sensor_values[each.sensor : each.sensor + 1]
        pairs, forces = self._pair_forces
        return forces[pairs >= 0 if each.pair_id is None else pairs == each.pair_id]


def default_pairs(model: Any) -> PairChoice:
    """The pairs of the contact sensors; in a scene without sensors, all that can collide."""
    choice = pairs_of_sensors(model)
    return choice if choice.total else all_pairs(model)
