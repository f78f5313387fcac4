"""What a session draws beyond the arrays: friction cones, a body's balance, contacts that were dropped."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.force_kinds import ForceKind
from contact_viewer.render.glyphs import NO_OWNER, Glyphs
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.session.contact_glyphs import GHOST_ALPHA
from contact_viewer.session.layers import display_layers, legend_entries, legend_notes, session_glyphs
from contact_viewer.session.session import Highlight, Session
from contact_viewer.settings import GizmoSettings, Moment, ViewState


def open_session(scene: str, seconds: float, engine: str = "mujoco", num_envs: int = 1, **gizmos: bool) -> Session:
    opened = open_engine(scene, engine, num_envs)
    session = Session(opened, ViewState(gizmos=GizmoSettings(**gizmos)))  # type: ignore[arg-type]
    session.take_steps(round(seconds / opened.timestep))
    return session


def ghosts(glyphs: Glyphs) -> int:
    return int((glyphs.spheres[:, 7] < 1).sum())


def test_every_contact_has_a_cone_when_cones_are_on() -> None:
    session = open_session("slope", 1.0)
    assert len(session_glyphs(session).cones) == 0
    session.settings.gizmos.cones = True
    glyphs = session_glyphs(session)
    assert len(glyphs.cones) == session.contact_count == 4
    assert glyphs.cone_owner.tolist() == [[0, slot] for slot in range(4)]
    session.visible["box_on_slope"] = False
    assert len(session_glyphs(session).cones) == 0


def test_a_net_contact_has_no_cone() -> None:
    session = open_session("slope", 1.0, cones=True)
    session.set_reduce("box_on_slope", "netforce")
    assert len(session_glyphs(session).cones) == 0


def test_contacts_that_sensors_share_have_one_cone() -> None:
    session = open_session("slope", 1.0, cones=True)
    session.watch_all()
    assert session.contact_count > 4
    glyphs = session_glyphs(session)
    places = glyphs.cones[:, [0, 1, 2, 4, 5, 6]]
    assert len(np.unique(places, axis=0)) == len(places)


def test_another_moment_is_drawn_at_once_while_paused() -> None:
    session = Session(open_engine("slope"), ViewState())
    session.simulation.step(300)
    drawn = []
    for moment in (Moment.INSTANT, Moment.PEAK, Moment.INSTANT):
        session.settings.gizmos.moment = moment
        drawn.append((session_glyphs(session).arrows.copy(), session.reading("box_on_slope").net_force))
    assert np.linalg.norm(drawn[1][1]) > np.linalg.norm(drawn[0][1])
    assert not np.array_equal(drawn[1][0], drawn[0][0])
    np.testing.assert_array_equal(drawn[2][1], drawn[0][1])


def test_cones_stay_when_arrows_show_the_peak() -> None:
    session = open_session("slope", 1.0, cones=True)
    session.settings.gizmos.moment = Moment.PEAK
    assert session.history is not None
    session.history.begin_frame()
    session.take_steps(8)
    assert session.history.moment("box_on_slope", Moment.PEAK) is not None
    assert len(session_glyphs(session).cones) == 4


@pytest.mark.parametrize(("engine", "num_envs"), [("motrix", 1), ("mujoco", 2)])
def test_engines_that_do_not_tell_reasons_draw_on(engine: str, num_envs: int) -> None:
    session = open_session("stack", 0.5, engine, num_envs, cones=True, balance=True)
    glyphs = session_glyphs(session)
    assert len(glyphs.cones) == 0
    assert len(glyphs.spheres) >= session.contact_count > 0


def test_balance_follows_the_selected_sensor() -> None:
    session = open_session("stack", 2.0)
    session.selected = "lower_on_base"
    plain = session_glyphs(session)
    assert session.cut.arrows == 0
    session.settings.gizmos.balance = True
    centers = []
    for name, body in (("lower_on_base", "lower"), ("top_on_upper", "top")):
        session.selected = name
        glyphs = session_glyphs(session)
        assert len(glyphs.spheres) == len(plain.spheres) + 1
        # Those that leave the picture have two marks each.
        drawn = len(glyphs.arrows) - 2 * session.cut.arrows
        assert len(plain.arrows) + 2 <= drawn <= len(plain.arrows) + 3
        (center,) = [row[:3] for row in glyphs.spheres if (row[:3] != plain.spheres[:, :3]).any(axis=1).all()]
        assert center == pytest.approx(session.engine.data.body(body).xipos, abs=1e-5)
        centers.append(center)
    assert not np.allclose(centers[0], centers[1])


def test_balance_of_what_does_not_move_draws_nothing(tmp_path: Path) -> None:
    path = tmp_path / "still.xml"
    path.write_text(
        '<mujoco><worldbody><site name="s"/><geom size="1"/></worldbody><sensor><contact site="s"/></sensor></mujoco>'
    )
    session = Session(open_engine(path), ViewState(gizmos=GizmoSettings(balance=True)))
    assert session.selected is not None
    assert len(session_glyphs(session).spheres) == 0


def test_dropped_contacts_are_ghosts() -> None:
    session = open_session("stack", 1.0)
    dropped = {name: session.reading(name).dropped for name in session.visible}
    assert sum(dropped.values()) > 3
    glyphs = session_glyphs(session)
    assert ghosts(glyphs) == sum(dropped.values())
    assert len(glyphs.spheres) == session.contact_count + sum(dropped.values())
    faint = glyphs.spheres[:, 7] < 1
    assert glyphs.spheres[faint, 7] == pytest.approx(np.full(faint.sum(), GHOST_ALPHA))
    assert (glyphs.sphere_owner[faint, 0] == NO_OWNER).all()
    # Reported and dropped contacts together are all that the engine has between those bodies.
    session.visible = {name: name == "lower_on_base" for name in session.visible}
    model, contact = session.engine.model, session.engine.data.contact
    bodies = np.sort(model.geom_bodyid[contact.geom], axis=1)
    matching = (bodies == sorted([model.body("base").id, model.body("lower").id])).all(axis=1)
    drawn = session_glyphs(session).spheres[:, :3]
    for place in contact.pos[matching]:
        assert np.abs(drawn - place).max(axis=1).min() < 1e-6
    assert len(drawn) == matching.sum()
    session.settings.gizmos.dropped = False
    assert len(session_glyphs(session).spheres) == session.contact_count == 4


@pytest.mark.parametrize(("scene", "sensors"), [("slope", []), ("stack", ["lower_on_base", "top_on_upper"])])
def test_dropped_contacts_are_looked_for_only_where_there_are_some(
    scene: str, sensors: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(scene, 1.0)
    find, asked = session.engine.dropped, []

    def dropped(name: str) -> ContactBatch:
        asked.append(name)
        return find(name)

    monkeypatch.setattr(session.engine, "dropped", dropped)
    session_glyphs(session)
    assert set(sensors) <= set(asked)
    assert all(session.reading(name).dropped for name in asked)


def test_pointing_at_a_contact_dims_cones_balance_and_ghosts_of_others() -> None:
    session = open_session("stack", 1.0, cones=True, balance=True)
    plain = session_glyphs(session)
    session.highlight = Highlight("base_on_table", 0)
    glyphs = session_glyphs(session)
    ours = (glyphs.cone_owner == (0, 0)).all(axis=1)
    assert ours.sum() == 1
    assert (glyphs.cones[~ours, 19] < plain.cones[~ours, 19]).all()
    assert glyphs.cones[ours, 19] == plain.cones[ours, 19]
    assert (glyphs.arrows[glyphs.arrow_owner[:, 0] == NO_OWNER, 11] < 0.5).all()


def test_touch_sensors_of_mujocos_own_have_no_axes() -> None:
    """They feel a push from anywhere: of a humanoid with one on each limb axes would make a thicket."""
    scene = """
    <mujoco>
      <worldbody>
        <geom type="plane" size="1 1 1"/>
        <body pos="0 0 .1">
          <freejoint/><geom size=".1"/><site name="limb" size=".11"/>
        </body>
      </worldbody>
      {more}
    </mujoco>
    """
    native = '<sensor><touch name="limb" site="limb"/><contact name="all" data="found force" num="4"/></sensor>'
    ours = '<custom><text name="touch:pad" data="type=force-3d site=limb"/></custom>'
    for more, axes in ((native, 0), (native + ours, 3)):
        session = Session(open_engine(mujoco.MjModel.from_xml_string(scene.format(more=more))), ViewState())
        session.simulation.step(50)
        session.forget()
        texts = [entry.text for entry in legend_entries(session)]
        assert [text for text in texts if text.startswith("touch")] == ["touch x", "touch y", "touch z"][:axes]
        assert np.count_nonzero(session_glyphs(session).arrow_owner[:, 0] == NO_OWNER) == axes


def test_a_cut_arrow_of_a_balance_is_told_with_its_force() -> None:
    session = open_session("slope", 1.0, balance=True)
    session.selected = "box_on_slope"
    session_glyphs(session)
    forces = session.diagnostics.forces(session.engine.model.body("box").id) if session.diagnostics else None
    assert forces is not None
    session.settings.gizmos.forces = False
    session.settings.gizmos.length = 30.0
    session_glyphs(session)
    assert session.cut.arrows >= 2
    strongest = max(np.linalg.norm(forces.sum(kind)) for kind in (ForceKind.GRAVITY, ForceKind.CONTACT))
    assert session.cut.strongest == pytest.approx(strongest)


@pytest.mark.parametrize("has_sensor", [True, False])
def test_a_second_engine_is_in_the_legend_while_it_shows_something(has_sensor: bool, tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    sensor = '<sensor><contact geom1="floor" geom2="ball" data="found force pos normal tangent"/></sensor>'
    path.write_text(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/>'
        f'<geom name="ball" size=".1"/></body></worldbody>{sensor * has_sensor}</mujoco>'
    )
    session = Session(open_engine(path), ViewState(), beside=[open_engine(path, "motrix")])
    session.watch_without_sensors()
    session.simulation.step(50)
    session.forget()
    session_glyphs(session)
    assert any(entry.text.startswith("MotrixSim") for entry in legend_entries(session)) is has_sensor
    assert any(note.endswith("has no contact sensor to show") for note in legend_notes(session)) is not has_sensor
    # Its layer can be turned off as any other.
    assert "Runs beside" in [layer.label for layer in display_layers(session)]
    session.settings.gizmos.beside = False
    assert len(session_glyphs(session).spheres) == session.contact_count
    assert not any("MotrixSim" in text for text in [entry.text for entry in legend_entries(session)])
    assert not any(note.endswith("has no contact sensor to show") for note in legend_notes(session))
