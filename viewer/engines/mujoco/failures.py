"""Describes failures inside MuJoCo for the user."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...errors import EngineError, UnstableError
from ...mjmodel.names import PAIR, body_names, geom_names, read_names
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


_SHOWN_CONTACTS = 3
Row = NDArray[np.float64]
_BAD = {
    int(_WARNINGS.mjWARN_BADQACC): "acceleration",
    int(_WARNINGS.mjWARN_BADQVEL): "velocity",
    int(_WARNINGS.mjWARN_BADQPOS): "position",
}
"""Name of the quantity that is not a number or too large, by MuJoCo's warning."""
_UNSTABLE = "the simulation became unstable after"


def failure(error: mujoco.FatalError, time: float) -> EngineError:
    """Return the exception for an error in a step that began at a time [s]."""
    return EngineError(f"MuJoCo failed at {time:.3f} s: {one_line(error)}")


def divergence(model: MjModel, data: MjData, time: float, outcome: str) -> UnstableError:
    """Return the exception for a state that MuJoCo has just reset, in a step that began at a time [s]."""
    for warning in _BAD:
        entry = data.warning[warning]
        if entry.number and entry.lastinfo >= 0:
            return UnstableError(divergence_text(model, warning, int(entry.lastinfo), time), outcome)
    return UnstableError(f"{_UNSTABLE} {time:.3f} s", outcome)


def divergence_text(model: MjModel, warning: int, place: int, time: float) -> str:
    """Return a text for a step that began at a time [s] and became unstable, from MuJoCo's warning and the index in the
    state."""
    what = _BAD.get(warning, "")
    bodies = _position_bodies(model) if what == "position" else model.dof_bodyid
    if not what or place >= len(bodies):
        return f"{_UNSTABLE} {time:.3f} s"
    return f"{_UNSTABLE} {time:.3f} s, first in the {what} of {body_names(model)[bodies[place]]}" + _joint_of(
        model, place, what
    )


def first_bad(model: MjModel, qpos: Row, qvel: Row) -> str | None:
    """Return a text on the first number of a state that is not finite; None if all are."""
    for what, values, bodies in (("position", qpos, _position_bodies(model)), ("velocity", qvel, model.dof_bodyid)):
        if not (finite := np.isfinite(values)).all():
            place = int(np.argmin(finite))
            joint = _joint_of(model, place, what)
            return f"the {what} of {body_names(model)[bodies[place]]}{joint} is not a finite number"
    return None


def contacts_text(model: MjModel, data: MjData) -> str:
    """Return a text on the deepest contacts of the data, after a semicolon; empty if there are none."""
    contact = data.contact
    if not len(contact.dist):
        return ""
    names = [*geom_names(model), "flex"]
    deepest = np.argsort(contact.dist)[:_SHOWN_CONTACTS].tolist()
    texts = [
        f"{PAIR.join(names[geom] for geom in contact.geom[k])} {1e3 * max(-contact.dist[k], 0.0):.3g} mm deep"
        for k in deepest
    ]
    more = len(contact.dist) - len(deepest)
    return f"; in contact: {', '.join(texts)}{f' and {more} more' if more > 0 else ''}"


def _joint_of(model: MjModel, place: int, what: str) -> str:
    """Return the joint of a number in `qpos` or `qvel`, as text, if it has a name."""
    starts = model.jnt_qposadr if what == "position" else model.jnt_dofadr
    joint = int(np.searchsorted(starts, place, side="right")) - 1
    name = read_names(model, "jnt")[joint]
    return f" (joint {name})" if name and name != body_names(model)[model.jnt_bodyid[joint]] else ""


class WarningWatch:
    """Counters of MuJoCo's warnings that a simulation survives."""

    def __init__(self) -> None:
        self._reported: set[int] = set()

    def news(self, model: MjModel, data: MjData) -> str | None:
        """Return a kind of warning that was not reported since the last `restart`; None if there is none."""
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
    """Return the body of each number in `qpos`."""
    ends = [*model.jnt_qposadr[1:], model.nq]
    spans = zip(model.jnt_qposadr, ends, model.jnt_bodyid, strict=True) if model.njnt else ()
    return [int(body) for start, stop, body in spans for _ in range(start, stop)]
