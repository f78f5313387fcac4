"""A paused window that nobody touches draws nothing, and wakes at once when it has to."""

import os
import subprocess
import sys
import time
from pathlib import Path

from contact_viewer.scene_files.scene import find_scene

SCRIPT = """
import ctypes, os, sys, threading, time
from pathlib import Path
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

scene = Path(sys.argv[1])
window = Window(Application(open_engine(scene), Options(scene, paused=True, width=480, height=360)))
window.keeps_settings = False
app = window.app

def until_still():
    frames, since = window.frame_count, time.monotonic()
    while time.monotonic() - since < 1.5:
        time.sleep(0.05)
        if window.frame_count != frames:
            frames, since = window.frame_count, time.monotonic()
    return frames

def wakes(act, awake=lambda: True, seconds=20.0):
    frames = until_still()
    act()
    end = time.monotonic() + seconds
    while time.monotonic() < end and (window.frame_count == frames or not awake()):
        time.sleep(0.01)
    return window.frame_count > frames and awake()

def move_mouse():
    # As a hand does: through the display, not through the window's own functions.
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    root = x11.XDefaultRootWindow(display)
    for x in (90, 120, 150):
        x11.XWarpPointer(display, 0, ctypes.c_ulong(root), 0, 0, 0, 0, x, 150)
        x11.XSync(display, 0)
    x11.XCloseDisplay(display)

def add_notice():
    app.notices.add("done")
    # It goes after eight seconds.
    app.notices.items[-1].since -= 6.0

def record():
    app.start_recording(Path(sys.argv[2]))

def watch():
    try:
        print("mouse", wakes(move_mouse))
        before = app.session
        print("file", wakes(lambda: scene.write_text(scene.read_text() + " "), lambda: app.session is not before))
        print("notice", wakes(add_notice, lambda: not app.notices.items))
        print("recording", wakes(record, lambda: app.recorder.running and app.recorder.running.frames > 3))
        app.recorder.stop()
        print("play", wakes(app.session.toggle_paused, lambda: app.session.engine.time > 0.1))
    finally:
        window.quit()
        app.session.paused = False

threading.Thread(target=watch).start()
run_window(window)
"""


def test_it_sleeps_until_something_changes(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(find_scene("slope").read_text())
    arguments = [sys.executable, "-c", SCRIPT, str(scene), str(tmp_path / "clip.mp4")]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert result.stdout.splitlines()[:5] == [
        f"{what} True" for what in ("mouse", "file", "notice", "recording", "play")
    ], result.stdout + result.stderr


def test_a_paused_window_costs_under_three_percent_of_a_core() -> None:
    command = [sys.executable, "-m", "contact_viewer", "slope", "--paused", "--width", "1280", "--height", "720"]
    with subprocess.Popen(command) as process:
        try:
            ticks = os.sysconf("SC_CLK_TCK")
            stat = Path(f"/proc/{process.pid}/stat")

            def used() -> float:
                return sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13])) / ticks

            # Until it has opened and fallen asleep.
            end, before = time.monotonic() + 60, -1.0
            while time.monotonic() < end and (used() < 0.5 or used() - before > 0.05):
                before = used()
                time.sleep(1.0)
            begin, before = time.monotonic(), used()
            time.sleep(5.0)
            share = (used() - before) / (time.monotonic() - begin)
        finally:
            process.terminate()
    assert share < 0.03
