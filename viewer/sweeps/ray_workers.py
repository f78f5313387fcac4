"""Simulates the runs of a sweep on a Ray cluster: short runs share a task, and runs of a lost node are repeated."""

import contextlib
import math
import os
import shutil
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import SceneError
from .plan import Plan, Run, SweepError
from .ray_cluster import connected
from .ray_task import RayJob, job_folder, package_versions, simulate_runs
from .scene_store import SceneStore
from .task import RunResult

_TASK_SECONDS = 10.0
"""Wall time that a task should take at least [s]: Ray needs some milliseconds for each task."""
_QUEUED = 2
"""Number of tasks per core that are submitted: one runs, one waits."""
_ATTEMPTS = 3
"""Number of times that a single run has to be lost to count as failed."""
_HEARTBEAT = 0.2
"""Longest time between two yielded values, results or None [s]."""
_CANCEL_SECONDS = 3.0
"""Time that tasks have to end after they are cancelled [s]."""
_CONTROL_BYTES = 100 * 2**20
"""Largest size of a controller's folder that is sent to the nodes [bytes]."""
_KEPT = 8
"""Number of scenes and logs that stay in the cluster's memory for later tasks."""


def run_on_ray(
    plan: Plan, scenes: SceneStore, pending: Iterator[Run], left: int, address: str, cores: int
) -> Generator[RunResult | None, None, None]:
    """Simulate the `left` pending runs on Ray; yield each result as it comes, and None from time to time in between.
    `address`: as Ray takes it; if empty, RAY_ADDRESS, or else a cluster of this machine with `cores` cores. Close the
    generator to cancel unfinished runs."""
    control_files = read_folder(plan)
    with connected(address, cores) as ray:
        yield from _Tasks(ray, plan, control_files, scenes, pending, left).results()


