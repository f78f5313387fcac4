"""Turns a compiled MuJoCo model into the contact sensors that it declares."""

from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np

from ..sensors.contact_declaration import TargetKind
from ..sensors.layout import ContactLayout
from .names import read_names, sensor_names, sensor_targets, target_labeller
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
    names, written, hidden = sensor_names(model), read_names(model, "sensor"), set(hidden)
    label, declarations = target_labeller(model), []
    # Sensors of one kind share their layout, which takes long to make.
    layouts: dict[tuple[int, ...], ContactLayout] = {}
    kinds = np.column_stack([model.sensor_intprm[:, :3], model.sensor_dim]).tolist()
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
                label=" x ".join(label(*target) for target in sensor_targets(model, i)),
                layout=layouts[kind],
                num=kind[2],
            )
        )
    return declarations


def is_delayed(model: MjModel, sensor_id: int) -> bool:
    """True if a sensor's array can be older than the contact list."""
    # MuJoCo before 3.5 has no sensors with a history.
    return hasattr(model, "sensor_history") and bool(model.sensor_history[sensor_id].any())
