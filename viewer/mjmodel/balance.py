"""Compares the contact forces on a body with its weight and its acceleration."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from .matching import contact_forces, subtree
from .names import sensor_targets

Vector = NDArray[np.float64]
_ANYTHING = int(mujoco.mjtObj.mjOBJ_UNKNOWN)
_GEOM, _SITE = int(mujoco.mjtObj.mjOBJ_GEOM), int(mujoco.mjtObj.mjOBJ_SITE)


@dataclass(frozen=True, eq=False)
class Balance:
    """Forces on a body with its subtree, in the step whose contacts the data holds.

    contact + weight + applied + other = inertia. Contacts with a flex are among the others.
    """

    body: int
    """Body at the root of the subtree."""
    mass: float
    """Mass of the subtree [kg]."""
    center: Vector
    """Centre of mass [m], world, (3,)."""
    acceleration: Vector
    """Acceleration of the centre of mass [m/s²], world, (3,)."""
    contact_points: Vector
    """Points at which other bodies touch the subtree [m], world, (k, 3)."""
    contact_forces: Vector
    """Forces of these contacts on the subtree [N], world, (k, 3)."""
    weight: Vector
    """Weight [N], world, (3,)."""
    applied: Vector
    """Forces of the user's hand or a program: `xfrc_applied` [N], world, (3,)."""
    attached: bool
    """True if a joint connects the body to another one, or to the world, and carries the rest."""
    others: tuple[str, ...]
    """Other kinds of forces in this scene; if empty, `other` is the residual of the solver."""

    @property
    def contact(self) -> Vector:
        """Sum of the contact forces [N], world, (3,)."""
        return self.contact_forces.sum(axis=0)

    @property
    def inertia(self) -> Vector:
        """Mass times acceleration [N], world, (3,)."""
        return self.mass * self.acceleration

    @property
    def other(self) -> Vector:
        """Force that contacts, weight and hand do not explain [N], world, (3,)."""
        return self.inertia - self.contact - self.weight - self.applied


def sensor_body(model: mujoco.MjModel, sensor_id: int) -> int | None:
    """Return the body whose contacts a sensor measures: object 2's if it moves, else object 1's; None if neither
    does."""
    for kind, index in reversed(sensor_targets(model, sensor_id)):
        if kind == _GEOM:
            index = int(model.geom_bodyid[index])
        elif kind == _SITE:
            index = int(model.site_bodyid[index])
        elif kind == _ANYTHING:
            continue
        if tree_root(model, index) is not None:
            return index
    return None


def tree_root(model: mujoco.MjModel, body: int) -> int | None:
    """Return the body at the root of the moving tree that a body belongs to; None if it does not move."""
    root = None
    while body:
        if model.body_dofnum[body]:
            root = body
        body = int(model.body_parentid[body])
    return root


