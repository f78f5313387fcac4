"""Bodies window: forces on a body by kind, bodies that press on each other, and contacts before the first step."""

from collections.abc import Sequence

import numpy as np
from imgui_bundle import imgui

from ...mjmodel.pair_motion import pair_key
from ...mjmodel.pressing import PressingPair, describe_relation, find_pressing_pairs, find_start_touches
from ...mjmodel.types import MjModel
from ...sensors.friction import ContactState
from ...session.session import Session
from .. import widgets as ui
from ..shell import Dock, Panel, Shell
from ..theme import warning_color
from .explanations import show_exclude_entries, show_forces

_DIGITS = "-0000.000"
_LONGEST = 28
"""Largest number of letters of a name that are shown."""
_PAIRS = (
    ui.Heading("this body", "", "Body that exerts the force", left=True),
    ui.Heading("presses on", "", "Body that the force acts on; right-click to exclude the pair", left=True),
    ui.Heading("normal [N]", _DIGITS, "Sum of the normal forces of their contacts"),
    *(ui.Heading(f"{axis} [N]", _DIGITS, "Force on the second body, world axes") for axis in "xyz"),
    ui.Heading("contacts", "contacts", "Number of contacts"),
    ui.Heading(
        "moves",
        "slides 00.0 mm/s",
        "Sliding or creeping at the shown step, and the largest speed since it began",
        left=True,
    ),
    ui.Heading("slid [mm]", _DIGITS, "Distance slid so far, in total"),
)
_START = (
    ui.Heading("body", "", "", left=True),
    ui.Heading("touches", "", "Right-click to exclude the pair", left=True),
    ui.Heading("depth [mm]", _DIGITS, "Penetration before the first step"),
    ui.Heading("", "", "", left=True),
)


class BodiesPanel:
    """Content of the Bodies window."""

    def __init__(self) -> None:
        self._alone = False
        self._start: tuple[MjModel | None, str | None, list[PressingPair]] = (None, None, [])
        """Pairs that touch before the first step, with the model and keyframe they belong to."""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session = shell.app.session
        if session.diagnostics is None:
            ui.paragraph("Forces on bodies need MuJoCo and one environment.")
            return
        ui.heading("Bodies in contact")
        pairs = find_pressing_pairs(session.engine.model, session.engine.contact_data())
        if not pairs:
            ui.paragraph("Nothing touches now.")
        elif _begin("##pairs", _PAIRS, pairs):
            for pair in pairs:
                _show_names(shell, pair)
                for value in (pair.pressure, *pair.force.tolist()):
                    ui.number_cell(value)
                imgui.table_next_column()
                ui.text_right(str(pair.count))
                _show_motion(session, pair)
            imgui.end_table()
        self._show_forces(session)
        self._show_start(shell)

    def _show_forces(self, session: Session) -> None:
        assert session.diagnostics is not None
        body = session.explained_body
        if body is None:
            ui.paragraph("Nothing moves in this scene.")
            return
        alone = session.settings.gizmos.body_alone
        ui.heading(f"Forces on {session.diagnostics.body_name(body)}{'' if alone else ' and attached bodies'}")
        alone = ui.checkbox("alone", alone, "Without the bodies attached to it")
        session.settings.gizmos.body_alone = alone
        imgui.same_line()
        ui.dim_text("Double-click another body to see its forces")
        show_forces(session.diagnostics.forces(body, alone))
        support = session.diagnostics.support(body)
        if support is not None and not np.isnan(support.margin):
            where = "inside" if support.margin >= 0 else "outside"
            ui.dim_text(f"Centre of mass {1e3 * abs(support.margin):.3g} mm {where} the support polygon")

    def _show_start(self, shell: Shell) -> None:
        session = shell.app.session
        model, key = session.engine.model, session.key
        if self._start[:2] != (model, key):
            self._start = model, key, find_start_touches(model, key)
        touches = self._start[2]
        ui.heading("Touches at the start")
        if not touches:
            ui.paragraph("Nothing touches before the first step.")
        elif _begin("##start", _START, touches):
            for pair in touches:
                _show_names(shell, pair)
                ui.number_cell(1e3 * max(pair.depth, 0.0))
                imgui.table_next_column()
                relation = describe_relation(model, pair.bodies)
                ui.fitted_text(relation, imgui.get_content_region_avail().x)
            imgui.end_table()


def _begin(name: str, headings: Sequence[ui.Heading], pairs: Sequence[PressingPair]) -> bool:
    longest = max((each for pair in pairs for each in pair.names), key=len)[:_LONGEST]
    headings = [*(heading._replace(widest=longest) for heading in headings[:2]), *headings[2:]]
    flags = imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.row_bg
    if not imgui.begin_table(name, len(headings), flags):
        return False
    ui.table_headings(headings)
    return True


def _show_motion(session: Session, pair: PressingPair) -> None:
    """Draw how two bodies move against each other at the shown step, and how far they have slid so far."""
    friction, time = session.events.friction if session.events is not None else None, session.state_time
    keys = [int(pair_key(session.engine.model, np.array(side))) for side in pair.sides if min(side) >= 0]
    known = {} if friction is None else friction.motions
    motions = [[motion for motion in known.get(key, ()) if motion.begin <= time] for key in keys]
    now = [motion for each in motions for motion in each if time < motion.end]
    imgui.table_next_column()
    if now:
        motion = max(now, key=lambda motion: motion.speed)
        word = "slides" if motion.state is ContactState.SLIDING else "creeps"
        imgui.text_colored(warning_color(), f"{word} {1e3 * motion.speed:.3g} mm/s")
        ui.tooltip("Largest speed since it began")
    # Of a foot of several geoms the one that slid farthest.
    ways = [sum(motion.distance for motion in each if motion.state is ContactState.SLIDING) for each in motions]
    ui.number_cell(1e3 * max(ways, default=0.0))


def _show_names(shell: Shell, pair: PressingPair) -> None:
    """Draw the names of two bodies in a new row, with a menu to exclude the pair."""
    imgui.table_next_row()
    for i, name in enumerate(pair.names):
        imgui.table_next_column()
        text = ui.fit_text(name, imgui.get_content_region_avail().x)
        imgui.selectable(f"{ui.literal(text)}##{pair.bodies}{i}", False)
        if text != name:
            ui.tooltip(name)
        if imgui.begin_popup_context_item():
            ui.dim_text(" on ".join(pair.names))
            imgui.separator()
            show_exclude_entries(shell.app, pair.names)
            imgui.end_popup()


PANEL = Panel("Bodies", Dock.BOTTOM, BodiesPanel)
