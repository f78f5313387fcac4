"""Reads a step once for all observers, buffers sensor values after every step, and decodes many steps at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from ..sensors.contacts import Array, ContactBatch
from ..sensors.friction import FrictionCones
from ..sensors.layout import ContactLayout
from ..settings import Reduce
from .contact_sensor import ContactDetails, ContactSensor, SensorList
from .contract import Engine

_MOST_STEPS = 2048
"""Most steps in a block."""
_MOST_BYTES = 2**22
"""Most memory that the rows of a block may take [bytes]."""
_FIELD_VALUES = 23
"""Number of values per contact: all fields, and those of the decoded form."""
_FEW_SENSORS = 100
"""Number of sensors up to which computing all forces is faster than looking for those that are touched."""

T = TypeVar("T")
Source = tuple[slice, ContactLayout]
"""Columns of a sensor's array in a row, and its layout there."""


class Step:
    """Physics step that was just done, as observers get it.

    Each value is read once, when the first observer asks for it. After the next step, values that were read stay as
    they are; asking for others raises LookupError.
    """

    __slots__ = ("_known", "_row", "engine", "number", "time")

    def __init__(self, engine: Engine, number: int = 0) -> None:
        self.engine = engine
        """Engine with one environment, or the environment, that is still at the step."""
        self.number = number
        """Number of steps since the state with which the run, or its history, begins; 0 for that state."""
        self.time = engine.time
        """Simulated time after the step [s]."""
        self._row: bytes | None = None
        self._known: dict[tuple[str, str], Any] | None = None

    @property
    def row(self) -> bytes:
        """Values of all sensors, float64, copied from `Engine.row`."""
        row = self._row
        if row is None:
            row = self._row = self.engine.row().tobytes()
        return row

    @property
    def sensors(self) -> SensorList:
        """Contact sensors, as they are read in this step."""
        return self.engine.sensors

    @property
    def model(self) -> MjModel:
        """The mjModel of the scene."""
        return self.engine.model

    @property
    def contact_data(self) -> MjData:
        """An mjData with the contacts and forces that the sensors report: see `Engine.contact_data`."""
        return self.engine.contact_data()

    def contacts(self, name: str) -> ContactBatch:
        """Return the contacts that a sensor reports, with all fields, (slots, ...)."""
        return self._once("contacts", name, self.engine.contacts)

    def dropped(self, name: str) -> ContactBatch:
        """Return the matching contacts that a sensor has no slots for."""
        return self._once("dropped", name, self.engine.dropped)

    def details(self, name: str) -> ContactDetails:
        """Return names of geoms, and friction, of the contacts that a sensor reports."""
        return self._once("details", name, self.engine.details)

    def cones(self, name: str) -> FrictionCones | None:
        """Return friction use and state of a sensor's contacts; None where they are not known."""
        return self._once("cones", name, self._read_cones)

    def _read_cones(self, name: str) -> FrictionCones | None:
        diagnostics = self.engine.diagnostics
        return None if diagnostics is None else diagnostics.cones(self.contacts(name))

    def _once(self, what: str, name: str, read: Callable[[str], T]) -> T:
        if self._known is None:
            self._known = {}
        if (what, name) not in self._known:
            if self.engine.time != self.time:
                raise LookupError(f"{what} of {name}: the step at {self.time:g} s is over; read it in `after_step`")
            self._known[what, name] = read(name)
        known: T = self._known[what, name]
        return known


class LayoutGroup(NamedTuple):
    """Sensors with one layout, decoded together."""

    members: NDArray[np.intp]
    """Indices of the sensors among those that were grouped, (sensors,)."""
    layout: ContactLayout
    columns: slice | NDArray[np.intp]
    """Columns of the arrays in a row."""

    def decode(self, rows: Array) -> ContactBatch:
        """Return the contacts of the sensors, (..., sensors, slots), from an array of rows, (..., width)."""
        shape = (*rows.shape[:-1], len(self.members), self.layout.size)
        return self.layout.decode(rows[..., self.columns].reshape(shape))


