"""Turns failures inside MuJoCo into words for the user."""

import mujoco

from ...errors import EngineError, UnstableError
from ...mjmodel.names import body_names, read_names
from ...mjmodel.types import MjData, MjModel
from ...scene_files.scene import one_line

_WARNINGS = mujoco.mjtWarning
_SURVIVED = [
    int(warning)
    for warning in (
        _WARNINGS.mjWARN_CONTACTFULL,
        _WARNINGS.mjWARN_CNSTRFULL,
        _WARNINGS.mjWARN_INERTIA,
        _WARNINGS.mjWARN_BADCTRL,
    )
]
"""Warnings after which MuJoCo goes on, in the order in which they are reported."""


_UNSTABLE = "the simulation became unstable after"


def failure(error: mujoco.FatalError, time: float) -> EngineError:
    """For an error that ended a step which began at a time [s]."""
    return EngineError(f"MuJoCo failed at {time:.3f} s: {one_line(error)}")


def divergence(model: MjModel, data: MjData, time: float, outcome: str) -> UnstableError:
    """For a state that MuJoCo has just reset, in a step which began at a time [s]."""
    for warning, what, bodies in (
        (_WARNINGS.mjWARN_BADQACC, "acceleration", model.dof_bodyid),
        (_WARNINGS.mjWARN_BADQVEL, "velocity", model.dof_bodyid),
        (_WARNINGS.mjWARN_BADQPOS, "position", _position_bodies(model)),
    ):
        entry = data.warning[warning]
        if entry.number and 0 <= entry.lastinfo < len(bodies):
            body = body_names(model)[bodies[entry.lastinfo]]
            return UnstableError(f"{_UNSTABLE} {time:.3f} s, first in the {what} of {body}", outcome)
    return UnstableError(f"{_UNSTABLE} {time:.3f} s", outcome)


class WarningWatch:
    """Counters of MuJoCo's warnings that a simulation survives."""

    def __init__(self) -> None:
        self._reported: set[int] = set()

    def news(self, model: MjModel, data: MjData) -> str | None:
        """A kind of warning that was not reported since the last `restart`."""
        warnings = data.warning
        # This is asked in every frame, of every environment.
        if not any(numbers := warnings.number.tolist()):
            return None
        for warning in _SURVIVED:
            if numbers[warning] and warning not in self._reported:
                self._reported.add(warning)
                return f"{_explained(model, warning, warnings[warning].lastinfo)}, by {data.time:.3f} s"
        return None

    def restart(self) -> None:
        self._reported.clear()


def _explained(model: MjModel, warning: int, info: int) -> str:
    memory = f'its memory of {model.narena / 1e6:.3g} MB is full; give <size memory="..."/> more'
    if warning == _WARNINGS.mjWARN_CONTACTFULL:
        return f"MuJoCo dropped contacts: {memory}"
    if warning == _WARNINGS.mjWARN_CNSTRFULL:
        return f"MuJoCo dropped constraints: {memory}"
    if warning == _WARNINGS.mjWARN_INERTIA:
        bodies = [body_names(model)[model.dof_bodyid[info]]] if 0 <= info < model.nv else []
        return f"MuJoCo cannot invert the inertia{''.join(f' of {body}' for body in bodies)}: it is close to singular"
    names = read_names(model, "actuator")
    actuator = f" of {names[info]}" if 0 <= info < len(names) and names[info] else ""
    return f"the control{actuator} was not a finite number, and MuJoCo set all controls to 0"


def _position_bodies(model: MjModel) -> list[int]:
    """The body that each number in `qpos` belongs to."""
    ends = [*model.jnt_qposadr[1:], model.nq]
    spans = zip(model.jnt_qposadr, ends, model.jnt_bodyid, strict=True) if model.njnt else ()
    return [int(body) for start, stop, body in spans for _ in range(start, stop)]
