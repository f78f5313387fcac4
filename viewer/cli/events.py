"""`contact-viewer events SCENE --duration S`: list when contacts begin and end."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..engines.errors import EngineError, SceneError, UnstableError
from ..sensors.event_table import events_as_csv, events_as_json
from ..sensors.events import EventKind
from ..settings import EngineChoice
from .interruption import INTERRUPTED, interruption
from .parsing import Parser, UsageError, number
from .progress import Progress, plural, say

if TYPE_CHECKING:
    from ..engines.contract import Engine
    from ..engines.following.tracking import ContactTracker
    from ..engines.following.watched_pairs import PairChoice
    from ..sensors.event_log import LogEntry

_WRITERS = {".csv": events_as_csv, ".json": events_as_json}
_CHUNK = 50
"""Steps between two chances to stop."""
_EPILOG = """A pair begins contact once it penetrates by more than twice eps, and ends it when it parts; the time of an
event is that at which the surfaces meet or part. Contacts that are there at the start have no begin. Without --pair,
--body and --all the pairs of the contact sensors are followed; in a scene without sensors, all pairs.

Files and --json hold, in SI units: time, pair_id, geoms (geom1 and geom2 in CSV), kind (begin or end), distance,
normal_velocity (negative when approaching), approach_speed, duration, and peak_force, the largest normal force of the
contact up to the end of the run."""


def parser() -> Parser:
    parser = Parser("events", "List when contacts begin and end, how fast geoms meet and how hard they press.", _EPILOG)
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument("--duration", type=number(0.0, 1e6), required=True, metavar="S", help="simulated seconds")
    parser.add_argument("--eps", type=number(1e-15, 1.0), default=1e-8, metavar="E", help="in metres; default: 1e-8")
    parser.add_argument("--precise", action="store_true", help="find instants by taking steps in parts; slower")
    pairs = parser.add_mutually_exclusive_group()
    pairs.add_argument("--pair", action="append", metavar="A,B", help="two geoms or bodies, by name; repeatable")
    pairs.add_argument("--body", metavar="NAME", help="the geoms of this body, with all that they can meet")
    pairs.add_argument("--all", action="store_true", help="all pairs that can collide")
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    engines = [str(EngineChoice.MUJOCO), str(EngineChoice.MOTRIX)]
    parser.add_argument("--engine", choices=engines, default="mujoco", help="who steps the scene")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("-o", "--output", metavar="FILE", help="a .csv or .json file")
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..engines.following.tracking import ContactTracker, TrackingOptions
    from ..engines.opening import open_engine

    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and output.suffix.lower() not in _WRITERS:
        raise UsageError(f"{output}: unknown suffix {output.suffix!r}; events are written as {', '.join(_WRITERS)}")
    if arguments.precise and arguments.engine != EngineChoice.MUJOCO:
        raise UsageError("--precise needs MuJoCo: other engines cannot take a step again")
    engine = open_engine(arguments.scene, arguments.engine)
    choice = _choose(engine, arguments)
    if choice.dropped:
        say(f"note: {len(choice.labels)} of {choice.total} pairs are followed; choose with --pair or --body")
    if arguments.key is not None:
        engine.reset(arguments.key)
    options = TrackingOptions(eps=arguments.eps, precise=arguments.precise)
    tracker = ContactTracker(engine, choice, options, limit=None)
    end = engine.time + arguments.duration
    with interruption() as wish:
        trouble = _simulate(engine, tracker, arguments.duration, lambda: wish.wanted)
    entries = [entry for entry in tracker.log if entry.pair_id is not None and entry.time <= end]
    if output is not None:
        _write(output, _WRITERS[output.suffix.lower()](entries))
        print(f"{output}: {plural(len(entries), 'event')} of {plural(len(choice.labels), 'pair')}")
    elif arguments.json:
        sys.stdout.write(events_as_json(entries))
    else:
        _print_table(entries, len(choice.labels))
    if trouble:
        say(f"warning: {trouble}; the list ends there")
    return INTERRUPTED if wish.wanted else 0


def _choose(engine: "Engine", arguments: argparse.Namespace) -> "PairChoice":
    from ..engines.following.tracking import default_pairs
    from ..engines.following.watched_pairs import all_pairs, named_pairs, pairs_of_body, split_names
    from ..engines.mujoco.names import body_names

    model = engine.model
    if arguments.pair:
        return named_pairs(model, [split_names(model, text) for text in arguments.pair])
    if arguments.body is not None:
        bodies = body_names(model)
        if arguments.body not in bodies:
            raise SceneError(f"no body named {arguments.body!r}; the scene has: {', '.join(bodies)}")
        return pairs_of_body(model, bodies.index(arguments.body))
    return all_pairs(model) if arguments.all else default_pairs(model)


def _simulate(engine: "Engine", tracker: "ContactTracker", duration: float, stops: Callable[[], bool]) -> str:
    """Take the steps of a duration; what ended them early, if anything did."""
    if not engine.timestep > 0:
        raise SceneError(f"a timestep of {engine.timestep:g} s leads nowhere")
    # One more, because the step that starts from a state tells of its contacts.
    count = math.ceil(duration / engine.timestep - 1e-9) + 1
    with Progress(count, "steps") as progress:
        try:
            for step in range(count):
                engine.step()
                tracker.after_step(engine)
                if step % _CHUNK == 0:
                    progress.update(step)
                    if stops():
                        return "interrupted"
        except (UnstableError, EngineError) as error:
            return str(error)
    return ""


def _write(path: Path, text: str) -> None:
    from ..recording.errors import write_error
    from ..recording.files import PartFile

    file = PartFile(path)
    try:
        file.part.write_text(text, encoding="utf-8")
    except OSError as error:
        file.discard()
        raise write_error(path, error) from None
    file.commit()


def _print_table(entries: "Sequence[LogEntry]", pair_count: int) -> None:
    if not entries:
        print(f"no contact of {plural(pair_count, 'pair')} began or ended")
        return
    width = max(len("pair"), *(len(entry.subject) for entry in entries))
    print(f"{'time [s]':>12}  {'event':5}  {'pair':{width}}  {'speed [m/s]':>12}  {'peak [N]':>10}  {'lasted [s]':>11}")
    for entry in entries:
        duration = f"{entry.event.duration:.6f}" if entry.kind is EventKind.END else ""
        peak = "-" if math.isnan(entry.contact.peak_force) else f"{entry.contact.peak_force:.3f}"
        speed = "-" if math.isnan(entry.approach_speed) else f"{entry.approach_speed:.4f}"
        row = f"{entry.time:12.6f}  {entry.kind:5}  {entry.subject:{width}}  {speed:>12}  {peak:>10}  {duration:>11}"
        print(row.rstrip())
