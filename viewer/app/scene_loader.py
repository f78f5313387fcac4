"""Open scenes while the running one continues: chosen by the user, or changed on disk."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..engines.contract import Engine
from ..engines.controller import Controller
from ..engines.registry import DEFAULT, open_engines, open_log
from ..errors import SceneError
from ..files import printable
from ..scene_files.file_watch import FileWatch
from ..scene_files.preflight import SceneRefused
from ..scene_files.safe_open import OpenedScene, Opening
from ..scene_files.scene import find_scene
from ..scene_files.sensor_edits import SensorEdits
from ..scene_files.spec_changes import RefusedChange, SceneChange
from ..settings import Options

T = TypeVar("T")
Engines = Sequence[Engine]
"""Engine of a scene, followed by the engines of the runs beside."""
Rebuild = Callable[[Sequence[SceneChange]], tuple[Engine, tuple[RefusedChange, ...]]]
"""Function that makes an engine of the same scene with changed sensors, and the changes that do not fit."""


class SceneLoader:
    """Open scenes in a thread, one at a time, and watch the files of the running scene."""

    def __init__(self, options: Options | None, sensor_edits: SensorEdits) -> None:
        """Prepare opening. `sensor_edits`: changes of the running scene's sensors; it is reloaded whenever they
        change."""
        self.choice = options.engine if options else DEFAULT
        """Engine choice for the scenes that are opened from now on."""
        self._running_choice = self.choice
        self._envs = options.envs if options else 1
        self._log = (options.log, options.episode, options.period) if options and options.log is not None else None
        self._watches = options.watch if options else True
        self._sensor_edits = sensor_edits
        self._tried_edits = sensor_edits.state
        """Edits with which the running scene was last opened, or failed to open."""
        self._opening: Opening[tuple[Engines, tuple[RefusedChange, ...]]] | None = None
        self._next: Path | None = None
        self._watch: FileWatch | None = None
        self._controller: Controller | None = None
        """Controller of the scene that is being reloaded."""
        self.rebuild: Rebuild | None = None
        """Function that makes the engine of a user's loop with other sensors: it has no file to reload."""

        self._offered: Engines | None = None

    @property
    def progress(self) -> str | None:
        """Name of the scene that is being opened, and the time since the start, as text; None for none."""
        opening = self._opening
        if opening is None or opening.elapsed < 0.3:
            return None
        return f"Opening {printable(opening.path.name)}: {opening.stage}, {opening.elapsed:.1f} s"

    def watch_files(self, engine: Engine) -> None:
        """Watch the files of the running scene."""
        self._watch = FileWatch(engine.files) if self._watches and engine.files else None

    def open(self, scene: str | Path) -> None:
        """Open a scene; one that is being opened is cancelled."""
        self._next = find_scene(scene)
        self.cancel()

    def offer(self, engine: Engine) -> None:
        """Show an engine of a user's loop next, then one that is rebuilt with the sensors made in this program."""
        self._offered, self._tried_edits = [engine], (self._sensor_edits.state[0], ())

    def cancel(self) -> None:
        """Stop opening a scene."""
        if self._opening is not None:
            self._opening.cancel()

    def is_busy(self, running: Engine) -> bool:
        """Return True if a scene is being opened or has to be: the user chose it, or files or sensors have changed."""
        if self.rebuild is not None:
            return self._offered is not None or self._is_outdated()
        if self._opening is None and self._next is None and self._is_outdated():
            self._next = running.path
        return self._opening is not None or self._next is not None

    def poll(self, running: Engine) -> Engines | None:
        """Return the engines of a scene that is ready, once. Raises SceneError if opening failed. Call it once a
        frame."""
        if self._offered is not None:
            engines, self._offered = self._offered, None
            return engines
        if self.rebuild is not None:
            return self._made_again(self.rebuild) if self._is_outdated() else None
        self.is_busy(running)
        if self._opening is not None and self._opening.poll():
            opening, self._opening = self._opening, None
            try:
                engines, refusals = _result(opening)
            except SceneError as error:
                if self._next is None:
                    # The running scene keeps its engine.
                    self.choice = self._running_choice
                # A missing or broken file may be repaired later.
                if isinstance(error, SceneRefused) and self._watch is not None and opening.path == running.path:
                    self._watch.add(error.files)
                if isinstance(error, SceneRefused) or self._next is None:
                    raise
            else:
                self._running_choice = self.choice
                self._keep_edits(opening.path == running.path, refusals)
                return engines
        if self._opening is None and self._next is not None:
            path, self._next = self._next, None
            same = path == running.path
            if same:
                self._tried_edits = self._sensor_edits.state
            changes = self._sensor_edits.changes if same else ()
            self._controller = running.controller if same else None
            self._opening = Opening(path, lambda scene: self._build(scene, same), changes=changes, known=running.files)
        return None

    def close(self) -> None:
        self.cancel()
        self._next = self._watch = None

    def _made_again(self, rebuild: Rebuild) -> Engines:
        self._tried_edits = self._sensor_edits.state
        engine, refusals = rebuild(self._sensor_edits.changes)
        self._keep_edits(True, refusals)
        if reasons := [str(refusal) for refusal in refusals if refusal.reason is not None]:
            raise SceneError("; ".join(reasons))
        return [engine]

    def _is_outdated(self) -> bool:
        """Return True if the files of the running scene or its sensor edits have changed."""
        return self._sensor_edits.state != self._tried_edits or (self._watch is not None and bool(self._watch.poll()))

    def _keep_edits(self, same: bool, refusals: tuple[RefusedChange, ...]) -> None:
        """Keep the sensor edits that the scene accepted; none if it is another scene."""
        if same:
            up_to_date = self._sensor_edits.state == self._tried_edits
            self._sensor_edits.drop_refused(refusals)
        else:
            up_to_date = True
            self._sensor_edits.clear()
        if up_to_date:
            self._tried_edits = self._sensor_edits.state

    def _build(self, scene: OpenedScene, same: bool) -> tuple[Engines, tuple[RefusedChange, ...]]:
        if self.choice == DEFAULT:
            engines = open_engines(scene, self.choice, self._envs, self._vary())
            if same and self._log is not None:
                open_log(engines[0], *self._log)
            return engines, scene.refusals
        # Other engines read the file, without the edits.
        assert scene.path is not None
        return open_engines(scene.path, self.choice, self._envs), ()

    def _vary(self) -> Controller | None:
        """Return a controller that varies a model before its first step, as when the scene was first opened."""
        controller = self._controller
        if controller is None:
            return None
        return replace(controller, reset=None, randomisation=replace(controller.randomisation, noise=None))


def _result(opening: Opening[T]) -> T:
    """Return the result of an opening. Raises SceneError also if the file was replaced meanwhile, such as by a folder,
    or has damage that no other check found."""
    try:
        return opening.result()
    except SceneError:
        raise
    except OSError as error:
        raise SceneError(f"{opening.path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:
        raise SceneError(f"{opening.path}: cannot be opened ({type(error).__name__}: {error})") from error
