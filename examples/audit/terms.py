"""Terms of a reward, as a project of your own has them: load of the feet, contact, and time in the air."""

import numpy as np

FEET = ["left_foot", "right_foot"]
"""Contact sensors of robot.xml, in this order; each has four slots of the values found, normal force, two tangents."""
SLOTS, VALUES, NORMAL = 4, 4, 1


def feet_force(sensordata):
    """Normal force on each foot [N], (environments, 2)."""
    slots = sensordata.reshape(len(sensordata), len(FEET), SLOTS, VALUES)
    return slots[..., NORMAL].sum(axis=-1)


def feet_contact(sensordata):
    """Contact of each foot, (environments, 2)."""
    return feet_force(sensordata) > 1.0


class FeetAirTime:
    """Time since each foot left the floor [s], (2,)."""

    def __init__(self, dt):
        self.dt = dt
        self.time = np.zeros(len(FEET))

    def reset(self):
        self.time[:] = 0.0

    def __call__(self, data):
        contact = feet_contact(data.sensordata[np.newaxis])[0]
        self.time = np.where(contact, 0.0, self.time + self.dt)
        return self.time
