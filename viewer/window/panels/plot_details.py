"""Draws what stands on a plot besides its curves: names, marks of what is beyond it, and values at the crosshair."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from numpy.typing import NDArray

from ...render.style import palette_colors, sensor_color
from ...sensors.signals import Signal
from ...session.history import History
from ...session.session import Session
from ...session.value_axis import Mark
from ..theme import curve_tint, dim_color
from ..widgets import dim_text, fit_text, format_number, text_right
from .plotted_curves import Line

_MOST_READ = 24
"""Curves whose values are listed at the mouse."""
_MOST_MARKS = 200
_MARK = 0.5
"""Height of a mark, in lines of text."""
_DIGITS = "-0000.000"


class Readout(NamedTuple):
    """A curve's values at the mouse and at the cursor; NaN where it has none."""

    line: Line
    at_mouse: float
    at_cursor: float


def show_readouts(history: History, mouse: float, readouts: Sequence[Readout], colors: Sequence[ImVec4]) -> None:
    """Beside the mouse, which is at a time [s]: every curve's value there, and at the cursor."""
    if not imgui.begin_tooltip():
        return
    now = history.time(history.current)
    if imgui.begin_table("##values", 3, imgui.TableFlags_.sizing_fixed_fit):
        wide = imgui.calc_text_size(_DIGITS).x
        imgui.table_setup_column("", 0)
        for name in ("mouse", "cursor"):
            imgui.table_setup_column(name, imgui.TableColumnFlags_.width_fixed, wide)
        imgui.table_next_row()
        for text in ("", "mouse", "cursor"):
            imgui.table_next_column()
            text_right(text, dim_color())
        time = min(max(mouse, history.time(history.first)), history.time(history.last))
        _row("time [s]", dim_color(), time, now)
        for readout, color in zip(readouts[:_MOST_READ], colors, strict=False):
            unit = f" [{readout.line.signal.unit}]" if readout.line.signal.unit else ""
            _row(readout.line.label + unit, color, readout.at_mouse, readout.at_cursor)
        imgui.end_table()
    if len(readouts) > _MOST_READ:
        dim_text(f"and {len(readouts) - _MOST_READ} more")
    imgui.end_tooltip()


def _row(label: str, color: ImVec4, *values: float) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.text_colored(color, label)
    for value in values:
        imgui.table_next_column()
        text_right("-" if value != value else format_number(value))


def draw_marks(
    times: NDArray[np.float64], marks: Sequence[Mark], color: ImVec4, written: list[tuple[bool, float, float]]
) -> None:
    """A triangle at the plot's edge where a curve leaves it, and at each edge the value of the farthest.

    `written`: at which edge, and from where to where [px], such numbers stand already: none covers another.
    """
    corner, size, line = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_text_line_height()
    draw, ink, half = implot.get_plot_draw_list(), imgui.get_color_u32(color), 0.5 * _MARK * line
    for is_above in (True, False):
        here = [mark for mark in marks if mark.is_above is is_above]
        farthest = max(here, key=lambda mark: abs(mark.value), default=None)
        tip, inwards = (corner.y + 1, 1) if is_above else (corner.y + size.y - 1, -1)
        foot = tip + inwards * (_MARK * line - 1)
        for mark in here[-_MOST_MARKS:]:
            x = implot.plot_to_pixels(float(times[mark.column]), 0.0).x
            if not corner.x <= x <= corner.x + size.x:
                continue
            draw.add_triangle_filled(ImVec2(x, tip), ImVec2(x + half, foot), ImVec2(x - half, foot), ink)
            if mark is farthest:
                text = format_number(mark.value, 1)
                width = imgui.calc_text_size(text).x
                left = min(x + half + 3, corner.x + size.x - width - 2)
                row = sum(edge is is_above and begin < left + width and left < end for edge, begin, end in written)
                written.append((is_above, left, left + width))
                # At the top below the curves' names.
                place = corner.y + (row + 1) * line if is_above else foot - (row + 1 + _MARK) * line
                # Of many curves with one impact, as many numbers as the plot has room for.
                if corner.y <= place <= corner.y + size.y - (1 + _MARK) * line:
                    _write(left, place, color, text)


def draw_names(title: str, lines: Sequence[Line], colors: Sequence[ImVec4]) -> None:
    """The plot's title at the right of its top and the curves' names at the left, as far as they fit, below marks."""
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    title = fit_text(title, size.x - 12)
    right = corner.x + size.x - imgui.calc_text_size(title).x - 6
    _write(right, corner.y, dim_color(), title)
    x, line = corner.x + 6, imgui.get_text_line_height()
    for i, (each, color) in enumerate(zip(lines, colors, strict=True)):
        width = imgui.calc_text_size(each.label).x + line
        more = f"+{len(lines) - i}"
        last = i == len(lines) - 1
        if x + width + (0 if last else imgui.calc_text_size(more).x + line) > right:
            _write(x, corner.y, dim_color(), more)
            return
        _write(x, corner.y, color, each.label, 0.8 * line)
        top = corner.y + (_MARK + 0.45) * line
        ink = imgui.get_color_u32(color)
        implot.get_plot_draw_list().add_rect_filled(ImVec2(x, top), ImVec2(x + 0.6 * line, top + 0.15 * line), ink)
        x += width + 0.6 * line


def _write(x: float, top: float, color: ImVec4, text: str, indent: float = 0.0) -> None:
    """Text below the marks at a plot's top, from `x` plus an indent on [px]; curves behind it leave it readable."""
    draw, size = implot.get_plot_draw_list(), imgui.calc_text_size(text)
    top += _MARK * imgui.get_text_line_height()
    shade = imgui.get_color_u32(imgui.Col_.window_bg, 0.85)
    draw.add_rect_filled(ImVec2(x - 3, top), ImVec2(x + indent + size.x + 3, top + size.y), shade)
    draw.add_text(ImVec2(x + indent, top), imgui.get_color_u32(color), text)


def signal_color(session: Session, line: Line) -> ImVec4:
    """The component's colour, as its arrow has."""
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    by_signal = {
        Signal.NORMAL: colors.normal,
        Signal.TANGENT0: colors.tangent0,
        Signal.TANGENT1: colors.tangent1,
        Signal.MAGNITUDE: colors.total,
        Signal.SLIP: colors.torque,
    }
    return ImVec4(*by_signal[line.signal][:3], 1.0) if line.signal in by_signal else dim_color()


def curve_color(session: Session, name: str) -> ImVec4:
    return curve_tint(sensor_color(session.engine.sensors.position(name)))
