"""Compare window: runs and branches beside the shown run, the first difference, and every sensor in both."""

from collections.abc import Mapping
from typing import Any

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...app.runs_beside import RunBeside, RunsBeside
from ...compare.links import Divergence, Link
from ...errors import SceneError
from ...mjmodel.model_changes import CONSTANT, QUANTITIES, ModelChange, actuator_names, read_change
from ...mjmodel.names import body_names, geom_names, read_names
from ...mjmodel.types import MjModel
from ...render.style import BESIDE_COLOR
from ...session.simulation import Change
from .. import widgets as ui
from ..shell import COMPARE, Dock, Panel, Shell
from ..theme import dim_color, plain_color, text_tint, warning_color
from .cure_form import CureForm
from .sensor_form import NameList

_DIGITS = "-00000.000"
_MOST_LINES = 12
"""Largest number of listed lines of one kind; the tooltip has more."""
_MOST_TOUCHDOWN = 9999
_EMPTY = (
    "Compare this run with another one: open a scene, a saved run, a log or another engine, or branch here: "
    "re-simulate from the shown step with the same inputs and another friction, cone, time step, mass or push."
)
_HELP = {
    "friction": "Sliding, torsional and rolling: one to three values",
    "solref": "Time constant [s] and damping ratio, or -stiffness and -damping",
    "solimp": "d0, dwidth, width, midpoint, power",
    "condim": "1, 3, 4 or 6",
    "margin": "[m]",
    "gap": "[m]",
    "cone": "pyramidal or elliptic",
    "impratio": "Friction to normal impedance; with an elliptic cone a large one prevents slip",
    "timestep": "[s]",
    "gravity": "Gravity along x, y and z [m/s²]",
    "mass": "Mass [kg]; the inertia is scaled with it",
    "gain": "Gain of an actuator; its bias is scaled with it, as a servo needs",
    CONSTANT: "Constant of the controller, which is called again from this step on",
    "force": "Constant force on a body at its centre of mass along x, y and z of the world [N]",
}


class BranchForm:
    """Form for the values that a new branch changes."""

    def __init__(self) -> None:
        self.is_open = False
        self.changes: list[ModelChange] = []
        self.message = ui.Message()
        self._quantity, self._name, self._text = "friction", "", ""
        self._names = NameList()
        self._constants: Mapping[str, float] = {}
        """Constants of the controller, by name."""
        self._shown_for: tuple[object, ...] = ()
        """Model, quantity and object that the proposed value belongs to."""

    def begin(self, quantity: str = "", name: str = "") -> None:
        """Open the form; `quantity` and `name` of an object fill it in."""
        self.is_open = True
        self.message.set("")
        if quantity:
            self._quantity, self._name, self._shown_for = quantity, name, ()

    def show(self, beside: RunsBeside, model: MjModel, time: float) -> None:
        """Draw the form."""
        ui.heading(f"Branch here, at {time:.3f} s")
        reason = beside.why_not_branch()
        if reason is not None:
            ui.paragraph(reason, warning_color())
        em = imgui.get_font_size()
        self._constants = beside.constants
        quantities = [*QUANTITIES, *([CONSTANT] if self._constants else [])]
        quantity = ui.choose("##quantity", self._quantity, quantities, 7.5 * em, "Value that the branch changes")
        if quantity != self._quantity:
            self._quantity, self._name = quantity, ""
        if kind := QUANTITIES.get(self._quantity, "constant of the controller"):
            imgui.same_line()
            room = max(imgui.get_content_region_avail().x, 6 * em)
            everything = self._quantity not in ("mass", "gain", "force", CONSTANT)
            value = self._name or ("all geoms and pairs" if everything else "")
            help_text = f"The {kind}, by its name" + ("; none: all geoms and pairs" if everything else "")
            chosen = self._names.show("##object", value, lambda: self._object_names(model), room, help_text)
            self._name = "" if chosen == "all geoms and pairs" else chosen
        self._offer(model)
        imgui.set_next_item_width(max(imgui.get_content_region_avail().x - 9 * em, 6 * em))
        entered, self._text = imgui.input_text("##value", self._text, imgui.InputTextFlags_.enter_returns_true)
        ui.tooltip(_HELP.get(self._quantity, "New value"))
        imgui.same_line()
        if ui.button(f"{icons.ICON_FA_PLUS}###add", "Add this change; more can follow (Enter)") or entered:
            self._add(model)
        imgui.same_line()
        with ui.disabled(reason is not None):
            if ui.button(
                f"{icons.ICON_FA_CODE_BRANCH} Branch###branch", "Re-simulate from this step with the same inputs"
            ):
                self._start(beside, model)
        for place, change in enumerate(list(self.changes)):
            if ui.small_button(f"{icons.ICON_FA_XMARK}###drop{place}", "Close without a branch"):
                self.changes.remove(change)
            imgui.same_line()
            ui.fitted_text(str(change), imgui.get_content_region_avail().x)
        self.message.show()

    def _offer(self, model: MjModel) -> None:
        """Fill in the model's own value, once for each quantity and object."""
        key = (id(model), self._quantity, self._name)
        if key == self._shown_for:
            return
        self._shown_for = key
        if self._quantity == CONSTANT:
            self._text = f"{self._constants[self._name]:.9g}" if self._name in self._constants else ""
            return
        size = {"gravity": 3, "force": 3, "solref": 2, "solimp": 3}.get(self._quantity, 1)
        try:
            self._text = ModelChange(self._quantity, self._name, (0.0,) * size).now(model).text
        except (SceneError, IndexError):
            self._text = ""

    def _object_names(self, model: MjModel) -> list[str]:
        return list(self._constants) if self._quantity == CONSTANT else _names(model, self._quantity)

    def _change(self) -> ModelChange:
        if self._quantity == CONSTANT:
            try:
                return ModelChange(CONSTANT, self._name, (float(self._text),))
            except ValueError:
                raise SceneError(f"{self._text!r} is no number") from None
        return read_change(f"{self._quantity}{f':{self._name}' if self._name else ''}={self._text}")

    def _add(self, model: MjModel) -> bool:
        """Add the typed value to the changes. If it is invalid or changes nothing, show why and return False."""

        def add() -> bool:
            change = self._change()
            if self._value_now(change, model) == change.value and change.quantity != "force":
                raise SceneError(f"{change}: the scene has that value already")
            self.changes = [each for each in self.changes if each.key != change.key] + [change]
            return True

        return bool(self.message.attempt(add))

    def _start(self, beside: RunsBeside, model: MjModel) -> None:
        """Start the branch, with the typed value if it was not added yet."""
        typed = self.changes and self._is_offered(model)
        if not typed and not self._add(model):
            return
        if self.message.attempt(lambda: beside.branch(self.changes)) is not None:
            self.changes, self.is_open = [], False

    def _value_now(self, change: ModelChange, model: MjModel) -> tuple[float, ...]:
        if change.quantity == CONSTANT:
            return (self._constants.get(change.name, float("nan")),)
        return change.now(model).value

    def _is_offered(self, model: MjModel) -> bool:
        """Return True if the value in the field is the model's own, or one of the changes."""
        try:
            change = self._change()
            return change in self.changes or self._value_now(change, model) == change.value
        except SceneError:
            return False


