"""The Touch window as a user uses it: clicks, drags and typing in, devices, file and pixels out."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from contact_viewer.touch.declaration import parse_touch
from contact_viewer.touch.touch_sensors import TouchSensors
from contact_viewer.window.layout import window_params
from contact_viewer.window.panels.touch import TouchPanel
from contact_viewer.window.theme import apply_theme, load_fonts
from imgui_bundle import ImVec2, hello_imgui, imgui, implot
from numpy.typing import NDArray

from ..driver import drive, make_window, run, screenshot, undrawn

SCENE = """<mujoco>
  <custom>
    <!-- what the robot feels -->
    <text name="touch:sole" data="type=force site=sole table='0 0 0, 100 1000 0'"/>
    <text name="touch:bump" data="site=sole period=4"/>
    <text name="touch:vector" data="type=force-3d site=tilted table=''"/>
    {entries}
  </custom>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="box" pos="0 0 {height}">
      <freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="5"/>
      <site name="sole" type="box" size=".02 .11 .11" pos="{place} 0 -.1" xyaxes="0 0 -1 0 1 0"/>
      <site name="tilted" type="box" size=".2 .2 .2" euler="30 40 0"/>
    </body>
  </worldbody>
</mujoco>"""


class Window:
    """The panel alone in a window, over a scene that stands still."""

    def __init__(self, path: Path, entries: str = "", height: float = 0.1, place: float = 0.0) -> None:
        path.write_text(SCENE.format(entries=entries, height=height, place=place))
        self.path = path
        self.engine = open_engine(path)
        assert self.engine.touch_sensors is not None
        self.touch = self.engine.touch_sensors
        self.session = Session(self.engine, ViewState())
        self.shell: Any = SimpleNamespace(app=self)
        self.panel = TouchPanel()
        self.points: list[ImVec2] = []
        """Where the points of the lookup table are, in pixels."""
        for _ in range(500):
            self.engine.step()

    def show(self) -> None:
        self.points.clear()
        imgui.set_next_window_pos(ImVec2(0, 0))
        imgui.set_next_window_size(imgui.get_io().display_size)
        imgui.begin("Touch", None, imgui.WindowFlags_.no_saved_settings)
        self.panel.show(self.shell)
        imgui.end()

    def drive(self, test: Callable[[Any], None], size: tuple[int, int] = (1300, 420)) -> None:
        """Run the window and a test inside it."""
        params = hello_imgui.RunnerParams()
        params.app_window_params.window_geometry.size = size
        params.ini_disable = True
        # All windows of a process have the kind of OpenGL that the first one asks for.
        params.renderer_backend_options = window_params(None, keeps_settings=False).renderer_backend_options
        failures: list[BaseException] = []

        def guard(call: Callable[..., None]) -> Callable[..., None]:
            def guarded(*arguments: Any) -> None:
                try:
                    if not failures:
                        call(*arguments)
                except BaseException as error:
                    failures.append(error)

            return guarded

        def start() -> None:
            implot.create_context()

        def style(ctx: Any) -> None:
            apply_theme(self.session.settings.theme)
            ctx.yield_(3)
            test(ctx)

        original = implot.drag_point

        def drag_point(index: int, x: float, y: float, *rest: Any) -> Any:
            self.points.append(implot.plot_to_pixels(x, y))
            return original(index, x, y, *rest)

        params.callbacks.default_icon_font = hello_imgui.DefaultIconFont.font_awesome6
        params.callbacks.load_additional_fonts = load_fonts
        params.callbacks.post_init = start
        params.callbacks.show_gui = guard(self.show)
        params.callbacks.before_exit = implot.destroy_context
        try:
            with undrawn(params), patch.object(implot, "drag_point", drag_point):
                run(params, guard(style))
        except RuntimeError as error:
            raise failures[0] if failures else error from None
        if failures:
            raise failures[0]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return tmp_path / "robot.xml"


def picture(ctx: Any, path: Path) -> NDArray[np.int64]:
    return screenshot(ctx, path).astype(np.int64)


def count(pixels: NDArray[np.int64], kind: str) -> int:
    """Pixels of a colour that panels have for one thing only."""
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    return int(
        {
            "lamp": (red > 230) & (green > 150) & (green < 200) & (blue < 60),
            "warning": (red > 200) & (green > 150) & (green < 200) & (blue > 60) & (blue < 110),
            "pink": (red > green + 60) & (blue > green + 20),
            "lime": (green > blue + 70) & (red > blue + 60),
            "cyan": (green > red + 80) & (blue > red + 80),
        }[kind].sum()
    )


def row(ctx: Any, name: str) -> None:
    ctx.item_click(f"//Touch/**/{name}/##row")
    ctx.yield_(2)


def choose(ctx: Any, label: str, choice: str) -> None:
    """Open one of the editor's lists, which wildcards do not find, and click a line of it."""
    ctx.set_ref(ctx.window_info("//Touch/##editor").id_)
    ctx.item_click(label)
    ctx.set_ref("")
    ctx.item_click(f"//$FOCUSED/{choice}")


