"""Chooses the force for which an arrow is a hundred measures long, from the forces that were drawn lately."""

import math
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjModel
from ..render.camera import Eye, tree_sizes
from ..render.style import BAR, Gauge, GlyphScale, arrow_length, nice_force, reference_force, tree_weights
from ..settings import ScaleMode

_NEWS_SECONDS = 2.0
"""Time for which the legend announces a new scale, at speed 1 [s]."""
_MEMORY = 1.5
"""Simulated time that the reference force is taken from [s]."""
_SAMPLES = 200
"""Most samples of the force within `_MEMORY`: the extra frames of slow motion add nothing."""
_SETTLING = 0.4
"""Time of contact before forces are trusted: bodies drop first, or start inside each other [s]."""
_PATIENCE = 0.25
"""Time for which the scale must not fit before it changes [s]."""
_ANCHOR_TIME = 0.5
"""Time constant with which the anchor follows the contacts [s]."""
_SHORTEST = 0.38
"""Length of the reference force's arrow below which the scale changes, as a part of the longest arrow: scales are at
most a factor of 2.5 apart."""
_TOO_LONG, _BURST = 1.9, 3.0
"""Lengths above which the scale changes, in multiples of the longest arrow: of the reference force, of new forces."""
_LONGEST = 140.0, 200.0
"""Bounds of the longest arrow's length [measures]; between them it is `_TREES` times the projected size of a body."""
_TREES = 3.0
_SPHERE = 7.0, 11.0
"""Bounds of a sphere's diameter at the anchor [measures]; between them it is a part of a body's projected size."""
_SPHERES_PER_TREE = 15.0
_GUESS = 0.25
"""Reference force before any is known, as a fraction of the estimate from the weight."""
_FAINTEST = 0.001
"""Least reference force, as a fraction of the lightest tree's weight: noise is not drawn large."""


class DrawnForces(NamedTuple):
    """Contacts of one drawn frame."""

    points: NDArray[np.float64]
    """Positions of the contacts [m], world, (n, 3)."""
    forces: NDArray[np.float64]
    """Magnitudes of the contacts' forces [N], (n,)."""


NO_FORCES = DrawnForces(np.zeros((0, 3)), np.zeros(0))


class ScaleBar(NamedTuple):
    """Scale bar: length on screen, and the force that it represents."""

    force: float
    """Force that the bar stands for [N]."""
    length: float
    """Length of the arrow of this force, seen from the side, at the depth of the contacts [px]."""
    before: float | None
    """Force of a hundred measures before the scale changed, if it has just changed [N]."""


class CutArrows(NamedTuple):
    """Arrows that begin inside the drawn frame and end outside of it."""

    arrows: int = 0
    strongest: float = 0.0
    """Strongest force among the contacts of these arrows [N]."""


def scale_bar(scale: GlyphScale, gauge: Gauge, before: float | None) -> ScaleBar:
    """Return the scale bar of a frame: of 100 measures, or of the next smaller round force."""
    force = nice_force(scale, BAR * gauge.measure)
    return ScaleBar(force, float(arrow_length(force, scale)) / gauge.measure * gauge.eye.unit, before)


