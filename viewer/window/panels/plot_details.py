"""Parts of plots: points of curves, names, marks, values at the mouse, and strips of contact."""

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from numpy.typing import NDArray

from ...events.event_log import MotionEvent
from ...render.style import palette_colors, sensor_color
from ...sensors.curves import Values
from ...sensors.friction import ContactState
from ...sensors.signals import Signal
from ...session.body_curves import BodyCurves
from ...session.history import History
from ...session.session import Session
from ...session.value_axis import Mark
from ..theme import curve_tint, dim_color, faded, plain_color
from ..widgets import dim_text, fit_text, format_number, literal, text_right

_MOST_READ = 24
"""Largest number of curves whose values are listed at the mouse."""
_MOST_MARKS = 200
_MARK = 0.5
"""Height of a mark, in lines of text."""
_DIGITS = "-0000.000"
_LEGEND, _LEGEND_DIGITS, _USUAL_DIGITS = 0.22, "-0000.0", "000.0"
"""Part of the width for the legend, its widest number, and the number for which it always has room."""
_SHADES = 3
"""Number of opacities of strips, which depend on the force."""
_ALPHAS = (0.0, 0.6, 0.8, 1.0)
"""Opacities of strips; the first is for no contact."""
_SNAP = 6.0
"""Largest distance of a click from the start or end of a contact that it selects [px]."""
_DASH = 6
"""Length of a dash, and of a gap, in columns."""
_MOTION = 0.22
"""Height of the line that marks slip and creep, as a part of the run's share of a row."""
_MOST_MOTIONS = 500
_GAP = 0.12
"""Gap at either side of a strip, as a part of its row."""


class Line(NamedTuple):
    """Curve of a plot."""

    name: str
    """Name of the sensor or body."""
    signal: Signal
    label: str


class PlottedCurves:
    """Curves of some sensors in a span of time, reduced to as many columns as there are pixels."""

    def __init__(self) -> None:
        self._made_for: tuple[object, ...] = ()
        self._names: dict[str, int] = {}
        self._signals: dict[Signal, int] = {}
        self.times: NDArray[np.float64] = np.empty(0)
        """Times of the columns, and of the end of the last one [s], (columns + 1,)."""
        self.low: Values = np.empty((0, 0, 0), np.float32)
        """Smallest values, (sensors, signals, columns); NaN where there are none."""
        self.high: Values = self.low
        """Largest values, shaped as `low`."""
        self.strokes: NDArray[np.float64] = np.empty((0, 0, 0))
        """Values of each curve's points, two a column, (sensors, signals, 2 columns)."""
        self.stroke_times: NDArray[np.float64] = np.empty(0)
        """Times of the points [s], (2 columns,)."""

    def update(
        self, history: History, names: Sequence[str], signals: Sequence[Signal], span: tuple[float, float], columns: int
    ) -> bool:
        """Read the curves of a span of time [s]; return False if nothing has changed since the last call."""
        first, stop = history.step_at(span[0]) - 1, history.step_at(span[1]) + 2
        made_for = (history.curves, history.curves.version, *names, *signals, first, stop, columns)
        if made_for == self._made_for:
            return False
        self._made_for = made_for
        self._names = {name: place for place, name in enumerate(names)}
        self._signals = {signal: place for place, signal in enumerate(signals)}
        reduced = history.curves.reduce(names, signals, first, stop, columns)
        self.low, self.high = reduced.low, reduced.high
        self.times = history.times(np.minimum(reduced.steps, history.last))
        # A column is a stroke from its smallest to its largest value, so that no peak is lost.
        self.stroke_times = np.repeat(self.times[:-1], 2)
        self.strokes = np.empty((*self.low.shape[:2], 2 * self.low.shape[2]))
        self.strokes[..., 0::2], self.strokes[..., 1::2] = self.low, self.high
        return True

    @property
    def shown(self) -> bool:
        """True if there are curves."""
        return bool(self._names)

    def has(self, line: Line) -> bool:
        """Return True if the last `update` read a curve."""
        return line.name in self._names

    def dashed(self, line: Line, lag: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times less `lag` [s] and the values of a curve's points; gaps stay at their times."""
        values = self.strokes[self._names[line.name], self._signals[line.signal]].copy()
        if len(values):
            column = (self.times[-1] - self.times[0]) / max(len(self.times) - 1, 1)
            # A dash and a gap need some columns each, and those of a long time are a pixel wide.
            values[np.floor(self.stroke_times / max(_DASH * column, 1e-12)) % 2 == 1] = np.nan
        return self.stroke_times - lag, values

    def places(self, lines: Sequence[Line]) -> tuple[list[int], list[int]]:
        """Return the sensor indices and the signal indices of some curves in the arrays."""
        return [self._names[line.name] for line in lines], [self._signals[line.signal] for line in lines]

    def of_signal(self, values: Values, signal: Signal) -> Values:
        """Return the part of `low` or `high` for one signal, (sensors, columns)."""
        return values[:, self._signals[signal]]


def value_at(history: History, line: Line, time: float) -> float:
    """Return the value of a curve at the step of a time [s], or at the newest step that was read; NaN if there is
    none."""
    step = min(history.step_at(time), history.curves.stop - 1)
    values = history.curves.values(line.name, line.signal, step, step + 1)
    return float(values[0]) if len(values) else float("nan")


def curves_csv(
    session: Session, history: History, names: Sequence[str], signals: Sequence[Signal], span: tuple[float, float]
) -> str:
    """Return every step of some curves in a span of time [s] as comma-separated values."""
    first, last = max(history.step_at(span[0]), history.curves.first), history.step_at(span[1])
    steps = np.arange(first, last + 1)
    columns: dict[str, NDArray[np.floating[Any]]] = {"time [s]": history.times(steps)}
    for name in names:
        for signal in signals:
            unit = f" [{signal.unit}]" if signal.unit else ""
            label = f"{name}: {signal.label(is_net(session, name))}{unit}"
            columns[label] = history.curves.values(name, signal, first, last + 1)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if value != value else f"{value:.9g}" for value in row])
    return text.getvalue()


