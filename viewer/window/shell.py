"""What panels need from the window around them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..app.application import Application
from ..render.view import Pick


class Audience(Protocol):
    """Those who watch the window from elsewhere, in place of a display."""

    @property
    def text(self) -> str:
        """How many watch, and how well, for the status bar."""
        ...

    def sleep(self, seconds: float) -> bool:
        """Wait for input, for some time at the most; True if there is any."""
        ...

    def wait(self) -> bool:
        """Wait until the next frame is due; False if its picture would be for nobody."""
        ...

    def before_frame(self) -> None:
        """Give the window its input."""
        ...

    def leave(self) -> None:
        """Let the one go whose input came last: the window goes on for the others."""
        ...

    def after_frame(self, read: Callable[[], NDArray[np.uint8]]) -> None:
        """Show them what was drawn. `read` gives it, RGB, (height, width, 3)."""
        ...


class Shell(Protocol):
    """The window, as far as panels know it."""

    @property
    def app(self) -> Application:
        """What the window draws, and what a person can do with it."""
        ...

    @property
    def panels(self) -> "Sequence[Panel]":
        """All panels, in the order of the View menu."""
        ...

    help_shown: bool
    """True if the keys are shown."""
    help_page: str | None
    """Title of the page that the Help menu has opened."""
    info_shown: bool
    """True if figures of the simulation are shown."""
    profiler_shown: bool
    """True if it is shown where a frame's time goes."""
    renderer: str
    """What draws: the OpenGL renderer's name."""
    quality: str
    """Quality in force, low or high."""
    label_count: tuple[int, int]
    """Labels in the last picture, and how many there would be if all had room."""
    audience: Audience | None
    """Who watches where there is no display; None on a display."""

    def edit_sensor(self, name: str | None) -> None:
        """Show a sensor in the editor, or a new one."""
        ...

    def edit_new_sensor(self, pick: Pick) -> None:
        """Show a new sensor of what was picked in the scene in the editor."""
        ...

    def choose_scene(self) -> None:
        """Show the dialog that opens a scene, unless another program steps this one."""
        ...

    def choose_run(self) -> None:
        """Ask where to save the run."""
        ...

    def make_for_bodies(self) -> None:
        """Make a sensor for each body that touches now."""
        ...

    def show_all_contacts(self) -> None:
        """Make a sensor of all contacts, which the editor then shows."""
        ...

    def toggle_panel(self, *names: str) -> None:
        """Hide these windows if any of them is shown, else show them all."""
        ...

    def is_panel_shown(self, name: str) -> bool: ...
    def reset_layout(self) -> None: ...
    def toggle_theme(self) -> None: ...
    def toggle_fullscreen(self) -> None: ...
    def leave(self) -> None:
        """Close the window; of one that is served, let only the user go who asks for it."""
        ...


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


SENSORS, INSPECTOR, DISPLAY = "Sensors", "Inspector", "Display"
PLOTS, EVENTS, TOUCH, SENSOR_EDITOR = "Plots", "Events", "Touch", "Sensor editor"
CONTROLS = "Controls"
"""Titles of the dockable windows."""
