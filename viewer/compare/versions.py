"""Steps a scene with other releases of MuJoCo, each in its own environment, and finds the first release that
differs."""

import atexit
import importlib.metadata
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ControlError, EngineError, SceneError, UnstableError
from ..files import size_text
from ..mjmodel.declarations import declared_sensors
from ..mjmodel.matching import ContactMatcher
from ..processes import describe_signal
from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
from ..scene_files.run_file import RunFile
from ..session.simulation import Simulation
from ..settings import Reduce
from . import worker
from .links import Divergence, Judge, Link
from .sides import FOUND, NET, PRESSED, TOTAL, WIDTH, SideSensor, SimulationSide, StepFacts

Values = NDArray[Any]
Version = tuple[int, ...]
_SILENCE = 120.0
"""Longest time that a process of another version may take for a step or for compiling [s]."""
_INSTALL_SECONDS = 900.0
_STALE = 3600.0
"""Age at which the folder of an interrupted installation is removed [s]."""
_MOST_BYTES = 2**29
"""Largest memory for recorded steps [bytes]."""
TOLERANCE = 1e-6
"""Largest difference between releases that is ignored: their compilers round differently."""


def read_version(text: str) -> Version:
    """Return the numbers of a release from a text such as `3.11.0`. Raises SceneError."""
    if not re.fullmatch(r"\d+(\.\d+){1,2}", text):
        raise SceneError(f"{text!r} is no release of MuJoCo, such as 3.11.0")
    numbers = tuple(int(part) for part in text.split("."))
    return numbers + (0,) * (3 - len(numbers))


def version_text(version: Version) -> str:
    """Return a release as text, such as `3.11.0`."""
    return ".".join(map(str, version))


def releases(low: Version, high: Version) -> list[Version]:
    """Return the published releases between two, ascending, that can be installed for this Python.

    Raises SceneError if the package index cannot be reached, or lacks one of the two releases.
    """
    with _pip() as pip:
        done = _run([*pip, "index", "versions", "mujoco", *_QUIET])
    found = re.search(r"Available versions: (.*)", done.stdout)
    if found is None:
        raise SceneError(f"the releases of MuJoCo cannot be listed: {_reason(done)}")
    listed = {read_version(word) for word in found[1].split(", ") if re.fullmatch(r"\d+\.\d+(\.\d+)?", word)}
    for end in (low, high):
        if end not in listed:
            raise SceneError(_unknown(end, sorted(listed)))
    return sorted(version for version in listed if low <= version <= high)


