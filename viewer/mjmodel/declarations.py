"""Turns a compiled MuJoCo model into the contact sensors that it declares, and joins those that belong together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contact_declaration import TargetKind
from ..sensors.layout import ContactLayout, SpreadLayout, spread
from .names import PAIR, WATCHER, label_sensors, read_names, target_labeller
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
    """One contact sensor of a scene."""

    sensor_id: int
    name: str
    """Its name, or one made up for it."""
    unnamed: bool
    """True if the name is made up."""
    label: str
    """What it matches, such as `geom bar × geom freebox`."""
    layout: ContactLayout
    num: int
    """Slots it asks for."""


def declared_sensors(model: MjModel, hidden: Collection[int] = ()) -> list[Declaration]:
    """Contact sensors in the scene's order, without those whose ids are hidden, and without the one of the viewer that
    watches all contacts."""
    written = read_names(model, "sensor")
    names, label, declarations = label_sensors(written), target_labeller(model), []
    # Sensors of one kind share their layout, which takes long to make, and those of the same targets their label.
    layouts: dict[bytes, ContactLayout] = {}
    labels: dict[bytes, str] = {}
    is_shown = model.sensor_type == _CONTACT
    is_shown[list(hidden)] = False
    if WATCHER in written:
        is_shown[written.index(WATCHER)] = False
    shown = np.flatnonzero(is_shown)
    kinds = np.column_stack([model.sensor_intprm[:, :3], model.sensor_dim])[shown]
    sides = (model.sensor_objtype, model.sensor_objid, model.sensor_reftype, model.sensor_refid)
    targets = np.column_stack(sides)[shown]
    for i, num, kind, target in zip(
        shown.tolist(), kinds[:, 2].tolist(), row_keys(kinds), row_keys(targets), strict=True
    ):
        if kind not in layouts:
            layouts[kind] = ContactLayout.from_mujoco(model, i)
        if target not in labels:
            first_kind, first, second_kind, second = memoryview(target).cast("i")
            labels[target] = PAIR.join((label(first_kind, first), label(second_kind, second)))
        declarations.append(Declaration(i, names[i], not written[i], labels[target], layouts[kind], num))
    return declarations


def row_keys(table: NDArray[np.int32]) -> list[bytes]:
    """A key for each row, the same for the same rows; faster made and kept than a tuple."""
    keys: list[bytes] = table.view(f"V{table.shape[1] * table.itemsize}").ravel().tolist()
    return keys


def delayed_sensors(model: MjModel) -> frozenset[int]:
    """Sensors whose arrays can be older than the contact list."""
    # MuJoCo before 3.5 has no sensors with a history.
    history = getattr(model, "sensor_history", np.zeros((model.nsensor, 1)))
    return frozenset(np.flatnonzero(history.any(axis=1)).tolist())


def is_delayed(model: MjModel, sensor_id: int) -> bool:
    """True if a sensor is one of `delayed_sensors`, without a look at the others."""
    return hasattr(model, "sensor_history") and bool(model.sensor_history[sensor_id].any())


@dataclass(frozen=True)
class JoinedSensor:
    """Sensors with the same targets, reduce mode and slots that differ in nothing but their field, as mjlab's do."""

    name: str
    layout: ContactLayout
    """Of all fields, slot by slot."""
    ids: tuple[int, ...]
    """The sensors, in the scene's order."""
    sources: tuple[str, ...]
    """Name of the sensor that each value of `layout` comes from."""
    place: tuple[slice, SpreadLayout]
    """Where their values are in `sensordata`."""


def join_declarations(model: MjModel, declarations: Sequence[Declaration]) -> dict[int, JoinedSensor]:
    """Sensors that belong together, by the ids of all of them; empty where none do."""
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
