"""The state of one simulation to another one of nearly the same model."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from .names import read_names, sensor_names
from .sleeping import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS

_HISTORY = int(getattr(mujoco.mjtState, "mjSTATE_HISTORY", 0))
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION) & ~_HISTORY
_MOTION = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart")


def can_adopt(model: Any, before: Any) -> bool:
    """Whether two models have the same joints and actuators."""
    same = all(np.array_equal(getattr(model, name), getattr(before, name)) for name in ("jnt_type", "jnt_bodyid"))
    named = read_names(model, "jnt") == read_names(before, "jnt")
    return same and named and model.na == before.na and model.nu == before.nu


def is_same_state(model: Any, data: Any, before: Any, old: Any) -> bool:
    """Whether nothing but the histories of sensors differs."""
    return _state_of(model, data).tobytes() == _state_of(before, old).tobytes()


def adopt(model: Any, data: Any, before: Any, old: Any) -> None:
    """Take over a state between models that `can_adopt` it: all of it where it has a place, else time and motion.

    Where models differ in nothing but sensors, the run goes on bit for bit as it would have.
    """
    if model.opt.enableflags & SLEEP:
        # What sleeps is not computed: all of it has to be awake until the end.
        mujoco.mj_resetData(model, data)
    data.time = old.time
    whole = mujoco.mj_stateSize(model, _STATE) == mujoco.mj_stateSize(before, _STATE)
    if whole:
        mujoco.mj_setState(model, data, _state_of(before, old), _STATE)
    else:
        for name in _MOTION:
            getattr(data, name)[:] = getattr(old, name)
    _adopt_history(model, data, before, old)
    mujoco.mj_forward(model, data)
    if whole and model.opt.enableflags & before.opt.enableflags & SLEEP and model.ntree == before.ntree:
        for name in SLEEP_ARRAYS:
            getattr(data, name)[:] = getattr(old, name)
        for name in SLEEP_COUNTS:
            setattr(data, name, getattr(old, name))


def _state_of(model: Any, data: Any) -> NDArray[np.float64]:
    state = np.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    return state


def _adopt_history(model: Any, data: Any, before: Any, old: Any) -> None:
    """Take over the delay buffers of actuators and of sensors that are the same in both models."""
    if not _HISTORY or not model.nhistory or not before.nhistory:
        return
    here, there = _buffers(model), _buffers(before)
    for owner, part in here.items():
        other = there.get(owner)
        if other is not None and other.stop - other.start == part.stop - part.start:
            data.history[part] = old.history[other]


def _buffers(model: Any) -> dict[tuple[str, str | int], slice]:
    """Where each delay buffer is, by its owner: the number of an actuator, the name of a sensor."""
    starts: dict[tuple[str, str | int], int] = {
        ("actuator", i): int(start) for i, start in enumerate(model.actuator_historyadr)
    }
    starts |= {
        ("sensor", name): int(start) for name, start in zip(sensor_names(model), model.sensor_historyadr, strict=True)
    }
    owners = sorted((start, owner) for owner, start in starts.items() if start >= 0)
    ends = [start for start, _ in owners[1:]] + [int(model.nhistory)]
    return {owner: slice(start, end) for (start, owner), end in zip(owners, ends, strict=True)}