def library(version: Version) -> str:
    """Return the search path of a release of MuJoCo and its numpy; install it if necessary.

    Raises SceneError if that fails.
    """
    if version_text(version) == importlib.metadata.version("mujoco"):
        return os.pathsep.join(entry for entry in sys.path if entry)
    folder = _cache_folder() / f"mujoco-{version_text(version)}-{sys.implementation.cache_tag}"
    if folder.is_dir():
        return str(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for old in folder.parent.glob(".part-*"):
            if time.time() - old.stat().st_mtime > _STALE:
                shutil.rmtree(old, ignore_errors=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    except OSError as error:
        raise SceneError(f"{folder.parent}: cannot be written ({error.strerror})") from None
    try:
        wanted = [f"mujoco=={version_text(version)}", "--target", str(part / "lib"), "--only-binary", ":all:"]
        if uv := shutil.which("uv"):
            done = _run([uv, "pip", "install", "--python", sys.executable, *wanted])
        else:
            with _pip() as pip:
                done = _run([*pip, "install", *wanted, *_QUIET])
        if done.returncode:
            raise SceneError(f"MuJoCo {version_text(version)} cannot be installed: {_reason(done)}")
        # Another process may have made it meanwhile.
        with suppress(OSError):
            (part / "lib").rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return str(folder)


_QUIET = ("--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "20")


class _pip:
    """Command that runs pip: that of this Python, or of an environment that is made for it and removed afterwards."""

    def __enter__(self) -> list[str]:
        self._folder: str | None = None
        if not _run([sys.executable, "-m", "pip", "--version"]).returncode:
            return [sys.executable, "-m", "pip"]
        self._folder = tempfile.mkdtemp(prefix="contact-viewer-")
        done = _run([sys.executable, "-m", "venv", self._folder])
        if done.returncode:
            self.__exit__()
            raise SceneError("another version of MuJoCo needs uv or pip to install it: neither is there")
        return [str(Path(self._folder, "bin", "python")), "-m", "pip"]

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    # What pip finds on the search path of this process would count as installed.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            errors="replace",
            env=environment,
            timeout=_INSTALL_SECONDS,
            # Ctrl-C in the terminal is for this process, which ends that one.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"ERROR: took longer than {_INSTALL_SECONDS:g} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", f"ERROR: {error.strerror}")


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    """Return why pip or uv failed, in a few words."""
    text = done.stderr
    offered = re.search(r"from versions: ([^)]*)\)", text)
    if offered is not None and offered[1] != "none":
        words = offered[1].split(", ")
        return f"this Python has no such release; there are {words[0]} to {words[-1]}"
    if "no version of mujoco" in text or "there are no versions" in text:
        return "this Python has no such release"
    if re.search(r"connection|resolve|timed out|unreachable|network|proxy|dns", text, re.IGNORECASE) or (
        "No matching distribution" in text
    ):
        return "the package index cannot be reached"
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["no reason was given"]
    return re.sub(r"^(ERROR|error|×): ?", "", errors[0].strip())


def _unknown(version: Version, listed: Sequence[Version]) -> str:
    near = f"; there are {version_text(listed[0])} to {version_text(listed[-1])}" if listed else ""
    return f"MuJoCo {version_text(version)} is no release that this Python can install{near}"


def _cache_folder() -> Path:
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or home) / "contact-viewer"


@dataclass
class Recorded:
    """Scene and steps of a run, as they are sent to a process of another version."""

    scene: Path
    rows: Mapping[str, Values]
    """States from which steps start and inputs of these steps, by their names in mjData, (steps, n) each."""
    values: Mapping[str, Values] = field(default_factory=dict)
    """Values of the model that were changed after it was compiled, by their names in mjModel."""


def record_steps(simulation: Simulation, seconds: float) -> Recorded:
    """Step a run for a simulated time [s], and return the steps; fewer if the run ends early. Raises SceneError."""
    data, rows = simulation.shown.data, dict[str, list[Values]]()
    names = [name for name in (*worker.START, *worker.HELD) if hasattr(data, name)]
    steps = max(1, round(seconds / simulation.shown.timestep))
    size = steps * sum(np.asarray(getattr(data, name)).nbytes for name in names)
    if size > _MOST_BYTES:
        raise SceneError(f"the states of {steps} steps take {size_text(size)}: take a shorter --duration")
    for _ in range(steps):
        start = {name: np.array(getattr(data, name)) for name in names if name in worker.START}
        try:
            simulation.step(1)
        except ControlError:
            raise
        except (UnstableError, EngineError):
            break
        # A controller writes the inputs within the step, which leaves them as they are.
        held = {name: np.array(getattr(data, name)) for name in names if name in worker.HELD}
        for name, values in (start | held).items():
            rows.setdefault(name, []).append(values)
    if not rows:
        raise SceneError(f"{simulation.engine.path}: has no step to compare")
    return Recorded(_scene_text(simulation.engine.path), {name: np.array(values) for name, values in rows.items()})


def _scene_text(path: Path | None) -> Path:
    """Return the file that other versions compile. Raises SceneError."""
    if path is None or path.suffix.lower() == ".mjb":
        raise SceneError(f"{path}: a compiled model fits one version of MuJoCo alone: give the scene's MJCF")
    if path.suffix.lower() != RUN_SUFFIX:
        return path.absolute()
    sources = RunFile(path).sources()
    if not sources:
        raise SceneError(f"{path}: was saved without its scene's files, which other versions of MuJoCo compile")
    folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, content in sources.items():
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise SceneError(f"{path}: has a file outside its folder: {name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder / next(iter(sources))


def changed_values(before: Any, after: Any) -> dict[str, Values]:
    """Return the values of a changed model that differ from those before, by names in mjModel; of options as
    `opt.name`."""
    found: dict[str, Values] = {}
    for prefix, first, second in (("", before, after), ("opt.", before.opt, after.opt)):
        for name in dir(second):
            if name.startswith("_") or callable(value := getattr(second, name)):
                continue
            if isinstance(value, np.ndarray | int | float) and value is not None:
                old, new = np.asarray(getattr(first, name)), np.asarray(value)
                if old.shape == new.shape and not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
                    found[prefix + name] = new.copy()
    return found


class VersionProcess:
    """Process in which a release of MuJoCo takes recorded steps."""

    def __init__(self, version: Version, recorded: Recorded, each: bool) -> None:
        """Start the process. `each`: True to start every step from its recorded state, False to continue from the step
        before. Raises SceneError."""
        self.version = version
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environment |= {"PYTHONPATH": library(version), "MUJOCO_GL": "disable", "OPENBLAS_NUM_THREADS": "1"}
        self._folder = tempfile.mkdtemp(prefix="contact-viewer-")
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -S: no package of this environment. -P: no module beside the script.
                [sys.executable, "-S", "-P", "-s", worker.__file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd=self._folder,
                start_new_session=True,
            )
        self._connection = Connection(ours.detach())
        try:
            with suppress(OSError):
                rows, values = dict(recorded.rows), dict(recorded.values)
                self._connection.send(
                    worker.pack({"scene": str(recorded.scene), "rows": rows, "values": values, "each": each})
                )
            begun = self.receive()
            if "error" in begun:
                raise SceneError(f"MuJoCo {version_text(version)}: {recorded.scene}: {begun['error']}")
        except BaseException:
            self.close()
            raise
        self.scene: dict[str, dict[str, Any]] = begun["scene"]
        """Attributes of the scene, as `worker.read_scene` returns them."""
        self.timestep = float(begun["timestep"])
        self.sensors: dict[str, Values] = begun["sensors"]
        """Start and length of each sensor's array in sensordata, by the sensor's name."""
        self.is_installed = begun["version"] == version_text(version)

    def receive(self) -> dict[str, Any]:
        """Return the next message: a step, `end`, or `error` with one line."""
        try:
            if not self._connection.poll(_SILENCE):
                return {"error": f"sent no step for {_SILENCE:g} s"}
            found: dict[str, Any] = worker.unpack(self._connection.recv())
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            code = self._process.poll()
            how = "" if code is None else f" ({describe_signal(code) or f'exit code {code}'})"
            return {"error": f"its process has ended{how}"}
        return found

    def close(self) -> None:
        """End the process. Safe to call twice."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class VersionSide:
    """Run of another release, with the start and the inputs of a run of this process."""

    has_contacts = True
    ignored: tuple[str, ...] = ()

    def __init__(self, version: Version, like: SimulationSide, recorded: Recorded) -> None:
        self._process = VersionProcess(version, recorded, each=False)
        self.label = f"{like.label} @ MuJoCo {version_text(version)}"
        self.engine = f"MuJoCo {version_text(version)}"
        self.timestep, self.scene = self._process.timestep, self._process.scene
        self.simulation = like.simulation
        """Run with the start and inputs that this side uses."""
        self.unread: dict[str, str] = dict(like.unread)
        self.ending = ""
        self._now: dict[str, Any] = {}
        self.time = float(recorded.rows["time"][0])
        self._start = {name: rows[0].ravel() for name, rows in recorded.rows.items()}
        self.sensors: list[SideSensor] = []
        self._sides: list[tuple[Values, Values]] = []
        self._slots: list[int] = []
        model = like.simulation.engine.model
        declared = {each.name: each for each in declared_sensors(model)}
        for sensor in like.sensors:
            matcher = ContactMatcher(model, declared[sensor.name].sensor_id) if sensor.name in declared else None
            if matcher is None or matcher.has_site or sensor.name not in self._process.sensors:
                self.unread[sensor.name] = "its contacts are those within a site, or joined of several sensors"
                continue
            self.sensors.append(sensor)
            self._sides.append(matcher.sides)
            self._slots.append(declared[sensor.name].layout.slots)

    def advance(self) -> bool:
        if self.ending:
            return False
        found = self._process.receive()
        if "error" in found or "end" in found:
            self.ending = f"{found.get('error', 'ends')} at {self.time:.6g} s"
            return False
        self._now, self.time = found, float(found["time"])
        return True

    def read(self, with_contacts: bool) -> StepFacts:
        if not self._now:
            values = {name: self._start[name] for name in (*worker.STATE, *worker.INPUTS)}
            return StepFacts(self.time, values, np.full((len(self.sensors), WIDTH), np.nan))
        contacts = self._now["contacts"]
        rows = [
            _reading(contacts, sides, sensor.reduce, slots)
            for sensor, sides, slots in zip(self.sensors, self._sides, self._slots, strict=True)
        ]
        readings = np.array(rows).reshape(len(rows), WIDTH)
        return StepFacts(self.time, self._now["values"], readings, contacts if with_contacts else None, summed=True)

    def close(self) -> None:
        self._process.close()


def _reading(contacts: Mapping[str, Values], sides: tuple[Values, Values], reduce: Reduce, slots: int) -> Values:
    """Return the readings of a sensor from a contact list, (WIDTH,)."""
    geoms, reading = contacts["geom"], np.zeros(WIDTH)
    first, second = sides
    in_order = first[geoms[:, 0]] & second[geoms[:, 1]]
    rows = np.flatnonzero(in_order | (first[geoms[:, 1]] & second[geoms[:, 0]]))
    frames = contacts["frame"].reshape(-1, 3, 3)[rows]
    forces = np.einsum("kij,ki->kj", frames, contacts["force"][rows, :3])
    forces = np.where(in_order[rows, np.newaxis], forces, -forces)
    sizes = np.linalg.norm(forces, axis=1)
    order = np.arange(len(rows))
    if reduce is Reduce.MINDIST:
        order = np.argsort(contacts["dist"][rows], kind="stable")
    elif reduce is Reduce.MAXFORCE:
        order = np.argsort(-sizes, kind="stable")
    kept = order if reduce is Reduce.NETFORCE else order[:slots]
    reading[FOUND], reading[TOTAL], reading[NET] = len(rows), forces.sum(axis=0), forces[kept].sum(axis=0)
    strongest = reduce is Reduce.MAXFORCE and len(kept) > 0
    reading[PRESSED] = sizes[kept].max() if strongest else np.linalg.norm(reading[NET])
    return reading


@dataclass(frozen=True)
class VersionTrial:
    """Comparison of a release with the first one."""

    version: Version
    found: Divergence | None
    """First difference, with its link of the chain; None if there is none."""
    trouble: str = ""
    """Reason why the release could not take the steps; empty if it could."""


@dataclass
class Bisection:
    """Outcome of a search for the first release that differs."""

    low: Version
    high: Version
    trials: list[VersionTrial] = field(default_factory=list)
    """Releases in the order in which they were tried."""
    before: Version | None = None
    """Last release that agrees with the first one."""
    first: VersionTrial | None = None
    """First release that differs; None if none does."""


def bisect(
    recorded: Recorded,
    versions: Sequence[Version],
    until: str = "contacts",
    tolerance: float = TOLERANCE,
) -> Iterator[str | Bisection]:
    """Find the first release that differs from the first of `versions`; yield progress as text, then the result.

    Every release takes each step from the same recorded state, so that a difference is found in the step in which it
    arises, and small differences do not grow from step to step.

    Args:
        recorded: Steps, see `record_steps`.
        versions: Releases, ascending, two or more.
        until: Values that are compared: `contacts`, `state` (after a step), or `sensor:NAME`.
        tolerance: See `Judge`.

    Raises:
        SceneError: The first or the last release cannot take the steps.
    """
    outcome, left = Bisection(versions[0], versions[-1]), list(versions)

    def attempt(version: Version) -> VersionTrial:
        try:
            trial = VersionTrial(version, _differs(versions[0], version, recorded, until, tolerance))
        except SceneError as error:
            if version in (versions[0], versions[-1]):
                raise
            trial = VersionTrial(version, None, str(error))
        outcome.trials.append(trial)
        return trial

    yield f"MuJoCo {version_text(versions[-1])}"
    last = attempt(versions[-1])
    if last.found is None:
        yield outcome
        return
    while len(left) > 2:
        version = left[len(left) // 2]
        yield f"MuJoCo {version_text(version)}, {len(left) - 2} releases left"
        trial = attempt(version)
        if trial.trouble:
            left.remove(version)
        elif trial.found is None:
            left = left[left.index(version) :]
        else:
            last, left = trial, left[: left.index(version) + 1]
    outcome.before, outcome.first = left[0], last
    yield outcome


def _differs(low: Version, version: Version, recorded: Recorded, until: str, tolerance: float) -> Divergence | None:
    """Return the first difference between two releases; None if there is none. Raises SceneError if one cannot take the
    steps."""
    processes: list[VersionProcess] = []
    try:
        for release in (low, version):
            processes.append(VersionProcess(release, recorded, each=True))
        first, second = processes
        judge, name = Judge(first.scene, second.scene, tolerance, any_order=True), until.removeprefix("sensor:")
        for process in processes:
            if until != name and name not in process.sensors:
                raise SceneError(f"MuJoCo {version_text(process.version)}: no sensor {name!r}")
        for step in range(1, len(recorded.rows["time"]) + 1):
            found = [process.receive() for process in processes]
            for process, each in zip(processes, found, strict=True):
                if "error" in each:
                    raise SceneError(f"MuJoCo {version_text(process.version)}: step {step}: {each['error']}")
            facts = [StepFacts(each["time"], each["values"], np.zeros(0), each["contacts"]) for each in found]
            link: tuple[Link, str] | None = None
            if until == "contacts":
                link = judge.link(facts[0], facts[1], True)
            elif until == "state":
                if text := judge.state(facts[0], facts[1]):
                    cause = judge.link(facts[0], facts[1], True)
                    link = (Link.MOTION, text) if cause is None else (cause[0], f"{cause[1]}; then {text}")
            else:
                arrays = [
                    each["arrays"][process.sensors[name][0] :][: process.sensors[name][1]]
                    for process, each in zip(processes, found, strict=True)
                ]
                link = judge.array(name, *arrays)
                if link is not None and (cause := judge.link(facts[0], facts[1], True)) is not None:
                    link = cause[0], f"{cause[1]}; then {link[1]}"
            if link is not None:
                return Divergence(step, facts[0].time, *link)
        return None
    finally:
        for process in processes:
            process.close()
