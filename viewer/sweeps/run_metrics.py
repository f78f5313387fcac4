"""Computes metrics of each contact sensor from the steps of one run: peaks, impulses, times, slip, penetration."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import SensorList
from ..engines.contract import Engine
from ..engines.steps import Step, StepBlock, StepBuffer
from ..events.friction_states import FrictionStates
from ..metrics import OFF, ON, dropped, in_contact
from ..mjmodel.friction import ListedFriction, contact_cones, listed_friction, model_cone, read_list
from ..mjmodel.pair_motion import pair_key
from ..mjmodel.pairs import common_friction
from ..sensors.contacts import Array, ContactBatch
from ..sensors.friction import OPEN_FORCE, SLIDING_SPEED, Cone, ContactState, friction_use, is_sliding, slip_speed
from ..sensors.layout import ContactLayout
from ..settings import Reduce

Pairs = NDArray[np.intp] | None
"""Pairs of geoms that a sensor can match, (k, 2); None if there are too many, or the scene has flexes."""


_FEW_SENSORS = 4
"""Number of sensors up to which it does not pay to look for the touched ones."""


class RunMetrics:
    """Observer of the steps of one run; `finish` returns the metrics."""

    def __init__(self, engine: Engine, names: Sequence[str], pairs: Sequence[Pairs]) -> None:
        """Observe a run. `pairs`: pairs of each sensor in `names`."""
        self._cone = model_cone(engine.model)
        self._frictions = [None if each is None else common_friction(engine.model, each) for each in pairs]
        # Where contacts of one sensor differ in friction, slip needs the contact list of every step.
        mixed = [name for name, friction in zip(names, self._frictions, strict=True) if friction is None]
        lists = _FrictionLists(engine, mixed).read if mixed and engine.has_contact_list else None
        self._buffer = StepBuffer(engine, names, lists, lambda name, batch: _slip_of(engine, batch))
        self._figures = _Figures(len(names), engine.timestep)
        self._keys = [None if each is None else pair_key(engine.model, each).tolist() for each in pairs]
        # Of all contacts there may be, looking at how each moves would take longer than the rest.
        declared = any(not engine.sensors[name].virtual for name in names)
        known = engine.has_contact_list and declared and any(keys is not None for keys in self._keys)
        self._friction = FrictionStates(engine.model, engine.timestep) if known else None

    def after_step(self, step: Step) -> None:
        if self._friction is not None and self._friction.is_due():
            self._friction.add(step.contact_data, step.time - step.engine.timestep)
            if self._friction.full:
                self._friction.flush()
        if (block := self._buffer.add(step)) is not None:
            self._count(block)

    def after_reset(self, engine: Engine) -> None:
        """Do nothing: runs only go forward."""

    @property
    def time(self) -> float:
        """Simulated time after the last step [s]."""
        return self._buffer.time

    def finish(self) -> list[dict[str, float]]:
        """Return the metrics of each sensor, by their names in METRIC_COLUMNS; NaN if a metric is not known."""
        if (block := self._buffer.pop_block()) is not None:
            self._count(block)
        if self._friction is not None:
            self._friction.flush()
        rows = self._figures.rows()
        for row, keys in zip(rows, self._keys, strict=True):
            row |= self._creep(keys)
        return rows

    def _creep(self, keys: list[int] | None) -> dict[str, float]:
        """Return metrics of the pair that creeps farthest; NaN where they are not known."""
        if self._friction is None or keys is None:
            return dict.fromkeys(("creep_distance", "creep_speed", "creep_start"), math.nan)
        found = self._friction.motions
        creeps = [[each for each in found.get(key, ()) if each.state is ContactState.CREEPING] for key in keys]
        return {
            "creep_distance": max((sum(each.distance for each in pair) for pair in creeps), default=0.0),
            "creep_speed": max((each.speed for pair in creeps for each in pair), default=0.0),
            "creep_start": min((each.begin for pair in creeps for each in pair), default=math.nan),
        }

    def _count(self, block: StepBlock) -> None:
        """Add the steps of a block to the metrics."""
        for places, reduce, batch in block.groups():
            if len(places) > _FEW_SENSORS and batch.dist is not None and reduce is not Reduce.NETFORCE:
                # Most of many are not touched, which changes nothing of their figures.
                touched = np.flatnonzero((batch.found > 0).any(axis=0) | self._figures.in_contact[places])
                places, batch = places[touched], batch.of_sensors(touched)
                if not len(places):
                    continue
            missing = dropped(batch, reduce)
            used = np.flatnonzero(batch.filled.any(axis=(0, 1)))
            # Slots that no step fills add nothing.
            batch = batch.cut(0, int(used[-1]) + 1 if len(used) else 1)
            if (slips := block.read_alone.get(int(places[0]))) is not None:
                speed, slides = (np.array(column)[:, np.newaxis] for column in zip(*slips, strict=True))
            elif reduce is Reduce.NETFORCE:
                speed, slides = np.full(batch.found.shape, math.nan), np.zeros(batch.found.shape, bool)
            else:
                speed, slides = sliding_speed(batch, [self._frictions[i] for i in places], self._cone, block.lists)
            self._figures.add(places, block.times, batch, reduce, speed, slides, missing)
        self._figures.steps += len(block)


class _FrictionLists:
    """Reader of the contact lists of steps in which a contact of some sensors is fast enough to slide."""

    def __init__(self, engine: Engine, names: Sequence[str]) -> None:
        self._engine, self._names = engine, names
        self._sensors: SensorList | None = None

    def read(self) -> ListedFriction:
        """Return the friction data of the current step's contacts if a contact is fast enough to slide, else None."""
        if self._engine.sensors is not self._sensors:
            self._plan()
        values = self._row
        for starts, along in self._places:
            for start in starts:
                if not values[start] > 0:
                    break
                if values[start + along] ** 2 + values[start + along + 1] ** 2 > SLIDING_SPEED**2:
                    return read_list(self._engine.contact_data())
        return None

    def _plan(self) -> None:
        engine = self._engine
        self._sensors, self._row = engine.sensors, engine.row().data
        sensors = [engine.sensors[name] for name in self._names]
        read = [sensor for sensor in sensors if not sensor.reconstructed and sensor.reduce is not Reduce.NETFORCE]
        self._places = [_slots_of(*engine.source(sensor)) for sensor in read]
        """Columns of a row at which the sensors' slots begin, and the offset of the tangential velocity in a slot."""


