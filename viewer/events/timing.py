"""Turns forces of sensors after every step into debounced contact, and that into times in contact and in the air."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sensors.contacts import Array
from .contact_events import EventKind


@dataclass(frozen=True, slots=True)
class SensorEvent:
    """A sensor that began or ceased to feel contact."""

    time: float
    """Simulation time [s] of the step whose force passed the threshold, not of the step that confirmed it."""
    sensor: int
    """Position of the sensor."""
    kind: EventKind
    force: float
    """Force at `time` [N]."""
    duration: float
    """How long the sensor has felt contact at `time` [s]: 0 at a begin."""


class ForceTrigger:
    """Contact of sensors by their force: begins above `on`, ends below `off`, and lasts at least a while.

    `raw` changes at the two thresholds at once. `debounced` becomes `raw` once that has held for the minimum
    duration; shorter changes, in either direction, never show in it. Steps are counted, not times added up,
    so that a change is confirmed at the same step however long the simulation has run.
    The first update sets both states and returns no events.
    """

    def __init__(
        self, count: int, on: ArrayLike, off: ArrayLike, min_duration: float = 0.0, timestep: float = 0.002
    ) -> None:
        """For `count` sensors; `on` and `off` [N] are one for all or one a sensor; times in seconds."""
        self.on = np.broadcast_to(np.asarray(on, np.float64), (count,)).copy()
        self.off = np.broadcast_to(np.asarray(off, np.float64), (count,)).copy()
        if not (np.all(self.off > 0) and np.all(self.off <= self.on)):
            raise ValueError("off must be above 0 N, or contact could never end, and no larger than on")
        self.min_steps = _step_count(min_duration, timestep)
        """Steps for which a change must hold before it is confirmed; 0 confirms it at once."""
        self._raw = np.zeros(count, bool)
        self._debounced = np.zeros(count, bool)
        self._level = np.zeros(count)
        self._edge_step = np.zeros(count, np.int64)
        self._edge_time = np.zeros(count)
        self._edge_force = np.zeros(count)
        self._begin_time = np.zeros(count)
        self._time: float
        """Of the last update [s]."""
        self.reset()

    def reset(self) -> None:
        """Forget every contact without ending it: the next update is a first one."""
        self._started = False
        self._resumed: Mapping[int, float] = {}
        self._step = 0
        self._pending = False
        self._raw[:] = False
        self._debounced[:] = False

    def resume(self, begin_times: Mapping[int, float]) -> None:
        """Continue from what is known of an instant that was returned to: the next update is a first one there.

        Sensors in contact, by position, with the time at which it began [s]. They stay so until their force is below
        the lower threshold; the others are decided as at the start.
        """
        self.reset()
        self._resumed = dict(begin_times)

    @property
    def raw(self) -> NDArray[np.bool_]:
        """Contact by the two thresholds alone, (sensors,)."""
        return self._raw.copy()

    @property
    def debounced(self) -> NDArray[np.bool_]:
        """Contact that has held for the minimum duration, until its absence has, (sensors,)."""
        return self._debounced.copy()

    def update(self, time: float, forces: ArrayLike) -> list[SensorEvent]:
        """The changes confirmed by this step, by sensor. To be called after every physics step.

        `time` is simulation time [s]; when it runs backwards the simulation was reset, and open contacts are
        dropped without an event. `forces` [N], (sensors,); a sensor with a NaN force keeps its raw state.
        """
        force = np.asarray(forces, np.float64)
        _check_shape(force.shape, self._raw.shape)
        if not self._started or time < self._time:
            self._start(time, force)
            return []
        self._time = time
        self._step += 1
        # This runs after every step: most of the time nothing changes, which one comparison shows.
        edges = (force > self._level) != self._raw
        if edges.any():
            edges &= ~np.isnan(force)
            self._raw ^= edges
            self._set_levels()
            self._edge_step[edges] = self._step
            self._edge_time[edges] = time
            self._edge_force[edges] = force[edges]
            self._pending = True
        if not self._pending:
            return []
        waiting = self._raw != self._debounced
        confirmed = waiting & (self._step - self._edge_step >= self.min_steps)
        self._debounced ^= confirmed
        self._pending = bool((waiting & ~confirmed).any())
        return [self._event(sensor) for sensor in np.flatnonzero(confirmed).tolist()]

    def quiet_steps(self, forces: NDArray[np.float64]) -> int:
        """How many of the first steps change nothing, of forces [N], (steps, sensors)."""
        if not self._started or self._pending:
            return 0
        edges = ((forces > self._level) != self._raw).any(axis=1)
        return int(edges.argmax()) if edges.any() else len(forces)

    def skip(self, time: float, steps: int) -> None:
        """Count steps that change nothing, as `quiet_steps` found, the last one at a time [s]."""
        self._time = time
        self._step += steps

    def _start(self, time: float, force: NDArray[np.float64]) -> None:
        resumed = {} if self._started else self._resumed
        self.reset()
        self._started = True
        self._time = time
        self._raw[:] = force > self.on
        self._begin_time[:] = time
        for sensor, begin_time in resumed.items():
            self._raw[sensor] = force[sensor] > self.off[sensor]
            self._begin_time[sensor] = begin_time
        self._debounced[:] = self._raw
        self._set_levels()

    def _set_levels(self) -> None:
        """The force above which each sensor is, or stays, in contact [N]: `off` itself still counts."""
        self._level[:] = np.where(self._raw, np.nextafter(self.off, -math.inf), self.on)

    def _event(self, sensor: int) -> SensorEvent:
        time = float(self._edge_time[sensor])
        begins = bool(self._debounced[sensor])
        if begins:
            self._begin_time[sensor] = time
        return SensorEvent(
            time=time,
            sensor=sensor,
            kind=EventKind.BEGIN if begins else EventKind.END,
            force=float(self._edge_force[sensor]),
            duration=0.0 if begins else time - float(self._begin_time[sensor]),
        )


class ContactTiming:
    """How long sensors have been in the air and in contact, how often, and for what share of the time.

    Every update stands for one step: air and contact times of a sensor add up to the steps taken.
    """

    def __init__(self, count: int, timestep: float) -> None:
        """For `count` sensors; `timestep` [s] is the time that passes between updates."""
        if not 0 < timestep < math.inf:
            raise ValueError(f"the timestep must be a positive time, not {timestep!r}")
        self.timestep = float(timestep)
        self._in_contact = np.zeros(count, bool)
        self._change_step = np.zeros(count, np.int64)
        self._last_air = np.zeros(count, np.int64)
        self._last_contact = np.zeros(count, np.int64)
        self._past_contact = np.zeros(count, np.int64)
        self._contact_count = np.zeros(count, np.int64)
        self.reset()

    def reset(self) -> None:
        """Count from 0; the next update is a first one."""
        self._step_count = 0
        self._in_contact[:] = False
        for steps in (self._change_step, self._last_air, self._last_contact, self._past_contact):
            steps[:] = 0
        self._contact_count[:] = 0

    def update(self, in_contact: ArrayLike) -> None:
        """Count a step with its state, (sensors,). To be called after every physics step."""
        state = np.asarray(in_contact, np.bool_)
        _check_shape(state.shape, self._in_contact.shape)
        if self._step_count == 0:
            self._in_contact[:] = state
            self._contact_count += state
        else:
            changed = state != self._in_contact
            if changed.any():
                self._change(changed)
        self._step_count += 1

    @property
    def step_count(self) -> int:
        """Steps so far."""
        return self._step_count

    @property
    def in_contact(self) -> NDArray[np.bool_]:
        """State after the last step, (sensors,)."""
        return self._in_contact.copy()

    def skip(self, steps: int) -> None:
        """Count steps in which the state stays as it is. Only after a first `update`."""
        self._step_count += steps

    def _change(self, changed: NDArray[np.bool_]) -> None:
        landed, lifted = changed & ~self._in_contact, changed & self._in_contact
        age = self._age
        np.copyto(self._last_air, age, where=landed)
        np.copyto(self._last_contact, age, where=lifted)
        self._past_contact[lifted] += age[lifted]
        self._contact_count += landed
        self._change_step[changed] = self._step_count
        self._in_contact ^= changed

    @property
    def _age(self) -> NDArray[np.int64]:
        """Steps since the last change, (sensors,)."""
        return self._step_count - self._change_step

    @property
    def air_time(self) -> Array:
        """Time since contact was lost, 0 in contact [s], (sensors,)."""
        return np.where(self._in_contact, 0.0, self._age * self.timestep)

    @property
    def contact_time(self) -> Array:
        """Time since contact began, 0 in the air [s], (sensors,)."""
        return np.where(self._in_contact, self._age * self.timestep, 0.0)

    @property
    def last_air_time(self) -> Array:
        """Length of the last complete time in the air [s], (sensors,); 0 if there was none."""
        return self._last_air * self.timestep

    @property
    def last_contact_time(self) -> Array:
        """Length of the last complete contact [s], (sensors,); 0 if there was none."""
        return self._last_contact * self.timestep

    @property
    def contact_count(self) -> NDArray[np.int64]:
        """Number of contacts, the present one and one present from the start included, (sensors,)."""
        return self._contact_count.copy()

    @property
    def duty_factor(self) -> Array:
        """Share of the time spent in contact, 0 to 1, (sensors,); 0 before the first update."""
        steps = self._past_contact + np.where(self._in_contact, self._age, 0)
        return steps / max(self._step_count, 1)


def _step_count(duration: float, timestep: float) -> int:
    """Whole steps that last at least `duration`."""
    if not (0 <= duration < math.inf and 0 < timestep < math.inf):
        raise ValueError(f"no number of steps of {timestep!r} s makes up {duration!r} s")
    # 0.035 / 0.005 is a little over 7: a rounding error must not cost a step.
    return math.ceil(duration / timestep * (1 - 1e-9))


def _check_shape(given: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if given != expected:
        raise ValueError(f"values of shape {given} for {expected[0]} sensors")