@pytest.mark.parametrize(("height", "lit"), [(0.1, True), (5.0, False)])
def test_the_lamp_is_lit_in_contact(scene: Path, tmp_path: Path, height: float, lit: bool) -> None:
    window = Window(scene, height=height)

    def test(ctx: Any) -> None:
        assert (count(picture(ctx, tmp_path / "lamp.png"), "lamp") > 50) == lit

    window.drive(test)


@pytest.mark.parametrize(("place", "warned"), [(0.0, False), (0.15, True)])
def test_contacts_outside_the_site_are_warned_of(scene: Path, tmp_path: Path, place: float, warned: bool) -> None:
    window = Window(scene, place=place)
    assert window.touch.outside("sole") == (2 if warned else 0)

    def test(ctx: Any) -> None:
        assert (count(picture(ctx, tmp_path / "site.png"), "warning") > 50) == warned

    window.drive(test)


def test_wrong_entries_are_shown(scene: Path, tmp_path: Path) -> None:
    window = Window(scene, entries='<text name="touch:typo" data="site=heel"/>')

    def test(ctx: Any) -> None:
        assert count(picture(ctx, tmp_path / "typo.png"), "warning") > 100

    window.drive(test)


def test_rows_select_and_eyes_hide(scene: Path, tmp_path: Path) -> None:
    window = Window(scene)
    # Curves of two seconds, one fifth of the plot.
    window.engine.step(500)

    def test(ctx: Any) -> None:
        assert window.panel.selected == "sole"
        before = picture(ctx, tmp_path / "before.png")
        row(ctx, "vector")
        assert window.panel.selected == "vector"
        after = picture(ctx, tmp_path / "after.png")
        curves = slice(round(0.36 * after.shape[1]), round(0.64 * after.shape[1]))
        for axis in ("pink", "lime", "cyan"):
            assert count(before[:, curves], axis) == 0
            assert count(after[:, curves], axis) > 40
        ctx.item_click("//Touch/**/bump/###visible")
        assert [sensor.visible for sensor in window.touch] == [True, False, True]

    window.drive(test)


def test_a_dragged_point_shows_at_once(scene: Path, tmp_path: Path) -> None:
    window = Window(scene)

    def test(ctx: Any) -> None:
        assert window.touch.value("sole") == pytest.approx([490.5], rel=1e-3)
        before = picture(ctx, tmp_path / "before.png")
        start, point = window.points
        ctx.mouse_move_to_pos(point)
        ctx.mouse_down(0)
        ctx.mouse_move_to_pos(ImVec2(point.x, (start.y + point.y) / 2))
        ctx.yield_(2)
        # Half as high, while the button is still down and no step is taken.
        force, output, _ = window.touch["sole"].device.lookup_table[1]
        assert force == pytest.approx(100, abs=2)
        assert output == pytest.approx(500, abs=30)
        assert window.touch.value("sole") == pytest.approx([245], abs=15)
        # No farther than its neighbour, and the plot stays as it is.
        ctx.mouse_move_to_pos(ImVec2(start.x - 30, point.y))
        ctx.yield_(2)
        force, output, _ = window.touch["sole"].device.lookup_table[1]
        assert 0 < force < 1
        assert output == pytest.approx(1000, abs=30)
        ctx.mouse_up(0)
        assert window.touch["sole"].modified
        after = picture(ctx, tmp_path / "after.png")
        curves = slice(round(0.36 * after.shape[1]), round(0.64 * after.shape[1]))
        assert np.abs(after[:, curves] - before[:, curves]).max(axis=2).astype(bool).sum() > 300

    window.drive(test)


def test_rows_of_the_table_can_be_typed_added_and_removed(scene: Path) -> None:
    window = Window(scene)
    device = window.touch.device("sole")

    def enter(ctx: Any, place: int, column: int, text: str) -> None:
        ctx.item_input(f"//Touch/**/$${place}/##{column}")
        ctx.key_chars_replace_enter(text)
        ctx.yield_(2)

    def test(ctx: Any) -> None:
        enter(ctx, 1, 2, "0.25")
        assert device.lookup_table == ((0, 0, 0), (100, 1000, 0.25))
        enter(ctx, 1, 0, "-4")
        assert device.lookup_table == ((0, 0, 0), (100, 1000, 0.25))
        assert "larger force" in window.panel.editor.message.text
        ctx.item_click("//Touch/**/###row")
        assert device.lookup_table == ((0, 0, 0), (100, 1000, 0.25), (200, 2000, 0.25))
        ctx.item_click("//Touch/**/$$1/###remove")
        assert device.lookup_table == ((0, 0, 0), (200, 2000, 0.25))
        ctx.item_click("//Touch/**/Newtons")
        assert device.lookup_table == ()
        assert window.touch.value("sole") == pytest.approx([49.05], rel=1e-3)
        ctx.item_click("//Touch/**/Default")
        assert window.touch.value("sole") == pytest.approx([490.5], rel=1e-3)
        ctx.item_click("//Touch/**/Revert")
        assert not window.touch["sole"].modified

    window.drive(test, size=(1300, 700))