def _slots_of(columns: slice, layout: ContactLayout) -> tuple[range, int]:
    """Return the columns of a row at which the slots of a sensor begin, and the offset of the tangential velocity in a
    slot."""
    size, names = layout.size // layout.slots, layout.columns
    along = names.index("slot0.linvel.tangent0") if "slot0.linvel.tangent0" in names else -1
    return range(columns.start, columns.stop, size) if along > 0 else range(0), along


def sliding_speed(
    batch: ContactBatch,
    frictions: Sequence[NDArray[np.float64] | None],
    cone: Cone,
    lists: Sequence[ListedFriction] = (),
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the speed of the fastest sliding contact [m/s], 0 without one, and whether there is one; (steps, sensors)
    each.

    `batch`: (steps, sensors, slots). `frictions`: friction of each sensor's contacts, (5,); None where contacts differ,
    and their friction is looked up in the contact list of each step. The speed is NaN if the friction of a contact
    that may slide is not known.
    """
    fastest = np.zeros(batch.found.shape)
    slides = np.zeros(batch.found.shape, bool)
    if batch.linvel is None:
        return fastest + math.nan, slides
    speed = slip_speed(batch)
    assert batch.force is not None
    assert batch.torque is not None
    # Nearly all contacts are too slow to slide, which is soon known.
    fast = np.nonzero(speed > SLIDING_SPEED)
    if len(fast[0]):
        friction = np.array([np.full(5, np.nan) if each is None else each for each in frictions])[fast[1]]
        force, adhesion = batch.force[fast], np.zeros(len(friction))
        mixed = np.flatnonzero(np.isnan(friction).any(axis=1))
        if len(mixed) and lists:
            assert batch.pos is not None
            friction[mixed], adhesion[mixed] = listed_friction(lists, fast[0][mixed], batch.pos[fast][mixed])
        use = friction_use(np.concatenate([force, batch.torque[fast]], axis=-1), friction, cone, adhesion)
        known = ~(np.isnan(friction).any(axis=1) & (force[:, 0] > OPEN_FORCE))
        sliding = is_sliding(force[:, 0] + adhesion, use, speed[fast]) & known
        steps, sensors = fast[0][sliding], fast[1][sliding]
        np.maximum.at(fastest, (steps, sensors), speed[fast][sliding])
        slides[steps, sensors] = True
        fastest[fast[0][~known], fast[1][~known]] = math.nan
    return fastest, slides


class _Figures:
    """Metrics of some sensors, to which blocks of steps are added."""

    def __init__(self, count: int, timestep: float) -> None:
        self._timestep = timestep
        self.steps = 0
        self.in_contact = np.zeros(count, bool)
        """True for sensors in contact after the last block."""
        self._since = np.zeros(count, np.int64)
        """Step at which the present time without contact of a sensor began."""
        self._force, self._contact_force, self._slip_speed = np.zeros((3, count))
        """Sums over steps of the force, of the force while in contact [N], and of the slip speed [m/s]."""
        self._net_force = np.zeros((count, 3))
        """Sums over steps of the net force [N], world."""
        self._contact_steps, self._touchdowns, self._slip_steps, self._drop_steps = np.zeros((4, count), np.int64)
        """Numbers of steps in contact, of touchdowns, of steps that slide, and of steps with dropped contacts."""
        self._longest_air = np.zeros(count, np.int64)
        """Number of steps of the longest time without contact that has already ended."""
        self._peak_force, self._depth, self._dropped = np.zeros((3, count))
        """Largest force [N], largest penetration [m], and largest number of dropped contacts in one step."""
        self._peak_time, self._depth_time, self._slip_start, self._drop_start = np.full((4, count), math.nan)
        """Times of the largest force and penetration, and of the first slip and dropped contact [s]."""
        self._without_slip, self._without_depth = np.zeros((2, count), bool)
        """True for sensors whose slip, or penetration, is not known in some step."""

    def add(
        self,
        at: NDArray[np.intp],
        times: Array,
        batch: ContactBatch,
        reduce: Reduce,
        speed: Array,
        slides: NDArray[np.bool_],
        missing: Array,
    ) -> None:
        """Add the steps of the sensors at the places `at`: `batch` (steps, sensors, slots), `speed`, `slides` and
        `missing` (steps, sensors)."""
        forces = batch.force_magnitude(reduce)
        assert forces is not None
        net = batch.net_force
        # What was known before is as good as a step before the first.
        before = np.where(self.in_contact[at], 2 * ON, 0.0)[np.newaxis] if self.steps else np.zeros((0, len(at)))
        states = in_contact(np.concatenate([before, forces]), ON, OFF)
        if not self.steps:
            states = np.concatenate([states[:1], states])
        self._count_contacts(at, states)
        touching = states[1:]
        self._force[at] += forces.sum(axis=0)
        self._contact_force[at] += (forces * touching).sum(axis=0)
        if net is not None:
            self._net_force[at] += net.sum(axis=0)
        self._slip_speed[at] += np.nan_to_num(speed).sum(axis=0)
        self._contact_steps[at] += touching.sum(axis=0)
        self._slip_steps[at] += slides.sum(axis=0)
        self._drop_steps[at] += (missing > 0).sum(axis=0)
        _hold(self._peak_force, self._peak_time, at, times, forces)
        if batch.dist is not None and not batch.in_world_frame:
            depth = np.where(batch.filled, -batch.dist, 0.0).max(axis=-1)
            _hold(self._depth, self._depth_time, at, times, depth)
        else:
            self._without_depth[at] = True
        self._dropped[at] = np.maximum(self._dropped[at], missing.max(axis=0))
        _note_first(self._slip_start, at, times, slides)
        _note_first(self._drop_start, at, times, missing > 0)
        # Where it is not known of one step, no sum over all is.
        self._without_slip[at] |= np.isnan(speed).any(axis=0)

    def rows(self) -> list[dict[str, float]]:
        dt = self._timestep
        in_contact_steps, (impulse_x, impulse_y, impulse_z) = self._contact_steps, self._net_force.T * dt
        longest = np.where(self.in_contact, self._longest_air, np.maximum(self._longest_air, self.steps - self._since))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(in_contact_steps > 0, self._contact_force / in_contact_steps, math.nan)
            duty = in_contact_steps / self.steps if self.steps else np.full(len(mean), math.nan)
        unknown = np.where(self._without_slip, math.nan, 1.0)
        columns = {
            "steps": np.full(len(mean), float(self.steps)),
            "duration": np.full(len(mean), self.steps * dt),
            "peak_force": self._peak_force,
            "peak_time": self._peak_time,
            "mean_force": mean,
            "impulse": self._force * dt,
            "impulse_x": impulse_x,
            "impulse_y": impulse_y,
            "impulse_z": impulse_z,
            "contact_time": in_contact_steps * dt,
            "air_time": (self.steps - in_contact_steps) * dt,
            "longest_air_time": longest * dt,
            "duty_factor": duty,
            "touchdowns": self._touchdowns.astype(float),
            "slip_distance": self._slip_speed * dt * unknown,
            "slip_time": self._slip_steps * dt * unknown,
            "slip_start": self._slip_start * unknown,
            "penetration": np.where(self._without_depth, math.nan, self._depth),
            "penetration_time": self._depth_time,
            "dropped_contacts": self._dropped,
            "dropped_time": self._drop_steps * dt,
            "drop_start": self._drop_start,
        }
        return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(mean))]

    def _count_contacts(self, at: NDArray[np.intp], states: NDArray[np.bool_]) -> None:
        """Count touchdowns and times in contact. `states`: True in contact, (1 + steps, sensors), from the step before
        on."""
        changes = states[1:] != states[:-1]
        if not self.steps:
            self.in_contact[at] = states[0]
        if changes.any():
            for step, place in zip(*np.nonzero(changes), strict=True):
                sensor, now = at[place], self.steps + int(step)
                if states[step, place]:
                    self._since[sensor] = now
                else:
                    self._touchdowns[sensor] += 1
                    self._longest_air[sensor] = max(self._longest_air[sensor], now - self._since[sensor])
        self.in_contact[at] = states[-1]


def _hold(largest: Array, instants: Array, at: NDArray[np.intp], times: Array, values: Array) -> None:
    """Raise the largest values of some sensors to those of a block, (steps, k), and note the times of the new
    maxima."""
    step = values.argmax(axis=0)
    highest = values[step, np.arange(len(at))]
    higher = highest > largest[at]
    largest[at[higher]] = highest[higher]
    instants[at[higher]] = times[step[higher]]


def _note_first(instants: Array, at: NDArray[np.intp], times: Array, happens: NDArray[np.bool_]) -> None:
    """Note for some sensors the time of the first step of a block, (steps, k), in which something happens."""
    new = happens.any(axis=0) & np.isnan(instants[at])
    instants[at[new]] = times[happens.argmax(axis=0)[new]]


def _slip_of(engine: Engine, batch: ContactBatch) -> tuple[float, bool]:
    """Return the speed of the fastest sliding contact of one step [m/s], NaN if it is not known, and whether there is
    one."""
    if batch.in_world_frame:
        return math.nan, False
    if not batch.filled.any():
        return 0.0, False
    cones = contact_cones(engine.model, engine.contact_data(), batch)
    if cones is None:
        return math.nan, False
    if (cones.states == ContactState.UNKNOWN).any():
        return math.nan, False
    speeds = slip_speed(batch)[batch.filled][cones.states == ContactState.SLIDING]
    return (float(speeds.max()), True) if len(speeds) else (0.0, False)
