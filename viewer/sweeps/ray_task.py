"""Simulates some runs of a sweep as one task on a node of a Ray cluster."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..scene_files.safe_open import OpenedScene
from .plan import Plan, Run, SweepError
from .scene_store import unpack_scene
from .task import RunResult, Task

_SAME = ("contact-viewer", "mujoco", "numpy")
"""Packages whose versions have to be the same on all nodes, so that results are the same bit for bit."""


@dataclass(frozen=True)
class RayJob:
    """Data of a sweep that a node needs beside the scenes, since nothing is read from a shared disk."""

    name: str
    """Name of the job, which no other job of any cluster has."""
    plan: Plan
    control_files: Mapping[str, bytes]
    """Contents of the files in the controller's folder, by their paths in it."""
    versions: Mapping[str, str]
    """Versions of the packages on the machine that started the sweep."""


def package_versions() -> dict[str, str]:
    """Return the installed versions of the packages that have to be the same on all nodes."""
    return {package: version(package) for package in _SAME}


class _Node:
    """State that a process of a cluster keeps for a sweep."""

    def __init__(self, job: RayJob, reference: str) -> None:
        own = package_versions()
        for package, wanted in job.versions.items():
            if own[package] != wanted:
                raise SweepError(f"node {platform.node()} has {package} {own[package]}, and this machine {wanted}")
        self.reference = reference
        """Ray's reference of the job, in hexadecimal."""
        self.scenes: Mapping[int, tuple[Any, Any]] = {}
        self._folder = job_folder(job.name, str(os.getpid()))
        self._control_files = job.control_files
        self._originals: dict[str, str] = {}
        """Paths on the machine that started the sweep, by the paths of their copies on this node."""
        plan = job.plan
        if plan.control is not None:
            path, _, name = plan.control.rpartition(":")
            plan = replace(plan, control=f"{self._folder / 'control' / Path(path).name}:{name}")
            self._originals[str(self._folder / "control")] = str(Path(path).parent)
        if plan.logs:
            copies = [self._folder / f"log{number}" / path.name for number, path in enumerate(plan.logs)]
            self._originals |= {str(copy): str(path) for copy, path in zip(copies, plan.logs, strict=True)}
            plan = replace(plan, logs=tuple(copies))
        self._plan = plan
        self._task = Task(plan, self._open_scene)

    @contextmanager
    def files(self, scenes: Mapping[int, tuple[Any, Any]]) -> Iterator[None]:
        """Write the files of scenes into a folder for a task, and remove them after it, since Ray may then kill the
        process."""
        import ray

        self.scenes = scenes
        contents = {Path("control", inside): data for inside, data in self._control_files.items()}
        contents |= {self._plan.logs[number]: ray.get(log) for number, (_, log) in scenes.items() if log is not None}
        try:
            self._folder.mkdir(0o700, exist_ok=True)
            for inside, data in contents.items():
                (self._folder / inside).parent.mkdir(parents=True, exist_ok=True)
                (self._folder / inside).write_bytes(data)
            yield
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

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

        return unpack_scene(ray.get(self.scenes[number][0]))


def job_folder(job: str, process: str) -> Path:
    """Return the folder of a process that works for a job; with "*" as the process, a pattern for all folders."""
    return Path(tempfile.gettempdir(), f"contact-viewer-{job}-{process}")


_node: _Node | None = None


def simulate_runs(
    job_refs: Sequence[Any], scenes: Mapping[int, tuple[Any, Any]], runs: Sequence[Run]
) -> list[RunResult]:
    """Simulate some runs. `job_refs`: one reference to a RayJob. `scenes`: by scene number, a reference to a scene that
    `unpack_scene` takes, and a reference to the bytes of a log, or None."""
    import ray

    global _node
    (reference,) = job_refs
    if _node is None or _node.reference != reference.hex():
        _node = None
        _node = _Node(ray.get(reference), reference.hex())
    with _node.files(scenes):
        return [_node.run(run) for run in runs]
