"""Finds the first link of the chain from state to contact forces in which two steps differ."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import PAIR
from .sides import FOUND, NET, PRESSED, StepFacts
from .worker import INPUTS, STATE

Values = NDArray[Any]
_PARAMETERS = ("dim", "friction", "solref", "solimp", "includemargin")


class Link(StrEnum):
    """A link of the chain from a state to contact forces, and to the next state."""

    STATE = "state"
    """The states before the step differ already, or one run has no such step."""
    INPUTS = "inputs"
    PAIRS = "pair list"
    POINTS = "contact points"
    SHAPE = "normal or distance"
    PARAMETERS = "mixed parameters"
    FORCE = "solved force"
    READING = "sensor"
    """Contacts and their forces are the same, but the sensor's reading of them differs."""
    MOTION = "motion"
    """Contacts and their forces are the same, but the state after the step differs."""


@dataclass(frozen=True)
class Divergence:
    """The first step at which something differs."""

    step: int
    time: float
    """Simulated time after the step in the first run [s]."""
    link: Link
    text: str
    """Description of the difference, with both values."""


class Judge:
    """Judge of differences between two scenes, whose objects are matched by their names."""

    def __init__(
        self,
        a: dict[str, dict[str, Any]],
        b: dict[str, dict[str, Any]],
        tolerance: float = 0.0,
        any_order: bool = False,
    ) -> None:
        """Prepare a comparison. `tolerance`: relative for values above 1, else absolute; 0 for equality bit for bit.
        `any_order`: True to accept another order of one pair's contacts in the list."""
        self._any_order = any_order
        self._tolerance = tolerance
        self._geoms = list(a["geom"]["names"])
        known = {name: number for number, name in enumerate(self._geoms)}
        extra = iter(range(len(known), len(known) + len(b["geom"]["names"])))
        # What only the second scene has gets numbers of its own; the last one is that of no geom.
        ids = [known[name] if name in known else next(extra) for name in b["geom"]["names"]]
        self._geoms += [name for name in b["geom"]["names"] if name not in known]
        self._b_ids = np.array([*ids, -1], np.int64)
        self._state = {part: _common(a["joint"], b["joint"], part) for part in ("qpos", "qvel")}
        self._joints = {part: _joint_names(a["joint"], part) for part in ("qpos", "qvel")}

    def differs(self, a: Values, b: Values) -> NDArray[np.bool_]:
        """Return True where values differ by more than the tolerance; NaN equals NaN."""
        with np.errstate(invalid="ignore"):
            if not self._tolerance:
                return np.asarray((a != b) & ~((a != a) & (b != b)))
            scale = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
            return np.asarray(~(np.abs(a - b) <= self._tolerance * scale) & ~((a != a) & (b != b)))

    def state(self, a: StepFacts, b: StepFacts) -> str:
        """Return the difference between the states after a step, with both values; empty if there is none."""
        for part in STATE:
            places = self._state.get(part)
            first, second = a.values[part], b.values[part]
            if places is not None and len(first) and len(second):
                first, second = first[places[0]], second[places[1]]
            if len(first) == len(second) and (where := self._largest(first, second)) is not None:
                place = where if places is None else int(places[0][where])
                name = self._joints[part].get(place, "") if part in self._joints else ""
                return _text(f"{part}[{place}]{f' of joint {name}' if name else ''}", first[where], second[where])
        return ""

    def link(self, a: StepFacts, b: StepFacts, starts_equal: bool) -> tuple[Link, str] | None:
        """Return the first link of the chain that differs in a step, with a description; None if contacts and forces
        are the same. `starts_equal`: True if the states before the step are the same."""
        found = self._chain(a, b)
        if found is None:
            return None
        if not starts_equal:
            return Link.STATE, f"the states before it differ; then {found[0]}: {found[1]}"
        return self.inputs(a, b) or found

    def inputs(self, a: StepFacts, b: StepFacts) -> tuple[Link, str] | None:
        """Return the input of a step that differs; None if none does."""
        for name in INPUTS:
            first, second = a.values[name], b.values[name]
            if len(first) == len(second) and (where := self._largest(first, second)) is not None:
                return Link.INPUTS, _text(f"{name}[{where}]", first[where], second[where])
        return None

    def array(self, name: str, a: Values, b: Values) -> tuple[Link, str] | None:
        """Return the difference between the arrays of one sensor of any kind; None if there is none."""
        if len(a) != len(b):
            return Link.READING, _text(f"length of {name}", len(a), len(b))
        where = self._largest(a, b)
        return None if where is None else (Link.READING, _text(f"{name}[{where}]", a[where], b[where]))

    def sensors(self, a: Values, b: Values, names: list[str]) -> tuple[Link, str] | None:
        """Return the difference between readings of sensors, (sensors, WIDTH), for runs whose contact lists are not
        known."""
        for link, column, what in (
            (Link.POINTS, slice(FOUND, FOUND + 1), "contacts"),
            (Link.FORCE, slice(PRESSED, NET.stop), "force"),
        ):
            first, second = a[:, column], b[:, column]
            if (where := self._largest(first, second)) is not None:
                sensor = where // first.shape[1]
                return link, _text(f"{what} of {names[sensor]}", first.flat[where], second.flat[where])
        return None

    def _chain(self, a: StepFacts, b: StepFacts) -> tuple[Link, str] | None:
        assert a.contacts is not None
        assert b.contacts is not None
        first, second = self._sorted(a.contacts, None), self._sorted(b.contacts, self._b_ids)
        pairs, others = {tuple(key) for key in first["key"].tolist()}, {tuple(key) for key in second["key"].tolist()}
        if pairs != others:
            key = min(pairs ^ others)
            return Link.PAIRS, f"{self._pair(key)} is only in the list of {'A' if key in pairs else 'B'}"
        if first["key"].shape != second["key"].shape or (first["key"] != second["key"]).any():
            for key in sorted(pairs):
                counts = [int((each["key"] == key).all(axis=1).sum()) for each in (first, second)]
                if counts[0] != counts[1]:
                    return Link.POINTS, _text(f"number of contacts of {self._pair(key)}", *counts)
        if self._any_order:
            order = _nearest_rows(first, second)
            second = {name: values[order] for name, values in second.items()}
        checks = [(Link.POINTS, "pos", "position"), (Link.SHAPE, "normal", "normal"), (Link.SHAPE, "dist", "distance")]
        checks += [(Link.PARAMETERS, name, name) for name in _PARAMETERS] + [(Link.FORCE, "force", "force")]
        for link, name, what in checks:
            if name in first and name in second and (where := self._largest(first[name], second[name])) is not None:
                row = where // max(1, int(np.prod(first[name].shape[1:])))
                pair = self._pair(tuple(first["key"][row].tolist()))
                return link, _text(f"{what} of {pair}", first[name].flat[where], second[name].flat[where])
        return None

    def _sorted(self, contacts: dict[str, Values], ids: Values | None) -> dict[str, Values]:
        """Return contacts sorted by their pairs of geoms; contacts of one pair keep their order."""
        geoms = np.asarray(contacts["geom"], np.int64).reshape(-1, 2)
        key = geoms if ids is None else ids[geoms]
        if (flex := contacts.get("flex")) is not None:
            # Flexes after all geoms.
            key = np.where(geoms < 0, len(self._geoms) + flex.reshape(-1, 2), key)
        key = np.sort(key, axis=1)
        order = np.lexsort((key[:, 1], key[:, 0]))
        found = {name: values[order] for name, values in contacts.items() if name not in ("geom", "flex")}
        normals = found.pop("frame").reshape(len(order), 9)[:, :3]
        return found | {"key": key[order], "normal": normals}

    def _largest(self, a: Values, b: Values) -> int | None:
        """Return the flat index of the largest difference beyond the tolerance; None if there is none."""
        differs = self.differs(a, b)
        if not differs.any():
            return None
        with np.errstate(invalid="ignore"):
            sizes = np.abs(np.asarray(a, float) - np.asarray(b, float))
        return int(np.argmax(np.where(differs, np.where(np.isnan(sizes), np.inf, sizes), -1.0)))

    def _pair(self, key: tuple[int, ...]) -> str:
        count = len(self._geoms)
        return PAIR.join(self._geoms[i] if i < count else f"flex {i - count}" for i in key)


