"""Split mass times acceleration of a body, or of its subtree, into kinds of force."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from .balance import centripetal_accelerations, gravity, linear_accelerations, world_forces
from .matching import are_forces_hidden, subtree
from .names import body_names, flex_names, geom_names, with_kind
from .sleep import sleeping_bodies
from .types import MjData, MjModel

Vector = NDArray[np.float64]
_NEGLIGIBLE, _ROUNDING = 1e-12, 1e-9
"""Fraction of the largest force below which other forces are not shown, and fraction within which two sums are
equal."""
_CONSTRAINT = mujoco.mjtConstraint
_CONSTRAINTS = {
    "joint limits": (_CONSTRAINT.mjCNSTR_LIMIT_JOINT,),
    "tendon limits": (_CONSTRAINT.mjCNSTR_LIMIT_TENDON,),
    "equality": (_CONSTRAINT.mjCNSTR_EQUALITY,),
    "friction loss": (_CONSTRAINT.mjCNSTR_FRICTION_DOF, _CONSTRAINT.mjCNSTR_FRICTION_TENDON),
}
_CONTACT = (
    _CONSTRAINT.mjCNSTR_CONTACT_FRICTIONLESS,
    _CONSTRAINT.mjCNSTR_CONTACT_PYRAMIDAL,
    _CONSTRAINT.mjCNSTR_CONTACT_ELLIPTIC,
)


class ForceKind(StrEnum):
    """Origin of a force."""

    GRAVITY = "gravity"
    CONTACT = "contact"
    APPLIED = "applied"
    ACTUATORS = "actuators"
    PASSIVE = "passive"
    """Springs, damping, fluid, gravity compensation."""
    CONSTRAINTS = "constraints"
    """Limits, equality constraints, friction loss."""
    JOINTS = "joint reactions"
    SOLVER = "solver"


@dataclass(frozen=True, eq=False)
class ForceRow:
    """Row of a table of forces."""

    kind: ForceKind
    label: str
    """Label of the row, such as `contact with floor` or `springs`."""
    force: Vector
    """Force [N], world, (3,)."""
    about: str = ""
    """Sentence that explains this kind of force."""


@dataclass(frozen=True, eq=False)
class ForceTable:
    """All forces on a body, or on a body with all that hangs on it, in the step whose contacts the data holds.

    Gravity, contacts and pushes are the forces that act on these bodies themselves. Actuators, springs, limits and all
    else that acts in joints, tendons and constraints count by their effect on these bodies: mass times the acceleration
    that each alone causes, through the joints. Joint reactions are all other forces that the joints transmit, because
    of gravity, contacts, pushes and the motion. The rows sum to mass times acceleration.
    """

    body: int
    alone: bool
    """True if the rest of the subtree is left out."""
    mass: float
    """Mass [kg]."""
    center: Vector
    """Centre of mass [m], world, (3,)."""
    inertia: Vector
    """Mass times acceleration of the centre of mass [N], world, (3,)."""
    rows: tuple[ForceRow, ...]

    def sum(self, *kinds: ForceKind) -> Vector:
        """Return the sum of the rows of some kinds, or of all rows if no kind is given [N], world, (3,)."""
        return np.sum(
            [row.force for row in self.rows if not kinds or row.kind in kinds], axis=0, initial=0.0
        ) + np.zeros(3)


def measure_forces(model: MjModel, data: MjData, body: int, alone: bool = False) -> ForceTable | None:
    """Return the forces on a body by kind; None where they are not known: asleep, or in a step that was not reached.

    Args:
        model: The compiled scene.
        data: State after a step, or after `mj_forward`.
        body: Id of the body; 0 for everything that moves.
        alone: True for the body itself, without the bodies that hang on it.
    """
    if are_forces_hidden(data) or sleeping_bodies(model, data):
        return None
    inside = np.arange(model.nbody) == body if alone else subtree(model, body)
    # The world neither moves nor has a weight, though it may be given a mass.
    inside[0] = False
    shares = np.where(inside, model.body_mass, 0.0)
    mass = float(shares.sum())
    causes, direct = _JointForces(model, data), _DirectForces(model, data, inside)
    names, columns = list(causes.kinds), np.array(list(causes.kinds.values()))
    accelerations = np.empty_like(columns)
    mujoco.mj_solveM(model, data, accelerations, columns)
    still = data.qacc - data.qacc_smooth
    constraint = np.empty((1, model.nv))
    mujoco.mj_solveM(model, data, constraint, data.qfrc_constraint[np.newaxis])
    caused = dict(zip(names, shares @ linear_accelerations(model, data, accelerations), strict=True))
    bending = shares @ centripetal_accelerations(model, data)
    left, total = shares @ linear_accelerations(model, data, np.stack([still - constraint[0], data.qacc]))
    rows = list(direct.rows(causes.applied_known))
    on_itself = np.sum([row.force for row in rows], axis=0, initial=0.0)
    passed = caused.pop("gravity") + caused.pop("contacts") + caused.pop("applied") + caused.pop("motion") + bending
    rows += [ForceRow(_kind(name), name, force, _ABOUT.get(name, "")) for name, force in caused.items()]
    rows.append(ForceRow(ForceKind.JOINTS, "joint reactions", passed - on_itself, _ABOUT["joint reactions"]))
    rows.append(ForceRow(ForceKind.SOLVER, "solver", left, _ABOUT["solver"]))
    largest = max((float(np.abs(row.force).max()) for row in rows), default=0.0)
    return ForceTable(
        body=body,
        alone=alone,
        mass=mass,
        center=shares @ data.xipos / max(mass, mujoco.mjMINVAL),
        inertia=total + bending,
        rows=tuple(row for row in rows if np.abs(row.force).max() > _NEGLIGIBLE * largest),
    )


_ABOUT = {
    "actuators": "Mass times the acceleration that actuators alone cause, through the joints",
    "joint reactions": "What joints and constraints pass on of gravity, contacts, pushes and the motion itself",
    "solver": "What MuJoCo's solver left over when it stopped",
    "gravity compensation": "gravcomp of bodies",
    "fluid": "density, viscosity and wind of <option>",
}


def _kind(name: str) -> ForceKind:
    if name in ("actuators", "applied to joints"):
        return ForceKind.ACTUATORS if name == "actuators" else ForceKind.APPLIED
    return ForceKind.CONSTRAINTS if name in _CONSTRAINTS else ForceKind.PASSIVE


class _DirectForces:
    """Forces that act on some bodies themselves: gravity, contacts with each other object, pushes."""

    def __init__(self, model: MjModel, data: MjData, inside: NDArray[np.bool_]) -> None:
        """`inside`: True for these bodies, (nbody,)."""
        self._model, self._data, self._inside = model, data, inside

    def rows(self, applied_known: bool) -> Iterator[ForceRow]:
        """Yield a line of the table for each kind. `applied_known`: True if the pushes in the data are those that
        acted."""
        model, data, inside = self._model, self._data, self._inside
        mass = float(model.body_mass[inside].sum())
        yield ForceRow(ForceKind.GRAVITY, "gravity", mass * gravity(model), f"{mass:.4g} kg")
        for label, force, count in self._contacts():
            yield ForceRow(ForceKind.CONTACT, f"contact with {label}", force, f"{count} contact{'s' * (count > 1)}")
        if applied_known:
            pushes = data.xfrc_applied[inside, :3].sum(axis=0)
            yield ForceRow(ForceKind.APPLIED, "applied", pushes, "Pulled or pushed: xfrc_applied")

    def _contacts(self) -> Iterator[tuple[str, Vector, int]]:
        """Yield each object that touches these bodies: its name, the force on the bodies [N], world, and its number of
        contacts."""
        model, data = self._model, self._data
        sides = contact_bodies(model, data)
        own = np.append(self._inside, False)[np.maximum(sides, -1)] & (sides >= 0)
        touching = np.flatnonzero((own[:, 0] != own[:, 1]) & (data.contact.efc_address >= 0))
        if not len(touching):
            return
        second = own[touching, 1]
        forces = np.where(second, 1.0, -1.0)[:, None] * world_forces(model, data, touching)
        other = np.where(second, 0, 1)
        keys = sides[touching, other]
        # Of the world each geom is a thing of its own.
        geoms = data.contact.geom[touching, other]
        keys = np.where(keys == 0, model.nbody + geoms, keys)
        for key in np.unique(keys).tolist():
            mine = keys == key
            yield self._name(key), forces[mine].sum(axis=0), int(mine.sum())

    def _name(self, key: int) -> str:
        model = self._model
        if key < 0:
            return with_kind("flex", flex_names(model)[-1 - key])
        return body_names(model)[key] if key < model.nbody else geom_names(model)[key - model.nbody]


def contact_bodies(model: MjModel, data: MjData) -> NDArray[np.intp]:
    """Return the two bodies of each contact in the list, (n, 2); -1 - id for flexes."""
    geoms, flexes = data.contact.geom, data.contact.flex
    return np.asarray(np.where(geoms >= 0, model.geom_bodyid[np.maximum(geoms, 0)], -1 - flexes), np.intp)


class _JointForces:
    """Generalized forces of each kind; MuJoCo computes the acceleration from their sum."""

    def __init__(self, model: MjModel, data: MjData) -> None:
        weight = _to_joints(model, data, model.body_mass[:, None] * gravity(model), data.xipos)
        adhesion = self._adhesion(model, data)
        pushed = _to_joints(model, data, data.xfrc_applied[:, :3], data.xipos, data.xfrc_applied[:, 3:])
        # What acted in the step: by now something else may be applied to the next one.
        applied = data.qfrc_smooth - data.qfrc_passive + data.qfrc_bias - data.qfrc_actuator
        slack = _ROUNDING * (1.0 + np.abs(data.qfrc_bias).max(initial=0.0) + np.abs(data.qfrc_passive).max(initial=0.0))
        self.applied_known = bool(np.allclose(pushed + data.qfrc_applied, applied, rtol=_ROUNDING, atol=slack))
        known = self._passive(model, data)
        self.kinds: dict[str, Vector] = {
            "gravity": weight,
            "contacts": self._constraint(model, data, _CONTACT) + adhesion,
            "applied": pushed if self.applied_known else np.zeros(model.nv),
            "applied to joints": data.qfrc_applied if self.applied_known else applied,
            "motion": -data.qfrc_bias - weight,
            "actuators": data.qfrc_actuator,
            **known,
            "other passive": data.qfrc_passive - sum(known.values()) - adhesion,
            **{name: self._constraint(model, data, types) for name, types in _CONSTRAINTS.items()},
        }
        """Generalized forces of each kind, (nv,) each."""

    @staticmethod
    def _passive(model: MjModel, data: MjData) -> dict[str, Vector]:
        compensated = model.jnt_actgravcomp[model.dof_jntid] == 0
        return {
            "springs": data.qfrc_spring,
            "damping": data.qfrc_damper,
            # That of joints with actuatorgravcomp is part of the actuators' force.
            "gravity compensation": np.where(compensated, data.qfrc_gravcomp, 0.0),
            "fluid": data.qfrc_fluid,
        }

    @staticmethod
    def _constraint(model: MjModel, data: MjData, types: tuple[Any, ...]) -> Vector:
        force = np.zeros(model.nv)
        if data.nefc:
            rows = np.isin(data.efc_type, [int(each) for each in types])
            mujoco.mj_mulJacTVec(model, data, force, np.where(rows, data.efc_force, 0.0))
        return force

    @staticmethod
    def _adhesion(model: MjModel, data: MjData) -> Vector:
        """Return the adhesion force of geoms, which acts in a contact but is not part of the contact's constraint."""
        contact = data.contact
        if not hasattr(contact, "adhesion") or not contact.adhesion.any():
            return np.zeros(model.nv)
        pull = -np.where(contact.efc_address >= 0, contact.adhesion, 0.0)[:, None] * contact.frame[:, :3]
        total, sides = np.zeros(model.nv), contact_bodies(model, data)
        for sign, bodies in ((-1.0, sides[:, 0]), (1.0, sides[:, 1])):
            for k in np.flatnonzero(pull.any(axis=1) & (bodies > 0)).tolist():
                mujoco.mj_applyFT(model, data, sign * pull[k], np.zeros(3), contact.pos[k], int(bodies[k]), total)
        return total


def _to_joints(model: MjModel, data: MjData, forces: Vector, points: Vector, torques: Vector | float = 0.0) -> Vector:
    """Return the generalized forces, (nv,), of a force and a torque on each body at a point, (nbody, 3) each, world."""
    arms = points - data.subtree_com[model.body_rootid]
    wrenches = np.concatenate([cross(arms, forces) + torques, forces], axis=1)
    for body in range(model.nbody - 1, 0, -1):
        wrenches[model.body_parentid[body]] += wrenches[body]
    return np.asarray(np.einsum("vi,vi->v", data.cdof, wrenches[model.dof_bodyid]))
