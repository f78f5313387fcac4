"""Reads the two runs of a comparison: their scenes, and the values of each step."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ControlError, EngineError, LogEnd, UnstableError
from ..mjmodel.matching import contact_forces
from ..sensors.contacts import ContactBatch
from ..session.simulation import Simulation
from ..settings import Reduce
from .worker import read_contacts, read_scene, read_values

Values = NDArray[Any]
FOUND, PRESSED, NET, TOTAL, WIDTH = 0, 1, slice(2, 5), slice(5, 8), 8
"""Columns of a sensor's readings: matching contacts, force on the sensor [N], net force of the reported contacts and of
all that match [N], world."""


@dataclass(frozen=True)
class SideSensor:
    """A contact sensor of one of the runs."""

    name: str
    label: str
    reduce: Reduce


@dataclass
class StepFacts:
    """Values of one step for the comparison."""

    time: float
    """Simulated time after the step [s]."""
    values: dict[str, Values]
    """State after the step and inputs of the step, by their names in mjData, (n,) each."""
    sensors: Values
    """Sensor readings, (sensors, WIDTH)."""
    contacts: dict[str, Values] | None = None
    """Contact list from which the forces were solved; None if it is not known or not requested."""
    summed: bool = False
    """True if `sensors` are sums over the contact list, which round differently from the engine's values."""


class Side(Protocol):
    """Run of a comparison, to be read step by step."""

    label: str
    """Name of the run for users."""
    engine: str
    """Name and version of the engine."""
    timestep: float
    """Simulated time of one step [s]."""
    scene: dict[str, dict[str, Any]]
    """Attributes of the scene, as `worker.read_scene` returns them."""
    sensors: list[SideSensor]
    unread: dict[str, str]
    """Reasons why the engine does not read some of the scene's sensors, by the sensor's name."""
    has_contacts: bool
    """True if the contact list of each step is known."""
    ignored: tuple[str, ...]
    """Settings of the scene that the engine does not know."""
    ending: str
    """Reason why there are no more steps; empty while there are some."""

    @property
    def time(self) -> float:
        """Simulated time after the last step [s]."""
        ...

    def advance(self) -> bool:
        """Take or read the next step; False if there is none."""
        ...

    def read(self, with_contacts: bool) -> StepFacts:
        """Return the values of the present step of the run."""
        ...

    def close(self) -> None:
        """Free the resources of the run."""
        ...


@dataclass
class SimulationSide:
    """Side whose run is stepped or re-simulated in this process; it reads the environment that the simulation shows."""

    simulation: Simulation
    label: str
    only: tuple[str, ...] = ()
    """Names of the sensors to read; all if empty."""
    ending: str = ""
    _totals: dict[str, Values] = field(default_factory=dict)
    """Last known net force of all contacts of each sensor [N], world, by the sensor's name."""

    def __post_init__(self) -> None:
        shown = self.simulation.shown
        self.engine = self.simulation.engine.name
        self.timestep = shown.timestep
        self.scene = read_scene(shown.model)
        kept = [
            sensor for sensor in shown.sensors if not sensor.virtual and sensor.name in (self.only or {sensor.name})
        ]
        self.sensors = [SideSensor(sensor.name, sensor.label, sensor.reduce) for sensor in kept]
        self.unread, self.ignored = dict(shown.unread), tuple(self.simulation.engine.ignored)
        self.has_contacts = shown.has_contact_list
        self._places = {sensor.name: place for place, sensor in enumerate(self.sensors)}

    @property
    def time(self) -> float:
        return self.simulation.shown.time

    def advance(self) -> bool:
        try:
            self.simulation.step(1)
        except ControlError:
            raise
        except LogEnd:
            self.ending = f"ends at {self.time:.6g} s"
        except (UnstableError, EngineError) as error:
            self.ending = f"fails at {self.time:.6g} s: {error}"
        return not self.ending

    def read(self, with_contacts: bool) -> StepFacts:
        shown, contacts = self.simulation.shown, None
        if with_contacts and self.has_contacts:
            data = shown.contact_data()
            contacts = read_contacts(data, contact_forces(shown.model, data, np.arange(data.ncon)))
        readings = np.full((len(self.sensors), WIDTH), np.nan)
        for names, batch in shown.grouped_contacts():
            known = [i for i, name in enumerate(names) if name in self._places]
            if known:
                places = [self._places[names[i]] for i in known]
                chosen = batch if len(known) == len(names) else batch.of_sensors(np.array(known))
                readings[places] = self._reading(places, chosen)
        return StepFacts(shown.time, read_values(shown.data), readings, contacts)

    def close(self) -> None:
        """Do nothing: the simulation belongs to the caller."""

    def _reading(self, places: list[int], batch: ContactBatch) -> Values:
        reduce = self.sensors[places[0]].reduce
        reading = decoded(batch, reduce)
        filled = batch.filled.sum(axis=-1)
        for row in np.flatnonzero(batch.found > filled) if reduce is not Reduce.NETFORCE else ():
            name = self.sensors[places[row]].name
            dropped = self.simulation.shown.dropped(name)
            assert dropped.net_force is not None
            reading[row, TOTAL] += dropped.net_force
            if filled[row] + dropped.filled.sum() < batch.found[row]:
                # Bodies sleep: the array is that of before, and the list is without their contacts.
                reading[row, TOTAL] = self._totals.get(name, np.full(3, np.nan))
        for place, values in zip(places, reading, strict=True):
            self._totals[self.sensors[place].name] = values[TOTAL]
        return reading