def _nearest_rows(first: dict[str, Values], second: dict[str, Values]) -> NDArray[np.intp]:
    """Return for each contact of a sorted list the nearest row of the same pair in another sorted list; each row
    once."""
    order = np.arange(len(first["key"]))
    starts = np.flatnonzero(np.append(True, (first["key"][1:] != first["key"][:-1]).any(axis=1)))
    for start, stop in zip(starts, np.append(starts[1:], len(order)), strict=True):
        if stop - start < 2:
            continue
        apart = np.linalg.norm(first["pos"][start:stop, None] - second["pos"][None, start:stop], axis=2)
        for row in range(stop - start):
            order[start + row] = start + int(np.argmin(apart[row]))
            apart[:, order[start + row] - start] = np.inf
    return order


def _common(a: dict[str, Any], b: dict[str, Any], part: str) -> tuple[Values, Values] | None:
    """Return the indices in a part of the state, such as qpos, that both scenes have, matched by the names of joints;
    None if all are the same."""
    if a["names"] == b["names"] and np.array_equal(a[part], b[part]):
        return None
    spans = [dict(zip(each["names"], _spans(each, part), strict=True)) for each in (a, b)]
    both = [name for name in a["names"] if name in spans[1] and _width(spans[0][name]) == _width(spans[1][name])]
    first, second = ([place for name in both for place in range(*each[name])] for each in spans)
    return np.array(first, int), np.array(second, int)


def _spans(joints: dict[str, Any], part: str) -> list[tuple[int, int]]:
    starts = joints[part].tolist()
    return list(zip(starts, [*starts[1:], joints["sizes"][part]], strict=True)) if starts else []


def _width(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _joint_names(joints: dict[str, Any], part: str) -> dict[int, str]:
    """Return the name of the joint at each index of a part of the state."""
    spans = zip(joints["names"], _spans(joints, part), strict=True)
    return {place: name for name, span in spans for place in range(*span)}


def _text(what: str, a: Any, b: Any) -> str:
    a, b = (value.item() if isinstance(value, np.generic) else value for value in (a, b))
    return f"{what}: {a:.9g} in A, {b:.9g} in B" if f"{a:.9g}" != f"{b:.9g}" else f"{what}: {a!r} in A, {b!r} in B"
