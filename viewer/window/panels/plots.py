"""Plots window: curves of the shown sensors from every step, and a raster of when they touch."""

import csv
import io
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from imgui_bundle import icons_fontawesome_6 as icons
from numpy.typing import NDArray

from ...render.style import palette_colors, sensor_color
from ...sensors.curves import Reduced
from ...sensors.signals import Signal
from ...session.history import History
from ...session.session import Session
from ..theme import dim_color, faded, plain_color
from ..widgets import button, checkbox, choose, dim_text, paragraph, tooltip

_MOST_PLOTS, _MOST_ROWS = 16, 64
"""Sensors that have a plot, and a row in the raster, of their own."""
_LEAST_HEIGHT = 60.0
"""Of a plot [px]."""
_RASTER_ROW, _LEAST_ROW = 14.0, 8.0
"""Height of a sensor's row in the raster [px], and where they are many."""
_MOST_MARKS = 200
"""More events than this would hide the curves."""
_SPANS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 600.0)


def style_plots() -> None:
    """Plots as dense as the rest of the window; needs ImPlot's context."""
    style = implot.get_style()
    style.plot_padding = ImVec2(6, 4)
    style.label_padding = ImVec2(4, 2)
    style.legend_padding = ImVec2(4, 4)
    style.plot_border_size = 0.0


