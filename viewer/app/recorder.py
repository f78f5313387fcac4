"""Turn the frames of a window into videos and screenshots, and save runs, while the simulation continues."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DiskFullError, RecordingError, SceneError
from ..files import PartFile, size_text
from ..page.child import check_page_path, page_of
from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
from ..scene_files.sensor_edits import SensorEdits
from ..session.saved_run import RunSaver
from ..session.session import Session
from ..session.simulation import Simulation
from ..settings import GizmoSettings, VideoStyle, ViewState

if TYPE_CHECKING:
    # Imported when a recording starts: encoders take a tenth of the time until the window opens.
    from ..recording.overlay import Overlay
    from ..recording.video_writer import LiveVideoWriter

FPS = 60
_CLOSING_TIME = 1.0
"""Longest time to complete files without a message [s]."""
Label = tuple[float, float, str, float]


class Retake:
    """Replay of the last seconds of a session's history, frame by frame, for a video."""

    def __init__(self, session: Session, seconds: float, fps: int) -> None:
        history = session.history
        if history is None:
            raise RecordingError("this run has no history to record")
        self._session, self._history = session, history
        self._last, self._before = history.last, (history.current, session.paused)
        end = history.time(history.last)
        begin = max(history.time(history.first), end - seconds)
        pace = session.pace.speed / fps
        # Half a step of slack: a picture's time and a step's are sums of different numbers.
        slack = 0.5 * session.engine.timestep
        count = int((end - begin + slack) / pace) + 1
        self._steps = [history.step_at(begin + slack + k * pace) for k in range(count)]
        self._next = self._taken = 0

    @property
    def due(self) -> bool:
        """True if the shown frame was not recorded yet."""
        return self._taken < self._next

    def mark_taken(self) -> None:
        """Note that the shown frame was recorded."""
        self._taken = self._next

    @property
    def done(self) -> bool:
        """True if all frames were shown, or the history was replaced."""
        return self._next >= len(self._steps) or self._history.last != self._last

    def show_next(self) -> None:
        """Let the session show the next frame."""
        if not self.done:
            since = self._steps[self._next - 1] if self._next else None
            self._session.go_to(self._steps[self._next], since)
            self._next += 1

    def close(self) -> None:
        """Show the step from before the replay, and continue."""
        if self._history.last == self._last:
            step, paused = self._before
            self._session.go_to(step)
            self._session.paused = paused


