"""Turns the steps of an engine into a log of contact events, and reasons to stop."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..engines.steps import Step
from ..metrics import OFF, ON, ContactTimes, start_times
from ..mjmodel.creep import solved_state
from ..mjmodel.names import body_names, geom_names
from ..mjmodel.pair_motion import pair_key
from ..mjmodel.pair_selection import PairSelection, all_pairs, pairs_of_sensors
from ..mjmodel.types import MjData, MjModel
from ..sensors.friction import ContactState
from .breaks import Break, BreakWhen, Slip, pair_slip, sensor_slip, sliding_geoms
from .contact_events import EventKind, EventRule
from .event_log import LIMIT, EventLog, LogEntry, LoggedContact, MotionEvent
from .friction_states import FrictionStates, Motion
from .pair_contacts import PairContacts
from .reasons import EventReason, Reason, explain_pair
from .sensor_contacts import SensorContacts

UNKNOWN_MOTION = "they need the contact list of every step, as MuJoCo gives it for one environment"
"""Reason why `ContactTracker.friction` is None, for the user."""
CURVE_STEPS = 4000
"""Number of steps of the crossing functions that are kept."""
_BUFFER_STEPS = 512
"""Number of steps that are buffered at most before they are processed together."""
_BUFFER_BYTES = 2**22
"""Memory of buffered steps [bytes]."""
_MOST_SENSORS = 200
"""Largest number of sensors that are searched for those that cover a pair."""


@dataclass(frozen=True)
class TrackingOptions:
    """Thresholds and rules by which contact begins and ends."""

    eps: float = 1e-8
    """Half the hysteresis band of a pair's distance [m]."""
    precise: bool = False
    """True to find the instants of events by re-simulating steps in parts, not by interpolation. MuJoCo only."""
    rule: EventRule = EventRule.SURFACE
    """Rule for the instant at which a pair's contact begins, and for the pairs whose state an event changes."""
    on: float = ON
    """Force above which a sensor's contact begins [N]."""
    off: float = OFF
    """Force below which a sensor's contact ends [N]."""
    min_duration: float = 0.0
    """Time for which a sensor's force must stay beyond a threshold before contact begins or ends [s]."""


