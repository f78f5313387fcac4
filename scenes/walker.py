"""Walks, open loop: a clock moves each foot back on the ground and forwards through the air, half a period apart.

The constants are sliders in the Controls panel; --param STEP=0.06 sets one from the start.
"""

from math import acos, atan2, cos, hypot, pi, sin
from typing import Any

PERIOD = 0.9
"""Time of two steps, one with each foot [s]."""
STEP = 0.09
"""How far a foot moves to either side of its hip [m]."""
LIFT = 0.04
"""How high a foot is lifted [m]."""
HEIGHT = 0.36
"""Of the hip over a foot on the ground [m]."""
DUTY = 0.6
"""Part of the time in which a foot is on the ground."""


def reset(model: Any, data: Any, rng: Any) -> None:
    """Begin on the feet."""
    control(model, data)
    data.qpos[3:] = data.ctrl
    data.qpos[0] = HEIGHT - 0.402


def control(model: Any, data: Any) -> None:
    phase = data.time / PERIOD
    data.ctrl[:3] = angles(*foot(phase))
    data.ctrl[3:] = angles(*foot(phase + 0.5))


def foot(phase: float) -> tuple[float, float]:
    """Where a foot should be, ahead of its hip and below it [m]."""
    phase %= 1.0
    if phase < DUTY:
        return STEP * (1 - 2 * phase / DUTY), HEIGHT
    through = (phase - DUTY) / (1 - DUTY)
    # It leaves the ground, and lands, with the speed of the ground.
    along = -STEP * (cos(pi * through) + (1 - DUTY) / DUTY / pi * sin(2 * pi * through))
    return along, HEIGHT - LIFT * sin(pi * through)


def angles(ahead: float, below: float) -> tuple[float, float, float]:
    """Hip, knee and ankle that bring a level foot there [rad]; thigh and shin are 0.2 m long each."""
    knee = 2 * acos(min(hypot(ahead, below) / 0.4, 1.0))
    hip = -atan2(ahead, below) - knee / 2
    return hip, knee, -hip - knee
