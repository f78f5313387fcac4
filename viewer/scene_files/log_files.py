"""Turns a log of states and controls, as other programs write them, into the states of a run: .npz, .hdf5 and .csv."""

import csv
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.names import read_names
from ..mjmodel.state import INPUTS, STATE, Values, parts_of, places, state_parts
from ..mjmodel.state_log import StateLog, check_times
from ..mjmodel.types import MjModel
from ..processes import import_extra
from .log_trials import STEPS_MAX, try_steps
from .run_file import SUFFIX as RUN_SUFFIX
from .run_file import RunFile, attempt_reading, check_unpacked, read_arrays

LOG_SUFFIXES = (".npz", ".hdf5", ".h5", ".csv", RUN_SUFFIX)
_PARTS = ("time", "qpos", "qvel", "act", "qacc_warmstart", *INPUTS)
"""Arrays that a log may have, by their names in mjData."""
_STATE = ("state", "states")
_CONTROL = ("control", "controls")
_ACTIONS = ("actions", "action")
"""Names of arrays with the actions of a policy, which may be controls."""
_ENDS = ("terminals", "timeouts", "terminations", "truncations", "dones")
"""Arrays that are true in the last row of each episode."""
_INITIAL = "initial_state"
_KNOWN = (*_PARTS, *_STATE, *_CONTROL, *_ACTIONS, *_ENDS, _INITIAL)
HDF5_SUFFIXES = (".hdf5", ".h5")
_ROBOSUITE_ASSETS = re.compile(r'file="([^"]*robosuite/models/assets)/')
_Arrays = Mapping[str, NDArray[Any]]


def read_log(
    path: str | Path, model: MjModel, episode: str | int | None = None, period: float | None = None
) -> StateLog:
    """Read the states of a log, as states of a model.

    Args:
        path: Log of states and controls: .npz, .hdf5, .h5, .csv, or a saved run, .cvrun.
        model: Model whose states they are.
        episode: The episode of a log that has several, by its name or its number from 0. Default: the first.
        period: Time between two rows of a log without times [s]. Default: found by trying 1 to 50 time steps, else one.

    Returns:
        The states, with notes on what the log lacks.

    Raises:
        SceneError: The log cannot be read, or is not of this model; one line.

    Example:
        ```python
        import contact_viewer, mujoco

        model = mujoco.MjModel.from_xml_path("robot.xml")
        log = contact_viewer.read_log("run.npz", model)
        print(len(log), "states;", *log.notes)
        ```
    """
    path = Path(path).expanduser()
    suffix = path.suffix.lower()
    if suffix not in LOG_SUFFIXES:
        raise SceneError(f"{path}: unknown kind of log; expected {', '.join(LOG_SUFFIXES)}")
    if not path.is_file():
        raise SceneError(f"{path}: {'is a folder, not a log' if path.is_dir() else 'no such file'}")
    if suffix == RUN_SUFFIX:
        return RunFile(path).log(model)
    wanted = None if episode is None else str(episode)
    if suffix == ".npz":
        arrays, notes = _choose(path, read_arrays(path, _KNOWN.__contains__), wanted)
    elif suffix == ".csv":
        arrays, notes = _choose(path, _read_csv(path, model), wanted)
    else:
        arrays, notes = _read_hdf5(path, wanted)
    return _Assembly(path, model, arrays, period).log(notes)


