"""Readings of a touch sensor from contact forces: looked up, noisy, quantised and sampled."""

import math
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..sensors.array_library import as_array_like, is_array, is_numpy, is_real, namespace
from ..sensors.contacts import Array
from ..settings import member

Table = tuple[tuple[float, float, float], ...]
"""Rows of input force [N], output, noise level (0 to 1, a fraction of the output); the inputs increase."""

DEFAULT_TABLE: Table = ((0.0, 0.0, 0.0), (5000.0, 50000.0, 0.0))
"""Default lookup table: tenths of a newton, up to 5000 N."""
INFINITE_RESOLUTION = -1.0
SHORTEST_PERIOD = 1e-6
"""Shortest sampling period [ms]: a shorter one is a mistake, and would overflow the count of samples."""


class TouchType(StrEnum):
    """Quantity that a touch sensor measures."""

    BUMPER = "bumper"
    """Output 0 or 1: touched since the last sample."""
    FORCE = "force"
    """Push along the sensor's x axis: one value."""
    FORCE3D = "force-3d"
    """Force in the sensor's frame: three values."""


class Measure(StrEnum):
    """Force that feeds a touch sensor."""

    CONTACT = "contact"
    """Sum of the contact forces on the sensor's body."""
    MOUNT = "mount"
    """Force that the sensor passes to its parent body, so without its own weight. MuJoCo's `<force>` is the opposite:
    the
    force of the parent on the sensor, in the frame of its site.
    """


