"""`contact-viewer record SCENE -o FILE`: record a video without a window."""

import argparse
import io
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, redirect_stderr, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app.interruption import Interruption, interruption
from ..engines.registry import CHOICES
from ..errors import RecordingError, SceneError, UnstableError
from ..files import describe_strays, folder_of, size_text
from ..settings import Quality, VideoStyle
from .parsing import (
    Parser,
    UsageError,
    add_control_arguments,
    add_patterns_argument,
    add_scene_arguments,
    number,
    pixel_size,
)
from .progress import plural, report, report_warnings, work_through
from .runs import (
    add_beside_argument,
    add_run_arguments,
    check_run_arguments,
    duration,
    open_run,
    read_options,
    report_exactness,
    save_run,
)

if TYPE_CHECKING:
    from ..engines.contract import Engine
    from ..recording.data_file import DataFile
    from ..recording.scene_frames import SceneFrames
    from ..recording.schedule import Schedule, SlowMotion
    from ..recording.video_writer import VideoWriter
    from ..session.session import Session
    from ..window.window_frames import WindowFrames

_EPILOG = """formats:
  .mp4            H.264 video, plays in browsers
  .webm           VP9 video
  .gif, .webp     animations, 640x360 unless --size says otherwise
  .png            the last frame
  a folder        one image per frame
  --data FILE     contacts and touch values at every physics step, and contact events, as `contact-viewer export`
                  writes them, with the video frame that shows them

Frame k shows the simulation at k / fps * speed seconds after --start, on every machine."""
DISK_FULL = 1
"""Exit code if the file is complete but ends early because the disk is full."""
_SMALLEST_SIDE = 16
"""Smallest side of a frame [px]: smaller ones show nothing, and encoders fail."""
_SCALE_SECONDS, _SCALE_PERIOD = 2.0, 0.02
"""Simulated time whose forces choose the scale of a talk, and time between two readings of the forces [s]."""
_EVENT_STEPS = 50
"""Number of steps between two checks for new events."""


class _RecordParser(Parser):
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Accept a point that begins with a minus sign, which argparse would parse as an option."""
        words = list(args or ())
        for i in range(len(words) - 1, 0, -1):
            if words[i - 1] == "--lookat" and words[i].startswith("-") and "," in words[i]:
                words[i - 1 : i + 1] = [f"--lookat={words[i]}"]
        return super().parse_known_args(words, namespace)


def parser() -> Parser:
    parser = _RecordParser("record", "Record a video of a scene and its contacts, without a window.", _EPILOG)
    add_scene_arguments(parser, scene_required=True)
    add_patterns_argument(parser)
    parser.set_defaults(quality=str(Quality.HIGH))
    add_output_arguments(parser)
    add_control_arguments(parser)
    parser.add_argument("--engine", choices=list(CHOICES), default="mujoco", help="physics engine")
    parser.add_argument("--fps", type=number(0.1, 1000), metavar="N", help="frames per second; default: 60 for videos")
    parser.add_argument(
        "--size", type=pixel_size(_SMALLEST_SIDE), metavar="WxH", help="frame size [px]; default: 1280x720"
    )
    parser.add_argument(
        "--orbit", type=number(-3600, 3600), metavar="DEG_PER_S", help="orbit speed of the camera [degrees/s]"
    )
    add_camera_arguments(parser)
    parser.add_argument(
        "--slow-around",
        type=_moment,
        metavar="TIME|event:N",
        help="slow motion around a time [s], or around an event, by its number in `contact-viewer events`",
    )
    parser.add_argument(
        "--slow", type=number(1e-4, 1.0), default=0.1, metavar="F", help="speed of the slow motion; default: 0.1"
    )
    parser.add_argument(
        "--slow-for",
        type=number(0.1, 1e4),
        default=2.0,
        metavar="S",
        help="length of the slow motion in the video [s]; default: 2",
    )
    parser.add_argument(
        "--overlay",
        choices=["legend", "plots"],
        default="legend",
        help="overlay on the scene: legend and time, or also force curves; default: legend",
    )
    parser.add_argument(
        "--no-overlay", dest="overlay", action="store_const", const=None, help="show only the scene and its contacts"
    )
    parser.add_argument(
        "--style",
        choices=list(VideoStyle),
        default=VideoStyle.DEBUG,
        help="talk: large total forces with friction cones, few words; debug: as in the window; default: debug",
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="title in the upper left corner; default with --style talk: the scene"
    )
    add_run_arguments(parser)
    add_beside_argument(parser)
    parser.add_argument("--window", action="store_true", help="record the whole window, with panels and plots")
    parser.add_argument(
        "--panels", metavar="A,B", help="with --window: panels to open, such as plots,inspector; default: all"
    )
    parser.add_argument(
        "--ui-scale", type=number(0.5, 4.0), metavar="F", help="scale of text; default: by the frame size"
    )
    parser.add_argument("--data", metavar="FILE", help="also write contacts and events: .csv, .npz, .parquet or .rrd")
    return parser


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the path of the output, and for the time that it covers."""
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write; its suffix is the format")
    parser.add_argument(
        "--duration",
        type=number(1e-6, 1e6),
        metavar="S",
        help="duration [s]; default: 10, or to the end of a saved run",
    )
    parser.add_argument(
        "--start", type=number(0, 1e6), default=0.0, metavar="S", help="simulate this long before the first frame [s]"
    )


