"""The window as panels know it: its state, and what they can have it do."""

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
    """Those who watch the window from elsewhere, in place of a display."""

    @property
    def text(self) -> str:
        """How many watch, and how well, for the status bar."""
        return ""

    def sleep(self, seconds: float) -> bool:
        """Wait for input, for some time at the most; True if there is any."""
        return True

    def wait(self) -> bool:
        """Wait until the next frame is due; False if its picture would be for nobody."""
        return True

    def before_frame(self) -> None:
        """Give the window its input."""

    def leave(self) -> None:
        """Let the one go whose input came last: the window goes on for the others."""

    def after_frame(self, read: Callable[[], NDArray[np.uint8]]) -> None:
        """Show them what was drawn. `read` gives it, RGB, (height, width, 3)."""


SENSORS, INSPECTOR, DISPLAY = "Sensors", "Inspector", "Display"
PLOTS, EVENTS, TOUCH, SENSOR_EDITOR = "Plots", "Events", "Touch", "Sensor editor"
CONTROLS, COMPARE = "Controls", "Compare"
"""Titles of the dockable windows."""
_FRAMES_TO_APPEAR = 2


class Shell:
    """The window, as far as panels know it."""

    def __init__(self, app: Application, panels: "Sequence[Panel]") -> None:
        self.app = app
        """What the window draws, and what a user can do with it."""
        self.panels = panels
        """All panels, in the order of the View menu."""
        self.contents: dict[str, Any] = {panel.title: panel.make() for panel in panels}
        """Content of each panel, by title."""
        self.files = FileDialog()
        """Where files and folders are chosen."""
        self.help_shown = False
        """True if the keys are shown."""
        self.help_page: str | None = None
        """Title of the page that the Help menu has opened."""
        self.info_shown = False
        """True if figures of the simulation are shown."""
        self.profiler_shown = False
        """True if it is shown where a frame's time goes."""
        self.renderer = ""
        """What draws: the OpenGL renderer's name."""
        self.quality = str(Quality.AUTO)
        """Quality in force, low or high."""
        self.label_count = 0, 0
        """Labels in the last picture, and how many there would be if all had room."""
        self.audience: Audience | None = None
        """Who watches where there is no display; None on a display. To be set before the window opens."""
        self._presented: dict[str, bool] | None = None
        """Panels that were shown before the presentation: see `_hide_all`; None without one."""
        self._folded: dict[str, bool] | None = None
        """Panels that are docked where the window is wide enough: see `_hide_all`; None where it is."""
        self._due_in_front: list[Any] = []
        """Frames until panels are to come to the front, and their titles."""
        self.drawer: str | None = None
        """Title of the panel that a narrow window shows; None for none."""
        self.params: hello_imgui.RunnerParams | None = None
        """What Hello ImGui runs the window with, until it is closed."""

    def edit_sensor(self, name: str | None) -> None:
        """Show a sensor in the editor, or a new one."""
        self.contents[SENSOR_EDITOR].begin(self.app.session, name)
        self._focus(SENSOR_EDITOR)

    def edit_new_sensor(self, pick: Pick) -> None:
        """Show a new sensor of what was picked in the scene in the editor."""
        self.edit_sensor(None)
        self.contents[SENSOR_EDITOR].begin_at(self.app.session, pick)

    def make_for_bodies(self) -> None:
        """Make a sensor for each body that touches now."""
        self.contents[SENSOR_EDITOR].make_for_bodies(self.app)

    def show_all_contacts(self) -> None:
        """Make a sensor of all contacts, which the editor then shows."""
        self.contents[SENSOR_EDITOR].show_all_contacts(self.app)

    def choose_scene(self) -> None:
        """Show the dialog that opens a scene, unless another program steps this one."""
        session = self.app.session
        if session.why_not(Change.SCENE) is None:
            path = session.engine.path
            folder = self.app.working_folder if path is None or is_bundled(path) else path.parent
            self.files.ask(Purpose.OPEN, "Open a scene", folder, lambda path: self.app.open_scene(str(path)), SUFFIXES)

    def choose_beside(self) -> None:
        """Show the dialog that opens a scene, run or log beside the run that is shown."""
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
        """Open a scene, run, log or engine beside, and show what is compared."""
        self.app.notices.attempt(lambda: self.app.beside.open(text))
        self._focus(COMPARE)

    def branch_here(self, quantity: str = "", name: str = "") -> None:
        """Show the form of a branch from the step that is shown, for a quantity of an object if one is given."""
        self.contents[COMPARE].form.begin(quantity, name)
        self._focus(COMPARE)

    def _focus(self, title: str) -> None:
        if self.is_folded:
            self.drawer = title
            return
        window = self.dockable(title)
        window.is_visible = window.focus_window_at_next_frame = True

    def choose_run(self) -> None:
        """Ask where to save the run."""
        path = self.app.next_run
        self.files.ask(Purpose.SAVE, "Save the run", path.parent, self.app.save_run, (path.suffix,), path.name)

    def choose_page(self) -> None:
        """Ask where to save a page of the run."""
        path = self.app.next_page
        self.files.ask(Purpose.SAVE, "Save a page", path.parent, self.app.save_page, (path.suffix,), path.name)

    def toggle_panel(self, *names: str) -> None:
        """Hide these windows if any of them is shown, else show them all; a narrow window shows one."""
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
        """Hide all panels, menu and status bar, or bring back those that were shown."""
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
        """True if the window is so narrow that all panels are in one drawer."""
        return self._folded is not None

    def fold(self, narrow: bool) -> None:
        """Put all panels into one drawer, or dock again those that were shown. Call it once a frame."""
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
        """Hide all panels; returns those that were shown, by title: True for those in front of others."""
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
        """Show all panels where they were docked at first."""
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
        """Close the window; of one that is served, let only the user go who asks for it."""
        self.quit() if self.audience is None else self.audience.leave()

    def quit(self) -> None:
        """Close the window after this frame."""
        if self.params is not None:
            self.params.app_shall_exit = True

    def dockable(self, name: str) -> Any:
        """Hello ImGui's window of a panel, by title."""
        assert self.params is not None
        return self.params.docking_params.dockable_window_of_name(name)


class Dock(StrEnum):
    """Where a panel is docked at first."""

    LEFT = "Left"
    LEFT_BELOW = "LeftBelow"
    RIGHT = "Right"
    BOTTOM = "Bottom"


class Content(Protocol):
    """What a panel shows, with the state that only it needs."""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        ...


@dataclass(frozen=True)
class Panel:
    """A panel of the window. A module of `window/panels` that has a `PANEL` is found, docked and listed in View."""

    title: str
    dock: Dock
    make: Callable[[], Content]
    """Makes the content, once for a window."""
    key: str | None = None
    """Key that shows and hides it, as the View menu names it."""
    least_width: float = 230.0
    """Width that it keeps in a window that was made smaller [px]."""
    most_width: float = 0.3
    """Part of the window's width that it takes at most after the window's size has changed."""
