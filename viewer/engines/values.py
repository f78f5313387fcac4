"""Values that every engine offers, computed from decoded contacts."""

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.distances import PairDistances
from ..mjmodel.state_log import StateLog
from ..mjmodel.types import MjData
from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import Style
from .abilities import Substeps
from .contact_sensor import ContactDetails
from .contract import Engine
from .logged_steps import LoggedSteps


class SensorValues:
    """Values of sensors in the documented style, from their contacts, and defaults for optional abilities; base of
    every engine."""

    def adopt_state(self, other: Engine) -> bool:
        return False

    def covered_geoms(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        return None

    def resimulate(self: Engine, log: StateLog) -> LoggedSteps:
        raise SceneError(f"{log.path}: a log is shown by MuJoCo, not by {self.name}")

    def substeps(self, distances: PairDistances) -> Substeps | None:
        return None

    def warning(self) -> str | None:
        return None

    def copy(self: Engine) -> Engine:
        raise SceneError(f"{self.name} cannot run the same scene twice")

    def set_reduce(self: Engine, name: str, mode: str) -> None:
        self.set_reduce_modes({name: mode})

    def get_sensor_value(self: Engine, name: str, data: MjData | None = None) -> NDArray[np.float32]:
        if data is not None and data is not self.data:
            raise SceneError("an engine reads the sensors of its own state: give engine.data, or nothing")
        # Without velocities, for which that style has no place.
        return self.sensors[name].layout.restyled(Style.DOCUMENTED).encode(self.contacts(name)).astype(np.float32)

    def get_contact_force_magnitude(self: Engine, name: str) -> Array:
        magnitude = self.contacts(name).force_magnitude(self.sensors[name].reduce)
        # Engines read every sensor with all fields, so that its magnitude is always known.
        assert magnitude is not None
        return np.atleast_1d(magnitude)


def stack_contacts(engine: Engine) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
    """Yield `Engine.grouped_contacts` for an engine that reads its sensors one by one."""
    groups: dict[tuple[int, bool, tuple[bool, ...]], list[str]] = {}
    batches = {name: engine.contacts(name) for name in engine.sensors.names}
    for name, batch in batches.items():
        # Rows of the past hold the fields that a sensor declares.
        known = tuple(getattr(batch, each.name) is not None for each in fields(batch))
        groups.setdefault((batch.filled.shape[-1], batch.in_world_frame, known), []).append(name)
    for names in groups.values():
        yield tuple(names), ContactBatch.stack([batches[name] for name in names])


def emptied(batch: ContactBatch) -> ContactBatch:
    """Return a batch with the same number of slots, all empty."""
    return batch.mapped(lambda _, array: np.zeros_like(array))


def unknown_details(batch: ContactBatch) -> ContactDetails:
    """Return details of contacts of which nothing but the array is known."""
    slots = batch.filled.shape[-1]
    return ContactDetails((("", ""),) * slots, np.full((slots, 5), np.nan))
