"""Compiles a scene that may kill, hang or exhaust MuJoCo, here or in a process of its own, or reports why not."""

import os
import signal
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco

from ..errors import SceneError
from ..files import size_text
from ..mjmodel.types import MjModel
from ..worker import Job, Limits, Worker, address_limit, describe_signal, run_job
from .error_messages import NOT_UTF8, explain, is_out_of_memory
from .index_checks import check_references
from .mjcf import ordered_data
from .model_checks import check_model
from .preflight import Survey, survey_scene
from .scene import COMPILED, LoadedScene, engine_warnings, load_scene, one_line
from .spec_changes import RefusedChange, SensorChange, refuse

_MODEL_FILE = "model.mjb"
_EXIT_OUT_OF_MEMORY = 3
DEFAULT_LIMITS = Limits()
MANY_SENSORS = 2000
"""Contact sensors from which on a compiled model gets their companions faster than a specification. A large model takes
longer: all of it is copied."""


@dataclass(frozen=True)
class Compiled:
    """A compiled scene, the files it was compiled from, and what a person should know of it."""

    scene: LoadedScene
    survey: Survey
    notes: tuple[str, ...]


def compile_scene(survey: Survey, changes: Sequence[SensorChange] = (), any_order: bool = False) -> Compiled:
    """Compile a scene in this process; raises SceneError with the file and line at fault.

    Changes that only the compiler refuses are left out: the newest if that helps, else all of them. `any_order`: True
    if contact sensors may request their data in any order, which MuJoCo refuses.
    """
    try:
        return _compile(survey, changes, any_order)
    except SceneError as error:
        if not changes:
            raise
        reason = str(error).removeprefix(f"{survey.path}: ")
    kept = changes[:-1]
    try:
        compiled = _compile(survey, kept, any_order)
    except SceneError:
        kept = ()
        compiled = _compile(survey, kept, any_order)
    refusals = (*compiled.scene.refusals, *refuse(changes[len(kept) :], reason))
    return replace(compiled, scene=replace(compiled.scene, refusals=refusals))


def _compile(survey: Survey, changes: Sequence[SensorChange], any_order: bool) -> Compiled:
    path = survey.path
    binary = path.suffix.lower() in COMPILED
    earlier = engine_warnings[-1] if engine_warnings else None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            texts = _ordered_texts(survey) if any_order else {}
            scene = _load(path, changes, texts, survey.contact_elements > MANY_SENSORS)
        if binary:
            check_references(scene.model)
        notes = (*scene.notes, *check_model(scene.model, scene.companions.values()))
        _try_model(scene.model)
    except SceneError as error:
        message = str(error).removeprefix(f"{path}: ")
        latest = engine_warnings[-1] if engine_warnings else None
        if binary and latest is not None and latest is not earlier and "failed to load" in message:
            # MuJoCo reports the reason for a compiled model as a warning.
            message = f"damaged compiled model: {latest.strip()}"
        raise SceneError(f"{path}: {explain(message, survey)}") from None
    said = dict.fromkeys(explain(" ".join(str(warning.message).split()), survey) for warning in caught)
    return Compiled(scene, survey, (*survey.notes, *notes, *said))


def _ordered_texts(survey: Survey) -> dict[Path, bytes]:
    """The texts of a scene that have contact sensors whose data are not in MuJoCo's order, put in order."""
    ordered = {}
    for path in survey.texts:
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if (changed := ordered_data(text)) != text:
            ordered[path] = changed
    return ordered


def _load(path: Path, changes: Sequence[SensorChange], texts: dict[Path, bytes], has_many_sensors: bool) -> LoadedScene:
    try:
        return load_scene(path, changes, texts, has_many_sensors)
    except SceneError as error:
        if NOT_UTF8 not in str(error):
            raise
    # Names that are not UTF-8 cannot be given to companions, so there are none.
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
        return LoadedScene(path, model, refusals=refuse(changes, "names in the scene are not UTF-8"))
    except Exception as error:  # Out of memory and parser faults arrive as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None


def _try_model(model: MjModel) -> None:
    """Compute forces once, as every step does; raises SceneError with the engine's message."""
    try:
        mujoco.mj_forward(model, mujoco.MjData(model))
    except Exception as error:  # Out of memory and engine faults arrive as several types.
        raise SceneError(one_line(error)) from None


