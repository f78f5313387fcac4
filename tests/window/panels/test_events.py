"""The Events window as a person uses it, in the real application."""

import math
from pathlib import Path
from typing import Any

import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.assets import bundled_scene
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.contact_events import EventKind, EventRule
from contact_viewer.events.tracker import ContactTracker
from contact_viewer.mjmodel.pair_selection import PairSource
from contact_viewer.settings import Options
from contact_viewer.window.panels.events import EventsPanel, Who
from contact_viewer.window.shell import EVENTS
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..driver import count_green, drive, scene_part, screenshot


class EventsWindow(Window):
    """The window, and a short way to what its Events panel shows."""

    def __init__(self, scene: Path, width: int = 1600, height: int = 900) -> None:
        options = Options(scene=scene, paused=True, width=width, height=height)
        super().__init__(Application(open_engine(scene), options))
        self.keeps_settings = False

    @property
    def tracker(self) -> ContactTracker:
        assert self.app.session.events is not None
        return self.app.session.events

    @property
    def panel(self) -> EventsPanel:
        return self._events_panel

    def focus(self, ctx: Any) -> None:
        self._panel(EVENTS).focus_window_at_next_frame = True
        ctx.yield_(4)


def child(ctx: Any, item: str) -> str:
    """The path of an item beside the list."""
    name: str = ctx.window_info("//Events/##list").window.name
    return f"//{name.replace('/', chr(92) + '/')}/{item}"


def open_scene(name: str, **size: int) -> EventsWindow:
    scene = bundled_scene(name)
    assert scene is not None
    return EventsWindow(scene.path, **size)


def test_clicking_an_event_goes_to_its_instant(tmp_path: Path) -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session, log = app.session, window.tracker.log
        session._step(160)
        ctx.yield_(3)
        begin = next(i for i, entry in enumerate(log) if entry.subject == "slab · dead")
        ctx.item_click(f"//Events/**/$${begin}/##row")
        assert session.engine.time == pytest.approx(log.entries[begin].seen)
        assert session.paused
        # The first step whose arrays hold the contact, drawn as it was.
        assert session.reading("dead_ball").reported == 1
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "begin.png"))) > 200
        session.step_back()
        assert session.reading("dead_ball").reported == 0
        # Looking back keeps the list.
        assert len(log) == 8

    drive(window, test)


def test_next_and_previous() -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session = app.session
        session._step(250)
        seen = sorted({entry.seen for entry in window.tracker.log})
        for time in reversed(seen):
            ctx.item_click("//Events/**/###Previous")
            assert session.engine.time == pytest.approx(time)
        for time in seen[1:]:
            ctx.item_click("//Events/**/###Next")
            assert session.engine.time == pytest.approx(time)

    drive(window, test)


def test_filters() -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        app.session._step(600)
        ctx.yield_(2)
        tracker, panel = window.tracker, window.panel
        everything = len(panel.shown(tracker))
        assert everything == len(tracker.log) > 20
        ctx.item_input("//Events/**/##filter")
        ctx.key_chars_replace("SLAB liv")
        ctx.yield_(2)
        assert {entry.subject for entry in panel.shown(tracker)} == {"slab · lively"}
        ctx.item_click(child(ctx, "##kind"))
        ctx.item_click("//$FOCUSED/end")
        assert {entry.kind for entry in panel.shown(tracker)} == {EventKind.END}
        app.session._step(300)
        assert all(entry.subject == "slab · lively" for entry in panel.shown(tracker))
        panel.text, panel.kind = "", None
        ctx.item_click(child(ctx, "##who"))
        ctx.item_click("//$FOCUSED/sensors")
        assert panel.who is Who.SENSORS
        assert {entry.sensor is None for entry in panel.shown(tracker)} == {False}
        panel.who = Who.PAIRS
        assert {entry.pair_id is None for entry in panel.shown(tracker)} == {False}
        ctx.item_click("//Events/**/###copy")
        lines = imgui.get_clipboard_text().splitlines()
        assert len(lines) == 1 + len(panel.shown(tracker))

    drive(window, test)


