"""Ask MotrixSim in another process whether it runs some scenes: a scene may crash the process that loads it.

This module is the program of that process.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...processes import Job, Limits, Worker, capture_stderr, describe_signal, run_job

_LIMITS = Limits(time=120.0, memory=None)
"""Limits of a process, for all its scenes together."""


@dataclass(frozen=True)
class ProbedScene:
    """MotrixSim's answer to one scene."""

    error: str | None
    """The engine's own message, on one line; None if the scene loaded and took two steps."""
    sensors: dict[str, dict[str, Any]]
    """`size` and `collider_pairs` of the contact sensors that the engine has, by name."""
    log: tuple[str, ...]
    """Lines that the engine wrote while it loaded the scene."""

    def line_about(self, name: str) -> str:
        """Return the first line of the log that has a sensor's name among its words; empty if none has."""
        if " " in name:
            return next((line for line in self.log if f" {name} " in line), "")
        return self._first_lines.get(name, "")

    @cached_property
    def _first_lines(self) -> dict[str, str]:
        """Return, by word, the first line with that word: there may be ten thousand lines, one per sensor."""
        return {word: line for line in reversed(self.log) for word in line.split(" ")[1:-1]}


class Probe:
    """Process that loads scenes. Start it, do other work, then read the results."""

    def __init__(self, scenes: list[dict[str, str]]) -> None:
        """`scenes`: the `path` of each, and a `text` if MJCF other than the file's is to be loaded."""
        self._scenes = scenes
        self._worker = Worker(__name__, scenes, _LIMITS)

    def results(self) -> list[ProbedScene]:
        """Return one result per scene."""
        try:
            self._worker.wait()
            results = [_result(answer) for answer in self._worker.results]
            if len(results) < len(self._scenes):
                results.append(ProbedScene(self._describe_end(), {}, ()))
        finally:
            self.cancel()
        if len(results) < len(self._scenes):
            # The process died of the last one; the others get another.
            results += Probe(self._scenes[len(results) :]).results()
        return results

    def cancel(self) -> None:
        """Stop without results. Safe after `results`."""
        self._worker.close()

    def _describe_end(self) -> str:
        if self._worker.timed_out:
            return f"it does not answer within {_LIMITS.time:g} s"
        code = self._worker.exit_code
        name = describe_signal(code)
        return f"it crashes ({name})" if name else f"it ends the process (exit code {code})"


def _result(answer: dict[str, Any]) -> ProbedScene:
    error = answer["error"]
    if error is not None:
        error = "; ".join(line.strip() for line in error.splitlines() if line.strip()) or "it gives no reason"
        if answer["stage"] != "load":
            error = f"{error} (in {answer['stage']})"
    return ProbedScene(error, {sensor["name"]: sensor for sensor in answer["sensors"]}, tuple(answer["log"]))


def _work(job: Job) -> None:
    """Reply with the result of each scene."""
    import motrixsim

    for scene in job.request:
        job.reply(_try_scene(motrixsim, scene))


def _try_scene(motrixsim: Any, scene: dict[str, str]) -> dict[str, Any]:
    """Load and step a scene; return its contact sensors, or the engine's message."""
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
