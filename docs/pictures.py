"""Makes the pictures of README and of these pages with the real program: python docs/pictures.py, on a display.

With names, only those.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import imgui_bundle.immapp.testing as engine_testing
import mujoco
import numpy as np
import Xlib.display
import Xlib.X
from contact_viewer import ContactLayout, launch_passive, open_engine
from contact_viewer.app.application import Application, open_application
from contact_viewer.assets import bundled_scenes
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Options
from contact_viewer.window.shell import CONTROLS, PLOTS, TOUCH
from contact_viewer.window.window import Window
from PIL import Image

FOLDER = Path(__file__).parent
_LARGEST = 200_000
"""Size of a picture file that needs no smaller one [bytes]."""


_RULE_VIEW = ("0.5", "--lookat", "0,0,0.1", "--distance", "0.75")
_RULE_VIEWS = {
    "friction-creep": ("2.5", "--lookat", "0,0,0.28", "--distance", "0.4"),
    "friction-mixing": ("0.5", "--lookat", "0,0,0.12", "--distance", "0.8"),
    "friction-too-large": ("3", "--lookat", "0,0,0.1", "--distance", "0.9"),
    "never-collides": ("1", "--lookat", "0,0,0.1", "--distance", "0.7"),
    "overlap-at-start": ("0.02", "--lookat", "0,0,0.1", "--distance", "0.9"),
}
"""Simulated time [s] and camera of the pictures of rules."""


def photograph_window(
    path: Path,
    scene: str,
    seconds: float,
    panel: str | None = None,
    size: tuple[int, int] = (1600, 900),
    controls: float | None = None,
    contact: tuple[str, int] | None = None,
    key: str | None = None,
) -> None:
    """The window some time into a scene, paused, with a panel in front. `controls`: what all sliders are set to;
    `contact`: sensor and slot of the one that is selected; `key`: keyframe at which the scene starts."""
    engine = open_engine(scene)
    options = Options(scene=Path(scene), paused=True, width=size[0], height=size[1])
    window = Window(Application(engine, options))
    window.keeps_settings = False
    session = window.app.session
    session.track_events()
    if key is not None:
        session.settings.gizmos.cones = True
        session.reset(key)
    if controls is not None:
        session.drive.set_controls(dict.fromkeys(range(engine.model.nu), controls))
    session.take_steps(round(seconds / engine.timestep) - 1000)

    def take(ctx: Any) -> None:
        ctx.yield_(4)
        for _ in range(100):
            # The scale follows the forces of the last pictures.
            session.take_steps(10)
            ctx.yield_(1)
        session.picked = contact
        if panel is not None:
            window.dockable(panel).focus_window_at_next_frame = True
        ctx.yield_(8)
        engine_testing.capture(ctx, str(path))

    engine_testing.run(runner_params=window.runner_params(), test_function=take)
    shrink(path)


def photograph_program(path: Path) -> None:
    """The scene in the window of a program that steps it and adds an arrow of its own: the sum of all feet's forces."""
    model = mujoco.MjModel.from_xml_path(str(find_scene("quadruped")))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    layouts = ContactLayout.for_model(model)
    with launch_passive(model, data) as viewer:
        for _ in range(2000):
            mujoco.mj_step(model, data)
            feet = layouts.decode(data.sensordata)
            force = sum(feet[f"foot_{foot}"].net_force for foot in ("FL", "FR", "RL", "RR"))
            start = data.subtree_com[1] + (0.0, 0.0, 0.15)
            viewer.gizmos.draw_arrow(start, start + 0.001 * force, color=(1, 0.6, 0))
            viewer.sync()
            time.sleep(model.opt.timestep)
        photograph_screen(path)
    shrink(path)


def photograph_log(path: Path) -> None:
    """The window on a log of a trotting robot that is rounded for a while, and has lost its controls for another."""
    scene = find_scene("walker")
    engine = open_engine(scene)
    rows: dict[str, list[Any]] = {"time": [], "qpos": [], "qvel": [], "ctrl": []}
    drive = engine.driver()
    assert drive is not None
    step = engine.stepper(None)
    for _ in range(1001):
        drive()
        for name, values in rows.items():
            values.append(np.copy(getattr(engine.data, name)))
        step()
    log = {name: np.array(values) for name, values in rows.items()}
    log["qpos"][300:500] = log["qpos"][300:500].astype(np.float32)
    log["ctrl"][700:760] = 0.0
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "trot.npz", **log)
        options = Options(
            scene=scene, log=Path(folder) / "trot.npz", paused=True, camera="beside", width=1280, height=720
        )
        window = Window(open_application(options))
    window.keeps_settings = False
    session = window.app.session

    def take(ctx: Any) -> None:
        while session.source.reads_ahead:
            ctx.yield_(1)
        session.settings.plots.seconds = 2.0
        for step in range(800, 880):
            session.go_to(step)
            ctx.yield_(1)
        window.app.notices.items.clear()
        ctx.yield_(20)
        engine_testing.capture(ctx, str(path))

    engine_testing.run(runner_params=window.runner_params(), test_function=take)
    shrink(path)


