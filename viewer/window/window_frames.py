"""Film the whole window on an exact time base, without a display."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from imgui_bundle import glfw_utils, hello_imgui

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..app.application import Application
from ..errors import RecordingError
from ..recording.encoders import Picture
from ..recording.schedule import Schedule
from ..render.camera import Eye
from ..session.layer import DrawContext
from ..session.layers import follow_forces
from ..session.pace import Pace
from ..settings import Options
from .opening import Surface, opening_window, use_null_display
from .shell import Audience
from .window import Window

_FIRST_FRAMES = 6
"""Frames until all panels have been laid out."""
_USUAL_HEIGHT = 1080
"""Window height up to which text has its usual size [px]; in higher windows it grows with them."""
_CHUNK = 100
"""Steps after which `None` is yielded while no frame is due, so that the caller can stop."""


class WindowFrames:
    """Frames of a video of one window, as a context manager that keeps the window open."""

    def __init__(
        self,
        app: Application,
        schedule: Schedule,
        panels: Sequence[str] | None = None,
        ui_scale: float | None = None,
    ) -> None:
        """Prepare a window of the size of the application's options.

        Args:
            app: Application that the window shows.
            schedule: Step that each frame shows.
            panels: Titles of the panels that are open, in upper or lower case; None for all.
            ui_scale: Factor on text and panels; None for one that suits the window's height.

        Raises:
            RecordingError: A panel is unknown.
        """
        self._app, self._schedule = app, schedule
        self._size = (app.options.width, app.options.height) if app.options else (Options.width, Options.height)
        app.session.settings.ui_scale = ui_scale or max(1.0, self._size[1] / _USUAL_HEIGHT)
        self._window = Window(app)
        self._window.keeps_settings = False
        self._camera = _Camera()
        self._window.audience = self._camera
        titles = {panel.title.lower(): panel.title for panel in self._window.panels}
        self._panels = (
            None if panels is None else {titles.get(name.strip().lower(), "") for name in panels if name.strip()}
        )
        if self._panels is not None and "" in self._panels:
            unknown = next(name for name in panels or () if titles.get(name.strip().lower()) is None and name.strip())
            raise RecordingError(f"unknown panel {unknown!r}: choose from {', '.join(titles)}")
        self._surface = Surface()
        self._stack = ExitStack()

    def __enter__(self) -> "WindowFrames":
        use_null_display()
        render = hello_imgui.manual_render
        params = self._window.runner_params()
        if self._panels is not None:
            for dockable in params.docking_params.dockable_windows:
                dockable.is_visible = dockable.label in self._panels
            # Where panels have one drawer, the first of them is in it.
            self._window.drawer = next(
                (panel.title for panel in self._window.panels if panel.title in self._panels), None
            )
        with opening_window(needs_display=False) as self._window.when_open:
            render.setup_from_runner_params(params)
        # With the parameters: the window lets go of them while it is closed.
        self._stack.callback(lambda _: render.tear_down(), params)
        # Hello ImGui keeps windows within the monitor, which the platform without a display only pretends to have.
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), *self._size)
        self._pace = self._app.session.pace = _ScheduledPace(self._schedule)
        for _ in range(_FIRST_FRAMES):
            self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def renderer(self) -> str:
        """Name of the OpenGL renderer."""
        return self._window.renderer

    def pictures(self, first: int = 0) -> Iterator[Picture | None]:
        """Yield the frames from `first` on; None now and then while many steps are simulated before a frame.

        Raises the error that ended the window.
        """
        pace = self._pace
        # From the start: the forces of all frames choose the scale, also of those that are not drawn.
        for frame in range(-self._schedule.lead, self._schedule.frame_count):
            target = self._schedule.step(frame)
            while pace.taken + _CHUNK < target:
                self._advance(pace.taken + _CHUNK)
                yield None
            if frame < first:
                self._advance(target)
                follow_forces(DrawContext(self._app.session), self._eye())
                yield None
                continue
            pace.target, pace.speed = target, float(self._schedule.speed_at(frame))
            if frame == first:
                # The legend has its size from the second frame on.
                self._draw()
            yield self._draw()

    def _advance(self, target: int) -> None:
        """Simulate up to a step without drawing a frame."""
        session = self._app.session
        self._pace.target = target
        session.advance(float("inf"))
        # A frame computes those of a limited number of steps.
        if session.history is not None:
            session.history.curves.update()

    def _eye(self) -> Eye:
        """Return the camera of the window as it is now."""
        session = self._app.session
        last = session.force_scale.last
        assert last is not None
        matrices = session.view.matrices(session.engine.model, session.engine.data, last.eye.viewport)
        return Eye(matrices, last.eye.viewport, last.eye.unit)

    def _draw(self) -> Picture:
        self._surface.fit()
        hello_imgui.manual_render.render()
        if self._window.error is not None:
            raise self._window.error
        assert self._camera.picture is not None
        return self._camera.picture


class _ScheduledPace(Pace):
    """Pace that runs all steps up to the step that a frame shows, however long they take."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(float(schedule.speed))
        self.taken = self.target = 0
        """Number of steps since the start: those done, and those due."""

    def advance(self, step: Callable[[int], None], timestep: float, budget: float) -> int:
        count, self.taken = self.target - self.taken, self.target
        if count:
            step(count)
        return count

    @property
    def achieved(self) -> float:
        return self.speed


class _Camera(Audience):
    """Stand-in for remote viewers that keeps the pixels of the last frame."""

    def __init__(self) -> None:
        self.picture: Picture | None = None

    def after_frame(self, read: Callable[[], Picture]) -> None:
        self.picture = read()
