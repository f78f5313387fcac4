"""A scene to pictures on an exact time base, without a window."""

from collections.abc import Callable, Iterator, Sequence

from ..render.offscreen import OffscreenRenderer
from ..session import Session
from .encoders import Picture
from .timeline import Timeline

_CHUNK = 200
"""Steps between two chances to stop, where nobody looks at each."""

Observer = Callable[[int], None]
"""Told the number of every physics step after it was taken."""


def film(
    session: Session,
    renderer: OffscreenRenderer,
    timeline: Timeline,
    observers: Sequence[Observer] = (),
    orbit: float = 0.0,
    frames: range | None = None,
) -> Iterator[tuple[int, Picture]]:
    """Frame numbers and pictures. `orbit`: how fast the camera circles [degrees/s of video]."""
    renderer.view = session.view
    azimuth = float(session.view.camera.azimuth)
    step = 0
    for frame in frames or range(timeline.frame_count):
        step = advance(session, step, timeline.step(frame), observers)
        if orbit:
            session.view.camera.azimuth = azimuth + orbit * float(frame / timeline.fps)
        renderer.draw(session.engine.data, session.glyphs(), session.settings.gizmos)
        yield frame, renderer.read()


def advance(session: Session, step: int, target: int, observers: Sequence[Observer]) -> int:
    while step < target:
        count = 1 if observers else min(_CHUNK, target - step)
        session.engine.step(count)
        session.forget()
        step += count
        for observe in observers:
            observe(step)
    return step
