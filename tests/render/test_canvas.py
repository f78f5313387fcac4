"""The scene with gizmos over it, also where shaders fail, and what a session adds to the scene."""

import numpy as np
import pytest
from contact_viewer import assets
from contact_viewer.engines.registry import open_engine
from contact_viewer.render.offscreen import OffscreenRenderer
from contact_viewer.session.layers import add_volumes, session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import Quality, ViewState

from .gl_state import gl_error
from .pictures import Image

WIDTH, HEIGHT = 640, 360


@pytest.fixture
def broken_shader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shader that no compiler takes, as on a driver that refuses ours."""
    original = assets.shader_source

    def source(filename: str) -> str:
        text = original(filename)
        return text.replace("void main()", "nonsense here;\nvoid main()") if filename == "arrow.frag" else text

    monkeypatch.setattr("contact_viewer.render.gl.shader_source", source)


@pytest.fixture
def session() -> Session:
    session = Session(open_engine("slope"), ViewState())
    session.engine.step(300)
    session.forget()
    return session


def pixels_of(image: Image, *, strong: int, weak: tuple[int, int]) -> int:
    """Pixels in which one colour channel is far above the two others."""
    image = image.astype(int)
    others = np.maximum(image[..., weak[0]], image[..., weak[1]])
    return int(((image[..., strong] > 110) & (image[..., strong] - others > 60)).sum())


def draw(session: Session) -> tuple[OffscreenRenderer, Image, Image]:
    """The scene with and without its gizmos."""
    renderer = OffscreenRenderer(session.engine.model, WIDTH, HEIGHT, Quality.LOW)
    renderer.view = session.view
    renderer.draw(session.engine.data)
    bare = renderer.read().copy()
    renderer.draw(session.engine.data, session_glyphs(session), session.settings.gizmos)
    return renderer, renderer.read().copy(), bare


def test_a_failing_shader_leaves_gizmos_drawn_by_mujoco(broken_shader: None, session: Session) -> None:
    renderer, picture, bare = draw(session)
    with renderer:
        assert renderer.canvas.trouble is not None
        assert "arrow.frag:15" in renderer.canvas.trouble
        assert "\n" not in renderer.canvas.trouble
        assert "drawn by MuJoCo instead" in renderer.canvas.trouble
        assert pixels_of(picture, strong=1, weak=(0, 2)) > pixels_of(bare, strong=1, weak=(0, 2)) + 100
        assert gl_error() is None


def test_mujocos_arrows_stand_where_ours_do(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, picture, bare = draw(session)
    ours.close()
    original = assets.shader_source
    monkeypatch.setattr(
        "contact_viewer.render.gl.shader_source",
        lambda name: original(name).replace("void main()", "nonsense here;\nvoid main()"),
    )
    theirs, fallback, _ = draw(session)
    theirs.close()

    def extent(image: Image) -> tuple[float, ...]:
        """Where the green of the normal arrows is, left, top, right, bottom [px]."""
        image = image.astype(int)
        before = bare.astype(int)
        green = image[..., 1] - np.maximum(image[..., 0], image[..., 2])
        rows, columns = np.nonzero((green > 60) & (green - (before[..., 1] - before[..., 0]) > 40))
        return columns.min(), rows.min(), columns.max(), rows.max()

    np.testing.assert_allclose(extent(fallback), extent(picture), atol=12)


def test_more_glyphs_than_a_scene_holds_do_no_harm(broken_shader: None, session: Session) -> None:
    glyphs = session_glyphs(session)
    many = type(glyphs).concat([glyphs] * 2000)
    with OffscreenRenderer(session.engine.model, 64, 64, Quality.LOW) as renderer:
        renderer.draw(session.engine.data, many)
        scene = renderer.canvas.scene_pass.scene
        assert len(many.spheres) + len(many.arrows) > scene.maxgeom
        assert scene.ngeom == scene.maxgeom


def test_touch_sensors_are_drawn_with_axes_and_volumes() -> None:
    session = Session(open_engine("touch"), ViewState())
    touch = session.engine.touch_sensors
    assert touch is not None
    with OffscreenRenderer(session.engine.model, WIDTH, HEIGHT, Quality.LOW) as renderer:
        renderer.view = session.view

        def picture() -> Image:
            renderer.draw(session.engine.data, session_glyphs(session), add=lambda scene: add_volumes(session, scene))
            return renderer.read().copy()

        shown = picture()
        for sensor in touch:
            sensor.visible = False
        hidden = picture()
    # Volumes tint, axes paint: both change what is seen.
    assert (shown != hidden).any(axis=2).sum() > 200
    assert pixels_of(shown, strong=0, weak=(1, 2)) > pixels_of(hidden, strong=0, weak=(1, 2)) + 20
