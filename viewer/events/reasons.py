"""Explains in a sentence why a pair of geoms moves as it does, with computed numbers."""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from ..mjmodel.creep import WANTED, creep_formula, needed_impratio
from ..mjmodel.pair_motion import pair_key
from ..mjmodel.types import MjData, MjModel
from ..sensors.friction import ContactState
from .friction_states import Motion, Moving

_HELD = 0.9
"""Friction use up to which a contact counts as held."""
_CHANGED = 0.2
"""Relative change above which a force counts as a cause."""


class ReasonKind(StrEnum):
    """Kind of an explanation."""

    CREEP = "creep"
    """Creep that the formula explains: friction inside its cone acts as a damper."""
    MOVES = "moves"
    """Creep that the formula does not explain: only the speed is reported."""
    SLIDE = "slide"
    ROLL = "roll"
    PIVOT = "pivot"


@dataclass(frozen=True)
class Reason:
    """Explanation of a pair's motion."""

    kind: ReasonKind
    text: str
    """Explanation in one or two sentences."""
    speed: float = math.nan
    """Speed [m/s]."""
    use: float = math.nan
    """Friction use, as a part of the limit."""
    impratio: float = math.nan
    """Value of `impratio` for creep at speed `WANTED` with elliptic cones, or a lower bound; NaN if none is named."""
    is_least: bool = False
    """True if `impratio` is a lower bound: only a trial finds the value."""


def explain_pair(
    model: MjModel, data: MjData, key: int, motion: Motion | None = None, moving: Moving | None = None
) -> Reason | None:
    """Return why a pair moves; None where it does not, or where nothing is known.

    Args:
        model: The scene.
        data: The state, with its contacts and constraint forces.
        key: The pair: see `pair_key`.
        motion: The slip or creep of the pair at present.
        moving: The motion of the pair in the last quarter of a second.

    Returns:
        The explanation. It names a cause only where the numbers show one.
    """
    if motion is not None and motion.state is ContactState.SLIDING:
        return explain_slide(motion)
    if motion is not None:
        return _explain_creep(model, data, key, motion, moving)
    if moving is not None and moving.roll > 0:
        return Reason(ReasonKind.ROLL, "Rolls: no sliding at the contact.", moving.speed, moving.use)
    if moving is not None and moving.pivot > 0:
        return _explain_pivot(model, data, key, moving)
    return None


class EventReason:
    """Explanation of the begin of a slip or creep, from the state that shows it; it is computed when it is read."""

    def __init__(self, model: MjModel, state: MjData | None, motion: Motion) -> None:
        """Keep a state to explain. `state`: see `solved_state`; None for ended creep: only its speed is known."""
        self._model, self._state, self._motion = model, state, motion
        self._options = _options_of(model)

    @property
    def text(self) -> str:
        """Explanation in a sentence; for a slip with its distance so far."""
        return self.reason.text

    @property
    def reason(self) -> Reason:
        """Explanation with its numbers."""
        return explain_slide(self._motion) if self._motion.state is ContactState.SLIDING else self._creep

    @cached_property
    def _creep(self) -> Reason:
        # With other options the formula would not hold for the kept state.
        same = _options_of(self._model) == self._options
        return _explain_creep(self._model, self._state if same else None, self._motion.key, self._motion, None)


def _options_of(model: MjModel) -> tuple[float, ...]:
    return model.opt.cone, model.opt.impratio, model.opt.noslip_iterations


def explain_slide(motion: Motion) -> Reason:
    """Return an explanation of a slip: its begin, and the change of force that used up the friction."""
    text = f"Slides since {motion.begin:.3f} s"
    use = motion.at[2] if motion.at else math.nan
    causes = []
    if motion.before and motion.at and motion.before[2] < _HELD:
        load, shear, _, points = motion.before
        load_at, shear_at, _, points_at = motion.at
        if load_at < (1 - _CHANGED) * load:
            causes.append(f"the normal force fell from {_force(load)} to {_force(load_at)} N")
        if shear_at > (1 + _CHANGED) * shear:
            causes.append(f"the tangential force rose from {_force(shear)} to {_force(shear_at)} N")
        text += ": friction use reached 1"
        if causes:
            text += f" when {' and '.join(causes)}"
        if round(points_at) < round(points):
            left = round(points_at)
            text += f"; {_count(left)} of {_count(round(points))} points {'is' if left == 1 else 'are'} left"
    elif not motion.before and motion.at:
        text += ", soon after it touched"
    text += f". {_length(motion.distance)} so far, at most {_rate(motion.speed)}."
    return Reason(ReasonKind.SLIDE, text, motion.speed, use)


def _explain_creep(model: MjModel, data: MjData | None, key: int, motion: Motion, moving: Moving | None) -> Reason:
    formula = None if data is None else creep_formula(model, data, key)
    speed = moving.speed if moving is not None else motion.speed
    use = moving.use if moving is not None else motion.at[2] if motion.at else math.nan
    measured = f"Creeps {'' if moving is not None else 'at most '}{_rate(speed)}" + (
        "" if math.isnan(use) else f" with {_percent(use)} of its friction used"
    )
    if formula is None or not formula.holds or formula.use > _HELD:
        return Reason(ReasonKind.MOVES, f"{measured}.", speed, use)
    text = (
        f"Creeps {_rate(formula.measured)} inside its cone ({_percent(formula.use)} used): friction acts as a damper"
        " here."
    )
    impratio = needed_impratio(formula)
    # Where the pair moves in another way than the body that it holds, the body's cure is none of the pair's.
    if formula.measured <= 1.2 * WANTED or impratio <= formula.present:
        return Reason(ReasonKind.CREEP, text, formula.measured, formula.use)
    cure = f'cone="elliptic" impratio="{_three(impratio)}"'
    if formula.is_even:
        text += f" {cure} would make it about {_rate(WANTED)};"
    else:
        text += f" It takes {cure} or more to make it {_rate(WANTED)}, because its contacts hold it unevenly;"
    text += " more friction or more grip would not help."
    return Reason(ReasonKind.CREEP, text, formula.measured, formula.use, impratio, not formula.is_even)


def _explain_pivot(model: MjModel, data: MjData, key: int, moving: Moving) -> Reason:
    contacts = np.flatnonzero(pair_key(model, data.contact.geom) == key) if data.ncon else np.zeros(0, np.intp)
    text = f"Pivots about the normal at {moving.pivot:.2g} rad/s"
    # Several contact points resist the turn by their distances.
    if len(contacts) == 1 and data.contact.dim[contacts[0]] == 3:
        text += " (condim 3 has no torsional friction)"
    return Reason(ReasonKind.PIVOT, f"{text}.", moving.speed, moving.use)


def _percent(use: float) -> str:
    return f"{100 * use:.0f} %" if use >= 0.005 else "under 1 %"


def _rate(speed: float) -> str:
    """Return a speed as text, in a unit with few digits."""
    for factor, unit in ((1.0, "m/s"), (1e3, "mm/s"), (1e6, "um/s")):
        if factor * speed >= (1.0 if unit != "m/s" else 0.1):
            return f"{_two(factor * speed)} {unit}"
    return f"{_two(1e6 * speed)} um/s"


def _length(way: float) -> str:
    return f"{_two(1e3 * way)} mm" if way < 0.1 else f"{_two(way)} m"


def _two(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _force(value: float) -> str:
    return f"{value:.3g}"


def _count(count: int) -> str:
    words = ("none", "one", "two", "three", "four", "five", "six")
    return words[count] if count < len(words) else str(count)
