"""Opens the viewer from a user's own program: blocking, or beside the program's loop."""

import math
from pathlib import Path
from typing import Any, Literal, overload

import mujoco

from ..errors import SceneError
from ..mjmodel.types import MjData, MjModel
from .batch import BatchViewer
from .process import SERVE
from .served import ServedLoop, ServedScene, ServedViewer
from .shared_memory import DEFAULT_RING
from .viewer import KeyCallback, PassiveViewer

HOST = "127.0.0.1"
"""Where windows are served, unless another address is asked for."""


@overload
def launch(  # type: ignore[overload-overlap]  # False is a number, too, but no port.
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: Literal[False] = False,
    host: str = HOST,
) -> None: ...
@overload
def launch(
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: bool | int,
    host: str = HOST,
) -> ServedViewer: ...
def launch(
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: bool | int = False,
    host: str = HOST,
) -> ServedViewer | None:
    """Open a window on a scene file, a bundled scene or a compiled model, and return when it is closed.

    A model given as such is not changed; `data`, if given, is the state that is stepped. `control(model, data)` is
    called before every step.

    `serve`: True, or a port, to open no window but show it in browsers: returns at once, with its address as `url`.
    The scene is then stepped by a process of its own; with `data` or `control`, by a thread of this program, whose
    window can do what that of `launch_passive` can.
    """
    if serve is not False:
        return _serve(path_or_model, data, control, host, _port(serve))
    # Not at the top: a program that opens a passive viewer has the window in another process.
    from ..window.main_loop import run_window  # isort: skip
    from ..window.window import Window  # isort: skip

    from ..app.application import Application

    run_window(Window(Application(_open_engine(path_or_model, data, control))))
    return None


def _open_engine(path_or_model: Any, data: Any, control: Any) -> Any:
    """The engine that steps a scene, or a program's own data."""
    from ..engines.controller import as_controller
    from ..engines.mujoco.engine import MujocoEngine
    from ..engines.registry import open_engine
    from ..scene_files.scene import LoadedScene

    if data is None:
        return open_engine(path_or_model, control=control)
    _check(path_or_model, data)
    engine = MujocoEngine(LoadedScene(None, path_or_model, owned=False), data)
    if control is not None:
        engine.controller = as_controller(control)
    return engine


def _serve(path_or_model: Any, data: Any, control: Any, host: str, port: int | None) -> ServedViewer:
    is_path = path_or_model is None or isinstance(path_or_model, str | Path)
    if data is None and control is None:
        return ServedScene(path_or_model if is_path else None, None if is_path else path_or_model, host, port)
    model = _compile(path_or_model) if is_path else path_or_model
    engine = _open_engine(model, data if data is not None else mujoco.MjData(model), control)
    return ServedLoop(engine, launch_passive(model, engine.data, serve=port or True, host=host))


def _compile(path: str | Path | None) -> MjModel:
    """The model of a file, as it is there."""
    from ..engines.registry import open_engine
    from ..scene_files.scene import find_scene

    # Refuses what would end the program.
    open_engine(path)
    source = str(find_scene(path))
    from_file = mujoco.MjModel.from_binary_path if source.lower().endswith(".mjb") else mujoco.MjModel.from_xml_path
    return from_file(source)


def _check(model: Any, data: Any) -> None:
    """Refuse what does not belong together: MuJoCo would read beyond the end of arrays."""
    if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
        raise SceneError(f"an MjModel and an MjData are needed, not {type(model).__name__} and {type(data).__name__}")
    sizes = {
        "qpos": model.nq,
        "qvel": model.nv,
        "act": model.na,
        "ctrl": model.nu,
        "mocap_pos": model.nmocap,
        "xpos": model.nbody,
        "geom_xpos": model.ngeom,
        "sensordata": model.nsensordata,
    }
    for name, size in sizes.items():
        if len(getattr(data, name)) != size:
            raise SceneError(f"the data are of another model: {name} has {len(getattr(data, name))}, not {size}")


def _port(serve: bool | int) -> int | None:
    """The port that was asked for; None for any that is free."""
    if serve is True:
        return None
    if not isinstance(serve, int) or not 1 <= serve <= 65535:
        raise SceneError(f"serve is True, or a port from 1 to 65535, not {serve!r}")
    return serve


def _ring_bytes(megabytes: float) -> int:
    if not isinstance(megabytes, int | float) or not 0 < megabytes < math.inf:
        raise SceneError(f"ring_megabytes is a size in megabytes, not {megabytes!r}")
    return round(megabytes * 2**20)


def launch_passive(
    model: MjModel,
    data: MjData,
    *,
    key_callback: KeyCallback | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
    every_step: bool = False,
    ring_megabytes: float = DEFAULT_RING / 2**20,
    scene: str | Path | Any = None,
    serve: bool | int = False,
    host: str = HOST,
) -> PassiveViewer:
    """Open a window, in a process of its own, that shows a model and data which the calling program steps.

    Call `sync` after every step. `key_callback(key)`: called in `sync` with each key pressed in the window, as GLFW
    numbers them. `every_step`: True to see also the steps between two calls of `sync`, through MuJoCo's
    control callback; it is one for the whole process, and makes rollouts on several threads wait for each other.
    `ring_megabytes`: memory for states that the window has not read yet. `scene`: the file or MjSpec that the model was
    compiled from; the window then has a model compiled from it, is named after it, and SceneError is raised if it is
    another one. `serve`: True, or a port, to show the window
    in browsers instead; its address is the viewer's `url`.
    """
    _check(model, data)
    if key_callback is not None and not callable(key_callback):
        raise SceneError(f"key_callback is called with each key, and {key_callback!r} cannot be called")
    return PassiveViewer(
        model,
        data,
        key_callback=key_callback,
        show_left_ui=show_left_ui,
        show_right_ui=show_right_ui,
        every_step=every_step,
        ring_bytes=_ring_bytes(ring_megabytes),
        scene=scene,
        arguments=() if serve is False else (SERVE, host, str(_port(serve) or 0)),
    )


def launch_batch(
    model: MjModel,
    num_envs: int,
    *,
    ring_megabytes: float = DEFAULT_RING / 2**20,
    serve: bool | int = False,
    host: str = HOST,
) -> BatchViewer:
    """Open a window, in a process of its own, on one of many environments of a model, which any engine steps.

    Call `sync(qpos=..., qvel=..., ctrl=..., sensordata=..., time=...)` after every step, with arrays of shape
    (num_envs, ...) of numpy, torch, JAX or Warp. See `launch_passive` for the options.
    """
    if not isinstance(model, mujoco.MjModel):
        raise SceneError(f"an MjModel is needed, not {type(model).__name__}")
    return BatchViewer(
        model,
        num_envs,
        ring_bytes=_ring_bytes(ring_megabytes),
        arguments=() if serve is False else (SERVE, host, str(_port(serve) or 0)),
    )
