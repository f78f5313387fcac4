"""Opens the viewer from a user's program: blocking, or beside the program's loop."""

import math
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

import mujoco
import numpy as np

from ..errors import SceneError, UnstableError
from ..mjmodel.types import MjData, MjModel
from ..render.camera import body_geoms, box_around, look_at_box, moving_geoms
from .batch import BatchViewer
from .program import check_simulation, unwrap
from .served import ServedScene, ServedViewer
from .shared_memory import CAMERA, DEFAULT_RING, read_values, write_values
from .viewer import KeyCallback, PassiveViewer

HOST = "127.0.0.1"
"""Default address of served windows."""
_FILL, _ASPECT = 0.5, 16 / 9
"""Fraction of the picture that a followed robot fills, and width of the picture divided by its height."""
_BEHIND = 0.2
"""Delay behind real time above which a served loop does not catch up [s]."""


@overload
def launch(  # type: ignore[overload-overlap]  # False is a number, too, but no port.
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: Literal[False] = False,
    host: str = HOST,
) -> None: ...
@overload
def launch(
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: bool | int,
    host: str = HOST,
) -> ServedViewer: ...
def launch(
    path_or_model: str | Path | Any = None,
    data: Any = None,
    *,
    control: Any = None,
    serve: bool | int = False,
    host: str = HOST,
) -> ServedViewer | None:
    """Open a window on a scene, and return when it is closed.

    Args:
        path_or_model: Path of a scene file, name of a bundled scene, or a compiled MjModel, which is not changed.
            None for the default scene.
        data: MjData of the model that is stepped, so that the program sees the result; None for new data.
        control: Controller, or function `control(model, data)` that is called before every step.
        serve: True, or a port, to show the window in browsers and return at once. The scene is then stepped by
            another process; with `data` or `control`, by a thread of this program.
        host: Address to serve at; by default browsers on this machine only.

    Returns:
        None; with `serve`, a viewer whose `url` opens the window in a browser.

    Raises:
        SceneError: The scene cannot be opened, or there is no display.

    Example:
        ```python
        viewer = contact_viewer.launch("walker", serve=True)
        print(viewer.url)
        viewer.close()
        ```
    """
    path_or_model = unwrap(path_or_model, mujoco.MjModel) or path_or_model
    if serve is not False:
        return _serve(path_or_model, data, control, host, _port(serve))
    # Not at the top: a program that opens a passive viewer has the window in another process.
    from ..window.main_loop import run_window  # isort: skip
    from ..window.window import Window  # isort: skip

    from ..app.application import Application

    run_window(Window(Application(_open_engine(path_or_model, data, control))))
    return None


def _open_engine(path_or_model: Any, data: Any, control: Any) -> Any:
    """Return the engine that steps a scene, or a program's own data."""
    from ..engines.controller import as_controller
    from ..engines.mujoco.engine import MujocoEngine
    from ..engines.registry import open_engine
    from ..scene_files.scene import LoadedScene

    if data is None:
        return open_engine(path_or_model, control=control)
    model, data = check_simulation(path_or_model, data)
    engine = MujocoEngine(LoadedScene(None, model, owned=False), data)
    if control is not None:
        engine.controller = as_controller(control)
    return engine


def _serve(path_or_model: Any, data: Any, control: Any, host: str, port: int | None) -> ServedViewer:
    is_path = path_or_model is None or isinstance(path_or_model, str | Path)
    if data is None and control is None:
        return ServedScene(path_or_model if is_path else None, None if is_path else path_or_model, host, port)
    model = _compile(path_or_model) if is_path else path_or_model
    engine = _open_engine(model, data if data is not None else mujoco.MjData(model), control)
    return ServedLoop(engine, launch_passive(model, engine.data, serve=port or True, host=host))


