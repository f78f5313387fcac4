"""Writes a session's steps to a Rerun recording: shapes, arrows as in the window, curves and events."""

import errno
import math
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactSensor
from ..errors import RecordingError
from ..events.contact_events import EventKind
from ..events.event_log import LogEntry, MotionEvent
from ..files import PartFile
from ..mjmodel.names import geom_names, shape_name
from ..mjmodel.types import MjModel
from ..processes import import_extra
from ..render.glyphs import ArrowColumns, Floats, Glyphs
from ..render.style import palette_colors
from ..render.touch import AXIS_COLORS
from ..sensors.contacts import Array, ContactBatch
from ..session.contact_glyphs import ContactArrow, DrawnContacts
from ..session.layer import DrawContext
from ..session.layers import contact_parts, display_layers
from ..session.layers.contacts import force_arrows
from ..session.session import Session
from ..settings import Reduce
from ..touch.touch_sensors import SceneTouch
from .overlay_shapes import Color, rgba
from .table_files import SPARE
from .tables import SeenEvent, TouchSample, running_touches, touch_samples

_STEPS = 256
"""Number of steps that are sent as one block."""
_POSE_SECONDS = 1 / 60
"""Simulated time between two poses of the scene's shapes; contacts come at every step."""
_ROOM = 1_000_000
"""Least free space on the disk to begin a recording [bytes]."""
_TIME = "simulation"
_TOUCH: Color = (224, 226, 229, 255)
"""Colour of a touch sensor with one value."""
_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
_TEXTURED: Color = (110, 112, 114, 255)
_HIDDEN_GROUP = 3
"""Geoms of this group and above are not drawn by default, in MuJoCo and here."""


def drawn_geoms(model: MjModel) -> list[int]:
    """Return the geoms that are shown and that Rerun has shapes for."""
    return [
        geom
        for geom in range(model.ngeom)
        if model.geom_group[geom] < _HIDDEN_GROUP and shape_name(model.geom_type[geom]) in _SHAPES
    ]


def geom_shape(rerun: Any, model: MjModel, geom: int) -> Any:
    """Return Rerun's shape of one of the `drawn_geoms` in its own frame, centred."""
    return _SHAPES[shape_name(model.geom_type[geom])](rerun, model, geom)


def _plane(rerun: Any, model: MjModel, geom: int) -> Any:
    # A size of 0 means an infinite side.
    half = [float(side) if side > 0 else 0.7 * float(model.stat.extent) for side in model.geom_size[geom, :2]]
    return rerun.Boxes3D(half_sizes=[[*half, 0.0]], **_solid(model, geom))


