"""`contact-viewer events SCENE`: list when contacts begin and end."""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.interruption import interruption
from ..engines.registry import ENGINES
from ..errors import SceneError
from ..events.contact_events import EventRule
from ..events.event_log import events_as_json
from ..files import save_text
from .parsing import Parser, UsageError, add_control_arguments, load_controller, number
from .progress import plural, report, report_warnings, work_through
from .runs import (
    add_run_arguments,
    check_run_arguments,
    duration,
    open_given_log,
    report_exactness,
    report_notes,
    save_run,
)

if TYPE_CHECKING:
    from ..engines.contract import Engine
    from ..events.event_log import LogEntry, MotionEvent
    from ..mjmodel.pair_selection import PairSelection
    from ..session.simulation import Simulation

_SUFFIXES = (".csv", ".json")
_TRIAL, _MOST_TRIALS = 4.0, 3
"""Duration of a run with a cure [s], and largest number of bodies whose cure is tried."""
_CHUNK = 50
"""Number of steps between two checks for an interruption."""
_EPILOG = """A pair begins contact once it penetrates by more than twice eps, and ends it when it parts; the time of an
event is when the surfaces meet or part; see --rule. Contacts that exist at the start have no begin. Without
--pair, --body and --all the pairs of the contact sensors are tracked; in a scene without sensors, all pairs.

Files and --json hold, in SI units: time, pair_id, geoms (geom1 and geom2 in CSV), kind (begin, end, ...), distance,
normal_velocity (negative when approaching), approach_speed, duration, and peak_force, the largest normal force of the
contact up to the end of the run. A pair that slides or creeps has the kinds slip_begin, slip_end, creep_begin and
creep_end, with its bodies and sensors: distance is then the distance slid, and speed
the largest one, up to the end of the run."""


