"""Applies contact sensors made or changed in the viewer to a scene's specification, before it is compiled."""

from collections.abc import Iterable, Mapping, Sequence
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
_KINDS = {int(number): kind for kind, number in TARGET_OBJECTS.items()}
TARGET_TABLES = {
    TargetKind.GEOM: "geom",
    TargetKind.BODY: "body",
    TargetKind.SUBTREE: "body",
    TargetKind.SITE: "site",
}


@dataclass(frozen=True)
class SensorChange:
    """One contact sensor that a scene has beyond its file, or otherwise than its file."""

    after: ContactDeclaration
    before: ContactDeclaration | None = None
    """The declaration that it replaces; None for an additional sensor."""
    replaces: str = ""
    """What the viewer calls the sensor that it replaces: its name, or one made up for it."""

    @property
    def name(self) -> str:
        """What the viewer calls the sensor afterwards."""
        return self.after.name or self.replaces

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        before = self.before.to_json() if self.before else None
        return {"after": self.after.to_json(), "before": before, "replaces": self.replaces}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "SensorChange":
        before = ContactDeclaration.from_json(saved["before"]) if saved["before"] else None
        return cls(ContactDeclaration.from_json(saved["after"]), before, str(saved["replaces"]))


@dataclass(frozen=True)
class RefusedChange:
    """A change that does not fit a scene."""

    change: SensorChange
    reason: str | None
    """None if there is nothing left to do: the file itself has the sensor by now."""

    def __str__(self) -> str:
        return f"sensor {self.change.name!r} is left out: {self.reason}"


def apply_changes(spec: Any, changes: Iterable[SensorChange]) -> list[RefusedChange]:
    """Apply changes to a specification, in their order; returns those that do not fit it."""
    refusals = []
    for change in changes:
        reason = change.after.problem or _missing(spec, change.after)
        if change.before is not None:
            refusal = reason or _replace(spec, change)
            if refusal:
                refusals.append(RefusedChange(change, refusal))
            continue
        same = spec.sensor(change.name)
        if same is not None:
            has_it = not reason and _declaration(same) == change.after
            refusals.append(RefusedChange(change, None if has_it else "the scene has a sensor of that name"))
        elif reason:
            refusals.append(RefusedChange(change, reason))
        else:
            _write(spec.add_sensor(type=mujoco.mjtSensor.mjSENS_CONTACT), change.after)
    return refusals


def refuse(changes: Iterable[SensorChange], reason: str) -> tuple[RefusedChange, ...]:
    """All changes, refused for one reason."""
    return tuple(RefusedChange(change, reason) for change in changes)


def read_declarations(model: MjModel) -> dict[str, ContactDeclaration]:
    """How a compiled model's contact sensors are declared, by the names that the viewer has for them.

    Without companions, and without those whose target has no name: MJCF cannot declare them.
    """
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
    """Names that a sensor can have as a target, in the scene's order."""
    return [name for name in read_names(model, TARGET_TABLES[kind]) if name] if kind in TARGET_TABLES else []


def _missing(spec: Any, declaration: ContactDeclaration) -> str | None:
    """The target that a declaration names and the scene does not have, as a reason; None if it has all."""
    for target in (declaration.first, declaration.second):
        if target.kind is not TargetKind.ANY and getattr(spec, TARGET_TABLES[target.kind])(target.name) is None:
            return f"the scene has no {TARGET_TABLES[target.kind]} named {target.name!r}"
    return None


def _replace(spec: Any, change: SensorChange) -> str | None:
    """Write a change over the sensor that it replaces; returns why not, None if done."""
    sensors = list(spec.sensors)
    names = label_sensors([sensor.name for sensor in sensors])
    if change.replaces not in names:
        return f"the scene has no sensor {change.replaces!r} to change"
    place = names.index(change.replaces)
    sensor = sensors[place]
    if sensor.type != mujoco.mjtSensor.mjSENS_CONTACT:
        return f"{change.replaces!r} is not a contact sensor"
    if change.name in names[:place] + names[place + 1 :]:
        return "the scene has a sensor of that name"
    _write(sensor, change.after)
    return None


def _write(sensor: Any, declaration: ContactDeclaration) -> None:
    sensor.name = declaration.name
    sensor.objtype, sensor.objname = TARGET_OBJECTS[declaration.first.kind], declaration.first.name
    sensor.reftype, sensor.refname = TARGET_OBJECTS[declaration.second.kind], declaration.second.name
    bits = sum(1 << list(Field).index(field) for field in declaration.fields)
    sensor.intprm[:3] = bits, list(Reduce).index(declaration.reduce), declaration.num


def _declaration(sensor: Any) -> ContactDeclaration | None:
    """How a specification's sensor is declared."""
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
