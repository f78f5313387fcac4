"""Finds the origin of every parameter of a contact: a <pair>, one of its two geoms, or both by a rule."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from .names import flex_names, geom_names, read_names, with_kind
from .types import MjData, MjModel

Values = NDArray[np.float64]
Sides = NDArray[np.integer]
"""Objects that touch in each contact, (k, 2): ids of geoms, and ids of flexes plus the number of geoms."""

FRICTIONS = ("sliding, tangent0", "sliding, tangent1", "torsional", "rolling, tangent0", "rolling, tangent1")
"""Names of the five friction coefficients of a contact."""
_FIVE = [0, 0, 1, 2, 2]
"""Index of the geom's coefficient that each of a contact's five coefficients comes from."""
_LEAST_FRICTION = float(mujoco.mjMINMU)
_NO_WEIGHT = float(mujoco.mjMINVAL)
"""A `solmix` below this counts as 0."""
_OVERRIDE = int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)


class Rule(StrEnum):
    """A rule by which a contact gets a parameter."""

    PAIR = "pair"
    """A <pair> defines the value, independent of the geoms."""
    OVERRIDE = "override"
    """The flag `override` gives all contacts the value of <option>."""
    PRIORITY = "priority"
    """The geom of higher `priority` defines the value."""
    LARGER = "larger"
    """The larger value counts, if priorities are equal."""
    SMALLER = "smaller"
    """The smaller value counts, component by component: for a negative `solref`, which is stiffness and damping."""
    SOLMIX = "solmix"
    """The mean of both values counts, weighted by `solmix`."""
    SUM = "sum"
    """The sum of both values counts."""


class MixedParameters(NamedTuple):
    """Parameters of the contacts of some pairs, as `mjContact` has them."""

    condim: NDArray[np.int32]
    """Dimension, (k,)."""
    friction: Values
    """Coefficients: sliding along both tangents, torsion, rolling about both, whatever the dimension, (k, 5)."""
    solref: Values
    """Time constant and damping ratio, or their negative stiffness form, (k, 2)."""
    solreffriction: Values
    """Time constant and damping ratio of friction, in the form of `solref`, (k, 2); 0 if friction uses `solref`."""
    solimp: Values
    """Impedance: d0, dwidth, width, midpoint, power, (k, 5)."""
    margin: Values
    """Distance below which forces act [m], (k,)."""
    gap: Values
    """Distance beyond the margin below which contacts are listed without a force [m], (k,)."""


def mix_parameters(model: MjModel, sides: Sides) -> MixedParameters:
    """Return the parameters of the contacts between each two geoms or flexes, (k, 2)."""
    condim, friction = mix_friction(model, sides)
    weights = _mixing_weights(*_both_sides(model, "solmix", sides))
    ref1, ref2 = _both_sides(model, "solref", sides)
    imp1, imp2 = _both_sides(model, "solimp", sides)
    positive = (ref1[:, :1] > 0) & (ref2[:, :1] > 0)
    solref = np.where(positive, weights * ref1 + (1 - weights) * ref2, np.minimum(ref1, ref2))
    mixed = MixedParameters(
        condim,
        friction,
        _by_priority(model, "solref", sides, solref),
        np.zeros((len(sides), 2)),
        _by_priority(model, "solimp", sides, weights * imp1 + (1 - weights) * imp2),
        np.add(*_both_sides(model, "margin", sides))[:, 0],
        np.add(*_both_sides(model, "gap", sides))[:, 0],
    )
    pairs = find_declared_pairs(model, sides)
    known = np.flatnonzero(pairs >= 0)
    for name in ("solref", "solreffriction", "solimp", "margin", "gap"):
        getattr(mixed, name)[known] = getattr(model, f"pair_{name}")[pairs[known]]
    if model.opt.enableflags & _OVERRIDE:
        mixed.solref[:] = mixed.solreffriction[:] = model.opt.o_solref
        mixed.margin[:], mixed.solimp[:] = model.opt.o_margin, model.opt.o_solimp
    return mixed


def mix_friction(model: MjModel, sides: Sides) -> tuple[NDArray[np.int32], Values]:
    """Return dimensions and friction coefficients as in `MixedParameters`, without the rest of it."""
    condims, frictions = (np.maximum(*_both_sides(model, name, sides)) for name in ("condim", "friction"))
    condim = _by_priority(model, "condim", sides, condims)[:, 0].astype(np.int32)
    friction = _by_priority(model, "friction", sides, frictions)[:, _FIVE]
    pairs = find_declared_pairs(model, sides)
    known = np.flatnonzero(pairs >= 0)
    condim[known], friction[known] = model.pair_dim[pairs[known]], model.pair_friction[pairs[known]]
    if model.opt.enableflags & _OVERRIDE:
        friction[:] = model.opt.o_friction
    return condim, np.maximum(friction, _LEAST_FRICTION)


def _side_values(model: MjModel, name: str) -> Values:
    """Return the values of a parameter for geoms, and then flexes, (ngeom + nflex, components)."""
    geoms, flexes = (np.asarray(getattr(model, f"{kind}_{name}"), float) for kind in ("geom", "flex"))
    rows = geoms.reshape(model.ngeom, -1) if model.ngeom else np.zeros((0, flexes[0].size if model.nflex else 1))
    return np.concatenate([rows, flexes.reshape(model.nflex, rows.shape[1])])


def _both_sides(model: MjModel, name: str, sides: Sides) -> tuple[Values, Values]:
    """Return the values of a parameter for both sides, (k, components)."""
    values = _side_values(model, name)
    return values[sides[:, 0]], values[sides[:, 1]]


def _by_priority(model: MjModel, name: str, sides: Sides, equal: Values) -> Values:
    """Return the values of the sides of higher priority; `equal` for equal priorities, (k, components)."""
    first, second = _both_sides(model, name, sides)
    priority1, priority2 = _both_sides(model, "priority", sides)
    return np.where(priority1 == priority2, equal, np.where(priority1 > priority2, first, second))


def _mixing_weights(mix1: Values, mix2: Values) -> Values:
    """Return the weight of the first side, (k, 1)."""
    none1, none2 = mix1 < _NO_WEIGHT, mix2 < _NO_WEIGHT
    shares = mix1 / np.where(none1 | none2, 1.0, mix1 + mix2)
    return np.asarray(np.select([none1 & none2, none1, none2], [0.5, 0.0, 1.0], shares), float)


def find_declared_pairs(model: MjModel, geoms: Sides) -> NDArray[np.intp]:
    """Return the <pair> element of each pair of geoms, (k,); -1 where there is none."""
    found = np.full(len(geoms), -1)
    if model.npair and len(geoms):
        declared = np.sort(np.stack([model.pair_geom1, model.pair_geom2], axis=1), axis=1).astype(np.int64)
        keys, wanted = (pairs[:, 0] * model.ngeom + pairs[:, 1] for pairs in (declared, np.sort(geoms, axis=1)))
        order = np.argsort(keys, kind="stable")
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        hit = (keys[order][place] == wanted) & (np.max(geoms, axis=1) < model.ngeom)
        found[hit] = order[place[hit]]
    return found


def contact_sides(model: MjModel, data: MjData, contacts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the two objects that touch in contacts of `mjData.contact`, for `mix_parameters`, (k, 2)."""
    geoms, flexes = data.contact.geom[contacts], data.contact.flex[contacts]
    return np.where(geoms >= 0, geoms, model.ngeom + flexes).astype(np.intp)


