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
        self.scenes: Mapping[int, Any] = {}
        self._original = self._local = ""
        plan = job.plan
        if plan.control is not None:
            folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for path, data in job.control_files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            path, _, name = plan.control.rpartition(":")
            self._original, self._local = str(Path(path).parent), str(folder)
            plan = replace(plan, control=f"{folder / Path(path).name}:{name}")
        self._task = Task(plan, self._open_scene)

    def run(self, run: Run) -> RunResult:
        result = self._task.run(run)
        if result.failure is not None and self._local:
            # In the words of the machine where the file is.
            return replace(result, failure=result.failure.replace(self._local, self._original))
        return result

    def _open_scene(self, number: int) -> OpenedScene:
        import ray

        return unpack_scene(ray.get(self.scenes[number]))


_node: _Node | None = None


def take_runs(job_refs: Sequence[Any], scenes: Mapping[int, Any], runs: Sequence[Run]) -> list[RunResult]:
    """Take some runs. `job_refs`: one reference to a RayJob; `scenes`: references to what `unpack_scene` takes."""
    import ray

    global _node
    (reference,) = job_refs
    if _node is None or _node.name != reference.hex():
        _node = None
        job = ray.get(reference)
        _node = _Node(replace(job, name=reference.hex()))
    _node.scenes = scenes
    return [_node.run(run) for run in runs]
