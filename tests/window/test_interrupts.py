"""Ctrl-C in the terminal from which a window was opened or a closed terminal: it closes as by its button."""

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
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

# Jobs in the background of a shell start with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
window = Window(Application(open_engine("slope"), Options(Path("slope"), width=480, height=360)))
window.keeps_settings = False
draw = window._draw

def draw_and_interrupt():
    if window.frame_count == 5:
        window.app.start_recording(Path(sys.argv[1]))
    if window.frame_count == 40:
        {what}
    draw()

window._draw = draw_and_interrupt
try:
    run_window(window)
except KeyboardInterrupt as error:
    print(type(error).__name__)
except SystemExit as error:
    print(error)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    ("what", "raised"),
    [
        (INTERRUPT, "KeyboardInterrupt"),
        ("os.kill(os.getpid(), signal.SIGTERM)", "143"),
        # Terminals and shells send it more than once.
        ("os.kill(os.getpid(), signal.SIGHUP); os.kill(os.getpid(), signal.SIGHUP)", "129"),
    ],
)
def test_it_completes_what_is_recorded(tmp_path: Path, what: str, raised: str) -> None:
    path = tmp_path / "clip.mp4"
    result = subprocess.run(
        [sys.executable, "-c", RECORDING.format(what=what), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    output = result.stdout.splitlines()
    assert output[0].startswith(f"recorded {path}")
    assert output[1:] == [raised, "True"]
    with av.open(str(path)) as video:
        assert sum(1 for _ in video.decode(video=0)) >= 10


OPENING = """
import os, signal

# Jobs in the background of a shell start with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

window = Window(Application(open_engine("slope")))
window.keeps_settings = False
open_parts = window._open

def open_and_fail():
    open_parts()
    {what}

window._open = open_and_fail
try:
    run_window(window)
except (KeyboardInterrupt, ValueError) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("what", "raised"), [(INTERRUPT, "KeyboardInterrupt"), ("raise ValueError('why')", "ValueError why")]
)
def test_what_happens_before_the_first_frame_is_raised_too(what: str, raised: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", OPENING.format(what=what)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.stderr == ""
    assert result.stdout.strip() == raised


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
        _, output = window.communicate(timeout=30)
    assert window.returncode == 130
    assert output == ""


IMPORTING = """
import enum, os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)
from contact_viewer.cli import main

def interrupt(frame, event, _):
    if event == "call" and frame.f_code.co_filename == enum.__file__ and frame.f_locals.get("value") == "WindowFlags_":
        os.kill(os.getpid(), signal.SIGINT)

sys.setprofile(interrupt)
sys.exit(main(["slope", "--frames", "3"]))
"""


def test_it_is_quiet_while_libraries_are_imported() -> None:
    """Imported libraries that are written in C++ abort when an exception is raised inside them."""
    result = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (130, "")


SILENT_CHILDREN = """
import subprocess, sys

start = subprocess.Popen.__init__

def tell(self, command, *rest, **named):
    print(command, file=sys.__stderr__)
    start(self, command, *rest, **named)

subprocess.Popen.__init__ = tell
from contact_viewer.cli import main

sys.argv = ["contact-viewer", "events", "slope", "--duration", "0.01"]
code = main()
assert "mujoco" in sys.modules
sys.exit(code)
"""


def test_no_library_starts_a_process_that_ctrl_c_would_end_with_a_traceback() -> None:
    """A terminal sends the signal to all processes of a program."""
    environment = {name: value for name, value in os.environ.items() if name != "PYGLFW_LIBRARY"}
    result = subprocess.run(
        [sys.executable, "-c", SILENT_CHILDREN],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert (result.returncode, result.stderr) == (0, "")


THREADS = """
import threading
from pathlib import Path
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.errors import SceneError
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

drawn = threading.Event()

def say(text):
    # As one piece: two threads may speak at once.
    print(f"{text}\\n", end="", flush=True)

def open_window(frames, then=lambda: None):
    window = Window(Application(open_engine("slope"), Options(Path("slope"), width=400, height=300, frames=frames)))
    window.keeps_settings = False
    draw = window._draw
    def draw_and_act():
        draw()
        if window.frame_count == 2:
            drawn.set()
            then()
    window._draw = draw_and_act
    try:
        run_window(window)
        say("closed")
    except SceneError as error:
        say(error)

# A second one while the first is drawn, from the same thread and from another; then one after the other.
other = threading.Thread(target=lambda: (drawn.wait(), open_window(5)))
other.start()
open_window(20, lambda: (open_window(5), other.join()))
open_window(5)
last = threading.Thread(target=open_window, args=(5,))
last.start()
last.join()
"""


def test_a_second_window_of_a_program_is_one_clear_line() -> None:
    result = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False, timeout=90)
    assert result.returncode == 0, result.stderr
    refused = "this process already has a window, and can have only one: close it, or use another process"
    assert sorted(result.stdout.splitlines()) == ["closed"] * 3 + [refused] * 2
    assert result.stderr == ""
