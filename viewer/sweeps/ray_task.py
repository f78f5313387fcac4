"""What runs on the nodes of a Ray cluster: some runs of a sweep, as one task."""

import atexit
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..scene_files.safe_open import OpenedScene
from .plan import Plan, Run, SweepError
from .scene_store import unpack_scene
from .task import RunResult, Task

_SAME = ("contact-viewer", "mujoco", "numpy")
"""Packages whose versions decide about bits."""


@dataclass(frozen=True)
class RayJob:
    """All that a node needs of a sweep beside its scenes: nothing is read from a disk that nodes might share."""

    name: str
    """No other job has it."""
    plan: Plan
    control_files: Mapping[str, bytes]
    """The folder of the controller: paths in it, and what is there."""
    versions: Mapping[str, str]
    """Of the packages where the sweep was started."""


def package_versions() -> dict[str, str]:
    """Versions that have to be the same on all nodes."""
    return {package: version(package) for package in _SAME}


class _Node:
    """What a process of a cluster keeps of a sweep."""

    def __init__(self, job: RayJob) -> None:
        own = package_versions()
        for package, wanted in job.versions.items():
            if own[package] != wanted:
                raise SweepError(f"node {platform.node()} has {package} {own[package]}, and this machine {wanted}")
        self.name = job.name
        self.scenes: Mapping[int, tuple[Any, Any]] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._originals: dict[str, str] = {}
        """Paths where the sweep was started, by those of their copies here."""
        plan = job.plan
        if plan.control is not None:
            path, _, name = plan.control.rpartition(":")
            for inside, data in job.control_files.items():
                (self._folder / "control" / inside).parent.mkdir(parents=True, exist_ok=True)
                (self._folder / "control" / inside).write_bytes(data)
            plan = replace(plan, control=f"{self._folder / 'control' / Path(path).name}:{name}")
            self._originals[str(self._folder / "control")] = str(Path(path).parent)
        if plan.logs:
            copies = [self._folder / f"log{number}" / path.name for number, path in enumerate(plan.logs)]
            self._originals |= {str(copy): str(path) for copy, path in zip(copies, plan.logs, strict=True)}
            plan = replace(plan, logs=tuple(copies))
        self._plan = plan
        self._task = Task(plan, self._open_scene)

    def run(self, run: Run) -> RunResult:
        result = self._task.run(run)
        if result.failure is None:
            return result
        # In the words of the machine where the files are.
        failure = result.failure
        for copy, original in self._originals.items():
            failure = failure.replace(copy, original)
        return replace(result, failure=failure)

    def _open_scene(self, number: int) -> OpenedScene:
        import ray

        scene, log = self.scenes[number]
        if log is not None:
            for earlier in self._folder.glob("log*"):
                shutil.rmtree(earlier, ignore_errors=True)
            self._plan.logs[number].parent.mkdir()
            self._plan.logs[number].write_bytes(ray.get(log))
        return unpack_scene(ray.get(scene))


_node: _Node | None = None


def take_runs(job_refs: Sequence[Any], scenes: Mapping[int, tuple[Any, Any]], runs: Sequence[Run]) -> list[RunResult]:
    """Take some runs. `job_refs`: one reference to a RayJob; `scenes`: by their numbers, references to what
    `unpack_scene` takes and to the bytes of a log, or None."""
    import ray

    global _node
    (reference,) = job_refs
    if _node is None or _node.name != reference.hex():
        _node = None
        job = ray.get(reference)
        _node = _Node(replace(job, name=reference.hex()))
    _node.scenes = scenes
    return [_node.run(run) for run in runs]
