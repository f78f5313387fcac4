"""Branches of the past: a second run that starts from a step of another one, with its inputs replayed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from itertools import pairwise

import numpy as np

from ..engines.abilities import FROM_ITSELF, KeptSpan, KeptStep, Retraced
from ..engines.contact_sensor import Row
from ..engines.contract import Engine
from ..engines.controller import Controller
from ..mjmodel.state import INPUTS, state_parts
from ..mjmodel.types import MjModel
from .history import History
from .simulation import Change, Simulation, StepSource

_MOTION = ("qpos", "qvel", "act")


class Branch(StepSource):
    """Source of a branch: steps from a step of another run on, with the recorded inputs of that run as far as they go.

    Without a change, the steps are those of the other run, bit for bit. Change `engine.model` to see the effect of a
    change; with another time step, each step gets the inputs recorded for its time. Where the user moved values by hand
    between two steps, the branch sets the same values. Where a loop or a log moved them, or where its re-simulated step
    missed the recorded state, the branch adds the difference. Changes that a loop made to its model are not repeated.
    """

    def __init__(
        self, simulation: Simulation, step: int | None = None, change: Callable[[MjModel], object] | None = None
    ) -> None:
        """Begin at a step of the shown history, by default at the step that is shown.

        `change`: function that changes the model of the branch, which is a copy. Raises SceneError if the engine cannot
        be copied, ValueError if the run has no past to return to, and the errors of `change`.
        """
        history, past = simulation.history, simulation.shown.past
        if history is None or not history.can_resume:
            raise ValueError("a branch needs a run with a history, on an engine that returns to past steps")
        step = min(max(history.current if step is None else step, history.first), history.last)
        with visiting(simulation):
            spans = _spans(history, simulation.shown, step)
            history.show_left(step)
            # A loop may have had other values in its model at that step.
            engine = simulation.engine.copy()
            if change is not None:
                change(engine.model)
            super().__init__(engine)
            if not self.engine.adopt_state(simulation.shown):
                raise ValueError("a branch needs an engine on the same scene")
        self._retrace = partial(past.retrace, spans)
        self.push: Sequence[tuple[int, Sequence[float]]] = ()
        """Forces that act on bodies beside the recorded ones: body and force [N], world."""
        self.model_changes_at: float | None = None
        """Time of a loop's first change of its model, which the branch does not repeat [s]; None if there is none."""
        source = simulation.source
        self._adds: bool = (
            source._adds if isinstance(source, Branch) else bool(source.name or not source.continues_from_shown)
        )
        """True if differences between recorded steps are added, False if values are set as they were recorded."""
        self.listener: Callable[[], object] | None = None
        """Function that is called before each step, in its start state; inputs that the function sets are not used."""
        self.asks = False
        """True if the engine's controller sets the inputs, False if the recorded inputs are set."""
        self._rate = self.engine.timestep / simulation.engine.timestep
        """Time step of the branch, as a multiple of the other run's."""
        if len(self._rewind().versions) > 1:
            self.model_changes_at = next(float(each.state[0]) for each in spans if each.state[-1] != spans[0].state[-1])
        self._forces = self.engine.data.xfrc_applied.copy()
        own = self.engine.past
        start = np.empty(own.state_size)
        own.save(start)
        row = np.frombuffer(own.read()).copy()
        self._start = KeptStep(self.engine.time, row, self.engine.sensors, start, 0, newest=True)

    def why_not(self, change: Change) -> str | None:
        if change is Change.KEYFRAME:
            return "a branch starts from a step of another run: it cannot be started from a keyframe"
        return super().why_not(change)

    def step(self, simulation: Simulation, count: int, drive: Callable[[], object] | None) -> None:
        super().step(simulation, count, drive or self._drive)

    def resume(self, history: History) -> bool:
        self._rewind(self.engine.time)
        return super().resume(history)

    def reset(self, simulation: Simulation, key: str | None) -> None:
        """Return to the step at which the branch begins."""
        self.engine.past.show(self._start)
        self._rewind()
        simulation.restart()

    def _rewind(self, time: float = -np.inf) -> Retraced:
        """Continue with the inputs recorded for a simulated time [s], and return all recorded inputs."""
        retraced = self._retrace()
        assert retraced is not None
        self._states, self._parts = retraced.states, state_parts(retraced.model)
        self._next: Row | None = None
        self._read()
        while self._next is not None and self._next[0] < time - 0.5 * self.engine.timestep:
            self._read()
        return retraced

    def _read(self) -> None:
        state = next(self._states, None)
        self._next = None if state is None else state.copy()

    def _drive(self) -> None:
        """Set the recorded inputs of the next step, and repeat changes by hand before it."""
        data, now = self.engine.data, self._next
        if now is None or self.asks:
            if (drive := self.engine.driver()) is not None:
                drive()
        elif self._rate == 1.0:
            self._read()
            start = self._moved(now)
            if self.listener is not None:
                self.listener()
            self._put_in(start)
        else:
            # For steps of another length, the inputs are those of the same time.
            due = data.time + 1e-6 * self.engine.timestep
            while self._next is not None and self._next[0] <= due:
                now = self._next
                self._read()
                now = self._moved(now)
                self._put_in(now)
        for body, force in self.push:
            data.xfrc_applied[body, :3] = self._forces[body, :3] + force

    def _moved(self, now: Row) -> Row:
        """Repeat changes of the state made by hand at this time; return the state from which the recorded step then
        started."""
        data = self.engine.data
        while self._next is not None and self._next[0] == now[0]:
            for name in _MOTION:
                before, after = now[self._parts[name]], self._next[self._parts[name]]
                values, moved = getattr(data, name), after != before
                if self._adds:
                    # An unchanged branch takes the recorded value, so that it stays equal bit for bit.
                    after = np.where(values == before, after, values + (after - before))
                values[moved] = after[moved]
            now = self._next
            self._read()
        return now

    def _put_in(self, now: Row) -> None:
        for name in INPUTS:
            getattr(self.engine.data, name).reshape(-1)[:] = now[self._parts[name]]
        if self.push:
            self._forces = self.engine.data.xfrc_applied.copy()


def _spans(history: History, engine: Engine, start: int) -> list[KeptSpan]:
    """Return the kept steps of a history from step `start` to the newest. Leaves the history at another step."""
    spans = []
    for step, following in pairwise([start, *history.states_between(start, history.last), history.last]):
        history.show_left(step)
        engine.past.save(state := np.empty(engine.past.state_size))
        inputs = history.inputs(step, following) if following > step else None
        from_itself = history.marks.get(step + 1) in FROM_ITSELF
        spans.append(KeptSpan(state, following - step, inputs, from_itself))
    return spans


def follow(simulation: Simulation, controller: Controller, step: int) -> None:
    """Call a controller of the same file before every kept step up to a step, so that its internal state becomes that
    of this step. Raises ControlError."""
    history, engine = simulation.history, simulation.engine
    assert history is not None
    source = Branch(simulation, history.first)
    model, data = source.engine.model, source.engine.data
    if engine.controller is not None:
        controller.start_like(engine.controller, model, [copy(data)])
    source.listener = controller.driver(model, [data])
    Simulation(source).step(step - history.first)


@contextmanager
def visiting(simulation: Simulation) -> Iterator[None]:
    """Return a context that may show other steps of a history; it ends with the present state, changes included."""
    history, past = simulation.history, simulation.shown.past
    assert history is not None
    shown, now = history.current, np.empty(past.state_size)
    if history.can_resume:
        past.save(now)
    try:
        yield
    finally:
        history.go_to(shown)
        if history.can_resume:
            past.restore(now)
