"""`contact-viewer page SCENE -o FILE`: write a run as one HTML page that opens anywhere."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app.interruption import interruption
from ..engines.registry import ENGINES
from ..errors import SceneError
from ..files import size_text
from ..settings import Reduce
from .export import take_steps
from .parsing import (
    PROGRAM,
    Parser,
    UsageError,
    add_control_arguments,
    add_patterns_argument,
    add_watch_argument,
    number,
)
from .progress import plural, report, report_warnings, work_through
from .record import add_camera_arguments, check_camera, prepare_view, report_strays
from .runs import add_run_arguments, check_run_arguments, duration, open_run, report_exactness, save_run

if TYPE_CHECKING:
    from ..engines.contract import Engine


_EPILOG = """The page is one file without a server: the moving scene, every contact with its numbers, curves of every
physics step, events, and the CSV of `contact-viewer export`. It loads nothing from a network: its content policy
forbids that. It has the name of the scene's file, not its folder.

Of a run with many contacts those of every 2nd, 4th, ... step are kept, and the page shows that. --contacts all keeps
all of them.
In the page: Space plays, arrow keys step, N next event, C points, F forces, P components or total, S shadows.
page.html#t=1.234 opens at that time."""
_OPTIONS = (
    "key",
    "sensor",
    "reduce",
    "engine",
    "control",
    "param",
    "seed",
    "vary",
    "noise",
    "log",
    "episode",
    "period",
)
"""Options that change the run and that `view` also has."""
_FILES = ("control", "log")


def parser() -> Parser:
    examples = (
        "page quadruped -o quadruped.html               # a bundled scene, 10 s",
        "page robot.xml --from 1 --to 4 --at 2.5 -o slip.html",
        "page run.cvrun -o run.html                     # a saved run",
    )
    parser = Parser("page", "Write a run as one HTML page that opens in any browser.", _EPILOG, examples)
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene, or a saved run (.cvrun)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="page to write, such as run.html")
    parser.add_argument(
        "--from",
        "--start",
        dest="start",
        type=number(0, 1e6),
        default=0.0,
        metavar="S",
        help="start of the page's time span [s]",
    )
    span = parser.add_mutually_exclusive_group()
    span.add_argument(
        "--to", type=number(1e-6, 1e6), metavar="S", help="end of the page's time span [s]; default: 10 s later"
    )
    span.add_argument("--duration", type=number(1e-6, 1e6), metavar="S", help="length of the time span [s]")
    parser.add_argument("--at", type=number(0, 1e6), metavar="S", help="time that the page shows first [s]")
    parser.add_argument("--title", metavar="TEXT", help="title of the page; default: the scene's name")
    # Of a run whose file is not kept.
    parser.add_argument("--no-command", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--contacts",
        choices=["auto", "all"],
        default="auto",
        help="all: keep the contacts of every step, however large the file",
    )
    parser.add_argument(
        "--detail",
        type=number(0, 1e6),
        metavar="MM",
        help="merge vertices of meshes closer than this [mm]; 0 for none; default: chosen for a page of usual size",
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument("--sensor", action="append", default=[], metavar="NAME", help="only this sensor; repeatable")
    parser.add_argument("--reduce", choices=[str(mode) for mode in Reduce], help="reduce mode of the sensors")
    parser.add_argument("--camera", metavar="NAME", help="camera of the scene")
    add_camera_arguments(parser)
    parser.set_defaults(orbit=None)
    parser.add_argument("--engine", choices=list(ENGINES), default="mujoco", help="physics engine")
    add_watch_argument(parser)
    add_patterns_argument(parser)
    add_control_arguments(parser)
    add_run_arguments(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..page.child import check_page_path
    from ..page.page_file import PageFile, PageOptions
    from ..recording.schedule import Schedule

    check_page_path(arguments.output)
    if arguments.to is not None:
        arguments.duration = arguments.to - arguments.start
        if arguments.duration <= 0:
            raise UsageError(f"--to {arguments.to:g} is not after --from {arguments.start:g}")
    check_camera(arguments)
    check_run_arguments(arguments)
    session = open_run(arguments)
    prepare_view(session, arguments)
    seconds = duration(arguments, session.source)
    schedule = Schedule.every_step(session.engine.timestep, seconds, arguments.start)
    report_strays(arguments.output)
    options = PageOptions(
        at=arguments.at,
        all_contacts=arguments.contacts == "all",
        detail=None if arguments.detail is None else arguments.detail / 1000,
        title=arguments.title or "",
        command=None if arguments.no_command else _command(arguments),
        findings=_findings(session.engine),
    )
    with interruption() as interrupt, PageFile(arguments.output, session, seconds, options) as page:
        steps = take_steps(session, schedule, page.write)
        trouble, code = work_through(steps, schedule.frame_count, "steps", interrupt)
        if not page.steps:
            raise UsageError(f"{trouble or 'interrupted'}, before the first step of the page")
        # Before one more step is taken, for the events.
        lines = save_run(arguments, session.simulation)
        page.finish()
    report_warnings(session.engine)
    if trouble:
        report(f"warning: {trouble}; the page ends there")
    for note in page.notes:
        report(f"note: {note}")
    size = size_text(page.path.stat().st_size)
    print(*lines, f"{page.path}: {plural(page.steps, 'step')}, {plural(page.event_count, 'event')}, {size}", sep="\n")
    report_exactness(session.source)
    return interrupt.exit_code or code


def _findings(engine: "Engine") -> list[dict[str, Any]]:
    """Return the findings of `check` on the model of the scene, without a run."""
    from ..checks.check import check_subject
    from ..checks.settings import CheckOptions, with_table
    from ..checks.subject import Subject
    from ..scene_files.scene import LoadedScene

    companions, hidden = dict(getattr(engine, "companions", {})), tuple(getattr(engine, "hidden", ()))
    scene = LoadedScene(engine.path, engine.model, companions, hidden=hidden)
    try:
        report = check_subject(Subject(scene), with_table(CheckOptions(static=True, tries_fixes=False), scene.path))
    except SceneError:
        return []
    return [
        {"rule": each.rule, "severity": each.severity.word, "message": each.message, "detail": each.remedy}
        for each in report.findings
        if each.severity > 0
    ]


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that opens this run in a window, without the folders of its files."""
    words = [PROGRAM, Path(arguments.scene).name]
    for name in _OPTIONS:
        given = getattr(arguments, name)
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value != _DEFAULTS.get(name):
                text = f"{value:g}" if isinstance(value, float) else str(value)
                words += [f"--{name}", Path(text).name if name in _FILES else text]
    return shlex.join(words)


_DEFAULTS = {"seed": 0, "engine": "mujoco"}
