"""Terms of a reward, as a project of your own would have them: contact of the feet, and their time in the air."""

import numpy as np

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
NORMAL = [1, 14, 27, 40]
"""Where the normal forces of the feet are in the sensordata of the scene `quadruped`."""


def feet_contact(sensordata):
    """Contact of each foot, (environments, 4)."""
    return sensordata[:, NORMAL] > 1.0


def feet_force(sensordata):
    """Normal force on each foot [N], (environments, 4)."""
    return sensordata[:, NORMAL]


class FeetAirTime:
    """Time since each foot left the floor [s], (4,)."""

    def __init__(self, dt):
        self.dt = dt
        self.time = np.zeros(4)

    def reset(self):
        self.time[:] = 0.0

    def __call__(self, data):
        self.time = np.where(data.sensordata[NORMAL] > 1.0, 0.0, self.time + self.dt)
        return self.time
