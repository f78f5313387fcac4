"""Finds the instants between saved MuJoCo states at which pairs of geoms meet or part."""

import math
from collections import deque
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.crossings import Crossing
from ...mjmodel.distances import PairDistances, Vector
from ...mjmodel.state import STATE
from ...mjmodel.types import MjData, MjModel

PRECISION = 1e-12
"""Largest difference between the level and the distance at the instant that is found [m]."""
_PHYSICS = int(mujoco.mjtState.mjSTATE_PHYSICS)
_INPUTS = int(mujoco.mjtState.mjSTATE_USER)
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_TRIALS = 200
_SAME = 1e-9
"""Largest difference of positions and velocities at which a re-simulated step counts as the same step."""
_APART = 1e-4
"""Distance by which touching geoms are moved apart to measure the direction between them [m]."""

State = NDArray[np.float64]


class MujocoSubsteps:
    """Search for instants inside steps, which are repeated in parts on separate data."""

    def __init__(self, model: MjModel, distances: PairDistances) -> None:
        self._model = model
        self._distances = distances
        self._states: deque[tuple[float, State]] = deque(maxlen=3)
        self._inputs: State = np.empty(mujoco.mj_stateSize(model, _INPUTS))
        self._physics: State = np.empty((2, mujoco.mj_stateSize(model, _PHYSICS)))

    @cached_property
    def _data(self) -> MjData:
        """Return a separate mjData, made when first needed."""
        return mujoco.MjData(self._model)

    def reset(self) -> None:
        """Forget the saved states: no step leads from them to the next one."""
        self._states.clear()

    def save(self, data: MjData) -> None:
        """Keep a state: the end of a step, or the start of the first step."""
        state = np.empty(mujoco.mj_stateSize(self._model, STATE))
        mujoco.mj_getState(self._model, data, state, STATE)
        self._states.append((float(data.time), state))

    def locate(self, pair_id: int, start: float, end: float, level: float) -> Crossing | None:
        """Return the crossing that `Locate` in `events.contact_events` asks for; None if no step is known to have
        led from `start` to `end`."""
        states = dict(self._states)
        if start not in states or end not in states:
            return None
        # What was put in before the step, by a hand or a program, is still there after it.
        mujoco.mj_extractState(self._model, states[end], STATE, self._inputs, _INPUTS)
        step = float(self._model.opt.timestep)
        try:
            return self._search(pair_id, states[start], states[end], step, level)
        finally:
            self._model.opt.timestep = step

    def _search(self, pair_id: int, before: State, after: State, step: float, level: float) -> Crossing | None:
        """Return the crossing of a level, by false position with the Illinois rule."""
        at_start = self._distance(pair_id, before, 0.0)
        direction, first = self._distances.direction(at_start), self._velocity(pair_id, at_start)
        at_end = self._distance(pair_id, before, step)
        direction, last = direction or self._distances.direction(at_end), self._velocity(pair_id, at_end)
        if (at_start - level) * (at_end - level) > 0 or not self._is_at(after):
            return None
        # The goal lies before the level, so that whatever is close enough to it does too.
        side = math.copysign(1.0, at_start - at_end)
        goal = level + side * PRECISION / 2
        low, high, value = 0.0, step, at_start - goal
        weight_low, weight_high = value, at_end - goal
        moved = 0
        for _ in range(_TRIALS):
            if side * value < PRECISION / 2 or high - low <= math.ulp(step):
                break
            part = low + (high - low) * weight_low / (weight_low - weight_high)
            part = part if low < part < high else (low + high) / 2
            found = self._distance(pair_id, before, part) - goal
            if abs(found) < PRECISION / 2 or found * value > 0:
                weight_high = weight_high / 2 if moved < 0 else weight_high
                low, value, weight_low, moved = part, found, found, -1
            else:
                weight_low = weight_low / 2 if moved > 0 else weight_low
                high, weight_high, moved = part, found, 1
        distance = self._distance(pair_id, before, low)
        velocity = self._touching_velocity(pair_id, direction)
        if at_start > at_end and not math.isnan(last - first) and self._model.opt.integrator != _RK4:
            # Velocities of the other integrators lag by half a step; see `events.contact_events`.
            velocity += (last - first) / 2
        if (at_end - at_start) * velocity <= 0:
            # A force has turned it already, or another part of the surface came nearest: the mean is sure.
            velocity = (at_end - at_start) / step
        return Crossing(float(self._data.time), distance, velocity)

    def _distance(self, pair_id: int, state: State, part: float) -> float:
        """Return the distance after a part of the step from a state [m]."""
        data = self._data
        mujoco.mj_setState(self._model, data, state, STATE)
        mujoco.mj_setState(self._model, data, self._inputs, _INPUTS)
        if part > 0:
            self._model.opt.timestep = part
            mujoco.mj_step(self._model, data)
        mujoco.mj_kinematics(self._model, data)
        return self._distances.distance(data, pair_id)

    def _is_at(self, state: State) -> bool:
        """Return True if the present state is the saved one: the simulation was not changed between two steps."""
        ours, saved = self._physics
        mujoco.mj_getState(self._model, self._data, ours, _PHYSICS)
        mujoco.mj_extractState(self._model, state, STATE, saved, _PHYSICS)
        return bool(np.allclose(ours, saved, rtol=0, atol=_SAME))

    def _velocity(self, pair_id: int, distance: float) -> float:
        """Return the rate of change of the distance measured last, in the present state [m/s]; NaN if geoms touch."""
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_comVel(self._model, self._data)
        return self._distances.velocity(self._data, pair_id, distance)

    def _touching_velocity(self, pair_id: int, direction: Vector | None) -> float:
        """Return the rate of change of the distance of touching geoms [m/s], which are moved apart to measure it."""
        if direction is None:
            return math.nan
        return self._velocity(pair_id, self._distances.distance_apart(self._data, pair_id, _APART, direction))
