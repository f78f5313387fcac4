"""One key leaves the scene alone, and brings the panels back as they were."""

import re
import runpy
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.assets import bundled_scene
from contact_viewer.settings import Options
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, glfw_utils, imgui
from imgui_bundle import icons_fontawesome_6 as icons

import glfw  # isort: skip

from .driver import drawing, drive, make_window, screenshot, wait
from .text_room import recorded_text

SCENE = """
<mujoco><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="one" pos="0 0 .1"><freejoint/><geom size=".1"/></body>
  <body name="two" pos=".5 0 .1"><freejoint/><geom size=".1"/></body>
</worldbody>{}</mujoco>"""


def test_one_key_hides_all_panels_and_brings_them_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(""))
    window = make_window(path)

    def drawn_panels() -> dict[str, bool]:
        found = {panel.title: imgui.internal.find_window_by_name(panel.title) for panel in window.panels}
        return {title: each is not None and each.active and not each.hidden for title, each in found.items()}

    def test(ctx: Any) -> None:
        ctx.yield_(5)
        ctx.window_focus("//Events")
        window.toggle_panel("Controls")
        ctx.yield_(5)
        before, rect = drawn_panels(), window.viewport.rect
        assert before["Events"]
        assert not before["Plots"]
        ctx.key_press(imgui.Key.f5)
        ctx.yield_(5)
        assert not any(drawn_panels().values())
        left, _, right, _ = window.viewport.rect
        assert right - left > 0.99 * imgui.get_io().display_size.x
        ctx.key_press(imgui.Key.f5)
        wait(ctx, lambda: window.viewport.rect == rect)
        ctx.yield_(5)
        assert drawn_panels() == before

    drive(window, test)


def test_the_status_bar_counts_contacts_that_no_sensor_watches(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format('<sensor><contact name="first" body2="one"/></sensor>'))
    window = make_window(path, steps=300)

    def test(ctx: Any) -> None:
        with recorded_text() as drawn:
            ctx.yield_(3)
        assert any("1 of 2 contacts watched" in each.text for each in drawn)

    drive(window, test)


def test_legend_and_notices_get_out_of_the_way_of_what_moves(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format('<sensor><contact name="first" body2="one"/></sensor>'))
    window = make_window(path, steps=300)

    def rect(name: str) -> tuple[float, float, float, float]:
        found = imgui.internal.find_window_by_name(name)
        return found.pos.x, found.pos.y, found.pos.x + found.size.x, found.pos.y + found.size.y

    def covered(name: str) -> int:
        left, top, right, bottom = rect(name)
        x, y, _ = window.viewport.occupied.T
        return int(((left < x) & (x < right) & (top < y) & (y < bottom)).sum())

    def test(ctx: Any) -> None:
        view = window.app.session.view
        ctx.yield_(10)
        before = rect("##legend")
        assert covered("##legend") == 0
        # Both balls go behind the legend.
        with drawing():
            for _ in range(60):
                x, y, _ = window.viewport.occupied[0]
                view.pan(0.001 * (0.5 * (before[0] + before[2]) - x), 0.001 * (0.5 * (before[1] + before[3]) - y))
                ctx.yield_(1)
                if covered("##legend"):
                    break
            assert rect("##legend") == before
            wait(ctx, lambda: covered("##legend") == 0 and rect("##legend") != before, 10.0)
            ctx.yield_(5)
        # And stays there: it does not go to and fro.
        after = rect("##legend")
        ctx.yield_(30)
        assert rect("##legend") == after
        window.app.notices.add("a notice of some length, which is shown while the balls are at the top of the picture")
        with drawing():
            ctx.yield_(4)
            before = rect("##notice0")
            for _ in range(60):
                x, y, _ = window.viewport.occupied[0]
                view.pan(0.001 * (0.5 * (before[0] + before[2]) - x), 0.001 * (0.5 * (before[1] + before[3]) - y))
                ctx.yield_(1)
            wait(ctx, lambda: covered("##notice0") == 0 and rect("##notice0") != before, 10.0)

    drive(window, test)


def test_panels_of_a_narrow_window_are_in_one_drawer(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format('<sensor><contact name="first" body2="one"/></sensor>'))
    window = make_window(path, steps=300, width=1200, height=800)

    def shown() -> list[str]:
        found = {panel.title: imgui.internal.find_window_by_name(panel.title) for panel in window.panels}
        return [title for title, each in found.items() if each is not None and each.active and not each.hidden]

    def resize(ctx: Any, width: int, height: int) -> None:
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), width, height)
        wait(ctx, lambda: imgui.get_main_viewport().size.x == width)
        ctx.yield_(6)

    def test(ctx: Any) -> None:
        ctx.yield_(5)
        before = shown()
        assert {"Sensors", "Inspector"} <= set(before)
        resize(ctx, 420, 800)
        assert shown() == []
        left, _, right, _ = window.viewport.rect
        assert right - left > 410
        picture = screenshot(ctx, tmp_path / "closed.png")
        ctx.item_click("//##drawer/**/" + f"{icons.ICON_FA_BARS} Panels")
        ctx.yield_(3)
        assert window.drawer == "Sensors"
        ctx.item_click("//Panels###panels/##tabs/Display")
        ctx.yield_(3)
        assert window.drawer == "Display"
        assert (screenshot(ctx, tmp_path / "open.png") != picture).any()
        ctx.key_press(imgui.Key.f4)
        with recorded_text() as drawn:
            ctx.yield_(4)
        assert window.drawer == "Sensors"
        assert any(each.text == "first" for each in drawn)
        ctx.key_press(imgui.Key.f4)
        ctx.yield_(3)
        assert window.drawer is None
        resize(ctx, 1200, 800)
        assert shown() == before

    drive(window, test)


