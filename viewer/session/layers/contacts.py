"""Draws the contacts that visible sensors report: points, and forces and torques as arrows."""

from functools import partial

import numpy as np

from ...render.glyphs import NORMAL, TANGENT0, TANGENT1, TORQUE, TOTAL
from ...render.style import arrow_length, sensor_color, torque_length
from ...settings import ColorMode
from ..contact_glyphs import Arrows, ContactArrow, DrawnContacts, SensorGlyphs, scaled_vectors
from ..layer import DrawContext, Layer, LegendEntry


def _reported(context: DrawContext) -> list[SensorGlyphs]:
    by_sensor = context.gizmos.color_mode is ColorMode.SENSOR
    glyphs = []
    for numbers, batch in context.session.shown_groups:
        # There may be ten thousand sensors, and their colours are rarely drawn.
        colors = [sensor_color(i) for i in numbers.tolist()] if by_sensor else [sensor_color(0)]
        glyphs.append(SensorGlyphs(numbers, batch, np.array(colors, np.float32).reshape(-1, 4)))
    return glyphs


def _normal(contacts: DrawnContacts) -> Arrows | None:
    return None if contacts.axis_arrows is None else (contacts.pos, contacts.axis_arrows[0])


def _tangent(axis: int, contacts: DrawnContacts) -> Arrows | None:
    return None if contacts.axis_arrows is None else (contacts.lifted, contacts.axis_arrows[axis])


def _force(contacts: DrawnContacts) -> Arrows | None:
    force, scale = contacts.batch.force_world, contacts.scale
    if force is None:
        return None
    length = partial(arrow_length, scale=scale)
    return contacts.pos, scaled_vectors(force, contacts.smallest, length, contacts.sizes)


def _torque(contacts: DrawnContacts) -> Arrows | None:
    torque, scale = contacts.batch.torque_world, contacts.scale
    if torque is None:
        return None
    # The smallest force, at the lever at which torques draw as long as forces.
    smallest = contacts.smallest * scale.force / scale.torque
    length = partial(torque_length, scale=scale)
    return contacts.pos, scaled_vectors(torque, smallest, length, contacts.sizes)


_NORMAL = ContactArrow("normal", "normal force", lambda colors: colors.normal, _normal, False, NORMAL)
_TANGENTS = (
    ContactArrow("tangent0", "tangent 0", lambda colors: colors.tangent0, partial(_tangent, 1), False, TANGENT0),
    ContactArrow("tangent1", "tangent 1", lambda colors: colors.tangent1, partial(_tangent, 2), False, TANGENT1),
)
# A net contact's components lie along the world's axes, not along a surface: only their sum has a meaning.
_NET = ContactArrow("net", "net force", lambda colors: colors.total, _force, True, TOTAL)
_TOTAL = ContactArrow("total", "total force", lambda colors: colors.total, _force, None, TOTAL)
_TORQUE = ContactArrow("torque", "torque", lambda colors: colors.torque, _torque, None, TORQUE)


def force_arrows(net: bool) -> tuple[ContactArrow, ...]:
    """Return the arrows of a contact's force, net or not; the curves of a sensor use the same names and colours."""
    return (_NET,) if net else (_NORMAL, *_TANGENTS)


LAYERS = [
    Layer(contacts=_reported),
    Layer(
        "points",
        "Points",
        "White spheres at contacts (C)",
        point=lambda colors: colors.point,
        legend=lambda context: [LegendEntry(context.colors.point, "contact", False)],
    ),
    Layer("forces", "Forces", "Force arrows (F)"),
    Layer(
        "normal",
        "Normal",
        "Normal force, green. P switches between components and total",
        needs="forces",
        arrows=(_NORMAL,),
    ),
    Layer(
        "tangents",
        "Tangents",
        "Friction along tangent 0, red, and tangent 1, blue",
        needs="forces",
        arrows=_TANGENTS,
    ),
    Layer("total", "Total", "Total contact force as one arrow", needs="forces", arrows=(_TOTAL,)),
    Layer(needs="forces", unless="total", arrows=(_NET,)),
    Layer(
        "torque",
        "Torque",
        "Contact torque (condim 4 and 6, and net contacts)",
        needs="forces",
        arrows=(_TORQUE,),
    ),
]
