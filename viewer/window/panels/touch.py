"""Touch window: readings of each touch device beside the true force, as numbers, lamps and curves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui, imgui_ctx, implot
from imgui_bundle import icons_fontawesome_6 as icons

from ...assets import is_bundled
from ...render.touch import AXIS_COLORS
from ...sensors.contacts import Array
from ...touch.declaration import TouchDeclaration, save_touch
from ...touch.device import TouchType
from ...touch.samples import thin
from ...touch.touch_sensors import SceneTouch, TouchSensors
from .. import widgets as ui
from ..shell import TOUCH, Dock, Panel, Shell
from ..theme import dim_color, faded, plain_color, text_tint, warning_color
from .touch_editor import TouchEditor

SECONDS = 10.0
"""Time span of a curve [s]."""
_WIDE = 60.0
"""Least width for list, curves and editor side by side, in font sizes."""
_NARROW = 26.0
"""Least width for the list beside curves and editor, which are below each other, in font sizes."""
_LIST_PART, _CURVES_PART = 0.36, 0.28
_LIST_BESIDE = 0.54
_FEW_TICKS = 20.0
"""Width below which the time axis has a number only every five seconds, in font sizes."""
_CURVE_HEIGHT = 170.0
_EDITOR_HEIGHT = 430.0
_NAME_WIDTH = 12.0
"""Least width of names in the list, in font sizes; if there is less, small curves are left out."""
_DIGITS = "-0000.00"
_LIT = ImVec4(1.0, 0.70, 0.04, 1.0)
_TRUE_ALPHA = 0.45
_LEAST_SHARE = 0.01
"""Smallest part of the load that bypasses a sensor, on bodies below its own, to show a warning."""
_LEAST_FORCE = 0.01
"""Least range of a force axis [N]: smaller forces are residuals of the solver."""
_DECLARE = '<custom>\n  <text name="touch:foot"\n    data="type=force site=sole"/>\n</custom>'


class TouchPanel:
    """Content of the Touch window."""

    def __init__(self) -> None:
        self.selected: str | None = None
        """Name of the sensor whose curves and settings are shown; None if there are no sensors."""
        self.editor = TouchEditor()

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session = shell.app.session
        touch, path = session.engine.touch_sensors, session.engine.path
        if touch is None:
            ui.paragraph("Only the first environment has touch sensors: go to it.")
            return
        names = [sensor.name for sensor in touch]
        if self.selected not in names:
            self.selected = names[0] if names else None
        if self.selected is None:
            self._show_list(touch)
            return
        sensor, avail, em = touch[self.selected], imgui.get_content_region_avail(), imgui.get_font_size()
        wide, beside = avail.x >= _WIDE * em, avail.x >= _NARROW * em
        list_part = _LIST_PART if wide else _LIST_BESIDE if beside else 0.0
        list_height = 0.0 if beside else min(_list_height(len(names)), 0.5 * max(avail.y, 300.0))
        if imgui.begin_child("##list", ImVec2(list_part * avail.x, list_height)):
            self._show_list(touch)
        imgui.end_child()
        if beside:
            imgui.same_line()
        if beside and not wide:
            # The curves fill it, down to their axis; the editor is scrolled to.
            imgui.begin_child("##beside")
        height = 0.0 if wide else imgui.get_content_region_avail().y if beside else _CURVE_HEIGHT
        if imgui.begin_child("##curves", ImVec2(_CURVES_PART * avail.x if wide else 0.0, height)):
            _show_curves(touch, sensor)
        imgui.end_child()
        if wide:
            imgui.same_line()
        if imgui.begin_child("##editor", ImVec2(0, 0 if wide else _EDITOR_HEIGHT)):
            if (passed := touch.passed_load(sensor.name)) is not None:
                ui.paragraph(passed[1])
            self.editor.show(touch, sensor, _saving(path))
        imgui.end_child()
        if beside and not wide:
            imgui.end_child()

    def _show_list(self, touch: TouchSensors) -> None:
        for problem in touch.problems:
            ui.paragraph(f"{icons.ICON_FA_TRIANGLE_EXCLAMATION} {problem}", warning_color())
        self.selected = self.editor.show_add(touch) or self.selected
        if not len(touch):
            ui.paragraph("This scene has no touch sensors. Put one on a site or body, or declare one in the scene:")
            with ui.number_font():
                ui.paragraph(_DECLARE)
            return
        flags = imgui.TableFlags_
        with ui.number_font():
            digits = imgui.calc_text_size(_DIGITS).x
        sparks = imgui.get_content_region_avail().x - 2 * digits > 1.8 * _NAME_WIDTH * imgui.get_font_size()
        if not imgui.begin_table("##sensors", 3 + sparks, flags.scroll_y | flags.row_bg | flags.no_pad_outer_x):
            return
        imgui.table_setup_scroll_freeze(0, 1)
        imgui.table_setup_column("sensor", imgui.TableColumnFlags_.width_stretch, 1.0)
        imgui.table_setup_column("device", imgui.TableColumnFlags_.width_fixed, digits)
        imgui.table_setup_column("true [N]", imgui.TableColumnFlags_.width_fixed, digits)
        if sparks:
            imgui.table_setup_column("curve", imgui.TableColumnFlags_.width_stretch, 0.8)
        _show_headings(sparks)
        sensors = list(touch)
        for i in ui.visible_rows(len(sensors), _row_height()):
            with imgui_ctx.push_id(ui.literal(sensors[i].name)):
                if _show_row(touch, sensors[i], sensors[i].name == self.selected, sparks):
                    self.selected = sensors[i].name
        imgui.end_table()


def _saving(path: Path | None) -> Callable[[TouchDeclaration], None] | None:
    """Return a function that writes a declaration into the scene file; None if changes can only be copied."""
    if path is None or path.suffix.lower() == ".mjb" or is_bundled(path):
        return None
    return lambda declaration: save_touch(path, declaration).save()


def _list_height(count: int) -> float:
    return (count + 1) * _row_height() + 2 * imgui.get_frame_height_with_spacing()


def _row_height() -> float:
    """Return the height of a row: three lines for name, place and warning, or for three axes [px]."""
    return 3 * imgui.get_text_line_height_with_spacing() + 2 * imgui.get_style().cell_padding.y


def _show_headings(sparks: bool) -> None:
    imgui.table_next_row()
    headings = (
        ("sensor", "Name, place and type of the sensor"),
        ("device", "Reading of the device, after lookup table, noise, resolution and sampling"),
        ("true [N]", "Reading of an ideal device; for bumpers and MuJoCo's own sensors the force on the body"),
        ("curve", f"Last {SECONDS:g} s: bright the reading of the device, faint the true force"),
    )
    for text, help_text in headings if sparks else headings[:-1]:
        imgui.table_next_column()
        if text in ("sensor", "curve"):
            ui.dim_text(text)
        else:
            ui.text_right(text, dim_color())
        ui.tooltip(help_text)


def _show_row(touch: TouchSensors, sensor: SceneTouch, selected: bool, sparks: bool) -> bool:
    """Draw the row of a sensor; return True if it was clicked."""
    height = _row_height()
    imgui.table_next_row(0, height)
    imgui.table_next_column()
    start = imgui.get_cursor_pos()
    imgui.set_next_item_allow_overlap()
    spans = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_overlap
    clicked = imgui.selectable("##row", selected, spans, ImVec2(0, height - 4))[0]
    imgui.set_cursor_pos(start)
    sensor.visible = ui.eye_button(sensor.visible, "axes and volume in the scene", plain_color())
    imgui.same_line(0, 6)
    indent = imgui.get_cursor_pos_x()
    width = imgui.get_content_region_avail().x
    imgui.text_unformatted(ui.fit_text(f"{sensor.name}{' *' if sensor.modified else ''}", width))
    ui.tooltip(f"{sensor.name}: {sensor.label}{_modified_text(sensor)}")
    imgui.set_cursor_pos_x(indent)
    # Its body is in the tooltip.
    ui.dim_text(ui.fit_text(sensor.label.partition(", ")[0], width))
    imgui.set_cursor_pos_x(indent)
    _show_warning(touch, sensor, width)
    imgui.table_next_column()
    with ui.number_font():
        _show_values(sensor, touch.value(sensor.name))
        imgui.table_next_column()
        _show_true(touch, sensor)
    if sparks:
        imgui.table_next_column()
        implot.push_style_var(implot.StyleVar_.plot_min_size, ImVec2(20, 20))
        if implot.begin_plot("##spark", ImVec2(-1, height - 4), implot.Flags_.canvas_only | implot.Flags_.no_inputs):
            _draw_curves(sensor, touch.time, bare=True)
            implot.end_plot()
        implot.pop_style_var()
    return clicked


def _modified_text(sensor: SceneTouch) -> str:
    if not sensor.modified:
        return ""
    return "\nChanged, not saved into the scene file" if sensor.saved else "\nNew, not saved into the scene file"


def _show_warning(touch: TouchSensors, sensor: SceneTouch, width: float) -> None:
    outside = touch.outside(sensor.name)
    passed = touch.passed_load(sensor.name) if sensor.enabled else None
    if passed is not None and passed[0] >= _LEAST_SHARE:
        text = f"{icons.ICON_FA_TRIANGLE_EXCLAMATION} {passed[0]:.0%} bypasses it"
        imgui.text_colored(warning_color(), ui.fit_text(text, width))
        ui.tooltip(passed[1])
    elif not outside or not sensor.enabled:
        ui.dim_text(str(sensor.device.type) if sensor.enabled else f"{sensor.device.type}, disabled")
    else:
        text = ui.fit_text(f"{icons.ICON_FA_TRIANGLE_EXCLAMATION} {outside} of {sensor.found} outside", width)
        imgui.text_colored(warning_color(), text)
        counted = (
            "MuJoCo's own sensor leaves them out"
            if sensor.native
            else "They count, because the whole body is the sensor"
        )
        ui.tooltip(f"{outside} of {sensor.found} contacts of this body are outside the site's volume.\n{counted}.")


def _show_values(sensor: SceneTouch, values: Array) -> None:
    if sensor.device.type is TouchType.BUMPER:
        _show_lamp(float(values[0]))
        return
    for value, color in zip(values, _colors(sensor), strict=True):
        ui.text_right("-" if np.isnan(value) else ui.format_number(float(value), 2), color)


def _show_true(touch: TouchSensors, sensor: SceneTouch) -> None:
    if not sensor.enabled:
        return
    for value, color in zip(touch.true(sensor.name), _colors(sensor), strict=True):
        ui.text_right(ui.format_number(float(value), 2), color if sensor.device.size == 3 else dim_color())


def _show_lamp(value: float) -> None:
    """Draw a lamp: lit in contact, dark without, and only its rim if there is no value."""
    line = imgui.get_text_line_height()
    corner, width = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
    radius = 0.42 * line
    center = ImVec2(corner.x + width - 2.4 * line, corner.y + 0.5 * line)
    draw = imgui.get_window_draw_list()
    if value == value:
        color = _LIT if value else imgui.get_style().color_(imgui.Col_.frame_bg)
        draw.add_circle_filled(center, radius, imgui.color_convert_float4_to_u32(color))
    draw.add_circle(center, radius, imgui.get_color_u32(imgui.Col_.text, 0.5))
    ui.text_right("-" if value != value else f"{value:.0f}")
    ui.tooltip("1 in contact, 0 without")


def _show_curves(touch: TouchSensors, sensor: SceneTouch) -> None:
    ui.heading(sensor.name)
    ui.tooltip("Bright: reading of the device; faint: true force")
    if not len(sensor.history):
        ui.paragraph("No samples yet.")
        return
    size = ImVec2(-1, max(imgui.get_content_region_avail().y, 90.0))
    with ui.number_font():
        if implot.begin_plot("##curves", size, implot.Flags_.canvas_only | implot.Flags_.no_inputs):
            _draw_curves(sensor, touch.time)
            implot.end_plot()


def _draw_curves(sensor: SceneTouch, now: float, bare: bool = False) -> None:
    """Draw true force and device values in the current plot, with a line at `now` [s] if samples follow.

    `bare`: without axes.
    """
    history = sensor.history
    times = history.times
    last = float(times[-1]) if len(times) else 0.0
    # Nothing is before the first sample: curves begin at the left, as in other plots.
    end = max(last, (float(times[0]) if len(times) else 0.0) + SECONDS)
    shown = int(np.searchsorted(times, end - SECONDS))
    times, true, values = times[shown:], history.true[shown:], history.values(sensor.device, shown)
    slope, offset = _device_axis(sensor, true, values)
    shared = np.concatenate([true, (values - offset) / slope])
    top = max(1.1 * float(np.abs(shared[np.isfinite(shared)]).max(initial=0.0)), _LEAST_FORCE)
    bottom = -top if float(np.nanmin(shared, initial=0.0)) < -0.01 * top else -0.06 * top
    axes, flags = implot.ImAxis_, implot.AxisFlags_
    look = flags.no_decorations if bare else flags.none
    implot.setup_axis(axes.x1, "", look | flags.no_grid_lines)
    implot.setup_axis_format(axes.x1, "%g s")
    implot.setup_axis_limits(axes.x1, end - SECONDS, end, implot.Cond_.always)
    if not bare and imgui.get_content_region_avail().x < _FEW_TICKS * imgui.get_font_size():
        ticks = np.arange(np.ceil((end - SECONDS) / 5), end / 5 + 1e-9) * 5
        implot.setup_axis_ticks(axes.x1, ticks.tolist(), [f"{tick:g} s" for tick in ticks])
    implot.setup_axis(axes.y1, "true [N]", look)
    implot.setup_axis_limits(axes.y1, bottom, top, implot.Cond_.always)
    implot.setup_axis(axes.y2, "device", look | flags.opposite | flags.no_grid_lines)
    implot.setup_axis_limits(axes.y2, slope * bottom + offset, slope * top + offset, implot.Cond_.always)
    points = max(2 * int(implot.get_plot_size().x), 100)
    colors = _colors(sensor)
    first = history.first + shown
    for i, color in enumerate(colors):
        x, y = thin(times, true[:, i], first, points)
        implot.plot_line(f"##true{i}", x, y, implot.Spec(line_color=faded(color, _TRUE_ALPHA), line_weight=2.5))
    implot.set_axes(axes.x1, axes.y2)
    for i, color in enumerate(colors):
        x, y = thin(times, values[:, i], first, points)
        implot.plot_line(f"##device{i}", x, y, implot.Spec(line_color=color, line_weight=1.5))
    if now < last:
        implot.plot_inf_lines("##now", np.array([now]), implot.Spec(line_color=dim_color()))


def _device_axis(sensor: SceneTouch, true: Array, values: Array) -> tuple[float, float]:
    """Return the slope and the offset that map true force to device values, so that both curves share one plot.

    The curves coincide where the table is the line from its first to its last row, and differ where it bends or ends.
    """
    table = sensor.device.lookup_table
    if sensor.device.type is TouchType.BUMPER:
        return 1.0 / (float(np.nanmax(true, initial=0.0)) or 1.0), 0.0
    if len(table) > 1 and table[-1][1] > table[0][1]:
        slope = (table[-1][1] - table[0][1]) / (table[-1][0] - table[0][0])
        return slope, table[0][1] - slope * table[0][0]
    if not table:
        return 1.0, 0.0
    return float(np.nanmax(np.abs(values), initial=1e-9) / max(np.nanmax(np.abs(true), initial=0.0), 1e-9)), 0.0


def _colors(sensor: SceneTouch) -> list[ImVec4]:
    """Return the colour of each value: the colours of the axes, or the colour of text for a single value."""
    if sensor.device.size == 1:
        return [plain_color()]
    return [text_tint(color) for color in AXIS_COLORS]


PANEL = Panel(TOUCH, Dock.BOTTOM, TouchPanel)
