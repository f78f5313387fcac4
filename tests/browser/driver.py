"""A served window as a process of its own, and a real browser that shows it."""

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import ClientWebSocketResponse
from numpy.typing import NDArray
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from . import watched
from .watched import Rect

Pixels = NDArray[np.uint8]
PROGRAM = Path(sys.executable).with_name("contact-viewer")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1280,860"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


REST = (900, 45)
"""Where the mouse touches nothing of the scene."""
BOXES = 12


class Served:
    """A window that is served by a process."""

    def __init__(self, process: "subprocess.Popen[str]", lines: list[str], folder: Path | None) -> None:
        self.process, self.lines, self._folder = process, lines, folder
        self._found: list[Rect] = []
        self.url = next(word for word in lines[0].split() if word.startswith("http"))
        self.address = self.url.partition("?")[0].rstrip("/")
        self.token = self.url.partition("token=")[2]

    def rect(self, name: str) -> Rect:
        """Edges of a panel such as `Sensors`, or of the first control of a name such as `##filter` or `Plots/save`.

        Left, upper, right, lower [px]. Waits until it is drawn.
        """
        wait(lambda: self._find(name))
        return self._found[0]

    def middle(self, name: str) -> tuple[float, float]:
        """Where to click on a panel or control, as for `rect`."""
        left, upper, right, lower = self.rect(name)
        return (left + right) / 2, (upper + lower) / 2

    def part(self, name: str) -> Callable[[Pixels], Pixels]:
        """Cut a panel out of pictures of the whole window."""
        left, upper, right, lower = map(round, self.rect(name))
        return lambda pixels: pixels[upper:lower, left:right]

    def _find(self, name: str) -> bool:
        assert self._folder is not None, "it was not asked to say where its panels are"
        places = json.loads((self._folder / watched.FILE).read_text())
        self._found = [rect for key in places if name in (key, key.partition("/")[2]) for rect in places[key]]
        return bool(self._found)


