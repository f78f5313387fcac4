"""Draws the first picture of a page, with the window's renderer: a browser shows it before the script has run."""

import copy
import io
from typing import NamedTuple

import numpy as np

from ..errors import RecordingError, SceneError
from ..mjmodel.types import MjData
from ..recording.scene_frames import open_renderer
from ..render.camera import Eye
from ..render.style import Gauge, glyph_scale, palette_colors
from ..session.contact_glyphs import SensorGlyphs, build_glyphs
from ..session.layer import DrawContext
from ..session.layers import contact_parts, follow_forces
from ..session.session import Session
from ..settings import Quality

_SIZE = 960, 540
"""Width and height of the picture [px]."""
_QUALITY = 82
"""Quality of the JPEG."""


class Instant(NamedTuple):
    """Data and glyphs of a step, kept until the scale of the arrows is known."""

    data: MjData
    """Copy of the engine's data."""
    contacts: list[SensorGlyphs]


def keep_instant(session: Session) -> Instant:
    """Copy the state and the contacts of a session's step."""
    contacts, _ = follow_forces(DrawContext(session), session.usual_eye)
    kept = [
        SensorGlyphs(each.index, each.batch.mapped(lambda name, array: np.array(array)), each.color, each.ghost)
        for each in contacts
    ]
    return Instant(copy.copy(session.engine.data), kept)


def draw_poster(session: Session, instant: Instant, gauge: Gauge) -> tuple[bytes, str] | None:
    """Return the content and the kind of the file of the first picture; None on a machine that cannot draw."""
    from PIL import Image

    model, gizmos = session.engine.model, session.settings.gizmos
    try:
        with open_renderer(session, _SIZE, Quality.HIGH) as renderer:
            renderer.view = session.view
            viewport = (0, 0, *_SIZE)
            eye = Eye(session.view.matrices(model, instant.data, viewport), viewport, _SIZE[1] / 720)
            own = Gauge(eye, gauge.anchor, gauge.newtons, gauge.longest, gauge.sphere, gauge.reach)
            scale = glyph_scale(model, gizmos, own)
            colors = palette_colors(model, gizmos.palette)
            glyphs = build_glyphs(instant.contacts, contact_parts(gizmos), gizmos, scale, colors)
            renderer.draw(instant.data, glyphs, gizmos)
            picture = renderer.read()
    except (RecordingError, SceneError):
        return None
    content = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(content, "JPEG", quality=_QUALITY, optimize=True)
    return content.getvalue(), "image/jpeg"
