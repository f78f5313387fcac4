"""Draws beside the scene of a recorded picture what its colours mean, the force scale, the time and force curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ..engines.contact_sensor import ContactSensor
from ..errors import RecordingError
from ..render.style import palette_colors, reference_force
from ..session.force_scale import nice_above
from ..session.layer import LegendEntry
from ..session.layers import bar_text, legend_entries, legend_notes
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
    elided,
    number_font,
    rgba,
    text_font,
    text_width,
    write_text,
)

_REFERENCE_SIZE = 960, 720
"""Width and height of a picture in which measures below are in pixels; others follow their scarcer side."""
_SMALLEST, _LARGEST = 0.72, 6.0
"""Bounds of the magnification: text stays readable in small pictures."""
_MARGIN, _PADDING, _GAP = 16, 12, 9
_FONT_SIZE = 15
_LINE = 22
_NOTE = 0.87
"""Height of a note, in lines."""
_MARK = 22
"""Width of an entry's mark."""
_NARROWEST, _LOWEST = 330, 220
"""Smaller pictures show the scene alone."""


Label = tuple[float, float, str]
_GROUND = (27, 28, 30)
_SHARE = 0.32
"""Part of the picture's height that the rows may take."""
_ROW_MIN, _ROW_MAX = 52, 110
_PLOT_PADDING, _PLOT_GAP, _FOOTER = 14, 8, 20
_LABEL, _AXIS = 168, 44
"""Widths of the columns with names and values, and with the axis' ends."""
_THICKNESS = 1.8
_SECONDS = 5.0
"""Time of the video that the curves reach back."""
_TEXT_SECONDS = 0.1
"""Time of the video between two changes of a number: faster ones cannot be read."""
_LIGHTER = 0.2
"""How far curves are lightened: thin lines on a dark ground look darker than arrows of the same colour."""


@dataclass
class _Row:
    sensor: ContactSensor
    strip: "CurveStrip"
    top: int
    """Distance from the band's upper edge [px]."""
    height: int
    force: float = 0.0
    """Size of the sum of the forces [N]."""


