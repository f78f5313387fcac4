"""Turns a compiled model into one with further contact sensors: a model of ours, beside one that is never changed.

MuJoCo adds sensors to specifications only. A model's binary file is sizes, options and then every array in the order of
its fields, so that sensors can be appended there; the result is compared with the original before it is used.
"""

import os
import tempfile
from collections.abc import Sequence
from typing import IO, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.declarations import TARGET_OBJECTS, delayed_sensors
from ..mjmodel.matching import full_layout
from ..mjmodel.names import COMPANION, label_sensors, read_names
from ..mjmodel.types import MjModel
from ..sensors.contact_declaration import ContactDeclaration
from ..sensors.layout import Field
from ..settings import Reduce
from .scene import COMPANION_VALUES_MAX, LoadedScene
from .spec_changes import TARGET_TABLES, RefusedChange, SensorChange

_CONTACT = int(mujoco.mjtSensor.mjSENS_CONTACT)
_ACC = int(mujoco.mjtStage.mjSTAGE_ACC)
_HEADER = 5 * 4
"""Bytes before the sizes: five numbers, which tell files apart."""
_ALIGNMENT = 64
"""Of arrays in a model's memory [bytes], which decides `nbuffer`."""
_PIECE = 1 << 16
_ALL_FIELDS = (1 << int(mujoco.mjtConDataField.mjNCONDATA)) - 1
_AFTER_SENSORS = ("nnumeric", "ntext", "ntuple", "nkey", "nplugin")
"""Things whose names follow those of sensors in `names_map`."""
Values = dict[str, Any]
"""What a sensor has in the arrays `sensor_...`, by the rest of their names."""
Part = bytes | memoryview


def with_sensors(scene: LoadedScene, changes: Sequence[SensorChange] = ()) -> LoadedScene:
    """A scene with some sensors made or changed, in which each contact sensor has a companion with every field.

    The scene itself if nothing is to be added. Its model is never changed. Changes that do not fit are among the
    `refusals`; SceneError where MuJoCo's files are not as this module knows them.
    """
    model = scene.model
    if not hasattr(model, "_all_fields") or not hasattr(model, "_sizes"):
        raise SceneError(f"MuJoCo {mujoco.__version__} does not say how its models are stored")
    names = label_sensors(read_names(model, "sensor"))
    declared = [i for i in np.flatnonzero(model.sensor_type == _CONTACT).tolist() if not names[i].startswith(COMPANION)]
    rows: list[tuple[str, Values]] = []
    hidden: dict[int, str] = {}
    refusals: list[RefusedChange] = []
    for change in changes:
        taken = [name for i, name in enumerate(names) if i not in hidden and name != change.replaces]
        values, reason = _values(model, change.after)
        if change.name in [*taken, *(name for name, _ in rows)]:
            reason = "the scene has a sensor of that name"
        elif change.before is not None and change.replaces not in names:
            reason = f"the scene has no sensor {change.replaces!r} to change"
        if reason is not None:
            refusals.append(RefusedChange(change, reason))
            continue
        if change.before is not None:
            place = names.index(change.replaces)
            hidden[place] = f"{COMPANION}replaced{place}"
        rows.append((change.name, values))
    companions = dict(scene.companions)
    made = len(rows)
    left_alone = {*hidden, *companions, *delayed_sensors(model)}
    for i in (i for i in declared if i not in left_alone):
        values = _read(model, i)
        if _accompany(values):
            companions[i] = model.nsensor + len(rows)
            rows.append((f"{COMPANION}{i}", values))
    for k in range(made):
        values = dict(rows[k][1])
        if _accompany(values):
            companions[model.nsensor + k] = model.nsensor + len(rows)
            rows.append((f"{COMPANION}{model.nsensor + k}", values))
    if rows:
        model = _extend(model, rows, hidden)
    return LoadedScene(
        scene.path,
        model,
        {sensor: companion for sensor, companion in companions.items() if sensor not in hidden},
        hidden=(*hidden, *(companions[i] for i in hidden if i in companions)),
        refusals=tuple(refusals),
        notes=scene.notes,
    )


def companions_of(model: MjModel) -> dict[int, int]:
    """The companions of a model that was compiled with some: id of a contact sensor -> id of its companion."""
    names = read_names(model, "sensor")
    return {int(name.removeprefix(COMPANION)): i for i, name in enumerate(names) if name.startswith(COMPANION)}


def _values(model: MjModel, declaration: ContactDeclaration) -> tuple[Values, str | None]:
    """A sensor as a model has it, and why it cannot have it, if so."""
    if declaration.problem is not None:
        return {}, declaration.problem
    bits = sum(1 << list(Field).index(field) for field in declaration.fields)
    values: Values = {
        "type": _CONTACT,
        "needstage": _ACC,
        "intprm": (bits, list(Reduce).index(declaration.reduce), declaration.num),
        "dim": declaration.layout.size,
        "plugin": -1,
        "historyadr": -1,
    }
    for side, target in (("obj", declaration.first), ("ref", declaration.second)):
        number = -1
        if target.kind in TARGET_TABLES:
            table = TARGET_TABLES[target.kind]
            names = read_names(model, table)
            if target.name not in names:
                return {}, f"the scene has no {table} named {target.name!r}"
            number = names.index(target.name)
        values |= {f"{side}type": int(TARGET_OBJECTS[target.kind]), f"{side}id": number}
    return values, None