def test_settings_make_another_device(scene: Path) -> None:
    window = Window(scene)

    def test(ctx: Any) -> None:
        choose(ctx, "type", "force-3d")
        ctx.yield_(2)
        ctx.item_input("//Touch/**/period")
        ctx.key_chars_replace_enter("20")
        ctx.item_input("//Touch/**/resolution")
        ctx.key_chars_replace_enter("100")
        ctx.yield_(2)
        expected = "type=force-3d site=sole table='0 0 0, 100 1000 0' resolution=100 period=20"
        assert window.touch["sole"].declaration == parse_touch("sole", expected)
        for _ in range(20):
            window.engine.step()
        assert window.touch.value("sole").tolist() == [-500, 0, 0]
        choose(ctx, "measure", "mount")
        ctx.yield_(2)
        assert "attached to another one" in window.panel.editor.message.text
        assert window.touch["sole"].device.measure == "contact"

    window.drive(test)


def test_add_copy_and_save(scene: Path) -> None:
    window = Window(scene)
    text = scene.read_text()

    def test(ctx: Any) -> None:
        ctx.item_click("//Touch/**/###add")
        ctx.item_click("//$FOCUSED/Add sensor")
        assert "needs a name" in window.panel.editor.message.text
        ctx.item_input("//$FOCUSED/name")
        ctx.key_chars_replace("sole")
        ctx.item_click("//$FOCUSED/Add sensor")
        assert "already a touch sensor named 'sole'" in window.panel.editor.message.text
        ctx.item_input("//$FOCUSED/name")
        ctx.key_chars_replace("nose")
        ctx.item_click("//$FOCUSED/on")
        ctx.item_click("//$FOCUSED/body box")
        ctx.item_click("//$FOCUSED/Add sensor")
        ctx.yield_(2)
        assert window.panel.selected == "nose"
        entry = '<text name="touch:nose" data="type=force body=box"/>'
        ctx.item_click("//Touch/**/Copy MJCF")
        assert imgui.get_clipboard_text() == entry
        assert scene.read_text() == text
        ctx.item_click("//Touch/**/Save to file")
        ctx.yield_(2)
        assert scene.read_text() == text.replace("\n    \n  </custom>", f"\n    {entry}\n  </custom>")
        assert not window.touch["nose"].modified
        assert [sensor.name for sensor in TouchSensors(open_engine(scene))] == ["sole", "bump", "vector", "nose"]
        scene.unlink()
        window.touch.change("nose", resolution=3)
        ctx.yield_(2)
        ctx.item_click("//Touch/**/Save to file")
        assert "robot.xml" in window.panel.editor.message.text
        assert window.touch["nose"].modified

    window.drive(test)


@pytest.mark.parametrize("size", [(1300, 420), (360, 900)])
def test_a_scene_without_touch_sensors(tmp_path: Path, size: tuple[int, int]) -> None:
    window = Window(tmp_path / "robot.xml")
    path = tmp_path / "bare.xml"
    path.write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    window.session = Session(open_engine(path), ViewState())

    def test(ctx: Any) -> None:
        assert window.panel.selected is None
        ctx.item_click("//Touch/**/###add")
        ctx.yield_(2)

    window.drive(test, size)


def test_a_narrow_window_and_mujocos_own_sensors(tmp_path: Path) -> None:
    window = Window(tmp_path / "robot.xml")
    path = tmp_path / "own.xml"
    text = SCENE.format(entries="", height=0.1, place=0)
    path.write_text(text.replace("</mujoco>", '<sensor><touch name="own" site="sole"/></sensor></mujoco>'))
    window.session = Session(open_engine(path), ViewState())

    def test(ctx: Any) -> None:
        row(ctx, "own")
        assert window.panel.selected == "own"
        assert not ctx.item_exists("//Touch/**/Copy MJCF")

    window.drive(test, (360, 1000))


def test_curves_begin_at_the_first_sample_and_then_follow(tmp_path: Path) -> None:
    window = make_window("touch", quality="low", width=1400, height=860)
    spans: list[tuple[float, float]] = []
    original = implot.end_plot

    def end_plot() -> None:
        limits = implot.get_plot_limits().x
        spans.append((limits.min, limits.max))
        original()

    def shown(ctx: Any) -> list[tuple[float, float]]:
        spans.clear()
        with patch.object(implot, "end_plot", end_plot):
            ctx.yield_(2)
        # Not the lookup table's.
        return [(start, end) for start, end in spans if end - start == pytest.approx(10.0)]

    def test(ctx: Any) -> None:
        session = window.app.session
        ctx.window_focus("//Touch")
        session.take_steps(800)
        ctx.yield_(3)
        first = shown(ctx)
        assert first
        assert all(0.0 <= start < 0.1 for start, _ in first)
        screenshot(ctx, tmp_path / "touch.png")
        session.take_steps(6000)
        ctx.yield_(3)
        assert [end for _, end in shown(ctx)] == pytest.approx([session.engine.time] * len(first), abs=0.1)

    drive(window, test)
