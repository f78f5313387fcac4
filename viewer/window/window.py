"""Show the application in a window: Hello ImGui's callbacks, the scene, and the panels around it."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from imgui_bundle import glfw_utils, hello_imgui, imgui, implot

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..app.application import Application
from ..app.recorder import Label
from ..render.camera import Eye
from ..render.canvas import Canvas
from ..render.contexts import current_renderer
from ..render.glyphs import Glyphs
from ..session.layers import add_volumes, session_glyphs
from ..session.session import Highlight
from ..session.simulation import Change
from ..settings import Quality, ViewState
from .guard import Guard
from .keys import allow_keyboard, handle_keys, keep_keys, show_help
from .layout import MAIN_DOCK, SAVED, Docks, choose_layout, dock_panels, prepare_settings, window_params
from .opening import check_profile
from .panels import find_panels
from .panels.menus import show_help_page, show_menus
from .panels.overlays import Drawer, Profiler, show_info, show_legend, show_notices, show_progress
from .panels.picking import BodyMenu, contact_labels, point_at, show_labels, show_pointed
from .panels.playback import show_playback
from .panels.plots import zoom_by_dragging
from .panels.record import RecordButton
from .panels.status import show_status
from .shell import SENSOR_EDITOR, Shell
from .theme import FONT_SIZE, Look
from .viewport import Viewport, undo_odd_scale, window_pixels

_NARROW = 700.0
"""Width of a window below which its panels share one drawer [px]."""
_USUAL_HEIGHT = 600.0
"""Height of a scene above which glyphs grow with it [px]."""


class Window(Shell):
    """Window of an application, with the scene and its panels."""

    def __init__(self, app: Application) -> None:
        super().__init__(app, find_panels())
        self.viewport = Viewport()
        self.canvas: Canvas | None = None
        """Scene and glyphs on the graphics card, while the window is open."""
        self.frame_count = 0
        self.error: BaseException | None = None
        """Error that ended the window, to be raised once it is closed."""
        self.keeps_settings = True
        """True if settings and layout are read when the window opens, and saved when it closes."""
        self.when_open: Callable[[], None] = lambda: None
        """Function that is called once the window exists."""
        self._look, self._docks = Look(), Docks(self.panels)
        self._record_button = RecordButton()
        self._body_menu = BodyMenu()
        self._profiler, self._drawer = Profiler(), Drawer()
        self._outdated = False
        """True if the canvas still has the model of the previous scene."""
        self._pointed: Highlight | None = None
        self.guard = Guard(app.notices)
        overlays: dict[str, Callable[[], None]] = {
            "The drawer": lambda: self._drawer.show(self, self.viewport, self._drawn),
            "The legend": lambda: show_legend(self, self.viewport),
            "The contact under the mouse": lambda: show_pointed(app.session, self._pointed),
            "The progress": self._show_progress,
            "Notices": lambda: show_notices(app.notices, self.viewport),
            "The help": lambda: show_help(self),
            "The help page": lambda: show_help_page(self),
            "The simulation info": lambda: show_info(app.session, self.viewport) if self.info_shown else None,
            "The profiler": lambda: self._profiler.show(self.viewport) if self.profiler_shown else None,
            "The body's menu": lambda: self._body_menu.show(self),
            "The file dialog": self.files.show,
        }
        self._drawn: dict[str, Callable[[], None]] = {}
        """Function that draws each panel, by title."""
        self._overlays = [self.guard.part(name, show) for name, show in overlays.items()]

    def runner_params(self) -> hello_imgui.RunnerParams:
        """Return the parameters for Hello ImGui, with the callbacks of this window."""
        if self.keeps_settings:
            self.keeps_settings, trouble = prepare_settings(self.audience is not None)
            if trouble is not None:
                self.app.notices.add(trouble, warning=True)
        params = window_params(self.app.options, self.keeps_settings, self.audience is not None)
        part, calls = self.guard.part, params.callbacks
        self._drawn = {panel.title: part(panel.title, self._shower(panel.title)) for panel in self.panels}
        playback = part("The playback bar", self._show_playback)
        dock_panels(params, [(panel, self._drawn[panel.title]) for panel in self.panels], playback)
        if self.keeps_settings:
            choose_layout(params.docking_params.layout_name, self.audience is not None)
        calls.post_init = self._at_ends(self._open)
        calls.post_new_frame = self.guard.call("This frame", self._advance)
        calls.custom_background = self.guard.call("The picture", self._draw)
        calls.show_menus = part("The menu", lambda: show_menus(self))
        calls.show_status = part("The status bar", lambda: show_status(self))
        calls.show_gui = self._show_overlays
        calls.before_swap = self._finish_frame
        if self.audience is not None:
            calls.pre_new_frame = self.guard.call("Browser input", self.audience.before_frame)
        calls.before_exit = self._at_ends(self.close)
        self.params = params
        return params

    def _shower(self, title: str) -> Callable[[], None]:
        """Return the function that draws the content of a panel."""
        return lambda: self.contents[title].show(self)

    def reset_layout(self) -> None:
        super().reset_layout()
        # They have to be limited again.
        self._docks = Docks(self.panels)

    def advance_unseen(self) -> None:
        """Advance the application by a frame that nobody sees, without drawing it."""
        app = self.app
        self._try_step()
        # Drawing them would use them up.
        app.gizmos.pop_glyphs()
        app.notices.drop_expired()
        if app.session.history is not None:
            app.session.history.curves.update()

    def prepare_closing(self) -> None:
        """Complete recordings and files that are being saved; an error there is raised once the window is closed."""
        self._at_ends(self.app.close)()
        if self.canvas is not None:
            # Hello ImGui reads a last picture. Mesa would only then see that the window has become smaller, and crash.
            self.canvas.scene_pass.read_pixels((0, 0, 1, 1))

    def close(self) -> None:
        """Save the user's settings, and free everything on the graphics card. Calling it twice is safe."""
        if self.is_presenting:
            # The layout that is kept is the one before.
            self.toggle_presentation()
        self.fold(False)
        self.app.close()
        # Hello ImGui's parameters hold this window where Python cannot see it: as a pair, neither would ever be freed.
        self.params = None
        if self.canvas is None:
            return
        if self.keeps_settings:
            hello_imgui.save_user_pref(SAVED, self.app.session.settings.to_json())
        drop: Any = None
        glfw.set_drop_callback(glfw_utils.glfw_window_hello_imgui(), drop)
        implot.destroy_context()
        self.canvas.close()
        self.canvas = None

    def _at_ends(self, call: Callable[[], None]) -> Callable[[], None]:
        """Return a guarded call for opening or closing: an error ends the window, and is raised once it is closed."""

        def guarded() -> None:
            try:
                call()
            except Exception as error:
                self.error = self.error or error
                self.quit()

        return guarded

    def _open(self) -> None:
        """Load the settings, create the canvas, and start the first scene; called once the window exists."""
        self.when_open()
        settings = ViewState.from_json(hello_imgui.load_user_pref(SAVED)) if self.keeps_settings else None
        if settings is not None:
            # Who has hidden them may have forgotten it by the next time.
            settings.gizmos.points = settings.gizmos.forces = True
        self.renderer = current_renderer()
        implot.create_context()
        zoom_by_dragging()
        check_profile()
        options = self.app.options
        self.canvas = Canvas(self.app.session.engine.model, options.quality if options else Quality.AUTO, self.renderer)
        self.quality = str(self.canvas.quality)
        if self.canvas.trouble is not None:
            self.app.notices.add(self.canvas.trouble, warning=True)
        self.app.start(settings)
        self._show_title()
        drop: Any = self._drop
        glfw.set_drop_callback(glfw_utils.glfw_window_hello_imgui(), drop)
        allow_keyboard()
        # A cursor that blinks would have to be drawn for as long as a field has the focus.
        imgui.get_io().config_input_text_cursor_blink = False

    def _drop(self, _: Any, paths: list[str]) -> None:
        """Open the first file that was dropped on the window."""
        if paths and self.app.session.why_not(Change.SCENE) is None:
            self.guard.attempt("Opening the dropped file", lambda: self.app.open_scene(paths[0]))

    def _advance(self) -> None:
        """Handle input and advance the simulation, before anything is drawn."""
        assert self.params is not None
        app = self.app
        undo_odd_scale()
        self._profiler.begin_frame()
        # From the first frame on: Hello ImGui sets its own theme after it has called `post_init`.
        scale = self._look.update(app.session.settings)
        dock = self.params.docking_params.dock_space_id_from_name(MAIN_DOCK)
        self.fold(imgui.get_main_viewport().size.x < _NARROW)
        self._docks.update(dock, scale)
        self.viewport.update(dock)
        app.scene_size, app.window_size = self.viewport.pixels[2:], window_pixels()[2:]
        self.guard.attempt("This key", lambda: handle_keys(self))
        keep_keys()
        self.guard.attempt("The mouse", self._handle_mouse)
        self._try_step()
        self.frame_count += 1
        if app.options and app.options.frames and self.frame_count >= app.options.frames:
            self.quit()

    def _handle_mouse(self) -> None:
        if self.canvas is not None:
            self.viewport.handle_mouse(self.app.session, self.canvas.scene_pass)
            self.contents[SENSOR_EDITOR].point(self.app.session, self.viewport, self.canvas.scene_pass)
            self._body_menu.point(self, self.viewport, self.canvas.scene_pass)

    def _try_step(self) -> None:
        session = self.app.session
        name = session.source.name or (session.engine.path.name if session.engine.path is not None else "")
        if not self.guard.attempt(f"This step of {name}" if name else "This step", self._advance_scene):
            session.source.stop()

    def _advance_scene(self) -> None:
        """Advance the simulation, or switch to the scene that was opened meanwhile."""
        app = self.app
        files = app.session.engine.files
        with self._profiler.measure("physics"):
            replaced = app.advance()
        if replaced:
            # From the same files comes the same picture, whatever sensors were added.
            self._outdated |= not (files and app.session.engine.files == files)
            self._show_title()

    def _show_title(self) -> None:
        glfw.set_window_title(glfw_utils.glfw_window_hello_imgui(), self.app.title)

    def _draw(self) -> None:
        """Draw the scene and its glyphs, behind the panels."""
        if self.canvas is None:
            return
        if self._outdated:
            self.canvas.replace_model(self.app.session.engine.model)
            self._outdated = False
        session, pixels = self.app.session, self.viewport.pixels
        model, data = session.engine.model, session.engine.data
        text = imgui.get_font_size() / FONT_SIZE * imgui.get_io().display_framebuffer_scale.y
        unit = max(text, pixels[3] / _USUAL_HEIGHT)
        self.canvas.scene_pass.spare_time(time.monotonic(), session.paused and not self.viewport.dragging)
        matrices = self.canvas.update(model, data, session.view, pixels)
        self.viewport.look_at_moving(session, matrices)
        sensor_glyphs = session_glyphs(session, Eye(matrices, pixels, unit))
        glyphs = Glyphs.concat([sensor_glyphs, self.app.gizmos.pop_glyphs()])
        see_through = session.settings.gizmos.see_through
        with self._profiler.measure("picture"):
            self.canvas.draw(glyphs, matrices, pixels, see_through=see_through, add=self._add_to_scene)
        labels, wanted = contact_labels(session, self.viewport, matrices)
        self.label_count = len(labels), wanted
        self._take_picture(pixels, whole_window=False, labels=labels)
        show_labels(self.app.session, self.viewport, labels)
        # The scene and, after it, the panels find again what the mouse points at; the next picture shows it.
        self._pointed = session.highlight = (
            None if self.contents[SENSOR_EDITOR].picking else point_at(session, self.viewport, sensor_glyphs, matrices)
        )

    def _add_to_scene(self, scene: Any) -> None:
        add_volumes(self.app.session, scene)
        self.app.add_geoms(scene)

    def _take_picture(
        self, pixels: tuple[int, int, int, int], whole_window: bool, labels: Sequence[Label] = ()
    ) -> None:
        """Offer a part of the framebuffer to recordings."""
        if self.canvas is not None:
            scene_pass = self.canvas.scene_pass
            self.app.take_picture(
                lambda: scene_pass.read_pixels(pixels),
                whole_window=whole_window,
                labels=labels,
            )

    def _finish_frame(self) -> None:
        """Pass the finished frame to recordings of the whole window and to remote viewers."""
        pixels = window_pixels()
        self.guard.attempt("Recording", lambda: self._take_picture(pixels, whole_window=True))
        audience, canvas = self.audience, self.canvas
        if audience is not None and canvas is not None:
            self.guard.attempt(
                "Sending the picture", lambda: audience.after_frame(lambda: canvas.scene_pass.read_pixels(pixels))
            )

    def _show_progress(self) -> None:
        loader, beside = self.app.loader, self.app.beside
        cancel = loader.cancel if loader.progress is not None else beside.close
        show_progress(self.viewport, loader.progress or beside.progress, cancel)

    def _show_playback(self) -> None:
        self._record_button.show(self.app, self.files)
        imgui.same_line(0, 16)
        show_playback(self.app.session)

    def _show_overlays(self) -> None:
        for show in self._overlays:
            show()
