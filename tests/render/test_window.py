"""The passes in a window's framebuffer, after headless contexts have been used in the same process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.canvas import Canvas
from contact_viewer.render.contexts import OffscreenContext, current_renderer, load_opengl, open_context
from contact_viewer.render.gizmos import GizmoPass
from contact_viewer.render.gl import gl_integer
from contact_viewer.render.glyphs import GizmoList
from contact_viewer.render.scene import ScenePass
from contact_viewer.render.view import View
from contact_viewer.settings import Quality

from .gl_state import gl_error
from .pictures import flat_model, forwarded, is_green, is_red, places

pytestmark = pytest.mark.skipif(not os.environ.get("DISPLAY") and not os.environ.get("CI"), reason="needs a display")
SIZE = (160, 120)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[OffscreenContext]:
    """A hidden window. A headless context comes and goes first: both kinds must live in one process."""
    monkeypatch.setenv("MUJOCO_GL", "egl")
    with open_context() as headless:
        model = flat_model()
        scene_pass = ScenePass(model, Quality.LOW, headless.renderer, offscreen=(8, 8))
        scene_pass.close()
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    with open_context(*SIZE) as opened:
        assert opened.backend == "glfw"
        yield opened
        assert gl_error() is None


def passes(model: Any) -> tuple[ScenePass, GizmoPass]:
    return ScenePass(model, Quality.AUTO, current_renderer()), GizmoPass()


@pytest.mark.usefixtures("window")
def test_scene_and_gizmos_share_the_windows_depth_in_a_part_of_it() -> None:
    model = flat_model('<geom type="box" pos="0 -0.5 0" size="0.1 0.05 0.1" rgba="0.9 0.1 0.1 1"/>')
    scene_pass, gizmo_pass = passes(model)
    gizmos = GizmoList(width=0.04)
    gizmos.draw_arrow((-0.4, 0, 0), (0.4, 0, 0), (0, 1, 0))
    viewport = (40, 10, 100, 100)
    gl = load_opengl()
    gl.glClearColor(0, 0, 1, 1)
    gl.glClear(gl.GL_COLOR_BUFFER_BIT)
    scene_pass.update(model, forwarded(model), View(model))
    scene_pass.draw(viewport)
    gizmo_pass.draw(gizmos.pop_glyphs(), scene_pass.matrices(viewport), viewport, see_through=False)
    image = scene_pass.read_pixels((0, 0, *SIZE))
    outside = np.ones(image.shape[:2], bool)
    outside[120 - 110 : 120 - 10, 40:140] = False
    assert (image[outside] == (0, 0, 255)).all()
    green, red = places(is_green(image)), places(is_red(image))
    # The arrow spans 80 of the viewport's 100 pixels around x = 90, and the box hides its middle.
    assert green[:, 0].min() == pytest.approx(50, abs=2)
    assert green[:, 0].max() == pytest.approx(130, abs=2.5)
    assert not (np.abs(green[:, 0] - 90) < 9).any()
    assert red.mean(axis=0) == pytest.approx([90, 60], abs=1)
    scene_pass.close()
    gizmo_pass.close()


@pytest.mark.usefixtures("window")
def test_the_scene_of_a_window_is_multisampled_at_high_quality() -> None:
    model = flat_model('<geom type="box" size="0.25 0.25 0.02" euler="0 20 0" rgba="0.9 0.1 0.1 1"/>')
    gizmos = GizmoList(width=0.04)
    gizmos.draw_arrow((-0.4, -0.1, 0.4), (0.4, -0.1, 0.3), (0, 1, 0))
    glyphs, gl, images = gizmos.pop_glyphs(), load_opengl(), []
    for quality in (Quality.LOW, Quality.HIGH):
        canvas = Canvas(model, quality, current_renderer())
        # The first picture has another size.
        for viewport in ((0, 0, 30, 20), (40, 10, 100, 100)):
            gl.glClearColor(0, 0, 1, 1)
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)
            matrices = canvas.update(model, forwarded(model), View(model), viewport)
            canvas.draw(glyphs, matrices, viewport, see_through=False)
            # Panels are drawn next, into the window.
            assert gl_integer(gl.GL_DRAW_FRAMEBUFFER_BINDING) == gl_integer(gl.GL_READ_FRAMEBUFFER_BINDING) == 0
        images.append(canvas.scene_pass.read_pixels((0, 0, *SIZE)).astype(int))
        canvas.close()
    low, high = images
    outside = np.ones(SIZE[::-1], bool)
    outside[10:110, 40:140] = False
    assert (high[outside] == (0, 0, 255)).all()
    for is_colour in (is_green, is_red):
        assert places(is_colour(high)).mean(axis=0) == pytest.approx(places(is_colour(low)).mean(axis=0), abs=0.5)
    # Below the arrow there are two colours, and blends of them at slanted edges.
    colours = [len(np.unique(image[45:110, 40:140].reshape(-1, 3), axis=0)) for image in images]
    assert colours[0] == 2
    assert colours[1] > 3


def test_headless_pictures_can_be_taken_after_a_window() -> None:
    program = """
