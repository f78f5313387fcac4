"""Each key and each menu entry, found by looking: one that is added is used here too."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.window.keys import BINDINGS, Binding
from imgui_bundle import ImVec2, hello_imgui, imgui

from .driver import drive, make_window

Entry = tuple[str, ...]
MENUS = ("File", "Simulation", "View", "Record", "Help")


class MenuWatch:
    """Notes the menus and entries that are drawn and where, and the entries that are used."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entries: set[Entry] = set()
        """Entries that can be used."""
        self.used: set[Entry] = set()
        self.places: dict[Entry, ImVec2] = {}
        """Middles of what was drawn since this was emptied, menus among it."""
        self.menus: set[Entry] = set()
        self._open: list[str] = []
        self._begin, self._end, self._item = imgui.begin_menu, imgui.end_menu, imgui.menu_item_simple
        monkeypatch.setattr(imgui, "begin_menu", self.begin_menu)
        monkeypatch.setattr(imgui, "end_menu", self.end_menu)
        monkeypatch.setattr(imgui, "menu_item_simple", self.menu_item_simple)

    def begin_menu(self, label: str, enabled: bool = True) -> bool:
        opened = self._begin(label, enabled)
        entry = (*self._open, label)
        if enabled:
            self.menus.add(entry)
            self._note(entry)
        if opened:
            self._open.append(label)
            # A menu stays open when an entry is clicked: to open it again for each takes many frames.
            imgui.push_item_flag(imgui.ItemFlags_.auto_close_popups, False)
        return opened

    def end_menu(self) -> None:
        imgui.pop_item_flag()
        self._open.pop()
        self._end()

    def menu_item_simple(
        self, label: str, shortcut: str | None = None, selected: bool = False, enabled: bool = True
    ) -> bool:
        # Some entries change their names.
        entry = (*self._open, "Start" if label == "Stop" else label)
        used = self._item(label, shortcut, selected, enabled)
        if enabled is not False and not imgui.get_item_flags() & imgui.ItemFlags_.disabled:
            self.entries.add(entry)
            self._note(entry)
        if used:
            self.used.add(entry)
        return used

    def _note(self, entry: Entry) -> None:
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        self.places[entry] = ImVec2((low.x + high.x) / 2, (low.y + high.y) / 2)


@pytest.mark.timeout(600)
def test_every_menu_entry_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    watch = MenuWatch(monkeypatch)
    window = make_window("gripper", steps=100, width=420, height=860)
    app = window.app
    app.session.settings.recent_scenes = str(tmp_path / "earlier.xml")
    # What opens takes seconds, and has tests of its own: here it is enough to know that it was asked for.
    asked: list[str] = []
    for name in ("open_scene", "switch_engine", "reload"):
        monkeypatch.setattr(app, name, lambda *what: asked.append(str(what)))
    monkeypatch.setattr(window, "toggle_fullscreen", lambda: None)

    def click(ctx: Any, entry: Entry) -> None:
        if len(entry) == 1:
            # While another menu is open the mouse opens this one, and a click closes it.
            for _ in range(max(len(place) for place in watch.places) - 1):
                ctx.key_press(imgui.Key.escape)
        ctx.mouse_move_to_pos(watch.places[entry])
        ctx.mouse_click(0)
        ctx.yield_(1)
        if imgui.internal.get_top_most_popup_modal() is not None:
            ctx.key_press(imgui.Key.escape)
        watch.places.clear()
        ctx.yield_(1)

    def test(ctx: Any) -> None:
        imgui.test_engine.get_io(hello_imgui.get_imgui_test_engine()).config_watchdog_kill_test = 580.0
        assert {entry[0] for entry in watch.menus} == set(MENUS)
        tried: Counter[Entry] = Counter()
        # Menus on the way to an entry first, the entries of an open menu one after the other. A menu that has just been
        # opened, or whose entries change, may move them away from the mouse: then once more.
        for tries in (1, 2, 3):
            while new := {
                entry
                for entry in watch.menus | watch.entries - watch.used - {("File", "Quit")}
                if tried[entry] < (1 if entry in watch.menus else tries)
            }:
                entry = min(new, key=lambda entry: (entry[:-1], entry in watch.menus, entry))
                for depth in range(1, len(entry)):
                    if entry[: depth + 1] not in watch.places:
                        click(ctx, entry[:depth])
                tried[entry] += 1
                click(ctx, entry)
        app.recorder.stop()

    drive(window, test)
    assert watch.entries - watch.used == {("File", "Quit")}
    assert len(watch.used) > 80
    assert len(asked) > 12


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
