"""The real page in a real browser: see the scene, click, type, come back."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.assets import bundled_scene
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .driver import (
    Served,
    browse,
    count_green,
    has_own_size,
    message,
    number,
    open_page,
    picture,
    scene_part,
    serve,
    wait,
)

DROP = """
const transfer = new DataTransfer();
for (const [name, text] of arguments[0]) transfer.items.add(new File([text], name));
window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browse(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve("quadruped", folder=tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def page(browser: Any, served: Served) -> Any:
    """The page of a scene that runs."""
    open_page(browser, served.url)
    return browser


def press(page: Any, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def is_still(page: Any) -> bool:
    """True if no new picture came in a while."""
    before = number(page)
    ActionChains(page).pause(0.7).perform()
    return number(page) == before


@pytest.fixture
def paused(page: Any) -> Iterator[Any]:
    """The page of a scene that stands still."""
    canvas = page.find_element("css selector", "canvas")
    ActionChains(page).move_to_element_with_offset(canvas, 0, -100).perform()
    press(page, Keys.SPACE)
    wait(lambda: is_still(page))
    yield page
    press(page, Keys.SPACE)
    wait(lambda: not is_still(page))


def test_the_scene_is_seen_as_video_and_moves(page: Any) -> None:
    assert page.execute_script("return [wantsJpeg, decoder.state]") == [False, "configured"]
    wait(lambda: scene_part(picture(page)).std() > 10)
    wait(lambda: count_green(picture(page)) > 100)
    before = number(page)
    wait(lambda: number(page) > before + 5)


def test_the_token_is_in_a_cookie_and_no_longer_in_the_address(page: Any, served: Served) -> None:
    assert served.token not in page.current_url
    cookie = next(item for item in page.get_cookies() if item["name"].startswith("contact_viewer_"))
    assert cookie["value"] == served.token
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"


def test_a_click_on_the_eye_of_all_sensors_takes_their_arrows_away(paused: Any) -> None:
    before = count_green(scene_part(picture(paused)))
    assert before > 50
    shown = picture(paused)
    # The icons of the sensors are in the left panel's first columns; that of all sensors is the first.
    bright = (shown[40:200, 14:40].min(axis=-1) > 180).any(axis=1)
    first = 40 + int(np.argmax(bright)) + 6
    canvas = paused.find_element("css selector", "canvas")
    size = canvas.size
    x, y = 24 - size["width"] / 2, first - size["height"] / 2
    eye = ActionChains(paused).move_to_element_with_offset(canvas, int(x), int(y)).pause(0.2)
    eye.click().perform()
    wait(lambda: count_green(scene_part(picture(paused))) == 0)
    ActionChains(paused).click().perform()
    wait(lambda: count_green(scene_part(picture(paused))) > 50)


def test_a_drag_orbits_the_camera(paused: Any) -> None:
    canvas = paused.find_element("css selector", "canvas")
    before = scene_part(picture(paused)).astype(int)
    drag = ActionChains(paused).move_to_element_with_offset(canvas, -40, -100).click_and_hold()
    drag.move_by_offset(60, 10).move_by_offset(60, 10).release().perform()
    wait(lambda: np.abs(scene_part(picture(paused)).astype(int) - before).mean() > 5)


def test_a_key_turns_the_forces_off_and_on(paused: Any) -> None:
    assert count_green(scene_part(picture(paused))) > 50
    press(paused, "f")
    wait(lambda: count_green(scene_part(picture(paused))) == 0)
    press(paused, "f")
    wait(lambda: count_green(scene_part(picture(paused))) > 50)


def test_a_paused_window_sends_nothing(paused: Any) -> None:
    assert is_still(paused)


def test_the_picture_follows_the_size_of_the_page(page: Any) -> None:
    page.set_window_size(1000, 800)
    wait(lambda: has_own_size(page) and picture(page).shape[1] == 1000)
    page.set_window_size(1280, 860)
    wait(lambda: has_own_size(page) and picture(page).shape[1] == 1280)


def test_a_page_that_is_loaded_again_finds_the_same_session(paused: Any) -> None:
    before = picture(paused)
    paused.refresh()
    wait(lambda: number(paused) > 0)
    wait(lambda: np.abs(picture(paused).astype(int) - before).mean() < 3)


def test_single_pictures_where_there_is_no_video(page: Any, served: Served) -> None:
    open_page(page, f"{served.url}&codec=jpeg")
    assert page.execute_script("return [wantsJpeg, decoder]") == [True, None]
    wait(lambda: count_green(picture(page)) > 100)
    before = number(page)
    wait(lambda: number(page) > before + 3)


def test_a_second_page_sees_the_same_and_is_counted(paused: Any, served: Served, tmp_path: Path) -> None:
    with browse(tmp_path) as second:
        open_page(second, served.url)
        wait(lambda: np.abs(picture(paused).astype(int) - picture(second)).mean() < 3)
        press(second, "f")
        for page in (paused, second):
            wait(lambda page=page: count_green(scene_part(picture(page))) == 0)  # type: ignore[misc]
        press(second, "f")
        wait(lambda: count_green(scene_part(picture(paused))) > 50)


def test_a_recording_comes_as_a_download(page: Any, served: Served) -> None:
    page.execute_script("window.offered = []; const before = obey; obey = (o) => { offered.push(o); before(o); };")
    press(page, Keys.F9)
    before = number(page)
    wait(lambda: number(page) > before + 15)
    press(page, Keys.F9)
    wait(lambda: page.execute_script("return offered.some((order) => order.type === 'download')"))
    order = page.execute_script("return offered.find((order) => order.type === 'download')")
    request = urllib.request.Request(served.address + order["address"])
    request.add_header("Cookie", "; ".join(f"{item['name']}={item['value']}" for item in page.get_cookies()))
    with urllib.request.urlopen(request) as answer:
        data = answer.read()
    probe = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", "-"]
    streams = json.loads(subprocess.run(probe, input=data, capture_output=True, check=True).stdout)["streams"]
    assert streams[0]["codec_type"] == "video"
    assert order["name"].endswith(".mp4")


def test_dropped_files_open_as_a_scene_with_what_it_includes(browser: Any, tmp_path: Path) -> None:
    scene = bundled_scene("bounce")
    assert scene is not None
    with serve("slope", "--paused", folder=tmp_path) as served:
        open_page(browser, served.url)
        wait(lambda: is_still(browser))
        before = picture(browser).astype(int)
        scene_text = '<mujoco><include file="part.xml"/></mujoco>'
        browser.execute_script(DROP, [["scene.xml", scene_text], ["part.xml", scene.path.read_text()]])
        wait(lambda: picture(browser).shape == before.shape and np.abs(picture(browser) - before).mean() > 3)
        assert message(browser) == ""
        browser.execute_script(DROP, [["notes.txt", "no scene"]])
        wait(lambda: "No scene" in message(browser))


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


def test_it_is_served_beside_a_display_too(browser: Any, tmp_path: Path) -> None:
    with serve("slope", "--envs", "4", folder=tmp_path, display=True) as served:
        open_page(browser, served.url)
        wait(lambda: scene_part(picture(browser)).std() > 10)
