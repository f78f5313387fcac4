"""Runs beside the one that is shown, and branches: what they show, how they end, what differs, and what is saved."""

import re
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import SceneError, open_engine
from contact_viewer.app.application import Application, open_application
from contact_viewer.app.runs_beside import read_source, touchdowns
from contact_viewer.cli import main
from contact_viewer.compare.links import Link
from contact_viewer.mjmodel.model_changes import ModelChange, read_change
from contact_viewer.session.history import History
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import Options, ViewState
from PIL import Image

BALL = """<mujoco>
  <option timestep="0.002" gravity="{gravity}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction=".1"/>
    <body name="ball" pos="0 0 {height}"><freejoint/>
      <geom name="ball" size=".1" mass="1" solref="-2000 -2"/></body>
    {more}
  </worldbody>
  <sensor><contact name="ball" geom1="floor" geom2="ball" data="found force" num="4"/>{sensors}</sensor>
</mujoco>
"""


def write(folder: Path, name: str, height: float = 0.3, more: str = "", sensors: str = "", sideways: float = 0) -> Path:
    path = folder / f"{name}.xml"
    path.write_text(BALL.format(height=height, more=more, sensors=sensors, gravity=f"{sideways} 0 -9.81"))
    return path


def open_app(path: Path, **options: Any) -> Application:
    app = open_application(Options(scene=path, paused=True, watch=False, **options))
    app.start(ViewState(history_megabytes=64))
    return app


def settle(app: Application, *, compares: bool = False) -> None:
    """Frames until nothing is to be expected any more."""
    for _ in range(5000):
        if compares:
            app.beside.want_comparison()
        app.advance()
        if not app.beside.is_busy:
            return
    raise AssertionError("it goes on and on")


def test_another_friction_beside_is_found_where_bare_mujoco_first_differs(tmp_path: Path) -> None:
    box = (
        '<body name="box" pos="1 0 .11"><freejoint/><geom name="box" type="box" size=".1 .1 .1" friction="{}"/></body>'
    )
    one, other = (write(tmp_path, f"f{f}", more=box.format(f), sideways=3) for f in (0.9, 0.8))
    app = open_app(one, beside=str(other))
    app.session.take_steps(200)
    settle(app, compares=True)
    (entry,) = app.beside.entries
    assert entry.run.shown.time == pytest.approx(0.4)
    models = [mujoco.MjModel.from_xml_path(str(path)) for path in (one, other)]
    datas = [mujoco.MjData(model) for model in models]
    expected = 0
    while np.array_equal(datas[0].qpos, datas[1].qpos):
        expected += 1
        for model, data in zip(models, datas, strict=True):
            mujoco.mj_step(model, data)
    comparison = app.beside.comparison
    assert comparison is not None
    assert comparison.first_state is not None
    assert comparison.first_state.step == expected > 1
    assert comparison.first is not None
    assert comparison.first.link is Link.PARAMETERS
    assert "friction of floor × box: 0.9 in A, 0.8 in B" in comparison.first.text
    app.beside.jump()
    settle(app)
    assert app.session.engine.time == pytest.approx(0.002 * comparison.first.step)
    assert entry.run.shown.time == app.session.engine.time
    app.close()


def test_a_run_beside_itself_has_no_difference_and_shares_the_memory(tmp_path: Path) -> None:
    path = write(tmp_path, "ball")
    app = open_app(path, beside=str(path))
    app.session.take_steps(300)
    settle(app, compares=True)
    assert app.beside.comparison is not None
    assert app.beside.comparison.equal
    assert app.beside.comparison.compared == 300
    histories = [app.session.history, app.beside.entries[0].run.history]
    assert sum(history.budget for history in histories if history is not None) <= 64 * 2**20
    for friction in ("0.5", "0.4", "0.3"):
        app.beside.branch([read_change(f"friction:ball={friction}")], 100)
    histories += [entry.run.history for entry in app.beside.entries[1:]]
    assert sum(history.budget for history in histories if history is not None) <= 64 * 2**20
    assert [entry.title for entry in app.beside.entries] == [
        "ball.xml",
        *(f"friction:ball={f}" for f in ("0.5", "0.4", "0.3")),
    ]
    app.close()


def test_a_history_that_shrinks_keeps_its_newest_steps_bit_for_bit() -> None:
    simulation = Simulation(open_engine("gripper"), history_bytes=2**22)
    simulation.step(3000)
    history = simulation.history
    assert isinstance(history, History)
    seen = {}
    for step in range(history.last - 600, history.last + 1, 37):
        simulation.go_to(step)
        seen[step] = simulation.shown.data.qpos.tobytes(), history.row(step).tobytes(), history.time(step)
    simulation.go_to(history.last)
    simulation.limit_history(2**20)
    assert history.last == 3000
    assert history.first > 0
    assert history.bytes <= 2**20
    simulation.step(100)
    kept = {step: values for step, values in seen.items() if step >= history.first}
    assert len(kept) > 5
    for step, values in kept.items():
        simulation.go_to(step)
        assert (simulation.shown.data.qpos.tobytes(), history.row(step).tobytes(), history.time(step)) == values
    assert history.first < 3000 < history.last
    history.curves.update()
    assert history.curves.stop > history.first


