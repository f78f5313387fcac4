"""Turns the physics steps of a user's loop into contact events, in the loop's own process."""

from collections import deque
from typing import Any

import mujoco
import numpy as np

from ..engines.mujoco.arrivals import STATE, Arrivals, ArrivedRow, RowKind
from ..engines.mujoco.engine import MujocoEngine
from ..events.event_log import event_record
from ..events.timing import SensorEvent
from ..events.tracker import ContactTracker
from ..mjmodel.types import MjData, MjModel
from ..scene_files.scene import LoadedScene
from ..session.simulation import Simulation
from .tap import TAP


class StepEvents:
    """When contacts begin and end in the steps of some data, also in those inside one call.

    Each step is taken again beside the loop's own, from the state in which it began: to the last bit the same, for
    about the price of a second simulation. The model is shared, so that changes of it are seen.
    """

    def __init__(self, model: MjModel, data: MjData) -> None:
        self._model, self._data = model, data
        self._waiting: deque[ArrivedRow] = deque()
        self._size = mujoco.mj_stateSize(model, STATE)
        engine = MujocoEngine(LoadedScene(None, model, owned=False))
        self._simulation = Simulation(engine)
        self._arrivals = Arrivals(engine, self)
        self._tracker = ContactTracker(engine, limit=None)
        self._simulation.observers.append(self._tracker)
        self._names = engine.sensors.names
        TAP.add(data, self._record)

    def next_row(self) -> ArrivedRow | None:
        return self._waiting.popleft() if self._waiting else None

    def is_model_known(self, row: ArrivedRow) -> bool:
        # The model is the loop's own.
        return True

    def restart(self) -> None:
        """The loop has set another state: what led there is no contact event."""
        self._waiting.clear()
        self._arrivals.restart()
        self._write(RowKind.AFTER)
        self._observe()
        self._tracker.log.clear()

    def take(self) -> list[dict[str, Any]]:
        """The events since the last call, in order of time, fit for JSON; what is not known is None.

        Of a pair of geoms: see `event_record`. Of a contact sensor of the model, by its force: `time` [s], `sensor`,
        `kind`, `force` [N], `duration` [s].
        """
        self._write(RowKind.AFTER)
        self._observe()
        TAP.renew(self._data)
        log = self._tracker.log
        records = [
            self._sensor_record(entry.event) if isinstance(entry.event, SensorEvent) else event_record(entry)
            for entry in log
        ]
        log.clear()
        return records

    def close(self) -> None:
        """See no more steps. Safe twice."""
        TAP.remove(self._record)

    def _record(self, time: float) -> None:
        self._write(RowKind.BEFORE)

    def _write(self, kind: RowKind) -> None:
        state = np.empty(self._size)
        mujoco.mj_getState(self._model, self._data, state, STATE)
        self._waiting.append(ArrivedRow(state, kind))

    def _observe(self) -> None:
        while (step := self._arrivals.take()) is not None:
            self._simulation.observe(step)

    def _sensor_record(self, event: SensorEvent) -> dict[str, Any]:
        return {
            "time": event.time,
            "sensor": self._names[event.sensor],
            "kind": str(event.kind),
            "force": event.force,
            "duration": event.duration,
        }
