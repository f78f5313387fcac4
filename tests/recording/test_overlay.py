"""What is drawn beside the scene: legend, scale, time and curves, by the pixels."""

from pathlib import Path

import numpy as np
import pytest
from contact_viewer.engines.registry import open_engine
from contact_viewer.errors import RecordingError
from contact_viewer.recording.encoders import Picture
from contact_viewer.recording.overlay import Overlay
from contact_viewer.recording.overlay_shapes import Canvas, Patch, number_font, text_font, wrapped
from contact_viewer.recording.plots import CurveStrip
from contact_viewer.session.force_scale import nice_above
from contact_viewer.session.layers import legend_entries, session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import ColorMode, Reduce, ViewState
from numpy.typing import NDArray
from PIL import Image, ImageFont

from .judges import color_counts

SIZE = (1280, 720)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(open_engine("slope"), ViewState())


def grey(size: tuple[int, int] = SIZE) -> Picture:
    return np.full((size[1], size[0], 3), 150, np.uint8)


def changed(before: Picture, after: Picture) -> NDArray[np.bool_]:
    return np.asarray((before != after).any(axis=2))


def box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is set."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def test_legend_and_time_keep_to_their_corners(session: Session) -> None:
    picture = Overlay(session, SIZE).compose(grey(), 1.25)
    mask = changed(grey(), picture)
    left, right = mask[:, :640], mask[:, 640:]
    assert box(left)[0] == 16
    assert box(left)[3] == 720 - 16
    assert box(right)[2] == 640 - 16
    assert box(right)[3] == 720 - 16
    assert mask.mean() < 0.055
    counts = color_counts(picture[:, :640])
    assert all(counts[name] > 30 for name in ("white", "green", "red", "blue"))
    assert color_counts(picture[:, 640:])["green"] == 0


@pytest.mark.parametrize("factor", [0.3, 1.0, 7.0])
def test_the_scale_bar_is_as_long_as_the_arrow_of_its_force(factor: float) -> None:
    session = Session(open_engine("slope"), ViewState())
    session.settings.gizmos.length = factor
    session_glyphs(session)
    picture = Overlay(session, SIZE).compose(grey(), 0.0)
    left, top, right, bottom = box(changed(grey(), picture)[:, :640])
    bright = picture[top:bottom, left:right].min(axis=2) > 200
    # The bar is the longest unbroken bright row of the legend.
    lengths = [max(len(run) for run in "".join("x" if on else " " for on in row).split(" ")) for row in bright]
    length = max(lengths)
    eye = session.usual_eye
    pixel = eye.pixel_size(session.force_scale.anchor)[0]
    force = length * pixel / session.scale.force
    digits = force / 10.0 ** np.floor(np.log10(force))
    # One of 1, 2, 5, 10 newtons and so on, to a pixel.
    assert min(abs(digits - nice) / nice for nice in (1, 2, 5, 10)) < 1.5 / length


def test_time_changes_only_the_clock(session: Session) -> None:
    overlay = Overlay(session, SIZE, speed=0.1)
    first = overlay.compose(grey(), 1.234)
    second = overlay.compose(grey(), 1.235)
    left, top, right, bottom = box(changed(first, second))
    # One digit, in the lower right corner.
    assert right - left < 14
    assert bottom - top < 20
    assert left > 1100
    assert top > 660
    np.testing.assert_array_equal(first, overlay.compose(grey(), 1.234))


def test_small_pictures_show_the_scene_alone(session: Session) -> None:
    picture = Overlay(session, (160, 120)).compose(grey((160, 120)), 0.0)
    np.testing.assert_array_equal(picture, grey((160, 120)))
    with pytest.raises(RecordingError, match="no room for plots"):
        Overlay(session, (160, 120), plot_seconds=1.0)


def test_the_legend_says_what_is_drawn() -> None:
    session = Session(open_engine("slope"), ViewState())
    faint = "behind or not reported"
    parts = ["contact", "normal force", "tangent 0", "tangent 1", faint]
    assert [text for _, text, _ in legend_entries(session)] == parts
    for name in session.visible:
        session.set_reduce(name, "netforce")
    assert [text for _, text, _ in legend_entries(session)] == ["contact", "net force", faint]
    session.settings.gizmos.color_mode = ColorMode.SENSOR
    assert [text for _, text, _ in legend_entries(session)] == [*session.visible, faint]
    session.visible = dict.fromkeys(session.visible, False)
    assert legend_entries(session) == []


