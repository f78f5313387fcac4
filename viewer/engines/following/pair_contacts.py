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
_CALM_STEPS = 3
"""Steps with the same geoms in contact after which it pays to put forces by."""


class PairContacts:
    """Contacts of the pairs of a choice, followed step by step.

    As long as the same geoms touch, forces are only put by, and summed up for many steps at once: by `settle`, which
    has to be called before forces, or peaks of contacts, are asked for.
    """

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
        # Constraint forces of steps that are not yet summed up, when these began [s], and the contacts' first rows.
        self._rows: list[bytes] = []
        self._times: list[float] = []
        self._address: NDArray[np.int32] = np.zeros(0, np.int32)
        self._row_count = 0
        self._calm_steps = 0
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
                contacts[event.pair_id] = ContactPair(
                    event.pair_id, event.geoms, event.time, event.normal_velocity, initial=False
                )
        self.events.resume(contacts)
        self.distances.reset()

    def follow(self, engine: Engine, start: float) -> list[LogEntry]:
        """Take in a step that began at a time [s]; the events that it shows."""
        data, time = self._state = self._positions(engine, start)
        groups, entries = self.distances.groups, []
        if self._started and self.distances.skip(data, time):
            self._calm_steps += 1
        else:
            if self._rows and not groups.is_read(data):
                self.settle()
            found = self._look(data, time)
            if found:
                self.settle()
                entries = [self._entry(event, engine.time) for event in found]
            self._calm_steps = 0 if groups.changed else self._calm_steps + 1
        if self._native:
            self._press(engine, data, start)
        return entries

    def settle(self) -> None:
        """Sum up the forces that were put by."""
        if self._rows:
            rows = np.frombuffer(b"".join(self._rows)).reshape(len(self._rows), -1)
            groups = self.distances.groups
            forces = groups.sum_forces(rows, self._address)
            self._peaks.update_steps(self._times, groups.pairs, forces)
            self.pressed_pairs, self.forces = groups.pairs, forces[-1]
            self._rows.clear()
            self._times.clear()

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

    def _look(self, data: Any, time: float) -> list[ContactEvent]:
        """What happens to pairs that have to be looked at."""
        told = self.distances.follow(data, time, self.events.in_contact)
        if not self._started:
            self._started = True
            self.events.update(*self.distances.start())
            self._open()
        elif told:
            locate = self.replay.locate if self.replay is not None else None
            return self.events.update_pairs(time, self.distances.traces(), locate)
        return []

    def _press(self, engine: Engine, data: Any, start: float) -> None:
        """Take in the forces of the step, or put them by."""
        groups, now = self.distances.groups, engine.data
        if data is not now:
            groups = self._pressed
            groups.read(now)
        elif self._rows and now.nefc == self._row_count:
            self._put_by(now, start)
            return
        elif self._calm_steps >= _CALM_STEPS and len(groups.pairs):
            self.settle()
            self._address, self._row_count = now.contact.efc_address.copy(), now.nefc
            if groups.are_sums(self._address):
                self._put_by(now, start)
                return
        self.settle()
        self.pressed_pairs, self.forces = groups.pairs, groups.forces(now)
        self._peaks.update(start, self.pressed_pairs, self.forces)

    def _put_by(self, data: Any, start: float) -> None:
        self._rows.append(data.efc_force.tobytes())
        self._times.append(start)

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
