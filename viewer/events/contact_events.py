"""Turns distances of geom pairs after every step into the instants at which contact begins and ends."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..mjmodel.crossings import Crossing, Sample, Trace, interpolate

Geoms = tuple[Hashable, Hashable]
"""Labels of the two geoms of a pair, usually their names."""


class EventKind(StrEnum):
    """Kind of a contact event of a pair or of a sensor."""

    BEGIN = "begin"
    END = "end"
    SLIP_BEGIN = "slip_begin"
    SLIP_END = "slip_end"
    CREEP_BEGIN = "creep_begin"
    CREEP_END = "creep_end"


class EventRule(StrEnum):
    """Rule for the instant at which contact begins, and for the pairs whose state an event changes."""

    SURFACE = "surface"
    """Rule in which contact begins or ends where the surfaces meet or part, and an event changes that pair alone."""
    MODIA = "modia"
    """Rule of Modia3D: contact begins where -2 eps is passed; any event decides all pairs again, by distance < -eps."""


class ContactEvent(NamedTuple):
    """Begin or end of a pair's contact."""

    time: float
    """Simulation time [s], inside the step in which the pair's crossing function changed sign."""
    pair_id: int
    """Position of the pair in `ContactEvents.pairs`."""
    geoms: Geoms
    kind: EventKind
    distance: float
    """Distance between the surfaces at `time` [m]."""
    normal_velocity: float
    """Rate of change of the distance at `time` [m/s]; negative when the geoms approach. Without velocities it is the
    mean over the step, or NaN if that is unknown."""
    duration: float
    """Time since the pair came into contact, at `time` [s]: 0 at a begin."""

    @property
    def approach_speed(self) -> float:
        """Speed at which the surfaces close in [m/s]; negative when they part.

        At a begin it is never negative, except with `EventRule.MODIA` for a pair that another pair's event decides.
        """
        return -self.normal_velocity


class SensorEvent(NamedTuple):
    """Begin or end of a sensor's contact."""

    time: float
    """Simulation time of the step whose force passed the threshold, not of the step that confirmed it [s]."""
    sensor: int
    """Index of the sensor."""
    kind: EventKind
    force: float
    """Force at `time` [N]."""
    duration: float
    """Time since the sensor came into contact, at `time` [s]: 0 at a begin."""


class ContactPair(NamedTuple):
    """Pair in contact, with the time and velocity at which its contact began."""

    pair_id: int
    geoms: Geoms
    time: float
    """Time at which contact began [s]; time of the first update if the pair was in contact before."""
    normal_velocity: float
    """Rate of change of the distance at `time` [m/s]: minus the approach speed."""


class Locate(Protocol):
    """Function that finds a crossing more exactly than interpolation, usually by re-simulating the step in parts."""

    def __call__(self, pair_id: int, start: float, end: float, level: float) -> Crossing | None:
        """Return the instant in [start, end] at which the pair's distance passes `level` [m]; None to interpolate.

        `start` and `end` are the times of the last two updates, whose distances lie on either side of the
        level. One distance may lie on the level; a pair with unknown distance at `start` may have passed it before.
        Of the two instants that enclose the crossing, return the first: Runge-Kutta lets the contact force act in
        a step that ends just past the crossing, and the velocity there is no longer that of the approach.
        The function is called inside `update`, once per event, and must leave the simulation as it was.
        """


