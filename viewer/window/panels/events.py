"""Events window: when contacts began and ended, how they are counted, and when to stop for them."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import StrEnum

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...events.breaks import Break, BreakWhen
from ...events.contact_events import EventKind
from ...events.event_log import LogEntry
from ...events.tracker import ContactTracker
from ...recording.table_files import events_as_csv
from ...session.session import Session
from ..theme import dim_color, plain_color
from ..widgets import (
    Heading,
    button,
    choose,
    dim_text,
    disabled,
    fit_text,
    format_number,
    number_font,
    paragraph,
    table_headings,
    text_color,
    text_right,
    tooltip,
    visible_rows,
)
from .breaks import BreakEditor
from .event_curves import show_crossing, show_sensor_times
from .tracking_options import show_tracking_options

GoTo = Callable[[float], None]
"""Shows the step that ends at a simulation time [s]."""

_ALL = "begin, end"
_WIDE = 900.0
"""From this width [px] on, table and curves stand side by side."""
_HIGH = 380.0
"""In a narrower window, from this height [px] on, the curves stand below the table."""
_TABLE_PART = 0.6
_CURVES_HEIGHT = 180.0
_COLUMNS = (
    Heading(
        "time [s]", "0000.000000", "When the surfaces met or parted; a sensor: when its force passed the threshold"
    ),
    Heading("event", "begin", "Contact began or ended", left=True),
    Heading("pair or sensor", "", "Click a row to go to that instant", left=True),
    Heading("speed [m/s]", "-000.0000", "How fast the surfaces approached; negative when they parted"),
    Heading("peak [N]", "00000.000", "Largest normal force between the two in this contact, or force of the sensor"),
    Heading("lasted [s]", "000.000000", "How long the contact lasted; grey while it does"),
)


class Who(StrEnum):
    """Whose events are shown."""

    ALL = "pairs, sensors"
    PAIRS = "pairs"
    SENSORS = "sensors"


class EventsPanel:
    """The window's content, and what a person chose in it."""

    def __init__(self) -> None:
        self.text = ""
        """Only events of pairs and sensors with this in their names."""
        self.kind: EventKind | None = None
        """Only events of this kind."""
        self.who = Who.ALL
        self.breaks = BreakEditor()
        self._shown: list[LogEntry] = []
        self._shown_for: tuple[object, ...] = ()
        self._scrolled_to = math.nan

    def show(self, session: Session) -> None:
        """The window's content."""
        tracker, go_to = session.events, session.go_to_time if session.history else None
        if tracker is None:
            paragraph("Events need a simulation that this window steps itself.")
            return
        avail = imgui.get_content_region_avail()
        wide, high = avail.x >= _WIDE, avail.y >= _HIGH
        size = ImVec2(_TABLE_PART * avail.x if wide else 0, 0 if wide or not high else avail.y - _CURVES_HEIGHT)
        if imgui.begin_child("##list", size):
            self._show_controls(session, tracker, go_to)
            self._show_list(session, tracker, go_to)
        imgui.end_child()
        if not wide and not high:
            return
        if wide:
            imgui.same_line()
        if imgui.begin_child("##curves"):
            _show_tabs(session, tracker)
        imgui.end_child()

    def shown(self, tracker: ContactTracker) -> Sequence[LogEntry]:
        """The events that pass the filter."""
        log = tracker.log
        if not self.text and self.kind is None and self.who is Who.ALL:
            return log.entries
        state = (id(log), log.version, self.text, self.kind, self.who)
        if state != self._shown_for:
            self._shown_for = state
            self._shown = [entry for entry in log if self._passes(entry)]
        return self._shown

    def _passes(self, entry: LogEntry) -> bool:
        if self.kind is not None and entry.kind is not self.kind:
            return False
        if self.who is not Who.ALL and (entry.sensor is not None) is not (self.who is Who.SENSORS):
            return False
        return all(word in entry.subject.lower() for word in self.text.lower().split())

    def _show_controls(self, session: Session, tracker: ContactTracker, go_to: GoTo | None) -> None:
        now, log = session.engine.time, tracker.log
        margin = 0.5 * session.engine.timestep
        for icon, name, entry in (
            (icons.ICON_FA_BACKWARD_STEP, "Previous", log.preceding(now - margin)),
            (icons.ICON_FA_FORWARD_STEP, "Next", log.following(now + margin)),
        ):
            with disabled(go_to is None or entry is None):
                if button(f"{icon}###{name}", f"{name} event") and go_to is not None and entry is not None:
                    go_to(entry.seen)
            imgui.same_line(0, 4)
        imgui.set_next_item_width(8 * imgui.get_font_size())
        _, self.text = imgui.input_text_with_hint("##filter", "filter names", self.text)
        tooltip("Show only pairs and sensors with these words in their names")
        imgui.same_line()
        width = 7.4 * imgui.get_font_size()
        kinds, help_text = (None, *EventKind), "Begins, ends, or both"
        self.kind = choose("##kind", self.kind, kinds, width, help_text, lambda kind: str(kind or _ALL))
        imgui.same_line()
        help_text = "Whose events: pairs of geoms by distance, sensors by force"
        self.who = choose("##who", self.who, Who, width, help_text)
        imgui.same_line()
        self.breaks.show(tracker)
        imgui.same_line()
        show_tracking_options(session, tracker)
        imgui.same_line()
        if button(f"{icons.ICON_FA_COPY}###copy", "Copy the pairs' events in the list as CSV"):
            imgui.set_clipboard_text(events_as_csv(self.shown(tracker)))
        imgui.same_line()
        dim_text(fit_text(_summary(tracker), imgui.get_content_region_avail().x))
        tooltip(_summary(tracker))

    def _show_list(self, session: Session, tracker: ContactTracker, go_to: GoTo | None) -> None:
        entries = self.shown(tracker)
        if not entries:
            _show_empty(session, tracker)
            return
        flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
        with number_font():
            if imgui.begin_table("##events", len(_COLUMNS), flags):
                table_headings(_COLUMNS)
                for i in visible_rows(len(entries)):
                    imgui.push_id(i)
                    self._show_row(session, tracker, entries[i], go_to)
                    imgui.pop_id()
                self._scroll(session.engine.time, entries)
                imgui.end_table()

    def _scroll(self, now: float, entries: Sequence[LogEntry]) -> None:
        """Keep the newest event in sight, unless a person has scrolled away from it; or the one gone back to."""
        if entries[-1].seen > now:
            if now != self._scrolled_to:
                place = bisect_right(entries, now, key=lambda entry: entry.seen)
                part = (imgui.get_scroll_max_y() + imgui.get_window_height()) / (len(entries) + 1)
                imgui.set_scroll_y((place + 1) * part - imgui.get_window_height() / 2)
            self._scrolled_to = now
        elif imgui.get_scroll_y() >= imgui.get_scroll_max_y() - 1:
            imgui.set_scroll_here_y(1.0)

    def _show_row(self, session: Session, tracker: ContactTracker, entry: LogEntry, go_to: GoTo | None) -> None:
        now = session.engine.time
        margin = 0.5 * session.engine.timestep
        yet_to_come = entry.seen > now + margin
        color = dim_color() if yet_to_come else plain_color()
        imgui.table_next_row()
        imgui.table_next_column()
        spans = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_overlap
        place = imgui.get_cursor_pos_x()
        if imgui.selectable("##row", abs(entry.seen - now) < margin, spans)[0] and go_to is not None:
            go_to(entry.seen)
        _show_row_menu(self, tracker, entry)
        imgui.same_line()
        imgui.set_cursor_pos_x(place)
        text_right(f"{entry.time:.6f}", color)
        imgui.table_next_column()
        imgui.text_colored(color, str(entry.kind))
        imgui.table_next_column()
        name = entry.subject if entry.pair_id is not None else f"{entry.subject} (sensor)"
        with text_color(color):
            imgui.text_unformatted(fit_text(name, imgui.get_content_region_avail().x))
        _cell(entry.approach_speed, 4, color)
        _cell(entry.contact.peak_force, 3, color)
        lasting = entry.contact.lasting
        _cell(entry.contact.duration(tracker.time), 6, dim_color() if lasting else color)


