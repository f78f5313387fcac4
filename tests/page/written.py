"""Writes pages of short runs, each with a CSV file of the same steps beside it."""

from collections.abc import Callable
from pathlib import Path

from contact_viewer import open_engine
from contact_viewer.page.page_file import PageFile, PageOptions
from contact_viewer.recording.data_file import DataFile
from contact_viewer.recording.schedule import Schedule, StepCounter
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

from .reader import Page

HOSTILE = '</script><img src=x onerror="alert(1)">'
SHAPES = """<mujoco model="shapes scene"><asset>
  <mesh name="wedge" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2" texcoord="0 0 1 0 0 1 1 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
  <hfield name="hills" nrow="3" ncol="4" size="1 1 .1 .05" elevation="0 0 .5 0 0 1 .25 0 0 0 0 0"/>
  <texture name="chess" type="2d" builtin="checker" width="16" height="16" rgb1="1 0 0" rgb2="0 0 1"/>
  <texture name="sky" type="skybox" builtin="gradient" width="16" height="16" rgb1="0 0 1" rgb2="1 1 1"/>
  <material name="chess" texture="chess" rgba=".9 .8 .7 1"/></asset><worldbody>
  <light pos="0 0 3" dir="0 0 -1" directional="true"/><camera name="side" pos="0 -2 1" xyaxes="1 0 0 0 .5 1"/>
  <geom name="{hostile}" type="hfield" hfield="hills"/><site name="mark"/>
  <body name="box" pos=".3 0 .4" euler="20 30 40"><freejoint/><geom type="box" size=".1 .1 .1" material="chess"/>
    <body pos=".2 0 0" euler="0 0 30"><geom name="tip" type="capsule" size=".03 .1" pos="0 .1 0" euler="90 0 0"/></body>
  </body>
  <body mocap="true" pos="0 .5 .5"><geom type="ellipsoid" size=".1 .05 .05" contype="0" conaffinity="0" group="4"/>
  </body>
  <body pos="-.3 .1 .5"><joint type="hinge" axis="0 1 0"/><geom type="mesh" mesh="wedge" material="chess"/></body>
  </worldbody><sensor><contact name="{hostile}" body1="box" num="3" data="found force"/>
  <contact name="net" body1="box" reduce="netforce"/></sensor></mujoco>"""


def opened(scene: str | Path, engine: str = "mujoco") -> Session:
    session = Session(open_engine(scene, engine), ViewState(), keeps_history=False)
    session.watch_without_sensors()
    return session


def write(
    path: Path,
    session: Session,
    seconds: float,
    options: PageOptions | None = None,
    see: Callable[[int, float], None] = lambda step, time: None,
) -> Page:
    """Write a page, and a CSV file beside it. `see`: called at every step in them."""
    schedule = Schedule.every_step(session.engine.timestep, seconds)
    with PageFile(path, session, seconds, options) as page, DataFile(path.with_suffix(".csv"), session) as data:
        calls = [page.write, data.write, see]

        def call(step: int, time: float) -> None:
            # Files take one more step when they are finished.
            if step <= schedule.last_step:
                for each in calls:
                    each(step, time)

        counter = StepCounter(session, schedule, [call])
        session.simulation.step(schedule.last_step - counter.step)
        data.finish()
        page.finish()
    return Page(path)


def write_shapes(folder: Path) -> Path:
    """Write a scene of many shapes, of which one has a name that would do harm as HTML."""
    scene = folder / "shapes.xml"
    scene.write_text(SHAPES.format(hostile=HOSTILE.replace("<", "&lt;").replace('"', "&quot;")))
    return scene
