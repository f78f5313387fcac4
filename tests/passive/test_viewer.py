"""A user's loop in this process, and its window in another."""

import time
from itertools import count
from pathlib import Path
from typing import Any

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.mjmodel.model_values import ModelValues
from contact_viewer.passive.loop_steps import LoopSteps
from contact_viewer.passive.program import check_simulation
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.scene_files.spec_changes import SensorChange
from contact_viewer.sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind
from contact_viewer.window.keys import BINDINGS
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..window.driver import count_green, scene_part, screenshot, wait
from .loops import DrivenViewer, driven_argument, load, press, run


def argument() -> str:
    """In the window's process: what the test has handed over."""
    return driven_argument()


class Wrapped:
    """As dm_control (`ptr`) and robosuite (`_model`, `_data`) wrap MuJoCo's objects."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


def follow_what_is_shown(ctx: Any, window: Window) -> Any:
    """In the window's process: what is chosen stays while other models are shown, and every step arrives."""
    app, seen = window.app, []
    bodies = app.session.engine.model.nbody
    wait(ctx, lambda: app.session.history is not None and app.session.history.last >= 50)
    app.session.view.camera.azimuth = 33.0
    floor = ContactTarget(TargetKind.GEOM, "floor")
    app.sensor_edits.make([SensorChange(ContactDeclaration("ground", second=floor, num=8))])
    wait(ctx, lambda: "ground" in app.session.engine.sensors.names)
    app.session.selected = app.session.engine.sensors.names[0]
    for name in ("second", "third"):
        (Path(argument()) / f"ready for the {name}").touch()
        if name == "second":
            wait(ctx, lambda: app.session.engine.model.nbody > bodies)
        wait(ctx, lambda: app.session.history is not None and app.session.history.last == 50)
        assert app.session.history is not None
        assert app.session.view.camera.azimuth == 33.0
        assert not app.session.history.marks
        wait(ctx, lambda: "ground" in app.session.engine.sensors.names)
        picture = scene_part(window, screenshot(ctx, Path(argument()) / f"{name}.png")).astype(int)
        purple = int((np.minimum(picture[..., 0], picture[..., 2]) > picture[..., 1] + 60).sum())
        assert purple > 200, "the ball is not in the picture"
        seen.append([app.session.selected, app.session.engine.model.nbody, app.session.engine.data.qpos[:3].tolist()])
    return seen


def test_other_models_and_data_are_shown_in_the_same_window(tmp_path: Path) -> None:
    model, data = load("quadruped")
    with_ball = mujoco.MjSpec.from_file(str(find_scene("quadruped")))
    ball = with_ball.worldbody.add_body(pos=[0.5, 0, 0.3])
    ball.add_freejoint()
    ball.add_geom(size=[0.1, 0, 0], rgba=[1, 0, 1, 1])
    expected = []
    with (driven := DrivenViewer(model, data, follow_what_is_shown, tmp_path, str(tmp_path))) as viewer:
        first = viewer._process.pid
        run(viewer, model, data, 50)
        for name in ("second", "third"):
            while not (tmp_path / f"ready for the {name}").exists() and viewer.is_running():
                viewer.sync()
                time.sleep(0.005)
            if name == "second":
                model = with_ball.compile()
            data = mujoco.MjData(model)
            # Later than what was shown before: no step leads there.
            data.time, data.qpos[2] = 10.0, 0.5
            viewer.show(Wrapped(ptr=model), Wrapped(ptr=data))  # type: ignore[arg-type]
            assert (viewer.m, viewer.d) == (model, data)
            run(viewer, model, data, 50)
            expected.append([model.nbody, data.qpos[:3].tolist()])
        while viewer.is_running():
            viewer.sync()
            time.sleep(0.005)
        assert viewer._process.pid == first
    assert [seen[1:] for seen in driven.result] == expected
    assert {seen[0] for seen in driven.result} == {mujoco.MjModel.sensor(model, 0).name}


@pytest.mark.parametrize("steps", [0, 20])
def test_data_that_the_program_no_longer_has_is_noticed(steps: int, capfd: pytest.CaptureFixture[str]) -> None:
    model, data = load("bounce")

    def sync(seconds: float) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            viewer.sync()
            time.sleep(0.01)
        return capfd.readouterr().err

    with contact_viewer.launch_passive(model, data) as viewer:
        run(viewer, model, data, steps)
        # It is still there, whatever the program does with it.
        assert sync(1.0) == ""
        data = mujoco.MjData(model)
        (line,) = sync(1.5).splitlines()
        assert "viewer.show(model, data)" in line
        viewer.show(model, data)
        run(viewer, model, data, 20)
        assert sync(1.0) == ""
        assert viewer.d is data


