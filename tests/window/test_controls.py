"""Menus, keys and what they open, in the real window."""

from pathlib import Path
from typing import Any

from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.version import __version__
from contact_viewer.window.shell import SENSOR_EDITOR
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, imgui

from .driver import drive, make_window, wait

PANELS = ("Sensors", "Display", "Inspector", "Sensor editor", "Plots", "Events", "Touch")


def popups() -> int:
    return imgui.get_current_context().open_popup_stack.size()


def test_escape_closes_what_is_open_before_it_frees_the_camera() -> None:
    window = make_window("gripper", camera="fingertips", width=900, height=700)
    view = window.app.session.view

    def test(ctx: Any) -> None:
        ctx.item_click("//##MainMenuBar/##MenuBar/View")
        ctx.item_click("//$FOCUSED/Camera")
        ctx.yield_(2)
        assert popups() == 2
        ctx.key_press(imgui.Key.escape)
        ctx.yield_(2)
        assert popups() == 0
        ctx.item_click("//Display/palette")
        ctx.yield_(2)
        assert popups() == 1
        ctx.key_press(imgui.Key.escape)
        ctx.yield_(2)
        assert popups() == 0
        ctx.key_press(imgui.Key.f1)
        ctx.key_press(imgui.Key.escape)
        assert not window.help_shown
        assert view.camera_name == "fingertips"
        ctx.key_press(imgui.Key.escape)
        assert view.camera_name is None

    drive(window, test)


def test_restore_layout_brings_back_closed_panels() -> None:
    window = make_window("slope", width=1200, height=700)

    def test(ctx: Any) -> None:
        ctx.yield_(10)
        rect = window.viewport.rect
        for panel in PANELS:
            if window.is_panel_shown(panel):
                window.toggle_panel(panel)
        ctx.yield_(3)
        assert window.viewport.rect != rect
        ctx.menu_click("//##MainMenuBar/View/Restore layout")
        ctx.yield_(10)
        assert all(window.is_panel_shown(panel) for panel in PANELS)
        assert window.viewport.rect == rect

    drive(window, test)


def test_an_environment_is_chosen_from_a_list() -> None:
    engine = open_engine("slope", num_envs=4)
    window = Window(Application(engine, Options(Path("slope"), paused=True, width=1200, height=600, envs=4)))
    window.keeps_settings = False

    def test(ctx: Any) -> None:
        ctx.item_click("//##Bottom_2123243/##environment")
        ctx.item_click("//$FOCUSED/3 \\/ 4")
        assert window.app.session.env == 2

    drive(window, test)


def test_help_says_what_to_do_and_what_this_is(monkeypatch: Any) -> None:
    window = make_window("slope", width=900, height=700)
    copied: list[str] = []
    monkeypatch.setattr(imgui, "set_clipboard_text", copied.append)

    def test(ctx: Any) -> None:
        for page in ("First steps", "Documentation", "About"):
            ctx.menu_click(f"//##MainMenuBar/Help/{page}")
            ctx.yield_(2)
            assert window.help_page == page
        ctx.item_click("//###help page/Copy")
        assert f"contact-viewer {__version__}, Apache-2.0" in copied[0]
        ctx.key_press(imgui.Key.escape)
        assert window.help_page is None
        # As in simulate.
        ctx.key_press(imgui.Key.f2)
        ctx.key_press(imgui.Key.f3)
        ctx.yield_(3)
        assert ctx.window_info("//##info").window.active
        assert ctx.window_info("//##profiler").window.active

    drive(window, test)


def test_a_right_click_on_a_body_opens_its_menu() -> None:
    window = make_window("slope", width=1200, height=700)
    app = window.app

    def open_menu(ctx: Any) -> None:
        left, top, right, bottom = window.viewport.rect
        app.session.view.look_at(app.session.engine.data.body("box").xpos, 0.8, 90, -30)
        ctx.yield_(2)
        ctx.mouse_move_to_pos(ImVec2((left + right) / 2, (top + bottom) / 2))
        ctx.mouse_click(1)
        wait(ctx, lambda: popups() == 1)

    def test(ctx: Any) -> None:
        view, box = app.session.view, app.session.engine.model.body("box").id
        open_menu(ctx)
        ctx.item_click("//$FOCUSED/Select")
        assert view.selected_body == box
        open_menu(ctx)
        ctx.item_click("//$FOCUSED/Track")
        assert view.camera.trackbodyid == box
        open_menu(ctx)
        before = view.focus.copy()
        ctx.item_click("//$FOCUSED/Centre the view here")
        ctx.yield_(2)
        assert (view.focus != before).any()
        open_menu(ctx)
        ctx.item_click("//$FOCUSED/Pull")
        assert "drag" in app.notices.items[-1].text
        open_menu(ctx)
        ctx.item_click("//$FOCUSED/Make a sensor here...")
        ctx.yield_(3)
        assert str(window.contents[SENSOR_EDITOR].draft.second) == "geom box"
        # A double click is no menu.
        ctx.mouse_move_to_pos(ImVec2(sum(window.viewport.rect[::2]) / 2, sum(window.viewport.rect[1::2]) / 2))
        ctx.mouse_double_click(1)
        ctx.yield_(40)
        assert popups() == 0

    drive(window, test)
