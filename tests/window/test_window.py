"""The window as a user uses it: clicks and keys in, pixels and state out."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.mjmodel.sensor_suggestions import SensorSuggestions
from contact_viewer.scene_files.spec_changes import SensorChange
from contact_viewer.settings import ScaleMode, Theme
from contact_viewer.window.shell import SENSOR_EDITOR
from imgui_bundle import ImVec2, imgui

from .driver import count_amber, count_green, count_red, count_white, drive, make_window, scene_part, screenshot, wait

REST = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" rgba=".5 .5 .5 1"/>
    <body name="box" pos="0 0 .0999">
      <freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="2" rgba=".4 .4 .4 .2"/>
    </body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""
SENSOR = '<contact name="c" geom1="floor" geom2="box" data="found force" num="4"/>'


@pytest.fixture
def rest(tmp_path: Path) -> Path:
    path = tmp_path / "rest.xml"
    path.write_text(REST.format(sensors=SENSOR))
    return path


def test_a_sensor_clicked_off_takes_its_pixels_with_it(rest: Path, tmp_path: Path) -> None:
    window = make_window(rest, steps=500)

    def test(ctx: Any) -> None:
        before = scene_part(window, screenshot(ctx, tmp_path / "before.png"))
        assert count_green(before) > 200
        assert count_white(before) > 20
        ctx.item_click("//Sensors/$$0/###visible")
        after = scene_part(window, screenshot(ctx, tmp_path / "after.png"))
        assert count_green(after) == 0
        assert count_white(after) == 0
        ctx.item_click("//Sensors/$$0/###visible")
        again = scene_part(window, screenshot(ctx, tmp_path / "again.png"))
        assert count_green(again) == count_green(before)

    drive(window, test)


def test_switching_reduce_changes_array_and_picture(rest: Path, tmp_path: Path) -> None:
    window = make_window(rest, steps=500)
    app = window.app

    def test(ctx: Any) -> None:
        before = app.session.engine.array("c")
        assert count_amber(scene_part(window, screenshot(ctx, tmp_path / "before.png"))) == 0
        ctx.item_click("//Sensors/$$0/##reduce")
        ctx.item_click("//$FOCUSED/###netforce")
        after = app.session.engine.array("c")
        assert np.count_nonzero(before[5:]) > 0
        assert np.count_nonzero(after[4:]) == 0
        np.testing.assert_allclose(after[1:4], [0, 0, 19.62], rtol=1e-3, atol=1e-3)
        picture = scene_part(window, screenshot(ctx, tmp_path / "after.png"))
        assert count_amber(picture) > 100
        assert count_green(picture) == 0
        assert app.session.engine.sensors["c"].modified
        ctx.item_click("//Inspector/Revert")
        np.testing.assert_allclose(app.session.engine.array("c"), before, atol=1e-9)
        assert not app.session.engine.sensors["c"].modified

    drive(window, test)


def test_hovering_a_value_lights_up_its_arrow(rest: Path) -> None:
    window = make_window(rest, steps=500, width=1600, height=900)
    app = window.app

    def test(ctx: Any) -> None:
        ctx.mouse_move("//Inspector/**/0.force.normal##1")
        ctx.yield_(2)
        assert app.session.highlight is not None
        assert (app.session.highlight.slot, app.session.highlight.component) == (0, 0)
        ctx.mouse_move("//Inspector/**/0.force.tangent1##3")
        ctx.yield_(2)
        assert (app.session.highlight.slot, app.session.highlight.component) == (0, 2)
        ctx.mouse_move_to_pos(ImVec2(600, 350))
        ctx.yield_(2)
        assert app.session.highlight is None

    drive(window, test)


def test_keys(rest: Path, tmp_path: Path) -> None:
    window = make_window(rest)
    app = window.app
    key = imgui.Key

    def test(ctx: Any) -> None:
        session = app.session
        ctx.mouse_move_to_pos(ImVec2(600, 350))
        ctx.key_press(key.space)
        assert not session.paused
        ctx.yield_(5)
        assert session.engine.time > 0
        ctx.key_press(key.space)
        assert session.paused
        time = session.engine.time
        ctx.key_press(key.right_arrow)
        assert session.engine.time == pytest.approx(time + 0.002)
        ctx.key_press(key.backspace)
        assert session.engine.time == 0
        ctx.key_press(key.minus)
        assert session.pace.speed == 0.5
        ctx.key_press(key.equal)
        ctx.key_press(key.equal)
        assert session.pace.speed == 2.0
        ctx.key_press(key.c)
        assert count_white(scene_part(window, screenshot(ctx, tmp_path / "c.png"))) == 0
        ctx.key_press(key.c)
        ctx.key_press(key.p)
        assert session.settings.gizmos.total
        assert not session.settings.gizmos.normal
        ctx.key_press(key.p)
        assert session.settings.gizmos.normal
        ctx.key_press(key.f)
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "f.png"))) == 0
        ctx.key_press(key.tab)
        ctx.yield_(2)
        assert not window.is_panel_shown("Sensors")
        assert window.is_panel_shown("Inspector")
        ctx.key_press(key.mod_shift.value | key.tab.value)
        ctx.yield_(2)
        assert not window.is_panel_shown("Inspector")
        ctx.key_press(key.tab)
        ctx.key_press(key.f1)
        ctx.yield_(2)
        assert window.help_shown
        ctx.key_press(key.t)
        assert session.view.flag("transparent")
        shown = session.view.group("geom", 0)
        ctx.key_press(key._0)
        assert session.view.group("geom", 0) != shown

    drive(window, test)


def test_keys_do_nothing_in_a_text_field(rest: Path) -> None:
    window = make_window(rest)
    app = window.app

    def test(ctx: Any) -> None:
        # Ctrl+click turns a slider into a text field.
        ctx.key_down(imgui.Key.mod_ctrl)
        ctx.item_click("//Display/length")
        ctx.key_up(imgui.Key.mod_ctrl)
        ctx.yield_(2)
        assert imgui.get_io().want_text_input
        ctx.key_press(imgui.Key.c)
        ctx.key_press(imgui.Key.space)
        assert app.session.settings.gizmos.points
        assert app.session.paused

    drive(window, test)


def test_mouse_orbits_pans_and_zooms(rest: Path) -> None:
    window = make_window(rest)
    app = window.app

    def test(ctx: Any) -> None:
        camera = app.session.view.camera
        center = ImVec2(600, 350)
        azimuth, lookat, distance = camera.azimuth, camera.lookat.copy(), camera.distance
        ctx.mouse_move_to_pos(center)
        ctx.mouse_down(0)
        ctx.mouse_move_to_pos(ImVec2(660, 360))
        ctx.mouse_up(0)
        ctx.yield_(2)
        assert camera.azimuth != azimuth
        np.testing.assert_array_equal(camera.lookat, lookat)
        ctx.mouse_down(1)
        ctx.mouse_move_to_pos(center)
        ctx.mouse_up(1)
        ctx.yield_(2)
        assert np.abs(camera.lookat - lookat).max() > 0.001
        ctx.mouse_wheel_y(3)
        ctx.yield_(2)
        assert camera.distance < distance

    drive(window, test)


def test_double_click_selects_and_ctrl_drag_pulls(rest: Path) -> None:
    window = make_window(rest)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        left, top, right, bottom = window.viewport.rect
        center = ImVec2((left + right) / 2, (top + bottom) / 2)
        session.view.look_at((0, 0, 0.1), 1.0, 90, -20)
        ctx.yield_(3)
        ctx.mouse_move_to_pos(center)
        ctx.mouse_double_click(0)
        ctx.yield_(2)
        assert session.view.selected_body == 1
        session.paused = False
        ctx.yield_(3)
        resting = session.engine.data.qpos[:3].copy()
        ctx.key_down(imgui.Key.mod_ctrl)
        ctx.mouse_down(1)
        for step in range(40):
            ctx.mouse_move_to_pos(ImVec2(center.x + 3 * step, center.y - 4 * step))
        ctx.yield_(20)
        pulled = session.engine.data.qpos[:3].copy()
        ctx.mouse_up(1)
        ctx.key_up(imgui.Key.mod_ctrl)
        ctx.yield_(3)
        assert np.linalg.norm(pulled - resting) > 0.02
        assert not session.engine.data.xfrc_applied.any()

    drive(window, test)


def test_another_scene_opens_and_a_broken_one_does_not(rest: Path, tmp_path: Path) -> None:
    window = make_window(rest)
    app = window.app
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody></mujoco>")

    def test(ctx: Any) -> None:
        app.open_scene(str(broken))
        wait(ctx, lambda: app.notices.items)
        assert "broken.xml" in app.notices.items[0].text
        ctx.item_click("//##notice0/###dismiss")
        assert not app.notices.items
        assert app.session.engine.sensors.names == ("c",)
        ctx.menu_click("//##MainMenuBar/File/Bundled scenes/gripper")
        wait(ctx, lambda: "fingertip_left" in app.session.engine.sensors.names)
        assert not app.notices.items

    drive(window, test)


def test_a_scene_without_sensors_offers_to_watch_all(tmp_path: Path) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(REST.format(sensors=""))
    window = make_window(path, steps=500, watch_all=False)
    app = window.app

    def test(ctx: Any) -> None:
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "bare.png"))) == 0
        ctx.item_click("//Sensors/Watch all contacts")
        wait(ctx, lambda: app.session.contact_count == 4)
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "all.png"))) > 200

    drive(window, test)


def test_a_scene_without_sensors_shows_all_contacts(tmp_path: Path) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(REST.format(sensors=""))
    window = make_window(path, steps=500)
    app = window.app

    def test(ctx: Any) -> None:
        assert app.session.contact_count == 4
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "all.png"))) > 200
        ctx.item_click("//Sensors/Always")
        assert not app.session.settings.watch_all
        ctx.item_click("//Sensors/###make")
        assert window.is_panel_shown(SENSOR_EDITOR)
        # With a sensor of its own the scene shows that one alone.
        engine = app.session.engine
        app.sensor_edits.make([SensorChange(SensorSuggestions(engine.model).for_everything(engine.data, set()))])
        wait(ctx, lambda: any(not sensor.virtual for sensor in app.session.engine.sensors))
        assert [sensor.virtual for sensor in app.session.engine.sensors] == [False]
        assert not app.session.watches_by_itself

    drive(window, test)


def test_settings_and_themes(rest: Path, tmp_path: Path) -> None:
    window = make_window(rest, steps=500)
    app = window.app

    def test(ctx: Any) -> None:
        dark = screenshot(ctx, tmp_path / "dark.png")
        ctx.menu_click("//##MainMenuBar/View/Light theme")
        light = screenshot(ctx, tmp_path / "light.png")
        assert app.session.settings.theme is Theme.LIGHT
        assert light[100:300, :100].mean() > dark[100:300, :100].mean() + 100
        short = count_green(scene_part(window, light))
        ctx.item_input_value("//Display/length", 3.0)
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "long.png"))) > 1.5 * short
        ctx.item_click("//Display/Show hidden")
        assert not app.session.settings.gizmos.see_through
        ctx.item_click("//Display/scale")
        ctx.item_click("//$FOCUSED/fixed")
        assert app.session.settings.gizmos.scale_mode is ScaleMode.FIXED
        ctx.item_click("//Display/palette")
        ctx.item_click("//$FOCUSED/colour-blind")
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "safe.png"))) < short

    drive(window, test)


def test_sideways_force_draws_red(tmp_path: Path) -> None:
    path = tmp_path / "tilted.xml"
    path.write_text(REST.format(sensors=SENSOR).replace("<worldbody>", '<option gravity="0 3 -9"/><worldbody>'))
    window = make_window(path, steps=500)

    def test(ctx: Any) -> None:
        assert count_red(scene_part(window, screenshot(ctx, tmp_path / "red.png"))) > 50

    drive(window, test)


def test_options_reach_the_window(tmp_path: Path) -> None:
    window = make_window(
        "gripper", sensors=("fingertip_left",), reduce="none", camera="fingertips", key="hold", speed=0.5
    )
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        assert [name for name, shown in session.visible.items() if shown] == ["fingertip_left"]
        assert session.engine.sensors["fingertip_left"].reduce == "none"
        assert session.engine.sensors["fingertip_right"].reduce == "netforce"
        assert session.view.camera_name == "fingertips"
        assert session.pace.speed == 0.5
        assert screenshot(ctx, tmp_path / "x.png").shape == (1000, 1200, 3)

    drive(window, test)


def test_choices_are_saved_between_launches(rest: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    first = make_window(rest)
    first.keeps_settings = True

    def change(ctx: Any) -> None:
        ctx.item_click("//Display/Points")
        ctx.item_click("//Display/Balance")
        ctx.item_input_value("//Display/width", 2.0)
        ctx.menu_click("//##MainMenuBar/View/Light theme")

    drive(first, change)
    second = make_window(rest)
    second.keeps_settings = True

    def look(ctx: Any) -> None:
        settings = second.app.session.settings
        # Points that were hidden would be missed: they are hidden for one window only.
        assert settings.gizmos.points
        assert settings.gizmos.balance
        assert settings.gizmos.width == pytest.approx(2.0)
        assert settings.theme is Theme.LIGHT

    drive(second, look)


def test_a_small_window_has_a_layout_of_its_own(rest: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    def width_of_sensors(width: int, drag: float = 0.0) -> float:
        """Open a window that keeps its layout; return how wide the left panels are after their edge was dragged."""
        window = make_window(rest, width=width, height=800)
        window.keeps_settings = True
        found = list[float]()

        def test(ctx: Any) -> None:
            ctx.yield_(8)
            edge = window.viewport.rect[0]
            if drag:
                ctx.mouse_move_to_pos(ImVec2(edge - 2, 300))
                ctx.mouse_down(0)
                ctx.mouse_move_to_pos(ImVec2(edge - 2 + drag, 300))
                ctx.mouse_up(0)
                ctx.yield_(4)
            found.append(window.viewport.rect[0])

        drive(window, test)
        return found[0]

    wide = width_of_sensors(1600, 90)
    usual = width_of_sensors(900)
    assert wide > usual + 60
    assert width_of_sensors(900, 40) > usual + 20
    assert width_of_sensors(1600) == pytest.approx(wide, abs=3)


HOMELESS = """
import sys
import mujoco
import contact_viewer
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window
from pathlib import Path

