"""Draws a scene as pictures at exact times, without a window."""

from collections.abc import Iterator, Sequence

from ..errors import RecordingError
from ..render.camera import Eye
from ..render.contexts import OpenGLError
from ..render.offscreen import OffscreenRenderer
from ..session.layer import DrawContext
from ..session.layers import add_volumes, follow_forces, session_glyphs
from ..session.session import Session
from ..settings import Quality
from .encoders import Picture
from .overlay import Overlay
from .schedule import OnStep, Schedule, StepCounter

_USUAL_HEIGHT = 720
"""Height of a picture in which a measure of gizmos is a pixel [px]."""
_LEAST_UNIT = 0.5
"""Pixels per measure in small pictures: gizmos stay readable."""
_CHUNK = 100
"""Largest number of steps between two results of `pictures`, so that its caller can stop."""


class SceneFrames:
    """Frames of a video of one scene, drawn off screen."""

    def __init__(
        self,
        session: Session,
        schedule: Schedule,
        renderer: OffscreenRenderer,
        overlay: Overlay | None = None,
        calls: Sequence[OnStep] = (),
        orbit: float = 0.0,
    ) -> None:
        """Film a session. `calls`: see `StepCounter`. `orbit`: speed at which the camera circles [degrees/s of
        video]."""
        self._session = session
        self._schedule = schedule
        self._renderer = renderer
        self._overlay = overlay
        self._orbit = orbit
        self._azimuth = float(session.view.camera.azimuth)
        renderer.view = session.view
        if session.settings.gizmos.cones and session.events is None:
            # Only who follows every step knows what creeps.
            session.track_events()
        self._unit = max(renderer.size[1] / _USUAL_HEIGHT, _LEAST_UNIT)
        self._counter = StepCounter(session, schedule, calls if overlay is None else [overlay.sample, *calls])

    def pictures(self, first: int = 0) -> Iterator[Picture | None]:
        """Yield the frames from `first` on, and None in between: for earlier frames, and while many steps are
        simulated.

        Raises UnstableError when the simulation diverges.
        """
        # From the start: the forces of all frames choose the scale, also of those that are not drawn.
        for frame in range(-self._schedule.lead, self._schedule.frame_count):
            target = self._schedule.step(frame)
            while self._counter.step < target:
                self._session.simulation.step(min(_CHUNK, target - self._counter.step))
                if self._counter.step < target:
                    yield None
            if self._overlay is not None:
                self._overlay.speed = float(self._schedule.speed_at(frame))
            if frame >= first:
                yield self.picture(frame)
            else:
                follow_forces(DrawContext(self._session), self._eye(frame))
                yield None

    def _eye(self, frame: int) -> Eye:
        if self._orbit:
            azimuth = self._azimuth + self._orbit * float(max(frame, 0) / self._schedule.fps)
            self._session.view.camera.azimuth = azimuth
        engine, viewport = self._session.engine, (0, 0, *self._renderer.size)
        return Eye(self._session.view.matrices(engine.model, engine.data, viewport), viewport, self._unit)

    def picture(self, frame: int) -> Picture:
        """Return the present view of the session, as a frame of the video."""
        session, renderer = self._session, self._renderer
        glyphs = session_glyphs(session, self._eye(frame))
        renderer.draw(
            session.engine.data,
            glyphs,
            session.settings.gizmos,
            add=lambda scene: add_volumes(session, scene),
        )
        picture = renderer.read()
        if self._overlay is None:
            return picture
        self._overlay.follow(glyphs)
        return self._overlay.compose(picture, self._counter.time)


def open_renderer(session: Session, size: tuple[int, int], quality: Quality) -> OffscreenRenderer:
    """Return a renderer for a session's scene. Raises RecordingError, one line, if there is none."""
    try:
        return OffscreenRenderer(session.engine.model, *size, quality)
    except (OpenGLError, ValueError) as error:
        raise RecordingError(str(error)) from None
    except Exception as error:  # MuJoCo's own errors, such as a framebuffer that does not fit into memory.
        raise RecordingError(f"a picture of {size[0]} x {size[1]} pixels cannot be drawn ({error})") from None
