"""Applies contact sensors made or changed in the viewer to a scene's specification, before it is compiled."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import mujoco
import numpy as np

from ..mjmodel.declarations import TARGET_OBJECTS
from ..mjmodel.names import COMPANION, label_sensors, read_names, sensor_targets
from ..mjmodel.types import MjModel
from ..sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind
from ..sensors.layout import Field
from ..settings import Reduce

_REDUCE = list(Reduce)
_TAKEN = "the scene has a sensor of that name"
_KINDS = {int(number): kind for kind, number in TARGET_OBJECTS.items()}
TARGET_TABLES = {
    TargetKind.GEOM: "geom",
    TargetKind.BODY: "body",
    TargetKind.SUBTREE: "body",
    TargetKind.SITE: "site",
}


@dataclass(frozen=True)
class SensorChange:
    """Contact sensor that a scene has beyond its file, or that differs from it."""

    after: ContactDeclaration
    before: ContactDeclaration | None = None
    """Declaration that the change replaces; None for an additional sensor."""
    replaces: str = ""
    """Name, or made-up name, by which the viewer knows the sensor that is replaced."""

    @property
    def name(self) -> str:
        """Name by which the viewer knows the sensor afterwards."""
        return self.after.name or self.replaces

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object, for another process."""
        before = self.before.to_json() if self.before else None
        return {"after": self.after.to_json(), "before": before, "replaces": self.replaces}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "SensorChange":
        before = ContactDeclaration.from_json(saved["before"]) if saved["before"] else None
        return cls(ContactDeclaration.from_json(saved["after"]), before, str(saved["replaces"]))