class ForceScale:
    """Scale of the frames of one session: it changes rarely, in steps of 1, 2, 5, 10, ..."""

    def __init__(self, model: MjModel) -> None:
        self.locked = False
        """True if the user has locked the scale."""
        self.newtons = 0.0
        """Force of a hundred measures [N]; 0 before the first frame."""
        self.newtons_before: float | None = None
        """Force of a hundred measures before the last change [N]."""
        self.changed_at = -math.inf
        """Simulated time of the last change [s]."""
        self.changed_on_clock = -math.inf
        """Time of the last change on the monotonic clock [s]."""
        self.last: Gauge | None = None
        """Sizes of the last frame."""
        self.anchor: NDArray[np.float64] | None = None
        """Middle of the contacts [m], world, (3,); None before the first frame."""
        self.misses_contacts = False
        """True if most contacts lie outside the last frame."""
        self._model = model
        self._reach = _usual_reach(model)
        self._guess = _GUESS * reference_force(model)
        weights = tree_weights(model)
        self._least = _FAINTEST * float(weights.min(initial=math.inf, where=weights > 0)) if weights.any() else 0.0
        self._longest, self._sphere = _LONGEST[1], _SPHERE[1]
        self._samples: list[tuple[float, float]] = []
        """Time [s] and strongest force [N] of recent frames."""
        self._contact_time = 0.0
        """Simulated time with contacts that was drawn [s]."""
        self._time: float | None = None
        """Simulated time of the last frame [s]."""
        self._misfit_since: float | None = None
        """Simulated time since which the scale does not fit [s]; None while it fits."""
        self._measured = False
        """True after the scale was chosen from forces."""

    @property
    def reference(self) -> float:
        """Force that the scale is chosen for [N]."""
        if self._contact_time < _SETTLING or not self._samples:
            # The arrows of bodies that start inside each other would fill the first frame.
            first = self._samples[-1][1] / _BURST if self._samples else 0.0
            return max(self._guess, self._least, first)
        return max(_median(self._samples), self._least)

    def update(self, time: float, data: Any, eye: Eye, contacts: DrawnForces, strongest: float = 0.0) -> Gauge:
        """Return the sizes for a frame at a simulated time [s]. `strongest`: largest force drawn elsewhere than at
        contacts [N]."""
        if self.anchor is None:
            self._begin(data, eye)
        passed = 0.0 if self._time is None else time - self._time
        self._time = time
        self._follow(contacts, eye, passed)
        strongest = max(strongest, float(contacts.forces.max(initial=0.0)))
        if strongest > 0.0:
            self._remember(time, passed, strongest)
        if not (self.locked and self.newtons):
            self._choose(time)
        assert self.anchor is not None
        self.last = Gauge(eye, self.anchor, self.newtons, self._longest, self._sphere, self._reach)
        return self.last

    def first(self, data: Any, eye: Eye) -> Gauge:
        """Return the sizes for a frame before any was drawn."""
        return ForceScale(self._model).update(0.0, data, eye, NO_FORCES)

    def news(self, time: float, speed: float, mode: ScaleMode) -> float | None:
        """Return the scale before the last change [N] if that is recent, by simulated time [s] and speed; else None."""
        is_new = mode is ScaleMode.AUTO and 0.0 <= time - self.changed_at < _NEWS_SECONDS * speed
        return self.newtons_before if is_new else None

    def carry_over(self, before: "ForceScale") -> None:
        """Adopt the scale of an earlier session of the same scene, if it came from forces or the user has locked it."""
        if before.locked or before._measured:
            self.locked, self.newtons, self._measured = before.locked, before.newtons, before._measured
            self._contact_time, self._samples = before._contact_time, list(before._samples)

    def _begin(self, data: Any, eye: Eye) -> None:
        """Measure the bodies as the first frame shows them."""
        centers, sizes = tree_sizes(self._model, data)
        self.anchor = np.zeros(3)
        if len(sizes):
            projected = float(np.median(sizes / eye.pixel_size(centers))) / eye.unit
            self._longest = min(max(_TREES * projected, _LONGEST[0]), _LONGEST[1])
            self._sphere = min(max(projected / _SPHERES_PER_TREE, _SPHERE[0]), _SPHERE[1])
            self.anchor = np.median(centers, axis=0)

    def _follow(self, contacts: DrawnForces, eye: Eye, passed: float) -> None:
        """Move the anchor towards the visible contacts, or towards all if none is visible."""
        assert self.anchor is not None
        points = contacts.points
        self.misses_contacts = False
        if not len(points):
            return
        *rest, anchor_seen = eye.sees(np.concatenate([points, self.anchor[None]])).tolist()
        seen = np.array(rest, bool)
        self.misses_contacts = bool(2 * np.count_nonzero(seen) < len(points))
        target = _middle(points[seen] if seen.any() else points)
        # An anchor outside the frame does not describe the contacts inside.
        jumps = self._contact_time == 0.0 or (seen.any() and not anchor_seen)
        share = 1.0 if jumps else 1.0 - math.exp(-abs(passed) / _ANCHOR_TIME)
        self.anchor = self.anchor + share * (target - self.anchor)

    def _remember(self, time: float, passed: float, strongest: float) -> None:
        samples = self._samples
        self._contact_time += min(max(passed, 1e-9), 0.1)
        # After a jump to a past time, later samples are stale.
        while samples and samples[-1][0] >= time:
            samples.pop()
        if len(samples) > 1 and time - samples[-2][0] < _MEMORY / _SAMPLES:
            samples.pop()
        samples.append((time, strongest))
        while samples[0][0] < time - _MEMORY:
            samples.pop(0)

    def _choose(self, time: float) -> None:
        if not self.newtons:
            self.newtons = self._fitting(self.reference)
            return
        if self._contact_time < _SETTLING or not self._samples:
            return
        newest = [sample for sample in self._samples if sample[0] > time - _SETTLING]
        if newest and _median(newest) * BAR / self.newtons > _BURST * self._longest:
            # Older samples would soon outweigh the newest, and the scale would jump back and forth.
            self._samples = newest
            self._change(time)
            return
        length = self.reference * BAR / self.newtons
        if _SHORTEST * self._longest <= length <= (_TOO_LONG if self._measured else 1.0) * self._longest:
            self._misfit_since = None
        elif not self._measured:
            self._change(time)
        elif self._misfit_since is None or self._misfit_since > time:
            self._misfit_since = time
        elif time - self._misfit_since >= _PATIENCE:
            self._change(time)
        self._measured = True

    def _change(self, time: float) -> None:
        fitting = self._fitting(self.reference)
        self._misfit_since, self._measured = None, True
        if fitting != self.newtons:
            self.newtons_before, self.newtons, self.changed_at = self.newtons, fitting, time
            self.changed_on_clock = monotonic()

    def _fitting(self, force: float) -> float:
        """Return the smallest scale of 1, 2, 5, 10, ... at which the arrow of a force [N] is not too long [N]."""
        return nice_above(force * BAR / self._longest)


