"""The process that draws films of a user's loop: the user's process starts it, with shared memory and a link."""

import signal
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..engines.abilities import StepKind
from ..engines.mujoco.engine import MujocoEngine
from ..errors import DiskFullError, RecordingError
from ..processes import Link, Message, run_child
from ..recording.formats import even_size, format_of
from ..recording.overlay import Overlay
from ..recording.scene_frames import SceneFrames, open_renderer
from ..recording.schedule import Schedule, exact, frame_rate
from ..recording.video_writer import VideoWriter
from ..render.offscreen import OffscreenRenderer
from ..session.session import Session
from ..settings import Quality, ViewState
from .loop_connection import LoopConnection, open_engine
from .shared_memory import SharedMemory, write_values

_ENDLESS = 2**62
"""Number of frames of a film whose end is not known."""
_REST = 0.002
"""Time between two checks for new steps [s]."""


def film(link: Link, request: Message) -> None:
    """Film until the loop's program closes the link."""
    # Ctrl-C is for the user's program, whose end completes the film.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, engine, shared = open_engine(request)
    FilmWorker(link, engine, shared, request["film"]).run()


class FilmWorker:
    """Worker that keeps a session on the steps that arrive, and films parts of it."""

    def __init__(self, link: Link, engine: MujocoEngine, shared: SharedMemory, options: dict[str, Any]) -> None:
        self._link, self._options = link, options
        self._session = session = Session(engine, ViewState(), keeps_history=False)
        session.watch_without_sensors()
        write_values(session.view.camera, options["view"])
        self._renderer: OffscreenRenderer | None = None
        self._writer: VideoWriter | None = None
        self._film: SceneFrames | None = None
        self._schedule = Schedule(Fraction(1), Fraction(1), 1)
        self._step = self._frame = 0
        """Number of steps since the film began, and number of its frames so far."""
        self._woken = threading.Event()
        self._loop = loop = LoopConnection(link, shared, engine)
        loop.when_told, loop.wake = self._handle, self._woken.set

    def run(self) -> None:
        """Draw the steps that arrive, and complete the film when the loop's program ends."""
        loop = self._loop
        while True:
            loop.begin_frame()
            self._draw_all()
            if not loop.running:
                break
            if loop.quiet:
                self._woken.wait(1.0)
            self._woken.wait(_REST)
            self._woken.clear()
        # Steps that arrived between the last check and the end.
        self._draw_all()
        self._complete()
        if self._renderer is not None:
            self._renderer.close()

    def _draw_all(self) -> None:
        """Re-simulate the steps that have arrived, and draw their frames."""
        loop, simulation = self._loop, self._session.simulation
        while (step := loop.next_step()) is not None:
            simulation.observe(step)
            if self._film is not None and step.kind not in (StepKind.START, StepKind.MOVED):
                self._step += 1
                self._add_pictures()

    def _handle(self, message: Message) -> None:
        self._draw_all()
        answer: dict[str, Any] = {"finished" if "finish" in message else "begun": True}
        try:
            if "begin" in message:
                self._begin(Path(message["begin"]))
            elif "finish" in message:
                self._complete()
            else:
                return
        except RecordingError as error:
            self._abandon()
            answer["failed"] = str(error)
        self._link.send(answer)

    def _begin(self, path: Path) -> None:
        session, options, kind = self._session, self._options, format_of(path)
        size = even_size(kind, tuple(options["size"] or kind.size))
        fps = frame_rate(options["fps"] or kind.fps)
        if self._renderer is None:
            self._renderer = open_renderer(session, size, Quality.AUTO)
        self._schedule = Schedule(exact(session.engine.timestep), fps, _ENDLESS)
        self._writer = VideoWriter(path, size, fps)
        session.simulation.observers.clear()
        self._film = SceneFrames(session, self._schedule, self._renderer, Overlay(session, size))
        self._step = self._frame = 0
        self._add_pictures()

    def _add_pictures(self) -> None:
        """Add the frames that show the step that was just taken."""
        assert self._film is not None
        assert self._writer is not None
        due = 0
        while self._schedule.step(self._frame + due) <= self._step:
            due += 1
        if due:
            try:
                self._writer.add(self._film.picture(self._frame), due)
            except DiskFullError:
                self._complete()
            except RecordingError as error:
                self._abandon()
                self._link.send({"error": str(error)})
            self._frame += due

    def _complete(self) -> None:
        writer, self._writer, self._film = self._writer, None, None
        if writer is not None:
            writer.finish()

    def _abandon(self) -> None:
        writer, self._writer, self._film = self._writer, None, None
        if writer is not None:
            writer.abort()


if __name__ == "__main__":
    run_child(film, "the film")
