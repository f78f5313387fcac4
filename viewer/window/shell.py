"""What panels need from the window around them."""

from collections.abc import Callable
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

    def before_frame(self) -> None:
        """Wait until the next frame is due, and give the window its input."""
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
    def quit(self) -> None: ...


SENSORS, INSPECTOR, DISPLAY = "Sensors", "Inspector", "Display"
PLOTS, EVENTS, TOUCH, SENSOR_EDITOR = "Plots", "Events", "Touch", "Sensor editor"
CONTROLS = "Controls"
"""Titles of the dockable windows."""
