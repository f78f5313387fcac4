"""Turns the values of a log into states of a model, one in each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..channels.channel import Samples
from ..errors import SceneError
from .state import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS, STATE, Values
from .types import MjModel


@dataclass(frozen=True)
class StateLog:
    """States of a run, one in each row, in order of time: those from which its steps start, and that after the last
    step.

    Inputs of a row (controls, applied forces) belong to the step that starts there, or to the one that ended there:
    re-simulation finds out which.
    """

    path: Path
    """Path of the file."""
    columns: NDArray[np.intp]
    """Indices of the values in a state as a history keeps it: mjSTATE_INTEGRATION, followed by sleep, (columns,)."""
    values: Values
    """Values of the log, (rows, columns)."""
    rest: Values | None = None
    """State with the constant values of the run, (size,): those without a column. None if values without a column are
    carried over from the step before, and begin with those of a reset."""
    missing: tuple[str, ...] = ()
    """Parts that steps depend on and the log does not have: `qvel`, `act`, `ctrl`."""
    first_row: Values | None = None
    """Sensor values in the first state, if known."""
    versions: Mapping[int, bytes] = field(default_factory=dict)
    """Values of the model by version, if it was changed during the run; the last value of a state is then its
    version."""
    notes: tuple[str, ...] = ()
    """Notes on the log for the user."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Description of a saved run in its file."""
    channels: Sequence[Samples] = ()
    """Channels that the run's program added, or that the user chose."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def times(self) -> Values:
        """Simulated time of each row [s], (rows,)."""
        return self.values[:, int(np.flatnonzero(self.columns == 0)[0])]


def check_times(model: MjModel, log: StateLog) -> None:
    """Raise SceneError for times so large that a float cannot tell two steps apart, such as nanoseconds."""
    largest = float(np.abs(log.times).max())
    if np.spacing(largest) > 0.1 * model.opt.timestep:
        raise SceneError(
            f"{log.path}: its time reaches {largest:.3g} s, too large to count steps of {model.opt.timestep:g} s: "
            "is it in seconds?"
        )


def sleeps_fit(model: MjModel, log: StateLog) -> bool:
    """Return True if a saved run has all values of a model's state, and its sleep indices are valid in the model."""
    assert log.rest is not None
    start = mujoco.mj_stateSize(model, STATE)
    if not model.opt.enableflags & SLEEP:
        return len(log.rest) == start + bool(log.versions)
    data = mujoco.MjData(model)
    start += data.sensordata.size
    sizes = [getattr(data, name).size for name in SLEEP_ARRAYS]
    if len(log.rest) != start + sum(sizes) + len(SLEEP_COUNTS) + bool(log.versions):
        return False
    # Trees asleep name the next one of a cycle; those awake count down. Bodies that never move are -1.
    bounds = {"tree_asleep": (-(2**31), model.ntree), "tree_awake": (0, 2), "body_awake": (-1, 2)}
    bounds |= {"body_awake_ind": (0, model.nbody), "parent_awake_ind": (0, model.nbody), "dof_awake_ind": (0, model.nv)}
    most = (model.ntree, model.nbody, model.nbody, model.nv)
    bounds |= {name: (0, count + 1) for name, count in zip(SLEEP_COUNTS, most, strict=True)}
    for name, size in zip((*SLEEP_ARRAYS, *SLEEP_COUNTS), (*sizes, *[1] * len(SLEEP_COUNTS)), strict=True):
        inside = (log.columns >= start) & (log.columns < start + size)
        for values in (log.values[:, inside], log.rest[start : start + size]):
            if values.size and not (values.min() >= bounds[name][0] and values.max() < bounds[name][1]):
                return False
        start += size
    return True
