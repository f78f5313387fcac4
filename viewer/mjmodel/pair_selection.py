"""Turns contact sensors, a body, or names into the pairs of geoms whose contact is tracked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from .names import WATCHER, body_names, flex_names, geom_names, read_names, sensor_targets
from .pairs import Obstacle, find_obstacles, possible_pairs, sensor_pairs
from .types import MjModel

MAX_PAIRS = 2048
"""Most pairs that are tracked at once."""

Pairs = NDArray[np.intp]


EACH_BODY = "each-body"
"""Pattern of `find_touchable` for each body that moves."""


class PairSource(StrEnum):
    """Origin of the tracked pairs."""

    SENSORS = "sensors"
    BODY = "body"
    ALL = "all"
    NAMED = "named"


@dataclass(frozen=True, eq=False)
class PairSelection:
    """Pairs of geoms to track."""

    source: PairSource
    geoms: Pairs
    """Ids of the two geoms of each pair, (pairs, 2)."""
    labels: tuple[tuple[str, str], ...]
    """Names of the two geoms of each pair."""
    total: int
    """Number of pairs that were requested; those beyond MAX_PAIRS are left out."""
    able: NDArray[np.bool_]
    """True for pairs that can collide, whose contacts the engine lists, (pairs,)."""
    flexes: tuple[str, ...] = ()
    """Names of the scene's flexes: they are no geoms, and their contacts are never tracked."""

    @property
    def untracked(self) -> str:
        """Text for the user on contacts of the scene that never make events; empty if there are none."""
        if not self.flexes:
            return ""
        return f"contacts of {_flexes(self.flexes)} make no events of pairs, only of contact sensors"

    @property
    def dropped(self) -> int:
        """Number of pairs left out."""
        return self.total - len(self.labels)


def pairs_of_sensors(model: MjModel) -> PairSelection:
    """Return the pairs that the scene's contact sensors can match. The volume of a sensor's site is not considered."""
    # Many sensors may have the same targets, companions always do.
    is_contact = model.sensor_type == int(mujoco.mjtSensor.mjSENS_CONTACT)
    if WATCHER in (names := read_names(model, "sensor")):
        is_contact[names.index(WATCHER)] = False
    sensors = np.flatnonzero(is_contact)
    by_targets = {sensor_targets(model, sensor): sensor for sensor in sensors.tolist()}
    return _select(model, PairSource.SENSORS, possible_pairs(model, list(by_targets.values())).geoms)


def pairs_of_body(model: MjModel, body: int) -> PairSelection:
    """Return the pairs of a body's own geoms."""
    own = np.flatnonzero(model.geom_bodyid == body)
    one, other = (side.ravel() for side in np.meshgrid(own, np.arange(model.ngeom), indexing="ij"))
    pairs = np.stack([one, other], axis=1)[one != other]
    return _select(model, PairSource.BODY, pairs[_can_collide(model, pairs)])


def all_pairs(model: MjModel) -> PairSelection:
    """Return every pair that can collide."""
    return _select(model, PairSource.ALL, sensor_pairs(model, None).possible)


def named_pairs(model: MjModel, names: Iterable[tuple[str, str]]) -> PairSelection:
    """Return the pairs between two geoms or bodies, in the order of their names.

    Two geoms given by their own names are tracked even if they cannot collide; of bodies, only the pairs that can.
    """
    geoms, bodies = geom_names(model), body_names(model)
    found = [np.zeros((0, 2), np.intp)]
    for first, second in names:
        sides = [_named_geoms(model, name, geoms, bodies) for name in (first, second)]
        pairs = np.array([(a, b) for a in sides[0] for b in sides[1] if a != b], np.intp).reshape(-1, 2)
        if not (first in geoms and second in geoms):
            pairs = pairs[_can_collide(model, pairs)]
        if not len(pairs):
            raise SceneError(f"no geoms of {first!r} and {second!r} can collide")
        found.append(pairs)
    return _select(model, PairSource.NAMED, np.concatenate(found))


