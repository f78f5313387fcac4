"""Finds the controls that panels have, in their source and while they are drawn, and notes which of them were used."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import contact_viewer.window
import pytest
from imgui_bundle import ImVec2, imgui

SOURCE = Path(contact_viewer.window.__file__).parent
CLICKED = {"button", "small_button", "checkbox", "radio_button", "selectable", "menu_item_simple", "begin_tab_item"}
OPENED = {"begin_combo", "collapsing_header"}
DRAGGED = {"slider_float", "slider_int", "drag_float"}
TYPED = {"input_text", "input_text_with_hint", "input_float", "input_double", "input_int"}
KINDS = CLICKED | OPENED | DRAGGED | TYPED
"""ImGui's functions that make what a user can use."""
EXPLAINED = {"button", "small_button", "checkbox", "radio_button", "begin_combo"} | DRAGGED | TYPED
"""Those that need a tooltip; what a list or a menu offers is its own explanation."""
HELPERS = {"button", "small_button", "icon_button", "eye_button", "checkbox", "choose", "slider"} | {
    "menu_item",
    "number_field",
    "filter_field",
}
"""Functions of the window that make one of them; their callers count."""


class Site(NamedTuple):
    """A place in the source where a control is made."""

    file: str
    line: int
    text: str


class Key(NamedTuple):
    """A control, whatever row it is in."""

    site: Site
    label: str


@dataclass
class Drawn:
    """A control in the last frame."""

    kind: str
    low: ImVec2
    high: ImVec2
    window: int
    """Id of the panel or popup that it is in."""


def sites() -> dict[str, list[tuple[int, int, Site]]]:
    """Every place in the source of the window that makes a control, by file: first line, last line, site."""
    found: dict[str, list[tuple[int, int, Site]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        places = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and _makes_control(node.func):
                site = Site(str(path.relative_to(SOURCE)), node.lineno, ast.get_source_segment(text, node) or "")
                places.append((node.lineno, node.end_lineno or node.lineno, site))
        found[str(path)] = places
    return found


def _makes_control(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        module = function.value.id if isinstance(function.value, ast.Name) else ""
        return function.attr in {"imgui": KINDS, "ui": HELPERS}.get(module, set())
    return isinstance(function, ast.Name) and function.id in HELPERS


class ControlWatch:
    """Notes controls while they are drawn, and those that a user has used."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = sites()
        self.known = {site for places in found.values() for _, _, site in places}
        """All that the source has."""
        self._by_line: dict[str, dict[int, Site]] = {file: {} for file in found}
        """The site of each line, by file; of calls inside each other, the outer one."""
        for file, places in found.items():
            for first, last, site in places:
                for line in range(first, last + 1):
                    self._by_line[file].setdefault(line, site)
        self.used_sites: set[Site] = set()
        self.used: set[Key] = set()
        self.drawn: dict[Key, Drawn] = {}
        """Those that can be used, since this was emptied; of alike ones in several rows, the first."""
        self.unexplained: set[Site] = set()
        """Those without a tooltip."""
        self._awaits_tooltip: Site | None = None
        for kind in sorted(KINDS):
            self._wrap(monkeypatch, kind)
        for name in ("set_item_tooltip", "is_item_hovered"):
            self._wrap_tooltip(monkeypatch, name)

    def _wrap(self, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
        original = getattr(imgui, kind)

        def call(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            self._note(kind, str(arguments[0]), result)
            return result

        monkeypatch.setattr(imgui, kind, call)

    def _wrap_tooltip(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        original = getattr(imgui, name)

        def call(*arguments: Any) -> Any:
            self._awaits_tooltip = None
            return original(*arguments)

        monkeypatch.setattr(imgui, name, call)

    def _note(self, kind: str, label: str, result: Any) -> None:
        on_stack = list(self._on_stack(sys._getframe(2)))
        if not on_stack:
            return
        if self._awaits_tooltip is not None:
            self.unexplained.add(self._awaits_tooltip)
        self._awaits_tooltip = on_stack[-1] if kind in EXPLAINED and not (kind == "begin_combo" and result) else None
        # What helpers make belongs to their caller.
        key = Key(on_stack[-1], label.split("###")[-1])
        if kind == "begin_tab_item":
            used = result[0] and imgui.is_item_clicked()
        elif kind == "collapsing_header":
            used = imgui.is_item_toggled_open()
        else:
            used = result[0] if isinstance(result, tuple) else result
        if used:
            # Whoever offers a choice is used once something is chosen.
            self.used_sites.update(on_stack[:1] if kind == "begin_combo" else on_stack)
            self.used.add(key)
        opened = kind == "begin_combo" and result
        if not opened and not imgui.get_item_flags() & imgui.ItemFlags_.disabled and key not in self.drawn:
            self._add(kind, key)

    def _on_stack(self, frame: FrameType | None) -> Iterator[Site]:
        """The sites that are being called, the innermost first."""
        while frame is not None:
            site = self._by_line.get(frame.f_code.co_filename, {}).get(frame.f_lineno)
            if site is not None:
                yield site
            frame = frame.f_back

    def _add(self, kind: str, key: Key) -> None:
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        draw = imgui.get_window_draw_list()
        least, most = draw.get_clip_rect_min(), draw.get_clip_rect_max()
        # What is scrolled away cannot be used.
        left, right = max(low.x, least.x), min(high.x, most.x)
        if low.y >= least.y - 1 and high.y <= most.y + 1 and left < right:
            window = imgui.internal.get_current_window().root_window.id_
            self.drawn[key] = Drawn(kind, ImVec2(left, low.y), ImVec2(right, high.y), window)
