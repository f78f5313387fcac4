"""Runs a term through situations and keeps its values beside the truth of every step."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import body_names, geom_names, read_names, sensor_names
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel
from .situations import Situation, Stage
from .term import ARRAYS, Caller, TermError
from .truth import Recording, Targets, Values, make_targets, sensor_side

_FEET = re.compile(r"foot|feet|toe|ankle_roll|sole", re.IGNORECASE)
_SNAPSHOTS, _SNAPSHOTS_EACH = 18, 3
"""Largest number of states that are kept to find the values that a term reads: in all, and with the same targets in
contact."""
_PRESSED = 1.0
"""Force above which a target counts as pressed in a kept state [N]."""
_RAISE = 37.0
"""Amount that is added to values that are the same in all kept states."""
_APART = 25
"""Smallest number of control steps between two kept states."""


@dataclass
class Evidence:
    """Values of a term and the truth, at every control step of every situation."""

    model: MjModel
    targets: Targets
    weight: float
    """Weight of the robot [N]."""
    timestep: float
    every: int
    """Number of physics steps per control step."""
    situations: list[str]
    where: NDArray[np.intp]
    """Index of the situation of each control step, (n,)."""
    values: Values
    """Values that the term returned, (n, ...)."""
    truth: dict[str, Values]
    """Truth at the last physics step of each control step, (n, targets, ...), by name."""
    physics: dict[str, Values]
    """Truth at every physics step, (n, every, targets, ...): force and whether it touches."""
    snapshots: list[MjData]
    pressed: NDArray[np.bool_]
    """True for targets that are pressed in a state of `snapshots`, (snapshots, targets)."""
    mirrored: Values | None = None
    """Values that the term returns for `snapshots` with the opposite sign of all forces, (snapshots, outputs)."""
    states: list[Values] = field(default_factory=list)
    """States from which the physics steps of each situation start, with inputs, and its last state, (steps + 1,
    size)."""
    steps: list[int] = field(default_factory=list)
    """Number of physics steps of each situation."""
    rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """Last physics step of each control step, counted through all situations, (n,)."""

    @property
    def control_dt(self) -> float:
        """Time from one control step to the next [s]."""
        return self.every * self.timestep

    def starts(self) -> NDArray[np.bool_]:
        """Return a mask that is true in the first control step of each situation, (n,)."""
        return np.append(True, self.where[1:] != self.where[:-1])

    def blocks(self) -> Iterable[slice]:
        """Return the slice of control steps of each situation."""
        edges = [*np.flatnonzero(self.starts()).tolist(), len(self.where)]
        return [slice(a, b) for a, b in pairwise(edges)]


def gather(stage: Stage, caller: Caller, targets: Targets, situations: Iterable[Situation], every: int) -> Evidence:
    """Run a term through situations. Raises TermError for a term that raises or takes too long."""
    model, data = stage.model, stage.data
    names: list[str] = []
    where: list[int] = []
    values: list[Values] = []
    recording = Recording(model, targets)
    kept_rows: list[int] = []
    all_states: list[Values] = []
    steps: list[int] = []
    row = -1
    for situation in situations:
        name, count = situation.name, Counter(each.partition(" (")[0] for each in names)[situation.name]
        names.append(f"{name} ({count + 1})" if count else name)
        caller.restart()
        inputs: list[list[Any]] = []
        found: list[Values] = []
        states: list[Values] = []
        begun = False
        for step, _ in enumerate(stage.run(situation)):
            # Terms of Gymnasium's kind read cfrc_ext, which a step alone leaves empty.
            mujoco.mj_rnePostConstraint(model, data)
            recording.add(data)
            row += 1
            states.append(stage.state.copy())
            caller.physics_step(data)
            if (step + 1) % every:
                continue
            before = data.qpos.copy(), data.qvel.copy()
            if caller.takes_rows:
                inputs.append(caller.inputs(data))
            else:
                found.append(caller.value(data))
            if not (np.array_equal(before[0], data.qpos) and np.array_equal(before[1], data.qvel)):
                raise TermError(f"{caller.name} changes the state of the simulation, which a term must leave alone")
            begun = True
            kept_rows.append(row)
            where.append(len(names) - 1)
        if inputs:
            found = list(caller.rows(inputs))
        if not begun:
            names.pop()
            recording.drop(len(states))
            row -= len(states)
            continue
        steps.append(len(states))
        last = np.empty_like(stage.state)
        mujoco.mj_getState(model, data, last, STATE)
        states += [last] if np.isfinite(last).all() and last[0] > states[-1][0] else []
        if any(each.shape != found[0].shape for each in found) or (values and found[0].shape != values[0].shape):
            raise TermError(
                f"{caller.name} returned shapes {', '.join(sorted({str(each.shape) for each in found + values[:1]}))}"
            )
        values += found
        all_states.append(np.array(states))
    if not values:
        raise TermError("the scene is unstable from its first step: the term cannot be tested")
    rows = np.array(kept_rows)
    truth, physics = _truths(recording, rows, every)
    chosen, starts = (
        _choose_states(truth),
        np.concatenate([states[:count] for states, count in zip(all_states, steps, strict=True)]),
    )
    return Evidence(
        model=model,
        targets=targets,
        weight=stage.weight,
        timestep=float(model.opt.timestep),
        every=every,
        situations=names,
        where=np.array(where),
        values=np.array(values),
        truth=truth,
        physics=physics,
        snapshots=[_retake(model, starts[rows[step]]) for step in chosen],
        pressed=truth["normal"][chosen] > _PRESSED,
        states=all_states,
        rows=rows,
        steps=steps,
    )


def _truths(recording: Recording, rows: NDArray[np.intp], every: int) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return the truth at the last physics step of each control step, and at every physics step."""
    arrays = recording.arrays()
    history = rows[:, np.newaxis] - np.arange(every)[::-1]
    at_end = {name: array[rows] for name, array in arrays.items()}
    return at_end, {name: arrays[name][history] for name in ("force", "touching", "normal")}