class Actions:
    """Clicks and keys of a user, counted."""

    def __init__(self, ctx: Any) -> None:
        self._ctx, self.count = ctx, 0

    def click(self, place: tuple[float, float]) -> None:
        self.count += 1
        self._ctx.mouse_move_to_pos(ImVec2(*place))
        self._ctx.mouse_click(0)
        self._ctx.yield_(4)

    def press(self, key: int) -> None:
        self.count += 1
        self._ctx.key_press(key)
        self._ctx.yield_(4)


@pytest.mark.parametrize("has_sensors", [True, False])
def test_jobs_of_a_new_user_take_few_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_sensors: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path, bundled = tmp_path / "walker.xml", bundled_scene("walker")
    assert bundled is not None
    text = bundled.path.read_text()
    path.write_text(text if has_sensors else re.sub(r"<sensor>.*?</sensor>", "", text, flags=re.DOTALL))
    control = runpy.run_path(str(bundled.path.with_suffix(".py")))["control"]
    window = Window(Application(open_engine(path, control=control), Options(path, width=1280, height=720, paused=True)))
    window.keeps_settings = False

    def rows(ctx: Any, panel: str) -> dict[float, list[str]]:
        """Texts in sight, from left to right, by the height of their line."""
        with recorded_text() as drawn:
            ctx.yield_(2)
            drawn.clear()
            ctx.yield_(2)
        lines: dict[float, dict[float, str]] = {}
        for each in sorted(drawn, key=lambda each: each.rect[1]):
            if panel in each.panel and each.in_sight:
                # A button's text stands a little above that of a cell.
                y = next((y for y in lines if abs(y - each.rect[1]) < 5), each.rect[1])
                lines.setdefault(y, {})[each.rect[0]] = each.text
        return {y: [line[x] for x in sorted(line)] for y, line in lines.items()}

    def tab(title: str) -> tuple[float, float]:
        rect = imgui.internal.find_window_by_name(title).dc.dock_tab_item_rect
        return 0.5 * (rect.min.x + rect.max.x), 0.5 * (rect.min.y + rect.max.y)

    def slid_ways() -> dict[str, float]:
        """How far the points of each foot that touch have moved in the steps so far, by their velocity [m]."""
        engine = open_engine(path, control=control)
        model, data, speed = engine.model, engine.data, np.zeros(6)
        ways = {"left_foot": 0.0, "right_foot": 0.0}
        for _ in range(window.app.session.history.last):  # type: ignore[union-attr]
            engine.step()
            for name in ways:
                body = int(model.geom(name).bodyid[0])
                mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
                at = [c.pos for c in data.contact if model.geom(name).id in c.geom]
                speeds = [
                    float(np.linalg.norm((speed[3:] + np.cross(speed[:3], pos - data.xpos[body]))[:2])) for pos in at
                ]
                ways[name] += model.opt.timestep * max(speeds, default=0.0)
        return ways

    def test(ctx: Any) -> None:
        session, user = window.app.session, Actions(ctx)
        for _ in range(45):
            session.take_steps(20)
            ctx.yield_(1)
        # Which foot slips?
        user.click(tab("Bodies"))
        assert user.count <= 2
        shown = [line for line in rows(ctx, "Bodies").values() if {"left_foot", "right_foot"} & set(line)]
        ways = {name: float(line[-1]) for line in shown for name in line[:2] if name.endswith("_foot")}
        assert ways
        truth = slid_ways()
        slipping = max(ways, key=lambda name: ways[name])
        assert ways[slipping] > 1.0
        # What creeps, and what slides too shortly for an event, is in the truth alone.
        assert 0.1 * truth[slipping] < 1e-3 * ways[slipping] < 1.1 * truth[slipping]
        # When? With the events in front, a click on one goes there.
        user.click(tab("Events"))
        lines = {y: line for y, line in rows(ctx, "Events").items() if any("_foot" in text for text in line)}
        y, line = next(iter(lines.items()))
        user.count = 0
        user.click((window.viewport.rect[0] + 40.0, y + 5.0))
        assert user.count == 1
        assert session.paused
        # What slides is known to slide a tenth of a second later.
        assert 0.0 <= session.engine.time - float(line[0]) + 0.003 < 0.15
        user.count = 0
        user.press(imgui.Key.f5)
        assert user.count == 1
        assert window.viewport.rect[0] < 2
        user.count = 0
        user.press(imgui.Key.mod_shift | imgui.Key.f9)
        assert user.count == 1
        assert session.settings.record_last == 10.0
        assert window.app.recorder.is_busy
        window.app.recorder.stop()

    drive(window, test)
