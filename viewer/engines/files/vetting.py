"""Any file to a scene that is safe to step and draw, or to one line that says why not."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import mujoco

from ..errors import SceneError
from .amending import SensorChange
from .checking import SceneRefused, Survey, survey_scene
from .compiling import Compilation, Compiled, Limits, compile_scene
from .explaining import readable
from .loading import LoadedScene
from .watching import Stamp

T = TypeVar("T")
_WAIT = 0.05
_asset_stamps: dict[Path, Stamp | None] = {}
"""Of the files that MuJoCo may keep decoded, when it last read them."""


@dataclass(frozen=True)
class OpenedScene(LoadedScene):
    """A compiled scene that passed all checks."""

    survey: Survey | None = None
    """The files that it was made from, for a FileWatch."""
    notes: tuple[str, ...] = ()
    """What a person should know of it: settings that were lowered, files from outside its folder."""


class OpeningCancelled(SceneError):
    """A person did not want to wait."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: cancelled")


class Progress:
    """How far the opening of a scene is, seen from another thread."""

    def __init__(self) -> None:
        self.stage = "checking"
        """For a person."""
        self.cancelled = threading.Event()


def open_safely(
    path: Path,
    progress: Progress | None = None,
    limits: Limits | None = None,
    changes: Sequence[SensorChange] = (),
) -> OpenedScene:
    """Check and compile a scene file, whatever is in it; raises SceneRefused with one readable line.

    Changes that do not fit it are told in its notes.
    """
    progress = progress or Progress()
    files: Mapping[Path, Stamp | None] = {path: None}
    try:
        survey = survey_scene(path)
        files = survey.files
        if survey.doubts:
            compiled = _compile_apart(survey, progress, limits, changes)
        else:
            progress.stage = "compiling"
            _forget_changed_assets(survey)
            compiled = compile_scene(survey, changes)
        if progress.cancelled.is_set():
            raise OpeningCancelled(path)
    except OpeningCancelled:
        raise
    except SceneError as error:
        raise SceneRefused(readable(str(error)), getattr(error, "files", files)) from None
    scene = compiled.scene
    told = [str(refusal) for refusal in scene.refusals if refusal.reason is not None]
    notes = tuple(readable(note) for note in (*compiled.notes, *told))
    return OpenedScene(
        path, scene.model, scene.companions, scene.owned, scene.refusals, survey=compiled.survey, notes=notes
    )


class Opening(Generic[T]):
    """A scene being opened in a thread, for a window that goes on drawing. Ask `poll` once a frame."""

    def __init__(
        self,
        path: Path,
        build: Callable[[OpenedScene], T],
        limits: Limits | None = None,
        changes: Sequence[SensorChange] = (),
    ) -> None:
        """`build`: what to make of the scene, in the same thread, such as an engine."""
        self.path = path
        self._changes = tuple(changes)
        self._build = build
        self._limits = limits
        self._progress = Progress()
        self._started = time.monotonic()
        self._result: T | None = None
        self._error: BaseException | None = None
        # Not a daemon: the interpreter must not go away under MuJoCo. Cancelling ends it soon enough.
        self._thread = threading.Thread(target=self._run, name=f"open {path.name}", daemon=False)
        self._thread.start()

    @property
    def stage(self) -> str:
        """What is being done, for a person."""
        return self._progress.stage

    @property
    def elapsed(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    def poll(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Give up: at once for a scene in doubt, else as soon as MuJoCo returns; `result` raises OpeningCancelled."""
        self._progress.cancelled.set()

    def result(self) -> T:
        """What was built; waits for it. Raises SceneError."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._build(open_safely(self.path, self._progress, self._limits, self._changes))
        except BaseException as error:  # To be raised by whoever asks for the result.
            self._error = error


def _compile_apart(
    survey: Survey, progress: Progress, limits: Limits | None, changes: Sequence[SensorChange]
) -> Compiled:
    with Compilation(survey.path, survey.doubts, limits, changes) as compilation:
        while not compilation.wait(_WAIT):
            progress.stage = compilation.stage
            if progress.cancelled.is_set():
                compilation.cancel()
                raise OpeningCancelled(survey.path)
        return compilation.result()


def _forget_changed_assets(survey: Survey) -> None:
    """Make MuJoCo read changed files again: it tells them apart by whole seconds only."""
    texts = set(survey.texts)
    assets = {path: stamp for path, stamp in survey.files.items() if path not in texts}
    changed = any(_asset_stamps.get(path, stamp) != stamp for path, stamp in assets.items())
    _asset_stamps.update(assets)
    clear: Any = getattr(mujoco, "mj_clearCache", None)
    if changed and clear is not None:
        clear(mujoco.mj_getCache())
