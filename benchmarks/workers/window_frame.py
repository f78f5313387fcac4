"""Processor time of a frame of our window on a running scene, as JSON: with its panels or, with --empty, without.

`frame`: of the whole process [s]. `python`: of what Python does in our callbacks [s], without physics, MuJoCo's
renderer, OpenGL's drawing and what functions of ImGui and ImPlot take. Medians over the frames.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# Before MuJoCo, so that ImGui's GLFW library is used.
from contact_viewer.window.guard import Guard
from contact_viewer.window.window import Window, run_window

import mujoco  # isort: skip
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Options
from imgui_bundle import imgui, implot
from OpenGL import GL

_WARM_UP = 20
"""Frames that are not measured."""
_STEPS = 2000
"""Steps before the window opens, so that curves fill the plots."""

inside = 0.0
outside = 0.0
deep = 0


def counted(call: Callable[..., Any]) -> Callable[..., Any]:
    """A callback, with its time added to `inside`."""

    def timed(*arguments: Any, **named: Any) -> Any:
        global inside, deep
        deep += 1
        begin = time.thread_time()
        try:
            return call(*arguments, **named)
        finally:
            deep -= 1
            if deep == 0:
                inside += time.thread_time() - begin

    return timed


def left_out(call: Callable[..., Any], clock: Callable[[], float] = time.thread_time) -> Callable[..., Any]:
    """Something that is not Python's own, with its time added to `outside`."""

    def timed(*arguments: Any, **named: Any) -> Any:
        global outside
        begin = clock()
        try:
            return call(*arguments, **named)
        finally:
            outside += clock() - begin if deep else 0.0

    return timed


def without_imgui(module: Any) -> None:
    """Leave out what functions of a module that is C++ take: hundreds of calls a frame, so by a clock that is fast."""
    for name, call in vars(module).items():
        if type(call).__name__ == "nb_func":
            setattr(module, name, left_out(call, time.perf_counter))


def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
    """Guard's way to make a callback safe, which also counts its time."""
    return lambda guard, name, call, **named: counted(original(guard, name, call, **named))


def main() -> None:
    frames = int(sys.argv[1])
    scene = find_scene("quadruped")
    for name in ("part", "call"):
        setattr(Guard, name, guarded(getattr(Guard, name)))
    for name in ("mjr_render", "mjv_updateScene", "mjr_setBuffer", "mjr_rectangle"):
        setattr(mujoco, name, left_out(getattr(mujoco, name)))
    for name in ("glDrawElementsInstanced", "glBufferData", "glReadPixels", "glClear"):
        setattr(GL, name, left_out(getattr(GL, name)))
    for module in (imgui, implot):
        without_imgui(module)
    options = Options(scene=scene, width=1280, height=720, frames=frames + _WARM_UP)
    window = Window(Application(open_engine(scene), options))
    window.keeps_settings = False
    session = window.app.session
    session.simulation.step(_STEPS)
    session.simulation.step = left_out(session.simulation.step)  # type: ignore[method-assign]
    wholes: list[float] = []
    shares: list[float] = []
    before: list[float] = []
    begin = window._look.update

    def next_frame(*arguments: Any) -> Any:
        """Called once a frame."""
        global inside, outside
        now = time.process_time()
        if before:
            wholes.append(now - before[0])
            shares.append(inside - outside)
        before[:] = [now]
        inside = outside = 0.0
        return begin(*arguments)

    window._look.update = next_frame  # type: ignore[method-assign]
    if "--empty" in sys.argv:
        window.plots.show = window.inspector.show = window.sensors.show = lambda *_: None  # type: ignore[method-assign]
        window._events_panel.show = window._touch_panel.show = lambda *_: None  # type: ignore[method-assign]
    run_window(window)
    kept = slice(_WARM_UP, None)
    print(json.dumps({"frame": statistics.median(wholes[kept]), "python": statistics.median(shares[kept])}))


main()
