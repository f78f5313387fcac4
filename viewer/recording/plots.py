"""Draws curves of forces and channels over time, to be shown below the scene of a recorded picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ..channels.channel import ChannelName
from ..engines.contact_sensor import ContactSensor
from ..render.style import force_text, palette_colors, reference_force, sensor_color
from ..session.force_scale import nice_above
from ..session.layers.contacts import force_arrows
from ..session.session import Session
from ..session.value_axis import ValueRange, linear_range, marks_beyond
from ..settings import Reduce
from .encoders import Picture
from .overlay_shapes import (
    DIM,
    TEXT,
    Canvas,
    Color,
    Patch,
    number_font,
    rgba,
    text_font,
    text_width,
    wrapped,
)

_GROUND = (27, 28, 30)
_SHARE = 0.32
"""Largest fraction of the picture's height for the rows."""
_ROW_MIN, _ROW_MAX = 52, 110
_PLOT_PADDING, _PLOT_GAP, _FOOTER = 14, 8, 26
_AXIS = 52
"""Width of the column with the values at the ends of the axes [measures]."""
_LABEL, _LABEL_SHARE = 96, 0.3
"""Width of the column with names and values: least [measures], and largest as a fraction of the picture's width."""
_NAME_SIZE, _NAME_LEAST = 14, 9
_NAME_LINES = 2
_TICK = 5
_CURSOR: Color = (255, 255, 255, 150)
_DIVISIONS = 8
"""Largest number of ticks along the time axis."""
_THICKNESS = 1.8
_SECONDS = 10.0
"""Longest video time that the curves show [s]."""
_TEXT_SECONDS = 0.1
"""Video time between two changes of a number [s]: faster changes cannot be read."""
_LEAST = 1e-9
"""Least range of an axis of channels."""
_LIGHTER = 0.2
"""Fraction by which curves are lightened: thin lines on a dark ground look darker than arrows of the same colour."""


@dataclass
class _Row:
    sensor: ContactSensor | None
    """Sensor of the row; None for a row of channels."""
    channels: Sequence[ChannelName]
    strip: "CurveStrip"
    top: int
    """Distance from the band's upper edge [px]."""
    height: int
    name: list[str]
    """Lines of the whole name of the row."""
    name_size: int
    """Size of the name's text [px]."""
    values: NDArray[np.float64]
    """Magnitude of the sum of the forces [N], (1,), or value of each channel, (channels,)."""


