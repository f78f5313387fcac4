"""Menus, lists, sliders and panels are used by keyboard alone, and the scene keeps its keys until then."""

from pathlib import Path
from typing import Any

import numpy as np
from contact_viewer.settings import ScaleMode
from imgui_bundle import imgui

from .driver import drive, make_window, screenshot, wait

Key = imgui.Key


def press(ctx: Any, *keys: int) -> None:
    for key in keys:
        ctx.key_press(key)
        ctx.yield_(3)


def test_a_menu_is_reached_and_chosen_from_by_keyboard() -> None:
    window = make_window("quadruped")

    def test(ctx: Any) -> None:
        ctx.yield_(5)
        window_count = window.frame_count
        press(ctx, Key.f10)
        assert imgui.get_io().nav_visible
        # File, Simulation, View; then down to what shows contact points.
        press(ctx, Key.right_arrow, Key.right_arrow, Key.down_arrow)
        assert imgui.get_current_context().open_popup_stack.size() == 1
        points = window.app.session.settings.gizmos.points
        time = window.app.session.engine.time
        press(ctx, Key.enter)
        assert window.app.session.settings.gizmos.points is not points
        # No key of these was taken for a step of the scene.
        assert window.app.session.engine.time == time
        press(ctx, Key.escape, Key.escape, Key.escape)
        assert not imgui.get_io().nav_visible
        press(ctx, Key.right_arrow)
        assert window.app.session.engine.time > time
        assert window.frame_count > window_count

    drive(window, test)


def test_a_panel_is_reached_and_its_focus_is_seen(tmp_path: Path) -> None:
    window = make_window("quadruped")

    def test(ctx: Any) -> None:
        ctx.yield_(5)
        ctx.window_focus("//Sensors")
        ctx.mouse_move("//Display")
        ctx.yield_(3)
        before = screenshot(ctx, tmp_path / "before.png")
        names: set[str] = set()
        for _ in range(12):
            ctx.key_press(Key.mod_ctrl | Key.tab)
            ctx.yield_(4)
            focused = imgui.get_current_context().nav_window
            names.add(focused.name if focused is not None else "")
            if focused is not None and focused.name == "Display":
                break
        assert "Display" in names
        settings = window.app.session.settings
        seen = set()
        changed = settings.to_json()
        for _ in range(30):
            press(ctx, Key.tab)
            seen.add(imgui.get_current_context().nav_id)
        assert len(seen) > 10
        assert imgui.get_io().nav_visible
        after = screenshot(ctx, tmp_path / "after.png")
        assert (np.abs(after.astype(int) - before).max(axis=-1) > 60).sum() > 50
        press(ctx, Key.space)
        wait(ctx, lambda: settings.to_json() != changed)

    drive(window, test)


def test_a_slider_is_moved_and_a_list_is_chosen_from_by_keyboard() -> None:
    window = make_window("quadruped")

    def test(ctx: Any) -> None:
        gizmos = window.app.session.settings.gizmos
        ctx.yield_(5)
        ctx.window_focus("//Display")

        def go_to(label: str) -> None:
            wanted = ctx.item_info(f"//Display/{label}").id_
            for _ in range(60):
                press(ctx, Key.tab)
                if imgui.get_current_context().nav_id == wanted:
                    return
            raise AssertionError(f"{label} is not reached")

        while imgui.get_current_context().nav_window.name != "Display" or not imgui.get_io().nav_visible:
            press(ctx, Key.mod_ctrl | Key.tab)
        go_to("length")
        # Tab begins to type into a slider; once that has ended, Space and arrows move it.
        ctx.key_chars_replace_enter("2.5")
        ctx.yield_(3)
        assert gizmos.length == 2.5
        press(ctx, Key.space, Key.right_arrow, Key.right_arrow, Key.space)
        assert 2.5 < gizmos.length < 4.0
        go_to("scale")
        press(ctx, Key.space, Key.down_arrow, Key.enter)
        assert gizmos.scale_mode is ScaleMode.FIXED
        assert window.app.session.paused
        press(ctx, Key.escape, Key.escape)
        press(ctx, Key.space)
        assert not window.app.session.paused

    drive(window, test)
