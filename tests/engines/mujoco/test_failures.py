"""What goes wrong inside MuJoCo is told with time and name, and leaves the last good step."""

import math
from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import EngineError, UnstableError
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

SCENE = """
<mujoco>
  <size memory="{memory}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="calm" pos="0 0 .1"><freejoint/><geom name="calm" type="box" size=".1 .1 .1"/></body>
    <body name="wild" pos="1 0 1"><joint name="wild" type="slide" axis="0 0 1"/><geom size=".1" contype="0"/></body>
    {more}
  </worldbody>
  <actuator><motor name="engine" joint="wild"/></actuator>
  <sensor><contact name="c" geom1="floor" num="4"/></sensor>
</mujoco>"""
FALLING = "".join(
    f'<body pos="{i % 5} {i // 5 + 1} {0.3 + 0.05 * i}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    for i in range(20)
)


def open_session(tmp_path: Path, memory: str = "1M", more: str = "") -> Session:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(memory=memory, more=more))
    session = Session(open_engine(path), ViewState())
    session.track_events()
    return session


@pytest.mark.parametrize(
    ("ruin", "words"),
    [
        (lambda data: data.qvel.__setitem__(6, 1e12), "first in the velocity of wild"),
        (lambda data: data.qvel.__setitem__(2, np.nan), "first in the velocity of calm"),
        (lambda data: data.qpos.__setitem__(7, math.inf), "first in the position of wild"),
        (lambda data: data.xfrc_applied.__setitem__((2, 2), 1e300), "first in the acceleration of wild"),
    ],
)
def test_the_body_that_diverges_is_named_and_the_last_good_step_shown(tmp_path: Path, ruin, words: str) -> None:  # type: ignore[no-untyped-def]
    session = open_session(tmp_path)
    session.take_steps(100)
    good = session.engine.data.qpos.copy()
    ruin(session.engine.data)
    session._attempt(lambda: session.take_steps(5))
    assert session.paused
    assert session.trouble is not None
    assert words in session.trouble
    assert "after 0.200 s" in session.trouble
    assert session.history is not None
    assert session.history.last == session.history.current == 100
    np.testing.assert_array_equal(session.engine.data.qpos, good)


def test_an_engine_without_history_names_the_body_too(tmp_path: Path) -> None:
    engine = open_session(tmp_path).simulation.engine
    engine.step(10)
    engine.data.qvel[6] = 1e12
    with pytest.raises(UnstableError, match=r"after 0\.020 s, first in the velocity of wild; MuJoCo reset it"):
        engine.step()


def test_memory_that_runs_out_in_a_step_stops_the_run_not_the_window(tmp_path: Path) -> None:
    session = open_session(tmp_path, "64K", FALLING)
    while not session.paused and session.engine.time < 3:
        session._attempt(lambda: session.take_steps(7))
    assert session.trouble is not None
    assert "memory" in session.trouble
    assert "\n" not in session.trouble
    time, state = session.engine.time, session.engine.data.qpos.copy()
    assert 0 < time < 3
    assert np.isfinite(state).all()
    # Trying again tells it again; what was before can still be shown, and goes on as it did.
    session.trouble, session.paused = None, False
    for _ in range(20):
        session._attempt(lambda: session.take_steps(7))
    assert session.paused
    session.go_to(10)
    assert session.engine.time == pytest.approx(0.02)
    session.reading("c")
    session.take_steps(5)
    assert session.engine.time == pytest.approx(0.03)


def test_an_engine_without_history_tells_full_memory_too(tmp_path: Path) -> None:
    engine = open_session(tmp_path, "64K", FALLING).simulation.engine
    with pytest.raises(EngineError, match=r"MuJoCo failed at \d"):
        engine.step(1500)


def test_contacts_that_do_not_fit_pause_once(tmp_path: Path) -> None:
    """A pile on one spot: MuJoCo drops the contacts beyond its memory and goes on."""
    pile = "".join(
        f'<body pos="0 0 {0.4 + 0.01 * i}"><freejoint/><geom size=".1" condim="1"/></body>' for i in range(60)
    )
    session = open_session(tmp_path, "120K", pile)
    session._attempt(lambda: session.take_steps(2))
    assert session.trouble == (
        'MuJoCo dropped contacts: its memory of 0.123 MB is full; give <size memory="..."/> more, by 0.004 s'
    )
    assert session.paused
    session.trouble = None
    session._attempt(lambda: session.take_steps(2))
    assert session.trouble is None or "dropped contacts" not in session.trouble


def test_a_control_that_is_no_number_is_named_and_reported_again_after_a_reset(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    for _ in range(2):
        session.take_steps(10)
        session.engine.data.ctrl[0] = np.nan
        session._attempt(lambda: session.take_steps(1))
        assert session.trouble == (
            "the control of engine was not a finite number, and MuJoCo set all controls to 0, by 0.022 s"
        )
        assert session.paused
        session.trouble = None
        session._attempt(lambda: session.take_steps(1))
        assert session.trouble is None
        session.reset()