def _compile(path: str | Path | None) -> MjModel:
    """Return the model of a file, without added sensors."""
    from ..engines.registry import open_engine
    from ..scene_files.scene import find_scene

    # Refuses a scene that would crash MuJoCo and so the program.
    open_engine(path)
    source = str(find_scene(path))
    from_file = mujoco.MjModel.from_binary_path if source.lower().endswith(".mjb") else mujoco.MjModel.from_xml_path
    return from_file(source)


def _port(serve: bool | int) -> int | None:
    """Return the requested port; None for any free one."""
    if serve is True:
        return None
    if not isinstance(serve, int) or not 1 <= serve <= 65535:
        raise SceneError(f"serve is True, or a port from 1 to 65535, not {serve!r}")
    return serve


def _served_at(serve: bool | int, host: str) -> dict[str, Any]:
    """Return the part of a request that makes a window's process serve the window; empty without `serve`."""
    return {} if serve is False else {"serve": [host, _port(serve)]}


def _ring_bytes(megabytes: float) -> int:
    if not isinstance(megabytes, int | float) or not 0 < megabytes < math.inf:
        raise SceneError(f"ring_megabytes is a size in megabytes, not {megabytes!r}")
    return round(megabytes * 2**20)


def launch_passive(
    model: MjModel,
    data: MjData,
    *,
    key_callback: KeyCallback | None = None,
    show_left_ui: bool = True,
    show_right_ui: bool = True,
    every_step: bool = False,
    wait: bool | None = None,
    ring_megabytes: float = DEFAULT_RING / 2**20,
    scene: str | Path | Any = None,
    serve: bool | int = False,
    host: str = HOST,
    follow: bool = False,
) -> PassiveViewer:
    """Open a window on a model and data that your program steps. Call `sync` after every step.

    The window is another process, which re-simulates each step on its own copy of the data.

    Args:
        model: Compiled model.
        data: Data that your program steps.
        key_callback: Called in `sync` with the GLFW number of each key pressed in the window.
        show_left_ui: True to show the panels at the left.
        show_right_ui: True to show the panels at the right.
        every_step: True to show also the steps between two calls of `sync`. It uses MuJoCo's control callback, of
            which a process has only one, and rollouts on several threads then wait for each other.
        wait: True to let a fast loop wait for the window, so that no step is left out; False never to wait. None waits
            only while nobody looks: the window is minimised, or no browser shows it.
        ring_megabytes: Memory for states that the window has not read yet [MB].
        scene: File or MjSpec that the model was compiled from. The window then compiles a model of its own from it,
            and is named after it. Not needed for complete contacts.
        serve: True, or a port, to show the window in browsers instead; see `url` of the viewer.
        host: Address to serve at; by default browsers on this machine only.
        follow: True for a camera that follows the robot, if the robot can leave its place.

    Returns:
        The viewer, which is a context manager that closes the window.

    Raises:
        SceneError: An argument cannot be used, `scene` is another model, or the window does not open.

    Example:
        ```python
        with contact_viewer.launch_passive(model, data) as viewer:
            while viewer.is_running():
                mujoco.mj_step(model, data)
                viewer.sync()
        ```
    """
    model, data = check_simulation(model, data)
    if wait not in (None, True, False):
        raise SceneError(f"wait is True, False or None, not {wait!r}")
    if key_callback is not None and not callable(key_callback):
        raise SceneError(f"key_callback is called with each key, and {key_callback!r} cannot be called")
    viewer = PassiveViewer(
        model,
        data,
        key_callback=key_callback,
        show_left_ui=show_left_ui,
        show_right_ui=show_right_ui,
        every_step=every_step,
        wait=wait,
        ring_bytes=_ring_bytes(ring_megabytes),
        scene=scene,
        request=_served_at(serve, host),
    )
    if follow:
        write_values(viewer.cam, following_view(model, data))
    return viewer


