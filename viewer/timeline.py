"""Every step of a session's simulation: to go back to, and as curves."""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from .engines.contract import Engine
from .engines.mujoco.engine import MujocoEngine
from .engines.mujoco.retracing import follow, retrace
from .engines.mujoco.run import BlockTaker, MujocoRun
from .engines.mujoco.run_curves import RunCurves, curve_bytes
from .sensors.contacts import ContactBatch
from .sensors.history import DEFAULT_BUDGET
from .sensors.peaks import mean, peak
from .settings import Moment

_TRIAL_STEPS = 40


class Timeline:
    """The history of one engine. Steps are numbered from the last reset."""

    def __init__(self, engine: MujocoEngine, budget: int = DEFAULT_BUDGET) -> None:
        self._run = MujocoRun(engine, budget, curve_bytes(engine))
        self.curves = RunCurves(self._run)
        """Signals of the sensors after every step; call its `update` once a frame while somebody looks."""
        self._frame_start = 0

    @classmethod
    def of(cls, engine: Engine, budget: int = DEFAULT_BUDGET) -> "Timeline | None":
        """A timeline where the engine can return to its steps."""
        return cls(engine, budget) if isinstance(engine, MujocoEngine) and engine.num_envs == 1 else None

    @property
    def current(self) -> int:
        """The step that is shown."""
        return self._run.current

    @property
    def first(self) -> int:
        """Oldest step that can be shown."""
        return self._run.history.first

    @property
    def last(self) -> int:
        """Newest step."""
        return self._run.history.last

    @property
    def at_end(self) -> bool:
        """The newest step is shown."""
        return self.current >= self.last

    @property
    def seconds(self) -> float:
        """Simulated time that is kept [s]."""
        return self._run.history.seconds

    @property
    def capacity(self) -> int:
        """Steps that fit into the memory it may use."""
        return self._run.history.capacity

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return self._run.history.bytes

    def time(self, step: int) -> float:
        """Simulated time of a step [s]."""
        return self._run.history.time(step)

    def times(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Simulated times of steps in ascending order [s]."""
        return self._run.history.times(steps)

    def step_at(self, time: float) -> int:
        """The step that is shown at a time."""
        return min(max(self._run.history.step_at(time), self.first), self.last)

    def start(self) -> None:
        """Begin anew from the engine's present state."""
        self._run.start()
        self._frame_start = 0

    def retrace(
        self, before: "Timeline", seconds: float, begin: Callable[[], object], after_step: Callable[[], object] | None
    ) -> bool:
        """Begin anew with the steps of another timeline; whether they led to the same states, as with the same physics.

        As many of the newest steps as there is time for, in wall time. Then the step is shown that the other one shows.
        `begin` is called at the first state, `after_step` after each step.
        """
        current, first, stop = before.current, before.first, before.last
        # A few steps first: they tell most models apart, and how long a step takes.
        start = max(first, stop - _TRIAL_STEPS)
        began = perf_counter()
        if not retrace(self._run, before._run, start, stop, begin, after_step):
            return False
        steps = round(seconds * (stop - start) / (perf_counter() - began))
        if stop - steps > current:
            stop = current
        start = max(first, stop - steps)
        if not retrace(self._run, before._run, start, stop, begin, after_step):
            return False
        self.go_to(current - start)
        follow(self._run, before._run)
        return True

    def begin_frame(self) -> None:
        """What is stepped from now on belongs to the next picture."""
        self._frame_start = self.current

    def resume(self) -> None:
        """Forget what followed the step that is shown: the simulation goes on from it."""
        if not self.at_end:
            self._run.resume()

    def step(self, count: int, after_step: Callable[[], object] | None = None, taker: BlockTaker | None = None) -> None:
        """Take steps from the one that is shown, forgetting those that followed it. See `MujocoRun.step`."""
        self._run.step(count, after_step, taker)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Show a step: the engine's state and contacts are those of that instant.

        `since`: the step of the picture before, for peak and mean; none without it.
        """
        self._run.go_to(min(max(step, self.first), self.last))
        self._frame_start = self.current if since is None else min(max(since, self.first - 1), self.current)

    def moment(self, name: str, moment: Moment) -> ContactBatch | None:
        """A sensor's peak or mean over the steps since the last picture; None where there is but one."""
        start, stop = self._frame_start + 1, self.current + 1
        if moment is Moment.INSTANT or stop - start < 2:
            return None
        # Steps that were read in another way do not mix with the newest.
        start = max(start, self._run.history.epochs[-1][0], self.first)
        batch = self._run.contacts(name, start, stop) if stop - start > 1 else None
        if batch is None:
            return None
        return peak(batch) if moment is Moment.PEAK else mean(batch)
