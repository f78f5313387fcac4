"""Arrows of a body's balance, against what a falling, a resting and a pushed body must show."""

import dataclasses
import itertools
import math

import mujoco
import numpy as np
import pytest
from contact_viewer.mjmodel.force_kinds import ForceTable, measure_forces
from contact_viewer.render.glyphs import NO_OWNER, Glyphs
from contact_viewer.render.style import GlyphScale, palette_colors
from contact_viewer.session.layers.balance import balance_glyphs
from contact_viewer.settings import GizmoSettings, Palette
from numpy.typing import NDArray

SCALE = GlyphScale(force=0.01, torque=1.0, radius=0.02, width=0.03, lift=0.0, reference=10.0)
COLORS = palette_colors(mujoco.MjSpec().compile(), Palette.STANDARD)
MASS = 2.0
XML = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="3 3 .1" friction="{friction}"/>
    <body pos="0.5 0 {height}"><freejoint/><geom type="box" size=".1 .1 .1" mass="2" friction="{friction}"/></body>
  </worldbody>
</mujoco>"""


def balance_of(model: mujoco.MjModel, data: mujoco.MjData) -> ForceTable:
    table = measure_forces(model, data, 1)
    assert table is not None
    return table


def glyphs_of(height: float, push: float = 0.0, friction: float = 1.0, settings: GizmoSettings | None = None) -> Glyphs:
    model = mujoco.MjModel.from_xml_string(XML.format(height=height, friction=friction))
    data = mujoco.MjData(model)
    data.xfrc_applied[1, 0] = push
    for _ in range(300 if height < 0.2 else 10):
        mujoco.mj_step(model, data)
    return balance_glyphs(balance_of(model, data), SCALE, COLORS, settings or GizmoSettings())


def arrow(glyphs: Glyphs, name: str) -> NDArray[np.float32] | None:
    """The arrow in a palette's colour, if there is one."""
    color = np.array(getattr(COLORS, name), np.float32)
    rows = glyphs.arrows[(glyphs.arrows[:, 8:] == color).all(axis=1)]
    assert len(rows) <= 1
    return rows[0] if len(rows) else None


def test_at_rest_contacts_carry_the_weight() -> None:
    glyphs = glyphs_of(height=0.1)
    weight, contact = arrow(glyphs, "weight"), arrow(glyphs, "contact_sum")
    assert weight is not None
    assert contact is not None
    assert weight[4:7] == pytest.approx([0, 0, -MASS * 9.81 * 0.01], rel=1e-4)
    assert contact[4:7] == pytest.approx([0, 0, MASS * 9.81 * 0.01], rel=1e-2, abs=1e-3)
    for row in (weight, contact):
        assert row[:3] == pytest.approx([0.5, 0, 0.1], abs=1e-3)
    inertia = arrow(glyphs, "inertia")
    assert inertia is None or np.linalg.norm(inertia[4:7]) < 0.01 * MASS * 9.81 * 0.01
    assert glyphs.spheres[:, :3].tolist() == [pytest.approx([0.5, 0, 0.1], abs=1e-3)]


def test_in_free_fall_weight_is_mass_times_acceleration_and_both_are_seen() -> None:
    glyphs = glyphs_of(height=1.0)
    weight, inertia = arrow(glyphs, "weight"), arrow(glyphs, "inertia")
    assert arrow(glyphs, "contact_sum") is None
    assert weight is not None
    assert inertia is not None
    assert inertia[4:7] == pytest.approx(weight[4:7], abs=1e-5)
    # Side by side: farther apart than their shafts are wide.
    assert np.linalg.norm(inertia[:3] - weight[:3]) > weight[3]


def test_a_push_on_ice_accelerates() -> None:
    glyphs = glyphs_of(height=0.1, push=5.0, friction=0.0)
    inertia = arrow(glyphs, "inertia")
    assert inertia is not None
    assert inertia[4:7] == pytest.approx([0.05, 0, 0], rel=1e-2, abs=1e-3)


def test_small_forces_draw_no_arrow() -> None:
    glyphs = glyphs_of(height=0.1, settings=GizmoSettings(min_force=100.0))
    assert len(glyphs.arrows) == 0


@pytest.mark.parametrize("palette", list(Palette))
def test_the_three_forces_have_colours_that_stay_apart(palette: Palette) -> None:
    colors = palette_colors(mujoco.MjModel.from_xml_string("<mujoco/>"), palette)
    forces = [colors.weight, colors.contact_sum, colors.inertia]
    assert min(math.dist(a[:3], b[:3]) for a, b in itertools.combinations(forces, 2)) > 0.4


def test_nothing_of_it_is_a_contact() -> None:
    glyphs = glyphs_of(height=0.1)
    assert (glyphs.arrow_owner == NO_OWNER).all()
    assert (glyphs.sphere_owner == NO_OWNER).all()


def test_logarithmic_lengths_keep_the_directions() -> None:
    model = mujoco.MjModel.from_xml_string(XML.format(height=0.1, friction=1))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    scale = dataclasses.replace(SCALE, log_length=True)
    weight = arrow(balance_glyphs(balance_of(model, data), scale, COLORS, GizmoSettings()), "weight")
    assert weight is not None
    assert weight[6] < 0
    assert weight[4:6] == pytest.approx([0, 0])
