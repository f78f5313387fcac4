"""Parts of `contact-viewer inspect` on pairs that touch, and on <touch> sensors."""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..engines.contract import Engine
from ..errors import SceneError, did_you_mean
from ..mjmodel.mixing import Mixing, explain_mixing, side_names
from ..mjmodel.pressing import (
    PassedLoad,
    describe_passed_load,
    describe_relation,
    find_children_with_geoms,
    find_pressing_pairs,
    find_start_touches,
    measure_passed_load,
)
from .progress import plural

_ORIGIN_WIDTH = 26


@dataclass
class _SeenPair:
    """Two bodies that touched."""

    names: tuple[str, str]
    bodies: tuple[int, int]
    sides: set[tuple[int, int]] = field(default_factory=set)
    depth: float | None = None
    """Penetration at the start [m]; None if they did not touch then."""
    pressure: float = 0.0
    """Largest sum of their normal forces [N]."""


def print_pairs(engine: Engine, arguments: argparse.Namespace) -> None:
    """Describe the pairs that touch, or the named ones, with the origin of every parameter of their contacts."""
    seen = [] if arguments.pair else _seen_pairs(engine, arguments)
    sides = [_named_sides(engine, names) for names in arguments.pair] + [
        each for pair in seen for each in sorted(pair.sides)
    ]
    found = {each: explain_mixing(engine.model, *each) for each in sides}
    if arguments.json:
        pairs = [_pair_json(engine, pair) for pair in seen]
        contacts = [_mixing_json(mixing) for mixing in found.values()]
        print(json.dumps({"scene": str(engine.path), "bodies": pairs, "geoms": contacts}, indent=2))
        return
    if not arguments.pair:
        print(f"{engine.path}: {plural(len(seen), 'pair')} of bodies touch within {arguments.duration:g} s")
        for pair in seen:
            print(_pair_text(engine, pair))
    alike: dict[str, list[Mixing]] = {}
    for mixing in found.values():
        alike.setdefault(_mixing_text(mixing, ("{0}", "{1}")), []).append(mixing)
    for first, *others in alike.values():
        print(f"\n{' x '.join(first.names)}\n{_mixing_text(first, first.names)}")
        if others:
            print(f"  the same holds for {plural(len(others), 'more pair')}:")
        for mixing in others:
            print(f"    {' x '.join(mixing.names)}")


def _seen_pairs(engine: Engine, arguments: argparse.Namespace) -> list[_SeenPair]:
    """Step for a while; return the pairs of bodies that touched, with those that touch at the start first."""
    model, seen = engine.model, dict[tuple[int, int], _SeenPair]()
    for touch in find_start_touches(model, arguments.key):
        seen[touch.bodies] = _SeenPair(touch.names, touch.bodies, set(touch.sides), touch.depth)
    for pairs in _steps(engine, arguments, find_pressing_pairs):
        for pair in pairs:
            known = seen.setdefault(pair.bodies, _SeenPair(pair.names, pair.bodies))
            known.sides.update(pair.sides)
            known.pressure = max(known.pressure, pair.pressure)
    return sorted(seen.values(), key=lambda pair: (pair.depth is None, -pair.pressure))


def _steps(engine: Engine, arguments: argparse.Namespace, read: Any) -> Iterator[Any]:
    """Step from the start for the given duration; yield the result of `read(model, data)` after each step."""
    engine.reset(arguments.key)
    for _ in range(round(arguments.duration / engine.timestep)):
        engine.step()
        yield read(engine.model, engine.contact_data())


def _named_sides(engine: Engine, names: Sequence[str]) -> tuple[int, int]:
    known = side_names(engine.model)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"; the scene has: {', '.join(known[:20])}"
            raise SceneError(f"{engine.path}: no geom {name!r}{hint}")
    first, second = (known.index(name) for name in names)
    if first == second:
        raise SceneError(f"{engine.path}: --pair needs two geoms, not {names[0]} twice")
    return first, second


def _pair_text(engine: Engine, pair: _SeenPair) -> str:
    start = "" if pair.depth is None else f", touches at the start ({1e3 * max(pair.depth, 0):.3g} mm deep)"
    relation = describe_relation(engine.model, pair.bodies)
    return f"  {' x '.join(pair.names)}: up to {pair.pressure:.3g} N{start}" + (f"\n    {relation}" if relation else "")


def _mixing_text(mixing: Mixing, names: tuple[str, str]) -> str:
    """Return a sentence on how two geoms mix, and the parameters by their origins; `names`: names of the geoms."""
    mixing = replace(mixing, names=names)
    origins: dict[str, list[str]] = {}
    for origin in mixing.distinct:
        where = mixing.origin_text(origin) if mixing.is_used(origin) else "not used, by condim"
        origins.setdefault(where, []).append(f"{origin.name} {origin.text}")
    lines = [f"    {where:{_ORIGIN_WIDTH}} {', '.join(values)}" for where, values in origins.items()]
    return "\n".join([f"  {mixing.consequence}", *lines])


def _pair_json(engine: Engine, pair: _SeenPair) -> dict[str, Any]:
    return {
        "bodies": pair.names,
        "at_start": pair.depth is not None,
        "start_depth": pair.depth,
        "largest_normal_force": pair.pressure,
        "relation": describe_relation(engine.model, pair.bodies),
    }


def _mixing_json(mixing: Mixing) -> dict[str, Any]:
    return {
        "geoms": mixing.names,
        "pair": mixing.pair,
        "priorities": mixing.priorities,
        "consequence": mixing.consequence,
        "parameters": [
            {
                "name": origin.name,
                "value": origin.value,
                "given": origin.given,
                "rule": origin.rule,
                "winner": None if origin.winner is None else mixing.names[origin.winner],
                "used": mixing.is_used(origin),
            }
            for origin in mixing.origins
        ],
    }


def touch_notes(engine: Engine, arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield name and note of each <touch> sensor whose body has bodies below it: contacts of those do not count.

    The scene is stepped for a while to measure the share of the load on those bodies.
    """
    touch = engine.touch_sensors
    found = [each for each in touch or () if each.native and find_children_with_geoms(engine.model, each.body)]
    if not found:
        return
    bodies = sorted({each.body for each in found})
    sums = {body: [0.0, 0.0] for body in bodies}
    for loads in _steps(
        engine, arguments, lambda model, data: [measure_passed_load(model, data, body) for body in bodies]
    ):
        for body, load in zip(bodies, loads, strict=True):
            sums[body][0] += load.own
            sums[body][1] += load.passed
    count = max(1, round(arguments.duration / engine.timestep))
    for each in found:
        own, passed = (total / count for total in sums[each.body])
        note = describe_passed_load(engine.model, each.body, PassedLoad(own, passed))
        assert note is not None
        yield each.name, note
