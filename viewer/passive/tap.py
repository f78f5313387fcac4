"""Sees every step of some data, also those inside one call, through the one control callback that MuJoCo has."""

import weakref
from collections.abc import Callable
from typing import Any

import mujoco

Record = Callable[[], object]
"""Hands over the state before a step."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_STAGES = (0.5, 0.5, 1.0)
"""When the later stages of a Runge-Kutta step take place, in steps from its start."""


class _Tapped:
    """Data whose steps are seen."""

    def __init__(self, record: Record) -> None:
        # A viewer that is forgotten is not kept alive from here.
        self.record = weakref.WeakMethod(record)
        self.start, self.stage = 0.0, len(_STAGES)
        """Of the Runge-Kutta step that goes on: its time [s], and how many of its later stages have passed."""


class Tap:
    """The control callback of this process, while any data is tapped.

    A callback of the user's, set before or since, is called first: what it sets belongs to the step.
    """

    def __init__(self) -> None:
        self._tapped: dict[int, _Tapped] = {}
        """By the address of the data."""
        self._users: Any = None
        self._call = self._on_control
        """Bound once, so that it can be recognized."""

    def add(self, data: Any, record: Record) -> None:
        """See the steps of some data from now on."""
        self._tapped[data._address] = _Tapped(record)
        self.renew()

    def remove(self, data: Any) -> None:
        """See them no more; the last one gives the callback back."""
        self._tapped.pop(data._address, None)
        if not self._tapped and mujoco.get_mjcb_control() is self._call:
            mujoco.set_mjcb_control(self._users)
            self._users = None

    def renew(self) -> None:
        """Come before a callback that the user has set since."""
        users = mujoco.get_mjcb_control()
        if users is not self._call:
            self._users = users
            mujoco.set_mjcb_control(self._call)

    def _on_control(self, model: Any, data: Any) -> None:
        if self._users is not None:
            self._users(model, data)
        tapped = self._tapped.get(data._address)
        if tapped is None:
            return
        if model.opt.integrator == _RK4:
            time = data.time
            if tapped.stage < len(_STAGES):
                # Inside the step: states that the integrator tries.
                expected = tapped.start + _STAGES[tapped.stage] * model.opt.timestep
                tapped.stage += 1
                if abs(time - expected) < 1e-6 * model.opt.timestep:
                    return
            # Also where `mj_forward` was called, and the next stages never came.
            tapped.start, tapped.stage = time, 0
        record = tapped.record()
        if record is not None:
            record()


TAP = Tap()
"""The one of this process."""