window = Window(Application(open_engine("slope"), Options(Path("slope"), frames=3, width=480, height=360)))
run_window(window)
print(window.frame_count, *[notice.text for notice in window.app.notices.items if notice.warning])
model = mujoco.MjModel.from_xml_string("<mujoco/>")
with contact_viewer.launch_passive(model, mujoco.MjData(model)) as viewer:
    viewer.sync()
"""


@pytest.mark.parametrize("what", ["no home", "home is a file", "folder as settings", "garbage as settings"])
def test_it_opens_where_settings_cannot_be_kept(tmp_path: Path, what: str) -> None:
    home = Path("/proc/nonexistent") if what == "no home" else tmp_path / "home"
    settings = home / ".config" / "contact-viewer" / "window.ini"
    if what == "home is a file":
        home.write_text("")
    elif what == "folder as settings":
        settings.mkdir(parents=True)
    elif what == "garbage as settings":
        settings.parent.mkdir(parents=True)
        settings.write_bytes(b"[SplitIds]\n\xff\xfe\0{" + bytes(range(256)) + b";;;<<<INI_NAME>>>;;;\xff")
    environment = os.environ | {"HOME": str(home)}
    environment.pop("XDG_CONFIG_HOME", None)
    result = subprocess.run(
        [sys.executable, "-c", HOMELESS], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    frames, _, notice = result.stdout.strip().partition(" ")
    assert frames == "3"
    assert ("settings and layout will not be saved" in notice) == (what != "garbage as settings")


DAMAGED = """
import random
import sys
from pathlib import Path

