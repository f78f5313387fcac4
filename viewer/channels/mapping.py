"""Reads the measured column with which a sensor's curve is compared: `left_foot=-2*/lowstate.foot_force[0]+3`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import SceneError, did_you_mean
from ..sensors.signals import Signal

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RIGHT = re.compile(rf"(?:(?P<scale>{_NUMBER})\*|(?P<minus>-))?(?P<column>.+?)(?P<bias>[+-](?:\d+\.?\d*|\.\d+))?$")
COMPONENTS = {"force": Signal.MAGNITUDE, "normal": Signal.NORMAL, "tangent0": Signal.TANGENT0}
COMPONENTS |= {"tangent1": Signal.TANGENT1, "found": Signal.FOUND}
"""Signals of a sensor that can be measured, by the word after the sensor's name."""


@dataclass(frozen=True)
class Mapping:
    """A sensor's curve, and the measured column that is the same quantity: value = scale * column + bias."""

    sensor: str
    signal: Signal
    column: str
    scale: float = 1.0
    bias: float = 0.0

    @property
    def label(self) -> str:
        """Name of the sensor, with the component unless the signal is the magnitude of the force."""
        word = next(word for word, signal in COMPONENTS.items() if signal is self.signal)
        return self.sensor if self.signal is Signal.MAGNITUDE else f"{self.sensor}.{word}"


def parse_mapping(text: str, sensors: Sequence[str], columns: Sequence[str]) -> Mapping:
    """Return the mapping that a text such as `foot.normal=-2*column+3` declares. Raises SceneError for a wrong text."""
    left, equals, right = text.partition("=")
    if not equals or not left or not right:
        raise SceneError(f"--map {text}: is SENSOR=COLUMN, such as left_foot=/lowstate.foot_force[0]")
    sensor, signal = left, Signal.MAGNITUDE
    stem, dot, word = left.rpartition(".")
    if sensor not in sensors and dot and word in COMPONENTS:
        sensor, signal = stem, COMPONENTS[word]
    if sensor not in sensors:
        known = ", ".join(sensors) or "none"
        raise SceneError(f"--map {text}: no sensor {sensor!r}; the scene has: {known}{did_you_mean(sensor, sensors)}")
    if right in columns:
        return Mapping(sensor, signal, right)
    found = _RIGHT.match(right)
    column = found["column"] if found else right
    if found is None or column not in columns:
        hint = did_you_mean(column, columns)
        raise SceneError(f"--map {text}: no column {column!r} in the data{hint or '; --columns lists them'}")
    scale = -1.0 if found["minus"] else float(found["scale"] or 1.0)
    return Mapping(sensor, signal, column, scale, float(found["bias"] or 0.0))
