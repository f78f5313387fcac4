"""Draws from a seed: factors of a model's quantities, and noise on the state that a run starts from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from .mixing import explain_mixing
from .names import body_names, geom_names, read_names
from .pairs import PAIRS_MAX, Obstacle, find_obstacles, pair_friction
from .types import MjData, MjModel

_STREAM = {"vary": 1, "reset": 2, "factor": 3, "noise": 4}
"""Uses of a seed, each of which has separate random numbers."""
_ROUNDING = 1e-9
_LARGEST = 1e6
"""Largest factor, and inverse of the smallest."""
_SHAPES = {
    int(kind)
    for kind in (
        mujoco.mjtGeom.mjGEOM_SPHERE,
        mujoco.mjtGeom.mjGEOM_CAPSULE,
        mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        mujoco.mjtGeom.mjGEOM_BOX,
    )
}
"""Geoms whose size is in the model; meshes and height fields have theirs in their vertices."""
_LINEAR_GAINS = {int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE)}
_LINEAR_BIASES = {int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)}

Indices = NDArray[np.intp]


def generator(seed: int, use: str, *more: int) -> np.random.Generator:
    """Return the random numbers of a seed for one use: a name in `_STREAM`, and numbers that tell its instances
    apart."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM[use], *more)))


@dataclass(frozen=True)
class Variation:
    """A quantity of a model that is multiplied by a factor, drawn evenly between two bounds."""

    quantity: str
    """A name in QUANTITIES."""
    name: str
    """Name of the object whose quantity is varied; empty for all objects."""
    low: float
    high: float

    @property
    def key(self) -> str:
        """Quantity that is varied, as it is written: `friction`, `mass:torso`."""
        return f"{self.quantity}:{self.name}" if self.name else self.quantity

    def __str__(self) -> str:
        return f"{self.key}={_text(self.low)}" + (f":{_text(self.high)}" if self.high != self.low else "")

    def factor(self, seed: int) -> float:
        """Return the factor of a seed, which does not depend on other variations."""
        return float(generator(seed, "factor", *self.key.encode()).uniform(self.low, self.high))

    def apply(self, model: MjModel, seed: int) -> None:
        """Multiply the quantity. The caller has to update values that depend on masses."""
        change, _ = QUANTITIES[self.quantity]
        change(model, self.name, self.factor(seed))


@dataclass(frozen=True)
class StartNoise:
    """Gaussian noise on the state that a run starts from."""

    qpos: float = 0.0
    """Standard deviation of each degree of freedom's position [m or rad]; orientations stay orientations."""
    qvel: float = 0.0
    """Standard deviation of each velocity [m/s or rad/s]."""

    def __str__(self) -> str:
        return f"qpos={_text(self.qpos)},qvel={_text(self.qvel)}"

    def apply(self, model: MjModel, data: MjData, random: np.random.Generator) -> None:
        """Add the noise to a state."""
        # Both are drawn in any case: one does not depend on the size of the other.
        moved, pushed = random.standard_normal((2, model.nv))
        mujoco.mj_integratePos(model, data.qpos, self.qpos * moved, 1.0)
        data.qvel += self.qvel * pushed


@dataclass(frozen=True)
class Randomisation:
    """Changes that a seed makes without a program."""

    variations: tuple[Variation, ...] = ()
    noise: StartNoise | None = None

    def __bool__(self) -> bool:
        return bool(self.variations or self.noise is not None)

    def factors(self, seed: int) -> dict[str, float]:
        """Return the factor of a seed for each quantity, by its key."""
        return {variation.key: variation.factor(seed) for variation in self.variations}


NOT_RANDOM = Randomisation()


def read_randomisation(vary: Sequence[str], noise: str | None) -> Randomisation:
    """Return the changes that `--vary` and `--noise` ask for. Raises SceneError for text that cannot be read."""
    variations = tuple(_read_variation(text) for text in vary)
    keys = [variation.key for variation in variations]
    for key in keys:
        if keys.count(key) > 1:
            raise SceneError(f"{key} is varied twice")
    return Randomisation(variations, None if noise is None else _read_noise(noise))


def _text(value: float) -> str:
    """Return the shortest text of a number that reads back exactly."""
    return repr(value).removesuffix(".0")


def find_idle_variations(model: MjModel, variations: Sequence[Variation], seed: int | None = None) -> list[str]:
    """Return why frictions that are varied change no contact, a sentence each; the model stays as it is.

    `seed`: seed by which the model is varied already; None if it is not varied.
    """
    hints = []
    for variation in variations:
        factor = 1.0 if seed is None else variation.factor(seed)
        if variation.quantity == "friction" and (why := _why_idle(model, variation, factor)) is not None:
            hints.append(f"--vary {variation} changes no contact: {why}")
    return hints