class Readout(NamedTuple):
    """Values of a curve at the mouse and at the cursor; NaN where it has none."""

    line: Line
    at_mouse: float
    at_cursor: float


def show_readouts(history: History, mouse: float, readouts: Sequence[Readout], colors: Sequence[ImVec4]) -> None:
    """Draw a tooltip with the values of all curves at the mouse, which is at a time [s], and at the cursor."""
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
    """Draw triangles at the plot's edges where curves leave it, with the value of the farthest curve at each edge.

    `written`: numbers that are drawn already, as edge, left and right [px], so that none covers another.
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


def draw_names(title: str, labels: Sequence[str], colors: Sequence[ImVec4]) -> None:
    """Draw the plot's title at the top right, and the curves' names at the top left as far as they fit."""
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    title = fit_text(title, size.x - 12)
    right = corner.x + size.x - imgui.calc_text_size(title).x - 6
    _write(right, corner.y, dim_color(), title)
    x, line = corner.x + 6, imgui.get_text_line_height()
    for i, (label, color) in enumerate(zip(labels, colors, strict=True)):
        width = imgui.calc_text_size(label).x + line
        more = f"+{len(labels) - i}"
        last = i == len(labels) - 1
        if x + width + (0 if last else imgui.calc_text_size(more).x + line) > right:
            _write(x, corner.y, dim_color(), more)
            return
        _write(x, corner.y, color, label, 0.8 * line)
        top = corner.y + (_MARK + 0.45) * line
        ink = imgui.get_color_u32(color)
        implot.get_plot_draw_list().add_rect_filled(ImVec2(x, top), ImVec2(x + 0.6 * line, top + 0.15 * line), ink)
        x += width + 0.6 * line


def legend_width(width: float) -> float:
    """Return the width of the legend for plots and legend of a total width [px]; 0 if there is no room."""
    em = imgui.get_font_size()
    return min(max(_LEGEND * width, 13 * em), 20 * em) if width >= 34 * em else 0.0


def draw_legend(
    history: History,
    lines: Sequence[Line],
    colors: Sequence[ImVec4],
    width: float,
    row: float = 0.0,
    top: float = 0.0,
    more: int = 0,
) -> None:
    """Draw names and values of curves at the right of the current plot.

    Args:
        history: History with the curves; values are those of its shown step.
        lines: Curves of the plot.
        colors: Colour of each curve.
        width: Width that plots leave free at the right [px].
        row: Height of the row of each curve [px]; 0 if they share the plot.
        top: Upper end of the names [px] if rows are too low for them.
        more: Number of objects without a curve.
    """
    corner, size, line = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_text_line_height()
    draw, now = imgui.get_window_draw_list(), history.time(history.current)
    left, right = corner.x + size.x + 0.6 * line, corner.x + size.x + width - 0.2 * line
    is_aligned = row >= 0.9 * line
    begin, step = (corner.y, row) if is_aligned else (top if row else corner.y, line)
    count = len(lines) if is_aligned else min(len(lines), max(int((corner.y + size.y - begin) / line) - 1, 0))
    for i, (each, color) in enumerate(zip(lines[:count], colors, strict=False)):
        y = begin + i * step + 0.5 * (step - line)
        value = value_at(history, each, now)
        number = format_number(value, 1 if each.signal.unit == "N" else 3) if value == value else "-"
        if len(number) > len(_LEGEND_DIGITS):
            number = f"{value:.2g}"
        digits = imgui.calc_text_size(number if len(number) > len(_USUAL_DIGITS) else _USUAL_DIGITS).x
        name = fit_text(each.label, right - left - 1.3 * line - digits)
        middle, ink = y + 0.5 * line, imgui.get_color_u32(color)
        draw.add_rect_filled(ImVec2(left, middle - 0.1 * line), ImVec2(left + 0.7 * line, middle + 0.1 * line), ink)
        draw.add_text(ImVec2(left + line, y), imgui.get_color_u32(imgui.Col_.text), name)
        start = ImVec2(right - imgui.calc_text_size(number).x, y)
        draw.add_text(start, imgui.get_color_u32(dim_color()), number)
        if name != each.label and imgui.is_mouse_hovering_rect(ImVec2(left, y), ImVec2(right, y + line)):
            imgui.set_tooltip(each.label)
    if rest := more + len(lines) - count:
        y = begin + count * step if not is_aligned else corner.y + size.y + 2
        draw.add_text(ImVec2(left + line, y), imgui.get_color_u32(dim_color()), f"and {rest} more")


def draw_centered(text: str) -> None:
    """Draw a sentence in the middle of the current plot."""
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    text = fit_text(text, size.x - 12)
    extent = imgui.calc_text_size(text)
    place = ImVec2(corner.x + 0.5 * (size.x - extent.x), corner.y + 0.5 * (size.y - extent.y))
    implot.get_plot_draw_list().add_text(place, imgui.get_color_u32(dim_color()), text)


def why_empty(session: Session, curves: PlottedCurves, lines: Sequence[Line]) -> str | None:
    """Return the reason why a plot shows no curves, as a sentence; None if it shows some."""
    names, signals = curves.places(lines)
    if not lines or np.isfinite(curves.high[names, signals]).any():
        return None
    found = curves.of_signal(curves.high, Signal.FOUND)[names]
    signal = lines[0].signal
    if not (found > 0).any():
        return "no contact in this time span"
    touching = [line.name for line, each in zip(lines, found, strict=True) if (each > 0).any()]
    if all(is_net(session, name) for name in touching):
        return f"{signal} is not available for net forces"
    if not any(session.engine.sensors.has(name) for name in touching[1:] or touching):
        return f"{signal} needs sensors: make one sensor per body"
    return f"{signal} is not available for these contacts"


def is_net(session: Session, name: str) -> bool:
    """Return True if a sensor reports net forces, in world axes; False for a body without a sensor."""
    sensors = session.engine.sensors
    return sensors.has(name) and sensors[name].layout.frame == "world"


def _write(x: float, top: float, color: ImVec4, text: str, indent: float = 0.0) -> None:
    """Draw text below the marks at a plot's top, from `x` plus `indent` on [px], on a shade that hides curves."""
    draw, size = implot.get_plot_draw_list(), imgui.calc_text_size(text)
    top += _MARK * imgui.get_text_line_height()
    shade = imgui.get_color_u32(imgui.Col_.window_bg, 0.85)
    draw.add_rect_filled(ImVec2(x - 3, top), ImVec2(x + indent + size.x + 3, top + size.y), shade)
    draw.add_text(ImVec2(x + indent, top), imgui.get_color_u32(color), text)


