"""Turns scene files into compiled MuJoCo models in which each contact sensor has a companion with every field."""

import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco

from ..assets import DEFAULT_SCENE, bundled_scene, bundled_scenes
from ..errors import SceneError, did_you_mean
from ..mjmodel.names import COMPANION, WATCHER
from ..mjmodel.state_log import StateLog
from ..mjmodel.types import MjModel
from .model_checks import lower_settings
from .run_file import SUFFIX as RUN_SUFFIX
from .run_file import RunFile
from .spec_changes import RefusedChange, SceneChange, apply_changes, change_from_json, refuse

SUFFIXES = (".xml", ".mjcf", ".urdf", ".mjb", RUN_SUFFIX)
COMPILED = (".mjb", RUN_SUFFIX)
"""Suffixes of compiled models, which cannot be changed."""
_ROBOT = "robot:"
"""Prefix of a scene that names a robot of the package robot_descriptions, even if something else has that name."""
_WATCHED_PER_GEOM = 4
_WATCHED_MIN, _WATCHED_MAX = 16, 128
"""The sensor of all contacts has `_WATCHED_PER_GEOM` slots for each geom that can collide, and in all at least
`_WATCHED_MIN` and at most `_WATCHED_MAX`. Each kept step stores all slots; a scene with more contacts is read from the
contact list."""
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
    """True if the scene may be changed. A user's own model is only read."""
    refusals: tuple[RefusedChange, ...] = ()
    """Requested changes that do not fit the scene."""
    notes: tuple[str, ...] = ()
    """Notes for the user about the scene, such as settings that were lowered."""
    hidden: tuple[int, ...] = ()
    """Ids of hidden sensors that others replace."""
    log: StateLog | None = None
    """Steps that are re-simulated on the scene."""


def find_scene(scene: str | Path | None) -> Path:
    """Return the absolute path of a scene.

    It is given by path, by the name of a bundled scene or of a robot (see `_find_robot`), or not at all (the default).
    """
    text = str(scene or DEFAULT_SCENE)
    bundled = bundled_scene(text)
    path = Path(text).expanduser()
    try:
        path.exists()
    except OSError as error:  # A name that no file system accepts.
        raise SceneError(f"{text[:60]}...: cannot be read ({error.strerror})") from None
    if bundled is not None and not path.exists():
        return bundled.path
    if not path.exists() and (robot := _find_robot(text)) is not None:
        return robot
    if not path.exists():
        names = [known.name for known in bundled_scenes()]
        hint = "" if path.suffix else did_you_mean(text, names) or f"; bundled scenes: {', '.join(names)}"
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


def _find_robot(name: str) -> Path | None:
    """Return the scene of a robot of the package robot_descriptions, such as go2 or robot:unitree_go2; None if there is
    no such robot.

    The package downloads the robot when it is first asked for it. Raises SceneError if that fails.
    """
    robot = name.removeprefix(_ROBOT)
    asks = name != robot
    if not robot.isidentifier() or (not asks and find_spec("robot_descriptions") is None):
        return None
    if find_spec("robot_descriptions") is None:
        raise SceneError(f"{name}: needs a package that is not installed: pip install robot_descriptions")
    # The package's names have no manufacturer: unitree_go2 is go2 there.
    modules = [f"robot_descriptions.{known}_mj_description" for known in (robot, robot.partition("_")[2]) if known]
    module = next((module for module in modules if find_spec(module) is not None), None)
    if module is None:
        if asks:
            raise SceneError(f"{name}: robot_descriptions has no MJCF robot of that name")
        return None
    try:
        path = Path(import_module(module).MJCF_PATH)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise SceneError(f"{name}: robot_descriptions could not download it ({reason})") from None
    # A robot's folder has a scene with a floor beside the robot alone.
    scene = path.with_name("scene.xml")
    return (scene if scene.exists() else path).resolve()


def load_scene(
    path: Path, changes: Sequence[SceneChange] = (), texts: Mapping[Path, bytes] | None = None
) -> LoadedScene:
    """Compile a scene file with some changes of its sensors, which a compiled model does not accept.

    `texts`: texts that are read in place of some of its XML files.
    """
    catch_warnings()
    if path.suffix.lower() == RUN_SUFFIX:
        return _load_run(path, changes)
    try:
        if path.suffix.lower() == ".mjb":
            return LoadedScene(
                path,
                mujoco.MjModel.from_binary_path(str(path)),
                refusals=refuse(changes, "a compiled model cannot be changed"),
            )
        spec = _read_spec(path, {str(name): text for name, text in (texts or {}).items()})
        return compile_spec(spec, path, changes)
    except Exception as error:  # Out of memory and parser faults arrive as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None


def compile_spec(spec: Any, path: Path | None, changes: Sequence[SceneChange] = ()) -> LoadedScene:
    """Compile a specification, which is changed: with some changes of its sensors, and with companions."""
    # Before it is compiled: the compiler simulates.
    notes = lower_settings(spec.option, spec.visual)
    refusals = apply_changes(spec, changes)
    companions = _add_companions(spec)
    _add_watcher(spec)
    model = spec.compile()
    ids = {sensor: model.nsensor - len(companions) + k for k, sensor in enumerate(companions)}
    if ids:
        model.sensor_intprm[list(ids.values()), 1] = model.sensor_intprm[list(ids), 1]
    return LoadedScene(path, model, ids, refusals=tuple(refusals), notes=notes)


