"""The scale of arrows, measured in the pictures of scenes of every size: windows' and recordings'."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.registry import open_engine
from contact_viewer.recording.overlay import Overlay
from contact_viewer.recording.scene_frames import SceneFrames, open_renderer
from contact_viewer.recording.schedule import Schedule, frame_rate
from contact_viewer.render.camera import Eye
from contact_viewer.session.force_scale import DrawnForces, ForceScale, nice_above
from contact_viewer.session.layers import legend_notes, session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, Quality, ScaleMode, ViewState
from numpy.typing import NDArray

from ..scenes import PILLAR

EXTENTS = [0.05, 0.35, 1.0, 100.0]


def rest(tmp_path: Path, extent: float, mass: float, radius: float | None = None) -> Session:
    path = tmp_path / "rest.xml"
    radius = radius or 0.1 * extent
    path.write_text(PILLAR.format(extent=extent, radius=radius, floor=extent, mass=mass, gravity=9.81))
    return Session(open_engine(path), ViewState(), Options(scene=path), keeps_history=False)


def recorded(session: Session, size: tuple[int, int], seconds: float = 0.8) -> NDArray[np.uint8]:
    """The last picture of a recording, legend included."""
    schedule = Schedule.plan(session.engine.timestep, seconds, frame_rate(20), 1.0, 0.0)
    with open_renderer(session, size, Quality.LOW) as renderer:
        film = SceneFrames(session, schedule, renderer, Overlay(session, size))
        pictures = [picture for picture in film.pictures() if picture is not None]
    return np.ascontiguousarray(pictures[-1])


def green_box(picture: NDArray[np.uint8]) -> tuple[int, int]:
    """Width of the shaft and height of what is green outside of the legend [px]."""
    scene = picture[:, picture.shape[1] // 3 : picture.shape[1] * 2 // 3].astype(int)
    green = (scene[..., 1] > scene[..., 0] + 25) & (scene[..., 1] > scene[..., 2] + 25)
    rows = np.flatnonzero(green.any(axis=1))
    middle = green[rows[0] + (rows[-1] - rows[0]) // 2]
    return int(middle.sum()), int(rows[-1] - rows[0] + 1)


def bar_length(picture: NDArray[np.uint8]) -> int:
    """The longest bright row of the legend [px]: the scale bar."""
    corner = picture[picture.shape[0] // 2 :, : picture.shape[1] // 3].min(axis=2) > 140
    return max(max(len(run) for run in "".join("x" if on else " " for on in row).split(" ")) for row in corner)


@pytest.mark.parametrize("size", [(1280, 720), (640, 360), (2560, 1440)])
@pytest.mark.parametrize(("extent", "mass"), [(0.05, 2e-4), (0.35, 0.3), (1.0, 40.0), (100.0, 9e4)])
def test_arrow_and_bar_in_a_recording(tmp_path: Path, extent: float, mass: float, size: tuple[int, int]) -> None:
    if size != (1280, 720) and extent not in (0.05, 100.0):
        pytest.skip("the largest and the smallest scene tell")
    session = rest(tmp_path, extent, mass)
    picture = recorded(session, size)
    shaft, height = green_box(picture)
    unit = max(size[1] / 720, 0.5)
    assert shaft >= 2
    # The ball hides a sphere's radius of it at most; seen at 20 degrees from across, it is cos(20) of its length.
    length = height / math.cos(math.radians(20))
    assert 40 * unit <= length <= 400 * unit
    # The bar's pixels per newton are those of the arrow, which bears the ball's weight.
    bar, force = bar_length(picture), session.scale_bar.force
    assert bar == pytest.approx(100 * unit, abs=2)
    assert nice_above(force) == pytest.approx(force)
    assert length / (mass * 9.81) == pytest.approx(bar / force, rel=0.2)


@pytest.mark.parametrize("elevation", [-65.0, -40.0, 40.0])
def test_an_arrow_towards_the_eye_or_away_from_it_is_as_long_as_the_bar_says(tmp_path: Path, elevation: float) -> None:
    """Perspective makes the tip of an arrow that comes towards the eye larger; its length on screen stays true."""
    session = rest(tmp_path, 1.0, 40.0)
    session.view.camera.elevation = elevation
    session.engine.model.geom("floor").rgba[3] = 0.3
    # The contact's point would hide where the arrow begins.
    session.settings.gizmos.points = False
    picture = recorded(session, (1280, 720))
    _, height = green_box(picture)
    length = height / math.cos(math.radians(elevation))
    assert length / (40.0 * 9.81) == pytest.approx(bar_length(picture) / session.scale_bar.force, rel=0.06)


def test_on_screen_twice_the_force_is_twice_as_long_wherever_it_points() -> None:
    session = Session(open_engine("pile"), ViewState(), keeps_history=False)
    session.simulation.step(400)
    session.forget()
    eye = session.usual_eye
    session_glyphs(session, eye)

    def shown() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
        """Vectors of arrows [m], (n, 3), how they are seen [px], (n, 2), and whose they are."""
        glyphs = session_glyphs(session, eye)
        starts, vectors = glyphs.arrows[:, :3].astype(float), glyphs.arrows[:, 4:7].astype(float)
        ends, _ = eye.matrices.project(starts + vectors, eye.viewport)
        return vectors, ends - eye.matrices.project(starts, eye.viewport)[0], glyphs.arrow_owner

    gizmos = session.settings.gizmos
    gizmos.min_force = 0.2
    gizmos.length = 0.25
    vectors, short, owners = shown()
    towards = vectors @ eye.matrices.forward / np.linalg.norm(vectors, axis=1)
    assert towards.min() < -0.5
    assert towards.max() > 0.5
    gizmos.length = 1.0
    _, long, owners_long = shown()
    # Marks of those that leave the picture come last.
    assert (owners_long[: len(owners)] == owners).all()
    assert long[: len(short)] == pytest.approx(4 * short, rel=0.005, abs=0.05)


def test_a_still_picture_has_the_scale_of_the_forces_before_it(tmp_path: Path) -> None:
    session = rest(tmp_path, 1.0, 40.0)
    schedule = Schedule.plan(session.engine.timestep, 0.02, frame_rate(50), 1.0, 2.0)
    with open_renderer(session, (640, 360), Quality.LOW) as renderer:
        pictures = [picture for picture in SceneFrames(session, schedule, renderer).pictures() if picture is not None]
    assert len(pictures) == 1
    assert 80 <= 100 * 40 * 9.81 / session.force_scale.newtons <= 200


@pytest.mark.parametrize("size", [(1280, 720), (320, 240), (1920, 1080)])
@pytest.mark.parametrize("extent", EXTENTS)
def test_spheres_and_shafts_have_their_least_sizes(tmp_path: Path, extent: float, size: tuple[int, int]) -> None:
    session = rest(tmp_path, extent, 1.0)
    session.engine.step(300)
    viewport = (0, 0, *size)
    for zoom in (1.0, 0.2, 5.0):
        session.view.camera.distance *= zoom
        matrices = session.view.matrices(session.engine.model, session.engine.data, viewport)
        glyphs = session_glyphs(session, Eye(matrices, viewport, max(size[1] / 720, 0.75)))
        points = glyphs.spheres[:, :3].astype(float)
        pixel = matrices.pixel_size(points, viewport)
        assert (2 * glyphs.spheres[:, 3] / pixel >= 5 - 1e-3).all()
        assert (glyphs.arrows[:, 3] / matrices.pixel_size(glyphs.arrows[:, :3].astype(float), viewport) >= 2).all()


def test_zooming_keeps_sizes_on_screen(tmp_path: Path) -> None:
    session = rest(tmp_path, 1.0, 1.0)
    lengths = []
    session.engine.step(300)
    for _ in range(6):
        matrices = session.view.matrices(session.engine.model, session.engine.data, (0, 0, 1280, 720))
        arrow = session_glyphs(session, Eye(matrices, (0, 0, 1280, 720))).arrows[0].astype(float)
        pixel = matrices.pixel_size(arrow[:3], (0, 0, 1280, 720))[0]
        lengths.append((np.linalg.norm(arrow[4:7]) / pixel, arrow[3] / pixel))
        session.view.zoom(0.3)
    assert np.ptp(lengths, axis=0) == pytest.approx([0, 0], abs=0.01)


@pytest.mark.parametrize("scene", bundled_scenes(), ids=lambda scene: scene.name)
def test_contacts_of_bundled_scenes_can_be_read(scene: Any) -> None:
    """The strongest arrow is 40 to 400 pixels long in most pictures, and the scale is calm."""
    session = Session(open_engine(scene.path), ViewState(), keeps_history=False)
    eye, lengths, scales = session.usual_eye, [], []
    for _ in range(75):
        session.simulation.step(max(1, round(0.02 / session.engine.timestep)))
        session.forget()
        arrows = session_glyphs(session, eye).arrows.astype(float)
        scales.append(session.force_scale.newtons)
        if len(arrows) and session.engine.time > 0.5:
            sizes = np.linalg.norm(arrows[:, 4:7], axis=1) / eye.pixel_size(arrows[:, :3])
            lengths.append(sizes.max())
    if lengths:
        assert 40 <= np.median(lengths) <= 400
    assert np.count_nonzero(np.diff(scales)) <= 3


def ground(model: Any) -> tuple[Any, Eye]:
    engine = open_engine(model)
    session = Session(engine, ViewState(), keeps_history=False)
    return engine, session.usual_eye


class Chooser:
    """A scale that is shown one force at every fiftieth of a second."""

    def __init__(self, scene: str = "slope") -> None:
        self.engine, self.eye = ground(scene)
        self.scale = ForceScale(self.engine.model)
        self.time = 0.0

    def show(self, force: float, seconds: float) -> list[float]:
        """The force of a hundred pixels at every picture [N]."""
        chosen = []
        for _ in range(round(seconds / 0.02)):
            self.time += 0.02
            contacts = DrawnForces(np.zeros((1, 3)), np.array([force]))
            gauge = self.scale.update(self.time, self.engine.data, self.eye, contacts)
            chosen.append(gauge.newtons)
        return chosen


@pytest.mark.parametrize("force", [0.02, 7.0, 41.0, 900.0, 2e5])
def test_the_scale_is_a_round_number_that_fits(force: float) -> None:
    chooser = Chooser()
    newtons = chooser.show(force, 1.0)[-1]
    assert 45 <= 100 * force / newtons <= 200
    assert f"{newtons:.0e}"[0] in "125"
    assert newtons == float(f"{newtons:.0e}")


def test_small_changes_of_force_leave_the_scale_alone() -> None:
    chooser = Chooser()
    chooser.show(40.0, 1.0)
    chosen = {value for force in (30.0, 60.0, 25.0, 70.0, 40.0) for value in chooser.show(force, 1.0)}
    assert len(chosen) == 1


def test_an_impact_leaves_the_scale_alone_and_a_lasting_load_changes_it_once() -> None:
    chooser = Chooser()
    before = chooser.show(10.0, 1.0)[-1]
    assert set(chooser.show(4000.0, 0.1)) == {before}
    assert set(chooser.show(10.0, 1.0)) == {before}
    chosen = chooser.show(4000.0, 2.0)
    assert len(set(chosen)) == 2
    assert 45 <= 100 * 4000 / chosen[-1] <= 200
    assert chooser.scale.newtons_before == before
    assert before == chosen[0]


def test_a_locked_scale_stays() -> None:
    chooser = Chooser()
    before = chooser.show(10.0, 1.0)[-1]
    chooser.scale.locked = True
    assert set(chooser.show(4000.0, 3.0)) == {before}
    chooser.scale.locked = False
    assert chooser.show(4000.0, 1.0)[-1] > before


def test_going_back_in_time_forgets_what_comes_later() -> None:
    chooser = Chooser()
    chooser.show(10.0, 1.0)
    before = chooser.scale.reference
    chooser.show(4000.0, 0.5)
    chooser.time = 1.0
    chooser.show(10.0, 0.3)
    assert chooser.scale.reference == before


def test_the_legend_announces_a_new_scale_for_a_while(tmp_path: Path) -> None:
    session = rest(tmp_path, 1.0, 1.0)
    session.force_scale.newtons = 1e4
    told = []
    for _ in range(80):
        session.simulation.step(25)
        session.forget()
        session_glyphs(session)
        told.append(session.scale_bar.before)
    assert told.count(1e4) > 10
    assert told[-1] is None
    # The factor of a user changes the bar's number, never what it means.
    session.settings.gizmos.scale_mode = ScaleMode.FIXED
    assert session.scale_bar.before is None


def test_arrows_that_leave_the_picture_are_marked_and_told(tmp_path: Path) -> None:
    session = rest(tmp_path, 1.0, 1.0)
    for _ in range(40):
        session.simulation.step(10)
        session.forget()
        session_glyphs(session)
    assert len(session_glyphs(session).arrows) == 1
    assert not any("leave" in note for note in legend_notes(session))
    session.settings.gizmos.length = 20.0
    glyphs = session_glyphs(session)
    assert len(glyphs.arrows) == 3
    assert "1 arrow leaves the view: 9.81 N" in legend_notes(session)
    eye = session.usual_eye
    marks = glyphs.arrows[(glyphs.arrows[:, 8:11] == 1.0).all(axis=1)].astype(float)
    tips, _ = eye.matrices.project(marks[:, :3] + marks[:, 4:7], eye.viewport)
    # At the upper edge, inside.
    assert 720 - 8 < tips[:, 1].max() < 720
    assert eye.sees(marks[:, :3]).all()
    picture = recorded(session, (640, 360))
    edge = picture[:14, 280:360]
    assert ((edge.min(axis=2) > 200) & (np.ptp(edge, axis=2) < 30)).any()


def test_contacts_outside_of_the_picture_are_told() -> None:
    session = Session(open_engine("quadruped"), ViewState(), keeps_history=False)
    session.simulation.step(500)
    session.forget()
    assert session.contact_count >= 4
    told = []
    # From where the robot is, up and away.
    for height in (0.0, 0.1, 3.0, 0.0):
        session.view.camera.lookat[2] += height
        session_glyphs(session, session.usual_eye)
        told.append("most contacts are outside the view" in legend_notes(session))
        session.view.camera.lookat[2] -= height
    assert told == [False, False, True, False]
    session.view.camera.lookat[2] += 3.0
    session.settings.gizmos.points = session.settings.gizmos.forces = False
    session_glyphs(session, session.usual_eye)
    assert legend_notes(session) == []
