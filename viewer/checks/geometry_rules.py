"""Rules about shapes: geoms that count twice, visual geoms that collide, and meshes that differ from their hulls."""

import math
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import read_names
from ..mjmodel.pairs import Obstacle, find_obstacles
from .finding import Finding, Fix, Number, Severity, length_text, listing
from .run import Run
from .subject import Subject

Values = NDArray[np.float64]
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_SAME = 1e-6
_VISUAL_GROUP, _COLLISION_GROUP = 2, 3
_MASS_FACTOR, _MASS_ERROR, _LEAST_REST = 1.5, 0.02, 0.1
_DENSITY = 1000.0
"""Default density of a geom in MuJoCo [kg/m^3]."""
_GHOST = 3e-3
_GHOSTS_MAX = 20
"""Largest number of contacts that are compared with triangles."""
_RAYS, _EMPTY, _OPENING, _OPENING_PART = 150, 0.4, 0.01, 0.15
_MESHES_MAX = 40


def duplicates(subject: Subject) -> Iterator[Finding]:
    """Yield geoms of one body that have the same shape at the same place and both collide."""
    model = subject.model
    able = np.flatnonzero(subject.able)
    if not len(able):
        return
    quaternions = model.geom_quat[able] * np.where(model.geom_quat[able, :1] < 0, -1.0, 1.0)
    exact = np.stack([model.geom_bodyid[able], model.geom_type[able], model.geom_dataid[able]], axis=1)
    near = np.concatenate([model.geom_size[able], model.geom_pos[able], quaternions], axis=1)
    keys = np.concatenate([exact, np.round(near / (10 * _SAME))], axis=1)
    order = np.lexsort(keys.T)
    twin = (keys[order][1:] == keys[order][:-1]).all(axis=1)
    found = []
    for place in np.flatnonzero(twin).tolist():
        one, other = sorted((int(able[order[place]]), int(able[order[place + 1]])))
        if np.abs(near[order[place]] - near[order[place + 1]]).max() < _SAME and _meet_alike(subject, one, other):
            found.append((one, other))
    if not found:
        return
    bodies = sorted({subject.bodies[model.geom_bodyid[one]] for one, _ in found})
    names = [f"{subject.geoms[one]} and {subject.geoms[other]}" for one, other in found]

    def propose() -> tuple[Fix | None, str]:
        copies = [other for _, other in found]
        edits, changed = subject.try_elements("geom", copies, {"contype": "0", "conaffinity": "0"})
        if changed is None:
            return None, ""
        left = next(iter(duplicates(changed)), None)
        before, after = len(subject.pairs), len(changed.pairs)
        # What is kept has to meet all that it met.
        kept, dropped = [one for one, _ in found], [other for _, other in found]
        still = subject.pairs[~np.isin(subject.pairs, dropped).any(axis=1)]
        if left is not None or after != len(still) or not np.isin(kept, still).all() or after >= before:
            return None, ""
        text = 'contype="0" conaffinity="0" on the second of each'
        return Fix(text, True, f"{before} pairs can collide", f"{after} pairs", edits), ""

    yield Finding(
        "duplicate-geoms",
        Severity.WARNING,
        f"{listing(names)}, of {listing(bodies)}, are the same shape at the same place, and both collide:"
        " contacts are doubled, each with half of the force.",
        'Remove one of them, or give it contype="0" conaffinity="0".',
        tuple(dict.fromkeys(subject.geoms[geom] for pair in found for geom in pair)),
        {"duplicates": Number(len(found))},
        place=subject.place("geom", found[0][1]),
        propose=propose,
        geoms=found[0],
    )


def _meet_alike(subject: Subject, one: int, other: int) -> bool:
    """Return True if two geoms collide with a common third one."""
    able = np.flatnonzero(subject.able)
    possible = [
        find_obstacles(subject.model, np.stack([np.full(len(able), geom), able], axis=1)) == Obstacle.NONE
        for geom in (one, other)
    ]
    if (possible[0] & possible[1]).any():
        return True
    # In a robot without its floor, bits decide what the two will meet.
    model = subject.model
    return not subject.has_ground and bool(
        model.geom_contype[one] & model.geom_contype[other]
        or model.geom_conaffinity[one] & model.geom_conaffinity[other]
    )


