"""Turns scene files into compiled MuJoCo models in which each contact sensor has a companion with every field."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco

from ..assets import DEFAULT_SCENE, bundled_scene, bundled_scenes
from ..errors import SceneError
from ..mjmodel.names import COMPANION
from ..mjmodel.types import MjModel
from .model_checks import lower_settings
from .spec_changes import RefusedChange, SensorChange, apply_changes, refuse

SUFFIXES = (".xml", ".mjcf", ".urdf", ".mjb")
COMPANION_VALUES_MAX = 1_000_000
"""Longest companion array. Sensors with a larger `num` are reconstructed instead."""

engine_warnings: deque[str] = deque(maxlen=100)
"""MuJoCo's warnings, newest last."""


@dataclass(frozen=True)
class LoadedScene:
    """A compiled scene."""

    path: Path | None
    model: MjModel
    companions: dict[int, int] = field(default_factory=dict)
    """Id of a declared contact sensor -> id of its companion."""
    owned: bool = True
    """True if it is ours to change. A user's own model is read only."""
    refusals: tuple[RefusedChange, ...] = ()
    """Changes that were asked for and do not fit it."""
    notes: tuple[str, ...] = ()
    """What a person should know of it, such as settings that were lowered."""
    hidden: tuple[int, ...] = ()
    """Ids of further sensors that nobody sees: those that others replace."""


def find_scene(scene: str | Path | None) -> Path:
    """Absolute path of a scene given by path, by the name of a bundled scene, or not at all (the default one)."""
    text = str(scene or DEFAULT_SCENE)
    bundled = bundled_scene(text)
    path = Path(text).expanduser()
    try:
        path.exists()
    except OSError as error:  # A name that no file system accepts.
        raise SceneError(f"{text[:60]}...: cannot be read ({error.strerror})") from None
    if bundled is not None and not path.exists():
        return bundled.path
    if not path.exists():
        names = ", ".join(known.name for known in bundled_scenes())
        hint = "" if path.suffix else f"; bundled scenes: {names}"
        raise SceneError(f"{text}: no such file{hint}")
    if path.is_dir():
        if bundled is not None:
            return bundled.path
        raise SceneError(f"{text}: is a folder, not a scene file")
    if not path.is_file():
        raise SceneError(f"{text}: not a regular file")
    if path.suffix.lower() not in SUFFIXES:
        raise SceneError(f"{text}: unknown kind of scene; expected {', '.join(SUFFIXES)}")
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise SceneError(f"{text}: the file is empty")
    except OSError as error:
        raise SceneError(f"{text}: cannot be read ({error.strerror})") from None
    # MuJoCo resolves includes of a relative path wrongly, so it never sees one.
    return path.resolve()


def load_scene(
    path: Path, changes: Sequence[SensorChange] = (), texts: Mapping[Path, bytes] | None = None
) -> LoadedScene:
    """Compile a scene file with some changes of its sensors, which a compiled model does not accept.

    `texts`: what is read in place of some of its XML files.
    """
    catch_warnings()
    try:
        if path.suffix.lower() == ".mjb":
            return LoadedScene(
                path,
                mujoco.MjModel.from_binary_path(str(path)),
                refusals=refuse(changes, "a compiled model cannot be changed"),
            )
        spec = _read_spec(path, {str(name): text for name, text in (texts or {}).items()})
        # Before it is compiled: the compiler simulates.
        notes = lower_settings(spec.option, spec.visual)
        refusals = apply_changes(spec, changes)
        declared = list(spec.sensors)
        companions = add_companions(spec)
        model = spec.compile()
    except Exception as error:  # Out of memory and parser faults arrive as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None
    ids = {sensor: len(declared) + k for k, sensor in enumerate(companions)}
    if ids:
        model.sensor_intprm[list(ids.values()), 1] = model.sensor_intprm[list(ids), 1]
    return LoadedScene(path, model, ids, refusals=tuple(refusals), notes=notes)


def catch_warnings() -> None:
    """Let MuJoCo's warnings be kept: without a hook it writes MUJOCO_LOG.TXT into the working folder."""
    mujoco.set_mju_user_warning(engine_warnings.append)


def _read_spec(path: Path, texts: dict[str, bytes]) -> Any:
    if path.suffix in (".xml", ".urdf"):
        return mujoco.MjSpec.from_file(str(path), include=texts) if texts else mujoco.MjSpec.from_file(str(path))
    # MuJoCo decides by the suffix, so it gets the text under one that it knows.
    name = f"{path}.xml"
    return mujoco.MjSpec.from_file(name, include={**texts, name: texts.get(str(path), path.read_bytes())})


def add_companions(spec: Any) -> list[int]:
    """Give each contact sensor of a spec a companion with all fields; returns the ids of the sensors that have one."""
    all_fields = (1 << int(mujoco.mjtConDataField.mjNCONDATA)) - 1
    accompanied, kind, sensors = [], mujoco.mjtSensor.mjSENS_CONTACT, list(spec.sensors)
    # Of a sensor that is delayed; MuJoCo before 3.5 has none.
    delays = [name for name in ("nsample", "interp", "delay", "interval") if sensors and hasattr(sensors[0], name)]
    for index, sensor in enumerate(sensors):
        if sensor.type != kind:
            continue
        slots = max(1, int(sensor.intprm[2]))
        if slots * 23 > COMPANION_VALUES_MAX:
            continue
        companion = spec.add_sensor(
            name=f"{COMPANION}{index}",
            type=kind,
            objtype=sensor.objtype,
            objname=sensor.objname,
            reftype=sensor.reftype,
            refname=sensor.refname,
            # The compiler refuses velocities with netforce, the engine does not: reduce is set after compiling.
            intprm=(all_fields, 0, slots),
        )
        for attribute in delays:
            setattr(companion, attribute, getattr(sensor, attribute))
        accompanied.append(index)
    return accompanied


def one_line(error: BaseException) -> str:
    """An engine's message on one line."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip()) or type(error).__name__