def signal_color(session: Session, line: Line) -> ImVec4:
    """Return the colour of a signal, which is that of its arrow."""
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
    """Return the colour of a sensor's curves, or of a body's where there are no sensors."""
    curves = session.history.curves if session.history is not None else None
    if isinstance(curves, BodyCurves):
        place = curves.place(name)
        return curve_tint(sensor_color(place - 1)) if place else plain_color()
    return curve_tint(sensor_color(session.engine.sensors.position(name)))


def contact_shades(found: Values, force: Values) -> NDArray[np.int8]:
    """Return the opacity level of strips from the forces: 1 to 3, and 0 without contact, (sensors, columns)."""
    strongest = np.fmax.reduce(force, axis=1, initial=0.0, keepdims=True)
    touches = found > 0
    shades = touches.astype(np.int8)
    for shade in range(1, _SHADES):
        shades += touches & (force > strongest * (shade / _SHADES))
    return shades


def draw_strips(
    times: NDArray[np.float64],
    found: Values,
    force: Values,
    colors: Sequence[ImVec4 | None],
    part: tuple[float, float] = (_GAP, 1 - _GAP),
) -> None:
    """Draw the strips of some sensors in a plot whose value axis has a row of height 1 for each, downwards.

    Args:
        times: Times of the columns and of their end [s], (columns + 1,).
        found: Contacts, (sensors, columns).
        force: Forces [N], (sensors, columns).
        colors: Colour of each row; None leaves it empty.
        part: Top and bottom of the strip, as parts of the row's height.
    """
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    limits = implot.get_plot_limits().x
    x = (corner.x + (times - limits.min) * (size.x / (limits.max - limits.min))).tolist()
    row = size.y / len(colors)
    draw = implot.get_plot_draw_list()
    shades = contact_shades(found, force)
    changes = shades[:, 1:] != shades[:, :-1]
    for i, color in enumerate(colors):
        if color is None:
            continue
        top, bottom = corner.y + (i + part[0]) * row, corner.y + (i + part[1]) * row
        bounds = [0, *(changes[i].nonzero()[0] + 1).tolist(), len(x) - 1]
        # Of many sensors most never touch.
        touches = len(bounds) > 2 or shades[i, 0]
        inks = [imgui.get_color_u32(faded(color, alpha)) for alpha in _ALPHAS] if touches else []
        for start, stop in pairwise(bounds):
            if shade := int(shades[i, start]):
                draw.add_rect_filled(ImVec2(x[start], top), ImVec2(max(x[stop], x[start] + 1), bottom), inks[shade])