class Compilation:
    """One scene being compiled by a process of its own. `wait` for its end, ask for its `result`, close it."""

    def __init__(
        self,
        path: Path,
        doubts: tuple[str, ...] = (),
        limits: Limits | None = None,
        changes: Sequence[SensorChange] = (),
        any_order: bool = False,
    ) -> None:
        """`doubts`: what the scene is suspected of, for the message if it fails. `any_order`: as in `compile_scene`."""
        self._path = path
        self._doubts = doubts
        self._changes = tuple(changes)
        self._cancelled = False
        edits = [change.to_json() for change in changes]
        request = {"path": str(path), "changes": edits, "any_order": any_order}
        try:
            self._worker = Worker(__name__, request, limits or DEFAULT_LIMITS)
        except OSError as error:
            raise SceneError(f"{path}: no process to compile it in ({error.strerror})") from None

    @property
    def stage(self) -> str:
        """What the process is doing, for a person."""
        return self._worker.stage

    def wait(self, seconds: float) -> bool:
        """Wait for at most so long; True if it has ended."""
        return self._worker.wait(seconds)

    def cancel(self) -> None:
        """End it at once; `result` then raises SceneError."""
        self._cancelled = not self._worker.poll()
        self._worker.stop()

    def result(self) -> Compiled:
        """Wait for the end; returns the scene, or raises SceneError."""
        self._worker.wait()
        answer = next(iter(self._worker.results()), None)
        if self._cancelled or answer is None:
            reason, is_scene = self._describe_end()
            suspected = f"; suspected: {', '.join(self._doubts[:3])}" if self._doubts and is_scene else ""
            raise SceneError(f"{self._path}: {reason}{suspected}")
        if "error" in answer:
            raise SceneError(str(answer["error"]))
        try:
            model = mujoco.MjModel.from_binary_path(str(self._worker.folder / _MODEL_FILE))
        except Exception as error:  # Out of memory arrives as several types.
            raise SceneError(f"{self._path}: compiled, but it cannot be read back: {one_line(error)}") from None
        companions = {int(sensor): companion for sensor, companion in answer["companions"]}
        survey = Survey(
            self._path,
            {Path(name): None if stamp is None else tuple(stamp) for name, stamp in answer["files"]},
            texts=tuple(Path(name) for name in answer["texts"]),
            missing=tuple(answer["missing"]),
            doubts=tuple(answer["doubts"]),
            notes=tuple(answer["survey_notes"]),
        )
        refusals = tuple(RefusedChange(self._changes[place], reason) for place, reason in answer["refusals"])
        lacks_companions, hidden = bool(answer["lacks_companions"]), tuple(answer["hidden"])
        scene = LoadedScene(self._path, model, companions, lacks_companions, refusals=refusals, hidden=hidden)
        return Compiled(scene, survey, tuple(answer["notes"]))

    def close(self) -> None:
        """End the process and remove its files. Safe twice."""
        self._worker.close()

    def _describe_end(self) -> tuple[str, bool]:
        """Why there is no answer; True if something in the scene is to blame."""
        if self._cancelled:
            return "cancelled", False
        limits, code, stderr = self._worker.limits, self._worker.exit_code, self._worker.stderr
        if self._worker.timed_out:
            return f"stopped after {limits.time:g} s of compiling", True
        if self._worker.over_memory:
            return f"needs more than {size_text(limits.memory or 0)} of memory", True
        if code == _EXIT_OUT_OF_MEMORY or is_out_of_memory(stderr):
            limit = address_limit()
            if limit is not None:
                return f"needs more than the {size_text(limit)} of memory that this program may use (ulimit -v)", False
            return f"needs more than {size_text(limits.memory or 0)} of memory", True
        if code == -getattr(signal, "SIGKILL", 0):
            return "the process that compiled it was ended from outside, perhaps because memory was short", True
        if name := describe_signal(code):
            return f"MuJoCo crashed on it ({name})", True
        return f"could not be compiled ({stderr.splitlines()[-1] if stderr else f'exit code {code}'})", True


def _work(job: Job) -> None:
    """The program of the process: replies with an error, or with a description of the model that it leaves."""
    try:
        job.reply(_compile_into(job))
    except SceneError as error:
        if is_out_of_memory(str(error)):
            os._exit(_EXIT_OUT_OF_MEMORY)
        job.reply({"error": str(error)})
    except MemoryError:
        os._exit(_EXIT_OUT_OF_MEMORY)


def _compile_into(job: Job) -> dict[str, Any]:
    path = Path(job.request["path"])
    changes = [SensorChange.from_json(saved) for saved in job.request["changes"]]
    job.set_stage("checking")
    survey = survey_scene(path, thorough=True)
    job.set_stage("compiling")
    compiled = compile_scene(survey, changes, bool(job.request.get("any_order")))
    job.set_stage("handing over")
    try:
        mujoco.mj_saveModel(compiled.scene.model, str(job.folder / _MODEL_FILE), None)
    except Exception as error:  # Out of memory arrives as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None
    return {
        "companions": list(compiled.scene.companions.items()),
        "lacks_companions": compiled.scene.lacks_companions,
        "hidden": compiled.scene.hidden,
        "notes": compiled.notes,
        "refusals": [(changes.index(refusal.change), refusal.reason) for refusal in compiled.scene.refusals],
        "files": [(str(file), stamp) for file, stamp in survey.files.items()],
        "texts": [str(file) for file in survey.texts],
        "missing": survey.missing,
        "doubts": survey.doubts,
        "survey_notes": survey.notes,
    }


if __name__ == "__main__":
    run_job(_work)
