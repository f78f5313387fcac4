"""Find missing facts of a log by stepping its model: the time between rows, and whether actions are controls."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.state import Values
from ..mjmodel.types import MjModel

STEPS_MAX = 50
"""Most time steps between two rows that are tried."""
_ROWS = 12
"""Rows from which steps are tried, spread over the log."""
_FOLLOWS, _FOLLOWS_ROUNDED = 1e-3, 2e-2
"""Largest error of a row that steps lead to, relative to the change since the row before: for states in double
precision, and for states that are rounded to single precision."""
_LOST = 1e4
"""Relative error from which on a trial is given up."""


@dataclass(frozen=True)
class Trial:
    """Number of time steps between two rows of a log, found by trying."""

    steps: int
    error: float
    """Median error of the rows that the steps lead to, relative to the change since the row before."""
    is_rounded: bool

    @property
    def follows(self) -> bool:
        """True if the rows follow from each other."""
        return self.error <= (_FOLLOWS_ROUNDED if self.is_rounded else _FOLLOWS)


def try_steps(model: MjModel, parts: Mapping[str, Values], is_rounded: bool, steps: int | None = None) -> Trial | None:
    """Step from some rows of a log; return the number of steps that leads closest to the next row.

    Args:
        model: Model of the log. It is not changed.
        parts: Values of the state by their names in mjData, (rows, size) each; `qpos` and `qvel` at least.
        is_rounded: True if the states have single precision.
        steps: The number of steps to try; None tries 1 to `STEPS_MAX`.

    Returns:
        The best trial; None if nothing moves in the log.
    """
    qpos, qvel = parts["qpos"], parts["qvel"]
    moves = np.flatnonzero((np.diff(qpos, axis=0) != 0).any(axis=1) & (np.diff(qvel, axis=0) != 0).any(axis=1))
    if not len(moves):
        return None
    rows = moves[np.unique(np.linspace(0, len(moves) - 1, _ROWS).astype(int))]
    count = STEPS_MAX if steps is None else steps
    # Controls belong to the step after the row that they are logged with, or to the one before.
    swaps = (0, 1) if "ctrl" in parts else (0,)
    errors = np.array([[_errors(model, parts, int(row), swap, count) for row in rows] for swap in swaps])
    medians = np.median(errors, axis=1)
    if steps is not None:
        return Trial(steps, float(medians[:, -1].min()), is_rounded)
    best = medians.min(axis=0)
    return Trial(int(best.argmin()) + 1, float(best.min()), is_rounded)


def _errors(model: MjModel, parts: Mapping[str, Values], row: int, swap: int, count: int) -> NDArray[np.float64]:
    """Return the error of the next row after 1 to `count` steps from a row, (count,)."""
    data = mujoco.MjData(model)
    for name, values in parts.items():
        if name != "time":
            array = getattr(data, name)
            array[:] = values[row + swap if name == "ctrl" else row].reshape(array.shape)
    start, end = parts["qvel"][row], parts["qvel"][row + 1]
    apart, moved = np.empty(model.nv), np.empty(model.nv)
    mujoco.mj_differentiatePos(model, moved, 1.0, parts["qpos"][row], parts["qpos"][row + 1])
    scale, reach = float(np.linalg.norm(end - start)), float(np.linalg.norm(moved))
    errors = np.full(count, np.inf)
    for step in range(count):
        try:
            mujoco.mj_step(model, data)
        except mujoco.FatalError:
            break
        mujoco.mj_differentiatePos(model, apart, 1.0, data.qpos, parts["qpos"][row + 1])
        with np.errstate(over="ignore", invalid="ignore"):
            errors[step] = max(np.linalg.norm(data.qvel - end) / scale, np.linalg.norm(apart) / reach)
        if not errors[step] < _LOST:
            errors[step] = np.inf
            break
    return errors
