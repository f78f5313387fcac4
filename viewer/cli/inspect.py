"""`contact-viewer inspect SCENE`: describe every contact sensor's array."""

import argparse
import json
from itertools import groupby
from typing import Any

from ..engines.contract import ContactSensor
from ..engines.opening import open_engine
from .parsing import Parser


def parser() -> Parser:
    parser = Parser("inspect", "Describe every contact sensor of a scene: what it matches, and its array.")
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser


def run(arguments: argparse.Namespace) -> int:
    engine = open_engine(arguments.scene)
    if arguments.json:
        sensors = [_as_json(sensor) for sensor in engine.sensors]
        print(json.dumps({"scene": str(engine.path), "engine": engine.name, "sensors": sensors}, indent=2))
        return 0
    count = len(engine.sensors)
    print(f"{engine.path}: {count} contact sensor{'' if count == 1 else 's'} ({engine.name})")
    for sensor in engine.sensors:
        _print_sensor(sensor)
    return 0


def _as_json(sensor: ContactSensor) -> dict[str, Any]:
    return {
        "name": sensor.name,
        "label": sensor.label,
        "fields": list(sensor.fields),
        "slots": sensor.slots,
        "reduce": sensor.reduce,
        "frame": sensor.frame,
        "size": sensor.size,
        "columns": list(sensor.columns),
    }


def _print_sensor(sensor: ContactSensor) -> None:
    print(f"\n{sensor.name}: {sensor.label}")
    print(f"  data {' '.join(sensor.fields)} · num {sensor.slots} · reduce {sensor.reduce} · {sensor.frame} frame")
    print(f"  array of {sensor.size} value{'' if sensor.size == 1 else 's'}:")
    width = len(str(sensor.size - 1))
    columns = enumerate(sensor.layout.described_columns)
    for _, group in groupby(columns, key=lambda item: (item[1].slot, item[1].field)):
        row = list(group)
        names = "  ".join(f"[{i:{width}}] {column.name}" for i, column in row)
        unit, frame = row[0][1].unit, row[0][1].frame
        notes = ", ".join(note for note in (unit, f"{frame} frame" if frame else "") if note)
        print(f"    {names}{f'  ({notes})' if notes else ''}")
