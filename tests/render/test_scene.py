"""The scene pass: quality without a trace in the model, drawing beside other OpenGL code, reading back, leaks."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render import scene as scene_module
from contact_viewer.render.contexts import OffscreenContext, load_opengl
from contact_viewer.render.scene import ScenePass
from contact_viewer.render.view import View
from contact_viewer.settings import Quality

from .gl_state import gl_error, read_state, set_unusual_state
from .pictures import changed, count_objects, forwarded, is_red

MODEL_XML = """
<mujoco>
  <visual><global offwidth="5000" offheight="4000"/>
    <quality shadowsize="2048" offsamples="4" numslices="24" numstacks="14"/></visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.3 0.4 0.5" rgb2="0 0 0" width="32" height="192"/>
    <texture name="grid" type="2d" builtin="checker" rgb1="0.2 0.3 0.4" rgb2="0.3 0.4 0.5" width="64" height="64"/>
    <material name="grid" texture="grid" texrepeat="4 4" reflectance="0.3"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="2 2 0.1" material="grid"/>
    <body name="ball" pos="0 0 0.3"><freejoint/><geom size="0.3" rgba="1 0 0 1"/></body>
  </worldbody>
</mujoco>
"""
SIZE = (90, 60)
WHOLE = (0, 0, *SIZE)


def make_model() -> Any:
    return mujoco.MjModel.from_xml_string(MODEL_XML)


def make_pass(model: Any, quality: Quality = Quality.LOW, renderer: str = "llvmpipe") -> ScenePass:
    return ScenePass(model, quality, renderer, offscreen=SIZE)


def settings_of(model: Any) -> list[Any]:
    quality, size = model.vis.quality, model.vis.global_
    names = ("shadowsize", "offsamples", "numslices", "numstacks", "numquads")
    return [getattr(quality, name) for name in names] + [size.offwidth, size.offheight]


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("quality", "renderer", "resolved"),
    [
        (Quality.AUTO, "llvmpipe (LLVM 15.0.6, 256 bits)", Quality.LOW),
        (Quality.AUTO, "NVIDIA GeForce RTX 4090", Quality.HIGH),
        (Quality.HIGH, "llvmpipe", Quality.HIGH),
        (Quality.LOW, "NVIDIA GeForce RTX 4090", Quality.LOW),
    ],
)
def test_quality_follows_the_renderer_and_leaves_the_model_alone(
    quality: Quality, renderer: str, resolved: Quality
) -> None:
    model = make_model()
    before = settings_of(model)
    scene_pass = make_pass(model, quality, renderer)
    assert scene_pass.quality is resolved
    assert settings_of(model) == before
    context = scene_pass._context
    assert (context.offWidth, context.offHeight) == SIZE
    if resolved is Quality.LOW:
        assert context.offSamples == 0
        assert context.shadowSize <= 1024
    else:
        assert context.offSamples > 1
        assert context.shadowSize == 2048
    scene_pass.close()


@pytest.mark.usefixtures("context")
def test_costly_effects_start_off_at_low_quality_and_can_be_switched_on() -> None:
    model = make_model()
    data, view, scene_pass = forwarded(model), View(model), make_pass(model)
    shadow, reflection = int(mujoco.mjtRndFlag.mjRND_SHADOW), int(mujoco.mjtRndFlag.mjRND_REFLECTION)
    scene_pass.update(model, data, view)
    assert [scene_pass.scene.flags[shadow], scene_pass.scene.flags[reflection]] == [0, 0]
    view.toggle("shadow")
    view.toggle("reflection")
    scene_pass.update(model, data, view)
    assert [scene_pass.scene.flags[shadow], scene_pass.scene.flags[reflection]] == [1, 1]
    scene_pass.close()
    high = make_pass(model, Quality.HIGH)
    high.update(model, data, View(model))
    assert [high.scene.flags[shadow], high.scene.flags[reflection]] == [1, 1]
    high.close()


@pytest.mark.usefixtures("context")
def test_contacts_are_not_drawn_by_mujoco() -> None:
    model = make_model()
    data, scene_pass = mujoco.MjData(model), make_pass(model)
    data.qpos[2] = 0.29
    mujoco.mj_forward(model, data)
    assert data.ncon == 1
    scene_pass.update(model, data, View(model))
    kinds = {geom.objtype for geom in scene_pass.scene.geoms[: scene_pass.scene.ngeom]}
    assert kinds == {int(mujoco.mjtObj.mjOBJ_GEOM)}
    scene_pass.close()


@pytest.mark.usefixtures("context")
def test_pixels_outside_the_viewport_stay() -> None:
    model = make_model()
    scene_pass = make_pass(model)
    scene_pass.update(model, forwarded(model), View(model))
    gl = load_opengl()
    gl.glClearColor(1, 0, 1, 1)
    gl.glDisable(gl.GL_SCISSOR_TEST)
    gl.glClear(gl.GL_COLOR_BUFFER_BIT)
    scene_pass.draw((20, 10, 40, 30))
    image = scene_pass.read_pixels(WHOLE)
    inside = np.zeros(image.shape[:2], bool)
    inside[60 - 10 - 30 : 60 - 10, 20:60] = True
    assert (image[~inside] == (255, 0, 255)).all()
    assert not (image[inside] == (255, 0, 255)).all(axis=1).any()
    scene_pass.close()


@pytest.mark.usefixtures("context")
def test_the_picture_does_not_depend_on_the_state_that_others_leave() -> None:
    model = make_model()
    scene_pass = make_pass(model)
    scene_pass.update(model, forwarded(model), View(model))
    scene_pass.draw(WHOLE)
    expected = scene_pass.read_pixels(WHOLE)
    assert is_red(expected).sum() > 100
    gl = load_opengl()
    set_unusual_state(gl)
    sampler = int(gl.glGenSamplers(1))
    gl.glSamplerParameteri(sampler, gl.GL_TEXTURE_WRAP_S, gl.GL_CLAMP_TO_EDGE)
    for unit in (0, 1):
        gl.glBindSampler(unit, sampler)
    gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 8)
    gl.glPixelStorei(gl.GL_PACK_ROW_LENGTH, 200)
    before = read_state(gl)
    scene_pass.draw(WHOLE)
    after = read_state(gl)
    # The gizmo pass reads MuJoCo's depth convention from these; nobody else tests depth.
    for name in ("DEPTH_FUNC", "DEPTH_WRITEMASK", "DEPTH_CLEAR_VALUE", "DEPTH_TEST"):
        before.pop(name), after.pop(name)
    assert after == before
    assert not changed(scene_pass.read_pixels(WHOLE), expected).any()
    assert int(gl.glGetIntegerv(gl.GL_PACK_ALIGNMENT)) == 8
    scene_pass.close()
    assert gl_error() is None


@pytest.mark.usefixtures("context")
def test_pictures_are_read_top_row_first_at_any_width() -> None:
    model = make_model()
    scene_pass = ScenePass(model, Quality.LOW, "llvmpipe", offscreen=(37, 23))
    view = View(model)
    # From the side: the red ball is above the floor.
    view.look_at((0, 0, 0.3), 2.0, 90, 0)
    scene_pass.update(model, forwarded(model), view)
    scene_pass.draw((0, 0, 37, 23))
    image = scene_pass.read_pixels((0, 0, 37, 23))
    assert image.shape == (23, 37, 3)
    rows, columns = np.nonzero(is_red(image))
    assert abs(columns.mean() - 18) < 1
    lower = scene_pass.read_pixels((0, 0, 37, 11))
    assert (lower == image[12:]).all()
    assert rows.size > 20
    scene_pass.close()


@pytest.mark.usefixtures("context")
def test_a_scene_that_is_full_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_module, "_scene_size", lambda model: 1)
    model = make_model()
    scene_pass = make_pass(model)
    scene_pass.update(model, forwarded(model), View(model))
    assert scene_pass.scene.ngeom == 2
    assert scene_pass.scene.status == 0
    scene_pass.close()


def test_opening_and_closing_leaves_no_objects(context: OffscreenContext) -> None:
    model = make_model()
    data = forwarded(model)
    before = count_objects()
    for quality in (Quality.LOW, Quality.HIGH) * 3:
        scene_pass = make_pass(model, quality)
        scene_pass.update(model, data, View(model))
        scene_pass.draw(WHOLE)
        assert count_objects() != before
        scene_pass.close()
        scene_pass.close()
    assert count_objects() == before
    assert context.renderer
