"""One environment of an engine that runs many, as an engine of its own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.touch import TouchSensor
from .contract import ContactDetails, ContactSensor, Engine, SensorList
from .errors import SceneError

if TYPE_CHECKING:
    from .touch import TouchSensors


class Environment:
    """Reads one environment of several. Whatever moves or changes the scene does so in all of them."""

    num_envs = 1

    def __init__(self, engine: Engine, env: int) -> None:
        if not 0 <= env < engine.num_envs:
            raise SceneError(f"no environment {env}; there are {engine.num_envs}, from 0 to {engine.num_envs - 1}")
        self.engine = engine
        """The engine that runs all of them."""
        self.index = env
        """Which one this is."""
        self.name: str = engine.name
        self.path: Path | None = engine.path
        self.model: Any = engine.model
        self.files = engine.files
        self.notes = engine.notes
        self.can_watch_all: bool = engine.can_watch_all

    @property
    def data(self) -> Any:
        return self.engine.pose(self.index)

    @property
    def sensors(self) -> SensorList:
        return self.engine.sensors

    @property
    def unread(self) -> Mapping[str, str]:
        return self.engine.unread

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.engine.ignored

    @property
    def time(self) -> float:
        return self.engine.time

    @property
    def timestep(self) -> float:
        return self.engine.timestep

    @property
    def keys(self) -> tuple[str, ...]:
        return self.engine.keys

    def step(self, count: int = 1) -> None:
        self.engine.step(count)

    def reset(self, key: str | int | None = None) -> None:
        self.engine.reset(key)

    def pose(self, env: int = 0) -> Any:
        return self.environment(env).data

    def environment(self, env: int) -> Engine:
        if env != 0:
            raise SceneError(f"no environment {env}: this is one environment alone")
        return self

    def array(self, name: str) -> Array:
        return self.engine.array(name)[self.index]

    def contacts(self, name: str) -> ContactBatch:
        return self.engine.contacts(name).at(self.index)

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        for names, batch in self.engine.grouped_contacts():
            yield names, batch.at(self.index)

    def get_sensor_value(self, name: str) -> NDArray[np.float32]:
        return self.engine.get_sensor_value(name)[self.index]

    def get_contact_force_magnitude(self, name: str) -> Array:
        return self.engine.get_contact_force_magnitude(name)[self.index : self.index + 1]

    @property
    def touch_sensors(self) -> "TouchSensors | None":
        return self.engine.touch_sensors if self.index == 0 else None

    def touch(self, name: str) -> TouchSensor:
        return self.engine.touch(name)

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        self.environment(env)
        return self.engine.dropped(name, self.index)

    def details(self, name: str, env: int = 0) -> ContactDetails:
        self.environment(env)
        return self.engine.details(name, self.index)

    def set_reduce(self, name: str, mode: str) -> None:
        self.engine.set_reduce(name, mode)

    def watch_all(self) -> ContactSensor:
        return self.engine.watch_all()