@dataclass(frozen=True)
class Exclusion:
    """Two bodies that are not to collide, beyond those that a scene's file excludes."""

    bodies: tuple[str, str]
    """Names of the two bodies."""

    @property
    def name(self) -> str:
        """Names of the two bodies as one text."""
        return " x ".join(self.bodies)

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object, for another process."""
        return {"exclude": list(self.bodies)}


SceneChange = SensorChange | Exclusion
"""Element that a scene has beyond its file, or that differs from it."""


def change_from_json(saved: Mapping[str, Any]) -> SceneChange:
    """Return the change that `to_json` has written."""
    if "exclude" not in saved:
        return SensorChange.from_json(saved)
    first, second = saved["exclude"]
    return Exclusion((str(first), str(second)))


@dataclass(frozen=True)
class RefusedChange:
    """A change that does not fit a scene."""

    change: SceneChange
    reason: str | None
    """Reason of the refusal; None if the file itself has the sensor by now."""

    def __str__(self) -> str:
        kind = "<exclude> of" if isinstance(self.change, Exclusion) else "sensor"
        return f"{kind} {self.change.name!r} is left out: {self.reason}"


def fit_changes(
    changes: Iterable[SensorChange],
    names: Iterable[str],
    declared: Callable[[int], ContactDeclaration | None],
    has: Callable[[str, str], bool],
    write: Callable[[SensorChange, int | None], None],
) -> list[RefusedChange]:
    """Write the changes that fit a scene, in their order; return the others.

    `names`: the viewer's names of the scene's sensors; `declared`: returns the declaration of a sensor by its number,
    None if it is not a contact sensor; `has`: returns True if a table such as `geom` has a name; `write`: applies a
    change to the sensor of a number, or to a new one.
    """
    refusals, known = [], list(names)
    for change in changes:
        place = known.index(change.replaces) if change.before is not None and change.replaces in known else None
        same = known.index(change.name) if change.name in known else None
        reason = change.after.problem or _missing(has, change.after)
        if change.before is None and same is not None:
            if not reason and declared(same) == change.after:
                refusals.append(RefusedChange(change, None))
                continue
            reason = _TAKEN
        elif change.before is not None and place is None:
            reason = reason or f"the scene has no sensor {change.replaces!r} to change"
        elif place is not None and declared(place) is None:
            reason = reason or f"{change.replaces!r} is not a contact sensor"
        elif same not in (None, place):
            reason = reason or _TAKEN
        if reason:
            refusals.append(RefusedChange(change, reason))
            continue
        write(change, place)
        if place is None:
            known.append(change.name)
        else:
            known[place] = change.name
    return refusals


def apply_changes(spec: Any, changes: Iterable[SceneChange]) -> list[RefusedChange]:
    """Apply changes to a specification, in their order; return those that do not fit it."""
    sensors, refusals = list(spec.sensors), []
    sensor_changes: list[SensorChange] = []
    for each in changes:
        if isinstance(each, SensorChange):
            sensor_changes.append(each)
        elif (refusal := _exclude(spec, each)) is not None:
            refusals.append(refusal)

    def write(change: SensorChange, place: int | None) -> None:
        if place is None:
            sensors.append(spec.add_sensor(type=mujoco.mjtSensor.mjSENS_CONTACT))
        sensor, after = sensors[-1 if place is None else place], change.after
        sensor.name = after.name
        sensor.objtype, sensor.objname = TARGET_OBJECTS[after.first.kind], after.first.name
        sensor.reftype, sensor.refname = TARGET_OBJECTS[after.second.kind], after.second.name
        sensor.intprm[:3] = sensor_numbers(after)

    return refusals + fit_changes(
        sensor_changes,
        label_sensors([sensor.name for sensor in sensors]),
        lambda place: _declaration(sensors[place]),
        lambda table, name: getattr(spec, table)(name) is not None,
        write,
    )


def _exclude(spec: Any, exclusion: Exclusion) -> RefusedChange | None:
    """Exclude collisions of a pair of bodies; return the reason if that is not possible, or not needed."""
    for name in exclusion.bodies:
        if spec.body(name) is None:
            return RefusedChange(exclusion, f"the scene has no body named {name!r}")
    if any({each.bodyname1, each.bodyname2} == {*exclusion.bodies} for each in spec.excludes):
        return RefusedChange(exclusion, None)
    spec.add_exclude(bodyname1=exclusion.bodies[0], bodyname2=exclusion.bodies[1])
    return None


def sensor_numbers(declaration: ContactDeclaration) -> tuple[int, int, int]:
    """Return the first values of `sensor_intprm`: bits of the fields, reduce mode and slots."""
    bits = sum(1 << list(Field).index(field) for field in declaration.fields)
    return bits, _REDUCE.index(declaration.reduce), declaration.num


def refuse(changes: Iterable[SceneChange], reason: str) -> tuple[RefusedChange, ...]:
    """Return all changes as refused, for one reason."""
    return tuple(RefusedChange(change, reason) for change in changes)


def read_declarations(model: MjModel) -> dict[str, ContactDeclaration]:
    """Return the declarations of a compiled model's contact sensors, by the viewer's names. Companions are left out,
    and so are sensors whose target has no name: MJCF cannot declare them."""
    written = read_names(model, "sensor")
    tables = {kind: read_names(model, table) for kind, table in TARGET_TABLES.items()}

    @cache
    def target(number: int, index: int) -> ContactTarget | None:
        kind = _KINDS[number]
        name = tables[kind][index] if kind in tables else ""
        return ContactTarget(kind, name) if name or kind is TargetKind.ANY else None

    found = {}
    names, numbers = label_sensors(written), model.sensor_intprm.tolist()
    for i in np.flatnonzero(model.sensor_type == int(mujoco.mjtSensor.mjSENS_CONTACT)).tolist():
        if names[i].startswith(COMPANION):
            continue
        first, second = (target(*side) for side in sensor_targets(model, i))
        if first is not None and second is not None:
            found[names[i]] = _declared(written[i], (first, second), numbers[i])
    return found


def target_names(model: MjModel, kind: TargetKind) -> list[str]:
    """Return the names that a sensor can have as a target, in the scene's order."""
    return [name for name in read_names(model, TARGET_TABLES[kind]) if name] if kind in TARGET_TABLES else []


def _missing(has: Callable[[str, str], bool], declaration: ContactDeclaration) -> str | None:
    """Return a reason that names the target of a declaration that the scene does not have; None if it has both
    targets."""
    for target in (declaration.first, declaration.second):
        if target.kind is not TargetKind.ANY and not has(TARGET_TABLES[target.kind], target.name):
            return f"the scene has no {TARGET_TABLES[target.kind]} named {target.name!r}"
    return None


def _declaration(sensor: Any) -> ContactDeclaration | None:
    """Return the declaration of a specification's sensor."""
    if sensor.type != mujoco.mjtSensor.mjSENS_CONTACT:
        return None
    targets = [
        ContactTarget(_KINDS[int(kind)], name if int(kind) in _KINDS and _KINDS[int(kind)] in TARGET_TABLES else "")
        for kind, name in ((sensor.objtype, sensor.objname), (sensor.reftype, sensor.refname))
    ]
    return _declared(sensor.name, targets, sensor.intprm)


def _declared(name: str, targets: Sequence[ContactTarget], numbers: Any) -> ContactDeclaration:
    bits, reduce, num = (int(number) for number in numbers[:3])
    return ContactDeclaration(name, targets[0], targets[1], _fields(bits), num, _REDUCE[reduce])


@cache
def _fields(bits: int) -> tuple[Field, ...]:
    return tuple(field for place, field in enumerate(Field) if bits >> place & 1)