def _read(model: MjModel, sensor: int) -> Values:
    return {field.removeprefix("sensor_"): getattr(model, field)[sensor].copy() for field in _sensor_fields(model)}


def _accompany(values: Values) -> bool:
    """Make a sensor its own companion, with all fields; False if that were too large."""
    _, reduce, num = (int(number) for number in values["intprm"])
    slots = max(1, num)
    # Older versions of MuJoCo have fewer.
    size = full_layout(slots).size
    if size > COMPANION_VALUES_MAX:
        return False
    values |= {"intprm": (_ALL_FIELDS, reduce, slots), "dim": size, "needstage": _ACC, "cutoff": 0.0, "noise": 0.0}
    return True


def _sensor_fields(model: MjModel) -> list[str]:
    return [field for field in model._all_fields if field.startswith("sensor_")]


def _extend(model: MjModel, rows: Sequence[tuple[str, Values]], renamed: dict[int, str]) -> MjModel:
    """A copy of a model with sensors appended and some renamed."""
    parts = _parts(model)
    memory = _memory(parts)
    count, start = len(rows), int(model.nsensordata)
    names, addresses = bytearray(parts["names"]), model.name_sensoradr.tolist()
    for name, place in [*((name, place) for place, name in renamed.items()), *((name, -1) for name, _ in rows)]:
        if place < 0:
            addresses.append(len(names))
        else:
            addresses[place] = len(names)
        names += name.encode() + b"\0"
    sizes = [int(values["dim"]) for _, values in rows]
    for field in _sensor_fields(model):
        before: NDArray[Any] = getattr(model, field)
        added = np.zeros((count, *before.shape[1:]), before.dtype)
        for k, (_, values) in enumerate(rows):
            if field.removeprefix("sensor_") in values:
                added[k] = values[field.removeprefix("sensor_")]
        if field == "sensor_adr":
            added[:] = start + np.cumsum([0, *sizes[:-1]])
        parts[field] = bytes(parts[field]) + added.tobytes()
    parts["name_sensoradr"] = np.array(addresses, np.int32).tobytes()
    parts["names"] = bytes(names)
    # Two places a sensor. Empty: nobody looks for our sensors through MuJoCo.
    after = 2 * sum(getattr(model, name) for name in _AFTER_SENSORS)
    numbers = model.names_map.tolist()
    stop = len(numbers) - after
    numbers[stop - 2 * model.nsensor : stop] = [-1] * (2 * (model.nsensor + count))
    parts["names_map"] = np.array(numbers, model.names_map.dtype).tobytes()
    extended = {
        "nsensor": model.nsensor + count,
        "nsensordata": start + sum(sizes),
        "nnames": len(names),
        "nnames_map": len(numbers),
        "nbuffer": model.nbuffer + _memory(parts) - memory,
    }
    return _checked(model, _load(model, parts, extended), extended)


def _parts(model: MjModel) -> dict[str, Part]:
    """What a model's file is made of: "header", "sizes", "options", then each array by its field."""
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
    """Memory of a model's arrays [bytes]."""
    return sum(len(part) + -len(part) % _ALIGNMENT for part in list(parts.values())[3:])


def _load(model: MjModel, parts: dict[str, Part], extended: dict[str, int]) -> MjModel:
    sizes = dict(zip(model._size_fields, model._sizes.tolist(), strict=True)) | extended
    parts["sizes"] = np.array(list(sizes.values()), model._sizes.dtype).tobytes()
    try:
        with _open_file() as file:
            file.writelines(parts.values())
            file.flush()
            name = file.name if isinstance(file.name, str) else f"/dev/fd/{file.fileno()}"
            return mujoco.MjModel.from_binary_path(name)
    except (OSError, ValueError, mujoco.FatalError) as error:
        raise SceneError(f"sensors cannot be added to this compiled model ({error})") from None


def _open_file() -> IO[bytes]:
    """A file that is gone once it is closed: in memory where it can be, faster than on a disk."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("contact-viewer-model"), "wb")
    return tempfile.NamedTemporaryFile(suffix=".mjb")


def _checked(before: MjModel, model: MjModel, extended: dict[str, int]) -> MjModel:
    """A model, if all but its sensors is as in another one, to the last bit."""
    for name in before._all_fields:
        old, new = getattr(before, name, None), getattr(model, name, None)
        if isinstance(old, (np.ndarray, bytes)):
            same = name.startswith("sensor_") or name in ("name_sensoradr", "names", "names_map", "_sizes")
            same = same or _is_same(_bytes(old), _bytes(new))
        else:
            same = name in extended or not isinstance(old, int) or old == new
        if not same:
            raise SceneError(f"sensors cannot be added to this compiled model ({name} would change)")
    return model


def _bytes(array: Any) -> memoryview:
    """The bytes of an array, or of bytes."""
    whole = memoryview(array)
    return whole.cast("B") if whole.nbytes else memoryview(b"")


def _is_same(one: memoryview, other: memoryview) -> bool:
    """True if bytes are the same. Piece by piece: to compare them is fast, to copy a large array is not."""
    if len(one) != len(other):
        return False
    return all(one[k : k + _PIECE].tobytes() == other[k : k + _PIECE].tobytes() for k in range(0, len(one), _PIECE))
