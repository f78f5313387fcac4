"""Open the scene, log and options of a command line, choose the duration of the run, and save it."""

import argparse
import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SceneError
from ..files import size_text
from ..settings import Options, Quality, Reduce, ViewState
from .parsing import UsageError, control_options, load_controller, number
from .progress import plural, report

if TYPE_CHECKING:
    from ..engines.contract import Engine
    from ..session.session import Session
    from ..session.simulation import Simulation, StepSource

_SAME_NAME = ("camera", "key", "speed", "engine", "envs", "paused", "go_to", "frames", "episode", "period", "beside")
"""Fields of Options that have the same name on the command line."""
USUAL_DURATION = 10.0
"""Default duration of a run [s of simulated time]."""


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for logs and saved runs."""
    group = add_log_arguments(parser)
    group.add_argument(
        "--channel",
        action="append",
        default=[],
        metavar="NAME",
        help="keep a joint, control, actuator force or sensor as a curve, such as 'joint position/*'; repeatable",
    )
    group.add_argument("--save-run", metavar="FILE", help="save all steps to a .cvrun file, which opens as a scene")


def add_beside_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option for a run beside."""
    text = "show another run beside: a scene, a saved run, a log of this scene, SCENE@motrix, or motrix"
    parser.add_argument("--beside", metavar="B", help=text)