@dataclass(frozen=True)
class Origin:
    """Parameter of a contact, with its origin."""

    name: str
    value: tuple[float, ...]
    """Components of the parameter that the contact has."""
    given: tuple[tuple[float, ...], tuple[float, ...]]
    """Number of components of the parameter that each side has; 1 for frictions."""
    rule: Rule
    winner: int | None
    """Side that decides alone, 0 or 1; None if both do, or neither."""

    @property
    def text(self) -> str:
        """Components of the contact as text, such as `0.02 1`."""
        return components_text(self.value)


@dataclass(frozen=True)
class Mixing:
    """The parameters of the contacts between two geoms or flexes."""

    sides: tuple[int, int]
    """Ids, as in `Sides`."""
    names: tuple[str, str]
    pair: str | None
    """The <pair> that decides the parameters; None without one."""
    priorities: tuple[int, int]
    origins: tuple[Origin, ...]
    """All parameters: condim, the five frictions, solref, solimp, margin, gap."""

    def __getitem__(self, name: str) -> Origin:
        """Return the parameter of a name, such as `condim`."""
        return next(origin for origin in self.origins if origin.name == name)

    @property
    def distinct(self) -> list[Origin]:
        """Return the parameters, without those of the second tangent if they equal those of the first: only a <pair>
        can have different ones. The first is then called `sliding`, or `rolling`."""
        kept: list[Origin] = []
        for origin in self.origins:
            if kept and origin.name.endswith("tangent1") and origin.value == kept[-1].value:
                kept[-1] = replace(kept[-1], name=kept[-1].name.removesuffix(", tangent0"))
            else:
                kept.append(origin)
        return kept

    @property
    def frictionless(self) -> bool:
        """True if the contact has no friction, because of its condim."""
        return self["condim"].value[0] < 3

    def is_used(self, origin: Origin) -> bool:
        """Return False for a coefficient of friction that a contact of this condim does not have."""
        needed = {"sliding": 3, "torsional": 4, "rolling": 6}
        return self["condim"].value[0] >= needed.get(origin.name.partition(",")[0], 0)

    @property
    def idle(self) -> tuple[int, ...]:
        """Sides, 0 or 1, whose sliding friction could change a little without an effect on the contact."""
        sliding = self[FRICTIONS[0]]
        if self.frictionless or sliding.rule in (Rule.PAIR, Rule.OVERRIDE) or sliding.value[0] <= _LEAST_FRICTION:
            return (0, 1)
        return () if sliding.winner is None else (1 - sliding.winner,)

    @property
    def consequence(self) -> str:
        """Return a sentence on the sliding friction that is used, and on changes that would have an effect on it."""
        sliding = self[FRICTIONS[0]]
        value = _number(sliding.value[0])
        if self.frictionless:
            return f"No friction acts: condim is {self['condim'].value[0]:.0f} ({self._condim_origin()})."
        if sliding.rule is Rule.OVERRIDE:
            return (
                f"{value} is o_friction of <option>: the flag override sets it for every contact, whatever geoms have."
            )
        if sliding.rule is Rule.PAIR:
            return (
                f"{value} is of {self.pair}: the friction of {self.names[0]} and {self.names[1]} has no effect there."
            )
        if sliding.winner is None:
            return (
                f"{self.names[0]} and {self.names[1]} both have {value} (equal priority: the larger counts): lowering"
                f" one of them alone has no effect; priority={_quoted(self.priorities[0] + 1)} on it makes it count."
            )
        winner, loser = self.names[sliding.winner], self.names[1 - sliding.winner]
        lost = _number(sliding.given[1 - sliding.winner][0])
        if sliding.rule is Rule.PRIORITY:
            above, below = self.priorities[sliding.winner], self.priorities[1 - sliding.winner]
            return (
                f"{winner}'s {value} counts, not {loser}'s {lost} (priority {above} over {below}):"
                f" changing {loser}'s friction has no effect."
            )
        return (
            f"{winner}'s {value} wins over {loser}'s {lost} (equal priority: the larger counts): changing {loser}'s"
            f" friction has no effect until it exceeds {value}; priority={_quoted(max(self.priorities) + 1)} on {loser}"
            " makes it count."
        )

    def _condim_origin(self) -> str:
        condim = self["condim"]
        if condim.rule is Rule.PAIR:
            return str(self.pair)
        if condim.rule is Rule.PRIORITY and condim.winner is not None:
            return f"{self.names[condim.winner]} has the higher priority"
        return "the larger of both geoms'"

    def origin_text(self, origin: Origin) -> str:
        """Return the origin of a parameter in a few words, such as `floor: the larger one`."""
        whose = "both" if origin.winner is None else self.names[origin.winner]
        if origin.rule is Rule.SOLMIX and origin.winner is None and origin.given[0] != origin.given[1]:
            return "both, by solmix"
        return {
            Rule.PAIR: str(self.pair),
            Rule.OVERRIDE: "<option>, flag override",
            Rule.PRIORITY: f"{whose}: the higher priority",
            Rule.LARGER: f"{whose}: the larger one" if origin.winner is not None else "both: equal",
            Rule.SMALLER: f"{whose}: the smaller one" if origin.winner is not None else "both: the smaller components",
            Rule.SOLMIX: f"{whose}: all of solmix" if origin.winner is not None else "both: equal",
            Rule.SUM: "the sum of both",
        }[origin.rule]


