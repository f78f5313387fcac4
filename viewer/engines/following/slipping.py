"""The contacts of a step to which of them slide and which stick."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sensors.friction import ContactState, FrictionCones
from ..contract import Engine
from ..mujoco.cones import contact_cones
from ..mujoco.matching import Matches, rebuild_contacts
from .sensor_forces import is_stepped_by_mujoco
from .watched_pairs import Pairs


class Slip(NamedTuple):
    """Who slides and who sticks; those that do not press do neither."""

    sliding: frozenset[int] = frozenset()
    sticking: frozenset[int] = frozenset()


def sensor_slip(engine: Engine, name: str) -> Slip:
    """Of a sensor, as number 0: it slides if one of its contacts does. A netforce sensor does not tell."""
    if not is_stepped_by_mujoco(engine):
        return Slip()
    cones = contact_cones(engine.model, engine.data, engine.contacts(name))
    return Slip() if cones is None else _slip(cones, np.zeros(len(cones.states), np.intp))


def pair_slip(engine: Engine, pairs: Pairs) -> Slip:
    """Of pairs of geoms, (n, 2), by their place: a pair slides if one of its contacts does."""
    if not is_stepped_by_mujoco(engine) or not engine.data.ncon:
        return Slip()
    geoms = np.sort(engine.data.contact.geom, axis=1)
    contacts, owners = np.nonzero((geoms[:, np.newaxis] == np.sort(pairs, axis=1)).all(axis=2))
    if not len(contacts):
        return Slip()
    batch = rebuild_contacts(engine.model, engine.data, Matches(contacts, np.zeros(len(contacts), bool)))
    cones = contact_cones(engine.model, engine.data, batch)
    assert cones is not None
    return _slip(cones, owners)


def _slip(cones: FrictionCones, owners: NDArray[np.intp]) -> Slip:
    sliding = frozenset(owners[cones.states == ContactState.SLIDING].tolist())
    return Slip(sliding, frozenset(owners[cones.states == ContactState.STICKING].tolist()) - sliding)
