"""The window at the sizes that people have: every text has its room, axes are in sight, layouts stay sane."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from contact_viewer.assets import bundled_scene
from contact_viewer.window.panels.menus import DOCUMENTATION, FIRST_STEPS
from contact_viewer.window.shell import EVENTS, INSPECTOR, PLOTS, SENSOR_EDITOR, SENSORS, TOUCH
from contact_viewer.window.window import Window
from imgui_bundle import glfw_utils, imgui, implot

import glfw  # isort: skip

from .driver import drive, make_window, screenshot
from .text_room import DrawnText, recorded_text

SIZES = [(1024, 700), (1280, 720), (1600, 900), (2560, 1440), (3840, 2160)]


def open_window(size: tuple[int, int], scene: str = "quadruped") -> Window:
    found = bundled_scene(scene)
    assert found is not None
    return make_window(found.path, width=size[0], height=size[1], quality="low")


def show(window: Window, ctx: Any, title: str) -> None:
    window.dockable(title).focus_window_at_next_frame = True
    ctx.yield_(2)


def texts_of_panels(window: Window, ctx: Any) -> Iterator[tuple[str, list[DrawnText]]]:
    """Each panel's title, and all texts of a frame in which it is in front."""
    for title in (INSPECTOR, SENSOR_EDITOR, PLOTS, EVENTS, TOUCH):
        show(window, ctx, title)
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
        yield title, drawn


def troubles(drawn: list[DrawnText]) -> list[str]:
    """What is cut, and what is printed over something else."""
    cut = [f"{each.panel}: {each.text!r} is cut: {each.rect} in {each.room}" for each in drawn if each.cut]
    return cut + printed_over(drawn)


def printed_over(drawn: list[DrawnText]) -> list[str]:
    panels: dict[str, list[DrawnText]] = {}
    for each in drawn:
        panels.setdefault(each.panel, []).append(each)
    return [
        f"{one.panel}: {one.text!r} over {other.text!r}"
        for texts in panels.values()
        for one, other in combinations(texts, 2)
        if one.covers(other)
    ]


