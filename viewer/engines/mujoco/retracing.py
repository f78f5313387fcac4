"""The steps of one run to another run of nearly the same model, which takes them again."""

from collections.abc import Callable
from itertools import pairwise

import mujoco
import numpy as np

from .adopting import adopt, can_adopt, is_same_state
from .run import MujocoRun
from .sleeping import SLEEP

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def retrace(
    run: MujocoRun,
    before: MujocoRun,
    start: int,
    stop: int,
    begin: Callable[[], object],
    after_step: Callable[[], object] | None = None,
) -> bool:
    """Begin a run anew with the steps of another one from `start` to `stop`; whether they led to the same state.

    What somebody did to the other one between its steps is done again. `begin` is called at the first state,
    `after_step` after each step. Leaves the other run as it was.
    """
    engine, old = run.engine, before.engine
    if not can_adopt(engine.model, old.model):
        return False
    shown, now = before.current, np.empty(mujoco.mj_stateSize(old.model, _STATE))
    mujoco.mj_getState(old.model, old.data, now, _STATE)
    try:
        before.go_to(start)
        adopt(engine.model, engine.data, old.model, old.data)
        run.start()
        begin()
        for step, following in pairwise([start, *_kept_states(before, start, stop), stop]):
            _show_left(before, step)
            follow(run, before)
            run.step(following - step, after_step)
        before.go_to(stop)
        return is_same_state(engine.model, engine.data, old.model, old.data)
    finally:
        before.go_to(shown)
        mujoco.mj_setState(old.model, old.data, now, _STATE)


def follow(run: MujocoRun, before: MujocoRun) -> None:
    """Do to a run what somebody has done to the other one, if anything."""
    engine, old = run.engine, before.engine
    if not is_same_state(engine.model, engine.data, old.model, old.data):
        adopt(engine.model, engine.data, old.model, old.data)


def _kept_states(run: MujocoRun, start: int, stop: int) -> list[int]:
    """Steps in between whose states are kept: all at which somebody may have changed something."""
    found: list[int] = []
    step = run.history.origin(stop)[1]
    while step > start:
        found.insert(0, step)
        step = run.history.origin(step)[1]
    return found


def _show_left(run: MujocoRun, step: int) -> None:
    """Show the state from which the next step was taken, if it is kept: what somebody left after this one."""
    engine = run.engine
    state, kept = run.history.origin(min(step + 1, run.history.last))
    if engine.model.opt.enableflags & SLEEP or kept != step:
        # What sleeps is known only by having come there.
        run.go_to(step)
    if kept == step:
        mujoco.mj_setState(engine.model, engine.data, state[: mujoco.mj_stateSize(engine.model, _STATE)], _STATE)