def visual_geoms(subject: Subject) -> Iterator[Finding]:
    """Yield visual geoms that collide."""
    model = subject.model
    meets = np.zeros(model.ngeom, bool)
    meets[np.unique(subject.pairs)] = True
    if not meets.any():
        return
    names = read_names(model, "geom")
    visual = np.array(["visual" in name.lower() for name in names], bool) & meets
    classes = _class_names(subject)
    if classes:
        visual |= np.array(["visual" in name.lower() for name in classes], bool) & meets
    for body in np.unique(model.geom_bodyid[meets & (model.geom_group == _COLLISION_GROUP)]).tolist():
        visual |= meets & (model.geom_bodyid == body) & (model.geom_group == _VISUAL_GROUP)
    geoms = np.flatnonzero(visual).tolist()
    if not geoms:
        return
    labels = [subject.geoms[geom] for geom in geoms]

    def propose() -> tuple[Fix | None, str]:
        edits, changed = subject.try_elements("geom", geoms, {"contype": "0", "conaffinity": "0"})
        if changed is None or (after := len(changed.pairs)) >= len(subject.pairs):
            return None, ""
        text = 'contype="0" conaffinity="0" on them'
        return Fix(text, False, f"{len(subject.pairs)} pairs can collide", f"{after} pairs", edits), ""

    yield Finding(
        "visual-geom-collides",
        Severity.WARNING,
        f"{listing(labels)} {'is' if len(labels) == 1 else 'are'} meant to be seen (by class, name or group), and"
        f" {'collides' if len(labels) == 1 else 'collide'}.",
        'Give them contype="0" conaffinity="0".',
        tuple(labels),
        {"geoms": Number(len(labels))},
        place=subject.place("geom", geoms[0]),
        propose=propose,
        geoms=(geoms[0],),
    )


def _class_names(subject: Subject) -> list[str]:
    """Return the name of the default class of every geom; empty if it is not known."""
    spec: Any = subject.spec
    if spec is None or len(spec.geoms) != subject.model.ngeom:
        return []
    return [getattr(geom.classname, "name", "") or "" for geom in spec.geoms]


def mass_twice(subject: Subject) -> Iterator[Finding]:
    """Yield bodies whose visual meshes add to the mass of their collision geoms."""
    model = subject.model
    seen_only = np.flatnonzero(~subject.able & (model.geom_type == _MESH) & (model.geom_dataid >= 0))
    if not len(seen_only):
        return
    spec: Any = subject.spec
    if spec is None or len(spec.geoms) != model.ngeom or len(spec.bodies) != model.nbody:
        return
    low, high = spec.compiler.inertiagrouprange
    found = []
    for body in np.unique(model.geom_bodyid[seen_only]).tolist():
        if spec.bodies[body].explicitinertial or not body:
            continue
        start = int(model.body_geomadr[body])
        geoms = range(start, start + int(model.body_geomnum[body]))
        masses = {g: _mass(subject, spec.geoms[g], g) for g in geoms if low <= model.geom_group[g] <= high}
        total = float(model.body_mass[body])
        # What the compiler found otherwise, such as by settotalmass, is not known part by part.
        if total <= 0 or abs(sum(masses.values()) - total) > _MASS_ERROR * total:
            continue
        # A mass or a density that the author has given is meant.
        added = [
            g for g in masses if g in seen_only and not spec.geoms[g].mass > 0 and _is_usual(spec.geoms[g].density)
        ]
        extra = sum(masses[g] for g in added)
        rest = total - extra
        # Where nearly all is of what is seen, the author has put the mass there.
        if total > _MASS_FACTOR * rest and rest > _LEAST_REST * total:
            found.append((body, total, rest, [g for g in added if masses[g] > 0]))
    if not found:
        return
    body, total, rest, _ = max(found, key=lambda each: each[1] / each[2])
    meshes = [geom for each in found for geom in each[3]]

    def propose() -> tuple[Fix | None, str]:
        edits, changed = subject.try_elements("geom", meshes, {"mass": "0"})
        if changed is None or (after := float(changed.model.body_mass[body])) >= total:
            return None, ""
        return Fix('mass="0" on it', False, f"{total:.3g} kg", f"{after:.3g} kg", edits), ""

    names = [subject.bodies[each[0]] for each in found]
    yield Finding(
        "mass-counted-twice",
        Severity.WARNING,
        f"{listing(names)} {'has' if len(names) == 1 else 'have'} the mass of visual meshes too:"
        f" {subject.bodies[body]} {total:.3g} kg instead of {rest:.3g} kg.",
        'Give meshes that do not collide mass="0", or the body an <inertial>.',
        tuple(names),
        {"mass": Number(total, "kg"), "without": Number(rest, "kg")},
        place=subject.place("body", body),
        propose=propose,
    )


