"""The Events window as a user uses it, in the real application."""

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
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, ViewState
from contact_viewer.window.panels.event_details import EventRow, EventRows
from contact_viewer.window.panels.events import EventsPanel, Who
from contact_viewer.window.shell import EVENTS
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..driver import count_green, drive, scene_part, screenshot, wait
from ..text_room import recorded_text


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
        panel: EventsPanel = self.contents[EVENTS]
        return panel

    @property
    def rows(self) -> list[EventRow]:
        """What the list shows."""
        return list(self.panel.shown(self.tracker, self.app.session.engine.model))

    def focus(self, ctx: Any) -> None:
        self.dockable(EVENTS).focus_window_at_next_frame = True
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
        session.take_steps(160)
        ctx.yield_(3)
        begin = next(i for i, row in enumerate(window.rows) if row.entry.subject == "slab × dead")
        ctx.item_click(f"//Events/**/$${begin}/##row")
        assert session.engine.time == pytest.approx(window.rows[begin].entry.seen)
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
        session.take_steps(250)
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
        app.session.take_steps(600)
        ctx.yield_(2)
        tracker, panel = window.tracker, window.panel
        everything = len(window.rows)
        assert len(tracker.log) > everything > 10

        def summary() -> str:
            """What stands above the list, up to the pairs."""
            with recorded_text() as drawn:
                ctx.yield_(2)
            (text,) = {each.text for each in drawn if each.text.endswith(" pairs")}
            return text.partition(" · ")[0]

        # Pair and sensor of a contact are one row, and count once.
        assert summary() == f"{everything} events"
        ctx.item_input("//Events/**/##filter")
        ctx.key_chars_replace("SLAB liv")
        ctx.yield_(2)
        assert {row.entry.subject for row in window.rows} == {"slab × lively"}
        assert len(window.rows) < everything
        assert summary() == f"{len(window.rows)} of {everything} events"
        ctx.item_click(child(ctx, "##kind"))
        ctx.item_click("//$FOCUSED/end")
        assert {row.entry.kind for row in window.rows} == {EventKind.END}
        app.session.take_steps(300)
        assert all(row.entry.subject == "slab × lively" for row in window.rows)
        panel.text, panel.kind = "", None
        ctx.item_click(child(ctx, "##who"))
        ctx.item_click("//$FOCUSED/sensors")
        assert panel.who is Who.SENSORS
        assert {row.entry.sensor is None for row in window.rows} == {False}
        panel.who = Who.PAIRS
        assert {row.entry.pair_id is None for row in window.rows} == {False}
        assert summary() == f"{len(window.rows)} events"
        ctx.item_click("//Events/**/###copy")
        lines = imgui.get_clipboard_text().splitlines()
        assert len(lines) == 1 + len(window.rows)

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
        ctx.item_click("//$FOCUSED/$$7/slab × soft")
        ctx.item_click("//$FOCUSED/Add")
        (added,) = tracker.breaks
        assert (added.when, added.pair_id, added.sensor) == (BreakWhen.BEGIN, 1, None)
        ctx.popup_close_all()
        session.toggle_paused()
        wait(ctx, lambda: session.paused)
        assert session.paused
        assert any("slab × soft begins at 0.284572 s" in notice.text for notice in app.notices.items)
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
        app.session.take_steps(200)
        ctx.yield_(3)
        window.panel.who = Who.SENSORS
        ctx.yield_(2)
        row = next(i for i, row in enumerate(window.rows) if row.entry.subject == "lively_ball")
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
        session.take_steps(200)
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
        session.take_steps(400)
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
        session.take_steps(100)
        assert tracker.curves.shape[1] == 100
        before = screenshot(ctx, tmp_path / "curves.png")
        session.take_steps(100)
        after = screenshot(ctx, tmp_path / "more.png")
        assert (before != after).any()
        ctx.item_click("//Events/**/Times")
        ctx.yield_(2)
        assert math.isfinite(tracker.curves_wanted_until)
        tracker.curves_wanted_until = -math.inf
        ctx.yield_(2)
        session.take_steps(50)
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
        app.session.take_steps(60)
        window.toggle_theme()
        screenshot(ctx, tmp_path / "running.png")
        app.session.reset()
        app.session.take_steps(3)
        screenshot(ctx, tmp_path / "reset.png")

    drive(window, test)


