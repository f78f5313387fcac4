"""The window against other viewers on one display: frames a second, time to the first frame, cost of doing nothing."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.scene_files.scene import find_scene

from .environments import PEERS, STUDIO, Environments, run_worker
from .measuring import OURS, Figure, Row, Unavailable, Work, constant, take_turns
from .run import Run
from .screen import SIZE, Program

SIMULATE = "simulate (mujoco.viewer)"
PASSIVE = "mujoco.viewer.launch_passive"
STUDIO_VIEWER = "MuJoCo Studio"
MOTRIX_VIEWER = "MotrixSim viewer"
EMPTY = "scene and empty panels"
BUDGET = "budget"
_PASSIVE_WORKER = Path(__file__).parent / "workers" / "passive_viewer.py"
_WARM_UP = 3.0
"""Time after the first frame that is not measured, while caches fill and shaders are compiled [s]."""
_FEWEST_FRAMES = 4
_LONGEST_COUNT = 20.0
"""A slow viewer is given so long to show them [s]."""


def commands(scene: Path, environments: Environments, *options: str) -> dict[str, Callable[[], list[str]]]:
    """How each viewer is started on a scene; calling raises Unavailable where it is not installed."""
    width, height = map(str, SIZE)
    path = str(scene)

    def studio() -> list[str]:
        # Of Studio 4.0.0's modes this one works on a software renderer: the plain one ends with an error.
        size = [f"--width={width}", f"--height={height}"]
        return [environments.python(STUDIO), "-m", "mujoco.studio.viewer", path, "--gfx=opengl_software", *size]

    return {
        OURS: lambda: [sys.executable, "-m", "contact_viewer", path, "--width", width, "--height", height, *options],
        SIMULATE: lambda: [environments.python(PEERS), "-m", "mujoco.viewer", f"--mjcf={path}"],
        PASSIVE: lambda: [environments.python(PEERS), str(_PASSIVE_WORKER), path, *options],
        STUDIO_VIEWER: studio,
        MOTRIX_VIEWER: lambda: [environments.python(PEERS), "-m", "motrixsim._view", path, "--play"],
    }


def frame_window(run: Run) -> list[Row]:
    span = run.sized(4.0, 0.3)
    peers = (SIMULATE, STUDIO_VIEWER, MOTRIX_VIEWER)
    works = _on_screen(run, peers, lambda program: _frame_rate(program, span, run.sized(_WARM_UP, 0.1)))
    measured = take_turns(works, run.sized(3, 1))
    case = f"{DEFAULT_SCENE}, panels shown, {SIZE[0]}x{SIZE[1]}, each at its defaults: ours without shadows on llvmpipe"
    return [measured.row("frame-window", case, peer, "frames/s", goal=1.0, higher_is_better=True) for peer in peers]


def frame_equal(run: Run) -> list[Row]:
    """The window against simulate, both with all that simulate draws."""
    span = run.sized(6.0, 0.3)
    works = _on_screen(
        run, (SIMULATE,), lambda program: _frame_rate(program, span, run.sized(_WARM_UP, 0.1)), "--quality", "high"
    )
    measured = take_turns(works, run.sized(5, 1))
    case = f"{DEFAULT_SCENE}, panels shown, {SIZE[0]}x{SIZE[1]}, shadows, multisampling, reflections in both"
    return [measured.row("frame-equal", case, SIMULATE, "frames/s", goal=1.0, higher_is_better=True)]


def frame_python(run: Run) -> list[Row]:
    """What panels cost a frame, and how much of a frame is Python's."""
    shares: list[float] = []

    def work_of(*options: str) -> Work:
        def work() -> float:
            count, environment = run.sized(200, 3), run.screen.environment
            figures = run_worker(sys.executable, "window_frame.py", count, *options, environment=environment)
            if not options:
                shares.append(1e3 * figures["python"])
            return 1e3 * float(figures["frame"])

        return work

    frames = take_turns({OURS: work_of(), EMPTY: work_of("--empty")}, run.sized(5, 1))
    scene = f"quadruped, running, {SIZE[0]}x{SIZE[1]}, Plots and Inspector open"
    return [
        frames.row("frame-python", f"{scene}: processor time of a frame", EMPTY, "ms", goal=0.5),
        Row(
            "frame-python",
            f"{scene}: Python's own share of it",
            BUDGET,
            "ms",
            Figure(tuple(shares)),
            constant(4.0),
            1.0,
        ),
    ]


def startup(run: Run) -> list[Row]:
    works = _on_screen(run, (PASSIVE, STUDIO_VIEWER), lambda program: program.first_frame().time - program.started)
    measured = take_turns(works, run.sized(5, 1))
    case = f"{DEFAULT_SCENE}, process start to first frame"
    return [
        measured.row("startup", case, PASSIVE, "s", goal=1 / 1.5),
        measured.row("startup", case, STUDIO_VIEWER, "s", goal=1.0),
    ]


def idle(run: Run) -> list[Row]:
    span = run.sized(10.0, 0.3)
    works = _on_screen(run, (PASSIVE,), lambda program: _idle_time(program, span, run.sized(1.0, 0.1)), "--paused")
    measured = take_turns(works, run.sized(3, 1))
    return [measured.row("idle", f"paused, processor time over {span:g} s", PASSIVE, "s", goal=1.0)]


def _on_screen(run: Run, peers: tuple[str, ...], measure: Callable[[Program], float], *options: str) -> dict[str, Work]:
    """Works that open a viewer and measure it."""
    known = commands(find_scene(DEFAULT_SCENE), run.environments, *options)

    def work_of(name: str) -> Work:
        def work() -> float:
            with run.screen.program(known[name]()) as program:
                return measure(program)

        return work

    return {name: work_of(name) for name in (OURS, *peers)}


def _frame_rate(program: Program, span: float, warm_up: float) -> float:
    begin = program.first_frame().time + warm_up
    times: list[float] = []
    for frame in program.frames(begin + _LONGEST_COUNT):
        if frame.time >= begin:
            times.append(frame.time)
            if frame.time >= begin + span and len(times) >= _FEWEST_FRAMES:
                return (len(times) - 1) / (times[-1] - times[0])
    if len(times) < 2:
        raise Unavailable(f"{len(times)} frames in {_LONGEST_COUNT:.0f} s")
    return (len(times) - 1) / (times[-1] - times[0])


def _idle_time(program: Program, span: float, warm_up: float) -> float:
    program.first_frame()
    for _ in program.frames(time.perf_counter() + warm_up):
        pass
    before = program.processor_time
    for _ in program.frames(time.perf_counter() + span):
        pass
    return program.processor_time - before
