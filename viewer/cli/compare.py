"""`contact-viewer compare SCENE`: step both engines on one scene and set their contact sensors side by side."""

import argparse
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engines.contract import Engine
from ..engines.registry import open_engine
from ..engines.steps import Step
from ..errors import SceneError, UnstableError
from ..sensors.contacts import Array
from ..session.simulation import Simulation
from ..settings import Reduce
from .parsing import Parser, add_control_arguments, load_controller, number
from .progress import report_warnings
from .runs import USUAL_DURATION

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
    total_mean: float = 0.0
    """The same of all matching contacts, with those that the sensor has no slots for [N]."""
    total_max: float = 0.0


def parser() -> Parser:
    parser = Parser(
        "compare",
        "Step MuJoCo and MotrixSim on one scene: contacts found and net force of every contact sensor in each.",
    )
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument(
        "--duration",
        type=number(0.001, _MAX_DURATION),
        default=USUAL_DURATION,
        metavar="S",
        help="simulated seconds; default: 10",
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    add_control_arguments(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser


def run(arguments: argparse.Namespace) -> int:
    engines = {
        name: open_engine(arguments.scene, name, control=load_controller(arguments)) for name in ("mujoco", "motrix")
    }
    records = {name: _record(engine, arguments.duration, arguments.key) for name, engine in engines.items()}
    report = _report(engines, records, arguments.duration)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        _print_report(report)
    return 0


class Recorder:
    """Reads every sensor of an engine after each step."""

    def __init__(self, engine: Engine, steps: int) -> None:
        self.records = {name: Record() for name in engine.sensors.names}
        self._steps = steps
        self._totals: dict[str, Array] = {}
        """Net force of all contacts in the last step, by sensor [N], (3,)."""

    def after_step(self, step: Step) -> None:
        for name, record in self.records.items():
            batch = step.contacts(name)
            assert batch.net_force is not None
            total = batch.net_force
            if step.sensors[name].reduce is not Reduce.NETFORCE and batch.found > batch.filled.sum():
                dropped = step.dropped(name)
                assert dropped.net_force is not None
                total = total + dropped.net_force
                if batch.filled.sum() + dropped.filled.sum() < batch.found:
                    # Bodies sleep: the array is that of before, and the list is without their contacts.
                    total = self._totals.get(name, np.full(3, np.nan))
            self._totals[name] = total
            force, all_force = float(np.linalg.norm(batch.net_force)), float(np.linalg.norm(total))
            record.found_mean += float(batch.found) / self._steps
            record.found_max = max(record.found_max, float(batch.found))
            record.force_mean += force / self._steps
            record.force_max = max(record.force_max, force)
            record.total_mean += all_force / self._steps
            record.total_max = max(record.total_max, all_force)

    def after_reset(self, engine: Engine) -> None:
        """Nothing: the first step is the first that is read."""


def _record(engine: Engine, duration: float, key: str | None) -> dict[str, Record]:
    """Every sensor of an engine over all steps."""
    simulation = Simulation(engine)
    if key is not None:
        simulation.reset(key)
    steps = _steps(engine, duration)
    recorder = Recorder(engine, steps)
    simulation.observers.append(recorder)
    try:
        simulation.step(steps)
    except UnstableError as error:
        raise SceneError(f"{engine.path} in {engine.name}: {error}") from None
    report_warnings(engine)
    return recorder.records


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
    """Return the second engine's numbers less the first one's."""
    first, second = asdict(ours), asdict(theirs)
    return {key: second[key] - first[key] for key in first}


def _known(values: dict[str, float]) -> dict[str, float | None]:
    """With None for NaN, which JSON lacks: the net force where not all contacts are known."""
    return {key: value if math.isfinite(value) else None for key, value in values.items()}


def _print_report(report: dict[str, Any]) -> None:
    names = report["engines"]
    print(f"{report['scene']}: {report['duration']:g} s in {names['mujoco']} and in {names['motrix']}")
    other = names["motrix"].split()[0]
    if report["ignored"]:
        print(f"{other} ignores {', '.join(report['ignored'])}")
    if not report["sensors"]:
        print("no contact sensors")
        return
    print("net force [N]: of the reported contacts, and of all that match, also those without a slot")
    heads = ("contacts, mean", "contacts, max", "reported, mean", "reported, max", "all, mean", "all, max")
    for sensor in report["sensors"]:
        print(f"\n{sensor['name']}: {sensor['label']} · reduce {sensor['reduce']}")
        if sensor["motrix"] is None:
            print(f"  {other} does not read it: {sensor['unread']}")
            continue
        print(f"  {'':12}" + "".join(f"{head:>16}" for head in heads))
        for row in ("mujoco", "motrix", "difference"):
            print(f"  {row:12}" + "".join(f"{_format(value):>16}" for value in sensor[row].values()))


def _format(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
