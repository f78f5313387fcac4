"""The application with no window at all: scenes, engines, sensors, recordings and notices."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.app.notices import Notices
from contact_viewer.errors import SceneError
from contact_viewer.settings import Options, ViewState
from PIL import Image

from ..page.reader import Page
from ..passive.loops import still_loop
from ..scene_files.odd_logs import saved_runs

SIZE = (64, 48)


def make_app(scene: str | Path, **options: object) -> Application:
    """An application that has started, paused unless options change that."""
    chosen = {"paused": True, "width": SIZE[0], "height": SIZE[1]} | options
    app = Application(open_engine(scene), Options(scene=Path(scene), **chosen))  # type: ignore[arg-type]
    app.start()
    return app


def run(app: Application, until: Callable[[], object], seconds: float = 60.0) -> int:
    """Draw grey pictures until something is so; how often another scene came to run."""
    picture = np.full((SIZE[1], SIZE[0], 3), 128, np.uint8)
    replaced, end = 0, time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it did not happen in time"
        replaced += app.advance()
        app.take_picture(lambda: picture, whole_window=False)
        app.take_picture(lambda: picture, whole_window=True)
        time.sleep(0.002)
    return replaced


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_loads_no_toolkit() -> None:
    code = "import sys, contact_viewer.app.application; print(*{name.split('.')[0] for name in sys.modules})"
    # MuJoCo itself loads a library for windows, unless it is not to draw.
    environment = os.environ | {"MUJOCO_GL": "disable"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(result.stdout.split())
    assert "mujoco" in loaded
    assert not loaded & {"imgui_bundle", "glfw", "OpenGL", "av", "PIL"}


def test_a_scene_is_opened_played_reloaded_and_replaced() -> None:
    app = make_app("slope")
    assert app.title == "slope.xml (bundled) - contact-viewer"
    assert app.idle
    assert app.session.settings.recent_scenes == ""
    app.advance()
    assert app.session.engine.time == 0.0
    app.session.toggle_paused()
    assert not app.idle
    run(app, lambda: app.session.engine.time > 0.1)
    app.session.paused = True
    app.session.set_reduce("box_on_slope", "netforce")
    assert app.session.reading("box_on_slope").reported == 1
    before, played = app.session, app.session.engine.time
    app.reload()
    assert run(app, lambda: app.session is not before) == 1
    assert app.session.engine.time == pytest.approx(played)
    assert app.session.engine.sensors["box_on_slope"].reduce == "netforce"
    app.open_scene("gripper")
    assert run(app, lambda: app.title.startswith("gripper")) == 1
    assert app.session.events is not None
    assert not app.notices.items
    app.close()


def test_what_fails_is_a_notice_and_leaves_the_scene(tmp_path: Path) -> None:
    app = make_app("slope")
    before = app.session
    app.open_scene("nowhere.xml")
    assert "nowhere.xml" in app.notices.items[-1].text
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody></mujoco>")
    app.open_scene(str(broken))
    assert run(app, lambda: "broken.xml" in app.notices.items[-1].text) == 0
    app.start_recording(tmp_path / "nowhere" / "a.mp4")
    assert "nowhere" in app.notices.items[-1].text
    assert all(notice.warning for notice in app.notices.items)
    app.session.trouble = "it diverged"
    app.advance()
    assert app.notices.items[-1].text == "it diverged"
    assert app.session.trouble is None
    assert app.session is before
    app.close()


def test_engines_are_switched() -> None:
    pytest.importorskip("motrixsim")
    app = make_app("slope")
    app.switch_engine("both")
    run(app, lambda: bool(app.session.beside))
    assert app.loader.choice == "both"
    app.close()


def test_sensors_are_made_and_undone(tmp_path: Path) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .0999"><freejoint/>'
        '<geom name="box" type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>'
    )
    app = make_app(path)
    assert app.session.settings.recent_scenes == str(path)
    declaration = app.show_all_contacts()
    assert declaration is not None
    run(app, lambda: declaration.name in app.session.visible)
    app.session.step_once()
    assert app.session.selected == declaration.name
    assert app.session.reading(declaration.name).reported == 4
    app.undo()
    assert app.notices.items[-1].text == f"undone: make {declaration.name}"
    run(app, lambda: declaration.name not in app.session.visible)
    app.undo()
    assert [notice.text for notice in app.notices.items if "undone" in notice.text] == [
        f"undone: make {declaration.name}"
    ]
    app.close()


def test_a_new_sensor_costs_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .0999"><freejoint/>'
        '<geom name="box" type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>'
    )
    monkeypatch.setattr("contact_viewer.session.carry_over._RETRACE_TIME", 0.001)
    app = make_app(path)
    app.session.paused = True
    app.session.simulation.step(3000)
    declaration = app.show_all_contacts()
    assert declaration is not None
    run(app, lambda: declaration.name in app.session.visible)
    assert not any("of history" in item.text for item in app.notices.items)
    assert app.session.history is not None
    assert app.session.history.seconds > 5.9
    assert not app.idle
    run(app, lambda: app.session.filling is None)
    app.notices.items.clear()
    assert app.idle
    app.close()


def test_a_sensor_of_all_contacts_where_the_model_stays_as_it_is() -> None:
    app = make_app("slope")
    app.session.simulation.source = still_loop(app.session.simulation.engine)
    assert app.show_all_contacts() is None
    assert app.session.selected is not None
    assert app.session.engine.sensors[app.session.selected].virtual
    assert app.sensor_edits.changes == ()


def count_frames(path: Path) -> int:
    with av.open(str(path)) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == SIZE
        return sum(1 for _ in video.decode(video=0))


@pytest.mark.parametrize("panels", [False, True])
def test_pictures_become_a_video(tmp_path: Path, panels: bool) -> None:
    app = make_app("slope")
    app.session.settings.record_panels = panels
    assert app.next_recording == tmp_path / "slope-001.mp4"
    app.start_recording()
    run(app, lambda: app.recorder.running is not None and app.recorder.running.frames >= 10)
    app.recorder.stop()
    run(app, lambda: len(app.notices.items) > 1)
    began, done = app.notices.items
    assert began.text == f"Recording to {tmp_path / 'slope-001.mp4'}"
    assert done.text.startswith(f"recorded {tmp_path / 'slope-001.mp4'}")
    assert count_frames(tmp_path / "slope-001.mp4") >= 10
    app.close()


def test_the_history_becomes_a_video(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = make_app("slope")
    app.session.paused = False
    run(app, lambda: app.session.engine.time > 0.6)
    app.session.paused = True
    app.session.settings.record_last = 0.5
    app.record_last(tmp_path / "last.mp4")
    run(app, lambda: len(app.notices.items) > 1)
    assert "last.mp4 (0.5 s, 31 frames)" in app.notices.items[1].text
    assert count_frames(tmp_path / "last.mp4") == 31
    app.start_recording(tmp_path / "cut.webm")
    run(app, lambda: app.recorder.running is not None and app.recorder.running.frames)
    app.close()
    assert capsys.readouterr().out.startswith(f"recorded {tmp_path / 'cut.webm'}")
    assert count_frames(tmp_path / "cut.webm") >= 1


def test_screenshots_and_curves_are_saved_beside_the_recordings(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    app = make_app("slope")
    settings = ViewState()
    settings.record_folder = str(folder)
    app.start(settings)
    app.save_screenshot()
    run(app, lambda: app.notices.items)
    assert np.asarray(Image.open(folder / "slope-001.png")).shape == (SIZE[1], SIZE[0], 3)
    app.save_curves("time\n")
    assert (folder / "slope-001.csv").read_text() == "time\n"
    assert [notice.text for notice in app.notices.items] == [
        f"saved {folder / f'slope-001.{s}'}" for s in ("png", "csv")
    ]


def test_notices_are_few_and_warnings_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    notices = Notices()

    def fail() -> int:
        raise SceneError("why")

    assert notices.attempt(lambda: 3) == 3
    assert not notices.items
    assert notices.attempt(fail) is None
    for text in ("a", "b", "why"):
        notices.add(text, warning=text == "why")
    assert [notice.text for notice in notices.items] == ["a", "b", "why"]
    for text in ("c", "d"):
        notices.add(text)
    assert [notice.text for notice in notices.items] == ["b", "why", "c", "d"]
    now = time.monotonic()
    notices.drop_expired()
    assert len(notices.items) == 4
    monkeypatch.setattr(time, "monotonic", lambda: now + 60)
    notices.drop_expired()
    assert [notice.text for notice in notices.items] == ["why"]


def test_a_start_deep_in_contact_offers_a_keyframe_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = '<geom type="plane" size="1 1 .1"/><body pos="0 0 .05"><freejoint/><geom size=".1"/></body>'
    keys = '<key name="deep" qpos="0 0 .04 1 0 0 0"/><key name="up" qpos="0 0 .2 1 0 0 0"/>'
    (tmp_path / "deep.xml").write_text(f"<mujoco><worldbody>{body}</worldbody><keyframe>{keys}</keyframe></mujoco>")
    app = make_app(tmp_path / "deep.xml")
    (notice,) = app.notices.items
    assert "Starts in deep contact: 50 mm" in notice.text
    assert notice.text.endswith("Keyframe up:")
    assert notice.offer is not None
    label, act = notice.offer
    assert label == "go there"
    # An offer is to be read and decided upon: it stays longer than what was only to be said.
    now = time.monotonic()
    for passed, left in ((20, [notice]), (40, [])):
        monkeypatch.setattr(time, "monotonic", lambda passed=passed: now + passed)
        app.notices.drop_expired()
        assert app.notices.items == left
    act()
    assert app.session.engine.data.qpos[2] == pytest.approx(0.2)
    app.close()


@pytest.mark.parametrize("name", ["parts-qpos-infinite", "no-columns", "states_0-header-none", "rest-shorter"])
def test_a_damaged_run_that_is_opened_leaves_a_notice_with_its_name_and_the_old_scene(name: str) -> None:
    app = make_app("slope", paused=False)
    app.save_run(Path("good.cvrun"))
    run(app, lambda: Path("good.cvrun").exists() and not app.run_saving.is_busy)
    path = Path(f"{name}.cvrun").absolute()
    dict(saved_runs(Path("good.cvrun")))[path.name](path)
    app.notices.items.clear()
    app.open_scene(str(path))
    run(app, lambda: any(notice.warning for notice in app.notices.items))
    assert [path.name in notice.text for notice in app.notices.items] == [True]
    before = app.session.engine.time
    run(app, lambda: app.session.engine.time > before)


def test_the_run_is_saved_as_a_page_that_shows_what_the_window_shows() -> None:
    app = make_app("slope", paused=False, sensors=("box_on_slope",))
    run(app, lambda: app.session.engine.time > 0.2)
    app.session.go_to_time(0.1)
    app.session.view.look_at([0.5, 0.0, 0.25], 2.0, 77.0, -12.0)
    app.save_page(Path("run.png"))
    assert "a page is an .html file" in app.notices.items[-1].text
    app.save_page(Path("run.html"))
    run(app, lambda: Path("run.html").exists() and not app.run_saving.is_busy)
    assert "run.html" in app.notices.items[-1].text
    page = Page(Path("run.html"))
    manifest = page.manifest
    assert (manifest["title"], manifest["command"]) == ("slope", None)
    assert [sensor["name"] for sensor in manifest["sensors"]] == ["box_on_slope"]
    assert page.array("times")[manifest["start"]] == app.session.engine.time
    assert page.array("times")[-1] == pytest.approx(app.session.history.time(app.session.history.last))  # type: ignore[union-attr]
    camera = manifest["camera"]
    assert (camera["azimuth"], camera["elevation"], camera["distance"]) == pytest.approx((77.0, -12.0, 2.0), abs=1e-3)
    assert not list(Path().glob("*.cvrun"))
    app.close()


def test_damage_that_only_shows_while_a_file_is_opened_is_a_notice_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = make_app("slope")

    def fail(*_: object) -> None:
        raise OverflowError("made on purpose")

    monkeypatch.setattr("contact_viewer.scene_files.safe_open.survey_scene", fail)
    Path("odd.xml").write_text("<mujoco/>")
    app.open_scene("odd.xml")
    run(app, lambda: app.notices.items)
    notice = app.notices.items[0]
    assert "odd.xml: cannot be opened (OverflowError: made on purpose)" in notice.text
    assert "Traceback" in notice.details