class ComparePanel:
    """Content of the Compare window."""

    def __init__(self) -> None:
        self.form, self.cures = BranchForm(), CureForm()
        self.message = ui.Message()
        self._touchdown = 1
        self._sensor = ""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        # Tab shows and hides panels, also while this one has the focus.
        imgui.push_item_flag(imgui.ItemFlags_.no_tab_stop, True)
        self._show_content(shell)
        imgui.pop_item_flag()

    def _show_content(self, shell: Shell) -> None:
        app, beside = shell.app, shell.app.beside
        if ui.button(
            f"{icons.ICON_FA_FOLDER_OPEN} Open beside...###open", "A scene, a saved run, or a log of this scene"
        ):
            shell.choose_beside()
        ui.flow(9 * imgui.get_font_size())
        if ui.button(f"{icons.ICON_FA_CODE_BRANCH} Branch here...###form", "Change a value from here on (Ctrl+B)"):
            self.form.is_open = not self.form.is_open
        ui.flow(9 * imgui.get_font_size())
        if ui.button(
            f"{icons.ICON_FA_MAGNIFYING_GLASS} Find a cure...###cure",
            "Find the smallest change that avoids slip, creep, ...",
        ):
            self.cures.is_open = not self.cures.is_open
        if self.cures.is_open:
            self.cures.show(app)
        if self.form.is_open:
            self.form.show(beside, app.session.simulation.engine.model, app.session.engine.time)
        if not beside.entries:
            imgui.spacing()
            ui.paragraph(_EMPTY)
            return
        ui.heading("Beside")
        for place, entry in enumerate(list(beside.entries)):
            imgui.push_id(str(place))
            _show_entry(shell, entry)
            imgui.pop_id()
        if beside.shown is not None:
            self._show_link(beside, beside.shown, list(app.session.engine.sensors.names))
            self.message.show()
            self._show_comparison(beside)

    def _show_link(self, beside: RunsBeside, entry: RunBeside, sensors: list[str]) -> None:
        em, common = imgui.get_font_size(), [name for name in sensors if entry.run.engine.sensors.has(name)]
        linked = entry.link is not None
        choice = ui.choose(
            "##link", linked, (False, True), 10 * em,
            {False: "Show steps of the same simulated time",
             True: "Align the runs at the n-th touchdown of a sensor"},
            lambda by_touch: "by touchdown" if by_touch else "by time",
        )  # fmt: skip
        if self._sensor not in common:
            self._sensor = common[0] if common else ""
        if choice is not linked:
            self.message.attempt(
                lambda: beside.link_by_touchdown(self._sensor, self._touchdown) if choice else beside.link_by_time()
            )
        if entry.link is None:
            return
        imgui.same_line()
        sensor = ui.choose("##sensor", self._sensor, common, 9 * em, "Sensor whose touchdowns are aligned")
        ui.flow(6 * em)
        number = ui.number_field("##touchdown", self._touchdown, 4 * em, "%.0f", "Number of the touchdown, from 1")
        wanted = min(max(round(number), 1), _MOST_TOUCHDOWN) if number is not None else self._touchdown
        if (sensor, wanted) != (self._sensor, self._touchdown):
            self._sensor, self._touchdown = sensor, wanted
            self.message.attempt(lambda: beside.link_by_touchdown(sensor, wanted))
        ui.dim_text(f"{entry.run.lag:+.4f} s later there")

    def _show_comparison(self, beside: RunsBeside) -> None:
        if ui.button(
            f"{icons.ICON_FA_FORWARD_STEP} Jump to the first difference###jump", "Pause at the first step that differs"
        ):
            beside.jump()
        ui.flow(8 * imgui.get_font_size())
        help_text = "Largest difference that is ignored, relative for values above 1; 0: bit for bit. Enter applies"
        value = ui.number_field("tolerance", beside.tolerance_used, 4.5 * imgui.get_font_size(), "%.3g", help_text)
        if value is not None:
            beside.set_tolerance(max(value, 0.0))
        beside.want_comparison()
        comparison = beside.comparison
        if beside.trouble:
            ui.paragraph(beside.trouble, warning_color())
        if comparison is None:
            ui.paragraph("Pause to compare all common steps.")
            return
        if beside.is_comparing:
            ui.dim_text(f"comparing… {100 * beside.part:.0f} %")
        _show_first(beside)
        _lines("Scenes differ", [_difference(row) for row in comparison.scene_differences])
        _lines("Only in this run", comparison.only["a"])
        _lines("Only beside", comparison.only["b"])
        if not beside.is_comparing:
            _show_sensors(beside)


