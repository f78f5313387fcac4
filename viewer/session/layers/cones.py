"""Draws friction cones: how far a contact's force may lean before it slips, in the colour of its state."""

import numpy as np
from numpy.typing import NDArray

from ...render.glyphs import LARGEST, ConeColumns, Glyphs
from ...render.style import GlyphScale, PaletteColors, arrow_length
from ...sensors.friction import Cone, ContactState, FrictionCones
from ...settings import GizmoSettings
from ..layer import DrawContext, Layer, LegendEntry

_RING = 2.2
"""Radius of the ring around an open contact, in radii of its sphere."""


def build_cones(
    index: int,
    cones: FrictionCones,
    normal_forces: NDArray[np.floating],
    settings: GizmoSettings,
    scale: GlyphScale,
    colors: PaletteColors,
) -> Glyphs:
    """Return the cones of one sensor's contacts. `normal_forces` [N], (k,); a cone's index is its slot.

    The arrow of the normal force ends in the plane of the rim: the whole force lies inside the cone while the contact
    sticks and on it when it slides. A contact without friction has no cone, an open one a ring of fixed size.
    """
    is_open = cones.states == ContactState.OPEN
    drawn_height = np.where(np.abs(normal_forces) >= settings.min_force, arrow_length(normal_forces, scale), 0.0)
    sizes = scale.sizes(cones.apex)
    height = np.where(is_open, 0.0, sizes.arrow_lengths(drawn_height, cones.axis))
    half_widths = np.where(is_open[:, None], _RING * sizes.radius[:, None], cones.friction * height[:, None])
    values = np.concatenate([cones.apex, cones.axis, cones.tangent0, half_widths], axis=1)
    # NaN, for friction that is not known, lies outside.
    drawn = np.flatnonzero((np.abs(values) < LARGEST).all(axis=1) & (half_widths > 0).any(axis=1))
    by_state = np.array([colors.open, colors.sticking, colors.sliding, colors.sliding, colors.creeping], np.float32)
    rows = np.zeros((len(drawn), ConeColumns.COUNT), np.float32)
    rows[:, ConeColumns.APEX], rows[:, ConeColumns.HEIGHT] = cones.apex[drawn], height[drawn]
    rows[:, ConeColumns.AXIS], rows[:, ConeColumns.TANGENT0] = cones.axis[drawn], cones.tangent0[drawn]
    rows[:, [ConeColumns.HALF_WIDTH0, ConeColumns.HALF_WIDTH1]] = half_widths[drawn]
    rows[:, ConeColumns.IS_PYRAMID] = (cones.cone is Cone.PYRAMIDAL) & ~is_open[drawn]
    rows[:, ConeColumns.COLOR] = by_state[cones.states[drawn]]
    owner = np.column_stack([np.full(len(drawn), index), drawn]).astype(np.int32)
    return Glyphs(cones=rows, cone_owner=owner)


def unique_cones(glyphs: Glyphs) -> Glyphs:
    """Return cones alone, each cone once: a contact that two sensors share would have two, which look denser."""
    _, first = np.unique(glyphs.cones, axis=0, return_index=True)
    first.sort()
    return Glyphs(cones=glyphs.cones[first], cone_owner=glyphs.cone_owner[first])


def _contact_cones(context: DrawContext) -> Glyphs | None:
    """Return the friction cones of the visible sensors' contacts."""
    engine = context.session.engine
    if context.session.diagnostics is None:
        return None
    parts = []
    for i, sensor in context.shown:
        # Friction is known of the newest step only, whichever moment the arrows show.
        batch = engine.contacts(sensor.name)
        cones = context.session.cones(batch)
        if cones is not None and batch.force is not None:
            normal_forces = batch.force[batch.filled, 0]
            parts.append(build_cones(i, cones, normal_forces, context.gizmos, context.scale, context.colors))
    return unique_cones(Glyphs.concat(parts))


def _legend(context: DrawContext) -> list[LegendEntry]:
    if context.session.diagnostics is None or False not in context.nets:
        return []
    return [
        LegendEntry(context.colors.sticking, "sticking", False),
        LegendEntry(context.colors.sliding, "sliding", False),
        LegendEntry(context.colors.creeping, "creeping", False),
        LegendEntry(context.colors.open, "contact without force", False),
    ]


LAYERS = [
    Layer(
        "cones",
        "Friction cones",
        "Friction cone of each contact in the newest step: inside the rim the contact\nsticks or creeps, on the rim "
        "it slides",
        own_row=True,
        glyphs=_contact_cones,
        legend=_legend,
    )
]
