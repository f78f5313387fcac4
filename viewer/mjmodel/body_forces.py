"""Computes the forces on a body: the sum of its contact forces, and the force that it passes to its parent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from .balance import world_forces
from .matching import are_forces_hidden
from .sleep import sleep_in_pairs, sleeping_bodies
from .types import MjData, MjModel

_ONE_STEP = 1.5
"""Time difference up to which a state counts as the next one [time steps]: engines add up rounded times."""


@dataclass(frozen=True, eq=False)
class BodyContacts:
    """The contacts of one body's own geoms."""

    force: NDArray[np.float64]
    """Sum of the forces on the body [N], world, (3,)."""
    found: int
    """Number of the contacts that touch. A pair that only a gap lists is apart, and does not count."""


class BodyForces(Protocol):
    """The forces on bodies, as an engine knows them."""

    from_mujoco: bool
    """True if the mjData that draws the scene is stepped itself, and holds MuJoCo's own sensors."""

    def refusal(self, body: int, mount: bool) -> str | None:
        """Return the reason why the contact or mount force on a body is not known; None if it is."""
        ...

    def read(self) -> None:
        """Read the state after a step; all other methods report on it."""
        ...

    def contacts(self, body: int) -> BodyContacts: ...
    def mount(self, body: int) -> NDArray[np.float64]:
        """Return the force that a body passes to its parent [N], world, (3,)."""
        ...

    def contact_points(self, body: int) -> NDArray[np.float64]:
        """Return the points at which a body is touched [m], world, (n, 3); empty where the engine does not know."""
        ...


class MujocoForces:
    """Forces in an mjData."""

    from_mujoco = True

    def __init__(self, model: MjModel, data: MjData, contact_data: Callable[[], MjData] | None = None) -> None:
        """`contact_data`: returns an mjData with the contacts of the last step, if a step leaves others in `data`."""
        self._model, self._data = model, data
        self._contact_data = contact_data or (lambda: data)
        # The -1 that stands for a flex in a contact picks the last value.
        self._owners = np.append(model.geom_bodyid, -1)
        self._time = -np.inf
        self._qvel_now = np.zeros(model.nv)
        self._contacts: tuple[NDArray[Any], ...]
        self._contacts = (np.zeros((0, 2), np.intp), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool))
        """For each contact its bodies, the force on the second one [N], the position [m], and True if it touches; world
        frame. For sleeping bodies the values before they fell asleep, which MuJoCo's own sensors keep too."""
        self.read()

    def refusal(self, body: int, mount: bool) -> str | None:
        joint = self._model.body_jntadr[body]
        floats = joint >= 0 and self._model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        attached = body > 0 and not floats
        return "measure mount needs a body that is attached to another one" if mount and not attached else None

    def read(self) -> None:
        model, data = self._model, self._contact_data()
        contact = data.contact
        bodies = self._owners[contact.geom]
        world = world_forces(model, data, np.arange(len(bodies)))
        listed: tuple[NDArray[Any], ...] = (bodies, world, contact.pos, _touching(data))
        if sleeping_bodies(model, data):
            held = self._held(bodies)
            bodies, world, points, touching = (
                np.concatenate([now, before[held]]) for now, before in zip(listed, self._contacts, strict=True)
            )
        else:
            bodies, world, points, touching = (array.copy() for array in listed)
        self._contacts = bodies, world, points, touching
        # One row more, for flexes.
        self._sums = np.full((model.nbody + 1, 3), np.nan if are_forces_hidden(data) else 0.0)
        np.add.at(self._sums, bodies[:, 1], world)
        np.subtract.at(self._sums, bodies[:, 0], world)
        self._counts = np.bincount(bodies[touching].ravel() + 1, minlength=model.nbody + 1)
        elapsed = data.time - self._time
        self._qvel_before = self._qvel_now if 0 < elapsed < _ONE_STEP * model.opt.timestep else data.qvel.copy()
        self._qvel_now = data.qvel.copy()
        # A state beside the simulation has the velocities before the step.
        self._time = data.time if data is self._data else -np.inf

    def contacts(self, body: int) -> BodyContacts:
        return BodyContacts(self._sums[body], int(self._counts[body + 1]))

    def mount(self, body: int) -> NDArray[np.float64]:
        data = self._contact_data()
        if not data.flg_rnepost:
            # Accelerations and all else belong to the state before the step, but the velocity is already the next one.
            data.qvel[:] = self._qvel_before
            mujoco.mj_rnePostConstraint(self._model, data)
            data.qvel[:] = self._qvel_now
        # What the parent does to the body, reversed.
        return np.full(3, np.nan) if are_forces_hidden(data) else -data.cfrc_int[body, 3:]

    def contact_points(self, body: int) -> NDArray[np.float64]:
        bodies, _, points, touching = self._contacts
        return points[(bodies == body).any(axis=1) & touching]

    def _held(self, listed: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return True for contacts that persist although MuJoCo does not list them, because their bodies sleep, (n,).

        `listed`: the bodies of the contacts that it lists, (k, 2); -1 for flexes.
        """
        before = self._contacts[0]
        pairs = {tuple(pair) for pair in np.sort(listed, axis=1).tolist()}
        unlisted = np.array([tuple(pair) not in pairs for pair in np.sort(before, axis=1).tolist()], bool)
        return (before >= 0).all(axis=1) & sleep_in_pairs(self._data, before) & unlisted


def _touching(data: MjData) -> NDArray[np.bool_]:
    """Return True for contacts that penetrate, or are near enough for a force, (k,).

    By distance, not by constraint: bodies that cannot move or are asleep touch without one.
    """
    contact = data.contact
    # Below 0 where an older MuJoCo takes the gap off the margin.
    return np.asarray(contact.dist <= np.maximum(contact.includemargin, 0.0))
