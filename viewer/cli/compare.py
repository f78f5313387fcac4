"""`contact-viewer compare A B`: two runs side by side, both engines on one scene, or releases of MuJoCo."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app.interruption import interruption
from ..engines.registry import ENGINES
from ..errors import SceneError
from ..files import PartFile
from . import measured
from .parsing import Parser, UsageError, add_control_arguments, load_controller, number
from .progress import report, report_warnings, work_through
from .runs import USUAL_DURATION, add_log_arguments, check_run_arguments, open_given_log, report_notes

if TYPE_CHECKING:
    from ..compare.comparison import Comparison
    from ..compare.sides import SimulationSide
    from ..compare.versions import Recorded, VersionSide
    from ..engines.contract import Engine

_MAX_DURATION = 3600.0
_SUFFIXES = (".csv", ".npz", ".parquet")
_SHOWN = 20
"""Largest number of differences of the scenes that are printed; --json has all."""
_DIFFERENT = 1
_EPILOG = """A and B are scenes, saved runs (.cvrun), a scene with --log, SCENE@motrix for MotrixSim's steps, or
SCENE@mujoco==3.11.0 for those of another release of MuJoCo, from the same start and with the same inputs. Options
that follow A or B apply to it alone; those before A to both. With one scene, MuJoCo (A) and MotrixSim (B) step it.

With --mujoco FIRST..LAST the published releases between two are bisected for the first that differs from FIRST. Each
release runs every step from the state that the run here had. It is installed once, into the user's cache folder, with
uv or pip.

Steps are compared bit for bit, or within --tolerance: of the first step whose contacts differ, the first link of the
chain that differs is named: inputs, pair list, contact points, normal or distance, mixed parameters, solved force.
With --mujoco 1e-6 counts as no difference, and contacts of one pair may have another order.

With a file of measured data in place of B, --map says which column a sensor's force is compared with. Clocks are
aligned by matching touchdowns, else by correlation.

Exit code 0 if the runs are equal, 1 if not, 2 for bad input. Two engines on one scene never agree in every bit: there
it is 0 unless --tolerance is given."""


class _Parser(Parser):
    """Split a command line into the parts for A, for B and for both."""

    common: frozenset[str] = frozenset()
    """Options of the whole comparison, which do not belong to one run."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        everywhere: list[str] = []
        sides: list[list[str]] = []
        while words:
            word = words.pop(0)
            action = self._option_string_actions.get(word.split("=")[0])
            if not word.startswith("-") or word == "-":
                sides.append([word])
                continue
            target = everywhere if not sides or word.split("=")[0] in self.common or action is None else sides[-1]
            target.append(word)
            if action is not None and action.nargs is None and "=" not in word and words:
                target.append(words.pop(0))
        if len(sides) > 2:
            self.error(f"two runs are compared, not {len(sides)}: {' '.join(side[0] for side in sides)}")
        found = [super(_Parser, self).parse_args([*everywhere, *side]) for side in sides or [[]]]
        found[0].sides = found
        return found[0]