def motion_color(session: Session, event: MotionEvent) -> ImVec4:
    """Return the colour of a sliding or creeping pair, which is that of its friction cone."""
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    creeps = event.motion.state is ContactState.CREEPING
    return ImVec4(*(colors.creeping if creeps else colors.sliding)[:3], 1.0)


def _rows_of(session: Session, event: MotionEvent) -> tuple[str, ...]:
    """Return the names of the curves that a pair belongs to: bodies if curves are of bodies, else sensors."""
    of_bodies = session.history is not None and isinstance(session.history.curves, BodyCurves)
    return event.bodies if of_bodies else event.sensors


def draw_motions(session: Session, names: Sequence[str], part: float = 1 - 0.5 * _GAP) -> None:
    """Draw a line under the strips of a raster while pairs of a sensor or body slide or creep.

    `part`: part of each row's height, from its top, that belongs to the run.
    """
    limits = implot.get_plot_limits().x
    if session.events is None or not names:
        return
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    row, scale = size.y / len(names), size.x / (limits.max - limits.min)
    rows, draw = {name: i for i, name in enumerate(names)}, implot.get_plot_draw_list()
    for event in session.events.motions_between(limits.min, limits.max)[-_MOST_MOTIONS:]:
        motion, ink = event.motion, imgui.get_color_u32(motion_color(session, event))
        left = corner.x + (motion.begin - limits.min) * scale
        right = corner.x + (min(motion.end, session.events.time) - limits.min) * scale
        for i in {rows[name] for name in _rows_of(session, event) if name in rows}:
            bottom, height = corner.y + (i + part) * row, min(max(_MOTION * part * row, 2.0), part * row)
            first = ImVec2(max(left, corner.x), bottom - height)
            draw.add_rect_filled(first, ImVec2(min(max(right, left + 2), corner.x + size.x), bottom), ink)


def draw_creep(session: Session, curves: PlottedCurves, name: str, values: NDArray[np.float64]) -> None:
    """Highlight the slip speed of a sensor or body while one of its pairs creeps and none slides."""
    if session.events is None or not len(values):
        return
    times = curves.stroke_times
    creeps, slides = np.zeros(len(times), bool), np.zeros(len(times), bool)
    for event in session.events.motions_between(float(times[0]), float(times[-1])):
        if name in _rows_of(session, event):
            part = creeps if event.motion.state is ContactState.CREEPING else slides
            part |= (times >= event.motion.begin) & (times < event.motion.end)
    if (creeps & ~slides).any():
        colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
        spec = implot.Spec(line_color=ImVec4(*colors.creeping[:3], 1.0), line_weight=2.5)
        implot.plot_line(literal(f"{name}: creep speed"), times, np.where(creeps & ~slides, values, np.nan), spec)


def pointed_step(history: History, name: str) -> int:
    """Return the step under the mouse; close to a start or end of contact, the first step that shows it."""
    time, limits = float(implot.get_plot_mouse_pos().x), implot.get_plot_limits().x
    reach = _SNAP * (limits.max - limits.min) / max(implot.get_plot_size().x, 1.0)
    first, last = history.step_at(time - reach), history.step_at(time + reach)
    touches = history.curves.values(name, Signal.FOUND, first, last + 1) > 0
    changes = max(first, history.curves.first) + 1 + np.flatnonzero(touches[1:] != touches[:-1])
    step = history.step_at(time)
    return int(changes[np.argmin(np.abs(changes - step))]) if len(changes) else step
