"""Contacts and bodies under the mouse, labels of contacts, and the menu of a body."""

import math
import time
from bisect import insort
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui
from numpy.typing import NDArray

from ...app.recorder import Label
from ...mjmodel.names import bodies_of, body_names
from ...render.camera import CameraMatrices
from ...render.glyphs import Glyphs, pick_glyph
from ...render.style import palette_colors
from ...render.view import Pick
from ...sensors.contacts import ContactBatch
from ...sensors.friction import ContactState
from ...session.session import Highlight, Session
from .. import widgets as ui
from ..shell import Shell
from ..viewport import RIGHT, Viewport
from .explanations import show_exclude_entries

_TOLERANCE = 4.0
"""Largest distance between the mouse and a glyph that it points at [px]."""
_LABEL_OFFSET = 8
_MOST_LABELS = 200
_FARTHEST = 10
"""Largest distance of a label below its contact, in lines of text: farther down its contact would not be clear."""
_TOGETHER = 2.5
"""Least distance of two contacts of a sensor that have a label each, in lines of text."""
_MOST_PLACES = 50
"""Largest number of labels of a sensor that are tried when a further contact is joined with a label."""
_MOST_STATES = 30
"""Largest number of sensors for which labels show whether contacts slide or creep."""
_WORDS = ("", " creeps", " slides")
_Contact = tuple[int, float, float, Sequence[float], int]
"""Index of the sensor, x and y in the frame [px], force [N], and index in `_WORDS`."""
_POPUP = "##body"


class BodyMenu:
    """Menu of a body. It opens at the mouse after a right click, unless that becomes a double click."""

    def __init__(self) -> None:
        self.pick: Pick | None = None
        """Geom and body that was clicked; None at first."""
        self._contact: Highlight | None = None
        """Contact that the mouse pointed at."""
        self._due = 0.0
        """Time at which the menu opens, on the monotonic clock [s]; 0 for never."""
        self._double = False

    def point(self, shell: Shell, viewport: Viewport, scene_pass: Any) -> None:
        """Notice a right click on a body. Call it once a frame."""
        if imgui.is_mouse_clicked(RIGHT):
            self._due, self._double = 0.0, imgui.is_mouse_double_clicked(RIGHT)
        if viewport.is_clicked(RIGHT) and not self._double and not imgui.get_io().key_ctrl:
            pick = viewport.pick(shell.app.session, scene_pass)
            if pick is not None and pick.body > 0:
                self.pick, self._contact = pick, shell.app.session.highlight
                self._due = time.monotonic() + imgui.get_io().mouse_double_click_time

    def show(self, shell: Shell) -> None:
        """Draw the menu while it is open. Call it once a frame."""
        if 0 < self._due <= time.monotonic():
            self._due = 0.0
            imgui.open_popup(_POPUP)
        if imgui.begin_popup(_POPUP):
            self._show_entries(shell)
            imgui.end_popup()

    def _show_entries(self, shell: Shell) -> None:
        pick, session = self.pick, shell.app.session
        names = body_names(session.engine.model)
        if pick is None or pick.body >= len(names):
            imgui.close_current_popup()
            return
        view = session.view
        ui.dim_text(names[pick.body])
        imgui.separator()
        ui.menu_item("Select", partial(view.select, pick), "Double click")
        if imgui.menu_item_simple("Pull", "Ctrl+right drag"):
            view.select(pick)
            shell.app.notices.add(f"{names[pick.body]} selected: Ctrl+right drag pulls it")
        ui.tooltip("Select the body; then Ctrl+right drag pulls it, Ctrl+left drag turns it")
        ui.menu_item("Pull in a branch...", partial(shell.branch_here, "force", names[pick.body]))
        ui.tooltip("Re-simulate from this step with the same inputs and a force on the body")
        ui.menu_item("Centre the view here", partial(view.center, pick.point), "Right double click")
        ui.menu_item("Track", partial(view.track, pick.body), "Ctrl+right double click")
        imgui.separator()
        ui.menu_item("Make a sensor here...", partial(shell.edit_new_sensor, pick))
        ui.tooltip("Make a contact sensor for the clicked geom, in the editor")
        if (contact := self._contact) is not None and session.engine.sensors.has(contact.sensor):
            geoms = session.details(contact.sensor).geoms
            bodies = bodies_of(session.engine.model, geoms[contact.slot]) if contact.slot < len(geoms) else None
            if bodies is not None:
                imgui.separator()
                ui.dim_text(" on ".join(geoms[contact.slot]))
                show_exclude_entries(shell.app, bodies)


