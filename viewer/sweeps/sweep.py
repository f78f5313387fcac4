"""Simulates scenes with seeds, and stores a table of each contact sensor's metrics in every run."""

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engines.controller_file import ControllerFile
from ..files import hash_of
from ..mjmodel.variation import read_randomisation
from ..processes import import_extra
from ..scene_files.scene import find_scene
from .local_workers import run_locally
from .plan import Plan, SweepError, check_seeds, read_seeds
from .ray_workers import run_on_ray
from .result_store import ResultStore, is_remote, open_store, without_password
from .results import METRICS_FILE, Results
from .scene_store import SceneStore, scene_hashes
from .task import RunResult

if TYPE_CHECKING:
    import pyarrow

_PACKAGES = ("contact-viewer", "mujoco", "numpy", "pyarrow", "ray")


@dataclass(frozen=True)
class ExecutionOptions:
    """Options of how the runs of a sweep are simulated; none of them changes a result."""

    workers: int = 0
    """Number of processes on this machine; 0 for one per core."""
    ray: str | None = None
    """Address of a Ray cluster; empty for RAY_ADDRESS or a cluster on this machine; None to use no Ray."""
    timeout: float | None = None
    """Wall time after which a run is given up [s]."""
    resume: bool = False
    """True to continue the sweep that is in the store."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a sweep."""

    runs: int
    finished: int
    failed: int
    rate: float
    """Number of runs per second that this program simulated."""
    first_failure: str = ""
    """First run that failed, and the reason; one line for a user."""
    lost: str = ""
    """Sentence about results of the resumed sweep that could not be used."""
    notes: tuple[str, ...] = ()
    """Notes for the user about the scenes, such as a varied friction that has no effect."""


Each = Callable[[int, int], bool]
"""Function that is called from time to time with the number of finished and failed runs; False ends the sweep."""


def make_plan(
    scenes: Sequence[str | Path],
    seeds: Sequence[int],
    duration: float,
    control: str | None = None,
    params: Mapping[str, Any] | None = None,
    vary: Sequence[str] = (),
    noise: str | None = None,
    logs: Sequence[str | Path] = (),
    **more: Any,
) -> Plan:
    """Return the plan of a sweep; further options are fields of Plan. Raises SceneError for scenes and files that
    cannot be used."""
    found = [find_scene(scene) for scene in scenes]
    for log in logs:
        if not Path(log).is_file():
            raise SweepError(f"{log}: no such file")
        if control is not None or vary or noise is not None or more.get("key") is not None:
            raise SweepError(
                f"{log}: a log has its own start and controls: leave out --control, --vary, --noise, --key"
            )
    pairs = [(scene, Path(log).absolute()) for scene in found for log in logs]
    plan = Plan(
        tuple(scene for scene, _ in pairs) if logs else tuple(found),
        check_seeds(seeds),
        duration,
        control,
        params=dict(params or {}),
        randomisation=read_randomisation(vary, noise),
        logs=tuple(log for _, log in pairs),
        **more,
    )
    if control is not None:
        # Errors in the file are those of the command, not of a thousand runs.
        file = ControllerFile(control, plan.params)
        file.load()
        file.unload()
        absolute = f"{file.path.absolute()}:{file.name}"
        plan = replace(plan, control=absolute, control_hash=hash_of(file.path))
    return plan


def run_sweep(
    plan: Plan,
    store: ResultStore,
    execution: ExecutionOptions | None = None,
    each: Each = lambda finished, failed: True,
    command: Sequence[str] = (),
) -> Outcome:
    """Simulate all runs and write their metrics into a store; `contact-viewer sweep --help` lists its files.

    Metrics of finished runs are in the store even after an error. Raises SceneError, of which DiskFullError is one.
    """
    import_extra("pyarrow.parquet", "parquet", "sweeps need", SweepError)
    execution = execution or ExecutionOptions()
    began = time.monotonic()
    scenes = SceneStore(plan)
    scenes.check()
    about = _about(plan, command)
    with closing(Results(store, plan, about, execution.resume)) as results:
        failure: RunResult | None = None
        total, before = plan.run_count, results.finished
        pending, count = results.pending(), execution.workers or usable_cores()
        if execution.ray is None:
            runs = run_locally(plan, scenes, pending, count, execution.timeout)
        else:
            runs = run_on_ray(plan, scenes, pending, total - before, execution.ray, count)
        with closing(runs) as source:
            for result in source:
                if result is not None:
                    results.add(result)
                    # The first of the plan, whichever comes first.
                    if result.failure is not None and (failure is None or result.number < failure.number):
                        failure = result
                results.flush(now=False)
                if not each(results.finished, results.failed):
                    break
        seconds = time.monotonic() - began
        rate = (results.finished - before) / seconds
        results.finish({"wall_time": round(seconds, 3), "runs_per_second": round(rate, 4), "ended": _now()})
        first = ""
        if failure is not None:
            run = plan.run(failure.number)
            first = f"{plan.names[run.scene]}, seed {run.seed}: {failure.failure}"
        return Outcome(
            total, results.finished, results.failed, rate, first, "; ".join(results.lost), tuple(scenes.notes)
        )