def test_the_nth_touchdown_links_two_runs(tmp_path: Path) -> None:
    app = open_app(write(tmp_path, "low", 0.2), beside=str(write(tmp_path, "high", 0.5)))
    app.session.take_steps(600)
    settle(app)
    (entry,) = app.beside.entries
    starts = [touchdowns(run, "ball") for run in (app.session.simulation, entry.run)]
    # Free fall to where the surfaces meet.
    for found, height in zip(starts, (0.2, 0.5), strict=True):
        assert found[0] == pytest.approx(np.sqrt(2 * (height - 0.1) / 9.81), abs=0.004)
    app.beside.link_by_touchdown("ball", 2)
    assert entry.run.lag == pytest.approx(starts[1][1] - starts[0][1])
    app.session.go_to_time(float(starts[0][1]))
    settle(app)
    assert entry.run.shown.time == pytest.approx(starts[1][1], abs=0.001)
    with pytest.raises(SceneError, match="choose another sensor or number"):
        app.beside.link_by_touchdown("ball", 99)
    app.beside.link_by_time()
    settle(app)
    assert entry.run.shown.time == pytest.approx(app.session.engine.time)
    app.close()


def test_a_run_beside_that_fails_or_has_other_bodies_leaves_the_shown_one_alone(tmp_path: Path) -> None:
    more = '<body name="wild" pos="2 0 1"><joint axis="0 1 0"/><geom name="wild" size=".1" pos=".2 0 0"/></body>'
    path = write(tmp_path, "other", more=more, sensors='<contact name="wild" geom1="wild" data="found"/>')
    path.write_text(
        path.read_text()
        .replace("</worldbody>", "</worldbody><actuator><motor joint='j' gear='1e15'/></actuator>")
        .replace('<joint axis="0 1 0"/>', '<joint name="j" axis="0 1 0"/>')
    )
    control = tmp_path / "wild.py"
    control.write_text("def control(model, data):\n    if model.nu and data.time > 0.1:\n        data.ctrl[:] = 1e10\n")
    app = open_app(write(tmp_path, "ball"), beside=str(path), control=str(control))
    app.session.take_steps(300)
    settle(app, compares=True)
    (entry,) = app.beside.entries
    assert entry.run.ending.startswith("fails at 0.1")
    assert app.session.engine.time == pytest.approx(0.6)
    assert app.session.trouble is None
    assert any("other.xml fails" in notice.text for notice in app.notices.items)
    assert app.beside.comparison is not None
    assert set(app.beside.comparison.only["b"]) == {"body wild", "joint j", "geom wild", "sensor wild"}
    # Its last instant stays where it was; at others nothing of it is drawn.
    contacts = app.session.contact_count
    assert len(session_glyphs(app.session).spheres) == contacts
    app.close()


def test_a_branch_goes_on_as_the_run_and_is_saved_with_undo(tmp_path: Path) -> None:
    path = write(tmp_path, "ball")
    before = path.read_text()
    app = open_app(path)
    app.session.take_steps(400)
    app.session.go_to(100)
    entry = app.beside.branch([read_change("gravity=1 0 -9.81"), read_change("friction:ball=0.4")])
    settle(app)
    assert entry.run.newest_time == pytest.approx(0.8)
    wanted = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(wanted)
    mujoco.mj_step(wanted, data, 100)
    wanted.opt.gravity[:], wanted.geom_friction[1, 0] = (1, 0, -9.81), 0.4
    mujoco.mj_step(wanted, data, 300)
    entry.run.go_to(300)
    np.testing.assert_allclose(entry.run.shown.data.qpos, data.qpos, atol=1e-9)
    # The past is as it was.
    assert app.session.history is not None
    assert app.session.history.last == 400
    app.beside.save(entry)
    lines, saved = before.splitlines(), path.read_text().splitlines()
    assert [b for a, b in zip(lines, saved, strict=True) if a != b] == [
        '  <option timestep="0.002" gravity="1 0 -9.81"/>',
        '      <geom name="ball" size=".1" mass="1" solref="-2000 -2" friction="0.4 0.005 0.0001"/></body>',
    ]
    app.undo()
    assert path.read_text() == before
    app.go_on_with(entry)
    (past,) = app.beside.entries
    assert past.title == "the run before"
    settle(app, compares=True)
    assert app.beside.comparison is not None
    assert app.beside.comparison.first is not None
    assert app.beside.comparison.first.time == pytest.approx(0.202)
    assert app.session.engine.model.geom_friction[1, 0] == 0.4
    np.testing.assert_allclose(app.session.engine.data.qpos, data.qpos, atol=1e-9)
    app.session.take_steps(10)
    mujoco.mj_step(wanted, data, 10)
    np.testing.assert_allclose(app.session.engine.data.qpos, data.qpos, atol=1e-9)
    app.close()