def _is_usual(density: float) -> bool:
    """Return True for the density that MuJoCo uses if none is given."""
    return bool(abs(density - _DENSITY) < 1e-6 * _DENSITY)


def _mass(subject: Subject, spec_geom: Any, geom: int) -> float:
    """Return the mass that a geom gives to its body [kg]."""
    given = float(spec_geom.mass)
    if not math.isnan(given):
        return given
    model = subject.model
    shape, size, density = int(model.geom_type[geom]), model.geom_size[geom], float(spec_geom.density)
    kinds = mujoco.mjtGeom
    if shape == _MESH:
        triangles = mesh_triangles(subject, int(model.geom_dataid[geom]))
        return (
            density * abs(float(np.einsum("ij,ij->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])))) / 6
        )
    volume = {
        int(kinds.mjGEOM_SPHERE): 4 / 3 * math.pi * size[0] ** 3,
        int(kinds.mjGEOM_CAPSULE): math.pi * size[0] ** 2 * (2 * size[1] + 4 / 3 * size[0]),
        int(kinds.mjGEOM_ELLIPSOID): 4 / 3 * math.pi * float(np.prod(size)),
        int(kinds.mjGEOM_CYLINDER): 2 * math.pi * size[0] ** 2 * size[1],
        int(kinds.mjGEOM_BOX): 8 * float(np.prod(size)),
    }.get(shape, 0.0)
    return density * float(volume)


def mesh_triangles(subject: Subject, mesh: int) -> Values:
    """Return the triangles of a mesh [m], in the frame of its geoms, (faces, 3, 3)."""
    model = subject.model
    first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return _mesh_points(subject, mesh)[model.mesh_face[first : first + faces]]


def _mesh_points(subject: Subject, mesh: int) -> Values:
    """Return the vertices of a mesh [m], in the frame of its geoms, (n, 3)."""
    start, count = int(subject.model.mesh_vertadr[mesh]), int(subject.model.mesh_vertnum[mesh])
    return np.asarray(subject.model.mesh_vert[start : start + count], float)


def ghost_contact(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield contacts that have a force at a point where the mesh is not."""
    model = subject.model
    found: dict[int, tuple[float, int]] = {}
    looked = 0
    types = np.append(model.geom_type, -1)[run.geoms]
    rows = np.flatnonzero((run.normal > 0) & (types == _MESH).any(axis=1))
    # The strongest contact of each mesh says enough.
    for row in rows[np.argsort(-run.normal[rows], kind="stable")].tolist():
        for geom in run.geoms[row].tolist():
            if geom < 0 or model.geom_type[geom] != _MESH or geom in found or looked >= _GHOSTS_MAX:
                continue
            looked += 1
            away = _distance(mesh_triangles(subject, int(model.geom_dataid[geom])), _local(run, row, geom))
            found[geom] = away - max(0.0, -float(run.dist[row])) / 2, row
    ghosts = [(geom, away, row) for geom, (away, row) in found.items() if away > _GHOST]
    if not ghosts:
        return
    geom, away, row = max(ghosts, key=lambda each: each[1])
    names = [subject.geoms[each[0]] for each in ghosts]
    yield Finding(
        "ghost-contact",
        Severity.WARNING,
        f"{listing(names)} {'is' if len(names) == 1 else 'are'} pressed up to {length_text(away)} away from"
        f" {'its' if len(names) == 1 else 'their'} surface: a mesh collides as its convex hull.",
        "Divide the mesh into convex parts, or collide with boxes and capsules.",
        tuple(names),
        {"distance": Number(away, "m")},
        step=run.steps[int(run.at[row])],
        place=subject.place("geom", geom),
        geoms=tuple(run.geoms[row].tolist()),
    )


def _local(run: Run, row: int, geom: int) -> Values:
    """Return the position of a contact in the frame of one of its geoms at that instant [m], (3,)."""
    side = int(run.geoms[row, 1] == geom)
    rotation, origin = run.pose_of(row, side)
    point: Values = (run.positions[row] - origin) @ rotation
    return point


def _distance(triangles: Values, point: Values) -> float:
    """Return the distance of a point from the nearest of many triangles [m]."""
    a, b, c = triangles[:, 0] - point, triangles[:, 1] - point, triangles[:, 2] - point
    best = min(float((corner**2).sum(axis=1).min()) for corner in (a, b, c))
    for one, other in ((a, b), (b, c), (c, a)):
        edge = other - one
        part = np.clip(-(one * edge).sum(axis=1) / np.maximum((edge**2).sum(axis=1), 1e-30), 0, 1)
        best = min(best, float(((one + part[:, np.newaxis] * edge) ** 2).sum(axis=1).min()))
    normal = np.cross(b - a, c - a)
    area = (normal**2).sum(axis=1)
    height = (a * normal).sum(axis=1)
    foot = normal * (height / np.maximum(area, 1e-30))[:, np.newaxis]
    inside = np.ones(len(a), bool)
    for one, other in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(other - one, foot - one) * normal).sum(axis=1) >= 0
    inside &= area > 1e-30
    if inside.any():
        best = min(best, float((height[inside] ** 2 / area[inside]).min()))
    return math.sqrt(best)


def hull_differs(subject: Subject) -> Iterator[Finding]:
    """Yield meshes whose convex hull, which collides, is much larger than the mesh."""
    model = subject.model
    meets = np.zeros(model.ngeom, bool)
    meets[np.unique(subject.pairs)] = True
    geoms = np.flatnonzero(meets & (model.geom_type == _MESH))
    meshes = np.unique(model.geom_dataid[geoms]).tolist()[:_MESHES_MAX]
    hollow = []
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for mesh in meshes:
        geom = int(geoms[model.geom_dataid[geoms] == mesh][0])
        empty, opening, thinnest = _hollowness(subject, data, mesh, geom)
        if empty > _EMPTY and opening > max(_OPENING, _OPENING_PART * thinnest):
            hollow.append((opening, empty, geom))
    if not hollow:
        return
    hollow.sort(reverse=True)
    opening, empty, worst = hollow[0]
    names = [subject.geoms[geom] for _, _, geom in hollow]
    yield Finding(
        "hull-is-not-the-mesh",
        Severity.NOTE,
        f"{listing(names)} {'collides as a hull' if len(names) == 1 else 'collide as hulls'} much emptier than the"
        f" mesh: {subject.geoms[worst]} has openings of {length_text(opening)} ({empty:.0%} of its convex hull).",
        "Divide it into convex parts if something is to reach in there.",
        tuple(names),
        {"opening": Number(opening, "m"), "empty": Number(empty)},
        place=subject.place("geom", worst),
        geoms=(worst,),
    )


def _hollowness(subject: Subject, data: Any, mesh: int, geom: int) -> tuple[float, float, float]:
    """Return the open part of a mesh's hull, 0 to 1, the depth of the openings [m], and the hull's thinnest side
    [m]."""
    model = subject.model
    graph = int(model.mesh_graphadr[mesh])
    if graph < 0:
        return 0.0, 0.0, 1.0
    vertices, faces = model.mesh_graph[graph : graph + 2].tolist()
    start = graph + 2 + 2 * vertices + vertices + 3 * faces
    corners = model.mesh_graph[start : start + 3 * faces].reshape(-1, 3)
    points = _mesh_points(subject, mesh)
    triangles = points[corners]
    center = points[np.unique(corners)].mean(axis=0)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    kept = areas > 1e-14
    triangles, normals, areas = triangles[kept], normals[kept] / areas[kept, np.newaxis], areas[kept]
    if not len(areas):
        return 0.0, 0.0, 1.0
    inward = np.where(((triangles[:, 0] - center) * normals).sum(axis=1, keepdims=True) > 0, -normals, normals)
    random = np.random.default_rng(0)
    chosen = random.choice(len(areas), _RAYS, p=areas / areas.sum())
    shares = random.dirichlet((1, 1, 1), _RAYS)
    origins = (shares[:, :, np.newaxis] * triangles[chosen]).sum(axis=1)
    thinnest = float(np.ptp(points, axis=0).min())
    step = max(1e-4, 1e-3 * thinnest)
    rotation, origin = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
    gaps = np.empty(_RAYS)
    for i in range(_RAYS):
        direction = inward[chosen[i]]
        gap = mujoco.mj_rayMesh(
            model, data, geom, rotation @ (origins[i] - step * direction) + origin, rotation @ direction, None
        )
        # A ray that meets nothing passes through an opening, or along an edge.
        gaps[i] = thinnest if gap < 0 else max(0.0, gap - step)
    # Every face of the hull has a column of nothing under it, down to the mesh.
    volume = float((areas * np.abs(((triangles[:, 0] - center) * inward).sum(axis=1))).sum()) / 6
    empty = min(1.0, float(gaps.mean() * areas.sum() / 2) / max(volume, 1e-12))
    return empty, float(np.percentile(gaps, 95)), thinnest
