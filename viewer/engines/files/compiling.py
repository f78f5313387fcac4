"""A scene that may kill, hang or exhaust MuJoCo to a compiled one or to the reason why not, in a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import mujoco

from ..errors import SceneError
from .amending import Refusal, SensorChange, refuse
from .checking import Survey, survey_scene
from .explaining import NOT_UTF8, explain, is_out_of_memory
from .loading import LoadedScene, engine_warnings, load_scene, one_line
from .markup import size_text
from .references import check_references
from .sanity import check_model, try_model

_MODEL_FILE, _VERDICT_FILE, _STAGE_FILE, _WORDS_FILE = "model.mjb", "verdict.json", "stage", "words"
_CHANGES_FILE = "changes.json"
_POLL_INTERVAL = 0.02


@dataclass(frozen=True)
class Limits:
    """What a process may take to compile one scene."""

    time: float = 60.0
    """Wall time [s]. The slowest of a thousand public scenes takes 11."""
    memory: int = 4 * 2**30
    """Memory beyond that of an idle process [bytes]; kept on Linux only."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Compiled:
    """A compiled scene and what was found on the way."""

    scene: LoadedScene
    survey: Survey
    notes: tuple[str, ...]


def compile_scene(survey: Survey, changes: Sequence[SensorChange] = ()) -> Compiled:
    """Compile a scene in this process; raises SceneError with the file and line at fault.

    Changes that only the compiler refuses are left out: the newest if that helps, else all of them.
    """
    try:
        return _compile(survey, changes)
    except SceneError as error:
        if not changes:
            raise
        reason = str(error).removeprefix(f"{survey.path}: ")
    kept = changes[:-1]
    try:
        compiled = _compile(survey, kept)
    except SceneError:
        kept = ()
        compiled = _compile(survey, kept)
    refusals = (*compiled.scene.refusals, *refuse(changes[len(kept) :], reason))
    return replace(compiled, scene=replace(compiled.scene, refusals=refusals))


def _compile(survey: Survey, changes: Sequence[SensorChange]) -> Compiled:
    path = survey.path
    binary = path.suffix.lower() == ".mjb"
    earlier = engine_warnings[-1] if engine_warnings else None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scene = _load(path, changes)
        if binary:
            check_references(scene.model)
        notes = check_model(scene.model)
        try_model(scene.model)
    except SceneError as error:
        message = str(error).removeprefix(f"{path}: ")
        latest = engine_warnings[-1] if engine_warnings else None
        if binary and latest is not None and latest is not earlier and "failed to load" in message:
            # Of a compiled model MuJoCo gives the reason as a warning.
            message = f"damaged compiled model: {latest.strip()}"
        raise SceneError(f"{path}: {explain(message, survey)}") from None
    said = dict.fromkeys(explain(" ".join(str(warning.message).split()), survey) for warning in caught)
    return Compiled(scene, survey, (*survey.notes, *notes, *said))


def _load(path: Path, changes: Sequence[SensorChange]) -> LoadedScene:
    try:
        return load_scene(path, changes)
    except SceneError as error:
        if NOT_UTF8 not in str(error):
            raise
    # Names that are not UTF-8 cannot be handed to companions: do without them.
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
        return LoadedScene(path, model, refusals=refuse(changes, "names in the scene are not UTF-8"))
    except Exception as error:  # Out of memory and parser faults arrive as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None


