"""One environment of a batch that another engine steps: the arrays of that engine, and contacts solved by MuJoCo."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from ...mjmodel.state import STATE
from ...mjmodel.types import MjModel
from ...scene_files.scene import LoadedScene
from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout, Field
from ...settings import Reduce
from ..abilities import Diagnostics
from ..contact_sensor import ContactDetails, ContactSensor, Row, SensorList
from ..contract import Engine
from ..environment import Environment
from ..values import emptied, unknown_details
from .engine import MujocoEngine

_NET = frozenset((Field.FORCE, Field.POS))
_DRAWN = _NET | {Field.NORMAL, Field.TANGENT}
"""Fields without which a contact cannot be drawn."""


@dataclass(frozen=True)
class BatchState:
    """State of an environment after a step."""

    state: Row
    """State as in mjSTATE_INTEGRATION, (state_size,); 0 for values that were not handed over."""
    sensordata: Row | None
    """Sensor values of the batch's engine, (nsensordata,); None if they were not handed over."""


class BatchEngine(MujocoEngine):
    """Engine that shows one environment of a batch, with the arrays of the engine that steps it.

    A sensor whose array holds positions and forces of its contacts is read as it is. The contacts of all others, and of
    sensors whose reduce mode was switched, are solved again by MuJoCo in the state that was handed over.
    """

    can_edit_sensors = has_contact_list = False

    def __init__(self, model: MjModel) -> None:
        super().__init__(LoadedScene(None, model, owned=False))
        self.name = "your engine"
        self._said = False
        self._passed = 0.0
        """Time between the last two states [s]; 0 before there are two."""
        self._mark_sensors()

    @property
    def timestep(self) -> float:
        """Time from one state to the next [s]: of one step, or of several."""
        return self._passed or super().timestep

    @property
    def diagnostics(self) -> Diagnostics | None:
        return None

    def arrive(self, step: BatchState) -> None:
        """Show a state."""
        model, data = self.model, self.data
        self._passed = max(float(step.state[0]) - data.time, 0.0) or self._passed
        mujoco.mj_setState(model, data, step.state, STATE)
        # The picture, and what has to be solved again.
        mujoco.mj_forward(model, data)
        said = step.sensordata is not None
        if step.sensordata is not None:
            data.sensordata[:] = step.sensordata
        if said is not self._said:
            self._said = said
            self._mark_sensors()

    def environment(self, env: int) -> Engine:
        return Environment(self, env)

    def contacts(self, name: str) -> ContactBatch:
        sensor = self.sensors[name]
        if sensor.solved_again:
            return super().contacts(name)
        said = sensor.declared.decode(self.array(name))
        if not sensor.placed_again:
            return said
        solved = super().contacts(name)
        # Where MuJoCo finds no contact there is no place to draw the force at.
        return replace(said, filled=said.filled & solved.filled, pos=solved.pos)

    def get_contact_force_magnitude(self, name: str) -> Array:
        sensor = self.sensors[name]
        if sensor.solved_again:
            return super().get_contact_force_magnitude(name)
        magnitude = self.contacts(name).force_magnitude(sensor.reduce)
        assert magnitude is not None
        return np.atleast_1d(magnitude)

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        if self.sensors[name].solved_again:
            return super().dropped(name, env)
        return emptied(self.contacts(name).cut(0, 1))

    def details(self, name: str, env: int = 0) -> ContactDetails:
        if self.sensors[name].solved_again:
            return super().details(name, env)
        return unknown_details(self.contacts(name))

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        super().set_reduce_modes(modes)
        self._mark_sensors()

    def watch_all(self) -> ContactSensor:
        super().watch_all()
        self._mark_sensors()
        return self.sensors[-1]

    def _mark_sensors(self) -> None:
        """Mark the sensors whose contacts are re-solved."""

        def mark(sensor: ContactSensor) -> ContactSensor:
            again = not self._said or sensor.virtual or sensor.modified or not is_drawable(sensor.declared)
            fields = sensor.declared.fields
            # As mjlab declares its net forces: where they act is not said.
            placed = (
                again
                and self._said
                and not (sensor.virtual or sensor.modified)
                and sensor.reduce is Reduce.NETFORCE
                and Field.FORCE in fields
            )
            return sensor._replace(reconstructed=again, solved_again=again and not placed, placed_again=placed)

        self._sensors = SensorList([mark(sensor) for sensor in self._sensors])


def is_drawable(layout: ContactLayout) -> bool:
    """Return True if an array holds positions and forces of contacts."""
    return (_NET if layout.reduce is Reduce.NETFORCE else _DRAWN) <= set(layout.fields)
