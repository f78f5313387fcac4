"""Small scenes, contacts and pictures that the tests of this folder share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from contact_viewer.render.camera import CameraMatrices, Eye
from contact_viewer.render.contexts import load_opengl
from contact_viewer.render.glyphs import Glyphs
from contact_viewer.render.offscreen import OffscreenRenderer
from contact_viewer.render.style import GlyphScale, glyph_scale, palette_colors, sensor_color
from contact_viewer.render.view import USUAL_PICTURE, View
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.session.contact_glyphs import SensorGlyphs, build_glyphs
from contact_viewer.session.force_scale import NO_FORCES, ForceScale
from contact_viewer.session.layers import contact_parts
from contact_viewer.settings import GizmoSettings, Quality
from numpy.typing import ArrayLike, NDArray

from .gl_state import gl_error

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]

SIDE = 200
"""Width and height of the pictures [px]."""
PIXEL = 1.0 / SIDE
"""Size of a pixel [m]: the orthographic scenes show one metre."""

FLAT_XML = """
<mujoco>
  <statistic extent="1" center="0 0 0" meansize="0.1"/>
  <visual>
    <global orthographic="true" fovy="1" azimuth="90" elevation="0"/>
    <headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/>
  </visual>
  <worldbody>
    <geom name="back" type="box" pos="0 2 0" size="3 0.1 3" rgba="0.5 0.5 0.5 1"/>
    <body name="mover" pos="0 1 0"><freejoint/><geom size="0.01" mass="1" rgba="0.5 0.5 0.5 1"/></body>
    {more}
  </worldbody>
</mujoco>
"""
"""Evenly lit grey, seen along +y: x is right, z is up. One kilogram moves."""


def flat_model(more: str = "") -> Any:
    return mujoco.MjModel.from_xml_string(FLAT_XML.format(more=more))


def forwarded(model: Any) -> Any:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


def make_contacts(
    pos: ArrayLike,
    force: ArrayLike,
    *,
    normal: ArrayLike = (0, 0, 1),
    tangent0: ArrayLike = (1, 0, 0),
    torque: ArrayLike = (0, 0, 0),
    filled: ArrayLike | None = None,
    in_world_frame: bool = False,
) -> ContactBatch:
    """Contacts at positions (n, 3) with force components (n, 3)."""
    points = np.atleast_2d(np.asarray(pos, float))
    shape = points.shape
    occupied = np.ones(len(points), bool) if filled is None else np.asarray(filled, bool)
    return ContactBatch(
        found=np.array(float(occupied.sum())),
        filled=occupied,
        force=np.broadcast_to(np.asarray(force, float), shape),
        torque=np.broadcast_to(np.asarray(torque, float), shape),
        dist=np.zeros(len(points)),
        pos=points,
        normal=np.broadcast_to(np.asarray(normal, float), shape),
        tangent0=np.broadcast_to(np.asarray(tangent0, float), shape),
        in_world_frame=in_world_frame,
    )


def usual_scale(model: Any, settings: GizmoSettings) -> GlyphScale:
    """Sizes before any force is known, in a picture of the usual size."""
    data = forwarded(model)
    eye = Eye(View(model).matrices(model, data, USUAL_PICTURE), USUAL_PICTURE)
    return glyph_scale(model, settings, ForceScale(model).update(0.0, data, eye, NO_FORCES))


def make_glyphs(
    model: Any, batch: ContactBatch, settings: GizmoSettings | None = None, scale: GlyphScale | None = None
) -> Glyphs:
    settings = settings or GizmoSettings()
    scale = scale or usual_scale(model, settings)
    colors = palette_colors(model, settings.palette)
    return build_glyphs([SensorGlyphs(0, batch, sensor_color(0))], contact_parts(settings), settings, scale, colors)


@contextmanager
def renderer_of(
    model: Any, width: int = SIDE, height: int = SIDE, quality: Quality = Quality.LOW
) -> Iterator[OffscreenRenderer]:
    """A renderer, with OpenGL errors checked at the end."""
    with OffscreenRenderer(model, width, height, quality) as renderer:
        assert gl_error() is None
        yield renderer
        assert gl_error() is None


def take_picture(renderer: OffscreenRenderer, data: Any, glyphs: Glyphs | None, see_through: bool = True) -> Image:
    renderer.draw(data, glyphs, GizmoSettings(see_through=see_through))
    return renderer.read()


def matrices_of(renderer: OffscreenRenderer, data: Any) -> CameraMatrices:
    return renderer.draw(data)


def is_white(image: Image) -> Mask:
    return np.asarray((image.min(axis=2) > 200) & (np.ptp(image, axis=2) < 20), bool)


def is_mostly(image: Image, channel: int) -> Mask:
    """Pixels in which one of red, green and blue stands far above the other two."""
    others = np.delete(image, channel, axis=2).max(axis=2).astype(int)
    return np.asarray(image[:, :, channel] - others > 60, bool)


def is_red(image: Image) -> Mask:
    return is_mostly(image, 0)


def is_green(image: Image) -> Mask:
    return is_mostly(image, 1)


def is_blue(image: Image) -> Mask:
    return is_mostly(image, 2)


def changed(image: Image, before: Image) -> Mask:
    return np.asarray((np.abs(image.astype(int) - before.astype(int)) > 3).any(axis=2), bool)


def places(mask: Mask) -> NDArray[np.float64]:
    """Centers of the pixels of a mask, from the lower left corner, (n, 2) [px]."""
    rows, columns = np.nonzero(mask)
    return np.column_stack([columns + 0.5, mask.shape[0] - rows - 0.5])


def count_objects() -> tuple[int, ...]:
    """Buffers, programs, shaders, vertex arrays, textures and framebuffers alive; Mesa counts their names from 1."""
    gl = load_opengl()
    names = range(1, 300)
    questions = (gl.glIsBuffer, gl.glIsProgram, gl.glIsShader, gl.glIsVertexArray, gl.glIsTexture, gl.glIsFramebuffer)
    return tuple(sum(bool(question(name)) for name in names) for question in questions)
