"""The window shows the file as it is saved: good saves are opened, bad ones reported, and nothing is lost."""

import os
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.app.application import Application

from ..window.driver import drive, make_window, wait

SCENE = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body pos="0 0 .5"><freejoint name="free"/><geom name="ball" size=".1" mass="{mass}"/></body>
    {more}
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="ball"/>{sensors}</sensor>
</mujoco>"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(mass=1, more="", sensors=""))
    return path


def mass(app: Application) -> float:
    return float(app.session.engine.model.body_mass[1])


def test_a_save_is_shown_with_the_state_kept(scene: Path) -> None:
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(100)
        app.session.view.orbit(0.3, 0.1)
        app.session.visible["c"] = False
        azimuth, height = app.session.view.camera.azimuth, float(app.session.engine.data.qpos[2])
        scene.write_text(SCENE.format(mass=2, more="", sensors='<contact name="d"/>'))
        wait(ctx, lambda: mass(app) == 2)
        assert app.session.engine.data.qpos[2] == pytest.approx(height)
        assert app.session.engine.time == pytest.approx(0.2)
        assert app.session.view.camera.azimuth == azimuth
        assert app.session.visible == {"c": False, "d": True}
        assert app.session.paused

    drive(window, test)


def test_a_broken_save_is_told_and_the_next_good_one_recovers(scene: Path) -> None:
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        scene.write_text(SCENE.format(mass=3, more="", sensors="")[:-30])
        wait(ctx, lambda: bool(app.notices.items))
        assert "scene.xml" in app.notices.items[0].text
        assert mass(app) == 1
        scene.unlink()
        ctx.yield_(30)
        assert mass(app) == 1
        scene.write_text(SCENE.format(mass=4, more="", sensors=""))
        wait(ctx, lambda: mass(app) == 4)

    drive(window, test)


def test_a_folder_in_place_of_the_file_is_told_and_the_file_recovers(scene: Path) -> None:
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        scene.unlink()
        scene.mkdir()
        wait(ctx, lambda: bool(app.notices.items))
        assert "scene.xml" in app.notices.items[0].text
        assert "directory" in app.notices.items[0].text or "folder" in app.notices.items[0].text
        assert mass(app) == 1
        scene.rmdir()
        scene.write_text(SCENE.format(mass=4, more="", sensors=""))
        wait(ctx, lambda: mass(app) == 4)

    drive(window, test)


def test_other_joints_start_from_the_beginning(scene: Path) -> None:
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(100)
        more = '<body pos="1 0 1"><freejoint/><geom size=".1"/></body>'
        scene.write_text(SCENE.format(mass=5, more=more, sensors=""))
        wait(ctx, lambda: mass(app) == 5)
        assert app.session.engine.time == 0

    drive(window, test)


def test_included_files_are_watched(scene: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.xml"
    part.write_text('<mujocoinclude><geom name="extra" size=".1" pos="2 0 0"/></mujocoinclude>')
    scene.write_text(SCENE.format(mass=1, more='<include file="part.xml"/>', sensors=""))
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        part.write_text('<mujocoinclude><geom name="changed" size=".1" pos="2 0 0"/></mujocoinclude>')
        wait(ctx, lambda: b"changed" in app.session.engine.model.names)

    drive(window, test)


@pytest.mark.timeout(300)
def test_two_hundred_saves_end_with_the_last_good_one(scene: Path) -> None:
    window = make_window(scene, width=500, height=400)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(50)
        for number in range(200):
            text = SCENE.format(mass=10 + number, more="", sensors="")
            if number % 3 == 1:
                scene.write_text(text[: len(text) // 2])
            elif number % 3 == 2:
                replacement = scene.with_suffix(".tmp")
                replacement.write_text(text)
                os.replace(replacement, scene)
            else:
                scene.write_text(text)
            ctx.yield_(1)
        scene.write_text(SCENE.format(mass=500, more="", sensors=""))
        wait(ctx, lambda: mass(app) == 500)
        assert app.session.engine.time == pytest.approx(0.1)

    drive(window, test)


def test_no_watch_leaves_the_scene_alone(scene: Path) -> None:
    window = make_window(scene, watch=False)
    app = window.app

    def test(ctx: Any) -> None:
        scene.write_text(SCENE.format(mass=7, more="", sensors=""))
        ctx.yield_(60)
        assert mass(app) == 1
        app.reload()
        wait(ctx, lambda: mass(app) == 7)

    drive(window, test)


def test_a_dropped_file_opens_and_is_remembered(scene: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_text(SCENE.format(mass=9, more="", sensors=""))
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        window._drop(None, [str(other)])
        wait(ctx, lambda: mass(app) == 9)
        recent = app.session.settings.recent_scenes.splitlines()
        assert recent == [str(other), str(scene)]
        app.open_scene(recent[1])
        wait(ctx, lambda: mass(app) == 1)
        window._drop(None, [str(tmp_path)])
        assert "folder" in app.notices.items[-1].text

    drive(window, test)
