"""What the viewer asks of a physics engine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout, Field
from ..settings import Reduce
from .errors import SceneError


@dataclass(frozen=True)
class ContactSensor:
    """One contact sensor as it is read now."""

    name: str
    label: str
    """What it matches, such as `geom bar x geom freebox`."""
    layout: ContactLayout
    """Layout of its array, with the reduce mode in force."""
    declared: ContactLayout
    """Layout that the scene declares."""
    reconstructed: bool = False
    """Its complete contacts are computed from the engine's contact list, not read from a companion sensor."""
    virtual: bool = False
    """Made by the viewer; not in the scene."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.layout.fields

    @property
    def slots(self) -> int:
        return self.layout.slots

    @property
    def reduce(self) -> Reduce:
        return self.layout.reduce

    @property
    def frame(self) -> str:
        return self.layout.frame

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def columns(self) -> tuple[str, ...]:
        return self.layout.columns

    @property
    def modified(self) -> bool:
        """Read otherwise than the scene declares."""
        return self.layout != self.declared


class SensorList(Sequence[ContactSensor]):
    """Contact sensors in the scene's order, by position or by name."""

    def __init__(self, sensors: Sequence[ContactSensor]) -> None:
        self._sensors = tuple(sensors)
        self._positions = {sensor.name: i for i, sensor in enumerate(self._sensors)}

    @overload
    def __getitem__(self, key: int | str) -> ContactSensor: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[ContactSensor]: ...
    def __getitem__(self, key: int | str | slice) -> ContactSensor | Sequence[ContactSensor]:
        return self._sensors[self.position(key) if isinstance(key, str) else key]

    def __len__(self) -> int:
        return len(self._sensors)

    def __iter__(self) -> Iterator[ContactSensor]:
        return iter(self._sensors)

    def __contains__(self, key: object) -> bool:
        return key in self._positions if isinstance(key, str) else key in self._sensors

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._positions)

    def position(self, name: str) -> int:
        """Index of the sensor of that name."""
        if name not in self._positions:
            known = ", ".join(self._positions) or "none"
            raise SceneError(f"no contact sensor named {name!r}; the scene has: {known}")
        return self._positions[name]


@dataclass(frozen=True)
class ContactDetails:
    """What no array tells about the reported contacts of one sensor."""

    geoms: tuple[tuple[str, str], ...]
    """Names of the two geoms of each slot, in the sensor's order; empty strings where unknown."""
    friction: NDArray[np.float64]
    """Sliding friction coefficient of each slot, (slots,); NaN where unknown."""


class Engine(Protocol):
    """Steps a scene and reads its contact sensors."""

    name: str
    """The engine and its version, for people."""
    model: Any
    data: Any

    @property
    def sensors(self) -> SensorList: ...
    @property
    def time(self) -> float:
        """Simulated time [s]."""
        ...

    @property
    def timestep(self) -> float:
        """Simulated time of one step [s]."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the scene's keyframes."""
        ...

    def step(self, count: int = 1) -> None: ...
    def reset(self, key: str | int | None = None) -> None:
        """Back to the initial state, or to a keyframe."""
        ...

    def array(self, name: str) -> Array:
        """The declared sensor's array, exactly as the engine has it."""
        ...

    def contacts(self, name: str) -> ContactBatch:
        """The contacts that the array reports, with all fields whatever it requests."""
        ...

    def dropped(self, name: str) -> ContactBatch:
        """Matching contacts that the array leaves out for lack of slots, with all fields."""
        ...

    def details(self, name: str) -> ContactDetails: ...
    def set_reduce(self, name: str, mode: str) -> None:
        """Switch the reduce mode; array and contacts follow at once."""
        ...

    def watch_all(self) -> ContactSensor:
        """Add a virtual sensor that matches every contact."""
        ...
