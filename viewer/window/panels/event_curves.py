"""Crossing functions and times of sensors: what the Events window shows beside its list."""

import math
from time import monotonic

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, implot
from numpy.typing import NDArray

from ...events.tracker import ContactTracker
from ...session.session import Session
from ..theme import dim_color, faded, plain_color
from ..widgets import (
    Heading,
    fitted_text,
    number_font,
    paragraph,
    table_headings,
    text_color,
    text_right,
    tooltip,
    visible_rows,
)

_LINGER = 0.5
"""How long the curves are kept up once they are out of sight [s]."""
_SPAN = 2.0
"""Time in view [s]."""
_MARK_COUNT = 100
_TICKS = ((1.0, "1 m"), (1e-2, "1 cm"), (1e-4, "0.1 mm"), (1e-6, "1 µm"), (1e-8, "10 nm"))
_TIMES = (
    Heading("sensor", "", "Bright in contact, grey in the air", left=True),
    Heading("now [s]", "000.000", "Time in contact, or in the air, up to now"),
    Heading("contact [s]", "000.000", "Length of the last complete contact"),
    Heading("air [s]", "000.000", "Length of the last complete time in the air"),
    Heading("contacts", "000000", "Number of contacts, the present one included"),
    Heading("duty", "0.000", "Share of the time in contact"),
)


def show_crossing(session: Session, tracker: ContactTracker) -> None:
    """Curves of z1 and z2 with the hysteresis band."""
    tracker.curves_wanted_until = monotonic() + _LINGER
    times, z1, z2 = tracker.curves
    if not len(times):
        paragraph("Run the simulation to see how near pairs are to parting and to meeting.")
        return
    paragraph("Gaps of the pairs nearest to parting (z1) and to meeting (z2). Crossing 0 is an event.")
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
    tooltip(
        "z1: distance of the pair in contact that is nearest to parting; it ends above 0.\n"
        "z2: distance, plus 2 eps, of the pair apart that is nearest to meeting; it begins below 0.\n"
        "The band is as wide as the hysteresis, 2 eps to either side."
    )


def show_sensor_times(tracker: ContactTracker, now: float) -> None:
    """How long each sensor has been in contact and in the air at a simulated time [s]."""
    timing = tracker.timing_at(now)
    if not tracker.sensors.names:
        paragraph("This scene has no contact sensors.")
        return
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
    with number_font():
        if not imgui.begin_table("##times", len(_TIMES), flags):
            return
        table_headings(_TIMES)
        in_contact, age = timing.in_contact, timing.contact_time + timing.air_time
        columns = (timing.last_contact_time, timing.last_air_time)
        counts, duty = timing.contact_count, timing.duty_factor
        for i in visible_rows(len(tracker.sensors.names)):
            color = plain_color() if in_contact[i] else dim_color()
            imgui.table_next_row()
            imgui.table_next_column()
            with text_color(color):
                fitted_text(tracker.sensors.names[i], imgui.get_content_region_avail().x)
            texts = [f"{age[i]:.3f}", *(f"{column[i]:.3f}" if column[i] else "" for column in columns)]
            for text in (*texts, str(counts[i]), f"{duty[i]:.3f}"):
                imgui.table_next_column()
                text_right(text, color)
        imgui.end_table()


def _stretch(distance: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    """Distances [m] from nanometres to metres on one axis: proportional within eps, logarithmic beyond."""
    return np.sign(distance) * np.log10(1 + np.abs(distance) / eps)


def _limits(z1: NDArray[np.float64], z2: NDArray[np.float64], eps: float) -> tuple[float, float]:
    """The axis that holds the curves, in whole decades so that it seldom changes."""
    values = np.concatenate([z1, z2])
    values = _stretch(values[np.isfinite(values)], eps)
    return min(-1.0, math.floor(values.min(initial=0.0))) - 0.3, max(1.0, math.ceil(values.max(initial=0.0))) + 0.3


def _draw_line(label: str, times: NDArray[np.float64], values: NDArray[np.float64], eps: float, color: ImVec4) -> None:
    spec = implot.Spec(line_color=color, line_weight=1.3)
    shown = np.where(np.isfinite(values), _stretch(values, eps), math.nan)
    implot.plot_line(label, np.ascontiguousarray(times), np.ascontiguousarray(shown), spec)


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
    """A thin line at each event in view."""
    events = [entry.time for entry in tracker.log.between(now - _SPAN, now) if entry.pair_id is not None]
    if events:
        spec = implot.Spec(line_color=faded(dim_color(), 0.35))
        implot.plot_inf_lines("##events", np.array(events[-_MARK_COUNT:]), spec)
