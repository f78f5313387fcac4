"""Contact sensors that keep old values because of sleeping bodies."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from .matching import subtree
from .names import sensor_targets
from .state import SLEEP
from .types import MjData, MjModel

_UNKNOWN, _SITE, _GEOM = mujoco.mjtObj.mjOBJ_UNKNOWN, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_GEOM
_SUBTREE = mujoco.mjtObj.mjOBJ_XBODY
# mjtSleepState, which older versions do not have.
_ASLEEP, _AWAKE = 0, 1


def is_sensor_asleep(model: MjModel, data: MjData, sensor_id: int) -> bool:
    """Return True if MuJoCo does not compute a contact sensor now because its objects sleep: its array has old
    values."""
    if not sleeping_bodies(model, data):
        return False
    targets = sensor_targets(model, sensor_id)
    # A site can have anything inside.
    if any(kind == _SITE for kind, _ in targets):
        return False
    states = [_state(model, data, kind, index) for kind, index in targets if kind != _UNKNOWN]
    if len(states) == 1:
        return states[0] == _ASLEEP
    return len(states) == 2 and _AWAKE not in states


def sleeping_bodies(model: MjModel, data: MjData) -> int:
    """Return the number of sleeping bodies, whose contacts with each other and with static ones are not in the list."""
    return int(np.count_nonzero(data.body_awake == _ASLEEP)) if model.opt.enableflags & SLEEP else 0


def are_asleep(model: MjModel, data: MjData, geoms: NDArray[np.intp]) -> bool:
    """Return True if none of some geoms is awake, and at least one sleeps."""
    return bool(sleeping_bodies(model, data) and data.body_awake[model.geom_bodyid[geoms]].max() == _ASLEEP)


def sleep_in_pairs(data: MjData, bodies: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return True for pairs of bodies, (k, 2), of which none is awake and at least one sleeps, (k,)."""
    return np.asarray(data.body_awake[bodies].max(axis=1, initial=_ASLEEP - 1) == _ASLEEP)


def _state(model: MjModel, data: MjData, kind: int, index: int) -> int:
    """Return the mjtSleepState of one side of a sensor; for a subtree, that of the body that is most awake."""
    if kind == _SUBTREE:
        return int(data.body_awake[subtree(model, index)].max())
    return int(data.body_awake[model.geom_bodyid[index] if kind == _GEOM else index])