def catch_warnings() -> None:
    """Keep MuJoCo's warnings in `engine_warnings`: without a hook it writes MUJOCO_LOG.TXT into the working folder."""
    mujoco.set_mju_user_warning(engine_warnings.append)


def _load_run(path: Path, changes: Sequence[SceneChange]) -> LoadedScene:
    """Return the model of a saved run; compiled again if another version of MuJoCo compiled it."""
    file = RunFile(path)
    refusals = refuse(changes, "a saved run cannot be changed")
    if file.mujoco == mujoco.__version__:
        name = "model.mjb"
        try:
            model = mujoco.MjModel.from_binary_path(name, {name: file.model()})
        except SceneError:
            raise
        except Exception as error:  # Out of memory and damage arrive as several types.
            raise SceneError(f"{path}: {one_line(error)}") from None
        named = [*file.hidden, *(i for pair in file.companions.items() for i in pair)]
        if not all(0 <= i < model.nsensor and model.sensor_type[i] == mujoco.mjtSensor.mjSENS_CONTACT for i in named):
            raise SceneError(f"{path}: damaged: its sensors are not those of its model")
        return LoadedScene(path, model, file.companions, refusals=refusals, hidden=file.hidden)
    versions = f"saved with MuJoCo {file.mujoco}, and this is {mujoco.__version__}"
    sources = file.sources()
    if not sources:
        raise SceneError(f"{path}: {versions}, which cannot read its compiled model; the file holds no source of it")
    with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
        for name, content in sources.items():
            target = Path(folder, name)
            if not target.resolve().is_relative_to(Path(folder).resolve()):
                raise SceneError(f"{path}: damaged: a source of its model has the path {name!r}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        try:
            made = [change_from_json(saved) for saved in file.about.get("changes", ())]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise SceneError(f"{path}: damaged: the changes of its sensors are not valid") from None
        try:
            scene = load_scene(Path(folder, next(iter(sources))), made)
        except SceneError as error:
            reason = str(error).replace(f"{folder}/", "")
            raise SceneError(f"{path}: {versions}, which cannot compile its model: {reason}") from None
    note = f"{versions}: its model was compiled again, and every step is compared with the saved one"
    return replace(scene, path=path, refusals=refusals, notes=(*scene.notes, note))


def _read_spec(path: Path, texts: dict[str, bytes]) -> Any:
    if path.suffix in (".xml", ".urdf"):
        return mujoco.MjSpec.from_file(str(path), include=texts) if texts else mujoco.MjSpec.from_file(str(path))
    # MuJoCo decides by the suffix, so it gets the text under one that it knows.
    name = f"{path}.xml"
    return mujoco.MjSpec.from_file(name, include={**texts, name: texts.get(str(path), path.read_bytes())})


def _add_companions(spec: Any) -> list[int]:
    """Give each contact sensor of a spec a companion with all fields; returns the ids of the sensors that have one."""
    all_fields = (1 << int(mujoco.mjtConDataField.mjNCONDATA)) - 1
    accompanied, kind = [], mujoco.mjtSensor.mjSENS_CONTACT
    for index, sensor in enumerate(list(spec.sensors)):
        if sensor.type != kind:
            continue
        slots = max(1, int(sensor.intprm[2]))
        if slots * 23 > COMPANION_VALUES_MAX:
            continue
        spec.add_sensor(
            name=f"{COMPANION}{index}",
            type=kind,
            objtype=sensor.objtype,
            objname=sensor.objname,
            reftype=sensor.reftype,
            refname=sensor.refname,
            # The compiler refuses velocities with netforce, the engine does not: reduce is set after compiling.
            intprm=(all_fields, 0, slots),
            nsample=sensor.nsample,
            interp=sensor.interp,
            delay=sensor.delay,
            interval=sensor.interval,
        )
        accompanied.append(index)
    return accompanied


def _add_watcher(spec: Any) -> None:
    """Give a spec without contact sensors a hidden one that matches every contact, with all fields.

    MuJoCo then writes all contacts into an array, in a hundredth of the time that reading the contact list takes.
    """
    kind = mujoco.mjtSensor.mjSENS_CONTACT
    if any(sensor.type == kind for sensor in spec.sensors):
        return
    geoms = sum(1 for geom in spec.geoms if geom.contype or geom.conaffinity)
    slots = min(max(_WATCHED_MIN, _WATCHED_PER_GEOM * geoms), _WATCHED_MAX)
    all_fields = (1 << int(mujoco.mjtConDataField.mjNCONDATA)) - 1
    spec.add_sensor(name=WATCHER, type=kind, intprm=(all_fields, 0, slots))


def one_line(error: BaseException) -> str:
    """Return an engine's message on one line."""
    if isinstance(error, ValueError) and not error.args:
        # Of a message that is not UTF-8 Python 3.11.2, which is Debian's, leaves nothing; later ones raise this.
        error = UnicodeDecodeError("utf-8", b"", 0, 0, "in the engine's message")
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip()) or type(error).__name__
