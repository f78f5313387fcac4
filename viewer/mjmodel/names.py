"""Names of the objects of a MuJoCo model, also where they are empty or not UTF-8."""

from collections.abc import Callable
from functools import cache

import mujoco

from ..errors import SceneError
from ..sensors.model_layouts import COMPANION as COMPANION
from ..sensors.model_layouts import WATCHER as WATCHER
from ..sensors.model_layouts import label_sensors as label_sensors
from ..sensors.model_layouts import read_names as read_names
from .types import MjModel

PAIR = " × "
"""Separator of the names of two touching objects."""
_ANYTHING = int(mujoco.mjtObj.mjOBJ_UNKNOWN)
_GEOM, _SITE = int(mujoco.mjtObj.mjOBJ_GEOM), int(mujoco.mjtObj.mjOBJ_SITE)
_BODY, _SUBTREE = int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_XBODY)


def body_names(model: MjModel) -> list[str]:
    """Return a name for every body; unnamed ones get their number."""
    return [name or f"body {i}" for i, name in enumerate(read_names(model, "body"))]


def geom_names(model: MjModel) -> list[str]:
    """Return a name for every geom; unnamed ones get their number and their body."""
    bodies, holders = body_names(model), model.geom_bodyid.tolist()
    return [name or f"geom {i} of {bodies[holders[i]]}" for i, name in enumerate(read_names(model, "geom"))]


def bodies_of(model: MjModel, geoms: tuple[str, str]) -> tuple[str, str] | None:
    """Return the names of the bodies of two geoms; None where there is no geom of such a name."""
    known = geom_names(model)
    if not all(geom in known for geom in geoms):
        return None
    first, second = (body_names(model)[model.geom_bodyid[known.index(geom)]] for geom in geoms)
    return first, second


def flex_names(model: MjModel) -> list[str]:
    """Return a name for every flex; unnamed ones get their number."""
    return [name or f"flex {i}" for i, name in enumerate(read_names(model, "flex"))]


def with_kind(kind: str, name: str) -> str:
    """Return a name with the kind of its object in front, unless it is a made-up name, which has the kind already."""
    return name if name.startswith(f"{kind} ") else f"{kind} {name}"


def sensor_names(model: MjModel) -> list[str]:
    """Return a name for every sensor; unnamed ones get their number. No two are the same."""
    return label_sensors(read_names(model, "sensor"))


def sensor_targets(model: MjModel, sensor_id: int | None) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the objects of the two sides of a contact sensor: mjtObj and number of each; without a sensor, both sides
    match anything."""
    if sensor_id is None:
        return (_ANYTHING, -1), (_ANYTHING, -1)
    first = int(model.sensor_objtype[sensor_id]), int(model.sensor_objid[sensor_id])
    second = int(model.sensor_reftype[sensor_id]), int(model.sensor_refid[sensor_id])
    return first, second


def target_label(model: MjModel, kind: int, index: int) -> str:
    """Return the description of one side of a contact sensor, such as `geom bar`."""
    return target_labeller(model)(kind, index)


def target_labeller(model: MjModel) -> Callable[[int, int], str]:
    """Return a function that computes `target_label` for one model, and reads the model's names only once."""

    @cache
    def labels(kind: int) -> list[str]:
        if kind == _GEOM:
            return [with_kind("geom", name) for name in geom_names(model)]
        if kind in (_BODY, _SUBTREE):
            word = "body" if kind == _BODY else "subtree"
            return [with_kind(word, name) for name in body_names(model)]
        return [f"site {name or i}" for i, name in enumerate(read_names(model, "site"))]

    def label(kind: int, index: int) -> str:
        return labels(int(kind))[index] if kind in (_GEOM, _BODY, _SUBTREE, _SITE) else "any"

    return label


def key_names(model: MjModel) -> tuple[str, ...]:
    """Return a name for every keyframe; unnamed ones get their number."""
    return tuple(name or f"key {i}" for i, name in enumerate(read_names(model, "key")))


def find_key(model: MjModel, key: str | int) -> int:
    """Return the number of the keyframe with this name or number. Raises SceneError if there is none."""
    keys = key_names(model)
    if key in keys:
        return keys.index(str(key))
    try:
        index = int(key)
    except ValueError:
        index = -1
    if not 0 <= index < len(keys):
        known = ", ".join(f"{name} ({i})" for i, name in enumerate(keys)) or "none"
        raise SceneError(f"no keyframe {key!r}; the scene has: {known}")
    return index


_NAMES = {int(shape): name.removeprefix("mjGEOM_").lower() for name, shape in mujoco.mjtGeom.__members__.items()}


def shape_name(number: int) -> str:
    """Return the shape of a geom or site, such as `capsule`, from `geom_type` or `site_type`; empty for an unknown
    number."""
    return _NAMES.get(int(number), "")