def test_a_branch_of_a_driven_run_ends_with_the_inputs_and_says_so(tmp_path: Path) -> None:
    app = open_app(Path(str(open_engine("walker").path)))
    app.session.take_steps(100)
    entry = app.beside.branch([read_change("cone=elliptic")], 50)
    app.session.take_steps(100)
    settle(app)
    assert entry.run.newest_time == pytest.approx(app.session.history.time(100) if app.session.history else 0)
    assert any("controller does not react to the change" in note for note in entry.notes)
    with pytest.raises(SceneError, match="Bundled scenes are not changed"):
        app.beside.save(entry)
    app.close()


CART = """<mujoco><option timestep="0.002"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom name="cart" size=".1" mass="1"/></body></worldbody>
  <actuator><motor joint="x"/></actuator>
  <keyframe><key qpos="1"/></keyframe></mujoco>"""
STEER = """
GAIN = 5.0
total = 0.0
def reset(model, data, rng):
    global total
    total = rng.normal()
def control(model, data):
    global total
    total += data.qpos[0] * model.opt.timestep
    data.ctrl[0] = -GAIN * data.qpos[0] - total
"""


def test_a_branch_with_another_constant_asks_the_controller_from_its_state_of_then(tmp_path: Path) -> None:
    scene, control = tmp_path / "cart.xml", tmp_path / "steer.py"
    scene.write_text(CART)
    control.write_text(STEER)
    app = open_app(scene, control=str(control), seed=3, key="0")
    app.session.reset()
    seen = []
    for _ in range(400):
        app.session.take_steps(1)
        data = app.session.engine.data
        seen.append((float(data.qpos[0]), float(data.qvel[0]), float(data.ctrl[0])))
    same = app.beside.branch([ModelChange("constant", "GAIN", (5.0,))], 150)
    settle(app)
    for step in range(151, 401):
        same.run.go_to(step - 150)
        data = same.run.shown.data
        assert (data.qpos[0], data.qvel[0], data.ctrl[0]) == seen[step - 1]
    assert not any("does not react" in note for note in same.notes)
    other = app.beside.branch([ModelChange("constant", "GAIN", (20.0,)), read_change("gravity=1 0 0")], 150)
    settle(app)
    assert other.title == "constant:GAIN=20, gravity=1 0 0"
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    # What the integral was then follows from what it put out.
    data.qpos[0], data.qvel[0], ctrl = seen[149]
    total = -ctrl - 5 * seen[148][0]
    model.opt.gravity[:] = 1, 0, 0
    app.go_on_with(other)
    app.session.take_steps(50)
    for _ in range(300):
        total += data.qpos[0] * 0.002
        data.ctrl[0] = -20 * data.qpos[0] - total
        mujoco.mj_step(model, data)
    assert app.session.engine.time == pytest.approx(0.9)
    np.testing.assert_allclose(app.session.engine.data.qpos, data.qpos, atol=1e-9)
    assert app.beside.constants["GAIN"] == 20
    assert "edit the file" in (app.beside.why_not_save(other) or "")
    with pytest.raises(SceneError, match="did you mean GAIN"):
        app.beside.branch([ModelChange("constant", "GAIM", (1.0,))])
    app.close()


def test_a_controller_that_changes_the_model_makes_a_branch_inexact_and_that_is_said(tmp_path: Path) -> None:
    control = tmp_path / "change.py"
    control.write_text(
        "def control(model, data):\n    model.geom_friction[1, 0] = model.geom_friction[0, 0] = 1 + (data.time > 0.3)\n"
    )
    scene = write(tmp_path, "ball", 0.0999, sideways=3)
    for options, expected in (({"control": str(control)}, [True, False]), ({}, [False, False])):
        app = open_app(scene, **options)
        app.session.take_steps(400)
        for start, is_said in zip((50, 300), expected, strict=True):
            notes = app.beside.branch([], start).notes
            assert any("model was changed since" in note for note in notes) is is_said, (start, notes)
        app.close()


