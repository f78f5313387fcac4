"""Breaks: when the simulation is to stop for a contact, chosen in a popup of the Events window."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...events.breaks import Break, BreakWhen
from ...events.tracker import ContactTracker
from ..widgets import (
    button,
    checkbox,
    choose,
    combo_text,
    dim_text,
    paragraph,
    popup,
    small_button,
    tooltip,
    visible_rows,
)

_HELP = {
    BreakWhen.BEGIN: "begins: contact begins",
    BreakWhen.END: "ends: contact ends",
    BreakWhen.FORCE: "exceeds: the force rises above a limit",
    BreakWhen.SLIP: "slips: contacts that stuck begin to slide",
}


class BreakEditor:
    """A button with the breaks, and the one that is being put together."""

    def __init__(self) -> None:
        self.draft = Break(BreakWhen.BEGIN, force=10.0)

    def show(self, tracker: ContactTracker) -> None:
        """The button; its popup while it is open."""
        active = sum(each.enabled for each in tracker.breaks)
        label = f"{icons.ICON_FA_HAND} Break{f' ({active})' if active else ''}###break"
        if button(label, "Pause when a contact begins, ends, slips or exceeds a force"):
            imgui.open_popup("breaks")
        with popup("breaks") as opened:
            if opened:
                self._show_list(tracker)
                imgui.separator()
                self._show_draft(tracker)

    def _show_list(self, tracker: ContactTracker) -> None:
        if not tracker.breaks:
            paragraph("Nothing pauses the simulation yet.")
        for i, each in enumerate(list(tracker.breaks)):
            imgui.push_id(i)
            each.enabled = checkbox(tracker.break_label(each), each.enabled, "Pause here, or let it pass")
            imgui.same_line()
            if small_button(f"{icons.ICON_FA_TRASH}###remove", "Remove this break"):
                tracker.breaks.remove(each)
            imgui.pop_id()

    def _show_draft(self, tracker: ContactTracker) -> None:
        draft = self.draft
        self._drop_unknown(tracker)
        imgui.align_text_to_frame_padding()
        dim_text("Pause when")
        imgui.same_line()
        self._show_subjects(tracker)
        imgui.same_line()
        draft.when = choose("##when", draft.when, BreakWhen, 6 * imgui.get_font_size(), _HELP)
        if draft.when is BreakWhen.FORCE:
            imgui.same_line()
            imgui.set_next_item_width(6 * imgui.get_font_size())
            _, force = imgui.input_float("##force", draft.force, 0.0, 0.0, "%.3g N")
            draft.force = max(0.0, force)
            tooltip("Normal force between the two geoms, or force of the sensor [N]")
        imgui.same_line()
        if button("Add", "Pause at the first step that shows it"):
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
        if not imgui.begin_combo("##subject", combo_text(chosen, width)):
            tooltip(f"{chosen}\nA pair of geoms that is tracked, or a sensor")
            return
        for i in visible_rows(len(subjects)):
            pair, sensor, text = subjects[i]
            imgui.push_id(i)
            if imgui.selectable(text, text == chosen)[0]:
                draft.pair_id, draft.sensor = pair, sensor
            imgui.pop_id()
        imgui.end_combo()

    def _drop_unknown(self, tracker: ContactTracker) -> None:
        """Forget a pair or sensor that this scene does not have."""
        draft = self.draft
        if draft.pair_id is not None and draft.pair_id >= len(tracker.pairs.labels):
            draft.pair_id = None
        if draft.sensor is not None and draft.sensor >= len(tracker.sensors.names):
            draft.sensor = None
