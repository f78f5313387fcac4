"""Arrows and scale bar, measured in the window's own pixels and in the pictures that it saves."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ..scenes import PILLAR
from .driver import Pixels, drive, make_window, screenshot, wait

MASSES = {0.05: 2e-4, 0.35: 0.3, 1.0: 40.0, 100.0: 9e4}
"""Of the ball [kg], by the scene's extent [m]."""


def arrow_length(picture: Pixels) -> float:
    """Of the green arrow in the middle of a picture of the scene [px], as it would be seen from across."""
    middle = picture[:, picture.shape[1] // 3 : picture.shape[1] * 2 // 3].astype(int)
    green = (middle[..., 1] > middle[..., 0] + 25) & (middle[..., 1] > middle[..., 2] + 25)
    rows = np.flatnonzero(green.any(axis=1))
    return float(rows[-1] - rows[0] + 1) / math.cos(math.radians(20))


def bar_length(picture: Pixels) -> int:
    """The longest bright row in the left half of a picture of the scene [px]."""
    corner = picture[:, : picture.shape[1] // 2].min(axis=2) > 140
    return max(max(len(run) for run in "".join("x" if on else " " for on in row).split(" ")) for row in corner)


def test_arrows_are_as_long_as_the_bar_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenes = {extent: tmp_path / f"extent_{extent:g}.xml" for extent in MASSES}
    for extent, path in scenes.items():
        path.write_text(
            PILLAR.format(gravity=9.81, floor=extent, extent=extent, radius=0.1 * extent, mass=MASSES[extent])
        )
    window = make_window(scenes[0.05], width=1280, height=720)
    app = window.app

    def check(picture: Pixels, weight: float, force: float) -> None:
        length, bar = arrow_length(picture), bar_length(picture)
        assert 40 <= length <= 400
        assert bar == pytest.approx(100, abs=2)
        assert length / weight == pytest.approx(bar / force, rel=0.2)

    def is_open(path: Path) -> bool:
        return app.session.engine.path == path

    def test(ctx: Any) -> None:
        for extent, path in scenes.items():
            if app.session.engine.path != path:
                app.open_scene(str(path))
                wait(ctx, partial(is_open, path))
            session = app.session
            session.paused = True
            for _ in range(12):
                session.simulation.step(50)
                ctx.yield_(1)
            left, top, right, bottom = (round(value) for value in window.viewport.rect)
            shown = screenshot(ctx, tmp_path / f"window_{extent:g}.png")[top:bottom, left:right]
            weight, force = MASSES[extent] * 9.81, session.scale_bar.force
            check(shown, weight, force)
            saved = tmp_path / f"{path.stem}-001.png"
            app.save_screenshot()
            wait(ctx, saved.exists)
            check(np.asarray(Image.open(saved).convert("RGB")), weight, force)
            # What says that it was saved would cover the next arrow.
            app.notices.items.clear()

    drive(window, test)
