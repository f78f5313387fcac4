"""Contact sensors that a compiled MuJoCo model declares; sensors that report one field each are joined."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from ..sensors.contact_declaration import TargetKind
from ..sensors.layout import ContactLayout, SpreadLayout, spread
from .names import PAIR, WATCHER, label_sensors, read_names, sensor_targets, target_labeller
from .types import MjModel

TARGET_OBJECTS = {
    TargetKind.ANY: mujoco.mjtObj.mjOBJ_UNKNOWN,
    TargetKind.GEOM: mujoco.mjtObj.mjOBJ_GEOM,
    TargetKind.BODY: mujoco.mjtObj.mjOBJ_BODY,
    TargetKind.SUBTREE: mujoco.mjtObj.mjOBJ_XBODY,
    TargetKind.SITE: mujoco.mjtObj.mjOBJ_SITE,
}
"""MuJoCo's number of each kind of target of a contact sensor."""
# A number: numpy compares with a member of an enumeration one by one.
_CONTACT = int(mujoco.mjtSensor.mjSENS_CONTACT)


class Declaration(NamedTuple):
    """Contact sensor that a scene declares."""

    sensor_id: int
    name: str
    """Name of the sensor; a made-up name for an unnamed sensor."""
    unnamed: bool
    """True if the name is made up."""
    label: str
    """Description of the objects that the sensor matches, such as `geom bar × geom freebox`."""
    layout: ContactLayout
    num: int
    """Number of slots that the sensor requests."""


def declared_sensors(model: MjModel, hidden: Collection[int] = ()) -> list[Declaration]:
    """Return the contact sensors in the scene's order, without those whose ids are hidden, and without the viewer's own
    sensor of all contacts."""
    written = read_names(model, "sensor")
    names, label, declarations = label_sensors(written), target_labeller(model), []
    is_shown = model.sensor_type == _CONTACT
    is_shown[list(hidden)] = False
    if WATCHER in written:
        is_shown[written.index(WATCHER)] = False
    for i in np.flatnonzero(is_shown).tolist():
        what = PAIR.join(label(*target) for target in sensor_targets(model, i))
        layout, num = ContactLayout.from_mujoco(model, i), int(model.sensor_intprm[i, 2])
        declarations.append(Declaration(i, names[i], not written[i], what, layout, num))
    return declarations


def delayed_sensors(model: MjModel) -> frozenset[int]:
    """Return the ids of the sensors whose arrays can be older than the contact list."""
    return frozenset(np.flatnonzero(model.sensor_history.any(axis=1)).tolist())


@dataclass(frozen=True)
class JoinedSensor:
    """Sensors with the same targets, reduce mode and slots that differ in nothing but their field, as mjlab's do."""

    name: str
    layout: ContactLayout
    """Layout of all fields, slot by slot."""
    ids: tuple[int, ...]
    """Ids of the sensors, in the scene's order."""
    sources: tuple[str, ...]
    """Name of the sensor that each value of `layout` comes from."""
    place: tuple[slice, SpreadLayout]
    """Columns of the values in `sensordata`."""


def join_declarations(model: MjModel, declarations: Sequence[Declaration]) -> dict[int, JoinedSensor]:
    """Return the joined sensors, each by the ids of all sensors that it joins; empty if there are none."""
    single = [each for each in declarations if len(each.layout.fields) == 1]
    if sum(each.name.endswith(f"_{each.layout.fields[0]}") for each in single) < 2:
        return {}
    known = {int(model.sensor_adr[each.sensor_id]): each for each in single}
    families: dict[int, JoinedSensor] = {}
    for sensor in ContactLayout.for_model(model).sensors.values():
        members = [known.get(columns.start) for columns, _ in sensor.parts]
        present = [each for each in members if each is not None]
        if len(sensor.parts) < 2 or len(present) < len(members):
            # Alone, or with one that is hidden.
            continue
        names = {each.layout.fields[0]: each.name for each in present}
        layout: ContactLayout = sensor.layout
        sources = tuple(names[column.field] for column in layout.described_columns)
        ids = tuple(sorted(each.sensor_id for each in present))
        joined = JoinedSensor(sensor.name, layout, ids, sources, spread(sensor))
        families.update(dict.fromkeys(ids, joined))
    return families
