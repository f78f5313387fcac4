"""Each button, box, list, slider and field of the panels, found in their source: one that is added is used here too."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from contact_viewer.app.application import open_application
from contact_viewer.checks.finding import Finding, Fix, Severity
from contact_viewer.compare.cures import Cure, Cures
from contact_viewer.compare.unwanted import read_unwanted
from contact_viewer.events.breaks import BreakWhen
from contact_viewer.mjmodel.model_changes import read_change
from contact_viewer.render.view import Pick
from contact_viewer.scene_files.xml_edits import Edit
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, PlotSettings, Quality, Reduce, ValueAxis
from contact_viewer.touch.declaration import TouchDeclaration
from contact_viewer.touch.device import TouchType
from contact_viewer.window.panels.events import Who
from contact_viewer.window.panels.menus import ABOUT
from contact_viewer.window.shell import (
    COMPARE,
    CONTROLS,
    DISPLAY,
    EVENTS,
    INSPECTOR,
    PLOTS,
    SENSOR_EDITOR,
    SENSORS,
    TOUCH,
)
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, hello_imgui, imgui

from .control_watch import DRAGGED, TYPED, ControlWatch, Drawn, Key, Site
from .driver import drawing, drive, wait

SCENE = """<mujoco model="all">
  <custom>
    <text name="touch:sole" data="type=force site=sole table='0 0 0, 100 1000 0'"/>
  </custom>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="side" pos="0 -2 .5" xyaxes="1 0 0 0 .2 1"/>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="target" mocap="true" pos="1 0 .2"><geom name="target" type="sphere" size=".05"/></body>
    <body name="box" pos="0 0 .1">
      <freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="1"/>
      <site name="sole" type="box" size=".02 .11 .11" pos="0 0 -.1" xyaxes="0 0 -1 0 1 0"/>
    </body>
    {limbs}
  </worldbody>
  <actuator>{motors}</actuator>
  {sensors}
  <keyframe><key name="up" qpos="0 0 .12 1 0 0 0 {pose}"/></keyframe>