class _Tasks:
    """The tasks of a sweep on a cluster."""

    def __init__(
        self,
        ray: Any,
        plan: Plan,
        control_files: Mapping[str, bytes],
        scenes: SceneStore,
        pending: Iterator[Run],
        left: int,
    ) -> None:
        self._ray = ray
        self._scenes = scenes
        self._pending = pending
        self._left = left
        self._again: deque[list[Run]] = deque()
        self._attempts: Counter[int] = Counter()
        self._tasks: dict[Any, list[Run]] = {}
        self._plan = plan
        self._refs: OrderedDict[int | Path, Any] = OrderedDict()
        self._name = uuid.uuid4().hex
        self._job = ray.put(RayJob(self._name, plan, control_files, package_versions()))
        # Retries are ours: a run that ends its process must not take the others of its task along.
        self._simulate = ray.remote(num_cpus=1, max_retries=0)(simulate_runs)
        self._seconds, self._count = 0.0, 0

    def results(self) -> Generator[RunResult | None, None, None]:
        try:
            while True:
                yield from self._hand_out()
                if not self._tasks:
                    return
                ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=_HEARTBEAT)
                if not ready:
                    yield None
                for reference in ready:
                    yield from self._collect(reference, self._tasks.pop(reference))
        finally:
            self._cancel()

    def _cancel(self) -> None:
        """Cancel unfinished tasks: first so that they can remove their files, then by force."""
        left = list(self._tasks)
        with contextlib.suppress(Exception):
            for reference in left:
                self._ray.cancel(reference)
            _, left = self._ray.wait(left, num_returns=len(left), timeout=_CANCEL_SECONDS) if left else ([], [])
        for reference in left:
            with contextlib.suppress(Exception):
                self._ray.cancel(reference, force=True)
        # Those of processes that were killed, on this machine.
        pattern = job_folder(self._name, "*")
        for folder in pattern.parent.glob(pattern.name):
            shutil.rmtree(folder, ignore_errors=True)

    def _hand_out(self) -> Iterator[RunResult]:
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        while len(self._tasks) < _QUEUED * cores:
            runs = self._again.popleft() if self._again else self._next_runs(cores)
            if not runs:
                return
            try:
                scenes = {number: self._scene(number) for number in {run.scene for run in runs}}
            except SceneError as error:
                yield from (RunResult(run.number, str(error)) for run in runs)
                continue
            self._tasks[self._simulate.remote([self._job], scenes, runs)] = runs

    def _next_runs(self, cores: int) -> list[Run]:
        """Return the runs of the next task, all of one scene: enough to take `_TASK_SECONDS`, but at most the share of
        one core."""
        size = 1
        if self._count:
            size = math.ceil(_TASK_SECONDS * self._count / max(self._seconds, 1e-9))
            size = max(1, min(size, math.ceil(self._left / cores)))
        runs: list[Run] = []
        while len(runs) < size and (run := next(self._pending, None)) is not None:
            self._left -= 1
            if runs and run.scene != runs[0].scene:
                self._again.append([run])
                break
            runs.append(run)
        return runs

    def _collect(self, reference: Any, runs: list[Run]) -> Iterator[RunResult]:
        from ray.exceptions import RayError, RayTaskError

        try:
            results = self._ray.get(reference)
        except RayTaskError as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, SweepError):
                raise cause from None
            if isinstance(cause, ModuleNotFoundError):
                raise SweepError(f"a node of the cluster lacks contact-viewer ({cause})") from None
            yield from self._try_again(runs, str(cause).strip().splitlines()[-1])
        except RayError as error:
            yield from self._try_again(runs, type(error).__name__)
        else:
            for result in results:
                self._seconds += next((row["wall_time"] for row in result.figures), 0.0)
                self._count += 1
                yield result

    def _try_again(self, runs: list[Run], why: str) -> Iterator[RunResult]:
        """Repeat runs that were lost with their process or node: in halves, to find the run that ends processes."""
        if len(runs) > 1:
            middle = len(runs) // 2
            self._again.extendleft([runs[middle:], runs[:middle]])
            return
        (run,) = runs
        self._attempts[run.number] += 1
        if self._attempts[run.number] < _ATTEMPTS:
            self._again.appendleft(runs)
        else:
            yield RunResult(run.number, f"ended its process, {_ATTEMPTS} times ({why})")

    def _scene(self, number: int) -> tuple[Any, Any]:
        """Return references to a scene in the cluster's memory, and to its log or None."""
        scene = self._put(number, lambda: self._scenes.packed(number))
        if not self._plan.logs:
            return scene, None
        path = self._plan.logs[number]
        return scene, self._put(path, lambda: _read_log(path))

    def _put(self, name: int | Path, read: Callable[[], bytes]) -> Any:
        if name not in self._refs:
            self._refs[name] = self._ray.put(read())
            while len(self._refs) > _KEPT:
                self._refs.popitem(last=False)
        self._refs.move_to_end(name)
        return self._refs[name]


def _read_log(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror})") from None


def read_folder(plan: Plan) -> dict[str, bytes]:
    """Return the files of the controller's folder, which are sent to the nodes; hidden files and compiled Python are
    left out."""
    if plan.control is None:
        return {}
    file = Path(plan.control.rpartition(":")[0])
    files: dict[str, bytes] = {file.name: file.read_bytes()}
    size = 0
    for path in _visible(file.parent):
        size += path.stat().st_size
        if size > _CONTROL_BYTES:
            raise SweepError(
                f"{file.parent}: over {_CONTROL_BYTES >> 20} MB, and all of it travels with the controller; "
                "put that and what it reads into a folder of its own"
            )
        files[str(path.relative_to(file.parent))] = path.read_bytes()
    return files


def _visible(folder: Path) -> Sequence[Path]:
    found = []
    for root, folders, names in os.walk(folder):
        # The results of sweeps are no part of a controller.
        folders[:] = [
            name
            for name in folders
            if not name.startswith((".", "__pycache__")) and not (Path(root, name) / "sweep.json").exists()
        ]
        found += [Path(root, name) for name in names if not name.startswith(".") and Path(root, name).is_file()]
    return found
