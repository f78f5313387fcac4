"""What sweeps cost: figures of every sensor beyond bare physics, a second worker, and Ray."""

import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import mujoco
from contact_viewer.mjmodel.variation import StartNoise, generator
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.sweeps.plan import Plan
from contact_viewer.sweeps.result_store import ResultStore
from contact_viewer.sweeps.results import Results
from contact_viewer.sweeps.sweep import ExecutionOptions, make_plan, run_sweep
from contact_viewer.sweeps.task import Task

from .measuring import OURS, Row, Unavailable, take_turns
from .run import Run
from .stepping import BARE

_SCENE = "quadruped"
_NOISE = "qpos=0.01"
_numbers = count()


def sweep_overhead(run: Run) -> list[Row]:
    """Steps a second of runs with following, figures and the finished table, in one process."""
    runs, duration = run.sized((20, 5.0), (2, 0.05))
    plan = make_plan([_SCENE], range(runs), duration, noise=_NOISE)
    task = Task(plan, lambda number: open_safely(plan.scenes[number]))
    model = mujoco.MjModel.from_xml_path(str(find_scene(_SCENE)))
    data = mujoco.MjData(model)
    steps = round(duration / model.opt.timestep)

    def ours() -> None:
        results = Results(_store(run), plan, {"plan": {}, "files": {}}, resume=False)
        for each in plan.runs():
            results.add(task.run(each))
        results.finish({})
        results.close()

    def bare() -> None:
        noise = StartNoise(qpos=0.01)
        for seed in plan.seeds:
            mujoco.mj_resetData(model, data)
            noise.apply(model, data, generator(seed, "noise", 0, 0))
            for _ in range(steps):
                mujoco.mj_step(model, data)

    ours()
    works = {OURS: partial(_rate, ours, runs * steps), BARE: partial(_rate, bare, runs * steps)}
    measured = take_turns(works, run.sized(5, 1))
    case = f"{runs} runs of {_SCENE}, {duration:g} s each: steps, figures of all sensors, table"
    return [measured.row("sweep-overhead", case, BARE, "steps/s", goal=1 / 1.35, higher_is_better=True)]


def sweep_workers(run: Run) -> list[Row]:
    """Runs a second of two workers, from the command to the table, against one."""
    runs, duration = run.sized((8, 150.0), (2, 0.02))
    plan = make_plan([_SCENE], range(runs), duration, noise=_NOISE)
    works = {
        OURS: partial(_sweep_rate, run, plan, ExecutionOptions(workers=2)),
        "one worker": partial(_sweep_rate, run, plan, ExecutionOptions(workers=1)),
    }
    measured = take_turns(works, run.sized(3, 1))
    case = f"two workers, {runs} runs of {_SCENE}, {duration:g} s each, with the start of the processes"
    return [measured.row("sweep-workers", case, "one worker", "runs/s", goal=1.7, higher_is_better=True)]


def sweep_ray(run: Run) -> list[Row]:
    """Runs a second of two processes of a Ray cluster of this machine, in tasks of 10 s, against two of our own."""
    runs, duration = run.sized((600, 20.0), (2, 0.02))
    plan = make_plan([_SCENE], range(runs), duration, noise=_NOISE)

    def on_ray() -> float:
        if run.tiny:
            raise Unavailable("a cluster takes longer to start than all other benchmarks")
        import ray

        ray.init(
            address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False
        )
        try:
            return _sweep_rate(run, plan, ExecutionOptions(workers=2, ray=""))
        finally:
            ray.shutdown()

    works: dict[str, Any] = {
        OURS: partial(_sweep_rate, run, plan, ExecutionOptions(workers=2)),
        "Ray, 10 s tasks": on_ray,
    }
    measured = take_turns(works, run.sized(2, 1))
    case = f"two workers, {runs} runs of {_SCENE}, {duration:g} s each; the start of the cluster is not counted"
    return [measured.row("sweep-ray", case, "Ray, 10 s tasks", "runs/s", higher_is_better=True)]


def _store(run: Run) -> ResultStore:
    return ResultStore(run.folder / f"sweep-{next(_numbers)}")


def _sweep_rate(run: Run, plan: Plan, execution: ExecutionOptions) -> float:
    start = time.perf_counter()
    outcome = run_sweep(plan, _store(run), execution)
    if outcome.failed:
        raise RuntimeError(outcome.first_failure)
    return outcome.runs / (time.perf_counter() - start)


def _rate(work: Callable[[], None], steps: int) -> float:
    start = time.perf_counter()
    work()
    return steps / (time.perf_counter() - start)
