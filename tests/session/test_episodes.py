"""Episodes of a run: what stays of each after a reset, and how to get there."""

from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.channels.channel import ChannelName, Samples
from contact_viewer.session.saved_run import RunSaver
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState


def run_episodes(scene: str, lengths: tuple[int, ...]) -> tuple[Session, list[list[bytes]]]:
    """A session that took some steps, a reset before each count but the first; rows and states after each step."""
    session = Session(open_engine(scene), ViewState())
    session.track_events()
    seen: list[list[bytes]] = []
    for number, length in enumerate(lengths):
        if number:
            session.reset()
        seen.append([])
        for _ in range(length):
            session.engine.data.ctrl[:] = 0.1 * number
            session.take_steps(1)
            seen[-1].append(session.engine.row().tobytes() + session.engine.data.qpos.tobytes())
    return session, seen


def now(session: Session) -> bytes:
    return session.engine.row().tobytes() + session.engine.data.qpos.tobytes()


@pytest.mark.parametrize("scene", ["quadruped", "pile"])
def test_every_step_of_each_episode_can_be_returned_to(scene: str) -> None:
    session, seen = run_episodes(scene, (60, 40, 70))
    assert [(each.number, each.steps, each.ending) for each in session.episodes] == [
        (1, 60, "reset"),
        (2, 40, "reset"),
        (3, 70, ""),
    ]
    for number, step in ((1, 60), (1, 3), (2, 17), (3, 41), (2, 40), (1, 59)):
        session.show_episode(number, step)
        assert session.episode_number == number
        assert now(session) == seen[number - 1][step - 1]
    # Its curves and contacts are there too.
    history = session.history
    assert history is not None
    while not history.curves.update():
        pass
    assert history.curves.stop == 61
    # Playing on begins an episode with that state.
    session.take_steps(2)
    assert [each.steps for each in session.episodes] == [60, 40, 70, 2]
    assert session.live


def test_single_steps_and_events_cross_episodes() -> None:
    session, _ = run_episodes("bounce", (400, 300))
    assert session.events is not None
    counts = [len(each.events or ()) for each in session.simulation.episodes]
    assert counts[0] > 0
    session.show_episode(2, 0)
    session.step_back()
    assert session.history is not None
    assert (session.episode_number, session.history.current) == (1, 400)
    session.step_once()
    assert (session.episode_number, session.history.current) == (2, 0)
    session.go_to_event(-1)
    assert session.episode_number == 1
    assert len(session.events.log) == counts[0]
    last = session.events.log.entries[-1]
    assert session.engine.time == pytest.approx(last.seen)
    session.go_to_event(1)
    assert session.episode_number == 2
    assert session.engine.time == pytest.approx(session.events.log.entries[0].seen)


def test_the_oldest_episodes_make_room() -> None:
    session = Session(open_engine("quadruped"), ViewState())
    session.set_history(4.0)
    budget = 4 * 2**20
    for _ in range(200):
        session.reset()
        session.take_steps(50)
        session.advance(0.0)
        live = session.simulation.live_history
        assert live is not None
        kept = session.simulation.episodes
        assert sum(each.history.bytes for each in kept) + live.bytes <= budget or len(kept) <= 1
    assert 5 < len(kept) < 150
    assert session.episode_number == 200
    session.show_episode(kept[0].number, 25)
    assert session.engine.time == pytest.approx(25 * session.engine.timestep)


def test_an_ended_episode_has_its_return_its_channels_and_its_file(tmp_path: Path) -> None:
    session, seen = run_episodes("quadruped", (30, 20))
    session.reset()
    times = np.arange(1.0, 11.0) * session.engine.timestep
    session.take_steps(10)
    for name, values in {"reward": np.full(10, 0.5), "episode/terminated": np.ones(10)}.items():
        session.simulation.live_channels.add(Samples(ChannelName(name), times, values))
    session.reset()
    episode = session.simulation.episodes[-1]
    assert (episode.steps, episode.total, episode.ending) == (10, 5.0, "terminated")
    assert len(session.simulation.channels["reward"]) == 0
    path = RunSaver(session.simulation, tmp_path / "first.cvrun", (), session.simulation.episodes[0]).write()
    again = Session(open_engine(path), ViewState())
    for expected in seen[0]:
        again.simulation.step(1)
        assert now(again) == expected
