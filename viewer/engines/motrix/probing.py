"""Scenes to MotrixSim's verdict on them, asked of a process that may die of the answer."""

import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("probe.py")
_TIMEOUT = 120.0
"""Longest time for all scenes of one probe [s]."""


@dataclass(frozen=True)
class ProbedScene:
    """What became of one scene that MotrixSim was given."""

    error: str | None
    """The engine's own words, on one line; None if it loaded and took two steps."""
    sensors: dict[str, dict[str, Any]]
    """`size` and `collider_pairs` of the contact sensors that the engine has, by name."""
    log: tuple[str, ...]
    """What the engine wrote while it loaded the scene."""


class Probe:
    """A process that loads scenes. Start it, do something else, ask for the results."""

    def __init__(self, scenes: list[dict[str, str]]) -> None:
        """`scenes`: the `path` of each, and its `text` where that is not the file's."""
        self._scenes = scenes
        # A file and not a pipe, which the process would wait for until the results are asked for.
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps(scenes).encode())
            request.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )

    def results(self) -> list[ProbedScene]:
        """One result a scene."""
        try:
            output, _ = self._process.communicate(timeout=_TIMEOUT)
            end = _describe_end(self._process.returncode)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
            end = f"it does not answer within {_TIMEOUT:g} s"
        results = [_result(json.loads(line)) for line in output.splitlines()]
        if len(results) < len(self._scenes):
            # The process died of this one; the others get another.
            results.append(ProbedScene(end, {}, ()))
            if len(results) < len(self._scenes):
                results += Probe(self._scenes[len(results) :]).results()
        return results

    def cancel(self) -> None:
        """Stop without results. Safe after `results`."""
        self._process.kill()
        self._process.communicate()


def _describe_end(code: int) -> str:
    if code < 0:
        return f"it crashes ({signal.Signals(-code).name})"
    return f"it ends the process (exit code {code})"


def _result(answer: dict[str, Any]) -> ProbedScene:
    error = answer["error"]
    if error is not None:
        error = "; ".join(line.strip() for line in error.splitlines() if line.strip()) or "it gives no reason"
        if answer["stage"] != "load":
            error = f"{error} (in {answer['stage']})"
    return ProbedScene(error, {sensor["name"]: sensor for sensor in answer["sensors"]}, tuple(answer["log"]))
