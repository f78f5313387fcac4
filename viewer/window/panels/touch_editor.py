"""Part of the Touch window that edits a device: its lookup table as a curve with points to drag, and its settings."""

from collections.abc import Callable
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, imgui, implot
from imgui_bundle import icons_fontawesome_6 as icons

from ...touch.declaration import TouchDeclaration
from ...touch.device import DEFAULT_TABLE, INFINITE_RESOLUTION, Measure, Table, TouchType
from ...touch.touch_sensors import SceneTouch, TouchSensors
from .. import widgets as ui
from ..theme import dim_color, plain_color

_PLOT_HEIGHT = 130.0
"""Least height of a table's plot [px]; it grows with the window."""
_ROOM = 1.15
"""Extent of a table's plot relative to its rows."""
_NEAREST = 1e-3
"""Least distance between the inputs of two rows while a point is dragged, as a part of the table's range."""
_ROWS_SHOWN = 4
_TYPE_HELP = "bumper: 1 in contact, else 0\nforce: force along x\nforce-3d: force along x, y, z"
_MEASURE_HELP = "contact: sum of the contact forces on the body\nmount: force that the body passes to its parent"


class TouchEditor:
    """Form for the settings of one sensor, and for a new sensor."""

    def __init__(self) -> None:
        self.message = ui.Message()
        self._shown: str | None = None
        self._limits: tuple[float, float, float, float] | None = None
        """Axis limits of the table's plot; fixed while a point is dragged, else the axes would grow with it."""
        self._new_name = ""
        self._new_target = 0
        self._new_type = TouchType.FORCE

    def show(
        self,
        touch: TouchSensors,
        sensor: SceneTouch,
        save: Callable[[TouchDeclaration], None] | None,
    ) -> None:
        """Draw the editor of a sensor."""
        if self._shown != sensor.name:
            self._shown, self._limits = sensor.name, None
            self.message.set("")
        if sensor.native:
            ui.heading("Device")
            ui.paragraph(
                "One of MuJoCo's own touch sensors: the sum of the normal forces inside its site [N] after every "
                "step. To see the reading of a device, add a touch sensor to the site."
            )
            return
        ui.heading("Device")
        self._show_saving(touch, sensor, save)
        if all(each.name != sensor.name for each in touch):
            # It was removed.
            return
        self.message.show()
        self._show_settings(touch, sensor)
        if sensor.device.type is TouchType.BUMPER:
            ui.paragraph("A bumper ignores the lookup table.")
        else:
            self._show_table(touch, sensor)

    def show_add(self, touch: TouchSensors) -> str | None:
        """Draw the button for a new sensor, and its form; return the name of an added sensor, else None."""
        if ui.small_button(f"{icons.ICON_FA_PLUS} Add###add", "Put a touch sensor on a site or body"):
            self.message.set("")
            imgui.open_popup("##new")
        with ui.popup("##new") as opened:
            return self._show_form(touch) if opened else None

    def _show_form(self, touch: TouchSensors) -> str | None:
        targets = touch.targets()
        if not targets:
            ui.paragraph("The scene has no site and no body with a name.")
            return None
        self._new_target = min(self._new_target, len(targets) - 1)
        imgui.set_next_item_width(200)
        self._new_name = imgui.input_text("name", self._new_name)[1]
        ui.tooltip("Name; the entry in the scene is touch:NAME")
        labels = [f"{kind} {name}" for kind, name in targets]
        help_text = "Site or body of the sensor, which has its axes: x must point out of the robot"
        self._new_target = ui.choose("on", self._new_target, range(len(labels)), 200, help_text, labels.__getitem__)
        self._new_type = ui.choose("type", self._new_type, TouchType, 200, _TYPE_HELP)
        added = None
        if ui.button("Add sensor", "Add it with the default table and a sampling period of 10 ms"):
            kind, target = targets[self._new_target]
            place: dict[str, Any] = {kind: target}
            added = self.message.attempt(
                lambda: touch.add(TouchDeclaration(self._new_name, self._new_type, **place)).name
            )
            if added:
                self._new_name = ""
                imgui.close_current_popup()
        self.message.show()
        return added

    def _show_settings(self, touch: TouchSensors, sensor: SceneTouch) -> None:
        declaration = sensor.declaration
        assert declaration is not None
        name = sensor.name
        width = 0.5 * imgui.get_content_region_avail().x
        field = width - 5.5 * imgui.get_font_size()
        chosen = ui.choose("type", declaration.type, TouchType, field, _TYPE_HELP)
        if chosen is not declaration.type:
            self.message.attempt(lambda: touch.change(name, type=chosen))
        imgui.same_line(width)
        measure = ui.choose("measure", declaration.measure, Measure, field, _MEASURE_HELP)
        if measure is not declaration.measure:
            self.message.attempt(lambda: touch.change(name, measure=measure))
        # Values count once they are complete: a half-typed number is often not allowed.
        help_text = "Sampling period [ms]; 0 turns the sensor off. Enter applies"
        period = ui.number_field("period", declaration.sampling_period, field, "%.6g ms", help_text)
        if period is not None:
            self.message.attempt(lambda: touch.change(name, sampling_period=period))
        imgui.same_line(width)
        form = "infinite" if declaration.resolution == INFINITE_RESOLUTION else "%.6g"
        help_text = "Smallest change of the output; -1: infinitely fine. Enter applies"
        resolution = ui.number_field("resolution", declaration.resolution, field, form, help_text)
        if resolution is not None:
            self.message.attempt(lambda: touch.change(name, resolution=resolution))

    def _show_table(self, touch: TouchSensors, sensor: SceneTouch) -> None:
        imgui.spacing()
        if ui.small_button("Default", "Default table: the output is tenths of a newton, up to 5000 N"):
            self._set_table(touch, sensor, DEFAULT_TABLE)
        imgui.same_line()
        if ui.small_button("Newtons", "An empty table: the device reports newtons"):
            self._set_table(touch, sensor, ())
        imgui.same_line()
        if ui.small_button(f"{icons.ICON_FA_PLUS} Row###row", "Add a row at the end"):
            self._set_table(touch, sensor, _with_row(sensor.device.lookup_table))
        if not sensor.device.lookup_table:
            ui.paragraph("Empty: the device reports newtons.")
            return
        self._show_plot(touch, sensor)
        self._show_rows(touch, sensor)

    def _show_plot(self, touch: TouchSensors, sensor: SceneTouch) -> None:
        table = np.array(sensor.device.lookup_table)
        if self._limits is None:
            self._limits = _limits(table)
        left, right, bottom, top = self._limits
        height = max(imgui.get_content_region_avail().y - _rows_height(len(table)), _PLOT_HEIGHT)
        flags = implot.Flags_.canvas_only | implot.Flags_.no_inputs
        if not implot.begin_plot("##table", ImVec2(-1, height), flags):
            return
        implot.setup_axes("N", "output")
        implot.setup_axes_limits(left, right, bottom, top, implot.Cond_.always)
        text = plain_color()
        inputs, outputs = (np.ascontiguousarray(column) for column in table[:, :2].T)
        # Beyond its rows a table saturates.
        x = np.concatenate([[min(left, inputs[0])], inputs, [max(right, inputs[-1])]])
        y = np.concatenate([outputs[:1], outputs, outputs[-1:]])
        implot.plot_line("##response", x, y, implot.Spec(line_color=text, line_weight=1.5))
        self._draw_now(touch, sensor, bottom)
        held = False
        for i, (force, output) in enumerate(table[:, :2]):
            moved, force, output, _, hovered, pressed = implot.drag_point(
                i, force, output, text, 5, 0, False, False, False
            )
            held |= bool(pressed)
            if hovered or pressed:
                imgui.set_tooltip(f"row {i + 1}: {force:.5g} N to {output:.5g}\nDrag to change it")
            if moved:
                self._move(touch, sensor, i, force, output)
        implot.end_plot()
        if not held:
            self._limits = None

    def _draw_now(self, touch: TouchSensors, sensor: SceneTouch, bottom: float) -> None:
        """Draw a line from the present force to its output on the curve."""
        forces = touch.true(sensor.name)
        # A table without negative forces holds for both directions.
        if sensor.device.lookup_table[0][0] >= 0:
            forces = np.abs(forces)
        outputs = sensor.device.respond(forces)
        spec = implot.Spec(line_color=dim_color(), line_weight=1.0)
        for i, (force, output) in enumerate(zip(forces, outputs, strict=True)):
            x, y = np.array([force, force]), np.array([bottom, output])
            implot.plot_line(f"##now{i}", x, y, spec)

    def _move(self, touch: TouchSensors, sensor: SceneTouch, row: int, force: float, output: float) -> None:
        """Set a row of the table to its dragged point, between its neighbours."""
        table = [list(values) for values in sensor.device.lookup_table]
        gap = _NEAREST * (table[-1][0] - table[0][0])
        low = table[row - 1][0] + gap if row > 0 else -np.inf
        high = table[row + 1][0] - gap if row + 1 < len(table) else np.inf
        table[row][0] = _rounded(min(max(force, low), high), gap)
        span = max(abs(values[1]) for values in table) or 1.0
        table[row][1] = _rounded(output, _NEAREST * span)
        self.message.attempt(lambda: touch.change(sensor.name, lookup_table=table))

    def _show_rows(self, touch: TouchSensors, sensor: SceneTouch) -> None:
        table = sensor.device.lookup_table
        flags = imgui.TableFlags_
        headings = (
            ui.Heading("force [N]", "", "Input; larger in each row than in the row before"),
            ui.Heading("output", "", "Output for this force"),
            ui.Heading("noise", "", "Standard deviation from 0 to 1, as a fraction of the output"),
            ui.Heading("", imgui.get_frame_height()),
        )
        size = ImVec2(0, _rows_height(len(table)))
        for i in ui.table_rows("##rows", headings, len(table), flags.scroll_y | flags.sizing_stretch_same, size):
            imgui.push_id(i)
            self._show_row(touch, sensor, i, table[i])
            imgui.pop_id()

    def _show_row(self, touch: TouchSensors, sensor: SceneTouch, index: int, row: tuple[float, float, float]) -> None:
        table = [list(values) for values in sensor.device.lookup_table]
        with ui.number_font():
            for column, value in enumerate(row):
                imgui.table_next_column()
                entered = ui.number_field(f"##{column}", value, -1, "%.6g", "Enter applies")
                if entered is not None:
                    table[index][column] = entered
                    self._set_table(touch, sensor, table)
        imgui.table_next_column()
        if ui.small_button(f"{icons.ICON_FA_XMARK}###remove", "Remove this row"):
            self._set_table(touch, sensor, [values for i, values in enumerate(table) if i != index])

    def _show_saving(
        self, touch: TouchSensors, sensor: SceneTouch, save: Callable[[TouchDeclaration], None] | None
    ) -> None:
        declaration = sensor.declaration
        assert declaration is not None
        if ui.button("Copy MJCF", f"Copy the entry to the clipboard:\n{declaration.to_mjcf()}"):
            imgui.set_clipboard_text(declaration.to_mjcf())
            self.message.set("Copied. Paste it inside <custom>.")
        imgui.begin_disabled(not sensor.modified)
        imgui.same_line()
        with ui.disabled(save is None):
            help_text = "Write the entry into the scene file; nothing else in it changes"
            if ui.button("Save to file", help_text) and save is not None:
                self.message.attempt(lambda: save(declaration))
                if not self.message.failed:
                    touch.mark_saved(sensor.name)
                    self.message.set("Saved.")
        imgui.same_line()
        if sensor.saved:
            pressed = ui.button("Revert", "Restore the entry in the scene file")
        else:
            pressed = ui.button("Remove", "Remove this sensor, which is not in the scene file")
        if pressed:
            self._limits = None
            self.message.attempt(lambda: touch.revert(sensor.name))
        imgui.end_disabled()

    def _set_table(self, touch: TouchSensors, sensor: SceneTouch, table: Any) -> None:
        self._limits = None
        self.message.attempt(lambda: touch.change(sensor.name, lookup_table=table))


