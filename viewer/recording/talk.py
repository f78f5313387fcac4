"""Frames for an audience: one bold arrow per contact, friction cones, few words."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ..render.glyphs import ConeColumns, Glyphs
from ..render.style import Gauge
from ..session.layer import LegendEntry
from ..session.session import Session
from ..settings import GizmoSettings

_WIDTH, _POINT_SIZE, _LENGTH = 2.2, 1.7, 1.25
"""Factors on shaft diameter, sphere size and arrow length: a projector's pixels are few and pale."""
_TOGETHER = 70.0
"""Distance on screen below which contacts share a label, for the sum of their forces [measures]."""
_LEAST = 0.05
"""Fraction of the strongest force below which a force has no label."""
_MOST = 8
_WORDS = {"sticking": "cone: sticks", "sliding": "cone: slips", "creeping": "cone: creeps"}
"""Legend entries that are not arrows, in words for a first-time audience."""

Color = tuple[float, float, float]
ForceLabel = tuple[float, float, float, int]
"""x and y in the frame [px], force [N], and number of contacts that it sums."""


def talk_gizmos(gizmos: GizmoSettings) -> GizmoSettings:
    """Return the drawing settings of a talk, with the user's colours and scale."""
    return dataclasses.replace(
        gizmos,
        points=True,
        forces=True,
        normal=False,
        tangents=False,
        total=True,
        torque=False,
        cones=True,
        balance=False,
        dropped=False,
        labels=False,
        width=_WIDTH * gizmos.width,
        point_size=_POINT_SIZE * gizmos.point_size,
        length=_LENGTH * gizmos.length,
    )


def scene_title(session: Session) -> str:
    """Return the scene's name; for a file `scene.xml`, its model's name, not its folder's, which may be private."""
    path = session.engine.path
    if path is None:
        return ""
    name = path.stem
    if name == "scene":
        model = bytes(session.engine.model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        # MuJoCo's name of a model without one says nothing.
        name = model.removeprefix("MuJoCo Model").removesuffix("scene").strip() or name
    return name.replace("_", " ")


def cone_colors(glyphs: Glyphs) -> set[Color]:
    """Return the colours of the cones among glyphs."""
    colors = np.round(glyphs.cones[:, ConeColumns.COLOR], 2).tolist()
    return {(red, green, blue) for red, green, blue, _ in colors}


def talk_entries(entries: list[LegendEntry], seen: set[Color] | None) -> list[LegendEntry]:
    """Return the entries of a legend that an audience needs: cones, and arrows that are not faint.

    `seen`: colours of the cones that the pictures have shown; None if they are not known.
    """

    def is_shown(entry: LegendEntry) -> bool:
        if entry.text in _WORDS:
            red, green, blue = np.round(np.array(entry.color[:3], np.float32), 2).tolist()
            return seen is None or (red, green, blue) in seen
        return entry.is_arrow and entry.color[3] == 1.0

    kept = [entry for entry in entries if is_shown(entry)]
    return [entry._replace(text=_WORDS.get(entry.text, entry.text)) for entry in kept]


def force_labels(session: Session, size: tuple[int, int]) -> list[ForceLabel]:
    """Return the labels of the forces in a picture of a size [px], the strongest first.

    Contacts close to each other on screen have one label, for the sum of their forces.
    """
    gauge = session.force_scale.last
    groups = [(group, group.batch.pos, group.batch.force_world) for group in session.shown_groups]
    known = [
        (pos[g.batch.filled], force[g.batch.filled])
        for g, pos, force in groups
        if pos is not None and force is not None
    ]
    if gauge is None or not known:
        return []
    points, forces = (np.concatenate(arrays) for arrays in zip(*known, strict=True))
    # A contact that two sensors report counts once.
    _, once = np.unique(np.round(points, 7), axis=0, return_index=True)
    once = once[np.isfinite(forces[once]).all(axis=1)]
    points, forces = points[once], forces[once]
    x, y, depths = _places(gauge, points, size)
    strengths = np.linalg.norm(forces, axis=1)
    left_over = (depths > 0) & (x >= 0) & (x < size[0]) & (y >= 0) & (y < size[1])
    left_over &= strengths > _LEAST * strengths.max(initial=0.0)
    reach = _TOGETHER * gauge.eye.unit * size[1] / gauge.eye.viewport[3]
    labels = list[ForceLabel]()
    while left_over.any() and len(labels) < _MOST:
        strongest = int(np.argmax(np.where(left_over, strengths, -1.0)))
        near = left_over & (np.hypot(x - x[strongest], y - y[strongest]) < reach)
        left_over &= ~near
        force = float(np.linalg.norm(forces[near].sum(axis=0)))
        labels.append((float(x[near].max()), float(y[near].mean()), force, int(near.sum())))
    return labels


def hidden_share(session: Session, size: tuple[int, int], box: tuple[float, float, float, float]) -> float:
    """Return the fraction of the moving geoms that a box hides in a picture of a size [px].

    `box`: left, top, right and bottom [px].
    """
    gauge, geoms = session.force_scale.last, session.view.moving_geoms
    if gauge is None or not len(geoms):
        return 0.0
    model, points = session.engine.model, session.engine.data.geom_xpos[geoms]
    x, y, depths = _places(gauge, points, size)
    radii = 0.7 * model.geom_rbound[geoms] / gauge.eye.matrices.pixel_size(points, gauge.eye.viewport)
    away = np.hypot(x - np.clip(x, box[0], box[2]), y - np.clip(y, box[1], box[3]))
    return float(((depths > 0) & (away < radii)).mean())


def _places(
    gauge: Gauge, points: NDArray[np.float64], size: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return x and y of world points (n, 3) in a picture of a size, from its top left [px], and their depths [m]."""
    left, bottom, width, height = gauge.eye.viewport
    pixels, depths = gauge.eye.matrices.project(points, gauge.eye.viewport)
    return (pixels[:, 0] - left) * size[0] / width, (bottom + height - pixels[:, 1]) * size[1] / height, depths


def force_words(force: float, count: int = 1) -> str:
    """Return a force [N] as text with its unit, in few digits, to be read while it changes; `count` contacts share
    it."""
    if count > 1:
        # Each of them has an arrow of its own.
        return f"{force_words(force)} in {count}"
    if force >= 1000:
        return f"{force / 1000:.1f} kN"
    return f"{force:.0f} N" if force >= 10 else f"{force:.1f} N" if force >= 0.1 else f"{1000 * force:.0f} mN"
