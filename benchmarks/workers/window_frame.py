"""Processor time of a frame of our window on a running scene, as JSON: with its panels or, with --empty, without.

`frame`: of the whole process [s]. `python`: of what Python does in our callbacks [s], without physics, MuJoCo's
renderer, OpenGL's drawing and `imgui`: what functions of ImGui and ImPlot take [s]. Those are over a thousand calls a
frame, and to time each costs a quarter of what Python does. So every other frame alone has them timed, and the figures
of whole frames are of the others. What a call of a function that does nothing takes, the timer included, is not left
out: to call is Python's. Medians over the frames.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# Before MuJoCo, so that ImGui's GLFW library is used.
from contact_viewer.window.guard import Guard
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window

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
_TRIALS, _CALLS = 201, 100
"""Of a call that does nothing, to learn what its timer reads."""

inside = 0.0
outside = 0.0
in_imgui = 0.0
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


def left_out(call: Callable[..., Any]) -> Callable[..., Any]:
    """Something that is not Python's own, with its time added to `outside`: a dozen of calls a frame."""

    def timed(*arguments: Any, **named: Any) -> Any:
        global outside
        begin = time.thread_time()
        try:
            return call(*arguments, **named)
        finally:
            outside += time.thread_time() - begin if deep else 0.0

    return timed


def imgui_timed(call: Callable[..., Any], nothing: float = 0.0) -> Callable[..., Any]:
    """A function of ImGui with its time added to `in_imgui`, less that of one that does `nothing` [s]."""
    # A system call takes as long as most of them.
    clock = time.perf_counter

    def timed(*arguments: Any, **named: Any) -> Any:
        global in_imgui
        begin = clock()
        try:
            return call(*arguments, **named)
        finally:
            in_imgui += clock() - begin - nothing if deep else 0.0

    return timed


def time_of_nothing() -> float:
    """What the timer of a function of ImGui reads when that does nothing [s]."""
    global in_imgui, deep
    call, deep = imgui_timed(imgui.get_version), 1
    trials: list[float] = []
    for _ in range(_TRIALS):
        in_imgui = 0.0
        for _ in range(_CALLS):
            call()
        trials.append(in_imgui / _CALLS)
    deep = 0
    return statistics.median(trials)


class ImGuiTimers:
    """Put timers around all functions of ImGui and ImPlot, and take them away again."""

    def __init__(self) -> None:
        nothing = time_of_nothing()
        self.on = False
        self._plain: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._timed: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for names in (vars(imgui), vars(implot)):
            plain = {name: call for name, call in names.items() if type(call).__name__ == "nb_func"}
            self._plain.append((names, plain))
            self._timed.append((names, {name: imgui_timed(call, nothing) for name, call in plain.items()}))

    def toggle(self) -> None:
        self.on = not self.on
        for names, functions in self._timed if self.on else self._plain:
            names.update(functions)


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
    timers = ImGuiTimers()
    options = Options(scene=scene, width=1280, height=720, frames=frames + _WARM_UP)
    window = Window(Application(open_engine(scene), options))
    window.keeps_settings = False
    session = window.app.session
    session.simulation.step(_STEPS)
    session.simulation.step = left_out(session.simulation.step)  # type: ignore[method-assign]
    wholes: list[float] = []
    callbacks: list[float] = []
    imguis: list[float] = []
    before: list[float] = []
    begin = window._look.update

    def next_frame(*arguments: Any) -> Any:
        """Called once a frame."""
        global inside, outside, in_imgui
        if before and window.frame_count > _WARM_UP:
            if timers.on:
                imguis.append(in_imgui)
            else:
                wholes.append(time.process_time() - before[0])
                callbacks.append(inside - outside)
        timers.toggle()
        before[:] = [time.process_time()]
        inside = outside = in_imgui = 0.0
        return begin(*arguments)

    window._look.update = next_frame  # type: ignore[method-assign]
    if "--empty" in sys.argv:
        for title in ("Plots", "Inspector", "Sensors", "Events", "Touch"):
            window.contents[title].show = lambda *_: None
    run_window(window)
    whole, callback, in_imgui = (statistics.median(times) for times in (wholes, callbacks, imguis))
    print(json.dumps({"frame": whole, "python": callback - in_imgui, "imgui": in_imgui}))


main()
