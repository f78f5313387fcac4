"""Draws the channels of a run in the Plots panel: a plot for each group of names and unit."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import ImVec2, imgui, implot

from ...channels import Channel
from ...render.style import sensor_color
from ...session.value_axis import value_range
from ...settings import PlotSettings
from ..theme import curve_tint
from ..widgets import format_number, literal
from .plot_details import draw_names

_DIGITS = 4


class Frame(NamedTuple):
    """Size and time axis of a plot, which all plots of the panel share."""

    size: ImVec2
    start: implot.BoxedValue
    end: implot.BoxedValue
    """Times at the ends of the axis [s]; ImPlot writes them."""
    style: int
    """ImPlot's flags."""


def show_channels(
    title: str,
    channels: Sequence[Channel],
    settings: PlotSettings,
    frame: Frame,
    now: float,
    draw_over: Callable[[], None],
) -> bool:
    """Draw the plot of some channels.

    Args:
        title: name of the group and the unit.
        channels: the curves.
        settings: say what the value axis shows.
        frame: size and time axis of the plot.
        now: time that is shown [s], of the values beside the names.
        draw_over: draws what all plots have, such as the cursor.

    Returns:
        True if the mouse is over the plot.
    """
    if not implot.begin_plot(f"{literal(title)}##channels", frame.size, frame.style):
        return False
    columns = max(int(imgui.get_content_region_avail().x), 16)
    span = (float(frame.start.value), float(frame.end.value))
    reduced = [channel.reduce(*span, columns) for channel in channels]
    lows, highs = (np.concatenate([part[1][k].ravel() for part in reduced]) for k in (1, 2))
    low, high = value_range(lows, highs, settings)
    implot.setup_axes("", "", implot.AxisFlags_.no_tick_labels, 0)
    implot.setup_axis_format(implot.ImAxis_.y1, "%6.5g")
    implot.setup_axis_limits(implot.ImAxis_.y1, low, high, implot.Cond_.always)
    implot.setup_axis_links(implot.ImAxis_.x1, frame.start, frame.end)
    colors = [curve_tint(sensor_color(place)) for place in range(len(channels))]
    for channel, color, (times, extremes) in zip(channels, colors, reduced, strict=True):
        # A column is a stroke from its smallest to its largest value, so that no peak is lost.
        strokes = np.stack([extremes.low, extremes.high], axis=-1).reshape(-1).astype(np.float64)
        spec = implot.Spec(line_color=color, line_weight=1.3)
        implot.plot_line(literal(channel.name.label), np.repeat(times, 2), strokes, spec)
    draw_over()
    draw_names(title, [f"{channel.name.label} {_text(channel.value_at(now))}" for channel in channels], colors)
    hovered = bool(implot.is_plot_hovered())
    if hovered:
        mouse = float(implot.get_plot_mouse_pos().x)
        values = [(channel.name.label, channel.value_at(mouse)) for channel in channels]
        imgui.set_tooltip("\n".join(f"{_text(value):>9}  {label}" for label, value in values))
    implot.end_plot()
    return hovered


def _text(value: float) -> str:
    return "-" if value != value else format_number(value, _DIGITS)