from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

settings = Path.home() / ".config" / "contact-viewer" / "window.ini"


def open_window():
    window = Window(Application(open_engine("slope"), Options(Path("slope"), frames=2, width=480, height=360)))
    run_window(window)
    return [notice.text for notice in window.app.notices.items]


assert open_window() == []
good = settings.read_bytes()
assert open_window() == []
damages = [
    good.replace(b"points", b"p\\xffints"),
    good.replace(b" Split=Y", b"", 1),
    good.replace(b"Size=480,", b"Size=0,"),
    good.replace(b"Parent=0x00000002 ", b"Parent=0x00000002 2 Parent=0x00000002 "),
    good.replace(b"[Docking]", b"[\\0ocking]"),
    good.replace(b"view_state", b"view_stat"),
    good[: len(good) * 9 // 10],
    b"",
]
damages += [
    good[:start] + random.Random(seed).randbytes(length) + good[start + removed :]
    for seed in range(4)
    for start, length, removed in [[random.Random(seed).randrange(n) for n in (len(good), 40, 400)]]
]
for number, damage in enumerate(damages, 1):
    settings.write_bytes(damage)
    (notice,) = open_window()
    kept = settings.with_name(f"window-damaged-{number:03d}.ini")
    assert "the saved settings were damaged and are reset" in notice and str(kept) in notice, notice
    assert kept.read_bytes() == damage
# What was saved instead is whole.
assert open_window() == []
print(len(damages))
"""


def test_a_damaged_settings_file_is_kept_aside_and_the_window_opens_with_the_defaults(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path)}
    environment.pop("XDG_CONFIG_HOME", None)
    result = subprocess.run(
        [sys.executable, "-c", DAMAGED], env=environment, capture_output=True, text=True, check=False, timeout=150
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "12"


def test_a_served_window_has_a_layout_of_its_own_and_hidden_forces_come_back(tmp_path: Path) -> None:
    code = """
from pathlib import Path
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.layout import settings_path
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.shell import Audience
from contact_viewer.window.window import Window

def run(served, hide):
    window = Window(Application(open_engine("slope"), Options(Path("slope"), frames=4, width=800, height=600)))
    if served:
        window.audience = Audience()
        window.audience.wait = lambda: True
    start = window.app.start
    def started(settings):
        start(settings)
        gizmos = window.app.session.settings.gizmos
        seen.append((gizmos.forces, gizmos.cones))
        gizmos.forces, gizmos.cones = not hide, True
    window.app.start = started
    run_window(window)

seen = []
run(False, True)
desktop = settings_path().read_bytes()
run(True, False)
assert settings_path().read_bytes() == desktop
assert settings_path(True).exists()
run(False, False)
print(seen)
"""
    environment = os.environ | {"HOME": str(tmp_path)}
    environment.pop("XDG_CONFIG_HOME", None)
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    # Cones are remembered, hidden forces are not; what is served begins with its own choices.
    assert result.stdout.strip().endswith("[(True, False), (True, False), (True, True)]")
