"""MuJoCo's steps into a history, and back to any of them, bit for bit."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import mujoco
import numpy as np

from ...sensors.contacts import ContactBatch
from ...sensors.history import DEFAULT_BUDGET, STATE_SPACING, History, Rows
from ...sensors.layout import ContactLayout
from ..contract import ContactSensor
from ..grouping import group_by_layout
from .blocks import BlockStepper, StepBlock
from .declarations import declared_sensors
from .engine import MujocoEngine
from .matching import companion_layout
from .mishaps import divergence, failure
from .names import COMPANION, read_names
from .sleeping import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_BLOCK_BYTES = 2**20
"""Memory for the arrays of steps that are taken together."""
_SPACING_LARGE, _SPACING_SMALL, _SPACING_SIZE = 32, 128, 4096
"""Most steps between two states, which have to be taken again to return to one: in large scenes, in small ones, whose
steps take less time, and in those in between, times degrees of freedom."""
_MANY = 16
"""Steps from which on it pays to take them together only because nobody has to see them singly."""


class _Source(NamedTuple):
    """Where a sensor's fullest array is."""

    columns: slice
    """In the rows of the history."""
    complete: bool
    """It is a companion's, with all fields."""


class BlockTaker(Protocol):
    """Somebody who has to see every step but need not stop at each."""

    def can_take_block(self, count: int) -> bool:
        """Whether that many of the next steps may be taken together."""

    def take_block(self, block: StepBlock) -> bool:
        """Take in steps that were taken together; False, having taken in none, if they have to be seen singly."""


