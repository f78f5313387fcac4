"""One real browser for all tests of pages; and what the page's state was, if one of them fails."""

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from .driver import browse

STATE = """return {
  socket: socket && socket.readyState, decoder: decoder && decoder.state, queue: decoder && decoder.decodeQueueSize,
  underWay: [...underWay.keys()], newest, isLost, wantsJpeg, silence, said: message.textContent,
  visible: document.visibilityState, size: [canvas.width, canvas.height, innerWidth, innerHeight], url: location.href,
}"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browse(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    page = getattr(item, "funcargs", {}).get("browser")
    if report.failed and page is not None:
        try:
            state = page.execute_script(STATE)
            seen = page.downloads.with_name(f"{item.name}.png".replace("/", " "))
            page.save_screenshot(str(seen))
            state["seen"] = str(seen)
        except Exception as error:
            state = error
        report.sections.append(("state of the page", str(state)))
    return report
