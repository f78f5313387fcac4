"""Plots window: curves of the shown sensors from every step, and a raster of when they touch."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from imgui_bundle import icons_fontawesome_6 as icons

from ...render.style import BESIDE_COLOR
from ...sensors.signals import Signal
from ...session.body_curves import BodyCurves
from ...session.history import History
from ...session.session import Session
from ...session.simulation import Simulation
from ...session.value_axis import ValueRange, few_ticks, marks_beyond, value_range
from ...settings import PlotSettings, ValueAxis
from ..shell import PLOTS, Dock, Panel, Shell
from ..theme import dim_color, faded, plain_color
from ..widgets import button, checkbox, choose, dim_text, flow, literal, number_font, paragraph, popup, tooltip
from .channel_plots import ChannelChooser, Frame, show_channels, show_measured
from .plot_details import (
    Line,
    PlottedCurves,
    Readout,
    curve_color,
    curves_csv,
    draw_centered,
    draw_creep,
    draw_legend,
    draw_marks,
    draw_motions,
    draw_names,
    draw_strips,
    is_net,
    legend_width,
    pointed_step,
    show_readouts,
    signal_color,
    value_at,
    why_empty,
)
from .sensor_form import EACH_BODY, EACH_BODY_HELP

_MOST_PLOTS, _MOST_ROWS = 16, 64
"""Largest number of sensors with a plot, and with a row in the raster."""
_PLOTS_PART = 0.5
"""Least part of the panel's height for plots."""
_LEAST_LINES = 4.0
"""Least height of a plot, in lines of text; if there is not enough room, plots scroll."""
_LOW_LINES = 6.5
"""Height of a plot, in lines of text, below which its value axis has few numbers."""
_ROW_LINES, _LEAST_ROW_LINES = 1.0, 0.2
"""Largest and least height of a sensor's row in the raster, in lines of text."""
_STEPS_AT_ONCE = 20
"""Number of pending steps at which the curves of bodies are updated while playing."""
_BODIES_PART = 0.45
"""Largest part of the plots' height for the rows of bodies, in a scene without sensors."""
_MOST_MARKS = 200
"""Largest number of events that are marked: more would hide the curves."""
_STYLE = implot.Flags_.no_title | implot.Flags_.no_menus | implot.Flags_.no_mouse_text | implot.Flags_.no_legend
_X, _Y = implot.ImAxis_.x1, implot.ImAxis_.y1
_SPANS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 600.0)


def chosen_signals(session: Session) -> list[Signal]:
    """Return the signals chosen in the settings, in their order."""
    words = session.settings.plots.signals.split(",")
    return [signal for signal in Signal if signal in words]


def show_plot_controls(session: Session, as_csv: Callable[[], str], save: Callable[[str], None]) -> bool:
    """Draw the controls of the plots; return True if the view is to be reset.

    `as_csv` returns the curves in view; `save` writes them to a file.
    """
    settings, em = session.settings.plots, imgui.get_font_size()
    _choose_signals(session, settings)
    flow(6 * em)
    help_text = "One plot per sensor with all signals, instead of one per signal with all sensors"
    settings.by_sensor = checkbox("by sensor", settings.by_sensor, help_text)
    flow(5 * em)
    help_text = "Follow the newest step. Drag to zoom, which turns it off; right drag pans; double click turns it on"
    settings.follow = checkbox("follow", settings.follow, help_text)
    flow(5 * em)
    help_text = 'Time span while "follow" is on'
    settings.seconds = choose("##span", settings.seconds, _SPANS, 5 * em, help_text, lambda span: f"{span:g} s")
    flow(7 * em)
    _show_axis_options(settings)
    flow(2 * em)
    fits = button(f"{icons.ICON_FA_EXPAND}###fit", "Reset the zoom (double click in a plot)")
    flow(2 * em)
    if button(f"{icons.ICON_FA_COPY}###copy", "Copy the curves in view as CSV"):
        imgui.set_clipboard_text(as_csv())
    flow(2 * em)
    if button(f"{icons.ICON_FA_FLOPPY_DISK}###save", "Save the curves in view as a CSV file"):
        save(as_csv())
    return fits


