"""Rows of the event list, which join the events of a pair with those of its sensor; curves of the gap of a pair."""

import math
from collections.abc import Iterable, Sequence
from time import monotonic

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from numpy.typing import NDArray

from ...events.contact_events import EventKind
from ...events.event_log import EventLog, LogEntry
from ...events.tracker import ContactTracker
from ...mjmodel.names import sensor_names
from ...mjmodel.pairs import possible_pairs
from ...mjmodel.types import MjModel
from ...session.session import Session
from .. import widgets as ui
from ..theme import dim_color, faded, plain_color

_TOGETHER = 0.05
"""Longest time between the events of a pair and of its sensor in one row [s]. Surfaces meet before the sensor reports a
force, and part after the force has ended."""
_MOST_PAIRS = 256
"""Largest number of pairs of a sensor for which its events are joined with those of the pairs."""
_ALONE = " (sensor)"
"""Suffix of the name of a sensor whose event belongs to no pair."""
_UNSETTLED = 100
"""Number of newest entries whose place may still change: a sensor's event is inserted once it is confirmed."""
_LINGER = 0.5
"""Time for which the curves are still recorded after they were last drawn [s]."""
_SPAN = 2.0
"""Time span of the curves [s]."""
_MARK_COUNT = 100
_TICKS = ((1.0, "1 m"), (1e-2, "1 cm"), (1e-4, "0.1 mm"), (1e-6, "1 µm"), (1e-8, "10 nm"))
_TIMES = (
    ui.Heading("sensor", "", "Sensor; bright in contact, grey in the air", left=True),
    ui.Heading("now [s]", "000.000", "Time since the last change"),
    ui.Heading("contact [s]", "000.000", "Duration of the last complete contact"),
    ui.Heading("air [s]", "000.000", "Duration of the last complete time in the air"),
    ui.Heading("contacts", "000000", "Number of contacts, the present one included"),
    ui.Heading("duty", "0.000", "Share of the time in contact"),
)


def show_crossing(session: Session, tracker: ContactTracker) -> None:
    """Draw the curves of the distances z1 and z2, with the hysteresis band."""
    tracker.curves_wanted_until = monotonic() + _LINGER
    times, z1, z2 = tracker.curves
    if not len(times):
        ui.paragraph("Play to see gap curves.")
        return
    ui.paragraph("Smallest gap of touching pairs (z1) and of separated pairs (z2). Crossing 0 is an event.")
    eps = tracker.options.eps
    flags = implot.Flags_
    if not implot.begin_plot("##crossing", ImVec2(-1, -1), flags.no_title | flags.no_menus | flags.no_mouse_text):
        return
    axis = implot.AxisFlags_
    implot.setup_axes("", "", 0, axis.no_menus | axis.lock)
    implot.setup_axis_format(implot.ImAxis_.x1, "%g s")
    now = max(session.engine.time, float(times[0]) + _SPAN)
    implot.setup_axis_limits(implot.ImAxis_.x1, now - _SPAN, now, implot.Cond_.always)
    seen = times >= now - _SPAN
    low, high = _limits(z1[seen], z2[seen], eps)
    implot.setup_axis_limits(implot.ImAxis_.y1, low, high, implot.Cond_.always)
    sizes = [(size, text) for size, text in _TICKS if size > 4 * eps]
    places = _stretch(np.array([size for size, _ in sizes]), eps).tolist()
    labels = [text for _, text in sizes]
    implot.setup_axis_ticks(
        implot.ImAxis_.y1,
        [*places, 0.0, *(-place for place in places)],
        [*labels, "0", *(f"-{label}" for label in labels)],
    )
    legend = implot.LegendFlags_
    implot.setup_legend(implot.Location_.north_east, legend.horizontal | legend.outside)
    _draw_band(now, eps)
    _draw_marks(tracker, now)
    text = plain_color()
    _draw_line("z1 in contact", times[seen], z1[seen], eps, text)
    _draw_line("z2 apart", times[seen], z2[seen], eps, dim_color())
    implot.end_plot()
    ui.tooltip(
        "z1: largest distance of the pairs in contact; above 0 a contact ends.\nz2: smallest distance of the other "
        "pairs, plus 2 eps; below 0 a contact begins.\nThe band is the hysteresis, 2 eps above and below 0."
    )


def show_sensor_times(tracker: ContactTracker, now: float) -> None:
    """Draw the table with the times of each sensor in contact and in the air, at a simulated time [s]."""
    timing = tracker.timing_at(now)
    if not tracker.sensors.names:
        ui.paragraph("This scene has no contact sensors.")
        return
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
    in_contact, age = timing.in_contact, timing.contact_time + timing.air_time
    columns = (timing.last_contact_time, timing.last_air_time)
    counts, duty = timing.contact_count, timing.duty_factor
    with ui.number_font():
        for i in ui.table_rows("##times", _TIMES, len(tracker.sensors.names), flags):
            color = plain_color() if in_contact[i] else dim_color()
            imgui.table_next_column()
            with ui.text_color(color):
                ui.fitted_text(tracker.sensors.names[i], imgui.get_content_region_avail().x)
            texts = [f"{age[i]:.3f}", *(f"{column[i]:.3f}" if column[i] else "" for column in columns)]
            for text in (*texts, str(counts[i]), f"{duty[i]:.3f}"):
                imgui.table_next_column()
                ui.text_right(text, color)


