"""Runs with a history, controllers that drive them, and their states."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from contact_viewer.session.history import History
from contact_viewer.session.simulation import Simulation

from ..scenes import ROBOT

BUDGET = 256 * 2**20
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class Run:
    """A simulation of one MuJoCo environment with a history."""

    def __init__(self, engine: Any, budget: int = BUDGET) -> None:
        self.engine = engine
        self.simulation = Simulation(engine, history_bytes=budget)
        assert self.simulation.history is not None
        self.history: History = self.simulation.history
        self.step, self.go_to, self.contacts = self.simulation.step, self.history.go_to, self.history.contacts

    @property
    def current(self) -> int:
        return self.history.current


class Wanderer:
    """A controller with a state of its own: a filtered random walk that also pushes and moves things."""

    def __init__(self) -> None:
        self.rng, self.level, self.calls = np.random.default_rng(3), 0.0, 0

    def __call__(self, model: Any, data: Any) -> None:
        self.calls += 1
        self.level = 0.98 * self.level + 0.3 * self.rng.standard_normal()
        data.ctrl[1] = self.level
        if self.calls % 37 == 0:
            data.xfrc_applied[1, :3] = 4 * self.rng.standard_normal(3)
        if self.calls % 211 == 0:
            data.qfrc_applied[6] = self.level
        if self.calls % 500 == 0:
            data.mocap_pos[0, 2] += 0.01
        if self.calls == 700:
            data.qvel[:3] = 0.0


def scene(tmp_path: Path, integrator: str, extra: str = "") -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(option=f'integrator="{integrator}"', flag="", actuator="", sensor="") + extra)
    return path


def state_of(model: Any, data: Any) -> Any:
    state = np.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    return state