def explain_mixing(model: MjModel, side1: int, side2: int) -> Mixing:
    """Return where the parameters of the contacts between two geoms, or flexes, come from.

    Args:
        model: The compiled scene.
        side1: Id of a geom, or id of a flex plus the number of geoms.
        side2: Id of the other side.

    Returns:
        Each parameter with the values of both sides, the rule, and the side that decides.

    Example:
        >>> explain_mixing(model, model.geom("floor").id, model.geom("foot").id).consequence
        "floor's 1.0 wins over foot's 0.4 (equal priority: ...
    """
    sides = np.array([[side1, side2]])
    mixed, given = mix_parameters(model, sides), _GivenValues(model, side1, side2)
    pair = int(find_declared_pairs(model, sides)[0])
    priorities = tuple(int(value) for value in given["priority"][:, 0])
    override = bool(model.opt.enableflags & _OVERRIDE)

    def rule(equal: Rule, replaced: bool = True) -> Rule:
        """Return the rule of a parameter; `equal`: rule for equal priorities; `replaced`: True if the flag override
        acts."""
        if override and replaced:
            return Rule.OVERRIDE
        if pair >= 0:
            return Rule.PAIR
        return Rule.PRIORITY if priorities[0] != priorities[1] and equal is not Rule.SUM else equal

    ref = Rule.SOLMIX if (given["solref"][:, 0] > 0).all() else Rule.SMALLER
    parts: list[tuple[str, NDArray[Any], Values, Rule]] = [
        ("condim", mixed.condim, given["condim"], rule(Rule.LARGER, replaced=False)),
        *(
            (name, mixed.friction[:, i], given["friction"][:, _FIVE[i] :][:, :1], rule(Rule.LARGER))
            for i, name in enumerate(FRICTIONS)
        ),
        ("solref", mixed.solref, given["solref"], rule(ref)),
        ("solimp", mixed.solimp, given["solimp"], rule(Rule.SOLMIX)),
        ("margin", mixed.margin, given["margin"], rule(Rule.SUM)),
        ("gap", mixed.gap, given["gap"], rule(Rule.SUM, replaced=False)),
    ]
    names = side_names(model)
    return Mixing(
        sides=(side1, side2),
        names=(names[side1], names[side2]),
        pair=f"<pair> {read_names(model, 'pair')[pair] or pair}" if pair >= 0 else None,
        priorities=(priorities[0], priorities[1]),
        origins=tuple(
            _origin(name, value[0], sides_give, by, int(priorities[1] > priorities[0]))
            for name, value, sides_give, by in parts
        ),
    )


