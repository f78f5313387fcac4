"""How a user's program and its window end, each as a process of its own."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import contact_viewer
import mujoco
import pytest
from contact_viewer.window.window import Window

from ..window.driver import wait
from .loops import DrivenViewer, driven_argument, load, run

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys, time
import mujoco
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.passive.loops import DrivenViewer, load, record_on
model, data = load("quadruped")
driven = DrivenViewer(model, data, record_on, Path(sys.argv[1]), sys.argv[1])
viewer = driven.viewer
while not Path(sys.argv[1], "recording").exists():
    mujoco.mj_step(model, data); viewer.sync(); time.sleep(0.01)
Path(sys.argv[1], "pid").write_text(str(viewer._process.pid))
{}
"""
LOOP = "while True: mujoco.mj_step(model, data); viewer.sync(); time.sleep(0.01)"


def until(condition: Callable[[], object], seconds: float = 40.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("end", "signal_sent"),
    [
        ("", None),
        (LOOP, signal.SIGINT),
        (LOOP, signal.SIGKILL),
    ],
    ids=["forgotten close", "Ctrl-C", "killed"],
)
def test_the_window_completes_its_recording_however_the_program_ends(
    end: str, signal_sent: int | None, tmp_path: Path
) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    window = int((tmp_path / "pid").read_text())
    if signal_sent is not None:
        program.send_signal(signal_sent)
    program.wait(60)
    until(lambda: not is_alive(window))
    with av.open(str(tmp_path / "video.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) > 1


def test_a_loop_goes_on_without_its_window() -> None:
    model, data = load("quadruped")
    viewer = contact_viewer.launch_passive(model, data)
    os.kill(viewer._process.pid, signal.SIGKILL)
    until(lambda: not viewer.is_running())
    run(viewer, model, data, 5)
    viewer.sync()
    viewer.close()


def test_a_window_that_is_stopped_holds_nobody_up() -> None:
    model, data = load("quadruped")
    viewer = contact_viewer.launch_passive(model, data, ring_megabytes=1)
    os.kill(viewer._process.pid, signal.SIGSTOP)
    for _ in range(20_000):
        mujoco.mj_step(model, data)
        viewer.sync()
    viewer.gizmos.draw_sphere(0.1, [0, 0, 0], (1, 0, 0))
    viewer.sync()
    began = time.monotonic()
    viewer.close()
    assert time.monotonic() - began < 15
    assert not is_alive(viewer._process.pid)


def stay_alive(ctx: Any, window: Window) -> Any:
    folder = Path(driven_argument())
    wait(ctx, (folder / "stopped").exists, 2000)
    frames = window.frame_count
    history = window.app.session.history
    assert history is not None
    last = history.last
    ctx.yield_(30)
    window.app.session.go_to(1)
    ctx.yield_(2)
    assert history.current == 1
    (folder / "drawn").write_text(str(window.frame_count - frames))
    wait(ctx, lambda: history.last > last + 5)


def test_a_program_stopped_as_by_a_debugger_leaves_the_window_alive(tmp_path: Path) -> None:
    """A forked process is the debugger: this one is stopped, and goes on once the window has drawn."""
    model, data = load("quadruped")
    with DrivenViewer(model, data, stay_alive, tmp_path, str(tmp_path)) as viewer:
        run(viewer, model, data, 20)
        mine = os.getpid()
        debugger = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import os, signal, sys, time\nfrom pathlib import Path\n"
                f"folder = Path({str(tmp_path)!r})\nos.kill({mine}, signal.SIGSTOP)\n(folder / 'stopped').touch()\n"
                "end = time.monotonic() + 30\n"
                "while not (folder / 'drawn').exists() and time.monotonic() < end: time.sleep(0.02)\n"
                f"os.kill({mine}, signal.SIGCONT)",
            ]
        )
        run(viewer, model, data)
        debugger.wait()
    assert int((tmp_path / "drawn").read_text()) >= 30


def test_forked_processes_and_threads() -> None:
    model, data = load("quadruped")
    opened: list[contact_viewer.passive.viewer.PassiveViewer] = []
    thread = threading.Thread(target=lambda: opened.append(contact_viewer.launch_passive(model, data)))
    thread.start()
    thread.join()
    viewer = opened[0]
    child = os.fork()
    if child == 0:
        # Its copy of the viewer does nothing, and its end closes nothing.
        viewer.sync()
        viewer.close()
        os._exit(0)
    os.waitpid(child, 0)
    thread = threading.Thread(target=lambda: run(viewer, model, data, 20))
    thread.start()
    thread.join()
    assert viewer.is_running()
    viewer.close()
    assert not is_alive(viewer._process.pid)


def open_and_step(answers: Any) -> None:
    """In a process of its own."""
    model, data = load("bounce")
    with contact_viewer.launch_passive(model, data) as viewer:
        run(viewer, model, data, 20)
        answers.put((viewer.is_running(), viewer._process.pid))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_that_python_starts_have_windows_too(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=open_and_step, args=(answers,))
    process.start()
    running, window = answers.get(timeout=60)
    process.join(60)
    assert running
    assert process.exitcode == 0
    assert not is_alive(window)


def test_a_notebooks_kernel_has_a_window_over_many_cells() -> None:
    jupyter_client = pytest.importorskip("jupyter_client")
    pytest.importorskip("ipykernel")
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3", cwd=str(REPOSITORY))
    said: list[str] = []

    def cell(code: str) -> str:
        def listen(message: Any) -> None:
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                said.append(message["content"]["text"])

        status: str = client.execute_interactive(code, timeout=60, output_hook=listen)["content"]["status"]
        return status

    try:
        setup = "import contact_viewer, mujoco; from tests.passive.loops import load; model, data = load('bounce')"
        assert cell(f"{setup}; viewer = contact_viewer.launch_passive(model, data); print(viewer._process.pid)") == "ok"
        window = int(said.pop())
        loop = "mujoco.mj_step(model, data); viewer.sync()"
        assert cell(f"for _ in range(20): {loop}") == "ok"
        # As with the stop button: the window stays, and the next cell goes on.
        threading.Timer(1.0, manager.interrupt_kernel).start()
        assert cell(f"while True: {loop}") == "error"
        assert cell(f"{loop}; print(viewer.is_running())") == "ok"
        assert said.pop().strip() == "True"
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    until(lambda: not is_alive(window))
