"""Turns any file into a scene that is safe to step and draw, or into one line with the reason why not."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

import mujoco

from ..errors import SceneError
from ..processes import Limits
from .compile_worker import Compilation, compile_scene
from .compile_worker import OpenedScene as OpenedScene
from .error_messages import readable
from .file_watch import Stamp
from .preflight import SceneRefused, Survey, survey_scene
from .run_file import SUFFIX as RUN_SUFFIX
from .run_file import RunFile
from .scene import catch_warnings
from .spec_changes import SceneChange

T = TypeVar("T")
_WAIT = 0.02
"""Time between two checks of a process [s]."""
_asset_stamps: dict[Path, Stamp | None] = {}
"""Stamps, at the last read, of the files that MuJoCo may have in its cache."""


class OpeningCancelled(SceneError):
    """An opening that the user cancelled."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: cancelled")


class Progress:
    """Progress of an opening, shared with another thread."""

    def __init__(self) -> None:
        self.stage = "checking"
        """Present stage, for the user."""
        self.cancelled = threading.Event()


def open_safely(
    path: Path,
    progress: Progress | None = None,
    limits: Limits | None = None,
    changes: Sequence[SceneChange] = (),
    isolated: bool = False,
    known: Mapping[Path, Stamp | None] | None = None,
    any_order: bool = False,
) -> OpenedScene:
    """Check and compile a scene file with any contents. Raises SceneRefused with one readable line.

    Changes that do not fit it are listed in its notes. `isolated`: True to compile it in another process in any case,
    so that a window goes on running; otherwise only a doubtful scene is. `known`: the files of a scene that runs
    already; if they have not changed, no other process is used. `any_order`: as in `compile_scene`.
    """
    progress = progress or Progress()
    # Also where another process compiles it: the steps are taken in this one.
    catch_warnings()
    files: Mapping[Path, Stamp | None] = {path: None}
    try:
        survey = survey_scene(path)
        files = survey.files
        if survey.doubts or (isolated and survey.files != known):
            compiled = _compile_isolated(survey, progress, limits, changes, any_order)
        else:
            progress.stage = "compiling"
            _forget_changed_assets(survey)
            compiled = compile_scene(survey, changes, any_order)
        if progress.cancelled.is_set():
            raise OpeningCancelled(path)
        log = RunFile(path).log(compiled.model) if path.suffix.lower() == RUN_SUFFIX else None
    except OpeningCancelled:
        raise
    except SceneError as error:
        raise SceneRefused(readable(str(error)), getattr(error, "files", files)) from None
    left_out = [str(refusal) for refusal in compiled.refusals if refusal.reason is not None]
    return replace(compiled, notes=tuple(readable(note) for note in (*compiled.notes, *left_out)), log=log)


class Opening(Generic[T]):
    """A scene being opened in a thread and compiled in a process, while a window goes on drawing: `poll` each frame."""

    def __init__(
        self,
        path: Path,
        build: Callable[[OpenedScene], T],
        limits: Limits | None = None,
        changes: Sequence[SceneChange] = (),
        known: Mapping[Path, Stamp | None] | None = None,
    ) -> None:
        """`build`: function that makes something of the scene, such as an engine, in the same thread. `known`: as in
        `open_safely`."""
        self.path = path
        self._changes = tuple(changes)
        self._build = build
        self._limits = limits
        self._known = known
        self._progress = Progress()
        self._started = time.monotonic()
        self._result: T | None = None
        self._error: BaseException | None = None
        # Not a daemon: the interpreter must not end while MuJoCo runs. Cancelling ends it soon enough.
        self._thread = threading.Thread(target=self._run, name=f"open {path.name}", daemon=False)
        self._thread.start()

    @property
    def stage(self) -> str:
        """Present stage, for the user."""
        return self._progress.stage

    @property
    def elapsed(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    def poll(self) -> bool:
        """Return True if the process has ended."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Stop as soon as possible; `result` raises OpeningCancelled."""
        self._progress.cancelled.set()

    def result(self) -> T:
        """Wait for the result and return it. Raises SceneError."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            scene = open_safely(self.path, self._progress, self._limits, self._changes, True, self._known)
            self._result = self._build(scene)
        except BaseException as error:  # Raised by `result`.
            self._error = error


def _compile_isolated(
    survey: Survey, progress: Progress, limits: Limits | None, changes: Sequence[SceneChange], any_order: bool
) -> OpenedScene:
    with closing(Compilation(survey.path, survey.doubts, limits, changes, any_order)) as compilation:
        while not compilation.wait(_WAIT):
            progress.stage = compilation.stage
            if progress.cancelled.is_set():
                compilation.cancel()
                raise OpeningCancelled(survey.path)
        return compilation.result()


def _forget_changed_assets(survey: Survey) -> None:
    """Make MuJoCo read changed files again: it compares their times in whole seconds only."""
    texts = set(survey.texts)
    assets = {path: stamp for path, stamp in survey.files.items() if path not in texts}
    changed = any(_asset_stamps.get(path, stamp) != stamp for path, stamp in assets.items())
    _asset_stamps.update(assets)
    if changed:
        mujoco.mj_clearCache(mujoco.mj_getCache())
