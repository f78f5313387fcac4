"""Camera matrices against what MuJoCo draws: a small bright ball must appear where its centre is projected."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.camera import CameraMatrices

from .pictures import forwarded, matrices_of, places, renderer_of

BALL = np.array([0.21, -0.13, 0.34])
SCENE = """
<mujoco>
  <visual><global fovy="{fovy}" orthographic="{orthographic}"/>
    <headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <statistic extent="2" center="0 0 0.2"/>
  <worldbody>
    <geom type="sphere" pos="0.21 -0.13 0.34" size="0.06" rgba="1 0 0 1"/>
    <geom type="sphere" pos="-0.3 0.3 0" size="0.05" rgba="0 0 1 1"/>
    <camera name="plain" pos="-1.5 -0.4 1.1" xyaxes="0.3 -1 0 0.5 0.15 1" fovy="50"/>
    <camera name="intrinsic" pos="-1.5 -0.4 1.1" xyaxes="0.3 -1 0 0.5 0.15 1"
            resolution="200 120" sensorsize="0.02 0.012" focal="0.02 0.02" principal="0.001 0"/>
  </worldbody>
</mujoco>
"""
SIZES = [(200, 120), (150, 210)]


def scene(fovy: float = 45, orthographic: bool = False) -> Any:
    text = SCENE.format(fovy=fovy, orthographic=str(orthographic).lower())
    return mujoco.MjModel.from_xml_string(text)


def ball_in_picture(model: Any, size: tuple[int, int], camera: str | None) -> tuple[np.ndarray, CameraMatrices]:
    data = forwarded(model)
    with renderer_of(model, *size) as renderer:
        renderer.view.set_camera(camera)
        matrices = matrices_of(renderer, data)
        image = renderer.read().astype(int)
    return places((image[:, :, 0] > 100) & (image[:, :, 2] < 60)), matrices


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("camera", [None, "plain"])
def test_points_project_to_where_mujoco_draws_them(camera: str | None, size: tuple[int, int]) -> None:
    pixels, matrices = ball_in_picture(scene(), size, camera)
    expected, depth = matrices.project(BALL, (0, 0, *size))
    assert len(pixels) > 20
    assert np.abs(pixels.mean(axis=0) - expected[0]).max() < 0.7
    assert depth[0] == pytest.approx((BALL - matrices.position) @ matrices.forward)


def test_intrinsic_cameras_project_to_where_mujoco_draws_them() -> None:
    pixels, matrices = ball_in_picture(scene(), SIZES[0], "intrinsic")
    expected, _ = matrices.project(BALL, (0, 0, *SIZES[0]))
    assert len(pixels) > 20
    assert np.abs(pixels.mean(axis=0) - expected[0]).max() < 0.7


@pytest.mark.parametrize("size", SIZES)
def test_orthographic_cameras_project_to_where_mujoco_draws_them(size: tuple[int, int]) -> None:
    pixels, matrices = ball_in_picture(scene(fovy=1.4, orthographic=True), size, None)
    assert matrices.orthographic
    expected, _ = matrices.project(BALL, (0, 0, *size))
    assert np.abs(pixels.mean(axis=0) - expected[0]).max() < 0.7
    # The ball's diameter of 0.12 m on 1.4 m of view.
    assert np.ptp(pixels[:, 0]) + 1 == pytest.approx(0.12 / 1.4 * size[1], abs=2)
    assert matrices.pixel_size(BALL, (0, 0, *size))[0] == pytest.approx(1.4 / size[1])


def test_a_pixel_is_as_large_as_the_ball_says() -> None:
    pixels, matrices = ball_in_picture(scene(), (400, 400), None)
    diameter = np.ptp(pixels[:, 0]) + 1
    assert 0.12 / diameter == pytest.approx(matrices.pixel_size(BALL, (0, 0, 400, 400))[0], rel=0.06)


def test_viewport_moves_and_scales_pixels() -> None:
    _, matrices = ball_in_picture(scene(), (200, 120), None)
    small, _ = matrices.project(BALL, (0, 0, 200, 120))
    large, _ = matrices.project(BALL, (30, 50, 400, 240))
    assert large[0] == pytest.approx(2 * small[0] + (30, 50))


def test_points_behind_the_eye_have_no_pixel() -> None:
    _, matrices = ball_in_picture(scene(), (200, 120), None)
    pixels, depth = matrices.project([matrices.position - matrices.forward, BALL], (0, 0, 200, 120))
    assert np.isnan(pixels[0]).all()
    assert depth[0] == pytest.approx(-1)
    assert np.isfinite(pixels[1]).all()
