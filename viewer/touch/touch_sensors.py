"""Finds the touch sensors of a scene in its model, feeds them after every step, and edits them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.body_forces import BodyForces, MujocoForces
from ..mjmodel.matching import inside_site
from ..mjmodel.names import body_names, read_names, sensor_names
from ..mjmodel.pressing import describe_passed_load, measure_passed_load
from ..mjmodel.types import MjData, MjModel
from ..scene_files.xml_tags import XmlError, find_tags, line_of
from ..sensors.contacts import Array
from .declaration import PREFIX, TouchDeclaration, parse_touch
from .device import Measure, TouchSensor, TouchType
from .samples import CAPACITY, TouchHistory

_LIVE = {"lookup_table", "resolution"}
"""Settings that a device can change while it runs; to change any other, a new device is made."""
_STEPS = 150_000
"""Number of steps that all sensors of a scene keep together; each sensor keeps at least CAPACITY."""
_INWARD = 1e-3
"""Part of the distance to the site's centre by which contacts are moved inwards before the test whether the site
contains them: sites are often as large as the geoms, on whose surface contacts lie."""


@dataclass(eq=False)
class SceneTouch:
    """A touch sensor at its place in a scene."""

    device: TouchSensor
    body: int
    site: int | None
    """Site of the sensor; None for one whose axes are those of its body."""
    label: str
    """Place of the sensor, such as `site sole, body foot`."""
    history: TouchHistory
    written: TouchDeclaration | None = None
    """Latest declaration. None for MuJoCo's own touch sensors, which cannot be edited here."""
    saved: TouchDeclaration | None = None
    """Declaration in the scene's file; None if the file has none."""
    address: int | None = None
    """Column of MuJoCo's own touch sensor in `sensordata`."""
    force: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    """Force that fed the sensor last [N], world, (3,)."""
    found: int = 0
    """Number of contacts of its body that touched when that force acted."""
    visible: bool = True
    """True if its axes and volume are drawn in the scene."""

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def native(self) -> bool:
        """True for one of MuJoCo's own touch sensors."""
        return self.address is not None

    @property
    def shows_axes(self) -> bool:
        """True if its axes are drawn: MuJoCo's own sensors feel a push from anywhere, and have none."""
        return self.visible and not self.native

    @property
    def enabled(self) -> bool:
        return self.device.get_sampling_period() > 0

    @property
    def declaration(self) -> TouchDeclaration | None:
        """Declaration of the sensor as it is now."""
        device = self.device
        return self.written and replace(
            self.written,
            lookup_table=device.lookup_table,
            resolution=device.resolution,
            sampling_period=device.get_sampling_period(),
        )

    @property
    def modified(self) -> bool:
        """True if the declaration differs from that in the scene file."""
        return self.declaration != self.saved

    def true_force(self, rotation: Array) -> Array:
        """Return the output of an ideal device [N], (1,) or (3,). Bumpers, which feel no force, and MuJoCo's own
        sensors, which have no axis, give the norm of the force on the body."""
        if self.native or self.device.type is TouchType.BUMPER:
            return np.array([math.sqrt(self.force @ self.force)])
        return np.atleast_1d(self.device.project(self.force, rotation))


class Host(Protocol):
    """The engine whose steps feed the touch sensors."""

    path: Path | None
    model: MjModel

    @property
    def time(self) -> float: ...
    @property
    def timestep(self) -> float: ...
    @property
    def data(self) -> MjData: ...
    def contact_data(self, env: int = 0) -> MjData: ...


