"""Text, numbers, buttons and tables that several panels share."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import NamedTuple, TypeVar

from imgui_bundle import ImVec2, ImVec4, imgui, imgui_ctx
from imgui_bundle import icons_fontawesome_6 as icons

from ..errors import SceneError
from ..mjmodel.names import PAIR
from .theme import FONTS, NUMBER_SIZE, dim_color, warning_color

T = TypeVar("T")
NO_COLOR = ImVec4(0, 0, 0, 0)
_FOR_TOOLTIP = imgui.HoveredFlags_.for_tooltip.value
_OVERLAY = (
    imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_focus_on_appearing | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_move
)  # fmt: skip
Measure = Callable[[str], float]
"""Function that returns the width of a text."""

_PLACES = (0.5, 0.75, 0.25, 1.0, 0.0)
"""Positions of the ellipsis in a shortened name, as a part of the letters that are kept, in order of preference."""

_KIND = re.compile(r"(^| )(?:geom|body|subtree|site) (?=\S)")


def shorten(text: str, room: float, measure: Measure, place: float = _PLACES[0]) -> str:
    """Return a text that is at most `room` wide, with an ellipsis for the part that was cut.

    A pair first loses the kinds of its two objects, such as `geom`, then a part of each name.
    """
    if measure(text) <= room:
        return text
    first, pair, second = text.partition(PAIR)
    if not pair:
        return _cut(text, room, measure, place)
    # That they are geoms or bodies says less than their names.
    first, second = without_kinds(first), without_kinds(second)
    room -= measure(pair)
    # What a short name leaves is for the other one.
    first = _cut(first, max(0.5 * room, room - measure(second)), measure, place)
    return first + pair + _cut(second, room - measure(first), measure, place)


def without_kinds(text: str) -> str:
    """Return names without the kinds before them, such as `geom`."""
    return _KIND.sub(r"\1", text)


def shorten_all(texts: Sequence[str], fit: Callable[[str, float], str]) -> list[str]:
    """Return the texts of a list, shortened so that different ones stay different if there is room for that.

    `fit` shortens one text, with the ellipsis at a position.
    """
    shown = {text: fit(text, _PLACES[0]) for text in texts}
    if len(set(shown.values())) < len(shown):
        times = Counter(shown.values())
        alike = [text for text, short in shown.items() if times[short] > 1]
        ways = [[fit(text, place) for text in alike] for place in _PLACES]
        shown.update(zip(alike, max(ways, key=lambda way: len(set(way))), strict=True))
    return [shown[text] for text in texts]


def _cut(text: str, room: float, measure: Measure, place: float) -> str:
    if measure(text) <= room:
        return text
    fewest, most = 0, len(text) - 1
    while fewest < most:
        kept = (fewest + most + 1) // 2
        if measure(_keep(text, kept, place)) <= room:
            fewest = kept
        else:
            most = kept - 1
    return _keep(text, fewest, place)


def _keep(text: str, count: int, place: float) -> str:
    """Return the first and last letters of a text, `count` in total, with an ellipsis between them."""
    head = round(place * count)
    return f"{text[:head]}…{text[len(text) - (count - head) :]}"


def format_number(value: float, decimals: int = 3) -> str:
    """Return a value as text whose width stays the same while the value changes: fixed decimals, exponents only at the
    extremes.
    """
    size = abs(value)
    if value != value:
        return "-"
    if size < 0.5 * 10.0**-decimals:
        return f"{0.0:.{decimals}f}"
    if size >= 1e5:
        return f"{value:.2e}"
    return f"{value:.{decimals - 1 if size >= 1000 else decimals}f}"


def number_font() -> AbstractContextManager[object]:
    """Draw text in the fixed-width typeface within a `with` block."""
    return imgui_ctx.push_font(FONTS.number, NUMBER_SIZE)


def text_color(color: ImVec4) -> AbstractContextManager[object]:
    """Draw text in a colour within a `with` block."""
    return imgui_ctx.push_style_color(imgui.Col_.text, color)


@contextmanager
def disabled(off: bool) -> Iterator[None]:
    """Disable controls within a `with` block if `off`; their tooltips still show."""
    imgui.begin_disabled(off)
    yield
    imgui.end_disabled()


def text_right(text: str, color: ImVec4 | None = None, right: float | None = None) -> None:
    """Draw text that ends at `right` (window coordinates), or at the end of the cell or window."""
    if right is None:
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
    imgui.set_cursor_pos_x(max(imgui.get_cursor_pos_x(), right - imgui.calc_text_size(text).x))
    if color is None:
        imgui.text_unformatted(text)
    else:
        imgui.text_colored(color, text)


def number_cell(value: float, color: ImVec4 | None = None, decimals: int = 3) -> None:
    """Draw a right-aligned number in the next column of a table."""
    imgui.table_next_column()
    text_right(format_number(value, decimals), color)


def dim_text(text: str) -> None:
    """Draw a text in the dim colour."""
    imgui.text_colored(dim_color(), text)


def paragraph(text: str, color: ImVec4 | None = None) -> None:
    """Draw text wrapped at the panel's edge, in the dim colour unless another is given."""
    with text_color(color or dim_color()):
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(text)
        imgui.pop_text_wrap_pos()


