"""What our loop adds to a physics step, with and without history and events."""

from collections.abc import Callable
from functools import partial

import mujoco
from contact_viewer import open_engine
from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.engines.files.loading import find_scene
from contact_viewer.engines.following.tracking import ContactTracker
from contact_viewer.session import Session
from contact_viewer.settings import ViewState

from .measuring import Measured, Row, seconds, take_turns
from .run import Run

BARE = "bare mj_step loop"
_SCENES = ("quadruped", DEFAULT_SCENE, "pile")
"""A robot; one box, where every microsecond shows; a bin with over a hundred contacts, some of which begin or end in
every step."""
_GOALS = {"off": 1 / 1.1, "on": 1 / 1.3}


def step_overhead(run: Run) -> list[Row]:
    rows = []
    for scene in _SCENES:
        measured = _measure(run, scene)
        for case, goal in _GOALS.items():
            ours, bare = measured.figures[case], measured.figures[BARE]
            what = f"{scene}, history and events {case}"
            rows.append(Row("step-overhead", what, BARE, "µs/step", ours, bare, goal))
    return rows


def _measure(run: Run, scene: str) -> Measured:
    count = run.sized(500, 5)
    path = find_scene(scene)
    # As its owner has it, without our companion sensors.
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    plain, watched = (Session(open_engine(path), ViewState()) for _ in range(2))
    plain.timeline = None
    watched.watchers.append(ContactTracker(watched.engine))

    def step_bare(count: int) -> None:
        for _ in range(count):
            mujoco.mj_step(model, data)

    works: dict[str, Callable[[int], object]] = {"off": plain._step, "on": watched._step, BARE: step_bare}
    # All start alike and take as many steps, so that they are always at the same instant of the same motion. First so
    # many that the history has grown to its size: memory that nobody used before costs more than the steps do.
    assert watched.timeline is not None
    for work in works.values():
        work(run.sized(watched.timeline.capacity, 5))
    return take_turns({name: partial(_microseconds, work, count) for name, work in works.items()}, run.sized(9, 1))


def _microseconds(work: Callable[[int], object], count: int) -> float:
    """Time of one of so many steps."""
    return 1e6 * seconds(partial(work, count)) / count