def with_targets(evidence: Evidence, targets: Targets, situation: str | None = None) -> Evidence:
    """Return the evidence with the truth about other targets, for which the steps are re-simulated.

    `situation`: name of the only situation to keep; None for all.
    """
    model, data = evidence.model, mujoco.MjData(evidence.model)
    recording, pressed = Recording(model, targets), Recording(model, targets)
    numbers = [k for k, name in enumerate(evidence.situations) if situation in (None, name)]
    firsts = np.cumsum([0, *evidence.steps])
    rows: list[NDArray[np.intp]] = []
    taken = 0
    for number in numbers:
        for state in evidence.states[number][: evidence.steps[number]]:
            mujoco.mj_setState(model, data, state, STATE)
            mujoco.mj_step(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            recording.add(data)
        rows.append(evidence.rows[evidence.where == number] - firsts[number] + taken)
        taken += evidence.steps[number]
    for snapshot in evidence.snapshots:
        pressed.add(snapshot)
    kept, joined = np.isin(evidence.where, numbers), np.concatenate(rows)
    truth, physics = _truths(recording, joined, evidence.every)
    return replace(
        evidence,
        targets=targets,
        situations=[evidence.situations[number] for number in numbers],
        where=np.searchsorted(numbers, evidence.where[kept]),
        values=evidence.values[kept],
        truth=truth,
        physics=physics,
        pressed=pressed.arrays()["normal"] > _PRESSED,
        states=[evidence.states[number] for number in numbers],
        steps=[evidence.steps[number] for number in numbers],
        rows=joined,
    )


def _choose_states(truth: Mapping[str, Values]) -> list[int]:
    """Return control steps that cover as many different sets of targets in contact as possible."""
    pressed, elsewhere = truth["normal"] > _PRESSED, truth["elsewhere"].any(axis=1, keepdims=True)
    kinds = [kind.tobytes() for kind in np.concatenate([pressed, elsewhere], axis=1)]
    chosen: dict[bytes, list[int]] = {}
    for step, kind in enumerate(kinds):
        taken = chosen.setdefault(kind, [])
        if len(taken) < _SNAPSHOTS_EACH and (not taken or step - taken[-1] >= _APART):
            taken.append(step)
    return sorted(step for taken in chosen.values() for step in taken)[:_SNAPSHOTS]


def _retake(model: MjModel, state: Values) -> MjData:
    """Re-simulate a step from its state, and return its mjData."""
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, STATE)
    mujoco.mj_step(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    return data


def infer_targets(stage: Stage, count: int, against: str) -> list[Targets]:
    """Return as many targets as a term has outputs: those of contact sensors, or the bodies that the robot stands on.

    Args:
        stage: The robot.
        count: Number of outputs of the term; 0 for one number for all targets.
        against: The other side of the contacts.

    Returns:
        The likely targets, and others that the term may mean as well: the geoms on which the robot stands.

    Raises:
        TermError: No targets fit.
    """
    model = stage.model
    sensors: dict[bytes, str] = {}
    for sensor, name in enumerate(sensor_names(model)):
        side = sensor_side(model, sensor)
        if side is not None:
            sensors.setdefault(side.tobytes(), name)
    soles = _stood_on(stage)
    stood = sorted({int(model.geom_bodyid[geom]) for geom in soles})
    names = body_names(model)
    feet = [names[body] for body in stood]
    by_sensor = list(sensors.values())
    masks = {name: np.frombuffer(side, bool) for side, name in sensors.items()}
    standing_sensors = [
        name for name in by_sensor if any(masks[name][model.geom_bodyid == body].any() for body in stood)
    ]
    by_name = [
        names[body] for body in range(1, model.nbody) if _FEET.search(names[body]) and (model.geom_bodyid == body).any()
    ]
    choices: list[Sequence[str]] = [standing_sensors, by_sensor, feet, by_name]
    for choice in choices:
        if choice and (len(choice) == count or count == 0):
            geoms = [geom_names(model)[geom] for geom in soles]
            distinct = len(soles) == len(choice) and not set(geoms) & set(names)
            return [make_targets(model, each, against) for each in (choice, *([geoms] if distinct else []))]
    known = ", ".join(feet or by_sensor or by_name) or "nothing that is known"
    raise TermError(f"the term has {count} outputs, and the robot stands on {known}: give their targets with `of`")


def _stood_on(stage: Stage) -> list[int]:
    """Return the geoms that touch the floor while the robot stands, in the model's order."""
    data, situation = stage.data, next(iter(stage.situations()))
    found: set[int] = set()
    for step, _ in enumerate(stage.run(situation)):
        if step % 20 == 10:
            for first, second in data.contact.geom:
                if first >= 0 and second >= 0 and stage.static[first] != stage.static[second]:
                    found.add(int(second if stage.static[first] else first))
    return sorted(found)


# ---------------------------------------------------------------------------------------------------------- reads

_PARTS = {
    3: ("x", "y", "z"),
    4: ("w", "x", "y", "z"),
    6: ("torque.x", "torque.y", "torque.z", "force.x", "force.y", "force.z"),
}
_VELOCITY = ("rotation.x", "rotation.y", "rotation.z", "velocity.x", "velocity.y", "velocity.z")
_BY_BODY = (
    "xpos",
    "xquat",
    "xmat",
    "xipos",
    "ximat",
    "cfrc_ext",
    "cfrc_int",
    "cvel",
    "cacc",
    "subtree_com",
    "subtree_linvel",
    "xfrc_applied",
)
_BY_GEOM, _BY_SITE = ("geom_xpos", "geom_xmat"), ("site_xpos", "site_xmat")


@dataclass(frozen=True)
class Read:
    """A named value on which some outputs of a term depend."""

    name: str
    outputs: frozenset[int]
    """Indices in the flattened value of the term that depend on it."""
    sensor: str = ""
    """Contact sensor of the value; empty for none."""
    field: str = ""
    """Column of the sensor, such as `force.normal`."""
    addresses: tuple[int, ...] = ()
    """Indices in sensordata."""
    body: int = -1
    """Body of the value; -1 for none."""


def find_reads(caller: Caller, evidence: Evidence) -> list[Read]:
    """Find the values on which a term depends, by replacing values of a real state by those of another state.

    All slots of a field, and all contacts of the list, are replaced together.
    """
    if len(evidence.snapshots) < 2:
        return []
    attribution = _Attribution(caller, evidence)
    if not caller.stateful:
        evidence.mirrored = np.array([attribution.mirrored(i) for i in range(len(evidence.snapshots))])
    return attribution.reads()


class _Attribution:
    def __init__(self, caller: Caller, evidence: Evidence) -> None:
        self.model, self._snapshots = evidence.model, evidence.snapshots
        self._caller = caller.fresh()
        self._scratch = mujoco.MjData(self.model)
        n = len(self._snapshots)
        # Neighbours in the list differ in their contacts; both directions show an "any" and an "all".
        pairs = [(i, (i + shift) % n) for shift in (1, n // 2, n - 1) for i in range(n)]
        self._pairs = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))[:36]
        self._baseline: dict[int, Values] = {}
        self._air = int(np.argmin([each.ncon for each in self._snapshots]))
        """State with the fewest contacts."""

    def mirrored(self, place: int) -> Values:
        """Return the term's value in a kept state with the opposite sign of sensors and forces."""
        mujoco.mj_copyData(self._scratch, self.model, self._snapshots[place])
        for name in ("sensordata", "cfrc_ext", "efc_force"):
            getattr(self._scratch, name)[:] *= -1
        if self._caller.takes_rows:
            return self._caller.rows([self._caller.inputs(self._scratch)])[0].ravel()
        return self._caller.value(self._scratch).ravel()

    def reads(self) -> list[Read]:
        found: list[Read] = []
        if self._caller.takes_rows:
            plan = self._caller._plan
            assert plan is not None
            for place, name in enumerate(plan.names):
                array = name if name in ARRAYS else "sensordata"
                found += self._row_reads(place, array)
            return found
        if self._replaced("sensordata", ...):
            for name, sensor, column, addresses in sensor_units(self.model):
                index = list(addresses)
                self._add(found, Read(name, frozenset(), sensor, column, addresses), "sensordata", index)
        outputs = self._changes(lambda data, donor: setattr(data, "time", data.time + 0.4))
        found += [Read("time", outputs)] if outputs else []
        arrays = self._arrays()
        # All at once first: most terms read none of these.
        for add in (0.0, _RAISE, -_RAISE):
            if self._changes(lambda data, donor, add=add: _replace(data, donor, arrays, add)):
                for array in arrays:
                    if self._replaced(array, ...):
                        self._array_reads(found, array)
                break
        self._contact_reads(found)
        return found

    def _arrays(self) -> list[str]:
        """Return all arrays of mjData whose values are not addresses, except those of sensors and of the solver."""
        named = (*_BY_BODY, *_BY_GEOM, *_BY_SITE)
        others = [name for name in dir(self._scratch) if not name.startswith("_") and name not in named]
        arrays = {name: getattr(self._scratch, name) for name in (*named, *others)}
        return [
            name
            for name, array in arrays.items()
            if isinstance(array, np.ndarray)
            and array.dtype == np.float64
            and array.size
            and name not in ("sensordata", "efc_force")
        ]

    def _array_reads(self, found: list[Read], array: str) -> None:
        shape = np.shape(getattr(self._scratch, array))
        names = _row_names(self.model, array, shape[0])
        for row in range(shape[0]):
            parts = _part_names(array, shape)
            body = row if array in _BY_BODY else int(self.model.geom_bodyid[row]) if array in _BY_GEOM else -1
            if not self._replaced(array, row):
                continue
            for part, label in enumerate(parts):
                place = (row, part) if len(shape) > 1 else (row,)
                name = f"{array}[{names[row]}]" + (f".{label}" if label else "")
                self._add(found, Read(name, frozenset(), body=body), array, place)

    def _contact_reads(self, found: list[Read]) -> None:
        def far(data: MjData, donor: MjData) -> None:
            data.contact.dist[:] = 1.0

        def near(data: MjData, donor: MjData) -> None:
            data.contact.dist[:] = -0.01

        def other_geoms(data: MjData, donor: MjData) -> None:
            data.contact.geom[:] = np.roll(np.arange(2 * data.ncon).reshape(-1, 2) % max(self.model.ngeom, 1), 1)
            for name, column in (("geom1", 0), ("geom2", 1)):
                getattr(data.contact, name)[:] = data.contact.geom[:, column]

        def no_force(data: MjData, donor: MjData) -> None:
            data.efc_force[:] = 0.0

        def strong(data: MjData, donor: MjData) -> None:
            data.efc_force[:] = 1e3

        def turned(data: MjData, donor: MjData) -> None:
            data.contact.frame[:] = np.roll(data.contact.frame, 3, axis=1)

        def moved(data: MjData, donor: MjData) -> None:
            data.contact.pos[:] += 1.0

        for label, changes in (
            ("geoms", (other_geoms,)),
            ("dist", (far, near)),
            ("force", (no_force, strong)),
            ("frame", (turned,)),
            ("pos", (moved,)),
        ):
            read = Read(f"contact list: {label}", frozenset())
            outputs = frozenset().union(*(self._changes(change) for change in changes))
            if outputs:
                found.append(Read(read.name, outputs))
        counted = self._changes(lambda data, donor: setattr(data, "ncon", 0))
        if counted and not any(read.name.startswith("contact list") for read in found):
            found.append(Read("contact list: count", counted))

    def _replaced(self, array: str, place: Any) -> frozenset[int]:
        """Return the outputs that change if values of an array are replaced by those of another state, or if a constant
        is added to them."""

        def copied(data: MjData, donor: MjData) -> None:
            getattr(data, array)[place] = getattr(donor, array)[place]

        def raised(data: MjData, donor: MjData) -> None:
            getattr(data, array)[place] += _RAISE

        def lowered(data: MjData, donor: MjData) -> None:
            getattr(data, array)[place] -= _RAISE

        return self._changes(copied) or self._changes(raised) or self._changes(lowered)

    def _add(self, found: list[Read], read: Read, array: str, place: Any) -> None:
        outputs = self._replaced(array, place)
        if outputs:
            found.append(Read(read.name, outputs, read.sensor, read.field, read.addresses, read.body))

    def _changes(self, change: Any) -> frozenset[int]:
        """Return the outputs of the term that change if a state is changed by a function."""
        outputs: set[int] = set()
        for mine, theirs in self._pairs:
            if mine not in self._baseline:
                self._baseline[mine] = self._value(mine, None, None)
            try:
                value = self._value(mine, theirs, change)
            except (TermError, IndexError, ValueError) as error:
                if isinstance(error, TermError) and "did not end" in str(error):
                    raise
                continue
            differs = ~np.isclose(value, self._baseline[mine], rtol=1e-9, atol=1e-12, equal_nan=True)
            differs = np.asarray(differs.any(axis=0)) if self._caller.stateful else differs
            outputs |= set(np.flatnonzero(differs.ravel()).tolist())
            if len(outputs) == differs.size:
                break
        return frozenset(outputs)

    def _value(self, mine: int, theirs: int | None, change: Any) -> Values:
        mujoco.mj_copyData(self._scratch, self.model, self._snapshots[mine])
        if change is not None:
            change(self._scratch, self._snapshots[theirs if theirs is not None else mine])
        caller = self._caller
        if not caller.stateful:
            return caller.value(self._scratch)
        caller.renew()
        # Air, the state, and air again: what counts steps, waits for a change or keeps a value shows it.
        air = self._snapshots[self._air]
        return np.stack([caller.probe(data).ravel() for data in (air, air, self._scratch, self._scratch, air)])

    def _row_reads(self, place: int, array: str) -> list[Read]:
        """Return the reads of a term of arrays; all replacements between two states are made in one call."""
        if array == "sensordata":
            units = [
                Read(name, frozenset(), sensor, column, addresses)
                for name, sensor, column, addresses in sensor_units(self.model)
            ]
            places: list[Any] = [list(unit.addresses) for unit in units]
        else:
            shape = np.shape(getattr(self._scratch, array))
            names, parts = _row_names(self.model, array, shape[0]), _part_names(array, shape)
            units, places = [], []
            for row in range(shape[0]):
                for part, label in enumerate(parts):
                    units.append(
                        Read(
                            f"{array}[{names[row]}]" + (f".{label}" if label else ""),
                            frozenset(),
                            body=row if array in _BY_BODY else -1,
                        )
                    )
                    places.append((row, part) if len(shape) > 1 else (row,))
        base = [self._caller.inputs(data) for data in self._snapshots]
        before = self._caller.rows(base)
        outputs: list[set[int]] = [set() for _ in units]
        raised = [
            _RAISE * all(np.array_equal(each[place][where], base[0][place][where]) for each in base) for where in places
        ]
        for mine, theirs in self._pairs:
            changed = []
            for where, more in zip(places, raised, strict=True):
                inputs = [np.array(each) if isinstance(each, np.ndarray) else each for each in base[mine]]
                inputs[place][where] = base[theirs][place][where] + more
                changed.append(inputs)
            values = self._caller.rows(changed)
            differs = ~np.isclose(values, before[mine], rtol=1e-6, atol=1e-9, equal_nan=True)
            for found, each in zip(outputs, differs.reshape(len(units), -1), strict=True):
                found |= set(np.flatnonzero(each).tolist())
        return [
            Read(unit.name, frozenset(found), unit.sensor, unit.field, unit.addresses, unit.body)
            for unit, found in zip(units, outputs, strict=True)
            if found
        ]


def _replace(data: MjData, donor: MjData, arrays: Sequence[str], add: float) -> None:
    """Add a constant to arrays; if it is zero, replace the arrays by those of another state."""
    for name in arrays:
        mine, theirs = getattr(data, name), getattr(donor, name)
        if add:
            mine[...] += add
        elif mine.shape == theirs.shape:
            mine[...] = theirs


def _row_names(model: MjModel, array: str, rows: int) -> list[str]:
    kind = "body" if array in _BY_BODY else "geom" if array in _BY_GEOM else "site" if array in _BY_SITE else ""
    if not kind:
        return [str(row) for row in range(rows)]
    return [name or str(row) for row, name in enumerate(read_names(model, kind))]


def _part_names(array: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    if len(shape) < 2:
        return ("",)
    if array in ("cvel", "cacc"):
        return _VELOCITY
    if array == "xfrc_applied":
        return (*_PARTS[6][3:], *_PARTS[6][:3])
    return _PARTS.get(shape[1], tuple(str(part) for part in range(shape[1])))


def sensor_units(model: MjModel) -> list[tuple[str, str, str, tuple[int, ...]]]:
    """Return the parts of sensordata that are replaced together: name, contact sensor, column, and indices of each."""
    from ..sensors.layout import ContactLayout

    units: list[tuple[str, str, str, tuple[int, ...]]] = []
    used: set[int] = set()
    for name, sensor in ContactLayout.for_model(model).sensors.items():
        groups: dict[str, list[int]] = {}
        for columns, layout in sensor.parts:
            for offset, column in enumerate(layout.columns):
                slot, _, rest = column.partition(".")
                groups.setdefault(rest if slot.startswith("slot") else column, []).append(columns.start + offset)
        for column, addresses in groups.items():
            slots = "slot0" if len(addresses) == 1 else "slot*"
            units.append((f"{name}.{slots}.{column}", name, column, tuple(addresses)))
            used.update(addresses)
    for index, name in enumerate(sensor_names(model)):
        start, length = int(model.sensor_adr[index]), int(model.sensor_dim[index])
        parts = _PARTS.get(length) if length in (3, 4) else None
        for part in range(length):
            if start + part not in used:
                label = f"{name}.{parts[part]}" if parts else name if length == 1 else f"{name}.{part}"
                units.append((label, "", "", (start + part,)))
    return units
