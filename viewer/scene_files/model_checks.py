"""Turns a compiled model into one that can be stepped and drawn, or into the reason why not."""

from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np

from ..errors import SceneError
from ..mjmodel.names import read_names
from ..mjmodel.types import MjModel

TIMESTEP_MIN = 1e-10
"""Shorter steps would not move a clock of double precision [s]."""
CONTACTS_MAX = 200_000
"""Contacts that all sensors together may report. Real scenes have up to 3500."""
_SOLVER_MAX = 1000
"""Most solver iterations: with a tolerance of 0 the solver does all of them in every step; 100 is usual."""
_ITERATIONS = ("iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations", "sdf_initpoints")
_QUALITY_MAX = {"numslices": 256, "numstacks": 256, "numquads": 256, "shadowsize": 16384, "offsamples": 64}
"""Largest values of the rendering quality: above them a frame takes minutes, or does not fit on a graphics card."""
_MAY_BE_INFINITE = ("range", "cutoff", "user")
_MAY_BE_NAN = "mesh_polynormal"
"""Array in which MuJoCo 3.5 leaves NaN for triangles without area, which many robots have in meshes that are only
drawn."""
_DERIVED = ("0", "aabb", "rbound", "subtreemass", "body_mass", "body_inertia", "body_ipos", "body_iquat", "body_margin")
"""Endings of names of arrays that the compiler computes from others; a mistake in them was made in those others."""


def check_model(model: MjModel, hidden: Collection[int] = ()) -> tuple[str, ...]:
    """Lower settings that are too high; return notes on them. Raises SceneError for a model that cannot be simulated.

    `hidden`: ids of sensors that the viewer has added.
    """
    timestep = float(model.opt.timestep)
    if not TIMESTEP_MIN <= timestep < np.inf:
        raise SceneError(f"timestep is {timestep:g} s: time would not advance")
    declared = model.sensor_type == int(mujoco.mjtSensor.mjSENS_CONTACT)
    declared[list(hidden)] = False
    contacts = int(model.sensor_intprm[declared, 2].sum(dtype=np.int64))
    if contacts > CONTACTS_MAX:
        raise SceneError(f"the contact sensors' num is {contacts:,} in all; at most {CONTACTS_MAX:,} can be shown")
    _check_finite(model)
    return lower_settings(model.opt, model.vis)


def lower_settings(option: Any, visual: Any) -> tuple[str, ...]:
    """Lower iterations and rendering quality of a model or a specification that would hang it; return notes on them."""
    notes = [_lowered(option, name, _SOLVER_MAX) for name in _ITERATIONS]
    notes += [_lowered(visual.quality, name, limit) for name, limit in _QUALITY_MAX.items()]
    return tuple(note for note in notes if note)


def _lowered(settings: Any, name: str, limit: int) -> str:
    value = getattr(settings, name, 0)
    if value <= limit:
        return ""
    setattr(settings, name, limit)
    return f"{name} lowered from {value:,} to {limit:,}"


def _check_finite(model: MjModel) -> None:
    broken = {}
    for name, array in _numbers(model):
        if name == _MAY_BE_NAN or np.isfinite(array).all():
            continue
        allowed = np.isinf if name.endswith(_MAY_BE_INFINITE) else np.zeros_like
        rows = np.flatnonzero(~(np.isfinite(array) | allowed(array).astype(bool)).reshape(len(array), -1).all(axis=1))
        if rows.size:
            broken[name] = int(rows[0])
    if broken:
        name = min(broken, key=lambda name: (name != "qpos0" and name.endswith(_DERIVED), name))
        raise SceneError(f"{name}{_owner(model, name, broken[name])} is not a finite number")
    for settings, label in ((model.opt, "option"), (model.stat, "statistic")):
        for name, value in _numbers(settings):
            if not np.isfinite(value).all():
                raise SceneError(f"{name} of {label} is not a finite number")


def _numbers(holder: Any) -> list[tuple[str, Any]]:
    """Return names and values of all attributes that are arrays of floats, or floats."""
    found = []
    for name in dir(holder):
        if not name.startswith("_"):
            value = getattr(holder, name)
            if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
                found.append((name, value))
    return found


def _owner(model: MjModel, array: str, row: int) -> str:
    """Return the object that a row of an array belongs to, if it is known."""
    kind = array.partition("_")[0]
    if not hasattr(model, f"name_{kind}adr"):
        return ""
    names = read_names(model, kind)
    if len(names) != len(getattr(model, array)):
        # Of vertices, pixels and the like, many belong to one object.
        return ""
    words = {"jnt": "joint", "cam": "camera", "mat": "material", "tex": "texture", "eq": "equality"}
    return f" of {words.get(kind, kind)} {names[row] or row}"
