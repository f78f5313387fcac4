"""Draws touch sensors: their axes, and the volumes of their sites. Each sensor has a switch of its own."""

from typing import Any

from ...render.glyphs import Glyphs
from ...render.touch import AXIS_COLORS, add_touch_volumes, touch_axes
from ..layer import DrawContext, Layer, LegendEntry


def _axes(context: DrawContext) -> Glyphs | None:
    sensors = context.session.engine.touch_sensors
    return touch_axes(sensors, context.scale) if sensors is not None and len(sensors) else None


def _volumes(context: DrawContext, scene: Any) -> None:
    sensors = context.session.engine.touch_sensors
    if sensors is not None:
        add_touch_volumes(scene, sensors)


def _legend(context: DrawContext) -> list[LegendEntry]:
    sensors = context.session.engine.touch_sensors
    if sensors is None or not any(sensor.shows_axes for sensor in sensors):
        return []
    return [LegendEntry(color, f"touch {axis}", True) for color, axis in zip(AXIS_COLORS, "xyz", strict=True)]


LAYERS = [Layer(glyphs=_axes, legend=_legend), Layer(geoms=_volumes)]
