"""Pictures on an exact time base: what each frame shows, and that it shows it again."""

from fractions import Fraction
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.registry import open_engine
from contact_viewer.errors import RecordingError, UnstableError
from contact_viewer.recording.encoders import Picture
from contact_viewer.recording.overlay import Overlay
from contact_viewer.recording.scene_frames import SceneFrames, open_renderer
from contact_viewer.recording.schedule import Schedule
from contact_viewer.render.camera import Eye
from contact_viewer.render.style import palette_colors
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import Quality, ViewState

from .judges import BALL, DIVERGING

SIZE = (320, 240)


def open_ball(tmp_path: Path, text: str = BALL) -> Session:
    path = tmp_path / "scene.xml"
    path.write_text(text)
    return Session(open_engine(path), ViewState())


def film(session: Session, schedule: Schedule, overlay: bool = False, orbit: float = 0.0) -> list[Picture]:
    with open_renderer(session, SIZE, Quality.LOW) as renderer:
        over = Overlay(session, SIZE) if overlay else None
        pictures = SceneFrames(session, schedule, renderer, over, orbit=orbit).pictures()
        return [picture.copy() for picture in pictures if picture is not None]


def test_each_frame_shows_the_state_at_its_time(tmp_path: Path) -> None:
    session = open_ball(tmp_path)
    schedule = Schedule.plan(0.002, 0.3, Fraction(60), speed=0.5, start=0.04)
    pictures = film(session, schedule)
    assert len(pictures) == 18
    judge = open_ball(tmp_path)
    with open_renderer(judge, SIZE, Quality.LOW) as renderer:
        for frame, picture in enumerate(pictures):
            # Stepped by MuJoCo alone, until one more step would be too late.
            time = Fraction(4, 100) + Fraction(frame, 60) / 2
            count = 0
            mujoco.mj_resetData(judge.engine.model, judge.engine.data)
            mujoco.mj_forward(judge.engine.model, judge.engine.data)
            while (count + 1) * Fraction(2, 1000) <= time:
                mujoco.mj_step(judge.engine.model, judge.engine.data)
                count += 1
            judge.forget()
            matrices = judge.view.matrices(judge.engine.model, judge.engine.data, (0, 0, *SIZE))
            eye = Eye(matrices, (0, 0, *SIZE), 0.5)
            renderer.draw(judge.engine.data, session_glyphs(judge, eye), judge.settings.gizmos)
            np.testing.assert_array_equal(picture, renderer.read())


def test_the_same_film_twice_is_the_same(tmp_path: Path) -> None:
    first, second = (
        film(open_ball(tmp_path), Schedule.plan(0.002, 0.4, Fraction(30)), overlay=True, orbit=30.0) for _ in range(2)
    )
    assert len(first) == 12
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (first[0] != first[-1]).any()


def test_orbit_turns_the_camera_by_degrees_per_second(tmp_path: Path) -> None:
    session = open_ball(tmp_path)
    azimuth = session.view.camera.azimuth
    film(session, Schedule.plan(0.002, 2.0, Fraction(5)), orbit=20.0)
    assert session.view.camera.azimuth - azimuth == pytest.approx(20.0 * 9 / 5)


def test_observers_see_every_step_once(tmp_path: Path) -> None:
    session = open_ball(tmp_path)
    schedule = Schedule.plan(0.002, 0.2, Fraction(25), speed=0.3, start=0.1)
    seen: list[tuple[int, float, float]] = []

    def observe(step: int, time: float) -> None:
        seen.append((step, time, session.engine.time))

    with open_renderer(session, SIZE, Quality.LOW) as renderer:
        list(SceneFrames(session, schedule, renderer, calls=[observe]).pictures())
    assert [step for step, _, _ in seen] == list(range(50, schedule.last_step + 1))
    assert all(time == pytest.approx(step / 500, abs=1e-12) for step, time, _ in seen)
    assert [own for _, own, _ in seen] == [engine for _, _, engine in seen]


def test_time_goes_on_from_a_keyframe(tmp_path: Path) -> None:
    session = open_ball(tmp_path)
    session.reset("later")
    times: list[float] = []
    schedule = Schedule.plan(0.002, 0.02, Fraction(500))
    with open_renderer(session, SIZE, Quality.LOW) as renderer:
        list(SceneFrames(session, schedule, renderer, calls=[lambda _, time: times.append(time)]).pictures())
    np.testing.assert_allclose(times, 2.5 + 0.002 * np.arange(10), rtol=0, atol=1e-12)


def test_a_diverging_scene_ends_the_film_at_its_time(tmp_path: Path) -> None:
    session = open_ball(tmp_path, DIVERGING)
    with open_renderer(session, SIZE, Quality.LOW) as renderer:
        pictures = SceneFrames(session, Schedule.plan(0.01, 20.0, Fraction(1, 10)), renderer).pictures()
        with pytest.raises(UnstableError, match=r"after 0\.4\d0 s"):
            list(pictures)


def test_a_size_that_cannot_be_drawn_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"1000000 x 10 pixels is too large"):
        open_renderer(open_ball(tmp_path), (1_000_000, 10), Quality.LOW)


@pytest.mark.parametrize("body", ["right_foot", "trunk"])
def test_a_followed_body_stays_in_the_middle_and_is_seen_from_close_by(body: str) -> None:
    session = Session(open_engine("walker"), ViewState(), keeps_history=False)
    engine, view = session.engine, session.view
    far, size = float(view.camera.distance), (0, 0, 640, 480)
    view.follow_body(body, engine.model, engine.data, 640 / 480)
    assert view.camera.distance < 0.9 * far or body == "trunk"
    number = mujoco.mj_name2id(engine.model, mujoco.mjtObj.mjOBJ_BODY, body)
    places = set()
    for _ in range(4):
        session.simulation.step(150)
        pixel, depth = view.matrices(engine.model, engine.data, size).project(engine.data.xpos[number][None], size)
        assert depth[0] > 0
        assert np.hypot(pixel[0, 0] - 320, pixel[0, 1] - 240) < 120
        places.add(tuple(np.round(engine.data.xpos[number], 2)))
    assert len(places) == 4


SLOPE = """<mujoco><option gravity="2.5 0 -9.5"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>
<body pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".05 .05 .05"/></body></worldbody>
<sensor><contact name="held" geom1="floor" geom2="box" num="4"/></sensor></mujoco>"""


def test_cones_of_what_creeps_have_their_colour_in_a_film(tmp_path: Path) -> None:
    session = open_ball(tmp_path, SLOPE)
    session.settings.gizmos.cones = True
    film(session, Schedule.plan(0.002, 1.0, Fraction(5)))
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    eye = Eye(session.view.matrices(session.engine.model, session.engine.data, (0, 0, *SIZE)), (0, 0, *SIZE), 0.5)
    np.testing.assert_allclose(session_glyphs(session, eye).cones[:, 16:19], [colors.creeping[:3]] * 4, atol=1e-6)