class _Assembly:
    """Run that is put together from arrays, each of one part of the state or of several."""

    def __init__(self, path: Path, model: MjModel, arrays: _Arrays, period: float | None) -> None:
        self._path, self._model, self._period = path, model, period
        self._sizes = {name: part.stop - part.start for name, part in state_parts(model).items()}
        self._parts: dict[str, Values] = {}
        self._notes: list[str] = []
        self._rounded = False
        for name, array in arrays.items():
            if array.dtype.kind not in "fiub":
                raise SceneError(f"{path}: {name} is not made of numbers")
            self._rounded |= array.dtype in (np.float32, np.float16) and name != "time"
        states = next((name for name in _STATE if name in arrays), None)
        if states is not None:
            self._add_states(arrays, states)
        for name in _PARTS:
            if name in arrays:
                self._parts[name] = self._fitted(name, arrays[name])
        control = next((name for name in _CONTROL if name in arrays), None)
        if control is not None and "ctrl" not in self._parts:
            self._parts["ctrl"] = self._fitted("ctrl", arrays[control], control)
        actions = next((arrays[name] for name in _ACTIONS if name in arrays), None)
        self._actions = None if actions is None or "ctrl" in self._parts else self._table(_ACTIONS[0], actions)
        if "qpos" not in self._parts:
            known = "no states: neither state nor qpos" if not arrays else f"no qpos, only {', '.join(sorted(arrays))}"
            raise SceneError(f"{path}: has {known}")

    def log(self, notes: tuple[str, ...]) -> StateLog:
        path, parts = self._path, self._parts
        rows = len(parts["qpos"])
        for name, values in parts.items():
            parts[name] = self._with_rows(name, values, rows)
            if not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
                raise SceneError(f"{path}: {name} has a value that is not a number, in row {row}")
        steps = self._find_inputs(rows)
        if "time" not in parts:
            timestep = float(self._model.opt.timestep)
            period = self._period or (steps or 1) * timestep
            parts["time"] = period * np.arange(rows, dtype=np.float64)[:, np.newaxis]
            found = "" if self._period or steps is None else f", found by trying: {steps} steps lead to the next row"
            self._notes.append(f"it has no time: a row counts as {period:g} s{found} (--period)")
        needed = [name for name in ("qvel", "act", "ctrl") if self._sizes[name] and name not in parts]
        if needed:
            self._notes.append(f"it has no {' and no '.join(needed)}")
        if self._rounded:
            self._notes.append("its states are rounded to single precision")
        names = [name for name in parts if self._sizes.get(name)]
        columns = places(self._model, *names)
        values = np.concatenate([parts[name] for name in names], axis=1)
        log = StateLog(path, columns, values, missing=tuple(needed), notes=(*notes, *self._notes))
        check_times(self._model, log)
        return log

    def _with_rows(self, name: str, values: Values, rows: int) -> Values:
        """Return values with a row for each state."""
        if len(values) == rows - 1 and name in ("ctrl", "qfrc_applied", "xfrc_applied"):
            # What was put in for each step, and so one less than there are states.
            return np.concatenate([values, values[-1:] if rows > 1 else np.zeros((1, values.shape[1]))])
        if len(values) != rows:
            raise SceneError(f"{self._path}: {name} has {len(values)} rows, and qpos {rows}")
        return values

    def _find_inputs(self, rows: int) -> int | None:
        """Take the actions as controls if the states follow from them; return how many steps lead to the next row, None
        where that is known or cannot be found out."""
        parts, actions, nu = self._parts, self._actions, self._sizes["ctrl"]
        known = self._known_steps()
        if known is not None and known > STEPS_MAX:
            return None
        candidates: list[Values | None] = [None] if known is None else []
        if actions is not None and actions.shape[1] == nu and np.isfinite(actions).all():
            candidates.insert(0, self._with_rows("ctrl", actions, rows))
        found = None
        for controls in candidates if "qvel" in parts else ():
            tried = parts if controls is None else {**parts, "ctrl": controls}
            trial = try_steps(self._model, tried, self._rounded, known)
            if trial is not None and trial.follows:
                found = None if known else trial.steps
                if controls is not None:
                    parts["ctrl"] = controls
                    self._notes.append("its actions are taken as controls: the states follow from them")
                break
        if actions is not None and nu and "ctrl" not in parts:
            self._notes.append("its actions are not controls of this scene: the states do not follow from them")
        return found

    def _known_steps(self) -> int | None:
        """Return the number of time steps between two rows, if the log or the user states it."""
        times, timestep = self._parts.get("time"), float(self._model.opt.timestep)
        period = self._period if times is None else float(np.median(np.diff(times[:, 0]))) if len(times) > 1 else 0.0
        return None if period is None else max(1, round(period / timestep)) if timestep > 0 else 1

    def _add_states(self, arrays: _Arrays, name: str) -> None:
        """Split whole states, as MuJoCo or robosuite write them."""
        states = self._table(name, arrays[name])
        physics = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
        kinds = {
            "mjSTATE_FULLPHYSICS": parts_of(physics),
            "mjSTATE_INTEGRATION": parts_of(STATE),
            "time qpos qvel": ("time", "qpos", "qvel"),
            "mjSTATE_PHYSICS": parts_of(int(mujoco.mjtState.mjSTATE_PHYSICS)),
            "qpos qvel": ("qpos", "qvel"),
        }
        widths = {kind: sum(self._sizes[part] for part in parts) for kind, parts in kinds.items()}
        kind = next((kind for kind, width in widths.items() if width == states.shape[1]), None)
        if kind is None:
            known = ", ".join(f"{width} ({kind})" for kind, width in widths.items())
            raise SceneError(f"{self._path}: {name} has {states.shape[1]} values a row; this scene has {known}")
        if _INITIAL in arrays:
            first = self._table(_INITIAL, np.atleast_2d(arrays[_INITIAL]))
            if first.shape != (1, states.shape[1]):
                raise SceneError(f"{self._path}: {_INITIAL} has another width than {name}")
            states = np.concatenate([first, states])
        stop = 0
        for part in kinds[kind]:
            start, stop = stop, stop + self._sizes[part]
            self._parts[part] = states[:, start:stop]
        control = next((each for each in _CONTROL if each in arrays), None)
        if _INITIAL in arrays and control is not None:
            controls = self._fitted("ctrl", arrays[control], control)
            # Row k of both belongs to one step, which starts from the state before.
            self._parts["ctrl"] = np.concatenate([controls[:1], controls])

    def _fitted(self, part: str, array: NDArray[Any], name: str = "") -> Values:
        table, size = self._table(name or part, array), self._sizes[part]
        if table.shape[1] != size:
            raise SceneError(f"{self._path}: {name or part} has {table.shape[1]} values a row; this scene has {size}")
        return table

    def _table(self, name: str, array: NDArray[Any]) -> Values:
        """Return an array with a row per state; (n,) becomes n rows of one value."""
        if array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim < 2 or not len(array):
            raise SceneError(f"{self._path}: {name} has the shape {array.shape}, not a row for each state")
        check_unpacked(self._path, 8 * array.size)
        return array.reshape(len(array), -1).astype(np.float64)


