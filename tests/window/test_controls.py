"""Menus, keys and what they open, in the real window."""

from typing import Any

from imgui_bundle import imgui

from .driver import drive, make_window

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
        rect = window.viewport.rect
        for panel in PANELS:
            if window.is_panel_shown(panel):
                window.toggle_panel(panel)
        ctx.yield_(3)
        assert window.viewport.rect != rect
        ctx.menu_click("//##MainMenuBar/View/Restore layout")
        ctx.yield_(4)
        assert all(window.is_panel_shown(panel) for panel in PANELS)
        assert window.viewport.rect == rect

    drive(window, test)
