"""Tables that explain a contact and a body, in the real window: origins of parameters, forces by kind."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.mjmodel.force_kinds import ForceTable
from contact_viewer.mjmodel.mixing import Mixing
from contact_viewer.render.view import Pick
from contact_viewer.session.session import Highlight
from contact_viewer.window.panels import inspector
from contact_viewer.window.panels.explanations import show_forces, show_mixing
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..driver import count_amber, drive, make_window, screenshot, wait

FEET = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="robot" pos="0 0 .1"><freejoint/>
      <geom name="foot" type="box" size=".2 .1 .1" friction=".4" mass="2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="foot" data="found force" num="4"/></sensor>
</mujoco>"""


@pytest.fixture
def window(tmp_path: Path) -> Window:
    path = tmp_path / "feet.xml"
    path.write_text(FEET)
    return make_window(path, steps=200)


def test_the_inspector_says_whose_friction_counts_at_the_selected_contact(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Mixing] = []

    def show(mixing: Mixing) -> None:
        shown.append(mixing)
        show_mixing(mixing)

    monkeypatch.setattr(inspector, "show_mixing", show)

    def test(ctx: Any) -> None:
        session = window.app.session
        ctx.yield_(2)
        assert not shown
        session.picked = ("c", 0)
        ctx.yield_(2)
        assert "floor's 1.0 wins over foot's 0.4" in shown[-1].consequence
        screenshot(ctx, tmp_path / "mixing.png")
        # The model of a program may be changed while it runs.
        session.engine.model.geom_priority[1] = 1
        ctx.yield_(2)
        assert "foot's 0.4 counts" in shown[-1].consequence
        session.picked = ("c", 4)
        shown.clear()
        ctx.yield_(2)
        assert not shown

    drive(window, test)


def test_the_balance_has_a_row_for_each_kind_of_force(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[ForceTable | None] = []

    def show(table: ForceTable | None) -> None:
        shown.append(table)
        show_forces(table)

    monkeypatch.setattr(inspector, "show_forces", show)

    def test(ctx: Any) -> None:
        ctx.item_open("//Inspector/###balance")
        ctx.yield_(3)
        table = shown[-1]
        assert table is not None
        assert [row.label for row in table.rows][:2] == ["gravity", "contact with floor"]
        np.testing.assert_allclose(table.rows[0].force, [0, 0, -2 * 9.81])
        np.testing.assert_allclose(table.sum(), table.inertia, atol=1e-9)
        screenshot(ctx, tmp_path / "forces.png")

    drive(window, test)


TOES = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="foot" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/>
      <site name="sole" type="box" size=".2 .2 .1"/>
      <body name="toe" pos=".1 0 0"><geom type="box" size=".05 .05 .05" mass="1"/></body></body>
  </worldbody>
  <sensor><touch name="touch" site="sole"/></sensor>
</mujoco>"""


def test_the_touch_panel_says_what_load_passes_by(tmp_path: Path) -> None:
    path = tmp_path / "toes.xml"
    path.write_text(TOES)
    window = make_window(path, steps=300)

    def test(ctx: Any) -> None:
        ctx.window_focus("//Touch")
        ctx.yield_(3)
        touch = window.app.session.engine.touch_sensors
        assert touch is not None
        passed = touch.passed_load("touch")
        assert passed is not None
        assert passed[0] == pytest.approx(0.5, abs=0.05)
        assert count_amber(screenshot(ctx, tmp_path / "touch.png")) > 20

    drive(window, test)


STACK = """<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="lower" pos="0 0 .1"><freejoint/><geom name="lower" type="box" size=".2 .2 .1"/></body>
    <body name="upper" pos="0 0 .3"><freejoint/><geom name="upper" type="box" size=".1 .1 .1"/></body>
    <body pos="1 0 .1"><freejoint/><geom name="nameless" type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <sensor>
    <contact name="c" geom1="lower" geom2="upper"/>
    <contact name="n" geom1="floor" geom2="nameless"/>
  </sensor>
</mujoco>
"""


def test_a_pair_is_excluded_from_the_menu_of_its_contact(tmp_path: Path) -> None:
    """The state stays to the bit, the bodies fall into each other, and undo lets them collide again."""
    path = tmp_path / "stack.xml"
    path.write_text(STACK)
    window = make_window(path, steps=100)

    def exclude(ctx: Any, entry: str) -> None:
        engine = window.app.session.engine
        ctx.item_click("//Inspector/**/0##contact", imgui.MouseButton_.right)
        ctx.yield_(3)
        ctx.item_click(f"//$FOCUSED/{entry}")
        wait(ctx, lambda: window.app.session.engine is not engine)
        ctx.yield_(2)

    def test(ctx: Any) -> None:
        before = window.app.session.engine.data
        exclude(ctx, "Exclude this pair")
        session = window.app.session
        np.testing.assert_array_equal(session.engine.data.qpos, before.qpos)
        np.testing.assert_array_equal(session.engine.data.qvel, before.qvel)
        session.simulation.step(30)
        assert session.engine.contacts("c").filled.sum() == 0
        assert session.engine.data.qpos[9] < before.qpos[9] - 1e-3
        assert path.read_text() == STACK
        window.app.undo()
        wait(ctx, lambda: window.app.session is not session)
        window.app.session.simulation.step()
        assert window.app.session.engine.contacts("c").filled.any()
        ctx.yield_(3)
        exclude(ctx, "Exclude it in the file too")
        wait(ctx, lambda: '<exclude body1="lower" body2="upper"/>' in path.read_text())
        wait(ctx, lambda: window.app.session.engine.model.nexclude == 1)
        reason = window.app.why_not_exclude(("world", "body 3"))
        assert reason is not None
        assert reason.startswith("body 3 has no name")

    drive(window, test)


def test_the_bodies_panel_lists_forces_pairs_and_what_touches_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(STACK)
    window = make_window(path, steps=200)

    def test(ctx: Any) -> None:
        ctx.window_focus("//Bodies")
        ctx.yield_(3)
        session = window.app.session
        screenshot(ctx, tmp_path / "bodies.png")
        assert session.explained_body == session.engine.model.body("lower").id
        engine = session.engine
        ctx.item_click("//Bodies/##start/lower##(1, 2)0", imgui.MouseButton_.right)
        ctx.item_click("//$FOCUSED/Exclude this pair")
        wait(ctx, lambda: window.app.session.engine is not engine)
        assert window.app.session.engine.model.nexclude == 1
        window.app.session.simulation.step()
        ctx.yield_(3)
        screenshot(ctx, tmp_path / "excluded.png")

    drive(window, test)


def test_a_right_click_on_a_contact_in_the_picture_offers_to_exclude_its_pair(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(STACK)
    window = make_window(path, steps=100)

    def test(ctx: Any) -> None:
        session = window.app.session
        model, menu = session.engine.model, window._body_menu
        menu.pick = Pick(model.body("upper").id, model.geom("upper").id, np.zeros(3), np.zeros(3))
        menu._contact = Highlight("c", 0)
        menu._due = time.monotonic()
        ctx.yield_(3)
        ctx.item_click("//$FOCUSED/Exclude this pair")
        wait(ctx, lambda: window.app.session is not session)
        assert window.app.session.engine.model.nexclude == 1
        assert window.app.undo_stack.last == "exclude lower x upper"

    drive(window, test)
