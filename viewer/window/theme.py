"""Look of the window: neutral greys, two typefaces. Saturated colour is for contacts alone."""

from dataclasses import dataclass

from imgui_bundle import ImVec2, ImVec4, hello_imgui, imgui, implot

from ..settings import Theme, ViewState

FONT_SIZE = 15.0
NUMBER_SIZE = 14.0
_TEXT_FACE = "fonts/Roboto/Roboto-Regular.ttf"
_NUMBER_FACE = "fonts/Inconsolata-Medium.ttf"
_WARNING = imgui.Col_.plot_histogram
"""Entry of the style that holds the colour of warnings: no panel draws a histogram."""


@dataclass
class Fonts:
    """Typefaces that panels switch between."""

    number: imgui.ImFont | None = None
    """Fixed-width typeface, for values that change while they are shown."""


FONTS = Fonts()


@dataclass(frozen=True)
class _Greys:
    """Grey levels from the background to the text, and the colour of warnings."""

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
    """Load the typefaces; Hello ImGui calls this once the window exists."""
    hello_imgui.load_font_ttf_with_font_awesome_icons(_TEXT_FACE, FONT_SIZE)
    FONTS.number = hello_imgui.load_font(_NUMBER_FACE, NUMBER_SIZE)


class Look:
    """Look of the window, updated from the settings."""

    def __init__(self) -> None:
        self._applied: tuple[object, ...] = ()

    def update(self, settings: ViewState) -> float:
        """Apply changed settings; call it before every frame. Returns the size of text relative to its usual one."""
        # Of the screen: 2 on one with twice as many dots an inch. Hello ImGui has found it out.
        style = imgui.get_style()
        dots = style.font_scale_dpi
        chosen = (settings.theme, settings.ui_scale, settings.font_size, dots)
        if chosen != self._applied:
            self._applied = chosen
            apply_theme(settings.theme, settings.ui_scale * dots)
            if implot.get_current_context() is not None:
                _style_plots(settings.ui_scale * dots)
            style.font_scale_main = settings.ui_scale * settings.font_size / FONT_SIZE
        return settings.ui_scale * dots * settings.font_size / FONT_SIZE


def apply_theme(theme: Theme, scale: float = 1.0) -> None:
    """Set every colour and size of ImGui's style; `scale` is a factor on sizes."""
    greys = _GREYS[theme]
    base = hello_imgui.ImGuiTheme_.darcula_darker if theme is Theme.DARK else hello_imgui.ImGuiTheme_.white_is_white
    hello_imgui.apply_theme(base)
    style = imgui.get_style()
    style.window_rounding = style.child_rounding = 0.0
    style.frame_rounding = style.grab_rounding = style.popup_rounding = style.tab_rounding = 3.0 * scale
    style.window_padding = ImVec2(10 * scale, 8 * scale)
    style.frame_padding = ImVec2(6 * scale, 3 * scale)
    style.item_spacing = ImVec2(8 * scale, 5 * scale)
    style.item_inner_spacing = ImVec2(5 * scale, 4 * scale)
    style.cell_padding = ImVec2(4 * scale, 2 * scale)
    style.scrollbar_size = 11.0 * scale
    style.indent_spacing = 20.0 * scale
    style.grab_min_size = 10.0 * scale
    style.window_border_size = scale
    style.frame_border_size = 0.0
    style.popup_border_size = scale
    # Else it takes the room of a title that is short of it.
    style.tab_close_button_min_width_selected = 0.0
    style.docking_separator_size = scale
    style.tab_bar_border_size = scale
    style.window_menu_button_position = imgui.Dir.none

    col = imgui.Col_
    shades = (
        (greys.window, (col.window_bg, col.child_bg, col.title_bg, col.title_bg_active, col.title_bg_collapsed,
                        col.menu_bar_bg, col.tab, col.tab_dimmed, col.table_row_bg,
                        col.table_header_bg, col.docking_empty_bg, col.scrollbar_bg)),
        (greys.popup, (col.popup_bg,)),
        (greys.frame, (col.frame_bg, col.button, col.header, col.tab_selected, col.tab_dimmed_selected,
                       col.checkbox_selected_bg)),
        (greys.hovered, (col.frame_bg_hovered, col.button_hovered, col.header_hovered, col.tab_hovered,
                         col.scrollbar_grab)),
        (greys.active, (col.frame_bg_active, col.button_active, col.header_active, col.scrollbar_grab_hovered,
                        col.scrollbar_grab_active, col.separator_hovered, col.separator_active, col.resize_grip,
                        col.resize_grip_hovered, col.resize_grip_active)),
        (greys.border, (col.border, col.separator, col.table_border_strong, col.table_border_light, col.tree_lines)),
        (greys.text, (col.text, col.check_mark, col.text_link, col.plot_lines_hovered, col.nav_cursor)),
        (greys.dim, (col.text_disabled, col.slider_grab, col.slider_grab_active, col.tab_selected_overline,
                     col.docking_preview, col.plot_lines, col.drag_drop_target)),
    )  # fmt: skip
    for level, colors in shades:
        for color in colors:
            style.set_color_(color, ImVec4(level, level, level, 1.0))
    for color in (_WARNING, col.plot_histogram_hovered):
        style.set_color_(color, ImVec4(*greys.warning, 1.0))
    style.set_color_(col.tab_dimmed_selected_overline, ImVec4(0, 0, 0, 0))
    style.set_color_(col.table_row_bg_alt, ImVec4(greys.text, greys.text, greys.text, 0.03))
    style.set_color_(col.text_selected_bg, ImVec4(greys.dim, greys.dim, greys.dim, 0.5))


def _style_plots(scale: float) -> None:
    """Make plots as compact as the rest of the window, with room for half a number beside each end of the time axis."""
    style = implot.get_style()
    style.plot_padding = ImVec2(14 * scale, 4 * scale)
    style.label_padding = ImVec2(4 * scale, 2 * scale)
    style.plot_border_size = 0.0
    # Of what a drag zooms to.
    style.set_color_(implot.Col_.selection, plain_color())


def dim_color() -> ImVec4:
    """Return the colour of secondary text."""
    return imgui.get_style().color_(imgui.Col_.text_disabled)


def plain_color() -> ImVec4:
    """Return the colour of ordinary text."""
    return imgui.get_style().color_(imgui.Col_.text)


def warning_color() -> ImVec4:
    """Return the colour of warnings."""
    return imgui.get_style().color_(_WARNING)


def faded(color: ImVec4, alpha: float) -> ImVec4:
    """Return a colour with another opacity."""
    return ImVec4(color.x, color.y, color.z, alpha)


def text_tint(rgba: tuple[float, float, float, float]) -> ImVec4:
    """Return a contact colour that is readable as text on the theme's background."""
    is_light = imgui.get_style().color_(imgui.Col_.window_bg).x > 0.5
    factor, lift = (0.62, 0.0) if is_light else (1.0, 0.25)
    red, green, blue = (factor * c + lift * (1 - c) for c in rgba[:3])
    return ImVec4(red, green, blue, 1.0)


def curve_tint(rgba: tuple[float, float, float, float]) -> ImVec4:
    """Return a sensor's colour that is visible as a thin line on the theme's background."""
    is_light = imgui.get_style().color_(imgui.Col_.window_bg).x > 0.5
    factor = 0.72 if is_light else 1.0
    return ImVec4(factor * rgba[0], factor * rgba[1], factor * rgba[2], 1.0)
