"""Optional abilities of an engine beyond stepping and reading: past steps, explanations, instants inside steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.crossings import Crossing
from ..mjmodel.force_kinds import ForceTable
from ..mjmodel.mixing import Mixing
from ..mjmodel.support import Support
from ..mjmodel.types import MjData, MjModel
from ..sensors.contacts import ContactBatch
from ..sensors.friction import FrictionCones
from ..sensors.layout import ContactLayout
from ..settings import Reduce
from .contact_sensor import ContactSensor, Row, SensorList

_BLOCK_BYTES = 2**24
"""Most memory of a block of states [bytes]."""


class Diagnostics(Protocol):
    """Explanations of the values in the arrays of an engine's sensors."""

    def why_zero(self, name: str, batch: ContactBatch) -> str | None:
        """Return a sentence on why a sensor reads nothing; None if it reads a force."""
        ...

    def asleep(self, name: str) -> str | None:
        """Return a sentence on a sensor whose values are old or incomplete because bodies sleep; None otherwise."""
        ...

    def balanced_body(self, name: str) -> int | None:
        """Return the root of the moving tree that a sensor's body belongs to; None if it does not move."""
        ...

    def in_each_mode(self, name: str) -> dict[Reduce, ContactBatch]:
        """Return the contacts that a sensor would report now in every reduce mode."""
        ...

    def forces(self, body: int, alone: bool = False) -> ForceTable | None:
        """Return the forces on a body with its subtree, or `alone`, by kind; None if they are not known."""
        ...

    def support(self, body: int) -> Support | None:
        """Return the support of the robot that a body belongs to; None in the air."""
        ...

    def mixing(self, first: str, second: str) -> Mixing | None:
        """Return the origin of the parameters of a contact of two geoms; None where no geom has one of these names."""
        ...

    def body_name(self, body: int) -> str: ...
    def cones(self, batch: ContactBatch) -> FrictionCones | None:
        """Return friction use and state of the filled slots; None for net contacts."""
        ...


@dataclass(frozen=True)
class KeptStep:
    """Past step, as a history keeps it."""

    time: float
    """Simulated time after the step [s]."""
    row: Row
    """Row of the sensors' values after the step, (width,)."""
    sensors: SensorList
    """Sensors at that step, by which the row is decoded."""
    state: Row
    """State from which the step is reached, (state_size,)."""
    count: int
    """Number of steps from that state; 0 for the first step of a history."""
    newest: bool
    """True if this is the newest step."""
    inputs: NDArray[np.float64] | None = None
    """Inputs of a controller before each of these steps, (count, input_size); None without one."""
    forces_known: bool = True
    """False if the state is known, but the forces that led to it are not."""


@dataclass(frozen=True)
class KeptSpan:
    """Some steps that a history keeps, all from one state."""

    state: Row
    """State from which the first of these steps starts, (state_size,)."""
    count: int
    """Number of steps in the span; 0 for the state that was shown first."""
    inputs: NDArray[np.float64] | None = None
    """Inputs of a controller before each of these steps, (count, input_size); None without one."""
    from_itself: bool = False
    """True if `state` is the state after the step, because the state before it is not known."""


