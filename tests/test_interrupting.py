"""Ctrl-C in the terminal from which a window was opened: it closes as if by its button."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import pytest

RECORDING = """
import os, signal, sys
from pathlib import Path
from contact_viewer import open_engine
from contact_viewer.app import Application
from contact_viewer.settings import Options
from contact_viewer.window import run_window

app = Application(open_engine("slope"), Options(Path("slope"), width=480, height=360))
app.keeps_settings = False
draw = app._draw

def draw_and_interrupt():
    if app.frame_count == 5:
        app.start_recording(Path(sys.argv[1]))
    if app.frame_count == 40:
        os.kill(os.getpid(), signal.SIGINT)
    draw()

app._draw = draw_and_interrupt
try:
    run_window(app)
except KeyboardInterrupt:
    print("interrupted")
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_it_completes_what_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    result = subprocess.run(
        [sys.executable, "-c", RECORDING, str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    said = result.stdout.splitlines()
    assert said[0].startswith(f"recorded {path}")
    assert said[1:] == ["interrupted", "True"]
    with av.open(str(path)) as video:
        assert sum(1 for _ in video.decode(video=0)) >= 10


OPENING = """
import os, signal
from contact_viewer import open_engine
from contact_viewer.app import Application
from contact_viewer.window import run_window

app = Application(open_engine("slope"))
app.keeps_settings = False
open_parts = app._open

def open_and_fail():
    open_parts()
    {what}

app._open = open_and_fail
try:
    run_window(app)
except (KeyboardInterrupt, ValueError) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("what", "told"),
    [("os.kill(os.getpid(), signal.SIGINT)", "KeyboardInterrupt"), ("raise ValueError('why')", "ValueError why")],
)
def test_what_happens_before_the_first_frame_is_told_too(what: str, told: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", OPENING.format(what=what)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.stderr == ""
    assert result.stdout.strip() == told


@pytest.mark.parametrize("moment", [2.0, 2.33, 2.71])
def test_it_is_quiet_whatever_the_moment(moment: float) -> None:
    command = [sys.executable, "-m", "contact_viewer", "pile", "--width", "480", "--height", "360"]
    # Whoever starts a program in the background may have it ignore the signal.
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as window:
        time.sleep(moment)
        os.kill(window.pid, signal.SIGINT)
        _, said = window.communicate(timeout=30)
    assert window.returncode == 130
    assert said == ""