def test_break_on_event() -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session, tracker = app.session, window.tracker
        ctx.item_click("//Events/**/###break")
        ctx.item_click("//$FOCUSED/##subject")
        # After "any pair" and five sensors comes the first pair.
        ctx.item_click("//$FOCUSED/$$7/slab · soft")
        ctx.item_click("//$FOCUSED/Add")
        (added,) = tracker.breaks
        assert (added.when, added.pair_id, added.sensor) == (BreakWhen.BEGIN, 1, None)
        ctx.popup_close_all()
        session.toggle_paused()
        for _ in range(400):
            ctx.yield_()
            if session.paused:
                break
        assert session.paused
        assert any("slab · soft begins at 0.284572 s" in notice.text for notice in app.notices.items)
        # The steps of a frame are taken at once; the history leads back to the first one that shows it.
        assert session.engine.time == pytest.approx(0.288)
        assert session.reading("soft_ball").reported == 1
        session.step_back()
        assert session.reading("soft_ball").reported == 0
        ctx.item_click("//Events/**/###break")
        ctx.item_click("//$FOCUSED/$$0/###remove")
        assert tracker.breaks == []

    drive(window, test)


def test_a_row_offers_a_break() -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        app.session._step(200)
        ctx.yield_(3)
        row = next(i for i, entry in enumerate(window.tracker.log) if entry.subject == "lively_ball")
        ctx.item_click(f"//Events/**/$${row}/##row", 1)
        ctx.item_click("//$FOCUSED/Break when it ends")
        assert window.tracker.breaks == [Break(BreakWhen.END, sensor=2)]

    drive(window, test)


def test_what_is_tracked_can_be_chosen() -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session, tracker = app.session, window.tracker
        session._step(200)
        ctx.item_click("//Events/**/###tracking")
        ctx.item_click("//$FOCUSED/all that can collide")
        assert (tracker.pairs.choice.source, len(tracker.pairs.labels)) == (PairSource.ALL, 20)
        assert len(tracker.log) == 0
        session.view.perturb.select = 2
        ctx.yield_(2)
        ctx.item_click("//$FOCUSED/###body")
        assert tracker.pairs.choice.source is PairSource.BODY
        ctx.item_click("//$FOCUSED/eps")
        ctx.item_click("//$FOCUSED/0.0001 m")
        assert tracker.options.eps == 1e-4
        ctx.item_click("//$FOCUSED/precise")
        assert tracker.options.precise
        ctx.item_click("//$FOCUSED/rule")
        ctx.item_click("//$FOCUSED/modia")
        assert tracker.options.rule is EventRule.MODIA
        ctx.item_input_value("//$FOCUSED/until below", 3.0)
        assert (tracker.options.on, tracker.options.off) == (3.0, 3.0)
        assert tracker.options.eps == 1e-4
        ctx.popup_close_all()
        session._step(400)
        assert len(tracker.log) > 2

    drive(window, test)


def test_curves_are_kept_only_while_they_are_in_sight(tmp_path: Path) -> None:
    window = open_scene("bounce")
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session, tracker = app.session, window.tracker
        ctx.item_click("//Events/**/Crossing")
        ctx.yield_(2)
        session._step(100)
        assert tracker.curves.shape[1] == 100
        before = screenshot(ctx, tmp_path / "curves.png")
        session._step(100)
        after = screenshot(ctx, tmp_path / "more.png")
        assert (before != after).any()
        ctx.item_click("//Events/**/Times")
        ctx.yield_(2)
        assert math.isfinite(tracker.curves_wanted_until)
        tracker.curves_wanted_until = -math.inf
        ctx.yield_(2)
        session._step(50)
        assert tracker.curves.shape[1] == 200

    drive(window, test)


@pytest.mark.parametrize("scene", ["quadruped", "pile"])
@pytest.mark.parametrize("size", [(1600, 900), (700, 500)])
def test_every_scene_and_size_can_be_shown(scene: str, size: tuple[int, int], tmp_path: Path) -> None:
    window = open_scene(scene, width=size[0], height=size[1])
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        screenshot(ctx, tmp_path / "start.png")
        app.session._step(60)
        window.toggle_theme()
        screenshot(ctx, tmp_path / "running.png")
        app.session.reset()
        app.session._step(3)
        screenshot(ctx, tmp_path / "reset.png")

    drive(window, test)


def test_nothing_to_follow(tmp_path: Path) -> None:
    path = tmp_path / "empty.xml"
    path.write_text('<mujoco><worldbody><geom type="plane" size="1 1 .1"/></worldbody></mujoco>')
    window = EventsWindow(path)
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        app.session._step(5)
        ctx.item_click("//Events/**/Times")
        screenshot(ctx, tmp_path / "empty.png")
        window.panel.breaks.draft = Break(BreakWhen.BEGIN, pair_id=7, sensor=9)
        ctx.item_click("//Events/**/###break")
        screenshot(ctx, tmp_path / "breaks.png")
        assert (window.panel.breaks.draft.pair_id, window.panel.breaks.draft.sensor) == (None, None)

    drive(window, test)