def group_by_layout(sources: Iterable[Source], places: Sequence[int] | None = None) -> list[LayoutGroup]:
    """Group sensors by their layouts. `places`: indices of the sensors; by default 0, 1, 2 ... in the order of
    `sources`."""
    starts, positions = [], dict[ContactLayout, list[int]]()
    for position, (columns, layout) in enumerate(sources):
        starts.append(columns.start)
        positions.setdefault(layout, []).append(position)
    groups = []
    for layout, members in positions.items():
        begins = np.array([starts[member] for member in members])
        adjacent = (np.diff(begins) == layout.size).all()
        whole = slice(int(begins[0]), int(begins[-1]) + layout.size)
        found = members if places is None else [places[member] for member in members]
        spread = whole if adjacent else np.add.outer(begins, np.arange(layout.size))
        groups.append(LayoutGroup(np.array(found, np.intp), layout, spread))
    return groups


class SensorPlan:
    """Plan for reading sensors: those in rows are read together, one layout at a time, all others one by one."""

    def __init__(
        self,
        listed: SensorList,
        source: Callable[[ContactSensor], Source],
        names: Sequence[str] | None = None,
        from_rows: bool = True,
    ) -> None:
        """`source`: returns columns and layout of a sensor in rows. `names`: names of the sensors to read; None for
        all. `from_rows`: False to read each sensor alone."""
        self.listed = listed
        """Sensors that the plan was made for; the engine makes another list when a sensor is read in another way."""
        self.names = tuple(listed.names if names is None else names)
        self.sensors: list[ContactSensor] = [listed[name] for name in self.names]
        together = [i for i, sensor in enumerate(self.sensors) if from_rows and not sensor.reconstructed]
        self.groups = group_by_layout((source(self.sensors[i]) for i in together), together)
        """Groups of the sensors in rows; their members are indices in `names`."""
        in_rows = set(together)
        self.alone = [i for i in range(len(self.sensors)) if i not in in_rows]
        """Indices in `names` of the sensors that are not in rows."""

    @cached_property
    def group_names(self) -> list[tuple[str, ...]]:
        """Names of the sensors of each group."""
        return [tuple(self.names[i] for i in group.members.tolist()) for group in self.groups]


class GroupedContacts(NamedTuple):
    """Contacts of sensors with the same layout, in some steps."""

    places: NDArray[np.intp]
    """Indices of the sensors in the names of the block, (sensors,)."""
    reduce: Reduce
    batch: ContactBatch
    """Arrays of shape (steps, sensors, slots, ...)."""


@dataclass(frozen=True, eq=False)
class StepBlock:
    """Consecutive steps with the same sensors in each."""

    names: tuple[str, ...]
    """Names of the sensors."""
    sensors: list[ContactSensor]
    """The sensors as they are read in these steps."""
    times: NDArray[np.float64]
    """Simulated time after each step [s], (steps,)."""
    lists: list[Any]
    """Results of `StepBuffer.read_list` in each step; empty if that is None."""
    read_alone: dict[int, list[Any]]
    """Results of `StepBuffer.read_alone` in each step, or forces [N], by the indices of sensors not in rows."""
    _rows: list[bytes]
    _groups: list[LayoutGroup]
    _batches: dict[int, list[ContactBatch]]

    def __len__(self) -> int:
        return len(self.times)

    def groups(self) -> Iterator[GroupedContacts]:
        """Decode the contacts of all sensors, one layout after another."""
        if self._groups:
            rows: Array = np.frombuffer(b"".join(self._rows)).reshape(len(self), -1)
            for group in self._groups:
                yield GroupedContacts(group.members, group.layout.reduce, group.decode(rows))
        for place, batches in self._batches.items():
            if batches:
                yield GroupedContacts(np.array([place]), self.sensors[place].reduce, _stacked(batches))

    def forces(self) -> NDArray[np.float64]:
        """Return the force on each sensor [N], (steps, sensors): see `Engine.get_contact_force_magnitude`. For buffers
        with `only_forces`."""
        forces = np.zeros((len(self), len(self.names)))
        for places, reduce, batch in self.groups():
            assert batch.force is not None
            # Slots that no step fills add nothing, and are the last ones.
            used = np.flatnonzero(batch.force[..., 0].any(axis=(0, 1)))
            batch = batch.cut(0, int(used.max(initial=0)) + 1)
            if len(places) > _FEW_SENSORS:
                # Most of many are not touched.
                touched = np.flatnonzero(batch.filled.any(axis=(0, 2)))
                places, batch = places[touched], batch.of_sensors(touched)
            forces[:, places] = batch.force_magnitude(reduce)
        for place, read in self.read_alone.items():
            forces[:, place] = read
        return forces


