"""Draws touch sensors: their axes as arrows, and the volumes of their sites."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import shape_name
from ..mjmodel.types import MjModel
from ..touch.touch_sensors import TouchSensors
from .glyphs import NO_OWNER, ArrowColumns, Glyphs
from .style import RGBA, GlyphScale

AXIS_COLORS: tuple[RGBA, RGBA, RGBA] = ((0.98, 0.47, 0.70, 1.0), (0.80, 0.88, 0.28, 1.0), (0.28, 0.84, 0.92, 1.0))
"""Colours of x, y and z: near the usual red, green and blue of axes, but different from the colours of forces."""
_REACH = 9.0
"""Length of an axis outside its site, in radii of a contact's sphere."""
_WIDTH = 0.6
"""Shaft diameter of an axis, as a fraction of a force arrow's: axes must not look like forces."""
_VOLUME: tuple[float, float, float] = (0.95, 0.86, 0.60)
_ALPHA, _TOUCHED_ALPHA = 0.16, 0.42


def touch_axes(touch: TouchSensors, scale: GlyphScale) -> Glyphs:
    """Return arrows from the sites of visible sensors along their axes, for sensors that have axes."""
    rows = []
    for sensor in touch:
        if not sensor.shows_axes:
            continue
        position, rotation = touch.pose(sensor.name)
        sizes = scale.sizes(position)
        reach = _REACH * sizes.radius[0] + _half_size(touch.model, sensor.site)
        for axis, color in enumerate(AXIS_COLORS):
            vector = reach[axis] * rotation[:, axis]
            rows.append([*position, _WIDTH * sizes.width[0], *vector, 0.0, *color])
    arrows = np.array(rows, np.float32).reshape(-1, ArrowColumns.COUNT)
    return Glyphs(arrows=arrows, arrow_owner=np.full((len(rows), 3), NO_OWNER, np.int32))


def add_touch_volumes(scene: Any, touch: TouchSensors) -> None:
    """Add the sites of the visible sensors to an updated `MjvScene`: translucent, and more opaque if something touches.

    MuJoCo draws sites too, but in their own colour and group, and often not at all.
    """
    model, data = touch.model, touch.data
    for sensor in touch:
        site = sensor.site
        if not sensor.visible or site is None or scene.ngeom >= scene.maxgeom:
            continue
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        position, rotation = data.site_xpos[site], data.site_xmat[site].reshape(3, 3)
        mesh = int(model.site_dataid[site]) if shape_name(model.site_type[site]) == "mesh" else -1
        if mesh >= 0:
            # MuJoCo moves a mesh to its centre of mass and principal axes, its site not.
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, model.mesh_quat[mesh])
            position, rotation = position + rotation @ model.mesh_pos[mesh], rotation @ turn.reshape(3, 3)
        color = np.array([*_VOLUME, _TOUCHED_ALPHA if sensor.found else _ALPHA], np.float32)
        mujoco.mjv_initGeom(geom, model.site_type[site], model.site_size[site], position, rotation.ravel(), color)
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
        geom.emission, geom.specular = 0.2, 0.0
        # Even numbers are meshes, odd ones their hulls.
        geom.dataid = 2 * mesh if mesh >= 0 else -1


def _half_size(model: MjModel, site: int | None) -> NDArray[np.float64]:
    """Return half of the size of a site along its axes [m], (3,); zero without a site."""
    if site is None:
        return np.zeros(3)
    shape, size = shape_name(model.site_type[site]), model.site_size[site]
    if shape == "sphere":
        return np.full(3, size[0])
    if shape in ("capsule", "cylinder"):
        cap = size[0] if shape == "capsule" else 0.0
        return np.array([size[0], size[0], size[1] + cap])
    return np.array(size)