def photograph_screen(path: Path) -> None:
    """The largest window on the display."""
    root = Xlib.display.Display().screen().root
    windows = [
        window for window in root.query_tree().children if window.get_attributes().map_state == Xlib.X.IsViewable
    ]
    window = max(windows, key=lambda window: window.get_geometry().width)
    size = window.get_geometry()
    image = window.get_image(0, 0, size.width, size.height, Xlib.X.ZPixmap, 0xFFFFFFFF)
    Image.frombytes("RGB", (size.width, size.height), image.data, "raw", "BGRX").save(path)


def record(path: Path, scene: str | Path, *options: str) -> None:
    """A file that `contact-viewer record` makes."""
    subprocess.run(
        [sys.executable, "-m", "contact_viewer", "record", str(scene), *options, "-o", str(path)], check=True
    )
    if path.suffix == ".png":
        shrink(path)


def record_still(path: Path, scene: str | Path, seconds: float, *options: str) -> None:
    """One picture, some time into a scene."""
    record(path, scene, "--start", str(seconds), "--duration", "0.02", "--fps", "50", *options)


def picture_rule(path: Path, scene: Path) -> None:
    """The scene of a rule when it shows what is wrong, close by."""
    keys = {"friction-creep": ("--key", "held"), "overlap-at-start": ("--key", "home")}
    seconds, *where = _RULE_VIEWS.get(scene.stem, _RULE_VIEW)
    record_still(path, scene, float(seconds), "--style", "talk", "--size", "640x400", *keys.get(scene.stem, ()), *where)


def record_clip(path: Path, scene: str) -> None:
    """Three seconds of a bundled scene."""
    start = {"gripper": "1", "pile": "0.2", "walker": "1.2"}.get(scene, "0")
    size = ("--fps", "12", "--size", "400x300", "--no-overlay")
    near = ("--lookat", "0.36,0,0.3", "--distance", "1.6") if scene == "walker" else ()
    record(path, scene, "--start", start, "--duration", "3", *size, *near)


def shrink(path: Path) -> None:
    """Save a picture without transparency, and in 256 colours if it is large."""
    picture = Image.open(path).convert("RGB")
    picture.save(path, optimize=True)
    if path.stat().st_size > _LARGEST:
        # Other ways to choose them change the rare ones, which are those of contacts.
        picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as window.png; default: all")
    arguments = parser.parse_args()
    clip = ("--duration", "6", "--fps", "15", "--size", "640x480", "--overlay", "plots")
    titles = {"slope": "A box on a rocking slope", "walker": "Which foot slips?"}
    talks = {name: ("--style", "talk", "--title", title) for name, title in titles.items()}
    slip = ("--slow-around", "1.6", "--slow", "0.2", "--start", "0.7", "--duration", "4", "--fps", "15")
    place = ("--lookat", "0.36,0,0.3", "--distance", "1.6")
    pictures: dict[str, Callable[[Path], None]] = {
        "window.png": lambda path: photograph_window(path, "walker", 12.56, CONTROLS),
        "slope.gif": lambda path: record(path, "slope", *talks["slope"], *clip),
        "walker.gif": lambda path: record(path, "walker", *talks["walker"], *slip, *place),
        "touch.png": lambda path: photograph_window(path, "touch", 3.0, TOUCH, (1280, 720)),
        "friction.png": lambda path: photograph_window(
            path,
            str(FOLDER / "symptoms" / "scenes" / "friction.xml"),
            3.0,
            None,
            (1100, 720),
            contact=("foot_on_floor", 0),
        ),
        "creep.png": lambda path: photograph_window(
            path,
            str(FOLDER / "symptoms" / "scenes" / "grasp.xml"),
            3.0,
            PLOTS,
            (1280, 720),
            contact=("all contacts", 0),
            key="held",
        ),
        "driving.png": lambda path: photograph_window(path, "hand", 4.0, CONTROLS, (1280, 800), controls=0.45),
        "python.png": photograph_program,
        "browser.png": lambda path: record(path, "quadruped", "--window", "--duration", "4", "--size", "1280x720"),
        "logs.png": photograph_log,
        "pile.png": lambda path: record_still(path, "pile", 3.0, "--size", "800x450"),
    }
    for name in (scene.name for scene in bundled_scenes()):
        pictures[f"gallery/{name}.webp"] = partial(record_clip, scene=name)
    for scene in sorted((FOLDER / "rules" / "scenes").glob("*-*.xml")):
        pictures[f"rules/pictures/{scene.stem}.png"] = partial(picture_rule, scene=scene)
    for name in arguments.names or pictures:
        pictures[name](FOLDER / name)


if __name__ == "__main__":
    main()
