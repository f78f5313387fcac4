"""The program of a passive viewer's window: started by the user's process, with what they share as descriptors."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# Before MuJoCo, so that both use one GLFW library.
from ..window.main_loop import run_window  # isort: skip
from ..window.window import Window  # isort: skip

import glfw

from ..app.application import Application
from ..engines.mujoco.engine import MujocoEngine
from ..errors import SceneError
from ..scene_files.compiled_sensors import with_sensors
from ..scene_files.spec_changes import RefusedChange, SensorChange
from ..session.saved_run import RunSaver
from ..window.shell import DISPLAY, INSPECTOR, SENSOR_EDITOR, SENSORS
from .key_codes import pressed_keys
from .loop_engine import open_engine
from .process import SCENE, SERVE
from .run_request import ANSWER, REQUEST
from .view_values import write_values
from .window_loop import WindowLoop, send

_TRIES = 100
"""How often the last steps are asked for, where a change of the model has to be learnt before they are taken."""
Run = Callable[[Window], None]
Opener = Callable[[socket.socket, int, int, int, int], tuple[Window, WindowLoop]]
"""Makes a window on what is shared; see `open_loop`."""


def main(arguments: list[str], run: Run = run_window, opener: Opener | None = None) -> int:
    """Show the loop until the window is closed or the loop's program ends; the exit code."""
    link, model, ring, size, rows = map(int, arguments[:5])
    with socket.socket(fileno=link) as connection:
        loop = None
        try:
            path = Path(arguments[arguments.index(SCENE) + 1]) if SCENE in arguments else None
            window, loop = (opener or partial(open_loop, path=path))(connection, model, ring, size, rows)
            signal.signal(signal.SIGTERM, lambda *_: window.quit())
            if arguments[5:6] == [SERVE]:
                run = _serve(connection, loop, *arguments[6:8])
            run(window)
        except Exception as error:
            # A program of a user's gets one line, not a traceback of ours.
            reason = str(error) if isinstance(error, SceneError) else f"the window failed: {error!r}"
            send(connection, {"error": reason})
            return 2
        finally:
            if loop is not None:
                loop.close()
    return 0


def open_loop(
    connection: socket.socket, model: int, ring: int, state_size: int, rows: int, path: Path | None = None
) -> tuple[Window, WindowLoop]:
    """A window, not yet open, on the model in a file and the steps that arrive in another."""
    compiled, engine, shared = open_engine(model, ring, state_size, rows, path)
    versions = engine.allow_model_changes()
    loop = WindowLoop(connection, shared, engine)
    window = open_window(engine, loop)

    def rebuild(changes: Sequence[SensorChange]) -> tuple[MujocoEngine, tuple[RefusedChange, ...]]:
        """An engine with changed sensors, made from the loop's model as it came."""
        current = versions.current
        versions.use(0)
        changed = with_sensors(compiled, changes)
        versions.use(current)
        again = MujocoEngine(changed)
        again.allow_model_changes(loop.versions.for_model(changed.model))
        return again, changed.refusals

    window.app.loader.rebuild, loop.makes_sensors = rebuild, True
    return window, loop


def open_window(engine: MujocoEngine, loop: WindowLoop) -> Window:
    """A window, not yet open, on an engine whose steps a loop brings."""
    window = Window(Application(engine))
    window.app.session.loop = loop
    loop.when_ended = window.quit
    loop.gizmos = window.app.gizmos
    window.app.add_geoms = loop.add_geoms
    loop.pressed_keys = pressed_keys
    loop.when_told = lambda message: _apply(window, loop, message)
    loop.wake = glfw.post_empty_event
    return window


def _serve(connection: socket.socket, loop: WindowLoop, host: str, port: str) -> Run:
    """Shows a window to browsers, and tells the loop's program where."""
    from ..browser.serve import serve_window
    from ..browser.server import Server

    def opened(server: Server) -> None:
        loop.wake = server.wake.set
        send(connection, {"url": server.url})

    return lambda window: serve_window(window, host, int(port) or None, opened)


def _apply(window: Window, loop: WindowLoop, message: dict[str, Any]) -> None:
    """Do what the loop's program has asked for: hide panels, set camera and visual options, save the run."""
    if REQUEST in message:
        _save_run(window.app, loop, str(message[REQUEST]))
    view = window.app.session.view
    write_values(view.camera, message.get("cam", {}))
    write_values(view.option, message.get("opt", {}))
    for side, panels in (("left", (SENSORS, DISPLAY)), ("right", (INSPECTOR, SENSOR_EDITOR))):
        if message.get(side) is False:
            for panel in panels:
                if window.is_panel_shown(panel):
                    window.toggle_panel(panel)


def _save_run(app: Application, loop: WindowLoop, path: str) -> None:
    """Save all steps that have arrived, and answer when that is done."""

    def answer(error: str = "") -> None:
        loop.send({ANSWER: {"path": path, "error": error}})

    def write(saver: RunSaver) -> None:
        try:
            saver.write()
        except Exception as error:
            answer(str(error) if isinstance(error, SceneError) else f"{path}: the run could not be saved ({error!r})")
        else:
            answer()

    simulation, history = app.session.simulation, app.session.simulation.history
    shown = None if history is None or history.at_end else history.current
    for _ in range(_TRIES):
        while (step := loop.take()) is not None:
            simulation.observe(step)
        if not loop.arrivals.waits:
            break
    if shown is not None:
        simulation.go_to(shown)
    try:
        saver = RunSaver(simulation, path, tuple(change.to_json() for change in app.sensor_edits.changes))
    except SceneError as error:
        answer(str(error))
    else:
        threading.Thread(target=write, args=(saver,), name="save run").start()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # Freeing a large model takes time for nothing.
    os._exit(code)
