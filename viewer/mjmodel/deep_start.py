"""Finds out whether a scene starts with bodies pushed deep into each other, and which keyframes do not."""

from typing import NamedTuple

import mujoco
import numpy as np

from .matching import contact_forces
from .names import key_names
from .types import MjData, MjModel

_DEEP = 1e-3
"""Depth of overlapping bodies from which a start is reported [m]."""
_PRESSED = 5.0
"""Force that presses bodies apart, relative to the weight of all that moves, from which a start counts as deep."""


class DeepStart(NamedTuple):
    """Contacts of a state in which bodies are pushed into each other."""

    depth: float
    """Depth of the deepest contact [m]."""
    force: float
    """Sum of the normal forces [N]."""
    keys: tuple[str, ...]
    """Names of the keyframes that do not start in deep contact."""

    @property
    def text(self) -> str:
        """Description of the start, as a sentence without its full stop."""
        force = f"{self.force / 1000:,.0f} kN" if self.force > 1000 else f"{self.force:.0f} N"
        return f"Starts in deep contact: {1000 * self.depth:.0f} mm, {force}"


def find_deep_start(model: MjModel, data: MjData) -> DeepStart | None:
    """Return the deep contacts of a state; None if no bodies overlap, or no more than at rest."""
    found = _depth(model, data)
    if found is None:
        return None
    keys, trial = [], mujoco.MjData(model)
    for number, name in enumerate(key_names(model)):
        # Tried before it is offered.
        mujoco.mj_resetDataKeyframe(model, trial, number)
        mujoco.mj_forward(model, trial)
        if _depth(model, trial) is None:
            keys.append(name)
    return DeepStart(*found, tuple(keys))


def _depth(model: MjModel, data: MjData) -> tuple[float, float] | None:
    if not data.ncon:
        return None
    depth = -float(data.contact.dist.min())
    force = float(contact_forces(model, data, np.arange(data.ncon))[:, 0].sum())
    weight = float(model.body_mass[model.body_treeid >= 0].sum() * np.linalg.norm(model.opt.gravity))
    return (depth, force) if depth > _DEEP and force > _PRESSED * weight > 0.0 else None
