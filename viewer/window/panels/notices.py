"""Draws notices, and what is being opened, over the scene."""

from collections.abc import Callable

from imgui_bundle import ImVec2, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...app.notices import Notices
from ..theme import warning_color
from ..viewport import Viewport
from ..widgets import begin_overlay, small_button

_MARGIN = 12


def show_notices(notices: Notices, viewport: Viewport) -> None:
    """Notices at the top of the scene, below a legend that is there, each with a button that dismisses it."""
    notices.drop_expired()
    left, top, right, bottom = viewport.rect
    y = max(top, min(viewport.legend_bottom or top, (top + bottom) / 2)) + _MARGIN
    for i, notice in enumerate(list(notices.items)):
        imgui.set_next_window_pos(ImVec2((left + right) / 2, y), 0, ImVec2(0.5, 0))
        imgui.set_next_window_size_constraints(ImVec2(0, 0), ImVec2(0.9 * (right - left), 400))
        imgui.set_next_window_bg_alpha(0.92)
        begin_overlay(f"notice{i}")
        if notice.warning:
            imgui.text_colored(warning_color(), icons.ICON_FA_TRIANGLE_EXCLAMATION)
            imgui.same_line()
        imgui.push_text_wrap_pos(0.8 * (right - left))
        imgui.text_unformatted(notice.text)
        imgui.pop_text_wrap_pos()
        imgui.same_line()
        if notice.warning:
            if small_button(
                f"{icons.ICON_FA_COPY}###copy", "Copy the text" + (" and where it failed" * bool(notice.details))
            ):
                imgui.set_clipboard_text("\n".join(filter(None, (notice.text, notice.details))))
            imgui.same_line()
        if small_button(f"{icons.ICON_FA_XMARK}###dismiss", "Dismiss"):
            notices.items.remove(notice)
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
    if small_button("Cancel", "Stay with the scene that is open"):
        cancel()
    imgui.end()