def tooltip(text: str | Callable[[], str]) -> None:
    """Show a tooltip while the mouse rests on the last item; pass a function if the text is slow to make."""
    if imgui.is_item_hovered(_FOR_TOOLTIP):
        imgui.set_tooltip((text if isinstance(text, str) else text()).replace("%", "%%"))


def literal(text: str) -> str:
    """Return a name to use in a label or an id: ImGui would hide what follows `##`.

    A carriage return, which ImGui does not draw, separates each `#` from the next.
    """
    return text.replace("#", "#\r")


def button(label: str, help_text: str, width: float = 0.0) -> bool:
    """Draw a button with a tooltip; return True if it was pressed."""
    pressed = imgui.button(label, ImVec2(width, 0))
    tooltip(help_text)
    return pressed


def small_button(label: str, help_text: str) -> bool:
    """Draw a button as high as text, with a tooltip; return True if it was pressed."""
    pressed = imgui.small_button(label)
    tooltip(help_text)
    return pressed


def icon_button(icon: str, label: str) -> bool:
    """Draw a square button as high as a field, with `label` as its id; return True if it was pressed."""
    size = imgui.get_frame_height()
    # The padding of text would leave too little room for icons.
    with imgui_ctx.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(0, imgui.get_style().frame_padding.y)):
        return imgui.button(f"{icon}###{label}", ImVec2(size, size))


def eye_button(shown: bool, what: str, color: ImVec4) -> bool:
    """Draw an eye, open if `shown`, that a click opens or closes; return the new state."""
    with text_color(color), imgui_ctx.push_style_color(imgui.Col_.button, NO_COLOR):
        pressed = imgui.small_button(f"{icons.ICON_FA_EYE if shown else icons.ICON_FA_EYE_SLASH}###visible")
    tooltip(f"Hide {what}" if shown else f"Show {what}")
    return shown ^ pressed


def right_of_line(width: float) -> None:
    """Continue the line at its right end, for an item whose text has a width [px]."""
    imgui.same_line()
    room = imgui.get_content_region_avail().x - width - 2 * imgui.get_style().frame_padding.x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))


def slots_text(slots: int) -> str:
    """Return a number of slots in words."""
    return "1 slot" if slots == 1 else f"{slots} slots"


def flow(width: float) -> None:
    """Continue the line with an item of a width [px], or begin the next line if there is no room for it."""
    imgui.same_line()
    if imgui.get_content_region_avail().x < width:
        imgui.new_line()


def checkbox(label: str, on: bool, help_text: str) -> bool:
    """Draw a checkbox with a tooltip; return True if it is checked."""
    on = imgui.checkbox(label, on)[1]
    tooltip(help_text)
    return on


def fitted_text(text: str, width: float) -> None:
    """Draw text cut to a width [px]; if it is cut, the tooltip has all of it."""
    fitted = fit_text(text, width)
    imgui.text_unformatted(fitted)
    if fitted != text:
        tooltip(text)


def fit_text(text: str, width: float) -> str:
    """Return a text shortened to a width [px]: see `shorten`."""
    return _fit_text(text, 0.5, width, imgui.get_font_size())


