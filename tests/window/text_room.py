"""Records the text that panels draw and the room that it has, to find what is cut and what is printed over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from imgui_bundle import imgui


class DrawnText(NamedTuple):
    """A text in the window, with its rectangle and that of its room [px]: left, top, right, bottom."""

    panel: str
    text: str
    rect: tuple[float, float, float, float]
    room: tuple[float, float, float, float]

    @property
    def in_sight(self) -> bool:
        """True if all its height is inside its room: what is scrolled away is not."""
        return self.rect[1] >= self.room[1] - 1 and self.rect[3] <= self.room[3] + 1

    @property
    def cut(self) -> bool:
        """True if it is wider than its room, or was shortened to it."""
        outside = self.rect[2] > self.room[2] + 1 or self.rect[0] < self.room[0] - 1
        return self.in_sight and (outside or "…" in self.text)

    def covers(self, other: "DrawnText") -> bool:
        """True if the two are printed over each other."""
        wide = min(self.rect[2], other.rect[2]) - max(self.rect[0], other.rect[0])
        high = min(self.rect[3], other.rect[3]) - max(self.rect[1], other.rect[1])
        return self.in_sight and other.in_sight and wide > 2 and high > 3


@contextmanager
def recorded_text() -> Iterator[list[DrawnText]]:
    """While it is open, what the window's last frame drew; clear the list before the frame to look at."""
    drawn: list[DrawnText] = []

    def note(label: str, lead: float = 0.0, room: float = 0.0) -> None:
        """The last item: its text begins `lead` px from its left, and ends `room` px before its right at the latest."""
        text = label.split("##")[0]
        if not text.strip():
            return
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        draw = imgui.get_window_draw_list()
        least, most = draw.get_clip_rect_min(), draw.get_clip_rect_max()
        width = imgui.calc_text_size(text).x
        if high.y - low.y > 1.5 * imgui.get_text_line_height():
            # Wrapped.
            width = min(width, high.x - low.x)
        right = min(most.x, high.x - room) if room else most.x
        panel = imgui.internal.get_current_window().root_window.name
        rect = (low.x + lead, low.y, low.x + lead + width, high.y)
        drawn.append(DrawnText(panel, text, rect, (least.x, least.y, right, most.y)))

    def wrap(name: str, place: int, lead: Callable[[], float], room: Callable[[], float]) -> tuple[str, Any]:
        original = getattr(imgui, name)

        def call(*arguments: Any, **named: Any) -> Any:
            before = imgui.get_cursor_screen_pos().x
            result = original(*arguments, **named)
            if not (name == "begin_combo" and result):
                # What selects a row begins at the row's left, its text at the cursor.
                shift = before - imgui.get_item_rect_min().x if name == "selectable" else 0.0
                note(str(arguments[place]), lead() + shift, room())
            return result

        setattr(imgui, name, call)
        return name, original

    def nothing() -> float:
        return 0.0

    def padding() -> float:
        return float(imgui.get_style().frame_padding.x)

    def box() -> float:
        return float(imgui.get_frame_height() + imgui.get_style().item_inner_spacing.x)

    originals = [
        wrap("text_unformatted", 0, nothing, nothing),
        wrap("text_colored", 1, nothing, nothing),
        wrap("selectable", 0, nothing, nothing),
        wrap("button", 0, padding, nothing),
        wrap("small_button", 0, padding, nothing),
        wrap("checkbox", 0, box, nothing),
        wrap("begin_combo", 1, padding, imgui.get_frame_height),
    ]
    try:
        yield drawn
    finally:
        for name, original in originals:
            setattr(imgui, name, original)
