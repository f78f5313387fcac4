"""Sweeps one actuator through its range by a sine whose frequency rises, and holds the others where they start.

contact-viewer ROBOT.xml --control examples/controllers/sweep.py --param ACTUATOR=2
"""

import math

ACTUATOR = 0
FIRST, LAST = 0.2, 5.0
"""Frequencies [Hz]."""
SECONDS = 20.0
"""Time from one to the other [s]."""
SIZE = 0.5
"""Of the sine, as a part of the range."""


def control(model, data):
    low, high = model.actuator_ctrlrange[ACTUATOR] if model.actuator_ctrllimited[ACTUATOR] else (-1.0, 1.0)
    time = min(data.time, SECONDS)
    cycles = FIRST * time + (LAST - FIRST) * time**2 / (2 * SECONDS) + LAST * (data.time - time)
    data.ctrl[ACTUATOR] = (low + high) / 2 + SIZE * (high - low) / 2 * math.sin(2 * math.pi * cycles)