def point_at(session: Session, viewport: Viewport, glyphs: Glyphs, matrices: CameraMatrices) -> Highlight | None:
    """Return the contact under the mouse. A click on it selects the contact and its sensor."""
    if not viewport.hovered or viewport.dragging:
        return None
    tolerance = _TOLERANCE * imgui.get_io().display_framebuffer_scale.x
    owner = pick_glyph(glyphs, matrices, viewport.pixels, *viewport.mouse_pixel, tolerance)
    if owner is None or owner[0] < 0:
        return None
    component = owner[2] if len(owner) > 2 and owner[2] < 3 else None
    pointed = Highlight(session.engine.sensors[owner[0]].name, owner[1], component)
    if viewport.is_clicked():
        session.selected = pointed.sensor
        session.picked = (pointed.sensor, pointed.slot)
    return pointed


def show_pointed(session: Session, pointed: Highlight | None) -> None:
    """Draw a tooltip for the contact under the mouse."""
    if pointed is None or not session.engine.sensors.has(pointed.sensor):
        return
    batch = session.reading(pointed.sensor).batch
    if pointed.slot >= len(batch.filled) or not batch.filled[pointed.slot] or batch.force is None:
        return
    first, second = session.details(pointed.sensor).geoms[pointed.slot]
    axes = ("F_x", "F_y", "F_z") if batch.in_world_frame else ("F_n", "F_t0", "F_t1")
    forces = "  ".join(
        f"{axis} {ui.format_number(float(value))}" for axis, value in zip(axes, batch.force[pointed.slot], strict=True)
    )
    if imgui.begin_tooltip():
        imgui.text_unformatted(f"{pointed.sensor}, slot {pointed.slot}")
        if first or second:
            imgui.text_unformatted(f"{first} on {second}")
        with ui.number_font():
            imgui.text_unformatted(f"{forces}  N")
            if batch.dist is not None and not batch.in_world_frame:
                imgui.text_unformatted(f"distance {ui.format_number(1000 * float(batch.dist[pointed.slot]))} mm")
        imgui.end_tooltip()


def contact_labels(session: Session, viewport: Viewport, matrices: CameraMatrices) -> tuple[list[Label], int]:
    """Return labels with the force of each contact in view, and the number of labels if all had room.

    Labels that would cover each other are moved below each other.
    """
    if not session.settings.gizmos.labels:
        return [], 0
    scale = imgui.get_io().display_framebuffer_scale.x
    with ui.number_font():
        letter = imgui.calc_text_size("0")
    line = letter.y * scale
    wanted = _wanted_labels(session, viewport, matrices, _LABEL_OFFSET * scale, _TOGETHER * line)
    placed = spread_labels(wanted[:_MOST_LABELS], letter.x * scale, line, _FARTHEST * line)
    # Of a crowd some may have moved down out of the picture.
    return [label for label in placed if label[1] < viewport.pixels[3]], len(wanted)


def _wanted_labels(
    session: Session, viewport: Viewport, matrices: CameraMatrices, offset: float, reach: float
) -> list[Label]:
    """Return the labels of all contacts in view, the strongest first, without duplicates.

    Args:
        session: Session with the contacts.
        viewport: Rectangle of the scene.
        matrices: Camera.
        offset: Distance of a label from its contact [px].
        reach: Contacts of a sensor closer than this [px] share a label with the size of their summed force.
    """
    groups = [
        (group, pos, force)
        for group in session.shown_groups
        if (pos := group.batch.pos) is not None and (force := _comparable(group.batch)) is not None
    ]
    if not groups:
        return []
    places = np.concatenate([np.repeat(group.numbers, group.batch.filled.sum(axis=-1)) for group, _, _ in groups])
    order = np.argsort(places, kind="stable")
    positions = np.concatenate([pos[group.batch.filled] for group, pos, _ in groups])[order]
    forces = np.concatenate([force[group.batch.filled] for group, _, force in groups])[order]
    pixels, depths = matrices.project(positions, viewport.pixels)
    sizes = np.linalg.norm(forces, axis=-1)
    left, bottom, width, height = viewport.pixels
    x, y = pixels[:, 0] - left, bottom + height - pixels[:, 1]
    seen = (depths > 0) & (x >= 0) & (x < width) & (y >= 0) & (y < height)
    seen &= sizes >= session.settings.gizmos.min_force
    # As many decimals as the scale asks for, so that a text keeps its width while the force changes.
    unit = session.scale_bar.force
    decimals = min(max(3 - math.floor(math.log10(unit)), 0), 6) if unit > 0 else 2
    strongest = np.argsort(-sizes[seen], kind="stable")
    moves = _motions(session, places[order])
    columns = (column[seen][strongest].tolist() for column in (places[order], x, y, forces, moves))
    joined = _join_near(zip(*columns, strict=True), reach)
    parts = (f" in {count}" if count > 1 else "" for *_, count in joined)
    texts = (
        f"{size:.{decimals}f} N{part}{_WORDS[move]}" for (_, _, size, move, _), part in zip(joined, parts, strict=True)
    )
    labels = ((x + offset, y, text, y) for (x, y, *_), text in zip(joined, texts, strict=True))
    return list(dict.fromkeys(labels))