def measure_balance(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Balance:
    """Return the balance of a body's subtree; `body` 0 is everything that moves."""
    inside = subtree(model, body)
    # The world neither moves nor has a weight, though it may be given a mass.
    inside[0] = False
    masses = model.body_mass[inside]
    mass = float(masses.sum())
    caused = linear_accelerations(model, data, data.qacc[np.newaxis])[0]
    accelerations = (caused + centripetal_accelerations(model, data))[inside]
    points, forces = _outer_contacts(model, data, inside)
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    is_free = count == 1 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE
    attached = body != 0 and not is_free
    heavy = max(mass, mujoco.mjMINVAL)
    return Balance(
        body=body,
        mass=mass,
        center=masses @ data.xipos[inside] / heavy,
        acceleration=masses @ accelerations / heavy,
        contact_points=points,
        contact_forces=forces,
        weight=mass * gravity(model),
        applied=data.xfrc_applied[inside, :3].sum(axis=0),
        attached=attached,
        others=_other_causes(model, data, inside, attached),
    )


def gravity(model: mujoco.MjModel) -> Vector:
    """Return the acceleration of gravity [m/s²], world, (3,); zero where it is switched off."""
    off = model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if off else np.array(model.opt.gravity)


def linear_accelerations(model: mujoco.MjModel, data: mujoco.MjData, joints: Vector) -> Vector:
    """Return the accelerations of the bodies' centres of mass that accelerations of the joints cause.

    Args:
        model: The compiled scene.
        data: State after a step.
        joints: Accelerations of the degrees of freedom, as `qacc` has them, (k, nv).

    Returns:
        Without what velocities cause [m/s²], world, (k, nbody, 3).
    """
    spatial = np.zeros((model.nbody, len(joints), 6))
    for body in range(1, model.nbody):
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        spatial[body] = spatial[model.body_parentid[body]]
        if count:
            spatial[body] += joints[:, first : first + count] @ data.cdof[first : first + count]
    arms = data.xipos - data.subtree_com[model.body_rootid]
    return np.swapaxes(spatial[..., 3:] + cross(spatial[..., :3], arms[:, np.newaxis]), 0, 1)


def centripetal_accelerations(model: mujoco.MjModel, data: mujoco.MjData) -> Vector:
    """Return the accelerations of the bodies' centres of mass that velocities cause [m/s²], world, (nbody, 3).

    `qvel` is already one step further than the forces, so the velocities of the joints are computed back from those of
    the bodies.
    """
    spatial = np.zeros((model.nbody, 6))
    for body in range(1, model.nbody):
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        spatial[body] = spatial[model.body_parentid[body]]
        if count:
            dofs = slice(first, first + count)
            # Of joints that share an axis only the sum is known, and only it counts.
            velocity = np.linalg.lstsq(data.cdof[dofs].T, _relative_velocity(model, data, body), rcond=None)[0]
            spatial[body] += data.cdof_dot[dofs].T @ velocity
    arms = data.xipos - data.subtree_com[model.body_rootid]
    spin, drift = data.cvel[:, :3], data.cvel[:, 3:]
    # From MuJoCo's spatial accelerations, about the tree's centre of mass, to those of points that move along.
    return np.asarray(spatial[:, 3:] + cross(spatial[:, :3], arms) + cross(spin, drift + cross(spin, arms)))


def _relative_velocity(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Vector:
    """Return the spatial velocity of a body relative to its parent, about the tree's centre of mass, (6,)."""
    parent = model.body_parentid[body]
    # The parent's is about the same point, unless it is the world, which stands still.
    return data.cvel[body] - (data.cvel[parent] if parent else 0.0)


def _outer_contacts(model: mujoco.MjModel, data: mujoco.MjData, inside: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return the points at which others press on the bodies inside, and the forces, (k, 3) each."""
    geoms = data.contact.geom
    own = inside[model.geom_bodyid[geoms]] & (geoms >= 0)
    contacts = np.flatnonzero((own[:, 0] != own[:, 1]) & (geoms >= 0).all(axis=1))
    sign = np.where(own[contacts, 1], 1.0, -1.0)[:, np.newaxis]
    return data.contact.pos[contacts], sign * world_forces(model, data, contacts)


def world_forces(model: mujoco.MjModel, data: mujoco.MjData, contacts: NDArray[np.intp]) -> Vector:
    """Return the forces of contacts on their second geom [N], world, (k, 3)."""
    frames = data.contact.frame[contacts].reshape(-1, 3, 3)
    return np.einsum("kij,ki->kj", frames, contact_forces(model, data, contacts)[:, :3])


def _other_causes(
    model: mujoco.MjModel, data: mujoco.MjData, inside: NDArray[np.bool_], attached: bool
) -> tuple[str, ...]:
    dofs = inside[model.dof_bodyid]
    joints = inside[model.jnt_bodyid]
    causes = {
        "joints": attached,
        "joint springs and damping": bool(model.dof_damping[dofs].any() or model.jnt_stiffness[joints].any()),
        "joint friction": bool(model.dof_frictionloss[dofs].any()),
        "applied joint forces": bool(data.qfrc_applied[dofs].any()),
        "actuators": model.nu > 0,
        "equality constraints": bool(data.eq_active.any()),
        "tendons": model.ntendon > 0,
        "the medium": bool(model.opt.density or model.opt.viscosity),
        "gravity compensation": bool(model.body_gravcomp[inside].any()),
        "flexes": model.nflex > 0,
    }
    return tuple(cause for cause, present in causes.items() if present)
