"""The process of a window that a user's program opens: on its loop, on an environment of its batch, or on a scene.

The user's process starts it, and passes descriptors of shared files and memory.
"""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

# Before MuJoCo, so that both use one GLFW library.
from ..window.main_loop import run_window  # isort: skip
from ..window.window import Window  # isort: skip

import glfw
import mujoco
import numpy as np
from imgui_bundle import glfw_utils, imgui
from numpy.typing import NDArray

from ..app.application import Application, open_application
from ..engines.abilities import ArrivedStep, StepKind
from ..engines.mujoco.batch import BatchEngine, BatchState
from ..engines.mujoco.engine import MujocoEngine
from ..engines.mujoco.failures import first_bad
from ..errors import SceneError
from ..mjmodel.state import STATE
from ..processes import Link, Message, run_child
from ..scene_files.compiled_sensors import with_sensors
from ..scene_files.scene import LoadedScene, find_scene
from ..scene_files.spec_changes import RefusedChange, SceneChange
from ..session.saved_run import RunSaver
from ..settings import Options
from ..window.shell import DISPLAY, INSPECTOR, SENSOR_EDITOR, SENSORS
from .loop_connection import LoopConnection, open_engine, read_model
from .loop_steps import LoopSteps
from .shared_memory import EXTRA, SharedMemory, Word, write_values

_SHOWN_BAD = 10
"""Number of bad environments that a notice names."""
_TRIES = 100
"""Number of attempts to read the last steps, which may wait for a version of the model."""
Run = Callable[[Window], None]
_KEYS = (
    "space enter tab backspace escape insert delete page_up page_down home end minus equal comma period slash semicolon"
    " apostrophe backslash grave_accent left_bracket right_bracket"
)
"""Keys that have the same name in GLFW and ImGui."""
_ARROWS = ("left", "right", "up", "down")
_CODES = {
    **{getattr(imgui.Key, chr(code).lower()): code for code in range(glfw.KEY_A, glfw.KEY_Z + 1)},
    **{getattr(imgui.Key, f"_{chr(code)}"): code for code in range(glfw.KEY_0, glfw.KEY_9 + 1)},
    **{getattr(imgui.Key, f"f{number}"): glfw.KEY_F1 + number - 1 for number in range(1, 13)},
    **{getattr(imgui.Key, f"keypad{number}"): glfw.KEY_KP_0 + number for number in range(10)},
    **{getattr(imgui.Key, name): getattr(glfw, f"KEY_{name.upper()}") for name in _KEYS.split()},
    **{getattr(imgui.Key, f"{way}_arrow"): getattr(glfw, f"KEY_{way.upper()}") for way in _ARROWS},
}


def main(run: Run = run_window) -> None:
    """Show the window that the user's program requests, until it is closed or that program ends."""
    run_child(partial(_show_window, run=run), "the window")


def _show_window(link: Link, request: Message, run: Run) -> None:
    if "scene" in request:
        window = Window(_open_scene(request))
        # A closed link means that the user's program has closed the window or has ended.
        link.listen(lambda messages: None if link.is_open else window.quit())
        loop = None
    else:
        window, loop = (_open_batch if request.get("batch") else _open_loop)(link, request)
    signal.signal(signal.SIGTERM, lambda *_: window.quit())
    try:
        if request.get("serve") is None:
            run(window)
        else:
            _serve(window, link, loop, *request["serve"])
    finally:
        if loop is not None:
            loop.close()


def _open_scene(request: Message) -> Application:
    """Return an application on a scene that this process steps."""
    if not request["compiled"]:
        return open_application(Options(scene=find_scene(request["scene"])))
    return Application(MujocoEngine(LoadedScene(None, read_model(request["compiled"][0]))))


def _open_loop(link: Link, request: Message) -> tuple[Window, LoopConnection]:
    """Return a window, not yet open, and its loop, on a model and the steps that arrive in shared memory."""
    compiled, engine, shared = open_engine(request)
    loop = LoopConnection(link, shared, engine)
    window = _open_window(engine, loop)
    _allow_sensors(window, loop, compiled, engine)
    return window, loop