class TouchSensors:
    """Touch sensors of an engine's first environment. The engine feeds them in every step."""

    def __init__(self, engine: Host, forces: BodyForces | None = None) -> None:
        """Read the touch sensors. `forces`: forces on bodies, if the engine is not MuJoCo."""
        self.model: MjModel = engine.model
        self._engine = engine
        self._forces = forces or MujocoForces(engine.model, engine.data, engine.contact_data)
        self.time = engine.time
        """Time of the state that the sensors were fed with last [s]."""
        self.problems: list[str] = []
        """Error messages of wrong entries, one line each, with the line in the file where it is known."""
        self.sensors: dict[str, SceneTouch] = {}
        """Touch sensors by name: declared ones first, then MuJoCo's own, each in the scene's order."""
        native_count = len(_native_sensors(self.model))
        self._capacity = max(CAPACITY, _STEPS // max(1, native_count + len(list(_entries(self.model)))))
        for name, text in _entries(self.model):
            warnings: list[str] = []
            try:
                declaration = parse_touch(name, text, warnings.append)
                touch = self._place(declaration)
            except ValueError as error:
                self.problems.append(f"{_location(engine.path, name)}{error}")
            else:
                touch.saved = declaration
                self.sensors[name] = touch
                self.problems += [f"{_location(engine.path, name)}{warning}" for warning in warnings]
        self._add_native()
        self.after_reset(engine)

    @property
    def data(self) -> MjData:
        """mjData of the environment as it is drawn now."""
        return self._engine.data

    def __iter__(self) -> Iterator[SceneTouch]:
        return iter(self.sensors.values())

    def __len__(self) -> int:
        return len(self.sensors)

    def __getitem__(self, name: str) -> SceneTouch:
        if name not in self.sensors:
            known = ", ".join(self.sensors) or "none"
            raise SceneError(f"no touch sensor named {name!r}; the scene has: {known}")
        return self.sensors[name]

    @property
    def active(self) -> bool:
        """True if steps must be taken one at a time. MuJoCo's own sensors can be read at any time."""
        return any(touch.enabled and not touch.native for touch in self)

    def device(self, name: str) -> TouchSensor:
        """Return the device, updated to the last step."""
        touch = self[name]
        if touch.address is not None:
            touch.device.hold(self.data.sensordata[touch.address])
        return touch.device

    def value(self, name: str) -> Array:
        """Return the device's output, (1,) or (3,); NaN while it has no value."""
        return self.device(name).values

    def true(self, name: str) -> Array:
        """Return the output of an ideal device [N], (1,) or (3,)."""
        return self[name].true_force(self.pose(name)[1])

    def pose(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a sensor's position [m], (3,), and its axes as columns, (3, 3), in the world."""
        touch, data = self[name], self._engine.contact_data()
        if touch.site is None:
            return data.xpos[touch.body], data.xmat[touch.body].reshape(3, 3)
        return data.site_xpos[touch.site], data.site_xmat[touch.site].reshape(3, 3)

    def outside(self, name: str) -> int:
        """Return the number of contacts of a sensor's body that are outside the volume of its site."""
        touch = self[name]
        if touch.site is None:
            return 0
        center, _ = self.pose(name)
        points = self._forces.contact_points(touch.body)
        points = points + _INWARD * (center - points)
        return len(points) - int(inside_site(self.model, self._engine.contact_data(), touch.site, points).sum())

    def passed_load(self, name: str) -> tuple[float, str] | None:
        """Return the share of the present load that bodies below a sensor's own carry past it, and a sentence on that.

        None if there is no such body, if the sensor measures its mount, or if another engine finds the contacts.
        """
        touch = self[name]
        if touch.device.measure is Measure.MOUNT or not self._forces.from_mujoco:
            return None
        load = measure_passed_load(self.model, self._engine.contact_data(), touch.body)
        said = describe_passed_load(self.model, touch.body, load)
        return None if said is None else (load.share, said)

    def after_step(self, engine: Host) -> None:
        """Feed every sensor that is enabled."""
        backwards, self.time = engine.time < self.time, engine.time
        enabled = [touch for touch in self if touch.enabled]
        if enabled:
            self._forces.read()
        for touch in enabled:
            if backwards:
                self._restart(touch)
            else:
                self._feed(touch)

    def after_reset(self, engine: Host) -> None:
        """Return to a step that is kept; from any other state sampling starts again."""
        self.time = engine.time
        self._forces.read()
        for touch in self:
            step = touch.history.find(self.time)
            if step:
                touch.device.restore(self.time, touch.history.go_to(step))
                self._measure(touch)
            else:
                self._restart(touch)

    def add(self, declaration: TouchDeclaration) -> SceneTouch:
        """Return a new touch sensor that the scene does not have."""
        if declaration.name in self.sensors:
            raise SceneError(f"there is already a touch sensor named {declaration.name!r}")
        try:
            touch = self._place(declaration)
        except ValueError as error:
            raise SceneError(str(error)) from None
        own = {name: known for name, known in self.sensors.items() if not known.native}
        self.sensors = own | {declaration.name: touch} | self.sensors
        self._forces.read()
        self._restart(touch)
        return touch

    def change(self, name: str, **settings: Any) -> None:
        """Set fields of a sensor's declaration; a table and a resolution show at once, without a new sample."""
        touch = self[name]
        declaration = touch.declaration
        if declaration is None:
            raise SceneError(f"{name} is one of MuJoCo's own touch sensors: change it in the scene file")
        try:
            changed = replace(declaration, **settings)
            if set(settings) <= _LIVE:
                touch.device.lookup_table, touch.device.resolution = changed.lookup_table, changed.resolution
                return
            placed = self._place(changed)
        except ValueError as error:
            raise SceneError(str(error)) from None
        self._replace(touch, placed)

    def revert(self, name: str) -> None:
        """Restore a sensor as the scene's file declares it; remove one that the file lacks."""
        touch = self[name]
        if touch.saved is None:
            del self.sensors[name]
        else:
            self._replace(touch, self._place(touch.saved))

    def mark_saved(self, name: str) -> None:
        """Note that the scene file has the sensor as it is now."""
        self[name].saved = self[name].declaration

    def targets(self) -> list[tuple[str, str]]:
        """Return the objects that a sensor can be attached to: `site` or `body`, and the name."""
        return [
            (kind, name)
            for kind in ("site", "body")
            for name in read_names(self.model, kind)
            if name and name != "world"
        ]

    def _add_native(self) -> None:
        model = self.model
        native = _native_sensors(model)
        if not native:
            return
        names, bodies = sensor_names(model), body_names(model)
        sites = read_names(model, "site")
        for i in native:
            name, site = names[i], int(model.sensor_objid[i])
            if not self._forces.from_mujoco:
                self.problems.append(f"{name}: MuJoCo's own touch sensors are read with MuJoCo only")
                continue
            while name in self.sensors:
                name += "'"
            body = int(model.site_bodyid[site])
            device = TouchSensor(
                TouchType.FORCE, name=name, lookup_table=(), sampling_period=1000 * self._engine.timestep
            )
            label = f"MuJoCo touch, site {sites[site] or site}, body {bodies[body]}"
            history = TouchHistory(device.size, self._capacity)
            self.sensors[name] = SceneTouch(device, body, site, label, history, address=int(model.sensor_adr[i]))

    def _place(self, declaration: TouchDeclaration) -> SceneTouch:
        """Return the declared device at its place. Raises ValueError if there is no such place."""
        model, name = self.model, declaration.name
        site = None
        if declaration.site is not None:
            site = _find(read_names(model, "site"), "site", declaration.site, name)
            body = int(model.site_bodyid[site])
            label = f"site {declaration.site}, body {body_names(model)[body]}"
        else:
            assert declaration.body is not None
            body = _find(read_names(model, "body"), "body", declaration.body, name)
            label = f"body {declaration.body}"
        refusal = self._forces.refusal(body, declaration.measure is Measure.MOUNT)
        if refusal is not None:
            raise ValueError(f"{PREFIX}{name}: {refusal}")
        device = declaration.build()
        return SceneTouch(device, body, site, label, TouchHistory(device.size, self._capacity), declaration)

    def _replace(self, old: SceneTouch, new: SceneTouch) -> None:
        new.saved, new.visible = old.saved, old.visible
        self.sensors[old.name] = new
        self._forces.read()
        self._restart(new)

    def _restart(self, touch: SceneTouch) -> None:
        """Begin to feed a sensor, as if it had just been enabled."""
        touch.history.clear()
        if touch.enabled:
            touch.device.enable(touch.device.get_sampling_period())
            self._feed(touch)

    def _feed(self, touch: SceneTouch) -> None:
        device, rotation = touch.device, self._measure(touch)
        if touch.address is None:
            device.update(self.time, force=touch.force, rotation=rotation, found=touch.found)
        else:
            device.hold(self.data.sensordata[touch.address])
        touch.history.append(self.time, touch.true_force(rotation), device.save())

    def _measure(self, touch: SceneTouch) -> NDArray[np.float64]:
        """Read force and contacts on a sensor's body; its axes as columns, world, (3, 3)."""
        contacts = self._forces.contacts(touch.body)
        touch.found = contacts.found
        mount = touch.device.measure is Measure.MOUNT
        touch.force = self._forces.mount(touch.body) if mount else contacts.force
        return self.pose(touch.name)[1]


def _native_sensors(model: MjModel) -> list[int]:
    """Return the ids of MuJoCo's own touch sensors."""
    # As a number: numpy compares with a member of an enumeration one by one.
    found: list[int] = np.flatnonzero(model.sensor_type == int(mujoco.mjtSensor.mjSENS_TOUCH)).tolist()
    return found


def _entries(model: MjModel) -> Iterator[tuple[str, str]]:
    """Yield name and text of each entry that declares a touch sensor."""
    data = bytes(model.text_data)
    for name, start in zip(read_names(model, "text"), model.text_adr, strict=True):
        if name.startswith(PREFIX):
            end = data.index(b"\0", start)
            yield name.removeprefix(PREFIX), data[start:end].decode("utf-8", "replace")


def _find(names: list[str], kind: str, wanted: str, sensor: str) -> int:
    if wanted not in names:
        known = ", ".join(filter(None, names)) or "none"
        raise ValueError(f"{PREFIX}{sensor}: no {kind} named {wanted!r}; the scene has: {known}")
    return names.index(wanted)


def _location(path: Path | None, name: str) -> str:
    """Return `robot.xml:12: ` for the entry of a name; without a line if it is not found."""
    if path is None:
        return ""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        for tag in find_tags(text):
            if tag.name == "text" and tag.attributes.get("name") == PREFIX + name:
                return f"{path.name}:{line_of(text, tag.start)}: "
    except (OSError, XmlError):
        pass
    return f"{path.name}: "