def sweep(
    scenes: str | Path | Sequence[str | Path],
    seeds: str | int | Sequence[int] = 1,
    duration: float = 5.0,
    output: str | Path | None = None,
    *,
    control: str | None = None,
    params: Mapping[str, Any] | None = None,
    vary: Sequence[str] | str = (),
    noise: str | None = None,
    logs: Sequence[str | Path] = (),
    sensors: Sequence[str] = (),
    watch: Sequence[str] | str = (),
    key: str | None = None,
    contacts: bool = False,
    events: bool = False,
    workers: int = 0,
    ray: str | bool | None = None,
    timeout: float | None = None,
    resume: bool = False,
) -> "pyarrow.Table":
    """Simulate every scene with every seed, and return a table with one row per run and contact sensor.

    The same seed gives the same results bit for bit, whatever the number of processes. Runs that fail are left out
    of the table and reported in one warning.

    Args:
        scenes: Path of a scene file, name of a bundled scene, or several of them.
        seeds: Number of seeds, from 0 on; a text such as `"0:1000"` or `"3,17,20:30"`; or the seeds themselves.
        duration: Simulated time of a run [s]; a log may end earlier.
        output: Folder that keeps the results, or an address such as `s3://bucket/folder`. None keeps them in the
            returned table alone.
        control: Controller `FILE.py[:NAME]`, called before every step; None for none.
        params: Constants of the controller's file, by name; those not given keep their values.
        vary: Random factors that the seed draws, such as `friction=0.5:1.5` or `mass:torso=0.8:1.2`; one or several.
        noise: Standard deviations of the initial state, such as `qpos=0.01,qvel=0.1`; None for none.
        logs: Logs of states to re-simulate in place of simulations; a seed is then the number of a run in its log.
        sensors: Names of the sensors that the table has; all if empty.
        watch: Bodies that get a contact sensor each: `each-body`, or patterns such as `geom:*foot*`; none if empty.
        key: Name or number of the keyframe that runs start from; None for the default state.
        contacts: True to keep the contacts of every step in `output`.
        events: True to keep the begin and end of every contact in `output`.
        workers: Number of processes; 0 for one per core.
        ray: True, or the address of a Ray cluster, to run there; None or False to use processes of this machine.
        timeout: Wall time after which a run is given up [s]; None for no limit. Not used with Ray.
        resume: True to continue an interrupted sweep in `output`.

    Returns:
        Columns `scene`, `seed`, `sensor`, the varied values, and metrics such as `peak_force` [N], `impulse` [N s],
        `contact_time` [s], `touchdowns` and `slip_distance` [m].

    Raises:
        SceneError: A scene, file or option cannot be used, no run finished, or `pyarrow` is not installed.

    Example:
        ```python
        import contact_viewer

        table = contact_viewer.sweep("walker", seeds=100, vary="friction=0.5:1.5")
        print(table.group_by("sensor").aggregate([("peak_force", "max")]))
        ```
    """
    import warnings

    address = ("" if ray else None) if isinstance(ray, bool) else ray
    require_extras("" if output is None else output, address)
    parquet = import_extra("pyarrow.parquet", "parquet", "sweeps need", SweepError)
    names = [scenes] if isinstance(scenes, str | Path) else list(scenes)
    chosen = read_seeds(seeds) if isinstance(seeds, str) else range(seeds) if isinstance(seeds, int) else seeds
    varied = [vary] if isinstance(vary, str) else list(vary)
    watched = (watch,) if isinstance(watch, str) else tuple(watch)
    more = {"sensors": tuple(sensors), "watched": watched, "key": key, "contacts": contacts, "events": events}
    plan = make_plan(names, chosen, duration, control, params, varied, noise, logs, **more)
    execution = ExecutionOptions(workers, address, timeout, resume)
    with (
        tempfile.TemporaryDirectory(prefix="contact-viewer-") as temporary,
        open_store(Path(temporary) if output is None else output) as store,
    ):
        outcome = run_sweep(plan, store, execution)
        if outcome.lost:
            warnings.warn(f"damaged, and simulated again where needed: {outcome.lost}", stacklevel=2)
        if not outcome.finished:
            raise SweepError(f"no run finished: {outcome.first_failure}")
        if outcome.failed:
            warnings.warn(f"{outcome.failed} runs failed; the first: {outcome.first_failure}", stacklevel=2)
        table: pyarrow.Table = parquet.read_table(store.folder / METRICS_FILE, memory_map=False)
        return table


def require_extras(output: str | Path, ray: str | None) -> None:
    """Raise SweepError with one command that installs all missing extras of a cluster and of a remote store."""
    needs = {"ray": ("ray", "pyarrow")} if ray is not None else {}
    needs |= {"fsspec": ("fsspec", "pyarrow")} if is_remote(output) else {}
    if missing := [extra for extra, packages in needs.items() if not all(map(find_spec, packages))]:
        raise SweepError(f"this sweep needs: pip install 'contact-viewer[{','.join(missing)}]'")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _about(plan: Plan, command: Sequence[str]) -> dict[str, Any]:
    """Return the content of sweep.json for a sweep."""
    files = scene_hashes(plan.scenes)
    if plan.control is not None:
        path = plan.control.rpartition(":")[0]
        files[path] = hash_of(Path(path))
    files |= {str(log): hash_of(log) for log in plan.logs}
    seeds = plan.seeds
    return {
        "command": [without_password(word) for word in command],
        "began": _now(),
        "plan": {
            "scenes": dict(zip(plan.names, map(str, plan.scenes), strict=True)),
            "seeds": f"{seeds.start}:{seeds.stop}:{seeds.step}" if isinstance(seeds, range) else list(seeds),
            "duration": plan.duration,
            "control": plan.control,
            "params": {name: repr(value) for name, value in plan.params.items()},
            "vary": [str(variation) for variation in plan.randomisation.variations],
            "noise": None if plan.randomisation.noise is None else str(plan.randomisation.noise),
            "logs": [str(log) for log in plan.logs],
            "sensors": list(plan.sensors),
            "key": plan.key,
            **({"watched": list(plan.watched)} if plan.watched else {}),
            "contacts": plan.contacts,
            "events": plan.events,
        },
        "runs": plan.run_count,
        "files": files,
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "host": platform.node(),
            "executable": sys.executable,
        },
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
