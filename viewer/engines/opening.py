"""A scene and the name of an engine to an engine that runs it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import mujoco

from ..settings import EngineChoice
from .contract import Engine
from .errors import SceneError
from .files.loading import LoadedScene, find_scene
from .files.vetting import open_safely
from .mujoco.engine import MujocoEngine

if TYPE_CHECKING:
    from .motrix.engine import MotrixEngine

MAX_ENVS = 65536
"""Most environments of one engine."""


class EngineName(StrEnum):
    """Who can step a scene."""

    MUJOCO = "mujoco"
    MOTRIX = "motrix"


@overload
def open_engine(
    scene: str | Path | Any = None, engine: Literal["mujoco"] = "mujoco", num_envs: int = 1
) -> MujocoEngine: ...
@overload
def open_engine(scene: str | Path | Any, engine: Literal["motrix"], num_envs: int = 1) -> "MotrixEngine": ...
@overload
def open_engine(scene: str | Path | Any = None, engine: str = "mujoco", num_envs: int = 1) -> Engine: ...
def open_engine(scene: str | Path | Any = None, engine: str = EngineName.MUJOCO, num_envs: int = 1) -> Engine:
    """An engine for a scene file, a bundled scene's name, or a compiled MuJoCo model, which is then left as it is."""
    if engine not in list(EngineName):
        raise SceneError(f"unknown engine {engine!r}: choose from {', '.join(EngineName)}")
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or not 1 <= num_envs <= MAX_ENVS:
        raise SceneError(f"num_envs must be a whole number from 1 to {MAX_ENVS}, not {num_envs!r}")
    if isinstance(scene, mujoco.MjModel):
        if engine == EngineName.MOTRIX:
            raise SceneError("MotrixSim needs a scene file: it cannot run a compiled MuJoCo model")
        return MujocoEngine(LoadedScene(None, scene, owned=False), num_envs=num_envs)
    path = find_scene(scene)
    if engine == EngineName.MOTRIX:
        from .motrix.engine import open_motrix

        return open_motrix(path, num_envs)
    return MujocoEngine(open_safely(path), num_envs=num_envs)


def open_engines(
    scene: str | Path, choice: EngineChoice = EngineChoice.MUJOCO, num_envs: int = 1
) -> tuple[Engine, Engine | None]:
    """The engine that a scene runs on, and the one whose contacts are shown as ghosts."""
    if choice is not EngineChoice.BOTH:
        return open_engine(scene, str(choice), num_envs), None
    if num_envs > 1:
        raise SceneError("engines are compared in one environment: leave out --envs with --engine both")
    return open_engine(scene), open_engine(scene, EngineName.MOTRIX)
