"""Every step of an engine to the contacts of followed pairs of geoms: when they begin and end, how hard they press."""

import math
from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.event_log import LogEntry, LoggedContact, PeakHold
from ...sensors.events import ContactEvent, ContactEvents, ContactPair, EventKind
from ..contract import Engine
from ..mujoco.distances import ContactGroups, PairDistances
from ..mujoco.replay import StepReplay
from .sensor_forces import is_stepped_by_mujoco
from .watched_pairs import PairChoice

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


class PairContacts:
    """Contacts of the pairs of a choice, followed step by step."""

    def __init__(self, engine: Engine, choice: PairChoice, eps: float, precise: bool) -> None:
        """`eps`: half the hysteresis band [m]. `precise`: find instants by taking steps again, where the engine can."""
        model = engine.model
        self.choice = choice
        self.labels = [" · ".join(geoms) for geoms in choice.labels]
        """Names of the pairs, for people."""
        self._native = is_stepped_by_mujoco(engine)
        self._settings = model.opt
        self.events = ContactEvents(choice.labels, eps)
        """Contact of the pairs; of their distances only those at which they last met or parted."""
        self.distances = PairDistances(model, choice, eps, has_velocities=self._native)
        self.replay = StepReplay(model, self.distances) if precise and self._native else None
        self._pressed = ContactGroups(model, choice.geoms)
        self._scratch: Any = None
        self._state: tuple[Any, float] = (None, math.nan)
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Begin anew, or go on from an instant that was returned to: `last` are the last events before it."""
        self.pressed_pairs: NDArray[np.intp] = np.zeros(0, np.intp)
        """Pairs that are pressed together, (k,); -1 for those that are not followed."""
        self.forces: NDArray[np.float64] = np.zeros(0)
        """Their normal forces [N], (k,)."""
        self._peaks = PeakHold(len(self.labels))
        self._resumed: dict[int, LoggedContact] = {}
        contacts: dict[int, ContactPair | None] = {}
        for entry in last:
            event = entry.event
            if not isinstance(event, ContactEvent):
                continue
            contacts[event.pair_id] = None
            if event.kind is EventKind.BEGIN:
                self._resumed[event.pair_id] = entry.contact
                contacts[event.pair_id] = ContactPair(
                    event.pair_id, event.geoms, event.time, event.normal_velocity, initial=False
                )
        self.events.resume(contacts)
        self.distances.reset()

    def follow(self, engine: Engine, start: float) -> list[LogEntry]:
        """Take in a step that began at a time [s]; the events that it shows."""
        data, time = self._state = self._positions(engine, start)
        first = math.isnan(self.events.time)
        found: list[ContactEvent] = []
        told = self.distances.follow(data, time, self.events.in_contact)
        if first:
            self.events.update(*self.distances.start())
            self._open()
        elif told:
            locate = self.replay.locate if self.replay is not None else None
            found = self.events.update_pairs(time, self.distances.traces(), locate)
        entries = [self._entry(event, engine.time) for event in found]
        if self._native:
            self._press(engine, data)
            self._peaks.update(start, self.pressed_pairs, self.forces)
        return entries

    def crossing(self) -> tuple[float, float]:
        """z1 and z2 after the last step [m]; -inf without a pair in contact, inf without one apart."""
        largest, nearest = self.distances.gaps(*self._state, self.events.in_contact)
        return largest, nearest + 2 * self.events.eps

    def _positions(self, engine: Engine, start: float) -> tuple[Any, float]:
        """A state whose positions, contacts and velocities belong together, and its time [s]."""
        data, model = engine.data, engine.model
        if self._native and self._settings.integrator != _RK4:
            return data, start
        if self._scratch is None:
            self._scratch = mujoco.MjData(model)
        scratch = self._scratch
        scratch.qpos[:], scratch.qvel[:] = data.qpos, data.qvel
        scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(model, scratch)
        mujoco.mj_fwdVelocity(model, scratch)
        return scratch, engine.time

    def _press(self, engine: Engine, data: Any) -> None:
        """Set the forces of the step."""
        groups = self.distances.groups
        if data is not engine.data:
            groups = self._pressed
            groups.read(engine.data)
        self.pressed_pairs, self.forces = groups.pairs, groups.forces(engine.data)

    def _open(self) -> None:
        """Take over the contacts that are there at the start, or at the instant that was returned to."""
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
            contact = self._peaks.close(event.pair_id) or LoggedContact(event.time - event.duration)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.labels[event.pair_id], event, contact)
