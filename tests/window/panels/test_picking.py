"""Contacts are picked with the mouse in the real window."""

from pathlib import Path
from typing import Any

import numpy as np
from contact_viewer.mjmodel.force_kinds import ForceKind
from contact_viewer.window.panels.picking import spread_labels
from imgui_bundle import ImVec2, imgui

from ..driver import drive, make_window, scene_part, screenshot


def place_of_contact(window: Any, name: str, slot: int) -> ImVec2:
    """Where a contact's sphere is in the window."""
    viewport = window.viewport.pixels
    matrices = window.canvas.scene_pass.matrices(viewport)
    pixels, _ = matrices.project(window.app.session.reading(name).batch.pos[slot], viewport)
    return ImVec2(float(pixels[0, 0]), imgui.get_io().display_size.y - float(pixels[0, 1]))


def test_pointing_and_clicking(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.selected = "box_at_back_stop"
        for slot in (0, 2):
            ctx.mouse_move_to_pos(place_of_contact(window, "box_on_slope", slot))
            ctx.yield_(2)
            assert session.highlight is not None
            assert (session.highlight.sensor, session.highlight.slot) == ("box_on_slope", slot)
        ctx.mouse_click(0)
        ctx.yield_(2)
        assert session.picked == ("box_on_slope", 2)
        assert session.selected == "box_on_slope"
        ctx.mouse_move_to_pos(ImVec2(window.viewport.rect[2] - 20, window.viewport.rect[1] + 20))
        ctx.yield_(2)
        assert session.highlight is None

    drive(window, test, drawn=True)


def test_labels_stand_beside_contacts(tmp_path: Path) -> None:
    window = make_window("stack", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.settings.gizmos.points = False
        before = scene_part(window, screenshot(ctx, tmp_path / "plain.png")).astype(int)
        ctx.item_click("//Display/Labels")
        after = scene_part(window, screenshot(ctx, tmp_path / "labels.png"))
        # White, or in the colour of what creeps and slides.
        assert ((np.abs(after - before).max(axis=-1) > 100) & (after.max(axis=-1) > 200)).sum() > 30

    drive(window, test)


def test_labels_do_not_cover_each_other() -> None:
    chance = np.random.default_rng(0)
    for count in (1, 4, 30, 200):
        places = chance.uniform(0, 300, (count, 2)).tolist()
        labels = [
            (x, y, f"{force:.3g} N", y) for (x, y), force in zip(places, chance.uniform(0, 200, count), strict=True)
        ]
        # Two sensors report the first contact.
        spread = spread_labels([*labels, labels[0]], letter=8.0, line=14.0)
        assert sorted(text for *_, text, _ in spread) == sorted(text for *_, text, _ in labels)
        for k, (x, y, text, contact) in enumerate(spread):
            own = min((old for old in labels if old[0] == x and old[2] == text), key=lambda old: abs(old[1] - y))
            assert own[1] == contact <= y
            for x2, y2, text2, _ in spread[:k]:
                apart = x + 8 * len(text) <= x2 or x2 + 8 * len(text2) <= x
                assert apart or abs(y - y2) >= 14 - 1e-9
    beside = [(0.0, 5.0, "1 N", 5.0), (100.0, 5.0, "2 N", 5.0), (0.0, 40.0, "3 N", 40.0)]
    assert sorted(spread_labels(beside, 8.0, 14.0)) == sorted(beside)


def test_why_zero_is_told_and_the_balance_closes(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.selected = "box_at_back_stop"
        ctx.yield_(2)
        assert session.diagnostics is not None
        sentence = session.diagnostics.why_zero("box_at_back_stop", session.reading("box_at_back_stop").batch)
        assert sentence is not None
        assert "stop_back" in sentence
        session.selected = "box_on_slope"
        ctx.item_click("//Inspector/###balance")
        ctx.yield_(2)
        balance = session.diagnostics.forces(session.engine.model.body("box").id)
        assert balance is not None
        sums = balance.sum(ForceKind.CONTACT, ForceKind.GRAVITY)
        np.testing.assert_allclose(sums, balance.inertia, atol=1e-3)

    drive(window, test)