def _why_idle(model: MjModel, variation: Variation, factor: float) -> str | None:
    """Return why no factor of a variation changes the friction of any possible contact; None if one may.

    `factor`: the factor that the model is multiplied by already.
    """
    geoms, names = np.arange(model.ngeom), geom_names(model)
    if model.nflex:
        return None
    if variation.name in names:
        named = names.index(variation.name)
        pairs = np.stack([np.full(model.ngeom, named), geoms], axis=1)
    else:
        pairs = np.stack(np.triu_indices(model.ngeom, 1), axis=1)
    if len(pairs) > PAIRS_MAX:
        return None
    pairs = pairs[find_obstacles(model, pairs) == Obstacle.NONE]
    if not len(pairs):
        return f"{variation.name or 'no geom'} can collide with nothing" if variation.name else None
    kept = model.geom_friction.copy(), model.pair_friction.copy()
    before, mixed = pair_friction(model, pairs), []
    try:
        for other in (1.0, variation.low, variation.high):
            _friction(model, variation.name, other / factor)
            mixed.append(pair_friction(model, pairs))
            model.geom_friction[:], model.pair_friction[:] = kept
    except SceneError:
        # The caller that varies the model reports it.
        return None
    if not all(np.allclose(each, before, rtol=_ROUNDING, atol=0) for each in mixed):
        return None
    # The partner with the least friction is the first one that a larger factor would reach.
    least = pairs[np.argmin(before[:, 0])]
    return explain_mixing(model, int(least[1]), int(least[0])).consequence


def _read_variation(text: str) -> Variation:
    # A name may hold `=` and `:` itself.
    key, equals, bounds = text.rpartition("=")
    quantity, _, name = key.partition(":")
    low, _, high = bounds.partition(":")
    if not equals or not key:
        raise SceneError(f"{text!r} varies nothing: write for example friction=0.5:1.5 or mass:torso=0.8:1.2")
    if quantity not in QUANTITIES:
        raise SceneError(f"{text!r}: {quantity!r} cannot be varied; choose from {', '.join(QUANTITIES)}")
    if name and not QUANTITIES[quantity][1]:
        raise SceneError(f"{text!r}: there is one {quantity} in a scene, without a name")
    try:
        least, most = float(low), float(high or low)
    except ValueError:
        raise SceneError(f"{text!r}: {bounds!r} is not a factor, or two such as 0.5:1.5") from None
    if not 1 / _LARGEST <= least <= most <= _LARGEST:
        raise SceneError(f"{text!r}: factors are above 0, the lower one first")
    return Variation(quantity, name, least, most)


def _read_noise(text: str) -> StartNoise:
    values: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        try:
            size = float(value)
        except ValueError:
            size = math.nan
        if name not in ("qpos", "qvel") or not equals or name in values or not 0 <= size < _LARGEST:
            raise SceneError(f"{text!r} is not noise such as qpos=0.01,qvel=0.1")
        values[name] = size
    return StartNoise(**values)


def _named(what: str, name: str, names: list[str]) -> int:
    if name not in names:
        known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise SceneError(f"no {what} named {name!r}; the scene has: {known or 'none'}")
    return names.index(name)


def _friction(model: MjModel, name: str, factor: float) -> None:
    if not name:
        model.geom_friction[:] *= factor
        model.pair_friction[:] *= factor
        return
    pairs = [pair for pair in read_names(model, "pair") if pair]
    geoms = geom_names(model)
    if name in pairs and name not in geoms:
        model.pair_friction[read_names(model, "pair").index(name)] *= factor
        return
    geom = _named("geom", name, geoms)
    model.geom_friction[geom] *= factor
    # A <pair> has friction of its own, in place of that of its geoms.
    model.pair_friction[(model.pair_geom1 == geom) | (model.pair_geom2 == geom)] *= factor


def _mass(model: MjModel, name: str, factor: float) -> None:
    bodies: slice | int = _named("body", name, body_names(model)) if name else slice(None)
    model.body_mass[bodies] *= factor
    model.body_inertia[bodies] *= factor


def _gravity(model: MjModel, name: str, factor: float) -> None:
    model.opt.gravity[:] *= factor


def _timestep(model: MjModel, name: str, factor: float) -> None:
    model.opt.timestep *= factor


def _gain(model: MjModel, name: str, factor: float) -> None:
    names = [text or f"actuator {i}" for i, text in enumerate(read_names(model, "actuator"))]
    if not names:
        raise SceneError("gain: the scene has no actuators")
    for actuator in [_named("actuator", name, names)] if name else range(model.nu):
        linear = model.actuator_gaintype[actuator] in _LINEAR_GAINS
        if not linear or model.actuator_biastype[actuator] not in _LINEAR_BIASES:
            raise SceneError(f"gain: the force of {names[actuator]} is not linear; vary it in a controller's vary()")
        # Gain and bias together: a servo gets stiffer and stays a servo.
        model.actuator_gainprm[actuator, :3] *= factor
        model.actuator_biasprm[actuator, :3] *= factor


def _size(model: MjModel, name: str, factor: float) -> None:
    geoms = [_named("geom", name, geom_names(model))] if name else range(model.ngeom)
    sized = [geom for geom in geoms if int(model.geom_type[geom]) in _SHAPES]
    if not sized:
        raise SceneError(f"size: {name or 'no geom of the scene'} is no sphere, capsule, ellipsoid, cylinder or box")
    model.geom_size[sized] *= factor
    model.geom_rbound[sized] *= factor
    model.geom_aabb[sized] *= factor
    # The trees of boxes around the geoms of a body are those of the old sizes: all pairs are tested instead.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


QUANTITIES: dict[str, tuple[Callable[[MjModel, str, float], None], str]] = {
    "friction": (_friction, "GEOM"),
    "mass": (_mass, "BODY"),
    "gravity": (_gravity, ""),
    "timestep": (_timestep, ""),
    "gain": (_gain, "ACTUATOR"),
    "size": (_size, "GEOM"),
}
"""Quantities that can be varied: the arrays that are multiplied, and the kind of object that can be named to vary
one only."""
