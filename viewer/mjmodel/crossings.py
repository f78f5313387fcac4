"""Computes the instant at which a distance passes a level, from samples of the distance around a step."""

import math
from collections.abc import Callable
from typing import NamedTuple

FORCE_FREE = 5e-4
"""Relative misfit between the velocities and the distances of a step up to which no contact force acted in it."""


class Sample(NamedTuple):
    """State of one pair at one instant."""

    time: float
    """Simulation time [s]."""
    distance: float
    """Distance between the surfaces [m]."""
    velocity: float
    """Rate of change of the distance [m/s]; NaN if unknown."""


class Trace(NamedTuple):
    """Samples of a pair after each of the last three steps."""

    after: Sample
    """Latest sample."""
    before: Sample
    earlier: Callable[[], Sample]
    """Function that computes the oldest sample, which is seldom needed."""


class Crossing(NamedTuple):
    """Crossing of a level by a pair's distance."""

    time: float
    """Simulation time [s]."""
    distance: float
    """Distance at `time` [m]: the level, as closely as it was reached."""
    normal_velocity: float
    """Rate of change of the distance at `time` [m/s]."""


def interpolate(trace: Trace, level: float) -> Crossing:
    """Return the instant at which the distance passes `level` in the last step of a trace.

    Assumes that the acceleration is constant, as integrators do within a step: the parabola through both distances with
    the first velocity is then the motion itself. A parabola with the second velocity is not: semi-implicit Euler moves
    by h v + h^2 a, not h v + h^2 a / 2. Runge-Kutta lets the contact force act in the step in which a pair meets; then
    the step from `earlier`, if no force of a contact acted in it, is continued. Geoms that turn round within the step
    pass the level on the way back. The velocity has the sign of the event: geoms that meet approach, geoms that part
    move away from each other. Where only the velocity at the end is known, the motion is traced back from there:
    Euler's step used that velocity, and `before` may be long ago.

    Euler's velocity at the end of a step is the mean velocity of the step: it lags by half a step behind the rate at
    which the distance changes. This is corrected where geoms meet; where they part, the contact force has changed the
    velocity in the step itself.
    """
    after, before, recall = trace
    step = after.time - before.time
    gap = before.distance - level
    change = after.distance - before.distance
    if change == 0 or not math.isfinite(change):
        velocity = before.velocity if math.isnan(after.velocity) else after.velocity
        return Crossing(after.time, after.distance, velocity)
    traced = 1 - (after.distance - level) / (after.velocity * step) if after.velocity * step else math.nan
    if math.isnan(before.velocity) and 0 <= traced <= 1:
        return Crossing(before.time + traced * step, level, after.velocity)
    slope = before.velocity * step
    bend = change - slope
    turn = after.velocity - before.velocity
    lag = 0.0
    fraction = _passage(gap, slope, bend)
    is_direct = fraction is not None
    if fraction is None:
        turns = gap * change < 0 and before.velocity * change < 0 < after.velocity * change
        fraction = _passage_after_turn(gap, slope, bend) if turns else -gap / change
    elif change < 0 and _euler_misfit(before, after) < _runge_kutta_misfit(before, after):
        lag = 0.5
    elif before.distance > 0 and _runge_kutta_misfit(before, after) > FORCE_FREE:
        earlier = recall()
        if earlier.distance > 0 and earlier.time < before.time and _is_smooth(earlier, before):
            stretch = step / (before.time - earlier.time)
            bend = (before.distance - earlier.distance - earlier.velocity * step / stretch) * stretch**2
            continued = _passage(gap, slope, bend)
            if continued is not None:
                fraction, turn = continued, (before.velocity - earlier.velocity) * stretch
    velocity = before.velocity + (fraction + lag) * turn
    mean = change / step if step else math.nan
    known = [each for each in (after.velocity, before.velocity, mean) if not math.isnan(each)]
    if math.isnan(velocity):
        velocity = known[0] if known else math.nan
    if change < 0 and known and (velocity >= 0 or not is_direct):
        # They did not approach all the way, by a force or because another part of the surface came nearest.
        velocity = min(known)
    elif velocity <= 0 < change:
        velocity = after.velocity if 0 < after.velocity < mean else mean
    return Crossing(min(before.time + fraction * step, after.time), level, velocity)


def _passage(gap: float, slope: float, bend: float) -> float | None:
    """Return the u in [0, 1] at which gap + slope u + bend u^2 is 0. None unless the value approaches 0 all the way."""
    square = slope * slope - 4 * bend * gap
    if not (slope * gap < 0 < slope * (slope + 2 * bend) and square >= 0):
        return None
    return min(2 * abs(gap) / (abs(slope) + math.sqrt(square)), 1.0)


def _passage_after_turn(gap: float, slope: float, bend: float) -> float:
    """Return the u in [0, 1] at which gap + slope u + bend u^2 is 0 if it moves away from 0 at first and ends on the
    other side."""
    return min((abs(slope) + math.sqrt(slope * slope - 4 * bend * gap)) / (2 * abs(bend)), 1.0)


def _is_smooth(before: Sample, after: Sample) -> bool:
    """Return True if the velocities of a step explain its change of distance: no contact force acted within it."""
    if after.distance == before.distance:
        return False
    return min(_euler_misfit(before, after), _runge_kutta_misfit(before, after)) < 10 * FORCE_FREE


def _euler_misfit(before: Sample, after: Sample) -> float:
    """Return the relative misfit of the change of distance under semi-implicit Euler."""
    change = after.distance - before.distance
    return abs(1 - after.velocity * (after.time - before.time) / change)


def _runge_kutta_misfit(before: Sample, after: Sample) -> float:
    """Return the relative misfit of the change of distance under Runge-Kutta, with the velocities at both ends."""
    change = after.distance - before.distance
    return abs(1 - (before.velocity + after.velocity) / 2 * (after.time - before.time) / change)
