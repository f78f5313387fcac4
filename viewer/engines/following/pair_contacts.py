"""Every step of an engine to the contacts of followed pairs of geoms: when they begin and end, how hard they press."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.event_log import LogEntry, LoggedContact, PeakHold
from ...sensors.events import ContactEvent, ContactEvents, ContactPair, EventKind
from ..contract import Engine, SensorList
from ..mujoco.blocks import StepBlock
from ..mujoco.contact_groups import ContactGroups, ForceSummation, Values
from ..mujoco.distances import NO_LIST, Mask, Motion, PairDistances, poses_of
from ..mujoco.replay import StepReplay
from .sensor_forces import is_stepped_by_mujoco
from .told_pairs import NO_SENSORS, TellingSensors, ToldPairs
from .watched_pairs import PairChoice

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@dataclass(slots=True)
class _Run:
    """Steps with the same pairs in the contact list, whose forces are not yet summed up."""

    pairs: NDArray[np.intp]
    """Pairs that are pressed together, (k,)."""
    places: NDArray[np.intp]
    """Where the peaks of their contacts are held, (k,)."""
    summation: ForceSummation
    times: list[float]
    """When the steps began [s]."""
    rows: list[bytes]
    """Values that tell the forces, of one step or more each."""


def _refuse(start: float) -> bool:
    """A step that has to be looked at."""
    return False


class PairContacts:
    """Contacts of the pairs of a choice, followed step by step.

    As long as the same geoms touch, nothing begins or ends: such steps are only put by. Their forces are summed up for
    many steps at once, by `settle`; call it before forces, or peaks of contacts, are asked for. Where every pair is
    alone in a sensor, the arrays tell when one enters or leaves the contact list: steps can be taken in as blocks.
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
        self._state = engine.data
        self._tellers: TellingSensors | None = None
        self._told: ToldPairs | None = None
        self._told_by: SensorList | None = None
        self._left_out = False
        self.resume(())

    def resume(self, last: Iterable[LogEntry]) -> None:
        """Begin anew, or go on from an instant that was returned to: `last` are the last events before it."""
        self.pressed_pairs: NDArray[np.intp] = np.zeros(0, np.intp)
        """Pairs that are pressed together, (k,); -1 for those that are not followed."""
        self.forces: NDArray[np.float64] = np.zeros(0)
        """Their normal forces [N], (k,)."""
        # Peaks of contacts that are over are held until the forces of their steps are summed up.
        count = len(self.labels)
        self._peaks = PeakHold(2 * count)
        self._free = list(range(2 * count))
        self._over: list[int] = []
        self._places = np.full(count + 1, -1)
        self._runs: list[_Run] = []
        self.put_by: Callable[[float], bool] = _refuse
        """Takes in a step that began at a time [s], if the same geoms touch as in the last one; whether that is so."""
        self._started = self._rests = False
        self._told_run: _Run | None = None
        self._listed: Mask = np.zeros(count, bool)
        self._found: Values = np.zeros(count)
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
        data, time = self._positions(engine, start)
        self._state = data
        self.put_by, self._told_run = _refuse, None
        change = self.distances.follow(data, time, self.events.in_contact)
        entries = [self._entry(event, engine.time) for event in self._cross(time, change)]
        rests = self.distances.rest(self.events.in_contact)
        if self._native:
            groups = self.distances.groups
            if data is not engine.data:
                groups, rests = self._pressed, False
                groups.read(engine.data)
            self._press(engine.data, groups, start)
            if rests and not groups.changed and self.replay is None:
                self._expect_calm(data)
        self._rests = rests
        return entries

    def can_take_block(self, engine: Engine) -> bool:
        """Whether the sensors' arrays tell all of the next steps."""
        if not (self._rests and self._native) or self.replay is not None:
            return False
        if self._tellers is None:
            self._tellers = TellingSensors(engine.model, self.choice)
        if engine.sensors is not self._told_by:
            self._told_by = engine.sensors
            self._told = self._tellers.tell(engine.sensors) if self._pressed.usually_solved else None
            self._told_run, self._left_out = None, False
        told, settings = self._told, self._settings
        if told is None or settings.integrator == _RK4 or settings.disableflags & (NO_LIST | NO_SENSORS):
            return False
        self._left_out = self._left_out and told.leaves_out(engine.data.sensordata[told.columns])
        return not self._left_out

    def take_block(self, engine: Engine, times: Sequence[float], block: StepBlock) -> list[LogEntry] | None:
        """Take in steps between these times [s], (n + 1,); the events that they show.

        None, having taken in none, if there are contacts, and so forces, that the arrays leave out.
        """
        told = self._told
        assert told is not None
        values = block.rows.take(told.columns, axis=1)
        found = told.found(values)
        if self._rests and self._told_run is not None and (found == self._found).all():
            # Nearly always nothing happens.
            self._put_values_by(times[:-1], values)
            self.distances.states.extendleft(_motions(engine.data, block, len(values) - 3, len(values)))
            return []
        if told.leaves_out(values):
            self._left_out = True
            return None
        self._found = found[-1]
        if self._told_run is None:
            self._listed = np.zeros(len(self.labels), bool)
            self._listed[list(self.distances.groups.listed)] = True
            self._open_run(told)
        listed = found > 0
        entries: list[LogEntry] = []
        step = known = 0
        while step < len(values):
            calm = _same_rows(listed[step:], self._listed) if self._rests else 0
            if calm:
                self._put_values_by(times[step : step + calm], values[step : step + calm])
                step += calm
                continue
            # Those before it, for pairs that meet or part in it.
            *earlier, motion = _motions(engine.data, block, max(known, step - 2), step + 1)
            self.distances.states.extendleft(earlier)
            self._listed = listed[step]
            pairs = set(self._listed.nonzero()[0].tolist())
            change = self.distances.follow_motion(motion, pairs, self.events.in_contact)
            entries += [self._entry(event, times[step + 1]) for event in self._cross(times[step], change)]
            self._rests = self.distances.rest(self.events.in_contact)
            self._open_run(told)
            self._put_values_by(times[step : step + 1], values[step : step + 1])
            step = known = step + 1
        self.distances.states.extendleft(_motions(engine.data, block, max(known, step - 3), step))
        return entries

    def settle(self) -> None:
        """Sum up the forces that were put by."""
        for run in self._runs:
            if run.rows:
                forces = run.summation(np.frombuffer(b"".join(run.rows)).reshape(len(run.times), -1))
                self._peaks.update_steps(run.times, run.places, forces)
                self.pressed_pairs, self.forces = run.pairs, forces[-1]
                run.rows.clear()
                run.times.clear()
        # Steps to come may still go on like the last one, but not with another integrator: see `_positions`.
        del self._runs[:-1]
        if self._settings.integrator == _RK4:
            self.put_by = _refuse
        for place in self._over:
            self._peaks.close(place)
        self._free += self._over
        self._over.clear()

    def crossing(self) -> tuple[float, float]:
        """z1 and z2 after the last step [m]; -inf without a pair in contact, inf without one apart."""
        largest, nearest = self.distances.gaps(self._state, self.events.in_contact)
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

    def _cross(self, time: float, change: bool) -> list[ContactEvent]:
        """What happens at a time [s] to the pairs that were looked at, if they may meet or part."""
        if not self._started:
            self._started = True
            self.events.update(*self.distances.start())
            self._open()
        elif change:
            locate = self.replay.locate if self.replay is not None else None
            return self.events.update_pairs(time, self.distances.traces(), locate)
        return []

    def _press(self, data: Any, groups: ContactGroups, start: float) -> None:
        """Take in the forces of a step that began at a time [s], or put them by."""
        pairs, summation = groups.pairs, groups.summation(data)
        places = self._places[pairs]
        if summation is not None:
            self._runs.append(_Run(pairs, places, summation, [start], [data.efc_force.tobytes()]))
            return
        self.settle()
        self._runs.clear()
        self.pressed_pairs, self.forces = pairs, groups.forces(data)
        self._peaks.update(start, places, self.forces)

    def _expect_calm(self, data: Any) -> None:
        """Let steps with the same contact list be put by."""
        if not self._runs:
            return
        # What runs after every step has everything at hand. MuJoCo keeps the list in one place, and so does a view;
        # memoryviews copy faster than arrays.
        read_list, settings = data.contact.geom.data.tobytes, self._settings
        count, listed, size = data.ncon, read_list(), data.efc_force.nbytes
        positions, orientations, centers, velocities = (array.data.tobytes for array in poses_of(data))
        run, keep = self._runs[-1], self.distances.states.appendleft
        add_time, add_row = run.times.append, run.rows.append

        def put_by(start: float) -> bool:
            if data.ncon != count or read_list() != listed:
                return False
            forces = data.efc_force.tobytes()
            if len(forces) != size or (not count and settings.disableflags & NO_LIST):
                return False
            keep((start, positions(), orientations(), centers(), velocities()))
            add_time(start)
            add_row(forces)
            return True

        self.put_by = put_by

    def _open_run(self, told: ToldPairs) -> None:
        """Expect steps with the pairs that are listed now."""
        self.put_by = _refuse
        pairs = self._listed.nonzero()[0]
        self._told_run = _Run(pairs, self._places[pairs], told.summation(pairs), [], [])
        self._runs.append(self._told_run)

    def _put_values_by(self, starts: Sequence[float], values: Values) -> None:
        """Put by the values that tell the forces of steps, (n, size)."""
        assert self._told_run is not None
        self._told_run.times += starts
        self._told_run.rows.append(values.tobytes())

    def _open(self) -> None:
        """Take over the contacts that are there at the start, or at the instant that was returned to."""
        for pair_id, pair in self.events.contacts.items():
            resumed = self._resumed.pop(pair_id) if pair_id in self._resumed else None
            self._begin(pair_id, resumed or LoggedContact(pair.time))
        for contact in self._resumed.values():
            contact.end = self.events.time

    def _begin(self, pair_id: int, contact: LoggedContact) -> None:
        if not self._free:
            self.settle()
        place = self._places[pair_id] = self._free.pop()
        self._peaks.open(place, contact)

    def _end(self, pair_id: int) -> LoggedContact | None:
        place = int(self._places[pair_id])
        if place < 0:
            return None
        self._places[pair_id] = -1
        self._over.append(place)
        return self._peaks.contact(place)

    def _entry(self, event: ContactEvent, seen: float) -> LogEntry:
        if event.kind is EventKind.BEGIN:
            contact = LoggedContact(event.time)
            self._begin(event.pair_id, contact)
        else:
            contact = self._end(event.pair_id) or LoggedContact(event.time - event.duration)
            contact.end = event.time
        return LogEntry(event.time, seen, event.kind, self.labels[event.pair_id], event, contact)


def _same_rows(rows: Mask, row: Mask) -> int:
    """How many of the first rows, (n, k), are like a row, (k,)."""
    differs = (rows != row).any(axis=1)
    first = int(differs.argmax())
    return first if differs[first] else len(rows)


def _motions(data: Any, block: StepBlock, start: int, stop: int) -> list[Motion]:
    """The states from which steps of a block were taken that led to this data, the oldest first."""
    states = block.states[max(start, 0) : stop].copy()
    # Inputs stay the same in a block.
    mocap = data.mocap_pos.copy(), data.mocap_quat.copy()
    return [Motion(state.item(0), state, mocap) for state in states]
