"""What serving costs while nothing happens."""

import time
from pathlib import Path

import psutil

from .driver import browse, number, open_page, serve, wait


def test_a_paused_window_with_a_browser_costs_next_to_nothing(tmp_path: Path) -> None:
    with serve("quadruped", "--paused", folder=tmp_path) as served, browse(tmp_path / "profile") as browser:
        open_page(browser, served.url)
        process = psutil.Process(served.process.pid)

        def share() -> float:
            before = sum(process.cpu_times()[:2])
            time.sleep(4.0)
            return (sum(process.cpu_times()[:2]) - before) / 4.0

        # The first seconds draw it, and let the panels find their places.
        wait(lambda: share() < 0.03, 40.0)
        seen = number(browser)
        assert share() < 0.03
        assert number(browser) == seen
