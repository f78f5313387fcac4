"""`contact-viewer inspect SCENE`: describe every contact sensor's array."""

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any

from ..engines.abilities import Portability, Verdict
from ..engines.registry import open_engine, portability
from ..mjmodel.declarations import Declaration, declared_sensors
from ..mjmodel.diagnosis import never_matching
from ..mjmodel.state import SLEEP
from ..scene_files.safe_open import open_safely
from ..scene_files.scene import find_scene
from ..sensors.layout import ContactLayout, Style
from ..settings import Reduce
from .inspect_pairs import print_pairs, touch_notes
from .parsing import Parser, number
from .progress import plural, report
from .runs import report_deep_start

_EACH_ALONE = 50
"""Largest number of sensors that are described one by one."""
_VERDICTS = {Verdict.TAKE: "reads it", Verdict.IGNORE: "ignores it", Verdict.REFUSE: "refuses it"}


def parser() -> Parser:
    parser = Parser(
        "inspect",
        "Describe every contact sensor of a scene: what it matches, whether MotrixSim reads it,\n"
        "and its array as MuJoCo writes it, as MotrixSim does, and as MotrixSim's manual has it.\n"
        "With --pairs or --pair: where the parameters of contacts come from, and what touches at the start.",
        examples=(
            "inspect robot.xml                    # the contact sensors and their arrays",
            "inspect robot.xml --pairs            # what touches: whose friction counts, at the start or later",
            "inspect robot.xml --pair foot floor  # the same of two geoms, whether they touch or not",
        ),
    )
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument("--pairs", action="store_true", help="describe the pairs that touch within --duration")
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], metavar="GEOM", help="describe the contacts of two geoms"
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument(
        "--duration", type=number(0, 1e4), default=1.0, metavar="S", help="simulated time to look at [s]; default: 1"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    scene = open_safely(find_scene(arguments.scene))
    assert scene.path is not None
    for note in scene.notes:
        report(f"note: {note}")
    if scene.model.opt.enableflags & SLEEP:
        report("note: bodies may sleep: until they wake up, their sensors keep their last values")
    engine = open_engine(scene)
    if arguments.key is None:
        report_deep_start(engine)
    if arguments.pairs or arguments.pair:
        print_pairs(engine, arguments)
        return 0
    declared = declared_sensors(scene.model, hidden=scene.companions.values())
    verdicts = portability("motrix", scene.path, scene.model, declared)
    reasons = never_matching(scene.model, [sensor.sensor_id for sensor in declared])
    never = {sensor.name: reasons.get(sensor.sensor_id) for sensor in declared}
    if arguments.json:
        sensors = [_as_json(sensor, verdicts[sensor.name], never[sensor.name]) for sensor in declared]
        about = {"scene": str(engine.path), "engine": engine.name, "sensors": sensors}
        print(json.dumps(about | {"touch": dict(touch_notes(engine, arguments))}, indent=2))
        return 0
    print(f"{engine.path}: {plural(len(declared), 'contact sensor')} ({engine.name})")
    if not declared:
        scene_name = shlex.quote(arguments.scene)
        print(f"\none sensor per touching body: contact-viewer sensors {scene_name} --write")
        print(f"without any, what touches, slips and why: contact-viewer events {scene_name} --by-body --why")
    for sensor, *others in _alike(declared, verdicts, never):
        print(f"\n{sensor.name}: {sensor.label}\n{_description(sensor, verdicts[sensor.name], never[sensor.name])}")
        if others:
            print(f"  the same holds for {plural(len(others), 'more sensor')}:")
        for other in others:
            print(f"    {other.name}: {other.label}")
    if reasons:
        print(f"\nfor more problems of its contacts: contact-viewer check {arguments.scene}")
    for name, note in touch_notes(engine, arguments):
        print(f"\n{name}: <touch>\n  {note}")
    return 0


def _alike(
    declared: Sequence[Declaration], verdicts: Mapping[str, Portability], never: Mapping[str, str | None]
) -> list[list[Declaration]]:
    """Return groups of sensors that are described together, because their descriptions are equal."""
    if len(declared) <= _EACH_ALONE:
        return [[sensor] for sensor in declared]
    groups: dict[str, list[Declaration]] = {}
    for sensor in declared:
        # What MotrixSim says names the sensor.
        text = _description(sensor, verdicts[sensor.name], never[sensor.name]).replace(f" {sensor.name} ", " ")
        groups.setdefault(text, []).append(sensor)
    return list(groups.values())


def _as_json(sensor: Declaration, verdict: Portability, never: str | None) -> dict[str, Any]:
    layout = sensor.layout
    return {
        "name": sensor.name,
        "label": sensor.label,
        "never": never,
        "fields": list(layout.fields),
        "slots": layout.slots,
        "reduce": layout.reduce,
        "frame": layout.frame,
        "size": layout.size,
        "columns": list(layout.columns),
        "styles": {
            style: {"size": other.size, "frame": other.frame, "columns": list(other.columns)}
            for style, other in _styles(layout).items()
        },
        "motrix": {
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "notes": list(verdict.notes),
            "verified": verdict.verified,
        },
        "mjx": {"warning": _mjx_warning(layout)},
    }


def _mjx_warning(layout: ContactLayout) -> str:
    """Return the notes on a sensor for users who run the scene in MJX; empty if there are none."""
    if layout.reduce is not Reduce.NONE:
        return ""
    return "with reduce none slots are filled also with pairs that do not touch; mindist and maxforce are right there"


@cache
def _styles(layout: ContactLayout) -> dict[Style, ContactLayout]:
    return {style: layout.restyled(style) for style in Style}


def _description(sensor: Declaration, verdict: Portability, never: str | None) -> str:
    """Return the description of a sensor, without its name and its objects."""
    layout = sensor.layout
    lines = [f"  data {' '.join(layout.fields)} · num {layout.slots} · reduce {layout.reduce} · {layout.frame} frame"]
    if never:
        lines.insert(0, f"  can never report a contact: {never}")
    source = "verified" if verdict.verified else "predicted"
    reason = f": {verdict.reason}" if verdict.reason else ""
    lines.append(f"  MotrixSim {_VERDICTS[verdict.verdict]} ({source}){reason}")
    lines += [f"    {note}" for note in verdict.notes]
    if warning := _mjx_warning(layout):
        lines.append(f"  MJX: {warning}")
    return "\n".join([*lines, _arrays_text(layout)])


@cache
def _arrays_text(layout: ContactLayout) -> str:
    """Return the arrays as a table: a row per value, a column per style. Sensors of equal layout share it."""
    styles = _styles(layout)
    rows: list[tuple[str, ...]] = [tuple(styles), tuple(_summary(layout) for layout in styles.values())]
    rows += zip_longest(*(_cells(layout) for layout in styles.values()), fillvalue="")
    widths = [max(len(row[i]) for row in rows) for i in range(len(styles))]
    digits = len(str(len(rows) - 3))
    lines = []
    for place, row in enumerate(rows, start=-2):
        index = f"[{place:{digits}}]" if place >= 0 else " " * (digits + 2)
        cells = "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"    {index} {cells}".rstrip())
    return "\n".join(lines)


def _summary(layout: ContactLayout) -> str:
    return f"{plural(layout.size, 'value')}, {layout.frame} frame"


def _cells(layout: ContactLayout) -> list[str]:
    return [f"{column.name} {column.unit}".rstrip() for column in layout.described_columns]
