"""Scenes opened while the window goes on: asked for by a person, or changed on disk."""

from pathlib import Path

from .engines.contract import Engine
from .engines.errors import SceneError
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
        self._choice = options.engine if options else EngineChoice.MUJOCO
        self._envs = options.envs if options else 1
        self._watches = options.watch if options else True
        self._opening: Opening[Engines] | None = None
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
        if self._opening is None and self._next is None and self._watch is not None and self._watch.poll():
            self._next = running.path
        if self._opening is not None and self._opening.poll():
            opening, self._opening = self._opening, None
            try:
                return opening.result()
            except SceneRefused as error:
                # What is missing or broken now may come or be mended.
                if self._watch is not None and opening.path == running.path:
                    self._watch.follow(error.files)
                raise
            except SceneError:
                if self._next is None:
                    raise
        if self._opening is None and self._next is not None:
            path, self._next = self._next, None
            self._opening = Opening(path, self._build)
        return None

    def close(self) -> None:
        self.cancel()
        self._next = self._watch = None

    def _build(self, scene: OpenedScene) -> Engines:
        if self._choice is EngineChoice.MUJOCO:
            return MujocoEngine(scene, num_envs=self._envs), None
        assert scene.path is not None
        return open_engines(scene.path, self._choice, self._envs)
