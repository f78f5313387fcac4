"""Draws the legend, the force scale, the time and force curves over a recorded frame."""

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from ..errors import RecordingError
from ..render.glyphs import Glyphs
from ..session.layer import LegendEntry
from ..session.layers import bar_text, legend_entries, legend_notes
from ..session.session import Session
from ..settings import VideoStyle
from .encoders import Picture
from .overlay_shapes import (
    DIM,
    TEXT,
    Canvas,
    Patch,
    number_font,
    rgba,
    text_font,
    text_width,
    write_text,
)
from .plots import Plots
from .talk import Color, ForceLabel, cone_colors, force_labels, force_words, hidden_share, talk_entries

_REFERENCE_SIZE = 960, 720
"""Width and height of a picture with one pixel per measure [px]; others scale by the smaller of both ratios."""
_SMALLEST, _LARGEST = 0.72, 6.0
"""Bounds of the pixels per measure at `ui_scale` 1: text stays readable in small pictures."""
_MARGIN, _PADDING, _GAP = 16, 12, 9
_FONT_SIZE = 15
_LINE = 22
_NOTE = 0.87
"""Height of a note, as a fraction of a line's height."""
_MARK = 22
"""Width of the mark of a legend entry [measures]."""
_NARROWEST, _LOWEST = 330, 220
"""Least width and height of a picture with an overlay [measures]; smaller ones show the scene alone."""


_TITLE, _TALK_LABEL = 1.5, 1.3
"""Text sizes of a title, and of forces beside contacts in a talk, relative to other text."""
_LABEL_SECONDS = 0.15
"""Video time between two changes of a force that is written beside a contact [s]."""

