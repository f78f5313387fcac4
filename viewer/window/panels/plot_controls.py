"""Controls of the Plots window: which curves, how much time, and how the value axis shows them."""

from collections.abc import Callable, Sequence

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...sensors.signals import Signal
from ...session.session import Session
from ...settings import PlotSettings, ValueAxis
from ..widgets import button, checkbox, choose, flow, paragraph, popup, tooltip

_SPANS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 600.0)


def chosen_signals(session: Session) -> list[Signal]:
    """The signals that the settings name, in their order."""
    words = session.settings.plots.signals.split(",")
    return [signal for signal in Signal if signal in words]


def show_plot_controls(session: Session, as_csv: Callable[[], str], save: Callable[[str], None]) -> bool:
    """The controls, which change the settings; True if all is to be shown again.

    `as_csv` is what is in view, which `save` puts into a file.
    """
    settings, em = session.settings.plots, imgui.get_font_size()
    _choose_signals(session, settings)
    flow(6 * em)
    help_text = "One plot a sensor with all signals, instead of one a signal with all sensors"
    settings.by_sensor = checkbox("by sensor", settings.by_sensor, help_text)
    flow(5 * em)
    help_text = "Move along with the time. Zooming by a drag turns it off, a double click on. Right drag moves"
    settings.follow = checkbox("follow", settings.follow, help_text)
    flow(5 * em)
    help_text = 'Time in view while "follow" is on'
    settings.seconds = choose("##span", settings.seconds, _SPANS, 5 * em, help_text, lambda span: f"{span:g} s")
    flow(7 * em)
    _show_axis_options(settings)
    flow(2 * em)
    fits = button(f"{icons.ICON_FA_EXPAND}###fit", "Show all again (double click in a plot)")
    flow(2 * em)
    if button(f"{icons.ICON_FA_COPY}###copy", "Copy what is in view as CSV"):
        imgui.set_clipboard_text(as_csv())
    flow(2 * em)
    if button(f"{icons.ICON_FA_FLOPPY_DISK}###save", "Save what is in view as a CSV file"):
        save(as_csv())
    return fits


def _choose_signals(session: Session, settings: PlotSettings) -> None:
    chosen, em = chosen_signals(session), imgui.get_font_size()
    imgui.set_next_item_width(min(13 * em, imgui.get_content_region_avail().x))
    if imgui.begin_combo("##signals", _signal_text(chosen, 10.5 * em)):
        for signal in Signal:
            on = checkbox(str(signal), signal in chosen, f"In {signal.unit or 'no unit'}, of every step")
            if on is not (signal in chosen):
                settings.signals = ",".join(s for s in Signal if (on if s is signal else s in chosen))
        imgui.end_combo()
    else:
        tooltip(f"Which curves: {', '.join(chosen) or 'none'}")


def _signal_text(signals: Sequence[Signal], width: float) -> str:
    """The signals in a width [px]; how many, where their names are longer."""
    text = ", ".join(signals) or "nothing"
    return text if imgui.calc_text_size(text).x <= width else f"{len(signals)} signals"


def _show_axis_options(settings: PlotSettings) -> None:
    if button(f"{icons.ICON_FA_RULER_VERTICAL} {settings.axis}###axis", "Value axis: linear, log or fixed"):
        imgui.open_popup("axis")
    with popup("axis") as opened:
        if not opened:
            return
        for axis, help_text in (
            (ValueAxis.LINEAR, "Holds zero and what is in view"),
            (ValueAxis.LOG, "Four decades; linear around zero where values are negative"),
            (ValueAxis.FIXED, "Between two values that you choose"),
        ):
            if imgui.radio_button(str(axis), settings.axis is axis):
                settings.axis = axis
            tooltip(help_text)
        imgui.separator()
        if settings.axis is ValueAxis.FIXED:
            imgui.set_next_item_width(8 * imgui.get_font_size())
            settings.value_low = imgui.input_float("from", settings.value_low)[1]
            tooltip("Lower end of every value axis, in the unit of its curves")
            imgui.set_next_item_width(8 * imgui.get_font_size())
            settings.value_high = imgui.input_float("to", settings.value_high)[1]
            tooltip("Upper end")
            if not settings.value_low < settings.value_high:
                paragraph("The second has to be larger: the axis is linear meanwhile.")
        else:
            help_text = "Rare impacts that are far above the rest leave the plot, with a mark and their value"
            settings.fit_usual = checkbox("cut rare impacts", settings.fit_usual, help_text)
