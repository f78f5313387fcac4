"""The viewer from a user's own program: blocking, or inside the program's loop."""

from pathlib import Path
from typing import Any

from ..app.application import Application
from ..engines.contract import Engine
from ..engines.controller import as_controller
from ..engines.mujoco.engine import MujocoEngine
from ..engines.registry import open_engine
from ..mjmodel.types import MjData, MjModel
from ..render.glyphs import GizmoList
from ..scene_files.scene import LoadedScene
from ..session.simulation import Step
from ..window.window import Window, run_window
from ..window.window_errors import opening_window


def launch(path_or_model: str | Path | Any = None, data: Any = None, *, control: Any = None) -> None:
    """Open a window on a scene file, a bundled scene or a compiled model, and return when it is closed.

    A model given as such is not changed; `data`, if given, is the state that is stepped. `control(model, data)` is
    called before every step.
    """
    run_window(Window(Application(_engine(path_or_model, data, control))))


def launch_passive(model: MjModel, data: MjData) -> "PassiveViewer":
    """Open a window that shows a model and data which the calling program steps."""
    return PassiveViewer(model, data)


class PassiveViewer:
    """A window inside a user's own loop: call `sync` after stepping."""

    def __init__(self, model: MjModel, data: MjData) -> None:
        from imgui_bundle import hello_imgui

        self._render = hello_imgui.manual_render
        self._window = Window(Application(_engine(model, data)))
        session = self._window.app.session
        session.stepped_outside = True
        session.simulation.keep_history(None)
        self._time = session.engine.time
        self._params = self._window.runner_params()
        self._params.fps_idling.enable_idling = False
        with opening_window() as self._window.when_open:
            self._render.setup_from_runner_params(self._params)
        self._opened = True

    @property
    def gizmos(self) -> GizmoList:
        """Spheres and arrows of the program's own, each drawn in the next frame only."""
        return self._window.app.gizmos

    def is_running(self) -> bool:
        """False once the window was closed."""
        return self._opened and not self._params.app_shall_exit

    def sync(self) -> None:
        """Show the data as they are now, and handle the window's input. Forces shown are those of the last step."""
        if not self.is_running():
            return
        session = self._window.app.session
        if session.engine.time != self._time:
            self._time = session.engine.time
            session.observe(Step())
        self._render.render()
        if self._window.error is not None:
            self.close()
            raise self._window.error

    def close(self) -> None:
        """Close the window. Safe twice."""
        if self._opened:
            self._opened = False
            try:
                if self._window.frame_count == 0:
                    # A window that never drew cannot be closed.
                    self._render.render()
            finally:
                self._render.tear_down()

    def __enter__(self) -> "PassiveViewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _engine(path_or_model: Any, data: Any, control: Any = None) -> Engine:
    if data is None:
        return open_engine(path_or_model, control=control)
    engine = MujocoEngine(LoadedScene(None, path_or_model, owned=False), data)
    if control is not None:
        engine.controller = as_controller(control)
    return engine
