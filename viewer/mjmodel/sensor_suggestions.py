"""Suggest contact sensors for the pairs that touch now, or for a body."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind, unique_name
from .declarations import TARGET_OBJECTS
from .matching import Target, contact_forces
from .names import PAIR, body_names, geom_names, read_names
from .pairs import Obstacle, find_obstacles
from .types import MjData, MjModel

_SLOTS_MIN = 4
_ALL_SLOTS_MIN, _ALL_SLOTS_MAX = 64, 1000
_ALL_NAME = "all_contacts"
_PAIRS_MAX = 20_000


@dataclass(frozen=True)
class TouchingPair:
    """Pair of geoms with contacts between them."""

    geoms: tuple[int, int]
    """Ids of the geoms, a static one first, so that forces act on the moving one; -1 for a flex."""
    labels: tuple[str, str]
    count: int
    """Number of contacts between the two geoms."""
    force: float
    """Sum of the normal forces between the two geoms [N]."""

    @property
    def label(self) -> str:
        return PAIR.join(self.labels)


@dataclass(frozen=True)
class TouchingBody:
    """A body that moves and touches something."""

    name: str
    """Name of the body; empty if it has none, so that no sensor can refer to it."""
    label: str
    count: int
    """Number of contacts of its geoms."""
    force: float
    """Sum of the normal forces on its geoms [N]."""


class SensorSuggestions:
    """Sensors that fit a model."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._labels = geom_names(model)
        self._geoms, self._bodies = read_names(model, "geom"), read_names(model, "body")
        self._reachable: dict[tuple[ContactTarget, ContactTarget], bool] = {}
        self.sites = read_names(model, "site")
        """Names of all sites; empty for unnamed ones."""

    def touching(self, data: MjData) -> list[TouchingPair]:
        """Return the pairs of geoms in contact, in the scene's order, from data of the model."""
        contact = data.contact
        if not data.ncon:
            return []
        pairs, forces = self._in_order(contact.geom), contact_forces(self._model, data, np.arange(data.ncon))[:, 0]
        unique, place = np.unique(pairs, axis=0, return_inverse=True)
        counts = np.bincount(place.ravel(), minlength=len(unique))
        sums = np.bincount(place.ravel(), forces, minlength=len(unique))
        return [
            TouchingPair((int(one), int(other)), (self._label(one), self._label(other)), int(count), float(total))
            for (one, other), count, total in zip(unique, counts, sums, strict=True)
        ]

    def touching_bodies(self, data: MjData) -> list[TouchingBody]:
        """Return the moving bodies in contact, in the scene's order, from data of the model."""
        model = self._model
        if not data.ncon:
            return []
        forces = contact_forces(model, data, np.arange(data.ncon))[:, 0]
        geoms = data.contact.geom
        bodies = np.where(geoms >= 0, model.geom_bodyid[geoms], 0)
        counts = np.zeros(model.nbody, np.int64)
        sums = np.zeros(model.nbody)
        for side in bodies.T:
            np.add.at(counts, side, 1)
            np.add.at(sums, side, forces)
        moving = np.flatnonzero((counts > 0) & (model.body_weldid != 0))
        labels = body_names(model)
        return [TouchingBody(self._bodies[body], labels[body], int(counts[body]), float(sums[body])) for body in moving]

    def for_touching_bodies(self, data: MjData, taken: Collection[str]) -> list[ContactDeclaration]:
        """Return a sensor for each moving body that touches something now, such as the feet of a robot."""
        used, found = set(taken), []
        for body in self.touching_bodies(data):
            if body.name:
                declaration = self.for_whole_body(body, used)
                used.add(declaration.name)
                found.append(declaration)
        return found

    def for_whole_body(self, body: TouchingBody, taken: Collection[str]) -> ContactDeclaration:
        """Return a sensor of everything that touches a body, with room for more contacts than now."""
        target = ContactTarget(TargetKind.BODY, body.name)
        slots = max(2 * _SLOTS_MIN, 2 * body.count)
        return ContactDeclaration(unique_name(body.name, set(taken)), second=target, num=slots)

    def for_pair(self, pair: TouchingPair, taken: Collection[str]) -> ContactDeclaration | None:
        """Return a sensor of a pair that touches now, with slots for all contacts; None if neither side has a name."""
        first, second = (self.target_of_geom(geom) for geom in pair.geoms)
        if first.kind is TargetKind.ANY and second.kind is TargetKind.ANY:
            return None
        words = [target.name for target in (second, first) if target.name]
        slots = max(_SLOTS_MIN, pair.count)
        return ContactDeclaration(unique_name("_".join(words), set(taken)), first, second, num=slots)

    def for_body(self, body: str, taken: Collection[str]) -> list[ContactDeclaration]:
        """Return a sensor for each named, colliding geom of a body, of everything that touches it."""
        used, found = set(taken), []
        for geom in self._colliding(self._bodies.index(body)):
            if name := self._geoms[geom]:
                chosen = unique_name(name, used)
                used.add(chosen)
                found.append(ContactDeclaration(chosen, second=ContactTarget(TargetKind.GEOM, name)))
        return found

    def unnamed_of_body(self, body: str) -> int:
        """Return the number of geoms that `for_body` leaves out because they have no name."""
        return sum(not self._geoms[geom] for geom in self._colliding(self._bodies.index(body)))

    def for_everything(self, data: MjData, taken: Collection[str]) -> ContactDeclaration:
        """Return a sensor of all contacts, with room for twice as many as there are now, and four for each geom that
        moves."""
        model = self._model
        moving = int(
            ((model.body_weldid[model.geom_bodyid] != 0) & (model.geom_contype | model.geom_conaffinity > 0)).sum()
        )
        slots = min(max(_ALL_SLOTS_MIN, 2 * data.ncon, _SLOTS_MIN * moving), _ALL_SLOTS_MAX)
        return ContactDeclaration(unique_name(_ALL_NAME, set(taken)), num=slots)

    def can_touch(self, declaration: ContactDeclaration) -> bool:
        """Return True if a sensor can ever report a contact, or if there are too many pairs to examine."""
        targets = declaration.first, declaration.second
        if targets not in self._reachable:
            self._reachable[targets] = self._can_touch(*targets)
        return self._reachable[targets]

    def _can_touch(self, one: ContactTarget, other: ContactTarget) -> bool:
        first, second = self._geoms_of(one), self._geoms_of(other)
        if self._model.nflex or len(first) * len(second) > _PAIRS_MAX:
            return True
        pairs = np.stack([side.ravel() for side in np.meshgrid(first, second, indexing="ij")], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return bool((find_obstacles(self._model, pairs) == Obstacle.NONE).any())

    def target_of_geom(self, geom: int) -> ContactTarget:
        """Return a geom by name, else its body, else anything."""
        if geom < 0:
            return ContactTarget()
        if self._geoms[geom]:
            return ContactTarget(TargetKind.GEOM, self._geoms[geom])
        return self.target_of_body(int(self._model.geom_bodyid[geom]), TargetKind.BODY)

    def target_of_body(self, body: int, kind: TargetKind) -> ContactTarget:
        """Return a body or its subtree if it has a name, else anything."""
        return ContactTarget(kind, self._bodies[body]) if self._bodies[body] else ContactTarget()

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that have geoms that can collide."""
        return tuple(name for body, name in enumerate(self._bodies) if name and len(self._colliding(body)))

    def _geoms_of(self, target: ContactTarget) -> NDArray[np.intp]:
        """Return the geoms that one side of a sensor covers."""
        names = self._geoms if target.kind is TargetKind.GEOM else self._bodies
        kind, index = TARGET_OBJECTS[target.kind], names.index(target.name) if target.name in names else -1
        return np.flatnonzero(Target(self._model, int(kind), index).geoms[:-1])

    def _label(self, geom: int) -> str:
        return self._labels[geom] if geom >= 0 else "flex"

    def _in_order(self, pairs: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return pairs ordered by static geoms first, then by number."""
        ordered = np.sort(pairs, axis=1)
        moves = np.append(self._model.body_weldid[self._model.geom_bodyid] != 0, True)
        turned = moves[ordered[:, 0]] & ~moves[ordered[:, 1]]
        ordered[turned] = ordered[turned, ::-1]
        return ordered

    def _colliding(self, body: int) -> NDArray[np.intp]:
        """Return the geoms of a body that can collide with something."""
        model = self._model
        start = int(model.body_geomadr[body])
        geoms = np.arange(start, start + int(model.body_geomnum[body]))
        able = (model.geom_contype[geoms] | model.geom_conaffinity[geoms]) != 0
        return geoms[able | np.isin(geoms, [model.pair_geom1, model.pair_geom2])]
