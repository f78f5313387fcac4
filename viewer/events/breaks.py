"""Finds contacts at which a simulation pauses."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..mjmodel.friction import contact_cones
from ..mjmodel.matching import Matches, rebuild_contacts
from ..mjmodel.names import PAIR
from ..mjmodel.pair_selection import Pairs
from ..sensors.friction import ContactState, FrictionCones
from .event_log import LogEntry


class BreakWhen(StrEnum):
    """Condition on a contact at which a run pauses."""

    BEGIN = "begins"
    END = "ends"
    FORCE = "exceeds"
    SLIP = "slips"


@dataclass
class Break:
    """Break at which a run pauses: a pair, a sensor, or any pair begins, ends, slips, or exceeds a force."""

    when: BreakWhen
    pair_id: int | None = None
    sensor: int | None = None
    force: float = 0.0
    """Force that contacts exceed under `BreakWhen.FORCE` [N]."""
    enabled: bool = True
    slipped: frozenset[int] = frozenset()
    """Numbers of the contacts that began to slide at the last slip."""
    _above: bool = True
    _sliding: AbstractSet[int] | None = None

    def restart(self) -> None:
        """Forget the last step: the next step does not continue it."""
        self._above, self._sliding = True, None

    def is_event(self, entry: LogEntry) -> bool:
        """Return True if a run pauses at an event."""
        if not self.enabled or self.when.removesuffix("s") != entry.kind:
            return False
        if self.sensor is not None:
            return entry.sensor == self.sensor
        return entry.pair_id is not None and self.pair_id in (None, entry.pair_id)

    def is_exceeded(self, forces: Iterable[float]) -> bool:
        """Return True if the largest of some forces [N] has risen above the limit since the last call."""
        above = max(forces, default=0.0) > self.force
        rose, self._above = above and not self._above, above
        return rose and self.enabled

    def is_slip(self, sliding: AbstractSet[int], sticking: AbstractSet[int]) -> bool:
        """Return True if a contact, of those given by number, has begun to slide since the last call.

        A sliding contact may lift off for a while: it has to stick before it can slip again.
        """
        before = self._sliding
        self._sliding = sliding if before is None else (before | sliding) - sticking
        self.slipped = frozenset() if before is None else frozenset(sliding - before)
        return bool(self.slipped) and self.enabled


class Slip(NamedTuple):
    """Numbers of the contacts that slide and that stick; those without force or known friction are in neither set."""

    sliding: frozenset[int] = frozenset()
    sticking: frozenset[int] = frozenset()


def sliding_geoms(engine: Engine, name: str) -> list[str]:
    """Return the names of the sliding geom pairs among the contacts that a sensor reports."""
    batch = engine.contacts(name)
    cones = contact_cones(engine.model, engine.contact_data(), batch) if engine.has_contact_list else None
    if cones is None:
        return []
    slots = batch.filled.nonzero()[0][cones.states == ContactState.SLIDING].tolist()
    geoms = engine.details(name).geoms
    return list(dict.fromkeys(PAIR.join(geoms[slot]) for slot in slots))


def sensor_slip(engine: Engine, name: str) -> Slip:
    """Return the slip of a sensor, as number 0: it slides if one of its contacts does. Unknown for netforce."""
    if not engine.has_contact_list:
        return Slip()
    cones = contact_cones(engine.model, engine.contact_data(), engine.contacts(name))
    return Slip() if cones is None else _slip(cones, np.zeros(len(cones.states), np.intp))


def pair_slip(engine: Engine, pairs: Pairs) -> Slip:
    """Return the slip of geom pairs, (n, 2), by their index: a pair slides if one of its contacts does."""
    if not engine.has_contact_list:
        return Slip()
    data = engine.contact_data()
    geoms = np.sort(data.contact.geom, axis=1)
    contacts, owners = np.nonzero((geoms[:, np.newaxis] == np.sort(pairs, axis=1)).all(axis=2))
    if not len(contacts):
        return Slip()
    batch = rebuild_contacts(engine.model, data, Matches(contacts, np.zeros(len(contacts), bool)))
    cones = contact_cones(engine.model, data, batch)
    assert cones is not None
    return _slip(cones, owners)


def _slip(cones: FrictionCones, owners: NDArray[np.intp]) -> Slip:
    sliding, sticking, unknown = (
        frozenset(owners[cones.states == state].tolist())
        for state in (ContactState.SLIDING, ContactState.STICKING, ContactState.UNKNOWN)
    )
    return Slip(sliding, sticking - sliding - unknown)
