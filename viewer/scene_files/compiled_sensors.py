"""Adds contact sensors to a compiled model, in a separate model: the compiled one is never changed.

MuJoCo adds sensors to specifications only. A model's binary file is sizes, options and then every array in the order of
its fields, so that sensors can be appended there; the result is compared with the written data before it is used.
"""

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.declarations import TARGET_OBJECTS, delayed_sensors
from ..mjmodel.matching import full_layout
from ..mjmodel.names import COMPANION, WATCHER, body_names, geom_names, label_sensors, read_names
from ..mjmodel.pair_selection import can_touch, find_touchable
from ..mjmodel.types import MjModel
from ..sensors.contact_declaration import ContactDeclaration, TargetKind
from .scene import COMPANION_VALUES_MAX, LoadedScene
from .spec_changes import (
    TARGET_TABLES,
    RefusedChange,
    SceneChange,
    SensorChange,
    fit_changes,
    read_declarations,
    refuse,
    sensor_numbers,
)

_CONTACT = int(mujoco.mjtSensor.mjSENS_CONTACT)
_ACC = int(mujoco.mjtStage.mjSTAGE_ACC)
_HEADER = 5 * 4
"""Bytes before the sizes: five numbers, which identify the file format."""
_ALIGNMENT = 64
"""Alignment of arrays in a model's memory [bytes], which decides `nbuffer`."""
_ALL_FIELDS = (1 << int(mujoco.mjtConDataField.mjNCONDATA)) - 1
_AFTER_SENSORS = ("nnumeric", "ntext", "ntuple", "nkey", "nplugin")
"""Kinds of objects whose names follow those of sensors in `names_map`."""
Values = dict[str, Any]
"""Values of a sensor in the arrays `sensor_...`, by the rest of their names."""
Table = dict[str, NDArray[Any]]
"""The arrays `sensor_...` by their names, with one row per sensor."""
Part = bytes | memoryview


_SLOTS_PER_GEOM, _FEWEST_SLOTS, _MOST_SLOTS = 4, 8, 16
S = TypeVar("S", bound=LoadedScene)


def watch(scene: S, patterns: Sequence[str]) -> S:
    """Return a scene with a contact sensor for each body, or for bodies and geoms whose names fit patterns.

    Args:
        scene: A scene that stays as it is.
        patterns: As `find_touchable` reads them.

    Raises:
        SceneError: A pattern fits nothing that can touch.
    """
    if not patterns:
        return scene
    model = scene.model
    touches = can_touch(model)
    chosen = find_touchable(model, patterns)
    names = {"body": body_names(model), "geom": geom_names(model)}

    def slots_of(kind: str, number: int) -> int:
        count = 1 if kind == "geom" else int(touches[model.geom_bodyid == number].sum())
        return min(max(_SLOTS_PER_GEOM * count, _FEWEST_SLOTS), _MOST_SLOTS)

    taken, made = set(label_sensors(read_names(model, "sensor"))), {}
    # Those with as many slots beside each other are read together.
    for slots, kind, number in sorted((slots_of(*each), *each) for each in chosen):
        name = names[kind][number]
        name = name if name not in taken else f"{kind} {name}"
        taken.add(name)
        made[name] = {
            "type": _CONTACT,
            "needstage": _ACC,
            "intprm": (1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND), 0, slots),
            "dim": slots,
            "plugin": -1,
            "historyadr": -1,
            # Second, so that forces are those that act on it.
            "objtype": int(TARGET_OBJECTS[TargetKind.ANY]),
            "objid": -1,
            "reftype": int(TARGET_OBJECTS[TargetKind(kind)]),
            "refid": number,
        }
    watched = with_sensors(scene, made=made)
    sensors = read_names(watched.model, "sensor")
    if WATCHER in sensors:
        # Nobody reads it beside other sensors: MuJoCo computes sensors by their stage.
        watched.model.sensor_needstage[sensors.index(WATCHER)] = int(mujoco.mjtStage.mjSTAGE_NONE)
    return watched


