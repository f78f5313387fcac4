"""What a window costs a program that steps its own model and calls `sync` after every step."""

import subprocess
import sys
from typing import Any

from contact_viewer.scene_files.scene import find_scene

from .environments import PEERS, run_worker
from .measuring import OURS, Figure, Row, Unavailable, Work, constant, take_turns
from .run import Run
from .stepping import BARE
from .windows import BUDGET, PASSIVE

_SCENE = "quadruped"
_MEDIAN, _SLOWEST = 10.0, 1000.0
"""What a call of `sync` may take: half of them, and all but one of a hundred [us]."""


def own_loop(run: Run) -> list[Row]:
    """Processor time of the loop's own thread, as fast as it goes, and how long a `sync` takes."""
    ours: list[dict[str, Any]] = []
    bare: list[float] = []

    def measure(python: str, viewer: str, count: int) -> dict[str, Any]:
        path, warm_up = find_scene(_SCENE), run.sized(2.0, 0.1)
        environment = run.screen.environment
        try:
            return run_worker(python, "own_loop.py", viewer, path, count, warm_up, environment=environment)
        except subprocess.SubprocessError as error:
            raise Unavailable(f"the program ended ({error})") from None

    def our_loop() -> float:
        ours.append(measure(sys.executable, "ours", run.sized(5000, 20)))
        bare.append(ours[-1]["bare"]["processor"])
        return float(ours[-1]["synced"]["processor"])

    def their_loop() -> float:
        # Each of their calls takes a frame or more.
        figures = measure(run.environments.python(PEERS), "mujoco.viewer", run.sized(100, 5))
        return float(figures["synced"]["processor"])

    works: dict[str, Work] = {OURS: our_loop, PASSIVE: their_loop}
    measured = take_turns(works, run.sized(3, 1))
    case = f"{_SCENE}, sync after every step, as fast as it goes: processor time of the loop's thread a step"
    rows = [
        Row("own-loop", case, BARE, "us", measured.figures[OURS], Figure(tuple(bare)), 0.8),
        measured.row("own-loop", case, PASSIVE, "us", goal=1.0),
    ]
    for name, budget in (("median", _MEDIAN), ("99 %", _SLOWEST)):
        figure = Figure(tuple(float(run["sync"][name]) for run in ours))
        rows.append(Row("own-loop", f"{_SCENE}, one sync, {name}", BUDGET, "us", figure, constant(budget), 1.0))
    return rows