</mujoco>"""
LIMBS = ("left", "right")
JOINTS = tuple(f"{limb}_{name}" for limb in LIMBS for name in ("hip", "yaw", "knee", "ankle", "toe"))
CONTROLLER = "GAIN = 0.5\n\n\ndef control(model, data):\n    data.ctrl[:] = 0\n"
MOST_TRIES = 3
SIZE = (1700, 1900)
"""Large enough for everything to be in sight."""


def write_scene(path: Path, *, sensors: int, motors: bool = True) -> Path:
    """A scene with something of everything that panels show: so many contact sensors, and motors or servos."""
    actuator = "motor" if motors else "position"
    limbs = ""
    for side, limb in enumerate(LIMBS):
        parts = [
            f'<body name="{name}" pos="0 0 -.1"><joint name="{name}" range="-90 90" damping="1"/>'
            f'<geom name="{name}" type="capsule" size=".02" fromto="0 0 0 0 0 -.1"/>'
            for name in JOINTS
            if name.startswith(limb)
        ]
        parts[0] = parts[0].replace('pos="0 0 -.1"', f'pos="-.5 {side - 0.5} .6"')
        limbs += "".join(parts) + len(parts) * "</body>"
    contact = [
        f'<contact name="feet{i}" geom1="floor" geom2="box" num="4" data="found force"/>' for i in range(sensors)
    ]
    path.write_text(
        SCENE.format(
            limbs=limbs,
            motors="".join(f'<{actuator} name="{name}" joint="{name}" ctrlrange="-1 1"/>' for name in JOINTS),
            sensors=f"<sensor>{''.join(contact)}</sensor>" if contact else "",
            pose=" ".join("0" * len(JOINTS)),
        )
    )
    return path


def open_scene(path: Path, size: tuple[int, int] = SIZE, **options: Any) -> Window:
    width, height = size
    window = Window(open_application(Options(scene=path, width=width, height=height, quality=Quality.LOW, **options)))
    window.keeps_settings = False
    return window


class Person:
    """Uses every control in sight that was not used before, popups and lists on the way."""

    def __init__(self, ctx: Any, window: Window, watch: ControlWatch) -> None:
        self.ctx, self.window, self._watch = ctx, window, watch
        self._tries: Counter[Key] = Counter()
        self._reopened: Counter[Key] = Counter()
        self._inside: defaultdict[Key, set[Key]] = defaultdict(set)
        """What was seen in the popup that a control opens."""
        self._opened_by: dict[int, Key] = {}

    def prepare(self) -> Session:
        """The scene as it is after some steps, with contacts and events, running."""
        session = self.window.app.session
        session.reset("up")
        session.simulation.step(100)
        session.paused = False
        self.ctx.yield_(2)
        return session

    def look(self) -> dict[Key, Drawn]:
        """What can be used now: in the popup that was opened last, or without one, in all panels."""
        self._watch.drawn.clear()
        self.ctx.yield_(1)
        popup = self.popup
        here = {key: drawn for key, drawn in self._watch.drawn.items() if popup is None or drawn.window == popup}
        if popup in self._opened_by:
            self._inside[self._opened_by[popup]].update(here)
        return here

    @property
    def popup(self) -> int | None:
        """The popup that was opened last."""
        opened = imgui.get_current_context().open_popup_stack
        window = opened[opened.size() - 1].window if opened.size() else None
        return None if window is None else int(window.id_)

    def use_all(self, *panels: str) -> None:
        """Use everything in sight, with each of these panels in front once."""
        for panel in panels or ("",):
            if panel:
                self.window.dockable(panel).focus_window_at_next_frame = True
                self.ctx.yield_(2)
            while self._use_one():
                pass

    def use_again(self, file: str, label: str) -> None:
        """Use something whatever was used before, and then what it has led to."""
        here = self.look()
        self.use(next(key for key in here if (key.site.file, key.label) == (f"panels/{file}.py", label)), here)
        self.use_all()

    def _use_one(self) -> bool:
        """Use one control, or close the popup that has no more of them; False if there is nothing left to do."""
        here = self.look()
        wanted = [key for key in here if self._is_wanted(key, here[key].kind)]
        again = [key for key in here if self._reopened[key] < 12 and self._hides_something(key)]
        if wanted:
            # What is in a tab, or under a heading that is open, goes before the next.
            hides = {"begin_tab_item", "collapsing_header"}
            self.use(min(wanted, key=lambda key: (here[key].kind in hides, here[key].low.y, here[key].low.x)), here)
        elif again:
            self._reopened[again[0]] += 1
            self.use(again[0], here)
        elif self.popup is not None:
            self.ctx.key_press(imgui.Key.escape)
            self.ctx.yield_(1)
        else:
            return False
        return True

    def _is_wanted(self, key: Key, kind: str = "") -> bool:
        if key in self._watch.used or self._tries[key] >= MOST_TRIES:
            return False
        # Of a list, one line.
        return kind != "selectable" or key.site not in self._watch.used_sites

    def _hides_something(self, key: Key) -> bool:
        return any(self._is_wanted(other, "selectable") for other in self._inside[key])

    def use(self, key: Key, here: dict[Key, Drawn]) -> None:
        """Click, drag or type, as the control wants it; nothing may fail by that."""
        ctx, drawn, before = self.ctx, here[key], self.popup
        self._tries[key] += 1
        tries = self._tries[key]
        middle = (drawn.low.y + drawn.high.y) / 2
        if drawn.kind in DRAGGED | TYPED | {"begin_combo"}:
            # Its label is at the right.
            x = drawn.low.x + min(8.0 + 14.0 * (tries - 1), 0.5 * (drawn.high.x - drawn.low.x))
        else:
            x = (drawn.low.x + drawn.high.x) / 2
        ctx.mouse_teleport_to_pos(ImVec2(x, middle))
        ctx.mouse_down(0)
        if drawn.kind in DRAGGED:
            ctx.mouse_teleport_to_pos(ImVec2(x + 30, middle))
        ctx.mouse_up(0)
        if drawn.kind in TYPED:
            ctx.key_chars_replace_enter(str(1 + tries))
        if drawn.kind == "input_text_with_hint" and self.popup == before:
            # A filter would hide the rest.
            ctx.mouse_down(0)
            ctx.mouse_up(0)
            ctx.key_chars_replace_enter("")
        ctx.yield_(1)
        if self.popup is not None and self.popup != before:
            self._opened_by[self.popup] = key
        assert not self.window.guard.failures, (key, self.window.guard.failures)


@pytest.mark.timeout(600)
def test_every_control_of_the_panels_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # Where a file dialog leads to, and recordings with it.
    monkeypatch.setenv("HOME", str(tmp_path))
    watch = ControlWatch(monkeypatch)
    (tmp_path / "stand.py").write_text(CONTROLLER)
    scene = write_scene(tmp_path / "all.xml", sensors=9)
    walk(watch, open_scene(scene, control="stand.py"), use_panels)
    walk(watch, open_scene(scene, envs=2, paused=True), lambda person: person.use_all(CONTROLS))
    bare = write_scene(tmp_path / "bare.xml", sensors=0, motors=False)
    walk(watch, open_scene(bare, paused=True), lambda person: person.use_all(SENSORS, CONTROLS))
    walk(watch, open_scene(bare, paused=True), use_plots_without_curves)
    walk(watch, open_scene(bare, paused=True, watch_all=False), use_empty)
    walk(watch, open_scene(bare, size=(620, 900), paused=True), use_drawer)
    walk(watch, open_scene(scene, control="stand.py"), use_episodes)
    missing = {site for site in watch.known - watch.used_sites if not in_main_menu(site)}
    assert not watch.unexplained, watch.unexplained
    assert not missing, "not used: " + "\n".join(f"{site.file}:{site.line} {site.text}" for site in sorted(missing))


def walk(watch: ControlWatch, window: Window, use: Callable[[Person], None]) -> None:
    def test(ctx: Any) -> None:
        imgui.test_engine.get_io(hello_imgui.get_imgui_test_engine()).config_watchdog_kill_test = 580.0
        use(Person(ctx, window, watch))
        # Whatever was chosen: the scene can be drawn, and goes on.
        session = window.app.session
        session.paused, begin = False, session.engine.time
        with drawing():
            wait(ctx, lambda: session.engine.time > begin)

    drive(window, test)


def use_panels(person: Person) -> None:
    """A scene with all: what is there at once, then what appears by what was done."""
    window, app = person.window, person.window.app
    person.prepare()
    person.use_all(SENSORS, DISPLAY, INSPECTOR, SENSOR_EDITOR, PLOTS, EVENTS, TOUCH, "Bodies", INSPECTOR)
    person.prepare().paused = True
    person.use_all(CONTROLS)
    # What belongs to one of several choices.
    session = person.prepare()
    session.settings.plots.axis = ValueAxis.LINEAR
    person.use_all(PLOTS)
    person.use_again("plots", "axis")
    person.use_again("playback", "##scrub")
    window.contents[SENSOR_EDITOR]._by_body = False
    person.use_all(SENSOR_EDITOR)
    window.edit_sensor("feet0")
    person.use_all(SENSOR_EDITOR)
    person.use_again("sensor_editor", "num")
    person.use_again("sensor_editor", "apply")
    wait(person.ctx, lambda: app.loader.progress is None)
    person.use_all()
    session = person.prepare()
    session.set_reduce("feet1", Reduce.NETFORCE)
    session.selected = "feet1"
    person.use_all(INSPECTOR)
    window.contents["Events"].breaks.draft.when = BreakWhen.FORCE
    session.view.select(box(session))
    person.use_all(EVENTS)
    person.use_again("event_options", "break")
    person.use_again("event_options", "tracking")
    use_row_menu(person)
    touch = app.session.engine.touch_sensors
    assert touch is not None
    touch.add(TouchDeclaration("extra", TouchType.FORCE, site="sole"))
    window.contents["Touch"].selected = "extra"
    person.use_all(TOUCH)
    use_channels(person)
    use_findings(person)
    use_compare(person)
    # Dialogs and menus.
    for _ in range(2):
        window.choose_scene()
        person.use_all()
    use_body_menu(person)
    window.help_page = ABOUT
    app.notices.add(
        "something failed", warning=True, offer=("mend it", lambda: app.notices.add("mended", warning=True))
    )
    person.use_all()
    app.toggle_recording()
    person.use_all()
    with patch.object(type(app.loader), "progress", "opening"):
        person.ctx.yield_(2)
        # It may have gone three times before it was clicked, when scenes were opened.
        person.use_again("overlays", "Cancel")
    use_contact_menu(person)


def use_channels(person: Person) -> None:
    """A quantity of the model with the menu of its plot, measured data, and an episode that has ended."""
    window, app = person.window, person.window.app
    session = person.prepare()
    session.paused = True
    data = Path("data.csv")
    data.write_text("time,raw\n" + "".join(f"{0.01 * row},{row % 7}\n" for row in range(50)))
    app.measured.open(data)
    wait(person.ctx, lambda: not app.measured.is_busy)
    with patch.object(type(app.measured), "is_busy", True), patch.object(app.measured, "cancel"):
        person.use_all(PLOTS)
    person.use_again("channel_plots", "measured")
    app.measured.cancel()
    # Few plots, so that none is below the edge of the panel.
    session.settings.plots = PlotSettings()
    for _ in range(3):
        for name in [*session.model_channels.chosen]:
            session.model_channels.drop(name)
        session.model_channels.choose([next(iter(session.model_channels.quantities))])
        window.dockable(PLOTS).focus_window_at_next_frame = True
        person.ctx.yield_(3)
        person.ctx.mouse_teleport_to_pos(next(iter(window.contents[PLOTS].channel_places.values())))
        person.ctx.yield_(2)
        person.ctx.mouse_down(1)
        person.ctx.yield_(1)
        person.ctx.mouse_up(1)
        person.ctx.yield_(2)
        person.use_all()


def use_episodes(person: Person) -> None:
    """Episodes that have ended."""
    session = person.prepare()
    session.paused = True
    for _ in range(2):
        session.take_steps(20)
        session.reset()
    person.ctx.yield_(2)
    person.use_again("playback", "episodes")


def use_drawer(person: Person) -> None:
    """A window that is too narrow to dock panels: open the drawer, and choose a panel in it."""
    person.use_all()


def use_findings(person: Person) -> None:
    """A finding with a fix, and a check of runs."""
    app = person.window.app
    path = app.session.engine.path
    assert path is not None
    for _ in range(2):
        # What a check finds takes the place of this one, and a fix opens the scene again.
        text = path.read_bytes()
        fix = Fix("a comment", True, "1 N", "0 N", (Edit(path, text, text + b"<!-- mended -->"),))
        app.findings.found = (Finding("contacts-lost", Severity.WARNING, "Lost.", "Mend it.", fix=fix),)
        person.use_all("Findings")
        wait(person.ctx, lambda: not app.findings.is_busy and app.loader.progress is None)


def use_compare(person: Person) -> None:
    """The form of a branch, and a branch that is shown, saved, linked, or goes on."""
    window, app = person.window, person.window.app
    for friction in range(8):
        session = person.prepare()
        session.paused = True
        session.simulation.step(150)
        window.branch_here("friction", "box")
        form = window.contents[COMPARE].form
        if friction:
            form.is_open, form.changes = friction < 3, [read_change("friction:box=3")]
            app.beside.branch([read_change(f"friction:box={2 + friction}")], 10)
        use_cures(person, found=friction < 2)
        wait(person.ctx, lambda: not app.beside.is_busy)
        if friction > 4:
            app.beside.entries[-1].link = "feet0", 1
        person.use_all(COMPARE)
        wait(person.ctx, lambda: app.loader.progress is None and not app.loader.is_busy(app.session.engine))
        for entry in [*app.beside.entries]:
            app.beside.remove(entry)
    # A contact that is picked leads there too, and its panel is behind this one then.
    session = person.prepare()
    session.paused, session.selected, session.picked = True, "feet0", ("feet0", 0)
    person.use_all(INSPECTOR)


def use_cures(person: Person, found: bool) -> None:
    """A search for a cure: while it runs, and what it has found."""
    app, form = person.window.app, person.window.contents[COMPARE].cures
    form.is_open = found
    if not found:
        return
    form.avoid = ["slip:feet0>1mm"]
    helps = Cure((read_change("friction:box=3"),), (1e-4,), 1.0, 1.0, True)
    app.cures.cures = Cures((read_unwanted(form.avoid[0]),), before=Cure((), (0.1,), 1.0, 1.0, False), singles=[helps])
    with patch.object(type(app.cures), "is_running", True):
        person.use_all(COMPARE)
    person.use_all(COMPARE)
    app.cures.close()


def use_empty(person: Person) -> None:
    """A scene without sensors, of which nothing is shown: each way to make one, and back."""
    app = person.window.app
    for label in ("new", "each body", "Watch all contacts"):
        here = person.look()
        person.use(next(key for key in here if key.site.file == "panels/sensors.py" and key.label == label), here)
        if label != "new":
            wait(person.ctx, lambda: len(app.session.engine.sensors) > 0)
            app.undo()
            wait(person.ctx, lambda: not len(app.session.engine.sensors))


def use_plots_without_curves(person: Person) -> None:
    """A scene of which all contacts are shown."""
    here = person.look()
    person.use(next(key for key in here if key.site.file == "panels/plots.py" and key.label == "each body"), here)
    wait(person.ctx, lambda: person.window.app.session.engine.sensors.names == ("box",))


def use_row_menu(person: Person) -> None:
    """The menu of an event."""
    person.prepare()
    panel = person.window.contents["Events"]
    panel.text, panel.kind, panel.who = "", None, Who.ALL
    for _ in range(2):
        row = next(
            drawn
            for key, drawn in person.look().items()
            if key.site.file == "panels/events.py" and key.label == "##row"
        )
        person.ctx.mouse_teleport_to_pos(ImVec2((row.low.x + row.high.x) / 2, (row.low.y + row.high.y) / 2))
        person.ctx.mouse_click(1)
        person.use_all()


def use_contact_menu(person: Person) -> None:
    """The menu of two bodies that touch, which lets them not collide any more."""
    app = person.window.app
    for label in ("Exclude this pair", "Exclude it in the file too"):
        person.prepare()
        person.window.dockable("Bodies").focus_window_at_next_frame = True
        person.ctx.yield_(2)
        rows = {key: drawn for key, drawn in person.look().items() if key.site.file == "panels/bodies.py"}
        row = next(drawn for key, drawn in rows.items() if "##" in key.label)
        person.ctx.mouse_teleport_to_pos(ImVec2(row.low.x + 4, (row.low.y + row.high.y) / 2))
        person.ctx.mouse_click(1)
        person.ctx.yield_(2)
        before, here = app.session.engine, person.look()
        person.use(next(key for key in here if key.label == label), here)
        wait(person.ctx, partial(lambda before: app.session.engine is not before, before))
        for _ in range(1 + label.endswith("too")):
            app.undo()
        wait(person.ctx, lambda: app.session.engine.model.nexclude == 0)


def use_body_menu(person: Person) -> None:
    """The menu of a body in the scene."""
    window = person.window
    for _ in range(7):
        window._body_menu.pick = box(window.app.session)
        window._body_menu._due = time.monotonic()
        person.ctx.yield_(2)
        person.use_all()


def box(session: Session) -> Pick:
    """A click on the box."""
    model = session.engine.model
    return Pick(model.body("box").id, model.geom("box").id, session.engine.data.body("box").xpos.copy(), np.zeros(3))


def in_main_menu(site: Site) -> bool:
    """True of entries that `test_every_menu_entry_is_used` looks for."""
    return site.text.startswith(("imgui.menu_item_simple", "ui.menu_item")) and site.file == "panels/menus.py"