def _stretch(distance: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    """Return distances [m] on an axis that is linear within `eps` and logarithmic beyond, from nanometres to metres."""
    return np.sign(distance) * np.log10(1 + np.abs(distance) / eps)


def _limits(z1: NDArray[np.float64], z2: NDArray[np.float64], eps: float) -> tuple[float, float]:
    """Return the limits of an axis that fits the curves, in whole decades so that they seldom change."""
    values = np.concatenate([z1, z2])
    values = _stretch(values[np.isfinite(values)], eps)
    return min(-1.0, math.floor(values.min(initial=0.0))) - 0.3, max(1.0, math.ceil(values.max(initial=0.0))) + 0.3


def _draw_line(label: str, times: NDArray[np.float64], values: NDArray[np.float64], eps: float, color: ImVec4) -> None:
    spec = implot.Spec(line_color=color, line_weight=1.3)
    shown = np.where(np.isfinite(values), _stretch(values, eps), math.nan)
    implot.plot_line(ui.literal(label), np.ascontiguousarray(times), np.ascontiguousarray(shown), spec)


def _draw_band(now: float, eps: float) -> None:
    edge = float(_stretch(np.array(2 * eps), eps))
    corner, opposite = implot.plot_to_pixels(now - _SPAN, edge), implot.plot_to_pixels(now, -edge)
    grey = dim_color()
    implot.push_plot_clip_rect()
    draw = implot.get_plot_draw_list()
    draw.add_rect_filled(corner, opposite, imgui.get_color_u32(faded(grey, 0.22)))
    draw.add_text(ImVec2(corner.x + 4, corner.y - imgui.get_text_line_height()), imgui.get_color_u32(grey), "±2 eps")
    implot.pop_plot_clip_rect()


def _draw_marks(tracker: ContactTracker, now: float) -> None:
    """Draw a thin line at each event in view."""
    events = [entry.time for entry in tracker.log.between(now - _SPAN, now) if entry.pair_id is not None]
    if events:
        spec = implot.Spec(line_color=faded(dim_color(), 0.35))
        implot.plot_inf_lines("##events", np.array(events[-_MARK_COUNT:]), spec)


class EventRow:
    """Row of the event list: an event of a pair, and the events of its sensors at the same time."""

    __slots__ = ("entry", "events", "place")

    def __init__(self, entry: LogEntry, place: int) -> None:
        self.events = [(place, entry)]
        """Events of the row, with their indices in the log."""
        self.place = place
        """Index of the first event in the log."""
        self.entry = entry
        """Event that the row shows: the event of the pair if there is one, because it has more details."""

    def add(self, entry: LogEntry, place: int) -> None:
        self.events.append((place, entry))
        if entry.pair_id is not None:
            self.entry = entry

    def cut(self, place: int) -> None:
        """Remove events at or after an index of the log; the row's first event is before this index."""
        kept = [event for event in self.events if event[0] < place]
        if len(kept) < len(self.events):
            self.events = kept
            self.entry = next((entry for _, entry in kept if entry.pair_id is not None), kept[0][1])

    @property
    def text(self) -> str:
        """Text of the column "pair or sensor"."""
        if self.entry.pair_id is None:
            return self.entry.subject + _ALONE
        return _row_text(self.entry.subject, [entry.subject for _, entry in self.events if entry.sensor is not None])


def _row_text(pair: str, sensors: Sequence[str]) -> str:
    return f"{pair}  ({', '.join(sensors)})" if sensors else pair


class EventRows:
    """Rows of a tracker's log, updated as it grows."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []
        self.longest = 0
        """Number of letters of the longest text that a row can have."""
        self._log: EventLog | None = None
        self._known: list[LogEntry] = []
        """Entries that the rows were made from."""
        self._version = -1
        self._model: MjModel | None = None
        self._pairs: object = None
        self._by_sensor: dict[int, frozenset[int]] = {}
        """Indices of the tracked pairs that each sensor matches."""
        self._by_pair: dict[int, list[int]] = {}
        """Sensors that match each tracked pair."""
        self._newest: dict[int, EventRow] = {}
        """Newest row of each pair and sensor, by `_subject`, among the rows that a new event may join."""

    def update(self, tracker: ContactTracker, model: MjModel) -> Sequence[EventRow]:
        """Return the rows of all events."""
        log = tracker.log
        if model is not self._model or tracker.pairs.choice is not self._pairs:
            self._model, self._pairs = model, tracker.pairs.choice
            self._by_sensor, self._by_pair = _pairs_by_sensor(tracker, model), {}
            for sensor, pairs in self._by_sensor.items():
                for pair in pairs:
                    self._by_pair.setdefault(pair, []).append(sensor)
            self.longest = self._longest(tracker)
            self._log = None
        if log is self._log and log.version == self._version:
            return self.rows
        kept = self._settled(log)
        entries = log.entries
        while self.rows and self.rows[-1].place >= kept:
            self.rows.pop()
        self._newest = {}
        for row in reversed(self.rows):
            if entries[kept - 1].seen - row.entry.seen > 2 * _TOGETHER:
                break
            row.cut(kept)
            for _, entry in row.events:
                if entry.motion is None:
                    self._newest.setdefault(_subject(entry), row)
        self._log, self._version, self._known = log, log.version, entries.copy()
        for place in range(kept, len(entries)):
            self._add(entries[place], place)
        return self.rows

    def _longest(self, tracker: ContactTracker) -> int:
        labels, names = tracker.pairs.labels, tracker.sensors.names
        alone = [len(label) for label in labels] + [len(name) + len(_ALONE) for name in names]
        watched = [
            len(_row_text(labels[pair], [names[sensor] for sensor in sensors]))
            for pair, sensors in self._by_pair.items()
        ]
        return max(alone + watched, default=0)

    def _settled(self, log: EventLog) -> int:
        """Return how many of the known entries are at their old place in the log and will stay there."""
        last = len(self._known) - _UNSETTLED
        entries = log.entries
        if log is not self._log or last <= 0 or len(entries) < last or entries[0] is not self._known[0]:
            return self._restart()
        return last if entries[last - 1] is self._known[last - 1] else self._restart()

    def _restart(self) -> int:
        self.rows.clear()
        return 0

    def _add(self, entry: LogEntry, place: int) -> None:
        if entry.motion is not None:
            # Slip and creep are those of pairs alone.
            self.rows.append(EventRow(entry, place))
            return
        row = self._twin(entry)
        if row is None:
            row = EventRow(entry, place)
            self.rows.append(row)
        else:
            row.add(entry, place)
        self._newest[_subject(entry)] = row

    def _twin(self, entry: LogEntry) -> EventRow | None:
        """Return the row of the same contact: the row of a pair for a sensor's event, or of a sensor for a pair's
        event."""
        if entry.sensor is not None:
            others: Iterable[int] = self._by_sensor.get(entry.sensor, ())
        else:
            others = map(_sensor_subject, self._by_pair.get(entry.pair_id or 0, ()))
        # What was before its own last event is of another contact.
        own = self._newest.get(_subject(entry))
        earliest = own.place if own is not None else -1
        rows = (self._newest.get(other) for other in others)
        twins = [row for row in rows if row is not None and row.place > earliest and self._are_twins(row, entry)]
        return max(twins, key=lambda row: row.place, default=None)

    def _are_twins(self, row: EventRow, entry: LogEntry) -> bool:
        if row.entry.kind is not entry.kind or entry.seen - row.entry.seen > _TOGETHER:
            return False
        known = {other.sensor for _, other in row.events}
        if entry.sensor is not None:
            return entry.sensor not in known and None in known
        # The pair of all sensors that are there, which has no event of its own yet.
        return None not in known and all(entry.pair_id in self._by_sensor.get(sensor or 0, ()) for sensor in known)


def _subject(entry: LogEntry) -> int:
    """Return a number for the pair or sensor of an event; numbers of sensors are negative."""
    return _sensor_subject(entry.sensor) if entry.sensor is not None else entry.pair_id or 0


def _sensor_subject(sensor: int) -> int:
    return ~sensor


def _pairs_by_sensor(tracker: ContactTracker, model: MjModel) -> dict[int, frozenset[int]]:
    names, tracked = tracker.sensors.declared_names, tracker.pairs.choice.geoms
    if not len(tracked):
        return {}
    ids = {name: sensor_id for sensor_id, name in enumerate(sensor_names(model))}
    # Those that the viewer made are not in the model.
    sensors = np.array([sensor for sensor, name in enumerate(names) if name in ids], int)
    pairs = possible_pairs(model, [ids[names[sensor]] for sensor in sensors], 4 * _MOST_PAIRS)
    keys, wanted = (np.sort(geoms, axis=1) @ [model.ngeom, 1] for geoms in (tracked, pairs.geoms))
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
    kept = (keys[places] == wanted) & pairs.complete[pairs.sensors]
    found: dict[int, set[int]] = {}
    for sensor, place in zip(sensors[pairs.sensors[kept]].tolist(), places[kept].tolist(), strict=True):
        found.setdefault(sensor, set()).add(place)
    return {sensor: frozenset(those) for sensor, those in found.items() if len(those) <= _MOST_PAIRS}


def passes(row: EventRow, text: str, kind: EventKind | None) -> bool:
    """Return True if a row is of a kind, and its text has all words of the filter."""
    return (kind is None or row.entry.kind is kind) and ui.has_words(row.text, text)
