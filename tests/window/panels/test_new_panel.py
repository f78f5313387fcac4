"""A new panel is one file: it is then docked, shown and listed in the View menu."""

import sys
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.window import panels

from ..driver import drive, make_window

CLOCK = """
from contact_viewer.window.shell import Dock, Panel
from imgui_bundle import imgui

class Clock:
    def show(self, shell):
        imgui.text(f"{shell.app.session.engine.time:.3f} s")
        imgui.button("Wind up")

PANEL = Panel("Clock", Dock.RIGHT, Clock)
"""


def test_a_new_panel_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clock.py").write_text(CLOCK)
    monkeypatch.setattr(panels, "__path__", [*panels.__path__, str(tmp_path)])
    try:
        window = make_window("slope")
    finally:
        sys.modules.pop("contact_viewer.window.panels.clock", None)
    # Behind those with a place of their own, by the names of their modules.
    assert [panel.title for panel in window.panels][-2:] == ["Clock", "Compare"]

    def test(ctx: Any) -> None:
        ctx.window_focus("//Clock")
        ctx.yield_(2)
        assert ctx.item_exists("//Clock/Wind up")
        ctx.menu_click("//##MainMenuBar/View/Clock")
        ctx.yield_(2)
        assert not window.is_panel_shown("Clock")

    drive(window, test)
