"""Makes the pictures of README with the real program: python docs/pictures.py, on a display."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import imgui_bundle.immapp.testing as engine_testing
from contact_viewer import open_engine
from contact_viewer.app import Application
from contact_viewer.settings import Options

FOLDER = Path(__file__).parent


def photograph_window(scene: str, seconds: float, path: Path) -> None:
    """The window some time into a scene, paused."""
    engine = open_engine(scene)
    app = Application(engine, Options(scene=Path(scene), paused=True))
    app.keeps_settings = False
    app.session._step(round(seconds / engine.timestep))

    def take(ctx: Any) -> None:
        ctx.yield_(8)
        engine_testing.capture(ctx, str(path))

    engine_testing.run(runner_params=app.runner_params(), test_function=take)


def record_clip(scene: str, path: Path) -> None:
    """A short clip, small enough for a README."""
    options = ["--duration", "6", "--fps", "20", "--size", "640x360", "--overlay", "plots", "-o", str(path)]
    subprocess.run([sys.executable, "-m", "contact_viewer", "record", scene, *options], check=True)


if __name__ == "__main__":
    photograph_window("quadruped", 4.0, FOLDER / "window.png")
    record_clip("slope", FOLDER / "slope.gif")
