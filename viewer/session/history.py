"""Keeps every step of a simulation: to show it again, to continue from it, and for curves."""

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import FROM_ITSELF, ArrivedStep, KeptSpan, KeptStep, StepKind
from ..engines.contact_sensor import SensorList
from ..engines.contract import Engine
from ..engines.steps import LayoutGroup, group_by_layout
from ..sensors.contacts import ContactBatch
from ..sensors.signals import mean, peak
from ..settings import Moment
from .body_curves import BODY_CURVE_BYTES, BodyCurves
from .history_curves import HistoryCurves, curve_bytes
from .ring import DEFAULT_BUDGET, STATE_SPACING, Rows, StepRing


class History(StepRing):
    """The past steps of an engine with one environment, numbered from the last reset: a ring that can show them.

    It is fed by `Simulation`. A change of the engine's state between two steps is noticed at the next one: the
    history then continues from the changed state. Changes of the model are not noticed; earlier steps are then shown as
    the changed model re-simulates them.
    """

    def __init__(self, engine: Engine, budget: int = DEFAULT_BUDGET) -> None:
        """Keep the steps of an engine in `budget` bytes, curves included."""
        self._engine = engine
        self._past = past = engine.past
        of_bodies = not past.names and engine.has_contact_list
        extra = BODY_CURVE_BYTES if of_bodies else curve_bytes(past)
        super().__init__(past.width, past.state_size, budget, extra, past.inputs.size)
        self.record = self._recorder()
        """Function that keeps the step that the engine is at."""
        self.marks: OrderedDict[int, StepKind] = OrderedDict()
        """Steps taken elsewhere that could not be re-simulated exactly, in ascending order."""
        self.starts_with_forces = True
        """False if the forces in the first state are not known."""
        self.is_frozen = False
        """True for the history of an episode that has ended."""
        self._left: Rows = np.empty(self._past.state_size)
        self._now: Rows = np.empty(self._past.state_size)
        self._grouped: tuple[Any, list[LayoutGroup]] | None = None
        self.curves: HistoryCurves | BodyCurves
        """Signals after every step, of the sensors, or in a scene without sensors of the bodies that touch; call its
        `update` once a frame while they are shown."""
        if of_bodies:
            self.curves = bodies = BodyCurves(engine, self)
            self.record = _both(self.record, bodies.add)
        else:
            self.curves = HistoryCurves(self.names, self.grouped_contacts, self, engine)
        self.start()

    def _recorder(self) -> Callable[[], None]:
        return self.recorder(self._past.read, self._past.spacing, self._add_state)

    def shrink(self, budget: int) -> bool:
        """Keep only the newest steps that fit into less memory [bytes]; return True if another step had to be shown."""
        self._shrink(budget)
        self.record = self._recorder()
        if isinstance(self.curves, BodyCurves):
            self.record = _both(self.record, self.curves.add)
        else:
            self.derived.clear()
            self.curves = HistoryCurves(self.names, self.grouped_contacts, self, self._engine)
        if is_lost := self.current < self.first:
            self.go_to(self.first)
        return is_lost

    @property
    def names(self) -> tuple[str, ...]:
        """Sensors whose contacts are kept: all but those that the viewer made."""
        return self._past.names

    @property
    def can_resume(self) -> bool:
        """True if the simulation can continue from a past step; else steps can only be looked at."""
        return self._past.state_size > 0

    @property
    def current(self) -> int:
        """Step that is shown."""
        return self.last if self._shown is None else self._shown

    @property
    def at_end(self) -> bool:
        """True if the newest step is shown, and more may follow."""
        return self._shown is None and not self.is_frozen

    def frozen(self) -> "History":
        """Return a copy to which nothing is added, in no more memory than its steps need."""
        history = copy.copy(self)
        history.compact()
        history.is_frozen = True
        history._left, history._now = self._left.copy(), self._now.copy()
        history.epochs, history.marks, history.derived = list(self.epochs), self.marks.copy(), []
        history.record = lambda: None
        if isinstance(self.curves, BodyCurves):
            self.curves.update()
            history.curves = self.curves.frozen(history)
        else:
            history.curves = HistoryCurves(self.names, history.grouped_contacts, history, self._engine)
        return history

    def start(self, after: tuple[StepRing, int] | None = None) -> None:
        """Begin with the engine's present state: after loading and after a reset.

        `after`: another history and the number of its step that has this state; see `StepRing.follow`.
        """
        if after is None:
            self.clear()
        else:
            self.follow(*after)
        self.marks.clear()
        self._shown: int | None = None
        self.frame_start = 0
        """Step of the last drawn frame."""
        self._has_inputs = False
        """True if the inputs of each new step are kept."""
        self._mark_epoch()
        self._add_state()
        self.record()
        self._remember()

    def prepare(self, drive: Callable[[], object] | None = None) -> Callable[[], object] | None:
        """Get ready for the next steps: keep the state from which they start if it is not known yet.

        Returns a function that sets the inputs of each step by `drive`, and keeps them, so that the steps can be
        re-simulated without it.
        """
        engine = self._engine
        time = engine.time
        if time < self._time:
            # The engine was reset elsewhere.
            self.start()
        self._has_inputs = driven = drive is not None and self._past.inputs.size > 0
        if self._epoch is not engine.sensors:
            self._mark_epoch()
        if (
            self.newest_is_driven is not driven
            or self.stop - 1 - self.newest_state >= STATE_SPACING
            or self._is_changed()
        ):
            self._past.save(self.add_state(time, engine.timestep, driven))
        if drive is None or not self.can_resume:
            return drive
        return self.input_recorder(drive, self._past.inputs, self._past.other_inputs, self._add_state)

    def finish(self) -> None:
        """Remember the state after some steps, so that a change of it is noticed."""
        if self.stop - 1 - self.newest_state < STATE_SPACING:
            self._remember()
        else:
            self._time = self._engine.time

    def append(self, step: ArrivedStep) -> None:
        """Keep a step that was taken elsewhere and that the engine is at, whichever step is shown."""
        engine = self._engine
        if self._epoch is not engine.sensors:
            self._mark_epoch()
        time, timestep = engine.time, engine.timestep
        # The inputs of this step are in its state: none are kept, also after steps of this engine, which had some.
        self._has_inputs = False
        if step.state is not None:
            self.add_state(time - timestep, timestep)[:] = step.state
        elif not self.can_resume and abs(self.next_time - time) > 1e-6 * timestep:
            # Rows of a batch may be any time apart.
            self.add_state(time - timestep, timestep)
        if step.kind not in (StepKind.EXACT, StepKind.CLOSE):
            self.marks[self.stop] = step.kind
            if next(iter(self.marks)) < self.first:
                self.marks.popitem(last=False)
        self.record()
        self._time = time

    def go_to(self, step: int, since: int | None = None) -> bool:
        """Show a step: set the engine's data and contacts to those of that step.

        Returns False if the sensors now read other values than at that time: the model has changed since. Sensors whose
        reduce mode has changed are read in the new mode if the engine returns to the step itself. `since`: step of the
        frame before, for peak and mean; None if there is no such frame.
        """
        step = min(max(step, self.first), self.last)
        state, origin = self.origin(step)
        row, sensors = self.row(step), self.meaning(step)
        inputs, newest = self.inputs_up_to(step), step == self.last and not self.is_frozen
        mark = self.marks.get(step)
        count = 0 if mark in FROM_ITSELF else step - origin
        known = mark is not StepKind.UNKNOWN and (step > 0 or self.starts_with_forces)
        if (unread := step < self.unread) and not count:
            # The row holds no values yet: forces are solved.
            sensors = SensorList(())
        self._past.show(KeptStep(self.time(step), row, sensors, state, count, newest, inputs, known))
        self._shown = None if step == self.last else step
        self.frame_start = step if since is None else min(max(since, self.first - 1), step)
        if not self.can_resume:
            return True
        self._remember()
        return unread or sensors is not self._engine.sensors or self._past.read() == row.tobytes()

    def replay(self, start: int) -> Iterator[int]:
        """Show the steps from `start` to the newest in order, with one engine step each; yield their numbers."""
        state: Rows = np.empty(self._past.state_size)
        before = -1
        for step in range(max(start, self.first), self.last + 1):
            origin, inputs = self.origin(step)[1], self.inputs_up_to(step)
            if before != step - 1 or origin == step - 1 or self.marks.get(step) in FROM_ITSELF or step <= 1:
                self.go_to(step)
            else:
                self._past.save(state)
                last = None if inputs is None else inputs[-1:]
                row, sensors = self.row(step), self.meaning(step)
                self._past.show(KeptStep(self.time(step), row, sensors, state, 1, step == self.last, last))
            before = step
            yield step

    def resume(self) -> None:
        """Let the simulation continue from the step that is shown; from the newest if the engine cannot return."""
        if self.at_end:
            return
        if not self.can_resume:
            self.go_to(self.last)
            return
        self.truncate(self.current)
        while self.marks and next(reversed(self.marks)) > self.last:
            self.marks.popitem()
        self._shown = None
        # Applied forces come from a drag with the mouse, which has ended since.
        self._past.release()

    def begin_frame(self) -> None:
        """Count the steps from now on as those of the next frame."""
        self.frame_start = self.current

    def moment(self, name: str, moment: Moment) -> ContactBatch | None:
        """Return a sensor's peak or mean over the steps since the last frame.

        None where there is only one step, or where the steps are kept in another reduce mode than the sensor's.
        """
        start, stop = self.frame_start + 1, self.current + 1
        if moment is Moment.INSTANT or stop - start < 2:
            return None
        # Steps that were read in another way do not mix with the newest.
        start = max(start, self.epochs[-1][0], self.first, self.unread)
        batch = self.contacts(name, start, stop) if stop - start > 1 else None
        if batch is None:
            return None
        sensor = self._engine.sensors[name]
        if self._past.source(sensor)[1].reduce is not sensor.reduce:
            return None
        return peak(batch) if moment is Moment.PEAK else mean(batch)

    def contacts(self, name: str, start: int, stop: int) -> ContactBatch | None:
        """Return contacts of a sensor after steps start to stop - 1, (n, slots); None if they are not known.

        The steps must be of one epoch.
        """
        if name not in self.names or start < self.unread:
            return None
        columns, layout = self._past.source(self.meaning(start)[name])
        return layout.decode(self.rows(start, stop)[:, columns])

    def grouped_contacts(self, start: int, stop: int) -> Iterator[tuple[NDArray[np.intp], ContactBatch]]:
        """Yield the contacts of all kept sensors by layout: positions in `names` of the sensors that share one, and
        their contacts after steps start to stop - 1, (n, sensors, slots). The steps must be of one epoch.
        """
        rows, sensors = self.rows(start, stop), self.meaning(start)
        if self._grouped is None or self._grouped[0] is not sensors:
            # Computed once an epoch: there may be ten thousand sensors.
            self._grouped = sensors, group_by_layout(self._past.source(sensors[name]) for name in self.names)
        for group in self._grouped[1]:
            yield group.members, group.decode(rows)

    def states_between(self, start: int, stop: int) -> list[int]:
        """Return the steps between `start` and `stop` whose states are kept, as at every change of the state."""
        found: list[int] = []
        step = self.origin(stop)[1]
        while step > start:
            found.append(step)
            step = self.origin(step)[1]
        return found[::-1]

    def spans(self) -> list[KeptSpan]:
        """Return copies of all that is kept, in order: each span begins with a state."""
        start = self.origin(self.first)[1]
        steps = [start, *self.states_between(start, self.last), self.last]
        spans = []
        for start, stop in pairwise(dict.fromkeys(steps)):
            state, inputs = self.origin(stop)[0].copy(), self.inputs(start, stop)
            spans.append(KeptSpan(state, stop - start, inputs, self.marks.get(start + 1) in FROM_ITSELF))
        opening = self.origin(self.first)[0]
        if spans and self.first == 0 and (spans[0].inputs is not None or opening.tobytes() != spans[0].state.tobytes()):
            # The state before the inputs of the first step were set.
            spans.insert(0, KeptSpan(opening.copy(), 0))
        return spans or [KeptSpan(self.origin(self.first)[0].copy(), 0)]

    def first_row(self) -> Rows | None:
        """Return the sensor values in the state with which the first of the `spans` begins; None if forgotten."""
        return self.row(0).copy() if self.first == 0 else None

    def unread_spans(self, least: int) -> list[KeptStep]:
        """Return the spans whose rows are to be filled in, newest first, until they have `least` steps together. A span
        is given by its last step: the `count` steps up to that step are re-simulated from one state."""
        spans: list[KeptStep] = []
        step, first = self.unread - 1, self.first
        while step >= first and self.unread - 1 - step < least:
            state, origin = self.origin(step)
            count, none = step - origin, SensorList(())
            spans.append(
                KeptStep(self.time(step), self.row(step), none, state.copy(), count, False, self.inputs_up_to(step))
            )
            step -= max(count, 1)
        return spans

    def inputs(self, start: int, stop: int) -> Rows | None:
        """Return the inputs of steps `start` + 1 to `stop`, with no state between them, (n, input_size), or None."""
        inputs = self.inputs_up_to(stop)
        return None if inputs is None else inputs[start - stop :]

    def show_left(self, step: int) -> None:
        """Show the state after a step with changes made before the next one, if that is kept; else the step alone."""
        state, kept = self.origin(min(step + 1, self.last))
        if kept == step:
            self._past.restore(state)
        else:
            self.go_to(step)

    def recover(self) -> None:
        """Return to the newest step after a failure, and forget changes since: they may be its cause."""
        self.go_to(self.last)
        self.truncate(self.last)

    def _mark_epoch(self) -> None:
        # The list is replaced whenever a sensor is read in another way.
        self._epoch = self._engine.sensors
        self.mark(self._epoch)

    def _add_state(self) -> None:
        self._past.save(self.add_state(self._engine.time, self._engine.timestep, self._has_inputs))

    def _remember(self) -> None:
        """Keep the state after the last step, so that a later change of it is noticed."""
        self._past.save(self._left)
        self._time = self._engine.time

    def _is_changed(self) -> bool:
        """Return True if state or inputs changed since the last step."""
        self._past.save(self._now)
        return self._now.tobytes() != self._left.tobytes()


def _both(first: Callable[[], object], second: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls both of two functions."""

    def call() -> None:
        first()
        second()

    return call
