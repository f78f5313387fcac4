"""The part of a batch's viewer in the user's process: it copies the rows of one environment, and does not wait."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from .program import RowWriter
from .served import WINDOW_MODULE
from .shared_memory import DEFAULT_RING, EXTRA, SharedMemory
from .viewer import LoopViewer

_CHECK_SECONDS = 0.1
"""Time between two checks of the positions of all environments [s]."""
_OTHERS = ("act", "mocap_pos", "mocap_quat", "qfrc_applied", "xfrc_applied", "eq_active", "userdata")
"""Arrays of an mjData that `sync` takes besides its named parameters."""


class _Rows(RowWriter):
    """Writer of rows with the sensor values of an environment after its state."""

    __slots__ = ("_places", "beside")

    def __init__(self, model: MjModel, data: MjData, shared: SharedMemory, make_room: Callable[[], int]) -> None:
        super().__init__(model, data, shared, make_room)
        self.beside = np.zeros(EXTRA + int(model.nsensordata))
        """Values of the next row after the state: `EXTRA` values, then `sensordata`."""
        self._places = shared.states[:, -self.beside.size :]

    def write(self, kind: int, time: float) -> None:
        self._places[self.count % self.rows] = self.beside
        super().write(kind, time)


class BatchViewer(LoopViewer):
    """Window on one of many environments, which any engine steps: call `sync` after every step.

    A user chooses the environment in the window; only its rows are copied.

    Example:
        ```python
        qpos, qvel = np.zeros((8, model.nq)), np.zeros((8, model.nv))
        with contact_viewer.launch_batch(model, num_envs=8) as viewer:
            viewer.sync(qpos=qpos, qvel=qvel)
        ```
    """

    _rows: _Rows

    def __init__(
        self,
        model: MjModel,
        num_envs: int,
        *,
        ring_bytes: int = DEFAULT_RING,
        module: str = WINDOW_MODULE,
        request: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs is a whole number of at least 1, not {num_envs!r}")
        self._beside_size = EXTRA + int(model.nsensordata)
        self._steps, self._env = 0, 0
        self._next_check, self._bad = 0.0, set[int]()
        """Time of the next check for bad positions [s], and the numbers of the environments that had some."""
        self._copied = mujoco.MjData(model)
        """Data into which the shown environment is copied. Without this second reference, they would be reported as
        unused."""
        request = {"batch": True, **(request or {})}
        count = int(num_envs)
        super().__init__(
            model, self._copied, wait=False, ring_bytes=ring_bytes, num_envs=count, module=module, request=request
        )

    def _open_rows(self) -> _Rows:
        return _Rows(self._model, self._data, self._shared, self.room())

    def sync(  # type: ignore[override]  # The arrays of a batch instead of the program's own data.
        self,
        *,
        qpos: Any,
        qvel: Any = None,
        ctrl: Any = None,
        sensordata: Any = None,
        time: Any = None,
        **others: Any,
    ) -> None:
        """Show the state after a step. Waits only while the loop is paused.

        Arrays are of numpy, torch (on any device), JAX or Warp, (num_envs, ...), with the shapes of mjData. Only the
        row of the shown environment is copied.

        Args:
            qpos: Joint positions, (num_envs, nq).
            qvel: Joint velocities, (num_envs, nv); None leaves them as they are.
            ctrl: Controls, (num_envs, nu); None leaves them as they are.
            sensordata: Sensor values of your engine, (num_envs, nsensordata), which the window then shows. MuJoCo
                computes fields that they lack, which needs `qvel` and `ctrl`. None lets MuJoCo compute all contacts.
            time: Simulated time [s], (num_envs,) or one number; None to count time steps.
            others: Further arrays: `act`, `mocap_pos`, `mocap_quat`, `qfrc_applied`, `xfrc_applied`, `eq_active`,
                `userdata`.

        Raises:
            TypeError: The name of an array is unknown.
            ValueError: An array does not have the shape of its name.
        """
        if not self.is_running():
            return
        env, rows = self.env, self._rows
        if env != self._env:
            # A row is written even if its state equals that of the environment before.
            self._env, rows.is_changed = env, True
        self._copy(env, {"qpos": qpos, "qvel": qvel, "ctrl": ctrl, **others})
        self._steps += 1
        self._data.time = self._steps * self._model.opt.timestep if time is None else self._time(time, env)
        rows.beside[0], rows.beside[1] = env, sensordata is not None
        if sensordata is not None:
            rows.beside[EXTRA:] = self._row("sensordata", sensordata, env, (self._model.nsensordata,))
        # Before `sync` may hold the loop: the window pauses it when the shown environment is bad.
        if monotonic() >= self._next_check or not np.isfinite(self._data.qpos).all():
            self._next_check = monotonic() + _CHECK_SECONDS
            self._check(qpos)
        super().sync()

    def _check(self, qpos: Any) -> None:
        """Send the numbers of environments whose positions have become NaN or infinite since the last check."""
        # If the array has sums, nothing but the sums leaves its device.
        whole = qpos if hasattr(qpos, "sum") else np.asarray(qpos.numpy() if hasattr(qpos, "numpy") else qpos)
        sums = whole.sum(-1)
        sums = sums.detach().double().cpu() if hasattr(sums, "detach") else sums
        bad = np.flatnonzero(~np.isfinite(np.asarray(sums, np.float64)))
        new = [env for env in bad.tolist() if env not in self._bad]
        self._bad = set(bad.tolist())
        if new:
            self._link.send({"bad": new})

    def plot(self, name: str, value: Any, unit: str = "") -> None:
        """Add a value at the present time to a curve in the Plots panel: see `PassiveViewer.plot`.

        `value`: array of all environments, (num_envs,), of which the value of the shown environment is kept; or one
        number.
        """
        if self.is_running():
            super().plot(name, self._row(name, value, self._env, ())[()] if np.shape(value) else value, unit)

    def _copy(self, env: int, arrays: Mapping[str, Any]) -> None:
        for name, array in arrays.items():
            if name not in ("qpos", "qvel", "ctrl", *_OTHERS):
                raise TypeError(
                    f"sync takes no {name!r}; it takes qpos, qvel, ctrl, sensordata, time, {', '.join(_OTHERS)}"
                )
            if array is not None:
                values = getattr(self._data, name)
                values[:] = self._row(name, array, env, values.shape)

    def _time(self, time: Any, env: int) -> float:
        if not getattr(time, "shape", ()) and not isinstance(time, list | tuple):
            return float(time)
        return float(self._row("time", time, env, ())[()])

    def _row(self, name: str, array: Any, env: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the row of an environment in an array, in the given shape."""
        given = tuple(array.shape) if hasattr(array, "shape") else np.shape(array)
        # Values of a Warp array may be vectors.
        if len(given) < 1 or given[0] != self.num_envs:
            raise ValueError(f"{name} is ({', '.join(map(str, (self.num_envs, *shape)))}), not {given}")
        row = one_row(array, env)
        if row.size != int(np.prod(shape)):
            raise ValueError(f"{name} is ({', '.join(map(str, (self.num_envs, *shape)))}), not {given}")
        return row.reshape(shape)


def one_row(array: Any, number: int) -> NDArray[Any]:
    """Return a row of an array of numpy, torch, JAX or Warp as a numpy array; only that row leaves its device."""
    if isinstance(array, list | tuple):
        return np.asarray(array[number])
    part = slice(number, number + 1)
    row = array[part, ...] if hasattr(array, "__array_namespace__") else array[part]
    if hasattr(row, "detach"):
        # torch; numpy has no bfloat16.
        row = row.detach().double().cpu()
    values = row.numpy() if callable(getattr(row, "numpy", None)) else np.asarray(row)
    if values.dtype.kind not in "fiub":
        values = values.astype(np.float64)
    return np.asarray(values[0])