Label = tuple[float, float, str, float]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom [px]."""


class Overlay:
    """Legend and time over the scene, and force curves below it, in pictures of one size."""

    def __init__(
        self,
        session: Session,
        size: tuple[int, int],
        speed: float = 1.0,
        plot_seconds: float | None = None,
        ui_scale: float = 1.0,
        style: VideoStyle = VideoStyle.DEBUG,
        title: str = "",
    ) -> None:
        """Prepare the overlay.

        Args:
            session: Session that the pictures show.
            size: Width and height of the pictures [px].
            speed: Simulated time per video time.
            plot_seconds: Length of the video [s], if it has force curves; these need `sample` after every step.
            ui_scale: Factor on all text.
            style: Style of the pictures, such as for a talk.
            title: Text for the upper left corner.

        Raises:
            RecordingError: There is no room for the curves.
        """
        self._session = session
        self.speed = speed
        """Simulated time per video time, as the clock shows it."""
        self._style, self._title_text = style, title
        self._title: Patch | None = None
        fraction = min(size[0] / _REFERENCE_SIZE[0], size[1] / _REFERENCE_SIZE[1])
        self._unit = ui_scale * min(max(fraction, _SMALLEST), _LARGEST)
        """Pixels per measure."""
        self._fits = size[0] >= _NARROWEST * self._unit and size[1] >= _LOWEST * self._unit
        self._legend: tuple[object, Patch] | None = None
        self._seen: set[Color] | None = None
        """Colours of cones that pictures have shown; None before the first call of `follow`."""
        self._row_is_low: bool | None = None
        """True if a legend in one line is at the bottom, where it hides less; None before the first picture."""
        self._clock: tuple[tuple[int, float], Image.Image] | None = None
        """Number of characters of time that the panel has room for, speed on it, and the panel without the time."""
        self._labels: tuple[float, list[ForceLabel]] | None = None
        """Simulated time until which the forces beside contacts stay [s], and these forces."""
        self._plots: Plots | None = None
        if plot_seconds is not None and (any(session.visible.values()) or len(session.simulation.channels)):
            if not self._fits:
                raise RecordingError(f"a picture of {size[0]} x {size[1]} pixels has no room for plots")
            self._plots = Plots(session, size, self._unit, plot_seconds, speed)
        band_height = len(self._plots.band) if self._plots is not None else 0
        self.scene_size = size[0], size[1] - band_height
        """Width and height of the scene's part of the picture [px]."""

    def sample(self, _: int, time: float) -> None:
        """Read the values of the curves at a physics step and a simulated time [s]."""
        if self._plots is not None:
            self._plots.sample(time)

    def follow(self, glyphs: Glyphs) -> None:
        """Remember the cones of the next frame: the legend of a talk lists only cones that were shown."""
        if self._style is VideoStyle.TALK:
            self._seen = (self._seen or set()) | cone_colors(glyphs)

    def compose(self, scene: Picture, time: float, labels: Sequence[Label] = ()) -> Picture:
        """Return the whole frame at a simulated time [s]. `scene`: pixels of the scene, which this may change.

        `labels`: x, y, text, and y of the contact, from the top left of the scene's picture [px].
        """
        if labels:
            scene = self._write_labels(scene, labels)
        if not self._fits:
            return scene
        legend, clock = self._draw_legend(), self._draw_clock(time)
        patches = [patch for patch in (legend, clock, self._draw_title()) if patch is not None]
        if self._style is VideoStyle.TALK:
            scene = self._write_forces(scene, time, [patch.box for patch in patches])
        for patch in patches:
            patch.blend(scene)
        if self._plots is None:
            return scene
        self._plots.draw(time)
        return np.concatenate([scene, self._plots.band])

    def _write_labels(self, scene: Picture, labels: Sequence[Label]) -> Picture:
        image = Image.fromarray(scene)
        draw, font = ImageDraw.Draw(image), number_font(round(_FONT_SIZE * self._unit))
        offset = 0.6 * _FONT_SIZE * self._unit
        for x, y, text, contact in labels:
            if y != contact:
                draw.line((x - offset, contact, x - 2, y + offset), (255, 255, 255), max(1, round(0.7 * self._unit)))
            draw.text((x, y), text, (255, 255, 255), font, stroke_width=1, stroke_fill=(40, 40, 40))
        return np.array(image)

    def _write_forces(self, scene: Picture, time: float, taken: list[Box]) -> Picture:
        """Write the forces beside their contacts, outside the boxes `taken`."""
        u = self._unit
        labels = force_labels(self._session, self.scene_size)
        if self._labels is None or not self._labels[0] - self.speed * _LABEL_SECONDS <= time < self._labels[0]:
            self._labels = time + self.speed * _LABEL_SECONDS, labels
        shown = self._labels[1]
        font, gap = number_font(round(_TALK_LABEL * _FONT_SIZE * u)), _MARGIN * u
        width, height = self.scene_size
        image = Image.fromarray(scene)
        draw = ImageDraw.Draw(image)
        for x, y, force, count in labels:
            # Numbers that change with every picture cannot be read: places are new, texts wait.
            nearest = min(shown, key=lambda each: abs(each[0] - x) + abs(each[1] - y), default=(x, y, force, count))
            text = force_words(*nearest[2:])
            wide, half = text_width(text, font), 0.7 * _TALK_LABEL * _FONT_SIZE * u
            for left in (x + gap, x - 3 * gap - wide):
                box = left, y - half, left + wide, y + half
                inside = left >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
                if inside and not any(_overlap(box, other) for other in taken):
                    outline = max(1, round(1.5 * u))
                    draw.text((left, y), text, TEXT[:3], font, "lm", stroke_width=outline, stroke_fill=(24, 25, 27))
                    taken.append(box)
                    break
        return np.array(image)

    def _draw_title(self) -> Patch | None:
        """Return the title, for the upper left corner."""
        if self._title is None and self._title_text:
            u = self._unit
            width, size = self.scene_size[0] - 2 * (_MARGIN + _PADDING) * u, _TITLE * _FONT_SIZE * u
            size *= min(1.0, width / max(text_width(self._title_text, text_font(round(size))), 1.0))
            font = text_font(max(round(size), 1))
            canvas = Canvas(text_width(self._title_text, font) + 2 * _PADDING * u, (_LINE + _PADDING) * u)
            canvas.panel(6 * u)
            canvas.text((_PADDING * u, canvas.size[1] / 2), self._title_text, font)
            self._title = Patch(canvas.image(), _MARGIN * u, _MARGIN * u)
        return self._title

    def _draw_legend(self) -> Patch | None:
        """Return the legend of colours and lengths, for the lower left corner; None if it has no entries."""
        entries = legend_entries(self._session)
        if not entries:
            return None
        length, scale_text = 0.0, ""
        if self._session.settings.gizmos.forces:
            bar = self._session.scale_bar
            length, scale_text = bar.length, bar_text(bar, self._session.settings.gizmos)
        notes = legend_notes(self._session)
        if self._style is VideoStyle.TALK:
            entries, notes, scale_text = talk_entries(entries, self._seen), [], scale_text.split(",")[0]
        state = (entries, notes, scale_text, round(2 * length))
        if self._legend is None or self._legend[0] != state:
            row = self._draw_row(entries, scale_text, length) if self._style is VideoStyle.TALK else None
            self._legend = state, row or self._draw_entries(entries, notes, scale_text, length)
        return self._legend[1]

    def _draw_row(self, entries: list[LegendEntry], scale_text: str, length: float) -> Patch | None:
        """Return the legend in one line beside the title, or at the bottom where it hides less; None if there is no
        room."""
        u, title = self._unit, self._draw_title()
        font, mark, gap = text_font(round(_FONT_SIZE * u)), (_MARK + _GAP) * u, 2 * _GAP * u
        width = sum(mark + text_width(text, font) + gap for _, text, _ in entries)
        width += length + _GAP * u + text_width(scale_text, font) if scale_text else -gap
        margin, panel, height = _MARGIN * u, width + 2 * _PADDING * u, (_LINE + _PADDING) * u
        low = self.scene_size[1] - margin - height
        places = [(margin + (title.width + _GAP * u if title else 0.0), margin), (margin, low)]
        if self._row_is_low is None:
            hidden = [hidden_share(self._session, self.scene_size, (x, y, x + panel, y + height)) for x, y in places]
            clock = self._draw_clock(0.0).box
            self._row_is_low = hidden[1] < hidden[0] and margin + panel + _GAP * u < clock[0]
        left, top = places[self._row_is_low]
        if left + panel + margin > self.scene_size[0]:
            return None
        canvas = Canvas(width + 2 * _PADDING * u, (_LINE + _PADDING) * u)
        canvas.panel(6 * u)
        x, y = _PADDING * u, canvas.size[1] / 2
        for entry in entries:
            self._draw_mark(canvas, (x, y), entry)
            canvas.text((x + mark, y), entry.text, font)
            x += mark + text_width(entry.text, font) + gap
        if scale_text:
            self._draw_bar(canvas, (x, y), length)
            canvas.text((x + length + _GAP * u, y), scale_text, font)
        return Patch(canvas.image(), left, top)

    def _draw_mark(self, canvas: Canvas, start: tuple[float, float], entry: LegendEntry) -> None:
        """Draw the arrow or disc of a legend entry. `start`: its left end at half height [px]."""
        u, (left, y) = self._unit, start
        if entry.is_arrow:
            canvas.arrow(start, _MARK * u, 3 * u, rgba(entry.color))
        else:
            canvas.disc((left + _MARK * u / 2, y), 4.5 * u, rgba(entry.color))

    def _draw_bar(self, canvas: Canvas, start: tuple[float, float], length: float) -> None:
        """Draw the scale bar with a tick at each end. `start`: its left end at half height [px]."""
        u, (left, y) = self._unit, start
        tick = 4.5 * u
        canvas.line(start, (left + length, y), 1.6 * u, TEXT)
        for x in (left + 0.8 * u, left + length - 0.8 * u):
            canvas.line((x, y - tick), (x, y + tick), 1.6 * u, TEXT)

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
        for entry in entries:
            self._draw_mark(canvas, (left, y), entry)
            canvas.text((left + (_MARK + _GAP) * u, y), entry.text, font)
            y += _LINE * u
        if scale_text:
            y += 0.35 * _LINE * u
            self._draw_bar(canvas, (left, y), length)
            canvas.text((left + length + _GAP * u, y), scale_text, font)
            y += _LINE * u
        for note in notes:
            canvas.text((left, y), note, small, DIM)
            y += _NOTE * _LINE * u
        return Patch(canvas.image(), _MARGIN * u, self.scene_size[1] - _MARGIN * u - canvas.size[1])

    def _draw_clock(self, time: float) -> Patch:
        """Return a patch with the simulated time, for the lower right corner or above the curves."""
        u = self._unit
        font = number_font(round(1.2 * _FONT_SIZE * u))
        text = f"{time:.3f} s"
        if self._clock is None or len(text) > self._clock[0][0] or self._clock[0][1] != self.speed:
            # Room for one digit more keeps the panel from growing at 10 s.
            text_max = max(text, "00.000 s", key=len)
            self._clock = (len(text_max), self.speed), self._draw_clock_panel(text_width(text_max, font))
        image = self._clock[1].copy()
        write_text(image, (image.width - _PADDING * u, image.height / 2), text, font, anchor="rm")
        right, bottom = (side - _MARGIN * u for side in self.scene_size)
        return Patch(image, right - image.width, bottom - image.height)

    def _draw_clock_panel(self, width: float) -> Image.Image:
        """Return a panel with the speed, unless it is real time, and room for the time."""
        u = self._unit
        font = number_font(round(1.2 * _FONT_SIZE * u))
        speed = "" if self.speed == 1.0 else f"{self.speed:g}x"
        width += text_width(speed, font) + 1.5 * _GAP * u if speed else 0.0
        canvas = Canvas(width + 2 * _PADDING * u, (_LINE + _PADDING) * u)
        canvas.panel(6 * u)
        canvas.text((_PADDING * u, canvas.size[1] / 2), speed, font, DIM)
        return canvas.image()


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