class ContactTracker:
    """Observer that finds the contact events of an engine's steps.

    Like the sensors' arrays, contacts of pairs after a step belong to the state from which the step started: a contact
    is seen when the arrays show it. Other engines than MuJoCo have no such state: there the positions after the step
    count.

    Most steps are only buffered, and processed many at once when their result is needed; while there are breaks, every
    step is processed at once.
    """

    _pairs: PairContacts
    _sensors: SensorContacts

    def __init__(
        self,
        engine: Engine,
        choice: PairSelection | None = None,
        options: TrackingOptions | None = None,
        limit: int | None = LIMIT,
        follow_sensors: bool = True,
    ) -> None:
        """`choice`: pairs to track, `default_pairs` without it. `limit`: number of events that are kept, None for all.
        `follow_sensors`: False to find the contacts of pairs alone."""
        self._log = EventLog(limit)
        self.breaks: list[Break] = []
        self.on_break: Callable[[str], None] = lambda reason: None
        """Callback in the step that hits a break, with the reason as a text for the user."""
        self.curves_wanted_until = -math.inf
        """Time of `time.monotonic` until which the costly crossing functions are computed [s]."""
        self.past: tuple[EventLog, float] | None = None
        """Events of the ended episode that is shown, and the time at which this episode began [s]; else None."""
        self.patience = 0.0
        """Longest wall time between two decisions on which pairs slide and creep [s]; 0 decides at every call."""
        self.least_samples = 0
        """Least number of samples, one in 20 ms, that are decided on together if the log is read in every step."""
        self._decided = -math.inf
        """Time of `time.monotonic` of the last decision [s]."""
        self._duration = 0.0
        """Wall time that the last decision took [s]."""
        self._friction: FrictionStates | None = None
        self._engine = engine
        self._options = options or TrackingOptions()
        self._sensor_names = None if follow_sensors else ()
        self._curves = np.empty((3, 2 * CURVE_STEPS))
        self._time = engine.time
        self._timestep = math.nan
        """Length of the last step [s]; NaN if the next step does not continue the last one."""
        self._jumped = False
        self._entries: list[LogEntry] = []
        """Events of the steps since the last flush."""
        self._step_count = 0
        """Number of steps since the last flush."""
        self._begins: list[MotionEvent] = []
        self._begins_version = -1
        """Version of the log to which `_begins` belongs."""
        self.select(choice or default_pairs(engine.model))

    @property
    def log(self) -> EventLog:
        """Events of the episode that is shown, oldest first."""
        return self.live_log if self.past is None else self.past[0]

    @property
    def live_log(self) -> EventLog:
        """Events of the present episode, oldest first."""
        self._flush()
        if self._may_decide():
            self._decide()
        return self._log

    @property
    def may_have_news(self) -> bool:
        """True if the log may have grown since it was read; cheap enough for every step."""
        return bool(self._entries) or self._sensor_names is None or self._may_decide()

    @property
    def pairs(self) -> PairContacts:
        """Contacts of pairs."""
        self._flush()
        return self._pairs

    @property
    def sensors(self) -> SensorContacts:
        """Contacts of sensors."""
        self._flush()
        return self._sensors

    @property
    def friction(self) -> FrictionStates | None:
        """Geom pairs that slide and creep, tracked or not; None for engines without MuJoCo's contact list."""
        if self._may_decide():
            self._decide()
        return self._friction

    @cached_property
    def bodies(self) -> list[tuple[str, str]]:
        """Names of the two bodies of each pair."""
        names, model = body_names(self._engine.model), self._engine.model
        return [(names[a], names[b]) for a, b in model.geom_bodyid[self._pairs.choice.geoms].tolist()]

    @cached_property
    def body_labels(self) -> list[tuple[str, str]]:
        """Names of the two bodies of each pair, for `merge_bodies`; a geom of the world has its own name."""
        owners = self._engine.model.geom_bodyid[self._pairs.choice.geoms].tolist()
        named = zip(owners, self._pairs.choice.labels, self.bodies, strict=True)
        return [
            (geoms[0] if first == 0 else bodies[0], geoms[1] if second == 0 else bodies[1])
            for (first, second), geoms, bodies in named
        ]

    @cached_property
    def geoms(self) -> dict[str, int]:
        """Ids of the geoms by name."""
        return {name: i for i, name in enumerate(geom_names(self._engine.model))}

    def explain(self, geoms: NDArray[np.intp], time: float) -> Reason | None:
        """Return why a pair of geoms, (2,), moves at a simulated time [s]; None if it does not, or if unknown."""
        friction = self.friction
        if friction is None:
            return None
        key = int(pair_key(self._engine.model, geoms))
        motion, moving = friction.state_at(key, time), friction.moving_at(time).get(key)
        return explain_pair(self._engine.model, self._engine.contact_data(), key, motion, moving)

    def motions_between(self, start: float, end: float) -> list[MotionEvent]:
        """Return the begins of slips and creep that last at some time of a span [s]."""
        log = self.log
        if self._begins_version != log.version:
            self._begins_version = log.version
            events = [entry.event for entry in log if entry.kind in (EventKind.SLIP_BEGIN, EventKind.CREEP_BEGIN)]
            self._begins = [event for event in events if isinstance(event, MotionEvent)]
        return [each for each in self._begins if each.motion.begin <= end and each.motion.end >= start]

    def sensors_of(self, pair: int) -> tuple[str, ...]:
        """Return the contact sensors that cover a tracked pair, by name."""
        if pair not in self._sensors_of:
            first, second = self._pairs.choice.geoms[pair].tolist()
            covering = []
            for name in self._engine.sensors.names[:_MOST_SENSORS]:
                sides = self._engine.covered_geoms(name)
                if sides is not None and any(
                    sides[0][a] and sides[1][b] for a, b in ((first, second), (second, first))
                ):
                    covering.append(name)
            self._sensors_of[pair] = tuple(covering)
        return self._sensors_of[pair]

    @property
    def options(self) -> TrackingOptions:
        return self._options

    def timing_at(self, now: float) -> ContactTimes:
        """Return the contact and air times of sensors at a past simulated time [s].

        They are counted from the events in the log; events that the log has dropped are missing.
        """
        live, steps = self.sensors.timing, self._sensors.step_count
        timestep = float(live.timestep)
        first = self.time - (steps - 1) * timestep if self.past is None else self.past[1]
        last = round((now - first) / timestep)
        if last >= steps - 1 and self.past is None:
            return live
        entries = [entry for entry in self.log if entry.sensor is not None]
        state = live.in_contact.copy()
        for entry in reversed(entries):
            state[entry.sensor] = entry.kind is EventKind.END
        past, counted = start_times(state, timestep), 1
        for step, changes in groupby(entries, lambda entry: round((entry.seen - first) / timestep)):
            if step > last:
                break
            state = state.copy()
            for entry in changes:
                state[entry.sensor] = entry.kind is EventKind.BEGIN
            past, counted = past.held(step - counted).next(state), step + 1
        return past.held(max(last + 1, 0) - counted)

    @property
    def time(self) -> float:
        """Simulation time of the last step [s]."""
        return self._time

    @property
    def curves(self) -> NDArray[np.float64]:
        """Time [s], z1 [m] and z2 [m] of the last steps, (3, steps); z1 and z2 are infinite without a pair."""
        return self._curves[:, : self._curve_count]

    def configure(self, options: TrackingOptions) -> None:
        """Use other thresholds and rules from now on."""
        self._options = options
        self.select(self._pairs.choice)

    def select(self, choice: PairSelection) -> None:
        """Track other pairs, from now on."""
        engine, options = self._engine, self._options
        self._pairs = PairContacts(engine, choice, options.eps, options.precise, options.rule)
        # A buffered step holds its constraint forces, about a dozen per geom.
        self._capacity = min(_BUFFER_STEPS, _BUFFER_BYTES // (96 * engine.model.ngeom + 8))
        self._sensors = SensorContacts(engine, options.on, options.off, options.min_duration, self._sensor_names)
        self._friction = FrictionStates(engine.model, engine.timestep) if engine.has_contact_list else None
        self.breaks = [each for each in self.breaks if each.pair_id is None]
        self._tracked: dict[int, int] = {}
        """Indices of the tracked pairs, by key."""
        self._moving: dict[Motion, LoggedContact] = {}
        """Contacts of the motions that last."""
        self._sensors_of: dict[int, tuple[str, ...]] = {}
        for name in ("bodies", "body_labels", "geoms"):
            self.__dict__.pop(name, None)
        self._log.clear()
        self._entries.clear()
        self._step_count = 0
        self._curve_count = 0
        self.after_reset(engine)

    def after_step(self, step: Step) -> None:
        if step.engine is not self._engine or not self.buffer(step.time, step):
            self._ingest(step)

    def buffer(self, time: float, step: Step | None = None) -> bool:
        """Buffer the step of the engine that ended at a time [s]; return False if it cannot be buffered: it does not
        continue the step before, contact begins or ends in it, or a break needs it at once."""
        start, timestep = self._time, self._timestep
        if not abs(time - start - timestep) < 1e-6 * timestep or self.breaks or not self._pairs.buffer(start):
            return False
        self._time = time
        friction = self._friction
        if friction is not None and friction.is_due():
            self._look(friction, self._engine, start)
        if self._sensor_names is None:
            self._entries += self._sensors.add(step or Step(self._engine), start)
        self._step_count += 1
        if self._step_count >= self._capacity or self.curves_wanted_until >= 0:
            self._finish_step(start)
        return True

    def _ingest(self, step: Step) -> None:
        """Process a step that cannot be buffered."""
        if step.engine is not self._engine:
            # Another environment is shown: all contacts so far belong to the one before.
            self._engine = step.engine
            self.select(self._pairs.choice)
        time, timestep = step.time, step.engine.timestep
        start = time - timestep
        if abs(start - self._time) < 1e-6 * timestep:
            # Exactly the time under which the state was saved.
            start = self._time
        # Time that runs backwards is a reset by the program whose steps are observed.
        if self._jumped or time <= self._time:
            self._resume(start)
        self._time, self._timestep = time, timestep
        if self.breaks:
            # Only what this step shows is a reason to stop.
            self._flush()
        self._save()
        self._entries += self._pairs.update(step, start)
        if self._friction is not None and self._friction.is_due():
            self._look(self._friction, step.engine, start)
        if self._sensor_names is None:
            self._entries += self._sensors.add(step, start)
        self._step_count += 1
        self._finish_step(start)
        if self.breaks:
            self._check_breaks(self._flush())

    def _look(self, friction: FrictionStates, engine: Engine, start: float) -> None:
        """Keep a sample of the pairs' motion, of a step of an engine that began at a time [s]."""
        if friction.timestep != (timestep := engine.timestep):
            friction.change_timestep(timestep)
        friction.add(engine.contact_data(), start)
        if friction.full:
            self._decide()

    def _may_decide(self) -> bool:
        """Return True if it is time to decide which pairs move: at most 5 % of a running scene's time goes into it."""
        if self._friction is None or self._friction.pending < self.least_samples:
            return False
        wait = max(self.patience, 20 * self._duration) if self.patience else 0.0
        return monotonic() - self._decided >= wait

    def _decide(self) -> None:
        assert self._friction is not None
        start = monotonic()
        changed = self._friction.flush()
        self._decided = monotonic()
        self._duration = self._decided - start
        if changed and not self._tracked:
            self._tracked = {
                key: i for i, key in enumerate(pair_key(self._engine.model, self._pairs.choice.geoms).tolist())
            }
        creeps = any(
            motion.state is ContactState.CREEPING and math.isinf(motion.end) and motion not in self._moving
            for motion in changed
        )
        state = solved_state(self._engine.contact_data()) if creeps else None
        for motion in dict.fromkeys(changed):
            if (pair := self._tracked.get(motion.key)) is not None:
                self._log_motion(motion, pair, state)

    def _log_motion(self, motion: Motion, pair: int, state: MjData | None) -> None:
        """Log the begin of a slip or creep, its end, or both. `state`: see `EventReason`."""
        word = "slip" if motion.state is ContactState.SLIDING else "creep"
        if motion not in self._moving:
            self._moving[motion] = LoggedContact(motion.begin)
            reason = EventReason(self._engine.model, state if math.isinf(motion.end) else None, motion)
            self._add_motion(EventKind(f"{word}_begin"), motion, pair, motion.begin, motion.seen, reason)
        if math.isfinite(motion.end):
            self._moving[motion].end = motion.end
            self._add_motion(EventKind(f"{word}_end"), motion, pair, motion.end, motion.ended)
            del self._moving[motion]

    def _add_motion(
        self,
        kind: EventKind,
        motion: Motion,
        pair: int,
        time: float,
        seen: float,
        reason: EventReason | None = None,
    ) -> None:
        choice, contact = self._pairs.choice, self._moving[motion]
        bodies, sensors = self.bodies[pair], self.sensors_of(pair)
        event = MotionEvent(time, pair, choice.labels[pair], bodies, sensors, kind, motion, reason)
        self._log.add(LogEntry(time, seen, kind, self._pairs.labels[pair], event, contact))

    def _finish_step(self, start: float) -> None:
        """Flush full buffers and extend the curves, after a step that began at a time [s]."""
        if self._step_count >= self._capacity and not self.breaks:
            self._flush()
        if monotonic() < self.curves_wanted_until:
            self._extend_curves(start)

    def after_reset(self, engine: Engine) -> None:
        """Note a jump of the state: later events are dropped when the simulation continues from here."""
        self._jumped = True
        self._time, self._timestep = engine.time, math.nan
        if self._pairs.substeps is not None:
            self._pairs.substeps.reset()
        self._save()

    def _save(self) -> None:
        if self._pairs.substeps is not None:
            self._pairs.substeps.save(self._engine.data)

    def break_label(self, each: Break) -> str:
        """Return a text for a break."""
        if each.sensor is not None:
            subject = self._sensors.names[each.sensor]
        else:
            subject = "any pair" if each.pair_id is None else self._pairs.labels[each.pair_id]
        return f"{subject} {each.when}" + (f" {each.force:g} N" if each.when is BreakWhen.FORCE else "")

    def _flush(self) -> list[LogEntry]:
        """Process the buffered steps, and return the events since the last flush."""
        if not self._step_count:
            return []
        self._pairs.flush()
        entries = sorted(self._entries + self._sensors.flush(), key=_seen)
        for entry in entries:
            self._log.add(entry)
        self._entries.clear()
        self._step_count = 0
        return entries

    def _resume(self, time: float) -> None:
        """Continue from a past instant that the simulation has returned to [s]."""
        self._flush()
        last = self._log.truncate(time)
        self._pairs.resume(last)
        self._sensors.resume(last)
        if self._friction is not None:
            self._friction.resume(time)
            self._moving.clear()
        for each in self.breaks:
            each.restart()
        # The curves from this step on are computed again.
        self._curve_count = int(np.searchsorted(self.curves[0], time - self._engine.timestep / 2))
        self._jumped = False

    def _check_breaks(self, entries: Iterable[LogEntry]) -> None:
        for each in self.breaks:
            if each.when is BreakWhen.FORCE:
                forces = self._forces_for(each)
                if each.is_exceeded(forces.tolist()):
                    self.on_break(f"{self.break_label(each)}: {forces.max():.4g} N")
                continue
            if each.when is BreakWhen.SLIP:
                if each.is_slip(*self._slip_for(each)):
                    self.on_break(f"{self._slip_label(each)} at {self._time:.6f} s")
                continue
            hit = next((entry for entry in entries if each.is_event(entry)), None)
            if hit is not None:
                self.on_break(f"{hit.subject} {each.when} at {hit.time:.6f} s")

    def _slip_label(self, each: Break) -> str:
        """Return a text for a slip, with the pair if the break is of a sensor or of any pair."""
        if each.sensor is not None:
            geoms = ", ".join(sliding_geoms(self._engine, self._sensors.names[each.sensor])[:2])
            return self.break_label(each) + (f" ({geoms})" if geoms else "")
        if each.pair_id is not None or not each.slipped:
            return self.break_label(each)
        labels = [self._pairs.labels[pair] for pair in sorted(each.slipped)]
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        return f"{labels[0]}{more} {each.when}"

    def _forces_for(self, each: Break) -> NDArray[np.float64]:
        """Return the forces that a break depends on [N]."""
        if each.sensor is not None:
            return self._sensors.forces[each.sensor : each.sensor + 1]
        pairs = self._pairs.pressed_pairs
        return self._pairs.forces[pairs >= 0 if each.pair_id is None else pairs == each.pair_id]

    def _slip_for(self, each: Break) -> Slip:
        """Return the slip of the contacts that a break depends on."""
        if each.sensor is not None:
            return sensor_slip(self._engine, self._sensors.names[each.sensor])
        geoms = self._pairs.choice.geoms
        return pair_slip(self._engine, geoms if each.pair_id is None else geoms[each.pair_id : each.pair_id + 1])

    def _extend_curves(self, time: float) -> None:
        if self._curve_count == self._curves.shape[1]:
            self._curves[:, :CURVE_STEPS] = self._curves[:, -CURVE_STEPS:]
            self._curve_count = CURVE_STEPS
        self._curves[:, self._curve_count] = time, *self._pairs.crossing()
        self._curve_count += 1


def default_pairs(model: MjModel) -> PairSelection:
    """Return the pairs of the contact sensors; in a scene without sensors, all pairs that can collide."""
    choice = pairs_of_sensors(model)
    return choice if choice.total else all_pairs(model)


def _seen(entry: LogEntry) -> float:
    return entry.seen
