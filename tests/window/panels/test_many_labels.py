"""More labels than the picture has room for: the window says how many it shows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from contact_viewer.window.panels import picking

from ...scenes import write_many_sensors
from ..driver import drive, make_window
from ..text_room import recorded_text

SIDE = 10


def write_boxes(path: Path) -> Path:
    """A hundred boxes on a floor, each with a sensor that reports its four contacts."""
    places = [(i, i % SIDE, i // SIDE) for i in range(SIDE * SIDE)]
    boxes = "".join(
        f'<body pos="{x} {y} .0999"><freejoint/><geom name="b{i}" type="box" size=".1 .1 .1"/></body>'
        for i, x, y in places
    )
    sensors = "".join(f'<contact name="s{i}" geom1="floor" geom2="b{i}" num="4"/>' for i, _, _ in places)
    floor = '<geom name="floor" type="plane" size="20 20 .1"/>'
    path.write_text(f"<mujoco><worldbody>{floor}{boxes}</worldbody><sensor>{sensors}</sensor></mujoco>")
    return path


@contextmanager
def drawn_labels() -> Iterator[list[str]]:
    """While it is open, the labels that the window draws into the scene."""
    texts: list[str] = []
    draw = picking._outlined

    def note(*arguments: Any) -> None:
        texts.append(arguments[3])
        draw(*arguments)

    with patch.object(picking, "_outlined", note):
        yield texts


def look(ctx: Any) -> tuple[list[str], str]:
    """The labels in the scene, and what the window says of them."""
    with drawn_labels() as labels, recorded_text() as drawn:
        ctx.yield_(2)
        drawn.clear()
        labels.clear()
        ctx.yield_(1)
        return list(labels), " ".join(each.text for each in drawn if "labels" in each.text)


def test_the_status_bar_says_how_many_labels_there_is_room_for(tmp_path: Path) -> None:
    window = make_window(write_boxes(tmp_path / "boxes.xml"), steps=200)

    def test(ctx: Any) -> None:
        session = window.app.session
        assert session.contact_count == 400
        assert look(ctx) == ([], "")
        session.settings.gizmos.labels = True
        labels, told = look(ctx)
        # The four contacts of a box that is far away have one label, for their sum.
        assert {"78.4 N in 4", "78.5 N in 4"} & set(labels)
        assert 90 <= len(labels) < 400
        session.view.camera.distance *= 3
        labels, told = look(ctx)
        assert 10 < len(labels) < 100
        assert told == f", {len(labels)} of 100 labels"
        # Those of two boxes have room, and nothing is left to say.
        session.visible = {name: name in ("s0", "s99") for name in session.visible}
        labels, told = look(ctx)
        assert sum(float(text.split()[0]) for text in labels) == pytest.approx(2 * 78.5, abs=0.5)
        assert told == ""
        session.visible = dict.fromkeys(session.visible, True)
        session.settings.gizmos.min_force = 25.0
        assert look(ctx) == ([], "")

    drive(window, test)


def test_contacts_outside_the_picture_take_no_label(tmp_path: Path) -> None:
    window = make_window(write_boxes(tmp_path / "boxes.xml"), steps=200)

    def test(ctx: Any) -> None:
        session = window.app.session
        session.settings.gizmos.labels = True
        # The last box, whose sensor comes after 396 other contacts.
        session.view.camera.lookat[:] = (SIDE - 1, SIDE - 1, 0.1)
        session.view.camera.distance = 0.8
        session.view.camera.elevation = -80
        assert look(ctx) == (["19.6 N"] * 4, "")

    drive(window, test)


def test_a_label_stands_near_its_contact_or_nowhere() -> None:
    chance = np.random.default_rng(1)
    crowd = [(float(x), float(y), f"{i} N", float(y)) for i, (x, y) in enumerate(chance.uniform(0, 60, (100, 2)))]
    spread = picking.spread_labels(crowd, 8.0, 14.0, farthest=50.0)
    before = {text: y for _, y, text, _ in crowd}
    assert 5 < len(spread) < 100
    assert all(0 <= y - before[text] <= 50 and contact == before[text] for _, y, text, contact in spread)
    assert len(picking.spread_labels(crowd, 8.0, 14.0)) == 100


@pytest.mark.alone
def test_labels_of_ten_thousand_sensors_cost_little_of_a_frame(tmp_path: Path) -> None:
    window = make_window(write_many_sensors(tmp_path / "many.xml", 10_000), steps=20)

    def test(ctx: Any) -> None:
        session = window.app.session

        def frame() -> float:
            times = []
            for _ in range(10):
                session.forget()
                start = time.process_time()
                ctx.yield_(1)
                times.append(time.process_time() - start)
            return float(np.median(times))

        without = frame()
        session.settings.gizmos.labels = True
        assert look(ctx)[0]
        assert frame() < 3 * without

    drive(window, test)
