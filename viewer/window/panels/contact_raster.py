"""Draws when sensors touch: a strip a sensor, filled while it is in contact, stronger the harder it is pressed."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from numpy.typing import NDArray

from ...sensors.curves import Values
from ...sensors.signals import Signal
from ...session.history import History
from ..theme import faded

_SHADES = 3
"""Strengths that can be told apart, ..."""
_ALPHAS = (0.0, 0.6, 0.8, 1.0)
"""... and how opaque each is; the first is without contact."""
_SNAP = 6.0
"""A click so near to a begin or end of contact means that instant [px]."""
_GAP = 0.12
"""Of a row, to either side of its strip."""


def contact_shades(found: Values, force: Values) -> NDArray[np.int8]:
    """How hard sensors are pressed, from 1 to 3, and 0 without contact; all of the shape (sensors, columns)."""
    strongest = np.fmax.reduce(force, axis=1, initial=0.0, keepdims=True)
    touches = found > 0
    shades = touches.astype(np.int8)
    for shade in range(1, _SHADES):
        shades += touches & (force > strongest * (shade / _SHADES))
    return shades


def draw_strips(times: NDArray[np.float64], found: Values, force: Values, colors: Sequence[ImVec4]) -> None:
    """The strips of some sensors inside a plot whose value axis goes down by 1 a sensor.

    `times` of the columns and of their end [s], (columns + 1,); `found` and `force` (sensors, columns).
    """
    corner, size = implot.get_plot_pos(), implot.get_plot_size()
    limits = implot.get_plot_limits().x
    x = (corner.x + (times - limits.min) * (size.x / (limits.max - limits.min))).tolist()
    row = size.y / len(colors)
    draw = implot.get_plot_draw_list()
    shades = contact_shades(found, force)
    changes = shades[:, 1:] != shades[:, :-1]
    for i, color in enumerate(colors):
        top, bottom = corner.y + (i + _GAP) * row, corner.y + (i + 1 - _GAP) * row
        bounds = [0, *(changes[i].nonzero()[0] + 1).tolist(), len(x) - 1]
        # Of many sensors most never touch.
        touches = len(bounds) > 2 or shades[i, 0]
        inks = [imgui.get_color_u32(faded(color, alpha)) for alpha in _ALPHAS] if touches else []
        for start, stop in pairwise(bounds):
            if shade := int(shades[i, start]):
                draw.add_rect_filled(ImVec2(x[start], top), ImVec2(max(x[stop], x[start] + 1), bottom), inks[shade])


def pointed_step(history: History, name: str) -> int:
    """The step under the mouse; beside a begin or an end of contact of the sensor, the first step that shows it."""
    time, limits = float(implot.get_plot_mouse_pos().x), implot.get_plot_limits().x
    reach = _SNAP * (limits.max - limits.min) / max(implot.get_plot_size().x, 1.0)
    first, last = history.step_at(time - reach), history.step_at(time + reach)
    touches = history.curves.values(name, Signal.FOUND, first, last + 1) > 0
    changes = max(first, history.curves.first) + 1 + np.flatnonzero(touches[1:] != touches[:-1])
    step = history.step_at(time)
    return int(changes[np.argmin(np.abs(changes - step))]) if len(changes) else step
