"""What our loop adds to a physics step, with and without history and events."""

from collections.abc import Callable
from typing import Any

import mujoco
from contact_viewer import open_engine
from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.engines.distances import PairDistances
from contact_viewer.engines.loading import find_scene
from contact_viewer.engines.run import MujocoRun
from contact_viewer.engines.watched_pairs import pairs_of_sensors
from contact_viewer.sensors.events import ContactEvents
from contact_viewer.session import Session
from contact_viewer.settings import ViewState

from .measuring import OURS, Row, seconds, take_turns
from .run import Run

BARE = "bare mj_step loop"
_SCENES = (DEFAULT_SCENE, "pile")
"""A small scene, where every microsecond shows, and one with over a hundred contacts."""


def step_overhead(run: Run) -> list[Row]:
    return [row for scene in _SCENES for row in _rows(run, scene)]


def _rows(run: Run, scene: str) -> list[Row]:
    count, repeats = run.sized(500, 5), run.sized(9, 1)
    path = find_scene(scene)
    # As its owner has it, without our companion sensors.
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    session = Session(open_engine(path), ViewState())
    history = MujocoRun(open_engine(path))
    follow = _event_tracking(history)

    def step_bare() -> None:
        for _ in range(count):
            mujoco.mj_step(model, data)

    def timed(steps: Callable[[], object]) -> Callable[[], float]:
        return lambda: 1e6 * seconds(steps) / count

    # All start alike and take as many steps, so that they are always at the same instant of the same motion.
    off = {OURS: timed(lambda: session._step(count)), BARE: timed(step_bare)}
    both = {"off": off[OURS], "on": timed(lambda: history.step(count, follow)), BARE: off[BARE]}
    measured = take_turns(both, repeats)
    rows = []
    for case, goal in (("off", 1 / 1.1), ("on", 1 / 1.3)):
        rows.append(
            Row(
                "step-overhead",
                f"{scene}, history and events {case}",
                BARE,
                "µs/step",
                measured.figures[case],
                measured.figures[BARE],
                goal=goal,
            )
        )
    return rows


def _event_tracking(history: MujocoRun) -> Callable[[], None]:
    """What follows the pairs of a scene's sensors after each step."""
    engine = history.engine
    chosen = pairs_of_sensors(engine.model)
    distances = PairDistances(engine.model, chosen.geoms)
    events = ContactEvents(chosen.labels)
    # After a step, positions are those of its end and contacts those of its start: events need both of one instant.
    instant: Any = mujoco.MjData(engine.model)

    def follow() -> None:
        mujoco.mj_copyData(instant, engine.model, engine.data)
        distances.measure(instant, events.in_contact)
        events.update(instant.time, distances.distances, distances.velocities)

    return follow
