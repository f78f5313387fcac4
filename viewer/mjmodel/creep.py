"""Compute the speed of creep of contacts that friction holds, from the numbers of the solver."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from .matching import contact_forces, relative_velocities
from .pair_motion import pair_key
from .types import MjData, MjModel

WANTED = 1e-5
"""Creep speed that a fix is computed to reach [m/s]: a millimetre in 100 s."""
_SURE = 0.2
"""Largest relative difference between the predicted and the measured speed at which the formula counts as valid."""
_EVEN = 1.15
"""Value of `CreepFormula.uneven` from which on a held body turns while it creeps."""
_LEAST = float(mujoco.mjMINIMP)
_PYRAMIDAL, _ELLIPTIC = int(mujoco.mjtCone.mjCONE_PYRAMIDAL), int(mujoco.mjtCone.mjCONE_ELLIPTIC)


@dataclass(frozen=True)
class CreepFormula:
    """Creep speed of the contacts of a pair at an instant: the mean, weighted by load."""

    predicted: float
    """Speed from the solver's numbers [m/s]: f_t R / B of the contacts that friction holds in a steady state."""
    measured: float
    """Tangential speed of the bodies [m/s]."""
    use: float
    """Friction use."""
    elliptic: float
    """Predicted speed of the body that is held, with elliptic cones and `impratio` 1, from its contacts' loads at rest
    [m/s]."""
    uneven: float
    """Ratio of the hardest to the softest damping of the creep, over the geom pairs that hold the body; 1 if each has a
    single point, about which it can turn freely."""
    body: float
    """Measured speed of the body that is held, the mean over its contacts [m/s]."""
    present: float
    """`impratio` with which elliptic cones have the same damping as the present cones of the pair."""

    @property
    def is_even(self) -> bool:
        """True if the proposed `impratio` is sufficient; else the body tilts slowly, and a larger one is needed."""
        return self.uneven < _EVEN

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
    able = (listed.efc_address >= 0) & (listed.dim >= 3) & (listed.geom >= 0).all(axis=1)
    pair = np.flatnonzero(able & (pair_key(model, listed.geom) == key))
    if not len(pair):
        return None
    forces = contact_forces(model, data, pair)
    load, along, friction = forces[:, 0], np.hypot(forces[:, 1], forces[:, 2]), listed.friction[pair, 0]
    total = float(load.sum())
    if not total > 0:
        return None
    address = listed.efc_address[pair]
    if model.opt.cone == _PYRAMIDAL:
        # R of an edge is 2 mu^2 / impratio that of the normal.
        rates = data.efc_R[address] / (2 * friction**2 * data.efc_KBIP[address, 1])
        use = (np.abs(forces[:, 1:3]) / friction[:, np.newaxis]).sum(axis=1)
    else:
        rates = data.efc_R[address + 1] / data.efc_KBIP[address + 1, 1]
        use = along / friction
    linear, _ = relative_velocities(model, data, pair)
    normal = listed.frame[pair, :3]
    linear = linear - (linear * normal).sum(axis=1, keepdims=True) * normal
    speed = np.sqrt((linear**2).sum(axis=1))
    softer = 1 + float(friction.min()) ** 2 if model.opt.cone == _PYRAMIDAL else 1.0
    return CreepFormula(
        float(along * rates @ load / total),
        float(speed @ load / total),
        float(use.sum() / total),
        *_elliptic_speed(model, data, pair, np.flatnonzero(able)),
        present=float(model.opt.impratio) / softer,
    )


def _held_body(model: MjModel, geoms: NDArray[np.int32], contact: int) -> int:
    """Return the body that is held at a contact: the one of its two bodies that touches more others."""
    bodies = model.body_weldid[model.geom_bodyid[geoms]]
    counts = {each: len(np.unique(bodies[(bodies == each).any(axis=1)])) for each in bodies[contact].tolist()}
    return max(counts, key=lambda body: (body != 0, counts[body]))


