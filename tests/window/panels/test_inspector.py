"""The Inspector in the real window: columns that fit, are chosen and remembered, and a panel that stays in place."""

from pathlib import Path
from typing import Any

import pytest
from contact_viewer.assets import bundled_scene
from contact_viewer.settings import ViewState
from contact_viewer.window.panels.contact_table import ContactColumn

from ..driver import drive, make_window

BOUNCE = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 .12"><freejoint/><geom name="ball_geom" size=".1" mass="1"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="ball_geom" data="found force" num="2"/></sensor>
</mujoco>"""


def column(ctx: Any, name: str) -> Any:
    """Where the array's row of a value is."""
    return ctx.item_info(f"//Inspector/**/{name}").rect_full


@pytest.mark.parametrize("size", [(1024, 700), (1280, 720), (2560, 1440)])
def test_as_many_columns_as_fit(size: tuple[int, int]) -> None:
    scene = bundled_scene("quadruped")
    assert scene is not None
    window = make_window(scene.path, steps=200, width=size[0], height=size[1])

    def test(ctx: Any) -> None:
        session = window.app.session
        ctx.yield_(3)
        table, reading = window.contents["Inspector"].contacts, session.reading("foot_FL")
        fitting = table.columns(session, reading, 420.0)
        assert fitting[:3] == [ContactColumn.SLOT, ContactColumn.FORCES, ContactColumn.USE]
        narrow = table.columns(session, reading, 200.0)
        assert narrow == fitting[: len(narrow)]
        assert len(narrow) < len(fitting)
        info = ctx.window_info("//Inspector/##contacts").window
        assert info.scroll_max.x == 0.0

    drive(window, test)


def test_columns_are_chosen_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "bounce.xml"
    path.write_text(BOUNCE)
    window = make_window(path, steps=200)

    def test(ctx: Any) -> None:
        session = window.app.session
        ctx.item_click("//Inspector/###columns")
        ctx.item_click("//$FOCUSED/as many as fit")
        for name in ("bodies", "position", "forces"):
            ctx.item_click(f"//$FOCUSED/{name}")
        ctx.popup_close_all()
        ctx.yield_(2)
        chosen = ["slot", "friction use", "distance", "position", "bodies"]
        assert session.settings.contact_columns.split(",") == chosen
        saved = ViewState.from_json(session.settings.to_json())
        session.settings = saved
        ctx.yield_(2)
        assert window.contents["Inspector"].contacts.columns(session, session.reading("c"), 300.0) == chosen
        assert window.contents["Inspector"].contacts._bodies["ball_geom"] == "ball"

    drive(window, test)


def test_the_panel_does_not_jump_when_contacts_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "bounce.xml"
    path.write_text(BOUNCE)
    window = make_window(path)

    def test(ctx: Any) -> None:
        session = window.app.session
        places = {}
        for steps in (1, 99, 1):
            session.take_steps(steps)
            ctx.yield_(3)
            rect = column(ctx, "0.force.normal##1")
            places[session.reading("c").reported] = (rect.min.x, rect.min.y)
        assert set(places) == {0, 1}
        assert places[0] == places[1]

    drive(window, test)


def test_a_slot_that_does_not_touch_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "gap.xml"
    # A gap puts pairs into the contact list that are apart.
    path.write_text(BOUNCE.replace('size=".1" mass="1"', 'size=".1" mass="1" gap=".05"'))
    window = make_window(path, steps=1)

    def test(ctx: Any) -> None:
        session = window.app.session
        session.paused = True
        ctx.yield_(3)
        assert session.reading("c").batch.apart.tolist() == [True, False]
        assert ctx.item_exists("//Inspector/**/0 apart##contact")

    drive(window, test)
