"""Look of the window: neutral greys, two type faces. Saturated colour belongs to contacts alone."""

from dataclasses import dataclass

from imgui_bundle import ImVec2, ImVec4, hello_imgui, imgui

from ..settings import Theme

FONT_SIZE = 15.0
NUMBER_SIZE = 14.0
_TEXT_FACE = "fonts/Roboto/Roboto-Regular.ttf"
_NUMBER_FACE = "fonts/Inconsolata-Medium.ttf"
_WARNING = imgui.Col_.plot_histogram
"""Where the style has the colour of warnings: no panel draws a histogram."""


@dataclass
class Fonts:
    """Faces that panels switch between."""

    number: imgui.ImFont | None = None
    """Fixed width, for everything that changes while one looks at it."""


FONTS = Fonts()


@dataclass(frozen=True)
class _Greys:
    """Steps from the background to the text, and the two notes that are not grey."""

    window: float
    popup: float
    frame: float
    hovered: float
    active: float
    border: float
    text: float
    dim: float
    warning: tuple[float, float, float]


_GREYS = {
    Theme.DARK: _Greys(0.125, 0.155, 0.19, 0.25, 0.31, 0.235, 0.91, 0.58, (0.95, 0.72, 0.35)),
    Theme.LIGHT: _Greys(0.965, 0.985, 0.895, 0.845, 0.79, 0.81, 0.13, 0.43, (0.66, 0.40, 0.02)),
}


def load_fonts() -> None:
    """Load the faces; Hello ImGui calls this once the window exists."""
    hello_imgui.load_font_ttf_with_font_awesome_icons(_TEXT_FACE, FONT_SIZE)
    FONTS.number = hello_imgui.load_font(_NUMBER_FACE, NUMBER_SIZE)


def apply_theme(theme: Theme) -> None:
    """Set every colour and measure of ImGui's style."""
    greys = _GREYS[theme]
    base = hello_imgui.ImGuiTheme_.darcula_darker if theme is Theme.DARK else hello_imgui.ImGuiTheme_.white_is_white
    hello_imgui.apply_theme(base)
    style = imgui.get_style()
    style.window_rounding = style.child_rounding = 0.0
    style.frame_rounding = style.grab_rounding = style.popup_rounding = style.tab_rounding = 3.0
    style.window_padding = ImVec2(10, 8)
    style.frame_padding = ImVec2(6, 3)
    style.item_spacing = ImVec2(8, 5)
    style.cell_padding = ImVec2(4, 2)
    style.scrollbar_size = 11.0
    style.window_border_size = 0.0
    style.frame_border_size = 0.0
    style.docking_separator_size = 1.0
    style.tab_bar_border_size = 1.0
    style.window_menu_button_position = imgui.Dir.none

    col = imgui.Col_
    shades = (
        (greys.window, (col.window_bg, col.child_bg, col.title_bg, col.title_bg_active, col.title_bg_collapsed,
                        col.menu_bar_bg, col.tab, col.tab_dimmed, col.tab_selected, col.tab_dimmed_selected,
                        col.table_row_bg, col.table_header_bg, col.docking_empty_bg, col.scrollbar_bg)),
        (greys.popup, (col.popup_bg,)),
        (greys.frame, (col.frame_bg, col.button, col.header, col.tab_hovered)),
        (greys.hovered, (col.frame_bg_hovered, col.button_hovered, col.header_hovered, col.scrollbar_grab)),
        (greys.active, (col.frame_bg_active, col.button_active, col.header_active, col.scrollbar_grab_hovered,
                        col.scrollbar_grab_active, col.separator_hovered, col.separator_active, col.resize_grip,
                        col.resize_grip_hovered, col.resize_grip_active)),
        (greys.border, (col.border, col.separator, col.table_border_strong, col.table_border_light)),
        (greys.text, (col.text, col.check_mark)),
        (greys.dim, (col.text_disabled, col.slider_grab, col.slider_grab_active, col.tab_selected_overline,
                     col.nav_cursor, col.docking_preview, col.plot_lines, col.drag_drop_target)),
    )  # fmt: skip
    for level, colors in shades:
        for color in colors:
            style.set_color_(color, ImVec4(level, level, level, 1.0))
    style.set_color_(_WARNING, ImVec4(*greys.warning, 1.0))
    style.set_color_(col.tab_dimmed_selected_overline, ImVec4(0, 0, 0, 0))
    style.set_color_(col.table_row_bg_alt, ImVec4(greys.text, greys.text, greys.text, 0.03))
    style.set_color_(col.text_selected_bg, ImVec4(greys.dim, greys.dim, greys.dim, 0.5))


def dim_color() -> ImVec4:
    """Secondary text."""
    return imgui.get_style().color_(imgui.Col_.text_disabled)


def plain_color() -> ImVec4:
    """Ordinary text."""
    return imgui.get_style().color_(imgui.Col_.text)


def warning_color() -> ImVec4:
    return imgui.get_style().color_(_WARNING)


def faded(color: ImVec4, alpha: float) -> ImVec4:
    return ImVec4(color.x, color.y, color.z, alpha)


def text_tint(rgba: tuple[float, float, float, float]) -> ImVec4:
    """A contact colour made readable as text on the theme's background."""
    is_light = imgui.get_style().color_(imgui.Col_.window_bg).x > 0.5
    factor, lift = (0.62, 0.0) if is_light else (1.0, 0.25)
    red, green, blue = (factor * c + lift * (1 - c) for c in rgba[:3])
    return ImVec4(red, green, blue, 1.0)


def curve_tint(rgba: tuple[float, float, float, float]) -> ImVec4:
    """A sensor's colour made visible as a thin line on the theme's background."""
    is_light = imgui.get_style().color_(imgui.Col_.window_bg).x > 0.5
    factor = 0.72 if is_light else 1.0
    return ImVec4(factor * rgba[0], factor * rgba[1], factor * rgba[2], 1.0)