import os
os.environ["MUJOCO_GL"] = "glfw"
import mujoco
from contact_viewer.render.contexts import open_context
from contact_viewer.render.gizmos import GizmoPass
from contact_viewer.render.glyphs import GizmoList
from contact_viewer.render.offscreen import OffscreenRenderer
with open_context():
    GizmoPass().close()
del os.environ["MUJOCO_GL"]
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
gizmos = GizmoList()
gizmos.draw_sphere(0.3, (0, 0, 0), (0, 1, 0))
with OffscreenRenderer(model, 40, 40) as renderer:
    renderer.draw(data, gizmos.pop_glyphs())
    print(renderer.backend, (renderer.read()[:, :, 1] > 100).sum() > 200)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    # Before version 4, MuJoCo's EGL does not start once GLX was used: a hidden window takes its place.
    backends = ["egl"] if mujoco.mj_version() >= 4_000_000 else ["egl", "glfw"]
    assert done.stdout.split() in [[backend, "True"] for backend in backends], done.stderr


@pytest.mark.usefixtures("window")
def test_a_window_pass_allocates_no_large_offscreen_buffer() -> None:
    model = flat_model()
    model.vis.global_.offwidth, model.vis.global_.offheight = 7680, 4320
    scene_pass = ScenePass(model, Quality.LOW, current_renderer())
    assert scene_pass._context.offWidth == scene_pass._context.offHeight == 1
    assert scene_pass._context.currentBuffer == int(mujoco.mjtFramebuffer.mjFB_WINDOW)
    assert model.vis.global_.offwidth == 7680
    scene_pass.close()


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("late", [0.05, 0.6])
def test_edges_are_smooth_at_low_quality_as_long_as_pictures_come_quickly(late: float) -> None:
    model = flat_model('<geom type="box" pos="0 -0.5 0" size="0.1 0.05 0.3" euler="0 20 0" rgba="1 1 1 1"/>')
    data, whole = forwarded(model), (0, 0, *SIZE)
    scene_pass = ScenePass(model, Quality.LOW, current_renderer())
    now = 10.0

    def shades(took: float, is_still: bool = False) -> int:
        """Count the greys of a picture of a white box before a grey wall: its two, and those of blended edges."""
        nonlocal now
        now += took
        scene_pass.spare_time(now, is_still)
        scene_pass.update(model, data, View(model))
        scene_pass.draw(whole)
        scene_pass.show(whole)
        return len(np.unique(scene_pass.read_pixels(whole)))

    assert shades(1.0) > 3
    quick = [shades(0.02) for _ in range(40)]
    assert min(quick) > 3
    # A single late picture changes nothing, nor does a window that had nothing to draw.
    assert min(shades(0.2), shades(9.0), shades(0.02)) > 3
    slow = [shades(late) for _ in range(40)]
    assert max(slow[20:]) <= 3
    # What does not move may take its time.
    assert shades(0.05, is_still=True) > 3
    assert shades(0.02) <= 3
    scene_pass.close()
