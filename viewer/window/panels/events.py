"""Events window: when contacts began and ended, how pairs are tracked, and breakpoints."""

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from time import monotonic

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...events.breaks import Break, BreakWhen
from ...events.contact_events import EventKind
from ...events.event_log import LogEntry, MotionEvent, merge_bodies
from ...events.tracker import UNKNOWN_MOTION, ContactTracker
from ...mjmodel.types import MjModel
from ...recording.table_files import events_as_csv
from ...session.session import Session
from .. import widgets as ui
from ..shell import EVENTS, Dock, Panel, Shell
from ..theme import dim_color, plain_color
from .event_details import EventRow, EventRows, passes, show_crossing, show_sensor_times
from .event_options import BreakEditor, show_tracking_options

GoTo = Callable[[float], None]
"""Function that shows the step that ends at a simulated time [s]."""

_ALL = "all events"
_WIDE = 900.0
"""Least panel width for table and curves side by side [px]."""
_HIGH = 380.0
"""Least panel height for curves below the table, in a narrower panel [px]."""
_TABLE_PART = 0.6
_CURVES_HEIGHT = 180.0
_MOST_ASKED = 1000
_SPEED, _PEAK, _LASTED = "speed [m/s]", "peak [N]", "duration [s]"
_MERGE = 0.3
"""Least time between two updates of the events of bodies [s]."""
_MOST_LETTERS = 40
"""Largest number of letters of names for which the table has room; it leaves out less important columns for them."""
_COLUMNS = (
    ui.Heading(
        "time [s]",
        "0000.000000",
        ("Time at which the surfaces met or parted; for a sensor, at which its force passed the threshold"),
    ),
    ui.Heading("event", "creep_begin", "Begin or end of contact, slip or creep", left=True),
    ui.Heading(
        "pair or sensor",
        "",
        "Two geoms, with their sensor in parentheses, or a sensor. Click a row to go there",
        left=True,
    ),
    ui.Heading(
        _SPEED,
        "-000.0000",
        "Approach speed, negative at the end of contact; for slip and creep the largest speed",
    ),
    ui.Heading(_PEAK, "00000.000", "Largest normal force of this contact; for a sensor its largest force"),
    ui.Heading(_LASTED, "000.000000", "Duration of the contact; grey while it lasts"),
)


class Who(StrEnum):
    """Kind of objects whose events are listed."""

    ALL = "pairs, sensors"
    PAIRS = "pairs"
    BODIES = "bodies"
    """Events of pairs, with one row if several geoms of a body touch or slip together."""
    SENSORS = "sensors"


