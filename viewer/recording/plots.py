"""Contacts at every step to a band of force curves: one row a sensor, in the colours of its arrows."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from ..engines.contract import ContactSensor
from ..render.scale import palette_colors, reference_force
from ..session import Session
from ..settings import Reduce
from .curves import CurveStrip
from .encoders import Picture
from .patches import DIM, TEXT, Color, elided, number_font, rgba, text_font

_GROUND = (27, 28, 30)
_SHARE = 0.28
"""Part of the picture's height that the rows may take."""
_ROW_MIN, _ROW_MAX = 40, 84
_PADDING, _GAP, _FOOTER = 14, 8, 20
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
    strip: CurveStrip
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
        shown = [sensor for sensor in session.engine.sensors if session.visible[sensor.name]]
        room = _SHARE * size[1]
        drawn = shown[: max(1, int(room / (_ROW_MIN * u)))]
        row_height = int(min(room / max(len(drawn), 1), _ROW_MAX * u))
        height = len(drawn) * row_height + round((_PADDING + _FOOTER) * u)
        # The scene above keeps an even height.
        height += (size[1] - height) % 2
        self.band: Picture = np.full((height, size[0], 3), _GROUND, np.uint8)
        """The picture of the band, (height, width, 3)."""
        left, right = round((_PADDING + _LABEL + _AXIS) * u), round(size[0] - _PADDING * u)
        span = speed * min(_SECONDS, max(seconds, 0.2))
        self._rows = []
        for i, sensor in enumerate(drawn):
            top = round(_PADDING * u) + i * row_height
            strip = CurveStrip(
                self.band[top : top + row_height - round(_GAP * u), left:right],
                self._colors(sensor),
                span,
                _THICKNESS * u,
                0.1 * reference_force(session.engine.model),
            )
            self._rows.append(_Row(sensor, strip, top, row_height))
        if drawn:
            self._draw_footer(self._rows[0].strip.division, len(shown) - len(drawn))

    def sample(self, time: float) -> None:
        """Take the sensors' forces at a simulated time [s]; call after every step."""
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
        for row in self._rows:
            row.strip.paint()
        if time >= self._next_text:
            self._next_text = time + self._text_time * (1 - 1e-6)
            for row in self._rows:
                self._draw_texts(row)

    def _colors(self, sensor: ContactSensor) -> list[Color]:
        colors = palette_colors(self._session.engine.model, self._session.settings.gizmos.palette)
        net = sensor.reduce is Reduce.NETFORCE
        curves = (colors.total,) if net else (colors.normal, colors.tangent0, colors.tangent1)
        return [rgba([value + _LIGHTER * (1.0 - value) for value in color[:3]]) for color in curves]

    def _draw_texts(self, row: _Row) -> None:
        u = self._unit
        width, height = round((_LABEL + _AXIS - 6) * u), row.height
        image = Image.new("RGB", (width, height), _GROUND)
        draw = ImageDraw.Draw(image)
        name, number, small = text_font(round(14 * u)), number_font(round(14 * u)), number_font(round(12 * u))
        draw.text((0, 8 * u), elided(row.sensor.name, name, _LABEL * u), TEXT[:3], name, "lm")
        draw.text((0, 26 * u), f"{row.force:.2f} N", DIM[:3], number, "lm")
        strip_height = height - _GAP * u
        draw.text((width, 5 * u), f"{row.strip.top:g}", DIM[:3], small, "rm")
        draw.text((width, strip_height - 5 * u), f"{row.strip.bottom:g}", DIM[:3], small, "rm")
        left = round(_PADDING * u)
        self.band[row.top : row.top + height, left : left + width] = np.asarray(image)

    def _draw_footer(self, division: float, left_out: int) -> None:
        u = self._unit
        height, width = round(_FOOTER * u), self.band.shape[1]
        image = Image.new("RGB", (width, height), _GROUND)
        draw = ImageDraw.Draw(image)
        font = text_font(round(12 * u))
        middle = height / 2 - 2 * u
        draw.text((width - _PADDING * u, middle), f"{division:g} s per division, in N", DIM[:3], font, "rm")
        if left_out:
            text = f"and {left_out} more sensor{'s' * (left_out > 1)}"
            draw.text((_PADDING * u, middle), text, DIM[:3], font, "lm")
        self.band[-height:] = np.asarray(image)