class StepBuffer:
    """Buffer of the row of every step; blocks of steps are decoded later, together."""

    def __init__(
        self,
        engine: Engine,
        names: Sequence[str] | None = None,
        read_list: Callable[[], Any] | None = None,
        read_alone: Callable[[str, ContactBatch], Any] | None = None,
        most_steps: int | None = None,
        from_rows: bool = True,
        only_forces: bool = False,
    ) -> None:
        """`names`: names of the sensors to read; None for all. `read_list` copies the needed part of the contact list
        of every step, `read_alone` the needed data, beside its contacts, of a sensor that is not in rows. `from_rows`:
        False to read every sensor in every step. `only_forces`: True to read only the forces on sensors that are not in
        rows, because reading their contacts takes longer."""
        self._engine, self._names = engine, None if names is None else tuple(names)
        self._read_list, self._read_alone, self._most_steps = read_list, read_alone, most_steps or _MOST_STEPS
        # Engines without a contact list make a row by reading every sensor.
        self._from_rows = from_rows and engine.has_contact_list
        self._only_forces = only_forces
        self._last = engine.time
        self._rows: list[bytes] = []
        self._times: list[float] = []
        self._lists: list[Any] = []
        self._make_plan()

    @property
    def time(self) -> float:
        """Simulated time after the last step that was added [s]."""
        return self._times[-1] if self._times else self._last

    def __len__(self) -> int:
        """Return the number of steps since the last block."""
        return len(self._times)

    def add(self, step: Step | None = None) -> StepBlock | None:
        """Add a step, by default the one that the engine is at. Return the block that it completes, or that ends before
        it; else None."""
        done, step = None, step or Step(self._engine)
        if self._engine.sensors is not self._plan.listed:
            # A sensor is read in another way from this step on.
            done = self.pop_block()
            self._make_plan()
        if self._plan.alone:
            done = self._add_alone(step) or done
        if self._plan.groups:
            self._rows.append(step.row)
        self._times.append(step.time)
        if self._read_list is not None:
            self._lists.append(self._read_list())
        return self.pop_block() if done is None and len(self._times) >= self._capacity else done

    def pop_block(self) -> StepBlock | None:
        """Return the steps that were added since the last block; None if there are none."""
        if not self._times:
            return None
        plan, self._last = self._plan, self._times[-1]
        times = np.array(self._times)
        block = StepBlock(
            plan.names, plan.sensors, times, self._lists, self._alone, self._rows, plan.groups, self._batches
        )
        self._clear()
        return block

    def _add_alone(self, step: Step) -> StepBlock | None:
        """Read the sensors that are not in rows. Return a block of the steps before, if this one cannot be in the same
        block."""
        names, done = self._plan.names, None
        if self._only_forces:
            for i in self._plan.alone:
                self._alone[i].append(self._engine.get_contact_force_magnitude(names[i])[0])
            return None
        batches = {i: step.contacts(names[i]) for i in self._plan.alone}
        before = {i: kept[-1].filled.shape for i, kept in self._batches.items() if kept}
        if any(batch.filled.shape != before.get(i, batch.filled.shape) for i, batch in batches.items()):
            # All contacts are watched, and there are more than ever.
            done = self.pop_block()
        for i, batch in batches.items():
            self._batches[i].append(batch)
            if self._read_alone is not None:
                self._alone[i].append(self._read_alone(names[i], batch))
        return done

    def _make_plan(self) -> None:
        engine = self._engine
        plan = self._plan = SensorPlan(engine.sensors, engine.source, self._names, self._from_rows)
        row_bytes = engine.row().nbytes if plan.groups else 8
        size = row_bytes + sum(8 * _FIELD_VALUES * plan.sensors[i].slots for i in plan.alone)
        self._capacity = max(1, min(self._most_steps, _MOST_BYTES // size))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._times, self._lists = [], [], []
        self._batches: dict[int, list[ContactBatch]] = {i: [] for i in self._plan.alone}
        self._alone: dict[int, list[Any]] = {i: [] for i in self._plan.alone}


def _stacked(batches: Sequence[ContactBatch]) -> ContactBatch:
    """Return batches of single steps, (slots,) each, as one batch, (steps, 1, slots)."""
    return batches[0].mapped(lambda name, array: np.stack([getattr(batch, name) for batch in batches])[:, np.newaxis])
