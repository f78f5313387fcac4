"""Compiles a scene that may crash, hang or exhaust MuJoCo, in this process or another, or reports why that failed."""

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
from ..processes import Job, Limits, Worker, address_limit, describe_signal, run_job
from .error_messages import NOT_UTF8, explain, is_out_of_memory
from .index_checks import check_references
from .mjcf import ordered_data
from .model_checks import check_model
from .preflight import Survey, survey_scene
from .scene import COMPILED, LoadedScene, engine_warnings, load_scene, one_line
from .spec_changes import RefusedChange, SceneChange, change_from_json, refuse

_MODEL_FILE = "model.mjb"
_EXIT_OUT_OF_MEMORY = 3
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class OpenedScene(LoadedScene):
    """A compiled scene that passed all checks."""

    survey: Survey | None = None
    """Survey of the files that the scene was compiled from, for a FileWatch."""


def compile_scene(survey: Survey, changes: Sequence[SceneChange] = (), any_order: bool = False) -> OpenedScene:
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
    return replace(compiled, refusals=(*compiled.refusals, *refuse(changes[len(kept) :], reason)))


def _compile(survey: Survey, changes: Sequence[SceneChange], any_order: bool) -> OpenedScene:
    path = survey.path
    binary = path.suffix.lower() in COMPILED
    earlier = engine_warnings[-1] if engine_warnings else None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            texts = _ordered_texts(survey) if any_order else {}
            scene = _load(path, changes, texts)
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
    return OpenedScene(**(vars(scene) | {"notes": (*survey.notes, *notes, *said), "survey": survey}))


def _ordered_texts(survey: Survey) -> dict[Path, bytes]:
    """Return the texts of a scene with the data of contact sensors put into MuJoCo's order."""
    ordered = {}
    for path in survey.texts:
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if (changed := ordered_data(text)) != text:
            ordered[path] = changed
    return ordered


def _load(path: Path, changes: Sequence[SceneChange], texts: dict[Path, bytes]) -> LoadedScene:
    try:
        return load_scene(path, changes, texts)
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


class Compilation(Worker):
    """Scene that is being compiled by another process: `wait` for its end, read its `result`, then `close` it."""

    def __init__(
        self,
        path: Path,
        doubts: tuple[str, ...] = (),
        limits: Limits | None = None,
        changes: Sequence[SceneChange] = (),
        any_order: bool = False,
    ) -> None:
        """`doubts`: reasons why the scene may fail, for the error message. `any_order`: as in `compile_scene`."""
        self._path = path
        self._doubts = doubts
        self._changes = tuple(changes)
        self._cancelled = False
        edits = [change.to_json() for change in changes]
        request = {"path": str(path), "changes": edits, "any_order": any_order}
        try:
            super().__init__(__name__, request, limits or DEFAULT_LIMITS)
        except OSError as error:
            raise SceneError(f"{path}: no process to compile it in ({error.strerror})") from None

    def cancel(self) -> None:
        """Stop compiling at once; `result` then raises SceneError."""
        self._cancelled = not self.poll()
        self.stop()

    def result(self) -> OpenedScene:
        """Wait for the end; returns the scene, or raises SceneError."""
        self.wait()
        answer = next(iter(self.results), None)
        if self._cancelled or answer is None:
            reason, is_scene = self._describe_end()
            suspected = f"; suspected: {', '.join(self._doubts[:3])}" if self._doubts and is_scene else ""
            raise SceneError(f"{self._path}: {reason}{suspected}")
        if "error" in answer:
            raise SceneError(str(answer["error"]))
        try:
            model = mujoco.MjModel.from_binary_path(str(self.folder / _MODEL_FILE))
        except Exception as error:  # Out of memory arrives as several types.
            raise SceneError(f"{self._path}: compiled, but it cannot be read back: {one_line(error)}") from None
        companions = {int(sensor): companion for sensor, companion in answer["companions"]}
        # All that a caller needs of it: the rest has served the compilation.
        files = {Path(name): None if stamp is None else tuple(stamp) for name, stamp in answer["files"]}
        survey = Survey(self._path, files)
        refusals = tuple(RefusedChange(self._changes[place], reason) for place, reason in answer["refusals"])
        notes, hidden = tuple(answer["notes"]), tuple(answer["hidden"])
        return OpenedScene(self._path, model, companions, refusals=refusals, notes=notes, hidden=hidden, survey=survey)

    def _describe_end(self) -> tuple[str, bool]:
        """Return the reason why the process sent no answer, and True if the scene caused it."""
        if self._cancelled:
            return "cancelled", False
        limits, code, stderr = self.limits, self.exit_code, self.stderr
        if self.timed_out:
            return f"stopped after {limits.time:g} s of compiling", True
        if self.over_memory:
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
    """Run the process: reply with an error, or with a description of the model that it leaves."""
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
    changes = [change_from_json(saved) for saved in job.request["changes"]]
    job.set_stage("checking")
    survey = survey_scene(path, thorough=True)
    job.set_stage("compiling")
    compiled = compile_scene(survey, changes, bool(job.request.get("any_order")))
    job.set_stage("switching")
    try:
        mujoco.mj_saveModel(compiled.model, str(job.folder / _MODEL_FILE), None)
    except Exception as error:  # Out of memory arrives as several types.
        raise SceneError(f"{path}: {one_line(error)}") from None
    return {
        "companions": list(compiled.companions.items()),
        "hidden": compiled.hidden,
        "notes": compiled.notes,
        "refusals": [(changes.index(refusal.change), refusal.reason) for refusal in compiled.refusals],
        "files": [(str(file), stamp) for file, stamp in survey.files.items()],
    }


if __name__ == "__main__":
    run_job(_work)
