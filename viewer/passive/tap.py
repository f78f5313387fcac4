"""Sees every step of some data, also those inside one call, through the one control callback that MuJoCo has."""

import weakref
from collections.abc import Callable
from typing import Any

import mujoco

Record = Callable[[], object]
"""Hands over the state before a step."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


class _Tapped:
    """Data whose steps are seen."""

    __slots__ = ("model", "options", "records", "stages", "tolerance")

    def __init__(self) -> None:
        self.records: list[weakref.WeakMethod[Record]] = []
        """Who sees them. A viewer that is forgotten is not kept alive from here."""
        self.model: Any = None
        self.options: Any = None
        """Of the model: looked up once, which takes longer than to read a value of them."""
        self.stages: tuple[float, ...] = ()
        """Times of the stages that are left of a Runge-Kutta step [s] ..."""
        self.tolerance = 0.0
        """... and their precision [s]."""


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
        """See the steps of some data from now on, beside others who do."""
        self._tapped.setdefault(data._address, _Tapped()).records.append(weakref.WeakMethod(record))
        self.renew()

    def remove(self, data: Any, record: Record) -> None:
        """See them no more; the last one gives the callback back."""
        tapped = self._tapped.get(data._address)
        if tapped is not None:
            tapped.records = [kept for kept in tapped.records if kept() not in (None, record)]
            if not tapped.records:
                del self._tapped[data._address]
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
        stages = tapped.stages
        if stages:
            # Inside a step: states that the integrator tries.
            tapped.stages = stages[1:]
            if abs(data.time - stages[0]) < tapped.tolerance:
                return
            # `mj_forward` was called, and the next stages never came.
            tapped.stages = ()
        if model is not tapped.model:
            tapped.model, tapped.options = model, model.opt
        options = tapped.options
        if options.integrator == _RK4:
            time, timestep = data.time, options.timestep
            half = time + 0.5 * timestep
            tapped.stages, tapped.tolerance = (half, half, time + timestep), 1e-6 * timestep
        for reference in tapped.records:
            record = reference()
            if record is not None:
                record()


TAP = Tap()
"""The one of this process."""