def parser() -> Parser:
    parser = _Parser(
        "compare",
        "Compare two runs: differences of their scenes, the first step that differs and why, and contacts and "
        "forces of every sensor. With one scene: MuJoCo and MotrixSim.",
        _EPILOG,
        examples=(
            "compare scene.xml old.cvrun                          # a golden run, in CI",
            "compare slope slope --set friction:box_on_slope=0.3  # one parameter",
            "compare quadruped --seed 1 quadruped --seed 2        # options follow their run",
            "compare scene.xml --mujoco 3.5.0..4.0.0              # which release changed the contacts?",
            "compare run.cvrun walk.mcap --map left=/ft.wrench.force.z   # what the robot measured",
        ),
    )
    parser.add_argument(
        "scene", metavar="A [B]", help="scene, saved run, or SCENE@ENGINE, each followed by its options"
    )
    parser.add_argument(
        "--duration",
        type=number(0.001, _MAX_DURATION),
        metavar="S",
        help="simulated time [s]; default: 10, or all of a saved run or log",
    )
    parser.add_argument(
        "--tolerance",
        type=number(0.0, 1e6),
        metavar="T",
        help="largest difference that is ignored, relative for values above 1; default: 0, bit for bit",
    )
    parser.add_argument(
        "--match",
        type=number(0.0, 1e6),
        default=0.02,
        metavar="S",
        help="largest time between the same touchdown or lift-off in both runs [s]; default: 0.02",
    )
    parser.add_argument(
        "--mujoco", metavar="FIRST..LAST", help="find the first release between two that differs from FIRST"
    )
    parser.add_argument(
        "--until",
        metavar="WHAT",
        help="with --mujoco, compare contacts, state, or sensor:NAME for the array of any sensor; default: contacts",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the forces of both runs in every step: .csv, .npz or .parquet"
    )
    parser.add_argument("--sensor", action="append", default=[], metavar="NAME", help="only this sensor; repeatable")
    measured.add_arguments(parser)
    parser.common = frozenset(parser._option_string_actions)
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="WHAT[:NAME]=VALUE",
        help="set a value of the model: friction:foot=0.5, margin=0, cone=elliptic, mass:box=2; repeatable",
    )
    parser.add_argument("--envs", type=number(1, 65536, int), default=1, metavar="N", help="number of environments")
    parser.add_argument(
        "--env", type=number(0, 65535, int), default=0, metavar="I", help="environment to compare, from 0; default: 0"
    )
    add_control_arguments(parser)
    add_log_arguments(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..compare.comparison import Comparison
    from ..recording.data_file import check_data_path

    if measured.is_measured(arguments):
        return measured.run(arguments)
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{output}: unknown suffix {output.suffix!r}; a table is written as {', '.join(_SUFFIXES)}")
    if output is not None:
        check_data_path(output)
    texts = [side.scene for side in arguments.sides]
    if arguments.mujoco is not None:
        return _bisect(arguments, texts)
    if arguments.until is not None:
        raise UsageError("--until is for --mujoco FIRST..LAST")
    engines = len(arguments.sides) == 1 and _split(texts[0])[0] == texts[0]
    if len(arguments.sides) == 1 and not engines:
        # MuJoCo's run here, and the one that is named.
        arguments.sides, texts = [arguments] * 2, [_split(texts[0])[0], texts[0]]
    sides: list[SimulationSide | VersionSide] = [
        _open(side, text, arguments.sensor)
        for side, text in (
            zip([arguments] * 2, (f"{texts[0]}@mujoco", f"{texts[0]}@motrix"), strict=True)
            if engines
            else zip(arguments.sides, texts, strict=True)
        )
    ]
    lengths = [side.simulation.source.duration for side in sides if side.simulation.source.duration is not None]
    seconds = arguments.duration or max(min(lengths, default=USUAL_DURATION), sides[0].timestep)
    try:
        for place, text in enumerate(() if engines else texts):
            sides[place] = _in_release(sides[place], text, seconds)
        comparison = Comparison(sides[0], sides[1], arguments.tolerance or 0.0)
        with interruption() as interrupt:
            total = max(1, round(seconds / sides[0].timestep))
            trouble, code = work_through(comparison.steps(seconds), total, "steps", interrupt)
        if trouble and code:
            raise SceneError(trouble)
    finally:
        for side in sides:
            side.close()
    for side in sides:
        report_warnings(side.simulation.engine)
        if engines and side.ending:
            raise SceneError(f"{side.simulation.engine.path} in {side.engine}: {side.ending}")
    document = _document(comparison, arguments, seconds, str(sides[0].simulation.engine.path) if engines else None)
    if output is not None:
        _write(output, comparison)
    if arguments.json:
        print(json.dumps(_known(document), indent=2))
    else:
        _print(document, engines)
        if output is not None:
            print(f"{output}: written")
    if engines and arguments.tolerance is None:
        return interrupt.exit_code or code
    return interrupt.exit_code or code or (0 if comparison.equal else _DIFFERENT)


def _open(arguments: argparse.Namespace, text: str, only: Sequence[str]) -> "SimulationSide":
    from ..compare.sides import SimulationSide
    from ..engines.registry import open_engine
    from ..session.simulation import Change, Simulation

    name, engine_name = _split(text)
    # What reads the scene of a command line sees it without the engine.
    arguments = argparse.Namespace(**{**vars(arguments), "scene": name, "save_run": None})
    check_run_arguments(arguments)
    name = arguments.scene
    if arguments.env >= arguments.envs:
        raise UsageError(f"--env {arguments.env}: there are {arguments.envs} environments, from 0; choose with --envs")
    failures: list[SceneError] = []
    engine: Engine = open_engine(name, engine_name, arguments.envs, _controller(arguments, failures))
    if failures:
        raise failures[0]
    for note in engine.notes:
        report(f"note: {note}")
    open_given_log(arguments, engine)
    simulation = Simulation(engine)
    report_notes(simulation.source)
    if arguments.key is not None:
        if (reason := simulation.source.why_not(Change.KEYFRAME)) is not None:
            raise UsageError(f"{reason}: leave out --key")
        simulation.reset(arguments.key)
    simulation.show(arguments.env)
    unknown = [name for name in only if not engine.sensors.has(name) and name not in engine.unread]
    if unknown:
        raise UsageError(
            f"{name}: no contact sensor {unknown[0]!r}; there are {', '.join(engine.sensors.names) or 'none'}"
        )
    if not simulation.shown.timestep > 0:
        raise SceneError(f"{name}: the timestep is {simulation.shown.timestep:g} s: set <option timestep> above 0")
    words = [f"--seed {arguments.seed}"] if arguments.seed else []
    words += [f"--set {each}" for each in arguments.set] + [f"--vary {each}" for each in arguments.vary]
    words += [f"--param {each}" for each in arguments.param]
    words += [
        f"--{key} {value}"
        for key in ("noise", "key", "control", "log")
        if (value := getattr(arguments, key)) is not None
    ]
    words += [f"--env {arguments.env}"] if arguments.envs > 1 else []
    return SimulationSide(simulation, " ".join([name, *words]), tuple(only))


def _split(text: str) -> tuple[str, str]:
    """Return the scene and the engine of `SCENE@ENGINE`."""
    name, at, engine = text.rpartition("@")
    if not at or Path(text).exists():
        return text, "mujoco"
    engine, equals, release = engine.partition("==")
    if equals and engine != "mujoco":
        raise UsageError(f"{text}: only MuJoCo is run in another release: SCENE@mujoco=={release or '3.11.0'}")
    if engine not in ENGINES:
        raise UsageError(f"{text}: unknown engine {engine!r}: choose from {', '.join(ENGINES)}")
    return name, engine


def _in_release(side: "SimulationSide | VersionSide", text: str, seconds: float) -> "SimulationSide | VersionSide":
    """Return the run in the release of MuJoCo that `SCENE@mujoco==X` names; return `side` if no release is named."""
    from ..compare.sides import SimulationSide
    from ..compare.versions import VersionSide, read_version

    _, equals, release = text.rpartition("@mujoco==")
    if not equals or Path(text).exists():
        return side
    assert isinstance(side, SimulationSide)
    version = read_version(release)
    return VersionSide(version, side, _record(side, seconds))


def _record(side: "SimulationSide", seconds: float) -> "Recorded":
    """Return the states and inputs of a run, for steps in other releases, and the changed values of its model."""
    from dataclasses import replace

    from ..compare.versions import changed_values, record_steps
    from ..engines.controller import Controller, no_control
    from ..engines.registry import open_engine

    engine, recorded = side.simulation.engine, record_steps(side.simulation, seconds)
    if engine.controller is None or not engine.controller.changes_model:
        return recorded
    unchanged = open_engine(engine.path, control=Controller(no_control))
    return replace(recorded, values=changed_values(unchanged.model, engine.model))


def _bisect(arguments: argparse.Namespace, texts: Sequence[str]) -> int:
    """Find the first release of MuJoCo whose steps differ; return the exit code."""
    from .releases import find_release, read_ends

    if len(texts) != 1 or "@" in texts[0] or arguments.output is not None:
        raise UsageError("--mujoco FIRST..LAST takes one scene, without @ENGINE and without -o")
    versions, until = read_ends(arguments.mujoco), arguments.until or "contacts"
    if until not in ("contacts", "state") and not until.startswith("sensor:"):
        raise UsageError(f"--until {until}: contacts, state, or sensor:NAME")
    side = _open(arguments, texts[0], ())
    seconds = arguments.duration or side.simulation.source.duration or USUAL_DURATION
    return find_release(versions, lambda: _record(side, seconds), side.label, until, arguments)


def _controller(arguments: argparse.Namespace, failures: list[SceneError]) -> Any:
    """Return the controller of a run, which may also change its model before the start. `failures`: --set errors."""
    from ..compare.trials import change_start
    from ..engines.controller import Controller, no_control
    from ..mjmodel.model_changes import read_change

    controller = load_controller(arguments) if arguments.log is None else None
    if not arguments.set:
        return controller
    if Path(arguments.scene).suffix.lower() == ".cvrun":
        raise UsageError(f"{arguments.scene}: a saved run has its own model: leave out --set")
    changes = [read_change(text) for text in arguments.set]
    if any(change.quantity == "force" for change in changes):
        raise UsageError("--set force: a force is no value of the model; push with --control")
    controller = controller or Controller(no_control)
    change_start(controller, changes, failures)
    return controller


def _document(comparison: "Comparison", arguments: Any, seconds: float, path: str | None) -> dict[str, Any]:
    """Return the JSON document of a comparison. `path`: scene that two engines step; rows then have their engines'
    names as keys."""
    a, b = comparison.a, comparison.b
    keys = {"a": "a", "b": "b"} if path is None else {"a": "mujoco", "b": "motrix"}
    sensors = []
    for row in comparison.sensors(arguments.match):
        row = {keys.get(key, key): value for key, value in row.items()}
        row.setdefault("difference", None)
        sensors.append(row)
    steps = {keys["a"]: comparison.taken[0], keys["b"]: comparison.taken[1]}
    return {
        "scene": path,
        "labels": {keys["a"]: a.label, keys["b"]: b.label},
        "engines": {keys["a"]: a.engine, keys["b"]: b.engine},
        "duration": seconds,
        "tolerance": comparison.tolerance,
        "equal": comparison.equal,
        "steps": steps,
        "endings": {keys["a"]: a.ending, keys["b"]: b.ending},
        "compared": comparison.compared,
        "ignored": [*a.ignored, *b.ignored],
        "scene_differences": comparison.scene_differences,
        "only_a": comparison.only["a"],
        "only_b": comparison.only["b"],
        "first": _as_dict(comparison.first),
        "first_state": _as_dict(comparison.first_state),
        "first_contacts": _as_dict(comparison.first_contacts),
        "sensors": sensors,
    }


def _as_dict(found: Any) -> dict[str, Any] | None:
    return None if found is None else {**vars(found), "link": str(found.link)}


def _known(value: Any) -> Any:
    """Return values with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(path: Path, comparison: "Comparison") -> None:
    import numpy as np

    from ..recording.table_files import CsvFile, NpzFile, ParquetFile, TableFile
    from ..recording.tables import Kind, Texts

    columns = comparison.columns()
    names = columns["sensor"]
    known = list(dict.fromkeys(names))
    block: dict[str, Any] = dict(columns)
    block["sensor"] = Texts(np.array([known.index(name) for name in names], np.intp), known)
    kinds = dict.fromkeys(columns, Kind.NUMBER) | {"step": Kind.INTEGER, "sensor": Kind.TEXT}
    formats: dict[str, type[TableFile]] = {".csv": CsvFile, ".npz": NpzFile, ".parquet": ParquetFile}
    part = PartFile(path)
    try:
        file = formats[path.suffix.lower()](part, kinds, {})
        file.write(block)
        file.close()
    except BaseException:
        part.discard()
        raise
    part.commit()


def _print(document: dict[str, Any], engines: bool) -> None:
    first, second = document["labels"]
    names = document["engines"]
    if engines:
        print(f"{document['scene']}: {document['duration']:g} s in {names[first]} and in {names[second]}")
        other = names[second].split()[0]
        if document["ignored"]:
            print(f"{other} ignores {', '.join(document['ignored'])}")
    else:
        other = "B"
        for key in (first, second):
            steps, ending = document["steps"][key], document["endings"][key]
            print(f"{key.upper()}: {document['labels'][key]}, {names[key]}, {steps} steps{ending and f'; {ending}'}")
    _print_scenes(document)
    _print_first(document)
    if not document["sensors"]:
        print("no contact sensors")
        return
    if document["equal"] and not engines:
        return
    same = [sensor["name"] for sensor in document["sensors"] if not engines and _is_same(sensor)]
    if same:
        print(f"\nthe same in both runs: {', '.join(same)}")
    print("\nnet force [N]: of the reported contacts, and of all that match, also those without a slot")
    for sensor in document["sensors"]:
        if sensor["name"] not in same:
            _print_sensor(sensor, first, second, other)


def _is_same(sensor: dict[str, Any]) -> bool:
    """Return True if the readings of a sensor are the same in both runs."""
    force = sensor.get("force_difference")
    return force is not None and not force["max"] and not any(sensor["difference"].values())


def _print_scenes(document: dict[str, Any]) -> None:
    rows = document["scene_differences"]
    if rows:
        values = "1 value that decides" if len(rows) == 1 else f"{len(rows)} values that decide"
        print(f"\nthe scenes differ in {values} about contacts:")
    for row in rows[:_SHOWN]:
        thing = " ".join((row["kind"], row["name"])).strip()
        print(f"  {thing} {row['attribute']}: {_short(row['a'])} → {_short(row['b'])}")
    if len(rows) > _SHOWN:
        print(f"  … and {len(rows) - _SHOWN} more: --json has all")
    for key in ("a", "b"):
        if found := document[f"only_{key}"]:
            more = f", … {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            print(f"only in {key.upper()}: {', '.join(found[:_SHOWN])}{more}")


def _print_first(document: dict[str, Any]) -> None:
    within = f"within {document['tolerance']:g}" if document["tolerance"] else "bit for bit"
    if document["equal"]:
        print(f"\nequal {within} in {document['compared']} steps")
        return
    state, contacts = document["first_state"], document["first_contacts"]
    if not document["compared"]:
        print("\nno step of one run has the time of a step of the other")
        return
    print()
    if state is None and contacts is None:
        print(f"equal {within} in the {document['compared']} steps that both have; one has more")
    for what, found in (("state", state), ("contacts", contacts)):
        if found is not None:
            verb = "differs" if what == "state" else "differ"
            print(f"first step whose {what} {verb}: {found['step']}, at {found['time']:.6g} s")
            print(f"  {found['link']}: {found['text']}")
        elif state or contacts:
            print(f"the {what} {'is' if what == 'state' else 'are'} the same in all {document['compared']} steps")


def _print_sensor(sensor: dict[str, Any], first: str, second: str, other: str) -> None:
    print(f"\n{sensor['name']}: {sensor['label']} · reduce {sensor['reduce']}")
    if sensor[second] is None or sensor[first] is None:
        if sensor["unread"]:
            print(f"  {other} does not read it: {sensor['unread']}")
        else:
            print(f"  only in {'A' if sensor[second] is None else 'B'}")
        return
    heads = ("contacts, mean", "contacts, max", "reported, mean", "reported, max", "all, mean", "all, max")
    print(f"  {'':12}" + "".join(f"{head:>16}" for head in heads))
    for row in (first, second, "difference"):
        print(f"  {row:12}" + "".join(f"{_format(value):>16}" for value in sensor[row].values()))
    if (force := sensor["force_difference"]) is not None:
        print(f"  force apart by at most {force['max']:.4g} N, on average {force['mean']:.4g} N")
    metrics = [
        f"{key.replace('_', ' ')} {sensor['metrics_a'][key]:.4g} → {sensor['metrics_b'][key]:.4g}"
        for key, apart in sensor.get("metrics_difference", {}).items()
        if apart
    ]
    if metrics:
        print(f"  {'; '.join(metrics)}")
    for key in ("a", "b"):
        if events := sensor[f"events_only_{key}"]:
            shown = ", ".join(f"{event['kind']} {event['time']:.4f} s" for event in events[:5])
            more = f", … {len(events) - 5} more" if len(events) > 5 else ""
            print(f"  only in {key.upper()}: {shown}{more}")


def _short(value: Any) -> str:
    return " ".join(f"{each:.6g}" for each in value) if isinstance(value, list) else f"{value:.6g}"


def _format(value: float | None) -> str:
    return "unknown" if value is None or not math.isfinite(value) else f"{value:.4g}"
