"""Lists values of parameters to try, from the present value on, in the search for the smallest change that helps."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SceneError
from ..mjmodel.mixing import find_declared_pairs, mix_parameters
from ..mjmodel.model_changes import QUANTITIES, ModelChange, Values, check_quantity, read_change
from ..mjmodel.names import geom_names, read_names
from ..mjmodel.types import MjModel
from .unwanted import Kind

Rung = tuple[ModelChange, ...]
"""Changes that set one value of a parameter for all geoms and pairs that have it."""
Pairs = Collection[tuple[int, int]]
SUGGESTED = ("friction", "cone", "impratio", "solref", "timestep", "noslip_iterations")
"""Parameters that are varied if the user names none."""
_UP, _DOWN = (1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0), (0.8, 0.65, 0.5, 0.33, 0.2, 0.1)
_ROUGHEST = 3.0
"""Largest sliding friction that is tried; with more, bodies sink with pyramidal cones."""
_RUNGS: dict[str, tuple[float, ...]] = {
    "impratio": (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
    "noslip_iterations": (1.0, 2.0, 3.0, 5.0, 10.0, 20.0),
    "condim": (3.0, 4.0, 6.0),
    "margin": (0.001, 0.002, 0.005, 0.01),
    "gap": (0.001, 0.002, 0.005, 0.01),
}
"""Values to try for each quantity, if they are above the present one."""
_STEPS = (1.25, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0)
"""Numbers by which the time step is divided."""
_SOLIMP = ((0.95, 0.99), (0.99, 0.995), (0.99, 0.999))
_COUNT = 6
"""Number of values that are tried between the bounds that a user gives."""
_MOST = 12
"""Largest number of geoms that are changed one by one; more geoms are changed together."""
_SMALLEST_STEPS = 2.0
"""Smallest time constant of `solref` that MuJoCo uses, in time steps."""


@dataclass(frozen=True)
class Ladder:
    """Values of one parameter to try, each farther from the present value than the one before."""

    key: str
    """Parameter, such as `friction` or `impratio`."""
    rungs: tuple[Rung, ...]
    now: Rung = ()
    """Present values; empty if values between two rungs cannot be tried."""


def make_ladders(model: MjModel, pairs: Pairs, kinds: Collection[Kind], wanted: Sequence[str] = ()) -> list[Ladder]:
    """Return the ladders of values to try.

    Args:
        model: The scene.
        pairs: Pairs of geoms that press on each other in watched contacts.
        kinds: Kinds of the unwanted conditions.
        wanted: Parameters as a user gives them: `friction`, `friction:box`, `solref`, `impratio`, `gain:servo`; with
            bounds, `friction:box=0.5:2`, or one value, `cone=elliptic`. If empty, those in SUGGESTED.

    Raises:
        SceneError: The scene lacks a parameter, or there is nothing to try.
    """
    ladders = [ladder for text in wanted or SUGGESTED for ladder in _ladders(model, pairs, kinds, text)]
    if wanted and not any(ladder.rungs for ladder in ladders):
        raise SceneError(f"--vary {' '.join(wanted)}: the scene has no other value to try")
    return [ladder for ladder in ladders if ladder.rungs]


def read_parameter(text: str) -> tuple[str, list[ModelChange]]:
    """Return the parameter of a text such as `friction:box=0.5:2`, and its bounds or value, if it has any. Raises
    SceneError."""
    key, equals, bounds = text.rpartition("=")
    key = key if equals else text
    quantity, _, name = key.partition(":")
    check_quantity(quantity, name)
    if quantity == "force":
        raise SceneError(f"{text}: a force is no value of the model")
    if not equals and quantity == "gravity":
        raise SceneError("gravity: give bounds, such as gravity=0 0 -9.81:0 0 -5")
    ends = [read_change(f"{key}={word}") for word in bounds.split(":")] if equals else []
    if len(ends) > 2 or len({len(end.value) for end in ends}) > 1:
        raise SceneError(f"{text}: one value, or two bounds such as {key}=1:2")
    return key, ends


def _ladders(model: MjModel, pairs: Pairs, kinds: Collection[Kind], text: str) -> list[Ladder]:
    key, ends = read_parameter(text)
    quantity, _, name = key.partition(":")
    return [_between(model, key, ends)] if ends else _default(model, pairs, kinds, quantity, name)


def _between(model: MjModel, key: str, ends: Sequence[ModelChange]) -> Ladder:
    """Return a ladder of values between bounds, the nearest to the present value first."""
    quantity, name = ends[0].quantity, ends[0].name
    if len(ends) == 1:
        return Ladder(key, ((ends[0],),))
    low, high = (np.array(end.value) for end in ends)
    ratio = (low > 0).all() and (high > 0).all()
    values = np.geomspace(low, high, _COUNT) if ratio else np.linspace(low, high, _COUNT)
    now = np.array(ends[0].now(model).value)
    order = np.argsort(np.abs(values - now).sum(axis=1), kind="stable")
    rungs = {ModelChange(quantity, name, _rounded(quantity, values[i])): None for i in order}
    return Ladder(key, tuple((each,) for each in rungs if each.value != tuple(now)))


def _rounded(quantity: str, values: Iterable[float]) -> Values:
    whole = quantity in ("condim", "noslip_iterations", "iterations", "cone")
    return tuple(float(round(value)) if whole else round_number(value) for value in values)


def round_number(value: float) -> float:
    """Return a number with two significant digits."""
    return float(f"{value:.2g}")


def middle(before: Rung, after: Rung) -> Rung | None:
    """Return a rung with round numbers between two rungs of a ladder; None if there is none."""
    changes = []
    for one, other in zip(before, after, strict=True):
        values = [
            a
            if a == b
            else round_number(math.copysign(math.sqrt(a * b), a))
            if a * b > 0
            else round_number((a + b) / 2)
            for a, b in zip(one.value, other.value, strict=True)
        ]
        changes.append(ModelChange(one.quantity, one.name, tuple(values)))
    made = tuple(changes)
    return None if made in (before, after) else made


def _default(model: MjModel, pairs: Pairs, kinds: Collection[Kind], quantity: str, name: str) -> list[Ladder]:
    key = f"{quantity}:{name}" if name else quantity
    if quantity == "cone":
        return [Ladder(key, ((ModelChange("cone", "", (1.0,)),),))] if model.opt.cone == 0 else []
    if QUANTITIES[quantity] == "geom or pair":
        names = [name] if name else _owners(model, pairs, quantity)
        if not names:
            return []
        now = [_start(model, pairs, quantity, each) for each in names]
        if len(names) > _MOST:
            largest = max(now, key=lambda change: change.value)
            names, now = [""], [ModelChange(quantity, "", largest.value)]
        if quantity == "solref":
            return [_scaled(key, now, change) for change in _solrefs(model, now[0].value)]
        if quantity == "solimp":
            harder = [values for values in _SOLIMP if values > now[0].value]
            return [Ladder(key, tuple(tuple(ModelChange(quantity, each, v) for each in names) for v in harder))]
        if quantity == "friction":
            most = max(change.value[0] for change in now)
            up = _scaled(key, now, [_factor(factor) for factor in _UP if factor * most <= _ROUGHEST])
            down = _scaled(key, now, [_factor(factor) for factor in _DOWN])
            return [up, down] if Kind.FORCE in kinds else [up]
        values = [value for value in _RUNGS[quantity] if value > now[0].value[0]]
        return [Ladder(key, tuple(tuple(ModelChange(quantity, each, (value,)) for each in names) for value in values))]
    change = ModelChange(quantity, name, (0.0,)).now(model)
    value = change.value[0]
    if quantity == "timestep":
        values = [value / divisor for divisor in _STEPS]
    elif quantity in _RUNGS:
        values = [each for each in _RUNGS[quantity] if each > value]
    elif quantity == "iterations":
        values = [2 * value, 5 * value, 10 * value]
    else:
        return [_scaled(key, [change], [_factor(factor) for factor in factors]) for factors in (_UP, _DOWN)]
    rungs = tuple((ModelChange(quantity, name, (float(f"{each:.6g}"),)),) for each in values)
    return [Ladder(key, rungs, (change,) if quantity == "impratio" else ())]


def _factor(factor: float) -> Callable[[Values], Values]:
    """Return a function that multiplies the first number of a value."""
    return lambda value: (round_number(value[0] * factor), *value[1:])


def _scaled(key: str, now: Sequence[ModelChange], changes: Iterable[Callable[[Values], Values]]) -> Ladder:
    rungs = []
    for change in changes:
        rung = tuple(ModelChange(each.quantity, each.name, change(each.value)) for each in now)
        if rung not in rungs and all(new.value != old.value for new, old in zip(rung, now, strict=True)):
            rungs.append(rung)
    return Ladder(key, tuple(rungs), tuple(now))


def _solrefs(model: MjModel, now: Values) -> list[list[Callable[[Values], Values]]]:
    """Return three ways to change `solref`, each with steps of growing size: more damping, stiffer, softer."""
    time, ratio = now
    if time <= 0:
        # Stiffness and damping, negative: K and B themselves.
        return [
            [lambda v, f=f: (v[0], round_number(v[1] * f)) for f in (2.0, 4.0, 8.0, 16.0)],  # type: ignore[misc]
            [lambda v, f=f: (round_number(v[0] * f), v[1]) for f in (2.0, 4.0, 8.0)],  # type: ignore[misc]
            [lambda v, f=f: (round_number(v[0] / f), v[1]) for f in (2.0, 4.0, 8.0)],  # type: ignore[misc]
        ]
    ratios = sorted({min(1.0, round_number(ratio * f)) for f in (2.0, 4.0, 8.0, 16.0)} | {1.0} if ratio < 1 else {2.0})
    least = _SMALLEST_STEPS * model.opt.timestep
    stiffer = [time / f for f in (1.5, 2.0, 3.0, 5.0) if time / f > least] + ([least] if time > least else [])
    return [
        [lambda v, r=r: (v[0], r) for r in ratios if r > ratio],  # type: ignore[misc]
        [lambda v, t=t: (round_number(t), v[1]) for t in stiffer],  # type: ignore[misc]
        [lambda v, f=f: (round_number(v[0] * f), v[1]) for f in (1.5, 2.0, 4.0, 8.0)],  # type: ignore[misc]
    ]


def _owners(model: MjModel, pairs: Pairs, quantity: str) -> list[str]:
    """Return the geoms and named <pair>s that determine a quantity in the contacts of some pairs of geoms."""
    sides = np.array(sorted(pairs), int).reshape(-1, 2)
    if not len(sides):
        return []
    names, pair_names = geom_names(model), read_names(model, "pair")
    declared, owners, free = find_declared_pairs(model, sides), dict[str, None](), []
    for (first, second), pair in zip(sides.tolist(), declared.tolist(), strict=True):
        if pair >= 0:
            # A <pair> without a name cannot be addressed.
            if pair_names[pair]:
                owners[pair_names[pair]] = None
        elif model.geom_priority[first] != model.geom_priority[second]:
            owners[names[first if model.geom_priority[first] > model.geom_priority[second] else second]] = None
        elif quantity == "friction":
            free.append((first, second))
        else:
            owners |= {names[first]: None, names[second]: None}
    # The larger friction counts: one geom of each pair is enough, the one that is in the most pairs and moves.
    while free:
        geoms = [geom for pair in free for geom in pair]
        fixed = model.body_weldid[model.geom_bodyid] == 0
        best = max(dict.fromkeys(geoms), key=lambda geom: (not fixed[geom], geoms.count(geom)))
        owners[names[best]] = None
        free = [pair for pair in free if best not in pair]
    return list(owners)


def _start(model: MjModel, pairs: Pairs, quantity: str, name: str) -> ModelChange:
    """Return the value at which a ladder begins: that of the geom or pair; for friction the smallest one in effect."""
    size = {"friction": 1, "solref": 2, "solimp": 2}.get(quantity, 1)
    change = ModelChange(quantity, name, (0.0,) * size).now(model)
    geoms, _ = change.places(model)
    if quantity != "friction" or not len(geoms):
        return change
    sides = np.array([pair for pair in pairs if int(geoms[0]) in pair], int).reshape(-1, 2)
    if not len(sides):
        return change
    return ModelChange(quantity, name, (float(mix_parameters(model, sides).friction[:, 0].min()),))
