"""One key leaves the scene alone, and brings the panels back as they were."""

from pathlib import Path
from typing import Any

from imgui_bundle import glfw_utils, imgui
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