def launch_batch(
    model: MjModel,
    num_envs: int,
    *,
    ring_megabytes: float = DEFAULT_RING / 2**20,
    serve: bool | int = False,
    host: str = HOST,
    follow: bool = False,
) -> BatchViewer:
    """Open a window on one environment of a batch that any engine steps. Call `sync` after every step.

    Args:
        model: Compiled model of all environments.
        num_envs: Number of environments; the user chooses the shown one in the window.
        ring_megabytes: Memory for states that the window has not read yet [MB].
        serve: True, or a port, to show the window in browsers instead; see `url` of the viewer.
        host: Address to serve at; by default browsers on this machine only.
        follow: True for a camera that follows the robot of the shown environment, if it can leave its place.

    Returns:
        The viewer, which is a context manager that closes the window.

    Raises:
        SceneError: An argument cannot be used, or the window does not open.

    Example:
        ```python
        with contact_viewer.launch_batch(model, num_envs=4096) as viewer:
            while viewer.is_running():
                state = step(state)
                viewer.sync(qpos=state.qpos, qvel=state.qvel, ctrl=state.ctrl)
        ```
    """
    found = unwrap(model, mujoco.MjModel)
    if found is None:
        raise SceneError(f"an MjModel is needed, not {type(model).__name__}")
    viewer = BatchViewer(
        found,
        num_envs,
        ring_bytes=_ring_bytes(ring_megabytes),
        request=_served_at(serve, host),
    )
    if follow:
        data = mujoco.MjData(found)
        mujoco.mj_forward(found, data)
        write_values(viewer.cam, following_view(found, data))
    return viewer


def travelling_body(model: MjModel) -> int:
    """Return the body that can leave its place and whose subtree is the heaviest; 0 if there is none."""
    roots = {int(model.body_rootid[body]) for body in range(1, model.nbody)}
    moving = [int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)]

    def can_leave(body: int) -> bool:
        joints = model.body_jntadr[body] + range(model.body_jntnum[body]) if model.body_jntnum[body] else ()
        return any(model.jnt_type[joint] in moving and not model.jnt_limited[joint] for joint in joints)

    return max(filter(can_leave, sorted(roots)), key=lambda body: float(model.body_subtreemass[body]), default=0)


def following_view(model: MjModel, data: MjData, wishes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return values of a camera that follows the robot if it can leave its place, and else looks at all moving geoms.

    `wishes`: values of some fields of the camera; `lookat` is used only if nothing is followed.
    """
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    body = travelling_body(model)
    box = box_around(model, data, body_geoms(model, body) if body else moving_geoms(model))
    if box is not None:
        look_at_box(camera, box, _FILL, _ASPECT, float(model.vis.global_.fovy))
    for name in ("distance", "azimuth", "elevation", *(() if body else ("lookat",))):
        if wishes and name in wishes:
            write_values(camera, {name: np.asarray(wishes[name], float).tolist()})
    if body:
        camera.type, camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, body
    return read_values(camera, CAMERA)


class ServedLoop(ServedViewer):
    """Scene that a thread of the calling program steps in real time, with the program's own data and controller."""

    def __init__(self, engine: Any, viewer: PassiveViewer) -> None:
        super().__init__()
        self._engine, self._viewer = engine, viewer
        self._page = viewer.page
        self._thread = threading.Thread(target=self._run, name="contact-viewer", daemon=True)
        self._thread.start()

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        self._viewer.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        engine, viewer = self._engine, self._viewer
        begin, simulated, unstable = time.monotonic(), engine.data.time, False
        try:
            while viewer.is_running():
                try:
                    engine.step(1)
                except UnstableError as error:
                    if not unstable:
                        print(f"contact-viewer: {error}", file=sys.stderr)
                    unstable = True
                viewer.sync()
                ahead = engine.data.time - simulated - (time.monotonic() - begin)
                if ahead > 0:
                    time.sleep(ahead)
                elif ahead < -_BEHIND:
                    # The loop was paused, or cannot keep up: lost time is dropped.
                    begin, simulated = time.monotonic(), engine.data.time
        except SceneError as error:
            print(f"contact-viewer: {error}", file=sys.stderr)
        finally:
            viewer.close()
