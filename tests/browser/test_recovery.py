"""Faults between a window and its page, in a real browser: pictures come again, and nobody has to do anything."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .driver import Served, message, number, open_page, serve, wait


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A scene that moves."""
    with serve("slope", folder=tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def page(browser: Any, served: Served) -> Any:
    open_page(browser, served.url)
    goes_on(browser)
    return browser


def goes_on(page: Any) -> None:
    """Waits for pictures."""
    before = number(page)
    wait(lambda: number(page) > before + 3, 40.0)


def is_video(page: Any) -> bool:
    return bool(page.execute_script("return !wantsJpeg && decoder !== null && decoder.state === 'configured'"))


@pytest.mark.parametrize(
    "fault",
    [
        "decoder.close()",
        "decoder.reset()",
        "closeDecoder()",
        "decoder.decode(new EncodedVideoChunk({type: 'key', timestamp: 1, data: new Uint8Array(500)}))",
    ],
    ids=["taken away", "reset", "forgotten", "garbage"],
)
def test_a_decoder_that_fails_is_replaced(page: Any, fault: str) -> None:
    assert is_video(page)
    page.execute_script(f"failed = -Infinity; {fault}")
    goes_on(page)
    wait(lambda: is_video(page))


def test_a_decoder_that_fails_again_and_again_is_not_used_any_more(page: Any) -> None:
    for _ in range(2):
        wait(lambda: page.execute_script("return decoder !== null || wantsJpeg"))
        page.execute_script("if (decoder) decoder.close()")
        goes_on(page)
    assert page.execute_script("return [wantsJpeg, decoder]") == [True, None]


def test_reports_that_are_lost_are_made_up_for(page: Any) -> None:
    page.execute_script("const all = send; send = (data) => { if (data.type !== 'shown') all(data); };")
    goes_on(page)


@contextmanager
def stopped(served: Served) -> Iterator[None]:
    """As at the end of a tunnel that hangs: connections stay, and nothing comes."""
    served.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        served.process.send_signal(signal.SIGCONT)


def test_a_connection_that_hangs_is_said_to_be_lost_and_comes_back(page: Any, served: Served) -> None:
    page.execute_script("patience = 2")
    with stopped(served):
        wait(lambda: "connection is lost" in message(page))
        # Connecting hangs too; that is given up as well.
        first = page.execute_script("window.first = socket; patience = 1; return socket.readyState")
        assert first == 0
        wait(lambda: page.execute_script("return socket !== window.first"))
    wait(lambda: message(page) == "")
    goes_on(page)


def test_a_short_stop_is_no_loss(page: Any, served: Served) -> None:
    first = page.execute_script("return window.first = socket, patience")
    assert first == 15
    with stopped(served):
        wait(lambda: page.execute_script("return silence >= 3"))
    goes_on(page)
    assert page.execute_script("return socket === window.first")


def test_many_sizes_one_after_the_other_end_with_the_last(page: Any) -> None:
    try:
        for k in range(15):
            size = {"width": 400 + 50 * (k % 7), "height": 700 - 30 * k, "deviceScaleFactor": 1 + k % 2}
            page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "mobile": False})
            page.execute_script("sendSize()")
        goes_on(page)
        own = "const { width, height } = ownSize(); return canvas.width === width && canvas.height === height"
        wait(lambda: page.execute_script(own))
        goes_on(page)
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