class ContactEvents:
    """Contact states and events of geom pairs, with hysteresis.

    A pair begins when its distance falls below -2 eps and ends when it rises above 0; in between it keeps its
    state, so that noise smaller than that band makes no events. This is the zero crossing of
    `distance_with_hysteresis`. Every pair has its own event instants: its events do not depend on the other tracked
    pairs, with one exception. At any event, a pair exactly on its threshold is decided too, by distance < -eps, so that
    no hysteresis distance is zero right after an event.

    eps decides whether there is an event, not when: the time of an event is the instant at which the surfaces meet or
    part, distance 0. If they met in an earlier step and sank in slowly, it is the instant at which -2 eps is passed,
    because an event lies inside the step that shows it.

    The first update sets the state and returns no events: pairs closer than -eps are in contact. Their end events count
    the duration from that update, which is a lower bound.

    These are the rules of `EventRule.SURFACE`. With `EventRule.MODIA`, contact always begins when -2 eps is passed, and
    the update that shows any event decides all pairs again, by distance < -eps, as the first update does: a pair that
    is in the band then begins or ends too, at that update's time.

    Example:
        ```python
        events = contact_viewer.ContactEvents([("floor", "ball")])
        events.update(0.00, [0.010], [-1.2])
        print(events.update(0.01, [-0.002], [-1.2]))  # begins at 0.0083 s
        ```
    """

    def __init__(self, pairs: Sequence[Geoms], eps: float = 1e-8, rule: EventRule = EventRule.SURFACE) -> None:
        """`eps` is half the hysteresis band [m]."""
        if not 0 < eps < math.inf:
            raise ValueError(f"eps must be a positive length, not {eps!r}")
        self.pairs: tuple[Geoms, ...] = tuple((first, second) for first, second in pairs)
        """Geoms of each pair; a pair's id is its index here."""
        self.eps = float(eps)
        self.rule = rule
        count = len(self.pairs)
        self._in_contact = np.zeros(count, bool)
        # Values of the last three updates, the latest first.
        self._distances = self._velocities = (np.full(count, math.inf),) * 3
        self.reset()

    def reset(self) -> None:
        """Forget every contact; no end events are made. The next update counts as the first."""
        self._started = False
        self._resumed: Mapping[int, ContactPair | None] = {}
        self.contacts: dict[int, ContactPair] = {}
        """Pairs in contact by id; a new dictionary after every update with events."""
        self._times = (math.nan,) * 3
        self._distances = (np.full(len(self.pairs), math.inf), *self._distances[:2])
        self._in_contact[:] = False

    def resume(self, contacts: Mapping[int, ContactPair | None]) -> None:
        """Continue from a past instant that the simulation has returned to: the next update counts as the first.

        `contacts`: known pairs by id, None for a pair that is not in contact. They keep their state if it is within the
        hysteresis; all other pairs are decided as at the start.
        """
        self.reset()
        self._resumed = dict(contacts)

    @property
    def time(self) -> float:
        """Simulation time of the last update [s]; NaN before the first."""
        return self._times[0]

    @property
    def in_contact(self) -> NDArray[np.bool_]:
        """True for pairs in contact, (pairs,)."""
        return self._in_contact.copy()

    @property
    def distance_with_hysteresis(self) -> NDArray[np.float64]:
        """Distance of pairs in contact, distance + 2 eps of others [m], (pairs,). Infinite if never known."""
        return np.where(self._in_contact, self._distances[0], self._distances[0] + 2 * self.eps)

    @property
    def z1(self) -> float:
        """Largest hysteresis distance of the pairs in contact [m]; above 0 a contact ends. -inf without any."""
        return float(self.distance_with_hysteresis.max(where=self._in_contact, initial=-math.inf))

    @property
    def z2(self) -> float:
        """Smallest hysteresis distance of the other pairs [m]; below 0 a contact begins. inf without any."""
        return float(self.distance_with_hysteresis.min(where=~self._in_contact, initial=math.inf))

    def update(
        self,
        time: float,
        distances: ArrayLike,
        normal_velocities: ArrayLike,
        locate: Locate | None = None,
    ) -> list[ContactEvent]:
        """Return the events since the last update, by time. Call it after every physics step.

        Args:
            time: Simulated time [s]. If it went backwards the simulation was reset: contacts are dropped without an
                event, as by `reset`.
            distances: Distances of the pairs [m], (pairs,); negative when they penetrate. For NaN the pair keeps its
                state and its last known distance; a pair whose distance was never known is infinitely far apart.
            normal_velocities: Rates of change of the distances [m/s], (pairs,); may be NaN.
            locate: Function that finds the instant of an event, see `Locate`; None to interpolate.

        Returns:
            The events, sorted by time; none in the first update.

        Raises:
            ValueError: An array does not have the shape (pairs,).
        """
        distance = self._checked(distances, "distances")
        velocity = self._checked(normal_velocities, "normal velocities")
        if not self._started or time < self._times[0]:
            self._start(time, distance, velocity, {} if self._started else self._resumed)
            return []
        unknown = np.isnan(distance)
        np.copyto(distance, self._distances[0], where=unknown)
        np.copyto(velocity, math.nan, where=unknown)
        self._times = (time, *self._times[:2])
        self._distances = (distance, *self._distances[:2])
        self._velocities = (velocity, *self._velocities[:2])
        # Distance of each pair past its threshold [m].
        past = np.where(self._in_contact, distance, -2 * self.eps - distance)
        if not past.max(initial=-math.inf) > 0:
            return []
        # Past a threshold, distance < -eps is the opposite of the state that led there.
        crossed = np.flatnonzero(past >= 0).tolist()
        traces = {pair_id: self._trace(pair_id) for pair_id in crossed}
        if self.rule is EventRule.SURFACE:
            return self._cross(traces, locate)
        others = np.flatnonzero((self._distances[0] < -self.eps) != self._in_contact).tolist()
        return self._cross(traces, locate, {pair_id: self._trace(pair_id).after for pair_id in others})

    def update_pairs(
        self,
        time: float,
        traces: Mapping[int, Trace],
        locate: Locate | None = None,
        near: Callable[[], Mapping[int, Sample]] = dict,
    ) -> list[ContactEvent]:
        """Return the events of pairs that passed their threshold, as `update` does with the distances of all pairs.

        The other pairs keep their state and last known distance. After a first `update`, call this method in place of
        all further updates, which would lack the velocities of the steps before.

        Args:
            time: Simulated time [s].
            traces: Each of these pairs in the last three steps, by id; NaN for unknown values.
            locate: Function that finds the instant of an event, see `Locate`; None to interpolate.
            near: Function that measures all pairs that are in contact or penetrate, by id; called at an event under
                `EventRule.MODIA`.

        Returns:
            The events, sorted by time.
        """
        self._times = (time, *self._times[:2])
        for pair_id, trace in traces.items():
            self._distances[0][pair_id] = trace.after.distance
        others = {}
        for pair_id, sample in near().items() if self.rule is EventRule.MODIA else ():
            self._distances[0][pair_id] = sample.distance
            if (sample.distance < -self.eps) != self._in_contact.item(pair_id):
                others[pair_id] = sample
        return self._cross(traces, locate, others)

    def _start(
        self,
        time: float,
        distance: NDArray[np.float64],
        velocity: NDArray[np.float64],
        resumed: Mapping[int, ContactPair | None],
    ) -> None:
        self.reset()
        self._started = True
        self._times = (time, math.nan, math.nan)
        distance[np.isnan(distance)] = math.inf
        self._distances = (distance, *self._distances[:2])
        self._velocities = (velocity, *self._velocities[:2])
        self._in_contact = distance < -self.eps
        for pair_id, contact in resumed.items():
            self._in_contact[pair_id] = distance[pair_id] < -2 * self.eps if contact is None else distance[pair_id] <= 0
        self.contacts = {
            pair_id: resumed.get(pair_id) or ContactPair(pair_id, self.pairs[pair_id], time, float(velocity[pair_id]))
            for pair_id in np.flatnonzero(self._in_contact).tolist()
        }

    def _cross(
        self, crossed: Mapping[int, Trace], locate: Locate | None, others: Mapping[int, Sample] | None = None
    ) -> list[ContactEvent]:
        """Flip the pairs that passed their threshold or lie on it, and `others`; return the events by time."""
        # Events come one or two at a time: there is little to gain from arrays.
        decided = [pair_id for pair_id in others or () if pair_id not in crossed]
        for pair_id in (*crossed, *decided):
            self._in_contact[pair_id] ^= True
        events = [self._located(pair_id, trace, locate) for pair_id, trace in crossed.items()]
        events += [self._event(pair_id, Crossing(*others[pair_id])) for pair_id in decided] if others else []
        events.sort(key=lambda event: (event.time, event.pair_id))
        self.contacts = dict(self.contacts)
        for event in events:
            if event.kind is EventKind.BEGIN:
                self.contacts[event.pair_id] = ContactPair(
                    event.pair_id, event.geoms, event.time, event.normal_velocity
                )
            else:
                del self.contacts[event.pair_id]
        return events

    def _located(self, pair_id: int, trace: Trace, locate: Locate | None) -> ContactEvent:
        """Return the event of a flipped pair at the instant at which it passed its level."""
        before = trace.before
        sinks = before.distance <= 0 or self.rule is EventRule.MODIA
        level = -2 * self.eps if self._in_contact.item(pair_id) and sinks else 0.0
        crossing = locate(pair_id, before.time, trace.after.time, level) if locate is not None else None
        if crossing is None:
            crossing = interpolate(trace, level)
        return self._event(pair_id, crossing)

    def _event(self, pair_id: int, crossing: Crossing) -> ContactEvent:
        """Return the event of a flipped pair at an instant."""
        begins = self._in_contact.item(pair_id)
        time, distance, velocity = crossing
        return ContactEvent(
            time=time,
            pair_id=pair_id,
            geoms=self.pairs[pair_id],
            kind=EventKind.BEGIN if begins else EventKind.END,
            distance=distance,
            normal_velocity=velocity,
            duration=0.0 if begins else time - self.contacts[pair_id].time,
        )

    def _trace(self, pair_id: int) -> Trace:
        """Return the samples of a pair in the last three updates."""
        after, before, earlier = (
            Sample(time, distances.item(pair_id), velocities.item(pair_id))
            for time, distances, velocities in zip(self._times, self._distances, self._velocities, strict=True)
        )
        return Trace(after, before, lambda: earlier)

    def _checked(self, values: ArrayLike, what: str) -> NDArray[np.float64]:
        # A copy, because the caller may use the same array again.
        array = np.array(values, np.float64)
        if array.shape != self._in_contact.shape:
            raise ValueError(f"{what} of shape {array.shape} for {len(self.pairs)} pairs")
        return array
