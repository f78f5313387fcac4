"""A session's steps to a Rerun recording: shapes, arrows as in the window, curves of force and touch, events."""

import errno
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import ContactSensor
from ..engines.mujoco.names import geom_names
from ..engines.touch import SceneTouch
from ..render.scale import arrow_length, palette_colors
from ..render.touch import AXIS_COLORS
from ..sensors.contacts import Array, ContactBatch, cross
from ..sensors.event_log import LogEntry
from ..sensors.events import EventKind
from ..session import Session
from ..settings import Reduce
from .event_table import SeenEvent
from .instants import Instant, running_touches, shown_sensors
from .patches import Color, rgba

_STEPS = 256
"""Steps that are sent at once."""
_POSE_SECONDS = 1 / 60
"""Simulated time between two poses of the scene's shapes; contacts come at every step."""
_ROOM = 1_000_000
"""Free bytes on the disk without which no recording is begun."""
_TIME = "simulation"
_COMPONENTS = ("normal", "tangent0", "tangent1")
_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)
"""MuJoCo's kinds of geoms."""
_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
_TEXTURED: Color = (110, 112, 114, 255)
_TOUCH: Color = (224, 226, 229, 255)
"""Of a touch sensor with one value."""
_HIDDEN_GROUP = 3
"""Geoms of this group and above are not drawn by default, in MuJoCo and here."""


