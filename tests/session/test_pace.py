"""Pace: real time with a clock that the test turns."""

import pytest
from contact_viewer.session.pace import Pace


class World:
    """A clock, and physics that costs time on it."""

    def __init__(self, step_cost: float = 0.0) -> None:
        self.now = 100.0
        self.steps = 0
        self.step_cost = step_cost

    def step(self, count: int) -> None:
        self.steps += count
        self.now += count * self.step_cost

    def run(self, pace: Pace, seconds: float, frame: float = 1 / 60, timestep: float = 0.002) -> None:
        end = self.now + seconds
        while self.now < end - 1e-9:
            begun = self.now
            pace.advance(self.step, timestep, budget=0.025)
            self.now = max(self.now, begun + frame)


@pytest.mark.parametrize("speed", [0.01, 0.1, 1.0, 2.5, 10.0])
@pytest.mark.parametrize("frame", [1 / 20, 1 / 60, 1 / 144])
def test_simulated_time_follows_the_wall(speed: float, frame: float) -> None:
    world = World()
    pace = Pace(speed, lambda: world.now)
    world.run(pace, 10.0, frame)
    assert world.steps * 0.002 == pytest.approx(10.0 * speed, abs=frame * speed + 0.003)
    assert pace.achieved == pytest.approx(speed, rel=0.1)
    assert not pace.behind


def test_a_slow_machine_stays_responsive_and_says_so() -> None:
    world = World(step_cost=0.01)
    pace = Pace(1.0, lambda: world.now)
    longest = 0.0
    for _ in range(100):
        begun = world.now
        pace.advance(world.step, 0.002, budget=0.025)
        longest = max(longest, world.now - begun)
        world.now += 0.005
    assert longest < 0.05
    assert pace.behind
    # One step of 2 ms takes 10 ms, and a third of the time goes to drawing.
    assert 0.1 < pace.achieved < 0.2


def test_a_step_longer_than_the_budget_still_advances() -> None:
    world = World(step_cost=0.3)
    pace = Pace(1.0, lambda: world.now)
    world.run(pace, 3.0)
    assert world.steps >= 9


def test_a_pause_is_not_made_up_for() -> None:
    world = World()
    pace = Pace(1.0, lambda: world.now)
    world.run(pace, 1.0)
    before = world.steps
    pace.restart()
    world.now += 60.0
    world.run(pace, 1.0)
    assert world.steps - before == pytest.approx(500, abs=10)


def test_a_suspended_machine_does_not_make_it_jump() -> None:
    world = World()
    pace = Pace(1.0, lambda: world.now)
    world.run(pace, 1.0)
    before = world.steps
    world.now += 3600.0
    pace.advance(world.step, 0.002, 0.025)
    assert world.steps - before <= 125


def test_a_timestep_of_zero_takes_no_steps() -> None:
    world = World()
    pace = Pace(1.0, lambda: world.now)
    world.run(pace, 1.0, timestep=0.0)
    assert world.steps == 0
