"""Loops of other programs, and windows on them that are driven in a process of their own."""

import json
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import mujoco
import numpy as np
from contact_viewer.channels.channel import Samples
from contact_viewer.engines.abilities import ArrivedStep
from contact_viewer.engines.contract import Engine
from contact_viewer.passive.batch import BatchViewer
from contact_viewer.passive.loop_connection import LoopConnection
from contact_viewer.passive.loop_steps import LoopSteps
from contact_viewer.passive.viewer import PassiveViewer
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.window.window import Window
from numpy.typing import NDArray

from ..window.driver import wait

DrivenTest = Callable[[Any, Window], Any]
"""Drives a window in its process; what it returns, as JSON, comes back."""


def still_loop(engine: Engine) -> LoopSteps:
    """Return the source of a loop that takes no step."""
    return LoopSteps(engine, cast(LoopConnection, _StillLoop()))


class _StillLoop:
    paused = waiting = makes_sensors = False
    running = quiet = True
    skipped = pending = 0
    environments, environment = 1, 0

    def begin_frame(self) -> None: ...
    def show_environment(self, env: int) -> None: ...
    def next_step(self) -> ArrivedStep | None:
        return None

    def pop_values(self, start_time: float | None = None) -> list[Samples]:
        return []

    def pop_trouble(self) -> str:
        return ""

    def begin_episode(self, time: float) -> None: ...
    def catch_up(self) -> None: ...
    def let_one_through(self) -> None: ...
    def attach(self, engine: Engine) -> None: ...
    def pull(self, body: int, force: NDArray[np.float64] | None) -> None: ...


def driven_request(test: DrivenTest, report: Path, *arguments: str) -> dict[str, Any]:
    """Ask the program of a driven window for a test."""
    return {"test": f"{test.__module__}:{test.__name__}", "report": str(report), "arguments": arguments}


def driven_argument() -> str:
    """Return the first argument of the test that drives this process."""
    return str(json.loads(sys.argv[2])["arguments"][0])


class DrivenViewer:
    """A passive viewer whose window a test drives, in that window's process, until the test is over."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        test: DrivenTest,
        folder: Path,
        *arguments: str,
        **options: Any,
    ) -> None:
        self._report = folder / "driven.json"
        self.result: Any = None
        """What the test has returned."""
        self.viewer = PassiveViewer(
            model,
            data,
            module="tests.passive.driven_window",
            request=driven_request(test, self._report, *arguments),
            **options,
        )

    def __enter__(self) -> PassiveViewer:
        return self.viewer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.viewer.close()
        if kind is None:
            report = json.loads(self._report.read_text())
            assert report["failure"] is None, report["failure"]
            self.result = report["result"]


def load(scene: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_path(str(find_scene(scene)))
    return model, mujoco.MjData(model)


def press(ctx: Any, key: Any) -> None:
    ctx.key_press(key)
    ctx.yield_(2)


def run(
    viewer: PassiveViewer, model: mujoco.MjModel, data: mujoco.MjData, steps: int | None = None, rest: float = 0.001
) -> int:
    """Step until the window is closed or `steps` are done, with a rest after each [s]; return the number of steps."""
    for k in count():
        if k == steps or not viewer.is_running():
            return k
        mujoco.mj_step(model, data)
        viewer.sync()
        # As fast as a robot's controller: the window and its tests need the processor too.
        time.sleep(rest)
    raise AssertionError


def record_on(ctx: Any, window: Window) -> Any:
    """Record until the window is closed."""
    folder = Path(driven_argument())
    window.app.start_recording(folder / "video.mp4")
    running = window.app.recorder
    wait(ctx, lambda: running.running is not None)
    wait(ctx, lambda: running.running is not None and running.running.frames > 2)
    (folder / "recording").touch()
    source = window.app.session.source
    assert isinstance(source, LoopSteps)
    loop = source.loop
    # The test engine does not close a window while a test goes on.
    while loop.running:
        ctx.yield_(1)


class DrivenBatch:
    """A batch's viewer whose window a test drives."""

    def __init__(self, model: Any, test: Any, folder: Path, num_envs: int = 6) -> None:
        self._report = folder / "driven.json"
        request = driven_request(test, self._report)
        self.viewer = BatchViewer(model, num_envs, module="tests.passive.driven_window", request=request)

    def finish(self) -> Any:
        self.viewer.close()
        report = json.loads(self._report.read_text())
        assert report["failure"] is None, report["failure"]
        return report["result"]