def _sphere(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Ellipsoids3D(half_sizes=[np.full(3, model.geom_size[geom, 0])], **_solid(model, geom))


def _ellipsoid(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Ellipsoids3D(half_sizes=[model.geom_size[geom]], **_solid(model, geom))


def _capsule(rerun: Any, model: MjModel, geom: int) -> Any:
    radius, half_length, _ = model.geom_size[geom]
    # Rerun's capsules begin at their frame's origin.
    start = [[0.0, 0.0, -half_length]]
    return rerun.Capsules3D(radii=[radius], lengths=[2 * half_length], translations=start, **_solid(model, geom))


def _cylinder(rerun: Any, model: MjModel, geom: int) -> Any:
    radius, half_length, _ = model.geom_size[geom]
    return rerun.Cylinders3D(lengths=[2 * half_length], radii=[radius], **_solid(model, geom))


def _box(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Boxes3D(half_sizes=[model.geom_size[geom]], **_solid(model, geom))


def _mesh(rerun: Any, model: MjModel, geom: int) -> Any:
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return rerun.Mesh3D(
        vertex_positions=model.mesh_vert[first : first + count],
        triangle_indices=model.mesh_face[face : face + faces],
        albedo_factor=_color(model, geom),
    )


_SHAPES: dict[str, Callable[[Any, Any, int], Any]] = {
    "plane": _plane,
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "box": _box,
    "mesh": _mesh,
}


def _solid(model: MjModel, geom: int) -> dict[str, Any]:
    return {"colors": [_color(model, geom)], "fill_mode": "solid"}


def _color(model: MjModel, geom: int) -> Color:
    """Return MuJoCo's colour of a geom: its material's, if it has one and its own is the default; else its own."""
    material, own = int(model.geom_matid[geom]), model.geom_rgba[geom]
    if material < 0 or not np.allclose(own, _DEFAULT_RGBA):
        return rgba(own)
    # A texture's colours are in its pixels, which are not shown here.
    textured = bool((model.mat_texid[material] >= 0).any())
    return _TEXTURED if textured else rgba(model.mat_rgba[material])


class RerunWriter:
    """Writer of a recording that opens in Rerun's viewer with a layout of its own."""

    def __init__(self, file: PartFile, session: Session) -> None:
        # On a full disk Rerun never returns from writing the first bytes.
        if shutil.disk_usage(file.part.parent).free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._file = file
        self._rerun: Any = import_rerun()
        self._session = session
        self._colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
        # One size everywhere and for the whole file: Rerun's viewer has a camera of its own.
        self._scale = replace(session.scale, gauge=None)
        self._sensors = session.shown_sensors
        self._touches = running_touches(session)
        self._samples: list[tuple[float, dict[str, ContactBatch], list[TouchSample]]] = []
        """Time [s], contacts by sensor, and touch sensors of each step."""
        self._poses: list[tuple[float, Array, Array]] = []
        gizmos = session.settings.gizmos
        self._parts = contact_parts(gizmos)
        self._layers = [layer for layer in display_layers(session) if layer.glyphs and layer.is_on(gizmos)]
        """Layers whose arrows are not at contacts."""
        self._glyphs: list[tuple[float, list[Floats]]] = []
        """For each kept pose: its time [s], and the arrows of each of `_layers`."""
        self._next_pose = self._end = -np.inf
        self._start = np.inf
        """Simulated times of the first and the last step that was written [s]."""
        name = Path(session.engine.path or "scene").stem
        self._stream = self._rerun.RecordingStream("contact-viewer", recording_id=f"contact-viewer-{name}")
        self._stream.save(file.part, default_blueprint=self._blueprint())
        self._stream.send_recording_name(name)
        self._moving = self._send_shapes()
        self._send_styles()
        # How large a block is shows only when it is written.
        self._file.reserve(2 * SPARE)

    def write(self, step: int, time: float, video_frame: int) -> None:
        self._start, self._end = min(self._start, time), time
        if time >= self._next_pose:
            self._next_pose = time + _POSE_SECONDS * (1 - 1e-6)
            data = self._session.engine.data
            self._poses.append((time, data.geom_xpos[self._moving], data.geom_xmat[self._moving]))
            self._glyphs.append((time, self._layer_arrows()))
        names = self._session.engine.sensors.names
        batches = {
            names[number]: batch.at(i)
            for numbers, batch in self._session.groups_now()
            for i, number in enumerate(numbers)
        }
        self._samples.append((time, batches, touch_samples(self._session)))
        if len(self._samples) >= _STEPS:
            self._flush()

    def write_events(self, events: list[SeenEvent]) -> None:
        """Write a line of text and a mark for each event, under the names of its geoms."""
        # The events and the last block are all that is still written.
        self._file.lend(0)
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

    def write_channels(self) -> None:
        """Write a curve for each channel, of all steps that were written."""
        for samples in self._session.simulation.channels.samples(self._start, self._end):
            columns = self._rerun.Scalars.columns(scalars=samples.values)
            entity = ["channels", *samples.channel.name.split("/")]
            self._send(entity, samples.times.tolist(), columns)
            unit = f" [{samples.channel.unit}]" if samples.channel.unit else ""
            line = self._rerun.SeriesLines(names=[samples.channel.label + unit], widths=[2.0])
            self._stream.log(self._rerun.new_entity_path(entity), line, static=True)

    def close(self) -> None:
        self._send_block()
        self.abort()

    def abort(self) -> None:
        self._stream.disconnect()

    def _layer_arrows(self) -> list[Floats]:
        context = DrawContext(self._session, self._scale)
        glyphs = [layer.glyphs(context) for layer in self._layers if layer.glyphs is not None]
        return [(each or Glyphs()).arrows for each in glyphs]

    def _flush(self) -> None:
        """Write a block. Rerun cannot recover from a full disk: room for a block is reserved before it is sent, and the
        file ends if there is no room for the next block."""
        before = self._file.size
        self._file.lend(SPARE)
        self._send_block()
        self._file.reserve(SPARE + 2 * (self._file.size - before))

    def _send_block(self) -> None:
        samples, self._samples = self._samples, []
        poses, self._poses = self._poses, []
        glyphs, self._glyphs = self._glyphs, []
        if samples:
            times = [time for time, _, _ in samples]
            for sensor in self._sensors:
                self._send_sensor(sensor, times, [batches[sensor.name] for _, batches, _ in samples])
            for i, touch in enumerate(self._touches):
                values = [touches[i] for _, _, touches in samples]
                self._send_touch(touch.name, "value", times, [each.values for each in values])
                self._send_touch(touch.name, "force", times, [each.force for each in values])
        if poses:
            self._send_poses(poses)
            self._send_layers(glyphs)
        try:
            self._stream.flush()
        except (RuntimeError, ValueError) as error:
            raise OSError(errno.EIO, "Rerun could not write the file") from error

    def _send_sensor(self, sensor: ContactSensor, times: list[float], batches: list[ContactBatch]) -> None:
        counts = [int(batch.filled.sum()) for batch in batches]
        batch = _joined(batches)
        if batch.pos is not None:
            self._send_contacts(sensor, times, batch, batch.pos, counts)
        force = np.zeros((len(batch.filled), 3)) if batch.force is None else batch.force
        net = sensor.reduce is Reduce.NETFORCE
        curves = [np.linalg.norm(force, axis=1)] if net else list(force.T)
        for arrow, values in zip(force_arrows(net), curves, strict=True):
            columns = self._rerun.Scalars.columns(scalars=_sums(values, counts))
            self._send(("forces", sensor.name, arrow.name), times, columns)

    def _send_contacts(
        self, sensor: ContactSensor, times: list[float], batch: ContactBatch, pos: Array, counts: list[int]
    ) -> None:
        if self._parts.point is not None:
            self._send(("contacts", sensor.name, "points"), times, self._rerun.Points3D.columns(positions=pos), counts)
        # A file holds every force, also those that are too small for a picture.
        settings = replace(self._session.settings.gizmos, min_force=0.0)
        contacts = DrawnContacts(batch, pos, settings, self._scale)
        for arrow in self._arrows_of(sensor):
            built = arrow.build(contacts)
            if built is not None:
                columns = self._rerun.Arrows3D.columns(origins=built[0], vectors=built[1])
                self._send(("contacts", sensor.name, arrow.name), times, columns, counts)

    def _send_layers(self, glyphs: list[tuple[float, list[Floats]]]) -> None:
        """Send the arrows of layers that are not at contacts."""
        times = [time for time, _ in glyphs]
        for i, layer in enumerate(self._layers):
            arrows = [rows[i] for _, rows in glyphs]
            all_rows = np.concatenate(arrows)
            columns = self._rerun.Arrows3D.columns(
                origins=all_rows[:, ArrowColumns.START],
                vectors=all_rows[:, ArrowColumns.VECTOR],
                radii=all_rows[:, ArrowColumns.WIDTH] / 2,
                colors=np.rint(255 * all_rows[:, ArrowColumns.COLOR]).astype(np.uint8),
            )
            self._send(("layers", layer.label), times, columns, [len(rows) for rows in arrows])

    def _arrows_of(self, sensor: ContactSensor) -> list[ContactArrow]:
        net = sensor.reduce is Reduce.NETFORCE
        return [arrow for arrow in self._parts.arrows if arrow.net in (None, net)]

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
        """Send the drawn geoms, each as an entity; return those that move."""
        model, data = self._session.engine.model, self._session.engine.data
        self._geom_names = geom_names(model)
        moving = []
        for geom in drawn_geoms(model):
            entity = self._rerun.new_entity_path(["scene", self._geom_names[geom]])
            self._stream.log(entity, geom_shape(self._rerun, model, geom), static=True)
            if model.body_weldid[model.geom_bodyid[geom]]:
                moving.append(geom)
                continue
            rotation = data.geom_xmat[geom].reshape(3, 3)
            pose = self._rerun.Transform3D(translation=data.geom_xpos[geom], mat3x3=rotation)
            self._stream.log(entity, pose, static=True)
        return np.array(moving, np.intp)

    def _send_styles(self) -> None:
        rerun, scale, colors = self._rerun, self._scale, self._colors
        self._stream.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for sensor in self._sensors:
            if self._parts.point is not None:
                points = rerun.Points3D.from_fields(colors=[rgba(self._parts.point(colors))], radii=[scale.radius])
                self._stream.log(rerun.new_entity_path(["contacts", sensor.name, "points"]), points, static=True)
            for arrow in self._arrows_of(sensor):
                arrows = rerun.Arrows3D.from_fields(colors=[rgba(arrow.color(colors))], radii=[scale.width / 2])
                self._stream.log(rerun.new_entity_path(["contacts", sensor.name, arrow.name]), arrows, static=True)
            for arrow in force_arrows(sensor.reduce is Reduce.NETFORCE):
                line = rerun.SeriesLines(colors=[rgba(arrow.color(colors))], names=[arrow.name], widths=[2.0])
                self._stream.log(rerun.new_entity_path(["forces", sensor.name, arrow.name]), line, static=True)
        for touch in self._touches:
            self._send_touch_styles(touch)

    def _send_touch_styles(self, touch: SceneTouch) -> None:
        """Send the device's output in full colour and the true force faint, as in the window."""
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
        groups["channels"] = [
            curves(contents=[path(["channels", *c.name.name.split("/")]) for c in group], name=title or "channels")
            for title, group in self._session.simulation.channels.groups().items()
        ]
        tabs = [blueprint.Vertical(*views, name=name) for name, views in groups.items() if views]
        contents = ["+ /scene/**", "+ /contacts/**", *(["+ /layers/**"] if self._layers else [])]
        scene = blueprint.Spatial3DView(origin="/", contents=contents, name="contacts")
        events = blueprint.TextLogView(origin="events", name="events")
        left = blueprint.Vertical(scene, events, row_shares=[4, 1])
        layout = blueprint.Horizontal(left, blueprint.Tabs(*tabs), column_shares=[2, 1])
        return blueprint.Blueprint(layout, collapse_panels=True)


def _describe(entry: LogEntry) -> str:
    """Return an event in a line: `wall × bumper begin, 0.12 m/s, peak 33 N`."""
    words = [f"{entry.subject} {entry.kind}"]
    if isinstance(entry.event, MotionEvent):
        if entry.kind in (EventKind.SLIP_END, EventKind.CREEP_END):
            words[0] += f" after {entry.event.duration:.6f} s"
        return f"{words[0]}, {1e3 * entry.event.distance:.4g} mm, at most {1e3 * entry.event.speed:.4g} mm/s"
    if entry.kind is EventKind.END:
        words[0] += f" after {entry.event.duration:.6f} s"
    if not math.isnan(entry.approach_speed):
        words.append(f"{entry.approach_speed:.4g} m/s")
    if not math.isnan(entry.contact.peak_force):
        words.append(f"peak {entry.contact.peak_force:.4g} N")
    return ", ".join(words)


def _joined(batches: Sequence[ContactBatch]) -> ContactBatch:
    """Return the filled slots of all batches as one batch: fields of shape (contacts,) and (contacts, 3)."""
    return batches[0].mapped(
        lambda name, array: (
            array if name == "found" else np.concatenate([getattr(batch, name)[batch.filled] for batch in batches])
        )
    )


def _sums(values: Array, counts: Sequence[int]) -> Array:
    """Return the sums of consecutive groups of values, whose lengths are `counts`, (groups,)."""
    ends = np.cumsum([0, *counts])
    totals = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(totals[ends[1:]] - totals[ends[:-1]])


def import_rerun(need: str = "Rerun files need") -> Any:
    """Return Rerun, with its log off: its errors are reported in one line. Other libraries, such as MotrixSim, keep
    their log.

    Raises RecordingError, which begins with `need`, if Rerun cannot be imported.
    """
    level = os.environ.get("RUST_LOG")
    os.environ["RUST_LOG"] = level or "off"
    try:
        return import_extra("rerun", "rerun", need, RecordingError)
    finally:
        if level is None:
            del os.environ["RUST_LOG"]
