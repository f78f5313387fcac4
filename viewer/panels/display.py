"""Display window: how contacts are drawn."""

from enum import StrEnum
from typing import TypeVar

from imgui_bundle import imgui

from ..session import Session
from ..settings import GizmoSettings, ScaleMode
from .widgets import choice, heading, tooltip

E = TypeVar("E", bound=StrEnum)


def show_display(session: Session) -> None:
    """The window's content."""
    gizmos = session.settings.gizmos
    _show_parts(gizmos)
    _show_lengths(gizmos)
    _show_looks(gizmos)
    imgui.spacing()
    if imgui.button("Defaults"):
        session.settings.gizmos = GizmoSettings()
    tooltip("Draw contacts as on the first launch")


def _show_parts(gizmos: GizmoSettings) -> None:
    _, gizmos.points = imgui.checkbox("Points", gizmos.points)
    tooltip("White spheres at contacts (C)")
    imgui.same_line(imgui.get_content_region_avail().x * 0.5)
    _, gizmos.forces = imgui.checkbox("Forces", gizmos.forces)
    tooltip("Force arrows (F)")
    imgui.begin_disabled(not gizmos.forces)
    _, gizmos.normal = imgui.checkbox("Normal", gizmos.normal)
    tooltip("Normal force, green. P switches between components and total")
    imgui.same_line(imgui.get_content_region_avail().x * 0.5)
    _, gizmos.tangents = imgui.checkbox("Tangents", gizmos.tangents)
    tooltip("Friction along tangent 0, red, and tangent 1, blue")
    _, gizmos.total = imgui.checkbox("Total", gizmos.total)
    tooltip("The whole contact force as one arrow")
    imgui.same_line(imgui.get_content_region_avail().x * 0.5)
    _, gizmos.torque = imgui.checkbox("Torque", gizmos.torque)
    tooltip("Contact torque (condim 4 and 6, and net contacts)")
    imgui.end_disabled()
    _, gizmos.cones = imgui.checkbox("Friction cones", gizmos.cones)
    tooltip(
        "How far each contact's force may lean before it slips, in the newest step:\n"
        "inside the rim it sticks, on the rim it slides"
    )
    _, gizmos.balance = imgui.checkbox("Balance", gizmos.balance)
    tooltip("Weight, sum of the contact forces and m·a of the selected sensor's body, at its centre of mass")
    imgui.same_line(imgui.get_content_region_avail().x * 0.5)
    _, gizmos.dropped = imgui.checkbox("Dropped", gizmos.dropped)
    tooltip("Ghosts of the contacts for which a sensor has no slot")
    _, gizmos.labels = imgui.checkbox("Labels", gizmos.labels)
    tooltip("The force of each contact in newtons beside it")


def _show_lengths(gizmos: GizmoSettings) -> None:
    heading("Length")
    gizmos.scale_mode = _choice(
        "scale",
        gizmos.scale_mode,
        "auto: from the scene's moving weight and extent\n"
        "fixed: metres per newton\n"
        "mujoco: the model's visual/map/force",
    )
    logarithmic = imgui.SliderFlags_.logarithmic
    if gizmos.scale_mode is ScaleMode.FIXED:
        gizmos.fixed_scale = _slider("m/N", gizmos.fixed_scale, 1e-5, 1.0, "%.5f", logarithmic)
        tooltip("Arrow length per force")
    gizmos.length = _slider("length", gizmos.length, 0.1, 10.0, "%.2f x", logarithmic)
    tooltip("Factor on all arrow lengths")
    gizmos.min_force = _slider("smallest", gizmos.min_force, 0.0, 10.0, "%.3f N", logarithmic)
    tooltip("Smaller force components draw no arrow")
    _, gizmos.log_length = imgui.checkbox("Logarithmic", gizmos.log_length)
    tooltip("Arrow length grows with the logarithm of the force: for forces of very different size")


def _show_looks(gizmos: GizmoSettings) -> None:
    heading("Look")
    logarithmic = imgui.SliderFlags_.logarithmic
    gizmos.width = _slider("width", gizmos.width, 0.2, 5.0, "%.2f x", logarithmic)
    tooltip("Factor on arrow widths")
    gizmos.point_size = _slider("points", gizmos.point_size, 0.2, 5.0, "%.2f x", logarithmic)
    tooltip("Factor on the spheres' size")
    gizmos.color_mode = _choice("colour by", gizmos.color_mode, "What an arrow's colour tells")
    gizmos.palette = _choice(
        "palette", gizmos.palette, "colorblind: safe for all common kinds\nmujoco: the model's visual/rgba"
    )
    gizmos.moment = _choice(
        "moment",
        gizmos.moment,
        "Of the physics steps since the last picture, gizmos show the newest (instant),\n"
        "the one pressed hardest (peak), or their mean",
    )
    _, gizmos.see_through = imgui.checkbox("See through", gizmos.see_through)
    tooltip("Gizmos behind geometry stay visible, dimmed")


def _slider(label: str, value: float, low: float, high: float, text: str, flags: int) -> float:
    imgui.set_next_item_width(imgui.get_content_region_avail().x - 5 * imgui.get_font_size())
    return imgui.slider_float(label, value, low, high, text, flags)[1]


def _choice(label: str, value: E, help_text: str) -> E:
    return choice(label, value, help_text, imgui.get_content_region_avail().x - 5 * imgui.get_font_size())
