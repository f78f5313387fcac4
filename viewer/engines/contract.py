"""Contract between the viewer and a physics engine."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.distances import PairDistances
from ..mjmodel.state_log import StateLog
from ..mjmodel.types import MjData, MjModel
from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout
from ..touch.device import TouchSensor
from ..touch.touch_sensors import TouchSensors
from .abilities import Diagnostics, Past, Substeps
from .contact_sensor import ContactDetails, ContactSensor, Row, SensorList
from .controller import Controller
from .logged_steps import LoggedSteps


class Engine(Protocol):
    """Engine that steps a scene, in one environment or many, and reads its contact sensors.

    All environments are of one model and independent of each other. Arrays and contacts have a leading dimension
    (num_envs,) if there is more than one: `array` and `get_sensor_value` (num_envs, size), the fields of `contacts`
    (num_envs, slots, ...). `environment` shows one environment alone, without that dimension.

    Example:
        ```python
        engine = contact_viewer.open_engine("quadruped", num_envs=16)
        engine.step(100)
        for sensor in engine.sensors:
            print(sensor.name, engine.contacts(sensor.name).net_force.shape)
        ```
    """

    name: str
    """Name and version of the engine, for the user."""
    path: Path | None
    """Path of the scene file; None if the scene has none."""
    files: Mapping[Path, Any]
    """Every file that the scene was read from, with its stamp at that time."""
    notes: tuple[str, ...]
    """Notes for the user about the scene."""
    model: MjModel
    """The mjModel that draws the scene, whichever engine steps it."""
    num_envs: int
    controller: Controller | None
    """Controller that sets the inputs of every step before it is taken."""
    log: StateLog | None
    """Saved run or log whose steps are re-simulated here; the engine then takes no steps of its own."""
    can_resimulate: bool
    """True if `resimulate` is possible."""
    can_watch_all: bool
    """True if `watch_all` is possible."""
    can_edit_sensors: bool
    """True if contact sensors can be made and changed while the scene runs; else the scene has to be opened again."""
    has_contact_list: bool
    """True if `data` is the simulation itself, with its contacts and forces; False if it is only a picture of it."""

    @property
    def data(self) -> MjData:
        """The mjData that draws the first environment as it is now: `pose(0)`."""
        ...

    def contact_data(self, env: int = 0) -> MjData:
        """Return an mjData with the contacts and forces in the arrays of an environment, which are those of the state
        from which the last step started: `pose(env)`, or a separate mjData where a step leaves other contacts there."""
        ...

    @property
    def sensors(self) -> SensorList:
        """Contact sensors that this engine reads."""
        ...

    @property
    def unread(self) -> Mapping[str, str]:
        """Reasons why the engine does not read some contact sensors of the scene, by the sensors' names."""
        ...

    @property
    def ignored(self) -> tuple[str, ...]:
        """Physics settings of the scene that this engine does not know, such as `option@cone`."""
        ...

    @property
    def diagnostics(self) -> Diagnostics | None:
        """Data behind the arrays; None if the engine does not report them."""
        ...

    @property
    def past(self) -> Past:
        """The past steps of an engine with one environment."""
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

    def driver(self) -> Callable[[], object] | None:
        """Return a function that calls the controller for the next step of every environment; None without a
        controller."""
        ...

    def stepper(self, drive: Callable[[], object] | None) -> Callable[[], object]:
        """Return a function that takes one step, for loops with many steps in which nothing else changes. `drive` is
        called
        before each step to set its inputs, such as the function that `driver` returns.
        """
        ...

    def reset(self, key: str | int | None = None) -> None:
        """Reset every environment to the initial state, or to a keyframe."""
        ...

    def adopt_state(self, other: "Engine") -> bool:
        """Continue from the state of another engine; return False, with nothing changed, if that is not possible."""
        ...

    def resimulate(self, log: StateLog) -> LoggedSteps:
        """Return the steps of a saved run or a log, to be re-simulated one after another. Raises SceneError."""
        ...

    def substeps(self, distances: PairDistances) -> Substeps | None:
        """Return the search for instants at which pairs meet or part inside a step; None if steps cannot be
        re-simulated."""
        ...

    def warning(self) -> str | None:
        """Return a warning for the user about trouble since the last reset that did not stop the engine; each warning
        once."""
        ...

    def pose(self, env: int = 0) -> MjData:
        """Return an mjData of `model` that draws an environment as it is now."""
        ...

    def adopt_pose(self, env: int = 0) -> None:
        """Use the positions that were written into `pose(env)`, for the picture and for contacts that are found without
        a step. Forces are not known, and 0, until the next step."""
        ...

    def copy(self) -> "Engine":
        """Return another engine of the same scene, with a model and data of its own, in the initial state. Raises
        SceneError where that is not possible."""
        ...

    def environment(self, env: int) -> "Engine":
        """Return one environment as an engine of its own, whose `step` and `reset` still move all environments."""
        ...

    def array(self, name: str) -> Array:
        """Return the array of the declared sensor, exactly as the engine has it."""
        ...

    def contacts(self, name: str) -> ContactBatch:
        """Return the contacts in the array, with all fields, also those that the sensor does not request."""
        ...

    def row(self, env: int = 0) -> Row:
        """Return the values of all sensors of an environment in one row: a copy, or a view that the next step
        changes. Virtual sensors are left out; their contacts are computed on demand."""
        ...

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        """Return the columns of a sensor's values in the rows, and their layout, in the reduce mode of `sensor`. It is
        the layout that the scene declares, where the engine cannot write the array in another one."""
        ...

    def array_in(self, row: Row, sensor: ContactSensor) -> Array:
        """Return the `array` of a sensor after the step of a row, in the layout that `source` returns."""
        ...

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        """Yield names and contacts of all sensors, one batch for each layout, (..., sensors, slots). They equal
        `contacts`, in a fraction of the time."""
        ...

    def get_sensor_value(self, name: str, data: MjData | None = None) -> NDArray[np.float32]:
        """Return the array in the documented style, the same on every engine.

        The leading number is how many contacts follow, never more than `num`; netforce is in the world frame. `data`:
        `engine.data` or None, so that scripts can call it as MotrixSim's manual does.
        """
        ...

    def get_contact_force_magnitude(self, name: str) -> Array:
        """Return the force on each environment's sensor [N], (num_envs,): see `ContactBatch.force_magnitude`."""
        ...

    @property
    def touch_sensors(self) -> TouchSensors | None:
        """The scene's touch sensors, of the first environment."""
        ...

    def touch(self, name: str) -> TouchSensor:
        """Return the device of a touch sensor, updated to the last step."""
        ...

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        """Return the matching contacts of an environment that have no slot in the array, with all fields."""
        ...

    def details(self, name: str, env: int = 0) -> ContactDetails:
        """Return geoms and friction coefficients of the contacts of a sensor, slot by slot."""
        ...

    def covered_geoms(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Return masks of the geoms that the two sides of a sensor cover, (ngeom + 1,) each. None where the geoms are
        not known, or do not alone decide which contacts the sensor matches."""
        ...

    def set_reduce(self, name: str, mode: str) -> None:
        """Switch the reduce mode of a sensor; array and contacts follow at once."""
        ...

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        """Switch the reduce modes of sensors by name, all at once because there may be ten thousand."""
        ...

    def watch_all(self) -> ContactSensor:
        """Add a virtual sensor that matches every contact."""
        ...
