"""Takes over the steps of a user's loop, which takes them in another process."""

from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import ArrivedStep
from ..engines.contract import Engine
from ..render.view import View
from .simulation import Simulation

_LONGEST = 0.1
"""Longest that the steps of a loop may hold up a frame [s]."""


class Loop(Protocol):
    """A user's loop. It is not ours: it can be held and let go, and one body of it be pulled; nothing else."""

    paused: bool
    """True if the loop is held in its next `sync`."""
    running: bool
    """False once the loop has ended; what it did stays to be looked at."""
    makes_sensors: bool
    """True if the window has a copy of the loop's model, in which sensors can be made."""
    skipped: int
    """Steps that the loop took faster than they could be taken again here, and that are not in the history."""

    environments: int
    """How many environments it steps, of which one is shown."""

    def show_environment(self, env: int) -> None:
        """Show another of its environments, with the next step that arrives of it."""
        ...

    @property
    def pending(self) -> int:
        """States that have arrived and were not taken yet."""
        ...

    @property
    def waiting(self) -> bool:
        """True if it is not known yet whether the next step can be taken exactly; the engine is at no step then."""
        ...

    @property
    def quiet(self) -> bool:
        """True if nothing has arrived for a while; what arrives wakes a window that sleeps."""
        ...

    def begin_frame(self) -> None:
        """Exchange all but steps: called once before every picture."""
        ...

    def take(self) -> ArrivedStep | None:
        """Take the next step that arrived: the engine's data are then those after it. None if there is none."""
        ...

    def catch_up(self) -> None:
        """Drop steps that are too old to be of interest now, if there are such; they count as skipped."""
        ...

    def let_one_through(self) -> None:
        """Let a held loop do one `sync`."""
        ...

    def attach(self, engine: Engine) -> None:
        """Take the next steps in another engine on the same model, with other sensors."""
        ...

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        """Pull a body with force and torque [N, N m], world, (6,), from the loop's next `sync` on; None lets go."""
        ...


class LoopSteps:
    """Brings the steps of a loop to the simulation, and a person's pull to the loop, once a frame."""

    def __init__(self) -> None:
        self._done = perf_counter()
        self._behind = False
        """True if more steps wait than one frame took."""
        self._break: int | None = None
        """The step at which a break holds the loop, which may take one more before it comes to its next `sync`."""

    def let_one_through(self, loop: Loop) -> None:
        """Let a held loop do one `sync`, and show the step that it then has taken."""
        self._break = None
        loop.let_one_through()

    def advance(self, loop: Loop, simulation: Simulation, view: View, budget: float) -> None:
        """Record the steps that have arrived, for about `budget` seconds. A past step that is shown stays shown."""
        loop.begin_frame()
        history, began = simulation.history, perf_counter()
        # Where drawing takes long, steps get as much time as it.
        until = began + (_LONGEST if self._behind else min(max(budget, began - self._done), _LONGEST))
        shown = None if history is None or history.at_end else history.current
        if not loop.paused:
            self._break = None
        elif history is not None and shown is None and self._break == history.last:
            shown = self._break
        if shown is None and history is not None:
            history.begin_frame()
        taken = 0
        while (step := loop.take()) is not None:
            simulation.observe(step)
            taken += 1
            if simulation.halted and shown is None and history is not None:
                # The loop is ahead of what is seen here: show the step of the break, whatever came after it.
                shown = self._break = history.last
            if perf_counter() > until:
                loop.catch_up()
                break
        # Fewer pictures then, rather than fewer steps.
        self._behind = loop.pending > taken
        if history is not None and loop.waiting and shown is None:
            shown = history.last
        if (taken or loop.waiting) and shown is not None and history is not None and shown <= history.last:
            # Unless the loop was reset, and the history with it.
            simulation.go_to(shown)
        _pull(loop, simulation, view)
        self._done = perf_counter()


def _pull(loop: Loop, simulation: Simulation, view: View) -> None:
    """Pull a body of the loop as the hand does, unless a past step is shown."""
    if not view.perturbing or (simulation.history is not None and not simulation.history.at_end):
        loop.pull(0, None)
        return
    model, data = simulation.shown.model, simulation.shown.data
    applied = data.xfrc_applied.copy()
    view.apply_perturb(model, data, paused=False)
    loop.pull(view.selected_body, data.xfrc_applied[view.selected_body].copy())
    # The loop's own data get it; here it comes back with the steps.
    data.xfrc_applied[:] = applied