@dataclass(frozen=True)
class Retraced:
    """Run that is re-simulated on a copy of the engine's model, so that another thread may do it."""

    model: MjModel
    companions: Mapping[int, int]
    """Id of a declared contact sensor -> id of its companion."""
    hidden: Sequence[int]
    """Ids of further sensors that are not shown to the user."""
    columns: NDArray[np.intp]
    """Indices of the values of a state that may change, (columns,)."""
    rest: Row
    """State, (size,), with the constant values of the run: those that have no index in `columns`."""
    states: Iterator[Row]
    """States from which the steps start, then the state after the last step, (size,) each. Two states have the same
    time where the user moved something, or set the first inputs. An array is valid until the next one is read."""
    versions: Mapping[int, bytes] = field(default_factory=dict)
    """Values of the model by version, if it was changed during the run; the last value of a state is then its
    version."""
    version: int = 0
    """Version whose values the model has now."""

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Yield the values of the columns in all states, (n, columns) each."""
        block = np.empty((max(1, _BLOCK_BYTES // (8 * max(len(self.columns), 1))), len(self.columns)))
        count = 0
        for state in self.states:
            block[count] = state[self.columns]
            count += 1
            if count == len(block):
                yield block
                count = 0
        if count:
            yield block[:count]


class Past(Protocol):
    """Storage of the steps of one environment for a history, and access to past steps.

    A row holds the values of all sensors after a step. A state is everything from which the engine takes the
    following steps; an engine that cannot return to a state shows the row and the picture of a step, and does not
    move.
    """

    width: int
    """Number of values in a row."""
    state_size: int
    """Number of values in a state; 0 if the engine cannot return to a state."""
    spacing: int
    """Most steps between two kept states: up to this many are repeated to return to a step."""
    names: tuple[str, ...]
    """Sensors whose contacts are in the rows."""
    inputs: NDArray[np.float64]
    """View of `ctrl`, which a step reads and does not change, (input_size,); empty if the engine cannot return to a
    state."""
    other_inputs: Sequence[memoryview]
    """Views of the other inputs that a controller may change before a step, such as forces and positions."""

    def read(self) -> memoryview:
        """Return the row of the last step as bytes, from a copy or a view that the next step changes."""
        ...

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        """Return the columns of a sensor's values in the rows, and their layout, as the sensor is read now."""
        ...

    def show(self, kept: KeptStep) -> None:
        """Make the engine's data, time, arrays and contacts those of a step."""
        ...

    def save(self, state: Row) -> None:
        """Write the present state into an array, (state_size,)."""
        ...

    def restore(self, state: Row) -> None:
        """Return to a state; its contacts and forces come with the next step."""
        ...

    def release(self) -> None:
        """Remove the forces with which the user pushed in the shown step."""
        ...

    def equals(self, other: "Past") -> bool:
        """Return True if the engines of two pasts are in the same state."""
        ...

    def retrace(self, spans: Sequence[KeptSpan]) -> Retraced | None:
        """Re-simulate kept steps on a copy of the model; None if the engine cannot return to a state."""
        ...


class StepKind(Enum):
    """Certainty about a step that another program took."""

    START = "start"
    """Start of a history, or a state that the program returned to: no step leads to it."""
    EXACT = "exact"
    """Re-simulated from its start, the step leads to the state that was seen after it."""
    UNPROVEN = "unproven"
    """The step was re-simulated, but velocities or inputs seen after it differ: something has changed them."""
    SOLVED = "solved"
    """The step could not be re-simulated. Its state is the one that arrived, in which MuJoCo solves the contacts."""
    CLOSE = "close"
    """Re-simulated from its start, the step leads near to the state that was seen after it: its forces are nearly
    known."""
    UNKNOWN = "unknown"
    """The step could not be re-simulated. Its state is the one that arrived; its forces are unknown, and not drawn."""
    MOVED = "moved"
    """No step: something was moved while the time did not advance."""


FROM_ITSELF = (StepKind.SOLVED, StepKind.UNKNOWN)
"""Kinds of steps that are shown by their own state, to which no known step leads."""


@dataclass(frozen=True)
class ArrivedStep:
    """Physics step that was done elsewhere, such as in a user's loop; the engine's data are those after it."""

    state: Row | None = None
    """State from which the step started, as `Past.save` writes it, (state_size,); None if the step before ended in it.
    For START, SOLVED, UNKNOWN and MOVED the state that arrived."""
    kind: StepKind = StepKind.EXACT
    difference: float = 0.0
    """Estimated error of each contact force of a CLOSE step, relative to the largest contact force of the step."""
    trouble: str = ""
    """For a START, the reason why the steps before it became unstable; empty if it was a reset."""


class Verdict(StrEnum):
    """Treatment of a contact sensor by another engine."""

    TAKE = "take"
    IGNORE = "ignore"
    """The engine runs the scene without this sensor, or without a valid array of it."""
    REFUSE = "refuse"
    """The engine does not load a scene with this sensor."""


@dataclass(frozen=True)
class Portability:
    """The verdict of an engine on one sensor that a scene declares."""

    verdict: Verdict
    reason: str = ""
    """Reason why the sensor is not read: the engine's own message, if the engine was asked."""
    notes: tuple[str, ...] = ()
    """Differences from MuJoCo in reading a sensor that the engine accepts."""
    verified: bool = False
    """True if the engine was asked, False if the verdict is a prediction."""


class Substeps(Protocol):
    """Search for instants inside steps, which are repeated in parts on separate data."""

    def reset(self) -> None:
        """Forget the saved states: no step leads from them to the next one."""
        ...

    def save(self, data: MjData) -> None:
        """Keep a state: the end of a step, or the start of the first step."""
        ...

    def locate(self, pair_id: int, start: float, end: float, level: float) -> Crossing | None:
        """Return the instant between two times [s] at which the distance of a pair passes a level [m]; None if no
        step led from one to the other."""
        ...
