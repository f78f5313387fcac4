"""List and read the quantities of a model besides contacts: joints, controls, actuator forces, sensors."""

from dataclasses import dataclass

import mujoco

from .actuators import read_actuators, read_joints
from .names import sensor_names
from .types import MjData, MjModel

_CONTACT = int(mujoco.mjtSensor.mjSENS_CONTACT)
_UNITS = {
    "TOUCH": "N", "FORCE": "N", "TORQUE": "N·m", "ACCELEROMETER": "m/s²", "VELOCIMETER": "m/s", "GYRO": "rad/s",
    "MAGNETOMETER": "T", "RANGEFINDER": "m", "ACTUATORFRC": "N", "JOINTACTFRC": "N·m", "BALLANGVEL": "rad/s",
    "FRAMEPOS": "m", "FRAMELINVEL": "m/s", "FRAMEANGVEL": "rad/s", "FRAMELINACC": "m/s²", "FRAMEANGACC": "rad/s²",
    "SUBTREECOM": "m", "SUBTREELINVEL": "m/s", "GEOMDIST": "m", "TENDONPOS": "m", "TENDONVEL": "m/s", "CLOCK": "s",
    "E_POTENTIAL": "J", "E_KINETIC": "J",
}  # fmt: skip
_SENSOR_UNITS = {int(getattr(mujoco.mjtSensor, f"mjSENS_{name}", -1)): unit for name, unit in _UNITS.items()}
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    """A number of a model that changes with its state."""

    name: str
    """Name as a channel has it, such as `joint position/knee`."""
    unit: str
    array: str
    """Name of the array of mjData with the value."""
    place: int

    def read(self, data: MjData) -> float:
        """Return the present value in the data."""
        return float(getattr(data, self.array)[self.place])


def list_quantities(model: MjModel) -> list[Quantity]:
    """Return all quantities: positions and velocities of joints, controls, actuator forces, values of sensors.

    Positions and velocities are values after a step; all others are values that acted in the step.
    """
    found = []
    for joint in read_joints(model):
        speed = int(model.jnt_dofadr[joint.index])
        if joint.size == 1:
            found.append(Quantity(f"joint position/{joint.name}", joint.unit, "qpos", joint.place))
            found.append(Quantity(f"joint velocity/{joint.name}", f"{joint.unit}/s", "qvel", speed))
        elif joint.size == 7:
            for k, axis in enumerate(_AXES[:3]):
                found.append(Quantity(f"joint position/{joint.name} {axis}", "m", "qpos", joint.place + k))
                found.append(Quantity(f"joint velocity/{joint.name} {axis}", "m/s", "qvel", speed + k))
    for actuator in read_actuators(model):
        found.append(Quantity(f"control/{actuator.name}", actuator.unit, "ctrl", actuator.index))
        found.append(Quantity(f"actuator force/{actuator.name}", actuator.force_unit, "actuator_force", actuator.index))
    for i, name in enumerate(sensor_names(model)):
        kind, size, place = (int(getattr(model, f"sensor_{part}")[i]) for part in ("type", "dim", "adr"))
        if kind == _CONTACT:
            continue
        for k in range(size):
            label = name if size == 1 else f"{name}/{_AXES[k] if size == 3 else k}"
            found.append(Quantity(f"sensor/{label}", _SENSOR_UNITS.get(kind, ""), "sensordata", place + k))
    # A name that two things have is that of the first alone.
    return list({each.name: each for each in reversed(found)}.values())[::-1]
