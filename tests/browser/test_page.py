"""The real page in a real browser: see the scene, click, type, come back."""

import base64
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.assets import bundled_scene
from imgui_bundle import icons_fontawesome_6 as icons
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .driver import (
    PROGRAM,
    REST,
    Pixels,
    Served,
    boxes,
    changes,
    click,
    count_green,
    differs,
    has_own_size,
    is_still,
    message,
    mouse,
    move,
    number,
    open_page,
    picture,
    press,
    scene_part,
    serve,
    wait,
)
from .watched import LEGEND, SCENE

WATCH_SENT = """
if (!window.sent) { const before = send; send = (data) => { sent.push(data); before(data); }; }
window.sent = [];
"""
DROP_BYTES = """
const bytes = Uint8Array.from(atob(arguments[1]), (letter) => letter.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File(["notes"], "notes.txt"));
transfer.items.add(new File([bytes], arguments[0]));
window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
"""
DROP = """
const transfer = new DataTransfer();
for (const [name, text] of arguments[0]) transfer.items.add(new File([text], name));
window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "boxes.xml").write_text(boxes())
    with serve("boxes.xml", folder=folder, places=True) as served:
        yield served


@pytest.fixture(scope="module")
def opened(browser: Any, served: Served) -> Any:
    """The page of a scene that has run for a while, and stands still now."""
    open_page(browser, served.url)
    wait(lambda: count_green(scene_part(picture(browser))) > 50)
    before = number(browser)
    wait(lambda: number(browser) > before + 10)
    move(browser, *REST)
    press(browser, Keys.SPACE)
    wait(lambda: is_still(browser))
    return browser


@pytest.fixture
def page(opened: Any, served: Served) -> Any:
    """The same; tests before may have gone elsewhere, and left something to be drawn."""
    if not opened.current_url.startswith(served.address) or "codec" in opened.current_url:
        open_page(opened, served.url)
    move(opened, *REST)
    wait(lambda: is_still(opened))
    return opened


def look_from_above(page: Any) -> None:
    """As at the start: a drag may have left the camera below the floor."""
    ActionChains(page).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
    press(page, Keys.HOME)


def floor(served: Served) -> tuple[float, float]:
    """On the floor, at the lower end of the scene. Above, the legend grows and shrinks with what it says, and a right
    click on a box opens its menu, a while later."""
    left, _, right, lower = served.rect(SCENE)
    return left + 0.4 * (right - left), lower - 15


def leave_filter(page: Any, served: Served) -> None:
    """Click where the menu bar has no menu, so that keys are no longer typed into the filter."""
    _, upper, right, lower = served.rect("Help")
    click(page, right + 40, (upper + lower) / 2)
    press(page, Keys.ESCAPE)


def status(pixels: Pixels) -> Pixels:
    return pixels[-25:]


def test_the_scene_is_seen_as_video_and_moves(page: Any) -> None:
    assert page.execute_script("return [wantsJpeg, decoder.state]") == [False, "configured"]
    assert scene_part(picture(page)).std() > 10
    before = number(page)
    press(page, Keys.SPACE)
    wait(lambda: number(page) > before + 5)
    press(page, Keys.SPACE)
    wait(lambda: is_still(page))


def test_the_token_is_in_a_cookie_and_no_longer_in_the_address(page: Any, served: Served) -> None:
    assert served.token not in page.current_url
    cookie = next(item for item in page.get_cookies() if item["value"] == served.token)
    assert cookie["name"].startswith("contact_viewer_")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"


def test_a_click_on_the_eye_of_all_sensors_takes_their_arrows_away(page: Any, served: Served) -> None:
    assert count_green(scene_part(picture(page))) > 50
    click(page, *served.middle(icons.ICON_FA_EYE))
    wait(lambda: count_green(scene_part(picture(page))) == 0)
    click(page, *served.middle(icons.ICON_FA_EYE_SLASH))
    wait(lambda: count_green(scene_part(picture(page))) > 50)


def test_typing_filters_the_sensors(page: Any, served: Served) -> None:
    before, sensor_list = picture(page), served.part("Sensors")
    click(page, *served.middle("##filter"))
    press(page, "s11")
    changes(page, before, sensor_list)
    press(page, Keys.BACKSPACE * 3)
    move(page, *REST)
    leave_filter(page, served)
    wait(lambda: differs(picture(page), before, sensor_list) < 1)


def count_amber(pixels: Pixels, served: Served) -> int:
    """Return how many pixels of net forces the scene has.

    Those of the legend do not count: it says in amber that the scale of arrows has changed, as another test may have
    caused, and says so until simulated time goes on.
    """
    left, upper, right, lower = map(round, served.rect(LEGEND))
    without_legend = pixels.copy()
    without_legend[upper:lower, left:right] = 0
    red, green, blue = (served.part(SCENE)(without_legend)[..., i].astype(int) for i in range(3))
    return int(((red > green + 40) & (green > blue + 60)).sum())


def test_a_reduce_switch_changes_array_and_picture(page: Any, served: Served) -> None:
    before = picture(page)
    assert count_amber(before, served) == 0
    click(page, *served.middle("##reduce"))
    # One contact in place of four.
    click(page, *served.middle("netforce"))
    move(page, *REST)
    changes(page, before, served.part("Inspector"), 1.0)
    wait(lambda: count_amber(picture(page), served) > 20)


def test_scrubbing_shows_the_past_and_comes_back(page: Any, served: Served) -> None:
    # The legend may still say what the test before has changed.
    wait(lambda: is_still(page))
    before, inspector = picture(page), served.part("Inspector")
    left, _, right, _ = served.rect("##scrub")
    _, row = served.middle("##scrub")
    move(page, right - 20, row)
    mouse(page, "mousePressed", right - 20, row, 1)
    for part in (0.8, 0.3, 0.0):
        mouse(page, "mouseMoved", left + 3 + part * (right - left), row, 1)
    # At first they are in the air.
    wait(lambda: count_green(scene_part(picture(page))) == 0)
    for part in (0.3, 0.8, 1.0):
        mouse(page, "mouseMoved", left + part * (right - left), row, 1)
    mouse(page, "mouseReleased", right, row)
    move(page, *REST)
    # The numbers are those of before; the arrows' scale follows the pictures that were drawn meanwhile.
    wait(lambda: differs(picture(page), before, inspector) < 0.7 and count_green(scene_part(picture(page))) > 50)


def test_a_drag_orbits_the_camera_also_outside_the_page(page: Any, served: Served) -> None:
    start = picture(page)
    x, y = floor(served)
    mouse(page, "mousePressed", x, y, 1)
    try:
        mouse(page, "mouseMoved", x + 60, y + 10, 1)
        changes(page, start)
        inside = picture(page)
        mouse(page, "mouseMoved", 700, -150, 1)
        mouse(page, "mouseMoved", 1500, -300, 1)
        changes(page, inside)
    finally:
        mouse(page, "mouseReleased", 1500, -300)
    wait(lambda: is_still(page))
    outside = picture(page)
    # Released out there: the mouse comes back without the camera.
    move(page, *served.middle(SCENE))
    move(page, *REST)
    wait(lambda: is_still(page))
    assert differs(picture(page), outside) < 2
    # The wheel comes nearer, and Home shows all that moves again.
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -400}
    page.execute_cdp_cmd("Input.dispatchMouseEvent", wheel)
    move(page, *REST)
    changes(page, outside)
    wait(lambda: is_still(page))
    near = picture(page)
    press(page, Keys.HOME)
    changes(page, near)
    look_from_above(page)


def test_several_buttons_are_pressed_and_released_one_by_one(page: Any, served: Served) -> None:
    page.execute_script(WATCH_SENT)
    x, y = floor(served)
    for kind, name, held in (
        *(("mousePressed", "left", 1), ("mousePressed", "right", 3), ("mouseReleased", "left", 2)),
        *(("mousePressed", "middle", 6), ("mouseReleased", "right", 4), ("mouseReleased", "middle", 0)),
    ):
        event = {"type": kind, "x": x, "y": y, "button": name, "buttons": held, "clickCount": 1}
        page.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    sent = page.execute_script("return sent.filter((each) => each.type === 'button')")
    order = [(0, True), (2, True), (0, False), (1, True), (2, False), (1, False)]
    assert [(each["button"], each["down"]) for each in sent] == order
    move(page, *REST)
    # Where another test has turned the camera a box may be here, whose menu opens a while after the click.
    wait(lambda: is_still(page))
    press(page, Keys.ESCAPE)
    wait(lambda: is_still(page))


def test_one_finger_orbits_and_two_pinch_and_pan(page: Any, served: Served) -> None:
    page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})

    page.execute_script(WATCH_SENT)

    def buttons() -> list[tuple[int, bool]]:
        """Mouse buttons that the page has pressed and released since the last call."""
        sent = page.execute_script("return sent.splice(0)")
        return [(each["button"], each["down"]) for each in sent if each["type"] == "button"]

    def pointed() -> bool:
        """True if the window was told where a finger is before it was told of the press."""
        sent = page.execute_script("return sent")
        first = next(k for k, each in enumerate(sent) if each["type"] == "button")
        return first > 0 and all(sent[first - 1][axis] == sent[first][axis] for axis in "xy")

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y, "id": place} for place, (x, y) in enumerate(points)]
        page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def drag(*paths: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """One finger a path, from its start to its end."""
        before = picture(page)
        touch("touchStart", *(start for start, _ in paths))
        for part in (0.25, 0.5, 0.75, 1.0):
            points = [(a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])) for a, b in paths]
            touch("touchMove", *points)
            ActionChains(page).pause(0.05).perform()
        touch("touchEnd")
        changes(page, before)
        wait(lambda: is_still(page))

    try:
        x, y = floor(served)
        drag(((x, y), (x + 60, y)))
        assert pointed()
        assert buttons() == [(0, True), (0, False)]
        # A right button that is pressed without a drag would open a menu.
        drag(((x + 20, y), (x - 20, y)), ((x + 80, y), (x + 120, y)))
        assert 2 not in [which for which, _ in buttons()]
        drag(((x, y), (x + 60, y + 30)), ((x + 100, y), (x + 160, y + 30)))
        assert buttons()[-2:] == [(2, True), (2, False)]
    finally:
        page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        look_from_above(page)


def test_a_key_turns_the_forces_off_and_on(page: Any) -> None:
    press(page, "f")
    wait(lambda: count_green(scene_part(picture(page))) == 0)
    press(page, "f")
    wait(lambda: count_green(scene_part(picture(page))) > 50)


def test_the_cursor_has_the_shape_that_the_window_wants(page: Any, served: Served) -> None:
    def shape() -> str:
        return str(page.execute_script("return canvas.style.cursor"))

    _, upper, edge, lower = served.rect("Sensors")
    move(page, edge, (upper + lower) / 2)
    wait(lambda: shape() == "ew-resize")
    move(page, *served.middle("##filter"))
    wait(lambda: shape() == "text")
    move(page, *REST)
    wait(lambda: shape() == "default")


def test_the_clipboard_goes_both_ways(page: Any, served: Served) -> None:
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions, "origin": served.address})
    page.set_script_timeout(10)
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, done)"
    ActionChains(page).key_down(Keys.CONTROL).send_keys("c").key_up(Keys.CONTROL).perform()
    wait(lambda: str(page.execute_async_script(read)).startswith("<key name="))
    page.execute_async_script("const done = arguments[0]; navigator.clipboard.writeText('s7').then(done, done)")
    before, sensor_list = picture(page), served.part("Sensors")
    click(page, *served.middle("##filter"))
    ActionChains(page).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
    changes(page, before, sensor_list)
    press(page, Keys.BACKSPACE * 2)
    leave_filter(page, served)
    wait(lambda: differs(picture(page), before, sensor_list) < 1)


def test_a_still_window_sends_nothing(page: Any) -> None:
    wait(lambda: is_still(page))
    assert is_still(page)


@pytest.mark.parametrize(
    ("width", "height", "ratio"),
    [(900, 600, 2), pytest.param(3840, 2160, 1, marks=pytest.mark.long), (1000, 700, 1)],
)
def test_the_picture_has_the_pages_pixels(page: Any, width: int, height: int, ratio: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wait(lambda: picture(page).shape == (height * ratio, width * ratio, 3))
        # Everything is in its place soon: the menu above, the status bar below, and nothing that was never drawn.
        row = slice(-26 * ratio, -2 * ratio)
        wait(lambda: 20 < np.median(picture(page)[row, -40:]) < 45 and 20 < np.median(picture(page)[:12, -40:]) < 45)
        wait(lambda: count_green(picture(page)) > 100)
        shown = picture(page)
        # Letters of the menu are as large as on other pages.
        bright = np.flatnonzero((shown[: 21 * ratio, : 60 * ratio].min(axis=-1) > 130).any(axis=1))
        assert 8 * ratio <= bright[-1] - bright[0] + 1 <= 14 * ratio
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        wait(lambda: has_own_size(page))


def test_a_page_that_is_loaded_again_finds_the_same_session(page: Any) -> None:
    wait(lambda: is_still(page))
    before = picture(page)
    page.refresh()
    wait(lambda: number(page) > 0 and has_own_size(page))
    wait(lambda: differs(picture(page), before) < 3)


def test_single_pictures_where_there_is_no_video(page: Any, served: Served) -> None:
    open_page(page, f"{served.url}&codec=jpeg")
    assert page.execute_script("return [wantsJpeg, decoder]") == [True, None]
    wait(lambda: count_green(picture(page)) > 100)
    press(page, Keys.SPACE)
    before = number(page)
    wait(lambda: number(page) > before + 3)
    press(page, Keys.SPACE)


def test_a_second_page_sees_the_same_and_is_counted(page: Any, served: Served) -> None:
    first, before = page.current_window_handle, picture(page)
    page.switch_to.new_window("tab")
    try:
        open_page(page, served.url)
        wait(lambda: differs(picture(page), before) < 3)
        press(page, "f")
        wait(lambda: count_green(scene_part(picture(page))) == 0)
        page.switch_to.window(first)
        wait(lambda: count_green(scene_part(picture(page))) == 0)
        # Two watch.
        assert differs(picture(page), before, status) > 0.01
        press(page, "f")
        wait(lambda: count_green(scene_part(picture(page))) > 50)
        page.switch_to.window(next(handle for handle in page.window_handles if handle != first))
        wait(lambda: count_green(scene_part(picture(page))) > 50)
        page.close()
    finally:
        page.switch_to.window(first)


def test_dropped_files_open_as_a_scene_with_what_it_includes(browser: Any, tmp_path: Path) -> None:
    scene = bundled_scene("bounce")
    assert scene is not None
    with serve("slope", "--paused", folder=tmp_path) as served:
        open_page(browser, served.url)
        wait(lambda: is_still(browser))
        before = picture(browser)
        scene_text = '<mujoco><include file="part.xml"/></mujoco>'
        browser.execute_script(DROP, [["scene.xml", scene_text], ["part.xml", scene.path.read_text()]])
        wait(lambda: picture(browser).shape == before.shape and differs(picture(browser), before) > 3)
        assert message(browser) == ""
        before = picture(browser)
        # A folder: a scene, and a mesh in a folder below.
        mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        robot = (
            '<mujoco><compiler meshdir="parts"/><asset><mesh name="a" file="a.obj"/></asset>'
            '<worldbody><light pos="0 0 3"/><geom type="mesh" mesh="a" rgba="1 0 1 1"/></worldbody></mujoco>'
        )
        files = [["robot/parts/a.obj", mesh], ["robot/robot.xml", robot]]
        browser.execute_script("upload(arguments[0].map(([name, text]) => [name, new File([text], name)]))", files)
        wait(
            lambda: (scene_part(picture(browser))[..., 1].astype(int) + 60 < scene_part(picture(browser))[..., 0]).any()
        )
        browser.execute_script(DROP, [["notes.txt", "no scene"]])
        wait(lambda: "No scene" in message(browser))


def test_a_dropped_run_opens_and_shows_its_steps(browser: Any, tmp_path: Path) -> None:
    run = [str(PROGRAM), "export", "bounce", "-o", "steps.csv", "--duration", "1", "--save-run", "run.cvrun"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    data = base64.b64encode((tmp_path / "run.cvrun").read_bytes()).decode()
    with serve("slope", "--paused", "--save-run", "again.cvrun", folder=tmp_path) as served:
        open_page(browser, served.url)
        wait(lambda: is_still(browser))
        before = picture(browser)
        browser.execute_script(DROP_BYTES, "run.cvrun", data)
        changes(browser, before, least=3.0)
        assert message(browser) == ""
        # All of it is read before it is saved again.
        wait(lambda: is_still(browser))
    again = subprocess.run([PROGRAM, "events", "again.cvrun"], cwd=tmp_path, capture_output=True, text=True, check=True)
    once = subprocess.run([PROGRAM, "events", "run.cvrun"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert again.stdout == once.stdout
    assert " begin " in once.stdout


def test_ctrl_q_of_one_watcher_leaves_and_the_others_go_on(browser: Any, tmp_path: Path) -> None:
    with serve("slope", folder=tmp_path, places=True) as served:
        open_page(browser, served.url)
        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        try:
            open_page(browser, served.url)
            ActionChains(browser).key_down(Keys.CONTROL).send_keys("q").key_up(Keys.CONTROL).perform()
            wait(lambda: "You have left" in message(browser))
            left = number(browser)
            browser.switch_to.window(first)
            assert served.process.poll() is None
            before = number(browser)
            wait(lambda: number(browser) > before + 5)
            assert message(browser) == ""
            # No key is held for them: this one pauses and goes on.
            press(browser, Keys.SPACE)
            wait(lambda: is_still(browser))
            press(browser, Keys.SPACE)
            browser.switch_to.window(browser.window_handles[1])
            assert "You have left" in message(browser)
            assert number(browser) == left
            mouse(browser, "mousePressed", *REST, 1)
            mouse(browser, "mouseReleased", *REST)
            wait(lambda: message(browser) == "" and number(browser) > left)
            browser.close()
        finally:
            browser.switch_to.window(first)
        # The last one, too.
        open_page(browser, served.url)
        click(browser, *served.middle("File"))
        click(browser, *served.middle("Leave"))
        wait(lambda: "You have left" in message(browser))
        assert served.process.poll() is None
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) == 130


def test_a_page_says_that_its_window_was_closed(browser: Any, tmp_path: Path) -> None:
    with serve("slope", folder=tmp_path) as served:
        open_page(browser, served.url)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) == 130
        wait(lambda: "The window was closed" in message(browser))
        # It says so also after it has tried to come back.
        time.sleep(2.5)
        assert "The window was closed" in message(browser)


def test_a_server_that_went_away_is_missed_and_found_again(browser: Any, tmp_path: Path) -> None:
    with serve("slope", folder=tmp_path) as first:
        open_page(browser, first.url)
        port = first.address.rpartition(":")[2]
        first.process.kill()
        first.process.wait()
        wait(lambda: "connection is lost" in message(browser))
    with serve("slope", "--serve", port, folder=tmp_path) as second:
        assert second.address == first.address
        # The old token is worth nothing now, and the page says what to do.
        wait(lambda: "no longer valid" in message(browser))
        open_page(browser, second.url)
        assert message(browser) == ""
        before = number(browser)
        wait(lambda: number(browser) > before + 3)
