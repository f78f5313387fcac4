"""The window in a browser: pictures a second, and from a key to the picture that shows it."""

import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .environments import run_worker
from .measuring import Figure, Row, constant
from .run import Run

_SCENE = "quadruped"
_CASE = f"{_SCENE} served at 1280x720 to one client that decodes, in a process of its own"


def serve(run: Run) -> list[Row]:
    rates, sizes, middles, tails = [], [], [], []
    for _ in range(run.sized(3, 1)):
        with _served() as url:
            seen = run_worker(sys.executable, "watch_served.py", url, run.sized(8.0, 0.5), run.sized(20, 2))
        delays = sorted(seen["delays"])
        rates.append(seen["rate"])
        sizes.append(seen["bytes"] / 1e3)
        middles.append(1e3 * statistics.median(delays))
        tails.append(1e3 * delays[round(0.95 * (len(delays) - 1))])
    name, goal = "serve", "what is asked for"
    note = f"{statistics.median(sizes):.0f} kB/s"
    return [
        Row(name, _CASE, goal, "frames/s", Figure(tuple(rates)), constant(25.0), 1.0, True, note),
        Row(
            name,
            "from a key to the picture that shows it, median",
            goal,
            "ms",
            Figure(tuple(middles)),
            constant(90.0),
            1.0,
        ),
        Row(name, "the same, 95 %", goal, "ms", Figure(tuple(tails)), constant(150.0), 1.0),
    ]


@contextmanager
def _served() -> Iterator[str]:
    """The address of a window that a process serves."""
    environment = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    command = [sys.executable, "-m", "contact_viewer", _SCENE, "--serve"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()
