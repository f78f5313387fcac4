"""Draw the channels of a run in the Plots panel, one plot for each group and unit, and let the user choose them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from imgui_bundle import icons_fontawesome_6 as icons

from ...channels.channel import BOOLEAN, Channel, Limit, Numbers
from ...render.style import sensor_color
from ...sensors.curves import Reduced
from ...session.session import Session
from ...session.value_axis import few_ticks, value_range
from ...settings import PlotSettings
from .. import widgets as ui
from ..shell import Shell
from ..theme import curve_tint, faded, plain_color
from ..widgets import format_number, literal
from .plot_details import draw_names

_DIGITS = 4
_LOW_LINES = 6.5
"""Height of a plot, in lines of text, below which its value axis has few numbers."""
_STRIP = 0.35
"""Half the height of the strip of a true/false channel, as a part of its row."""
_MOST_SENSORS = 24
"""Largest number of sensors in the popup for measured data."""
_CLICK = 3.0
"""Longest travel of the mouse in a click [px]."""


class Frame(NamedTuple):
    """Size and time axis that all plots of the panel share."""

    size: ImVec2
    start: implot.BoxedValue
    end: implot.BoxedValue
    """Start and end of the time axis [s]; ImPlot writes them."""
    style: int
    """ImPlot's flags of the plots."""


def show_channels(
    session: Session,
    title: str,
    channels: Sequence[Channel],
    settings: PlotSettings,
    frame: Frame,
    now: float,
    draw_over: Callable[[], None],
) -> bool:
    """Draw the plot of some channels.

    Args:
        session: Session with the channels; a right click on the plot opens their menu.
        title: Name of the group and the unit.
        channels: Channels that the plot shows.
        settings: Settings of the value axis.
        frame: Size and time axis of the plot.
        now: Time of the values beside the names [s].
        draw_over: Function that draws the marks of all plots, such as the cursor.

    Returns:
        True if the mouse is over the plot.
    """
    if not implot.begin_plot(f"{literal(title)}##channels", frame.size, frame.style):
        return False
    columns = max(int(imgui.get_content_region_avail().x), 16)
    span = (float(frame.start.value), float(frame.end.value))
    reduced = [channel.reduce(*span, columns) for channel in channels]
    is_raster = channels[0].name.unit == BOOLEAN
    lows, highs = (np.concatenate([part[1][k].ravel() for part in reduced]) for k in (1, 2))
    low, high = (-len(channels), 0.0) if is_raster else value_range(lows, highs, settings)
    none = implot.AxisFlags_.no_decorations
    implot.setup_axes("", "", implot.AxisFlags_.no_tick_labels, none if is_raster else 0)
    implot.setup_axis_format(implot.ImAxis_.y1, "%6.5g")
    implot.setup_axis_limits(implot.ImAxis_.y1, low, high, implot.Cond_.always)
    if not is_raster and frame.size.y < _LOW_LINES * imgui.get_text_line_height():
        places = few_ticks(low, high)
        implot.setup_axis_ticks(implot.ImAxis_.y1, places, [f"{place:6.4g}" for place in places])
    implot.setup_axis_links(implot.ImAxis_.x1, frame.start, frame.end)
    colors = [curve_tint(sensor_color(place)) for place in range(len(channels))]
    if is_raster:
        _draw_strips(reduced, colors, now)
    else:
        _draw_curves(channels, reduced, colors)
    draw_over()
    if is_raster:
        _write_rows(channels)
        draw_names(title, [], [])
    else:
        draw_names(title, [f"{channel.name.label} {_text(channel.value_at(now))}" for channel in channels], colors)
    hovered = bool(implot.is_plot_hovered())
    if hovered:
        mouse = float(implot.get_plot_mouse_pos().x)
        values = [(channel.name.label, channel.value_at(mouse)) for channel in channels]
        travel = imgui.get_mouse_drag_delta(1, 0.0)
        if imgui.is_mouse_released(1) and abs(travel.x) + abs(travel.y) < _CLICK:
            imgui.open_popup("channels")
        imgui.set_tooltip("\n".join(f"{_text(value):>9}  {label}" for label, value in values))
    with ui.popup("channels") as opened:
        if opened:
            _show_menu(session, channels)
    implot.end_plot()
    return hovered


def _draw_curves(
    channels: Sequence[Channel], reduced: Sequence[tuple[Numbers, Reduced]], colors: Sequence[ImVec4]
) -> None:
    for channel, color, (times, extremes) in zip(channels, colors, reduced, strict=True):
        # A column is a stroke from its smallest to its largest value, so that no peak is lost.
        strokes = np.stack([extremes.low, extremes.high], axis=-1).reshape(-1).astype(np.float64)
        spec = implot.Spec(line_color=color, line_weight=1.3)
        implot.plot_line(literal(channel.name.label), np.repeat(times, 2), strokes, spec)


def _draw_strips(reduced: Sequence[tuple[Numbers, Reduced]], colors: Sequence[ImVec4], end: float) -> None:
    """Draw a row for each channel, filled while it is true; the last value holds up to `end` [s]."""
    draw = implot.get_plot_draw_list()
    implot.push_plot_clip_rect()
    for row, (color, (times, extremes)) in enumerate(zip(colors, reduced, strict=True)):
        on = np.concatenate([[False], extremes.high > 0.5, [False]])
        stops = np.append(times, max(end, times[-1])) if len(times) else times
        ink = imgui.get_color_u32(faded(color, 0.6))
        changes = np.flatnonzero(on[1:] != on[:-1]).reshape(-1, 2)
        for start, stop in changes.tolist():
            corner = implot.plot_to_pixels(float(stops[start]), -row - 0.5 - _STRIP)
            other = implot.plot_to_pixels(float(stops[stop]), -row - 0.5 + _STRIP)
            draw.add_rect_filled(ImVec2(corner.x, other.y), ImVec2(max(other.x, corner.x + 1), corner.y), ink)
    implot.pop_plot_clip_rect()


