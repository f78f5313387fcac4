"""Decoded contacts to the two values that code written for either engine reads."""

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import Style
from .contract import ContactSensor


def documented_value(sensor: ContactSensor, batch: ContactBatch) -> NDArray[np.float32]:
    """The array in the documented style, (..., size); velocities, which that style does not know, are left out."""
    return sensor.layout.restyled(Style.DOCUMENTED).encode(batch).astype(np.float32)


def force_magnitudes(sensor: ContactSensor, batch: ContactBatch) -> Array:
    """How hard each environment's sensor is pressed [N], (num_envs,)."""
    magnitude = batch.force_magnitude(sensor.reduce)
    # Engines read every sensor with all fields, so that its magnitude is always known.
    assert magnitude is not None
    return np.atleast_1d(magnitude)
