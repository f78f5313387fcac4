"""Measures the conditions that must not occur in a run: slip, creep, lost contact, large forces, falling,
divergence."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..engines.steps import Step
from ..errors import SceneError, did_you_mean
from ..mjmodel.declarations import declared_sensors
from ..mjmodel.matching import ContactMatcher, contact_forces
from ..mjmodel.names import PAIR, body_names, geom_names
from ..mjmodel.pair_motion import MotionReader, PairSamples, moves_between, pair_key
from ..mjmodel.types import MjData, MjModel

Values = NDArray[np.float64]
_SAMPLE = 0.005
"""Time between two samples of the motion of contacts [s]."""
_APART = 0.1
"""Longest time for which a pair may separate and its slip still adds up [s]: pyramidal cones throw sliding bodies
up."""
_OVERLAP = round(_APART / _SAMPLE)
_WINDOW = 0.5
"""Time over which creep is averaged, and time that a new contact has to settle [s]."""
_LEAST = 0.1
"""Shortest duration of a contact that ended early whose mean speed counts as creep [s]."""


class Kind(StrEnum):
    """Conditions that a sensor, geom or body can be watched for."""

    SLIP = "slip"
    """Distance that touching surfaces slide along each other [m], computed from the poses."""
    CREEP = "creep"
    """Slip speed of touching surfaces [m/s]: the mean over half a second, after another half to settle; or over all of
    a contact that ends sooner."""
    LOST = "lost"
    """Longest time without a pressing contact after the first one [s]."""
    FORCE = "force"
    """Net contact force of a sensor, or of the strongest pair of a geom or body [N]."""
    DROP = "drop"
    """Height of a body or geom in the world [m]; it must not fall below a limit."""
    UNSTABLE = "unstable"
    """Divergence of the simulation."""


_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3}
_METRES = {"": 1.0, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6}
_UNITS = {
    Kind.SLIP: _METRES,
    Kind.DROP: _METRES,
    Kind.CREEP: {unit and f"{unit}/s": factor for unit, factor in _METRES.items()},
    Kind.LOST: _SECONDS,
    Kind.FORCE: {"": 1.0, "N": 1.0, "mN": 1e-3, "kN": 1e3},
}
_SHOWN = {Kind.SLIP: "m", Kind.DROP: "m", Kind.CREEP: "m/s", Kind.LOST: "s", Kind.FORCE: "N"}
_PREFIXES = (("", 1.0), ("m", 1e-3), ("u", 1e-6))


@dataclass(frozen=True)
class Unwanted:
    """Condition that must not happen."""

    kind: Kind
    name: str
    """Contact sensor, geom, body, or pair of geoms; empty for `unstable`."""
    limit: float
    """Value that must not be exceeded; for `drop`, value below which the height must not fall; in SI units."""

    def __str__(self) -> str:
        if self.kind is Kind.UNSTABLE:
            return "the simulation diverges"
        sign = "<" if self.kind is Kind.DROP else ">"
        return f"{self.kind} of {self.name} {sign} {self.text(self.limit)}"

    def happens(self, value: float) -> bool:
        """Return True if a measured value meets the condition; False for one that is not known."""
        return value < self.limit if self.kind is Kind.DROP else value > self.limit

    def text(self, value: float) -> str:
        """Return a value with its unit, such as `1.2 mm`."""
        if self.kind is Kind.UNSTABLE:
            return "diverges" if value else "stable"
        if not math.isfinite(value):
            return "unknown"
        unit = _SHOWN[self.kind]
        prefix, size = next((each for each in _PREFIXES if abs(value) >= each[1]), _PREFIXES[-1])
        if not value:
            prefix, size = "", 1.0
        return f"{value / size:.3g} {prefix}{unit}"


def read_unwanted(text: str) -> Unwanted:
    """Return the condition that a text such as `slip:left_finger>1mm` describes. Raises SceneError."""
    if text.strip() == Kind.UNSTABLE:
        return Unwanted(Kind.UNSTABLE, "", 0.5)
    word, _, rest = text.partition(":")
    example = (
        f"{text!r}: write for example slip:left_finger>1mm, creep:box>10um/s, lost:ball, force:tip>20N, drop:box<0.1m"
    )
    try:
        kind = Kind(word.strip())
    except ValueError:
        raise SceneError(f"{example}, unstable{did_you_mean(word.strip(), list(Kind))}") from None
    sign = "<" if kind is Kind.DROP else ">"
    name, found, number = rest.rpartition(sign)
    if not found and kind is Kind.LOST:
        return Unwanted(kind, rest.strip(), 0.0)
    parts = re.fullmatch(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zA-Zµ/]*)", number.strip())
    if not found or not name.strip() or parts is None:
        raise SceneError(example)
    try:
        factor, value = _UNITS[kind][parts[2]], float(parts[1])
    except KeyError:
        units = ", ".join(unit for unit in _UNITS[kind] if unit)
        raise SceneError(f"{text!r}: {parts[2]} is no unit of {kind}: {units}") from None
    except ValueError:
        raise SceneError(example) from None
    if value < 0 and kind is not Kind.DROP:
        raise SceneError(f"{text!r}: {kind} is never negative")
    return Unwanted(kind, name.strip(), value * factor)


class Measure:
    """Observer of a run that measures a value for each condition."""

    def __init__(self, engine: Engine, unwanted: Sequence[Unwanted], start: float = 0.0) -> None:
        """Prepare a measurement. `start`: simulated time before which nothing is judged [s]. Raises SceneError for an
        unknown name."""
        self.unwanted, self._start = list(unwanted), start
        self._model, self._timestep = engine.model, engine.timestep
        self._targets = [_Target(self._model, each) for each in unwanted]
        self._moving = [
            _Ways(self._model, target) if each.kind in (Kind.SLIP, Kind.CREEP) else None
            for each, target in zip(unwanted, self._targets, strict=True)
        ]
        self._reader = MotionReader(self._model) if any(self._moving) else None
        self._stride, self._skipped = max(1, round(_SAMPLE / engine.timestep)), 0
        self._times: list[float] = []
        self._lead = 0
        """Number of samples that were already decoded, and are kept because the next samples follow them."""
        self._values = [math.inf if each.kind is Kind.DROP else 0.0 for each in unwanted]
        self._since: list[float | None] = [None] * len(self.unwanted)
        """Time since which a contact that was there before has been open, for each condition [s]."""
        self.pairs: set[tuple[int, int]] = set()
        """Pairs of geoms that pressed on each other in watched contacts."""
        self._pressed: dict[tuple[int, int], int] = {}
        """Number of steps in which two bodies pressed on each other, by the pair of bodies."""
        self._judged = 0
        self.iterations = self.steps = 0
        """Sum of the solver's iterations in all steps, in each of its slowest island; and number of steps."""

    def after_step(self, step: Step) -> None:
        data = step.contact_data
        count = max(1, min(int(data.nisland), len(data.solver_niter)))
        self.steps += 1
        self.iterations += int(data.solver_niter[:count].max())
        if step.time < self._start:
            return
        self._judged += 1
        self._skipped += 1
        if self._reader is not None and self._skipped >= self._stride:
            self._skipped = 0
            self._reader.add(data)
            self._times.append(step.time)
        forces = contact_forces(self._model, data, np.arange(data.ncon)) if data.ncon else np.zeros((0, 6))
        pairs = set[tuple[int, int]]()
        for place, (each, target) in enumerate(zip(self.unwanted, self._targets, strict=True)):
            if each.kind is Kind.DROP:
                self._values[place] = min(self._values[place], target.height(data))
            contacts, flipped = target.find(data)
            pressing = contacts[forces[contacts, 0] > 0]
            touching = set(map(tuple, np.sort(data.contact.geom[pressing], axis=1).tolist()))
            if each.kind is Kind.UNSTABLE:
                self.pairs |= {pair for pair in touching if pair[0] >= 0}
                continue
            pairs |= touching
            if each.kind is Kind.FORCE and len(pressing):
                force = target.force(data, contacts, flipped, forces[contacts])
                self._values[place] = max(self._values[place], force)
            elif each.kind is Kind.LOST:
                self._count_open(place, len(pressing) > 0, step.time)
        pairs = {pair for pair in pairs if pair[0] >= 0}
        self.pairs |= pairs
        owners = self._model.geom_bodyid
        for bodies in {(int(owners[first]), int(owners[second])) for first, second in pairs}:
            self._pressed[bodies] = self._pressed.get(bodies, 0) + 1

    def after_reset(self, engine: Engine) -> None:
        """Do nothing: runs only go forward."""

    def values(self) -> list[float]:
        """Return the values measured so far, in SI units; NaN for those that are not known."""
        if self._reader is not None and len(self._times) > self._lead:
            samples, times = self._reader.pop_samples(_OVERLAP), np.array(self._times)
            for ways in self._moving:
                if ways is not None:
                    ways.add(samples, times, self._lead)
            self._times = self._times[-_OVERLAP:]
            self._lead = len(self._times)
        for place, ways in enumerate(self._moving):
            if ways is not None:
                self._values[place] = ways.slip if self.unwanted[place].kind is Kind.SLIP else ways.creep
        return list(self._values)

    def presence(self) -> dict[str, float]:
        """Return the part of the time for which watched bodies pressed on each other, by their names."""
        names = body_names(self._model)
        return {
            f"{names[first]}{PAIR}{names[second]}": count / self._judged
            for (first, second), count in self._pressed.items()
        }

    def happens(self) -> bool:
        """Return True if an unwanted condition has occurred so far."""
        return any(each.happens(value) for each, value in zip(self.unwanted, self.values(), strict=True))

    def fail(self) -> None:
        """Note that the simulation has diverged."""
        for place, each in enumerate(self.unwanted):
            if each.kind is Kind.UNSTABLE:
                self._values[place] = 1.0

    def _count_open(self, place: int, pressed: bool, time: float) -> None:
        since = self._since[place]
        if pressed:
            self._since[place] = time
        elif since is not None:
            self._values[place] = max(self._values[place], time - since)


