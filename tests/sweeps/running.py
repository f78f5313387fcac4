"""Sweeps in processes of their own, and what they leave."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars

HERE = "127.0.0.1"


def free_port() -> int:
    with socket.create_server((HERE, 0)) as server:
        return int(server.getsockname()[1])


def start(folder: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    """`contact-viewer sweep`, in a folder."""
    return launch(folder, sys.executable, "-m", "contact_viewer", "sweep", *words, **environment)


def launch(folder: Path, *command: str, **environment: str) -> "subprocess.Popen[str]":
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Jobs in the background have Ctrl-C ignored.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(command, cwd=folder, env=os.environ | environment, **pipes)


def finish(process: "subprocess.Popen[str]", seconds: float = 60.0, code: int = 0) -> tuple[str, str]:
    """What a program that comes to its end has said: output and errors."""
    out, error = process.communicate(timeout=seconds)
    assert process.returncode == code, (out, error)
    assert "Traceback" not in error
    return out, error


def wait_for(condition: Callable[[], object], process: "subprocess.Popen[str]", seconds: float = 90.0) -> None:
    """Wait while a program runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def finished(folder: Path) -> int:
    """Runs of a sweep that goes on."""
    return len({number for path in journal(folder) for number in polars.read_parquet(path)["run"]})


def journal(folder: Path) -> list[Path]:
    """Files of the runs of a sweep that goes on."""
    return sorted((folder / ".runs").glob("*.parquet"))


def columns(folder: Path) -> polars.DataFrame:
    """The table of a sweep, without what differs from sweep to sweep."""
    return polars.read_parquet(folder / "metrics.parquet").drop("wall_time")