class Recorder:
    """Recorder of one video at a time; files of earlier videos may not be complete yet."""

    def __init__(self, saved: list[Path] | None = None) -> None:
        """Prepare recordings. `saved`: list to which the paths of completed files are added."""
        self._saved = [] if saved is None else saved
        self.with_panels = False
        """True if the whole window is recorded, not the scene alone."""
        self.running: LiveVideoWriter | None = None
        """Recording that is running or paused; None if there is none."""
        self._completing: list[LiveVideoWriter] = []
        self._closing = False
        self._screenshot: PartFile | None = None
        self._shot: tuple[Session, bool] | None = None
        """Session of the screenshot, and True if it shows panels."""
        self._size = (0, 0)
        self._overlay: Overlay | None = None
        self._retake: Retake | None = None
        self._usual: tuple[ViewState, GizmoSettings] | None = None
        """Settings of the window, and their gizmo settings from before the recording set its style."""

    @property
    def retaking(self) -> bool:
        """True if the session replays its history for a recording: nothing else may change the shown step."""
        return self._retake is not None

    @property
    def is_busy(self) -> bool:
        """True if frames are wanted, or files are still being completed."""
        return bool(self.running or self._retake or self._completing or self._screenshot)

    def start(
        self,
        path: Path,
        size: tuple[int, int],
        session: Session,
        with_panels: bool,
        last: float | None = None,
        fps: int = FPS,
        style: VideoStyle = VideoStyle.DEBUG,
    ) -> bool:
        """Record into a new file; return False if a recording is running already.

        Args:
            path: File, whose suffix is the format.
            size: Width and height of the frames [px].
            session: Session that is shown.
            with_panels: True for the whole window; False for the scene with legend and time.
            last: Simulated time of the history to replay and record [s]; None to record from now on.
            fps: Frames per second.
            style: Style of frames without panels; the window has it too until the recording ends.
        """
        from ..recording.formats import format_of
        from ..recording.overlay import Overlay
        from ..recording.talk import scene_title, talk_gizmos
        from ..recording.video_writer import LiveVideoWriter

        if self.running is not None:
            return False
        fps = min(fps, format_of(path).fps)
        retake = None if last is None else Retake(session, last, fps)
        self.with_panels, self._size = with_panels, size
        self.running = LiveVideoWriter(path, size, fps)
        title = ""
        if style is VideoStyle.TALK and not with_panels:
            settings, title = session.settings, scene_title(session)
            self._usual = settings, settings.gizmos
            settings.gizmos = talk_gizmos(settings.gizmos)
        self._overlay = None if with_panels else Overlay(session, size, session.pace.speed, style=style, title=title)
        self._retake = retake
        return True

    def show_next(self) -> None:
        """Show the next frame of a retake, or end it."""
        if self._retake is not None:
            if self._retake.done:
                self.stop()
            else:
                self._retake.show_next()

    def toggle_paused(self) -> None:
        if self.running is not None and self._retake is None:
            self.running.resume() if self.running.paused else self.running.pause()

    def stop(self) -> None:
        """Stop recording; the encoder completes the file while the window continues."""
        if self._retake is not None:
            self._retake.close()
            self._retake = None
        if self._usual is not None:
            settings, gizmos = self._usual
            settings.gizmos = gizmos
            self._usual = None
        if self.running is not None:
            self.running.stop()
            self._completing.append(self.running)
            self.running = None

    def request_screenshot(self, path: Path, session: Session, with_panels: bool = False) -> None:
        """Save the next frame of the scene, with legend and time, or of the window; its path is reserved at once."""
        if self._screenshot is None:
            self._screenshot, self._shot = PartFile(path), (session, with_panels)

    def take_picture(
        self, read: Callable[[], NDArray[np.uint8]], whole_window: bool, time: float, labels: Sequence[Label] = ()
    ) -> str | None:
        """Record the frame drawn now, if one is due; return a message about completed files.

        Args:
            read: Returns the pixels, RGB, (height, width, 3).
            whole_window: True for the whole window, False for the scene alone.
            time: Simulated time [s].
            labels: Labels beside contacts: see `Overlay.compose`.
        """
        if self._closing:
            return None
        if self._screenshot is not None and self._shot is not None and whole_window == self._shot[1]:
            from ..recording.overlay import Overlay
            from ..recording.video_writer import png_bytes

            (session, with_panels), self._shot = self._shot, None
            file, self._screenshot = self._screenshot, None
            shot = read()
            if not with_panels:
                shot = Overlay(session, (shot.shape[1], shot.shape[0]), session.pace.speed).compose(shot, time, labels)
            path = file.write(png_bytes(shot))
            self._saved.append(path)
            return f"saved {path}"
        writer = self.running
        due = self._retake.due if self._retake is not None else writer is not None and writer.due
        if writer is not None and whole_window == self.with_panels and due:
            try:
                picture, scale = _scaled(read(), self._size)
                if self._overlay is not None:
                    picture = self._overlay.compose(
                        picture, time, [(x * scale, y * scale, text, contact * scale) for x, y, text, contact in labels]
                    )
                if self._retake is not None:
                    writer.add(picture)
                    self._retake.mark_taken()
                else:
                    writer.add_now(picture)
            except DiskFullError:
                self.stop()
            except RecordingError:
                writer.abort()
                self.running = None
                self.stop()
                raise
        for completed in self._completing:
            if completed.completed:
                self._completing.remove(completed)
                return self._finish(completed)
        return None

    def begin_closing(self) -> list[Path]:
        """Stop recording; return, at the first call only, the files that take long to complete."""
        if self._closing:
            return []
        self._closing = True
        self.stop()
        deadline = monotonic() + _CLOSING_TIME
        return [writer.path for writer in self._completing if not writer.wait(deadline - monotonic())]

    def close(self) -> tuple[list[str], list[RecordingError]]:
        """Complete all recordings; return messages about completed files, and the errors of failed ones."""
        if self._screenshot is not None:
            self._screenshot.discard()
            self._screenshot = None
        self.stop()
        done: list[str] = []
        errors: list[RecordingError] = []
        while self._completing:
            try:
                done.append(self._finish(self._completing.pop(0)))
            except RecordingError as error:
                errors.append(error)
        return done, errors

    def _finish(self, writer: "LiveVideoWriter") -> str:
        path = writer.finish()
        self._saved.append(path)
        why = "; it ends early because the disk is full" if writer.is_cut_short else ""
        return f"recorded {path.absolute()} ({writer.seconds:.1f} s, {writer.frames} frames){why}"