class Plots:
    """A band of curves as wide as the picture, to be shown below the scene."""

    def __init__(self, session: Session, size: tuple[int, int], unit: float, seconds: float, speed: float) -> None:
        """Prepare plots. `size`: size of the whole frame [px]; `unit`: pixels per measure; `seconds`: length of the
        video [s]."""
        self._session = session
        self._unit = u = unit
        self._text_time = speed * _TEXT_SECONDS
        self._next_text = -np.inf
        shown = session.shown_sensors
        room = _SHARE * size[1]
        groups = session.simulation.channels.groups()
        most = max(1, int(room / (_ROW_MIN * u)))
        sensors = shown[: max(most - len(groups), min(len(shown), 1))]
        drawn: list[tuple[str, ContactSensor | None, list[ChannelName]]] = [
            *((sensor.name, sensor, []) for sensor in sensors),
            *((title or "channels", None, [channel.name for channel in group]) for title, group in groups.items()),
        ][:most]
        row_height = int(min(room / max(len(drawn), 1), _ROW_MAX * u))
        height = len(drawn) * row_height + round((_PLOT_PADDING + _FOOTER) * u)
        # The scene above keeps an even height.
        height += (size[1] - height) % 2
        self.band: Picture = np.full((height, size[0], 3), _GROUND, np.uint8)
        """Picture of the band, RGB, (height, width, 3)."""
        names = [_fit_name(name, _LABEL_SHARE * size[0], u) for name, _, _ in drawn]
        widths = [text_width(line, text_font(name_size)) for lines, name_size in names for line in lines]
        self._label = max([_LABEL * u, *widths]) + 4 * u
        """Width of the column with names and values [px]."""
        left, right = round(self._label + (_PLOT_PADDING + _AXIS) * u), round(size[0] - _PLOT_PADDING * u)
        self._left, self._right = left, right
        self._axis: tuple[int, Image.Image] | None = None
        """Number of the column at the left edge, and the time axis that was drawn for it."""
        self._left_out = len(shown) + len(groups) - len(drawn)
        span = speed * min(_SECONDS, max(seconds, 0.2))
        self._rows = []
        for i, (_, sensor, channels) in enumerate(drawn):
            top = round(_PLOT_PADDING * u) + i * row_height
            strip = CurveStrip(
                self.band[top : top + row_height - round(_PLOT_GAP * u), left:right],
                self._colors(sensor, len(channels)),
                span,
                _THICKNESS * u,
                _LEAST if sensor is None else 0.1 * reference_force(session.engine.model),
            )
            values = np.zeros(max(len(channels), 1))
            self._rows.append(_Row(sensor, channels, strip, top, row_height, *names[i], values))

    def sample(self, time: float) -> None:
        """Read forces and channels at a simulated time [s]; call after every step."""
        for row in self._rows:
            if row.sensor is None:
                known = self._session.simulation.channels
                row.values = np.array([known[name.name].value_at(time) for name in row.channels])
                row.strip.sample(time, row.values)
                continue
            batch = self._session.engine.contacts(row.sensor.name)
            row.values = np.array([0.0 if batch.net_force is None else float(np.linalg.norm(batch.net_force))])
            if row.sensor.reduce is Reduce.NETFORCE or self._only_total:
                values = row.values
            elif batch.force is None:
                values = np.zeros(3)
            else:
                values = np.asarray(batch.force[batch.filled].sum(axis=0), float)
            row.strip.sample(time, values)

    def draw(self, time: float) -> None:
        """Update the band to a simulated time [s]."""
        # Rows of one kind share an axis: equal heights are equal forces.
        for is_net in (False, True):
            strips = [
                row.strip for row in self._rows if row.sensor and (row.sensor.reduce is Reduce.NETFORCE) is is_net
            ]
            if strips:
                low, high = (np.concatenate(ends) for ends in zip(*(strip.columns for strip in strips), strict=True))
                values = linear_range(low, high, self._session.settings.plots.fit_usual)
                for strip in strips:
                    strip.paint(values)
        for row in self._rows:
            if row.sensor is None:
                row.strip.paint()
        if time >= self._next_text:
            self._next_text = time + self._text_time * (1 - 1e-6)
            for row in self._rows:
                self._draw_texts(row)
        self._draw_cursor()

    @property
    def _only_total(self) -> bool:
        """True if arrows show only total forces: curves then show no components either."""
        gizmos = self._session.settings.gizmos
        return gizmos.total and not gizmos.normal

    def _colors(self, sensor: ContactSensor | None, channels: int) -> list[Color]:
        if sensor is None:
            return [rgba([*sensor_color(place)[:3]]) for place in range(channels)]
        colors = palette_colors(self._session.engine.model, self._session.settings.gizmos.palette)
        is_one = sensor.reduce is Reduce.NETFORCE or self._only_total
        curves = [arrow.color(colors) for arrow in force_arrows(is_one)]
        return [rgba([value + _LIGHTER * (1.0 - value) for value in color[:3]]) for color in curves]

    def _draw_texts(self, row: _Row) -> None:
        u = self._unit
        width, height = self._left - round((_PLOT_PADDING + 6) * u), row.height
        image = Image.new("RGB", (width, height), _GROUND)
        draw = ImageDraw.Draw(image)
        name, number, small = text_font(row.name_size), number_font(round(14 * u)), number_font(round(12 * u))
        y = 0.0
        for line in row.name:
            draw.text((0, y), line, TEXT[:3], name, "lt")
            y += 1.15 * row.name_size
        strip_height = height - _PLOT_GAP * u
        if row.sensor is None:
            ends = [f"{end:.4g}" for end in (row.strip.top, row.strip.bottom)]
            for channel, value, color in zip(
                row.channels, row.values, self._colors(None, len(row.values)), strict=True
            ):
                if y + 16 * u <= strip_height:
                    text = "-" if math.isnan(value) else f"{value:.4g}"
                    draw.text((0, y + 3 * u), f"{channel.label} {text}", color[:3], small, "lt")
                y += 15 * u
        else:
            force = "-" if math.isnan(row.values[0]) else f"{row.values[0]:.2f} N"
            ends = [force_text(row.strip.top), force_text(row.strip.bottom)]
            draw.text((0, y + 4 * u), force, DIM[:3], number, "lt")
        draw.text((width, 5 * u), ends[0], DIM[:3], small, "rm")
        draw.text((width, strip_height - 5 * u), ends[1], DIM[:3], small, "rm")
        left = round(_PLOT_PADDING * u)
        self.band[row.top : row.top + height, left : left + width] = np.asarray(image)

    def _draw_cursor(self) -> None:
        """Draw a line at the time of the frame through all rows, down to the time axis."""
        if not self._rows:
            return
        u, strip = self._unit, self._rows[0].strip
        if self._axis is None or self._axis[0] != strip.first:
            self._axis = strip.first, self._draw_axis(strip)
        image = self._axis[1].copy()
        x = self._left + strip.columns[0].shape[1] - 0.5
        top = round(_TICK * u)
        ImageDraw.Draw(image).polygon([(x, 0), (x + 0.8 * top, top), (x - 0.8 * top, top)], TEXT[:3])
        self.band[-image.height :] = np.asarray(image)
        half = max(1, round(u)) / 2
        columns = slice(max(round(x - half), self._left), min(round(x + half), self._right))
        for row in self._rows:
            line = self.band[row.top : row.top + row.height, columns]
            # Between the rows a former cursor may stand: what is below a strip is all ground.
            self.band[row.top + row.strip.height : row.top + row.height, self._left : self._right] = _GROUND
            line[...] = np.rint(line + (np.array(_CURSOR[:3]) - line) * (_CURSOR[3] / 255))

    def _draw_axis(self, strip: "CurveStrip") -> Image.Image:
        """Return the time axis below the rows: a tick, the time and its unit at every grid line."""
        u = self._unit
        image = Image.new("RGB", (self.band.shape[1], round(_FOOTER * u)), _GROUND)
        draw, font = ImageDraw.Draw(image), number_font(round(12 * u))
        draw.line([(self._left, 0), (self._right, 0)], DIM[:3], max(1, round(u)))
        decimals = max(0, -math.floor(math.log10(strip.division) + 1e-9))
        for time, column in strip.ticks:
            x, text = self._left + column, f"{time:.{decimals}f} s"
            draw.line([(x, 0), (x, _TICK * u)], DIM[:3], max(1, round(u)))
            half = text_width(text, font) / 2
            middle = min(max(x, self._left + half), self._right - half)
            draw.text((middle, (_TICK + 3) * u), text, DIM[:3], font, "mt")
        if self._left_out:
            text = f"and {self._left_out} more row{'s' * (self._left_out > 1)}"
            draw.text((_PLOT_PADDING * u, (_TICK + 3) * u), text, DIM[:3], text_font(round(12 * u)), "lt")
        return image