def _motions(session: Session, sensors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the index in `_WORDS` for each contact. `sensors`: index of each contact's sensor, sorted."""
    moves = np.zeros(len(sensors), np.intp)
    friction = None if session.events is None else session.events.friction
    numbers, firsts = np.unique(sensors, return_index=True)
    if friction is None or len(numbers) > _MOST_STATES:
        return moves
    for number, first in zip(numbers.tolist(), firsts.tolist(), strict=True):
        cones = session.cones(session.engine.contacts(session.engine.sensors[number].name))
        if cones is not None:
            states = cones.states[: int((sensors == number).sum())]
            moves[first : first + len(states)] = np.select(
                [states == ContactState.SLIDING, states == ContactState.CREEPING], [2, 1]
            )
    return moves


def _comparable(batch: ContactBatch) -> NDArray[np.floating[Any]] | None:
    """Return the forces of contacts in the world frame if it is known, else as reported [N], (..., slots, 3)."""
    return batch.force if batch.force_world is None else batch.force_world


def _join_near(rows: Iterable[_Contact], reach: float) -> list[tuple[float, float, float, int, int]]:
    """Join each contact with an earlier one of its sensor that is closer than `reach` [px], and sum their forces.

    Returns x and y [px], size of the force [N], index in `_WORDS` and number of contacts, in the given order.
    """
    found: dict[int, list[list[Any]]] = {}
    joined = []
    for sensor, x, y, (fx, fy, fz), move in rows:
        group = found.setdefault(sensor, [])
        for each in group[:_MOST_PLACES]:
            if abs(x - each[1]) < reach and abs(y - each[2]) < reach:
                each[0], each[3], each[4], each[5] = max(each[0], x), each[3] + fx, each[4] + fy, each[5] + fz
                each[6], each[7] = max(each[6], move), each[7] + 1
                break
        else:
            group.append(new := [x, x, y, fx, fy, fz, move, 1])
            joined.append(new)
    return [(right, y, math.hypot(*force), int(move), int(count)) for right, _, y, *force, move, count in joined]


def spread_labels(labels: list[Label], letter: float, line: float, farthest: float = math.inf) -> list[Label]:
    """Return the labels without duplicates, moved down where they would cover another one.

    Args:
        labels: x, y, text and y of the contact of each label [px].
        letter: Width of a letter [px].
        line: Height of a line [px].
        farthest: Labels that would have to move more than this [px] are left out.
    """
    placed: list[Label] = []
    taken: list[tuple[float, float, float]] = []
    """Top, left and right of the placed labels, sorted from the top."""
    for x, place, text, contact in sorted(set(labels), key=lambda label: label[1]):
        y = place
        end = x + letter * (len(text) + 0.5)
        # One that has moved down below a label meets none of those above it again.
        for top, left, right in taken:
            if left < end and x < right and top - line < y < top + line:
                y = top + line
        if y - place > farthest:
            continue
        placed.append((x, y, text, contact))
        insort(taken, (y, x, end))
    return placed


def show_labels(session: Session, viewport: Viewport, labels: list[Label]) -> None:
    """Draw labels beside contacts; those of sliding and creeping contacts have the colour of their friction cones."""
    if not labels:
        return
    scale = imgui.get_io().display_framebuffer_scale
    draw = imgui.get_background_draw_list()
    left, top, right, bottom = viewport.rect
    draw.push_clip_rect(ImVec2(left, top), ImVec2(right, bottom))
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    inks = {
        word: imgui.color_convert_float4_to_u32(ImVec4(0.5 + 0.5 * red, 0.5 + 0.5 * green, 0.5 + 0.5 * blue, 1.0))
        for word, (red, green, blue, _) in zip(_WORDS[1:], (colors.creeping, colors.sliding), strict=True)
    }
    with ui.number_font():
        middle = 0.5 * imgui.get_text_line_height()
        for x, y, text, contact in labels:
            place = ImVec2(left + x / scale.x, top + y / scale.y)
            if y != contact:
                # It has moved: a line leads back to the contact.
                ends = ImVec2(place.x - _LABEL_OFFSET, top + contact / scale.y), ImVec2(place.x - 2, place.y + middle)
                draw.add_line(*ends, _color(0.0, 0.6), 2.5)
                draw.add_line(*ends, _color(1.0, 0.8), 1.0)
            word = next((word for word in inks if text.endswith(word)), None)
            _outlined(draw, place, _color(1.0, 1.0) if word is None else inks[word], text)
    draw.pop_clip_rect()


def _outlined(draw: imgui.ImDrawList, place: ImVec2, ink: int, text: str) -> None:
    """Draw text with an outline, readable on any background."""
    dark = _color(0.0, 0.75)
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        draw.add_text(ImVec2(place.x + dx, place.y + dy), dark, text)
    draw.add_text(place, ink, text)


def _color(grey: float, alpha: float) -> int:
    return imgui.color_convert_float4_to_u32(ImVec4(grey, grey, grey, alpha))
