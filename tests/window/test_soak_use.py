"""Minutes of use, an hour in the long tests: everything a user does with the window, again and again."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from contact_viewer.app.application import Application
from contact_viewer.assets import bundled_scene
from contact_viewer.settings import Reduce
from contact_viewer.window.window import Window
from imgui_bundle.imgui import test_engine

from ..render.gl_state import gl_error
from .driver import call_in_frame, drive, make_window

COST = 0.1
"""The most processor time that a second of simulated use may take [s]."""
ROUND = 60.0
"""Simulated time of one round [s]."""
SCENES = ("slope", "bounce", "gripper", "rolling")


def wait(ctx: Any, app: Application, path: Path, engine: str) -> None:
    """Until the window shows a scene on an engine."""
    for _ in range(2000):
        ctx.yield_(1)
        if app.session.engine.path == path and engine in app.session.engine.name:
            return
    raise AssertionError(f"{path.name} is not shown: {[item.text for item in app.notices.items]}")


def use(ctx: Any, window: Window, path: Path, chance: random.Random) -> float:
    """One round with the scene that runs; the time that was simulated [s]."""
    app, session = window.app, window.app.session
    before, simulated = session.engine.time, 0.0
    session.paused = False
    session.set_speed(10.0)
    ctx.yield_(4)
    # Minutes of simulation, without the pictures.
    while session.engine.time - before < ROUND:
        session.take_steps(2000)
    simulated += session.engine.time - before
    history = session.history
    if history is not None:
        for _ in range(3):
            session.go_to(chance.randint(history.first, history.last))
            ctx.yield_(1)
        session.step_back()
        session.step_once()
        session.go_to_event(-1)
    for name in session.engine.sensors.names:
        session.visible[name] = chance.random() < 0.7
        session.set_reduce(name, chance.choice(list(Reduce)))
    gizmos = session.settings.gizmos
    gizmos.cones, gizmos.balance, gizmos.labels = (chance.random() < 0.5 for _ in range(3))
    window.toggle_panel(chance.choice(["Sensors", "Inspector", "Display", "Plots"]))
    session.paused = False
    ctx.yield_(3)
    app.start_recording(path.with_suffix(".mp4"))
    ctx.yield_(4)
    app.recorder.stop()
    session.reset()
    return simulated


def use_for(whole: float, folder: Path) -> list[int]:
    """The memory of this process after each round of `whole` simulated seconds [bytes]."""
    os.chdir(folder)
    paths = []
    for name in SCENES:
        scene = bundled_scene(name)
        assert scene is not None
        paths.append(Path(shutil.copy(scene.path, folder)))
    window = make_window(paths[0], width=640, height=480)
    app = window.app
    app.session.settings.history_megabytes = 8.0
    app.session.keep_history()
    chance = random.Random(1)
    memory: list[int] = []

    def test(ctx: Any) -> None:
        test_engine.get_io(ctx.engine).config_watchdog_kill_test = 1400.0
        simulated, start, round_number = 0.0, time.process_time(), 0
        while simulated < whole:
            assert time.process_time() - start < COST * whole
            path = paths[round_number % len(paths)]
            app.open_scene(str(path))
            wait(ctx, app, path, "MuJoCo")
            simulated += use(ctx, window, path, chance)
            if round_number % 4 == 0:
                app.switch_engine("motrix")
                wait(ctx, app, path, "MotrixSim")
                app.session.paused = False
                ctx.yield_(5)
                app.switch_engine("mujoco")
                wait(ctx, app, path, "MuJoCo")
            # A save that changes nothing, and one that breaks the file, as editors do.
            text = path.read_text()
            path.write_text(text[: len(text) // 2])
            ctx.yield_(3)
            path.write_text(text)
            app.reload()
            ctx.yield_(8)
            assert call_in_frame(window, ctx, gl_error) is None
            app.notices.items.clear()
            memory.append(psutil.Process().memory_info().rss)
            round_number += 1
        assert app.recorder.running is None

    drive(window, test, drawn=True)
    return memory


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("whole", "growth"), [(240.0, 45), pytest.param(3600.0, 60, marks=pytest.mark.long)])
def test_use_leaves_memory_flat_and_no_gl_error(whole: float, growth: int, tmp_path: Path) -> None:
    """In a process of its own, as a user's window is: other tests leave pieces of memory behind. `growth` in MB."""
    run = f"from {__name__} import use_for; memory = use_for({whole}, Path({str(tmp_path)!r}))"
    result = subprocess.run(
        [sys.executable, "-c", f"from pathlib import Path; {run}; print(); print(*memory)"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    memory = [int(word) for word in result.stdout.splitlines()[-1].split()]
    assert len(memory) >= whole // ROUND
    # The first rounds fill caches: of shaders, of the encoder, of the second engine.
    steady = len(memory) // 3
    assert max(memory[steady:]) - memory[steady] < growth * 2**20, [value >> 20 for value in memory]
    assert not list(tmp_path.glob(".*part*"))
