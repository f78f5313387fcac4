"""Popups of the Events window: which pairs are tracked, thresholds of contact, and breakpoints."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...events.breaks import Break, BreakWhen
from ...events.contact_events import EventRule
from ...events.tracker import ContactTracker
from ...mjmodel.names import body_names
from ...mjmodel.pair_selection import MAX_PAIRS, PairSource, all_pairs, pairs_of_body, pairs_of_sensors
from ...session.session import Session
from .. import widgets as ui

_HELP = {
    BreakWhen.BEGIN: "begins: contact begins",
    BreakWhen.END: "ends: contact ends",
    BreakWhen.FORCE: "exceeds: the force rises above a limit",
    BreakWhen.SLIP: "slips: sticking contacts begin to slide",
}
_BANDS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_LEAST_FORCE = 1e-6
"""Smallest force threshold [N]: below it, contact could never end."""
_LONGEST = 60.0
"""Longest minimum duration [s]."""
_CLEARS = "Changing it clears the list."


def show_tracking_options(session: Session, tracker: ContactTracker) -> None:
    """Draw the button for tracking options, and its popup while it is open."""
    if ui.button(f"{icons.ICON_FA_GEAR}###tracking", "Tracked pairs, and thresholds of contact"):
        imgui.open_popup("tracking")
    with ui.popup("tracking") as opened:
        if opened:
            _show_pairs(session, tracker)
            _show_pair_rules(tracker)
            _show_sensor_rules(tracker)


def _show_pairs(session: Session, tracker: ContactTracker) -> None:
    ui.dim_text("Pairs of geoms")
    model, body = session.engine.model, session.view.selected_body
    source = tracker.pairs.choice.source
    if imgui.radio_button("of the contact sensors", source is PairSource.SENSORS):
        tracker.select(pairs_of_sensors(model))
    ui.tooltip(f"Pairs that a contact sensor can match. {_CLEARS}")
    name = body_names(model)[body] if body > 0 else "the selected body"
    with ui.disabled(body <= 0):
        if imgui.radio_button(f"of {ui.literal(name)}###body", source is PairSource.BODY):
            tracker.select(pairs_of_body(model, body))
    ui.tooltip(f"Double-click a body in the scene to select it. {_CLEARS}")
    if imgui.radio_button("all that can collide", source is PairSource.ALL):
        tracker.select(all_pairs(model))
    ui.tooltip(f"By contype, conaffinity, exclude and pair; {MAX_PAIRS} at most. {_CLEARS}")
    choice = tracker.pairs.choice
    ui.dim_text(f"{len(choice.labels)} tracked{f', {choice.dropped} left out' if choice.dropped else ''}")
    if choice.untracked:
        ui.dim_text(choice.untracked)


def _show_pair_rules(tracker: ContactTracker) -> None:
    ui.heading("Contact of a pair")
    options = tracker.options
    help_text = (
        "Contact begins below -2 eps and ends above 0. 1e-8 ignores numerical noise; resting bodies chatter by\n"
        f"about 1e-4 m. {_CLEARS}"
    )
    eps = ui.choose("eps", options.eps, _BANDS, 7 * imgui.get_font_size(), help_text, lambda eps: f"{eps:g} m")
    help_text = f"Locate each event by simulating parts of its step, about ten times. {_CLEARS}"
    precise = ui.checkbox("precise", options.precise, help_text)
    help_text = (
        "surface: an event is where surfaces meet or part, and changes that pair alone\n"
        f"modia: as in Modia3D, a begin is at -2 eps, and each event decides all pairs again. {_CLEARS}"
    )
    rule = ui.choose("rule", options.rule, EventRule, 7 * imgui.get_font_size(), help_text)
    if (eps, precise, rule) != (options.eps, options.precise, options.rule):
        tracker.configure(replace(options, eps=eps, precise=precise, rule=rule))


def _show_sensor_rules(tracker: ContactTracker) -> None:
    ui.heading("Contact of a sensor")
    options = tracker.options
    on = _entered("above", options.on, "%.3g N", "Contact begins above this force")
    off = _entered("until below", options.off, "%.3g N", "Contact ends below this force")
    wait = _entered("for at least", 1e3 * options.min_duration, "%.3g ms", "Ignore shorter changes")
    if on is not None:
        on = max(on, _LEAST_FORCE)
        tracker.configure(replace(options, on=on, off=min(options.off, on)))
    if off is not None:
        off = max(off, _LEAST_FORCE)
        tracker.configure(replace(options, off=off, on=max(options.on, off)))
    if wait is not None:
        tracker.configure(replace(options, min_duration=min(max(1e-3 * wait, 0.0), _LONGEST)))


def _entered(label: str, value: float, form: str, help_text: str) -> float | None:
    return ui.number_field(label, value, 7 * imgui.get_font_size(), form, f"{help_text}; Enter to apply. {_CLEARS}")


class BreakEditor:
    """Button with a list of breakpoints, and a form for a new one."""

    def __init__(self) -> None:
        self.draft = Break(BreakWhen.BEGIN, force=10.0)

    def show(self, session: Session, tracker: ContactTracker) -> None:
        """Draw the button, and its popup while it is open."""
        limits = session.simulation.channels.limits
        active = sum(each.enabled for each in tracker.breaks) + sum(limit.enabled for limit in limits)
        label = f"{icons.ICON_FA_HAND} Break{f' ({active})' if active else ''}###break"
        if ui.button(label, "Pause when a contact begins, ends, slips or exceeds a force, or a channel passes a value"):
            imgui.open_popup("breaks")
        with ui.popup("breaks") as opened:
            if opened:
                if not tracker.breaks and not limits:
                    ui.paragraph("No breakpoints.")
                self._show_list(tracker.breaks, tracker.break_label)
                self._show_list(limits, lambda limit: limit.text, len(tracker.breaks))
                imgui.separator()
                self._show_draft(tracker)

    def _show_list(self, breaks: list[Any], label: Callable[[Any], str], first: int = 0) -> None:
        for i, each in enumerate(list(breaks), start=first):
            imgui.push_id(i)
            each.enabled = ui.checkbox(ui.literal(label(each)), each.enabled, "Turn this breakpoint on or off")
            imgui.same_line()
            if ui.small_button(f"{icons.ICON_FA_TRASH}###remove", "Remove this breakpoint"):
                breaks.remove(each)
            imgui.pop_id()

    def _show_draft(self, tracker: ContactTracker) -> None:
        draft = self.draft
        self._drop_unknown(tracker)
        imgui.align_text_to_frame_padding()
        ui.dim_text("Pause when")
        imgui.same_line()
        self._show_subjects(tracker)
        imgui.same_line()
        draft.when = ui.choose("##when", draft.when, BreakWhen, 6 * imgui.get_font_size(), _HELP)
        if draft.when is BreakWhen.FORCE:
            imgui.same_line()
            imgui.set_next_item_width(6 * imgui.get_font_size())
            _, force = imgui.input_float("##force", draft.force, 0.0, 0.0, "%.3g N")
            draft.force = max(0.0, force)
            ui.tooltip("Normal force between the two geoms, or force of the sensor [N]")
        imgui.same_line()
        if ui.button("Add", "Add a breakpoint: pause at the first step that shows the event"):
            tracker.breaks.append(draft)
            self.draft = Break(draft.when, draft.pair_id, draft.sensor, draft.force)

    def _show_subjects(self, tracker: ContactTracker) -> None:
        draft = self.draft
        subjects: list[tuple[int | None, int | None, str]] = [(None, None, "any pair")]
        subjects += [(None, i, f"{name} (sensor)") for i, name in enumerate(tracker.sensors.names)]
        subjects += [(i, None, label) for i, label in enumerate(tracker.pairs.labels)]
        chosen = next(text for pair, sensor, text in subjects if (pair, sensor) == (draft.pair_id, draft.sensor))
        width = 14 * imgui.get_font_size()
        imgui.set_next_item_width(width)
        if not imgui.begin_combo("##subject", ui.literal(ui.combo_text(chosen, width))):
            ui.tooltip(f"{chosen}\nA pair of geoms that is tracked, or a sensor")
            return
        for i in ui.visible_rows(len(subjects)):
            pair, sensor, text = subjects[i]
            imgui.push_id(i)
            if imgui.selectable(ui.literal(text), text == chosen)[0]:
                draft.pair_id, draft.sensor = pair, sensor
            imgui.pop_id()
        imgui.end_combo()

    def _drop_unknown(self, tracker: ContactTracker) -> None:
        """Clear the form's pair or sensor if this scene does not have it."""
        draft = self.draft
        if draft.pair_id is not None and draft.pair_id >= len(tracker.pairs.labels):
            draft.pair_id = None
        if draft.sensor is not None and draft.sensor >= len(tracker.sensors.names):
            draft.sensor = None
