"""Compare window: open beside, jump to the first difference, link by touchdown, branch, save into the file, undo."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.app.application import open_application
from contact_viewer.mjmodel.model_changes import read_change
from contact_viewer.render.style import palette_colors
from contact_viewer.settings import Options
from contact_viewer.window.shell import PLOTS
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..driver import Pixels, drive, scene_part, screenshot, wait

BOX = """<mujoco>
  <option timestep="0.002" gravity="4 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction="0.1"/>
    <light pos="0 0 3"/>
    <body name="box" pos="0 0 .3"><freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="1" friction="{}"/></body>
  </worldbody>
  <sensor><contact name="box" geom1="floor" geom2="box" data="found force" num="4"/></sensor>
</mujoco>
"""


def make_window(path: Path, **options: Any) -> Window:
    app = open_application(Options(path, paused=True, width=1200, height=1000, **options))
    window = Window(app)
    window.keeps_settings = False
    return window


def count_pink(picture: Pixels) -> int:
    red, green, blue = (picture[..., i].astype(int) for i in range(3))
    return int(((red > green + 70) & (blue > green + 60)).sum())


def test_a_run_is_opened_beside_compared_and_linked(tmp_path: Path) -> None:
    path, other = tmp_path / "a.xml", tmp_path / "b.xml"
    path.write_text(BOX.format(0.9))
    other.write_text(BOX.format(0.2).replace('pos="0 0 .3"', 'pos="0 0 .4"'))
    window = make_window(path)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(400)
        ctx.menu_click("//##MainMenuBar/File/Open beside/Scene, run or log...")
        ctx.yield_(4)
        # This also presses Enter.
        ctx.item_input_value("//###files/##name", str(other))
        wait(ctx, lambda: app.beside.entries)
        wait(ctx, lambda: app.beside.comparison is not None and not app.beside.is_busy)
        (entry,) = app.beside.entries
        assert entry.run.newest_time == pytest.approx(0.8)
        assert app.beside.comparison is not None
        assert app.beside.comparison.first_state is not None
        # It starts higher.
        assert "qpos[2] of joint" in app.beside.comparison.first_state.text
        app.session.go_to(100)
        ctx.yield_(3)
        picture = screenshot(ctx, tmp_path / "beside.png")
        assert count_pink(scene_part(window, picture)) > 400
        ctx.item_click("//Compare/###jump")
        wait(ctx, lambda: app.session.engine.time == 0.0 == entry.run.shown.time)
        # Both fall on the floor at other times: linked, they touch at once.
        ctx.item_click("//Compare/##link")
        ctx.item_click("//$FOCUSED/by touchdown")
        ctx.yield_(3)
        fall = np.sqrt(2 * 0.3 / 9.81) - np.sqrt(2 * 0.2 / 9.81)
        assert entry.run.lag == pytest.approx(fall, abs=0.005)
        app.session.go_to_time(float(np.sqrt(2 * 0.2 / 9.81)) + 0.004)
        ctx.yield_(3)
        assert float(entry.run.shown.contacts("box").found) > 0
        assert float(app.session.engine.contacts("box").found) > 0
        # Eye off: nothing of it is drawn, and its curves go.
        ctx.item_click("//Compare/0/###visible")
        ctx.yield_(2)
        assert app.beside.shown is None
        assert not app.session.beside
        hidden = scene_part(window, screenshot(ctx, tmp_path / "hidden.png"))
        assert count_pink(hidden) < 20

    drive(window, test)


def test_a_branch_is_made_saved_and_undone(tmp_path: Path) -> None:
    path = tmp_path / "slide.xml"
    path.write_text(BOX.format(0.2))
    before = path.read_text()
    window = make_window(path)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(400)
        app.session.go_to(250)
        ctx.yield_(2)
        ctx.key_down(imgui.Key.mod_ctrl)
        ctx.key_press(imgui.Key.b)
        ctx.key_up(imgui.Key.mod_ctrl)
        ctx.yield_(4)
        form = window.contents["Compare"].form
        assert form.is_open
        window.branch_here("friction", "box")
        ctx.yield_(3)
        # What the model has is offered.
        ctx.item_input_value("//Compare/##value", "0.9")
        ctx.item_click("//Compare/###branch")
        wait(ctx, lambda: app.beside.entries and not app.beside.is_busy)
        (entry,) = app.beside.entries
        assert entry.title == "friction:box=0.9"
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 250)
        model.geom_friction[1, 0] = 0.9
        mujoco.mj_step(model, data, 150)
        assert entry.run.history is not None
        entry.run.go_to(entry.run.history.last)
        np.testing.assert_allclose(entry.run.shown.data.qpos, data.qpos, atol=1e-9)
        app.session.go_to(400)
        ctx.yield_(3)
        assert count_pink(scene_part(window, screenshot(ctx, tmp_path / "branch.png"))) > 400
        ctx.item_click("//Compare/0/###save")
        wait(ctx, lambda: app.session.engine.model.geom_friction[1, 0] == 0.9)
        changed = [b for a, b in zip(before.splitlines(), path.read_text().splitlines(), strict=True) if a != b]
        assert len(changed) == 1
        assert 'friction="0.9 ' in changed[0]
        # The reload keeps it beside.
        assert app.beside.shown is entry
        assert app.session.beside == [entry.run]
        app.undo()
        wait(ctx, lambda: path.read_text() == before and app.session.engine.model.geom_friction[1, 0] == 0.2)
        ctx.item_click("//Compare/0/###go on")
        ctx.yield_(4)
        assert [each.title for each in app.beside.entries] == ["the run before"]
        assert app.session.engine.model.geom_friction[1, 0] == 0.9
        np.testing.assert_allclose(app.session.engine.data.qpos, data.qpos, atol=1e-9)

    drive(window, test)


def test_a_branch_has_another_constant_of_the_controller(tmp_path: Path) -> None:
    path, control = tmp_path / "box.xml", tmp_path / "push.py"
    path.write_text(BOX.format(0.9))
    control.write_text("PUSH = 2.5\ndef control(model, data):\n    data.xfrc_applied[1, 0] = PUSH\n")
    window = make_window(path, control=str(control))
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(300)
        app.session.go_to(100)
        window.branch_here("constant", "PUSH")
        ctx.yield_(4)
        form = window.contents["Compare"].form
        assert form._text == "2.5"
        ctx.item_click("//Compare/###add")
        ctx.yield_(2)
        assert "has that value already" in form.message.text
        ctx.item_input_value("//Compare/##value", "7.5")
        ctx.item_click("//Compare/###branch")
        wait(ctx, lambda: app.beside.entries and not app.beside.is_busy)
        (entry,) = app.beside.entries
        assert entry.title == "constant:PUSH=7.5"
        app.session.go_to(300)
        wait(ctx, lambda: entry.run.shown.time == app.session.engine.time)
        assert entry.run.shown.data.xfrc_applied[1, 0] == 7.5
        assert entry.run.newest_time == pytest.approx(0.6)
        assert any("called again" in note for note in entry.notes)
        # Another quantity has its own objects again.
        window.branch_here("friction", "floor")
        ctx.yield_(3)
        assert float(form._text) == app.session.engine.model.geom("floor").friction[0]

    drive(window, test)


def test_each_run_keeps_to_its_part_of_a_row_of_the_raster(tmp_path: Path) -> None:
    path = tmp_path / "slide.xml"
    path.write_text(BOX.format(0.2))
    window = make_window(path)
    app = window.app
    sliding = palette_colors(app.session.engine.model, app.session.settings.gizmos.palette).sliding

    def test(ctx: Any) -> None:
        app.session.take_steps(900)
        app.beside.branch([read_change("friction:box=0.9")], 0)
        wait(ctx, lambda: not app.beside.is_busy)
        window.dockable(PLOTS).focus_window_at_next_frame = True
        ctx.yield_(6)
        picture = screenshot(ctx, tmp_path / "raster.png").astype(int)
        left, top, width, height = (round(value) for value in window.contents["Plots"]._strips)
        raster = picture[top : top + height, left : left + width]
        slides = (abs(raster - np.multiply(sliding[:3], 255)) < 12).all(axis=-1)
        pink = (raster[..., 0] > raster[..., 1] + 70) & (raster[..., 2] > raster[..., 1] + 60)
        # Of one row, from top to bottom: contact of this run, how long it slides, contact of the one beside.
        (own,), (other,) = ((np.flatnonzero(each.sum(axis=1) > 50),) for each in (slides, pink))
        assert len(own) >= 1
        assert len(other) >= 3
        assert own.max() < 0.5 * height < other.min()
        # The strip beside is covered nowhere; below its upper rows are the marks of the time axis.
        assert pink[other[:2]][:, slides.any(axis=0)].all()

    drive(window, test, drawn=True)


def test_a_cure_is_found_and_tried_as_a_branch(tmp_path: Path) -> None:
    path = tmp_path / "slide.xml"
    path.write_text(BOX.format(0.2))
    window = make_window(path)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(300)
        ctx.window_focus("//Compare")
        ctx.yield_(3)
        ctx.item_click("//Compare/###cure")
        ctx.yield_(2)
        window.contents["Compare"].cures._seconds = 1.0
        # Gravity along the floor is 0.41 of that across it: below this friction the box slides.
        ctx.item_input_value("//Compare/##limit", "20mm")
        ctx.item_click("//Compare/###search")
        wait(ctx, lambda: app.cures.cures is not None and not app.cures.is_running, 60)
        cures = app.cures.cures
        assert cures is not None
        assert cures.happens
        best = next(cure for cure in cures.singles if cure.changes[0].quantity == "friction")
        assert 0.4 < best.changes[0].value[0] < 1.0
        place = cures.singles.index(best)
        screenshot(ctx, tmp_path / "cures.png")
        ctx.item_click(f"//Compare/One change{place}/###try")
        wait(ctx, lambda: app.beside.entries and not app.beside.is_busy)
        (entry,) = app.beside.entries
        entry.run.go_to(300)
        app.session.go_to(300)
        slid, held = (float(run.shown.data.qpos[0]) for run in (app.session.simulation, entry.run))
        assert slid > 0.1
        assert held < 0.3 * slid
        # A limit that makes no sense is said in one line, and starts nothing.
        ctx.item_input_value("//Compare/##limit", "1 parsec")
        ctx.item_click("//Compare/###also")
        ctx.yield_(2)
        assert "no unit of slip" in window.contents["Compare"].cures.message.text
        assert not app.cures.is_running

    drive(window, test)