def side_names(model: MjModel) -> list[str]:
    """Return the names of all objects that a contact can have, in the order of `Sides`."""
    return [*geom_names(model), *(with_kind("flex", name) for name in flex_names(model))]


class _GivenValues:
    """Values of the two sides of a contact, by parameter, (2, components)."""

    def __init__(self, model: MjModel, side1: int, side2: int) -> None:
        self._model, self._sides = model, [side1, side2]

    def __getitem__(self, name: str) -> Values:
        return _side_values(self._model, name)[self._sides]


def _origin(name: str, value: NDArray[np.generic], given: Values, rule: Rule, higher: int) -> Origin:
    """Return the origin of a parameter. `value`: components of the contact; `higher`: the side with higher priority;
    None if both sides have the same."""
    got = np.atleast_1d(np.asarray(value, float))
    same = [bool((side == got).all()) for side in given]
    winner = None
    if rule is Rule.PRIORITY:
        winner = higher
    elif rule in (Rule.LARGER, Rule.SMALLER, Rule.SOLMIX) and same[0] != same[1]:
        winner = same.index(True)
    elif rule is Rule.LARGER and given[0] != given[1]:
        # Both are below the least friction.
        winner = int(given[1, 0] > given[0, 0])
    first, second = (tuple(side.tolist()) for side in given)
    return Origin(name, tuple(got.tolist()), (first, second), rule, winner)


def components_text(values: tuple[float, ...]) -> str:
    """Return components as MJCF has them, such as `0.02 1`."""
    return " ".join(f"{value:.4g}" for value in values)


def _number(value: float) -> str:
    text = f"{value:.4g}"
    return text if any(sign in text for sign in ".en") else f"{text}.0"


def _quoted(value: int) -> str:
    return f'"{value}"'
