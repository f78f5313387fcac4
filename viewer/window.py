"""An application from its first frame to its last, however it ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from imgui_bundle import hello_imgui

from .app import Application
from .display import opening_window
from .engines.opening import open_engines
from .settings import Options


def open_window(options: Options) -> None:
    """Open a scene in a window, until it is closed."""
    engine, ghost = open_engines(options.scene, options.engine, options.envs)
    run_window(Application(engine, options, ghost))


def run_window(app: Application) -> None:
    """Run an application until its window is closed. Raises what ended it otherwise, after closing it in order."""
    # Not `hello_imgui.run`: it first looks through the call stack for a tutorial, which takes as long as a frame.
    render, params = hello_imgui.manual_render, app.runner_params()
    with opening_window(app.finish_recording) as app.when_open, _interruptible(app) as interrupted:
        render.setup_from_runner_params(params)
        try:
            # One frame at least: a window that never drew cannot be closed.
            render.render()
            while not (params.app_shall_exit or interrupted.is_set()):
                render.render()
        finally:
            render.tear_down()
    if app.error is not None:
        raise app.error
    if interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def _interruptible(app: Application) -> Iterator[threading.Event]:
    """Let Ctrl-C end the application after the present frame, half of which could not be closed; whether it did."""
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        if interrupted.is_set():
            # Asked twice: at once.
            raise KeyboardInterrupt
        interrupted.set()
        app.quit()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