def _choose(path: Path, arrays: _Arrays, demo: str | None) -> tuple[_Arrays, tuple[str, ...]]:
    """Return one run of several: of a batch, (batch, rows, ...), or of a table whose time begins again, or which marks
    the last rows of its episodes."""
    for name, array in arrays.items():
        if array.ndim == 0 or not len(array):
            raise SceneError(f"{path}: {name} has the shape {array.shape}, not a row for each state")
    states = next((arrays[name] for name in (*_STATE, "qpos") if name in arrays), None)
    if states is not None and states.ndim == 3:
        number = _number(path, demo, len(states))
        few = next((name for name, array in arrays.items() if array.ndim > 1 and len(array) <= number), None)
        if few is not None:
            raise SceneError(f"{path}: {few} has {len(arrays[few])} runs, and the states {len(states)}")
        batch = {name: array[number] if array.ndim > 1 else array for name, array in arrays.items()}
        return batch, _which(number, len(states))
    starts = _episode_starts(arrays)
    if demo is None and len(starts) == 1:
        return arrays, ()
    if not any(name in arrays for name in ("time", *_ENDS)) and demo != "0":
        raise SceneError(f"{path}: holds one run: leave out --episode")
    number = _number(path, demo, len(starts))
    if len(starts) == 1:
        return arrays, ()
    start, stop = starts[number], [*starts[1:], None][number]
    return {name: array[start:stop] for name, array in arrays.items()}, _which(number, len(starts))