def _rows_height(count: int) -> float:
    line = imgui.get_frame_height() + 2 * imgui.get_style().cell_padding.y
    return (min(count, _ROWS_SHOWN) + 1) * line


def _with_row(table: Table) -> list[tuple[float, float, float]]:
    """Return a table with a further row, on the line through the last two."""
    if not table:
        return [*DEFAULT_TABLE]
    force, output, noise = table[-1]
    before = table[-2] if len(table) > 1 else (0.0, 0.0, 0.0)
    step = force - before[0] or max(abs(force), 1.0)
    return [*table, (force + step, output + (output - before[1]), noise)]


def _limits(table: Any) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of a table's plot, with room to drag points outwards."""
    low, high = np.minimum(table[:, :2].min(axis=0), 0.0), np.maximum(table[:, :2].max(axis=0), 0.0)
    room = (_ROOM - 1) * np.where(high > low, high - low, 1.0)
    return float(low[0] - room[0]), float(high[0] + room[0]), float(low[1] - room[1]), float(high[1] + room[1])


def _rounded(value: float, step: float) -> float:
    """Return a dragged value without digits that are finer than a pixel."""
    if not step > 0:
        return value
    return float(f"{value:.{max(0, 1 - int(np.floor(np.log10(step))))}f}") if step < 1 else float(round(value))
