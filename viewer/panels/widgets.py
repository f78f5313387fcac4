"""Small things that several panels draw alike."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import TypeVar

from imgui_bundle import ImVec2, ImVec4, imgui

from .theme import FONTS, NUMBER_SIZE, dim_color

E = TypeVar("E", bound=StrEnum)


def format_number(value: float, decimals: int = 3) -> str:
    """A value whose text keeps its width while it changes: fixed decimals, exponents only at the extremes."""
    size = abs(value)
    if value != value:
        return "nan"
    if size < 0.5 * 10.0**-decimals:
        return f"{0.0:.{decimals}f}"
    if size >= 1e5:
        return f"{value:.2e}"
    return f"{value:.{decimals - 1 if size >= 1000 else decimals}f}"


def number_font() -> None:
    """Switch to the fixed-width face, until `imgui.pop_font`."""
    imgui.push_font(FONTS.number, NUMBER_SIZE)


def text_right(text: str, color: ImVec4 | None = None, right: float | None = None) -> None:
    """Right-aligned text that ends at `right` (window coordinates), or at the end of the cell or window."""
    if right is None:
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
    imgui.set_cursor_pos_x(max(imgui.get_cursor_pos_x(), right - imgui.calc_text_size(text).x))
    if color is None:
        imgui.text_unformatted(text)
    else:
        imgui.text_colored(color, text)


def number_cell(value: float, color: ImVec4 | None = None, decimals: int = 3) -> None:
    """A right-aligned number in the next column of a table."""
    imgui.table_next_column()
    text_right(format_number(value, decimals), color)


def dim_text(text: str) -> None:
    imgui.push_style_color(imgui.Col_.text, dim_color())
    imgui.text_unformatted(text)
    imgui.pop_style_color()


def paragraph(text: str) -> None:
    """Dim text, wrapped at the panel's edge."""
    imgui.push_style_color(imgui.Col_.text, dim_color())
    imgui.text_wrapped(text.replace("%", "%%"))
    imgui.pop_style_color()


def tooltip(text: str) -> None:
    """What the last item does, shown when the mouse rests on it."""
    imgui.set_item_tooltip(text.replace("%", "%%"))


def icon_button(icon: str, label: str) -> bool:
    """A square button as high as a field; whether it was pressed. `label` is its id."""
    size = imgui.get_frame_height()
    # Icons are wider than what the padding of words would leave them.
    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(0, imgui.get_style().frame_padding.y))
    pressed = imgui.button(f"{icon}###{label}", ImVec2(size, size))
    imgui.pop_style_var()
    return bool(pressed)


def fit_text(text: str, width: float) -> str:
    """The text, shortened with an ellipsis to a width in pixels."""
    if imgui.calc_text_size(text).x <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if imgui.calc_text_size(text[:middle] + "…").x <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low] + "…"


def heading(text: str) -> None:
    """A section title inside a panel."""
    imgui.spacing()
    imgui.separator_text(text)


def choice(label: str, value: E, help_text: str, width: float) -> E:
    """A list of all members of an enum, to choose one."""
    imgui.set_next_item_width(width)
    if not imgui.begin_combo(label, str(value)):
        tooltip(help_text)
        return value
    for member in type(value):
        if imgui.selectable(str(member), member is value)[0]:
            value = member
    imgui.end_combo()
    return value


def table_headings(columns: Sequence[tuple[str, str, str]], left: Collection[str]) -> None:
    """Set up the columns of a table and show their headings, those of `left` columns left-aligned.

    A column is its name, a text as wide as what it holds (empty: it takes the room that is left), and its tooltip.
    """
    imgui.table_setup_scroll_freeze(0, 1)
    for name, widest, _ in columns:
        if widest:
            width = max(imgui.calc_text_size(text).x for text in (name, widest))
            imgui.table_setup_column(name, imgui.TableColumnFlags_.width_fixed, width)
        else:
            imgui.table_setup_column(name, imgui.TableColumnFlags_.width_stretch)
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    for i, (name, _, help_text) in enumerate(columns):
        imgui.table_set_column_index(i)
        dim_text(name) if name in left else text_right(name, dim_color())
        tooltip(help_text)


def begin_overlay(name: str) -> None:
    """Begin a small window over the scene that nobody moves; as large as its content. `imgui.end` ends it."""
    flags = imgui.WindowFlags_
    imgui.begin(
        f"##{name}",
        None,
        flags.no_decoration | flags.always_auto_resize | flags.no_docking | flags.no_saved_settings
        | flags.no_focus_on_appearing | flags.no_nav | flags.no_move,
    )  # fmt: skip