def test_plots_lie_below_the_scene_and_show_the_forces() -> None:
    session = Session(open_engine("slope"), ViewState())
    overlay = Overlay(session, SIZE, plot_seconds=1.0)
    width, height = overlay.scene_size
    assert width == 1280
    assert 450 < height < 600
    assert height % 2 == 0
    for step in range(1, 401):
        session.engine.step()
        overlay.sample(step, step * 0.002)
    session.forget()
    picture = overlay.compose(grey((width, height)), 0.8)
    assert picture.shape == (720, 1280, 3)
    band = picture[height:]
    curves = band[:, 250:]
    # Normal force and friction of the box on the slope, for four fifths of the time.
    green = (curves[..., 1].astype(int) > curves[..., 0] + 50) & (curves[..., 1].astype(int) > curves[..., 2] + 50)
    columns = np.flatnonzero(green.any(axis=0))
    assert columns[0] < 5
    assert 0.77 < columns[-1] / (1280 - 14 - 250) < 0.83
    assert color_counts(curves)["red"] > 500
    # Rows count from the top: friction is the smaller force.
    first_row = slice(0, 70)
    red = curves[first_row, :, 0].astype(int) > curves[first_row, :, 1] + 70
    assert np.flatnonzero(green[first_row].any(axis=1)).mean() < np.flatnonzero(red.any(axis=1)).mean()


def strip(width: int = 100, height: int = 50, seconds: float = 1.0) -> tuple[CurveStrip, Picture]:
    pixels = np.zeros((height, width, 3), np.uint8)
    return CurveStrip(pixels, [(0, 255, 0, 255)], seconds, thickness=2.0, top=10.0), pixels


def centre(pixels: Picture, column: int) -> float:
    """Mean row of the curve in a column."""
    green = pixels[:, column, 1].astype(float) - pixels[:, column, 0]
    return float((green * (np.arange(len(green)) + 0.5)).sum() / green.sum())


def test_a_curve_is_where_its_values_are() -> None:
    curve, pixels = strip()
    for step in range(100):
        curve.sample(step * 0.01, np.array([9.5 * step / 100]))
    curve.paint()
    assert (curve.bottom, curve.top) == (0.0, 10.0)
    for column in (10, 50, 90):
        assert centre(pixels, column) == pytest.approx(49 - 48 * 0.95 * column / 100, abs=0.8)


def test_a_peak_between_two_pictures_is_seen() -> None:
    curve, pixels = strip()
    for step in range(1000):
        curve.sample(step * 0.001, np.array([9.0 if step == 505 else 1.0]))
    curve.paint()
    assert pixels[6:45, 50, 1].min() > 200
    assert pixels[6:40, 48, 1].max() < 100


def test_a_full_strip_scrolls() -> None:
    curve, pixels = strip()
    for step in range(300):
        curve.sample(step * 0.01, np.array([8.0 if step == 250 else 2.0]))
        if step % 3 == 0:
            curve.paint()
    curve.paint()
    # The newest column is the last one, number 299; the peak is 49 columns before it.
    assert pixels[12:35, 50, 1].min() > 200
    assert pixels[12:35, 48, 1].max() < 100
    assert centre(pixels, 99) == pytest.approx(49 - 48 * 0.2, abs=0.8)


def test_painting_often_and_once_give_the_same_strip() -> None:
    values = np.cumsum(np.random.default_rng(1).normal(0, 2, 500))
    often, once = strip(), strip()
    for step, value in enumerate(values):
        for curve, _ in (often, once):
            curve.sample(step * 0.004, np.array([value]))
        often[0].paint()
    once[0].paint()
    np.testing.assert_array_equal(often[1], once[1])


def test_the_axis_grows_with_the_values_and_shrinks_when_they_are_gone() -> None:
    curve, _ = strip()
    for step in range(1000):
        value = 95.0 if 100 <= step < 110 else -28.0 if 120 <= step < 130 else 5.0
        curve.sample(step * 0.01, np.array([value]))
        curve.paint()
        if step == 135:
            assert (curve.bottom, curve.top) == (-30.0, 100.0)
    assert (curve.bottom, curve.top) == (0.0, 10.0)


def green(pixels: Picture) -> NDArray[np.bool_]:
    return np.asarray(pixels[..., 1].astype(int) > pixels[..., 0].astype(int) + 80)


def hit(force: float, at: int = 70) -> tuple[CurveStrip, Picture]:
    """A steady 20 N with one impact."""
    curve, pixels = strip(width=200, height=60, seconds=2.0)
    for step in range(200):
        curve.sample(step * 0.01, np.array([force if step == at else 20.0]))
    curve.paint()
    return curve, pixels