class Plots:
    """A band of curves as wide as the picture, to be shown below the scene."""

    def __init__(self, session: Session, size: tuple[int, int], unit: float, seconds: float, speed: float) -> None:
        """`size`: of the whole picture [px]; `unit`: pixels per measure; `seconds`: length of the video."""
        self._session = session
        self._unit = u = unit
        self._text_time = speed * _TEXT_SECONDS
        self._next_text = -np.inf
        shown = session.shown_sensors
        room = _SHARE * size[1]
        drawn = shown[: max(1, int(room / (_ROW_MIN * u)))]
        row_height = int(min(room / max(len(drawn), 1), _ROW_MAX * u))
        height = len(drawn) * row_height + round((_PLOT_PADDING + _FOOTER) * u)
        # The scene above keeps an even height.
        height += (size[1] - height) % 2
        self.band: Picture = np.full((height, size[0], 3), _GROUND, np.uint8)
        """The picture of the band, (height, width, 3)."""
        left, right = round((_PLOT_PADDING + _LABEL + _AXIS) * u), round(size[0] - _PLOT_PADDING * u)
        span = speed * min(_SECONDS, max(seconds, 0.2))
        self._rows = []
        for i, sensor in enumerate(drawn):
            top = round(_PLOT_PADDING * u) + i * row_height
            strip = CurveStrip(
                self.band[top : top + row_height - round(_PLOT_GAP * u), left:right],
                self._colors(sensor),
                span,
                _THICKNESS * u,
                0.1 * reference_force(session.engine.model),
            )
            self._rows.append(_Row(sensor, strip, top, row_height))
        if drawn:
            self._draw_footer(self._rows[0].strip.division, len(shown) - len(drawn))

    def sample(self, time: float) -> None:
        """Read the sensors' forces at a simulated time [s]; call after every step."""
        for row in self._rows:
            batch = self._session.engine.contacts(row.sensor.name)
            row.force = 0.0 if batch.net_force is None else float(np.linalg.norm(batch.net_force))
            if row.sensor.reduce is Reduce.NETFORCE:
                values = np.array([row.force])
            elif batch.force is None:
                values = np.zeros(3)
            else:
                values = np.asarray(batch.force[batch.filled].sum(axis=0), float)
            row.strip.sample(time, values)

    def draw(self, time: float) -> None:
        """Bring the band up to a simulated time [s]."""
        # Rows of one kind share an axis: equal heights are equal forces.
        for is_net in (False, True):
            strips = [row.strip for row in self._rows if (row.sensor.reduce is Reduce.NETFORCE) is is_net]
            if strips:
                low, high = (np.concatenate(ends) for ends in zip(*(strip.columns for strip in strips), strict=True))
                values = linear_range(low, high, self._session.settings.plots.fit_usual)
                for strip in strips:
                    strip.paint(values)
        if time >= self._next_text:
            self._next_text = time + self._text_time * (1 - 1e-6)
            for row in self._rows:
                self._draw_texts(row)

    def _colors(self, sensor: ContactSensor) -> list[Color]:
        colors = palette_colors(self._session.engine.model, self._session.settings.gizmos.palette)
        curves = [arrow.color(colors) for arrow in force_arrows(sensor.reduce is Reduce.NETFORCE)]
        return [rgba([value + _LIGHTER * (1.0 - value) for value in color[:3]]) for color in curves]

    def _draw_texts(self, row: _Row) -> None:
        u = self._unit
        width, height = round((_LABEL + _AXIS - 6) * u), row.height
        image = Image.new("RGB", (width, height), _GROUND)
        draw = ImageDraw.Draw(image)
        name, number, small = text_font(round(14 * u)), number_font(round(14 * u)), number_font(round(12 * u))
        draw.text((0, 8 * u), elided(row.sensor.name, name, _LABEL * u), TEXT[:3], name, "lm")
        force = "-" if math.isnan(row.force) else f"{row.force:.2f} N"
        draw.text((0, 26 * u), force, DIM[:3], number, "lm")
        strip_height = height - _PLOT_GAP * u
        draw.text((width, 5 * u), f"{row.strip.top:g}", DIM[:3], small, "rm")
        draw.text((width, strip_height - 5 * u), f"{row.strip.bottom:g}", DIM[:3], small, "rm")
        left = round(_PLOT_PADDING * u)
        self.band[row.top : row.top + height, left : left + width] = np.asarray(image)

    def _draw_footer(self, division: float, left_out: int) -> None:
        u = self._unit
        height, width = round(_FOOTER * u), self.band.shape[1]
        image = Image.new("RGB", (width, height), _GROUND)
        draw = ImageDraw.Draw(image)
        font = text_font(round(12 * u))
        middle = height / 2 - 2 * u
        draw.text((width - _PLOT_PADDING * u, middle), f"{division:g} s per division, in N", DIM[:3], font, "rm")
        if left_out:
            text = f"and {left_out} more sensor{'s' * (left_out > 1)}"
            draw.text((_PLOT_PADDING * u, middle), text, DIM[:3], font, "lm")
        self.band[-height:] = np.asarray(image)


_GRID: Color = (255, 255, 255, 26)
_ZERO: Color = (255, 255, 255, 64)
_SHRINK = 0.4
"""The axis shrinks when it needs less than this part of its length."""
_PLOT_MARK, _NUMBER = 5.0, 6.5
"""Size of a mark where a curve leaves the strip, and of the number beside it, by the curve's thickness."""


