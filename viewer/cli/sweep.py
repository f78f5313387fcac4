"""`contact-viewer sweep SCENE... -o DIR --seeds 0:1000`: simulate many runs and save metrics of every sensor."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.interruption import interruption
from ..assets import bundled_control
from ..errors import DiskFullError
from ..files import size_text
from .parsing import PROGRAM, Parser, UsageError, add_patterns_argument, add_randomisation_arguments, number
from .progress import RunProgress, plural, report

if TYPE_CHECKING:
    from ..sweeps.plan import Plan
    from ..sweeps.result_store import ResultStore
    from ..sweeps.sweep import ExecutionOptions

_EPILOG = """Every scene with every seed is a run. The seed decides what --vary, --noise and a controller's
reset(model, data, rng) and vary(model, rng) draw; the same seed gives the same results bit for bit, with any number of
workers.

DIR then holds
  metrics.parquet      a row for each run and sensor: scene, seed, varied values, peak_force, mean_force, impulse,
                       contact_time, air_time, duty_factor, touchdowns, slip_distance, penetration, ...
  failures.parquet     runs that failed, and why
  contacts/, events/   with --contacts and --events: scene=NAME/seed=N/part.parquet
  sweep.json           the command, versions, the machine, hashes of all files

Ctrl-C keeps the finished runs; the same command with --resume continues. Exit code 1 if a run failed.
`contact-viewer report DIR` summarises the results."""
MOST_FILMED = 50
_WHOLE_LOG = 1e6
"""Time longer than any log [s]."""
FAILED = 1
"""Exit code if runs failed."""


def parser() -> Parser:
    parser = Parser("sweep", "Simulate many runs of scenes, and save metrics of every contact sensor.", _EPILOG)
    parser.add_argument("scenes", nargs="+", metavar="SCENE", help="path or bundled scene, or a saved run")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="folder of the results, or an address that fsspec knows, such as s3://bucket/folder",
    )
    parser.add_argument(
        "--seeds", metavar="A:B", help="random seeds: 0:1000 for 0 to 999; also 0:1000:10, or 3,17,20:30"
    )
    parser.add_argument(
        "--duration",
        type=number(1e-6, 1e6),
        metavar="S",
        help="simulated time of a run [s]; default: 5, or a whole log",
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument("--sensor", action="append", default=[], metavar="NAME", help="only this sensor; repeatable")
    add_patterns_argument(parser)
    parser.add_argument(
        "--control", metavar="FILE[:NAME]", help="Python file with control(model, data), called before every step"
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="KEY=VALUE", help="set a constant of that file; repeatable"
    )
    add_randomisation_arguments(parser)
    parser.add_argument(
        "--log",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="re-simulate logs instead; a seed is then the number of a run in a log",
    )
    parser.add_argument("--contacts", action="store_true", help="also save the contacts of every step")
    parser.add_argument("--events", action="store_true", help="also save the begin and end of every contact")
    parser.add_argument(
        "--video",
        type=_worst,
        metavar="worst:N[:METRIC]",
        help="record videos of the N runs in which a metric is largest; default: peak_force",
    )
    parser.add_argument(
        "--workers",
        type=number(1, 1024, int),
        default=0,
        metavar="N",
        help="number of processes; default: one per core",
    )
    parser.add_argument(
        "--timeout",
        type=number(0.1, 1e6),
        metavar="S",
        help="wall time after which a run is given up [s]; default: never",
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help=(
            "run on a Ray cluster: auto, HOST:PORT or ray://HOST:PORT; default address: RAY_ADDRESS, else a cluster "
            "started on this machine; needs: pip install 'contact-viewer[ray]'"
        ),
    )
    parser.add_argument("--resume", action="store_true", help="continue the interrupted sweep in DIR")
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..engines.controller_file import read_param
    from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
    from ..scene_files.scene import find_scene
    from ..sweeps.plan import read_seeds
    from ..sweeps.result_store import open_store
    from ..sweeps.sweep import ExecutionOptions, make_plan, require_extras

    replays = arguments.log or all(Path(scene).suffix.lower() == RUN_SUFFIX for scene in arguments.scenes)
    if arguments.seeds is None:
        if not replays:
            raise UsageError("--seeds is missing: give for example --seeds 0:1000")
        arguments.seeds = "0"
    if arguments.duration is None:
        arguments.duration = _WHOLE_LOG if replays else 5.0
    if arguments.control is None and len(arguments.scenes) == 1 and not arguments.log:
        # As the other commands do it: some bundled scenes have a controller of their own.
        arguments.control = bundled_control(find_scene(arguments.scenes[0]))
    if arguments.param and arguments.control is None:
        raise UsageError("--param sets a constant of a controller: give --control")
    plan = make_plan(
        arguments.scenes,
        read_seeds(arguments.seeds),
        arguments.duration,
        None if arguments.control is None else str(arguments.control),
        dict(read_param(text) for text in arguments.param),
        arguments.vary,
        arguments.noise,
        arguments.log,
        sensors=tuple(dict.fromkeys(arguments.sensor)),
        key=arguments.key,
        watched=tuple(dict.fromkeys(arguments.watched)),
        contacts=arguments.contacts,
        events=arguments.events,
    )
    if arguments.timeout is not None and arguments.ray is not None:
        raise UsageError("--timeout does not work with --ray: leave out one of them")
    require_extras(arguments.output, arguments.ray)
    execution = ExecutionOptions(arguments.workers, arguments.ray, arguments.timeout, arguments.resume)
    with open_store(arguments.output) as store:
        return _sweep(arguments, plan, execution, store)


def _sweep(arguments: argparse.Namespace, plan: "Plan", execution: "ExecutionOptions", store: "ResultStore") -> int:
    from ..sweeps.sweep import run_sweep

    with interruption() as interrupt, RunProgress(plan.run_count) as progress:

        def each(finished: int, failed: int) -> bool:
            progress.update(finished, failed)
            return not interrupt.requested

        try:
            outcome = run_sweep(plan, store, execution, each, [PROGRAM, *sys.argv[1:]])
        except DiskFullError as error:
            report(f"{PROGRAM}: {error}; the finished runs are kept: make room, then continue with --resume")
            return FAILED
    for note in outcome.notes:
        report(f"note: {note}")
    if outcome.lost:
        report(f"warning: damaged, and simulated again where needed: {outcome.lost}")
    missing = outcome.runs - outcome.finished - outcome.failed
    if outcome.failed:
        report(f"{plural(outcome.failed, 'run')} failed; the first: {outcome.first_failure}")
    if missing:
        report(f"interrupted: {plural(missing, 'run')} missing; continue with --resume")
    if outcome.finished:
        size = size_text((store.folder / "metrics.parquet").stat().st_size)
        rate = f"; {outcome.rate:.3g} runs/s" if outcome.rate else ""
        print(f"{store.path('metrics.parquet')}: {plural(outcome.finished, 'run')}, {size}{rate}")
    if arguments.video is not None and outcome.finished and not interrupt.requested:
        count, metric = arguments.video
        _film(store, count, metric, None if arguments.log else arguments.duration)
    return interrupt.exit_code or (FAILED if outcome.failed else 0)


def _worst(text: str) -> tuple[int, str]:
    """Return the number of runs and the metric of `worst:5` or `worst:5:slip_distance`."""
    from ..sweeps.summary import BY_NAME

    word, _, rest = text.partition(":")
    count, _, metric = rest.partition(":")
    if word != "worst" or not count.isdigit() or not 1 <= int(count) <= MOST_FILMED:
        raise argparse.ArgumentTypeError(f"{text!r} must be like worst:5 or worst:5:slip_distance")
    if metric and metric not in BY_NAME:
        raise argparse.ArgumentTypeError(f"{metric!r} is not a metric of a report; choose from {', '.join(BY_NAME)}")
    return int(count), metric or "peak_force"


def _film(store: "ResultStore", count: int, metric: str, duration: float | None) -> None:
    """Record the worst runs, each as `contact-viewer record` does, into DIR/videos."""
    from ..sweeps.summary import VIDEOS, summarise, video_name, worst_runs

    summary = summarise(store)
    (store.folder / VIDEOS).mkdir(exist_ok=True)
    for row in worst_runs(summary, metric, count):
        name = f"{VIDEOS}/{video_name(row)}"
        words = summary.command(row)[1:]
        words += [] if duration is None else ["--duration", str(duration)]
        words += [f"--watch={pattern}" for pattern in summary.about["plan"].get("watched", ())]
        command = [sys.executable, "-m", "contact_viewer", "record", *words, "-o", str(store.folder / name)]
        # A process each: what draws is given back, and one that fails takes no other along.
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            report(f"warning: {video_name(row)} could not be filmed: {reason}")
        else:
            store.publish(name)
            print(f"{store.path(name)}: {row['sensor']}, seed {row['seed']}, {metric} {row[metric]:.4g}")