class RerunWriter:
    """Writes a recording that opens in Rerun's viewer with a layout of its own."""

    def __init__(self, path: Path, session: Session) -> None:
        # Rerun would wait for ever for room for the first bytes.
        if shutil.disk_usage(path.parent).free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        # It logs what goes wrong later; we tell it, in one line.
        os.environ.setdefault("RUST_LOG", "off")
        import rerun

        self._rerun: Any = rerun
        self._session = session
        self._colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
        self._sensors = shown_sensors(session)
        self._touches = running_touches(session)
        self._instants: list[Instant] = []
        self._poses: list[tuple[float, Array, Array]] = []
        self._next_pose = -np.inf
        name = Path(str(getattr(session.engine, "path", None) or "scene")).stem
        self._stream = self._rerun.RecordingStream("contact-viewer", recording_id=f"contact-viewer-{name}")
        self._stream.save(path, default_blueprint=self._blueprint())
        self._stream.send_recording_name(name)
        self._moving = self._send_shapes()
        self._send_styles()

    def write(self, instant: Instant) -> None:
        time = instant.time
        if time >= self._next_pose:
            self._next_pose = time + _POSE_SECONDS * (1 - 1e-6)
            data = self._session.engine.data
            self._poses.append((time, data.geom_xpos[self._moving], data.geom_xmat[self._moving]))
        self._instants.append(instant)
        if len(self._instants) >= _STEPS:
            self._flush()

    def write_events(self, events: list[SeenEvent]) -> None:
        """A line of text and a mark for each, under the names of its geoms."""
        pairs: dict[str, list[LogEntry]] = {}
        for event in events:
            pairs.setdefault(event.entry.subject, []).append(event.entry)
        for pair, entries in pairs.items():
            entity, times = ("events", pair), [entry.time for entry in entries]
            self._send(entity, times, self._rerun.TextLog.columns(text=[_describe(entry) for entry in entries]))
            speeds = [entry.approach_speed for entry in entries]
            self._send(entity, times, self._rerun.Scalars.columns(scalars=speeds))
            marks = self._rerun.SeriesPoints(markers=["diamond"], names=[pair], marker_sizes=[4.0])
            self._stream.log(self._rerun.new_entity_path(list(entity)), marks, static=True)

    def close(self) -> None:
        self._flush()
        self.abort()

    def abort(self) -> None:
        self._stream.disconnect()

    def _flush(self) -> None:
        instants, self._instants = self._instants, []
        poses, self._poses = self._poses, []
        if instants:
            times = [instant.time for instant in instants]
            for i, sensor in enumerate(self._sensors):
                self._send_sensor(sensor, times, [instant.contacts[i].batch for instant in instants])
            for i, touch in enumerate(self._touches):
                samples = [instant.touches[i] for instant in instants]
                self._send_touch(touch.name, "value", times, [sample.values for sample in samples])
                self._send_touch(touch.name, "force", times, [sample.force for sample in samples])
        if poses:
            self._send_poses(poses)
        try:
            self._stream.flush()
        except (RuntimeError, ValueError) as error:
            # Rerun's writer has given up, most likely because the disk is full.
            raise OSError(errno.EIO, "Rerun could not write the file") from error

    def _send_sensor(self, sensor: ContactSensor, times: list[float], batches: list[ContactBatch]) -> None:
        scale = self._session.scale
        counts = [int(batch.filled.sum()) for batch in batches]
        pos = _stack([batch.pos for batch in batches], batches)
        self._send(("contacts", sensor.name, "points"), times, self._rerun.Points3D.columns(positions=pos), counts)
        force = _stack([batch.force for batch in batches], batches)
        if sensor.reduce is Reduce.NETFORCE:
            size = np.linalg.norm(force, axis=1)
            vectors = force * (arrow_length(size, scale) / np.maximum(size, 1e-300))[:, None]
            self._send_arrows(sensor, "net", times, pos, vectors, counts)
            self._send_curve(sensor, "net", times, _sums(size, counts))
            return
        normal = _stack([batch.normal for batch in batches], batches)
        tangent0 = _stack([batch.tangent0 for batch in batches], batches)
        for i, axis in enumerate((normal, tangent0, cross(normal, tangent0))):
            start = pos + (scale.lift if i else 0.0) * normal
            vectors = arrow_length(force[:, i], scale)[:, None] * axis
            self._send_arrows(sensor, _COMPONENTS[i], times, start, vectors, counts)
            self._send_curve(sensor, _COMPONENTS[i], times, _sums(force[:, i], counts))

    def _send_arrows(
        self, sensor: ContactSensor, part: str, times: list[float], starts: Array, vectors: Array, counts: list[int]
    ) -> None:
        columns = self._rerun.Arrows3D.columns(origins=starts, vectors=vectors)
        self._send(("contacts", sensor.name, part), times, columns, counts)

    def _send_curve(self, sensor: ContactSensor, part: str, times: list[float], values: Array) -> None:
        self._send(("forces", sensor.name, part), times, self._rerun.Scalars.columns(scalars=values))

    def _send_touch(self, name: str, part: str, times: list[float], values: list[Array]) -> None:
        columns = self._rerun.Scalars.columns(scalars=np.concatenate(values))
        self._send(("touch", name, part), times, columns, [len(each) for each in values])

    def _send(self, entity: Sequence[str], times: list[float], columns: Any, counts: list[int] | None = None) -> None:
        time = self._rerun.TimeColumn(_TIME, duration=times)
        columns = columns if counts is None else columns.partition(counts)
        self._stream.send_columns(self._rerun.new_entity_path(list(entity)), [time], columns)

    def _send_poses(self, poses: list[tuple[float, Array, Array]]) -> None:
        times = [time for time, _, _ in poses]
        for i, geom in enumerate(self._moving):
            columns = self._rerun.Transform3D.columns(
                translation=np.array([pos[i] for _, pos, _ in poses]),
                mat3x3=np.array([mat[i] for _, _, mat in poses]),
            )
            self._send(("scene", self._geom_names[geom]), times, columns)

    def _send_shapes(self) -> NDArray[np.intp]:
        """The drawn geoms, each an entity; which of them move."""
        model, data = self._session.engine.model, self._session.engine.data
        self._geom_names = geom_names(model)
        drawn = [
            geom
            for geom in range(model.ngeom)
            if model.geom_group[geom] < _HIDDEN_GROUP and self._shape(geom) is not None
        ]
        for geom in drawn:
            entity = self._rerun.new_entity_path(["scene", self._geom_names[geom]])
            self._stream.log(entity, self._shape(geom), static=True)
        moving = np.array([geom for geom in drawn if model.body_weldid[model.geom_bodyid[geom]]], np.intp)
        for geom in set(drawn) - set(moving.tolist()):
            entity = self._rerun.new_entity_path(["scene", self._geom_names[geom]])
            pose = self._rerun.Transform3D(translation=data.geom_xpos[geom], mat3x3=data.geom_xmat[geom].reshape(3, 3))
            self._stream.log(entity, pose, static=True)
        return moving

    def _shape(self, geom: int) -> Any:
        """A geom in its own frame, centred; None for kinds that Rerun has no counterpart of."""
        rerun, model = self._rerun, self._session.engine.model
        kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom], float)
        color = self._color(geom)
        solid = {"colors": [color], "fill_mode": "solid"}
        if kind == _PLANE:
            half = [side if side > 0 else 0.7 * float(model.stat.extent) for side in size[:2]]
            return rerun.Boxes3D(half_sizes=[[*half, 0.0]], **solid)
        if kind in (_SPHERE, _ELLIPSOID):
            return rerun.Ellipsoids3D(half_sizes=[size if kind == _ELLIPSOID else size[[0, 0, 0]]], **solid)
        if kind == _CAPSULE:
            # Rerun's capsules begin at their frame's origin.
            ends = {"lengths": [2 * size[1]], "translations": [[0.0, 0.0, -size[1]]]}
            return rerun.Capsules3D(radii=[size[0]], **ends, **solid)
        if kind == _CYLINDER:
            return rerun.Cylinders3D(lengths=[2 * size[1]], radii=[size[0]], **solid)
        if kind == _BOX:
            return rerun.Boxes3D(half_sizes=[size], **solid)
        if kind == _MESH:
            mesh = int(model.geom_dataid[geom])
            first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
            return rerun.Mesh3D(
                vertex_positions=model.mesh_vert[first : first + count],
                triangle_indices=model.mesh_face[face : face + faces],
                albedo_factor=color,
            )
        return None

    def _color(self, geom: int) -> Color:
        """As MuJoCo has it: a geom's own colour, unless that is the default and it has a material."""
        model = self._session.engine.model
        material, own = int(model.geom_matid[geom]), model.geom_rgba[geom]
        if material < 0 or not np.allclose(own, _DEFAULT_RGBA):
            return rgba(own)
        # A texture's colours are in its pixels, which are not shown here.
        textured = bool((model.mat_texid[material] >= 0).any())
        return _TEXTURED if textured else rgba(model.mat_rgba[material])

    def _send_styles(self) -> None:
        rerun, scale, colors = self._rerun, self._session.scale, self._colors
        self._stream.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for sensor in self._sensors:
            points = rerun.Points3D.from_fields(colors=[rgba(colors.point)], radii=[scale.radius])
            self._stream.log(rerun.new_entity_path(["contacts", sensor.name, "points"]), points, static=True)
            parts = {"net": colors.total}
            if sensor.reduce is not Reduce.NETFORCE:
                parts = dict(zip(_COMPONENTS, (colors.normal, colors.tangent0, colors.tangent1), strict=True))
            for part, color in parts.items():
                arrows = rerun.Arrows3D.from_fields(colors=[rgba(color)], radii=[scale.width / 2])
                self._stream.log(rerun.new_entity_path(["contacts", sensor.name, part]), arrows, static=True)
                line = rerun.SeriesLines(colors=[rgba(color)], names=[part], widths=[2.0])
                self._stream.log(rerun.new_entity_path(["forces", sensor.name, part]), line, static=True)

        for touch in self._touches:
            self._send_touch_styles(touch)

    def _send_touch_styles(self, touch: SceneTouch) -> None:
        """What the device reports in full colour and the true force faint, as in the window."""
        colors, axes = [_TOUCH], [""]
        if touch.device.size == 3:
            colors, axes = [rgba(color) for color in AXIS_COLORS], [" x", " y", " z"]
        for part, label, share in (("value", "device", 1.0), ("force", "true force [N]", 0.5)):
            lines = self._rerun.SeriesLines(
                colors=[tuple(round(share * value) for value in color[:3]) for color in colors],
                names=[label + axis for axis in axes],
                widths=[2.0] * len(axes),
            )
            self._stream.log(self._rerun.new_entity_path(["touch", touch.name, part]), lines, static=True)

    def _blueprint(self) -> Any:
        from rerun import blueprint

        path = self._rerun.new_entity_path
        curves = blueprint.TimeSeriesView
        forces = [curves(origin=path(["forces", each.name]), name=f"{each.name} [N]") for each in self._sensors]
        # Side by side, because a view has one axis only: newtons are no device's units.
        touches = [
            blueprint.Horizontal(
                curves(origin=path(["touch", each.name, "value"]), name=each.name),
                curves(origin=path(["touch", each.name, "force"]), name=f"{each.name}, true [N]"),
            )
            for each in self._touches
        ]
        speeds = curves(origin="events", name="approach speed [m/s]")
        groups: dict[str, list[Any]] = {"forces": forces, "touch": touches, "events": [speeds]}
        tabs = [blueprint.Vertical(*views, name=name) for name, views in groups.items() if views]
        scene = blueprint.Spatial3DView(origin="/", contents=["+ /scene/**", "+ /contacts/**"], name="contacts")
        events = blueprint.TextLogView(origin="events", name="events")
        left = blueprint.Vertical(scene, events, row_shares=[4, 1])
        layout = blueprint.Horizontal(left, blueprint.Tabs(*tabs), column_shares=[2, 1])
        return blueprint.Blueprint(layout, collapse_panels=True)


def _describe(entry: LogEntry) -> str:
    """An event in a line: `wall · bumper begin, 0.12 m/s, peak 33 N`."""
    words = [f"{entry.subject} {entry.kind}"]
    if entry.kind is EventKind.END:
        words[0] += f" after {entry.event.duration:.6f} s"
    if not math.isnan(entry.approach_speed):
        words.append(f"{entry.approach_speed:.4g} m/s")
    if not math.isnan(entry.contact.peak_force):
        words.append(f"peak {entry.contact.peak_force:.4g} N")
    return ", ".join(words)


def _stack(parts: Sequence[Array | None], batches: Sequence[ContactBatch]) -> Array:
    """Vectors of the filled slots of all batches, (contacts, 3)."""
    filled = [part[batch.filled] for part, batch in zip(parts, batches, strict=True) if part is not None]
    return np.concatenate(filled) if filled else np.zeros((0, 3))


def _sums(values: Array, counts: Sequence[int]) -> Array:
    """Sums of so many values each, (counts,)."""
    ends = np.cumsum([0, *counts])
    totals = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(totals[ends[1:]] - totals[ends[:-1]])
