"""Computes how fast friction that holds creeps, from the numbers of the solver."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import mujoco
import numpy as np
from numpy.typing import NDArray

from .matching import contact_forces, relative_velocities
from .pair_motion import pair_key
from .types import MjData, MjModel

WANTED = 1e-5
"""Speed that a cure is computed for [m/s]: a millimetre in 100 s."""
_SURE = 0.2
"""Largest relative difference between the speed that the formula gives and the measured one at which it is believed."""
_LEAST = float(mujoco.mjMINIMP)
_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)


@dataclass(frozen=True)
class CreepFormula:
    """How fast the contacts of a pair creep at an instant: the mean, weighted by load."""

    predicted: float
    """Speed by the solver's numbers [m/s]: f_t R / B, of what friction holds in a steady state."""
    measured: float
    """Tangential speed of the bodies [m/s]."""
    use: float
    """Friction use."""
    elliptic: float
    """Speed that the formula gives with elliptic cones and `impratio` 1 [m/s], at the depth of that."""

    @property
    def holds(self) -> bool:
        """True if the formula explains the speed."""
        return abs(self.predicted - self.measured) <= _SURE * max(self.predicted, self.measured)


def creep_formula(model: MjModel, data: MjData, key: int) -> CreepFormula | None:
    """Return how fast a pair creeps by the formula, and by its bodies' velocities, in a state that was just solved.

    Inside the cone and in a steady state the reference acceleration of a friction constraint is its damping alone:
    f_t = B v / R, with `efc_KBIP[:, 1]` and `efc_R`; an edge of a pyramid bears both signs of it.

    Args:
        model: The scene.
        data: A state with its contacts and constraint forces.
        key: The pair: see `pair_key`.

    Returns:
        None where the pair does not press, has no friction, or the formula does not apply: with `noslip_iterations`
        forces are changed after the solver.
    """
    listed = data.contact
    if not data.ncon or model.opt.noslip_iterations > 0:
        return None
    contacts = np.flatnonzero((pair_key(model, listed.geom) == key) & (listed.efc_address >= 0) & (listed.dim >= 3))
    if not len(contacts):
        return None
    forces = contact_forces(model, data, contacts)
    load, along = forces[:, 0], np.hypot(forces[:, 1], forces[:, 2])
    address, friction = listed.efc_address[contacts], listed.friction[contacts, 0]
    total = float(load.sum())
    if not total > 0:
        return None
    damping, impedance = data.efc_KBIP[address, 1], data.efc_KBIP[address, 2]
    softness = (1 - impedance) / impedance
    if model.opt.cone == _PYRAMIDAL:
        # R of an edge is 2 mu^2 / impratio that of the normal, with 1 + mu^2 of its weight.
        rates = data.efc_R[address] / (2 * friction**2 * damping)
        weight = rates * damping * model.opt.impratio / (softness * (1 + friction**2))
        use = (np.abs(forces[:, 1:3]) / friction[:, np.newaxis]).sum(axis=1)
    else:
        damping = data.efc_KBIP[address + 1, 1]
        rates, weight = data.efc_R[address + 1] / damping, data.efc_R[address] / softness
        use = along / friction
    alone = np.array(
        [
            _settled_softness(*each)
            for each in zip(load, weight, data.efc_KBIP[address, 0], listed.solimp[contacts], strict=True)
        ]
    )
    elliptic = along * weight * alone / damping
    linear, _ = relative_velocities(model, data, contacts)
    normal = listed.frame[contacts, :3]
    linear = linear - (linear * normal).sum(axis=1, keepdims=True) * normal
    speed = np.sqrt((linear**2).sum(axis=1))
    return CreepFormula(
        float(along * rates @ load / total),
        float(speed @ load / total),
        float(use.sum() / total),
        float(elliptic @ load / total),
    )


def solved_state(data: MjData) -> MjData:
    """Return a copy of what `creep_formula` reads of a state, cheap enough to be kept for an event."""
    fields = ("geom", "efc_address", "dim", "friction", "solimp", "frame", "pos")
    listed = {name: getattr(data.contact, name).copy() for name in fields}
    if hasattr(data.contact, "adhesion"):
        listed["adhesion"] = data.contact.adhesion.copy()
    arrays = {name: getattr(data, name).copy() for name in ("efc_force", "efc_R", "efc_KBIP", "cvel", "subtree_com")}
    return cast(MjData, SimpleNamespace(contact=SimpleNamespace(**listed), ncon=data.ncon, **arrays))


def _settled_softness(load: float, weight: float, stiffness: float, solimp: NDArray[np.float64]) -> float:
    """Return (1 - d) / d of an elliptic contact that bears a load [N] at rest: K d r = weight f (1 - d) / d.

    `weight` of the normal's constraint [1/kg]; `stiffness`, K of `efc_KBIP` [1/s^2].
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        depth = (low + high) / 2
        d = _impedance(depth, solimp)
        if stiffness * d * depth < weight * (1 - d) / d * load:
            low = depth
        else:
            high = depth
    d = _impedance(low, solimp)
    return (1 - d) / d


def _impedance(depth: float, solimp: NDArray[np.float64]) -> float:
    """Impedance at a depth [m], as MuJoCo computes it of `solimp`."""
    least, most = (min(max(float(value), _LEAST), 1 - _LEAST) for value in solimp[:2])
    width, midpoint, power = max(float(solimp[2]), 1e-15), float(solimp[3]), max(float(solimp[4]), 1.0)
    midpoint = min(max(midpoint, _LEAST), 1 - _LEAST)
    x = min(depth / width, 1.0)
    if power > 1:
        x = (
            x**power / midpoint ** (power - 1)
            if x <= midpoint
            else 1 - (1 - x) ** power / (1 - midpoint) ** (power - 1)
        )
    return least + x * (most - least)


def needed_impratio(formula: CreepFormula, wanted: float = WANTED) -> float:
    """Return the `impratio` with which, and elliptic cones, a pair creeps with a wanted speed [m/s]."""
    return formula.elliptic / wanted