def test_one_impact_leaves_a_steady_force_readable() -> None:
    curve, pixels = hit(900.0)
    # It stands where its numbers say, far from the lower edge, ...
    assert curve.top < 60
    assert centre(pixels, 150) == pytest.approx(59 - 58 * 20.0 / curve.top, abs=0.8)
    assert centre(pixels, 150) < 40
    # ... and the impact leaves the strip at its top, below a mark that is wider there than the curve.
    assert green(pixels)[:11, 70].all()
    assert green(pixels)[8, 64:76].sum() >= 6


def test_a_cut_impact_tells_its_number() -> None:
    small, large = hit(800.0)[1], hit(900.0)[1]
    left, top, right, bottom = box(changed(small, large))
    # Only a digit beside the mark differs: both curves leave the strip.
    assert 70 < left < right < 90
    assert bottom - top <= 14
    assert top < 10


def test_an_impact_at_the_right_edge_has_its_number_in_sight() -> None:
    small, large = hit(800.0, at=199)[1], hit(900.0, at=199)[1]
    left, _, right, _ = box(changed(small, large))
    assert 140 < left < right <= 200


def test_a_cut_pull_is_marked_at_the_bottom() -> None:
    pixels = hit(-900.0)[1]
    assert green(pixels)[-9, 64:76].sum() >= 6
    left, top, right, _ = box(changed(pixels, hit(-800.0)[1]))
    assert 70 < left < right < 95
    assert top > 40


DROPPED_BOX = """<mujoco><worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="2 2 .1"/>
<body pos="0 0 1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
<sensor><contact name="box" geom1="floor" geom2="box" num="4" data="found force normal tangent"/></sensor></mujoco>"""


@pytest.mark.parametrize("fit_usual", [True, False])
def test_the_weight_of_a_dropped_box_is_seen_beside_its_impact(tmp_path: Path, fit_usual: bool) -> None:
    """The curve of 19.6 N after an impact of some 900; whoever wants impacts in full has them, as in the window."""
    (tmp_path / "box.xml").write_text(DROPPED_BOX)
    session = Session(open_engine(tmp_path / "box.xml"), ViewState(), keeps_history=False)
    session.settings.plots.fit_usual = fit_usual
    overlay = Overlay(session, SIZE, plot_seconds=4.0)
    for step in range(1, 2001):
        session.simulation.step()
        overlay.sample(step, session.engine.time)
    picture = overlay.compose(grey(overlay.scene_size), session.engine.time)
    curves = picture[overlay.scene_size[1] :, 250:1260].astype(int)
    normal = curves[..., 1] > np.maximum(curves[..., 0], curves[..., 2]) + 60
    tangent = curves[..., 0] > np.maximum(curves[..., 1], curves[..., 2]) + 60
    weight, zero = (np.flatnonzero(mask[:, 900]).mean() for mask in (normal, tangent))
    if fit_usual:
        assert zero - weight > 20
    else:
        assert zero - weight < 5


@pytest.mark.parametrize(("value", "nice"), [(1.0, 1.0), (1.1, 2.0), (10.0, 10.0), (47.0, 50.0), (0.003, 0.005)])
def test_nice_numbers(value: float, nice: float) -> None:
    assert nice_above(value) == pytest.approx(nice)


def test_blending_is_that_of_pillow() -> None:
    generator = np.random.default_rng(0)
    image = Image.fromarray(generator.integers(0, 256, (20, 30, 4), dtype=np.uint8), "RGBA")
    ground = generator.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    expected = Image.fromarray(ground).convert("RGBA")
    expected.alpha_composite(image, (5, 7))
    picture = ground.copy()
    Patch(image, 5, 7).blend(picture)
    assert np.abs(picture.astype(int) - np.asarray(expected)[..., :3]).max() <= 1


@pytest.mark.parametrize(("x", "y"), [(-10, -5), (45, 35), (-100, 0), (0, 100)])
def test_what_sticks_out_is_cut_off(x: int, y: int) -> None:
    white = Image.new("RGBA", (20, 10), (255, 255, 255, 255))
    picture = np.zeros((40, 50, 3), np.uint8)
    Patch(white, x, y).blend(picture)
    padded = np.zeros((300, 300), bool)
    padded[100 + y : 110 + y, 100 + x : 120 + x] = True
    np.testing.assert_array_equal(picture[..., 0] == 255, padded[100:140, 100:150])


def test_shapes_have_smooth_edges() -> None:
    canvas = Canvas(40, 40)
    canvas.disc((20, 20), 10, (255, 255, 255, 255))
    alpha = np.asarray(canvas.image())[..., 3].astype(float) / 255
    assert alpha.sum() == pytest.approx(np.pi * 100, rel=0.02)
    assert ((alpha > 0.1) & (alpha < 0.9)).sum() > 20