def with_sensors(scene: S, changes: Sequence[SceneChange] = (), made: Mapping[str, Values] | None = None) -> S:
    """Return a scene with some sensors made or changed, in which each contact sensor has a companion with every field.

    Return the scene itself if nothing is to be added; its model is never changed. `made`: further sensors by name.
    Changes that do not fit are among the `refusals`; raises SceneError where MuJoCo's files have an unknown format.
    Sensors with a delay have no companions: a companion's delay buffer would make a state of the model longer.
    """
    model = scene.model
    written = read_names(model, "sensor")
    sensor_changes = [change for change in changes if isinstance(change, SensorChange)]
    applied, hidden, refusals = _apply(model, label_sensors(written), sensor_changes)
    made = applied | dict(made or {})
    others = [change for change in changes if not isinstance(change, SensorChange)]
    refusals += refuse(others, "a compiled model cannot be changed")
    names = [*written, *made]
    sensors = _with_rows({field: getattr(model, field) for field in _sensor_fields(model)}, made.values())
    is_accompanied = sensors["sensor_type"] == _CONTACT
    is_accompanied[[*hidden, *scene.companions, *delayed_sensors(model)]] = False
    is_accompanied[[i for i, name in enumerate(names) if name.startswith(COMPANION)]] = False
    is_accompanied &= _slots(sensors) * full_layout(1).size <= COMPANION_VALUES_MAX
    accompanied = np.flatnonzero(is_accompanied)
    companions = scene.companions | dict(
        zip(accompanied.tolist(), range(len(names), len(names) + len(accompanied)), strict=True)
    )
    added = [*made, *(f"{COMPANION}{i}" for i in accompanied.tolist())]
    if added:
        model = _extend(model, _with_companions(sensors, accompanied), added, hidden, len(names))
    return replace(
        scene,
        model=model,
        companions={sensor: companion for sensor, companion in companions.items() if sensor not in hidden},
        hidden=(*hidden, *(companions[i] for i in hidden if i in companions)),
        refusals=(*scene.refusals, *refusals),
    )


def companions_of(model: MjModel) -> dict[int, int]:
    """Return the companions in a model: id of a contact sensor to id of its companion."""
    names = read_names(model, "sensor")
    return {
        int(name.removeprefix(COMPANION)): i
        for i, name in enumerate(names)
        if name.startswith(COMPANION) and name != WATCHER
    }


def _values(model: MjModel, declaration: ContactDeclaration) -> Values:
    """Return the declaration of a sensor in a model."""
    values: Values = {
        "type": _CONTACT,
        "needstage": _ACC,
        "intprm": sensor_numbers(declaration),
        "dim": declaration.layout.size,
        "plugin": -1,
        "historyadr": -1,
    }
    for side, target in (("obj", declaration.first), ("ref", declaration.second)):
        table = TARGET_TABLES.get(target.kind)
        number = -1 if table is None else read_names(model, table).index(target.name)
        values |= {f"{side}type": int(TARGET_OBJECTS[target.kind]), f"{side}id": number}
    return values


def _apply(
    model: MjModel, names: list[str], changes: Sequence[SensorChange]
) -> tuple[dict[str, Values], dict[int, str], list[RefusedChange]]:
    """Return the sensors to be made, by name; new names of replaced sensors, by id; and changes that do not fit."""
    made: dict[str, Values] = {}
    hidden: dict[int, str] = {}
    declared = read_declarations(model) if changes else {}

    def write(change: SensorChange, place: int | None) -> None:
        made[change.name] = _values(model, change.after)
        if place is not None:
            hidden[place] = f"{COMPANION}replaced{place}"

    refusals = fit_changes(
        changes,
        names,
        lambda place: declared.get(names[place]) if place < len(names) else None,
        lambda table, name: name in read_names(model, table),
        write,
    )
    return made, hidden, refusals


def _sensor_fields(model: MjModel) -> list[str]:
    return [field for field in model._all_fields if field.startswith("sensor_")]


def _slots(sensors: Table) -> NDArray[np.int32]:
    return np.maximum(sensors["sensor_intprm"][:, 2], 1)


def _with_rows(sensors: Table, rows: Collection[Values]) -> Table:
    """Return a table of sensors with rows appended; values that a row lacks are 0."""
    extended = {}
    for field, before in sensors.items():
        added = np.zeros((len(rows), *before.shape[1:]), before.dtype)
        for k, values in enumerate(rows):
            added[k] = values.get(field.removeprefix("sensor_"), 0)
        extended[field] = np.concatenate([before, added])
    return extended


def _with_companions(sensors: Table, accompanied: NDArray[np.intp]) -> Table:
    """Return the sensors, with companions that have all fields appended for some of them."""
    companions = {field: values[accompanied] for field, values in sensors.items()}
    slots = _slots(companions)
    companions["sensor_intprm"][:, 0] = _ALL_FIELDS
    companions["sensor_intprm"][:, 2] = slots
    # Older versions of MuJoCo have fewer fields.
    companions["sensor_dim"] = slots * full_layout(1).size
    companions["sensor_needstage"][:] = _ACC
    for field in ("sensor_cutoff", "sensor_noise", "sensor_user"):
        companions[field][:] = 0.0
    return {field: np.concatenate([values, companions[field]]) for field, values in sensors.items()}