def test_what_other_libraries_wrap_is_unwrapped_and_what_is_neither_is_named() -> None:
    model, data = load("bounce")
    with pytest.raises(
        SceneError, match=r"an MjData are needed, not mujoco._structs.MjModel and mujoco._structs.MjModel"
    ):
        contact_viewer.launch_passive(model, model)  # type: ignore[arg-type]
    with pytest.raises(SceneError, match=r"not tests.passive.test_viewer.Wrapped and NoneType"):
        contact_viewer.launch_passive(Wrapped(sim=model), None)  # type: ignore[arg-type]
    assert check_simulation(Wrapped(_model=model), Wrapped(_data=data)) == (model, data)
    assert check_simulation(Wrapped(ptr=model), Wrapped(ptr=data)) == (model, data)
    with pytest.raises(SceneError, match="another model: qpos"):
        check_simulation(Wrapped(ptr=load("quadruped")[0]), Wrapped(ptr=data))


@pytest.mark.parametrize("display", [None, ":987"])
def test_without_a_display_the_program_reads_of_serve(display: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False) if display is None else monkeypatch.setenv("DISPLAY", display)
    with pytest.raises(SceneError, match=r"no display .* `serve=True`"):
        contact_viewer.launch_passive(*load("bounce"))


def see_everything(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history, events = session.history, session.events
    assert history is not None
    assert events is not None
    wait(ctx, lambda: history.last >= 600)
    assert not history.marks
    assert isinstance(session.source, LoopSteps)
    while not history.curves.update():
        pass
    engine = session.engine
    rows = [history.row(step) for step in range(1, 601)]
    arrays = [np.concatenate([engine.array_in(row, sensor) for sensor in engine.sensors]) for row in rows]
    with np.load(Path(argument())) as theirs:
        # As its own sensors have them, which report fewer fields than the window has.
        np.testing.assert_array_equal(arrays, theirs["sensordata"])
    return {
        "events": len(events.log),
        "sensors": list(session.engine.sensors.names),
        "skipped": session.source.loop.skipped,
    }


def test_every_step_is_in_the_windows_history_with_events_and_curves(tmp_path: Path) -> None:
    model, data = load("bounce")
    judge = mujoco.MjData(model)
    arrays = []
    for _ in range(600):
        mujoco.mj_step(model, judge)
        arrays.append(judge.sensordata.copy())
    np.savez(tmp_path / "theirs.npz", sensordata=np.array(arrays))
    driven = DrivenViewer(model, data, see_everything, tmp_path, str(tmp_path / "theirs.npz"))
    with driven as viewer:
        run(viewer, model, data, 600)
        np.testing.assert_array_equal(data.qpos, judge.qpos)
        while viewer.is_running():
            time.sleep(0.01)
            viewer.sync()
    assert driven.result["events"] > 3
    assert driven.result["skipped"] == 0
    assert not viewer.is_running()


def hold_and_step(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history = session.history
    assert history is not None
    wait(ctx, lambda: history.last > 20)
    press(ctx, imgui.Key.space)
    assert session.paused
    assert isinstance(session.source, LoopSteps)
    loop = session.source.loop
    ctx.yield_(5)
    wait(ctx, lambda: loop.pending == 0)
    ctx.yield_(5)
    held = history.last
    ctx.yield_(10)
    assert history.last == held
    for k in range(1, 4):
        press(ctx, imgui.Key.right_arrow)
        wait(ctx, lambda k=k: history.last >= held + k)  # type: ignore[misc]
        ctx.yield_(5)
        assert history.last == held + k
    # Backspace, keyframes and speed do nothing to a program's own data.
    press(ctx, imgui.Key.backspace)
    session.reset()
    press(ctx, imgui.Key.left_arrow)
    assert history.current == held + 2
    press(ctx, imgui.Key.right_arrow)
    assert history.current == held + 3
    press(ctx, imgui.Key.space)
    assert not session.paused
    wait(ctx, lambda: history.last > held + 20)
    # Looking back does not hold the loop.
    session.go_to(10)
    newest = history.last
    wait(ctx, lambda: history.last > newest + 20)
    assert history.current == 10
    assert not session.paused
    assert not session.live
    press(ctx, imgui.Key.space)
    assert session.live
    return held


def test_pausing_holds_the_loop_and_one_step_lets_one_sync_through(tmp_path: Path) -> None:
    model, data = load("quadruped")
    judge = mujoco.MjData(model)
    with DrivenViewer(model, data, hold_and_step, tmp_path) as viewer:
        steps = run(viewer, model, data)
    mujoco.mj_step(model, judge, steps)
    # Nothing that was pressed has changed the program's data.
    np.testing.assert_array_equal(data.qpos, judge.qpos)
    assert data.time == judge.time


def break_on_contact(ctx: Any, window: Window) -> Any:
    session = window.app.session
    assert session.events is not None
    session.events.breaks.append(Break(BreakWhen.BEGIN))
    session.paused = False
    wait(ctx, lambda: session.paused)
    ctx.yield_(10)
    assert session.history is not None
    time = session.engine.time
    begun = next(entry.seen for entry in session.events.log)
    assert isinstance(session.source, LoopSteps)
    assert session.source.loop.skipped == 0
    return {"time": time, "begun": begun, "last": session.history.time(session.history.last)}


def test_a_break_holds_the_loop_and_shows_its_step(tmp_path: Path) -> None:
    model, data = load("bounce")
    driven = DrivenViewer(model, data, break_on_contact, tmp_path)
    with driven as viewer:
        viewer.pause()
        assert viewer.is_paused
        run(viewer, model, data, rest=0.01)
    # Seen at the step whose arrays show it, although the loop was further on.
    assert abs(driven.result["time"] - driven.result["begun"]) < 1e-9
    assert driven.result["last"] >= driven.result["time"]


def pull_body(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history = session.history
    assert history is not None
    wait(ctx, lambda: history.last > 5)
    view, data = session.view, session.engine.data
    view.perturb.select = 1
    view.perturb.active = int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
    view.perturb.refpos[:] = data.xpos[1] + (0, 0, 1.0)
    wait(ctx, lambda: np.abs(data.xfrc_applied[1]).sum() > 0)
    view.end_perturb()
    wait(ctx, lambda: np.abs(data.xfrc_applied[1]).sum() == 0)
    return len(history.marks)


def test_a_pull_reaches_the_loop_and_ends_again(tmp_path: Path) -> None:
    model, data = load("quadruped")
    data.xfrc_applied[1, 0] = 0.0
    driven = DrivenViewer(model, data, pull_body, tmp_path)
    pulled = 0
    with driven as viewer:
        while viewer.is_running():
            mujoco.mj_step(model, data)
            viewer.sync()
            time.sleep(0.001)
            pulled += bool(data.xfrc_applied[1].any())
    assert pulled > 0
    assert not data.xfrc_applied.any()
    assert driven.result == 0


def see_green(ctx: Any, window: Window) -> Any:
    wait(ctx, lambda: window.app.session.engine.time > 0.5)
    ctx.yield_(5)
    contacts = count_green(scene_part(window, screenshot(ctx, Path(argument()))))
    for name in window.app.session.visible:
        window.app.session.visible[name] = False
    session = window.app.session
    session.settings.show_legend = False
    drawn = count_green(scene_part(window, screenshot(ctx, Path(argument()))))
    session.paused = True
    ctx.yield_(5)
    session.paused = False
    return contacts, drawn


def test_contacts_and_the_programs_own_gizmos_are_drawn(tmp_path: Path) -> None:
    model, data = load("quadruped")
    driven = DrivenViewer(model, data, see_green, tmp_path, str(tmp_path / "picture.png"))
    with driven as viewer:
        while viewer.is_running():
            mujoco.mj_step(model, data)
            viewer.gizmos.draw_sphere(0.05, [0, 0, 0.6], (0, 1, 0))
            viewer.gizmos.draw_arrow([0, 0, 0.6], np.array([0.3, 0, 0.9]), color=(0, 1, 0, 1))
            viewer.sync()
            time.sleep(0.001)
    contacts, drawn = driven.result
    assert contacts > drawn + 50
    assert drawn > 300


def test_two_windows_at_once_and_one_after_another() -> None:
    model, data = load("quadruped")
    for _ in range(2):
        with contact_viewer.launch_passive(model, data) as one, contact_viewer.launch_passive(model, data) as other:
            run(one, model, data, 10)
            other.sync()
            one.close()
            assert other.is_running()
            assert not one.is_running()
            other.sync()


def take_the_place(ctx: Any, window: Window) -> Any:
    session = window.app.session
    wait(ctx, lambda: session.view.camera.distance == 3.25 and session.view.flag("joints"))
    press(ctx, imgui.Key.f8)
    press(ctx, imgui.Key.x)
    shown = [name for name in ("Sensors", "Display", "Inspector") if window.is_panel_shown(name)]
    assert isinstance(session.source, LoopSteps)
    wait(ctx, lambda: session.view.camera.azimuth == 12.5)
    return shown, session.view.camera.azimuth


def test_it_takes_the_place_of_mujocos_own_passive_viewer(tmp_path: Path) -> None:
    model, data = load("quadruped")
    keys: list[int] = []
    driven = DrivenViewer(model, data, take_the_place, tmp_path, key_callback=keys.append, show_left_ui=False)
    with driven as viewer:
        viewer.cam.distance = 3.25
        while viewer.is_running():
            mujoco.mj_step(model, data)
            with viewer.lock():
                viewer.opt.flags[mujoco.mjtVisFlag.mjVIS_JOINT] = 1
            if keys[:2] == [297, ord("X")]:
                viewer.cam.azimuth = 12.5
            viewer.sync()
            time.sleep(0.005)
    assert keys == [297, ord("X")]
    assert driven.result == [["Inspector"], 12.5]


def see_the_model_change(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history, engine = session.history, session.engine
    assert history is not None
    wait(ctx, lambda: history.last >= 400, 1000)
    ctx.yield_(10)
    session.paused = True
    ctx.yield_(5)
    shown = []
    for step in (50, 150, 250, 400):
        session.go_to(step)
        shown.append((float(engine.model.opt.gravity[2]), float(engine.model.geom_friction[0, 0])))
    red = scene_part(window, screenshot(ctx, Path(argument()))).astype(int)
    pixels = int(((red[..., 0] > 150) & (red[..., 1] < 60) & (red[..., 2] < 60)).sum())
    session.paused = False
    return {"shown": shown, "inexact": len(history.marks), "red": pixels}


def test_a_changed_model_and_geoms_of_the_program_are_seen(tmp_path: Path) -> None:
    model, data = load("quadruped")
    before = float(model.geom_friction[0, 0])
    driven = DrivenViewer(model, data, see_the_model_change, tmp_path, str(tmp_path / "picture.png"))
    with driven as viewer:
        geom = viewer.user_scn.geoms[0]
        mujoco.mjv_initGeom(
            geom, mujoco.mjtGeom.mjGEOM_BOX, np.full(3, 0.1), np.array([0, 0, 0.6]), np.eye(3).ravel(), [1, 0, 0, 1]
        )
        geom.emission, viewer.user_scn.ngeom = 1.0, 1
        for k in count():
            if not viewer.is_running():
                break
            if k == 100:
                model.opt.gravity[2] = -5.0
            if k == 200:
                model.geom_friction[:, 0] = 0.25
            mujoco.mj_step(model, data)
            viewer.sync()
            time.sleep(0.001)
    earth = -9.81
    assert driven.result["shown"] == [[earth, before], [-5.0, before], [-5.0, 0.25], [-5.0, 0.25]]
    assert driven.result["inexact"] == 0
    assert driven.result["red"] > 100


def make_sensors(ctx: Any, window: Window) -> Any:
    app = window.app
    wait(ctx, lambda: app.session.history is not None and app.session.history.last > 400, 1000)
    before = app.session
    floor = ContactTarget(TargetKind.GEOM, "floor")
    app.sensor_edits.make([SensorChange(ContactDeclaration("ground", second=floor, num=8))])
    wait(ctx, lambda: "ground" in app.session.engine.sensors.names)
    session = app.session
    history = session.history
    assert session is not before
    assert history is not None
    assert before.history is not None
    # It has a past, and its curve.
    kept = history.last
    assert kept > 100
    assert history.time(kept) >= before.history.time(before.history.last)
    while not history.curves.update():
        pass
    pressing = history.contacts("ground", 1, kept)
    assert pressing is not None
    assert pressing.net_force is not None
    session.set_reduce("foot_FL", "netforce")
    wait(ctx, lambda: history.last > kept + 200, 1000)
    engine = session.engine
    total = np.zeros(6)
    for i in range(engine.data.ncon):
        force = np.empty(6)
        mujoco.mj_contactForce(engine.model, engine.data, i, force)
        total += force
    net = engine.contacts("ground").net_force
    assert net is not None
    result = {
        "touched": int((np.abs(pressing.net_force[:, 2]) > 1).sum()),
        "inexact": len(history.marks),
        "force": [abs(float(net[2])), float(total[0])],
        "curves": list(history.curves.names),
        "netforce": engine.sensors["foot_FL"].reduce,
    }
    app.undo()
    wait(ctx, lambda: "ground" not in app.session.engine.sensors.names)
    again = app.session.history
    assert again is not None
    after = again.last
    wait(ctx, lambda: again.last > after + 100, 1000)
    assert not again.marks
    assert app.session.engine.sensors["foot_FL"].reduce == "netforce"
    return result


def test_sensors_are_made_in_a_window_on_a_model_that_is_never_changed(tmp_path: Path) -> None:
    model, data = load("quadruped")
    judge = mujoco.MjData(model)
    before = model.nsensor, model.sensor_intprm.tobytes()
    driven = DrivenViewer(model, data, make_sensors, tmp_path)
    with driven as viewer:
        steps = run(viewer, model, data)
    result = driven.result
    assert result["touched"] > 50
    assert result["inexact"] == 0
    np.testing.assert_allclose(*result["force"])
    assert "ground" in result["curves"]
    assert result["netforce"] == "netforce"
    assert (model.nsensor, model.sensor_intprm.tobytes()) == before
    mujoco.mj_step(model, judge, steps)
    np.testing.assert_array_equal(data.qpos, judge.qpos)


def press_everything(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history = session.history
    assert history is not None
    wait(ctx, lambda: history.last > 20)
    for binding in BINDINGS:
        if binding.text not in ("Ctrl+Q", "F11", "Ctrl+S"):
            binding.act(window)
    ctx.yield_(2)
    # What menus and panels would do, if they were not disabled there.
    session.reset("nowhere")
    session.set_speed(0.1)
    window.app.open_scene("slope")
    window.app.keyframes.attach(session)
    ctx.yield_(10)
    session.paused = False
    if not session.live:
        session.toggle_paused()
    last = history.last
    wait(ctx, lambda: history.last > last + 50, 1000)
    assert window.app.session is session
    return [history.first, len(history.marks)]


def test_no_key_changes_what_the_program_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # For what it records.
    monkeypatch.chdir(tmp_path)
    model, data = load("quadruped")
    judge, values = mujoco.MjData(model), ModelValues(model)
    before = values.read()
    driven = DrivenViewer(model, data, press_everything, tmp_path)
    with driven as viewer:
        steps = run(viewer, model, data)
    mujoco.mj_step(model, judge, steps)
    np.testing.assert_array_equal(data.qpos, judge.qpos)
    assert data.time == judge.time
    assert values.read() == before
    assert driven.result == [0, 0]


def find_marks(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history = session.history
    assert history is not None
    wait(ctx, lambda: len(history.marks) == 2, 1000)
    session.paused = True
    ctx.yield_(3)
    marked = list(history.marks)
    session.go_to(marked[0])
    picture = screenshot(ctx, Path(argument())).astype(int)
    session.toggle_paused()
    bar = picture[-70:]
    amber = (bar[..., 0] > 180) & (bar[..., 1] > 110) & (bar[..., 2] < 110)
    columns = np.flatnonzero(amber[:45].any(axis=0))
    return {"marked": marked, "last": history.last, "columns": columns.tolist()}


def test_steps_that_could_not_be_taken_exactly_are_marked_on_the_timeline(tmp_path: Path) -> None:
    model, data = load("quadruped")
    driven = DrivenViewer(model, data, find_marks, tmp_path, str(tmp_path / "picture.png"))
    with driven as viewer:
        for k in count():
            if not viewer.is_running():
                break
            mujoco.mj_step(model, data)
            if k in (99, 199):
                data.qvel[0] += 0.1
            viewer.sync()
            time.sleep(0.002)
    assert driven.result["marked"] == [100, 200]
    assert len(driven.result["columns"]) >= 2, driven.result
