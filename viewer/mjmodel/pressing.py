"""Sums contacts by pairs of bodies: pairs that press, pairs that touch at the start, and loads that a <touch>
misses."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from .balance import tree_root, world_forces
from .force_kinds import contact_bodies
from .matching import contact_forces, subtree
from .mixing import contact_sides
from .names import body_names, find_key, flex_names, read_names, with_kind
from .types import MjData, MjModel

Sides = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PressingPair:
    """The contacts between two bodies."""

    bodies: Sides
    """Ids, the lower one first; -1 - id for a flex."""
    names: tuple[str, str]
    sides: tuple[Sides, ...]
    """Geoms or flexes that touch, as in `mixing.Sides`, each pair once."""
    force: NDArray[np.float64]
    """Force of the first body on the second one [N], world, (3,)."""
    pressure: float
    """Sum of the normal forces [N]."""
    count: int
    """Number of contacts."""
    depth: float
    """Deepest penetration [m]; negative if the surfaces are apart."""

    @property
    def excludable(self) -> bool:
        """True if an <exclude> can name both bodies."""
        return min(self.bodies) >= 0


def find_pressing_pairs(model: MjModel, data: MjData) -> list[PressingPair]:
    """Return the pairs of bodies whose surfaces touch, or are near enough for a force, the hardest pressed first."""
    contact = data.contact
    touching = np.flatnonzero((contact.dist <= np.maximum(contact.includemargin, 0.0)) & (contact.exclude < 2))
    if not len(touching):
        return []
    ordered = contact_bodies(model, data)[touching]
    forces = world_forces(model, data, touching)
    forces[ordered[:, 0] > ordered[:, 1]] *= -1.0
    pressures = contact_forces(model, data, touching)[:, 0]
    sides = np.sort(contact_sides(model, data, touching), axis=1)
    pairs, owners = np.unique(np.sort(ordered, axis=1), axis=0, return_inverse=True)
    names = _Names(model)
    found = []
    for i, (first, second) in enumerate(pairs.tolist()):
        mine = owners.ravel() == i
        found.append(
            PressingPair(
                bodies=(first, second),
                names=(names[first], names[second]),
                sides=tuple((one, other) for one, other in np.unique(sides[mine], axis=0).tolist()),
                force=forces[mine].sum(axis=0),
                pressure=float(pressures[mine].sum()),
                count=int(mine.sum()),
                depth=-float(contact.dist[touching][mine].min()),
            )
        )
    return sorted(found, key=lambda pair: -pair.pressure)


class _Names:
    """Names of bodies and flexes by their numbers in `PressingPair.bodies`."""

    def __init__(self, model: MjModel) -> None:
        self._bodies, self._flexes = body_names(model), flex_names(model)

    def __getitem__(self, number: int) -> str:
        return self._bodies[number] if number >= 0 else with_kind("flex", self._flexes[-1 - number])


def find_start_touches(model: MjModel, key: str | int | None = None) -> list[PressingPair]:
    """Return the pairs that touch before the first step, the deepest first. `key`: keyframe that the scene starts
    from."""
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, find_key(model, key))
    mujoco.mj_forward(model, data)
    return sorted(find_pressing_pairs(model, data), key=lambda pair: -pair.depth)


def describe_relation(model: MjModel, bodies: Sides) -> str:
    """Return one sentence on the relation of two bodies that touch; empty if they have none."""
    first, second = bodies
    if first < 0 or second < 0:
        return ""
    names = body_names(model)
    weld = model.body_weldid
    for base, body in ((first, second), (second, first)):
        above = int(model.body_parentid[weld[body]])
        # Parent and child that both move are left out by MuJoCo, unless a flag keeps them.
        if weld[body] and weld[above] == weld[base]:
            if not weld[base]:
                if base == 0 or above == 0 or _below_world(model, base) != _below_world(model, above):
                    return ""
                return (
                    f"{names[base]} has no joint and so counts as part of the world, for which MuJoCo's parent filter"
                    f" is off: it collides with its child {names[weld[body]]}."
                )
            if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
                return f'{names[base]} and {names[body]} are parent and child: <flag filterparent="disable"/>.'
            return f"{names[base]} and {names[body]} are parent and child: a <pair> lets them collide."
    root = tree_root(model, first)
    if root is not None and root == tree_root(model, second):
        return f"Both are parts of {names[root]}."
    return ""


def _below_world(model: MjModel, body: int) -> int:
    """Return the child of the world that a body belongs to."""
    while model.body_parentid[body]:
        body = int(model.body_parentid[body])
    return body


@dataclass(frozen=True)
class PassedLoad:
    """Load on a body that carries a <touch> sensor, and on the bodies below it, whose contacts the sensor does not
    feel."""

    own: float
    """Sum of the normal forces on the body's own geoms [N]."""
    passed: float
    """Sum of the loads on the geoms of the bodies below it [N]."""

    @property
    def share(self) -> float:
        """Part of the load that passes by the sensor, 0 to 1."""
        return self.passed / (self.own + self.passed) if self.own + self.passed > 0 else 0.0


def measure_passed_load(model: MjModel, data: MjData, body: int) -> PassedLoad:
    """Return the load on a body from outside, and on its child bodies."""
    sides, below = contact_bodies(model, data), subtree(model, body)
    below = np.append(below, False)
    inside = below[np.where(sides >= 0, sides, model.nbody)]
    outer = np.flatnonzero((inside[:, 0] != inside[:, 1]) & (data.contact.efc_address >= 0))
    pressures = contact_forces(model, data, outer)[:, 0]
    own = (sides[outer] == body).any(axis=1)
    return PassedLoad(float(pressures[own].sum()), float(pressures[~own].sum()))


def find_children_with_geoms(model: MjModel, body: int) -> list[int]:
    """Return the bodies below a body that have geoms which can collide."""
    colliding = np.zeros(model.nbody, bool)
    colliding[model.geom_bodyid[(model.geom_contype | model.geom_conaffinity) != 0]] = True
    colliding[model.geom_bodyid[np.append(model.pair_geom1, model.pair_geom2)]] = True
    below = subtree(model, body)
    below[body] = False
    return np.flatnonzero(below & colliding).tolist()


def describe_passed_load(model: MjModel, body: int, load: PassedLoad | None = None) -> str | None:
    """Return a sentence that a <touch> sensor on a body feels its own geoms only, and how to measure all; None if it
    has no child bodies with geoms. `load`: the measured load; without it, or without any force, only the bodies are
    named."""
    children, names = find_children_with_geoms(model, body), body_names(model)
    if not children:
        return None
    listed = ", ".join(names[child] for child in children[:3]) + (", ..." if len(children) > 3 else "")
    if load is not None and load.own + load.passed > 0:
        words = f"{load.share:.0%} of the load ({load.passed:.3g} of {load.own + load.passed:.3g} N) passes by on"
    else:
        words = "Not felt:"
    written = read_names(model, "body")[body]
    line = f' <contact subtree1="{written}" reduce="netforce" data="found force"/> sees all.' if written else ""
    return f"Only geoms of {with_kind('body', names[body])} itself count. {words} the bodies below it ({listed}).{line}"
