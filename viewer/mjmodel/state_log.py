"""Turns the values of a log into states of a model: which value is what, row by row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from .types import MjModel

Values = NDArray[np.float64]
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_MEMBERS = {
    "time": "TIME",
    "qpos": "QPOS",
    "qvel": "QVEL",
    "act": "ACT",
    "history": "HISTORY",
    "qacc_warmstart": "WARMSTART",
    "ctrl": "CTRL",
    "qfrc_applied": "QFRC_APPLIED",
    "xfrc_applied": "XFRC_APPLIED",
    "eq_active": "EQ_ACTIVE",
    "mocap_pos": "MOCAP_POS",
    "mocap_quat": "MOCAP_QUAT",
    "userdata": "USERDATA",
    "plugin_state": "PLUGIN",
    "plastic": "PLASTIC",
}
"""Parts of a state, as mjData and as mjtState call them; a version of MuJoCo may lack some."""
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata")
"""Parts that a step starts from and leaves as they are."""


@dataclass(frozen=True)
class StateLog:
    """States of a run, one a row, in order of time: those from which its steps start, and that after the last step.

    What was put in with a row (controls, applied forces) belongs to the step that starts there, or to the one that
    ended there: whoever takes the steps again finds out which.
    """

    path: Path
    """The file."""
    columns: NDArray[np.intp]
    """Places of the values in a state as a history keeps it, that is, mjSTATE_INTEGRATION and, after it, what sleeps,
    (columns,)."""
    values: Values
    """(rows, columns)."""
    rest: Values | None = None
    """Such a state, (size,): what has no column is always as here. None: what has none is as the step before left it,
    and as after a reset in the first row."""
    missing: tuple[str, ...] = ()
    """Parts that steps depend on and the log does not have: `qvel`, `act`, `ctrl`."""
    first_row: Values | None = None
    """What the sensors said in the first state, if that is known."""
    versions: Mapping[int, bytes] = field(default_factory=dict)
    """Values of a model that was changed while it ran, by their version, which is then the last value of a state."""
    notes: tuple[str, ...] = ()
    """What a person should know of it."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Of a saved run, what its file says of it."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def times(self) -> Values:
        """Simulated time of each row [s], (rows,)."""
        return self.values[:, int(np.flatnonzero(self.columns == 0)[0])]


def state_parts(model: MjModel) -> dict[str, slice]:
    """Where each part is in mjSTATE_INTEGRATION, by its name in mjData."""
    bits = {name: int(getattr(mujoco.mjtState, f"mjSTATE_{member}", 0)) for name, member in _MEMBERS.items()}
    parts, start = {}, 0
    for name in sorted((name for name, bit in bits.items() if bit & STATE), key=bits.__getitem__):
        size = mujoco.mj_stateSize(model, bits[name])
        parts[name] = slice(start, start + size)
        start += size
    return parts


def parts_of(spec: int) -> tuple[str, ...]:
    """The parts of a kind of state, such as mjSTATE_FULLPHYSICS, in its order."""
    bits = {name: int(getattr(mujoco.mjtState, f"mjSTATE_{member}", 0)) for name, member in _MEMBERS.items()}
    return tuple(sorted((name for name, bit in bits.items() if bit & spec), key=bits.__getitem__))


def places(model: MjModel, *names: str) -> NDArray[np.intp]:
    """Where the values of some parts are in mjSTATE_INTEGRATION, in the order of the names."""
    parts = state_parts(model)
    found = [np.arange(parts[name].start, parts[name].stop) for name in names if name in parts]
    return np.concatenate(found) if found else np.empty(0, np.intp)