class Compilation:
    """One scene being compiled by a process of its own. Ask `poll` now and then; `result` waits. Close it."""

    def __init__(
        self,
        path: Path,
        doubts: tuple[str, ...] = (),
        limits: Limits | None = None,
        changes: Sequence[SensorChange] = (),
    ) -> None:
        """`doubts`: what the scene is suspected of, for the message if it fails."""
        self._path = path
        self._doubts = doubts
        self._changes = tuple(changes)
        self._limits = limits or DEFAULT_LIMITS
        self._started = time.monotonic()
        self._verdict: str | None = None
        """Why it failed, if it is not the process that says so."""
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
            self._process = self._start()
        except OSError as error:
            raise SceneError(f"{path}: no process to compile it in ({error.strerror})") from None

    def __enter__(self) -> "Compilation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def stage(self) -> str:
        """What the process is doing, for a person."""
        try:
            return (self._folder / _STAGE_FILE).read_text() or "starting"
        except OSError:
            return "starting"

    @property
    def elapsed(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    def poll(self) -> bool:
        """Whether it has ended; ends it if its time is up."""
        if self._process.poll() is not None:
            return True
        if self.elapsed > self._limits.time:
            self._stop(f"stopped after {self._limits.time:g} s of compiling")
        return self._process.poll() is not None

    def wait(self, seconds: float) -> bool:
        """Wait for at most so long; whether it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.poll()
        return True

    def cancel(self) -> None:
        """End it at once; `result` then says that it was cancelled."""
        self._stop("cancelled")

    def result(self) -> Compiled:
        """Wait for the end and take over the scene, or raise SceneError."""
        while not self.wait(_POLL_INTERVAL):
            pass
        verdict = self._read_verdict()
        if self._verdict is None and verdict is None:
            self._verdict = self._last_words()
        elif self._verdict is None and verdict is not None and verdict.get("exhausted"):
            self._verdict = _memory_words(self._limits)
        if self._verdict is not None or verdict is None:
            raise SceneError(f"{self._path}: {self._verdict}{self._suspicion()}")
        if "error" in verdict:
            raise SceneError(str(verdict["error"]))
        try:
            model = mujoco.MjModel.from_binary_path(str(self._folder / _MODEL_FILE))
        except Exception as error:  # Out of memory arrives as several types.
            raise SceneError(f"{self._path}: compiled, but it cannot be taken over: {one_line(error)}") from None
        companions = {int(sensor): companion for sensor, companion in verdict["companions"]}
        survey = Survey(
            self._path,
            {Path(name): None if stamp is None else tuple(stamp) for name, stamp in verdict["files"]},
            texts=tuple(Path(name) for name in verdict["texts"]),
            missing=tuple(verdict["missing"]),
            doubts=tuple(verdict["doubts"]),
            notes=tuple(verdict["survey_notes"]),
        )
        refusals = tuple(Refusal(self._changes[place], reason) for place, reason in verdict["refusals"])
        scene = LoadedScene(self._path, model, companions, refusals=refusals)
        return Compiled(scene, survey, tuple(verdict["notes"]))

    def close(self) -> None:
        """End the process and remove its files. Safe twice."""
        if self._process.poll() is None:
            self._stop("cancelled")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> subprocess.Popen[bytes]:
        limits = self._limits
        # -P: whatever lies in the working folder is not to be imported.
        command = [sys.executable, "-P", "-m", __name__, str(self._path), str(self._folder)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "MUJOCO_GL": "disable",
            "OPENBLAS_NUM_THREADS": "1",
        }
        try:
            if self._changes:
                (self._folder / _CHANGES_FILE).write_text(json.dumps([change.to_json() for change in self._changes]))
            # MuJoCo writes its log into the working folder.
            with (self._folder / _WORDS_FILE).open("wb") as words:
                return subprocess.Popen(
                    [*command, str(limits.time), str(limits.memory)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=words,
                    cwd=self._folder,
                    env=environment,
                )
        except OSError:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _stop(self, reason: str) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
            self._verdict = self._verdict or reason

    def _read_verdict(self) -> dict[str, Any] | None:
        try:
            return dict(json.loads((self._folder / _VERDICT_FILE).read_text()))
        except (OSError, ValueError):
            return None

    def _last_words(self) -> str:
        """Why a process that left no verdict ended."""
        code = self._process.returncode
        with (self._folder / _WORDS_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
            words = file.read().decode("utf-8", "replace").strip()
        if is_out_of_memory(words):
            return _memory_words(self._limits)
        if code == -getattr(signal, "SIGALRM", 0):
            return f"stopped after {self._limits.time:g} s of compiling"
        if code == -getattr(signal, "SIGKILL", 0):
            return "the process that compiled it was ended from outside, perhaps for want of memory"
        if code < 0:
            return f"MuJoCo crashed on it ({signal.Signals(-code).name})"
        return f"could not be compiled ({words.splitlines()[-1] if words else f'exit code {code}'})"

    def _suspicion(self) -> str:
        return f"; suspected: {', '.join(self._doubts[:3])}" if self._doubts and self._verdict != "cancelled" else ""


def main(arguments: list[str]) -> None:
    """The process: compile a scene and leave a model and a verdict in a folder."""
    path, folder = Path(arguments[0]), Path(arguments[1])
    limits = Limits(float(arguments[2]), int(arguments[3]))
    _enforce(limits)
    try:
        verdict = _compile_into(path, folder)
    except SceneError as error:
        verdict = {"exhausted": True} if is_out_of_memory(str(error)) else {"error": str(error)}
    except MemoryError:
        verdict = {"exhausted": True}
    (folder / _VERDICT_FILE).write_text(json.dumps(verdict))
    # Taking a large model apart takes time and serves nobody.
    os._exit(0)


def _compile_into(path: Path, folder: Path) -> dict[str, Any]:
    stage = folder / _STAGE_FILE
    stage.write_text("checking")
    asked = folder / _CHANGES_FILE
    changes = [SensorChange.from_json(saved) for saved in json.loads(asked.read_text())] if asked.exists() else []
    survey = survey_scene(path, thorough=True)
    stage.write_text("compiling")
    compiled = compile_scene(survey, changes)
    stage.write_text("handing over")
    try:
        mujoco.mj_saveModel(compiled.scene.model, str(folder / _MODEL_FILE), None)
    except Exception as error:  # Out of memory arrives as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None
    return {
        "companions": list(compiled.scene.companions.items()),
        "notes": compiled.notes,
        "refusals": [(changes.index(refusal.change), refusal.reason) for refusal in compiled.scene.refusals],
        "files": [(str(file), stamp) for file, stamp in survey.files.items()],
        "texts": [str(file) for file in survey.texts],
        "missing": survey.missing,
        "doubts": survey.doubts,
        "survey_notes": survey.notes,
    }


def _enforce(limits: Limits) -> None:
    """Limits that hold even if whoever started this process is gone."""
    if hasattr(signal, "setitimer"):
        # Without a handler the signal ends the process, also within MuJoCo.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.time + 1)
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        import resource

        taken = int(statistics.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + limits.memory, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _memory_words(limits: Limits) -> str:
    return f"needs more than {size_text(limits.memory)} of memory"


if __name__ == "__main__":
    main(sys.argv[1:])