def _elliptic_speed(
    model: MjModel, data: MjData, pair: NDArray[np.intp], contacts: NDArray[np.intp]
) -> tuple[float, float, float]:
    """Return `elliptic`, `uneven` and `body` of a `CreepFormula`: each contact of the body that is held at a pair is a
    damper along its tangents, and nothing moves along the normals."""
    listed = data.contact
    held = _held_body(model, listed.geom, int(pair[0]))
    bodies = model.body_weldid[model.geom_bodyid[listed.geom[contacts]]]
    contacts = contacts[(bodies == held).any(axis=1)]
    forces = contact_forces(model, data, contacts)
    pressed = forces[:, 0] > 0
    contacts, forces = contacts[pressed], forces[pressed]
    address, friction, frame = listed.efc_address[contacts], listed.friction[contacts, 0], listed.frame[contacts]
    stiffness, damping, impedance = data.efc_KBIP[address, :3].T
    if model.opt.cone == _PYRAMIDAL:
        weight = data.efc_R[address] * model.opt.impratio / (2 * friction**2 * (1 + friction**2))
    else:
        weight = data.efc_R[address]
    weight *= impedance / (1 - impedance)
    if model.opt.cone != _PYRAMIDAL:
        damping = data.efc_KBIP[address + 1, 1]
    softness = np.array(
        [
            _settled_softness(*each)
            for each in zip(forces[:, 0], weight, stiffness, listed.solimp[contacts], strict=True)
        ]
    )
    dampers = damping / (weight * softness)
    # The twist at which they bear what friction bears now.
    axes = frame.reshape(-1, 3, 3)
    arms = listed.pos[contacts] - listed.pos[contacts].mean(axis=0)
    wrench = np.zeros(6)
    drag = np.zeros((6, 6))
    first = model.body_weldid[model.geom_bodyid[listed.geom[contacts, 0]]]
    sides = np.where(first == held, -1.0, 1.0)
    for axis, arm, force, side, damper in zip(axes, arms, forces, sides, dampers, strict=True):
        jacobian = np.hstack([axis, cross(arm, axis)])
        drag += jacobian.T * ([1e4 * dampers.max(), damper, damper]) @ jacobian
        wrench += side * jacobian[1:].T @ force[1:3]
    twist = np.linalg.lstsq(drag, wrench, rcond=1e-12)[0]
    velocity = twist[:3] + cross(twist[3:], arms)
    measured = sides[:, np.newaxis] * relative_velocities(model, data, contacts)[0]
    load = forces[:, 0]

    def mean_speed(velocity: NDArray[np.floating[Any]]) -> float:
        along = velocity - np.einsum("ki,ki->k", velocity, axes[:, 0])[:, np.newaxis] * axes[:, 0]
        return float(np.sqrt(((load @ along) ** 2).sum()) / load.sum())

    keys, which = np.unique(pair_key(model, listed.geom[contacts]), return_inverse=True)
    sums = np.bincount(which, dampers)
    uneven = float(sums.max() / sums.min()) if len(contacts) > len(keys) else 1.0
    return mean_speed(velocity), uneven, mean_speed(measured)


def solved_state(data: MjData) -> MjData:
    """Return a copy of the parts of a state that `creep_formula` reads. It is small enough to be kept for each
    event."""
    fields = ("geom", "efc_address", "dim", "friction", "solimp", "frame", "pos")
    listed = {name: getattr(data.contact, name).copy() for name in fields}
    if hasattr(data.contact, "adhesion"):
        listed["adhesion"] = data.contact.adhesion.copy()
    arrays = {name: getattr(data, name).copy() for name in ("efc_force", "efc_R", "efc_KBIP", "cvel", "subtree_com")}
    return cast(MjData, SimpleNamespace(contact=SimpleNamespace(**listed), ncon=data.ncon, **arrays))


def _settled_softness(load: float, weight: float, stiffness: float, solimp: NDArray[np.float64]) -> float:
    """Return (1 - d) / d of an elliptic contact that bears a load [N] at rest: K d r = weight f (1 - d) / d.

    The impedance d at the depth r is computed from `solimp` as in MuJoCo. `weight`: that of the normal's constraint
    [1/kg]; `stiffness`: K of `efc_KBIP` [1/s^2].
    """
    least, most, width, midpoint, power = solimp.tolist()
    least, most, midpoint = (min(max(value, _LEAST), 1 - _LEAST) for value in (least, most, midpoint))
    width, power = max(width, 1e-15), max(power, 1.0)
    rise, fall = midpoint ** (1 - power), (1 - midpoint) ** (1 - power)
    low, high, d = 0.0, 1.0, least
    for _ in range(60):
        depth = (low + high) / 2
        x = min(depth / width, 1.0)
        if power > 1:
            x = rise * x**power if x <= midpoint else 1 - fall * (1 - x) ** power
        d = least + x * (most - least)
        if stiffness * d * depth < weight * (1 - d) / d * load:
            low = depth
        else:
            high = depth
    return (1 - d) / d


def harden_friction(model: MjModel, impratio: float) -> None:
    """Give a scene elliptic cones and an `impratio`."""
    model.opt.cone, model.opt.impratio = _ELLIPTIC, impratio


def needed_impratio(formula: CreepFormula, wanted: float = WANTED) -> float:
    """Return the `impratio` with which a pair with elliptic cones creeps at a wanted speed [m/s]."""
    return formula.elliptic / wanted
