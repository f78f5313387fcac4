"""A trot, open loop: diagonal legs swing together, the others push.

contact-viewer examples/controllers/trot.xml --key stand --control examples/controllers/trot.py --param STRIDE=0.2
"""

import numpy as np

PERIOD = 0.4
"""Of a stride [s]."""
STRIDE = 0.15
"""How far the hips swing to either side [rad]."""
LIFT = 0.4
"""How far the knees bend while a leg swings [rad]."""
LEGS = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}
"""When each leg begins to swing, as a part of the period."""
RAMP = 0.5
"""Time in which it begins [s]."""


def control(model, data):
    size = min(data.time / RAMP, 1.0)
    for leg, offset in LEGS.items():
        phase = (data.time / PERIOD + offset) % 1.0
        swings = phase < 0.5
        # Forwards in the air, backwards on the ground.
        swing = -np.cos(2 * np.pi * phase)
        lift = np.sin(2 * np.pi * phase) if swings else 0.0
        data.actuator(f"{leg}_hip").ctrl = 0.6 - size * (STRIDE * swing - LIFT / 2 * lift)
        data.actuator(f"{leg}_knee").ctrl = -1.2 - size * LIFT * lift
