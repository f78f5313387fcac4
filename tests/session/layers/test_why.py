"""Layers that explain motion: forces by kind, support, and how fast contacts slip."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.session.layer import DrawContext
from contact_viewer.session.layers import add_volumes, legend_entries, session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import GizmoSettings, ViewState

_OFF = {"points": False, "forces": False, "dropped": False}


def open_session(scene: str, seconds: float, **gizmos: bool) -> Session:
    engine = open_engine(scene)
    session = Session(engine, ViewState(gizmos=GizmoSettings(**{**_OFF, **gizmos})))  # type: ignore[arg-type]
    session.take_steps(round(seconds / engine.timestep))
    return session


def test_every_kind_of_force_has_an_arrow_whose_length_is_the_force() -> None:
    session = open_session("quadruped", 2.0, force_kinds=True)
    model = session.engine.model
    assert session.explained_body == model.body("trunk").id
    session.settings.gizmos.body_alone = True
    session.view.perturb.select = model.body("FL_shin").id
    assert session.explained_body == model.body("FL_shin").id
    table, glyphs = DrawContext(session).forces, session_glyphs(session)
    assert table is not None
    shown = [row for row in table.rows if np.linalg.norm(row.force) > 1.0]
    assert {row.label for row in shown} >= {"gravity", "contact with floor", "springs", "joint reactions"}
    for row in shown:
        axes = glyphs.arrows[:, 4:7] / np.linalg.norm(glyphs.arrows[:, 4:7], axis=1, keepdims=True)
        assert (axes @ row.force / np.linalg.norm(row.force)).max() > 0.999
    named = {entry.text for entry in legend_entries(session)}
    assert {"gravity", "contact", "passive", "joint reactions"} <= named
    session.settings.gizmos.body_alone = False
    session.view.perturb.select = model.body("FL_thigh").id
    whole = DrawContext(session).forces
    assert whole is not None
    assert whole.mass == pytest.approx(model.body_subtreemass[model.body("FL_thigh").id])


def test_the_support_of_the_quadruped_is_below_it() -> None:
    session = open_session("quadruped", 2.0, support=True)
    support, glyphs = DrawContext(session).support, session_glyphs(session)
    assert support is not None
    assert support.margin > 0.02
    assert len(support.polygon) == 4
    assert len(glyphs.spheres) == 2
    np.testing.assert_allclose(glyphs.spheres[0, :3], support.pressure, atol=1e-6)
    scene = mujoco.MjvScene(session.engine.model, maxgeom=3)
    add_volumes(session, scene)
    assert scene.ngeom == 3
    assert "centre of mass, over the support" in [entry.text for entry in legend_entries(session)]


@pytest.mark.parametrize(("speed", "decades"), [(1e-4, 2), (1e-1, 5)])
def test_slip_arrows_grow_by_as_much_for_every_factor_of_ten(speed: float, decades: float, tmp_path: Path) -> None:
    xml = """
    <mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
      <body name="box" pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
        <geom name="box" type="box" size=".1 .1 .1"/></body></worldbody>
      <sensor><contact name="c" geom1="floor" geom2="box" num="4"/></sensor></mujoco>"""
    path = tmp_path / "box.xml"
    path.write_text(xml)
    session = open_session(str(path), 0.5, slip_velocity=True)
    session.engine.data.qvel[0] = speed
    session.simulation.step()
    glyphs = session_glyphs(session)
    moving = session.reading("c").batch.filled.sum()
    assert len(glyphs.arrows) == moving == 4
    lengths = np.linalg.norm(glyphs.arrows[:, 4:7], axis=1)
    radius = session.scale.sizes(session.reading("c").batch.pos[:1]).radius[0]  # type: ignore[index]
    np.testing.assert_allclose(lengths, 5 * decades * radius, rtol=0.2)
    assert (np.abs(glyphs.arrows[:, 4]) > 0.999 * lengths).all()
    session.settings.gizmos.slip_velocity = False
    assert not len(session_glyphs(session).arrows)


def test_without_contact_there_is_no_support_and_no_arrow() -> None:
    session = open_session("quadruped", 0.0, support=True, slip_velocity=True)
    session.engine.data.qpos[2] = 3.0
    session.simulation.step()
    assert DrawContext(session).support is None
    glyphs = session_glyphs(session)
    assert not len(glyphs.spheres)
    assert not len(glyphs.arrows)


def test_of_a_support_without_an_area_nothing_is_claimed() -> None:
    """One foot of the walker touches in two points: a line."""
    session = open_session("walker", 3.0, support=True)
    support = DrawContext(session).support
    assert support is not None
    assert len(support.polygon) == 2
    assert np.isnan(support.margin)
    assert "centre of mass, projected" in [entry.text for entry in legend_entries(session)]
