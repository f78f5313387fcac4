"""What the viewer asks of a physics engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout, Field
from ..sensors.touch import TouchSensor
from ..settings import Reduce
from .errors import SceneError

if TYPE_CHECKING:
    from .touch import TouchSensors


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

    def reread(self, layout: ContactLayout) -> "ContactSensor":
        """The same sensor with an array of another layout."""
        return ContactSensor(self.name, self.label, layout, self.declared, self.reconstructed, self.virtual)


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
    """Friction coefficients of each slot, (slots, 5): sliding along both tangents, torsion, rolling about both; 0 where
    the contact has no such friction, NaN where unknown."""


class Engine(Protocol):
    """Steps a scene, in one environment or many, and reads its contact sensors.

    All environments are of one model and independent of each other. What is read of them has a leading dimension
    (num_envs,) if there is more than one: `array` and `get_sensor_value` (num_envs, size), the fields of `contacts`
    (num_envs, slots, ...). `environment` shows one of them alone, without that dimension.
    """

    name: str
    """The engine and its version, for people."""
    path: Path | None
    """The scene file."""
    files: Mapping[Path, Any]
    """Every file that the scene was read from, with its stamp at that time."""
    notes: tuple[str, ...]
    """What a person should know of the scene."""
    model: Any
    """The mjModel that draws the scene, whichever engine steps it."""
    num_envs: int
    can_watch_all: bool
    """Whether `watch_all` is possible."""

    @property
    def data(self) -> Any:
        """The mjData that draws the first environment as it is now: `pose(0)`."""
        ...

    @property
    def sensors(self) -> SensorList:
        """Contact sensors that this engine reads."""
        ...

    @property
    def unread(self) -> Mapping[str, str]:
        """Contact sensors of the scene that this engine does not read, by name, and why."""
        ...

    @property
    def ignored(self) -> tuple[str, ...]:
        """Physics settings of the scene that this engine does not know, such as `option@cone`."""
        ...

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

    def step(self, count: int = 1) -> None:
        """Advance every environment by a number of steps."""
        ...

    def reset(self, key: str | int | None = None) -> None:
        """Every environment back to the initial state, or to a keyframe."""
        ...

    def pose(self, env: int = 0) -> Any:
        """An mjData of `model` that draws an environment as it is now."""
        ...

    def environment(self, env: int) -> "Engine":
        """One environment as an engine of its own, whose `step` and `reset` still move all of them."""
        ...

    def array(self, name: str) -> Array:
        """The declared sensor's array, exactly as the engine has it."""
        ...

    def contacts(self, name: str) -> ContactBatch:
        """The contacts that the array reports, with all fields whatever it requests."""
        ...

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        """The contacts of all sensors, with those of one layout in one batch: their names, and (..., sensors, slots).

        As `contacts` tells them, in a fraction of the time.
        """
        ...

    def get_sensor_value(self, name: str) -> NDArray[np.float32]:
        """The array in the documented style, the same on every engine.

        The leading number is how many contacts follow, never more than `num`; netforce is in the world frame.
        """
        ...

    def get_contact_force_magnitude(self, name: str) -> Array:
        """How hard each environment's sensor is pressed [N], (num_envs,): see `ContactBatch.force_magnitude`."""
        ...

    @property
    def touch_sensors(self) -> "TouchSensors | None":
        """The scene's touch sensors, of the first environment."""
        ...

    def touch(self, name: str) -> TouchSensor:
        """A touch sensor's device, up to date."""
        ...

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        """Matching contacts of an environment that the array leaves out for lack of slots, with all fields."""
        ...

    def details(self, name: str, env: int = 0) -> ContactDetails: ...
    def set_reduce(self, name: str, mode: str) -> None:
        """Switch the reduce mode; array and contacts follow at once."""
        ...

    def watch_all(self) -> ContactSensor:
        """Add a virtual sensor that matches every contact."""
        ...