def _open_batch(link: Link, request: Message) -> tuple[Window, LoopConnection]:
    """Return a window, not yet open, and its loop, on a model and the states of one environment of a batch."""
    engine = BatchEngine(read_model(request["model"]))
    shared = SharedMemory(request["ring"], request["size"], request["rows"], engine.allow_model_changes().size)
    loop = BatchConnection(link, shared, engine)
    window = _open_window(engine, loop)
    # Environments may be metres apart.
    loop.when_switched = lambda: window.app.session.view.show_moving(engine.model, engine.data)
    return window, loop


def _allow_sensors(window: Window, loop: LoopConnection, compiled: LoadedScene, engine: MujocoEngine) -> None:
    """Let the user make sensors in the window's copy of the loop's model."""
    versions = engine.allow_model_changes()

    def rebuild(changes: Sequence[SceneChange]) -> tuple[MujocoEngine, tuple[RefusedChange, ...]]:
        """Return an engine with changed sensors, made from the loop's model as it was sent, and the refused changes."""
        current = versions.current
        versions.use(0)
        changed = with_sensors(compiled, changes)
        versions.use(current)
        again = MujocoEngine(changed)
        again.allow_model_changes(loop.versions.for_model(changed.model))
        return again, changed.refusals

    window.app.loader.rebuild, loop.makes_sensors = rebuild, True


def _show(window: Window, loop: LoopConnection, request: Message) -> None:
    """Show another model and data of the loop, whose descriptors came with the message."""
    app = window.app
    request |= {"model": loop.link.files.popleft(), "ring": loop.link.files.popleft()}
    compiled, engine, shared = open_engine(request)
    os.close(request["ring"])
    # The past belongs to the model before.
    app.session.simulation.restart()
    loop.follow(shared)
    _allow_sensors(window, loop, compiled, engine)
    app.loader.offer(engine)


def _open_window(engine: MujocoEngine, loop: LoopConnection) -> Window:
    """Return a window, not yet open, on an engine whose steps come from a loop."""
    window = Window(Application(LoopSteps(engine, loop)))
    loop.when_ended = window.quit
    loop.gizmos = window.app.gizmos
    window.app.add_geoms = loop.add_geoms
    loop.pressed_keys = pressed_keys
    loop.when_told = lambda message: _apply(window, loop, message)
    loop.wake = glfw.post_empty_event
    # A minimized window is not watched.
    loop.is_watched = lambda: not glfw.get_window_attrib(glfw_utils.glfw_window_hello_imgui(), glfw.ICONIFIED)
    return window


def _serve(window: Window, link: Link, loop: LoopConnection | None, host: str, port: int | None) -> None:
    """Serve a window to browsers, and send the user's program its address."""
    from ..browser.serve import serve_window
    from ..browser.server import Server

    def opened(server: Server) -> None:
        if loop is not None:
            loop.wake, loop.is_watched = server.wake.set, lambda: bool(server.clients)
        link.send({"url": server.url})

    if loop is not None:
        loop.is_watched = lambda: False
    serve_window(window, host, port, opened)


def _apply(window: Window, loop: LoopConnection, message: Message) -> None:
    """Handle a message of the loop's program: save the run, show other data, set camera, options and panels."""
    if "save_run" in message:
        _save_run(window.app, loop, str(message["save_run"]), int(message.get("episodes", 1)))
    if bad := message.get("bad"):
        names = ", ".join(map(str, bad[:_SHOWN_BAD])) + (
            f" and {len(bad) - _SHOWN_BAD} more" if len(bad) > _SHOWN_BAD else ""
        )
        text = f"the positions of environment{'s' * (len(bad) > 1)} {names} are no numbers any more"
        window.app.notices.add(text, warning=True)
        window.app.session.source.stop()
    if "show" in message:
        _show(window, loop, message["show"])
    view = window.app.session.view
    write_values(view.camera, message.get("cam", {}))
    write_values(view.option, message.get("opt", {}))
    for side, panels in (("left", (SENSORS, DISPLAY)), ("right", (INSPECTOR, SENSOR_EDITOR))):
        if message.get(side) is False:
            for panel in panels:
                if window.is_panel_shown(panel):
                    window.toggle_panel(panel)


