"""A real browser without a window, and the page that it shows."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

FLAGS = ("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--window-size=1280,860", "--disable-sync")
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@contextmanager
def browse(profile: Path, *flags: str) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, *flags, "--disable-background-networking", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser: Any = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    browser.set_script_timeout(60)
    try:
        yield browser
    finally:
        browser.quit()


def show(browser: Any, path: Path, place: str = "") -> None:
    """Open a page and wait until all of it is read."""
    browser.get("about:blank")
    browser.get(path.as_uri() + place)
    ready(browser)


def ready(browser: Any) -> None:
    wait(lambda: browser.execute_script("return !!window.contactViewer"))
    browser.execute_async_script("contactViewer.ready.then(arguments[0], arguments[0])")


def ask(browser: Any, script: str, *arguments: object) -> Any:
    return browser.execute_script(f"return contactViewer.{script}", *arguments)


def press(browser: Any, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def wait(condition: Callable[[], object]) -> None:
    """Wait until something is so, for half a minute at most."""
    done = threading.Event()
    for _ in range(600):
        if condition():
            return
        done.wait(0.05)
    raise AssertionError("it did not happen in time")