class MujocoRun:
    """A simulation that can be gone back over.

    Whoever steps the engine otherwise, or changes its state, is noticed at the next step: the history then goes
    on from the changed state. Changes of the model are not noticed; steps taken before one are shown as the
    changed model takes them, and `go_to` tells that they differ.
    """

    def __init__(self, engine: MujocoEngine, budget: int = DEFAULT_BUDGET, extra: int = 0) -> None:
        """`budget` in bytes, of which `extra` a step are left to the caller."""
        if engine.num_envs != 1:
            raise ValueError("a run is of one environment")
        self.engine = engine
        self.current = 0
        """The step that the engine's data shows."""
        model, data = engine.model, engine.data
        self._model, self._data, self._options = model, data, model.opt
        self._sources, self._columns = _find_sources(engine)
        # A view: stepping changes its values. A scene without contact sensors leaves rows without a meaning.
        self._values: Rows = data.sensordata[self._columns] if self._sources else np.zeros(1)
        self._bytes = self._values.data.cast("B")
        self._sleeps = bool(model.opt.enableflags & SLEEP)
        self._spacing = min(max(_SPACING_LARGE, _SPACING_SIZE // max(model.nv, 1)), _SPACING_SMALL)
        # More steps at once than their arrays fit into a processor's cache would not be faster.
        self._block_size = max(1, min(self._spacing, _BLOCK_BYTES // max(data.sensordata.nbytes, 1)))
        self._stepper: BlockStepper | None = None
        self._state_size = mujoco.mj_stateSize(model, _STATE)
        size = self._state_size + (self._sleep_state().size if self._sleeps else 0)
        self.history = History(self._values.size, size, budget, extra)
        self._left_behind: Rows = np.empty(size)
        self._now: Rows = np.empty(size)
        self._time = 0.0
        self.start()

    @property
    def recorded(self) -> tuple[str, ...]:
        """Sensors whose arrays are in the history; others, made by the viewer, are not."""
        return tuple(self._sources)

    def start(self) -> None:
        """Begin a history at the engine's present state: after loading and after a reset."""
        self.history.clear()
        self.current = 0
        self._mark_epoch()
        self._add_state()
        self.history.add(self._values[np.newaxis])
        self._remember()

    def step(
        self, count: int = 1, after_step: Callable[[], object] | None = None, taker: BlockTaker | None = None
    ) -> None:
        """Advance, forgetting what followed the present step; `after_step` is called after each.

        Not for steps that a taker takes in together, who has to be the only one that `after_step` tells of them.
        Raises UnstableError if MuJoCo had to reset a diverged state. The engine then shows the last step before.
        """
        history, data = self.history, self._data
        time = data.time
        if time < self._time:
            self.start()
        if self.current < history.last:
            self.resume()
        if self._epoch is not self.engine.sensors:
            self._mark_epoch()
        if history.state_age < STATE_SPACING and self._is_changed():
            self._add_state()
        while count > 0:
            age = history.state_age
            if age >= STATE_SPACING:
                self._add_state()
                age = 0
            batch = history.room(min(count, self._spacing - age, self._block_size))
            together = batch >= _MANY if after_step is None else taker is not None and taker.can_take_block(batch)
            if not (together and self._step_together(batch, taker)):
                # Soon the taker may be ready.
                batch = min(batch, _SPACING_LARGE)
                self._step_singly(batch, after_step)
            self.current += batch
            self._time = data.time
            # The only sign of an automatic reset is time that went backwards.
            if self._time < time + 0.5 * batch * self._options.timestep:
                self._return_to_stable(self.current - batch)
            time = self._time
            count -= batch
        if history.state_age < STATE_SPACING:
            self._remember()

    def go_to(self, step: int) -> bool:
        """Make the engine's data what it was after a step; whether the sensors say again what they said then.

        They do not if the model was changed since. Sensors that are now read in another way are read so.
        """
        state, origin = self.history.origin(step)
        self._restore(state)
        same_reading = self.history.meaning(step) is self.engine.sensors
        if step > origin:
            mujoco.mj_step(self._model, self._data, step - origin)
        else:
            mujoco.mj_forward(self._model, self._data)
            self._restore(state)
            if same_reading:
                # Solved anew, the forces would differ in their last digits.
                self._values[:] = self.history.row(step)
        self.current = step
        self._remember()
        return not same_reading or bool(self._values.tobytes() == self.history.row(step).tobytes())

    def resume(self) -> None:
        """Forget what followed the present step, and let go of what was pushed in it: the run goes on from here."""
        self.history.truncate(self.current)
        # Only a person's hand pushes so, and it has let go since.
        self._data.xfrc_applied[:] = 0.0

    def contacts(self, name: str, start: int, stop: int) -> ContactBatch | None:
        """What a sensor said after steps start to stop - 1, (n, slots); None if it is not in the arrays.

        The steps must be of one epoch.
        """
        source = self._sources.get(name)
        if source is None:
            return None
        layout = self._layout(source, self.history.meaning(start)[name])
        return layout.decode(self.history.rows(start, stop)[:, source.columns])

    def recent(self, name: str, count: int) -> ContactBatch | None:
        """What a sensor said after the last `count` steps up to the present one, (n, slots), for `peak` and `mean`.

        Fewer where it was read in another way before; None if it is not in the arrays or is read in another way now.
        """
        start, sensors = self.history.epoch(self.current)
        if sensors is not self.engine.sensors:
            return None
        return self.contacts(name, max(start, self.history.first, self.current - count + 1), self.current + 1)

    def grouped_contacts(self, start: int, stop: int) -> Iterator[tuple[list[int], ContactBatch]]:
        """What all recorded sensors said: positions in `recorded` of those with the same layout, and their contacts
        after steps start to stop - 1, (n, sensors, slots). The steps must be of one epoch.
        """
        rows, sensors = self.history.rows(start, stop), self.history.meaning(start)
        arrays = [(source.columns.start, self._layout(source, sensors[name])) for name, source in self._sources.items()]
        for group in group_by_layout(arrays):
            yield group.members, group.decode(rows)

    def _layout(self, source: _Source, sensor: ContactSensor) -> ContactLayout:
        return companion_layout(sensor.slots, sensor.reduce) if source.complete else sensor.layout

    def _mark_epoch(self) -> None:
        # The list is replaced whenever a sensor is read in another way.
        self._epoch = self.engine.sensors
        self.history.mark(self._epoch)

    def _step_singly(self, count: int, after_step: Callable[[], object] | None) -> None:
        """Take steps with a look at each."""
        model, data, step = self._model, self._data, mujoco.mj_step
        values, size = self._bytes, self._values.nbytes
        ring, places = self.history.places(count)
        place = places.start
        try:
            for place in places:
                step(model, data)
                ring[place : place + size] = values
                if after_step is not None:
                    after_step()
        except mujoco.FatalError as error:
            failed = failure(error, data.time)
            # What the step had taken of MuJoCo's memory is given back only so.
            mujoco.mj_resetData(model, data)
            taken = places.index(place)
            self.history.accept(taken)
            self.go_to(self.current + taken)
            raise failed from None
        self.history.accept(count)

    def _step_together(self, count: int, taker: BlockTaker | None) -> bool:
        """Take steps without a look in between; False if none was taken, because they have to be taken singly."""
        # What sleeps is woken by the state that a block begins with.
        if self._sleeps:
            return False
        if self._stepper is None:
            self._stepper = BlockStepper(self._model, self._data, self._block_size)
        if not self._stepper.ready:
            return False
        # With what somebody may have done since the last step, which the history does not know of.
        self._capture(self._now)
        block = self._stepper.take(count)
        if block is None or (taker is not None and not taker.take_block(block)):
            self._restore(self._now)
            return False
        self.history.add(block.rows[:, self._columns] if self._sources else np.zeros((count, 1)))
        return True

    def _add_state(self) -> None:
        self._capture(self.history.add_state(self._data.time, self._options.timestep))

    def _remember(self) -> None:
        """Note the state that the last step made."""
        self._capture(self._left_behind)
        self._time = self._data.time

    def _is_changed(self) -> bool:
        """Whether somebody changed state or inputs since the last step."""
        self._capture(self._now)
        return self._now.tobytes() != self._left_behind.tobytes()

    def _capture(self, state: Rows) -> None:
        if self._sleeps:
            state[self._state_size :] = self._sleep_state()
            state = state[: self._state_size]
        mujoco.mj_getState(self._model, self._data, state, _STATE)

    def _restore(self, state: Rows) -> None:
        physics = state[: self._state_size]
        if self._sleeps:
            # What is asleep is not computed again: compute all of it awake, then put to sleep what slept.
            mujoco.mj_resetData(self._model, self._data)
            mujoco.mj_setState(self._model, self._data, physics, _STATE)
            mujoco.mj_forward(self._model, self._data)
            self._set_sleep_state(state[self._state_size :])
        mujoco.mj_setState(self._model, self._data, physics, _STATE)

    def _return_to_stable(self, step: int) -> None:
        """Go to the last step, from this one on, before the state diverged, and tell of it."""
        data = self._data
        # What was changed at this step, and may be the cause, is in the state from which the next one was taken.
        state, step = self.history.origin(step + 1)
        self._restore(state)
        time = data.time
        while step < self.history.last:
            time = data.time
            mujoco.mj_step(self._model, data)
            if data.time < time:
                break
            step += 1
        error = divergence(self._model, data, time, "this is the last step before")
        self.go_to(step)
        self.history.truncate(step)
        raise error

    def _sleep_state(self) -> Rows:
        data = self._data
        counts = [getattr(data, name) for name in SLEEP_COUNTS]
        return np.concatenate([data.sensordata, *(getattr(data, name) for name in SLEEP_ARRAYS), counts])

    def _set_sleep_state(self, values: Rows) -> None:
        data = self._data
        start = data.sensordata.size
        data.sensordata[:] = values[:start]
        for name in SLEEP_ARRAYS:
            array = getattr(data, name)
            array[:] = values[start : start + array.size]
            start += array.size
        for name, value in zip(SLEEP_COUNTS, values[start:], strict=True):
            setattr(data, name, int(value))


def _find_sources(engine: MujocoEngine) -> tuple[dict[str, _Source], slice]:
    """Where each sensor's fullest array is, and the part of `sensordata` that holds them all."""
    model = engine.model
    companions = {
        int(name.removeprefix(COMPANION)): i
        for i, name in enumerate(read_names(model, "sensor"))
        if name.startswith(COMPANION)
    }
    found = {}
    for declared in declared_sensors(model, hidden=companions.values()):
        sensor_id = companions.get(declared.sensor_id, declared.sensor_id)
        start = int(model.sensor_adr[sensor_id])
        found[declared.name] = slice(start, start + int(model.sensor_dim[sensor_id])), sensor_id in companions.values()
    first = min((columns.start for columns, _ in found.values()), default=0)
    last = max((columns.stop for columns, _ in found.values()), default=0)
    sources = {
        name: _Source(slice(columns.start - first, columns.stop - first), complete)
        for name, (columns, complete) in found.items()
    }
    return sources, slice(first, last)
