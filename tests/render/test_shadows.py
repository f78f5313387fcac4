"""Shadows: as fine as the picture wherever the camera is, soft at their edges, and none on what is in the light."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.shadows import map_size
from contact_viewer.settings import Quality

from .pictures import Image, forwarded, renderer_of

SIZE = (640, 360)
SCENE = """
<mujoco>
  <statistic extent="{extent}"/>
  <visual><headlight ambient=".4 .4 .4" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <light type="{light}" pos="-1 .3 3" dir=".35 -.1 -1" diffuse=".5 .5 .5" specular="0 0 0" attenuation="1 0 0"/>
    <geom type="plane" size="0 0 1" rgba=".8 .8 .8 1"/>
    <body pos="0 0 .5" euler="0 0 17"><freejoint/><geom type="box" size=".4 .4 .02" rgba=".9 .1 .1 1"/></body>
    <body pos="40 3 .5"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>"""


def picture(distance: float, extent: float = 1.0, light: str = "directional") -> Image:
    model = mujoco.MjModel.from_xml_string(SCENE.format(extent=extent, light=light))
    with renderer_of(model, *SIZE, quality=Quality.HIGH) as renderer:
        renderer.view.look_at((0.2, 0, 0), distance, 90, -75)
        renderer.draw(forwarded(model))
        return renderer.read()


def edge(image: Image) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows at which the shadow's lower edge crosses columns, to a part of a pixel, and the columns."""
    grey = image.astype(float).mean(axis=2)
    light = grey[-20:].mean()
    is_box = image[..., 0].astype(int) > image[..., 1] + 30
    dark = np.median(grey[(grey < light - 40) & ~is_box])
    shade = np.clip((light - grey) / (light - dark), 0.0, 1.0)
    shadow = (shade > 0.5) & ~is_box
    columns = np.flatnonzero(shadow.any(axis=0))
    low, high = columns[0], columns[-1]
    columns = np.arange(low + (high - low) // 4, low + (high - low) // 2)
    last = [np.flatnonzero(shadow[:, column])[-1] for column in columns]
    # Partly shaded pixels below the last that is mostly shaded.
    parts = [row + shade[row + 1 : row + 3, column].sum() for row, column in zip(last, columns, strict=True)]
    return np.array(parts), columns


@pytest.mark.parametrize(("distance", "extent"), [(2.5, 1.0), (2.5, 50.0), (5.0, 1.0)])
def test_edges_of_shadows_are_straight_to_a_pixel_and_blended(distance: float, extent: float) -> None:
    image = picture(distance, extent)
    rows, columns = edge(image)
    assert len(rows) >= 12
    away = rows - np.polyval(np.polyfit(columns, rows, 1), columns)
    assert np.abs(away).max() < 1.0
    grey = image.astype(float).mean(axis=2)
    light, dark = grey[-20:].mean(), grey[:, SIZE[0] // 2].min()
    assert ((grey > dark + 8) & (grey < light - 8)).sum() > 30
    # Nothing shades itself.
    assert image[-60:].std(axis=(0, 1)).max() < 0.5


def test_a_spotlight_casts_a_soft_shadow_and_leaves_the_floor_even() -> None:
    image = picture(2.5, light="spot").astype(float).mean(axis=2)
    floor = image[-60:, :200]
    assert np.abs(np.diff(floor, axis=1)).max() <= 2.0
    assert image.min() < floor.mean() - 60


def test_the_map_grows_with_the_picture_up_to_what_the_model_allows() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE.format(extent=1, light="directional"))
    assert [map_size(model, height) for height in (360, 720, 1080, 2160)] == [1024, 2048, 2048, 4096]
    model.vis.quality.shadowsize = 512
    assert map_size(model, 2160) == 512