def fit_texts(texts: Sequence[str], width: float) -> list[str]:
    """Return the texts of a list shortened to a width [px]; different ones stay different if there is room for that."""
    size = imgui.get_font_size()
    return shorten_all(texts, lambda text, place: _fit_text(text, place, width, size))


def combo_text(text: str, width: float) -> str:
    """Return a text shortened to fit into a closed list of a width [px], beside its arrow."""
    return fit_text(text, width - imgui.get_frame_height() - 2 * imgui.get_style().frame_padding.x)


@lru_cache(4096)
def _fit_text(text: str, place: float, width: float, font_size: float) -> str:
    """Return a shortened text in the present font, whose size is part of the cache's key."""
    return shorten(text, width, lambda part: float(imgui.calc_text_size(part).x), place)


def heading(text: str) -> None:
    """Draw a section title inside a panel."""
    imgui.spacing()
    imgui.separator_text(literal(text))


def choose(
    label: str,
    value: T,
    values: Iterable[T],
    width: float,
    help_text: str | Mapping[T, str],
    name: Callable[[T], str] = str,
    preview: str | None = None,
) -> T:
    """Draw a list to choose one of some values; return the chosen one.

    Args:
        label: ImGui's label.
        value: Value that is chosen now.
        values: Values to choose from.
        width: Width of the closed list [px].
        help_text: Tooltip, or one for each value.
        name: Function that returns the text of a value.
        preview: Text of the closed list; None for the text of the value.
    """
    imgui.set_next_item_width(width)
    if not imgui.begin_combo(label, literal(name(value) if preview is None else preview)):
        tooltip(help_text if isinstance(help_text, str) else help_text[value])
        return value
    chosen = value
    for each in values:
        if imgui.selectable(literal(name(each)), each == value)[0]:
            chosen = each
        if not isinstance(help_text, str):
            tooltip(help_text[each])
    imgui.end_combo()
    return chosen


def menu_item(
    label: str, act: Callable[[], object], key: str | None = None, on: bool = False, enabled: bool = True
) -> None:
    """Draw an entry of a menu that calls `act` when it is chosen, with a check mark if it is `on`."""
    if imgui.menu_item_simple(label, key, on, enabled):
        act()


def number_field(label: str, value: float, width: float, form: str, help_text: str) -> float | None:
    """Draw a field for a number; return the typed one when Enter is pressed, else None."""
    imgui.set_next_item_width(width)
    entered, value = imgui.input_double(label, value, 0.0, 0.0, form, imgui.InputTextFlags_.enter_returns_true)
    tooltip(help_text)
    return value if entered else None


def filter_field(label: str, hint: str, text: str, width: float, help_text: str) -> str:
    """Draw a field for words to filter names by; return the typed text, for `has_words`."""
    imgui.set_next_item_width(width)
    text = imgui.input_text_with_hint(label, hint, text)[1]
    tooltip(help_text)
    return text


def has_words(name: str, text: str) -> bool:
    """Return True if a name contains all words of a text, in upper or lower case."""
    name = name.lower()
    return all(word in name for word in text.lower().split())


def visible_rows(count: int, height: float = -1.0) -> Iterator[int]:
    """Yield the numbers of the rows that are scrolled into view; `height` of a row [px] if it is known."""
    clipper = imgui.ListClipper()
    clipper.begin(count, height)
    while clipper.step():
        yield from range(clipper.display_start, clipper.display_end)


class Heading(NamedTuple):
    """Heading of a table's column."""

    name: str
    """Text of the heading, with the unit in a second line."""
    widest: str | float | None
    """Width [px], or a text as wide as the content; empty: the column takes the room that is left; None: it fits its
    content."""
    help_text: str = ""
    left: bool = False
    """True if the column is left-aligned, as text is; numbers are right-aligned."""

    @property
    def width(self) -> float:
        """Least width of the column [px]; 0 if it depends on the content."""
        if not isinstance(self.widest, str):
            return self.widest or 0.0
        return max(imgui.calc_text_size(text).x for text in (self.name, self.widest)) if self.widest else 0.0


_STRETCHES, _FIXED = imgui.TableColumnFlags_.width_stretch, imgui.TableColumnFlags_.width_fixed


