"""What the window shows of pairs that slide and creep: curves, raster, list of events."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.assets import bundled_scene
from contact_viewer.events.contact_events import EventKind
from contact_viewer.render.style import palette_colors
from contact_viewer.sensors.signals import Signal
from contact_viewer.window.panels.events import EventsPanel, Who
from contact_viewer.window.shell import EVENTS, PLOTS
from contact_viewer.window.window import Window

from ..driver import Pixels, drive, make_window, screenshot
from ..text_room import recorded_text

GRASP = """<mujoco><worldbody>
<body name="left" pos="-.06 0 .5"><joint name="left" type="slide" axis="1 0 0"/>
  <geom type="box" size=".01 .02 .02" mass="5"/></body>
<body name="right" pos=".06 0 .5"><joint name="right" type="slide" axis="-1 0 0"/>
  <geom type="box" size=".01 .02 .02" mass="5"/></body>
<body name="held" pos="0 0 .5"><freejoint/><geom type="box" size=".05 .03 .03" mass=".5"/>
  <geom type="box" size=".05 .03 .03" mass=".01"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator><keyframe><key ctrl="20 20"/></keyframe></mujoco>"""


def count_of(picture: Pixels, color: tuple[float, ...]) -> int:
    """Pixels of a colour."""
    return int((np.abs(picture[..., :3].astype(int) - np.multiply(color[:3], 255)) < 12).all(axis=-1).sum())


@pytest.fixture
def window(tmp_path: Path) -> Window:
    path = tmp_path / "grasp.xml"
    path.write_text(GRASP, encoding="utf-8")
    window = make_window(path, key="0", paused=True, width=1400, height=900)
    window.app.session.settings.plots.signals = str(Signal.SLIP)
    return window


def test_creep_has_a_colour_in_the_raster_and_a_curve_beside_the_slip_speed(window: Window, tmp_path: Path) -> None:
    session = window.app.session
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)

    def test(ctx: Any) -> None:
        session.take_steps(1500)
        window.dockable(PLOTS).focus_window_at_next_frame = True
        ctx.yield_(6)
        picture = screenshot(ctx, tmp_path / "plots.png")
        lower = picture[picture.shape[0] // 2 :]
        assert count_of(lower, colors.creeping) > 300
        assert count_of(lower, colors.sliding) < 50

    drive(window, test, drawn=True)


def test_the_list_says_why_and_takes_the_geoms_of_a_body_together(window: Window) -> None:
    panel: EventsPanel = window.contents[EVENTS]
    session = window.app.session

    def test(ctx: Any) -> None:
        session.take_steps(1500)
        tracker = session.events
        assert tracker is not None

        def kinds() -> list[EventKind]:
            return [row.entry.kind for row in panel.shown(tracker, session.engine.model)]

        window.dockable(EVENTS).focus_window_at_next_frame = True
        ctx.yield_(4)
        assert kinds().count(EventKind.CREEP_BEGIN) == 4
        panel.who = Who.BODIES
        ctx.yield_(2)
        assert kinds().count(EventKind.CREEP_BEGIN) == 2
        rows = panel.shown(tracker, session.engine.model)
        assert {row.text for row in rows} == {"left × held", "right × held"}
        with recorded_text() as written:
            ctx.yield_(2)
        assert any("damper here" in each.text for each in written), [each.text for each in written]

    drive(window, test)


def test_the_feet_of_a_robot_on_ice_slide_in_the_raster(tmp_path: Path) -> None:
    walker = bundled_scene("walker")
    assert walker is not None
    window = make_window(walker.path, paused=True, width=1400, height=900)
    session = window.app.session
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)

    def test(ctx: Any) -> None:
        session.take_steps(1500)
        window.dockable(PLOTS).focus_window_at_next_frame = True
        ctx.yield_(6)
        assert count_of(screenshot(ctx, tmp_path / "ice.png"), colors.sliding) > 100

    drive(window, test, drawn=True)