def _show_row_menu(panel: EventsPanel, tracker: ContactTracker, entry: LogEntry) -> None:
    if not imgui.begin_popup_context_item("##menu"):
        return
    if imgui.selectable("Show only this", False)[0]:
        panel.text = entry.subject.replace("·", " ")
    for when in (BreakWhen.BEGIN, BreakWhen.END):
        if imgui.selectable(f"Break when it {when}", False)[0]:
            tracker.breaks.append(Break(when, entry.pair_id, entry.sensor))
    imgui.end_popup()


def _show_tabs(session: Session, tracker: ContactTracker) -> None:
    if imgui.begin_tab_bar("##tabs"):
        if imgui.begin_tab_item("Crossing")[0]:
            show_crossing(session, tracker)
            imgui.end_tab_item()
        if imgui.begin_tab_item("Times")[0]:
            show_sensor_times(tracker)
            imgui.end_tab_item()
        imgui.end_tab_bar()


def _summary(tracker: ContactTracker) -> str:
    choice, log = tracker.pairs.choice, tracker.log
    pairs = f"{len(choice.labels)} of {choice.total}" if choice.dropped else str(len(choice.labels))
    dropped = f", {log.dropped} older dropped" if log.dropped else ""
    flexes = " · no flexes" if choice.flexes else ""
    return f"{len(log)} events{dropped} · {pairs} pairs{flexes}"


def _show_empty(session: Session, tracker: ContactTracker) -> None:
    if len(tracker.log):
        paragraph("No event passes the filter.")
    elif not tracker.pairs.choice.labels and not tracker.sensors.names and not tracker.pairs.choice.flexes:
        paragraph("Nothing in this scene can collide.")
    else:
        paragraph("No contact has begun or ended. Contacts that were there from the start are not events.")
    if untracked := tracker.pairs.choice.untracked:
        paragraph(f"{untracked[0].upper()}{untracked[1:]}.")


def _cell(value: float, decimals: int, color: ImVec4) -> None:
    imgui.table_next_column()
    if not math.isnan(value):
        text_right(format_number(value, decimals), color)