def _choose_signals(session: Session, settings: PlotSettings) -> None:
    chosen, em = chosen_signals(session), imgui.get_font_size()
    imgui.set_next_item_width(min(13 * em, imgui.get_content_region_avail().x))
    if imgui.begin_combo("##signals", _signal_text(chosen, 10.5 * em), imgui.ComboFlags_.height_largest):
        for signal in Signal:
            on = checkbox(str(signal), signal in chosen, f"In {signal.unit or 'no unit'}, of every step")
            if on is not (signal in chosen):
                settings.signals = ",".join(s for s in Signal if (on if s is signal else s in chosen))
        imgui.end_combo()
    else:
        tooltip(f"Signals: {', '.join(chosen) or 'none'}")


def _signal_text(signals: Sequence[Signal], width: float) -> str:
    """Return the names of signals if they fit into a width [px], else their number."""
    text = ", ".join(signals) or "nothing"
    return text if imgui.calc_text_size(text).x <= width else f"{len(signals)} signals"


def _show_axis_options(settings: PlotSettings) -> None:
    if button(f"{icons.ICON_FA_RULER_VERTICAL} {settings.axis}###axis", "Value axis: linear, log or fixed"):
        imgui.open_popup("axis")
    with popup("axis") as opened:
        if not opened:
            return
        for axis, help_text in (
            (ValueAxis.LINEAR, "Scaled to the values in view, with zero"),
            (ValueAxis.LOG, "Four decades; linear around zero where values are negative"),
            (ValueAxis.FIXED, "Between two chosen values"),
        ):
            if imgui.radio_button(str(axis), settings.axis is axis):
                settings.axis = axis
            tooltip(help_text)
        imgui.separator()
        if settings.axis is ValueAxis.FIXED:
            imgui.set_next_item_width(8 * imgui.get_font_size())
            settings.value_low = imgui.input_float("from", settings.value_low)[1]
            tooltip("Lower end of every value axis, in the unit of its curves")
            imgui.set_next_item_width(8 * imgui.get_font_size())
            settings.value_high = imgui.input_float("to", settings.value_high)[1]
            tooltip("Upper end")
            if not settings.value_low < settings.value_high:
                paragraph("Max must exceed min; using linear.")
        else:
            help_text = "Clip rare peaks far above the rest, and label them with their value"
            settings.fit_usual = checkbox("cut rare impacts", settings.fit_usual, help_text)


def zoom_by_dragging() -> None:
    """Set the mouse buttons that zoom and pan plots; needs ImPlot's context."""
    keys = implot.get_input_map()
    keys.select, keys.select_cancel = 0, 1
    keys.pan, keys.menu = 1, 2
    # A double click is answered here: it returns to the settings, which ImPlot does not know.
    keys.fit = 2