@contextmanager
def serve(
    scene: str | Path, *arguments: str, folder: Path | None = None, display: bool = False, places: bool = False
) -> Iterator[Served]:
    """`contact-viewer SCENE --serve`, without a display unless one is asked for.

    Args:
        folder: Where it starts, and keeps its layout, as at a first start.
        places: True if it also says where its panels and controls are. It needs a folder for that.
    """
    environment = {key: value for key, value in os.environ.items() if display or "DISPLAY" not in key}
    if folder is not None:
        # As at a first start, whatever layout another window has saved.
        environment["XDG_CONFIG_HOME"] = str(folder)
    program = [str(PROGRAM)]
    if places:
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        program = [sys.executable, "-m", watched.__name__]
    process = subprocess.Popen(
        [*program, str(scene), *(() if "--serve" in arguments else ("--serve",)), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline(), process.stdout.readline()]
        assert lines[0], "it did not start"
        yield Served(process, lines, folder if places else None)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()


@contextmanager
def browse(profile: Path) -> Iterator[Any]:
    """A real browser, without a window of its own. `downloads` is the folder where its files come."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    # Without a locale of UTF-8 Chromium has no letters for the names of files. Programs have the locale of the tests.
    service = Service("/usr/bin/chromedriver", env=os.environ | {"LC_ALL": "C.UTF-8"})
    browser: Any = webdriver.Chrome(options=options, service=service)
    try:
        browser.downloads = profile / "downloads"
        behavior = {"behavior": "allow", "downloadPath": str(browser.downloads)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
        yield browser
    finally:
        browser.quit()


def wait(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def leave(stream: ClientWebSocketResponse) -> None:
    """End a connection as a machine does that is switched off."""
    connection = stream._response.connection
    assert connection is not None
    assert connection.transport is not None
    connection.transport.abort()


def open_page(browser: Any, url: str) -> None:
    """Go to a page and wait for its first picture in its own size."""
    browser.get(url)
    wait(lambda: number(browser) > 0 and has_own_size(browser))


def has_own_size(browser: Any) -> bool:
    """True if the picture has the page's size, but for an odd pixel."""
    canvas = "document.querySelector('canvas')"
    script = f"return {canvas}.width == (innerWidth & ~1) && {canvas}.height == (innerHeight & ~1)"
    return bool(browser.execute_script(script))


def number(browser: Any) -> int:
    """Number of the picture that the page shows; 0 before the first."""
    return int(browser.execute_script("return document.querySelector('canvas').dataset.number || 0"))


def message(browser: Any) -> str:
    """What the page says over the picture."""
    return str(
        browser.execute_script("const m = document.querySelector('#message'); return m.hidden ? '' : m.innerText")
    )


def picture(browser: Any) -> Pixels:
    """What the page shows, (height, width, 3)."""
    data = browser.execute_script("return document.querySelector('canvas').toDataURL('image/png')")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGB"))


def scene_part(pixels: Pixels) -> Pixels:
    """Return the middle of the picture, without panels and without the symbols of the legend."""
    height, width = pixels.shape[:2]
    return pixels[height // 8 : 2 * height // 3, 3 * width // 10 : 7 * width // 10]


def count_green(pixels: Pixels) -> int:
    red, green, blue = (pixels[..., i].astype(int) for i in range(3))
    return int(((green > red + 40) & (green > blue + 40)).sum())


def press(page: Any, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def mouse(page: Any, kind: str, x: float, y: float, held: int = 0) -> None:
    # A movement with a button is one with that button held.
    button = "none" if kind == "mouseMoved" and not held else "left"
    event = {"type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": 1}
    page.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def move(page: Any, x: float, y: float) -> None:
    mouse(page, "mouseMoved", x, y)


def click(page: Any, x: float, y: float) -> None:
    """As a user does, who sees what is under the mouse before it is clicked."""
    move(page, x, y)
    be_taken(page)
    mouse(page, "mousePressed", x, y, 1)
    mouse(page, "mouseReleased", x, y)


JOIN = """
if (window.heard === undefined) {
  window.heard = 0;
  const before = obey;
  obey = (order) => { heard += order.type === "cursor"; before(order); };
}
flushMove();
send({ type: "joined" });
return heard;
"""


def be_taken(page: Any) -> None:
    """Waits until the window has drawn all that was done on the page, however long its frames take.

    Input is taken in order, and who joins is told the cursor's shape. The first answer may be a new shape alone; the
    last comes after a frame with all that was sent before.
    """
    for _ in range(3):
        heard = page.execute_script(JOIN)
        wait(lambda heard=heard: page.execute_script("return heard") > heard)  # type: ignore[misc]


def is_still(page: Any) -> bool:
    """True if, after all input, no new picture came in a while."""
    be_taken(page)
    before = number(page)
    ActionChains(page).pause(0.5).perform()
    return number(page) == before


def differs(first: Pixels, second: Pixels, part: Any = scene_part) -> float:
    """Mean difference of two pictures, in shades of 256."""
    return float(np.abs(part(first).astype(int) - part(second)).mean())


def changes(page: Any, before: Pixels, part: Any = scene_part, least: float = 2.0) -> None:
    """Waits until the picture is another one."""
    wait(lambda: differs(picture(page), before, part) > least)


def boxes() -> str:
    """A scene with more sensors than are listed without a filter; all boxes fall, and then lie on four contacts."""
    bodies = "".join(
        f'<body pos="{0.3 * (k % 4) - 0.45} {0.3 * (k // 4) - 0.3} .2"><freejoint/>'
        f'<geom name="box{k}" type="box" size=".1 .1 .1" mass="2" rgba=".4 .4 .4 1"/></body>'
        for k in range(BOXES)
    )
    sensors = "".join(
        f'<contact name="s{k}" geom1="floor" geom2="box{k}" num="4" data="found force pos normal tangent"/>'
        for k in range(BOXES)
    )
    floor = '<geom name="floor" type="plane" size="2 2 .1" rgba=".5 .5 .5 1"/>'
    world = f'<worldbody><light pos="0 0 3"/>{floor}{bodies}</worldbody>'
    return f"<mujoco>{world}<sensor>{sensors}</sensor></mujoco>"
