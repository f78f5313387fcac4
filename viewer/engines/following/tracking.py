"""Every step of an engine to a log of contact events, and reasons to stop."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sensors.breaks import Break, BreakWhen
from ...sensors.event_log import LIMIT, EventLog, LogEntry
from ..contract import Engine
from ..mujoco.blocks import StepBlock
from .pair_contacts import PairContacts
from .sensor_contacts import SensorContacts
from .sensor_forces import is_stepped_by_mujoco
from .slipping import Slip, pair_slip, sensor_slip
from .watched_pairs import PairChoice, all_pairs, pairs_of_sensors

CURVE_STEPS = 4000
"""Steps of the crossing functions that are kept."""
_BLOCK = 512
"""Steps that are put by before they are looked at together ..."""
_BLOCK_BYTES = 2**22
"""... and memory that they may take."""
_STRAY_STEPS = 64
"""Steps for which time may run backwards unannounced: a simulation that diverges starts anew by itself, and may then be
set back to its last good step. What it did in between did not happen."""


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

    Much of what a step shows is only put by, and looked at for many steps together: as soon as it is asked for, and in
    every step while there are breaks.
    """

    _pairs: PairContacts
    _sensors: SensorContacts

    def __init__(
        self,
        engine: Engine,
        choice: PairChoice | None = None,
        options: TrackingOptions | None = None,
        limit: int | None = LIMIT,
    ) -> None:
        """Follows `default_pairs` without a choice. `limit`: events that are kept, None for all."""
        self._log = EventLog(limit)
        self.breaks: list[Break] = []
        self.on_break: Callable[[str, float], None] = lambda reason, time: None
        """Called when a break is hit: why, for a person, and the simulation time of the step that shows it [s]."""
        self.curves_wanted_until = -math.inf
        """Keep the crossing functions of steps until then, by `time.monotonic` [s]: it costs more than all the rest."""
        self._engine = engine
        self._options = options or TrackingOptions()
        self._curves = np.empty((3, 2 * CURVE_STEPS))
        self._curve_count = 0
        self._clock: Any = engine
        self._time = engine.time
        # Of the last step, NaN where the next one cannot follow it, and by how much the next one may differ [s].
        self._timestep, self._tolerance = math.nan, 0.0
        self._jumped = False
        self._stray_steps = 0
        self._waiting: list[LogEntry] = []
        self._steps_waiting = 0
        self.watch(choice or default_pairs(engine.model))

    @property
    def log(self) -> EventLog:
        """What happened, oldest first."""
        self._settle()
        return self._log

    @property
    def pairs(self) -> PairContacts:
        """Contacts of pairs."""
        self._settle()
        return self._pairs

    @property
    def sensors(self) -> SensorContacts:
        """Contacts of sensors."""
        self._settle()
        return self._sensors

    @property
    def options(self) -> TrackingOptions:
        return self._options

    @property
    def time(self) -> float:
        """Simulation time of the last step that was seen [s]."""
        return self._time

    @property
    def curves(self) -> NDArray[np.float64]:
        """Time [s], z1 [m] and z2 [m] of the last steps, (3, steps); infinite where there is no such pair."""
        return self._curves[:, : self._curve_count]

    def configure(self, options: TrackingOptions) -> None:
        """Count contacts in another way. Starts anew."""
        self._options = options
        self.watch(self._pairs.choice)

    def watch(self, choice: PairChoice) -> None:
        """Follow other pairs. Starts anew."""
        engine, options = self._engine, self._options
        # The data tells the time in half the time.
        self._clock = engine.data if is_stepped_by_mujoco(engine) else engine
        self._pairs = PairContacts(engine, choice, options.eps, options.precise)
        model = engine.model
        # Of a step the arrays of sensors are put by, and constraint forces, a dozen or so a geom.
        size = 8 * (model.nsensordata + 12 * model.ngeom + 1)
        self._block = max(1, min(_BLOCK, _BLOCK_BYTES // size))
        self._sensors = SensorContacts(engine, options.on, options.off, options.min_duration, self._block)
        self.breaks = [each for each in self.breaks if each.pair_id is None]
        self._log.clear()
        self._waiting.clear()
        self._steps_waiting = 0
        self._curve_count = 0
        self.after_reset(engine)

    def after_step(self, engine: Engine) -> None:
        time, start = self._clock.time, self._time
        # Nearly always the step follows the one before, nothing begins or ends in it, and nobody waits for it.
        if (
            abs(time - start - self._timestep) < self._tolerance
            and engine.sensors is self._sensors.known
            and engine is self._engine
            and not self.breaks
            and self._pairs.put_by(start)
        ):
            self._time = time
            self._sensors.put_by(start, time)
            self._steps_waiting += 1
            if self._steps_waiting < self._block and self.curves_wanted_until < 0:
                return
            self._close(start)
        else:
            self._look_at(engine)

    def can_take_block(self, count: int) -> bool:
        """Whether that many of the next steps can be taken in together."""
        engine = self._engine
        return (
            not (self.breaks or self._jumped)
            and count <= self._block
            and self.curves_wanted_until < monotonic()
            and engine.sensors is self._sensors.known
            and (engine.time, engine.timestep) == (self._time, self._timestep)
            and self._pairs.can_take_block(engine)
        )

    def take_block(self, block: StepBlock) -> bool:
        """Take in steps that were taken together; False, having taken in none, if they have to be seen singly."""
        count, times = len(block.rows), block.states[:, 0].tolist()
        if self._steps_waiting + count > self._block:
            self._settle()
        entries = self._pairs.take_block(self._engine, times, block)
        if entries is None:
            return False
        self._waiting += entries
        self._sensors.put_by_block(times, block.rows)
        self._time = times[-1]
        self._steps_waiting += count
        return True

    def _look_at(self, engine: Engine) -> None:
        """Take in a step in which anything may have happened."""
        if engine is not self._engine:
            # Another environment is shown, to which nothing belongs that was seen so far.
            self._engine = engine
            self.watch(self._pairs.choice)
        time, timestep = engine.time, engine.timestep
        start = time - timestep
        backwards = time <= self._time
        if backwards and self._stray_steps < _STRAY_STEPS:
            self._stray_steps += 1
            return
        if abs(start - self._time) < 1e-6 * timestep:
            # To the last digit the time by which the state was saved.
            start = self._time
        if self._jumped or backwards:
            self._land(start)
        self._time, self._stray_steps = time, 0
        self._timestep, self._tolerance = timestep, 1e-6 * timestep
        if self.breaks:
            # Only what this step shows is a reason to stop.
            self._settle()
        self._save()
        self._waiting += self._pairs.follow(engine, start)
        self._waiting += self._sensors.follow(engine, start, time)
        self._steps_waiting += 1
        self._close(start)
        if self.breaks:
            self._check_breaks(self._settle())

    def _close(self, start: float) -> None:
        """End the taking in of a step that began at a time [s]."""
        if self._steps_waiting >= self._block and not self.breaks:
            self._settle()
        if self.curves_wanted_until > 0 and monotonic() < self.curves_wanted_until:
            self._extend_curves(start)

    def after_reset(self, engine: Engine) -> None:
        """What was seen later than this instant is forgotten once the simulation goes on from here."""
        self._jumped = True
        self._time, self._timestep = engine.time, math.nan
        if self._pairs.replay is not None:
            self._pairs.replay.reset()
        self._save()

    def _save(self) -> None:
        if self._pairs.replay is not None:
            self._pairs.replay.save(self._engine.data)

    def break_label(self, each: Break) -> str:
        """A break, for people."""
        if each.sensor is not None:
            subject = self._sensors.names[each.sensor]
        else:
            subject = "any pair" if each.pair_id is None else self._pairs.labels[each.pair_id]
        return f"{subject} {each.when}" + (f" {each.force:g} N" if each.when is BreakWhen.FORCE else "")

    def _settle(self) -> list[LogEntry]:
        """Look at what was put by in the last steps; the events that they show."""
        if not self._steps_waiting:
            return []
        self._pairs.settle()
        entries = sorted(self._waiting + self._sensors.settle(), key=_seen)
        for entry in entries:
            self._log.add(entry)
        self._waiting.clear()
        self._steps_waiting = 0
        return entries

    def _land(self, time: float) -> None:
        """Go on from an instant that was returned to, with what is known of it."""
        self._settle()
        last = self._log.truncate(time)
        self._pairs.resume(last)
        self._sensors.resume(last)
        for each in self.breaks:
            each.restart()
        self._curve_count = int(np.searchsorted(self.curves[0], time, side="right"))
        self._jumped = False

    def _check_breaks(self, entries: Iterable[LogEntry]) -> None:
        for each in self.breaks:
            if each.when is BreakWhen.FORCE:
                forces = self._forces_for(each)
                if each.is_exceeded(forces.tolist()):
                    self.on_break(f"{self.break_label(each)}: {forces.max():.4g} N", self._time)
                continue
            if each.when is BreakWhen.SLIP:
                if each.is_slip(*self._slip_for(each)):
                    self.on_break(f"{self.break_label(each)} at {self._time:.6f} s", self._time)
                continue
            hit = next((entry for entry in entries if each.is_event(entry)), None)
            if hit is not None:
                self.on_break(f"{hit.subject} {each.when} at {hit.time:.6f} s", self._time)

    def _forces_for(self, each: Break) -> NDArray[np.float64]:
        """Forces that a break looks at [N]."""
        if each.sensor is not None:
            return self._sensors.forces[each.sensor : each.sensor + 1]
        pairs = self._pairs.pressed_pairs
        return self._pairs.forces[pairs >= 0 if each.pair_id is None else pairs == each.pair_id]

    def _slip_for(self, each: Break) -> Slip:
        """Who slides and sticks of what a break looks at."""
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


def default_pairs(model: Any) -> PairChoice:
    """The pairs of the contact sensors; in a scene without sensors, all that can collide."""
    choice = pairs_of_sensors(model)
    return choice if choice.total else all_pairs(model)


def _seen(entry: LogEntry) -> float:
    return entry.seen
