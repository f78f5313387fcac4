"""Following: which pairs are followed and what counts as contact, chosen in a popup of the Events window."""

from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ..engines.following.tracking import ContactTracker
from ..engines.following.watched_pairs import (
    MAX_PAIRS,
    PairChoice,
    PairSource,
    all_pairs,
    pairs_of_body,
    pairs_of_sensors,
)
from ..engines.mujoco.names import body_names
from ..session import Session
from .widgets import dim_text, heading, tooltip

_BANDS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_LEAST_FORCE = 1e-6
"""Below this, contact could never end [N]."""
_LONGEST = 60.0
"""Longest minimum duration [s]."""
_ANEW = "Starts the list anew."


def show_following(session: Session, tracker: ContactTracker) -> None:
    """The button; its popup while it is open."""
    if imgui.button(f"{icons.ICON_FA_GEAR}###following"):
        imgui.open_popup("following")
    tooltip("Which pairs are followed, and what counts as contact")
    if begin_popup("following"):
        _show_pairs(session, tracker)
        _show_pair_rules(tracker)
        _show_sensor_rules(tracker)
        end_popup()


def begin_popup(name: str) -> bool:
    """A popup in which fields and buttons stand out; `end_popup` ends it if it is open."""
    if not imgui.begin_popup(name):
        return False
    shade = imgui.get_style().color_(imgui.Col_.frame_bg_hovered)
    imgui.push_style_color(imgui.Col_.frame_bg, shade)
    imgui.push_style_color(imgui.Col_.button, shade)
    return True


def end_popup() -> None:
    imgui.pop_style_color(2)
    imgui.end_popup()


def _show_pairs(session: Session, tracker: ContactTracker) -> None:
    dim_text("Pairs of geoms")
    model, body = session.engine.model, session.view.selected_body
    source = tracker.pairs.choice.source
    if imgui.radio_button("of the contact sensors", source is PairSource.SENSORS):
        tracker.watch(pairs_of_sensors(model))
    tooltip(f"Those that a contact sensor can match. {_ANEW}")
    name = body_names(model)[body] if body > 0 else "the selected body"
    imgui.begin_disabled(body <= 0)
    if imgui.radio_button(f"of {name}###body", source is PairSource.BODY):
        tracker.watch(pairs_of_body(model, body))
    imgui.end_disabled()
    tooltip(f"Double-click a body in the scene to select it. {_ANEW}")
    if imgui.radio_button("all that can collide", source is PairSource.ALL):
        tracker.watch(all_pairs(model))
    tooltip(f"By contype, conaffinity, exclude and pair; {MAX_PAIRS} at most. {_ANEW}")
    dim_text(_describe(tracker.pairs.choice))


def _describe(choice: PairChoice) -> str:
    if choice.dropped:
        return f"{len(choice.labels)} followed, {choice.dropped} left out"
    return f"{len(choice.labels)} followed"


def _show_pair_rules(tracker: ContactTracker) -> None:
    heading("Contact of a pair")
    options = tracker.options
    imgui.set_next_item_width(7 * imgui.get_font_size())
    if imgui.begin_combo("eps", f"{options.eps:g} m"):
        for eps in _BANDS:
            if imgui.selectable(f"{eps:g} m", eps == options.eps)[0]:
                tracker.configure(replace(options, eps=eps))
        imgui.end_combo()
    else:
        tooltip(
            "Contact begins below -2 eps and ends above 0. 1e-8 ignores numerical noise; resting bodies chatter by\n"
            f"about 1e-4 m. {_ANEW}"
        )
    changed, precise = imgui.checkbox("precise", options.precise)
    if changed:
        tracker.configure(replace(options, precise=precise))
    tooltip(f"Take the step of each event again in parts, about ten times, until the surfaces touch. {_ANEW}")


def _show_sensor_rules(tracker: ContactTracker) -> None:
    heading("Contact of a sensor")
    options = tracker.options
    on = _entered("above", options.on, "%.3g N", "Contact begins above this force")
    off = _entered("until below", options.off, "%.3g N", "Contact ends below this force")
    wait = _entered("for at least", 1e3 * options.min_duration, "%.3g ms", "Shorter changes do not count")
    if on is not None:
        on = max(on, _LEAST_FORCE)
        tracker.configure(replace(options, on=on, off=min(options.off, on)))
    if off is not None:
        off = max(off, _LEAST_FORCE)
        tracker.configure(replace(options, off=off, on=max(options.on, off)))
    if wait is not None:
        tracker.configure(replace(options, min_duration=min(max(1e-3 * wait, 0.0), _LONGEST)))


def _entered(label: str, value: float, form: str, help_text: str) -> float | None:
    """A field's value, once Enter is pressed."""
    imgui.set_next_item_width(7 * imgui.get_font_size())
    entered, value = imgui.input_float(label, value, 0.0, 0.0, form, imgui.InputTextFlags_.enter_returns_true)
    tooltip(f"{help_text}; Enter to apply. {_ANEW}")
    return value if entered else None
