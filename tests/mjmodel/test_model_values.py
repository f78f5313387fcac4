"""The values of a model that a program may change, each of them changed."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.mjmodel.model_values import ModelValues
from contact_viewer.scene_files.scene import find_scene

ARRAYS = (
    "geom_friction", "geom_size", "geom_rgba", "body_mass", "body_inertia", "dof_damping", "jnt_range", "qpos0",
    "actuator_gainprm", "site_pos", "cam_pos", "light_pos", "mat_rgba", "pair_friction", "hfield_data", "eq_data",
)  # fmt: skip
NUMBERS = ("timestep", "impratio", "tolerance", "integrator", "cone", "iterations", "disableflags", "enableflags")


def changed(model: Any, values: ModelValues, owner: Any, name: str) -> bool:
    """True if both ways to read a model show a change, and both are as before when it is taken back."""
    before = values.memory(), values.read()
    value = getattr(owner, name)
    is_array = isinstance(value, np.ndarray)
    kept = value.copy() if is_array else value
    if is_array:
        value.reshape(-1)[-1] += 1
    else:
        setattr(owner, name, type(value)(value + 1))
    after = values.memory(), values.read()
    if is_array:
        value[:] = kept
    else:
        setattr(owner, name, kept)
    assert (values.memory(), values.read()) == before
    return all(now != then for now, then in zip(after, before, strict=True))


@pytest.mark.parametrize("scene", ["quadruped", "walker", "hand"])
def test_every_change_is_seen_in_memory_too(scene: str) -> None:
    model = mujoco.MjModel.from_xml_path(str(find_scene(scene)))
    values = ModelValues(model)
    for name in ARRAYS:
        if getattr(model, name).size:
            assert changed(model, values, model, name), name
    for name in (*NUMBERS, "gravity", "wind", "o_solref"):
        assert changed(model, values, model.opt, name), name
    for name in ("meaninertia", "meanmass", "meansize", "extent", "center"):
        assert changed(model, values, model.stat, name), name