class Plots:
    """Content of the Plots window, with the time span in view."""

    def __init__(self) -> None:
        # Shared by all plots, so that dragging one moves all; ImPlot writes them.
        self._start, self._end = implot.BoxedValue(0.0), implot.BoxedValue(5.0)
        self._curves, self._beside_curves = PlottedCurves(), PlottedCurves()
        self._beside: Simulation | None = None
        """Run beside whose curves are dashed; None if there is none."""
        self._chooser = ChannelChooser()
        self.channel_places: dict[str, ImVec2] = {}
        """Centre of the plot of each group of channels, in window coordinates [px]."""
        self._ranges: dict[tuple[object, ...], ValueRange] = {}
        """Value axes of the plots, cached while curves and settings stay the same."""
        self._zoomed: dict[str, ValueRange] = {}
        """Value axes that the user zoomed, by title of the plot."""
        self._pointed = False
        """True if the mouse was over a plot in the last frame."""
        self.readouts: list[Readout] = []
        """Values at the crosshair."""
        self.pointed_step = 0
        """Step under the crosshair."""
        self._strips = ImVec4(0, 0, 1, 1)
        """Left, top, width and height of the raster's strips [px]."""
        self._rows: list[str] = []
        """Sensors in the raster."""
        self._colors: dict[str, ImVec4] = {}
        """Colours of the curves in this frame, by sensor or body."""
        self._more = 0
        """Number of touching bodies without a row."""
        self._legend = 0.0
        """Width of the legend at the right of the plots [px]; 0 if names are drawn in the plots."""
        self._top = 0.0
        """Upper end of the plots [px]."""
        self._shown_signal = Signal.MAGNITUDE
        """Signal whose values are in the legend."""

    @property
    def span(self) -> tuple[float, float]:
        """Time span in view [s]."""
        return float(self._start.value), float(self._end.value)

    def place_of(self, time: float, name: str) -> tuple[float, float]:
        """Return x and y of a time [s] in a sensor's row of the raster, in window coordinates [px]."""
        start, end = self.span
        area = self._strips
        row = (self._rows.index(name) + 0.5) / len(self._rows)
        return area.x + area.z * (time - start) / (end - start), area.y + area.w * row

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session, save, make_for_bodies = shell.app.session, shell.app.save_curves, shell.make_for_bodies
        history = session.history
        if history is None:
            paragraph("Curves need a simulation that this window steps itself.")
            return
        height, axis = imgui.get_window_height(), session.settings.plots.axis
        if show_plot_controls(session, lambda: self._as_csv(session, history), save):
            self._fit(session.settings.plots)
        flow(2 * imgui.get_font_size())
        self._chooser.show(session)
        show_measured(shell)
        if session.settings.plots.axis is not axis:
            self._zoomed.clear()
        curves = history.curves
        # A few steps take as long as many: while they come, not every frame needs them.
        if not isinstance(curves, BodyCurves) or session.paused or not curves.names or curves.pending >= _STEPS_AT_ONCE:
            curves.update()
        shown = _shown(session, history)
        if not shown and not len(session.simulation.channels):
            engine = session.engine
            if not len(engine.sensors) and engine.can_watch_all:
                paragraph("This scene has no contact sensors. Show all contacts, or make sensors, to see curves.")
            elif any(session.visible.values()):
                paragraph(f"{engine.name.split()[0]} has no curves of all contacts: add a sensor to the scene.")
            else:
                paragraph("Show a sensor to see its curves.")
            return
        by_sensor = session.settings.plots.by_sensor
        if shown and isinstance(history.curves, BodyCurves):
            flow(8 * imgui.get_font_size())
            if button(f"{EACH_BODY}###each body", EACH_BODY_HELP):
                make_for_bodies()
            # As many as there is room for in the lower half, each with its name.
            room = imgui.get_content_region_avail().y / imgui.get_text_line_height_with_spacing()
            most = max(int(_BODIES_PART * room) - 1, 2)
            self._more = history.curves.more + max(len(shown) - most, 0)
            shown = shown[:most]
        else:
            self._more = 0
        if len(shown) > (_MOST_PLOTS if by_sensor else _MOST_ROWS):
            flow(imgui.calc_text_size("0000 of 0000 sensors").x)
            dim_text(f"{_MOST_PLOTS if by_sensor else _MOST_ROWS} of {len(shown)} sensors")
            tooltip("Only the first shown sensors are plotted")
        names = shown[:_MOST_ROWS]
        self._show_newest(session, history)
        signals = chosen_signals(session)
        columns = max(int(imgui.get_content_region_avail().x), 16)
        wanted = list(dict.fromkeys([*signals, Signal.FOUND, Signal.MAGNITUDE]))
        changed = self._curves.update(history, names, wanted, self.span, columns)
        if self._update_beside(session, names, wanted, columns) or changed:
            self._ranges.clear()
        with number_font():
            self._show_plots(session, history, names, signals, height)

    def _update_beside(self, session: Session, names: Sequence[str], signals: Sequence[Signal], columns: int) -> bool:
        """Read the curves of the run beside; return True if they have changed."""
        before, self._beside = self._beside, next((run for run in session.beside if run.history is not None), None)
        if self._beside is None or self._beside.history is None or not session.settings.gizmos.beside:
            self._beside, self._beside_curves = None, PlottedCurves()
            return before is not None
        curves, lag = self._beside.history.curves, self._beside.lag
        curves.update()
        known = [name for name in names if name in curves.names]
        span = self.span[0] + lag, self.span[1] + lag
        return self._beside_curves.update(self._beside.history, known, signals, span, columns)

    def _show_plots(
        self, session: Session, history: History, names: list[str], signals: list[Signal], panel_height: float
    ) -> None:
        """Draw all plots, the raster below them, and the time axis, which is always in view."""
        avail, line, gap = imgui.get_content_region_avail().y, imgui.get_text_line_height(), 4.0
        axis = 1.4 * line + 8.0
        room = min(avail - _PLOTS_PART * panel_height, 0.5 * avail) - axis - gap
        of_bodies = isinstance(history.curves, BodyCurves)
        least_row = _ROW_LINES if of_bodies else _LEAST_ROW_LINES
        row = min(max(room / max(len(names), 1), least_row * line), _ROW_LINES * line)
        self._legend, self._top = legend_width(imgui.get_content_region_avail().x), imgui.get_cursor_screen_pos().y
        self._shown_signal = next(iter(signals), Signal.MAGNITUDE)
        raster = min(row * len(names), 0.6 * avail) + axis
        plots, groups = _plots(session, names, signals) if names else [], session.simulation.channels.groups()
        least = _LEAST_LINES * line
        count = len(plots) + len(groups)
        height = (avail - raster - gap) / max(count, 1) - gap
        scrolls = height < least and count > 1
        self._colors = {name: curve_color(session, name) for name in names}
        readouts, hovered = list[Readout](), False
        # Aligned, so that one time stands at one place in all of them.
        if not implot.begin_aligned_plots("##aligned"):
            return
        imgui.push_style_var(imgui.StyleVar_.item_spacing, ImVec2(imgui.get_style().item_spacing.x, gap))
        if scrolls:
            imgui.begin_child("##plots", ImVec2(0, avail - raster - gap))
        width = -1.0 - self._legend
        for title, lines in plots:
            here = self._show_plot(session, history, title, lines, max(height, least), readouts)
            hovered = hovered or here
        frame = Frame(ImVec2(width, max(height, least)), self._start, self._end, _STYLE)
        for title, channels in groups.items():
            now, over = history.time(history.current), partial(self._draw_over, session, history)
            corner = imgui.get_cursor_screen_pos()
            self.channel_places[title] = ImVec2(corner.x + 0.5 * avail, corner.y + 0.5 * frame.size.y)
            hovered = show_channels(session, title, channels, session.settings.plots, frame, now, over) or hovered
        if scrolls:
            imgui.end_child()
            width = imgui.get_content_region_avail().x - imgui.get_style().scrollbar_size - self._legend
        hovered = self._show_raster(session, history, names, ImVec2(width, raster - 1)) or hovered
        imgui.pop_style_var()
        implot.end_aligned_plots()
        self._pointed, self.readouts = hovered, readouts

    def _as_csv(self, session: Session, history: History) -> str:
        return curves_csv(session, history, _shown(session, history), chosen_signals(session), self.span)

    def _show_newest(self, session: Session, history: History) -> None:
        """Move the time span to the shown step if "follow" is on."""
        settings = session.settings.plots
        if settings.follow:
            now = history.time(history.current)
            self._end.value = max(now, history.time(history.first) + settings.seconds)
            self._start.value = self._end.value - settings.seconds

    def _fit(self, settings: PlotSettings) -> None:
        self._zoomed.clear()
        settings.follow = True

    def _range(self, settings: PlotSettings, title: str, lines: Sequence[Line]) -> ValueRange:
        """Return the range of the value axis of a plot."""
        if title in self._zoomed:
            return self._zoomed[title]
        axis = (settings.axis, settings.fit_usual, settings.value_low, settings.value_high)
        key = (title, *axis)
        if key not in self._ranges:
            places = self._curves.places(lines)
            least = min((line.signal.least_range for line in lines), default=0.0)
            other = self._beside_curves
            others = other.places([line for line in lines if other.has(line)])
            low = np.concatenate([self._curves.low[places].ravel(), other.low[others].ravel()])
            high = np.concatenate([self._curves.high[places].ravel(), other.high[others].ravel()])
            self._ranges[key] = value_range(low, high, settings, least)
        return self._ranges[key]

    def _show_plot(
        self,
        session: Session,
        history: History,
        title: str,
        lines: list[Line],
        height: float,
        out: list[Readout],
    ) -> bool:
        """Draw a plot; return True if the mouse is over it. Values at the crosshair are appended to `out`."""
        if not implot.begin_plot(f"{literal(title)}##plot", ImVec2(-1 - self._legend, height), _STYLE):
            return False
        settings = session.settings.plots
        units = {line.signal.unit for line in lines}
        unit = f" [{units.pop()}]" if len(units) == 1 and "" not in units else ""
        low, high = self._range(settings, title, lines)
        implot.setup_axes("", "", implot.AxisFlags_.no_tick_labels, 0)
        if settings.axis is ValueAxis.LOG:
            implot.setup_axis_scale(_Y, implot.Scale_.log10 if low > 0 else implot.Scale_.sym_log)
        implot.setup_axis_format(_Y, "%6.5g")
        implot.setup_axis_limits(_Y, low, high, implot.Cond_.always)
        if height < _LOW_LINES * imgui.get_text_line_height() and settings.axis is not ValueAxis.LOG:
            # ImPlot's own would be printed over each other.
            places = few_ticks(low, high)
            implot.setup_axis_ticks(_Y, places, [f"{place:6.4g}" for place in places])
        implot.setup_axis_links(_X, self._start, self._end)
        span, limits = self.span, implot.get_plot_limits()
        colors = [signal_color(session, line) if settings.by_sensor else self._colors[line.name] for line in lines]
        names, signals = self._curves.places(lines)
        for line, color, name, signal in zip(lines, colors, names, signals, strict=True):
            values = self._curves.strokes[name, signal]
            spec = implot.Spec(line_color=color, line_weight=1.3)
            if len(values):
                implot.plot_line(literal(line.label), self._curves.stroke_times, values, spec)
                if line.signal is Signal.SLIP:
                    draw_creep(session, self._curves, line.name, values)
            if self._beside is not None and self._beside_curves.has(line):
                times, dashes = self._beside_curves.dashed(line, self._beside.lag)
                if len(dashes):
                    implot.plot_line(f"##{literal(line.label)} beside", times, dashes, spec)
        self._show_events(session)
        self._show_cursor(session, history)
        beside = f", dashed: {self._beside.title}" if self._beside is not None and self._beside_curves.shown else ""
        draw_names(title + unit + beside, *(([], []) if self._legend else ([line.label for line in lines], colors)))
        if self._legend and settings.by_sensor:
            draw_legend(history, lines, colors, self._legend)
        if (why := why_empty(session, self._curves, lines)) is not None:
            draw_centered(why)
        written: list[tuple[bool, float, float]] = []
        tops, bottoms = self._curves.high[names, signals], self._curves.low[names, signals]
        shown = ValueRange(limits.y.min, limits.y.max)
        for i in np.flatnonzero(((tops > shown.high) | (bottoms < shown.low)).any(axis=1)).tolist():
            draw_marks(self._curves.times, marks_beyond(bottoms[i], tops[i], shown), colors[i], written)
        self._show_crosshair()
        hovered = bool(implot.is_plot_hovered())
        if hovered:
            self._show_values(history, lines, colors, out)
            self._zoom(settings, title, ValueRange(low, high), span)
        implot.end_plot()
        return hovered

    def _zoom(self, settings: PlotSettings, title: str, values: ValueRange, span: tuple[float, float]) -> None:
        """Keep the range that the user zooms to; a double click returns to the settings."""
        if imgui.is_mouse_double_clicked(0):
            self._fit(settings)
            return
        limits = implot.get_plot_limits()
        tiny = 1e-9 * (span[1] - span[0])
        if abs(limits.x.min - span[0]) + abs(limits.x.max - span[1]) > tiny:
            settings.follow = False
        # The wheel zooms time alone.
        if not imgui.get_io().mouse_wheel:
            tiny = 1e-6 * (values.high - values.low)
            if abs(limits.y.min - values.low) + abs(limits.y.max - values.high) > tiny:
                self._zoomed[title] = ValueRange(limits.y.min, limits.y.max)

    def _show_crosshair(self) -> None:
        if self._pointed:
            color = faded(plain_color(), 0.3)
            implot.plot_inf_lines("##mouse", np.array([implot.get_plot_mouse_pos().x]), implot.Spec(line_color=color))

    def _show_values(
        self, history: History, lines: Sequence[Line], colors: Sequence[ImVec4], out: list[Readout]
    ) -> None:
        """Add the value of every curve at the mouse and at the cursor to `out`, and show them in a tooltip."""
        mouse, now = float(implot.get_plot_mouse_pos().x), history.time(history.current)
        self.pointed_step = history.step_at(mouse)
        run, shades = self._beside, list[ImVec4]()
        for line, color in zip(lines, colors, strict=True):
            out.append(Readout(line, value_at(history, line, mouse), value_at(history, line, now)))
            shades.append(color)
            if run is not None and run.history is not None and self._beside_curves.has(line):
                dashed = Line(line.name, line.signal, f"{line.label}, dashed")
                out.append(Readout(dashed, *(value_at(run.history, line, time + run.lag) for time in (mouse, now))))
                shades.append(color)
        if not implot.is_plot_selected():
            show_readouts(history, mouse, out, shades)

    def _draw_over(self, session: Session, history: History) -> None:
        """Draw events, cursor and crosshair over the curves of a plot."""
        self._show_events(session)
        self._show_cursor(session, history)
        self._show_crosshair()

    def _show_events(self, session: Session) -> None:
        """Draw lines where contacts of pairs and sensors begin and end."""
        limits = implot.get_plot_limits().x
        entries = session.events.log.between(limits.min, limits.max) if session.events is not None else ()
        if 0 < len(entries) <= _MOST_MARKS:
            times = np.array([entry.time for entry in entries])
            implot.plot_inf_lines("##events", times, implot.Spec(line_color=faded(dim_color(), 0.35)))

    def _show_cursor(self, session: Session, history: History) -> None:
        now = history.time(history.current)
        moved, time, *_ = implot.drag_line_x(0, now, faded(plain_color(), 0.6), 1.0)
        if moved:
            session.go_to_time(time)

    def _show_raster(self, session: Session, history: History, names: list[str], size: ImVec2) -> bool:
        """Draw the raster of contact over time, with the time axis; return True if the mouse is over it."""
        if not implot.begin_plot("##raster", size, _STYLE):
            return False
        axis = implot.AxisFlags_
        implot.setup_axes("", "", 0, axis.no_decorations | axis.lock)
        implot.setup_axis_format(_X, "%g s")
        implot.setup_axis_links(_X, self._start, self._end)
        implot.setup_axis_limits(_Y, -max(len(names), 1), 0, implot.Cond_.always)
        start, curves = self._start.value, self._curves
        corner, area = implot.get_plot_pos(), implot.get_plot_size()
        self._strips, self._rows = ImVec4(corner.x, corner.y, area.x, area.y), names
        if len(curves.times) > 1 and names:
            implot.push_plot_clip_rect()
            found, force = (curves.of_signal(curves.high, signal) for signal in (Signal.FOUND, Signal.MAGNITUDE))
            colors, other, run = [self._colors[name] for name in names], self._beside_curves, self._beside
            if run is None or len(other.times) < 2:
                draw_strips(curves.times, found, force, colors)
                draw_motions(session, names)
            else:
                # The upper part of each row is of this run, the lower of the one beside.
                draw_strips(curves.times, found, force, colors, (0.08, 0.5))
                draw_motions(session, names, 0.5)
                lines = [Line(name, Signal.FOUND, name) for name in names if other.has(Line(name, Signal.FOUND, name))]
                rows = [names.index(line.name) for line in lines]
                both = np.zeros((2, len(names), len(other.times) - 1), np.float32)
                for values, signal in zip(both, (Signal.FOUND, Signal.MAGNITUDE), strict=True):
                    values[rows] = other.of_signal(other.high, signal)
                known = [ImVec4(*BESIDE_COLOR) if row in rows else None for row in range(len(names))]
                draw_strips(other.times - run.lag, both[0], both[1], known, (0.54, 0.92))
            implot.pop_plot_clip_rect()
        self._show_cursor(session, history)
        self._show_crosshair()
        if self._legend and names and not session.settings.plots.by_sensor:
            lines = [Line(name, self._shown_signal, name) for name in names]
            colors = [self._colors[name] for name in names]
            draw_legend(history, lines, colors, self._legend, area.y / len(names), self._top, self._more)
        hovered = bool(implot.is_plot_hovered())
        if hovered:
            if abs(implot.get_plot_limits().x.min - start) > 1e-9:
                session.settings.plots.follow = False
            name = names[min(max(int(-implot.get_plot_mouse_pos().y), 0), len(names) - 1)] if names else ""
            travel = imgui.get_mouse_drag_delta(0, 0.0)
            if imgui.is_mouse_double_clicked(0):
                self._fit(session.settings.plots)
            elif imgui.is_mouse_released(0) and abs(travel.x) < 3:
                session.go_to(pointed_step(history, name) if name else history.step_at(implot.get_plot_mouse_pos().x))
            elif name:
                imgui.set_tooltip(
                    f"{name}: filled in contact, with a line below while it slides or creeps. Click to go there"
                )
        implot.end_plot()
        return hovered


def _shown(session: Session, history: History) -> list[str]:
    """Return the visible sensors that have curves; for a scene without sensors, the touching bodies."""
    curves = history.curves
    if isinstance(curves, BodyCurves):
        return list(curves.names) if any(session.visible.values()) else []
    return list(filter(session.visible.get, curves.names))


def _plots(session: Session, names: Sequence[str], signals: Sequence[Signal]) -> list[tuple[str, list[Line]]]:
    """Return titles and curves of the plots."""
    if not session.settings.plots.by_sensor:
        return [(str(signal), [Line(name, signal, name) for name in names]) for signal in signals]
    in_world = {name: is_net(session, name) for name in names}
    return [(name, [Line(name, s, s.label(in_world[name])) for s in signals]) for name in names[:_MOST_PLOTS]]


PANEL = Panel(PLOTS, Dock.BOTTOM, Plots)