def test_an_engine_that_keeps_pictures_alone_is_compared_by_what_they_have(tmp_path: Path) -> None:
    pytest.importorskip("motrixsim")
    path = write(tmp_path, "ball", 0.1)
    hinged = (
        '<body pos="2 0 1"><joint name="j" axis="0 1 0"/><geom name="arm" size=".1" pos=".2 0 0"/></body></worldbody>'
    )
    key = '<keyframe><key name="k" qpos="0 0 .1 1 0 0 0 .5" qvel="0 0 0 0 0 0 1" ctrl="1.3"/></keyframe></mujoco>'
    actuator = "<actuator><position joint='j' kp='20' kv='2'/></actuator>"
    text = path.read_text().replace("</worldbody>", hinged + actuator).replace("</mujoco>", key)
    path.write_text(text)
    app = open_app(path, key="k", beside="motrix")
    app.session.take_steps(100)
    settle(app, compares=True)
    assert app.beside.comparison is not None
    assert app.beside.comparison.compared == 100
    first = app.beside.comparison.first
    # Controls and velocities of past steps are not known there.
    assert first is None or (first.link is not Link.INPUTS and "qvel" not in first.text), first
    app.close()


def test_a_scene_of_the_same_name_is_named_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    app = open_app(write(tmp_path, "ball"), beside=str(write(tmp_path / "other", "ball", 0.4)))
    assert app.beside.entries[0].title == "other/ball.xml"
    app.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothere.xml", "no such file"),
        ("gripper@havok", "unknown engine 'havok'"),
        ("gripper@mujoco==3.5.0", "a window has one version of MuJoCo"),
        ("nothere.npz", "no such file"),
    ],
)
def test_what_cannot_be_opened_beside_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(SceneError, match=said):
        read_source(text, Path("scene.xml"))
    with pytest.raises(SceneError, match="no scene file"):
        read_source("motrix", None)


def test_bodies_are_compared_where_a_scene_has_no_sensors(tmp_path: Path) -> None:
    path = write(tmp_path, "bare", 0.1)
    path.write_text(re.sub("<sensor>.*</sensor>", "", path.read_text()))
    app = open_app(path)
    app.session.take_steps(500)
    app.beside.branch([read_change("mass:ball=3")], 0)
    settle(app, compares=True)
    rows = {row["name"]: row for row in app.beside.sensor_rows}
    assert set(rows) == {"all contacts", "ball"}
    # At rest each bears its weight: 2 kg more of it.
    assert rows["ball"]["force_difference"]["mean"] == pytest.approx(2 * 9.81, rel=0.2)
    higher = write(tmp_path, "high", 0.3)
    higher.write_text(re.sub("<sensor>.*</sensor>", "", higher.read_text()))
    app.beside.open_now(str(higher))
    settle(app, compares=True)
    rows = {row["name"]: row for row in app.beside.sensor_rows}
    # One bounces lower than the other from the start on: most of their touchdowns have no counterpart.
    only = [rows["ball"][f"events_only_{side}"] for side in "ab"]
    assert all(any(event["kind"] == "touchdown" for event in events) for events in only)
    assert min(event["time"] for event in only[1]) > np.sqrt(2 * 0.2 / 9.81)
    app.close()


def test_a_film_shows_the_run_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other, picture = write(tmp_path, "one", 0.3), write(tmp_path, "other", 0.6), tmp_path / "film.png"
    command = ["record", str(one), "-o", str(picture), "--duration", "0.1", "--size", "160x120", "--no-overlay"]

    def count_pink() -> int:
        red, green, blue = (np.asarray(Image.open(picture).convert("RGB"))[..., i].astype(int) for i in range(3))
        return int(((red > green + 70) & (blue > green + 60)).sum())

    assert main([*command, "--beside", str(other)]) == 0
    assert count_pink() > 30
    assert main([*command, "--beside", str(one)]) == 0
    # Nothing is elsewhere.
    assert count_pink() == 0
    capsys.readouterr()
    assert main([*command, "--beside", "nothere.xml"]) == 2
    assert "nothere.xml: no such file" in capsys.readouterr().err


def test_a_changed_file_is_opened_again_beside(tmp_path: Path) -> None:
    one, other = write(tmp_path, "one"), write(tmp_path, "other", 0.4)
    app = open_application(Options(scene=one, paused=True, beside=str(other)))
    app.start(ViewState(history_megabytes=64))
    app.session.take_steps(50)
    settle(app)
    (before,) = app.beside.entries
    other.write_text(other.read_text().replace('pos="0 0 0.4"', 'pos="0 0 0.7"'))
    end = time.monotonic() + 30
    while app.beside.entries == [before] or app.beside.is_busy:
        assert time.monotonic() < end
        app.advance()
        time.sleep(0.01)
    (entry,) = app.beside.entries
    assert entry.run.newest_time == pytest.approx(0.1)
    assert entry.run.shown.data.qpos[2] == pytest.approx(0.7 - 0.5 * 9.81 * 0.1**2, abs=0.002)
    app.close()
