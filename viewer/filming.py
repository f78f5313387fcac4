"""Recording what the window shows: started, paused and stopped by a person."""

from pathlib import Path
from typing import TYPE_CHECKING

from .panels.shell import RecordingStatus
from .recording.errors import RecordingError
from .recording.files import free_path
from .render.scene import ScenePass
from .session import Session

if TYPE_CHECKING:
    # Imported when somebody records: encoders take a tenth of the time until the window opens.
    from .recording.live import LiveRecorder
    from .recording.overlay import Overlay

FPS = 60


class Retake:
    """The last seconds of a session's history, shown again picture by picture for a video."""

    def __init__(self, session: Session, seconds: float, fps: int) -> None:
        timeline = session.timeline
        if timeline is None:
            raise RecordingError("there is no history to record here")
        self._session, self._timeline = session, timeline
        self._last, self._before = timeline.last, (timeline.current, session.paused)
        end = timeline.time(timeline.last)
        begin = max(timeline.time(timeline.first), end - seconds)
        pace = session.pace.speed / fps
        # Half a step of slack: a picture's time and a step's are sums of different numbers.
        slack = 0.5 * session.engine.timestep
        count = int((end - begin + slack) / pace) + 1
        self._steps = [timeline.step_at(begin + slack + k * pace) for k in range(count)]
        self._next = self._taken = 0

    @property
    def due(self) -> bool:
        """A picture is shown that was not taken yet."""
        return self._taken < self._next

    def taken(self) -> None:
        self._taken = self._next

    @property
    def done(self) -> bool:
        """All pictures were shown, or the history is another."""
        return self._next >= len(self._steps) or self._timeline.last != self._last

    def show_next(self) -> None:
        """Let the session show the next picture."""
        if not self.done:
            since = self._steps[self._next - 1] if self._next else None
            self._session.go_to(self._steps[self._next], since)
            self._next += 1

    def close(self) -> None:
        """Show again what was shown before, and go on."""
        if self._timeline.last == self._last:
            step, paused = self._before
            self._session.go_to(step)
            self._session.paused = paused


class Filming:
    """At most one recording at a time, and the one that is being completed."""

    def __init__(self) -> None:
        self.with_panels = False
        """The whole window is recorded, not the scene alone."""
        self._recorder: LiveRecorder | None = None
        self._completing: LiveRecorder | None = None
        self._screenshot: Path | None = None
        self._overlay: Overlay | None = None
        self._retake: Retake | None = None

    @property
    def retaking(self) -> bool:
        """The session shows its history for a recording: nobody else is to move it."""
        return self._retake is not None

    @property
    def status(self) -> RecordingStatus | None:
        """The running recording, for people."""
        recorder = self._recorder
        if recorder is None:
            return None
        return RecordingStatus(
            recorder.path, recorder.seconds, recorder.frames, recorder.bytes_written / 2**20, recorder.paused
        )

    def start(self, path: Path, size: tuple[int, int], session: Session, with_panels: bool) -> None:
        """Record into a new file; the suffix tells the format. Without panels, legend and time are drawn in."""
        from .recording.live import LiveRecorder
        from .recording.overlay import Overlay

        if self._recorder is None:
            self.with_panels = with_panels
            self._recorder = LiveRecorder(path, size, FPS)
            self._overlay = None if with_panels else Overlay(session, size, session.pace.speed)

    def start_retake(
        self, path: Path, size: tuple[int, int], session: Session, with_panels: bool, seconds: float
    ) -> None:
        """Record the last simulated seconds of the history into a new file, every frame at its time."""
        if self._recorder is None:
            retake = Retake(session, seconds, FPS)
            self.start(path, size, session, with_panels)
            self._retake = retake

    def show_next(self) -> None:
        """During a retake: let the session show the next picture, or end it."""
        if self._retake is not None:
            if self._retake.done:
                self.stop()
            else:
                self._retake.show_next()

    def toggle_paused(self) -> None:
        if self._recorder is not None and self._retake is None:
            self._recorder.resume() if self._recorder.paused else self._recorder.pause()

    def stop(self) -> None:
        """Take no more pictures; the encoder completes the file while the window goes on."""
        if self._retake is not None:
            self._retake.close()
            self._retake = None
        if self._recorder is not None:
            self._recorder.stop()
            self._completing, self._recorder = self._recorder, None

    def request_screenshot(self, path: Path) -> None:
        """Save the next picture of the scene."""
        self._screenshot = path

    def take(
        self,
        scene: ScenePass,
        viewport: tuple[int, int, int, int],
        whole_window: bool,
        time: float,
        metres_per_pixel: float,
    ) -> str | None:
        """Take what is drawn so far, at a simulated time [s], if it is due; what to tell a person, if anything."""
        if self._screenshot is not None and not whole_window:
            from .recording.pictures import save_picture

            path, self._screenshot = self._screenshot, None
            return f"saved {save_picture(path, scene.read_pixels(viewport))}"
        recorder = self._recorder
        due = self._retake.due if self._retake is not None else recorder is not None and recorder.due
        if recorder is not None and whole_window == self.with_panels and due:
            try:
                picture = scene.read_pixels(viewport)
                if self._overlay is not None:
                    picture = self._overlay.compose(picture, time, metres_per_pixel)
                if self._retake is not None:
                    recorder.add(picture)
                    self._retake.taken()
                else:
                    recorder.add_now(picture)
            except RecordingError:
                recorder.abort()
                self._recorder = None
                self.stop()
                raise
        if self._completing is not None and self._completing.completed:
            return self._finish()
        return None

    def close(self) -> str | None:
        """Complete what is being recorded; what to tell a person."""
        self.stop()
        return self._finish() if self._completing is not None else None

    def _finish(self) -> str:
        recorder, self._completing = self._completing, None
        assert recorder is not None
        path = recorder.finish()
        return f"recorded {path.absolute()} ({recorder.seconds:.1f} s, {recorder.frames} frames)"


def next_path(folder: Path, scene: Path | None, suffix: str) -> Path:
    """A name that is not taken, after the scene."""
    return free_path(folder, scene.stem if scene else "scene", suffix)
