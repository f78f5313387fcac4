"""Engines and environments in the real window."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.app.application import Application
from contact_viewer.assets import bundled_scene
from contact_viewer.cli import main
from contact_viewer.engines.registry import open_engines
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.layers import session_glyphs
from contact_viewer.settings import Options
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, imgui

from ..driver import count_amber, drive, scene_part, screenshot, wait


def make_window(scene: str, **options: Any) -> Window:
    found = bundled_scene(scene)
    assert found is not None
    chosen = Options(found.path, paused=True, width=1200, height=1000, **options)
    engine, *beside = open_engines(chosen.scene, chosen.engine, chosen.envs)
    window = Window(Application(engine, chosen, beside))
    window.keeps_settings = False
    return window


def test_motrix_runs_in_the_window(tmp_path: Path) -> None:
    window = make_window("gripper", engine="motrix")
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(500)
        picture = scene_part(window, screenshot(ctx, tmp_path / "motrix.png"))
        assert count_amber(picture) > 200
        assert "MotrixSim" in session.engine.name
        weight = float(session.engine.model.body("block").mass[0]) * 9.81
        assert session.reading("gripper_on_block").net_force[2] == pytest.approx(weight, rel=0.05)
        session.reset()
        assert session.engine.time == 0

    drive(window, test)


def test_both_engines_show_ghosts(tmp_path: Path) -> None:
    window = make_window("gripper", engine="both")
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(500)
        both = session_glyphs(session)
        assert len(both.spheres) == 2 * session.contact_count
        assert count_amber(scene_part(window, screenshot(ctx, tmp_path / "both.png"))) > 200
        assert session.history is not None
        session.go_to(400)
        (ghost,) = session.beside
        assert ghost.shown.time == pytest.approx(session.engine.time)
        # The other engine has a past too.
        theirs = sum(int(ghost.shown.contacts(name).filled.sum()) for name in ghost.shown.sensors.names)
        assert theirs > 0
        assert len(session_glyphs(session).spheres) == session.contact_count + theirs
        ctx.item_click("//Display/Runs beside")
        assert not session.settings.gizmos.beside
        assert len(session_glyphs(session).spheres) == session.contact_count
        session.go_to(500)
        session.set_reduce("fingertip_left", "none")
        assert ghost.engine.sensors["fingertip_left"].reduce == "none"
        app.switch_engine("mujoco")
        wait(ctx, lambda: not app.session.beside)
        ctx.yield_(3)
        assert not ctx.item_exists("//Display/Runs beside")

    drive(window, test)


REFUSED = (
    '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>'
    '<body><joint type="slide" stiffness="1 2"/><geom size=".1"/></body></worldbody></mujoco>'
)
"""A scene that MotrixSim cannot read."""


def test_a_scene_that_motrix_refuses_leaves_the_old_one_running(tmp_path: Path) -> None:
    path = tmp_path / "refused.xml"
    path.write_text(REFUSED)
    window = make_window("gripper", engine="both")
    app = window.app

    def test(ctx: Any) -> None:
        app.open_scene(str(path))
        wait(ctx, lambda: app.notices.items)
        assert "MotrixSim" in app.notices.items[0].text
        assert "fingertip_left" in app.session.engine.sensors.names

    drive(window, test)


def test_environments_are_chosen_by_key() -> None:
    window = make_window("stack", envs=3)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        # A push in one environment leaves the others alone.
        session.simulation.engine.pose(1).qvel[0] = 1.0
        session.take_steps(50)
        first = session.engine.data.qpos.copy()
        ctx.key_press(imgui.Key.period)
        assert session.env == 1
        assert not np.array_equal(session.engine.data.qpos, first)
        ctx.key_press(imgui.Key.comma)
        ctx.key_press(imgui.Key.comma)
        assert session.env == 2
        np.testing.assert_array_equal(session.engine.data.qpos, first)

    drive(window, test)


def test_refusals_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "refused.xml"
    path.write_text(REFUSED)
    assert main([str(path), "--engine", "motrix"]) == 2
    assert main(["gripper", "--engine", "both", "--envs", "2"]) == 2
    assert main(["gripper", "--engine", "isaac"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "MotrixSim" in lines[0]


def shows_engines(app: Application, engine: str, ghost: bool) -> bool:
    return engine in app.session.engine.name and bool(app.session.beside) == ghost


def test_the_menu_switches_engines() -> None:
    window = make_window("slope")
    app = window.app

    def test(ctx: Any) -> None:
        for item, engine in (("MotrixSim", "MotrixSim"), ("MuJoCo", "MuJoCo"), ("Both", "MuJoCo")):
            ctx.menu_click(f"//##MainMenuBar/Simulation/Engine/{item}")
            wait(ctx, partial(shows_engines, app, engine, item == "Both"))
            app.session.take_steps(20)

    drive(window, test)


def test_an_engine_that_refuses_the_scene_leaves_the_other_running(tmp_path: Path) -> None:
    path = tmp_path / "refused.xml"
    path.write_text(REFUSED)
    window = make_window("slope")
    app = window.app

    def test(ctx: Any) -> None:
        app.open_scene(str(path))
        wait(ctx, lambda: app.session.engine.path == path)
        app.notices.items.clear()
        app.switch_engine("motrix")
        wait(ctx, lambda: app.notices.items or "MotrixSim" in app.session.engine.name)
        assert app.notices.items, app.session.engine.name
        assert "MuJoCo" in app.session.engine.name
        assert app.loader.choice == "mujoco"

    drive(window, test)


@pytest.mark.parametrize(("engine", "envs"), [("motrix", 1), ("mujoco", 16), ("motrix", 16)])
def test_time_can_be_scrubbed_with_curves_raster_and_events(engine: str, envs: int, tmp_path: Path) -> None:
    window = make_window("bounce", engine=engine, envs=envs)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        if envs > 1:
            ctx.key_press(imgui.Key.period)
            assert session.env == 1
        session.settings.plots.seconds = 2.0
        heights, forces = [session.engine.data.qpos.copy()], [0.0]
        for _ in range(600):
            session.take_steps(1)
            heights.append(session.engine.data.qpos.copy())
            forces.append(float(session.engine.get_contact_force_magnitude("lively_ball")[0]))
        ctx.yield_(3)
        assert session.history is not None
        assert (session.history.first, session.history.last) == (0, 600)
        # Curves and raster: drawn from every step.
        values = session.history.curves.values("lively_ball", Signal.MAGNITUDE, 0, 601)
        np.testing.assert_allclose(values, forces, rtol=1e-5, atol=1e-4)
        assert max(forces) > 20
        assert session.events is not None
        assert len(session.events.log) > 8
        late = screenshot(ctx, tmp_path / "late.png")
        slider = ctx.item_info("//**/##scrub").rect_full
        ctx.mouse_move_to_pos(slider.get_center())
        ctx.mouse_down(0)
        ctx.mouse_move_to_pos(ImVec2(slider.min.x + 0.3 * slider.get_width(), slider.get_center().y))
        ctx.mouse_up(0)
        ctx.yield_(2)
        step = session.history.current
        assert session.paused
        assert 150 < step < 210
        np.testing.assert_array_equal(session.engine.data.qpos, heights[step])
        # The arrows are those of that step, and the picture is another.
        pressed = int(np.argmax(forces[:400]))
        session.go_to(pressed)
        assert np.linalg.norm(session.reading("lively_ball").net_force) == pytest.approx(forces[pressed], rel=1e-5)
        early = screenshot(ctx, tmp_path / "early.png")
        assert not np.array_equal(scene_part(window, early), scene_part(window, late))
        # To an event and step by step, by key.
        ctx.key_press(imgui.Key.n)
        event = next(entry for entry in session.events.log if entry.seen > session.history.time(pressed) + 1e-4)
        assert session.engine.time == pytest.approx(event.seen, abs=1e-6)
        ctx.key_press(imgui.Key.left_arrow)
        assert session.engine.time == pytest.approx(event.seen - session.engine.timestep, abs=1e-6)
        # Playing on continues with the newest step, and loses none.
        ctx.key_press(imgui.Key.space)
        wait(ctx, lambda: session.history is not None and session.history.last > 650)
        ctx.key_press(imgui.Key.space)
        assert session.history.at_end
        assert session.engine.time == pytest.approx(session.history.last * session.engine.timestep)

    drive(window, test)