def _write_rows(channels: Sequence[Channel]) -> None:
    """Write the name of each row of strips at its left."""
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    row, draw, ink = size.y / len(channels), implot.get_plot_draw_list(), imgui.get_color_u32(plain_color())
    for place, channel in enumerate(channels):
        top = corner.y + (place + 0.5) * row - 0.5 * imgui.get_text_line_height()
        draw.add_text(ImVec2(corner.x + 6, top), ink, channel.name.label)


_draft = Limit("", 0.0)
"""Channel and value at which to pause, as edited in the menu."""


def _show_menu(session: Session, channels: Sequence[Channel]) -> None:
    """Draw the menu of a plot's channels: pause at a value, and remove channels that the user chose."""
    names = [channel.name.name for channel in channels]
    if _draft.channel not in names:
        _draft.channel = names[0]
    imgui.align_text_to_frame_padding()
    ui.dim_text("Pause when")
    imgui.same_line()
    em = imgui.get_font_size()
    _draft.channel = ui.choose("##channel", _draft.channel, names, 12 * em, "Channel of this plot")
    imgui.same_line()
    below = ui.choose("##side", "<" if _draft.below else ">", (">", "<"), 3 * em, "Above or below the value")
    _draft.below = below == "<"
    imgui.same_line()
    imgui.set_next_item_width(6 * em)
    _draft.limit = imgui.input_double("##limit", _draft.limit, 0.0, 0.0, "%.6g")[1]
    ui.tooltip("Value at which the run pauses, in the unit of the channel")
    imgui.same_line()
    if ui.button("Add", "Pause at the first step at which the value passes the limit; Breakpoints in Events lists all"):
        session.add_limit(Limit(_draft.channel, _draft.limit, _draft.below))
        imgui.close_current_popup()
    for name in names:
        if name in session.model_channels.chosen and imgui.menu_item_simple(f"Remove {literal(name)}"):
            session.model_channels.drop(name)


def show_measured(shell: Shell) -> None:
    """Draw the button for measured data, if there are any, and its popup with sensors and their columns."""
    app = shell.app
    measured, session = app.measured, app.session
    if measured.path is None:
        return
    text = f"{100 * measured.progress:.0f} %" if measured.is_busy else "data"
    ui.flow(4 * imgui.get_font_size())
    if ui.button(
        f"{icons.ICON_FA_RULER} {text}###measured", f"Measured data of {measured.path.name}: columns, alignment"
    ):
        imgui.open_popup("measured")
    with ui.popup("measured") as opened:
        if not opened:
            return
        ui.dim_text(literal(measured.path.name))
        if measured.is_busy:
            imgui.same_line()
            if ui.small_button("Cancel", "Remove the measured data"):
                measured.cancel()
            return
        em = imgui.get_font_size()
        names: list[str | None] = [None, *(column.name for column in measured.columns)]
        rates = {column.name: column.rate for column in measured.columns}
        for i, sensor in enumerate(session.engine.sensors.names[:_MOST_SENSORS]):
            imgui.push_id(i)
            mapping = measured.mappings.get(sensor)
            now = None if mapping is None else mapping.column
            help_text = "Column that measured the force of this sensor"
            column = ui.choose(
                f"{literal(sensor)}###column", now, names, 16 * em, help_text, lambda name: _column_text(name, rates)
            )
            if column != now:
                measured.choose(session, sensor, column)
            imgui.pop_id()
        if ui.button("Align", "Align by matching touchdowns, else by correlation, over the whole history"):
            app.notices.attempt(lambda: measured.align(session))
        imgui.same_line()
        shift = ui.number_field("shift [s]", measured.offset, 8 * em, "%.4f", "Simulated time at the data's time 0")
        if shift is not None:
            measured.shift(session, shift)


def _column_text(name: str | None, rates: dict[str, float]) -> str:
    return "none" if name is None else f"{literal(name)} ({rates[name]:.0f} Hz)"


class ChannelChooser:
    """Button with a list of all quantities of the model that can be plotted."""

    def __init__(self) -> None:
        self._filter = ""

    def show(self, session: Session) -> None:
        """Draw the button, and its list while it is open."""
        chosen = session.model_channels
        if ui.button(f"{icons.ICON_FA_PLUS}###channel", "Plot a joint, control, actuator force or sensor of the model"):
            imgui.open_popup("add channel")
        with ui.popup("add channel") as opened:
            if not opened:
                return
            width = 22 * imgui.get_font_size()
            self._filter = ui.filter_field("##names", "filter", self._filter, width, "Filter by name")
            names = [name for name in chosen.quantities if ui.has_words(name, self._filter)]
            if not names:
                ui.dim_text("No match")
            height = min(len(names), 14) * imgui.get_frame_height_with_spacing()
            imgui.begin_child("##list", ImVec2(width, max(height, 1.0)))
            for i in ui.visible_rows(len(names), imgui.get_frame_height_with_spacing()):
                name, unit = names[i], chosen.quantities[names[i]].unit
                on = ui.checkbox(
                    f"{literal(name)}###choice{i}", name in chosen.chosen, f"In {unit or 'no unit'}, of every step"
                )
                if on and name not in chosen.chosen:
                    chosen.choose([name])
                elif not on:
                    chosen.drop(name)
            imgui.end_child()


def _text(value: float) -> str:
    return "-" if value != value else format_number(value, _DIGITS)