def _names(model: MjModel, quantity: str) -> list[str]:
    kind = QUANTITIES[quantity]
    if kind == "body":
        return body_names(model)[1:]
    if kind == "actuator":
        return actuator_names(model)
    return ["all geoms and pairs", *geom_names(model), *filter(None, read_names(model, "pair"))]


def _show_entry(shell: Shell, entry: RunBeside) -> None:
    app, beside = shell.app, shell.app.beside
    is_shown = entry is beside.shown
    tint = text_tint(BESIDE_COLOR) if is_shown else dim_color()
    if ui.eye_button(is_shown, entry.title, tint) is not is_shown:
        beside.show(None if is_shown else entry)
    imgui.same_line()
    with ui.text_color(tint):
        width = imgui.get_content_region_avail().x - 2.2 * imgui.get_font_size()
        ui.fitted_text(entry.title, width)
    if entry.is_branch or entry.text:
        ui.right_of_line(imgui.calc_text_size(icons.ICON_FA_XMARK).x)
        if ui.small_button(f"{icons.ICON_FA_XMARK}###close", "Remove it"):
            beside.remove(entry)
            return
    if not is_shown:
        return
    run = entry.run
    about = f"branch from {entry.start:.3f} s" if entry.is_branch else run.engine.name
    ui.dim_text(f"{about}, up to {run.newest_time:.3f} s" + (f"; {run.ending}" if run.ending else ""))
    for note in entry.notes:
        ui.paragraph(note)
    if not entry.is_branch:
        return
    reason = app.session.why_not(Change.SCENE)
    with ui.disabled(reason is not None):
        help_text = "Continue with this branch; the former run stays beside. The scene's file is not changed"
        if ui.button("Continue here###go on", reason or help_text):
            app.go_on_with(entry)
    reason = beside.why_not_save(entry)
    ui.flow(10 * imgui.get_font_size())
    with ui.disabled(reason is not None):
        if ui.button(
            "Save into the scene###save", reason or "Write the changes into the scene's file (Ctrl+Z undoes it)"
        ):
            app.notices.attempt(lambda: beside.save(entry))