class EventsPanel:
    """Content of the Events window, with the chosen filters."""

    def __init__(self) -> None:
        self.text = ""
        """Words that the names of listed pairs and sensors contain."""
        self.kind: EventKind | None = None
        """Kind of the listed events; None for all."""
        self.who = Who.ALL
        self.breaks = BreakEditor()
        self._rows = EventRows()
        self._shown: list[EventRow] = []
        self._shown_for: tuple[object, ...] = ()
        self._total = 0
        """Number of rows without the filters on names and kinds."""
        self._merged = -math.inf
        """Time of the last update of the events of bodies, on the monotonic clock [s]."""
        self._scrolled_to = math.nan

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session = shell.app.session
        tracker, go_to = session.events, session.go_to_time if session.history else None
        if tracker is None:
            ui.paragraph("Events need a simulation that this window steps itself.")
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

    def shown(self, tracker: ContactTracker, model: MjModel) -> Sequence[EventRow]:
        """Return the rows that pass the filters."""
        log = tracker.log
        if self.who is Who.ALL:
            rows = self._rows.update(tracker, model)
            self._total = len(rows)
            if not self.text and self.kind is None:
                return rows
        state = (id(log), log.version, self.text, self.kind, self.who)
        late = monotonic() - self._merged < _MERGE and state[2:] == self._shown_for[2:]
        if state != self._shown_for and not (self.who is Who.BODIES and late):
            self._shown_for, self._merged = state, monotonic()
            if self.who is Who.BODIES:
                merged = merge_bodies(log, tracker.body_labels, tracker.pairs.events.contacts)
                rows = [EventRow(entry, i) for i, entry in enumerate(merged)]
            elif self.who is not Who.ALL:
                sensors = self.who is Who.SENSORS
                rows = [EventRow(entry, i) for i, entry in enumerate(log) if (entry.sensor is not None) is sensors]
            self._total = len(rows)
            self._shown = [row for row in rows if passes(row, self.text, self.kind)]
        return self._shown

    def _summary(self, tracker: ContactTracker, model: MjModel) -> str:
        """Return as text the numbers of rows, with and without the filters, and the number of tracked pairs."""
        choice, log, count = tracker.pairs.choice, tracker.log, len(self.shown(tracker, model))
        of_all = f"{count} of {self._total}" if count != self._total else str(count)
        events = f"{of_all} event{'s' * (self._total != 1)}"
        pairs = f"{len(choice.labels)} of {choice.total}" if choice.dropped else str(len(choice.labels))
        dropped = f", {log.dropped} older dropped" if log.dropped else ""
        flexes = " · no flexes" if choice.flexes else ""
        motion = " · slips and creep not known" if tracker.friction is None else ""
        return f"{events}{dropped} · {pairs} pairs{flexes}{motion}"

    def _show_controls(self, session: Session, tracker: ContactTracker, go_to: GoTo | None) -> None:
        now, log = session.engine.time, tracker.log
        margin = 0.5 * session.engine.timestep
        for icon, name, entry in (
            (icons.ICON_FA_BACKWARD_STEP, "Previous", log.preceding(now - margin)),
            (icons.ICON_FA_FORWARD_STEP, "Next", log.following(now + margin)),
        ):
            with ui.disabled(go_to is None or entry is None):
                if ui.button(f"{icon}###{name}", f"{name} event") and go_to is not None and entry is not None:
                    go_to(entry.seen)
            imgui.same_line(0, 4)
        em = imgui.get_font_size()
        help_text = "Show only pairs and sensors with these words in their names"
        self.text = ui.filter_field("##filter", "filter names", self.text, 8 * em, help_text)
        width = 7.4 * em
        ui.flow(width)
        kinds, help_text = (None, *EventKind), "Kind of events to show"
        self.kind = ui.choose("##kind", self.kind, kinds, width, help_text, lambda kind: str(kind or _ALL))
        ui.flow(width)
        help_text = (
            "pairs: of geoms, by distance; sensors: by force; both: one row per contact.\nbodies: one event for "
            "several geoms of a body"
        )
        self.who = ui.choose("##who", self.who, Who, width, help_text)
        ui.flow(5 * em)
        self.breaks.show(session, tracker)
        ui.flow(2 * em)
        show_tracking_options(session, tracker)
        ui.flow(2 * em)
        if ui.button(f"{icons.ICON_FA_COPY}###copy", "Copy the listed events of pairs as CSV"):
            rows = self.shown(tracker, session.engine.model)
            imgui.set_clipboard_text(events_as_csv([row.entry for row in rows]))
        summary = self._summary(tracker, session.engine.model)
        ui.flow(imgui.calc_text_size(summary).x)
        imgui.align_text_to_frame_padding()
        ui.dim_text(summary)
        if tracker.friction is None:
            ui.tooltip(f"{UNKNOWN_MOTION[0].upper()}{UNKNOWN_MOTION[1:]}")

    def _show_list(self, session: Session, tracker: ContactTracker, go_to: GoTo | None) -> None:
        rows = self.shown(tracker, session.engine.model)
        if not rows:
            _show_empty(session, tracker)
            return
        flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
        half = 0.5 * session.engine.timestep
        present = bisect_right(rows, session.engine.time + half, key=lambda row: row.entry.seen) - 1
        why = _why(rows[present]) if present >= 0 else ""
        if any(row.entry.motion is not None for row in rows[-_MOST_ASKED:]):
            # Always two lines, so that rows do not jump.
            size = ImVec2(0, -2.2 * imgui.get_text_line_height_with_spacing())
        else:
            size = ImVec2(0, 0)
        with ui.number_font():
            room = imgui.get_content_region_avail().x - imgui.get_style().scrollbar_size
            names = imgui.calc_text_size("0").x * min(self._rows.longest, _MOST_LETTERS)
            headings = ui.fitting(_COLUMNS, room, (_SPEED, _LASTED, _PEAK), names)
            if imgui.begin_table("##events", len(headings), flags, size):
                ui.table_headings(headings)
                shown = {heading.name for heading in headings}
                for i in ui.visible_rows(len(rows)):
                    imgui.push_id(i)
                    self._show_row(session, tracker, rows[i], go_to, shown, present=i == present)
                    imgui.pop_id()
                self._scroll(session.engine.time, rows, present)
                imgui.end_table()
        if size.y and why:
            ui.paragraph(why)

    def _scroll(self, now: float, rows: Sequence[EventRow], present: int) -> None:
        """Scroll to the newest event unless the user has scrolled away from it; in the past, to the present event."""
        if rows[-1].entry.seen > now:
            if now != self._scrolled_to:
                part = (imgui.get_scroll_max_y() + imgui.get_window_height()) / (len(rows) + 1)
                imgui.set_scroll_y((present + 2) * part - imgui.get_window_height() / 2)
            self._scrolled_to = now
        elif imgui.get_scroll_y() >= imgui.get_scroll_max_y() - 1:
            imgui.set_scroll_here_y(1.0)

    def _show_row(
        self,
        session: Session,
        tracker: ContactTracker,
        row: EventRow,
        go_to: GoTo | None,
        shown: Collection[str],
        *,
        present: bool,
    ) -> None:
        """Draw a row; the row of the last event up to the shown step is marked."""
        entry = row.entry
        color = dim_color() if entry.seen > session.engine.time + 0.5 * session.engine.timestep else plain_color()
        imgui.table_next_row()
        imgui.table_next_column()
        spans = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_overlap
        place = imgui.get_cursor_pos_x()
        if imgui.selectable("##row", present, spans)[0] and go_to is not None:
            go_to(entry.seen)
        if present:
            _draw_mark()
        _show_row_menu(self, tracker, entry)
        imgui.same_line()
        imgui.set_cursor_pos_x(place)
        ui.text_right(f"{entry.time:.6f}", color)
        imgui.table_next_column()
        imgui.text_colored(color, str(entry.kind))
        imgui.table_next_column()
        with ui.text_color(color):
            ui.fitted_text(row.text, imgui.get_content_region_avail().x)
        lasting = entry.contact.lasting
        for name, value, decimals, ink in (
            (_SPEED, entry.approach_speed if entry.motion is None else entry.motion.speed, 4, color),
            (_PEAK, entry.contact.peak_force, 3, color),
            (_LASTED, entry.contact.duration(tracker.time), 6, dim_color() if lasting else color),
        ):
            if name in shown:
                _cell(value, decimals, ink)


