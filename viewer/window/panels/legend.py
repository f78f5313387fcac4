"""Shows the legend over the scene: what the colours mean and how long a force is."""

from imgui_bundle import ImVec2, imgui

from ...render.style import force_text
from ...session.layers import bar_text, legend_entries
from ...session.session import Session
from ..shell import Shell
from ..viewport import Viewport
from ..widgets import begin_overlay, tooltip

_MARGIN = 12


def show_legend(shell: Shell, viewport: Viewport) -> None:
    """A small panel in the scene's lower left corner."""
    session = shell.app.session
    gizmos = session.settings.gizmos
    if not session.settings.show_legend or not len(session.engine.sensors):
        return
    left, _, _, bottom = viewport.rect
    imgui.set_next_window_pos(ImVec2(left + _MARGIN, bottom - _MARGIN), 0, ImVec2(0, 1))
    imgui.set_next_window_bg_alpha(0.8)
    begin_overlay("legend")
    for entry in legend_entries(session):
        _swatch(entry.color, entry.text)
    if gizmos.forces:
        _scale_bar(session)
    imgui.end()


def _swatch(rgba: tuple[float, float, float, float], text: str) -> None:
    size = imgui.get_font_size()
    corner = imgui.get_cursor_screen_pos()
    color = imgui.color_convert_float4_to_u32(imgui.ImVec4(*rgba))
    middle = corner.y + imgui.get_text_line_height() / 2
    center = ImVec2(corner.x + size * 0.35, middle)
    draw = imgui.get_window_draw_list()
    draw.add_circle_filled(center, size * 0.3, color)
    draw.add_circle(center, size * 0.3, imgui.get_color_u32(imgui.Col_.text, 0.35))
    imgui.dummy(ImVec2(size * 0.7, size))
    imgui.same_line(0, 6)
    imgui.text_unformatted(text)


def _scale_bar(session: Session) -> None:
    bar, gizmos, scale = session.scale_bar, session.settings.gizmos, session.scale
    length = bar.length / imgui.get_io().display_framebuffer_scale.x
    corner = imgui.get_cursor_screen_pos()
    color = imgui.get_color_u32(imgui.Col_.text)
    middle = corner.y + imgui.get_text_line_height() / 2
    end = corner.x + length
    draw = imgui.get_window_draw_list()
    draw.add_line(ImVec2(corner.x, middle), ImVec2(end, middle), color, 1.5)
    for x in (corner.x, end):
        draw.add_line(ImVec2(x, middle - 4), ImVec2(x, middle + 4), color, 1.5)
    imgui.dummy(ImVec2(length, imgui.get_text_line_height()))
    imgui.same_line(0, 8)
    imgui.text_unformatted(bar_text(bar, gizmos))
    tooltip(
        f"Length of a {force_text(bar.force)} arrow across the view, where the contacts are.\n"
        f"Scale: {gizmos.scale_mode}, {scale.force:.3g} m/N ({1 / scale.force:.3g} N/m)"
    )