def add_log_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options for a log to replay; return their group."""
    group = parser.add_argument_group("logs and saved runs")
    group.add_argument("--log", metavar="FILE", help="replay a log of states and controls: .npz, .hdf5, .csv or .cvrun")
    group.add_argument("--episode", metavar="N", help="episode of a log that has several, by number or name")
    group.add_argument("--demo", dest="episode", help=argparse.SUPPRESS)
    group.add_argument(
        "--period",
        type=number(1e-9, 1e6),
        metavar="S",
        help="time between rows of a log without times [s]; default: one time step",
    )
    return group


def check_run_arguments(arguments: argparse.Namespace) -> None:
    """Raise UsageError for bad options of logs and runs, before any work. A log with its own scene is opened on
    it."""
    _open_model_file(arguments)
    for name in ("episode", "period"):
        if arguments.log is None and getattr(arguments, name) is not None:
            raise UsageError(f"--{name} needs a log: give --log")
    for name in ("control", "param", "vary", "noise"):
        if arguments.log is not None and getattr(arguments, name):
            raise UsageError(f"{arguments.log}: a log has its own controls and start: leave out --{name}")
    if arguments.save_run is not None:
        from ..session.saved_run import check_run_path

        check_run_path(Path(arguments.save_run))


def _open_model_file(arguments: argparse.Namespace) -> None:
    """Replace a robosuite log that is given as the scene: open the scene in it, and re-simulate the log there."""
    from ..scene_files.log_files import HDF5_SUFFIXES, read_model_file

    if arguments.scene is None or Path(arguments.scene).suffix.lower() not in HDF5_SUFFIXES:
        return
    path = Path(arguments.scene).expanduser()
    if arguments.log is not None:
        raise UsageError(f"{path}: is a log: leave out --log, or give a scene")
    text = read_model_file(path, arguments.episode)
    folder = tempfile.mkdtemp(prefix="contact-viewer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scene = Path(folder, f"{path.stem}.xml")
    scene.write_text(text, encoding="utf-8")
    arguments.log, arguments.scene = str(path), str(scene)


def read_options(arguments: argparse.Namespace, **more: Any) -> Options:
    """Return the options of a command line. `more`: fields that the command sets itself."""
    from ..scene_files.scene import find_scene

    given = vars(arguments)
    log, saved = arguments.log, arguments.save_run
    return Options(
        scene=find_scene(arguments.scene),
        sensors=tuple(arguments.sensor),
        channels=tuple(given.get("channel", ())),
        watched=tuple(given.get("watched", ())),
        data=None if given.get("data_file") is None else Path(given["data_file"]).expanduser(),
        maps=tuple(given.get("map", ())),
        reduce=Reduce(arguments.reduce) if arguments.reduce else None,
        quality=Quality(given.get("quality", Quality.AUTO)),
        log=None if log is None else Path(log),
        save_run=None if saved is None else Path(saved),
        **{name: given[name] for name in _SAME_NAME if name in given},
        **control_options(arguments),
        **more,
    )


def open_given_log(arguments: argparse.Namespace, engine: "Engine") -> None:
    """Let an engine re-simulate the given log, if there is one."""
    if arguments.log is not None:
        from ..engines.registry import open_log

        open_log(engine, arguments.log, arguments.episode, arguments.period)


def report_notes(source: "StepSource") -> None:
    """Report notes on the log or saved run that the steps come from."""
    for note in source.notes:
        report(f"note: {source.name}: {note}")


def open_run(arguments: argparse.Namespace) -> "Session":
    """Open the given scene and log, and keep a history if the run is to be saved."""
    from ..engines.registry import CHOICES, open_engines
    from ..session.session import Session

    options = read_options(arguments)
    beside_control = load_controller(arguments) if CHOICES[arguments.engine].beside is not None else None
    control = load_controller(arguments)
    engine, *beside = open_engines(options.scene, arguments.engine, 1, control, beside_control, options.watched)
    open_given_log(arguments, engine)
    session = Session(engine, ViewState(), options, beside, arguments.save_run is not None)
    for note in session.engine.notes:
        report(f"note: {note}")
    for name, reason in session.engine.unread.items():
        report(f"note: sensor {name} is left out: {reason}")
    if not arguments.no_watch_all and session.watch_without_sensors():
        report("note: the scene has no contact sensors, so all contacts are shown")
    elif session.source.watches_all:
        session.watch_all()
    if options.beside is not None:
        _add_beside(session, options)
    report_notes(session.source)
    report_deep_start(session.engine)
    return session


def _add_beside(session: "Session", options: Options) -> None:
    """Show another run beside that of a session, in the same frames."""
    from ..app.controllers import Controllers
    from ..app.runs_beside import make_guest, open_source, read_source, run_label

    assert options.beside is not None
    shown = session.simulation.engine.path
    engine = open_source(read_source(options.beside, shown), shown, Controllers(options))
    session.simulation.beside.append(make_guest(session, engine, run_label(options.beside)))
    for note in engine.notes:
        report(f"note: {options.beside}: {note}")


def report_deep_start(engine: "Engine") -> None:
    """Report bodies that start inside each other, and a keyframe in which they do not."""
    from ..mjmodel.deep_start import find_deep_start

    if engine.has_contact_list and engine.time == 0.0:
        deep = find_deep_start(engine.model, engine.contact_data())
        if deep is not None:
            keys = "".join(f". Keyframe {key} does not: --key {key}" for key in deep.keys[:1])
            report(f"note: {deep.text}{keys}")


def duration(arguments: argparse.Namespace, source: "StepSource") -> float:
    """Return the duration [s of simulated time, at speed 1]: the given one, else to the end of a log, else the usual
    one."""
    given: float | None = arguments.duration
    if given is not None:
        return given
    if source.duration is None:
        return USUAL_DURATION
    start, speed = getattr(arguments, "start", 0.0), getattr(arguments, "speed", 1.0)
    left = source.duration - start
    if left < 0:
        raise SceneError(f"{source.name}: lasts {source.duration:.6g} s: nothing is left after --start {start:g}")
    return max(left / speed, source.engine.timestep)


def report_exactness(source: "StepSource") -> None:
    """Report how exactly the steps of a run or log were re-simulated."""
    if summary := source.summary():
        report(summary)


def save_run(arguments: argparse.Namespace, simulation: "Simulation") -> list[str]:
    """Save the run, if requested, and return the lines to print. Print nothing before all files are written: a closed
    terminal ends the program."""
    if arguments.save_run is None:
        return []
    from ..session.saved_run import RunSaver

    saver = RunSaver(simulation, arguments.save_run)
    path = saver.write()
    if saver.forgotten:
        report(
            f"note: the oldest {plural(saver.forgotten, 'step')} did not fit into memory: the saved run begins later"
        )
    return [f"{path}: {plural(saver.steps, 'step')}, {size_text(path.stat().st_size)}"]