def nice_above(value: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below a positive value, exactly as written."""
    if not 1e-300 < value < 1e300:
        return 1.0
    decade = math.floor(math.log10(value))
    # From text: 2e-5 is to be that number, not a rounded product. The tolerance is for rounding of the value.
    steps = (float(f"{step}e{decade}") for step in (1, 2, 5, 10))
    return next((step for step in steps if step * (1 + 1e-9) >= value), float(f"1e{decade + 1}"))


def _middle(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median along each axis, (3,), of points (n, 3); 40 points take 8 µs, with numpy.median 48 µs."""
    ordered, half = np.sort(points, axis=0), len(points) // 2
    return np.asarray(ordered[half] if len(points) % 2 else 0.5 * (ordered[half - 1] + ordered[half]))


def _median(samples: list[tuple[float, float]]) -> float:
    forces = sorted(force for _, force in samples)
    middle = len(forces) // 2
    return forces[middle] if len(forces) % 2 else 0.5 * (forces[middle - 1] + forces[middle])


def _usual_reach(model: MjModel) -> float:
    """Return the median size of the bodies that move and can touch something [m]."""
    can_touch = (model.geom_contype | model.geom_conaffinity) > 0
    sizes = np.zeros(model.nbody)
    np.maximum.at(sizes, model.geom_bodyid[can_touch], 2.0 * model.geom_rbound[can_touch])
    sizes = sizes[(model.body_treeid >= 0) & (sizes > 0.0)]
    return float(np.median(sizes)) if sizes.size else 0.0
