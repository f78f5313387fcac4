"""Turns a compiled MuJoCo model into the contact sensors that it declares."""

from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np

from ..sensors.contact_declaration import TargetKind
from ..sensors.layout import ContactLayout
from .names import label_sensors, read_names, target_labeller
from .types import MjModel

TARGET_OBJECTS = {
    TargetKind.ANY: mujoco.mjtObj.mjOBJ_UNKNOWN,
    TargetKind.GEOM: mujoco.mjtObj.mjOBJ_GEOM,
    TargetKind.BODY: mujoco.mjtObj.mjOBJ_BODY,
    TargetKind.SUBTREE: mujoco.mjtObj.mjOBJ_XBODY,
    TargetKind.SITE: mujoco.mjtObj.mjOBJ_SITE,
}
"""MuJoCo's number of each kind of target of a contact sensor."""


@dataclass(frozen=True)
class Declaration:
    """One contact sensor of a scene."""

    sensor_id: int
    name: str
    """Its name, or one made up for it."""
    unnamed: bool
    """True if the name is made up."""
    label: str
    """What it matches, such as `geom bar x geom freebox`."""
    layout: ContactLayout
    num: int
    """Slots it asks for."""


def declared_sensors(model: MjModel, hidden: Collection[int] = ()) -> list[Declaration]:
    """Contact sensors in the scene's order, without those whose ids are hidden."""
    written, hidden = read_names(model, "sensor"), set(hidden)
    names, label, declarations = label_sensors(written), target_labeller(model), []
    # Sensors of one kind share their layout, which takes long to make.
    layouts: dict[tuple[int, ...], ContactLayout] = {}
    kinds = np.column_stack([model.sensor_intprm[:, :3], model.sensor_dim]).tolist()
    first, second = (
        list(zip(types.tolist(), numbers.tolist(), strict=True))
        for types, numbers in ((model.sensor_objtype, model.sensor_objid), (model.sensor_reftype, model.sensor_refid))
    )
    for i in map(int, np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT)):
        if i in hidden:
            continue
        kind = tuple(kinds[i])
        if kind not in layouts:
            layouts[kind] = ContactLayout.from_mujoco(model, i)
        declarations.append(
            Declaration(
                sensor_id=i,
                name=names[i],
                unnamed=not written[i],
                label=f"{label(*first[i])} x {label(*second[i])}",
                layout=layouts[kind],
                num=kind[2],
            )
        )
    return declarations


def delayed_sensors(model: MjModel) -> frozenset[int]:
    """Sensors whose arrays can be older than the contact list."""
    # MuJoCo before 3.5 has no sensors with a history.
    history = getattr(model, "sensor_history", np.zeros((model.nsensor, 1)))
    return frozenset(np.flatnonzero(history.any(axis=1)).tolist())
