"""The manual's own demo, unchanged, on both engines."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine

SCENE = """
<mujoco>
  <option gravity="{gravity}"/>
  <worldbody>
    <geom name="bar" type="box" size="1 1 .1" friction="1.5"/>
    <body pos="0 0 .1999"><freejoint/><geom name="freebox" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor>
    <contact name="box_floor_contact" geom1="bar" geom2="freebox"
             data="found force pos normal tangent" num="{num}" reduce="{reduce}"/>
  </sensor>
</mujoco>"""
GRAVITY = np.array([1.3, -2.1, -9.81])


class Drawing:
    """Takes the demo's place of a renderer."""

    def __init__(self) -> None:
        self.spheres: list[np.ndarray] = []
        self.arrows: list[tuple[np.ndarray, np.ndarray]] = []

    def draw_sphere(self, _radius: float, pos: np.ndarray, color: Any) -> None:
        self.spheres.append(np.array(pos))

    def draw_arrow(self, start: np.ndarray, end: np.ndarray, color: Any) -> None:
        self.arrows.append((np.array(start), np.array(end)))


def demo(contact_data: np.ndarray, gizmos: Drawing) -> None:
    """The loop of the manual."""
    num_contacts = int(contact_data[0])
    for i in range(num_contacts):
        offset = 1 + i * 12
        force_normal_mag = contact_data[offset + 0]
        force_tangent0_mag = contact_data[offset + 1]
        force_tangent1_mag = contact_data[offset + 2]
        contact_pos = contact_data[offset + 3 : offset + 6]
        normal = contact_data[offset + 6 : offset + 9]
        tangent0 = contact_data[offset + 9 : offset + 12]
        tangent1 = np.cross(normal, tangent0)
        force_scale = 0.01
        normal_force_end = contact_pos + normal * force_normal_mag * force_scale
        tangent0_force_end = contact_pos + tangent0 * force_tangent0_mag * force_scale
        tangent1_force_end = contact_pos + tangent1 * force_tangent1_mag * force_scale
        gizmos.draw_sphere(0.02, contact_pos, color=(1, 1, 1))
        gizmos.draw_arrow(contact_pos, normal_force_end, color=(0, 1, 0))
        gizmos.draw_arrow(contact_pos + normal * 0.01, tangent0_force_end, color=(1, 0, 0))
        gizmos.draw_arrow(contact_pos + normal * 0.01, tangent1_force_end, color=(0, 0, 1))


def settled(tmp_path: Path, name: str, num: int = 4, reduce: str = "none") -> Any:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(gravity=" ".join(map(str, GRAVITY)), num=num, reduce=reduce))
    engine = open_engine(path, name)
    engine.step(2000)
    return engine


@pytest.mark.parametrize("reduce", ["none", "mindist", "maxforce", "netforce"])
@pytest.mark.parametrize("name", ["mujoco", "motrix"])
def test_a_resting_box_weighs_what_it_weighs(tmp_path: Path, name: str, reduce: str) -> None:
    engine = settled(tmp_path, name, num=6, reduce=reduce)
    magnitude = engine.get_contact_force_magnitude("box_floor_contact")
    weight = 2 * np.linalg.norm(GRAVITY)
    if reduce == "maxforce":
        # One of four corners, the strongest, and no more than the whole.
        assert weight / 4 <= magnitude[0] * 1.01
        assert magnitude[0] < weight
    else:
        np.testing.assert_allclose(magnitude, [weight], rtol=0.01)


@pytest.mark.parametrize("num", [4, 7])
def test_the_demo_draws_the_same_contacts_on_both_engines(tmp_path: Path, num: int) -> None:
    drawings = []
    for name in ("mujoco", "motrix"):
        drawing = Drawing()
        demo(settled(tmp_path, name, num).get_sensor_value("box_floor_contact"), drawing)
        drawings.append(drawing)
    for drawing in drawings:
        assert len(drawing.spheres) == 4
        assert len(drawing.arrows) == 12
        # All arrows together hold the box up.
        ends = sum(end - start for start, end in drawing.arrows)
        lift = 2 * 4 * np.array([0, 0, 0.01])
        np.testing.assert_allclose((ends + lift) / 0.01, -2 * GRAVITY, rtol=0.01)
    # The boxes creep along the bar at their own pace; their corners form the same square at the same height.
    squares = []
    for drawing in drawings:
        corners = np.array(drawing.spheres)
        corners[:, :2] -= corners[:, :2].mean(axis=0)
        squares.append(corners[np.lexsort(np.round(corners[:, :2], 2).T)])
    np.testing.assert_allclose(squares[0], squares[1], atol=2e-3)


@pytest.mark.parametrize("name", ["mujoco", "motrix"])
def test_the_demo_is_safe_where_contacts_are_dropped(tmp_path: Path, name: str) -> None:
    value = settled(tmp_path, name, num=2).get_sensor_value("box_floor_contact")
    assert value.shape == (25,)
    assert value[0] == 2
    drawing = Drawing()
    demo(value, drawing)
    assert len(drawing.spheres) == 2


@pytest.mark.parametrize("name", ["mujoco", "motrix"])
def test_the_demo_draws_netforce_along_the_world_axes(tmp_path: Path, name: str) -> None:
    engine = settled(tmp_path, name, num=10, reduce="netforce")
    value = engine.get_sensor_value("box_floor_contact")
    assert value.shape == (13,)
    assert value[0] == 1
    np.testing.assert_allclose(value[1:4], -2 * GRAVITY, rtol=0.01)
    np.testing.assert_array_equal(value[7:13], [1, 0, 0, 0, 1, 0])
    engine.reset()
    if name == "motrix":
        assert not engine.get_sensor_value("box_floor_contact").any()


@pytest.mark.parametrize("name", ["mujoco", "motrix"])
def test_no_contact_is_a_zero(tmp_path: Path, name: str) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(gravity="0 0 0", num=3, reduce="netforce").replace(".1999", "1.5"))
    engine = open_engine(path, name)
    engine.step(3)
    value = engine.get_sensor_value("box_floor_contact")
    assert value.shape == (13,)
    assert not value.any()
    assert engine.get_contact_force_magnitude("box_floor_contact").tolist() == [0]
