"""Terms in a balance of forces on bodies: gravity, accelerations and contact forces."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from .matching import contact_forces
from .names import sensor_targets

Vector = NDArray[np.float64]
_ANYTHING = int(mujoco.mjtObj.mjOBJ_UNKNOWN)
_GEOM, _SITE = int(mujoco.mjtObj.mjOBJ_GEOM), int(mujoco.mjtObj.mjOBJ_SITE)


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
        Accelerations without the part that velocities cause [m/s²], world, (k, nbody, 3).
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


def world_forces(model: mujoco.MjModel, data: mujoco.MjData, contacts: NDArray[np.intp]) -> Vector:
    """Return the forces of contacts on their second geom [N], world, (k, 3)."""
    frames = data.contact.frame[contacts].reshape(-1, 3, 3)
    return np.einsum("kij,ki->kj", frames, contact_forces(model, data, contacts)[:, :3])
