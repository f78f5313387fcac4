"""Starts the window's process with what it shares with the user's, and ends it."""

import contextlib
import mmap
import os
import select
import socket
import subprocess
import sys
from time import monotonic

import mujoco
import numpy as np

from ..mjmodel.types import MjModel
from .shared_memory import shared_file

SILENCE = 3.0
"""A window that is to close and says nothing for so long is ended [s]."""
SERVE = "--serve"
"""An argument of the window's process: browsers show it, at the host and port that follow."""
SCENE = "--scene"
"""An argument of the window's process: the file of the model follows."""
_CLOSE_TIME = 60.0
"""Longest that a window takes to complete its files [s]."""


def model_file(model: MjModel) -> int:
    """Descriptor of a file in memory with the compiled model."""
    size = mujoco.mj_sizeModel(model)
    fd = shared_file("contact-viewer-model", size)
    with mmap.mmap(fd, size) as memory:
        buffer = np.frombuffer(memory, np.uint8)
        mujoco.mj_saveModel(model, None, buffer)
        # The memory cannot be unmapped while it is in use.
        del buffer
    return fd


def start_window(
    module: str, arguments: tuple[str, ...], link: int, model: int, ring: int, size: int, rows: int
) -> "subprocess.Popen[bytes]":
    """Start the window's process, in a session of its own: Ctrl-C in the user's terminal does not reach it."""
    numbers = [str(number) for number in (link, model, ring, size, rows)]
    return start_process(module, (*numbers, *arguments), (link, model, ring))


def start_process(module: str, arguments: tuple[str, ...], shared: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    """Start a module as a process in a session of its own, with descriptors that it shares."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYOPENGL_PLATFORM", "MUJOCO_GL")}
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    # Software rendering would take the cores on which the loop runs.
    environment.setdefault("LP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) - 1)))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        pass_fds=shared,
        env=environment,
        start_new_session=True,
    )


def end_window(pid: int, link: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    """Close a window and wait for it, at the latest when the program ends. A forked process leaves it alone."""
    if os.getpid() != pid:
        return
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_WR)
    until = monotonic() + _CLOSE_TIME
    while monotonic() < until:
        # It says that it lives as long as it has files to complete.
        if not select.select([link], [], [], SILENCE)[0]:
            break
        try:
            if not link.recv(65536):
                break
        except OSError:
            break
    link.close()
    try:
        process.wait(SILENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