class _Target:
    """Contacts of a named sensor, geom, body or pair; for `drop`, the height of a named body or geom."""

    def __init__(self, model: MjModel, unwanted: Unwanted) -> None:
        self._model = model
        self._matcher: ContactMatcher | None = None
        self._first = self._second = np.ones(model.ngeom + 1, bool)
        self._geom: int | None = None
        name, kind = unwanted.name, unwanted.kind
        if kind is Kind.UNSTABLE:
            return
        geoms, bodies = geom_names(model), body_names(model)
        sensors = {} if kind is Kind.DROP else {each.name: each.sensor_id for each in declared_sensors(model)}
        pair = name.split(PAIR) if PAIR in name else name.split(" x ")
        if name in sensors:
            self._matcher = ContactMatcher(model, sensors[name])
        elif name in bodies:
            self._body = bodies.index(name)
            self._first = np.append(model.geom_bodyid == self._body, False)
        elif name in geoms:
            self._geom = geoms.index(name)
            self._first = np.arange(model.ngeom + 1) == self._geom
        elif kind is not Kind.DROP and len(pair) == 2 and all(each in geoms for each in pair):
            self._first, self._second = (np.arange(model.ngeom + 1) == geoms.index(each) for each in pair)
        else:
            what = "body or geom" if kind is Kind.DROP else "contact sensor, geom or body"
            raise SceneError(f"{unwanted}: no {what} named {name!r}{did_you_mean(name, [*sensors, *bodies, *geoms])}")

    def height(self, data: MjData) -> float:
        """Return the height of the body or geom in the world [m]."""
        place = data.xpos[self._body] if self._geom is None else data.geom_xpos[self._geom]
        return float(place[2])

    def find(self, data: MjData) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the contacts, (k,), and a mask that is true where the normal points to the first side."""
        if self._matcher is not None:
            matches = self._matcher.match(data)
            return matches.contacts, matches.flipped
        geoms = data.contact.geom
        in_order = self._first[geoms[:, 0]] & self._second[geoms[:, 1]]
        found = np.flatnonzero(in_order | (self._first[geoms[:, 1]] & self._second[geoms[:, 0]]))
        return found, ~in_order[found]

    def force(self, data: MjData, contacts: NDArray[np.intp], flipped: NDArray[np.bool_], forces: Values) -> float:
        """Return the net contact force of a sensor, or of the strongest pair of a geom or body [N]."""
        world = np.einsum("kij,ki->kj", data.contact.frame[contacts].reshape(-1, 3, 3), forces[:, :3])
        world[flipped] *= -1
        if self._matcher is not None:
            return float(np.linalg.norm(world.sum(axis=0)))
        _, place = np.unique(pair_key(self._model, data.contact.geom[contacts]), return_inverse=True)
        sums = np.zeros((int(place.max()) + 1, 3))
        np.add.at(sums, place.ravel(), world)
        return float(np.linalg.norm(sums, axis=1).max())

    def has(self, first: int, second: int) -> bool:
        """Return True if contacts of two geoms can belong to the target."""
        one, other = self._matcher.sides if self._matcher is not None else (self._first, self._second)
        return bool((one[first] and other[second]) or (one[second] and other[first]))


class _Ways:
    """Slip distance [m] and creep speed [m/s] of the surfaces of a target."""

    def __init__(self, model: MjModel, target: _Target) -> None:
        self.slip, self.creep = 0.0, math.nan
        self._target, self._geoms = target, model.ngeom
        self._known: dict[int, bool] = {}
        self._tracks: dict[int, tuple[list[float], list[Values]]] = {}
        """Times [s] and accumulated slip [m] since the contact began, by the key of the pair."""

    def add(self, samples: PairSamples | None, times: Values, lead: int) -> None:
        """Add samples with their times [s]; the first `lead` samples were added before."""
        if samples is not None:
            self._add(samples, times, lead)
        for key, (seen, _) in self._tracks.items():
            if seen and times[-1] - seen[-1] > _APART:
                self._finish(key)

    def _add(self, samples: PairSamples, times: Values, lead: int) -> None:
        follows = np.flatnonzero((samples.key[1:] == samples.key[:-1]) & (samples.sample[1:] >= lead))
        moves = moves_between(samples.take(follows), samples.take(follows + 1))
        ways = np.column_stack([moves.slip, moves.spin * samples.lever[follows + 1]])
        for row, way in zip(follows + 1, ways, strict=True):
            key = int(samples.key[row])
            if key not in self._known:
                self._known[key] = self._target.has(key // self._geoms, key % self._geoms)
            if self._known[key]:
                self._extend(key, float(times[samples.sample[row]]), way)

    def _extend(self, key: int, time: float, way: Values) -> None:
        times, track = self._tracks.setdefault(key, ([], []))
        if times and time - times[-1] > _APART:
            self._finish(key)
        if not times:
            # The way from the contact before is none along a surface.
            way = np.zeros(4)
        times.append(time)
        track.append(way + (track[-1] if track else 0.0))
        self.slip = max(self.slip, float(np.linalg.norm(track[-1])))
        # The window ends here, begins half a second ago, and the contact had as long to settle.
        if time - times[0] >= 2 * _WINDOW:
            place = int(np.searchsorted(times, time - _WINDOW))
            self._count(float(np.linalg.norm(track[-1] - track[place])) / (time - times[place]))

    def _finish(self, key: int) -> None:
        """End a contact. If it ended before it could settle, its mean speed counts as creep, unless it was too short to
        judge."""
        times, track = self._tracks[key]
        if times and _LEAST <= times[-1] - times[0] < 2 * _WINDOW:
            self._count(float(np.linalg.norm(track[-1])) / (times[-1] - times[0]))
        times.clear()
        track.clear()

    def _count(self, speed: float) -> None:
        self.creep = speed if math.isnan(self.creep) else max(self.creep, speed)
