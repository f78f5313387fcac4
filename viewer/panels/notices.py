"""Notices over the scene: what went wrong or is done, one line each, gone when dismissed or out of date."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from imgui_bundle import ImVec2, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ..engines.errors import SceneError
from ..settings import Theme
from .theme import warning_color
from .viewport import Viewport
from .widgets import begin_overlay, tooltip

T = TypeVar("T")
_SHOWN_SECONDS = 8.0
_MARGIN = 12
_AT_MOST = 4


@dataclass
class Notice:
    """One message."""

    text: str
    warning: bool = False
    """Stays until it is dismissed."""
    since: float = field(default_factory=time.monotonic)


class Notices:
    """The messages that are up."""

    def __init__(self) -> None:
        self.items: list[Notice] = []

    def say(self, text: str, *, warning: bool = False) -> None:
        """Put a message up; one that is up already moves to the end."""
        self.items = [notice for notice in self.items if notice.text != text][1 - _AT_MOST :]
        self.items.append(Notice(text, warning))

    def attempt(self, action: Callable[[], T]) -> T | None:
        """The result of something that may fail; then None, and the reason is put up."""
        try:
            return action()
        except SceneError as error:
            self.say(str(error), warning=True)
            return None

    def show(self, viewport: Viewport, theme: Theme) -> None:
        """Draw at the top of the scene."""
        now = time.monotonic()
        self.items = [notice for notice in self.items if notice.warning or now - notice.since < _SHOWN_SECONDS]
        left, top, right, _ = viewport.rect
        y = top + _MARGIN
        for i, notice in enumerate(list(self.items)):
            imgui.set_next_window_pos(ImVec2((left + right) / 2, y), 0, ImVec2(0.5, 0))
            imgui.set_next_window_size_constraints(ImVec2(0, 0), ImVec2(0.9 * (right - left), 400))
            imgui.set_next_window_bg_alpha(0.92)
            begin_overlay(f"notice{i}")
            if notice.warning:
                imgui.text_colored(warning_color(theme), icons.ICON_FA_TRIANGLE_EXCLAMATION)
                imgui.same_line()
            imgui.push_text_wrap_pos(0.8 * (right - left))
            imgui.text_unformatted(notice.text)
            imgui.pop_text_wrap_pos()
            imgui.same_line()
            if imgui.small_button(f"{icons.ICON_FA_XMARK}###dismiss"):
                self.items.remove(notice)
            tooltip("Dismiss")
            y += imgui.get_window_height() + 6
            imgui.end()


def show_progress(viewport: Viewport, text: str | None, cancel: Callable[[], None]) -> None:
    """What is being opened, at the bottom of the scene, with a way out."""
    if text is None:
        return
    left, _, right, bottom = viewport.rect
    imgui.set_next_window_pos(ImVec2((left + right) / 2, bottom - _MARGIN), 0, ImVec2(0.5, 1))
    begin_overlay("progress")
    imgui.text_unformatted(text)
    imgui.same_line()
    if imgui.small_button("Cancel"):
        cancel()
    imgui.end()
