"""Computes contact forces on targets in every step from the engine's constraint forces: the truth for comparing
terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import did_you_mean
from ..mjmodel.matching import Target as Covered
from ..mjmodel.matching import contact_forces
from ..mjmodel.names import body_names, geom_names, sensor_names, sensor_targets
from ..mjmodel.types import MjData, MjModel
from .term import TermError

Values = NDArray[np.float64]
Mask = Any
"""Array of booleans; it is Any because reductions of it have no array type."""
FLOOR, ANY = "floor", "any"


@dataclass(frozen=True)
class Targets:
    """Objects whose contacts are tested, and the other side of these contacts."""

    names: tuple[str, ...]
    members: Mask
    """Geoms of each target, (targets, ngeom)."""
    against: Mask
    """Geoms that count as the other side of each target, (targets, ngeom)."""
    bodies: tuple[int, ...]
    """Body of each target."""
    other: str
    """Name of the other side, for messages."""


def find_geoms(model: MjModel, name: str) -> Mask:
    """Return the geoms of a body (with bodies welded to it), of a geom, or of the moving side of a contact sensor,
    (ngeom,).

    Raises TermError for an unknown name.
    """
    bodies, geoms = body_names(model), geom_names(model)
    members = np.zeros(model.ngeom, bool)
    if name in bodies:
        members[:] = model.body_weldid[model.geom_bodyid] == model.body_weldid[bodies.index(name)]
        if members.any():
            return members
        # A frame without geoms, such as a finger's tip, has those of what hangs on it.
        below = bodies.index(name)
        members[:] = [_hangs_on(model, int(body), below) for body in model.geom_bodyid]
        if members.any():
            return members
    if name in geoms:
        members[geoms.index(name)] = True
        return members
    if name in sensor_names(model):
        side = sensor_side(model, sensor_names(model).index(name))
        if side is not None:
            return side
    raise TermError(f"no body, geom or contact sensor {name!r}{did_you_mean(name, [*bodies, *geoms])}")


def _hangs_on(model: MjModel, body: int, root: int) -> bool:
    while body > root:
        body = int(model.body_parentid[body])
    return body == root


def sensor_side(model: MjModel, sensor: int) -> Mask | None:
    """Return the geoms of the moving side of a contact sensor, (ngeom,); None for a sensor without one, or of another
    type."""
    if model.sensor_type[sensor] != mujoco.mjtSensor.mjSENS_CONTACT:
        return None
    for kind, index in reversed(sensor_targets(model, sensor)):
        covered = Covered(model, kind, index).geoms[:-1]
        moving = covered & (model.body_weldid[model.geom_bodyid] != 0)
        if kind not in (mujoco.mjtObj.mjOBJ_UNKNOWN, mujoco.mjtObj.mjOBJ_SITE) and moving.any():
            return moving
    return None


def make_targets(model: MjModel, of: Mapping[str, str] | Sequence[str], against: str) -> Targets:
    """Find the geoms of targets by their names. Raises TermError."""
    named = dict(of) if isinstance(of, Mapping) else {each: each for each in of}
    members = np.array([find_geoms(model, name) for name in named.values()])
    static = model.body_weldid[model.geom_bodyid] == 0
    if against == ANY:
        other = ~members
    elif against == FLOOR and FLOOR not in body_names(model):
        other = np.tile(static, (len(members), 1))
    else:
        other = np.tile(find_geoms(model, against), (len(members), 1))
    bodies = tuple(int(model.geom_bodyid[np.flatnonzero(each)[0]]) for each in members)
    return Targets(tuple(named), members, other & ~members, bodies, against)


class Recording:
    """Contacts of every physics step, from which `arrays` makes the truth of all steps at once."""

    def __init__(self, model: MjModel, targets: Targets) -> None:
        self.model, self.targets = model, targets
        self._steps: list[tuple[Any, ...]] = []

    def add(self, data: MjData) -> None:
        """Add the contacts of the present step."""
        contact, bodies = data.contact, list(self.targets.bodies)
        geoms = contact.geom
        picked = np.flatnonzero((geoms >= 0).all(axis=1))
        active = (contact.efc_address[picked] >= 0) | (contact.dist[picked] <= 0)
        forces = contact_forces(self.model, data, picked)
        self._steps.append(
            (geoms[picked], forces, contact.frame[picked], active, data.xmat[bodies], data.cfrc_ext[bodies])
        )

    def drop(self, count: int) -> None:
        """Remove the last steps."""
        del self._steps[len(self._steps) - count :]

    def arrays(self) -> dict[str, Values]:
        """Return the values of all steps, (steps, targets, ...), by name."""
        model, targets, steps = self.model, self.targets, len(self._steps)
        geoms, forces, frames, active = (np.concatenate([step[i] for step in self._steps]) for i in range(4))
        frames = frames.reshape(-1, 3, 3)
        counts = np.array([len(step[0]) for step in self._steps])
        full = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[full]

        def by_step(values: Any, reduce: np.ufunc = np.add) -> Values:
            """Reduce values of contacts, (targets, contacts, ...), to values of steps, (steps, targets, ...)."""
            reduced = np.zeros((steps, len(values), *values.shape[2:]))
            if len(full):
                reduced[full] = np.moveaxis(reduce.reduceat(values, starts, axis=1), 1, 0)
            return reduced

        inside, other = targets.members[:, geoms], targets.against[:, geoms]
        second, first = inside[..., 1] & other[..., 0], inside[..., 0] & other[..., 1]
        sign, either = second.astype(float) - first.astype(float), second | first
        signs, masks = sign[..., np.newaxis], either[..., np.newaxis]

        def turned(order: str, axes: Any = slice(None)) -> Values:
            return by_step(signs * np.einsum(order, frames[:, axes], forces[:, :3]))

        listed = by_step(either.astype(float)) > 0
        extremes = {
            name: np.where(listed[..., np.newaxis], by_step(np.where(masks, forces, np.nan), pick), 0.0)
            for name, pick in (("frame_max", np.fmax), ("frame_min", np.fmin))
        }
        alone = inside.any(axis=2) & ~inside.all(axis=2) & ~either
        owners, static = model.geom_bodyid[geoms], model.body_weldid[model.geom_bodyid[geoms]] == 0
        bodies, place = np.zeros((steps, model.nbody)), np.repeat(np.arange(steps), counts)
        for side in (0, 1):
            floor = static[:, 1 - side] & ~static[:, side]
            np.add.at(bodies, (place[floor], owners[floor, side]), forces[floor, 0])
        return {
            "force": turned("kji,kj->ki"),
            "normal": by_step(either * forces[:, 0]),
            "frame_force": by_step(masks * forces[:, :3]),
            "frame_torque": by_step(masks * forces[:, 3:]),
            **extremes,
            "shifted": turned("kji,kj->ki", (1, 2, 0)),
            "shifted_back": turned("kji,kj->ki", (2, 0, 1)),
            "untransposed": turned("kij,kj->ki"),
            "touching": by_step((either & active).astype(float)) > 0,
            "listed": listed,
            "elsewhere": by_step(alone * np.abs(forces[:, 0])),
            # Force that pushes the other side along the normal, for grasps.
            "push": by_step(-signs * (frames[:, 0] * forces[:, :1])),
            "bodies": bodies,
            "rotation": np.array([step[4] for step in self._steps]).reshape(steps, -1, 3, 3),
            "cfrc": np.array([step[5] for step in self._steps]),
        }
