"""Reads states, changes of the model and views of a user's program for its window, and applies the window's pull."""

import struct
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsFloat

import mujoco
import numpy as np
from mujoco import mj_getState

from ..channels.channel import BOOLEAN, ChannelName
from ..errors import SceneError
from ..mjmodel.model_values import ModelValues
from ..mjmodel.names import read_names
from ..mjmodel.state import STATE, RowKind
from ..mjmodel.types import MjData, MjModel
from ..scene_files.scene import compile_spec, find_scene, load_scene, one_line
from .shared_memory import (
    CAMERA,
    MOST_GEOMS,
    MOST_VALUES,
    OPTIONS,
    VALUE,
    GeomMemory,
    SharedMemory,
    Word,
    read_values,
    trouble_word,
)

AFTER, BEFORE, START = int(RowKind.AFTER), int(RowKind.BEFORE), int(RowKind.START)
"""Kinds of rows: state after a step, at the start of a step, and first state of other data."""
_LONGEST_LOOK = 1 / 60
"""Time between two checks of a model that does not change [s]."""
_SHORTEST_LOOK = 1e-3
"""Time between the first two checks after a change of the model [s]; the time doubles with every check."""
_WRITTEN, _CHECKED_ROWS, _VALUES = int(Word.WRITTEN), int(Word.CHECKED_ROWS), int(Word.VALUES)
_TROUBLE, _TROUBLE_ROW = int(Word.TROUBLE), int(Word.TROUBLE_ROW)
_pack, _SIZE = VALUE.pack_into, VALUE.size
_BAD = tuple(int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}")) for name in ("QACC", "QVEL", "QPOS"))
"""MuJoCo's warnings of bad states, as plain numbers: reading a warning takes 1.8 µs, with a member of an enum 6.2
µs."""
Send = Callable[[dict[str, Any]], bool]
"""Function that sends a message to the window; it returns False if the window does not listen now."""
_WRAPPED = ("ptr", "_model", "_data")
"""Attributes of dm_control's and robosuite's models and data that hold MuJoCo's own objects."""
_NAMED = ("body", "jnt", "geom", "site", "actuator", "tendon")
_COUNTS = tuple(
    f"n{name}"
    for name in ["q", "v", "u", "a", "body", "jnt", "geom", "site", "mesh", "tendon", "wrap", "eq", "pair", "flex"]
)
_FIXED = ("mesh_", "hfield_", "flex_", "bvh_", "oct_", "wrap_", "exclude_", "plugin_")
"""Prefixes of arrays that decide physics and may be too large to send with every change: they must be equal in the
scene's model."""
_SENSOR = ("sensor_type", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid", "sensor_intprm")


class RowWriter:
    """Writer of rows into shared memory."""

    __slots__ = (
        "__weakref__", "_kinds", "_limit", "_make_room", "_model", "_states", "_words", "count", "data", "is_changed",
        "rows", "time", "word",
    )  # fmt: skip

    def __init__(self, model: MjModel, data: MjData, shared: SharedMemory, make_room: Callable[[], int]) -> None:
        """`make_room`: called when a quarter of the rows was written; returns the count of rows at which it is called
        again."""
        self._model, self.data = model, data
        self._make_room = make_room
        self._words, self._kinds, self.rows = shared.words, shared.kinds, shared.rows
        self._states = list(shared.states[:, : mujoco.mj_stateSize(model, STATE)])
        self._limit = self.rows // 4
        self.count, self.time = 0, 0.0
        """Number of rows that were written, and simulated time of the last one [s]."""
        self.word, self.is_changed = 0, False
        """Version of the model as in `row_word`; True if the next row is written even if it repeats the last."""

    def write(self, kind: int, time: float) -> None:
        """Write the state, which belongs to a simulated time [s]."""
        count = self.count
        if count >= self._limit:
            self._limit = self._make_room()
        place = count % self.rows
        mj_getState(self._model, self.data, self._states[place], STATE)
        if time == self.time and self._is_same(place):
            # The same state again, such as from a program that waits.
            return
        if time < self.time:
            self._note_reset(count)
        self.time, self.is_changed = time, False
        self._kinds[place] = self.word | kind
        # The count comes last, so that the window never reads an incomplete row.
        self.count = self._words[_WRITTEN] = count + 1

    def write_start(self, time: float) -> None:
        """Write the state from which the present step starts, at a simulated time [s]."""
        self.write(BEFORE, time)

    def _note_reset(self, row: int) -> None:
        """Write why time went back: MuJoCo's reset of a bad state leaves a warning, a program's own reset leaves
        none."""
        warning, words = self.data.warning, self._words
        bad = next((kind for kind in _BAD if warning[kind].number), None)
        words[_TROUBLE] = 0 if bad is None else trouble_word(bad, int(warning[bad].lastinfo))
        words[_TROUBLE_ROW] = row

    def _is_same(self, place: int) -> bool:
        """Return True if a row repeats the one before it."""
        states = self._states
        return self.count > 0 and not self.is_changed and states[place].tobytes() == states[place - 1].tobytes()


class ValueWriter:
    """Writer of channel values, which belong to the rows that were written before them."""

    __slots__ = ("_channels", "_count", "_shared", "_values", "_words")

    def __init__(self, shared: SharedMemory) -> None:
        self._shared, self._words, self._values = shared, shared.words, shared.values
        self._channels: dict[str, int] = {}
        self._count = 0

    def write(self, name: str, value: SupportsFloat, unit: str, rows: int, time: float) -> None:
        """Write a value at a simulated time [s], with the number of rows that were written so far."""
        channel = self._channels.get(name)
        if channel is None:
            unit = BOOLEAN if isinstance(value, bool | np.bool_) and not unit else unit
            channel = self._channels[name] = self._shared.add_channel(ChannelName(name, unit))
        count = self._count
        try:
            _pack(self._values, count % MOST_VALUES * _SIZE, rows, channel, time, value)
        except struct.error:
            raise TypeError(f"plot takes a number, and {name} is {value!r}") from None
        # The count comes last, so that the window never reads an incomplete value.
        self._count = self._words[_VALUES] = count + 1


class ModelWatch:
    """Values of a model at the last check, to notice its changes."""

    def __init__(self, model: MjModel) -> None:
        self._values = ModelValues(model)
        self._last, self._memory = self._values.read(), self._values.memory()
        self.size = self._values.size
        """Length of all values [bytes]."""
        self.version = 0
        """Number of changes that were noticed."""
        self._wait = _LONGEST_LOOK

    def look(self, shared: SharedMemory, written: int) -> float:
        """Send the model's values if they have changed, and return the time until the next check [s].

        `written`: number of rows that were written so far.
        """
        memory = self._values.memory()
        if memory == self._memory or (now := self._values.read()) == self._last:
            self._wait = min(max(2 * self._wait, _SHORTEST_LOOK), _LONGEST_LOOK)
        else:
            self._last, self._wait = now, 0.0
            self.version += 1
            shared.write_model(self.version, now)
        self._memory = memory
        # The next row has this version.
        shared.words[_CHECKED_ROWS] = written + 1
        return self._wait


class Pull:
    """Force with which the user pulls one body of a program's data."""

    def __init__(self, data: MjData, shared: SharedMemory) -> None:
        self._data, self._shared = data, shared
        self.now: tuple[int, Any, Any] | None = None
        """Pulled body, its `xfrc_applied` before the pull, and its present one [N, N m], world; None without a pull."""

    def apply(self) -> None:
        """Apply the window's pull; a pull that is being written is applied in the next call."""
        words, applied = self._shared.words, self._data.xfrc_applied
        version, body = words[Word.PULL_VERSION], words[Word.PULLED]
        force = self._shared.pull.copy()
        if version % 2 or version != words[Word.PULL_VERSION]:
            return
        before = None
        if self.now is not None and self.now[0] == body:
            before = self.now[1]
        else:
            self.end()
        if body:
            self.now = body, applied[body].copy() if before is None else before, force
            applied[body] = force

    def end(self) -> None:
        """Remove the pull, unless the program has set another force since."""
        if self.now is not None:
            body, before, force = self.now
            applied = self._data.xfrc_applied
            if np.array_equal(applied[body], force):
                applied[body] = before
            self.now = None


class ProgramViews:
    """Camera, visual options and geoms that a program sets for its window; each is made when it is first read."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._watched: dict[str, tuple[Any, tuple[str, ...]]] = {}
        """Camera and visual options, with the fields that are sent."""
        self._sent: dict[str, Any] = {}
        """Values of those fields that were sent last."""
        self._geoms: GeomMemory | None = None

    @cached_property
    def camera(self) -> Any:
        """MjvCamera of the window."""
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._model, camera)
        return self._watch("cam", camera, CAMERA)

    @cached_property
    def options(self) -> Any:
        """MjvOption of the window."""
        return self._watch("opt", mujoco.MjvOption(), OPTIONS)

    @cached_property
    def scene(self) -> Any:
        """MjvScene for geoms of the program, empty at first."""
        scene = mujoco.MjvScene(self._model, MOST_GEOMS)
        self._geoms = GeomMemory(scene)
        return scene

    def hand_over(self, send: Send, shared: SharedMemory) -> None:
        """Send the window the values that have changed since the last call."""
        for name, (owner, fields) in self._watched.items():
            values = read_values(owner, fields)
            changed = {field: value for field, value in values.items() if value != self._sent[name][field]}
            if changed and send({name: changed}):
                self._sent[name] = values
        if self._geoms is not None:
            words = shared.words
            words[Word.GEOM_VERSION] += 1
            words[Word.GEOMS] = self._geoms.read(shared.geoms)
            words[Word.GEOM_VERSION] += 1

    def _watch(self, name: str, owner: Any, fields: tuple[str, ...]) -> Any:
        self._watched[name] = owner, fields
        self._sent[name] = read_values(owner, fields)
        return owner


def own_model(model: MjModel, scene: Any) -> tuple[MjModel, Path | None]:
    """Return a copy of a program's model with companions, and the file of its scene.

    `scene`: a file, the name of a bundled scene, or an MjSpec, which is not changed. Changes of the model by the
    program are copied too. Raises SceneError if the model is not of this scene.
    """
    path, name = None, "the specification"
    if isinstance(scene, mujoco.MjSpec):
        try:
            loaded = compile_spec(scene.copy(), None)
        except Exception as error:
            raise SceneError(f"{name} does not compile: {one_line(error)}") from None
    else:
        path = find_scene(scene)
        name, loaded = str(path), load_scene(path)
    own = loaded.model
    if (what := _difference(model, own)) is not None:
        raise SceneError(f"{name} is not the scene of this model: {what}")
    theirs, ours = ModelValues(model), ModelValues(own)
    for place, content in enumerate(theirs.split(theirs.read())):
        ours.write(place, content)
    if mujoco.mj_stateSize(own, STATE) != mujoco.mj_stateSize(model, STATE):
        # Companions of delayed sensors have a history buffer, which no state of the program holds.
        return model, path
    return own, path


def _difference(model: MjModel, own: MjModel) -> str | None:
    """Return the first difference of two models besides companions and values that a program may change, or None."""
    for name in _COUNTS:
        if getattr(model, name) != getattr(own, name):
            return f"{name} is {getattr(own, name)} there, {getattr(model, name)} in the model"
    for table in _NAMED:
        for there, here in zip(read_names(own, table), read_names(model, table), strict=True):
            if there != here:
                return f"it has a {table} named {there!r} where the model has {here!r}"
    for name in (name for name in dir(model) if name.startswith(_FIXED)):
        there, here = getattr(own, name), getattr(model, name)
        # Paths of files have no effect.
        if isinstance(here, np.ndarray) and not name.endswith("pathadr") and not np.array_equal(there, here):
            return f"{name} differs"
    for name in _SENSOR:
        if not np.array_equal(getattr(own, name)[: model.nsensor], getattr(model, name)):
            return f"{name} differs"
    return None


def check_simulation(model: Any, data: Any) -> tuple[MjModel, MjData]:
    """Return MuJoCo's model and data, also from objects of dm_control and robosuite. Raises SceneError if they do not
    belong together: MuJoCo would read beyond the end of arrays."""
    given = f"{_type_name(model)} and {_type_name(data)}"
    model, data = unwrap(model, mujoco.MjModel), unwrap(data, mujoco.MjData)
    if model is None or data is None:
        raise SceneError(f"an MjModel and an MjData are needed, not {given}")
    sizes = {
        "qpos": model.nq,
        "qvel": model.nv,
        "act": model.na,
        "ctrl": model.nu,
        "mocap_pos": model.nmocap,
        "xpos": model.nbody,
        "geom_xpos": model.ngeom,
        "sensordata": model.nsensordata,
    }
    for name, size in sizes.items():
        if len(getattr(data, name)) != size:
            raise SceneError(f"the data are of another model: {name} has {len(getattr(data, name))}, not {size}")
    return model, data


def unwrap(given: Any, kind: type) -> Any:
    """Return MuJoCo's object of a kind, such as MjModel, also out of dm_control's and robosuite's objects; else
    None."""
    for found in (given, *(getattr(given, name, None) for name in _WRAPPED)):
        if isinstance(found, kind):
            return found
    return None


def _type_name(given: Any) -> str:
    """Return the name of an object's type, with its module: other libraries have an MjModel, too."""
    return f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
