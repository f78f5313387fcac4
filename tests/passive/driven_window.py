"""The program of a passive viewer's window with a test that drives it."""

import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from contact_viewer.passive.window_process import main
from contact_viewer.window.window import Window

from tests.window.driver import drive


def run(window: Window) -> None:
    request = json.loads(sys.argv[2])
    report, (module, name) = request["report"], request["test"].split(":")
    result: dict[str, Any] = {"failure": None, "result": None}
    window.keeps_settings = False

    def driven(ctx: Any) -> None:
        # Tests count frames, and a loop that waits lets the window sleep.
        assert window.params is not None
        window.params.fps_idling.fps_idle = 0.0
        result["result"] = getattr(import_module(module), name)(ctx, window)

    try:
        drive(window, driven)
    except BaseException:
        result["failure"] = traceback.format_exc()
    Path(report).write_text(json.dumps(result))


if __name__ == "__main__":
    main(run)
