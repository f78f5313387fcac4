"""Shows under the timeline how exactly each step of a saved run, a log or a user's loop was taken again."""

import numpy as np
from imgui_bundle import ImVec2, imgui
from numpy.typing import NDArray

from ...engines.logged_steps import CLOSE, UNKNOWN, LoggedSteps
from ...session.history import History
from ...session.session import Session
from ..theme import dim_color, faded, warning_color

_HEIGHT = 0.2
"""Of the band, as a part of the timeline's height."""


def draw_band(session: Session, history: History, logged: LoggedSteps) -> int | None:
    """Draw the band over the lower edge of the last item, the timeline; returns the step that the mouse points at."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    # A slider's handle does not reach the ends.
    inset = 0.5 * imgui.get_style().grab_min_size + 2
    left, right = low.x + inset, high.x - inset
    count = history.last - history.first + 1
    start = history.first + session.simulation.log_start
    columns = max(1, int(right - left))
    band = logged.verdicts.band(start, start + count, columns)
    tints = _tints(logged.verdicts.differences(start, start + count, columns))
    top = high.y - max(3.0, _HEIGHT * (high.y - low.y))
    draw, width = imgui.get_window_draw_list(), (right - left) / max(len(band), 1)
    begin = 0
    for end in range(1, len(band) + 1):
        if end < len(band) and band[end] == band[begin] and tints[end] == tints[begin]:
            continue
        color, upper = faded(dim_color(), 0.5), top
        if band[begin] == UNKNOWN:
            color = warning_color()
        elif band[begin] == CLOSE:
            color, upper = faded(warning_color(), float(tints[begin])), 0.5 * (top + high.y)
        # A single step stays visible.
        x = left + begin * width
        stop = max(left + end * width, x + 1.0)
        draw.add_rect_filled(ImVec2(x, upper), ImVec2(stop, high.y), imgui.get_color_u32(color))
        begin = end
    if not imgui.is_item_hovered():
        return None
    part = (imgui.get_mouse_pos().x - left) / max(right - left, 1.0)
    return history.first + round(min(max(part, 0.0), 1.0) * (count - 1))


def draw_marks(history: History) -> None:
    """Mark the steps of a user's loop that could not be taken exactly, on the last item, the timeline."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    inset = 0.5 * imgui.get_style().grab_min_size + 2
    left, width = low.x + inset, max(1.0, high.x - low.x - 2 * inset)
    steps = np.fromiter(history.marks, np.int64, len(history.marks))
    steps = steps[steps >= history.first]
    # Each pixel once, however many steps it stands for.
    places = np.unique((steps - history.first) * width // max(history.last - history.first, 1))
    top, color = high.y - max(3.0, _HEIGHT * (high.y - low.y)), imgui.get_color_u32(warning_color())
    draw = imgui.get_window_draw_list()
    for place in places.tolist():
        draw.add_rect_filled(ImVec2(left + place, top), ImVec2(left + place + 1.0, high.y), color)


def _tints(differences: NDArray[np.float32]) -> NDArray[np.float64]:
    """How strong the colour of steps is that differ so much, in five levels: from the last digits to 1 %."""
    level = np.clip((np.log10(np.maximum(differences, 1e-30)) + 12.0) / 10.0, 0.0, 1.0)
    return 0.3 + 0.7 * np.round(4.0 * level) / 4.0


def log_text(session: Session, logged: LoggedSteps) -> str:
    """The file and how far it was read, for the status bar."""
    if logged.done:
        return logged.path.name
    history = session.history
    read = 0.0 if history is None else history.time(history.last) - logged.start
    return f"{logged.path.name}, {100 * read / max(logged.duration, 1e-12):.0f} % read"
