"""Each key, and each entry of the menus Record and Help, found by looking: one that is added is used here too."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.window.keys import BINDINGS, Binding
from imgui_bundle import ImVec2, hello_imgui, imgui

from .driver import drive, make_window

Entry = tuple[str, ...]
MENUS = ("File", "Simulation", "View", "Record", "Help")
LAST = {"Quit"}
"""Entries that end the test."""


class MenuWatch:
    """Notes the entries of menus that are drawn, and those that are used."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.menus: set[Entry] = set()
        self.entries: set[Entry] = set()
        self.used: set[Entry] = set()
        self._open: list[str] = []
        self._begin, self._end, self._item = imgui.begin_menu, imgui.end_menu, imgui.menu_item_simple
        monkeypatch.setattr(imgui, "begin_menu", self.begin_menu)
        monkeypatch.setattr(imgui, "end_menu", self.end_menu)
        monkeypatch.setattr(imgui, "menu_item_simple", self.menu_item_simple)

    def begin_menu(self, label: str, enabled: bool = True) -> bool:
        if enabled:
            self.menus.add((*self._open, label))
        opened = self._begin(label, enabled)
        if opened:
            self._open.append(label)
        return opened

    def end_menu(self) -> None:
        self._open.pop()
        self._end()

    def menu_item_simple(
        self, label: str, shortcut: str | None = None, selected: bool = False, enabled: bool = True
    ) -> bool:
        # Some entries change their names.
        entry = (*self._open, "Start" if label == "Stop" else label)
        off = enabled is False or bool(imgui.get_item_flags() & imgui.ItemFlags_.disabled)
        if not off:
            self.entries.add(entry)
        used = self._item(label, shortcut, selected, enabled)
        if used:
            self.used.add(entry)
        return used


def reference(entry: Entry) -> str:
    return "//##MainMenuBar/" + "/".join(label.replace("/", "\\/") for label in entry)


@pytest.mark.parametrize("menu", ["Record", "Help"])
def test_every_menu_entry_is_used(menu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    watch = MenuWatch(monkeypatch)
    window = make_window("gripper", steps=100, width=900, height=700)
    app = window.app

    def test(ctx: Any) -> None:
        imgui.test_engine.get_io(hello_imgui.get_imgui_test_engine()).config_watchdog_kill_test = 170.0
        assert {entry[0] for entry in watch.menus} == set(MENUS)
        looked_into: set[Entry] = set()
        while new := {entry for entry in watch.menus if entry[0] == menu} - looked_into:
            for entry in sorted(new):
                ctx.menu_click(reference(entry))
                ctx.yield_(2)
                looked_into.add(entry)
                ctx.key_press(imgui.Key.escape)
        for entry in sorted(watch.entries):
            if entry[-1] not in LAST:
                ctx.menu_click(reference(entry))
                ctx.yield_(2)
                ctx.key_press(imgui.Key.escape)
        app.recorder.stop()

    drive(window, test)
    assert {entry for entry in watch.entries if entry[-1] not in LAST} <= watch.used
    assert len(watch.used) >= 3


def test_every_key_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    window = make_window("gripper", steps=100, width=700, height=500)
    used: list[str] = []
    monkeypatch.setattr(window, "quit", lambda: None)

    def watched(binding: Binding) -> Binding:
        def act(shell: Any) -> None:
            used.append(binding.text)
            binding.act(shell)

        return replace(binding, act=act)

    monkeypatch.setattr("contact_viewer.window.keys.BINDINGS", tuple(watched(binding) for binding in BINDINGS))

    def test(ctx: Any) -> None:
        ctx.mouse_move_to_pos(ImVec2(*(sum(window.viewport.rect[i::2]) / 2 for i in (0, 1))))
        for binding in sorted(BINDINGS, key=lambda binding: binding.text == "Ctrl+Q"):
            key = binding.key.value
            key |= imgui.Key.mod_ctrl.value if binding.ctrl else 0
            key |= imgui.Key.mod_shift.value if binding.shift else 0
            ctx.key_press(key)
            ctx.yield_(2)
            assert used[-1] == binding.text
            if imgui.internal.get_top_most_popup_modal() is not None:
                ctx.key_press(imgui.Key.escape)

    drive(window, test)
    assert len(used) == len(BINDINGS)
