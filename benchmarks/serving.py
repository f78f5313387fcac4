"""The window in a browser: pictures a second, from a key to the picture that shows it, and what a frame costs."""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
from pathlib import Path

from contact_viewer.assets import bundled_scene

from .environments import NOT_INSTALLED, PEERS, WORKERS, run_worker
from .measuring import OURS, Figure, Row, Unavailable, constant
from .run import Run

_SCENE = "quadruped"
_PEER = "mjviser"
_CASE = f"{_SCENE} served at 1280x720 to one client that decodes, in a process of its own"
_GOAL = 0.995
"""Least ratio to what is asked for: 1.00 as it is written."""
_CLOCK = """
import time
import numpy as np

PATH = ""
clock = np.memmap(PATH, float, "r+", shape=2)


def control(model, data):
    clock[:] = time.monotonic(), data.time
"""
"""A controller that notes both times of the last step."""


def serve(run: Run) -> list[Row]:
    seen: dict[str, list[dict[str, float]]] = {OURS: [], _PEER: []}
    failure, seconds = "", run.sized(8.0, 0.5)
    for _ in range(run.sized(3, 1)):
        seen[OURS].append(_watch_ours(run.folder, seconds, run.sized(20, 2)))
        if not failure:
            try:
                seen[_PEER].append(_watch_mjviser(run, seconds))
            except Unavailable as error:
                failure = str(error)

    def figure(who: str, name: str, factor: float = 1.0) -> Figure | None:
        return Figure(tuple(factor * each[name] for each in seen[who])) if seen[who] else None

    def row(
        case: str, unit: str, name: str, factor: float = 1.0, asked: float | None = None, higher: bool = False
    ) -> Row:
        ours = figure(OURS, name, factor)
        assert ours is not None
        if asked is not None:
            return Row("serve", case, "what is asked for", unit, ours, constant(asked), _GOAL, higher)
        rate = figure(_PEER, "rate")
        note = failure if rate is None else f"{rate.median:.0f} frames/s there, drawn by the browser"
        return Row("serve", case, _PEER, unit, ours, figure(_PEER, name, factor), None, higher, note)

    return [
        row(_CASE, "frames/s", "rate", asked=25.0, higher=True),
        row("from a key to the picture that shows it, median", "ms", "middle", 1e3, asked=90.0),
        row("the same, 95 %", "ms", "tail", 1e3, asked=150.0),
        row("simulated time to real time meanwhile", "x", "speed", asked=1.0, higher=True),
        row("processor time of the server, a frame", "ms", "processor", 1e3),
        row("bytes to one browser", "kB/s", "bytes", 1e-3),
    ]


def _watch_ours(folder: Path, seconds: float, keys: int) -> dict[str, float]:
    controller, clock = folder / "clock.py", folder / "clock"
    controller.write_text(_CLOCK)
    clock.write_bytes(bytes(16))
    # As at a first start: what somebody saved is not part of it.
    environment = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [sys.executable, "-m", "contact_viewer", _SCENE, "--serve"]
    command += ["--control", str(controller), "--param", f"PATH={clock}"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().split()[-1]
        seen = run_worker(sys.executable, "watch_served.py", url, seconds, keys, process.pid, clock)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()
    delays = sorted(seen.pop("delays"))
    return seen | {"middle": statistics.median(delays), "tail": delays[round(0.95 * (len(delays) - 1))]}


def _watch_mjviser(run: Run, seconds: float) -> dict[str, float]:
    python = run.environments.python(PEERS)
    version = run.environments.versions().get("peer viser")
    scene = bundled_scene(_SCENE)
    if version is None or scene is None:
        raise Unavailable(NOT_INSTALLED)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, str(WORKERS / "serve_mjviser.py"), str(scene.path), str(port), str(seconds)]
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    watch = [sys.executable, str(WORKERS / "watch_mjviser.py"), str(port), str(seconds), version]
    try:
        if not any(line.strip() == "ready" for line in server.stdout):
            raise Unavailable("the program ended")
        with subprocess.Popen(watch, stdout=pipe, text=True) as watcher:
            server.stdin.write("watched\n")
            server.stdin.flush()
            received, _ = watcher.communicate(timeout=60)
            measured, _ = server.communicate(timeout=60)
        return dict(json.loads(measured.splitlines()[-1]) | json.loads(received))
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the program ended: {error}") from None
    finally:
        server.kill()
        server.wait()
        server.stdin.close()
        server.stdout.close()
