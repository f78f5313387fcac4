"""Runs a window frame by frame until it is closed, and closes it in order whatever ends it."""

from imgui_bundle import hello_imgui

from ..app.application import open_application
from ..app.interruption import interruption
from ..settings import Options
from .idling import Idling
from .window import Window
from .window_errors import failed_window, only_window, opening_window

_LAST_FRAMES = 3
"""Frames that show what closing waits for."""


def open_window(options: Options) -> None:
    """Open a scene in a window, until it is closed."""
    run_window(Window(open_application(options)))


def run_window(window: Window) -> None:
    """Run a window until it is closed. Raises what ended it otherwise, after closing it in order."""
    # Not `hello_imgui.run`: it first looks through the call stack for a tutorial, which takes as long as a frame.
    render, params = hello_imgui.manual_render, window.runner_params()
    # Ctrl-C, or a closed terminal, ends it after the present frame, half of which could not be closed.
    with (
        only_window(),
        opening_window(window.app.finish_recording, needs_display=window.audience is None) as window.when_open,
        interruption() as interrupt,
    ):
        render.setup_from_runner_params(params)
        try:
            # One frame at least: a window that never drew cannot be closed.
            render.render()
            idling = Idling(window.app, window.audience.sleep if window.audience is not None else None)
            while not (params.app_shall_exit or interrupt.requested):
                if idling.wait():
                    render.render()
            if window.app.begin_closing():
                # A notice has its size from the second frame on.
                for _ in range(_LAST_FRAMES):
                    render.render()
        except RuntimeError as error:
            window.error = window.error or failed_window(error)
        finally:
            # First what was recorded: a window that has failed inside a frame cannot be taken down in order.
            window.prepare_closing()
            try:
                render.tear_down()
            except RuntimeError as error:
                window.error = window.error or failed_window(error)
    if window.error is not None:
        raise window.error
    interrupt.pass_on()
