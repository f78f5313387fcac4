"""Display window: layers that are drawn of contacts, and their look."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from imgui_bundle import imgui

from ...session.layer import Layer
from ...session.layers import display_layers
from ...settings import GizmoSettings, Palette, ScaleMode
from .. import widgets as ui
from ..shell import DISPLAY, Dock, Panel, Shell

E = TypeVar("E", bound=StrEnum)


class DisplayPanel:
    """Content of the Display window."""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session, settings = shell.app.session, shell.app.session.settings
        _show_layers(settings.gizmos, display_layers(session))
        _show_lengths(settings.gizmos)
        _show_looks(settings.gizmos)
        imgui.spacing()
        if ui.button("Defaults", "Reset to the settings of the first launch"):
            settings.gizmos = GizmoSettings()


def _show_layers(gizmos: GizmoSettings, layers: Sequence[Layer]) -> None:
    """Draw a checkbox for each layer, two in a row if they fit."""
    in_left_half = False
    for layer in layers:
        assert layer.flag is not None
        if in_left_half and not layer.own_row:
            imgui.same_line(imgui.get_content_region_avail().x * 0.5)
            in_left_half = False
        else:
            in_left_half = not layer.own_row
        with ui.disabled(layer.needs is not None and not getattr(gizmos, layer.needs)):
            setattr(gizmos, layer.flag, ui.checkbox(layer.label, getattr(gizmos, layer.flag), layer.tooltip))


def _show_lengths(gizmos: GizmoSettings) -> None:
    ui.heading("Length")
    gizmos.scale_mode = _choice(
        "scale",
        gizmos.scale_mode,
        "auto: adapts to the forces shown lately\nfixed: metres per newton\nmujoco: the model's visual/map/force",
    )
    if gizmos.scale_mode is ScaleMode.FIXED:
        gizmos.fixed_scale = _slider("m/N", gizmos.fixed_scale, 1e-5, 1.0, "%.5f", "Arrow length per force")
    gizmos.length = _slider("length", gizmos.length, 0.1, 10.0, "%.2f x", "Factor on all arrow lengths")
    gizmos.min_force = _slider(
        "hide below", gizmos.min_force, 0.0, 10.0, "%.3f N", "Hide arrows of smaller force components"
    )
    help_text = "Arrow length by the logarithm of the force, for forces of very different size"
    gizmos.log_length = ui.checkbox("Logarithmic", gizmos.log_length, help_text)


def _show_looks(gizmos: GizmoSettings) -> None:
    ui.heading("Look")
    gizmos.width = _slider("width", gizmos.width, 0.2, 5.0, "%.2f x", "Factor on arrow widths")
    gizmos.point_size = _slider("points", gizmos.point_size, 0.2, 5.0, "%.2f x", "Factor on the size of spheres")
    gizmos.color_mode = _choice("colour by", gizmos.color_mode, "Meaning of an arrow's colour")
    gizmos.palette = _choice(
        "palette",
        gizmos.palette,
        "colour-blind: safe for all common kinds\nmujoco: the model's visual/rgba",
        lambda palette: "colour-blind" if palette is Palette.COLORBLIND else str(palette),
    )
    gizmos.moment = _choice(
        "steps",
        gizmos.moment,
        "Physics steps since the last frame to show: the newest (instant),\nthe one with the largest force (peak), "
        "or their mean",
    )
    help_text = "Show contacts behind geometry, dimmed"
    gizmos.see_through = ui.checkbox("Show hidden", gizmos.see_through, help_text)


def _slider(label: str, value: float, low: float, high: float, text: str, help_text: str) -> float:
    imgui.set_next_item_width(imgui.get_content_region_avail().x - 5 * imgui.get_font_size())
    value = imgui.slider_float(label, value, low, high, text, imgui.SliderFlags_.logarithmic)[1]
    ui.tooltip(help_text)
    return value


def _choice(label: str, value: E, help_text: str, name: Callable[[E], str] = str) -> E:
    width = imgui.get_content_region_avail().x - 5 * imgui.get_font_size()
    return ui.choose(label, value, type(value), width, help_text, name)


PANEL = Panel(DISPLAY, Dock.LEFT_BELOW, DisplayPanel, most_width=0.24)
