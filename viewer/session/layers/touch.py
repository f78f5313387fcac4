"""Draws touch sensors: their axes, and the volumes of their sites. Each sensor has a switch of its own."""

from typing import Any

from ...render.glyphs import Glyphs
from ...render.touch import add_touch_volumes, touch_axes
from ..layer import DrawContext, Layer


def _axes(context: DrawContext) -> Glyphs | None:
    sensors = context.session.engine.touch_sensors
    return touch_axes(sensors, context.scale) if sensors is not None and len(sensors) else None


def _volumes(context: DrawContext, scene: Any) -> None:
    sensors = context.session.engine.touch_sensors
    if sensors is not None:
        add_touch_volumes(scene, sensors)


LAYERS = [Layer(glyphs=_axes), Layer(geoms=_volumes)]
