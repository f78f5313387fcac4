"""`contact-viewer sensors SCENE`: write contact sensors for a robot without any."""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from ..engines.contract import Engine
from ..engines.registry import open_engine
from ..errors import SceneError, did_you_mean
from ..mjmodel.sensor_suggestions import SensorSuggestions
from ..mjmodel.types import MjData
from ..scene_files.scene import find_scene
from ..scene_files.xml_edits import contact_element, insert_elements
from ..sensors.contact_declaration import ContactDeclaration
from ..session.simulation import Change, StepSource
from .parsing import Parser, UsageError, number
from .progress import plural, report

_LOOK_SECONDS = 0.02
"""Simulated time between two checks of the contacts [s]."""


def parser() -> Parser:
    parser = Parser(
        "sensors",
        "Print the <contact> elements that report what a robot touches: one sensor per touching body,\n"
        "found by simulating a moment, or one per geom of a body. --write saves them into the scene.",
        examples=(
            "sensors robot.xml                    # one sensor per body that touches something",
            "sensors robot.xml --key home --write # save them into robot.xml",
            "sensors robot.xml --each-geom foot   # one sensor per colliding geom of a body",
        ),
    )
    parser.add_argument("scene", metavar="SCENE", help="file or name of a bundled scene")
    parser.add_argument("--each-geom", metavar="BODY", help="one sensor per named, colliding geom of this body")
    parser.add_argument("--each-body", action="store_true", help="one sensor per touching body; the default")
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument(
        "--duration", type=number(0, 1e4), default=1.0, metavar="S", help="simulated time to look at [s]; default: 1"
    )
    parser.add_argument("--write", action="store_true", help="save the elements into the scene's file")
    return parser


def run(arguments: argparse.Namespace) -> int:
    if arguments.each_geom and arguments.each_body:
        raise UsageError("--each-geom and --each-body exclude each other: give one")
    engine = open_engine(find_scene(arguments.scene))
    if arguments.key is not None:
        engine.reset(arguments.key)
    suggestions = SensorSuggestions(engine.model)
    if arguments.each_geom:
        found = _each_geom(engine, suggestions, arguments.each_geom)
    else:
        found = _each_body(engine, suggestions, arguments.duration)
    if not found:
        raise SceneError(
            f"{engine.path}: nothing with a name touches within {arguments.duration:g} s; try --key or --duration"
        )
    elements = [contact_element(declaration.attributes) for declaration in found]
    print(*elements, sep="\n")
    if arguments.write:
        if (reason := StepSource(engine).why_not(Change.FILE)) is not None:
            raise SceneError(f"{engine.path}: {reason}")
        assert engine.path is not None
        insert_elements(engine.path, "sensor", elements).save()
        report(f"{engine.path}: saved {plural(len(elements), 'sensor')}")
    return 0


def _each_geom(engine: Engine, suggestions: SensorSuggestions, body: str) -> list[ContactDeclaration]:
    if body not in suggestions.bodies:
        known = did_you_mean(body, suggestions.bodies) or f"; bodies with them: {', '.join(suggestions.bodies)}"
        raise SceneError(f"{engine.path}: no body {body!r} with colliding geoms{known}")
    found = suggestions.for_body(body, set(engine.sensors.names))
    if not found:
        raise SceneError(f"{engine.path}: no colliding geom of body {body!r} has a name to refer to")
    return found


def _each_body(engine: Engine, suggestions: SensorSuggestions, seconds: float) -> list[ContactDeclaration]:
    """Return a sensor for each body that touches in the course of some simulated time, with slots for all contacts."""
    found: dict[str, ContactDeclaration] = {}
    for data in _looks(engine, seconds):
        for body in suggestions.touching_bodies(data):
            if not body.name:
                continue
            new = suggestions.for_whole_body(body, set(engine.sensors.names) | (found.keys() - {body.name}))
            old = found.setdefault(body.name, new)
            found[body.name] = replace(old, num=max(old.num, new.num))
    return list(found.values())


def _looks(engine: Engine, seconds: float) -> Iterator[MjData]:
    """Step the scene, and yield its data every few steps."""
    steps = max(1, round(_LOOK_SECONDS / engine.timestep))
    for _ in range(max(1, round(seconds / (steps * engine.timestep)))):
        engine.step(steps)
        yield engine.contact_data()
