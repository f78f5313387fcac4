"""Compiles the scene of a program's model once more, with companions, and sees that it is the same model."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ..errors import SceneError
from ..mjmodel.model_values import ModelValues
from ..mjmodel.names import read_names
from ..mjmodel.types import MjModel
from ..scene_files.scene import compile_spec, find_scene, load_scene, one_line

_NAMED = ("body", "jnt", "geom", "site", "actuator", "tendon")
_COUNTS = (
    "nq",
    "nv",
    "nu",
    "na",
    "nbody",
    "njnt",
    "ngeom",
    "nsite",
    "nmesh",
    "ntendon",
    "nwrap",
    "neq",
    "npair",
    "nflex",
)
_FIXED = ("mesh_", "hfield_", "flex_", "bvh_", "oct_", "wrap_", "exclude_", "plugin_")
"""Arrays that decide physics and may be too large to hand over with every change: they have to be the same."""
_SENSOR = ("sensor_type", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid", "sensor_intprm")
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def own_model(model: MjModel, scene: Any) -> tuple[MjModel, Path | None]:
    """A model like that of a program, with companions, and the file it comes from; SceneError if it is another one.

    `scene`: a file, the name of a bundled scene, or an MjSpec, which is left as it is. What the program has changed in
    its model since it was compiled is taken over.
    """
    path, name = None, "the specification"
    if isinstance(scene, mujoco.MjSpec):
        try:
            loaded = compile_spec(scene.copy(), None)
        except Exception as error:
            raise SceneError(f"{name} does not compile: {one_line(error)}") from None
    else:
        path = find_scene(scene)
        name, loaded = str(path), load_scene(path)
    own = loaded.model
    if (what := _difference(model, own)) is not None:
        raise SceneError(f"{name} is not the scene of this model: {what}")
    theirs, ours = ModelValues(model), ModelValues(own)
    for place, content in enumerate(theirs.split(theirs.read())):
        ours.write(place, content)
    if mujoco.mj_stateSize(own, _STATE) != mujoco.mj_stateSize(model, _STATE):
        # Companions of sensors with a delay have a past of their own, which no state of the program holds.
        return model, path
    return own, path


def _difference(model: MjModel, own: MjModel) -> str | None:
    """What tells two models apart, besides values that a program may change and companions; None if nothing does."""
    for name in _COUNTS:
        if getattr(model, name) != getattr(own, name):
            return f"{name} is {getattr(own, name)} there, {getattr(model, name)} in the model"
    for table in _NAMED:
        for there, here in zip(read_names(own, table), read_names(model, table), strict=True):
            if there != here:
                return f"it has a {table} named {there!r} where the model has {here!r}"
    for name in (name for name in dir(model) if name.startswith(_FIXED)):
        there, here = getattr(own, name), getattr(model, name)
        # Where files are has no effect.
        if isinstance(here, np.ndarray) and not name.endswith("pathadr") and not np.array_equal(there, here):
            return f"{name} differs"
    for name in _SENSOR:
        if not np.array_equal(getattr(own, name)[: model.nsensor], getattr(model, name)):
            return f"{name} differs"
    return None
