"""Every step of an engine to contact events, times in contact, and the instants at which to stop."""

import math
from collections.abc import Callable
from dataclasses import dataclass
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
"""Steps for which time may run backwards before that is taken for a restart: a simulation that has diverged is set back
to its last good step, and what it did in between did not happen."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@dataclass(frozen=True)
class TrackingOptions:
    """What counts as contact."""

    eps: float = 1e-8
    """Half the hysteresis band of a pair's distance [m]."""
    precise: bool = False
    """Find the instants of events by taking steps again in parts, not by interpolation."""
    on: float = 1.0
    """A sensor is in contact above this force [N] ..."""
    off: float = 0.5
    """... until it is below this one [N]."""
    min_duration: float = 0.0
    """For how long a sensor has to be above or below before that counts [s]."""


class ContactTracker:
    """Watches an engine's steps.

    Like the sensors' arrays, what is known of pairs after a step belongs to the state from which the step started: an
    event is seen one step after the contact that it tells of, when the arrays show it too. With Runge-Kutta, which
    leaves the arrays of an intermediate state, and for other engines, the positions after the step are looked at.
    """

    def __init__(
        self,
        engine: Engine,
        choice: PairChoice | None = None,
        options: TrackingOptions | None = None,
        limit: int | None = LIMIT,
    ) -> None:
        """Without a choice the pairs of the contact sensors are followed; in a scene without sensors, all that can
        collide. `limit`: events that are kept, None for all.
        """
        self.log = EventLog(limit)
        """What happened, oldest first."""
        self.breaks: list[Break] = []
        """When to call `on_break`."""
        self.on_break: Callable[[str, float], None] = lambda reason, time: None
        """Called with the reason, for a person, and the simulation time of the step that shows it [s]."""
        self.draws_curves = False
        """Keep the crossing functions of every step. This costs more than all the rest."""
        self._options = options or TrackingOptions()
        self._engine = engine
        self._time = -math.inf
        self._scratch: Any = None
        self.watch(choice if choice is not None else default_pairs(engine.model))

    @property
    def options(self) -> TrackingOptions:
        return self._options

    @property
    def choice(self) -> PairChoice:
        """The pairs that are followed."""
        return self._choice

    @property
    def labels(self) -> list[str]:
        """The pairs, for people."""
        return [pair_label(geoms) for geoms in self._choice.labels]

    @property
    def curves(self) -> NDArray[np.float64]:
        """Time [s], z1 and z2 [m] of the last steps, (3, steps); z1 is NaN without contact, z2 with nothing apart."""
        return self._curves[:, : self._curve_count]

    def configure(self, options: TrackingOptions) -> None:
        """Count contacts in another way; starts anew."""
        self._options = options
        self.watch(self._choice)

    def watch(self, choice: PairChoice) -> None:
        """Follow other pairs; starts anew."""
        model, options = self._engine.model, self._options
        self._choice = choice
        self.events = ContactEvents(choice.labels, options.eps)
        """Contact of the pairs. Distances are those at which pairs last met or parted."""
        self.distances = PairDistances(model, choice, options.eps)
        self._pressed = ContactGroups(model, choice.geoms)
        self._steps_itself = is_stepped_by_mujoco(self._engine)
        self._replay = StepReplay(model, self.distances) if options.precise and self._steps_itself else None
        self._pair_peaks = PeakHold(len(choice.labels))
        self._curves = np.empty((3, CURVE_STEPS))
        self._curve_count = 0
        self.breaks = [each for each in self.breaks if each.pair_id is None]
        self.sensor_forces = SensorForces(self._engine)
        self._watch_sensors()
        self.log.clear()
        self._start()

    def after_step(self, engine: Engine) -> None:
        if engine is not self._engine:
            # Another environment is shown, to which nothing of what was seen belongs.
            self._engine = engine
            self.watch(self._choice)
        time = engine.time
        if time <= self._time and self._stray_steps < _STRAY_STEPS:
            self._stray_steps += 1
            return
        if self._jumped or time <= self._time:
            self._land(time - engine.timestep)
        self._time, self._stray_steps = time, 0
        if self._replay is not None:
            self._replay.save(engine.data)
        entries = self._follow_pairs(engine) + self._follow_sensors(engine)
        for entry in entries:
            self.log.add(entry)
        if self.breaks:
            self._check_breaks(entries)

    def after_reset(self, engine: Engine) -> None:
        """What was seen later than this is forgotten when the simulation goes on from here, not before."""
        self._jumped = True
        if self._replay is not None:
            self._replay.reset()
            self._replay.save(engine.data)

    def crossing(self) -> tuple[float, float]:
        """The crossing functions z1 and z2 now [m]; -inf without contact, inf with nothing apart."""
        data, time = self._state(self._engine)
        in_contact = self.events.in_contact
        largest, nearest = self.distances.gaps(data, time, in_contact)
        return largest, nearest + 2 * self._options.eps

    def _start(self) -> None:
        self._jumped = False
        self._stray_steps = 0
        self._time = -math.inf
        self.events.reset()
        self.distances.reset()
        self.trigger.reset()
        self.timing.reset()

    def _land(self, time: float) -> None:
        """Go on from an earlier instant, with what is known of it."""
        last = self.log.truncate(time)
        self._start()
        ...