def add_camera_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the pose of the free camera."""
    parser.add_argument("--follow", metavar="BODY", help="look at a body from close by, and follow it")
    parser.add_argument("--lookat", type=_point, metavar="X,Y,Z", help="point that the camera looks at [m]")
    parser.add_argument(
        "--distance", type=number(1e-6, 1e9), metavar="D", help="distance of the camera from that point [m]"
    )
    parser.add_argument("--azimuth", type=number(-3600, 3600), metavar="A", help="azimuth of the camera [degrees]")
    parser.add_argument("--elevation", type=number(-90, 90), metavar="E", help="elevation of the camera [degrees]")


def run(arguments: argparse.Namespace) -> int:
    if arguments.window:
        # The window first: MuJoCo imported before ImGui has another GLFW library than ImGui's.
        from ..window import window_frames as _  # noqa: F401
    from ..recording.data_file import DataFile, check_data_path
    from ..recording.formats import check_rate, check_size, even_size, format_of
    from ..recording.overlay import Overlay
    from ..recording.scene_frames import SceneFrames, open_renderer
    from ..recording.schedule import Schedule, frame_rate
    from ..recording.talk import scene_title, talk_gizmos
    from ..recording.video_writer import VideoWriter

    kind = format_of(arguments.output)
    fps = frame_rate(arguments.fps or kind.fps)
    size = even_size(kind, arguments.size or kind.size)
    check_rate(kind, fps)
    check_size(kind, size)
    if arguments.data:
        check_data_path(arguments.data)
    check_camera(arguments)
    check_run_arguments(arguments)
    if arguments.window:
        return _record_window(arguments, size, fps)
    if arguments.panels is not None:
        raise UsageError("--panels needs --window")
    session = open_run(arguments)
    prepare_view(session, arguments)
    style, title = VideoStyle(arguments.style), arguments.title
    if style is VideoStyle.TALK:
        session.settings.gizmos = talk_gizmos(session.settings.gizmos)
        title = scene_title(session) if title is None else title
    seconds = duration(arguments, session.source)
    schedule = Schedule.plan(session.engine.timestep, seconds, fps, arguments.speed, arguments.start)
    schedule = replace(schedule, slow=_slow_motion(arguments, schedule))
    if style is VideoStyle.TALK and not arguments.start and session.source.duration is None:
        _measure_scale(arguments, session, schedule.simulated)
    overlay = None
    if arguments.overlay:
        plot_seconds = schedule.simulated / arguments.speed if arguments.overlay == "plots" else None
        overlay = Overlay(session, size, arguments.speed, plot_seconds, arguments.ui_scale or 1.0, style, title or "")
    scene_size = overlay.scene_size if overlay is not None else size
    with ExitStack() as stack:
        interrupt = stack.enter_context(interruption())
        report_strays(arguments.output, arguments.data)
        recorder = stack.enter_context(VideoWriter(arguments.output, size, fps))
        data = stack.enter_context(DataFile(arguments.data, session, schedule)) if arguments.data else None
        renderer = stack.enter_context(open_renderer(session, scene_size, Quality(arguments.quality)))
        film = SceneFrames(session, schedule, renderer, overlay, [data.write] if data else (), arguments.orbit or 0.0)
        report(
            f"{plural(schedule.frame_count, 'frame')}, {size[0]}x{size[1]}, {float(fps):g} fps · "
            f"{renderer.backend.upper()}, {renderer.renderer}, {renderer.quality} quality"
        )
        if renderer.canvas.trouble is not None:
            report(f"warning: {renderer.canvas.trouble}")
        if arguments.size and size != arguments.size:
            report(f"note: a {kind.name} has an even width and height, so {size[0]}x{size[1]}")
        if data is not None:
            report_omissions(data, session)
        save = partial(save_run, arguments, session.simulation)
        code = _record(film, schedule.frame_count, recorder, data, session.engine, interrupt, save)
    report_exactness(session.source)
    return code


def _record_window(arguments: argparse.Namespace, size: tuple[int, int], fps: Fraction) -> int:
    """Record the whole window, with the panels in their first docks."""
    given = [f"--{name}" for name in ("data", "orbit") if getattr(arguments, name) is not None]
    if given:
        raise UsageError(f"{given[0]} is not for --window")
    from ..app.application import open_application
    from ..recording.schedule import Schedule
    from ..recording.video_writer import VideoWriter
    from ..window.window_frames import WindowFrames

    panels = None if arguments.panels is None else [name for name in arguments.panels.split(",") if name.strip()]
    app = open_application(read_options(arguments, width=size[0], height=size[1], watch=False))
    prepare_view(app.session, arguments)
    seconds = duration(arguments, app.session.source)
    schedule = Schedule.plan(app.session.engine.timestep, seconds, fps, arguments.speed, arguments.start)
    schedule = replace(schedule, slow=_slow_motion(arguments, schedule))
    with ExitStack() as stack:
        interrupt = stack.enter_context(interruption())
        report_strays(arguments.output)
        recorder = stack.enter_context(VideoWriter(arguments.output, size, fps))
        film = stack.enter_context(WindowFrames(app, schedule, panels, arguments.ui_scale))
        report(f"{plural(schedule.frame_count, 'frame')}, {size[0]}x{size[1]}, {float(fps):g} fps · {film.renderer}")
        code = _record(film, schedule.frame_count, recorder, None, app.session.engine, interrupt, list)
    report_exactness(app.session.source)
    return code


def _record(
    film: "SceneFrames | WindowFrames",
    frame_count: int,
    recorder: "VideoWriter",
    data: "DataFile | None",
    engine: "Engine",
    interrupt: Interruption,
    save: Callable[[], list[str]],
) -> int:
    """Record until the video or the simulation ends, or the user interrupts it; then complete the files. If video or
    data fail, the other is still completed, and the failure is raised. `save`: see `save_run`."""
    started = time.monotonic()
    trouble, code, failures = "", 0, list[SceneError]()

    def frames() -> Iterator[int]:
        for picture in film.pictures(frame_count - 1 if recorder.format.last_only else 0):
            if picture is not None:
                recorder.add(picture)
            yield recorder.frames

    try:
        trouble, code = work_through(frames(), frame_count, "frames", interrupt)
    except RecordingError as error:
        failures.append(error)
    if not recorder.frames and interrupt.requested:
        report("interrupted before the first frame: nothing was written")
        return interrupt.exit_code
    if not recorder.frames and not failures:
        raise UsageError(f"{trouble}, before the first frame")
    is_complete = [_completes(file.finish, failures) for file in (recorder, data) if file is not None]
    seconds = time.monotonic() - started
    saved = []
    try:
        saved = save()
    except SceneError as error:
        failures.append(error)
    full = recorder.is_cut_short or (data is not None and data.full and bool(trouble))
    if full and not trouble:
        trouble = "the disk is full"
    report_warnings(engine)
    if trouble:
        report(f"warning: {trouble}; the recording ends there")
    size = size_text(recorder.bytes_written)
    lines = []
    if is_complete[0] and recorder.format.last_only:
        lines.append(f"{recorder.path}: {size}")
    elif is_complete[0]:
        frames_text, rate = plural(recorder.frames, "frame"), recorder.frames / seconds
        lines.append(f"{recorder.path}: {frames_text}, {recorder.seconds:.2f} s, {size}; {rate:.0f} frames/s")
    if data is not None and is_complete[1]:
        lines += data_lines(data)
    for line in [*lines, *saved]:
        print(line)
    if failures:
        raise failures[0]
    return interrupt.exit_code or (DISK_FULL if full else code)


def _completes(finish: Callable[[], Path], failures: list[SceneError]) -> bool:
    """Complete a file; if that fails, add the error to `failures` and return False."""
    try:
        finish()
    except RecordingError as error:
        failures.append(error)
        return False
    return True


def report_strays(*outputs: str | None) -> None:
    """Report files that killed programs have left in the output folders."""
    for folder in dict.fromkeys(folder_of(Path(output)) for output in outputs if output):
        if strays := describe_strays(folder):
            report(f"note: {strays}")


def report_omissions(data: "DataFile", session: "Session") -> None:
    """Report data of the scene that a data file does not contain."""
    tracked, total = data.events.pair_count, data.events.pair_total
    if tracked < total:
        report(f"note: events are those of {tracked} of {total} pairs")
    if data.events.untracked:
        report(f"note: {data.events.untracked}")
    touch = session.engine.touch_sensors
    for problem in touch.problems if touch is not None else ():
        report(f"note: touch sensor: {problem}")


def data_lines(data: "DataFile") -> list[str]:
    """Return a line for every file that was written, with its content."""
    from ..recording.table_files import Table

    contents = {
        Table.CONTACTS: plural(data.steps, "step"),
        Table.EVENTS: plural(data.event_count, "event"),
        Table.TOUCH: plural(data.touch_count, "touch sensor"),
        Table.CHANNELS: plural(data.channel_count, "channel"),
    }
    lines = [
        f"{path}: {', '.join(contents[table] for table, own in data.paths.items() if own == path)}"
        for path in dict.fromkeys(data.paths.values())
    ]
    if data.schema_path is not None:
        lines.append(f"{data.schema_path}: types and units of the columns")
    return lines


def check_camera(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options of a camera that contradict each other."""
    moved = ("orbit", "follow", "lookat", "distance", "azimuth", "elevation")
    given = [f"--{name}" for name in moved if getattr(arguments, name) is not None]
    if arguments.follow is not None and arguments.lookat is not None:
        raise UsageError("--follow looks at a body: leave out --lookat")
    if arguments.camera is not None and given:
        raise UsageError(f"--camera is a camera of the scene, which {given[0]} cannot move")


