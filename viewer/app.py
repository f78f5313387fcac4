"""The interactive application: builds the parts and runs one frame at a time."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from imgui_bundle import glfw_utils, hello_imgui, imgui, implot

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from .assets import is_bundled
from .drawing import add_volumes, session_glyphs
from .engines.contract import Engine
from .engines.errors import SceneError
from .engines.files.amendments import Amendments
from .filming import Filming, next_path
from .inheriting import successor
from .panels.display import show_display
from .panels.events import EventsPanel
from .panels.frame import MAIN_DOCK, TITLE, dock_panels, toggle_fullscreen, window_params
from .panels.inspector import show_inspector
from .panels.keys import handle_keys, show_help
from .panels.legend import show_legend
from .panels.menus import show_menus
from .panels.notices import Notices, show_progress
from .panels.open_dialog import chosen_scene, open_dialog, remember_scene
from .panels.picking import point_at, show_labels, show_pointed
from .panels.playback import show_playback
from .panels.plots import Plots, style_plots
from .panels.record import RecordButton
from .panels.sensor_editor import SensorEditor
from .panels.sensors import show_sensors
from .panels.shell import DISPLAY, EVENTS, INSPECTOR, PLOTS, SENSOR_EDITOR, SENSORS, TOUCH, RecordingStatus
from .panels.status import show_status
from .panels.theme import apply_theme
from .panels.touch import TouchPanel
from .panels.viewport import Viewport, window_pixels
from .recording.files import save_text
from .render.canvas import Canvas
from .render.contexts import current_renderer
from .render.glyphs import GizmoList, Glyphs
from .reopening import SceneFollower
from .session import Highlight, Session
from .settings import EngineChoice, Options, Quality, Theme, ViewState

_SAVED = "view_state"
_PHYSICS_BUDGET = 0.025
"""Longest that physics may hold up a frame [s]."""


class Application:
    """One window. Panels see it as their Shell."""

    def __init__(self, engine: Engine, options: Options | None = None, ghost: Engine | None = None) -> None:
        self.session = Session(engine, ViewState(), options, ghost)
        self.gizmos = GizmoList()
        """Immediate gizmos of a user's own program; they last one frame."""
        self.help_shown = False
        self.notices = Notices()
        self.plots = Plots()
        self._touch_panel = TouchPanel()
        self._events_panel = EventsPanel()
        self._editor = SensorEditor()
        self.renderer = ""
        self.quality = str(Quality.AUTO)
        self.metres_per_pixel = 0.001
        self.frame_count = 0
        self.error: BaseException | None = None
        """What ended the window, to be raised once it is closed."""
        self.keeps_settings = True
        self.when_open: Callable[[], None] = lambda: None
        """Called once the window exists."""
        self._options = options
        self._viewport = Viewport()
        self._canvas: Canvas | None = None
        self._params: hello_imgui.RunnerParams | None = None
        self._follower = SceneFollower(options)
        self._pointed: Highlight | None = None
        self._filming = Filming()
        self._record_button = RecordButton()

    def runner_params(self) -> hello_imgui.RunnerParams:
        """What Hello ImGui needs to run this application."""
        params = window_params(self._options, self.keeps_settings)
        panels = {
            SENSORS: lambda: show_sensors(self),
            DISPLAY: lambda: show_display(self.session),
            INSPECTOR: lambda: show_inspector(self.session),
            SENSOR_EDITOR: lambda: self._editor.show(self),
            PLOTS: lambda: self.plots.show(self.session, self._save_curves),
            EVENTS: lambda: self._events_panel.show(self.session),
            TOUCH: lambda: self._touch_panel.show(self.session),
        }
        dock_panels(
            params, {title: self._guard(show) for title, show in panels.items()}, self._guard(self._show_playback)
        )
        calls = params.callbacks
        calls.post_init = self._guard(self._open)
        calls.post_new_frame = self._guard(self._advance)
        calls.custom_background = self._guard(self._draw)
        calls.show_menus = self._guard(lambda: show_menus(self))
        calls.show_status = self._guard(lambda: show_status(self))
        calls.show_gui = self._guard(self._show_overlays)
        calls.before_swap = self._guard(lambda: self._film(window_pixels(), whole_window=True))
        calls.before_exit = self._guard(self.close)
        self._params = params
        return params

    def open_scene(self, scene: str) -> None:
        """Open another scene; the running one goes on until it is ready."""
        self.notices.attempt(lambda: self._follower.open(scene))

    def ask_for_scene(self) -> None:
        if not self.session.stepped_outside:
            open_dialog(self.session)

    def reload(self) -> None:
        path = self.session.engine.path
        if path is not None:
            self.open_scene(str(path))

    @property
    def engine_choice(self) -> EngineChoice:
        return self._follower.choice

    def switch_engine(self, choice: EngineChoice) -> None:
        self._follower.choice = choice
        self.reload()

    @property
    def amendments(self) -> Amendments:
        return self._follower.amendments

    def edit_sensor(self, name: str | None) -> None:
        self._editor.begin(self.session, name)
        panel = self._panel(SENSOR_EDITOR)
        panel.is_visible = panel.focus_window_at_next_frame = True

    def watch_all(self) -> None:
        self._editor.watch_all(self)

    def undo(self) -> None:
        if (undone := self.notices.attempt(self.amendments.undo)) is not None:
            self.notices.say(f"undone: {undone}")

    def toggle_panel(self, *names: str) -> None:
        panels = [self._panel(name) for name in names]
        shown = any(panel.is_visible for panel in panels)
        for panel in panels:
            panel.is_visible = not shown

    def is_panel_shown(self, name: str) -> bool:
        return bool(self._panel(name).is_visible)

    def reset_layout(self) -> None:
        assert self._params is not None
        self._params.docking_params.layout_reset = True

    def toggle_theme(self) -> None:
        settings = self.session.settings
        settings.theme = Theme.LIGHT if settings.theme is Theme.DARK else Theme.DARK
        apply_theme(settings.theme)

    def toggle_fullscreen(self) -> None:
        assert self._params is not None
        toggle_fullscreen(self._params)

    def quit(self) -> None:
        if self._params is not None:
            self._params.app_shall_exit = True

    @property
    def recording(self) -> RecordingStatus | None:
        return self._filming.status

    @property
    def next_recording(self) -> Path:
        settings = self.session.settings
        folder = Path(settings.record_folder) if settings.record_folder else Path.cwd()
        folder = folder if folder.is_dir() else Path.cwd()
        return next_path(folder, self.session.engine.path, settings.record_suffix)

    def start_recording(self, path: Path | None = None) -> None:
        self._record(path)

    def _record(self, path: Path | None, last: float | None = None) -> None:
        """Record from now on, or the last seconds."""
        path = path or self.next_recording
        settings = self.session.settings
        _, _, width, height = window_pixels() if settings.record_panels else self._viewport.pixels
        choice = (path, (width, height), self.session, settings.record_panels)
        try:
            self._filming.start(*choice) if last is None else self._filming.start_retake(*choice, last)
        except SceneError as error:
            self.notices.say(str(error), warning=True)
            return
        settings.record_folder, settings.record_suffix = str(path.absolute().parent), path.suffix

    def record_last(self, path: Path | None = None) -> None:
        self._record(path, self.session.settings.record_last)

    def toggle_recording_paused(self) -> None:
        self._filming.toggle_paused()

    def stop_recording(self) -> None:
        self._filming.stop()

    def save_screenshot(self) -> None:
        self._filming.request_screenshot(next_path(self.next_recording.parent, self.session.engine.path, ".png"))

    def close(self) -> None:
        """Save what a person chose, and free everything on the graphics card. Safe twice."""
        self._follower.close()
        self.finish_recording()
        if self._canvas is None:
            return
        if self.keeps_settings:
            hello_imgui.save_user_pref(_SAVED, self.session.settings.to_json())
        implot.destroy_context()
        self._canvas.close()
        self._canvas = None

    def finish_recording(self) -> None:
        """Complete what is being recorded, at the end of the program."""
        if (said := self._filming.close()) is not None:
            print(said, flush=True)

    def _guard(self, call: Callable[[], None]) -> Callable[[], None]:
        """An exception must not cross the C++ frames of the window: keep it, close, raise it afterwards."""

        def guarded() -> None:
            if self.error is not None:
                return
            try:
                call()
            except Exception as error:
                self.error = error
                self.quit()

        return guarded

    def _panel(self, name: str) -> Any:
        assert self._params is not None
        return self._params.docking_params.dockable_window_of_name(name)

    def _open(self) -> None:
        """Once the window exists: settings, theme, everything on the graphics card."""
        self.when_open()
        if self.keeps_settings:
            self.session.settings = ViewState.from_json(hello_imgui.load_user_pref(_SAVED))
        self.renderer = current_renderer()
        implot.create_context()
        style_plots()
        self._canvas = Canvas(
            self.session.engine.model, self._options.quality if self._options else Quality.AUTO, self.renderer
        )
        self.quality = str(self._canvas.quality)
        if self._canvas.trouble is not None:
            self.notices.say(self._canvas.trouble, warning=True)
        self._begin_scene()
        drop: Any = self._drop
        glfw.set_drop_callback(glfw_utils.glfw_window_hello_imgui(), drop)
        imgui.get_io().config_flags &= ~imgui.ConfigFlags_.nav_enable_keyboard.value

    def _drop(self, _: Any, paths: list[str]) -> None:
        """Files dropped on the window."""
        if paths and not self.session.stepped_outside:
            self.open_scene(paths[0])

    def _advance(self) -> None:
        """Input, commands, physics: the frame's state, before anything is drawn."""
        assert self._params is not None
        if self.frame_count == 0:
            # Hello ImGui sets its own theme after it has called `post_init`.
            apply_theme(self.session.settings.theme)
        if not self._filming.retaking:
            self._swap_scene()
        self._viewport.follow(self._params.docking_params.dock_space_id_from_name(MAIN_DOCK))
        handle_keys(self)
        if self._canvas is not None:
            self._viewport.handle_mouse(self, self._canvas.scene_pass)
            self._editor.point(self.session, self._viewport, self._canvas.scene_pass)
        if self.session.stepped_outside:
            self.session.forget()
        if self._filming.retaking:
            self._filming.show_next()
        else:
            self.session.advance(_PHYSICS_BUDGET)
        if self.session.trouble:
            self.notices.say(self.session.trouble, warning=True)
            self.session.trouble = None
        busy = self._filming.retaking or self._follower.progress is not None
        self._params.fps_idling.enable_idling = self.session.paused and not busy
        self.frame_count += 1
        if self._options and self._options.frames and self.frame_count >= self._options.frames:
            self.quit()

    def _swap_scene(self) -> None:
        """Take over a scene that has been opened meanwhile; one that failed leaves the running one as it is."""
        engines = self.notices.attempt(lambda: self._follower.poll(self.session.engine))
        if engines is not None and self._canvas is not None:
            path, files, told = (before := self.session.engine).path, before.files, before.notes
            self.session = successor(self.session, *engines)
            del before
            # Sessions and engines refer to each other, and a history is large.
            gc.collect()
            # From the same files comes the same picture, whatever sensors were added.
            if not files or self.session.engine.files != files:
                self._canvas.replace_model(self.session.engine.model)
            self._begin_scene(told if self.session.engine.path == path else ())

    def _draw(self) -> None:
        """Scene and gizmos, behind the panels."""
        if self._canvas is None:
            return
        session, viewport = self.session, self._viewport.pixels
        sensor_glyphs = session_glyphs(session)
        matrices = self._canvas.draw(
            session.engine.model,
            session.engine.data,
            session.view,
            viewport,
            Glyphs.concat([sensor_glyphs, self.gizmos.take()]),
            see_through=session.settings.gizmos.see_through,
            add=lambda scene: add_volumes(session, scene),
        )
        self.metres_per_pixel = float(matrices.pixel_size(session.view.focus, viewport)[0])
        self._film(viewport, whole_window=False)
        show_labels(session, self._viewport, matrices)
        # The scene and, after it, the panels say anew what the mouse points at; the next picture shows it.
        self._pointed = session.highlight = (
            None if self._editor.picking else point_at(session, self._viewport, sensor_glyphs, matrices)
        )

    def _film(self, pixels: tuple[int, int, int, int], whole_window: bool) -> None:
        if self._canvas is None:
            return
        try:
            said = self._filming.take(
                self._canvas.scene_pass, pixels, whole_window, self.session.engine.time, self.metres_per_pixel
            )
        except SceneError as error:
            self.notices.say(str(error), warning=True)
            return
        if said is not None:
            self.notices.say(said)

    def _show_playback(self) -> None:
        self._record_button.show(self)
        imgui.same_line(0, 16)
        show_playback(self)

    def _save_curves(self, text: str) -> None:
        path = next_path(self.next_recording.parent, self.session.engine.path, ".csv")
        if self.notices.attempt(lambda: save_text(path, text)):
            self.notices.say(f"saved {path}")

    def _begin_scene(self, told: tuple[str, ...] = ()) -> None:
        """Follow a scene's events and files, and tell what a person should know of it and was not told before."""
        path = self.session.engine.path
        glfw.set_window_title(glfw_utils.glfw_window_hello_imgui(), f"{path.name} - {TITLE}" if path else TITLE)
        self.gizmos.width = self.session.scale.width
        self._follower.follow(self.session.engine)
        if not is_bundled(path):
            remember_scene(self.session)
        for note in self.session.engine.notes:
            if note not in told:
                self.notices.say(note)
        if not self.session.stepped_outside and self.session.events is None:
            self.session.track_events()
        touch = self.session.engine.touch_sensors
        for problem in touch.problems if touch is not None else ():
            self.notices.say(problem, warning=True)

    def _show_overlays(self) -> None:
        show_legend(self, self._viewport)
        show_pointed(self.session, self._pointed)
        show_progress(self._viewport, self._follower.progress, self._follower.cancel)
        self.notices.show(self._viewport, self.session.settings.theme)
        show_help(self)
        if (scene := chosen_scene()) is not None:
            self.open_scene(scene)
