"""Scenes opened while the window goes on: asked for by a person, or changed on disk."""

from pathlib import Path

from .engines.contract import Engine
from .engines.errors import SceneError
from .engines.files.amending import Refusal
from .engines.files.amendments import Amendments
from .engines.files.checking import SceneRefused
from .engines.files.loading import find_scene
from .engines.files.vetting import OpenedScene, Opening
from .engines.files.watching import FileWatch
from .engines.mujoco.engine import MujocoEngine
from .engines.opening import open_engines
from .settings import EngineChoice, Options

Engines = tuple[Engine, Engine | None]


class SceneFollower:
    """Opens scenes in a thread of their own, one at a time, and watches the files of the one that runs."""

    def __init__(self, options: Options | None) -> None:
        self.choice = options.engine if options else EngineChoice.MUJOCO
        """Who steps the scenes that are opened from now on."""
        self._running_choice = self.choice
        self._envs = options.envs if options else 1
        self._watches = options.watch if options else True
        self.amendments = Amendments()
        """Changes of the running scene's sensors; the scene is opened again whenever they change."""
        self._tried = self.amendments.state
        """With which the running scene was last opened, or could not be."""
        self._opening: Opening[tuple[Engines, tuple[Refusal, ...]]] | None = None
        self._next: Path | None = None
        self._watch: FileWatch | None = None

    @property
    def progress(self) -> str | None:
        """What is being opened and for how long, for a person; None for nothing."""
        opening = self._opening
        if opening is None or opening.elapsed < 0.3:
            return None
        return f"Opening {opening.path.name}: {opening.stage}, {opening.elapsed:.1f} s"

    def follow(self, engine: Engine) -> None:
        """Watch the files of a scene that runs now."""
        self._watch = FileWatch(engine.files) if self._watches and engine.files else None

    def open(self, scene: str | Path) -> None:
        """Open a scene; the one that is being opened is given up."""
        self._next = find_scene(scene)
        self.cancel()

    def cancel(self) -> None:
        """Give up what is being opened."""
        if self._opening is not None:
            self._opening.cancel()

    def poll(self, running: Engine) -> Engines | None:
        """Engines of a scene that is ready, once; raises SceneError for one that failed. Call it once a frame."""
        if self._opening is None and self._next is None and self._is_outdated():
            self._next = running.path
        if self._opening is not None and self._opening.poll():
            opening, self._opening = self._opening, None
            try:
                engines, refusals = opening.result()
            except SceneError as error:
                if self._next is None:
                    # The running scene goes on as it is.
                    self.choice = self._running_choice
                # What is missing or broken now may come or be mended.
                if isinstance(error, SceneRefused) and self._watch is not None and opening.path == running.path:
                    self._watch.follow(error.files)
                if isinstance(error, SceneRefused) or self._next is None:
                    raise
            else:
                self._running_choice = self.choice
                self._settle(opening.path == running.path, refusals)
                return engines
        if self._opening is None and self._next is not None:
            path, self._next = self._next, None
            same = path == running.path
            if same:
                self._tried = self.amendments.state
            self._opening = Opening(path, self._build, changes=self.amendments.changes if same else ())
        return None

    def close(self) -> None:
        self.cancel()
        self._next = self._watch = None

    def _is_outdated(self) -> bool:
        """Whether the running scene's files or its amendments have changed."""
        return self.amendments.state != self._tried or (self._watch is not None and bool(self._watch.poll()))

    def _settle(self, same: bool, refusals: tuple[Refusal, ...]) -> None:
        """Keep the amendments that the scene took; none of them if it is another one."""
        if same:
            up_to_date = self.amendments.state == self._tried
            self.amendments.settle(refusals)
        else:
            up_to_date = True
            self.amendments.clear()
        if up_to_date:
            self._tried = self.amendments.state

    def _build(self, scene: OpenedScene) -> tuple[Engines, tuple[Refusal, ...]]:
        if self.choice is EngineChoice.MUJOCO:
            return (MujocoEngine(scene, num_envs=self._envs), None), scene.refusals
        assert scene.path is not None
        return open_engines(scene.path, self.choice, self._envs), ()
