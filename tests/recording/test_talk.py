"""Films for an audience: large total forces and cones, few words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contact_viewer.app.recorder import Recorder
from contact_viewer.engines.registry import open_engine
from contact_viewer.recording.overlay import Overlay
from contact_viewer.recording.talk import force_labels, force_words, talk_gizmos
from contact_viewer.render.style import palette_colors
from contact_viewer.session.layers import session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import VideoStyle, ViewState
from PIL import Image

from .judges import color_counts, record

SIZE = (640, 480)
TWO_BOXES = """<mujoco><worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="2 2 .1"/>
<body pos="0 -.6 .03"><freejoint/><geom name="one" type="box" size=".03 .03 .03" mass="2"/></body>
<body pos="0 .6 .03"><freejoint/><geom name="two" type="box" size=".03 .03 .03" mass="5"/></body></worldbody>
<sensor><contact name="one" geom1="floor" geom2="one" num="4" data="found force pos normal tangent"/>
<contact name="again" geom1="floor" geom2="one" num="4" data="found force pos normal tangent"/>
<contact name="two" geom1="floor" geom2="two" num="4" data="found force pos normal tangent"/></sensor></mujoco>"""


def test_a_talk_has_large_total_forces_and_a_small_legend(tmp_path: Path) -> None:
    pictures = {}
    for style in ("debug", "talk"):
        options: tuple[object, ...] = (
            "--style",
            style,
            "--size",
            "640x480",
            "--start",
            0.5,
            "--duration",
            0.1,
            "--fps",
            10,
        )
        options += ("--quality", "low")
        assert record("slope", "-o", tmp_path / f"{style}.png", *options).returncode == 0
        pictures[style] = np.asarray(Image.open(tmp_path / f"{style}.png"))
    debug, talk = (color_counts(pictures[style]) for style in ("debug", "talk"))
    assert debug["green"] > 300
    # No components: neither arrows nor marks in the legend. (Orange counts as red.)
    assert max(talk["green"], talk["blue"]) < 20
    red, green, blue = (pictures["talk"][..., i].astype(int) for i in range(3))
    assert np.count_nonzero((red > 200) & (green > 120) & (blue < 80)) > 2 * debug["green"]
    # The title is in the upper left corner, where the other has the scene.
    assert (pictures["talk"][16:40, 16:70].min(axis=2) > 200).sum() > 30
    assert (pictures["debug"][16:40, 16:70].min(axis=2) > 200).sum() == 0


def test_forces_are_written_beside_their_bodies_once(tmp_path: Path) -> None:
    """Two boxes of 2 and 5 kg at rest, one of them watched by two sensors."""
    (tmp_path / "boxes.xml").write_text(TWO_BOXES)
    session = Session(open_engine(tmp_path / "boxes.xml"), ViewState(), keeps_history=False)
    session.simulation.step(500)
    session_glyphs(session)
    labels = force_labels(session, SIZE)
    assert [force for *_, force, _ in labels] == pytest.approx([5 * 9.81, 2 * 9.81], rel=0.01)
    eye = session.usual_eye
    for (x, y, *_), place in zip(labels, ((0, 0.6, 0), (0, -0.6, 0)), strict=True):
        pixel, _ = eye.matrices.project(np.array([place], float), eye.viewport)
        width, height = eye.viewport[2:]
        expected = pixel[0, 0] * SIZE[0] / width, (height - pixel[0, 1]) * SIZE[1] / height
        assert np.hypot(x - expected[0], y - expected[1]) < 60


def test_forces_are_left_out_where_there_is_no_room(tmp_path: Path) -> None:
    (tmp_path / "boxes.xml").write_text(TWO_BOXES)
    session = Session(open_engine(tmp_path / "boxes.xml"), ViewState(), keeps_history=False)
    session.simulation.step(500)
    session_glyphs(session)
    overlay = Overlay(session, SIZE, style=VideoStyle.TALK)
    grey = np.full((SIZE[1], SIZE[0], 3), 150, np.uint8)
    whole = (0.0, 0.0, float(SIZE[0]), float(SIZE[1]))
    np.testing.assert_array_equal(overlay._write_forces(grey, 0.0, [whole]), grey)
    assert (overlay._write_forces(grey, 0.0, []) != grey).sum() > 200


@pytest.mark.parametrize(
    ("force", "text"), [(0.012, "12 mN"), (4.25, "4.2 N"), (49.05, "49 N"), (999.0, "999 N"), (12345.0, "12.3 kN")]
)
def test_forces_have_a_unit_and_few_digits(force: float, text: str) -> None:
    assert force_words(force) == text


def test_after_a_recording_for_a_talk_the_window_is_as_before(tmp_path: Path) -> None:
    session = Session(open_engine("slope"), ViewState())
    before = session.settings.to_json()
    recorder = Recorder()
    recorder.start(tmp_path / "a.mp4", SIZE, session, with_panels=False, style=VideoStyle.TALK)
    gizmos = session.settings.gizmos
    assert (gizmos.total, gizmos.cones, gizmos.normal, gizmos.tangents) == (True, True, False, False)
    picture = np.full((SIZE[1], SIZE[0], 3), 150, np.uint8)
    recorder.take_picture(lambda: picture.copy(), whole_window=False, time=0.0)
    recorder.stop()
    assert session.settings.to_json() == before
    assert recorder.close()[1] == []


def test_the_legend_names_the_states_of_cones_that_were_shown() -> None:
    session = Session(open_engine("slope"), ViewState())
    session.settings.gizmos = talk_gizmos(session.settings.gizmos)
    glyphs = session_glyphs(session)
    widths, overlay = [], Overlay(session, (1280, 720), style=VideoStyle.TALK)
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    for states in ((), ("sticking",), ("sticking", "creeping"), ("creeping",)):
        cones = np.zeros((len(states), 20), np.float32)
        cones[:, 16:] = np.reshape([getattr(colors, state) for state in states], (-1, 4))
        overlay.follow(replace(glyphs, cones=cones))
        grey = np.full((720, 1280, 3), 150, np.uint8)
        widths.append(int((overlay.compose(grey.copy(), 0.0)[20:30] != grey[20:30]).any(axis=(0, 2)).sum()))
    # What was shown stays; nothing is named twice.
    assert widths[0] < widths[1] < widths[2] == widths[3]


@pytest.mark.parametrize(("height", "is_low"), [(0.05, False), (1.0, True)])
def test_the_legend_leaves_the_top_to_what_moves_there(height: float, is_low: bool, tmp_path: Path) -> None:
    box = f'<body pos="0 0 {height}"><freejoint/><geom type="box" size=".6 .6 .04"/></body>'
    ball = '<body pos="0 0 .4"><freejoint/><geom size=".05"/></body>'
    (tmp_path / "box.xml").write_text(
        f'<mujoco><worldbody><light pos="0 0 3"/><geom type="plane" size="2 2 .1"/>{box}{ball}</worldbody></mujoco>'
    )
    session = Session(open_engine(tmp_path / "box.xml"), ViewState(), keeps_history=False)
    session.watch_without_sensors()
    session.settings.gizmos = talk_gizmos(session.settings.gizmos)
    session.view.look_at((0, 0, 0.5), 1.6, 90, 0)
    session_glyphs(session)
    grey = np.full((480, 900, 3), 150, np.uint8)
    changed = (Overlay(session, (900, 480), style=VideoStyle.TALK).compose(grey.copy(), 0.0) != grey).any(axis=2)
    assert [changed[rows, :450].any() for rows in (slice(0, 80), slice(-80, None))] == [not is_low, is_low]


def test_the_legend_is_one_line_beside_the_title_where_it_has_room() -> None:
    session = Session(open_engine("slope"), ViewState())
    session.settings.gizmos = talk_gizmos(session.settings.gizmos)
    for width, is_row in ((1280, True), (340, False)):
        grey = np.full((720, width, 3), 150, np.uint8)
        overlay = Overlay(session, (width, 720), style=VideoStyle.TALK, title="A title")
        changed = (overlay.compose(grey.copy(), 0.0) != grey).any(axis=2)
        below = changed[100:, : width // 2]
        assert below.any() == (not is_row)
        assert changed.mean() < (0.04 if is_row else 0.12)