class TouchSensor:
    """A touch sensor after Webots' device of the same name.

    x points out of the robot, to where it is touched; under a foot, downwards. A push against x is positive;
    by the formula of Webots' reference, |f| cos(a), it would be negative. Lookup table, noise and resolution are
    applied to the held force when it is read, in this order, so that an edited table shows at once.

    Example:
        ```python
        sensor = contact_viewer.TouchSensor("force", lookup_table=[], sampling_period=10)
        sensor.update(0.0, force=[-12.5, 0, 0], rotation=np.eye(3), found=1)
        print(sensor.get_value())  # 12.5
        ```
    """

    BUMPER: ClassVar[TouchType] = TouchType.BUMPER
    FORCE: ClassVar[TouchType] = TouchType.FORCE
    FORCE3D: ClassVar[TouchType] = TouchType.FORCE3D

    def __init__(
        self,
        type: str = TouchType.BUMPER,
        *,
        name: str = "",
        lookup_table: Iterable[Iterable[float]] = DEFAULT_TABLE,
        resolution: float = INFINITE_RESOLUTION,
        sampling_period: float = 0.0,
        measure: str = Measure.CONTACT,
        seed: int = 0,
    ) -> None:
        """Make a device; it is enabled if `sampling_period` is greater than 0.

        Args:
            type: `bumper`, `force` or `force-3d`. An unknown type is a bumper, as in Webots, with a warning.
            name: Name of the device.
            lookup_table: Rows of force [N], output, and noise as a fraction of the output; empty to report newtons.
            resolution: Smallest change of the output; -1 for infinitely fine.
            sampling_period: Time between two samples [ms]; 0 disables the device.
            measure: `contact` for the contact forces on the body, `mount` for the force that it passes to its parent.
            seed: Random seed of the noise. With the same seed, devices of different names have independent noise.

        Raises:
            ValueError: An argument cannot be used.
        """
        self.name = name
        self.type = touch_type(type, lambda text: warnings.warn(text, stacklevel=4))
        self.measure = member(Measure, measure, "measure")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ValueError(f"seed must be a whole number of at least 0, not {seed!r}")
        self.seed = int(seed)
        self.lookup_table = lookup_table
        self.resolution = resolution
        self._period = _checked_period(sampling_period)
        # The name goes in too: a left and a right foot with the default seed must not be noisy in step.
        self._noise_key = np.random.SeedSequence([self.seed, *name.encode(errors="replace")]).generate_state(
            2, np.uint64
        )
        self._forget()

    def _forget(self) -> None:
        self._start: float | None = None
        self._time = 0.0
        self._due_count = 0
        self._sample: Array | None = None
        self._noise: Array = np.zeros(())
        self._hit = False

    @property
    def lookup_table(self) -> Table:
        """Rows of input force [N], output, noise level. May be set while the sensor runs."""
        return self._lookup_table

    @lookup_table.setter
    def lookup_table(self, rows: Iterable[Iterable[float]]) -> None:
        self._lookup_table = checked_table(rows)
        self._columns = np.array(self._lookup_table, np.float64).reshape(-1, 3).T

    @property
    def resolution(self) -> float:
        """Smallest change of the output, or -1 for infinitely fine. May be set while the sensor runs."""
        return self._resolution

    @resolution.setter
    def resolution(self, resolution: float) -> None:
        value = _number(resolution, "resolution")
        if value != INFINITE_RESOLUTION and value <= 0:
            raise ValueError(f"resolution must be -1 (infinite) or greater than 0, not {value:g}")
        self._resolution = value

    def enable(self, sampling_period: float) -> None:
        """Start sampling every `sampling_period` [ms], counted from the next update."""
        period = _checked_period(sampling_period)
        if period == 0:
            raise ValueError("sampling_period must be greater than 0 ms; disable() turns a sensor off")
        self._period = period
        self._forget()

    def disable(self) -> None:
        """Stop sampling. The sensor then has no value."""
        self._period = 0.0
        self._forget()

    def get_sampling_period(self) -> float:
        """Return the sampling period [ms]; 0 when disabled."""
        return self._period

    def get_type(self) -> TouchType:
        """Return the type, `TouchSensor.BUMPER`, `FORCE` or `FORCE3D`."""
        return self.type

    def get_lookup_table(self) -> Array:
        """Return a copy of the lookup table, (rows, 3): input force [N], output, noise level."""
        return self._columns.T.copy()

    def get_lookup_table_size(self) -> int:
        """Return the number of rows of the lookup table."""
        return len(self._lookup_table)

    def get_value(self) -> float:
        """Return the last sample of a bumper or force sensor; NaN while there is none."""
        if self.type is TouchType.FORCE3D:
            raise TypeError("a force-3d sensor has three values: call get_values(), not get_value()")
        return math.nan if self._sample is None else float(self.respond(self._sample, self._noise))

    def get_values(self) -> Array:
        """Return the last sample of a force-3d sensor along its x, y, z, (3,); NaN while there is none."""
        if self.type is not TouchType.FORCE3D:
            raise TypeError(f"a {self.type} sensor has one value: call get_value(), not get_values()")
        return np.full(3, np.nan) if self._sample is None else self.respond(self._sample, self._noise)

    # By their names in Webots, which has lists for arrays.
    getSamplingPeriod, getType, getValue = get_sampling_period, get_type, get_value
    getLookupTableSize = get_lookup_table_size

    def getLookupTable(self) -> list[float]:
        """Return the rows of the lookup table one after the other, three numbers each."""
        return [number for row in self._lookup_table for number in row]

    def getValues(self) -> list[float]:
        """Return the last sample of a force-3d sensor along its x, y, z; NaN while there is none."""
        return [float(value) for value in self.get_values()]

    @property
    def size(self) -> int:
        """Number of values: 1, or 3 for force-3d."""
        return 3 if self.type is TouchType.FORCE3D else 1

    @property
    def values(self) -> Array:
        """The last sample of a sensor of any type, (1,) or (3,); NaN while there is none."""
        return self.respond_to(self.save())

    def save(self) -> Array:
        """Return the state on which later samples and values depend, (2 + 2 * size,).

        First update [s], count of due samples, the last sample [N] and its noise; NaN where there is none. A bumper,
        which has no noise, stores in that place whether it was hit since the last sample.
        """
        state = np.full(2 + 2 * self.size, np.nan)
        if self._start is not None:
            state[:2] = self._start, self._due_count
        if self._sample is not None:
            state[2:] = np.concatenate([np.ravel(self._sample), np.ravel(self._noise)])
        if self.type is TouchType.BUMPER:
            state[3] = self._hit
        return state

    def restore(self, time: float, state: Array) -> None:
        """Restore a state that was saved after the update at a time [s]."""
        self._forget()
        if self._period and not math.isnan(state[0]):
            self._start, self._due_count, self._time = float(state[0]), int(state[1]), time
            passed = (time - self._start) / (self._period / 1000)
            if abs(passed - self._due_count) > 1.5:  # saved with another period
                self._due_count = math.floor(passed)
        if self._period and not math.isnan(state[2]):
            shape = (3,) if self.size == 3 else ()
            self._sample, self._noise = (part.reshape(shape).copy() for part in np.split(state[2:], 2))
        if self._period and self.type is TouchType.BUMPER:
            self._hit = bool(state[3] == 1)

    def respond_to(self, states: Array) -> Array:
        """Return the device's output, as it is set now, for saved samples; (..., 2 + 2 * size) to (..., size)."""
        return self.respond(states[..., 2 : 2 + self.size], states[..., 2 + self.size :])

    def hold(self, sample: ArrayLike) -> None:
        """Hold a sample that another sensor has measured [N], () or (3,), whatever the sampling period."""
        if self._period:
            self._sample = np.asarray(sample, np.float64)
            self._noise = np.zeros(self._sample.shape)

    def update(self, time: float, *, force: ArrayLike, rotation: ArrayLike, found: float) -> None:
        """Feed the state after a physics step; the device samples it if a sample is due.

        A bumper keeps a hit until its next sample, so that a hit shorter than the sampling period is not lost.

        Args:
            time: Simulated time [s]. If it went backwards, as in a reset, sampling and noise start again.
            force: Force on the body [N], world, (3,).
            rotation: Axes of the sensor as columns, world, (3, 3).
            found: Number of contacts that touch.

        Raises:
            ValueError: The time is not finite.
        """
        if self._period == 0:
            return
        if not math.isfinite(time):
            raise ValueError(f"time must be a finite number, not {time!r}")
        if self._start is None or time < self._time:
            self._forget()
            self._start = self._time = time
            self._hit = found > 0
            return
        # A state that is fed again has been looked at: its hit may have been reported already.
        self._hit |= time > self._time and found > 0
        step, self._time = time - self._time, time
        period = self._period / 1000
        # Engines add up steps, so a due time is met only nearly; a hundredth of a step is far above that.
        slack = 0.01 * min(step, period)
        due_count = math.floor((time - self._start + slack) / period)
        if due_count > self._due_count:
            self._due_count = due_count
            self._sample_now(force, rotation)

    def project(self, force: Any, rotation: Any) -> Array:
        """Return the output of an ideal device [N]: the push along x, (...), or for force-3d x, y, z, (..., 3).

        `force` [N], world, (..., 3), and `rotation`, the sensor's axes as columns, world, (..., 3, 3): of numpy,
        torch or JAX, for one environment or many.
        """
        if not is_array(force) or not is_real(force):
            force = np.asarray(force, np.float64)
        rotation = as_array_like(rotation, force)
        if tuple(force.shape[-1:]) != (3,) or tuple(rotation.shape[-2:]) != (3, 3):
            given = f"{tuple(force.shape)} and {tuple(rotation.shape)}"
            raise ValueError(f"force must be (..., 3) and rotation (..., 3, 3), not {given}")
        if is_numpy(force) and force.ndim == 1 and rotation.ndim == 2:
            along = rotation.T @ force
        else:
            along = namespace(force).sum(rotation * force[..., None], axis=-2)
        if self.type is TouchType.FORCE3D:
            return along
        push = -along[..., 0]
        if is_numpy(push):
            return np.maximum(0.0, push)
        xp = namespace(push)
        return xp.where(push < 0, xp.zeros_like(push), push)

    def respond(self, sample: Any, noise: Any = 0.0) -> Array:
        """Return the device's output for ideal samples [N] with standard normal noise: lookup table, noise,
        resolution. Of any shape, of numpy, torch or JAX; nothing is kept."""
        if self.type is TouchType.BUMPER:
            return sample
        values, xp = sample, namespace(sample) if is_array(sample) else np
        inputs, outputs, levels = self._columns
        if inputs.size:
            # A table without negative forces says how hard, not which way: it holds for both directions.
            turned = (sample < 0) & bool(inputs[0] >= 0)
            hard = xp.where(turned, -sample, sample)
            level, output = _interpolate(hard, inputs, levels), _interpolate(hard, inputs, outputs)
            values = xp.where(turned, -output, output) * (1 + level * noise)
        if self._resolution != INFINITE_RESOLUTION:
            values = _quantise(values, self._resolution)
        return values + 0.0  # no negative zeros

    def _sample_now(self, force: ArrayLike, rotation: ArrayLike) -> None:
        if self.type is TouchType.BUMPER:
            self._sample, self._hit = np.array(float(self._hit)), False
            return
        self._sample = self.project(force, rotation)
        # Of the sample's number alone, so that the same noise comes after a return to an earlier sample.
        place = np.array([0, self._due_count, 0, 0], np.uint64)
        random = np.random.Generator(np.random.Philox(key=self._noise_key, counter=place))
        self._noise = np.asarray(random.standard_normal(self._sample.shape))