def can_touch(model: MjModel) -> NDArray[np.bool_]:
    """Return which geoms can be in contact, (ngeom,)."""
    able = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    able[model.pair_geom1], able[model.pair_geom2] = True, True
    return np.asarray(able)


def find_touchable(model: MjModel, patterns: Iterable[str]) -> list[tuple[str, int]]:
    """Return bodies and geoms that can touch, by patterns of their names: kind and number of each, once.

    Args:
        model: The scene.
        patterns: `each-body` for each body that moves, or a kind and a pattern, such as `geom:*foot*`, `body:*_hand`.

    Raises:
        SceneError: A pattern fits nothing that can touch.
    """
    geoms = np.flatnonzero(can_touch(model))
    names = {"body": body_names(model), "geom": geom_names(model)}
    able = {"body": np.setdiff1d(model.geom_bodyid[geoms], [0]).tolist(), "geom": geoms.tolist()}
    chosen: dict[tuple[str, int], None] = {}
    for pattern in patterns:
        kind, _, wanted = pattern.partition(":")
        if pattern == EACH_BODY:
            kind, found = "body", [("body", body) for body in able["body"] if model.body_weldid[body]]
        elif kind in names and wanted:
            found = [(kind, i) for i in able[kind] if fnmatchcase(names[kind][i], wanted)]
        else:
            raise SceneError(f"{pattern}: is not {EACH_BODY}, body:PATTERN or geom:PATTERN")
        if not found:
            there = ", ".join(names[kind][i] for i in able[kind]) or "none"
            raise SceneError(f"{pattern}: fits nothing that can touch; there are: {there}")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def pairs_with(model: MjModel, patterns: Iterable[str]) -> PairSelection:
    """Return the pairs that can collide and have a body or geom that `find_touchable` finds."""
    found = find_touchable(model, patterns)
    bodies = [number for kind, number in found if kind == "body"]
    own = np.isin(model.geom_bodyid, bodies)
    own[[number for kind, number in found if kind == "geom"]] = True
    pairs = sensor_pairs(model, None).possible
    return _select(model, PairSource.NAMED, pairs[own[pairs].any(axis=1)])


def split_names(model: MjModel, text: str) -> tuple[str, str]:
    """Return the two names of `A,B`; names may contain commas."""
    known = {*geom_names(model), *body_names(model)}
    parts = text.split(",")
    splits = [(",".join(parts[:i]).strip(), ",".join(parts[i:]).strip()) for i in range(1, len(parts))]
    if not splits:
        raise SceneError(f"{text!r} is not a pair: write two names with a comma between them")
    return next((split for split in splits if known.issuperset(split)), splits[0])


def _flexes(names: Sequence[str], most: int = 3) -> str:
    """Return the names of some flexes, for a message."""
    listed = ", ".join(names[:most]) + (f" and {len(names) - most} others" if len(names) > most else "")
    return f"flex{'es' if len(names) > 1 else ''} {listed}"


def _can_collide(model: MjModel, pairs: Pairs) -> NDArray[np.bool_]:
    return find_obstacles(model, pairs) == Obstacle.NONE


def _named_geoms(model: MjModel, name: str, geoms: Sequence[str], bodies: Sequence[str]) -> list[int]:
    """Return the geoms that a name means: that geom, or those of that body."""
    if name in geoms:
        return [geoms.index(name)]
    if name in bodies:
        return np.flatnonzero(model.geom_bodyid == bodies.index(name)).tolist()
    raise SceneError(f"no geom or body named {name!r}")


def _select(model: MjModel, source: PairSource, pairs: Pairs) -> PairSelection:
    """Return each pair once, however often and in whatever order it is given."""
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    unique = pairs[np.sort(first)]
    kept = unique[:MAX_PAIRS]
    names = geom_names(model)
    labels = tuple((names[a], names[b]) for a, b in kept.tolist())
    return PairSelection(source, kept, labels, len(unique), _can_collide(model, kept), tuple(flex_names(model)))