def parser() -> Parser:
    parser = Parser("events", "List when contacts begin and end, with approach speeds and peak forces.", _EPILOG)
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument(
        "--duration", type=number(0.0, 1e6), metavar="S", help="simulated time [s]; default: 10, or all of a saved run"
    )
    parser.add_argument(
        "--eps", type=number(1e-15, 1.0), default=1e-8, metavar="E", help="contact tolerance [m]; default: 1e-8"
    )
    parser.add_argument(
        "--rule",
        choices=[rule.value for rule in EventRule],
        default=EventRule.SURFACE.value,
        help="surface (default): an event is where surfaces meet or part, and changes one pair; "
        "modia: as Modia3D has it, a begin is at -2 eps, and each event decides all pairs again",
    )
    parser.add_argument("--precise", action="store_true", help="locate events by simulating parts of steps; slower")
    pairs = parser.add_mutually_exclusive_group()
    pairs.add_argument("--pair", action="append", metavar="A,B", help="track these two geoms or bodies; repeatable")
    pairs.add_argument("--body", metavar="NAME", help="track the geoms of this body with all geoms that they can touch")
    pairs.add_argument("--all", action="store_true", help="track all pairs that can collide")
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    add_control_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument("--engine", choices=list(ENGINES), default="mujoco", help="physics engine")
    parser.add_argument("--by-body", action="store_true", help="join events of several geoms of a body")
    parser.add_argument(
        "--why", action="store_true", help="explain why each pair slides or creeps, and try cures; in files too"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="write a .csv or .json file")
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..engines.registry import open_engines
    from ..events.event_log import merge_bodies
    from ..events.tracker import UNKNOWN_MOTION, ContactTracker, TrackingOptions
    from ..recording.table_files import events_as_csv
    from ..scene_files.scene import find_scene
    from ..session.ring import DEFAULT_BUDGET
    from ..session.simulation import Change, Simulation

    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{output}: unknown suffix {output.suffix!r}; events are written as {', '.join(_SUFFIXES)}")
    check_run_arguments(arguments)
    if arguments.precise and arguments.engine != "mujoco":
        raise UsageError("--precise needs MuJoCo: other engines cannot repeat a step")
    engine = open_engines(find_scene(arguments.scene), arguments.engine, 1, load_controller(arguments))[0]
    for note in engine.notes:
        report(f"note: {note}")
    open_given_log(arguments, engine)
    choice = _choose(engine, arguments)
    if choice.dropped:
        report(f"note: {len(choice.labels)} of {choice.total} pairs are tracked; choose with --pair or --body")
    if choice.untracked:
        report(f"note: {choice.untracked}")
    simulation = Simulation(engine, history_bytes=DEFAULT_BUDGET if arguments.save_run is not None else None)
    report_notes(simulation.source)
    if arguments.key is not None:
        if (reason := simulation.source.why_not(Change.KEYFRAME)) is not None:
            raise UsageError(f"{reason}: leave out --key")
        simulation.reset(arguments.key)
    options = TrackingOptions(arguments.eps, arguments.precise, EventRule(arguments.rule))
    tracker = ContactTracker(engine.environment(0), choice, options, limit=None, follow_sensors=False)
    simulation.observers.append(tracker)
    if tracker.friction is None:
        report(f"note: slips and creep are not known: {UNKNOWN_MOTION}")
    seconds = duration(arguments, simulation.source)
    end = engine.time + seconds
    if not engine.timestep > 0:
        raise SceneError(f"the timestep is {engine.timestep:g} s: set <option timestep> above 0")
    # One more, because the step that starts from a state has its contacts; a log may end before it.
    count = math.ceil(seconds / engine.timestep - 1e-9) + (not simulation.source.replays)
    with interruption() as interrupt:
        trouble, code = work_through(_steps(simulation, count), count, "steps", interrupt)
        # Signals come more than once: until all is written they are caught.
        entries = [entry for entry in tracker.log if entry.pair_id is not None and entry.time <= end]
        if arguments.by_body:
            entries = merge_bodies(entries, tracker.body_labels, tracker.pairs.events.contacts)
        saved = save_run(arguments, simulation)
        if output is not None:
            save_text(output, (events_as_csv if output.suffix.lower() == ".csv" else events_as_json)(entries))
            print(f"{output}: {plural(len(entries), 'event')} of {plural(len(choice.labels), 'pair')}")
        elif arguments.json:
            sys.stdout.write(events_as_json(entries))
        else:
            _print_table(entries, len(choice.labels), arguments.why)
            if arguments.why and arguments.engine == "mujoco" and simulation.source.duration is None:
                _try_cures([entry.event for entry in entries], arguments, min(seconds, _TRIAL))
        report_warnings(engine)
        if trouble:
            report(f"warning: {trouble}; the list ends there")
        report_exactness(simulation.source)
        for line in saved:
            print(line)
    return interrupt.exit_code or code


def _try_cures(events: "Sequence[object]", arguments: argparse.Namespace, seconds: float) -> None:
    """Run the scene with the `impratio` proposed for an unevenly held body, then with a corrected one; print the
    result."""
    from ..compare.branches import try_impratio
    from ..engines.registry import open_engines
    from ..events.event_log import MotionEvent
    from ..mjmodel.creep import WANTED
    from ..scene_files.scene import find_scene
    from ..session.simulation import Simulation

    held: dict[float, MotionEvent] = {}
    for event in events:
        if isinstance(event, MotionEvent) and event.reason is not None and event.reason.reason.is_least:
            held.setdefault(round(event.reason.reason.impratio, 6), event)
    for event in sorted(held.values(), key=lambda event: -event.distance)[:_MOST_TRIALS]:
        assert event.reason is not None
        impratio, speed = event.reason.reason.impratio, WANTED
        for _ in range(2):
            impratio *= speed / WANTED
            engine = open_engines(find_scene(arguments.scene), "mujoco", 1, load_controller(arguments))[0]
            simulation = Simulation(engine)
            if arguments.key is not None:
                simulation.reset(arguments.key)
            speed = try_impratio(simulation, event.motion.key, impratio, engine.time + seconds)
            if not abs(speed - WANTED) > 0.2 * WANTED:
                break
        pair, made = " × ".join(map(str, event.geoms)), f"{1e6 * speed:.3g} um/s" if speed > 0 else "an unknown speed"
        print(f'tried: cone="elliptic" impratio="{impratio:.4g}" gives {made} at {pair}')