def _fit_name(name: str, width: float, unit: float) -> tuple[list[str], int]:
    """Return the lines of a whole name in a column of a width [px], and the size of their text [px]."""
    sizes = range(round(_NAME_SIZE * unit), round(_NAME_LEAST * unit) - 1, -1)
    lines = [(wrapped(name, text_font(size), width), size) for size in sizes]
    return next((each for each in lines if len(each[0]) <= _NAME_LINES), lines[-1])


_GRID: Color = (255, 255, 255, 26)
_ZERO: Color = (255, 255, 255, 64)
_SHRINK = 0.4
"""Fraction of an axis that its values must fill, or the axis shrinks to their range."""
_PLOT_MARK, _NUMBER = 5.0, 6.5
"""Sizes of a mark where a curve leaves the strip, and of the number beside it, in thicknesses of the curve."""


class CurveStrip:
    """Several curves on one pair of axes, painted column by column into a part of a picture.

    A column holds the smallest and largest value of its time, so that no peak between two pictures is lost.
    """

    def __init__(self, pixels: Picture, colors: Sequence[Color], seconds: float, thickness: float, top: float) -> None:
        """Begin a strip. `pixels`: picture to paint, filled with the background's colour; `seconds`: time across its
        width; `top`: least range of the axis."""
        self._shown = pixels
        self._pixels = pixels.copy()
        """Picture of the curves without marks, which move from picture to picture."""
        self._ground = pixels[0, 0].astype(float)
        self._height, self._width = pixels.shape[:2]
        self._colors = colors
        self._column_time = seconds / self._width
        self.division = nice_above(seconds / _DIVISIONS)
        """Time between two vertical grid lines [s]."""
        self._thickness = thickness
        self._top_min = nice_above(top)
        self.bottom, self.top = 0.0, self._top_min
        """Values at the ends of the axis."""
        self._low = np.zeros((len(colors), self._width))
        self._high = self._low.copy()
        self._last = np.zeros(len(colors))
        self._start: float | None = None
        """Time of the first sample [s]."""
        self._first = 0
        """Number of the column at the left edge; column 0 holds the first sample."""
        self._newest = -1
        self._stale = 0
        """Number of the first column that may have to be painted again."""

    def sample(self, time: float, values: NDArray[np.float64]) -> None:
        """Add the curves' values at a time [s], which must not decrease."""
        if self._start is None:
            self._start, self._last = time, values
        # What is not known has no place on the curve.
        values = np.where(np.isfinite(values), values, np.nan)
        column = int((time - self._start) / self._column_time + 1e-6)
        self._scroll(column)
        if column > self._newest:
            # The curve comes from the last value, through every column that a long step has passed.
            passed = slice(max(self._newest + 1 - self._first, 0), column + 1 - self._first)
            self._low[:, passed] = self._high[:, passed] = self._last[:, None]
            self._newest = column
        at = column - self._first
        np.fmin(self._low[:, at], values, out=self._low[:, at])
        np.fmax(self._high[:, at], values, out=self._high[:, at])
        self._last = values

    @property
    def height(self) -> int:
        """Height [px]."""
        return self._height

    @property
    def first(self) -> int:
        """Number of the column at the left edge, counted from the first sample."""
        return self._first

    @property
    def ticks(self) -> list[tuple[float, int]]:
        """Return times [s] and columns of the vertical grid lines, also after the newest sample."""
        columns = np.arange(self._width)
        number = self._grid_number(columns)
        marked = columns[number > self._grid_number(columns - 1)]
        return [(float(number[column]) * self.division, int(column)) for column in marked]

    def _grid_number(self, columns: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the number of the last vertical grid line at or before each column."""
        times = (columns + self._first) * self._column_time + (self._start or 0.0)
        return np.asarray(np.floor(times / self.division + 1e-6))

    @property
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of each column that is shown, (curves, columns) each; NaN if unknown."""
        shown = slice(0, max(self._newest + 1 - self._first, 1))
        return self._low[:, shown], self._high[:, shown]

    def paint(self, values: ValueRange | None = None) -> None:
        """Paint the newest samples, with an axis for a range of values; None for the range of the strip's own
        values."""
        if self._newest < 0:
            return
        low, high = self.columns
        if self._fit_axis(values or linear_range(low, high, fit_usual=True)):
            self._stale = self._first
        self._paint(max(self._stale - self._first, 0), low.shape[1])
        # The newest column may still grow.
        self._stale = self._newest
        self._shown[...] = self._pixels
        self._draw_marks()

    def _scroll(self, column: int) -> None:
        shift = column - self._first - self._width + 1
        if shift <= 0:
            return
        self._first += shift
        for values in (self._low, self._high, self._pixels):
            values[:, :-shift] = values[:, shift:].copy()

    def _fit_axis(self, values: ValueRange) -> bool:
        """Fit the axis to a range of values; return True if it has changed."""
        bottom, top = values.low, max(values.high, self._top_min)
        fits = top <= self.top and bottom >= self.bottom
        # An axis that has become much too long shrinks; a little too long it stays, or it would jump back and forth.
        if fits and top - bottom > _SHRINK * (self.top - self.bottom):
            return False
        changed = (bottom, top) != (self.bottom, self.top)
        self.bottom, self.top = bottom, top
        return changed

    def _paint(self, start: int, end: int) -> None:
        colors = np.tile(self._ground, (self._height, end - start, 1))
        zero = self._row(np.zeros(1))[0]
        for edge, paint in ((0.0, _GRID), (self._height - 1.0, _GRID), (zero, _ZERO)):
            _cover(colors[min(int(edge), self._height - 1)], paint, np.ones(end - start))
        marks = np.diff(self._grid_number(np.arange(start - 1, end))) > 0
        _cover(colors, _GRID, np.broadcast_to(marks, colors.shape[:2]))
        rows = np.arange(self._height)[:, None]
        # The first curve is the most important one, and painted last.
        for curve in reversed(range(len(self._colors))):
            upper = self._row(self._high[curve, start:end]) - self._thickness / 2
            lower = self._row(self._low[curve, start:end]) + self._thickness / 2
            coverage = np.nan_to_num(np.clip(np.minimum(rows + 1, lower) - np.maximum(rows, upper), 0.0, 1.0))
            _cover(colors, self._colors[curve], coverage)
        self._pixels[:, start:end] = np.rint(colors)

    def _draw_marks(self) -> None:
        """Draw a triangle at the edge where a curve leaves the strip, and beside it the curve's farthest value
        there."""
        (low, high), values = self.columns, ValueRange(self.bottom, self.top)
        size, font = _PLOT_MARK * self._thickness, number_font(round(_NUMBER * self._thickness))
        written: list[tuple[bool, float, float]] = []
        """True for the upper edge, left and right end [px] of each number that is drawn, so that none covers
        another."""
        for curve, color in enumerate(self._colors):
            marks = marks_beyond(low[curve], high[curve], values)
            for is_above in (True, False):
                here = [mark for mark in marks if mark.is_above is is_above]
                if not here:
                    continue
                triangle = Canvas(size, size)
                triangle.triangle((size / 2, 0.0 if is_above else size), size, size if is_above else -size, color)
                image, top = triangle.image(), 0.0 if is_above else self._height - size
                for mark in here:
                    Patch(image, mark.column + 0.5 - size / 2, top).blend(self._shown)
                farthest = max(here, key=lambda mark: abs(mark.value))
                text = f"{farthest.value:.{0 if abs(farthest.value) >= 1000 else 1}f}"
                number = Canvas(text_width(text, font) + size, _NUMBER * self._thickness)
                number.panel(0.0)
                number.text((size / 2, number.size[1] / 2), text, font, color)
                left = min(farthest.column + size / 2, self._width - number.size[0])
                right = left + number.size[0]
                row = sum(edge is is_above and begin < right and left < end for edge, begin, end in written)
                written.append((is_above, left, right))
                y = row * number.size[1] if is_above else self._height - (row + 1) * number.size[1]
                Patch(number.image(), left, y).blend(self._shown)

    def _row(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distances of values from the strip's upper edge [px]."""
        room = self._height - self._thickness
        return self._thickness / 2 + room * (self.top - values) / (self.top - self.bottom)


def _cover(colors: NDArray[np.float64], paint: Color, coverage: NDArray[np.floating] | NDArray[np.bool_]) -> None:
    """Blend a colour over pixels, (..., 3), in place; `coverage`: fraction of each pixel, (...)."""
    colors += (np.array(paint[:3], float) - colors) * (coverage * (paint[3] / 255))[..., None]
