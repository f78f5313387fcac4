"""Touch sensors fed by hand, and what they report."""

import itertools
import math

import numpy as np
from contact_viewer.touch.device import TouchSensor, TouchType
from numpy.typing import ArrayLike, NDArray

TYPES = ("bumper", "force", "force-3d")
X_DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Columns are the sensor's axes: x to the ground, y left, z ahead, as under a foot."""
UP = np.array([0.0, 0.0, 1.0])
WEIGHT = 5 * 9.81 * UP
"""Of a robot that stands on its one foot: what the ground does to it [N]."""


def sensor(type: str, **settings: object) -> TouchSensor:
    """A sensor that samples every millisecond."""
    return TouchSensor(type=type, **{"sampling_period": 1, **settings})  # type: ignore[arg-type]


def sample(
    device: TouchSensor, force: ArrayLike, rotation: ArrayLike = X_DOWN, found: float = 1
) -> NDArray[np.float64]:
    """What the device reports of one state, as an array of one or three values."""
    device.enable(1)
    for time in (0.0, 0.001):
        device.update(time, force=force, rotation=rotation, found=found)
    return read(device)


def read(device: TouchSensor) -> NDArray[np.float64]:
    is_vector = device.get_type() is TouchType.FORCE3D
    return np.asarray(device.get_values() if is_vector else [device.get_value()], np.float64)


def changes(device: TouchSensor, times: ArrayLike) -> list[tuple[float, float]]:
    """Times of updates and of the samples then held, wherever the value changes: the force is the time."""
    held, seen = math.nan, []
    for time in np.asarray(times, np.float64):
        device.update(time, force=time * UP, rotation=X_DOWN, found=1)
        value = device.get_value()
        if value != held and not (math.isnan(value) and math.isnan(held)):
            seen.append((float(time), value))
        held = value
    return seen


def accumulate(step: float, count: int) -> list[float]:
    """Times as engines make them, by adding up steps."""
    return list(itertools.accumulate(itertools.repeat(step, count - 1), initial=0.0))