def prepare_view(session: "Session", arguments: argparse.Namespace) -> None:
    """Simplify the floor, and place the free camera as the scene declares it, except for given options."""
    if session.view.flag("reflection"):
        session.view.toggle("reflection")
    if arguments.camera is not None:
        return
    camera, engine = session.view.camera, session.engine
    if arguments.follow is not None:
        try:
            session.view.follow_body(arguments.follow, engine.model, engine.data, 16 / 9)
        except ValueError as error:
            raise UsageError(str(error)) from None
        for name in ("distance", "azimuth", "elevation"):
            if (value := getattr(arguments, name)) is not None:
                setattr(camera, name, value)
        return
    given = {name: getattr(arguments, name) for name in ("lookat", "distance", "azimuth", "elevation")}
    place = {name: getattr(camera, name) if value is None else value for name, value in given.items()}
    session.view.look_at(**place)


def _slow_motion(arguments: argparse.Namespace, schedule: "Schedule") -> "SlowMotion | None":
    """Return the slow part of a video; None if there is none. The time of an event is found by a run without frames."""
    from ..recording.schedule import SlowMotion

    where: float | int | None = arguments.slow_around
    if where is None:
        return None
    if isinstance(where, int):
        end = arguments.start + schedule.simulated
        times = _event_times(arguments, where, end)
        if len(times) < where:
            raise UsageError(f"--slow-around event:{where}: {plural(len(times), 'event')} within {end:g} s")
        where = times[where - 1]
        report(f"note: event {arguments.slow_around} is at {where:.3f} s")
    return SlowMotion.around(where, arguments.slow, arguments.slow_for)