def _episode_starts(arrays: _Arrays) -> list[int]:
    """Return the first row of each episode of a table: where its time begins again, and after rows that are marked as
    the last of one."""
    time = arrays.get("time")
    first = {0}
    if time is not None and time.ndim <= 2 and time.dtype.kind in "fiu":
        first.update((np.flatnonzero(np.diff(time.reshape(-1)) < 0) + 1).tolist())
    ends = [array for name, array in arrays.items() if name in _ENDS and array.ndim == 1 and array.dtype.kind in "fiub"]
    rows = max((len(array) for name, array in arrays.items() if name in ("qpos", *_STATE)), default=0)
    for array in ends:
        if len(array) == rows:
            first.update((np.flatnonzero(array[:-1]) + 1).tolist())
    return sorted(first)


def _number(path: Path, demo: str | None, count: int) -> int:
    if demo is None:
        return 0
    if not demo.isdecimal() or len(demo) > 9 or int(demo) >= count:
        last = f"from 0 to {count - 1}" if count > 1 else "one, number 0"
        raise SceneError(f"{path}: has no run {demo!r}; there are: {last}")
    return int(demo)


def _which(number: int, count: int) -> tuple[str, ...]:
    return (f"run {number} of {count} (--episode)",) if count > 1 else ()


def _read_hdf5(path: Path, demo: str | None) -> tuple[_Arrays, tuple[str, ...]]:
    """Read an episode of robosuite, robomimic or Minari, or arrays by their names in mjData, also in `infos` (D4RL)."""
    h5py = import_extra("h5py", "hdf5", f"{path}: needs")

    def read() -> tuple[_Arrays, tuple[str, ...] | None]:
        with h5py.File(path, "r") as file:
            group, name, count = _find_episode(path, file, demo, h5py)
            infos = _item(path, group, "infos", h5py) if isinstance(group, h5py.Group) else None
            found = {**_datasets(path, group, h5py), **_datasets(path, infos, h5py)}
            if name and not found:
                raise SceneError(f"{path}: {name} has no states")
            return found, (f"{name} of {count} (--episode)",) if name else None

    found, notes = attempt_reading(path, read)
    return (found, notes) if notes is not None else _choose(path, found, demo)


def read_model_file(path: Path, episode: str | None) -> str:
    """Return the scene in which an episode of robosuite was recorded: MJCF, with absolute paths of meshes and textures.

    Raises SceneError where the file holds none.
    """
    h5py = import_extra("h5py", "hdf5", f"{path}: needs")
    if not path.is_file():
        raise SceneError(f"{path}: no such file")

    def read() -> object:
        with h5py.File(path, "r") as file:
            group, _, _ = _find_episode(path, file, episode, h5py)
            return group.attrs.get("model_file") if isinstance(group, h5py.Group) else None

    text = attempt_reading(path, read)
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if not isinstance(text, str):
        raise SceneError(f"{path}: holds no scene (model_file): name one, as in SCENE --log {path.name}")
    return _ROBOSUITE_ASSETS.sub(_installed_assets, text)


def _installed_assets(match: re.Match[str]) -> str:
    """Return the folder of robosuite's meshes and textures on this machine in place of the one where it recorded."""
    spec = None if Path(match[1]).is_dir() else find_spec("robosuite")
    installed = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
    return match[0] if installed is None else f'file="{installed}/models/assets/'


def _find_episode(path: Path, file: Any, demo: str | None, h5py: Any) -> tuple[Any, str, int]:
    """Return the group of an episode, its name, and how many there are; the whole file, "" and 1 for a file without
    episodes."""
    groups, prefix = _item(path, file, "data", h5py), "demo_"
    if isinstance(groups, h5py.Group):
        names = list(groups)
    else:
        groups, prefix = file, "episode_"
        names = [name for name in file if name.startswith(prefix)]
        if not names:
            return file, "", 1
    names.sort(key=lambda name: (len(name), name))
    if not names:
        raise SceneError(f"{path}: has no demonstrations")
    name = names[0] if demo is None else demo if demo in names else f"{prefix}{demo}"
    if name not in names:
        raise SceneError(f"{path}: has no {name}; it has {len(names)}, from {names[0]} to {names[-1]}")
    return _item(path, groups, name, h5py), name, len(names)


def _item(path: Path, group: Any, name: str, h5py: Any) -> Any:
    """Return an object of a group; None if there is none. Links, which could lead to another file, are refused
    unopened."""
    links, key = group.id.links, name.encode("utf-8", "surrogateescape")
    if not links.exists(key):
        return None
    if links.get_info(key).type != h5py.h5l.TYPE_HARD:
        raise SceneError(f"{path}: {name} is a link, and only arrays that the file itself holds are read")
    return group[name]


