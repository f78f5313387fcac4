"""Calls a controller before every physics step: a function of the user that drives a scene."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

from ..errors import ControlError
from ..mjmodel.types import MjData, MjModel
from ..mjmodel.variation import NOT_RANDOM, Randomisation, generator

Control = Callable[[MjModel, MjData], object]
"""Function that sets `data.ctrl`, `qfrc_applied` or `xfrc_applied` for the next step. Its result is not used."""
_VIEWED = ("extent", "center", "meansize")
"""Statistics of a model that a scene declares for its picture."""
_MASSES = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_armature", "qpos0")
"""Arrays of a model from which MuJoCo computes others."""


def no_control(model: MjModel, data: MjData) -> None:
    """Set no controls: the seed then acts only when the scene starts."""


@dataclass
class Controller:
    """Controller of an engine's environments, which are driven one after the other."""

    control: Control
    """Function that is called before every physics step, unless it is `no_control`."""
    reset: Callable[[MjModel, MjData, np.random.Generator], object] | None = None
    """Function that is called when a scene starts and after each reset, once the state is set."""
    vary: Callable[[MjModel, np.random.Generator], object] | None = None
    """Function that is called once, before a model is first stepped."""
    seed: int = 0
    """Seed of the random numbers of `reset`, `vary` and `randomisation`."""
    randomisation: Randomisation = NOT_RANDOM
    """Changes of a model before `vary`, and of a state before `reset`."""
    seconds: float = 0.0
    """Wall time of `control` in the calls that were timed so far [s]."""
    calls: int = 0
    """Number of timed calls. With one environment the first in each run of steps is timed, with several all calls."""
    file: object = field(default=None, repr=False)
    """`ControllerFile` that the functions were read from; None for functions of a user's own program."""
    _resets: int = field(default=0, repr=False)

    @property
    def changes_model(self) -> bool:
        """True if a model is changed before it is first stepped."""
        return self.vary is not None or bool(self.randomisation.variations)

    @property
    def changes_start(self) -> bool:
        """True if the state is changed whenever the scene starts."""
        return self.reset is not None or self.randomisation.noise is not None

    def driver(self, model: MjModel, datas: Sequence[MjData]) -> Callable[[], None] | None:
        """Return a function that calls `control` for every environment, and raises ControlError if that fails."""
        if self.control is no_control:
            return None
        control, waiting = self.control, True

        def drive() -> None:
            nonlocal waiting
            began = perf_counter()
            for data in datas:
                drive_one(data)
            self.seconds += perf_counter() - began
            self.calls += 1
            waiting = False

        def drive_one(data: MjData) -> None:
            try:
                control(model, data)
            except (Exception, SystemExit) as error:
                raise control_error(error, control) from None

        if len(datas) > 1:
            return drive
        only = datas[0]

        def drive_only() -> None:
            # A clock would cost as much as the call.
            if waiting:
                drive()
                return
            try:
                control(model, only)
            except (Exception, SystemExit) as error:
                raise control_error(error, control) from None

        return drive_only

    def start(self, model: MjModel, datas: Sequence[MjData]) -> None:
        """Change the initial states of all environments by noise and by `reset`."""
        noise = self.randomisation.noise
        for env, data in enumerate(datas):
            if noise is not None:
                noise.apply(model, data, generator(self.seed, "noise", self._resets, env))
            if self.reset is None:
                continue
            try:
                self.reset(model, data, generator(self.seed, "reset", self._resets, env))
            except (Exception, SystemExit) as error:
                raise control_error(error, self.reset) from None
        self._resets += 1

    def change(self, model: MjModel) -> None:
        """Vary a model, and let `vary` change it; values that depend on masses and inertias are updated."""
        before = {name: getattr(model, name).copy() for name in _MASSES}
        for variation in self.randomisation.variations:
            variation.apply(model, self.seed)
        if self.vary is not None:
            try:
                self.vary(model, generator(self.seed, "vary"))
            except (Exception, SystemExit) as error:
                raise control_error(error, self.vary) from None
        if any((getattr(model, name) != values).any() for name, values in before.items()):
            viewed = {name: np.copy(getattr(model.stat, name)) for name in _VIEWED}
            mujoco.mj_setConst(model, mujoco.MjData(model))
            for name, value in viewed.items():
                setattr(model.stat, name, value)

    def start_like(self, other: "Controller", model: MjModel, datas: Sequence[MjData]) -> None:
        """Set the initial states with the random numbers of another controller's last start."""
        self._resets = max(other._resets - 1, 0)
        if self.changes_start:
            self.start(model, datas)

    def continue_from(self, other: "Controller") -> None:
        """Continue with the random numbers that another controller would have drawn next."""
        self._resets = other._resets


def as_controller(control: "Controller | Control") -> Controller:
    """Return a controller for a function with the parameters model and data."""
    if isinstance(control, Controller):
        return control
    if not callable(control):
        raise ControlError(f"a controller is a function of model and data, not {control!r}")
    return Controller(control)


def control_error(error: BaseException, function: Any) -> ControlError:
    """Return the error of a user's function as one line, with the user's file and line."""
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    # What lies above is ours, what lies below is a library's.
    place = next((frame for frame in reversed(frames) if frame.filename == own), frames[-1] if frames else None)
    where = f"{place.filename}, line {place.lineno}: " if place is not None else ""
    words = str(error).strip().splitlines()
    return ControlError(f"{where}{type(error).__name__}{f': {words[0]}' if words else ''}")