class Plots:
    """The window's content, with the part of time that it shows."""

    def __init__(self) -> None:
        # Shared by all plots, so that dragging one moves all; ImPlot writes them.
        self._start, self._end = implot.BoxedValue(0.0), implot.BoxedValue(5.0)
        self._times: tuple[tuple[int, ...], NDArray[np.float64]] = (), np.empty(0)
        """Columns and their times, of the curve drawn last in this frame."""

    def show(self, session: Session, save: Callable[[str], None]) -> None:
        """The window's content; `save` puts what is in view, as CSV, into a file."""
        history = session.history
        if history is None:
            paragraph("Curves need a simulation that this window steps itself.")
            return
        self._show_controls(session, history, save)
        self._times = (), np.empty(0)
        history.curves.update()
        shown = self._shown(session, history)
        if not shown:
            paragraph("Show a sensor to see its curves.")
            return
        self._show_newest(session, history)
        signals = chosen_signals(session)
        avail, rows = imgui.get_content_region_avail().y, min(len(shown), _MOST_ROWS)
        raster = rows * min(max(0.55 * avail / rows, _LEAST_ROW), _RASTER_ROW) + 1.9 * imgui.get_text_line_height()
        height = avail - raster - imgui.get_style().item_spacing.y
        if session.settings.plots.by_sensor:
            plots = [(name, [(signal, name) for signal in signals]) for name in shown][:_MOST_PLOTS]
        else:
            plots = [(str(signal), [(signal, name) for name in shown]) for signal in signals]
        # Aligned, so that one time stands at one place in all of them.
        if implot.begin_aligned_plots("##aligned"):
            for title, lines in plots:
                self._show_plot(session, history, title, lines, max(height / len(plots) - 4, _LEAST_HEIGHT))
            self._show_raster(session, history, shown[:rows], raster)
            implot.end_aligned_plots()
        most = _MOST_PLOTS if session.settings.plots.by_sensor else _MOST_ROWS
        if len(shown) > most:
            dim_text(f"the first {most} of {len(shown)} shown sensors")

    def _visible_csv(self, session: Session, history: History) -> str:
        """Every step in view of every curve in view, as comma-separated values."""
        shown = self._shown(session, history)
        signals = chosen_signals(session)
        first, last = history.step_at(self._start.value), history.step_at(self._end.value)
        first = max(first, history.curves.first)
        steps = np.arange(first, last + 1)
        columns: dict[str, NDArray[np.floating[Any]]] = {"time [s]": history.times(steps)}
        for name in shown:
            net = session.engine.sensors[name].layout.frame == "world"
            for signal in signals:
                unit = f" [{signal.unit}]" if signal.unit else ""
                columns[f"{name}: {signal.label(net)}{unit}"] = history.curves.values(name, signal, first, last + 1)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if value != value else f"{value:.9g}" for value in row])
        return text.getvalue()

    def _show_controls(self, session: Session, history: History, save: Callable[[str], None]) -> None:
        settings = session.settings.plots
        chosen = chosen_signals(session)
        imgui.set_next_item_width(13 * imgui.get_font_size())
        if imgui.begin_combo("##signals", ", ".join(chosen) or "nothing"):
            for signal in Signal:
                changed, on = imgui.checkbox(str(signal), signal in chosen)
                if changed:
                    kept = [s for s in Signal if (on if s is signal else s in chosen)]
                    settings.signals = ",".join(kept)
            imgui.end_combo()
        else:
            tooltip("Which curves")
        imgui.same_line()
        help_text = "One plot a sensor with all signals, instead of one a signal with all sensors"
        settings.by_sensor = checkbox("by sensor", settings.by_sensor, help_text)
        imgui.same_line()
        settings.follow = checkbox("follow", settings.follow, "Move along with the time. Off: drag and zoom freely")
        imgui.same_line()
        width, help_text = 5 * imgui.get_font_size(), 'Time in view while "follow" is on'
        settings.seconds = choose("##span", settings.seconds, _SPANS, width, help_text, lambda span: f"{span:g} s")
        imgui.same_line()
        if button(f"{icons.ICON_FA_COPY}###copy", "Copy what is in view as CSV"):
            imgui.set_clipboard_text(self._visible_csv(session, history))
        imgui.same_line()
        if button(f"{icons.ICON_FA_FLOPPY_DISK}###save", "Save what is in view as a CSV file"):
            save(self._visible_csv(session, history))

    def _shown(self, session: Session, history: History) -> list[str]:
        """Visible sensors that have curves."""
        return [name for name in history.curves.names if session.visible.get(name)]

    def _show_newest(self, session: Session, history: History) -> None:
        """If "follow" is on, move the time in view to the shown step."""
        settings = session.settings.plots
        if settings.follow:
            now = history.time(history.current)
            self._end.value = max(now, history.time(history.first) + settings.seconds)
            self._start.value = self._end.value - settings.seconds

    def _show_plot(
        self, session: Session, history: History, title: str, lines: list[tuple[Signal, str]], height: float
    ) -> None:
        flags = implot.Flags_.no_title | implot.Flags_.no_menus | implot.Flags_.no_mouse_text
        if not session.settings.plots.by_sensor:
            # The raster below names the sensors in their colours.
            flags |= implot.Flags_.no_legend
        if not implot.begin_plot(f"{title}##plot", ImVec2(-1, height), flags):
            return
        units = {signal.unit for signal, _ in lines}
        unit = f" [{units.pop()}]" if len(units) == 1 and "" not in units else ""
        curves = [self._reduce(history, name, signal) for signal, name in lines]
        implot.setup_axes("", "", implot.AxisFlags_.no_tick_labels, implot.AxisFlags_.lock)
        implot.setup_axis_limits(implot.ImAxis_.y1, *_value_range(curves), implot.Cond_.always)
        implot.setup_axis_links(implot.ImAxis_.x1, self._start, self._end)
        implot.setup_legend(implot.Location_.north_west, implot.LegendFlags_.none)
        for (signal, name), curve in zip(lines, curves, strict=True):
            net = session.engine.sensors[name].layout.frame == "world"
            text = signal.label(net) if session.settings.plots.by_sensor else name
            self._draw_curve(history, text, curve, _line_color(session, signal, name))
        self._show_events(session)
        self._show_cursor(session, history)
        corner = implot.get_plot_pos()
        place = ImVec2(corner.x + implot.get_plot_size().x - imgui.calc_text_size(title + unit).x - 6, corner.y + 2)
        implot.get_plot_draw_list().add_text(place, imgui.get_color_u32(dim_color()), title + unit)
        implot.end_plot()

    def _reduce(self, history: History, name: str, signal: Signal, pixels: int = 1) -> Reduced:
        """A curve in view, a column for so many pixels."""
        columns = max(int(imgui.get_content_region_avail().x / pixels), 16)
        first, last = history.step_at(self._start.value) - 1, history.step_at(self._end.value) + 2
        return history.curves.reduce(name, signal, first, last, columns)

    def _draw_curve(self, history: History, text: str, reduced: Reduced, color: ImVec4) -> None:
        if len(reduced.low) == 0:
            return
        times = self._column_times(history, reduced.steps)[:-1]
        spec = implot.Spec(line_color=color, line_weight=1.3)
        # A column is a stroke from its smallest to its largest value, so that no peak is lost.
        xs = np.repeat(times, 2)
        ys = np.stack([reduced.low, reduced.high], axis=1).astype(np.float64).ravel()
        implot.plot_line(text, np.ascontiguousarray(xs), np.ascontiguousarray(ys), spec)

    def _column_times(self, history: History, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Simulated times of the columns of a curve [s]; all curves of a plot have the same."""
        key = (int(steps[0]), int(steps[-1]), len(steps))
        if key != self._times[0]:
            self._times = key, history.times(np.minimum(steps, history.last))
        return self._times[1]

    def _show_events(self, session: Session) -> None:
        """Marks where contacts of pairs and sensors begin and end."""
        limits = implot.get_plot_limits().x
        entries = session.events.log.between(limits.min, limits.max) if session.events is not None else ()
        if 0 < len(entries) <= _MOST_MARKS:
            times = np.array([entry.time for entry in entries])
            implot.plot_inf_lines("##events", times, implot.Spec(line_color=faded(dim_color(), 0.35)))

    def _show_cursor(self, session: Session, history: History) -> None:
        now = history.time(history.current)
        color = faded(plain_color(), 0.5)
        moved, time, *_ = implot.drag_line_x(0, now, color, 1.0)
        if moved:
            session.go_to_time(time)
        elif implot.is_plot_hovered() and imgui.is_mouse_double_clicked(0):
            session.go_to_time(implot.get_plot_mouse_pos().x)

    def _show_raster(self, session: Session, history: History, names: list[str], height: float) -> None:
        flags = implot.Flags_
        style = flags.no_title | flags.no_menus | flags.no_mouse_text | flags.no_legend
        if not implot.begin_plot("##raster", ImVec2(-1, height), style):
            return
        implot.setup_axes("", "", 0, implot.AxisFlags_.no_decorations | implot.AxisFlags_.lock)
        implot.setup_axis_format(implot.ImAxis_.x1, "%g s")
        implot.setup_axis_links(implot.ImAxis_.x1, self._start, self._end)
        implot.setup_axis_limits(implot.ImAxis_.y1, -len(names), 0, implot.Cond_.always)
        implot.push_plot_clip_rect()
        for row, name in enumerate(names):
            found = self._reduce(history, name, Signal.FOUND, pixels=2)
            force = self._reduce(history, name, Signal.MAGNITUDE, pixels=2)
            if len(found.high):
                times = self._column_times(history, found.steps)
                _draw_bars(session, row, name, times, found.high, force.high)
        implot.pop_plot_clip_rect()
        self._show_events(session)
        self._show_cursor(session, history)
        hovered = implot.is_plot_hovered()
        if hovered and imgui.is_mouse_clicked(0):
            session.go_to_time(implot.get_plot_mouse_pos().x)
        if hovered:
            row = int(-implot.get_plot_mouse_pos().y)
            imgui.set_tooltip(f"{names[min(row, len(names) - 1)]}: in contact where filled. Click to go there")
        implot.end_plot()


def chosen_signals(session: Session) -> list[Signal]:
    """The signals that the settings name, in their order."""
    words = session.settings.plots.signals.split(",")
    return [signal for signal in Signal if signal in words]


def _value_range(curves: list[Reduced]) -> tuple[float, float]:
    """What the value axis of some curves shows: all values and zero, so that noise on a constant stays small."""
    low = min((float(np.nanmin(curve.low, initial=0.0)) for curve in curves), default=0.0)
    high = max((float(np.nanmax(curve.high, initial=0.0)) for curve in curves), default=0.0)
    if high <= low:
        return 0.0, 1.0
    margin = 0.05 * (high - low)
    return low - margin * (low < 0), high + margin * (high > 0)


def _draw_bars(
    session: Session,
    row: int,
    name: str,
    times: NDArray[np.float64],
    found: NDArray[np.float32],
    force: NDArray[np.float32],
) -> None:
    """Bars where a sensor is in contact, the stronger the more opaque. `times` of the columns and their end [s]."""
    strongest = float(np.nanmax(force)) if np.isfinite(force).any() else 0.0
    shades = np.where(found > 0, 1 + np.round(7 * np.nan_to_num(force) / (strongest or 1.0)), 0).astype(int)
    bounds = [0, *np.flatnonzero(np.diff(shades)) + 1, len(shades)]
    color = _sensor_color(session, name)
    draw = implot.get_plot_draw_list()
    for start, stop in pairwise(bounds):
        if shades[start]:
            shade = imgui.get_color_u32(faded(color, 0.25 + 0.09 * float(shades[start])))
            corner = implot.plot_to_pixels(times[start], -row - 0.12)
            opposite = implot.plot_to_pixels(times[stop], -row - 0.88)
            draw.add_rect_filled(corner, ImVec2(max(opposite.x, corner.x + 1), opposite.y), shade)
    if implot.get_plot_size().y < 0.75 * _RASTER_ROW * -implot.get_plot_limits().y.min:
        return
    place = implot.plot_to_pixels(implot.get_plot_limits().x.min, -row - 0.5)
    text_place = ImVec2(place.x + 4, place.y - imgui.get_text_line_height() / 2)
    draw.add_text(text_place, imgui.get_color_u32(imgui.Col_.text), name)


def _line_color(session: Session, signal: Signal, name: str) -> ImVec4:
    """By sensor: the component's colour, as its arrow has. By signal: the sensor's."""
    if not session.settings.plots.by_sensor:
        return _sensor_color(session, name)
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    by_signal = {
        Signal.NORMAL: colors.normal,
        Signal.TANGENT0: colors.tangent0,
        Signal.TANGENT1: colors.tangent1,
        Signal.MAGNITUDE: colors.total,
        Signal.SLIP: colors.torque,
    }
    return ImVec4(*by_signal[signal][:3], 1.0) if signal in by_signal else dim_color()


def _sensor_color(session: Session, name: str) -> ImVec4:
    return ImVec4(*sensor_color(session.engine.sensors.position(name))[:3], 1.0)