def _datasets(path: Path, group: Any, h5py: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of a group that a log may have, all of them numbers in the file itself."""
    if not isinstance(group, h5py.Group):
        return {}
    items = {name: _item(path, group, name, h5py) for name in _KNOWN}
    found = {name: data for name, data in items.items() if isinstance(data, h5py.Dataset)}
    for name, data in found.items():
        if data.external or data.is_virtual:
            raise SceneError(f"{path}: {name} is stored in another file, and only what this one holds is read")
        if data.shape is None or data.dtype.kind not in "fiub":
            raise SceneError(f"{path}: {name} is not made of numbers")
    check_unpacked(path, sum(8 * data.size for data in found.values()))
    return {name: np.asarray(data) for name, data in found.items()}


def _read_csv(path: Path, model: MjModel) -> dict[str, NDArray[Any]]:
    """Read a table with a heading: time, and columns such as qpos_0, qpos[0], ctrl_hip, qvel.slide."""

    def read() -> tuple[list[str], list[list[str]]]:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            heading = [name.strip() for name in next(lines, [])]
            return heading, [line for line in lines if line]

    heading, lines = attempt_reading(path, read)
    chosen = _csv_columns(path, heading, model)
    width = len(heading)
    for number, line in enumerate(lines):
        if len(line) != width:
            raise SceneError(f"{path}: row {number} has {len(line)} values, and the heading {width}: is it cut off?")
    try:
        table = {
            part: np.array([[float(line[place]) for place in columns] for line in lines])
            for part, columns in chosen.items()
        }
    except ValueError as error:
        raise SceneError(f"{path}: has a value that is not a number ({error})") from None
    if not lines:
        raise SceneError(f"{path}: has no rows")
    return dict(table)


def _csv_columns(path: Path, heading: list[str], model: MjModel) -> dict[str, list[int]]:
    """Return for every part of a state the columns of the table, in its order."""
    sizes = {name: part.stop - part.start for name, part in state_parts(model).items()}
    found: dict[str, dict[int, int]] = {}
    named = {part: _item_names(model, part) for part in _PARTS}
    for column, name in enumerate(heading):
        for part in sorted(_PARTS, key=len, reverse=True):
            if name == part or re.match(rf"{part}\W|{part}_|{part}\d", name):
                item = name[len(part) :].strip("[]_/.: ")
                place = 0 if not item and sizes[part] == 1 else named[part].get(item)
                if place is None and item.isdecimal() and len(item) < 10:
                    place = int(item)
                if place is None or place >= sizes[part]:
                    raise SceneError(f"{path}: this scene has nothing for the column {name!r}")
                found.setdefault(part, {})[place] = column
                break
    for part, columns in found.items():
        lacking = next((place for place in range(sizes[part]) if place not in columns), None)
        if lacking is not None:
            raise SceneError(f"{path}: has no column {part}_{lacking}; this scene has {sizes[part]} values of {part}")
    if "qpos" not in found:
        raise SceneError(f"{path}: has no columns qpos_0, qpos_1, ...; its heading is {', '.join(heading[:6])}, ...")
    return {part: [columns[place] for place in range(sizes[part])] for part, columns in found.items()}


def _item_names(model: MjModel, part: str) -> dict[str, int]:
    """Return the columns of a part that belong to named joints and actuators, by name."""
    if part == "ctrl":
        return {name: place for place, name in enumerate(read_names(model, "actuator")) if name}
    if part not in ("qpos", "qvel"):
        return {}
    starts = model.jnt_qposadr if part == "qpos" else model.jnt_dofadr
    stops = [*starts[1:], model.nq if part == "qpos" else model.nv]
    found: dict[str, int] = {}
    for name, start, stop in zip(read_names(model, "jnt"), starts, stops, strict=True):
        if name:
            found |= {f"{name}_{k}": int(start) + k for k in range(stop - start)}
            if stop - start == 1:
                found[name] = int(start)
    return found
