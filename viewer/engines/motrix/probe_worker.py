"""The program of a probe's process: loads and steps scenes in MotrixSim and replies with what became of each.

A scene is `{"path": ...}` or `{"path": ..., "text": ...}` with MJCF to load instead of the file.
"""

from typing import Any

from ...standard_error import capture_stderr
from ...worker import Job, run_job


def _work(job: Job) -> None:
    import motrixsim

    for scene in job.request:
        job.reply(_try_scene(motrixsim, scene))


def _try_scene(motrixsim: Any, scene: dict[str, str]) -> dict[str, Any]:
    """Load and step a scene: its contact sensors, or the engine's message."""
    answer: dict[str, Any] = {"error": None, "stage": "load", "sensors": [], "log": []}
    try:
        with capture_stderr() as answer["log"]:
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
    except BaseException as error:  # A panic is not an Exception.
        answer["error"] = str(error)
    return answer


if __name__ == "__main__":
    run_job(_work)
