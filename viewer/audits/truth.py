"""Turns steps into the truth about targets: which forces act on them, by the engine's own constraint forces."""

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
"""An array of booleans; reductions of such have no type that is an array."""
FLOOR, ANY = "floor", "any"


@dataclass(frozen=True)
class Targets:
    """Whose contacts with what are asked for."""

    names: tuple[str, ...]
    members: Mask
    """Geoms of each, (targets, ngeom)."""
    against: Mask
    """Geoms that count as the other side of each, (targets, ngeom)."""
    bodies: tuple[int, ...]
    """Body of each."""
    other: str
    """The other side, for a reader."""


def find_geoms(model: MjModel, name: str) -> Mask:
    """Geoms of a body (with what is welded to it), of a geom, or of the moving side of a contact sensor, (ngeom,).

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
    """Geoms of the side of a contact sensor that moves, (ngeom,); None if it has none, or is no contact sensor."""
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
    """The truth of every physics step, as lists that `arrays` joins."""

    _NAMES = ("force", "normal", "frame_force", "frame_torque", "frame_max", "frame_min", "shifted", "shifted_back",
              "untransposed", "touching", "listed", "elsewhere", "push", "rotation", "bodies", "cfrc")  # fmt: skip

    def __init__(self, model: MjModel, targets: Targets) -> None:
        self.model, self.targets = model, targets
        self._rows: dict[str, list[Any]] = {name: [] for name in self._NAMES}
        self._static = model.body_weldid[model.geom_bodyid] == 0

    def add(self, data: MjData) -> None:
        """Read a step."""
        model, targets, rows = self.model, self.targets, self._rows
        contact = data.contact
        geoms = contact.geom
        rigid = (geoms >= 0).all(axis=1)
        picked = np.flatnonzero(rigid)
        geoms = geoms[picked]
        forces = contact_forces(model, data, picked)
        frames = contact.frame[picked].reshape(-1, 3, 3)
        world = np.einsum("kji,kj->ki", frames, forces[:, :3])
        inside, other = targets.members[:, geoms], targets.against[:, geoms]
        second, first = inside[:, :, 1] & other[:, :, 0], inside[:, :, 0] & other[:, :, 1]
        sign, either = second.astype(float) - first.astype(float), (second | first).astype(float)
        real = contact.efc_address[picked] >= 0
        rows["force"].append(sign @ world)
        rows["normal"].append(either @ forces[:, 0])
        rows["frame_force"].append(either @ forces[:, :3])
        rows["frame_torque"].append(either @ forces[:, 3:])
        active = real | (contact.dist[picked] <= 0)
        rows["touching"].append((either * active).any(axis=1))
        rows["listed"].append(either.any(axis=1))
        # Force that pushes the other side along the normal, for grasps.
        rows["push"].append(-sign @ (frames[:, 0] * forces[:, :1]))
        out = (inside.any(axis=2) & ~(inside.all(axis=2)) & (either == 0)).astype(float)
        rows["elsewhere"].append(out @ np.abs(forces[:, 0]))
        rows["rotation"].append(data.xmat[list(targets.bodies)].reshape(-1, 3, 3).copy())
        rows["cfrc"].append(data.cfrc_ext[list(targets.bodies)].copy())
        masked = np.where(either[..., np.newaxis] > 0, forces, np.nan)
        present = either.any(axis=1)[:, np.newaxis]
        for name, pick in (("frame_max", np.fmax), ("frame_min", np.fmin)):
            rows[name].append(np.where(present, pick.reduce(masked, axis=1, initial=np.nan), 0.0))
        for name, order in (("shifted", (1, 2, 0)), ("shifted_back", (2, 0, 1))):
            rows[name].append(sign @ np.einsum("kji,kj->ki", frames[:, order], forces[:, :3]))
        rows["untransposed"].append(sign @ np.einsum("kij,kj->ki", frames, forces[:, :3]))
        owners, floor, sums = model.geom_bodyid[geoms], self._static[geoms], np.zeros(model.nbody)
        for side in (0, 1):
            touching = floor[:, 1 - side] & ~floor[:, side]
            np.add.at(sums, owners[touching, side], forces[touching, 0])
        rows["bodies"].append(sums)

    def arrays(self) -> dict[str, Values]:
        """Values of all steps, (steps, targets, ...), by name."""
        return {name: np.array(rows) for name, rows in self._rows.items()}
