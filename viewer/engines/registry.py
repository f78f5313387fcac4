"""Opens engines by name.

A new engine is a folder of that name whose `engine.py` has `open_scene(scene, num_envs)`, a line in ENGINES, and an
extra in pyproject.toml.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..assets import bundled_control
from ..errors import SceneError

if TYPE_CHECKING:
    from ..mjmodel.declarations import Declaration
    from ..scene_files.safe_open import OpenedScene
    from .abilities import Portability
    from .contract import Engine
    from .controller import Controller
    from .motrix.engine import MotrixEngine
    from .mujoco.engine import MujocoEngine


@dataclass(frozen=True)
class EngineEntry:
    """Engine, or choice of two engines, as the user selects it."""

    label: str
    hint: str
    package: str = ""
    """Name of the engine's package, whose version a user may ask for."""
    beside: str | None = None
    """Second engine, whose contacts are drawn faintly beside those of the first; None for none."""


ENGINES: Mapping[str, EngineEntry] = {
    "mujoco": EngineEntry("MuJoCo", "MuJoCo steps the scene", "mujoco"),
    "motrix": EngineEntry("MotrixSim", "MotrixSim steps the scene, from its start", "motrixsim"),
}
"""Engines by the name of their folder."""
DEFAULT = "mujoco"
CHOICES: Mapping[str, EngineEntry] = {
    **ENGINES,
    "both": EngineEntry("Both", "MuJoCo, with MotrixSim's contacts as faint arrows", beside="motrix"),
}
"""Engines that can step a scene in a window or a recording."""
MAX_ENVS = 65536
"""Most environments of one engine."""


Driven = Any
"""A `Controller`, a function of model and data that is called before every step, or None."""


@overload
def open_engine(
    scene: "str | Path | OpenedScene | Any" = None,
    engine: Literal["mujoco"] = "mujoco",
    num_envs: int = 1,
    control: Driven = None,
) -> "MujocoEngine": ...
@overload
def open_engine(
    scene: str | Path | Any, engine: Literal["motrix"], num_envs: int = 1, control: Driven = None
) -> "MotrixEngine": ...
@overload
def open_engine(
    scene: str | Path | Any = None, engine: str = DEFAULT, num_envs: int = 1, control: Driven = None
) -> "Engine": ...
def open_engine(
    scene: str | Path | Any = None, engine: str = DEFAULT, num_envs: int = 1, control: Driven = None
) -> "Engine":
    """Open a scene, to step it and read its contacts without a window.

    Args:
        scene: Path of a scene file, name of a bundled scene, or a compiled MjModel, which is not changed. None for
            the default scene.
        engine: Physics engine, `mujoco` or `motrix`.
        num_envs: Number of environments that are stepped together.
        control: Controller, or function `control(model, data)` that is called before every step and may write
            `data.ctrl`, `qfrc_applied` and `xfrc_applied`. None for the controller of a bundled scene, if it has one.

    Returns:
        The engine, at the initial state of the scene.

    Raises:
        SceneError: The scene, the engine or the number of environments cannot be used.

    Example:
        ```python
        engine = contact_viewer.open_engine("walker")
        engine.step(100)
        print(engine.contacts("left_foot").force)
        ```
    """
    from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
    from ..scene_files.scene import find_scene

    if engine not in ENGINES:
        raise SceneError(f"unknown engine {engine!r}: choose from {', '.join(ENGINES)}")
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or not 1 <= num_envs <= MAX_ENVS:
        raise SceneError(f"num_envs must be a whole number from 1 to {MAX_ENVS}, not {num_envs!r}")
    source = find_scene(scene) if scene is None or isinstance(scene, str | Path) else scene
    is_run = isinstance(source, Path) and source.suffix.lower() == RUN_SUFFIX
    if is_run and engine != DEFAULT:
        raise SceneError(f"{source}: a saved run has MuJoCo's steps, which no other engine takes")
    if is_run and control is not None:
        raise SceneError(f"{source}: a saved run has its own controls: leave out --control")
    if control is None:
        control = _controller_beside(source)
    if control is None:
        opened: Engine = import_module(f".{engine}.engine", __package__).open_scene(source, num_envs)
        return opened
    from .controller import as_controller

    controller = as_controller(control)
    change = controller.change if controller.changes_model else None
    driven: Engine = import_module(f".{engine}.engine", __package__).open_scene(source, num_envs, change)
    driven.controller = controller
    if controller.changes_start:
        driven.reset()
    return driven


def _controller_beside(source: Any) -> "Controller | None":
    """Return the controller of a bundled scene; None if it has none."""
    file = bundled_control(source if isinstance(source, Path) else getattr(source, "path", None))
    if file is None:
        return None
    from .controller_file import ControllerFile

    return ControllerFile(str(file)).load()


def open_engines(
    scene: "str | Path | OpenedScene",
    choice: str = DEFAULT,
    num_envs: int = 1,
    control: Driven = None,
    beside_control: Driven = None,
    watched: Sequence[str] = (),
) -> "list[Engine]":
    """Open the engine that a scene runs on, and those whose runs are shown beside it, each with its controller.

    `watched`: patterns of bodies and geoms that get contact sensors: see `watch`.
    """
    beside = CHOICES[choice].beside
    if watched:
        from ..scene_files.compiled_sensors import watch
        from ..scene_files.safe_open import OpenedScene, open_safely

        if choice != DEFAULT:
            raise SceneError(f"--watch adds sensors of MuJoCo: leave out --engine {choice}")
        scene = watch(scene if isinstance(scene, OpenedScene) else open_safely(Path(scene)), watched)
    if beside is None:
        engine = open_engine(scene, choice, num_envs, control)
        if engine.controller is not None:
            from ..mjmodel.variation import find_idle_variations

            varied = engine.controller.randomisation.variations
            engine.notes += tuple(find_idle_variations(engine.model, varied, engine.controller.seed))
        return [engine]
    if num_envs > 1:
        raise SceneError("engines are compared in one environment: leave out --envs with --engine both")
    return [open_engine(scene, control=control), open_engine(scene, beside, control=beside_control)]


def open_log(engine: "Engine", path: str | Path, episode: str | None = None, period: float | None = None) -> None:
    """Let the runs of an engine re-simulate a log: see `scene_files.log_files.read_log`. Raises SceneError."""
    from ..scene_files.log_files import read_log

    if engine.log is not None:
        raise SceneError(f"{engine.path}: is a saved run: leave out --log")
    if not engine.can_resimulate:
        raise SceneError(f"{path}: a log is shown by MuJoCo, not by {engine.name}")
    engine.log = read_log(path, engine.model, episode, period)
    # A log has its own controls, also of a scene that brings a controller.
    engine.controller = None


def portability(engine: str, path: Path, model: Any, declared: "Sequence[Declaration]") -> "dict[str, Portability]":
    """Return what becomes of each contact sensor of a scene in an engine other than MuJoCo, by sensor name."""
    checked: dict[str, Portability] = import_module(f".{engine}.portability", __package__).check(path, model, declared)
    return checked