def _why(row: EventRow) -> str:
    """Return the reason why a pair starts to slide or creep; for its end, the distance and the largest speed."""
    event = row.entry.event
    if not isinstance(event, MotionEvent):
        return ""
    return event.why or f"{1e3 * event.distance:.3g} mm in {event.duration:.3g} s, at most {event.speed:.3g} m/s."


def _draw_mark() -> None:
    """Draw a bar at the left of the marked row."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    ink = imgui.get_color_u32(imgui.Col_.text)
    imgui.get_window_draw_list().add_rect_filled(low, ImVec2(low.x + 0.2 * imgui.get_font_size(), high.y), ink)


def _show_row_menu(panel: EventsPanel, tracker: ContactTracker, entry: LogEntry) -> None:
    if not imgui.begin_popup_context_item("##menu"):
        return
    if imgui.selectable("Show only this", False)[0]:
        panel.text = entry.subject.replace("×", " ")
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
            show_sensor_times(tracker, session.engine.time)
            imgui.end_tab_item()
        imgui.end_tab_bar()


def _show_empty(session: Session, tracker: ContactTracker) -> None:
    if len(tracker.log):
        ui.paragraph("No match. Clear the filter to see all events.")
    elif not tracker.pairs.choice.labels and not tracker.sensors.names and not tracker.pairs.choice.flexes:
        ui.paragraph("Nothing in this scene can collide.")
    else:
        ui.paragraph("No contact changes yet. Contacts that exist from the start are not events.")
    if untracked := tracker.pairs.choice.untracked:
        ui.paragraph(f"{untracked[0].upper()}{untracked[1:]}.")


def _cell(value: float, decimals: int, color: ImVec4) -> None:
    imgui.table_next_column()
    if not math.isnan(value):
        ui.text_right(ui.format_number(value, decimals), color)


PANEL = Panel(EVENTS, Dock.BOTTOM, EventsPanel)