def table_headings(headings: Sequence[Heading], colors: Mapping[str, ImVec4] | None = None, frozen: int = 0) -> None:
    """Set up the columns of a table and show their headings, dim unless they have a colour in `colors`.

    `frozen`: number of columns that do not scroll sideways.
    """
    imgui.table_setup_scroll_freeze(frozen, 1)
    for heading in headings:
        imgui.table_setup_column(heading.name, _STRETCHES if heading.widest == "" else _FIXED, heading.width)
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    dim = dim_color()
    for i, heading in enumerate(headings):
        imgui.table_set_column_index(i)
        color = colors.get(heading.name, dim) if colors else dim
        imgui.begin_group()
        for line in heading.name.split("\n"):
            imgui.text_colored(color, line) if heading.left else text_right(line, color)
        imgui.end_group()
        if heading.help_text:
            tooltip(heading.help_text)


def table_rows(
    table: str,
    headings: Sequence[Heading],
    count: int,
    flags: int = 0,
    size: ImVec2 | None = None,
    *,
    colors: Mapping[str, ImVec4] | None = None,
    frozen: int = 0,
    height: float = -1.0,
) -> Iterator[int]:
    """Draw a table whose rows the caller fills: yield the numbers of the rows that are scrolled into view.

    Args:
        table: ImGui's id of the table.
        headings: Columns of the table.
        count: Number of rows.
        flags: ImGui's table flags.
        size: Outer size [px]; None for the room that is left.
        colors: Colours of headings by name; the others are dim.
        frozen: Number of columns that do not scroll sideways.
        height: Height of a row [px]; -1 if it is not known.
    """
    if imgui.begin_table(table, len(headings), flags, size or ImVec2(0, 0)):
        table_headings(headings, colors, frozen)
        for row in visible_rows(count, height):
            imgui.table_next_row(0, max(height, 0.0))
            yield row
        imgui.end_table()


def fitting(
    headings: Sequence[Heading], room: float, least_important: Sequence[str], names: float = 0.0
) -> list[Heading]:
    """Return the headings without the least important ones that do not fit into a width [px].

    `names`: room for the column that takes the width that is left [px].
    """
    padding = 2 * imgui.get_style().cell_padding.x
    kept = list(headings)
    for name in least_important:
        if sum(heading.width + padding for heading in kept) + names > room:
            kept = [heading for heading in kept if heading.name != name]
    return kept


@contextmanager
def popup(name: str, above: bool = False) -> Iterator[bool]:
    """Draw a popup in a `with` block, which is given True while it is open. `above`: place it above the last item."""
    if above and imgui.is_popup_open(name):
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        # On the side of the window where it has room.
        is_right = low.x > 0.5 * imgui.get_main_viewport().size.x
        place = ImVec2(high.x if is_right else low.x, low.y - imgui.get_style().item_spacing.y)
        imgui.set_next_window_pos(place, 0, ImVec2(float(is_right), 1))
    opened = imgui.begin_popup(name)
    if opened:
        shade = imgui.get_style().color_(imgui.Col_.frame_bg_hovered)
        imgui.push_style_color(imgui.Col_.frame_bg, shade)
        imgui.push_style_color(imgui.Col_.button, shade)
    yield opened
    if opened:
        imgui.pop_style_color(2)
        imgui.end_popup()


class Message:
    """Result of an editor's last action, or the reason why it failed."""

    def __init__(self) -> None:
        self.text = ""
        self.failed = False
        """True if the text is the reason of a failure."""

    def set(self, text: str, *, failed: bool = False) -> None:
        self.text, self.failed = text, failed

    def attempt(self, action: Callable[[], T]) -> T | None:
        """Return the result of an action; if it raises SceneError or ValueError, show the reason and return None."""
        self.set("")
        try:
            return action()
        except (SceneError, ValueError) as error:
            self.set(str(error), failed=True)
            return None

    def show(self) -> None:
        if self.text:
            paragraph(self.text, warning_color() if self.failed else dim_color())


def begin_overlay(name: str) -> None:
    """Begin a small window over the scene, as large as its content, that cannot be moved. `imgui.end` ends it."""
    imgui.begin(f"##{name}", None, _OVERLAY)
