"""The program of a served window that a user's program has opened: runs until it is closed or that program ends."""

import json
import os
import signal
import socket
import sys
import threading
from typing import Any

# Before MuJoCo, so that both use one GLFW library.
from ..window.window import Window  # isort: skip

import mujoco

from ..app.application import Application, open_application
from ..browser.serve import serve_window
from ..engines.mujoco.engine import MujocoEngine
from ..errors import SceneError
from ..scene_files.scene import LoadedScene, engine_warnings, find_scene
from ..settings import Options
from .window_loop import send


def main(arguments: list[str]) -> int:
    """Serve what the request asks for; the exit code."""
    request = json.loads(arguments[1])
    with socket.socket(fileno=int(arguments[0])) as link:
        try:
            window = Window(_open(request))
            threading.Thread(target=_watch, args=(link, window), daemon=True).start()
            signal.signal(signal.SIGTERM, lambda *_: window.quit())
            serve_window(window, request["host"], request["port"], lambda server: send(link, {"url": server.url}))
        except Exception as error:
            # A program of a user's gets one line, not a traceback of ours.
            reason = str(error) if isinstance(error, SceneError) else f"the window failed: {error!r}"
            send(link, {"error": reason})
            return 2
    return 0


def _open(request: dict[str, Any]) -> Application:
    if request["model"] is None:
        return open_application(Options(scene=find_scene(request["scene"])))
    # Without a hook MuJoCo writes MUJOCO_LOG.TXT into the working folder.
    mujoco.set_mju_user_warning(engine_warnings.append)
    model = mujoco.MjModel.from_binary_path(f"/dev/fd/{request['model']}")
    os.close(request["model"])
    return Application(MujocoEngine(LoadedScene(None, model)))


def _watch(link: socket.socket, window: Window) -> None:
    """Close the window when the other program does, or has ended."""
    try:
        while link.recv(4096):
            pass
    except OSError:
        pass
    window.quit()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # Freeing a large model takes time for nothing.
    os._exit(code)