def overlay_rect(name: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a small window over the scene [px]."""
    window = imgui.internal.find_window_by_name(f"##{name}")
    assert window is not None
    return window.pos.x, window.pos.y, window.pos.x + window.size.x, window.pos.y + window.size.y


@pytest.mark.parametrize("size", SIZES[:3], ids=lambda size: f"{size[0]}x{size[1]}")
def test_notices_leave_the_legend_in_sight(size: tuple[int, int]) -> None:
    window = open_window(size)

    def test(ctx: Any) -> None:
        window.app.session.take_steps(300)
        for text in ("nested/scene.xml: line 1: no such file", "saved scene-001.png"):
            window.app.notices.add(text, warning=True)
        ctx.yield_(4)
        legend, *notices = (overlay_rect(name) for name in ("legend", "notice0", "notice1"))
        for notice in notices:
            beside = notice[0] >= legend[2] or legend[0] >= notice[2]
            assert beside or notice[1] >= legend[3] or legend[1] >= notice[3]
            assert notice[3] < window.viewport.rect[3]

    drive(window, test)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_text_has_its_room_and_axes_are_in_sight(size: tuple[int, int], tmp_path: Path) -> None:
    window = open_window(size)
    found: list[str] = []

    def test(ctx: Any) -> None:
        session = window.app.session
        session.take_steps(300)
        ctx.yield_(2)
        for title, drawn in texts_of_panels(window, ctx):
            assert any(each.panel.startswith(title) for each in drawn), title
            found.extend(troubles(drawn))
        show(window, ctx, PLOTS)
        check_plots(window, ctx)
        session.settings.plots.by_sensor = True
        ctx.yield_(2)
        check_plots(window, ctx)
        picture = screenshot(ctx, tmp_path / "window.png")
        assert picture.shape == (size[1], size[0], 3)

    drive(window, test)
    assert not found, "\n".join(dict.fromkeys(found))


@pytest.mark.parametrize(("scene", "expected"), [("hand", "middle × ball"), ("stack", "geom table × geom base")])
def test_what_sensors_match_has_its_kinds_in_all_rows_or_in_none(scene: str, expected: str) -> None:
    window = open_window(SIZES[0], scene)

    def test(ctx: Any) -> None:
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
        labels = [each.text for each in drawn if each.panel.startswith(SENSORS) and " × " in each.text]
        assert expected in labels
        assert len({label.startswith(("geom ", "body ", "subtree ")) for label in labels}) == 1, labels

    drive(window, test)


@pytest.mark.parametrize("scene", ["gripper", "pile", "touch"])
def test_nothing_is_printed_over_something_else_in_the_smallest_window(scene: str) -> None:
    """Scenes with long modes, many contacts, and touch sensors."""
    window = open_window(SIZES[0], scene)
    found: list[str] = []

    def test(ctx: Any) -> None:
        window.app.session.take_steps(300)
        for _, drawn in texts_of_panels(window, ctx):
            found.extend(printed_over(drawn))
        assert any(each.text.startswith("netforce") for each in drawn)
        if scene == "touch":
            check_touch(ctx)

    drive(window, test)
    assert not found, "\n".join(dict.fromkeys(found))


def test_no_two_rows_read_the_same_in_the_smallest_window(tmp_path: Path) -> None:
    """Names as those of real hands, which differ in their middle, in sensors and in what touches."""
    names = [f"left_hand_{finger}_{i}_collision_geom" for finger in ("thumb", "middle") for i in range(3)]
    geoms = "".join(
        f'<body pos="{0.3 * i} 0 0.099"><freejoint/><geom name="{name}" size="0.1"/></body>'
        for i, name in enumerate(names)
    )
    sensors = "".join(f'<contact name="{name}_on_the_floor" geom1="floor" geom2="{name}"/>' for name in names)
    scene = tmp_path / "hand.xml"
    scene.write_text(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="3 3 1"/>{geoms}</worldbody>'
        f"<sensor>{sensors}</sensor></mujoco>"
    )
    window = make_window(scene, width=SIZES[0][0], height=SIZES[0][1], quality="low")

    def check(ctx: Any, panel: str, mark: str) -> None:
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
        rows = [each for each in drawn if each.panel.startswith(panel) and mark in each.text]
        assert len(rows) >= 4
        assert len({each.text for each in rows}) == len(rows)
        assert all(each.rect[2] <= each.room[2] + 1 for each in rows)

    def test(ctx: Any) -> None:
        window.app.session.take_steps(20)
        show(window, ctx, SENSOR_EDITOR)
        check(ctx, SENSOR_EDITOR, "floor × ")
        check(ctx, SENSORS, "hand")

    drive(window, test)


def check_touch(ctx: Any) -> None:
    """The curve of the selected sensor is in sight, down to its time axis."""
    bottoms: list[float] = []

    def end_plot() -> None:
        bottoms.append(implot.get_plot_pos().y + implot.get_plot_size().y)
        original()

    original = implot.end_plot
    with patch.object(implot, "end_plot", end_plot):
        ctx.yield_(1)
    panel = ctx.window_info("//Touch").window
    assert bottoms[0] + 1.5 * imgui.get_text_line_height() < panel.pos.y + panel.size.y


def test_dialogs_have_room_for_their_text(tmp_path: Path) -> None:
    window = open_window(SIZES[0])
    found: list[str] = []

    def look(ctx: Any, panel: str) -> None:
        ctx.yield_(3)
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
            inside = [each for each in drawn if each.panel.startswith(panel)]
            assert len(inside) > 5, panel
            assert all(each.in_sight for each in inside), panel
            found.extend(troubles(inside))

    def test(ctx: Any) -> None:
        window.help_shown = True
        look(ctx, "Keys and mouse")
        window.help_shown = False
        for page in (FIRST_STEPS, DOCUMENTATION):
            window.help_page = page
            ctx.yield_(1)
        window.help_page = None
        window.choose_scene()
        look(ctx, "Open a scene")
        ctx.key_press(imgui.Key.escape)
        ctx.item_click("**/###record")
        look(ctx, "##Popup")
        # Above its button, not at the other end of the window.
        popup = imgui.get_current_context().open_popup_stack[0].window
        assert popup.pos.y + popup.size.y == pytest.approx(ctx.item_info("**/###record").rect_full.min.y, abs=20)

    drive(window, test)
    assert not found, "\n".join(dict.fromkeys(found))


def test_figures_profiler_and_legend_leave_each_other_room() -> None:
    window = open_window(SIZES[0])

    def test(ctx: Any) -> None:
        window.info_shown = window.profiler_shown = True
        ctx.yield_(4)
        panes = [ctx.window_info(f"//##{name}").window for name in ("info", "profiler", "legend")]
        for one, other in combinations(panes, 2):
            wide = min(one.pos.x + one.size.x, other.pos.x + other.size.x) - max(one.pos.x, other.pos.x)
            high = min(one.pos.y + one.size.y, other.pos.y + other.size.y) - max(one.pos.y, other.pos.y)
            assert wide <= 0 or high <= 0, (one.name, other.name)

    drive(window, test)


def check_plots(window: Window, ctx: Any) -> None:
    """Plots take half of their panel, and their time axis is in sight."""
    panel = ctx.window_info("//Plots").window
    assert panel.scroll_max.y == 0.0
    raster = ctx.item_info("//Plots/##raster").rect_full
    assert raster.max.y <= panel.pos.y + panel.size.y
    # Room for the labels of the time axis below the strips, and for half of the last one beside them.
    assert raster.get_height() > 1.5 * imgui.get_text_line_height()
    strips = window.contents["Plots"]._strips
    assert raster.max.x - (strips.x + strips.z) >= 0.5 * imgui.calc_text_size("10 s").x
    if not window.app.session.settings.plots.by_sensor:
        assert ctx.item_info("//Plots/force##plot").rect_full.get_height() >= 0.45 * panel.size.y


def sides(window: Window) -> tuple[float, float, float]:
    """Widths of the left and right panels and height of the bottom ones, as parts of the window."""
    left, _, right, bottom = window.viewport.rect
    size = imgui.get_io().display_size
    return left / size.x, (size.x - right) / size.x, (size.y - bottom) / size.y


@pytest.mark.parametrize(("made", "opened"), [((2560, 1440), (1024, 700)), ((1024, 700), (2560, 1440))])
def test_a_layout_made_at_one_size_is_sane_at_another(made: tuple[int, int], opened: tuple[int, int]) -> None:
    window = open_window(made)

    def test(ctx: Any) -> None:
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), *opened)
        ctx.yield_(6)
        assert imgui.get_io().display_size.x == opened[0]
        left, right, bottom = sides(window)
        assert left * opened[0] >= 225
        assert right * opened[0] >= 295
        assert left + right < 0.56
        assert bottom < 0.65

    drive(window, test)


def test_scale_and_font_size_are_chosen_in_the_menu(tmp_path: Path) -> None:
    window = open_window((1024, 700))

    def test(ctx: Any) -> None:
        session = window.app.session
        ctx.yield_(4)
        usual, right = imgui.get_font_size(), window.viewport.rect[2]
        ctx.menu_click("//##MainMenuBar/View/UI scale/150 %")
        ctx.yield_(4)
        assert imgui.get_font_size() == pytest.approx(1.5 * usual, abs=0.6)
        assert window.viewport.rect[2] < right - 50
        ctx.menu_click("//##MainMenuBar/View/Font size/12 px")
        ctx.yield_(4)
        assert imgui.get_font_size() == pytest.approx(1.5 * 0.8 * usual, abs=0.6)
        assert (session.settings.ui_scale, session.settings.font_size) == (1.5, 12.0)

    drive(window, test)


def test_a_dense_screen_has_larger_text(tmp_path: Path) -> None:
    """Where the screen has twice the dots an inch, everything is twice as large without a setting."""
    window = open_window((1920, 1200))
    found: list[str] = []

    def test(ctx: Any) -> None:
        imgui.get_style().font_scale_dpi = 2.0
        ctx.yield_(8)
        assert imgui.get_font_size() == pytest.approx(30, rel=0.02)
        assert imgui.get_style().window_padding.x == pytest.approx(20)
        assert sides(window)[0] * 1920 >= 450
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
            found.extend(troubles(drawn))
        screenshot(ctx, tmp_path / "dense.png")

    drive(window, test)
    assert not found, "\n".join(dict.fromkeys(found))
