"""What following a scene costs beyond physics: a window that runs at real time, and commands that step and write."""

import contextlib
import io
import itertools
import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import mujoco
from contact_viewer import open_engine
from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.cli import main
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.pace import Pace
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

from .measuring import OURS, Measured, Row, seconds, take_turns
from .run import Run

BARE = "bare mj_step loop"
_WINDOW_SCENES = ("quadruped", DEFAULT_SCENE, "pile")
"""A robot; one box, where every microsecond shows; a bin with over a hundred contacts, some of which begin or end in
every step."""
_COMMAND_SCENES = ("quadruped", DEFAULT_SCENE)
_FRAME_RATE = 60
_WARM_UP = 2.0
"""Simulated time before anything is measured [s]."""


def running_window(run: Run) -> list[Row]:
    """Processor time of a window's session at real time, with history and events, every sensor read once a frame."""
    rows = []
    for scene in _WINDOW_SCENES:
        measured = _run_window(run, scene)
        case = f"{scene}, 1x, history and events, {_FRAME_RATE} frames/s without drawing"
        rows.append(measured.row("running-window", case, BARE, "ms per simulated s"))
    return rows


def export_speed(run: Run) -> list[Row]:
    """Steps a second of `contact-viewer export`, from the scene file to the complete data files of each format."""
    return _command_rows(run, "export-speed", "export", ("contacts.csv", "contacts.npz", "contacts.parquet"))


def events_speed(run: Run) -> list[Row]:
    """Steps a second of `contact-viewer events`, from the scene file to the complete CSV file."""
    return _command_rows(run, "events-speed", "events", ("events.csv",))


class _FrameClock:
    """A clock that shows the time of the next frame when it is called for, without waiting until then."""

    def __init__(self) -> None:
        self._frame = 0
        self._offset = 0.0

    def begin_frame(self) -> None:
        self._frame += 1
        self._offset = self._frame / _FRAME_RATE - time.perf_counter()

    def __call__(self) -> float:
        return time.perf_counter() + self._offset


class _BareLoop:
    """A scene as its owner has it, without our companion sensors, and nothing but `mj_step`."""

    def __init__(self, scene: str) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(find_scene(scene)))
        self._data = mujoco.MjData(self.model)

    def steps(self, duration: float) -> int:
        """How many steps a simulated time takes."""
        return math.ceil(duration / float(self.model.opt.timestep) - 1e-9)

    def run(self, count: int) -> None:
        model, data = self.model, self._data
        for _ in range(count):
            mujoco.mj_step(model, data)


def _run_window(run: Run, scene: str) -> Measured:
    duration, warm_up = run.sized((5.0, _WARM_UP), (0.05, 0.05))
    clock, bare = _FrameClock(), _BareLoop(scene)
    session = Session(open_engine(scene), ViewState())
    session.track_events()
    session.pace = Pace(clock=clock)
    names = session.engine.sensors.names

    def draw_frames(duration: float) -> None:
        for _ in range(round(duration * _FRAME_RATE)):
            clock.begin_frame()
            session.advance(math.inf)
            for name in names:
                session.reading(name)

    def step_bare(duration: float) -> None:
        bare.run(bare.steps(duration))

    # Both continue from turn to turn, so that they are always in the same part of the same motion.
    works = {OURS: draw_frames, BARE: step_bare}
    for work in works.values():
        work(warm_up)
    return take_turns(
        {name: partial(_processor_milliseconds, work, duration) for name, work in works.items()}, run.sized(5, 1)
    )


def _processor_milliseconds(work: Callable[[float], None], duration: float) -> float:
    """Processor time that a simulated second takes [ms]."""
    start = time.process_time()
    work(duration)
    return 1e3 * (time.process_time() - start) / duration


def _command_rows(run: Run, name: str, command: str, outputs: Sequence[str]) -> list[Row]:
    """Measure a command on each scene, once for each file name; a bare loop takes turns with every one."""
    rows = []
    for scene, output in itertools.product(_COMMAND_SCENES, outputs):
        duration, path = run.sized(5.0, 0.05), run.folder / output
        steps = _BareLoop(scene).steps(duration)
        works: dict[str, Callable[[], object]] = {
            OURS: partial(_run_command, [command, scene, "--duration", str(duration), "-o", str(path)]),
            BARE: partial(_run_bare, scene, steps),
        }
        # Imports are made in a first run, which is not measured.
        _run_command([command, scene, "--duration", "0.01", "-o", str(path)])
        rates = {peer: partial(_steps_per_second, work, steps) for peer, work in works.items()}
        measured = take_turns(rates, run.sized(5, 1))
        case = f"contact-viewer {command} {scene}, {duration:g} s to {path.suffix}"
        rows.append(measured.row(name, case, BARE, "steps/s", higher_is_better=True))
    return rows


def _run_command(words: list[str]) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(words)
    if code:
        raise RuntimeError(f"contact-viewer {' '.join(words)}: {said.getvalue().strip()}")


def _run_bare(scene: str, steps: int) -> None:
    _BareLoop(scene).run(steps)


def _steps_per_second(work: Callable[[], object], steps: int) -> float:
    return steps / seconds(work)