def _show_first(beside: RunsBeside) -> None:
    comparison = beside.comparison
    assert comparison is not None
    if not comparison.compared:
        if not beside.is_comparing:
            ui.paragraph("No step of one run has the time of a step of the other.", warning_color())
        return
    within = f"within {comparison.tolerance:g}" if comparison.tolerance else "bit for bit"
    if comparison.first is None:
        ui.paragraph(f"Equal {within} in {comparison.compared} steps.", plain_color())
        return
    for what, found in (("State", comparison.first_state), ("Contacts", comparison.first_contacts)):
        if found is None:
            ui.paragraph(f"{what}: the same {within} in {comparison.compared} steps.")
        else:
            ui.paragraph(f"{what} differ{'s' * (what == 'State')} first at {found.time:.6g} s.", plain_color())
            ui.paragraph(_cause(found))


def _cause(found: Divergence) -> str:
    """Return the first difference as text; "here" is the shown run."""
    text = found.text if found.link is Link.STATE else f"{found.link}: {found.text}"
    words = {" in A,": " here,", " in B": " beside", "the list of A": "the list here"}
    for word, meaning in (words | {"the list of B": "the list beside"}).items():
        text = text.replace(word, meaning)
    return text


def _lines(title: str, lines: list[str]) -> None:
    if not lines:
        return
    imgui.set_next_item_open(len(lines) <= _MOST_LINES, imgui.Cond_.once)
    if imgui.collapsing_header(f"{title} ({len(lines)})###{title}"):
        for line in lines[:_MOST_LINES]:
            ui.fitted_text(line, imgui.get_content_region_avail().x)
        if len(lines) > _MOST_LINES:
            ui.dim_text(f"and {len(lines) - _MOST_LINES} more")
            ui.tooltip("\n".join(lines[_MOST_LINES : 6 * _MOST_LINES]))


def _difference(row: Mapping[str, Any]) -> str:
    thing = " ".join((row["kind"], row["name"])).strip()
    return f"{thing} {row['attribute']}: {_short(row['a'])} to {_short(row['b'])}"


def _short(value: Any) -> str:
    return " ".join(f"{each:.6g}" for each in value) if isinstance(value, list) else f"{value:.6g}"


def _show_sensors(beside: RunsBeside) -> None:
    rows = beside.sensor_rows
    if not rows:
        ui.paragraph("No sensor has contacts in both runs.")
        return
    headings = [
        ui.Heading("sensor", "", "Hover for all values", left=True),
        ui.Heading("apart\n[N]", _DIGITS, "Largest difference of the net force in a step"),
        ui.Heading("mean apart\n[N]", _DIGITS, "Mean difference of the net force"),
        ui.Heading("events", "00 | 00", "Touchdowns and lift-offs only in this run | only in the run beside"),
    ]
    room, em = imgui.get_content_region_avail().x, imgui.get_font_size()
    headings = ui.fitting(headings, room, ("mean apart\n[N]",), 7 * em)
    ui.heading("Sensors")
    shown = {heading.name for heading in headings}
    with ui.number_font():
        for place in ui.table_rows("##sensors", headings, len(rows), imgui.TableFlags_.row_bg, ImVec2(0, 0)):
            _sensor_row(rows[place], shown)


def _sensor_row(row: Mapping[str, Any], shown: set[str]) -> None:
    apart = row.get("force_difference")
    same = apart is not None and not apart["max"] and not any(row["difference"].values())
    color: ImVec4 = dim_color() if same else plain_color()
    imgui.table_next_column()
    with ui.text_color(color):
        imgui.text_unformatted(ui.fit_text(row["name"], imgui.get_content_region_avail().x))
    ui.tooltip(lambda: "\n".join(_details(row)))
    for name, key in (("apart\n[N]", "max"), ("mean apart\n[N]", "mean")):
        if name not in shown:
            continue
        if apart is None:
            imgui.table_next_column()
            ui.text_right("-", dim_color())
        else:
            ui.number_cell(apart[key], color)
    imgui.table_next_column()
    ui.text_right(f"{len(row['events_only_a'])} | {len(row['events_only_b'])}", color)


def _details(row: Mapping[str, Any]) -> list[str]:
    """Return all values of a sensor as lines, for the shown run and the run beside."""
    lines = [f"{row['name']}: {row['label']}"]
    if row["a"] is None or row["b"] is None:
        return [*lines, row["unread"] or f"only {'beside' if row['a'] is None else 'in this run'}"]
    for key, value in row["a"].items():
        unit = "" if key.startswith("found") else " N"
        lines.append(f"{key.replace('_', ', ')}: {value:.5g} and {row['b'][key]:.5g}{unit}")
    for key, value in row["metrics_a"].items():
        if key in row["metrics_b"]:
            lines.append(f"{key.replace('_', ' ')}: {value:.5g} and {row['metrics_b'][key]:.5g}")
    for key, where in (("a", "only in this run"), ("b", "only beside")):
        events = row[f"events_only_{key}"]
        lines += [f"{event['kind']} at {event['time']:.4f} s {where}" for event in events[:5]]
    return lines


PANEL = Panel(COMPARE, Dock.RIGHT, ComparePanel, least_width=300.0)