def decoded(batch: ContactBatch, reduce: Reduce) -> Values:
    """Return the readings of some sensors from their slots, (sensors, WIDTH); contacts without a slot are left out."""
    reading = np.full((*batch.found.shape, WIDTH), np.nan)
    reading[..., FOUND] = batch.found
    if (pressed := batch.force_magnitude(reduce)) is not None:
        reading[..., PRESSED] = pressed
    if (net := batch.net_force) is not None:
        reading[..., NET] = reading[..., TOTAL] = net
    return reading


class _Values(dict[str, Values]):
    """State and inputs of a step, which are read at the first access."""

    def __init__(self, read: Callable[[], dict[str, Values]]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, name: str) -> Values:
        self.update(self._read())
        return self[name]


@dataclass
class HistorySide(SimulationSide):
    """Side with the steps in the history of a run; call `advance` and `read` inside `visiting`."""

    lag: float = 0.0
    """Simulated time of this run at which the other run is at 0 [s]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        history = self.simulation.history
        assert history is not None
        self._history, self._step = history, history.first
        self._time = history.time(self._step)

    @property
    def time(self) -> float:
        return self._time - self.lag

    @property
    def is_stale(self) -> bool:
        """True if the history no longer has the step that was read last, because it was reset or continues
        differently."""
        history = self._history
        return self._step > history.last or (self._step >= history.first and history.time(self._step) != self._time)

    def advance(self) -> bool:
        history = self._history
        if self._step >= history.last:
            self.ending = self.simulation.ending or f"ends at {self.time:.6g} s"
            return False
        self._step = max(self._step + 1, history.first)
        self._time = history.time(self._step)
        return True

    def read(self, with_contacts: bool) -> StepFacts:
        # Where a controller has changed the model since, contacts are no longer those of then.
        looks = self._history.can_resume and (with_contacts or self._step < self._history.unread)
        if looks and self._history.go_to(self._step):
            facts = super().read(with_contacts)
            facts.time = self.time
            return facts
        readings = np.full((len(self.sensors), WIDTH), np.nan)
        for places, batch in self._history.grouped_contacts(self._step, self._step + 1):
            names = [self._history.names[place] for place in places.tolist()]
            known = [i for i, name in enumerate(names) if name in self._places]
            one = batch.mapped(lambda _, array: array[0]).of_sensors(np.array(known, np.intp))
            if (one.found > one.filled.sum(axis=-1)).any():
                # What has no slot is not in the row.
                self._history.go_to(self._step)
            rows = [self._places[names[i]] for i in known]
            readings[rows] = self._reading(rows, one)
        return StepFacts(self.time, _Values(self._read_values), readings)

    def _read_values(self) -> dict[str, Values]:
        self._history.go_to(self._step)
        values = read_values(self.simulation.shown.data)
        # The picture of a step has positions alone.
        return values if self._history.can_resume else {n: v if n == "qpos" else v[:0] for n, v in values.items()}
