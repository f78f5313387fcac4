"""What tracking pairs costs beside the physics, measured in one run."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.registry import open_engines
from contact_viewer.engines.steps import Step
from contact_viewer.events.tracker import ContactTracker
from contact_viewer.mjmodel.pair_selection import PairSelection, all_pairs
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.pace import Pace
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import ViewState

T = TypeVar("T")


def pile(count: int) -> mujoco.MjModel:
    """Boxes that lie on each other, three high."""
    rng = np.random.default_rng(0)
    boxes = ""
    for i in range(count):
        x, y = (0.11 * (i // 4**k % 4) - 0.165 + rng.uniform(-0.02, 0.02) for k in range(2))
        tilt = " ".join(f"{angle:.2f}" for angle in rng.uniform((-9, -9, 0), (9, 9, 90)))
        boxes += (
            f'<body pos="{x:.4f} {y:.4f} {0.06 + 0.11 * (i // 16):.4f}" euler="{tilt}"><freejoint/>'
            f'<geom name="box{i}" type="box" size=".05 .042 .034" mass=".3"/></body>'
        )
    floor = '<geom name="floor" type="plane" size="0 0 .1"/>'
    return mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{floor}{boxes}</worldbody></mujoco>")


def timed(action: Callable[[], object]) -> float:
    start = time.thread_time()
    action()
    return time.thread_time() - start


def measure(nearest: bool) -> float:
    """Time of tracking 100 pairs as a part of the time of a step: the median, as a machine may be busy at times."""
    engine = open_engine(pile(48))
    engine.step(500)
    model, data = engine.model, engine.data
    every = all_pairs(model)
    distances = [mujoco.mj_geomDistance(model, data, int(a), int(b), 10.0, None) for a, b in every.geoms]
    kept = np.argsort(distances)[:100] if nearest else np.linspace(0, len(distances) - 1, 100).astype(int)
    labels = tuple(every.labels[i] for i in kept)
    tracker = ContactTracker(engine, PairSelection(every.source, every.geoms[kept], labels, 100, every.able[kept]))
    times = np.array([(timed(engine.step), timed(lambda: tracker.after_step(Step(engine)))) for _ in range(600)])
    assert len(tracker.pairs.labels) == 100
    assert tracker.pairs.events.in_contact.any()
    step, following = np.median(times, axis=0)
    print(f"step {1e6 * step:.0f} us, 100 {'nearest ' * nearest}pairs {1e6 * following:.0f} us: {following / step:.1%}")
    return float(following / step)


@pytest.mark.alone
def test_tracking_100_pairs_costs_less_than_a_fifth_of_a_step() -> None:
    assert any(measure(nearest=False) < 0.2 for _ in range(3))


@pytest.mark.alone
def test_even_the_100_nearest_pairs_cost_less_than_a_third() -> None:
    # Two thirds of them are in contact, and most of the others look as if they were about to be.
    assert any(measure(nearest=True) < 0.33 for _ in range(3))


class Meter:
    """Counts the processor time of what slides and creeps, inside of a run: the difference of two runs is too rough."""

    def __init__(self, tracker: ContactTracker, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spent, self._calls, self._inside = 0.0, 0, False
        nothing = self.counted(lambda: None)
        for _ in range(2000):
            nothing()
        self._own = self.spent / 2000
        for name in ("_look", "_decide"):
            monkeypatch.setattr(tracker, name, self.counted(getattr(tracker, name)))

    def counted(self, action: Callable[..., T]) -> Callable[..., T]:
        def count(*arguments: object) -> T:
            if self._inside:
                return action(*arguments)
            self._inside, start = True, time.thread_time()
            try:
                return action(*arguments)
            finally:
                self._inside, self.spent = False, self.spent + time.thread_time() - start
                self._calls += 1

        return count

    def part(self, action: Callable[[], object]) -> float:
        """Return the time counted during an action, as a part of the rest of it."""
        self.spent, self._calls = 0.0, 0
        whole = timed(action)
        spent = self.spent - self._calls * self._own
        return spent / (whole - spent)


@pytest.mark.alone
@pytest.mark.parametrize("scene", ["quadruped", "walker", "pile"])
def test_to_find_what_slides_and_creeps_adds_at_most_a_tenth_to_events(
    scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engines(find_scene(scene), "mujoco", 1)[0]
    simulation = Simulation(engine)
    tracker = ContactTracker(engine, follow_sensors=False, limit=None)
    simulation.observers.append(tracker)
    meter = Meter(tracker, monkeypatch)

    def run() -> None:
        # The same steps each time.
        simulation.reset()
        for _ in range(round((3 if scene == "pile" else 20) / engine.timestep / 50)):
            simulation.step(50)
        assert tracker.log is not None

    run()
    parts = sorted(meter.part(run) for _ in range(5))
    print(f"{scene}: what slides and creeps adds {', '.join(f'{part:.1%}' for part in parts)} to events")
    assert parts[0] < 0.1


@pytest.mark.alone
@pytest.mark.parametrize("scene", ["quadruped", "pile"])
def test_states_and_sentences_add_at_most_a_tenth_to_the_session_of_a_running_window(
    scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, rate = 0, 60

    def clock() -> float:
        # A frame takes no time: all of them come one after the other, and each 1/60 s after the last.
        return frames / rate

    monkeypatch.setattr("contact_viewer.events.tracker.monotonic", clock)
    monkeypatch.setattr("contact_viewer.session.session.monotonic", clock)
    session = Session(open_engine(scene), ViewState())
    session.track_events()
    session.pace = Pace(clock=clock)
    assert session.events is not None
    meter, said = Meter(session.events, monkeypatch), list[str]()
    reasons, names = meter.counted(session.reasons), session.engine.sensors.names

    def run() -> None:
        nonlocal frames
        for _ in range((1 if scene == "pile" else 5) * rate):
            frames += 1
            session.advance(math.inf)
            for name in names:
                session.reading(name)
            # The table of contacts reads them in any case.
            session.details(names[0])
            said.extend(reasons(names[0]))
            assert session.events is not None
            assert session.events.log is not None

    run()
    parts = sorted(meter.part(run) for _ in range(5))
    print(f"{scene}: states and sentences add {', '.join(f'{part:.1%}' for part in parts)} to a session")
    assert said or scene == "pile"
    assert parts[0] < 0.1


@pytest.mark.alone
@pytest.mark.parametrize("scene", ["ant", "hopper", "quadruped"])
def test_events_of_a_scene_without_sensors_cost_at_most_two_times_the_steps(scene: str, tmp_path: Path) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    assets = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    path = find_scene(scene) if scene == "quadruped" else assets / f"{scene}.xml"
    tree = ElementTree.parse(path)
    for sensor in tree.getroot().findall("sensor"):
        tree.getroot().remove(sensor)
    tree.write(tmp_path / path.name)

    def ratio() -> float:
        spent = []
        for known in (False, True):
            engine = open_engines(tmp_path / path.name, "mujoco", 1)[0]
            simulation = Simulation(engine)
            if engine.keys:
                simulation.reset(engine.keys[0])
            tracker = ContactTracker(engine, follow_sensors=False, limit=None)
            simulation.observers.append(tracker)

            def bare(data: mujoco.MjData = engine.data, model: mujoco.MjModel = engine.model) -> None:
                for _ in range(round(15 / model.opt.timestep)):
                    mujoco.mj_step(model, data)

            def ours(simulation: Simulation = simulation, tracker: ContactTracker = tracker) -> None:
                for _ in range(round(0.3 / simulation.engine.timestep)):
                    simulation.step(50)
                assert tracker.log is not None

            spent.append(timed(ours if known else bare))
        print(f"{scene}: events cost {spent[1] / spent[0]:.2f} times the steps")
        return spent[1] / spent[0]

    assert any(ratio() < 2.0 for _ in range(3))
