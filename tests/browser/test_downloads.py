"""What the window saves comes to the browser, under its name and whole."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .driver import (
    BOXES,
    PROGRAM,
    REST,
    Served,
    boxes,
    changes,
    click,
    count_green,
    is_still,
    move,
    number,
    open_page,
    picture,
    press,
    scene_part,
    serve,
    wait,
)


def downloaded(page: Any, suffix: str) -> Path:
    """The file of that suffix, once the browser has it whole."""
    wait(lambda: any(page.downloads.glob(f"*{suffix}")))
    (path,) = page.downloads.glob(f"*{suffix}")
    return Path(path)


def test_recordings_screenshots_curves_and_runs_come_as_downloads(browser: Any, tmp_path: Path) -> None:
    # Letters that not every header can have.
    name = "boîtes à 12.xml"
    (tmp_path / name).write_text(boxes())
    with serve(name, folder=tmp_path, places=True) as served:
        open_page(browser, served.url)
        wait(lambda: count_green(scene_part(picture(browser))) > 50)
        move(browser, *REST)
        press(browser, Keys.SPACE)
        save_all(browser, served)


def save_all(page: Any, served: Served) -> None:
    wait(lambda: is_still(page))
    # One wish after the other; all come in the end.
    press(page, Keys.F9, Keys.SPACE)
    first = number(page)
    wait(lambda: number(page) > first + 10)
    press(page, Keys.F9, Keys.SPACE)
    ActionChains(page).key_down(Keys.CONTROL).send_keys("p").key_up(Keys.CONTROL).perform()
    click(page, *served.middle("Plots/save"))
    move(page, *REST)
    probe = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(downloaded(page, ".mp4"))]
    streams = json.loads(subprocess.run(probe, capture_output=True, check=True).stdout)["streams"]
    assert streams[0]["codec_type"] == "video"
    assert downloaded(page, ".mp4").name == "boîtes à 12-001.mp4"
    assert Image.open(downloaded(page, ".png")).size[0] > 300
    head, *rows = downloaded(page, ".csv").read_text().splitlines()
    assert [column.partition(":")[0] for column in head.split(",")] == ["time [s]", *(f"s{k}" for k in range(BOXES))]
    # All boxes lie still: each weighs 2 kg.
    assert [float(value) for value in rows[-1].split(",")[1:]] == pytest.approx([2 * 9.81] * BOXES, rel=1e-3)
    # A run is saved where a dialog says: where it suggests.
    wait(lambda: is_still(page))
    before = picture(page)
    ActionChains(page).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
    changes(page, before)
    press(page, Keys.ENTER)
    events = subprocess.run([PROGRAM, "events", downloaded(page, ".cvrun")], capture_output=True, text=True, check=True)
    assert len({line.split()[-3] for line in events.stdout.splitlines() if " begin " in line}) == BOXES