class CurveStrip:
    """Several curves on one pair of axes, painted column by column into a part of a picture.

    A column holds the smallest and largest value of its time, so that no peak between two pictures is lost.
    """

    def __init__(self, pixels: Picture, colors: Sequence[Color], seconds: float, thickness: float, top: float) -> None:
        """`pixels`: where to paint, filled with the ground's colour; `seconds`: time across; `top`: least range."""
        self._shown = pixels
        self._pixels = pixels.copy()
        """The curves without marks, which stand elsewhere in every picture."""
        self._ground = pixels[0, 0].astype(float)
        self._height, self._width = pixels.shape[:2]
        self._colors = colors
        self._column_time = seconds / self._width
        self.division = nice_above(seconds / 5)
        """Time between two vertical grid lines."""
        self._thickness = thickness
        self._top_min = nice_above(top)
        self.bottom, self.top = 0.0, self._top_min
        """Values at the ends of the axis."""
        self._low = np.zeros((len(colors), self._width))
        self._high = self._low.copy()
        self._last = np.zeros(len(colors))
        self._start: float | None = None
        """Time of the first sample."""
        self._first = 0
        """Number of the column at the left edge; column 0 holds the first sample."""
        self._newest = -1
        self._stale = 0
        """Number of the first column whose paint may be out of date."""

    def sample(self, time: float, values: NDArray[np.float64]) -> None:
        """Add the curves' values at a time, which never goes back."""
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
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of each column that is shown, (curves, columns) each; NaN if unknown."""
        shown = slice(0, max(self._newest + 1 - self._first, 1))
        return self._low[:, shown], self._high[:, shown]

    def paint(self, values: ValueRange | None = None) -> None:
        """Bring the strip up to date, with an axis for these values, or for its own."""
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
        """Give the axis room for these values. True if it has changed."""
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
        times = (np.arange(start - 1, end) + self._first) * self._column_time + (self._start or 0.0)
        marks = np.diff(np.floor(times / self.division + 1e-6)) > 0
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
        """A triangle at the edge where a curve leaves the strip, and at each edge the value of the farthest."""
        (low, high), values = self.columns, ValueRange(self.bottom, self.top)
        size, font = _PLOT_MARK * self._thickness, number_font(round(_NUMBER * self._thickness))
        written: list[tuple[bool, float, float]] = []
        """At which edge, and from where to where, numbers stand: none covers another."""
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
        """Distance from the strip's upper edge [px]."""
        room = self._height - self._thickness
        return self._thickness / 2 + room * (self.top - values) / (self.top - self.bottom)


def _cover(colors: NDArray[np.float64], paint: Color, coverage: NDArray[np.floating] | NDArray[np.bool_]) -> None:
    """Lay paint over colours, (..., 3), as far as it covers them, (...)."""
    colors += (np.array(paint[:3], float) - colors) * (coverage * (paint[3] / 255))[..., None]


