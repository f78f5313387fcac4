"""Engines and environments in the real window."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.app import Application
from contact_viewer.assets import bundled_scene
from contact_viewer.cli import main
from contact_viewer.drawing import session_glyphs
from contact_viewer.engines.opening import open_engines
from contact_viewer.settings import EngineChoice, Options
from imgui_bundle import imgui

from ..window import count_amber, drive, scene_part, screenshot


def open_app(scene: str, **options: Any) -> Application:
    found = bundled_scene(scene)
    assert found is not None
    chosen = Options(found.path, paused=True, width=1200, height=1000, **options)
    engine, ghost = open_engines(chosen.scene, chosen.engine, chosen.envs)
    app = Application(engine, chosen, ghost)
    app.keeps_settings = False
    return app


def test_motrix_runs_in_the_window(tmp_path: Path) -> None:
    app = open_app("gripper", engine=EngineChoice.MOTRIX)

    def test(ctx: Any) -> None:
        session = app.session
        session._step(500)
        picture = scene_part(app, screenshot(ctx, tmp_path / "motrix.png"))
        assert count_amber(picture) > 200
        assert "MotrixSim" in session.engine.name
        weight = float(session.engine.model.body("block").mass[0]) * 9.81
        assert session.reading("gripper_on_block").net_force[2] == pytest.approx(weight, rel=0.05)
        session.reset()
        assert session.engine.time == 0

    drive(app, test)


def test_both_engines_show_ghosts(tmp_path: Path) -> None:
    app = open_app("gripper", engine=EngineChoice.BOTH)

    def test(ctx: Any) -> None:
        session = app.session
        session._step(500)
        both = session_glyphs(session)
        assert len(both.spheres) == 2 * session.contact_count
        assert count_amber(scene_part(app, screenshot(ctx, tmp_path / "both.png"))) > 200
        assert session.timeline is not None
        session.go_to(100)
        assert len(session_glyphs(session).spheres) == session.contact_count
        session.set_reduce("fingertip_left", "none")
        assert session.ghost is not None
        assert session.ghost.sensors["fingertip_left"].reduce == "none"

    drive(app, test)


def test_a_scene_that_motrix_refuses_leaves_the_old_one_running() -> None:
    app = open_app("gripper", engine=EngineChoice.BOTH)

    def test(ctx: Any) -> None:
        app.open_scene("pile")
        ctx.yield_(20)
        assert "MotrixSim" in app.notices.items[0].text
        assert "fingertip_left" in app.session.engine.sensors.names

    drive(app, test)


def test_environments_are_chosen_by_key() -> None:
    app = open_app("stack", envs=3)

    def test(ctx: Any) -> None:
        session = app.session
        # A push in one environment leaves the others alone.
        session.batch.pose(1).qvel[0] = 1.0
        session._step(50)
        first = session.engine.data.qpos.copy()
        ctx.key_press(imgui.Key.period)
        assert session.env == 1
        assert not np.array_equal(session.engine.data.qpos, first)
        ctx.key_press(imgui.Key.comma)
        ctx.key_press(imgui.Key.comma)
        assert session.env == 2
        np.testing.assert_array_equal(session.engine.data.qpos, first)

    drive(app, test)


def test_refusals_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pile", "--engine", "motrix"]) == 2
    assert main(["gripper", "--engine", "both", "--envs", "2"]) == 2
    assert main(["gripper", "--engine", "isaac"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "MotrixSim" in lines[0]


def test_the_menu_switches_engines() -> None:
    app = open_app("slope")

    def test(ctx: Any) -> None:
        for item, engine in (("MotrixSim", "MotrixSim"), ("MuJoCo", "MuJoCo"), ("Both", "MuJoCo")):
            ctx.menu_click(f"//##MainMenuBar/Simulation/Engine/{item}")
            for _ in range(400):
                ctx.yield_(1)
                if engine in app.session.engine.name and (app.session.ghost is not None) == (item == "Both"):
                    break
            assert engine in app.session.engine.name
            assert (app.session.ghost is not None) == (item == "Both")
            app.session._step(20)

    drive(app, test)


def test_an_engine_that_refuses_the_scene_leaves_the_other_running(tmp_path: Path) -> None:
    path = tmp_path / "refused.xml"
    path.write_text(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/></worldbody>'
        '<sensor><contact name="c" geom1="floor"/></sensor></mujoco>'
    )
    app = open_app("slope")

    def test(ctx: Any) -> None:
        app.open_scene(str(path))
        for _ in range(200):
            ctx.yield_(1)
            if app.session.engine.path == path:
                break
        app.notices.items.clear()
        app.switch_engine(EngineChoice.MOTRIX)
        for _ in range(400):
            ctx.yield_(1)
            if app.notices.items or "MotrixSim" in app.session.engine.name:
                break
        assert app.notices.items, app.session.engine.name
        assert "MuJoCo" in app.session.engine.name
        assert app.engine_choice is EngineChoice.MUJOCO

    drive(app, test)
