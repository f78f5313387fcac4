"""Pictures without a window: sizes, limits, several at once, and what is left behind."""

import mujoco
import numpy as np
import psutil
import pytest
from contact_viewer.render.contexts import load_opengl
from contact_viewer.render.offscreen import OffscreenRenderer
from contact_viewer.settings import Quality

from .pictures import flat_model, forwarded, is_green, make_contacts, make_glyphs, renderer_of


@pytest.mark.parametrize("size", [(1, 1), (64, 48), (123, 45), (1920, 1080)])
def test_any_size_is_drawn_whatever_the_model_declares(size: tuple[int, int]) -> None:
    model = flat_model()
    model.vis.global_.offwidth, model.vis.global_.offheight = 16, 16
    with renderer_of(model, *size) as renderer:
        renderer.draw(forwarded(model))
        image = renderer.read()
    assert image.shape == (size[1], size[0], 3)
    assert image.dtype == np.uint8
    assert renderer.size == size
    assert (model.vis.global_.offwidth, model.vis.global_.offheight) == (16, 16)
    # The evenly lit grey wall fills the view.
    assert np.abs(image.astype(int) - 127).max() < 8


def test_a_size_beyond_the_driver_is_refused_with_its_limit() -> None:
    model = flat_model()
    with pytest.raises(ValueError, match=r"1000000 x 10 pixels is too large: .* draws at most \d+"):
        OffscreenRenderer(model, 1_000_000, 10)
    with pytest.raises(ValueError, match="empty"):
        OffscreenRenderer(model, 0, 10)
    # Nothing is left current that would stop a window from opening.
    gl = load_opengl()
    assert gl.glGetString(gl.GL_VERSION) is None


def test_it_says_what_draws() -> None:
    with renderer_of(flat_model(), 8, 8, Quality.AUTO) as renderer:
        assert renderer.backend in ("egl", "osmesa")
        assert renderer.renderer
        assert renderer.quality in (Quality.LOW, Quality.HIGH)


def test_two_renderers_take_turns() -> None:
    plain, marked = flat_model(), flat_model('<geom pos="0 -1 0" size="0.3" rgba="0 1 0 1"/>')
    with renderer_of(plain) as first, renderer_of(marked) as second:
        for _ in range(2):
            first.draw(forwarded(plain))
            second.draw(forwarded(marked))
            assert is_green(second.read()).sum() > 500
            assert not is_green(first.read()).any()
        # The first one's context must be current where errors are asked for at the end.
        second.draw(forwarded(marked))


def test_the_view_decides_what_is_seen() -> None:
    model = flat_model('<geom pos="0 -1 0" size="0.3" rgba="0 1 0 1"/>')
    with renderer_of(model) as renderer:
        renderer.draw(forwarded(model))
        assert is_green(renderer.read()).any()
        renderer.view.toggle_group("geom", 0)
        renderer.draw(forwarded(model))
        assert not is_green(renderer.read()).any()


def test_a_closed_renderer_says_so_and_closes_again() -> None:
    model = flat_model()
    renderer = OffscreenRenderer(model, 8, 8)
    renderer.close()
    renderer.close()
    with pytest.raises(RuntimeError, match="closed"):
        renderer.draw(forwarded(model))


def test_many_renderers_one_after_another_do_not_pile_up() -> None:
    model = flat_model()
    data = forwarded(model)
    glyphs = make_glyphs(model, make_contacts(np.zeros((50, 3)), [1, 1, 1]))
    process = psutil.Process()

    def use(times: int) -> int:
        for _ in range(times):
            with OffscreenRenderer(model, 320, 240, Quality.LOW) as renderer:
                renderer.draw(data, glyphs)
                renderer.read()
        return int(process.memory_info().rss)

    warm = use(10)
    grown = use(20) - warm
    # A picture of this size takes 0.9 MB: one forgotten buffer a turn would be 18 MB.
    assert grown < 8e6


def test_mujoco_reports_no_warning() -> None:
    model = flat_model()
    data = forwarded(model)
    with renderer_of(model) as renderer:
        renderer.draw(data)
    assert all(warning.number == 0 for warning in data.warning)
    assert mujoco.mj_version() >= 3_005_000
