"""Opens the viewer from a user's own program: blocking, or beside the program's loop."""

from pathlib import Path
from typing import Any

from ..mjmodel.types import MjData, MjModel
from .shared_memory import DEFAULT_RING
from .viewer import KeyCallback, PassiveViewer


def launch(path_or_model: str | Path | Any = None, data: Any = None, *, control: Any = None) -> None:
    """Open a window on a scene file, a bundled scene or a compiled model, and return when it is closed.

    A model given as such is not changed; `data`, if given, is the state that is stepped. `control(model, data)` is
    called before every step.
    """
    # Not at the top: a program that opens a passive viewer has the window in another process.
    from ..window.window import Window, run_window  # isort: skip

    from ..app.application import Application
    from ..engines.controller import as_controller
    from ..engines.mujoco.engine import MujocoEngine
    from ..engines.registry import open_engine
    from ..scene_files.scene import LoadedScene

    if data is None:
        engine = open_engine(path_or_model, control=control)
    else:
        engine = MujocoEngine(LoadedScene(None, path_or_model, owned=False), data)
        if control is not None:
            engine.controller = as_controller(control)
    run_window(Window(Application(engine)))


def launch_passive(
    model: MjModel,
    data: MjData,
    *,
    key_callback: KeyCallback | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
    every_step: bool = False,
    ring_megabytes: float = DEFAULT_RING / 2**20,
) -> PassiveViewer:
    """Open a window, in a process of its own, that shows a model and data which the calling program steps.

    Call `sync` after every step. `key_callback(key)`: called in `sync` with each key pressed in the window, as GLFW
    numbers them. `every_step`: True to see also the steps between two calls of `sync`, through MuJoCo's
    control callback; it is one for the whole process, and makes rollouts on several threads wait for each other.
    `ring_megabytes`: memory for states that the window has not read yet.
    """
    return PassiveViewer(
        model,
        data,
        key_callback=key_callback,
        show_left_ui=show_left_ui,
        show_right_ui=show_right_ui,
        every_step=every_step,
        ring_bytes=round(ring_megabytes * 2**20),
    )