def _save_run(app: Application, loop: LoopConnection, path: str, episodes: int) -> None:
    """Save all steps of the last episodes that have arrived, and answer when the files are complete."""

    def answer(error: str = "", steps: tuple[int, int, int] | None = None) -> None:
        loop.link.send({"run": {"path": path, "error": error, "steps": steps}})

    def refuse(error: Exception) -> None:
        answer(str(error) if isinstance(error, SceneError) else f"{path}: the run could not be saved ({error!r})")

    def write(savers: list[RunSaver]) -> None:
        saver = savers[0]
        try:
            for each in savers[::-1]:
                each.write()
        except Exception as error:
            refuse(error)
        else:
            answer(steps=(saver.steps, lost, saver.forgotten))

    simulation, history = app.session.simulation, app.session.simulation.history
    source = cast(LoopSteps, simulation.source)
    shown = None if history is None or history.at_end else history.current
    target, changes = Path(path), tuple(change.to_json() for change in app.sensor_edits.changes)
    try:
        for _ in range(_TRIES):
            while source.observe_next(simulation) is not None:
                pass
            if not loop.arrivals.waiting:
                break
        if shown is not None:
            simulation.go_to(shown)
        lost = loop.arrivals.lost
        before = list(simulation.episodes)[::-1][: episodes - 1]
        savers = [RunSaver(simulation, path, changes)]
        for each in before:
            name = target.with_name(f"{target.stem}.episode{each.number}{target.suffix}")
            savers.append(RunSaver(simulation, name, changes, each))
    except Exception as error:
        refuse(error)
    else:
        threading.Thread(target=write, args=(savers,), name="save run").start()


def pressed_keys() -> list[int]:
    """Return the keys pressed in this frame, unless a text field has the focus."""
    if imgui.get_io().want_text_input:
        return []
    return [code for key, code in _CODES.items() if imgui.is_key_pressed(key, False)]


class BatchConnection(LoopConnection):
    """Connection of a window to a program that steps many environments, of which one is shown."""

    def __init__(self, link: Link, shared: SharedMemory, engine: BatchEngine) -> None:
        super().__init__(link, shared, engine)
        self._engine = engine
        self._size = mujoco.mj_stateSize(engine.model, STATE)
        self._last: tuple[int, float] | None = None
        """Environment and time [s] of the last row."""
        self._is_bad = False
        """True if the last row was no valid state."""
        self.when_switched: Callable[[], None] = lambda: None
        """Callback when the first state of another environment has arrived."""

    @property
    def waiting(self) -> bool:
        return False

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        """Do nothing: the window does not change the program's arrays."""

    def next_step(self) -> ArrivedStep | None:
        while (row := self.next_row()) is not None:
            env, said = row.state[self._size : self._size + EXTRA]
            if env != self._words[Word.ENVIRONMENT]:
                # The row belongs to the environment that was shown before.
                continue
            self.versions.use(row.version)
            state = row.state[: self._size]
            model = self._engine.model
            qpos, qvel = np.split(state[1 : 1 + model.nq + model.nv], [model.nq])
            if (bad := first_bad(model, qpos, qvel)) is not None:
                # The steps before stay; rows that are no valid states are left out.
                if not self._is_bad:
                    time = 0.0 if self._last is None else self._last[1]
                    self.arrivals.trouble = f"{bad} after {time:.3f} s, in environment {int(env)}"
                self._is_bad = True
                continue
            self._is_bad = False
            self._engine.arrive(BatchState(state, row.state[self._size + EXTRA :] if said else None))
            before, self._last = self._last, (int(env), float(state[0]))
            if before is None or before[0] != env:
                self.when_switched()
            if before is None or before[0] != env or state[0] < before[1]:
                return ArrivedStep(kind=StepKind.START)
            return ArrivedStep(kind=StepKind.MOVED if state[0] == before[1] else StepKind.EXACT)
        return None


if __name__ == "__main__":
    main()