class Overlay:
    """Legend and time over the scene, and force curves below it, in pictures of one size."""

    def __init__(
        self,
        session: Session,
        size: tuple[int, int],
        speed: float = 1.0,
        plot_seconds: float | None = None,
        ui_scale: float = 1.0,
    ) -> None:
        """Prepare what stands beside the scene.

        Args:
            session: What is shown.
            size: Width and height of the pictures [px].
            speed: Simulated time per time of the video.
            plot_seconds: Length of the video, if there are to be force curves; they need `sample` after every step.
            ui_scale: Factor on all text.

        Raises:
            RecordingError: There is no room for the curves.
        """
        self._session = session
        self._speed = speed
        fraction = min(size[0] / _REFERENCE_SIZE[0], size[1] / _REFERENCE_SIZE[1])
        self._unit = ui_scale * min(max(fraction, _SMALLEST), _LARGEST)
        """Pixels per measure."""
        self._fits = size[0] >= _NARROWEST * self._unit and size[1] >= _LOWEST * self._unit
        self._legend: tuple[object, Patch] | None = None
        self._clock: tuple[int, Image.Image] | None = None
        """Characters that fit beside the speed, and the empty panel."""
        self._plots: Plots | None = None
        if plot_seconds is not None and any(session.visible.values()):
            if not self._fits:
                raise RecordingError(f"a picture of {size[0]} x {size[1]} pixels has no room for plots")
            self._plots = Plots(session, size, self._unit, plot_seconds, speed)
        band_height = len(self._plots.band) if self._plots is not None else 0
        self.scene_size = size[0], size[1] - band_height
        """Width and height of the scene's part of the picture [px]."""

    def sample(self, _: int, time: float) -> None:
        """Read what the curves show now, at a physics step and a simulated time [s]."""
        if self._plots is not None:
            self._plots.sample(time)

    def compose(self, scene: Picture, time: float, labels: Sequence[Label] = ()) -> Picture:
        """The whole picture from one of the scene, which is drawn into; at a simulated time [s].

        `labels`: x and y in the scene's picture, from its top left [px], and text.
        """
        if labels:
            scene = self._write_labels(scene, labels)
        if not self._fits:
            return scene
        legend = self._draw_legend()
        if legend is not None:
            legend.blend(scene)
        self._draw_clock(time).blend(scene)
        if self._plots is None:
            return scene
        self._plots.draw(time)
        return np.concatenate([scene, self._plots.band])

    def _write_labels(self, scene: Picture, labels: Sequence[Label]) -> Picture:
        image = Image.fromarray(scene)
        draw, font = ImageDraw.Draw(image), number_font(round(_FONT_SIZE * self._unit))
        for x, y, text in labels:
            draw.text((x, y), text, (255, 255, 255), font, stroke_width=1, stroke_fill=(40, 40, 40))
        return np.array(image)

    def _draw_legend(self) -> Patch | None:
        """What the colours mean and how long a force is, for the lower left corner; None if nothing is drawn."""
        entries = legend_entries(self._session)
        if not entries:
            return None
        length, scale_text = 0.0, ""
        if self._session.settings.gizmos.forces:
            bar = self._session.scale_bar
            length, scale_text = bar.length, bar_text(bar, self._session.settings.gizmos)
        notes = legend_notes(self._session)
        state = (entries, notes, scale_text, round(2 * length))
        if self._legend is None or self._legend[0] != state:
            self._legend = state, self._draw_entries(entries, notes, scale_text, length)
        return self._legend[1]

    def _draw_entries(self, entries: list[LegendEntry], notes: list[str], scale_text: str, length: float) -> Patch:
        u = self._unit
        font, small = text_font(round(_FONT_SIZE * u)), text_font(round(0.87 * _FONT_SIZE * u))
        width = max(_MARK * u + _GAP * u + text_width(text, font) for _, text, _ in entries)
        if scale_text:
            width = max(width, length + _GAP * u + text_width(scale_text, font))
        width = max([width, *(text_width(note, small) for note in notes)])
        lines = len(entries) + bool(scale_text) * 1.35 + _NOTE * len(notes)
        canvas = Canvas(width + 2 * _PADDING * u, lines * _LINE * u + 2 * _PADDING * u - 4 * u)
        canvas.panel(6 * u)
        left, y = _PADDING * u, (_PADDING - 2 + _LINE / 2) * u
        for color, text, is_arrow in entries:
            if is_arrow:
                canvas.arrow((left, y), _MARK * u, 3 * u, rgba(color))
            else:
                canvas.disc((left + _MARK * u / 2, y), 4.5 * u, rgba(color))
            canvas.text((left + (_MARK + _GAP) * u, y), text, font)
            y += _LINE * u
        if scale_text:
            y += 0.35 * _LINE * u
            tick = 4.5 * u
            canvas.line((left, y), (left + length, y), 1.6 * u, TEXT)
            for x in (left + 0.8 * u, left + length - 0.8 * u):
                canvas.line((x, y - tick), (x, y + tick), 1.6 * u, TEXT)
            canvas.text((left + length + _GAP * u, y), scale_text, font)
            y += _LINE * u
        for note in notes:
            canvas.text((left, y), note, small, DIM)
            y += _NOTE * _LINE * u
        return Patch(canvas.image(), _MARGIN * u, self.scene_size[1] - _MARGIN * u - canvas.size[1])

    def _draw_clock(self, time: float) -> Patch:
        """Simulated time, for the lower right corner or above the curves."""
        u = self._unit
        font = number_font(round(1.2 * _FONT_SIZE * u))
        text = f"{time:.3f} s"
        if self._clock is None or len(text) > self._clock[0]:
            # Room for one digit more keeps the panel from growing at 10 s.
            text_max = max(text, "00.000 s", key=len)
            self._clock = len(text_max), self._draw_clock_panel(text_width(text_max, font))
        image = self._clock[1].copy()
        write_text(image, (image.width - _PADDING * u, image.height / 2), text, font, anchor="rm")
        right, bottom = (side - _MARGIN * u for side in self.scene_size)
        return Patch(image, right - image.width, bottom - image.height)

    def _draw_clock_panel(self, width: float) -> Image.Image:
        """A panel with the speed, unless it is that of the world, and room for the time."""
        u = self._unit
        font = number_font(round(1.2 * _FONT_SIZE * u))
        speed = "" if self._speed == 1.0 else f"{self._speed:g}x"
        width += text_width(speed, font) + 1.5 * _GAP * u if speed else 0.0
        canvas = Canvas(width + 2 * _PADDING * u, (_LINE + _PADDING) * u)
        canvas.panel(6 * u)
        canvas.text((_PADDING * u, canvas.size[1] / 2), speed, font, DIM)
        return canvas.image()
