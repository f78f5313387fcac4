"""Curves of bodies in scenes without contact sensors, against MuJoCo's own contact forces after every step."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import StepBlock
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.body_curves import BodyCurves
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

SCENE = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <body name="below" pos="0 0 .11"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
    <body name="above" pos=".02 0 .33" euler="4 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="late" pos="1 0 .6"><freejoint/><geom type="box" size=".1 .1 .1" mass="9"/></body>
    <body name="sliding" pos="3 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
    {more}
  </worldbody>
</mujoco>"""
MANY = "".join(f'<body pos="{i} 4 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for i in range(30))


def session_of(tmp_path: Path, more: str = "") -> tuple[Session, BodyCurves]:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(more=more))
    session = Session(open_engine(path), ViewState())
    assert session.watch_without_sensors()
    assert session.history is not None
    curves = session.history.curves
    assert isinstance(curves, BodyCurves)
    return session, curves


def loads(model: Any, data: Any) -> dict[str, list[float]]:
    """Number of contacts, force and fastest slip of each body now, one contact after another."""
    count, force, slip = np.zeros(model.nbody), np.zeros((model.nbody, 3)), np.full(model.nbody, np.nan)
    for i in range(data.ncon):
        contact, wrench, velocities = data.contact[i], np.zeros(6), []
        mujoco.mj_contactForce(model, data, i, wrench)
        frame = contact.frame.reshape(3, 3)
        bodies = model.geom_bodyid[contact.geom]
        for body in bodies:
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, contact.pos, body)
            # A step has moved the velocities on: those of its start are what the contact had.
            velocities.append(jacobian @ (data.qvel - model.opt.timestep * data.qacc))
        speed = np.linalg.norm((frame @ (velocities[1] - velocities[0]))[1:])
        for body, sign in zip(bodies, (-1, 1), strict=True):
            count[body] += 1
            force[body] += sign * (wrench[:3] @ frame)
            slip[body] = np.fmax(slip[body], speed)
    return {
        str(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body)): [
            count[body],
            float(np.linalg.norm(force[body])),
            slip[body],
        ]
        for body in np.flatnonzero(count)
        if body
    }


READ = (Signal.FOUND, Signal.MAGNITUDE, Signal.SLIP)


