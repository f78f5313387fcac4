"""Several MuJoCo steps at once to the arrays and states that each of them leaves."""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from ...sensors.history import Rows

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_INPUTS = int(mujoco.mjtState.mjSTATE_USER)


class StepBlock(NamedTuple):
    """Consecutive steps. The next block is written over the arrays."""

    rows: Rows
    """`sensordata` after each, (n, nsensordata)."""
    states: Rows
    """The state before the first and after each, (n + 1, size): time, positions, velocities and more."""


class BlockStepper:
    """Takes steps without a return to Python in between.

    They are those of `mj_step` to the last bit, and leave the data as it does.
    """

    def __init__(self, model: Any, data: Any, size: int) -> None:
        """Of blocks of up to `size` steps."""
        # Not on top: a scene is on screen before its first steps are taken.
        from mujoco.rollout import Rollout

        self._rollout = Rollout(nthread=0).rollout
        self._model, self._data = model, data
        self._models, self._datas = [model], [data]
        self._rows: Rows = np.empty((1, size, model.nsensordata))
        self._states: Rows = np.empty((1, size + 1, mujoco.mj_stateSize(model, _STATE)))
        self._warmstart: Rows = np.empty((1, model.nv))
        numbers = data.warning.number
        self._warnings, self._read_warnings, self._no_warnings = numbers, numbers.data.tobytes, bytes(numbers.nbytes)

    @property
    def ready(self) -> bool:
        """Whether MuJoCo has not warned of anything: it takes no steps together after a warning."""
        return self._read_warnings() == self._no_warnings

    def take(self, count: int) -> StepBlock | None:
        """None if MuJoCo failed or warned; the data is then in no state to go on from."""
        rows, states = self._rows[:, :count], self._states[:, : count + 1]
        mujoco.mj_getState(self._model, self._data, states[0, 0], _STATE)
        self._warmstart[0] = self._data.qacc_warmstart
        try:
            # Inputs that are specified but not given stay as they are.
            self._rollout(
                self._models,
                self._datas,
                states[:, 0],
                None,
                control_spec=_INPUTS,
                skip_checks=True,
                nstep=count,
                initial_warmstart=self._warmstart,
                state=states[:, 1:],
                sensordata=rows,
            )
        except mujoco.FatalError:
            # What the step had taken of MuJoCo's memory is given back only so.
            mujoco.mj_resetData(self._model, self._data)
            return None
        if not self.ready:
            # They are counted when the steps are taken singly.
            self._warnings[:] = 0
            return None
        return StepBlock(rows[0], states[0])
