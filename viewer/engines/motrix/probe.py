"""Scenes to what MotrixSim makes of them, in a process of its own: some scenes kill the process that loads them.

Run as a program: a JSON list of scenes on standard input, each `{"path": ...}` or `{"path": ..., "text": ...}` with
MJCF that takes the place of the file; for each a line of JSON on standard output. It imports nothing of this package,
so that it starts at once.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")


@contextlib.contextmanager
def _log_of_process(log: list[str]) -> Iterator[None]:
    saved = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            log += _TERMINAL_CODES.sub("", file.read().decode("utf-8", "replace")).splitlines()


def _try_scene(motrixsim: Any, scene: dict[str, str]) -> dict[str, Any]:
    """Load and step a scene: its contact sensors, or the engine's words."""
    log: list[str] = []
    answer: dict[str, Any] = {"error": None, "stage": "load", "sensors": [], "log": log}
    try:
        with _log_of_process(log):
            if "text" in scene:
                world = motrixsim.msd.from_str(scene["text"], "mjcf", scene["path"])
            else:
                world = motrixsim.msd.from_file(scene["path"])
            model = world.build()
            data = motrixsim.SceneData(model)
            answer["stage"] = "step"
            model.step_n(data, 2)
            answer["stage"] = "read"
            answer["sensors"] = [
                {
                    "name": sensor.name,
                    "size": int(model.get_sensor_value(sensor.name, data).shape[-1]),
                    "collider_pairs": sensor.collider_pairs,
                }
                for sensor in model.low.low_contact_sensors
                if sensor.name
            ]
    except BaseException as error:  # A panic is no Exception.
        answer["error"] = str(error)
    return answer


def main() -> None:
    scenes = json.load(sys.stdin)
    import motrixsim

    for scene in scenes:
        print(json.dumps(_try_scene(motrixsim, scene)), flush=True)


if __name__ == "__main__":
    main()