def test_nothing_to_follow(tmp_path: Path) -> None:
    path = tmp_path / "empty.xml"
    path.write_text('<mujoco><worldbody><geom type="plane" size="1 1 .1"/></worldbody></mujoco>')
    window = EventsWindow(path)
    app = window.app

    def test(ctx: Any) -> None:
        window.focus(ctx)
        app.session.take_steps(5)
        ctx.item_click("//Events/**/Times")
        screenshot(ctx, tmp_path / "empty.png")
        window.panel.breaks.draft = Break(BreakWhen.BEGIN, pair_id=7, sensor=9)
        ctx.item_click("//Events/**/###break")
        screenshot(ctx, tmp_path / "breaks.png")
        assert (window.panel.breaks.draft.pair_id, window.panel.breaks.draft.sensor) == (None, None)

    drive(window, test)


def test_a_sensor_and_its_pair_are_one_row() -> None:
    window = open_scene("bounce")

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session, log = window.app.session, window.tracker.log
        for _ in range(12):
            session.take_steps(50)
            ctx.yield_(1)
        rows = window.rows
        # Every event of the log is in one row, and in one only.
        entries = [entry for row in rows for _, entry in row.events]
        assert sorted(map(id, entries)) == sorted(map(id, log))
        hit = next(row for row in rows if row.entry.subject == "slab × dead" and row.entry.kind is EventKind.BEGIN)
        assert {entry.subject for _, entry in hit.events} == {"slab × dead", "dead_ball"}
        assert hit.text == "slab × dead  (dead_ball)"
        assert {entry.kind for _, entry in hit.events} == {EventKind.BEGIN}
        twins = [row for row in rows if len(row.events) == 2]
        assert all(abs(row.events[0][1].seen - row.events[1][1].seen) <= 0.05 for row in twins)
        assert len(rows) < 0.7 * len(log)
        # The same rows as those of a list that is made at once.
        assert [row.text for row in EventRows().update(window.tracker, session.engine.model)] == [r.text for r in rows]

    drive(window, test)


@pytest.mark.parametrize("scene", ["walker", "bounce", "pile"])
def test_a_foot_that_unloads_before_it_parts_is_one_row(scene: str) -> None:
    """Twins however far apart their two thresholds are, but never across another event of either."""
    session = Session(open_engine(scene), ViewState())
    session.track_events()
    engine, tracker, rows = session.engine, session.events, EventRows()
    assert tracker is not None
    for _ in range(25):
        session.take_steps(100)
        rows.update(tracker, engine.model)
    last: dict[str, EventKind] = {}
    for row in rows.rows:
        for _, entry in row.events:
            assert last.get(entry.subject) is not entry.kind
            last[entry.subject] = entry.kind
    if scene == "walker":
        assert [row.text for row in rows.rows if row.entry.pair_id is None] == []
        # Slips have no twins.
        changes = [row for row in rows.rows if row.entry.kind in (EventKind.BEGIN, EventKind.END)]
        assert len(changes) < 0.55 * sum(len(row.events) for row in changes)
    assert [row.text for row in EventRows().update(tracker, engine.model)] == [row.text for row in rows.rows]


def test_the_row_of_the_present_instant_is_marked_and_in_sight(tmp_path: Path) -> None:
    window = open_scene("bounce")

    def test(ctx: Any) -> None:
        window.focus(ctx)
        session = window.app.session
        session.take_steps(1500)
        ctx.yield_(3)
        rows = window.rows
        place = len(rows) // 2
        session.go_to_time(rows[place].entry.seen)
        ctx.yield_(3)
        row = ctx.item_info(f"//Events/**/$${place}/##row").rect_full
        panel = ctx.window_info("//Events").window
        assert panel.pos.y < row.min.y < row.max.y < panel.pos.y + panel.size.y
        picture = screenshot(ctx, tmp_path / "marked.png")
        bar = picture[round(row.min.y) + 2 : round(row.max.y) - 2, round(row.min.x) + 1]
        assert bar.min() > 180

    drive(window, test)
