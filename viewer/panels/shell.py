"""What panels may ask of the window around them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..engines.files.amendments import Amendments
from ..session import Session
from ..settings import EngineChoice


@dataclass(frozen=True)
class RecordingStatus:
    """A recording that is under way."""

    path: Path
    seconds: float
    """Length of the video so far [s]."""
    frames: int
    megabytes: float
    paused: bool


class Shell(Protocol):
    """The window, as far as panels know it."""

    session: Session
    help_shown: bool
    renderer: str
    """What draws: the OpenGL renderer's name."""
    quality: str
    """Quality in force, low or high."""
    metres_per_pixel: float
    """Size of a pixel at the point that the camera looks at [m]."""

    def open_scene(self, scene: str) -> None:
        """Replace the scene; a scene that fails leaves the running one as it is."""
        ...

    def ask_for_scene(self) -> None:
        """Open the dialog that chooses a scene file."""
        ...

    @property
    def engine_choice(self) -> EngineChoice: ...
    def switch_engine(self, choice: EngineChoice) -> None:
        """Open the same file again on another engine, if that takes it."""
        ...

    def reload(self) -> None:
        """Open the same file again."""
        ...

    @property
    def amendments(self) -> Amendments:
        """Contact sensors that were made or changed here; the running scene follows them."""
        ...

    def edit_sensor(self, name: str | None) -> None:
        """Show a sensor in the editor, or a new one."""
        ...

    def watch_all(self) -> None:
        """Make a sensor of all contacts."""
        ...

    def undo(self) -> None:
        """Take back the last change of a sensor, also out of the scene file."""
        ...

    def toggle_panel(self, *names: str) -> None:
        """Hide these windows if any of them is shown, else show them all."""
        ...

    def is_panel_shown(self, name: str) -> bool: ...
    def reset_layout(self) -> None: ...
    def toggle_theme(self) -> None: ...
    def toggle_fullscreen(self) -> None: ...
    def quit(self) -> None: ...
    @property
    def recording(self) -> RecordingStatus | None:
        """The recording that is under way."""
        ...

    @property
    def next_recording(self) -> Path:
        """Where a new recording would go."""
        ...

    def start_recording(self, path: Path | None = None) -> None:
        """Record into a file; without a path, into the next one."""
        ...

    def record_last(self, path: Path | None = None) -> None:
        """Record the last seconds of the history, as many as the settings say."""
        ...

    def toggle_recording_paused(self) -> None: ...
    def stop_recording(self) -> None: ...
    def save_screenshot(self) -> None:
        """Save the scene's next picture as PNG."""
        ...


SENSORS, INSPECTOR, DISPLAY = "Sensors", "Inspector", "Display"
PLOTS, EVENTS, TOUCH, SENSOR_EDITOR = "Plots", "Events", "Touch", "Sensor editor"
"""Titles of the dockable windows."""