def _choose(engine: "Engine", arguments: argparse.Namespace) -> "PairSelection":
    from ..events.tracker import default_pairs
    from ..mjmodel.names import body_names
    from ..mjmodel.pair_selection import all_pairs, named_pairs, pairs_of_body, split_names

    model = engine.model
    if arguments.pair:
        return named_pairs(model, [split_names(model, text) for text in arguments.pair])
    if arguments.body is not None:
        bodies = body_names(model)
        if arguments.body not in bodies:
            raise SceneError(f"no body named {arguments.body!r}; the scene has: {', '.join(bodies)}")
        return pairs_of_body(model, bodies.index(arguments.body))
    return all_pairs(model) if arguments.all else default_pairs(model)


def _steps(simulation: "Simulation", count: int) -> Iterator[int]:
    """Take steps; yield the number of steps taken, from time to time."""
    for step in range(0, count, _CHUNK):
        simulation.step(min(_CHUNK, count - step))
        yield step


def _print_table(entries: "Sequence[LogEntry]", pair_count: int, why: bool = False) -> None:
    from ..events.event_log import MotionEvent

    if not entries:
        print(f"no contact of {plural(pair_count, 'pair')} began or ended")
        return
    kinds = max(len("event"), *(len(entry.kind) for entry in entries))
    width = max(len("pair"), *(len(entry.subject) for entry in entries))
    head = f"{'time [s]':>12}  {'event':{kinds}}  {'pair':{width}}  {'speed [m/s]':>12}"
    print(f"{head}  {'peak [N]':>10}  {'duration [s]':>12}")
    for entry in entries:
        duration = f"{entry.event.duration:.6f}" if entry.kind.endswith("end") else ""
        peak = "-" if math.isnan(entry.contact.peak_force) else f"{entry.contact.peak_force:.3f}"
        approach = entry.approach_speed if entry.motion is None else entry.motion.speed
        speed = "-" if math.isnan(approach) else f"{approach:.4f}"
        row = f"{entry.time:12.6f}  {entry.kind:{kinds}}  {entry.subject:{width}}  {speed:>12}"
        row += f"  {peak:>10}  {duration:>12}"
        if entry.motion is not None:
            row += f"  distance {1e3 * entry.motion.distance:.3f} mm"
        if why and isinstance(entry.event, MotionEvent) and entry.event.why:
            row += f"\n{'':14}{entry.event.why}"
        print(row.rstrip())
    _print_slips([entry.event for entry in entries if isinstance(entry.event, MotionEvent)])


def _print_slips(events: "Sequence[MotionEvent]") -> None:
    """Print how often, how far and how fast each pair slid or crept in the whole run."""
    found: dict[tuple[str, str], dict[int, MotionEvent]] = {}
    for event in events:
        found.setdefault((" × ".join(map(str, event.geoms)), event.kind.partition("_")[0]), {})[id(event.motion)] = (
            event
        )
    if not found:
        return
    width = max(len("pair"), *(len(pair) for pair, _ in found))
    print(f"\n{'pair':{width}}  {'':5}  {'times':>6}  {'way [mm]':>10}  {'speed [m/s]':>12}  {'duration [s]':>12}")
    for (pair, kind), motions in sorted(found.items(), key=lambda each: -sum(e.distance for e in each[1].values())):
        way, speed = sum(each.distance for each in motions.values()), max(each.speed for each in motions.values())
        ended = [each.motion for each in motions.values() if math.isfinite(each.motion.end)]
        lasted = (
            f"{sum(each.end - each.begin for each in ended):12.6f}" if len(ended) == len(motions) else f"{'lasts':>12}"
        )
        print(f"{pair:{width}}  {kind:5}  {len(motions):6d}  {1e3 * way:10.3f}  {speed:12.4g}  {lasted}")
