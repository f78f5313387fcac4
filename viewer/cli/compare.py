"""`contact-viewer compare SCENE`: step both engines on one scene and set their contact sensors side by side."""

import argparse
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engines.contract import Engine
from ..engines.errors import SceneError, UnstableError
from ..engines.opening import open_engine
from .parsing import Parser, number

_MAX_DURATION = 3600.0


@dataclass
class Record:
    """One sensor in one engine, over all steps."""

    found_mean: float = 0.0
    """Mean number of matching contacts."""
    found_max: float = 0.0
    force_mean: float = 0.0
    """Mean norm of the net force of the reported contacts [N]."""
    force_max: float = 0.0


def parser() -> Parser:
    parser = Parser(
        "compare",
        "Step MuJoCo and MotrixSim on one scene: contacts found and net force of every contact sensor in each.",
    )
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument(
        "--duration", type=number(0.001, _MAX_DURATION), required=True, metavar="S", help="simulated time [s]"
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser


def run(arguments: argparse.Namespace) -> int:
    engines = {name: open_engine(arguments.scene, name) for name in ("mujoco", "motrix")}
    records = {name: _record(engine, arguments.duration, arguments.key) for name, engine in engines.items()}
    report = _report(engines, records, arguments.duration)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        _print_report(report)
    return 0


def _record(engine: Engine, duration: float, key: str | None) -> dict[str, Record]:
    """Every sensor of an engine after each step."""
    if key is not None:
        engine.reset(key)
    records = {name: Record() for name in engine.sensors.names}
    steps = _steps(engine, duration)
    for _ in range(steps):
        try:
            engine.step()
        except UnstableError as error:
            raise SceneError(f"{engine.path} in {engine.name}: {error}") from None
        for name, record in records.items():
            batch = engine.contacts(name)
            assert batch.net_force is not None
            found, force = float(batch.found), float(np.linalg.norm(batch.net_force))
            record.found_mean += found / steps
            record.found_max = max(record.found_max, found)
            record.force_mean += force / steps
            record.force_max = max(record.force_max, force)
    return records


def _steps(engine: Engine, duration: float) -> int:
    return max(1, round(duration / engine.timestep)) if engine.timestep > 0 else 1


def _report(engines: dict[str, Engine], records: dict[str, dict[str, Record]], duration: float) -> dict[str, Any]:
    mujoco, motrix = engines["mujoco"], engines["motrix"]
    sensors = []
    for sensor in mujoco.sensors:
        ours, theirs = records["mujoco"][sensor.name], records["motrix"].get(sensor.name)
        sensors.append(
            {
                "name": sensor.name,
                "label": sensor.label,
                "reduce": sensor.reduce,
                "mujoco": _known(asdict(ours)),
                "motrix": None if theirs is None else _known(asdict(theirs)),
                "difference": None if theirs is None else _known(_difference(ours, theirs)),
                "unread": motrix.unread.get(sensor.name),
            }
        )
    return {
        "scene": str(mujoco.path),
        "engines": {name: engine.name for name, engine in engines.items()},
        "duration": duration,
        "steps": {name: _steps(engine, duration) for name, engine in engines.items()},
        "ignored": list(motrix.ignored),
        "sensors": sensors,
    }


def _difference(ours: Record, theirs: Record) -> dict[str, float]:
    """MotrixSim's numbers less MuJoCo's."""
    first, second = asdict(ours), asdict(theirs)
    return {key: second[key] - first[key] for key in first}


def _known(values: dict[str, float]) -> dict[str, float | None]:
    """Without NaN, which JSON has no word for: a net force of more contacts than could be added up."""
    return {key: value if math.isfinite(value) else None for key, value in values.items()}


def _print_report(report: dict[str, Any]) -> None:
    names = report["engines"]
    print(f"{report['scene']}: {report['duration']:g} s in {names['mujoco']} and in {names['motrix']}")
    if report["ignored"]:
        print(f"MotrixSim ignores {', '.join(report['ignored'])}")
    if not report["sensors"]:
        print("no contact sensors")
        return
    heads = ("contacts, mean", "contacts, max", "net force, mean [N]", "net force, max [N]")
    for sensor in report["sensors"]:
        print(f"\n{sensor['name']}: {sensor['label']} · reduce {sensor['reduce']}")
        if sensor["motrix"] is None:
            print(f"  MotrixSim does not read it: {sensor['unread']}")
            continue
        print(f"  {'':12}" + "".join(f"{head:>21}" for head in heads))
        for row in ("mujoco", "motrix", "difference"):
            print(f"  {row:12}" + "".join(f"{_format(value):>21}" for value in sensor[row].values()))


def _format(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