def _extend(model: MjModel, sensors: Table, added: Sequence[str], renamed: dict[int, str], sought: int) -> MjModel:
    """Return a copy of a model with some of its sensors renamed and others added, by name. `sought`: number of sensors
    that MuJoCo finds by name. Companions are never looked up by name."""
    parts = _parts(model)
    memory = _memory(parts)
    before, count = int(model.nsensor), len(sensors["sensor_type"])
    dims = sensors["sensor_dim"][before:]
    ends = model.nsensordata + np.cumsum(dims)
    sensors["sensor_adr"][before:] = ends - dims
    parts |= {field: array.tobytes() for field, array in sensors.items()}
    texts = [f"{name}\0".encode() for name in (*added, *renamed.values())]
    names = b"".join([parts["names"], *texts])
    starts = np.cumsum([len(parts["names"]), *map(len, texts)])[:-1]
    addresses = np.concatenate([model.name_sensoradr, starts[: len(added)]], dtype=np.int32)
    addresses[list(renamed)] = starts[len(added) :]
    # Two places a sensor.
    after = 2 * sum(getattr(model, name) for name in _AFTER_SENSORS)
    first, stop = len(model.names_map) - after - 2 * before, len(model.names_map) - after
    table = _name_table([names[start : names.index(b"\0", start)] for start in addresses[:sought].tolist()], 2 * count)
    names_map = np.concatenate([model.names_map[:first], table, model.names_map[stop:]], dtype=model.names_map.dtype)
    parts |= {"names": names, "name_sensoradr": addresses.tobytes(), "names_map": names_map.tobytes()}
    extended = {
        "nsensor": count,
        "nsensordata": int(ends[-1]),
        "nnames": len(names),
        "nnames_map": len(names_map),
        "nbuffer": model.nbuffer + _memory(parts) - memory,
    }
    return _load(model, parts, extended)


def _name_table(names: Sequence[bytes], size: int) -> list[int]:
    """Return the hash table in which MuJoCo finds ids by name: each at its hash, or at the next free place."""
    table = [-1] * size
    for i, name in enumerate(names):
        place = 5381
        # Signed, as letters are in C.
        for letter in memoryview(name).cast("b"):
            place = (place * 33 ^ letter) % 2**64
        while name and table[place % size] >= 0:
            place += 1
        if name:
            table[place % size] = i
    return table


def _parts(model: MjModel) -> dict[str, Part]:
    """Return the parts of a model's file: "header", "sizes", "options", then each array by its field."""
    content = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, content)
    # Parts of one block: a robot's meshes take 80 MB.
    whole, sizes = _bytes(content), model._sizes.tobytes()
    arrays = [name for name in model._all_fields if isinstance(getattr(model, name, None), (np.ndarray, bytes))]
    lengths = {name: len(_bytes(getattr(model, name))) for name in arrays}
    begin = len(whole) - sum(lengths.values())
    if whole[_HEADER : _HEADER + len(sizes)] != sizes or begin < _HEADER + len(sizes):
        raise SceneError("this MuJoCo writes models in a form that is not known here")
    parts: dict[str, Part] = {"header": whole[:_HEADER], "sizes": sizes, "options": whole[_HEADER + len(sizes) : begin]}
    for name in arrays:
        parts[name] = whole[begin : begin + lengths[name]]
        begin += lengths[name]
    return parts


def _memory(parts: dict[str, Part]) -> int:
    """Return the memory of a model's arrays [bytes]."""
    return sum(len(part) + -len(part) % _ALIGNMENT for part in list(parts.values())[3:])


def _load(model: MjModel, parts: dict[str, Part], extended: dict[str, int]) -> MjModel:
    """Return a model with some sizes changed, made of parts; SceneError unless MuJoCo holds each part bit for bit."""
    sizes = dict(zip(model._size_fields, model._sizes.tolist(), strict=True)) | extended
    parts["sizes"] = np.array(list(sizes.values()), model._sizes.dtype).tobytes()
    try:
        with _open_file() as file:
            file.writelines(parts.values())
            file.flush()
            name = file.name if isinstance(file.name, str) else f"/dev/fd/{file.fileno()}"
            loaded = mujoco.MjModel.from_binary_path(name)
    except (OSError, ValueError, mujoco.FatalError) as error:
        raise SceneError(f"sensors cannot be added to this compiled model ({error})") from None
    for name, part in _parts(loaded).items():
        if not np.array_equal(np.frombuffer(part, np.uint8), np.frombuffer(parts[name], np.uint8)):
            raise SceneError(f"sensors cannot be added to this compiled model ({name} would change)")
    return loaded


def _open_file() -> IO[bytes]:
    """Return a file that is deleted when it is closed, in memory if possible."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("contact-viewer-model"), "wb")
    return tempfile.NamedTemporaryFile(suffix=".mjb")


def _bytes(array: Any) -> memoryview:
    """Return the bytes of an array, or of bytes."""
    whole = memoryview(array)
    return whole.cast("B") if whole.nbytes else memoryview(b"")
