"""Turns the steps of an engine into contacts of tracked geom pairs: their begins, ends and forces."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..engines.steps import Step
from ..mjmodel.contact_list import ContactList, ForceSummation
from ..mjmodel.distances import CLEAR, NO_LIST, OVERRIDE, PairDistances, poses_of
from ..mjmodel.names import PAIR
from ..mjmodel.pair_selection import PairSelection
from ..mjmodel.state import ComputedPositions
from ..mjmodel.types import MjData
from .contact_events import ContactEvent, ContactEvents, ContactPair, EventKind, EventRule
from .event_log import LogEntry, LoggedContact, PeakHold


@dataclass(slots=True)
class _BufferedSteps:
    """Steps with the same contact list, whose forces are not summed up yet."""

    pairs: NDArray[np.intp]
    """Pairs with a force between them, (k,); -1 for pairs that are not tracked."""
    summation: ForceSummation
    times: list[float]
    """Times at which the steps began [s]."""
    rows: list[bytes]
    """`efc_force` of each step."""


def _decline(start: float) -> bool:
    """Return False: no step is buffered."""
    return False


class PairContacts:
    """Contacts of the tracked pairs, updated with every step.

    As long as the same geoms touch, nothing begins or ends: such steps are only buffered. Their forces are summed up
    for many steps at once, by `flush`; call it before forces, or peaks of contacts, are read.
    """

    def __init__(
        self, engine: Engine, choice: PairSelection, eps: float, precise: bool, rule: EventRule = EventRule.SURFACE
    ) -> None:
        """`eps`: half the hysteresis band [m]. `precise`: re-simulate steps to find instants, where the engine can."""
        model = engine.model
        self.choice = choice
        self.labels = [PAIR.join(geoms) for geoms in choice.labels]
        """Names of the pairs, as the window shows them."""
        self._native = engine.has_contact_list
        self._settings = model.opt
        self.events = ContactEvents(choice.labels, eps, rule)
        """Contact states of the pairs; their distances are those at which they last met or parted."""
        self.distances = PairDistances(model, choice, eps, has_velocities=self._native)
        self.substeps = engine.substeps(self.distances) if precise else None
        self._computed = ComputedPositions(model)
        self._state = engine.data
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Start again, or continue from a past instant. `last`: the last events before it."""
        self.pressed_pairs: NDArray[np.intp] = np.zeros(0, np.intp)
        """Pairs with a force between them, (k,); -1 for pairs that are not tracked."""
        self.forces: NDArray[np.float64] = np.zeros(0)
        """Normal forces of `pressed_pairs` [N], (k,)."""
        self._peaks = PeakHold(len(self.labels))
        self._buffered: list[_BufferedSteps] = []
        self.buffer: Callable[[float], bool] = _decline
        """Function that buffers a step that began at a time [s] and returns True, if the same geoms touch as before."""
        self._started = False
        self._resumed: dict[int, LoggedContact] = {}
        contacts: dict[int, ContactPair | None] = {}
        for entry in last:
            event = entry.event
            if not isinstance(event, ContactEvent):
                continue
            contacts[event.pair_id] = None
            if event.kind is EventKind.BEGIN:
                self._resumed[event.pair_id] = entry.contact
                contacts[event.pair_id] = ContactPair(event.pair_id, event.geoms, event.time, event.normal_velocity)
        self.events.resume(contacts)
        self.distances.reset()

    def update(self, step: Step, start: float) -> list[LogEntry]:
        """Read a step that began at a time [s], and return its events."""
        data, time = self._positions(step, start)
        self._state = data
        self.buffer = _decline
        change = self.distances.update(data, time, self.events.in_contact)
        events = self._cross(time, change)
        if events:
            # Buffered forces belong to the contacts before them.
            self.flush()
        entries = [self._entry(event, step.time) for event in events]
        rests = self.distances.rest(self.events.in_contact)
        if self._native:
            groups = self.distances.groups
            # A contact list that has stayed the same for some steps will probably stay; a list that changes in every
            # step would need a new buffer each time.
            lasts = not groups.changed or (bool(self._buffered) and len(self._buffered[-1].times) > 1)
            self._press(data, groups, start)
            if self._buffered and rests and lasts and self.substeps is None:
                self.buffer = self._make_buffer(self._buffered[-1], step.engine, data)
        return entries

    def flush(self) -> None:
        """Sum up the forces of the buffered steps."""
        for steps in self._buffered:
            if steps.rows:
                forces = steps.summation(np.frombuffer(b"".join(steps.rows)).reshape(len(steps.times), -1))
                self._peaks.update_steps(steps.times, steps.pairs, forces)
                self.pressed_pairs, self.forces = steps.pairs, forces[-1]
                steps.rows.clear()
                steps.times.clear()
        # The next steps may still be added to the last buffer.
        del self._buffered[:-1]

    def crossing(self) -> tuple[float, float]:
        """Return z1 and z2 after the last step [m]; -inf if no pair is in contact, inf if all pairs are."""
        largest, nearest = self.distances.gaps(self._state, self.events.in_contact)
        return largest, nearest + 2 * self.events.eps

    def _positions(self, step: Step, start: float) -> tuple[Any, float]:
        """Return a state whose positions, contacts and velocities belong together, and its time [s]."""
        if self._native:
            return step.contact_data, start
        return self._computed.compute(step.engine.data), step.time

    def _cross(self, time: float, change: bool) -> list[ContactEvent]:
        """Return the events at a time [s]. `change`: True if measured pairs may have met or parted."""
        if not self._started:
            self._started = True
            self.events.update(*self.distances.start())
            self._open()
        elif change:
            locate = self.substeps.locate if self.substeps is not None else None
            near = partial(self.distances.near, self._state, self.events.in_contact)
            return self.events.update_pairs(time, self.distances.traces(), locate, near)
        return []

    def _press(self, data: MjData, groups: ContactList, start: float) -> None:
        """Read the forces of a step that began at a time [s], or buffer them."""
        pairs, summation = groups.pairs, groups.summation(data)
        if summation is not None:
            self._buffered.append(_BufferedSteps(pairs, summation, [start], [data.efc_force.tobytes()]))
            return
        self.flush()
        self._buffered.clear()
        self.pressed_pairs, self.forces = pairs, groups.forces(data)
        self._peaks.update(start, pairs, self.forces)

    def _make_buffer(self, steps: _BufferedSteps, engine: Engine, data: MjData) -> Callable[[float], bool]:
        """Return a function that adds a step to the buffer as long as the contact list stays that of `data`."""
        # It runs after every step, so all lookups are done here. MuJoCo keeps the list at one address, so views of it
        # stay valid: to join four takes 0.5 µs, to copy the arrays 1.8 µs.
        settings, contact_data, join = self._settings, engine.contact_data, b"".join
        read_list, margin_views = data.contact.geom.data.tobytes, self.distances.margin_views
        count, listed, margins = data.ncon, read_list(), join(margin_views)
        flags, overridden = settings.enableflags, settings.o_margin
        size, poses = data.efc_force.nbytes, [array.data.cast("B") for array in poses_of(data) if array.size]
        distances, early = data.contact.dist.data, self.distances.early_contacts(self.events.in_contact)
        keep, add_time, add_row = self.distances.states.appendleft, steps.times.append, steps.rows.append

        def add_step(start: float) -> bool:
            nonlocal size, add_time, add_row, count, listed, read_list, distances, early
            if contact_data() is not data:
                return False
            if data.ncon != count or read_list() != listed:
                # Contacts of geoms that are not tracked, or more or fewer between the same ones, change no event.
                if not self.distances.groups.has_same_pairs(data):
                    return False
                self.distances.groups.read(data)
                count, read_list, distances = data.ncon, data.contact.geom.data.tobytes, data.contact.dist.data
                listed, early, size = read_list(), self.distances.early_contacts(self.events.in_contact), -1
            if join(margin_views) != margins or settings.enableflags != flags:
                return False
            if flags & OVERRIDE and settings.o_margin != overridden:
                return False
            for contacts, sign in early:
                if sign * min([distances[i] for i in contacts]) > -CLEAR:
                    return False
            forces = data.efc_force.tobytes()
            if not count and settings.disableflags & NO_LIST:
                return False
            if len(forces) != size:
                # Other constraints, such as joint limits, came or went: the same forces are at other indices.
                summation = self.distances.groups.summation(data)
                if summation is None:
                    return False
                others = _BufferedSteps(self.distances.groups.pairs, summation, [], [])
                self._buffered.append(others)
                size, add_time, add_row = len(forces), others.times.append, others.rows.append
            keep((start, join(poses)))
            add_time(start)
            add_row(forces)
            return True

        return add_step

    def _open(self) -> None:
        """Begin the contacts that exist at the start, or at the instant that the simulation has returned to."""
        for pair_id, pair in self.events.contacts.items():
            resumed = self._resumed.pop(pair_id) if pair_id in self._resumed else None
            self._peaks.open(pair_id, resumed or LoggedContact(pair.time))
        for contact in self._resumed.values():
            contact.end = self.events.time

    def _entry(self, event: ContactEvent, seen: float) -> LogEntry:
        if event.kind is EventKind.BEGIN:
            contact = LoggedContact(event.time)
            self._peaks.open(event.pair_id, contact)
        else:
            contact = self._peaks.close(event.pair_id)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.labels[event.pair_id], event, contact)
