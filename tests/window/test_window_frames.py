"""The whole window on video, on a machine without a display."""

import io
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ..recording.judges import contact_viewer, decode, headless, probe

TIMES = """
import json, sys
from fractions import Fraction
from pathlib import Path
from contact_viewer.window.window_frames import WindowFrames
from contact_viewer.app.application import Application
from contact_viewer.engines.registry import open_engines
from contact_viewer.recording.schedule import Schedule
from contact_viewer.settings import Options

(engine,) = open_engines(Path(sys.argv[1]), "mujoco")
app = Application(engine, Options(Path(sys.argv[1]), width=640, height=480))
schedule = Schedule.plan(engine.timestep, 1.0, Fraction(30000, 1001), 2.0, 0.5)
with WindowFrames(app, schedule) as film:
    rows = [(app.session.engine.time, picture.shape) for picture in film.pictures() if picture is not None]
print()
print(json.dumps(rows))
"""


def test_frame_k_shows_the_scene_at_its_time_exactly() -> None:
    result = subprocess.run(
        [sys.executable, "-c", TIMES, "quadruped"], env=headless(), capture_output=True, text=True, check=True
    )
    rows = json.loads(result.stdout.splitlines()[-1])
    assert len(rows) == 30
    timestep = Fraction(1, 500)
    for k, (time, shape) in enumerate(rows):
        due = Fraction(1, 2) + 2 * k * Fraction(1001, 30000)
        assert time == pytest.approx(float(due // timestep * timestep), abs=1e-9)
        assert shape == [480, 640, 3]


@pytest.mark.parametrize(("size", "panels"), [("width=1000, height=700", None), ("width=640, height=480", ["Plots"])])
def test_a_late_picture_has_all_of_its_curves(size: str, panels: list[str] | None) -> None:
    """Also where no frame was drawn meanwhile, and where panels have one drawer."""
    code = TIMES.replace("width=640, height=480", size).replace("(app, schedule)", f"(app, schedule, {panels})")
    code = code.replace("1.0, Fraction(30000, 1001), 2.0, 0.5", "0.05, Fraction(20), 1.0, 4.0")
    code += "print(json.dumps([app.session.history.curves.stop, app.session.history.last]))"
    result = subprocess.run(
        [sys.executable, "-c", code, "quadruped"], env=headless(), capture_output=True, text=True, check=True
    )
    stop, last = json.loads(result.stdout.splitlines()[-1])
    assert stop == last + 1 >= 2000


def test_the_window_is_recorded_without_a_display(tmp_path: Path) -> None:
    output = tmp_path / "window.mp4"
    options = ("--duration", 0.5, "--fps", 20, "--size", "1024x700")
    result = contact_viewer("record", "quadruped", "--window", "-o", output, *options)
    assert result.returncode == 0, result.stderr
    stream = probe(output)
    assert (stream["width"], stream["height"], int(stream["nb_read_frames"])) == (1024, 700, 10)
    picture = decode(output, (1024, 700))[-1].astype(int)
    # Panels are dark at the sides, the scene is in the middle.
    assert np.median(picture[100:600, 20:120]) < 60
    assert picture[150:350, 400:650].std() > 10


@pytest.mark.parametrize("option", [("--data", "x.csv"), ("--orbit", "10")])
def test_what_a_window_cannot_have_is_refused(option: tuple[str, str], tmp_path: Path) -> None:
    result = contact_viewer("record", "slope", "--window", "-o", tmp_path / "a.mp4", *option)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert option[0] in result.stderr
    assert not list(tmp_path.iterdir())


EDGES = """
import sys
from fractions import Fraction
from pathlib import Path
from contact_viewer.window.window_frames import WindowFrames
from contact_viewer.app.application import Application
from contact_viewer.engines.registry import open_engines
from contact_viewer.recording.schedule import Schedule
from contact_viewer.settings import Options, Quality
import numpy as np

(engine,) = open_engines(Path("slope"), "mujoco")
options = Options(Path("slope"), width=int(sys.argv[1]), height=int(sys.argv[2]), quality=Quality.LOW)
app = Application(engine, options)
panels = sys.argv[3].split(",") if len(sys.argv) > 3 else None
with WindowFrames(app, Schedule.plan(engine.timestep, 0.01, Fraction(100)), panels) as film:
    np.save(sys.stdout.buffer, next(picture for picture in film.pictures() if picture is not None))
"""


def window_picture(*arguments: object) -> NDArray[np.uint8]:
    """The window's own pixels, before a writer could scale them."""
    command = [sys.executable, "-c", EDGES, *map(str, arguments)]
    shown = subprocess.run(command, env=headless(), capture_output=True, check=True).stdout
    return np.asarray(np.load(io.BytesIO(shown[shown.index(b"\x93NUMPY") :])))


@pytest.mark.parametrize("size", [(640, 480), (1920, 1080), (3840, 2160)])
def test_the_window_has_exactly_the_size_that_was_asked_for(size: tuple[int, int]) -> None:
    picture = window_picture(*size)
    assert picture.shape == (size[1], size[0], 3)
    # The menu is at the top, the status at the bottom, panels at both sides: nowhere is a black bar.
    edges = picture[:3], picture[-3:], picture[:, :3], picture[:, -3:]
    assert all(np.median(edge) > 20 for edge in edges)
    # Something is written at the bottom.
    assert picture[-size[1] // 25 :].max() > 100


def test_a_film_shows_only_the_panels_that_were_chosen() -> None:
    all_panels, plots, none = (window_picture(800, 600, *panels) for panels in ((), ("Plots",), ("",)))
    left, bottom = (slice(100, 300), slice(0, 100)), (slice(400, 500), slice(300, 700))
    # The scene, which is light, is where no panel is.
    assert [np.median(picture[left]) > 60 for picture in (all_panels, plots, none)] == [False, True, True]
    assert [np.median(picture[bottom]) > 60 for picture in (all_panels, plots, none)] == [False, False, True]


@pytest.mark.parametrize(
    ("options", "named"), [(("--window", "--panels", "plots,curves"), "curves"), (("--panels", "plots"), "--window")]
)
def test_panels_that_cannot_be_shown_are_refused(options: tuple[str, ...], named: str, tmp_path: Path) -> None:
    result = contact_viewer("record", "slope", "-o", tmp_path / "a.mp4", *options)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert named in result.stderr


DROPPED = """
<mujoco>
  <statistic extent="1" center="0 0 0.2"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <body name="heavy" pos="0 0 0.5"><freejoint/><geom name="heavy" type="box" size="0.1 0.1 0.1" mass="20"/></body>
    <body name="light" pos="0.3 0 0.06"><freejoint/><geom name="light" type="box" size="0.05 0.05 0.05"/></body>
  </worldbody>
  <sensor>
    <contact name="heavy" geom1="floor" geom2="heavy" num="4" data="found force pos normal tangent"/>
    <contact name="light" geom1="floor" geom2="light" num="4" data="found force pos normal tangent"/>
  </sensor>
</mujoco>
"""
SCALES = """
import sys
from fractions import Fraction
from pathlib import Path
from contact_viewer.window.window_frames import WindowFrames
from contact_viewer.app.application import Application
from contact_viewer.engines.registry import open_engines
from contact_viewer.recording.scene_frames import SceneFrames, open_renderer
from contact_viewer.recording.schedule import Schedule
from contact_viewer.session.layers import legend_notes
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, Quality, ViewState
import numpy as np

scene, kind = Path(sys.argv[1]), sys.argv[2]


def last_picture(start, first):
    (engine,) = open_engines(scene, "mujoco")
    schedule = Schedule.plan(engine.timestep, 2.0 - start, Fraction(30), start=start)
    first = schedule.frame_count - 1 if first is None else first
    if kind == "window":
        app = Application(engine, Options(scene, width=900, height=700))
        session = app.session
        session.settings.gizmos.length = 8.0
        with WindowFrames(app, schedule) as film:
            picture = [np.array(picture) for picture in film.pictures(first) if picture is not None][-1]
    else:
        session = Session(engine, ViewState())
        session.settings.gizmos.length = 8.0
        with open_renderer(session, (320, 240), Quality.LOW) as renderer:
            pictures = SceneFrames(session, schedule, renderer).pictures(first)
            picture = [np.array(picture) for picture in pictures if picture is not None][-1]
    scale = session.force_scale
    return scale.newtons, scale.changed_at, session.cut, legend_notes(session), picture


video = last_picture(0.0, 0)
assert video[2].arrows and "leave" in video[3][-1], video[:4]
for start, first in ((0.0, None), (1.5, None), (1.9, 0)):
    single = last_picture(start, first)
    assert single[:4] == video[:4], (single[:4], video[:4])
    assert (np.abs(single[4].astype(int) - video[4]).max(axis=2) > 16).mean() < 0.002
"""
"""Compares the last picture of a video with the same instant where no picture was drawn before."""


@pytest.mark.parametrize("kind", ["window", "scene"])
def test_a_single_picture_has_the_force_scale_and_the_legend_of_the_video(kind: str, tmp_path: Path) -> None:
    """A weight is dropped at first and rests then; its arrow leaves the picture."""
    scene = tmp_path / "scene.xml"
    scene.write_text(DROPPED)
    result = subprocess.run(
        [sys.executable, "-c", SCALES, str(scene), kind], env=headless(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
