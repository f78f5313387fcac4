"""Random keys, clicks, drags and sizes in the window: no error reaches its guard. An hour of it in the long tests."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.assets import bundled_scene
from contact_viewer.window.keys import BINDINGS
from imgui_bundle import ImVec2, glfw_utils, imgui
from imgui_bundle.imgui import test_engine

from ..render.gl_state import gl_error
from .driver import call_in_frame, drawing, drive, make_window

import glfw  # isort: skip

SCENES = ("quadruped", "gripper", "rolling", "pile", "slope")
SIZES = ((1280, 720), (900, 600), (640, 420), (1600, 900), (420, 700))
KEYS = [each for each in BINDINGS if each.text not in ("Ctrl+Q", "F11", "Ctrl+O", "Ctrl+S")]
MOVES = [getattr(imgui.Key, name) for name in ("up_arrow", "down_arrow", "enter", "escape", "tab", "f10")]


def act(ctx: Any, window: Any, chance: random.Random) -> str:
    """Do one thing that a user might do; returns what."""
    size = imgui.get_main_viewport().size
    place = ImVec2(chance.uniform(2, size.x - 2), chance.uniform(2, size.y - 2))
    what = chance.choices(("key", "move", "click", "right", "double", "drag", "wheel", "size", "type", "wait", "scene"),
                          (30, 14, 24, 4, 3, 8, 6, 1, 2, 6, 0.4))[0]  # fmt: skip
    if what == "key":
        binding = chance.choice(KEYS)
        what = binding.text
        mods = imgui.Key.mod_ctrl * binding.ctrl | imgui.Key.mod_shift * binding.shift
        ctx.key_press(binding.key | mods)
    elif what == "move":
        ctx.key_press(chance.choice(MOVES))
    elif what in ("click", "right", "double"):
        ctx.mouse_move_to_pos(place)
        ctx.mouse_double_click(0) if what == "double" else ctx.mouse_click(int(what == "right"))
    elif what == "drag":
        ctx.mouse_move_to_pos(place)
        held = chance.choice((0, imgui.Key.mod_ctrl, imgui.Key.mod_shift))
        if held:
            ctx.key_down(held)
        ctx.mouse_down(button := chance.choice((0, 1, 2)))
        ctx.mouse_move_to_pos(ImVec2(chance.uniform(2, size.x - 2), chance.uniform(2, size.y - 2)))
        ctx.mouse_up(button)
        if held:
            ctx.key_up(held)
    elif what == "wheel":
        ctx.mouse_move_to_pos(place)
        ctx.mouse_wheel_y(chance.choice((-3.0, -1.0, 1.0, 3.0)))
    elif what == "size":
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), *chance.choice(SIZES))
    elif what == "type":
        ctx.key_chars(chance.choice(("0.5", "foot", "-3", "a b", "1e9", "%s", "##")))
    elif what == "scene":
        window.app.open_scene(chance.choice(SCENES))
    ctx.yield_(chance.choice((1, 1, 2, 5)))
    return str(what)


def use_at_random(seconds: float, folder: Path, seed: int) -> int:
    """Use a window at random for a wall time; returns how many things were done."""
    os.chdir(folder)
    scene = bundled_scene(SCENES[0])
    assert scene is not None
    window = make_window(Path(shutil.copy(scene.path, folder)), width=1280, height=720, paused=False)
    window.app.session.settings.history_megabytes = 16.0
    window.app.session.keep_history()
    chance, done = random.Random(seed), list[str]()
    window.quit = lambda: None  # type: ignore[method-assign]

    def test(ctx: Any) -> None:
        io = test_engine.get_io(ctx.engine)
        # In frames, of which there are many a second.
        io.config_watchdog_kill_test = 1e9
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done.append(act(ctx, window, chance))
            assert not window.guard.failures, (done[-12:], window.guard.failures)
            if len(done) % 200 == 0:
                with drawing():
                    assert call_in_frame(window, ctx, gl_error) is None
                window.app.notices.items.clear()
        window.app.recorder.stop()

    drive(window, test, drawn=False)
    return len(done)


@pytest.mark.timeout(4200)
@pytest.mark.parametrize("seconds", [12.0, pytest.param(3600.0, marks=pytest.mark.long)])
def test_random_use_reaches_no_guard(seconds: float, tmp_path: Path) -> None:
    seed = int(os.environ.get("SHUFFLE", "1"))
    use = f"use_at_random({seconds}, Path({str(tmp_path)!r}), {seed})"
    run = f"from {__name__} import use_at_random; print('done', {use})"
    result = subprocess.run(
        [sys.executable, "-c", f"from pathlib import Path; {run}"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert int(result.stdout.split("done")[-1]) > 2 * seconds