def _scaled(picture: NDArray[np.uint8], size: tuple[int, int]) -> tuple[NDArray[np.uint8], float]:
    """Return the pixels scaled to the size of the recording, width and height [px], and the factor."""
    height, width = picture.shape[:2]
    # A window that is resized meanwhile is the writer's matter.
    if size[1] == height or abs(size[0] * height - size[1] * width) > 2 * (width + height):
        return picture, 1.0
    from PIL import Image

    return np.array(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS)), size[1] / height


class RunSaving:
    """Saving of one run at a time."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._saving: Future[str] | None = None

    @property
    def is_busy(self) -> bool:
        """True if a run is being saved, or its result was not reported yet."""
        return self._saving is not None

    def start(self, simulation: Simulation, path: Path, edits: SensorEdits) -> None:
        """Save the run as it is now. Raises SceneError if that is not possible."""
        saver = self._saver(simulation, path, edits)
        self._start(path, lambda: _save(saver))

    def start_page(self, simulation: Simulation, path: Path, edits: SensorEdits, options: Sequence[str]) -> None:
        """Write a page of the run as it is now; `options` of `contact-viewer page`. Raises SceneError."""
        check_page_path(path)
        saver = self._saver(simulation, path.with_suffix(RUN_SUFFIX), edits)

        def save(target: Path) -> None:
            saver.path = target
            saver.write()

        self._start(path, lambda: f"saved {page_of(save, path, *options)}")

    def _saver(self, simulation: Simulation, path: Path, edits: SensorEdits) -> RunSaver:
        if self._saving is not None:
            raise SceneError(f"{self._path}: still being saved: wait until it is complete")
        changes = tuple(change.to_json() for change in edits.changes)
        return RunSaver(simulation, path, changes, simulation.episode)

    def _start(self, path: Path, write: Callable[[], str]) -> None:
        # The program ends when the file is complete: it waits for threads of an executor.
        executor = ThreadPoolExecutor(1, f"save {path.name}")
        self._path, self._saving = path, executor.submit(write)
        executor.shutdown(wait=False)

    def poll(self) -> tuple[Path, str] | None:
        """Return a completed file and a message about it, once; None if there is none. Raises SceneError."""
        return self.wait() if self._saving is not None and self._saving.done() else None

    def wait(self) -> tuple[Path, str] | None:
        """Wait for the end of saving, then return the same as `poll`."""
        saving, path, self._saving = self._saving, self._path, None
        return None if saving is None or path is None else (path, saving.result())


def _save(saver: RunSaver) -> str:
    """Save a run and return a message about it. Raises SceneError for any failure."""
    try:
        path = saver.write()
    except SceneError:
        raise
    except BaseException as error:
        raise SceneError(f"{saver.path}: the run could not be saved ({error})") from None
    left_out = f"; the {saver.forgotten} before them did not fit into memory" if saver.forgotten else ""
    return f"saved {path}: {saver.steps} steps, {size_text(path.stat().st_size)}{left_out}"
