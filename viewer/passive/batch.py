"""The half of a batch's viewer that lives in the user's process: copies the rows of one environment, and goes on."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from ..render.glyphs import GizmoList
from .row_writer import RowWriter
from .shared_memory import DEFAULT_RING, SharedMemory, Word
from .viewer import PassiveViewer

BATCH_MODULE = "contact_viewer.passive.batch_process"
EXTRA = 2
"""Values of a row after the state and before `sensordata`: the environment, and 1 if its sensors are known."""
_OTHERS = ("act", "mocap_pos", "mocap_quat", "qfrc_applied", "xfrc_applied", "eq_active", "userdata")
"""Arrays of an mjData that a program may hand over besides those that are named."""


class _Rows(RowWriter):
    """Writes what the sensors of an environment say beside its state."""

    __slots__ = ("_environments", "_places", "beside")

    def __init__(self, model: MjModel, data: MjData, shared: SharedMemory, num_envs: int) -> None:
        super().__init__(model, data, shared)
        self.beside = np.zeros(beside_size(model))
        self._places = shared.states[:, -self.beside.size :]
        self._environments = num_envs

    def write(self, kind: int, time: float) -> None:
        self._words[Word.ENVIRONMENTS] = self._environments
        self._places[self.count % self.rows] = self.beside
        super().write(kind, time)


class _Link(PassiveViewer):
    """Hands over an mjData into which one environment is copied, and what its sensors say beside it."""

    def __init__(self, model: MjModel, num_envs: int, **options: Any) -> None:
        self._num_envs = num_envs
        self._beside_size = beside_size(model)
        super().__init__(model, mujoco.MjData(model), **options)

    def _open_rows(self) -> RowWriter:
        self._batch_rows = _Rows(self._model, self._data, self._shared, self._num_envs)
        return self._batch_rows

    @property
    def data(self) -> Any:
        return self._data

    @property
    def beside(self) -> NDArray[np.float64]:
        """What the next row says besides the state."""
        return self._batch_rows.beside

    @property
    def env(self) -> int:
        """The environment that a person has chosen."""
        return int(self._words[Word.ENVIRONMENT])

    @env.setter
    def env(self, env: int) -> None:
        self._words[Word.ENVIRONMENT] = env
        self._wake()

    def force_row(self) -> None:
        """Hand over the next state even if it is the last one."""
        self._rows.is_changed = True


def beside_size(model: MjModel) -> int:
    """Values of a row besides the state."""
    return EXTRA + int(model.nsensordata)


class BatchViewer:
    """A window on one of many environments, which any engine steps: call `sync` after every step.

    A person chooses the environment in the window; only its rows are copied.
    """

    def __init__(
        self,
        model: MjModel,
        num_envs: int,
        *,
        ring_bytes: int = DEFAULT_RING,
        module: str = BATCH_MODULE,
        arguments: tuple[str, ...] = (),
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs is a whole number of at least 1, not {num_envs!r}")
        self._model, self.num_envs = model, int(num_envs)
        self._link = _Link(model, self.num_envs, ring_bytes=ring_bytes, module=module, arguments=arguments)
        self._steps, self._env = 0, 0

    @property
    def env(self) -> int:
        """The environment that is shown; set it to show another."""
        return self._link.env

    @env.setter
    def env(self, env: int) -> None:
        if not 0 <= env < self.num_envs:
            raise ValueError(f"no environment {env}; there are {self.num_envs}, from 0 to {self.num_envs - 1}")
        self._link.env = env

    @property
    def gizmos(self) -> GizmoList:
        """Spheres and arrows of the program's own. What is drawn before a `sync` is shown until the next one."""
        return self._link.gizmos

    @property
    def cam(self) -> Any:
        """An MjvCamera. What the program writes into it takes effect in the window."""
        return self._link.cam

    @property
    def url(self) -> str | None:
        """The address at which browsers show the window; None if it has a display."""
        return self._link.url

    @property
    def is_paused(self) -> bool:
        """True if `sync` waits, or will."""
        return self._link.is_paused

    def is_running(self) -> bool:
        """False once the window was closed, or has ended."""
        return self._link.is_running()

    def pause(self) -> None:
        """Hold the loop in its next `sync`."""
        self._link.pause()

    def resume(self) -> None:
        """Let the loop go on."""
        self._link.resume()

    def sync(
        self,
        *,
        qpos: Any,
        qvel: Any = None,
        ctrl: Any = None,
        sensordata: Any = None,
        time: Any = None,
        **others: Any,
    ) -> None:
        """Hand over the state after a step. Waits only while the loop is paused.

        Arrays of numpy, torch (on any device), JAX or Warp, each (num_envs, ...) with the shape that an mjData has it
        in; `time` (num_envs,) or one number [s], counted in timesteps if not given. With `sensordata` the window shows
        what the engine says; what is not in it is solved again by MuJoCo, for which it needs `qvel` and `ctrl`.
        `others`: act, mocap_pos, mocap_quat, qfrc_applied, xfrc_applied, eq_active, userdata.
        """
        link = self._link
        if not link.is_running():
            return
        env = link.env
        if env != self._env:
            self._env = env
            link.force_row()
        self._copy(env, {"qpos": qpos, "qvel": qvel, "ctrl": ctrl, **others})
        self._steps += 1
        data = link.data
        data.time = self._steps * self._model.opt.timestep if time is None else self._time(time, env)
        link.beside[0], link.beside[1] = env, sensordata is not None
        if sensordata is not None:
            link.beside[EXTRA:] = self._row("sensordata", sensordata, env, (self._model.nsensordata,))
        link.sync()

    def close(self) -> None:
        """Close the window; what it records is completed. Safe twice."""
        self._link.close()

    def __enter__(self) -> "BatchViewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _copy(self, env: int, arrays: Mapping[str, Any]) -> None:
        data = self._link.data
        for name, array in arrays.items():
            if name not in ("qpos", "qvel", "ctrl", *_OTHERS):
                raise TypeError(
                    f"sync takes no {name!r}; it takes qpos, qvel, ctrl, sensordata, time, {', '.join(_OTHERS)}"
                )
            if array is not None:
                values = getattr(data, name)
                values[:] = self._row(name, array, env, values.shape)

    def _time(self, time: Any, env: int) -> float:
        if not getattr(time, "shape", ()) and not isinstance(time, list | tuple):
            return float(time)
        return float(self._row("time", time, env, ())[()])

    def _row(self, name: str, array: Any, env: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """What an array says of an environment, in the given shape."""
        given = tuple(array.shape) if hasattr(array, "shape") else np.shape(array)
        # Warp has vectors as values of an array.
        if len(given) < 1 or given[0] != self.num_envs:
            raise ValueError(f"{name} is ({', '.join(map(str, (self.num_envs, *shape)))}), not {given}")
        row = one_row(array, env)
        if row.size != int(np.prod(shape)):
            raise ValueError(f"{name} is ({', '.join(map(str, (self.num_envs, *shape)))}), not {given}")
        return row.reshape(shape)


def one_row(array: Any, number: int) -> NDArray[Any]:
    """A row of an array of numpy, torch, JAX or Warp as one of numpy's: nothing else leaves its device."""
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