def test_fonts_are_those_of_the_window() -> None:
    for font, family in ((text_font(15), "Roboto"), (number_font(15), "Inconsolata")):
        assert isinstance(font, ImageFont.FreeTypeFont)
        assert font.getname()[0] == family


def test_rows_of_like_sensors_share_an_axis() -> None:
    """Equal heights are equal forces, whichever row they are in."""
    session = Session(open_engine("stack"), ViewState(), keeps_history=False)
    overlay = Overlay(session, SIZE, plot_seconds=1.0)
    for step in range(1, 301):
        session.simulation.step()
        overlay.sample(step, session.engine.time)
    overlay.compose(grey(overlay.scene_size), session.engine.time)
    rows = overlay._plots._rows if overlay._plots is not None else []
    assert len(rows) > 1
    kinds = {row.sensor is not None and row.sensor.reduce is Reduce.NETFORCE for row in rows}
    axes = {(row.strip.bottom, row.strip.top) for row in rows}
    assert len(axes) == len(kinds)
    # Half as high again as they used to be: 720 pixels of picture have room for it.
    assert all(row.height >= 52 for row in rows)


def plotted(seconds: float, until: float, start: float = 0.0) -> tuple[Picture, int]:
    """The band of curves of a scene at a time of a video, and its column at which the time axis begins."""
    session = Session(open_engine("slope"), ViewState(), keeps_history=False)
    overlay = Overlay(session, SIZE, plot_seconds=seconds)
    for step in range(round(until / 0.002)):
        overlay.sample(step, start + step * 0.002)
    band = overlay.compose(grey(overlay.scene_size), start + until)[overlay.scene_size[1] :]
    # The axis is a line from its beginning to its end.
    axis = max(range(len(band)), key=lambda row: np.count_nonzero(band[row].min(axis=1) > 120))
    return band[: axis + 26], int(np.flatnonzero(band[axis].min(axis=1) > 120)[0])


@pytest.mark.parametrize(("seconds", "start", "division"), [(4.0, 0.0, 0.5), (1.0, 2.45, 0.2)])
def test_curves_have_a_time_axis_with_ticks(seconds: float, start: float, division: float) -> None:
    band, left = plotted(seconds, 0.1 * seconds, start)
    below = band[-22].min(axis=1) > 120
    ticks = np.flatnonzero(below & ~np.roll(below, 1))
    times = start + (ticks - left) * seconds / (1280 - 14 - left)
    # The cursor's foot is among them.
    is_round = np.abs(times / division - np.round(times / division)) < 0.03
    expected = np.arange(np.ceil(start / division - 1e-9), (start + seconds) / division)
    np.testing.assert_allclose(np.unique(np.round(times[is_round] / division)), expected)
    assert len(ticks) <= len(expected) + 1
    # Below each tick is its time.
    assert all((band[-17:, max(tick - 8, 0) : tick + 24].min(axis=2) > 120).any() for tick in ticks[is_round])


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_a_cursor_moves_through_the_curves_with_the_time(share: float) -> None:
    band, left = plotted(4.0, share * 4.0)
    rows = band[14:-30].astype(int)
    upright = (rows.min(axis=2) > 120).mean(axis=0)
    assert np.flatnonzero(upright > 0.8).mean() == pytest.approx(left + share * (1280 - 14 - left), abs=3)


def test_names_beside_curves_are_never_cut(tmp_path: Path) -> None:
    pictures = []
    for name in ("left_front_foot_on_the_floor_of_the_testing_hall_" * 2 + end for end in ("1", "2")):
        (tmp_path / "box.xml").write_text(DROPPED_BOX.replace('contact name="box"', f'contact name="{name}"'))
        session = Session(open_engine(tmp_path / "box.xml"), ViewState(), keeps_history=False)
        overlay = Overlay(session, SIZE, plot_seconds=1.0)
        overlay.sample(0, 0.0)
        pictures.append(overlay.compose(grey(overlay.scene_size), 0.0)[overlay.scene_size[1] :])
    left, _, right, _ = box(changed(*pictures))
    assert right - left < 12


def test_text_is_wrapped_without_a_loss() -> None:
    font = text_font(14)
    for text in ("left_foot", "left_front_foot_on_the_floor", "a" * 80, "mmm iii " * 12):
        lines = wrapped(text, font, 100.0)
        assert "".join("".join(lines).split()) == "".join(text.split())
        assert max(font.getlength(line) for line in lines) <= 100.0
