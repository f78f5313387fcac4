"""The contact sensors that a compiled MuJoCo model declares."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ...sensors.layout import ContactLayout
from .names import read_names, sensor_names, target_label


@dataclass(frozen=True)
class Declaration:
    """One contact sensor of a scene."""

    sensor_id: int
    name: str
    """Its name, or one made up for it."""
    unnamed: bool
    label: str
    """What it matches, such as `geom bar x geom freebox`."""
    layout: ContactLayout
    num: int
    """Slots it asks for."""


def declared_sensors(model: Any, hidden: Collection[int] = ()) -> list[Declaration]:
    """Contact sensors in the scene's order, without those whose ids are hidden."""
    names, written, hidden = sensor_names(model), read_names(model, "sensor"), set(hidden)
    declarations = []
    for i in map(int, np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT)):
        if i in hidden:
            continue
        label = " x ".join(
            (
                target_label(model, model.sensor_objtype[i], model.sensor_objid[i]),
                target_label(model, model.sensor_reftype[i], model.sensor_refid[i]),
            )
        )
        declarations.append(
            Declaration(
                sensor_id=i,
                name=names[i],
                unnamed=not written[i],
                label=label,
                layout=ContactLayout.from_mujoco(model, i),
                num=int(model.sensor_intprm[i, 2]),
            )
        )
    return declarations


def is_delayed(model: Any, sensor_id: int) -> bool:
    """Whether a sensor's array can be older than the contact list."""
    # MuJoCo before 3.5 has no sensors with a history.
    return hasattr(model, "sensor_history") and bool(model.sensor_history[sensor_id].any())