def _measure_scale(arguments: argparse.Namespace, session: "Session", end: float) -> None:
    """Choose the scale of the arrows from the forces of the first seconds, so that it does not change during the
    video."""
    from ..session.layer import DrawContext
    from ..session.layers import follow_forces

    first = _open_again(arguments)
    first.settings.gizmos, first.view.camera = session.settings.gizmos, session.view.camera
    with suppress(SceneError, UnstableError):
        while first.engine.time < session.engine.time + min(end, _SCALE_SECONDS):
            first.simulation.step(max(1, round(_SCALE_PERIOD / first.engine.timestep)))
            follow_forces(DrawContext(first), first.usual_eye)
    session.force_scale.carry_over(first.force_scale)


def _open_again(arguments: argparse.Namespace) -> "Session":
    """Open the run once more, to look ahead in it."""
    # What there is to say of the scene was said when it was opened to be filmed.
    with redirect_stderr(io.StringIO()):
        return open_run(argparse.Namespace(**{**vars(arguments), "save_run": None, "beside": None}))


def _event_times(arguments: argparse.Namespace, count: int, end: float) -> list[float]:
    """Return the times of the first events [s after the start]: `count` or more, or all until `end`."""
    from ..events.tracker import ContactTracker, TrackingOptions, default_pairs

    session = _open_again(arguments)
    engine, begin = session.engine, session.engine.time
    tracker = ContactTracker(
        engine.environment(0), default_pairs(engine.model), TrackingOptions(), follow_sensors=False
    )
    session.simulation.observers.append(tracker)
    times = list[float]()
    goes_on = True
    while goes_on and len(times) < count and engine.time - begin < end:
        # A log may end before, and a scene become unstable: the film then says so.
        goes_on = False
        with suppress(SceneError, UnstableError):
            session.simulation.step(_EVENT_STEPS)
            goes_on = True
        times = [entry.time - begin for entry in tracker.log if entry.pair_id is not None and entry.time - begin <= end]
    return times


def _moment(text: str) -> float | int:
    """Return the argument as a time [s], or as the number of an event."""
    word, _, number_text = text.partition(":")
    try:
        if word == "event" and int(number_text) > 0:
            return int(number_text)
        if 0.0 <= float(text) < 1e6:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is neither a time such as 1.5 nor an event such as event:1")


def _point(text: str) -> Sequence[float]:
    try:
        point = [float(value) for value in text.split(",")]
    except ValueError:
        point = []
    if len(point) != 3 or not all(abs(value) < 1e9 for value in point):
        raise argparse.ArgumentTypeError(f"{text!r} is not a point such as 0,0,0.5")
    return point
