"""Geoms in Rerun: which are shown, as what, and how large."""

from typing import Any

import mujoco
import pytest
import rerun
from contact_viewer.recording.rerun_file import drawn_geoms, geom_shape

SCENE = """
<mujoco>
  <asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>
  <worldbody>
    <geom name="plane" type="plane" size="0 2 1"/>
    <geom name="sphere" type="sphere" size=".1"/>
    <geom name="ellipsoid" type="ellipsoid" size=".1 .2 .3"/>
    <geom name="capsule" type="capsule" size=".1 .4"/>
    <geom name="cylinder" type="cylinder" size=".1 .4"/>
    <geom name="box" type="box" size=".1 .2 .3" rgba="1 0 0 1"/>
    <geom name="mesh" type="mesh" mesh="m"/>
    <geom name="ground" type="hfield" hfield="h"/>
    <geom name="hidden" type="box" size=".1 .2 .3" group="3"/>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> Any:
    return mujoco.MjModel.from_xml_string(SCENE)


def shape(model: Any, name: str) -> Any:
    return geom_shape(rerun, model, model.geom(name).id)


def numbers(batch: Any) -> list[float]:
    return [
        float(value)
        for row in batch.as_arrow_array().to_pylist()
        for value in (row if isinstance(row, list) else [row])
    ]


def test_height_fields_and_hidden_groups_are_left_out(model: Any) -> None:
    names = [model.geom(geom).name for geom in drawn_geoms(model)]
    assert names == ["plane", "sphere", "ellipsoid", "capsule", "cylinder", "box", "mesh"]


def test_sizes_are_those_of_the_geoms(model: Any) -> None:
    infinite = 0.7 * model.stat.extent
    assert numbers(shape(model, "plane").half_sizes) == pytest.approx([infinite, 2, 0])
    assert numbers(shape(model, "sphere").half_sizes) == pytest.approx([0.1, 0.1, 0.1])
    assert numbers(shape(model, "ellipsoid").half_sizes) == pytest.approx([0.1, 0.2, 0.3])
    assert numbers(shape(model, "box").half_sizes) == pytest.approx([0.1, 0.2, 0.3])
    for name in ("capsule", "cylinder"):
        assert numbers(shape(model, name).lengths) == pytest.approx([0.8])
        assert numbers(shape(model, name).radii) == pytest.approx([0.1])
    assert numbers(shape(model, "capsule").translations) == pytest.approx([0, 0, -0.4])
    assert len(numbers(shape(model, "mesh").vertex_positions)) == 12


def test_a_geom_keeps_its_colour(model: Any) -> None:
    assert numbers(shape(model, "box").colors) == [0xFF0000FF]