def test_without_velocities_of_contacts_only_the_slip_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with MuJoCo before 3.16, whose contact sensors have no velocities."""
    groups = StepBlock.groups

    def without_velocities(block: StepBlock) -> Any:
        return [(*others, replace(batch, linvel=None, angvel=None)) for *others, batch in groups(block)]

    monkeypatch.setattr(StepBlock, "groups", without_velocities)
    session, curves = session_of(tmp_path)
    with np.errstate(all="raise"):
        for _ in range(60):
            session.simulation.step()
        curves.update()
    for name in ("all contacts", "below"):
        found, force, slip = (curves.values(name, signal, 0, 60) for signal in READ)
        assert found.max() > 0
        assert force.max() > 0
        assert np.isnan(slip).all()


def test_bodies_that_touch_have_curves_of_every_step(tmp_path: Path) -> None:
    session, curves = session_of(tmp_path)
    model, data = session.engine.model, session.engine.data
    data.qvel[18] = 2.0
    truth: list[dict[str, list[float]]] = []
    for _ in range(300):
        session.simulation.step()
        truth.append(loads(model, data))
        if len(truth) % 7 == 0:
            curves.update()
    curves.update()
    assert curves.stop == 301
    assert set(curves.names[1:]) == {"below", "above", "late", "sliding"}
    for name in curves.names[1:]:
        values = np.array([curves.values(name, signal, 1, 301) for signal in READ])
        expected = np.array([step.get(name, [0.0, 0.0, np.nan]) for step in truth]).T
        np.testing.assert_allclose(values[:2], expected[:2], rtol=1e-4, atol=1e-4)
        known = values[1] > 1.0
        np.testing.assert_allclose(values[2, known], expected[2, known], rtol=0.02, atol=2e-3)
    assert np.nanmax(curves.values("sliding", Signal.SLIP, 20, 60)) > 1.0
    # Nothing was made for it.
    assert not len(model.sensor_type) or session.engine.sensors.names == ("all contacts",)


def test_the_most_strongly_pressed_come_first_and_the_sum_of_all_at_the_top(tmp_path: Path) -> None:
    session, curves = session_of(tmp_path)
    session.simulation.step(2000)
    curves.update()
    assert curves.names[0] == "all contacts"
    assert set(curves.names[1:3]) == {"late", "above"}
    assert set(curves.names[3:]) == {"below", "sliding"}
    total, *rest = (curves.values(name, Signal.MAGNITUDE, 2000, 2001)[0] for name in curves.names)
    # The stack presses the floor once, and itself once.
    weights = 9.81 * (3.0 + 2 * 8.0 + 9.0 + 2.0)
    assert total == pytest.approx(weights, rel=0.02)
    assert len(rest) == 4


def test_going_back_and_on_replaces_what_was(tmp_path: Path) -> None:
    session, curves = session_of(tmp_path)
    session.simulation.step(250)
    curves.update()
    before = curves.values("late", Signal.MAGNITUDE, 0, 251).copy()
    session.go_to(100)
    session.engine.data.qvel[2] += 1.0
    session.simulation.step(50)
    curves.update()
    assert curves.stop == 151
    np.testing.assert_array_equal(curves.values("late", Signal.MAGNITUDE, 0, 101), before[:101])
    assert not np.array_equal(curves.values("below", Signal.MAGNITUDE, 101, 151), before[101:151])
    session.reset()
    session.simulation.step(10)
    curves.update()
    assert curves.stop == 11


def test_of_many_bodies_some_have_curves_and_the_others_are_counted(tmp_path: Path) -> None:
    session, curves = session_of(tmp_path, MANY)
    session.simulation.step(250)
    curves.update()
    assert len(curves.names) == 17
    assert curves.more == 34 - 16


def test_contacts_that_no_sensor_matches_are_counted_and_shown_as_points(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    sensor = '<sensor><contact name="heavy" body2="late" num="1"/></sensor>'
    path.write_text(SCENE.format(more="").replace("</worldbody>", f"</worldbody>{sensor}"))
    session = Session(open_engine(path), ViewState())
    session.simulation.step(400)
    data, model = session.engine.data, session.engine.model
    bodies = model.geom_bodyid[data.contact.geom]
    mine = (bodies == model.body("late").id).any(axis=1)
    assert mine.sum() == 4
    expected = data.contact.pos[~mine]
    assert len(expected) >= 8
    # Three of the four have no slot, and are ghosts of the sensor already.
    assert sorted(map(tuple, session.unwatched_contacts)) == sorted(map(tuple, expected))
    faint = session_glyphs(session).spheres
    assert {tuple(row[:3]) for row in faint if row[-1] < 1} >= {tuple(row) for row in expected.astype(np.float32)}
    session.settings.gizmos.dropped = False
    assert len(session_glyphs(session).spheres) == 1


def test_forces_of_all_contacts_are_those_on_what_moves_whatever_the_order_of_geoms(tmp_path: Path) -> None:
    # The floor comes last, so that MuJoCo reports the force on it; the small box is listed before the large one.
    path = tmp_path / "scene.xml"
    path.write_text("""
    <mujoco><worldbody>
      <body pos="0 0 .29"><freejoint/><geom name="small" type="box" size=".05 .05 .05" mass="1"/></body>
      <body pos="0 0 .1"><freejoint/><geom name="large" type="box" size=".1 .1 .1" mass="5"/></body>
      <body pos="0 0 -.1"><geom name="floor" type="box" size="9 9 .1"/></body>
    </worldbody></mujoco>""")
    session = Session(open_engine(path), ViewState())
    session.watch_without_sensors()
    session.simulation.step(500)
    reading, details = session.reading("all contacts"), session.details("all contacts")
    forces = {pair: np.zeros(3) for pair in details.geoms if pair[0]}
    for pair, force in zip(details.geoms, np.asarray(reading.batch.force_world), strict=True):
        if pair[0]:
            forces[pair] += force
    assert forces.keys() == {("floor", "large"), ("large", "small")}
    assert forces["floor", "large"][2] == pytest.approx(6 * 9.81, rel=1e-2)
    assert forces["large", "small"][2] == pytest.approx(9.81, rel=1e-2)
    drawn = np.concatenate([np.asarray(group.batch.force_world)[group.batch.filled] for group in session.shown_groups])
    assert (drawn[:, 2] > 0).all()
