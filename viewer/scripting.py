"""The viewer from a user's own program: blocking, or inside the program's loop."""

from pathlib import Path
from types import TracebackType
from typing import Any

from .app import Application
from .display import opening_window
from .engines.contract import Engine
from .engines.files.loading import LoadedScene
from .engines.mujoco.engine import MujocoEngine
from .engines.opening import open_engine
from .render.glyphs import GizmoList
from .window import run_window


def launch(path_or_model: str | Path | Any = None, data: Any = None) -> None:
    """Open a window on a scene file, a bundled scene or a compiled model, and return when it is closed.

    A model given as such is not changed; `data`, if given, is the state that is stepped.
    """
    run_window(Application(_engine(path_or_model, data)))


def launch_passive(model: Any, data: Any) -> "PassiveViewer":
    """Open a window that shows a model and data which the calling program steps."""
    return PassiveViewer(model, data)


class PassiveViewer:
    """A window inside a user's own loop: call `sync` after stepping."""

    def __init__(self, model: Any, data: Any) -> None:
        from imgui_bundle import hello_imgui

        self._render = hello_imgui.manual_render
        self._app = Application(_engine(model, data))
        self._app.session.stepped_outside = True
        self._app.session.timeline = None
        self._params = self._app.runner_params()
        self._params.fps_idling.enable_idling = False
        with opening_window() as self._app.when_open:
            self._render.setup_from_runner_params(self._params)
        self._opened = True

    @property
    def gizmos(self) -> GizmoList:
        """Spheres and arrows of the program's own, each drawn in the next frame only."""
        return self._app.gizmos

    def is_running(self) -> bool:
        """False once the window was closed."""
        return self._opened and not self._params.app_shall_exit

    def sync(self) -> None:
        """Show the data as they are now, and handle the window's input. Forces shown are those of the last step."""
        if not self.is_running():
            return
        self._render.render()
        if self._app.error is not None:
            self.close()
            raise self._app.error

    def close(self) -> None:
        """Close the window. Safe twice."""
        if self._opened:
            self._opened = False
            self._render.tear_down()

    def __enter__(self) -> "PassiveViewer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _engine(path_or_model: Any, data: Any) -> Engine:
    if data is None:
        return open_engine(path_or_model)
    return MujocoEngine(LoadedScene(None, path_or_model, owned=False), data)