def touch_type(word: str, warn: Callable[[str], object]) -> TouchType:
    """Return the type of a name; a bumper if there is none, as in Webots, with a line to `warn`."""
    try:
        return TouchType(word)
    except ValueError:
        warn(f"unknown type {word!r}: choose from {', '.join(TouchType)}; taken as a bumper")
        return TouchType.BUMPER


def checked_table(rows: Iterable[Iterable[float]]) -> Table:
    """Return the rows of a lookup table as numbers. Raises ValueError for a wrong row, with its number."""
    table: list[tuple[float, float, float]] = []
    for number, row in enumerate(_items(rows, "lookup table"), start=1):
        where = f"lookup table row {number}"
        values = [_number(value, where) for value in _items(row, where)]
        if len(values) != 3:
            raise ValueError(f"{where} must be three numbers: force, output, noise level; not {len(values)}")
        force, output, noise = values
        if table and force <= table[-1][0]:
            raise ValueError(f"{where} must have a larger force than the one before: {force:g} is not")
        if not 0 <= noise <= 1:
            raise ValueError(f"{where} must have a noise level from 0 to 1, not {noise:g}")
        table.append((force, output, noise))
    return tuple(table)


def _interpolate(values: Any, places: Array, table: Array) -> Any:
    """Return the values of a table [its unit] at some inputs, linear between its rows and constant outside."""
    if not is_array(values) or is_numpy(values):
        found = np.interp(values, places, table)
        return found.astype(values.dtype, copy=False) if is_array(values) and is_real(values) else found
    xp = namespace(values)
    # Row after row: each begins where the one before ends.
    found = xp.zeros_like(values) + float(table[0])
    for place, start, slope in zip(places, table, np.diff(table) / np.diff(places), strict=False):
        found = xp.where(values >= float(place), (values - float(place)) * float(slope) + float(start), found)
    found = xp.where(values >= float(places[-1]), xp.zeros_like(values) + float(table[-1]), found)
    return xp.where(xp.isnan(values), values, found)


def _quantise(values: Any, resolution: float) -> Any:
    if not is_array(values) or is_numpy(values):
        with np.errstate(over="ignore"):
            steps = np.abs(values) / resolution
        # More steps than a number can count: the value itself is coarser than the resolution.
        return np.where(np.isfinite(steps), np.copysign(np.floor(steps + 0.5) * resolution, values), values)
    xp = namespace(values)
    steps = xp.abs(values) / resolution
    rounded = xp.floor(steps + 0.5) * resolution
    return xp.where(xp.isfinite(steps), xp.where(values < 0, -rounded, rounded), values)


def _items(values: object, what: str) -> list[object]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{what} must be a sequence, not {values!r}")
    return list(values)


def _number(value: object, what: str) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
            if math.isfinite(number):
                return number
    raise ValueError(f"{what}: expected a finite number, not {value!r}")


def _checked_period(value: float) -> float:
    period = _number(value, "sampling_period")
    if period < 0 or 0 < period < SHORTEST_PERIOD:
        raise ValueError(f"sampling_period must be 0 or at least {SHORTEST_PERIOD:g} ms, not {period:g}")
    return period
