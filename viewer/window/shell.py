"""The window as panels know it: its state, and the actions that it offers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from imgui_bundle import hello_imgui, imgui
from numpy.typing import NDArray

from ..app.application import Application
from ..assets import is_bundled
from ..render.view import Pick
from ..scene_files.data_files import DATA_SUFFIXES
from ..scene_files.log_files import LOG_SUFFIXES
from ..scene_files.scene import SUFFIXES
from ..session.simulation import Change
from ..settings import Quality, Theme
from .file_dialog import FileDialog, Purpose


class Audience:
    """Remote viewers of the window, in place of a display."""

    @property
    def text(self) -> str:
        """Number of viewers and quality of their connection, for the status bar."""
        return ""

    def sleep(self, seconds: float) -> bool:
        """Wait for input for at most a time [s]; return True if there is any."""
        return True

    def wait(self) -> bool:
        """Wait until the next frame is due; return False if no viewer would see it."""
        return True

    def before_frame(self) -> None:
        """Pass pending input to the window."""

    def leave(self) -> None:
        """Disconnect the viewer whose input came last; the window stays open for the others."""

    def after_frame(self, read: Callable[[], NDArray[np.uint8]]) -> None:
        """Send the frame to the viewers. `read` returns its pixels, RGB, (height, width, 3)."""


SENSORS, INSPECTOR, DISPLAY = "Sensors", "Inspector", "Display"
PLOTS, EVENTS, TOUCH, SENSOR_EDITOR = "Plots", "Events", "Touch", "Sensor editor"
CONTROLS, COMPARE = "Controls", "Compare"
"""Titles of the dockable windows."""
_FRAMES_TO_APPEAR = 2


class Shell:
    """State and actions of the window that panels use."""

    def __init__(self, app: Application, panels: "Sequence[Panel]") -> None:
        self.app = app
        """Application that the window draws and controls."""
        self.panels = panels
        """All panels, in the order of the View menu."""
        self.contents: dict[str, Any] = {panel.title: panel.make() for panel in panels}
        """Content of each panel, by title."""
        self.files = FileDialog()
        """Dialog in which files and folders are chosen."""
        self.help_shown = False
        """True if the help on keys is shown."""
        self.help_page: str | None = None
        """Title of the page that the Help menu has opened."""
        self.info_shown = False
        """True if the simulation info is shown."""
        self.profiler_shown = False
        """True if the profiler is shown."""
        self.renderer = ""
        """Name of the OpenGL renderer."""
        self.quality = str(Quality.AUTO)
        """Rendering quality in use, low or high."""
        self.label_count = 0, 0
        """Number of labels in the last frame, and number of labels if there were room for all."""
        self.audience: Audience | None = None
        """Remote viewers, of a window without a display; None on a display. To be set before the window opens."""
        self._presented: dict[str, bool] | None = None
        """Panels to show after the presentation, as `_hide_all` returns them; None outside a presentation."""
        self._folded: dict[str, bool] | None = None
        """Panels to dock when a narrow window becomes wide, as `_hide_all` returns them; None in a wide window."""
        self._due_in_front: list[Any] = []
        """Number of frames until panels are brought to the front, and then the titles of these panels."""
        self.drawer: str | None = None
        """Title of the panel that a narrow window shows; None for none."""
        self.params: hello_imgui.RunnerParams | None = None
        """Parameters that Hello ImGui runs the window with; None once it is closed."""

    def edit_sensor(self, name: str | None) -> None:
        """Show a sensor in the editor; None for a new one."""
        self.contents[SENSOR_EDITOR].begin(self.app.session, name)
        self._focus(SENSOR_EDITOR)

    def edit_new_sensor(self, pick: Pick) -> None:
        """Show a new sensor in the editor, for the geom or body that was picked in the scene."""
        self.edit_sensor(None)
        self.contents[SENSOR_EDITOR].begin_at(self.app.session, pick)

    def make_for_bodies(self) -> None:
        """Make a sensor for each body that touches something now."""
        self.contents[SENSOR_EDITOR].make_for_bodies(self.app)

    def show_all_contacts(self) -> None:
        """Make a sensor of all contacts, and show it in the editor."""
        self.contents[SENSOR_EDITOR].show_all_contacts(self.app)

    def choose_scene(self) -> None:
        """Show the dialog that opens a scene, if the source of the run allows another one."""
        session = self.app.session
        if session.why_not(Change.SCENE) is None:
            path = session.engine.path
            folder = self.app.working_folder if path is None or is_bundled(path) else path.parent
            self.files.ask(Purpose.OPEN, "Open a scene", folder, lambda path: self.app.open_scene(str(path)), SUFFIXES)

    def choose_beside(self) -> None:
        """Show the dialog that opens a scene, run or log beside the shown run."""
        app, path = self.app, self.app.session.engine.path
        folder = app.working_folder if path is None or is_bundled(path) else path.parent
        suffixes = tuple(dict.fromkeys((*SUFFIXES, *LOG_SUFFIXES)))
        self.files.ask(Purpose.OPEN, "Open beside", folder, lambda path: self.open_beside(str(path)), suffixes)

    def choose_data(self) -> None:
        """Show the dialog that adds measured data to the run."""
        app, path = self.app, self.app.session.engine.path
        folder = app.working_folder if path is None or is_bundled(path) else path.parent
        self.files.ask(Purpose.OPEN, "Add data", folder, self._add_data, DATA_SUFFIXES)

    def _add_data(self, path: Path) -> None:
        self.app.measured.open(path)
        self._focus(PLOTS)

    def open_beside(self, text: str) -> None:
        """Open a scene, run, log or engine beside, and show the Compare panel."""
        self.app.notices.attempt(lambda: self.app.beside.open(text))
        self._focus(COMPARE)

    def branch_here(self, quantity: str = "", name: str = "") -> None:
        """Show the form for a branch from the shown step; `quantity` and `name` of an object fill it in."""
        self.contents[COMPARE].form.begin(quantity, name)
        self._focus(COMPARE)

    def _focus(self, title: str) -> None:
        if self.is_folded:
            self.drawer = title
            return
        window = self.dockable(title)
        window.is_visible = window.focus_window_at_next_frame = True

    def choose_run(self) -> None:
        """Show the dialog that saves the run."""
        path = self.app.next_run
        self.files.ask(Purpose.SAVE, "Save the run", path.parent, self.app.save_run, (path.suffix,), path.name)

    def choose_page(self) -> None:
        """Show the dialog that saves a page of the run."""
        path = self.app.next_page
        self.files.ask(Purpose.SAVE, "Save a page", path.parent, self.app.save_page, (path.suffix,), path.name)

    def toggle_panel(self, *names: str) -> None:
        """Hide these panels if one of them is shown, else show all of them; a narrow window shows the first."""
        if self.is_folded:
            self.drawer = None if self.drawer in names else names[0]
            return
        windows = [self.dockable(name) for name in names]
        shown = any(window.is_visible for window in windows)
        for window in windows:
            window.is_visible = not shown

    @property
    def is_presenting(self) -> bool:
        """True if all panels are hidden for a presentation."""
        return self.params is not None and self._presented is not None

    def toggle_presentation(self) -> None:
        """Hide all panels, menu and status bar, or show the hidden ones again."""
        assert self.params is not None
        window = self.params.imgui_window_params
        if self._presented is None:
            self._presented = self._hide_all()
        else:
            self._show_again(self._presented)
            self._presented = None
        window.show_menu_bar = window.show_status_bar = self._presented is None

    @property
    def is_folded(self) -> bool:
        """True if the window is so narrow that its panels share one drawer."""
        return self._folded is not None

    def fold(self, narrow: bool) -> None:
        """Move all panels into the drawer of a narrow window, or dock them again. Call it once a frame."""
        if self._due_in_front:
            frames, *titles = self._due_in_front
            self._due_in_front = [frames - 1, *titles] if frames else []
            for title in titles if not frames else ():
                self.dockable(title).focus_window_at_next_frame = True
        if narrow is self.is_folded or self.is_presenting or self.params is None:
            return
        if self._folded is None:
            self._folded = self._hide_all()
        else:
            self._show_again(self._folded)
            self._folded = self.drawer = None

    def _hide_all(self) -> dict[str, bool]:
        """Hide all panels. Returns the titles of the shown panels, with True for a panel in front of others."""
        assert self.params is not None
        docked = [each for each in self.params.docking_params.dockable_windows if each.is_visible]
        for each in docked:
            each.is_visible = False
        windows = {each.label: imgui.internal.find_window_by_name(each.label) for each in docked}
        return {title: window is not None and not window.hidden for title, window in windows.items()}

    def _show_again(self, panels: dict[str, bool]) -> None:
        for title in panels:
            self.dockable(title).is_visible = True
        # What appears comes to the front: only then others can.
        self._due_in_front = [_FRAMES_TO_APPEAR, *(title for title, is_in_front in panels.items() if is_in_front)]

    def is_panel_shown(self, name: str) -> bool:
        if self.is_folded:
            return self.drawer == name
        return bool(self.dockable(name).is_visible)

    def reset_layout(self) -> None:
        """Show all panels, each in its first dock."""
        assert self.params is not None
        if self._folded is not None:
            self._folded = {panel.title: False for panel in self.panels}
            return
        for window in self.params.docking_params.dockable_windows:
            self.dockable(window.label).is_visible = True
        self.params.docking_params.layout_reset = True

    def toggle_theme(self) -> None:
        settings = self.app.session.settings
        settings.theme = Theme.LIGHT if settings.theme is Theme.DARK else Theme.DARK

    def toggle_fullscreen(self) -> None:
        assert self.params is not None
        geometry, modes = self.params.app_window_params.window_geometry, hello_imgui.FullScreenMode
        windowed = geometry.full_screen_mode == modes.no_full_screen
        geometry.full_screen_mode = modes.full_monitor_work_area if windowed else modes.no_full_screen

    def leave(self) -> None:
        """Close the window; a served one stays open for its other viewers, and only the viewer who asked is
        disconnected."""
        self.quit() if self.audience is None else self.audience.leave()

    def quit(self) -> None:
        """Close the window after this frame."""
        if self.params is not None:
            self.params.app_shall_exit = True

    def dockable(self, name: str) -> Any:
        """Return Hello ImGui's dockable window of a panel, by title."""
        assert self.params is not None
        return self.params.docking_params.dockable_window_of_name(name)


class Dock(StrEnum):
    """First dock of a panel, before the user moves it."""

    LEFT = "Left"
    LEFT_BELOW = "LeftBelow"
    RIGHT = "Right"
    BOTTOM = "Bottom"


class Content(Protocol):
    """Content of a panel, with the state that only it needs."""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        ...


@dataclass(frozen=True)
class Panel:
    """A panel of the window. A module of `window/panels` that has a `PANEL` is found, docked and listed in View."""

    title: str
    dock: Dock
    make: Callable[[], Content]
    """Factory of the content, called once per window."""
    key: str | None = None
    """Key that shows and hides the panel, as the View menu writes it."""
    least_width: float = 230.0
    """Width that the panel keeps in a window that was made smaller [px]."""
    most_width: float = 0.3
    """Largest part of the window's width that the panel takes after the window's size has changed."""
