"""Sees every step of some data, also those inside one call, through the one control callback that MuJoCo has."""

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import mujoco

Record = Callable[[float], object]
"""A method that hands over the state before a step, which begins at a time [s]."""
_Callback = Callable[[Any, Any], object]
"""Is called with a model and its data."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_Native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
"""A control callback in C, which MuJoCo takes as well."""
_FUNCTION: Any = _Native.__mro__[1]
"""What all functions of ctypes are."""
_STAGES = 3
"""Of a Runge-Kutta step, after the first one."""


class _Seen:
    """Data whose steps one owner sees. One that is forgotten is not kept alive from here."""

    def __init__(self, data: Any, record: Any, forget: Callable[[Any], None]) -> None:
        self.data = data
        self.owner = weakref.ref(record.__self__, forget)
        self.see, self.restart = _see_starts(data, self.owner, record.__func__)
        """The control callback, and what to call between two steps: an error may have ended one in the middle."""


def _see_starts(
    data: Any, reference: "weakref.ref[Any]", record: Callable[[Any, float], object]
) -> tuple[_Callback, Callable[[], None]]:
    """A control callback that records each start of a step.

    It is called four times in a Runge-Kutta step: what it knows is in variables of its own, which take less time than
    attributes.
    """
    # Of the model: looked up once, which takes longer than to read a value of them.
    model: Any = None
    options: Any = None
    # Stages that are left of a Runge-Kutta step; time of the first of them, and its precision [s].
    left, half, tolerance = 0, 0.0, 0.0

    def see(now_model: Any, now_data: Any) -> None:
        nonlocal model, options, left, half, tolerance
        if now_data is not data:
            return
        if left:
            left -= 1
            # Inside a step, a state that the integrator tries; unless `mj_forward` was called, and there is no step.
            if left < _STAGES - 1 or abs(data.time - half) < tolerance:
                return
            left = 0
        if now_model is not model:
            model, options = now_model, now_model.opt
        time = data.time
        if options.integrator == _RK4:
            timestep = options.timestep
            left, half, tolerance = _STAGES, time + 0.5 * timestep, 1e-6 * timestep
        owner = reference()
        if owner is not None:
            record(owner, time)

    def restart() -> None:
        nonlocal left
        left = 0

    return see, restart


class Tap:
    """The control callback of this process, while any data is tapped.

    A callback of the user's, set before or since, is called first: what it sets belongs to the step.
    """

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._users: Any = None
        self._installed: _Callback | None = None
        """The callback of ours that MuJoCo has, if it has one."""

    def add(self, data: Any, record: Record) -> None:
        """See the steps of some data from now on, beside others who do."""
        self._seen.append(_Seen(data, record, lambda _: self._drop(None)))
        self._install()

    def remove(self, record: Record) -> None:
        """See them no more; the last one gives the callback back."""
        method: Any = record
        self._drop(method.__self__)

    def renew(self, data: Any) -> None:
        """Come before a callback that the user has set since. Called between two steps of some data."""
        for seen in self._seen:
            if seen.data is data:
                seen.restart()
        if mujoco.get_mjcb_control() is not self._installed:
            self._install()

    def _drop(self, owner: Any) -> None:
        """Forget an owner, and those that no longer exist."""
        self._seen = [seen for seen in self._seen if seen.owner() is not None and seen.owner() is not owner]
        self._install()

    def _install(self) -> None:
        """Have MuJoCo call whoever wants to be called."""
        now = mujoco.get_mjcb_control()
        if now is not self._installed:
            self._users = now
        if not self._seen:
            wanted, self._installed = self._users, None
            self._users = None
        elif self._users is None and len(self._seen) == 1:
            # Without a detour.
            wanted = self._installed = self._seen[0].see
        else:
            wanted = self._installed = _one_after_another(self._users, [seen.see for seen in self._seen])
        mujoco.set_mjcb_control(wanted)


def _one_after_another(users: Any, callbacks: list[_Callback]) -> _Callback:
    """A callback that calls several; the user's first, if there is one."""
    if isinstance(users, _FUNCTION):
        address: Any = ctypes.cast(users, ctypes.c_void_p).value
        native = _Native(address)
        callbacks = [lambda model, data: native(model._address, data._address), *callbacks]
    elif users is not None:
        callbacks = [users, *callbacks]

    def call(model: Any, data: Any) -> None:
        for callback in callbacks:
            callback(model, data)

    return call


TAP = Tap()
"""The one of this process."""
