"""Turns the steps of one run into figures of each contact sensor: peaks, impulses, times, slip, penetration."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..metrics import OFF, ON, dropped, in_contact
from ..mjmodel.friction import contact_cones, model_cone
from ..mjmodel.pairs import common_friction
from ..sensors.contacts import Array, ContactBatch
from ..sensors.friction import OPEN_FORCE, SLIDING_SPEED, Cone, ContactState, friction_use, is_sliding, slip_speed
from ..sensors.layout_groups import LayoutGroup, group_by_layout
from ..settings import Reduce

_BLOCK_STEPS = 2048
"""Steps that are buffered before they are decoded together ..."""
_BLOCK_BYTES = 2**22
"""... and memory that their arrays may take."""

Pairs = NDArray[np.intp] | None
"""Pairs of geoms that a sensor can match, (k, 2); None where there are too many to know, or flexes."""


class RunMetrics:
    """Observes the steps of one run. `finish` has the figures.

    Sensors that the engine writes into its rows are buffered as bytes and decoded many steps at once; those that have
    to be reconstructed are read in every step, and so is slip where contacts of one sensor differ in friction.
    """

    def __init__(self, engine: Engine, names: Sequence[str], pairs: Sequence[Pairs]) -> None:
        """`pairs` of each sensor in `names`."""
        self._engine = engine
        self._names = tuple(names)
        self._cone = model_cone(engine.model)
        self._frictions = [None if each is None else common_friction(engine.model, each) for each in pairs]
        positions = range(len(self._names))
        sensors = [engine.sensors[name] for name in self._names]
        self._reduces = [sensor.reduce for sensor in sensors]
        together = [i for i in positions if engine.has_contact_list and not sensors[i].reconstructed]
        sources = [(columns.start, layout) for columns, layout in (engine.source(sensors[i]) for i in together)]
        self._groups = [([together[member] for member in group.members], group) for group in group_by_layout(sources)]
        self._alone = [i for i in positions if i not in set(together)]
        self._mixed = [i for i in together if self._frictions[i] is None and sensors[i].reduce is not Reduce.NETFORCE]
        """Sensors in rows whose slip needs the contact list of every step."""
        self._rows: list[bytes] = []
        self._times: list[float] = []
        self._batches: dict[int, list[ContactBatch]] = {i: [] for i in self._alone}
        self._slips: dict[int, list[tuple[float, bool]]] = {i: [] for i in (*self._alone, *self._mixed)}
        row = engine.row() if self._groups else np.zeros(1)
        self._read = row.data.tobytes
        size = row.nbytes + sum(8 * 23 * sensors[i].slots for i in self._alone)
        self._capacity = max(1, min(_BLOCK_STEPS, _BLOCK_BYTES // size))
        self._clock: Any = engine.data if engine.has_contact_list else engine
        self._figures = _Figures(len(self._names), engine.timestep)
        self._last = engine.time
        self._reads_steps = bool(self._slips)

    def after_step(self, engine: Engine) -> None:
        self._rows.append(self._read())
        self._times.append(self._clock.time)
        if self._reads_steps:
            self._read_step(engine)
        if len(self._rows) >= self._capacity:
            self._flush()

    def after_reset(self, engine: Engine) -> None:
        """Nothing: a run goes forward only."""

    @property
    def time(self) -> float:
        """Simulated time after the last step [s]."""
        return self._times[-1] if self._times else self._last

    def finish(self) -> list[dict[str, float]]:
        """The figures of each sensor, by their names in METRICS; NaN for what is not known."""
        self._flush()
        return self._figures.rows()

    def _read_step(self, engine: Engine) -> None:
        for i in self._alone:
            batch = engine.contacts(self._names[i])
            batches = self._batches[i]
            if batches and batches[-1].filled.shape != batch.filled.shape:
                # All contacts are watched, and there are more of them than ever. This step belongs to the next block.
                row, time = self._rows.pop(), self._times.pop()
                self._flush()
                self._rows.append(row)
                self._times.append(time)
            self._batches[i].append(batch)
            self._slips[i].append(_slip_of(engine, batch))
        for i in self._mixed:
            self._slips[i].append(_slip_of(engine, engine.contacts(self._names[i])))

    def _flush(self) -> None:
        """Decode the buffered steps and count them."""
        count = len(self._rows)
        if not count:
            return
        times, self._last = np.array(self._times), self._times[-1]
        figures = self._figures
        if self._groups:
            rows = np.frombuffer(b"".join(self._rows)).reshape(count, -1)
            for positions, group in self._groups:
                self._add_group(positions, group, group.decode(rows), times)
        for i in self._alone:
            batch = _stacked(self._batches[i])
            speed, slides = self._slip_column(i)
            figures.add([i], times, batch, self._reduces[i], speed, slides)
            self._batches[i].clear()
        figures.steps += count
        self._rows.clear()
        self._times.clear()
        for slips in self._slips.values():
            slips.clear()

    def _add_group(self, positions: list[int], group: LayoutGroup, batch: ContactBatch, times: Array) -> None:
        reduce = group.layout.reduce
        used = np.flatnonzero(batch.filled.any(axis=(0, 1)))
        missing = dropped(batch, reduce)
        # Slots that no step fills add nothing.
        batch = batch.cut(0, int(used[-1]) + 1 if len(used) else 1)
        if reduce is Reduce.NETFORCE:
            speed = np.full(batch.found.shape, math.nan)
            slides = np.zeros(batch.found.shape, bool)
        else:
            speed, slides = sliding_speed(batch, [self._frictions[i] for i in positions], self._cone)
            for place, i in enumerate(positions):
                if i in self._mixed:
                    column, slid = self._slip_column(i)
                    speed[:, place], slides[:, place] = column[:, 0], slid[:, 0]
        self._figures.add(positions, times, batch, reduce, speed, slides, missing)

    def _slip_column(self, i: int) -> tuple[Array, NDArray[np.bool_]]:
        speeds = [speed for speed, _ in self._slips[i]]
        return np.array(speeds)[:, np.newaxis], np.array([slides for _, slides in self._slips[i]])[:, np.newaxis]


def sliding_speed(
    batch: ContactBatch, frictions: Sequence[NDArray[np.float64] | None], cone: Cone
) -> tuple[Array, NDArray[np.bool_]]:
    """Speed of the fastest sliding contact [m/s], 0 without one, and whether there is one; (steps, sensors) each.

    `batch`: (steps, sensors, slots); `frictions` of each sensor's contacts, (5,); None counts as none.
    """
    speed = slip_speed(batch)
    fastest = np.zeros(batch.found.shape)
    slides = np.zeros(batch.found.shape, bool)
    assert batch.force is not None
    assert batch.torque is not None
    # Nearly all contacts are too slow to slide, which is soon known.
    fast = np.nonzero((speed > SLIDING_SPEED) & (batch.force[..., 0] > OPEN_FORCE))
    if len(fast[0]):
        friction = np.array([np.zeros(5) if each is None else each for each in frictions])[fast[1]]
        force = batch.force[fast]
        use = friction_use(np.concatenate([force, batch.torque[fast]], axis=-1), friction, cone)
        sliding = is_sliding(force[:, 0], use, speed[fast])
        steps, sensors = fast[0][sliding], fast[1][sliding]
        np.maximum.at(fastest, (steps, sensors), speed[fast][sliding])
        slides[steps, sensors] = True
    return fastest, slides


class _Figures:
    """Figures of some sensors, block after block of steps."""

    def __init__(self, count: int, timestep: float) -> None:
        self._timestep = timestep
        self.steps = 0
        self._state = np.zeros(count, bool)
        """In contact after the last block ..."""
        self._since = np.zeros(count, np.int64)
        """... since that step."""
        self._sums = np.zeros((6, count))
        """Of forces; of forces in contact; of the force's x, y, z; of slip speeds: each times steps."""
        self._counts = np.zeros((4, count), np.int64)
        """Steps in contact, contacts begun, steps that slide, steps with contacts without a slot."""
        self._longest_air = np.zeros(count, np.int64)
        self._largest = np.zeros((3, count))
        """Force [N], penetration [m], contacts without a slot in one step."""
        self._instants = np.full((4, count), math.nan)
        """Time of the largest force, first slip, deepest penetration, first contact without a slot [s]."""
        self._without_slip = np.zeros(count, bool)

    def add(
        self,
        positions: Sequence[int],
        times: Array,
        batch: ContactBatch,
        reduce: Reduce,
        speed: Array,
        slides: NDArray[np.bool_],
        missing: Array | None = None,
    ) -> None:
        """Count the steps of some sensors: `batch` (steps, sensors, slots), `speed` and `slides` (steps, sensors)."""
        at = np.array(positions)
        forces = batch.force_magnitude(reduce)
        assert forces is not None
        net = batch.net_force
        missing = dropped(batch, reduce) if missing is None else missing
        # What was known before is as good as a step before the first.
        before = np.where(self._state[at], 2 * ON, 0.0)[np.newaxis] if self.steps else np.zeros((0, len(at)))
        states = in_contact(np.concatenate([before, forces]), ON, OFF)
        if not self.steps:
            states = np.concatenate([states[:1], states])
        self._count_contacts(at, states)
        touching = states[1:]
        self._sums[0, at] += forces.sum(axis=0)
        self._sums[1, at] += (forces * touching).sum(axis=0)
        if net is not None:
            self._sums[2:5, at] += net.sum(axis=0).T
        self._sums[5, at] += np.nan_to_num(speed).sum(axis=0)
        self._counts[0, at] += touching.sum(axis=0)
        self._counts[2, at] += slides.sum(axis=0)
        self._counts[3, at] += (missing > 0).sum(axis=0)
        self._hold(0, 0, at, times, forces)
        if batch.dist is not None and not batch.in_world_frame:
            depth = np.where(batch.filled, -batch.dist, 0.0).max(axis=-1)
            self._hold(1, 2, at, times, depth)
        self._largest[2, at] = np.maximum(self._largest[2, at], missing.max(axis=0))
        self._first(1, at, times, slides)
        self._first(3, at, times, missing > 0)
        self._without_slip[at] |= np.isnan(speed).all(axis=0)

    def rows(self) -> list[dict[str, float]]:
        dt = self._timestep
        steps_in_contact, begun, sliding, without_slot = self._counts
        longest = np.where(self._state, self._longest_air, np.maximum(self._longest_air, self.steps - self._since))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(steps_in_contact > 0, self._sums[1] / steps_in_contact, math.nan)
            duty = steps_in_contact / self.steps if self.steps else np.full(len(mean), math.nan)
        unknown = np.where(self._without_slip, math.nan, 1.0)
        columns = {
            "steps": np.full(len(mean), float(self.steps)),
            "duration": np.full(len(mean), self.steps * dt),
            "peak_force": self._largest[0],
            "peak_time": self._instants[0],
            "mean_force": mean,
            "impulse": self._sums[0] * dt,
            "impulse_x": self._sums[2] * dt,
            "impulse_y": self._sums[3] * dt,
            "impulse_z": self._sums[4] * dt,
            "contact_time": steps_in_contact * dt,
            "air_time": (self.steps - steps_in_contact) * dt,
            "longest_air_time": longest * dt,
            "duty_factor": duty,
            "touchdowns": begun.astype(float),
            "slip_distance": self._sums[5] * dt * unknown,
            "slip_time": sliding * dt * unknown,
            "slip_start": self._instants[1],
            "penetration": self._largest[1] * unknown,
            "penetration_time": self._instants[2],
            "dropped_contacts": self._largest[2],
            "dropped_time": without_slot * dt,
            "drop_start": self._instants[3],
        }
        return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(mean))]

    def _count_contacts(self, at: NDArray[np.intp], states: NDArray[np.bool_]) -> None:
        """`states`: whether there is contact, (1 + steps, sensors), from the step before on."""
        changes = states[1:] != states[:-1]
        if not self.steps:
            self._state[at] = states[0]
        if changes.any():
            for step, place in zip(*np.nonzero(changes), strict=True):
                sensor, now = at[place], self.steps + int(step)
                if states[step, place]:
                    self._since[sensor] = now
                else:
                    self._counts[1, sensor] += 1
                    self._longest_air[sensor] = max(self._longest_air[sensor], now - self._since[sensor])
        self._state[at] = states[-1]

    def _hold(self, which: int, instant: int, at: NDArray[np.intp], times: Array, values: Array) -> None:
        """Keep the largest value above 0, and when it was first reached."""
        step = values.argmax(axis=0)
        largest = values[step, np.arange(len(at))]
        higher = largest > self._largest[which, at]
        self._largest[which, at[higher]] = largest[higher]
        self._instants[instant, at[higher]] = times[step[higher]]

    def _first(self, instant: int, at: NDArray[np.intp], times: Array, happens: NDArray[np.bool_]) -> None:
        """Keep when something first happened."""
        new = happens.any(axis=0) & np.isnan(self._instants[instant, at])
        self._instants[instant, at[new]] = times[happens.argmax(axis=0)[new]]


def _slip_of(engine: Engine, batch: ContactBatch) -> tuple[float, bool]:
    """Speed of the fastest sliding contact of one step [m/s], and whether there is one; NaN for net forces."""
    if batch.in_world_frame:
        return math.nan, False
    if not batch.filled.any():
        return 0.0, False
    cones = contact_cones(engine.model, engine.data, batch)
    if cones is None:
        return math.nan, False
    speeds = slip_speed(batch)[batch.filled][cones.states == ContactState.SLIDING]
    return (float(speeds.max()), True) if len(speeds) else (0.0, False)


def _stacked(batches: Sequence[ContactBatch]) -> ContactBatch:
    """Batches of single steps, (slots,), as one of (steps, 1, slots)."""
    return batches[0].mapped(lambda name, array: np.stack([getattr(batch, name) for batch in batches])[:, np.newaxis])
