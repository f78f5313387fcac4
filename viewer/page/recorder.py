"""Keeps the steps of a run for a page: poses, contacts and curves, in bounded memory."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.steps import StepBlock, StepBuffer
from ..recording.tables import CONTACT_COLUMNS, NO_FRAME, Block, ContactRows, Texts, touch_samples
from ..render.style import tree_weights
from ..session.session import Session
from ..settings import Reduce
from .geometry import drawn_bodies
from .sections import Sections, small_integers

_POSE_BYTES = 24 * 2**20
"""Memory of poses and curves above which every second frame is dropped [bytes]."""
_MOST_FRAMES = 200_000
"""Number of frames above which every second frame is dropped."""
_CONTACT_BYTES = 16 * 2**20
"""Memory of contacts above which every second frame loses them [bytes]."""
_MOST_CURVES = 64
"""Largest number of sensors with curves."""
_READINGS = 4096
"""Number of readings of sensors that are decoded together."""
_CHUNK = 512
"""Number of steps whose poses are turned into integers together."""
_UNIT, _FINE = 1e-5, 1e-5
"""Unit of positions [m], and its largest value as a fraction of a scene's extent, for scenes smaller than 1 m."""
_TURN = 32767
"""Integer that stands for 1 in a component of a quaternion."""
FILLED, TURNED, WORLD, UNKNOWN_WORLD = 1, 2, 4, 8
"""Flags of a row of contacts."""
_LOCAL = [*(f"force_{name}" for name in ("normal", "tangent0", "tangent1"))]
_LOCAL += [name.replace("force", "torque") for name in _LOCAL]
_WORLD = [f"{vector}_{axis}" for vector in ("force", "torque") for axis in "xyz"]
_PLACES = ["dist", *(f"{vector}_{axis}" for vector in ("pos", "normal", "tangent0") for axis in "xyz")]
COLUMNS = [*_LOCAL, *_PLACES]
"""Numbers of a contact that are kept. Vectors along the world's axes follow from them, bit for bit, if they are
computed with as many bits as the engine's arrays have: 64 or 32."""


class RunRecorder:
    """Recorder of the steps of a session for a page, with one call of `write` for each step.

    Poses and curves are kept of every step as long as they fit into memory, then of every second, fourth, ... step. The
    same holds for contacts.
    """

    def __init__(self, session: Session, all_contacts: bool = False) -> None:
        """Begin a page's recording. `all_contacts`: True to keep the contacts of every frame, whatever memory they
        take."""
        engine = session.engine
        self.names = [sensor.name for sensor in session.shown_sensors]
        """Names of the sensors in the page."""
        self.stride = 1
        """Number of steps from one frame to the next."""
        self.every = 1
        """Number of frames from one frame with contacts to the next."""
        self.steps = 0
        """Number of steps written so far."""
        self._session = session
        self._budget = np.inf if all_contacts else _CONTACT_BYTES
        self._bodies = drawn_bodies(engine.model).ids
        self._rows = ContactRows(session, _READINGS)
        self._curve_names = self.names[:_MOST_CURVES]
        self._forces = StepBuffer(engine, self._curve_names)
        self._chunk = np.empty((_CHUNK, 7 * len(self._bodies)))
        self._filled = 0
        size = float(engine.model.stat.extent)
        self._unit = min(_UNIT, 10.0 ** np.floor(np.log10(_FINE * size))) if 0.0 < size < 1.0 else _UNIT
        self._poses: list[tuple[NDArray[np.int32], NDArray[np.int16]]] = []
        self._numbers: list[int] = []
        self._times: list[float] = []
        self._curves: list[NDArray[np.float32]] = []
        self._pending = np.zeros((0, 2 * len(self._curve_names)), np.float32)
        """Curves of the steps since the last frame."""
        self._curve_steps = 0
        self._touch: list[NDArray[np.float32]] = []
        """Readings of the touch sensors in each frame, one component after another."""
        self._contacts: list[_Contacts] = []
        self._contact_bytes = 0
        self._precision = _precision(session)
        self._geoms: list[str] = [""]
        weights = tree_weights(engine.model)
        trees = engine.model.body_treeid
        by_body = np.where(trees >= 0, weights[trees], np.inf) if len(weights) else np.full(len(trees), np.inf)
        self._weights = np.concatenate([[np.nan], by_body[engine.model.geom_bodyid]])
        """Weight of the tree that each geom belongs to [N], by its code in a block of rows."""
        virtual = [engine.sensors[name].virtual for name in self.names]
        self._turns = np.array(virtual, bool) if engine.has_contact_list else np.zeros(len(virtual), bool)
        """True for sensors whose contacts are turned so that the force on the moving body is shown."""

    def write(self, step: int, time: float) -> None:
        """Keep the session's step, with its number and simulated time [s]."""
        number, self.steps = self.steps, self.steps + 1
        if (block := self._forces.add(self._session.simulation.shown_step)) is not None:
            self._add_curves(block)
        if number % self.stride:
            return
        data, bodies = self._session.engine.data, self._bodies
        row = self._chunk[self._filled]
        row[: 3 * len(bodies)] = data.xpos[bodies].ravel()
        row[3 * len(bodies) :] = data.xquat[bodies].ravel()
        self._filled += 1
        self._numbers.append(step)
        self._times.append(time)
        if touch := touch_samples(self._session):
            self._touch.append(np.concatenate([each.values for each in touch]).astype(np.float32))
        if self._filled == _CHUNK:
            self._pack_poses()
        if number % (self.stride * self.every) == 0 and (rows := self._rows.add(number, NO_FRAME)) is not None:
            self._add_contacts(rows)
        size = len(self._times) * (20 * len(bodies) + 8 * len(self._curve_names))
        if size > _POSE_BYTES or len(self._times) > _MOST_FRAMES:
            self._halve_frames()

    def finish(self, sections: Sections) -> dict[str, Any]:
        """Add all arrays to the sections; return the part of the manifest that describes them."""
        if (block := self._forces.pop_block()) is not None:
            self._add_curves(block)
        if (rows := self._rows.pop_block()) is not None:
            self._add_contacts(rows)
        self._pack_poses()
        sections.add("times", np.array(self._times, "<f8"), delta=True, planes=True)
        sections.add("steps", np.array(self._numbers, "<u4"), delta=True, planes=True)
        count = len(self._times)
        positions, quaternions = self._joined_poses()
        sections.add("positions", positions, delta=True, planes=True)
        sections.add("quaternions", quaternions, delta=True, planes=True)
        # The last steps may belong to no frame.
        curves = np.concatenate([*self._curves, np.zeros((0, self._pending.shape[1]), np.float32)])[:count]
        others, values = self._other_curves()
        sections.add("curves", np.concatenate([curves.T, *values]).astype("<f4"), delta=True, planes=True)
        contacts = self._finish_contacts(sections, count)
        first = self._numbers[0] if self._numbers else 0
        return {
            "frames": {"count": count, "first": first, "stride": self.stride},
            "poses": {"unit": self._unit, "quat": _TURN},
            "curves": [
                {"name": name, "unit": unit, "sensor": place, "kind": kind}
                for kind, unit in (("force", "N"), ("found", ""))
                for place, name in enumerate(self._curve_names)
            ]
            + others,
            "contacts": contacts,
            "csv": {"columns": [name for name in CONTACT_COLUMNS if name != "video_frame"]},
        }

    @property
    def times(self) -> NDArray[np.float64]:
        """Simulated time of each frame [s], (frames,)."""
        return np.array(self._times)

    def strongest(self) -> NDArray[np.float64]:
        """Return the strongest contact force of each frame that has contacts and a force [N]."""
        found = [np.zeros(0)]
        for each in self._contacts:
            forces = np.sqrt((each.values[:, :3] ** 2).sum(axis=1))
            most = np.zeros(int(each.frame.max(initial=-1)) + 1)
            np.fmax.at(most, each.frame[(each.flags & FILLED) > 0], forces)
            found.append(most[most > 0.0])
        return np.concatenate(found)

    def notes(self) -> list[str]:
        """Return sentences about the parts of the run that were left out."""
        notes, timestep = [], self._session.engine.timestep
        if self.stride > 1:
            notes.append(
                f"The run is long: positions and curves are of every {_ordinal(self.stride)} physics step "
                f"({1e3 * self.stride * timestep:g} ms); curves have the largest value of the steps between."
            )
        if self.every > 1:
            notes.append(
                f"There are many contacts: they are those of every {_ordinal(self.stride * self.every)} physics step. "
                "At the steps between, those of the last kept step are drawn; --contacts all keeps all."
            )
        if len(self.names) > len(self._curve_names):
            notes.append(f"Curves are of the first {len(self._curve_names)} of {len(self.names)} sensors.")
        return notes

    def _add_curves(self, block: StepBlock) -> None:
        """Reduce the curves of a block to frames: a frame has the largest value since the frame before it."""
        count = len(self._curve_names)
        values = np.zeros((len(block), 2 * count), np.float32)
        for places, reduce, batch in block.groups():
            force = batch.force_magnitude(Reduce(reduce))
            values[:, places] = np.nan if force is None else force
            values[:, count + places] = batch.found
        rows = np.concatenate([self._pending, values])
        # Of the rows, the first is step `begin`; a frame ends its group.
        begin = self._curve_steps - len(self._pending)
        self._curve_steps += len(block)
        ends = np.flatnonzero(np.arange(begin, begin + len(rows)) % self.stride == 0)
        if len(ends):
            starts = np.concatenate([[0], ends[:-1] + 1])
            self._curves.append(np.fmax.reduceat(rows[: ends[-1] + 1], starts, axis=0))
        self._pending = rows[ends[-1] + 1 :] if len(ends) else rows

    def _other_curves(self) -> tuple[list[dict[str, Any]], list[NDArray[np.float32]]]:
        """Return descriptions of the curves of touch sensors and channels, and their values in all frames."""
        about: list[dict[str, Any]] = []
        values = [np.array(self._touch).T] if self._touch else []
        for touch in touch_samples(self._session) if self._touch else ():
            axes = (f"{touch.name} {axis}" for axis in "xyz") if len(touch.values) == 3 else (touch.name,)
            about += [{"name": name, "unit": "", "sensor": -1, "kind": "touch"} for name in axes]
        times = np.array(self._times)
        for samples in self._session.simulation.channels.samples(times[0], times[-1]):
            # A value holds until the next one.
            latest = np.searchsorted(samples.times, times + 1e-9, "right") - 1
            held = np.where(latest >= 0, samples.values[np.maximum(latest, 0)], np.nan)
            values.append(held[None].astype(np.float32))
            name, unit = samples.channel.name, samples.channel.unit
            about.append({"name": name, "unit": unit, "sensor": -1, "kind": "channel"})
        return about, values

    def _pack_poses(self) -> None:
        rows, split = self._chunk[: self._filled], 3 * len(self._bodies)
        # A body beyond the range of an integer stays at its edge; one without a position stays at the origin.
        steps = np.nan_to_num(np.rint(rows[:, :split] / self._unit), nan=0.0)
        positions = np.clip(steps, -(2**31) + 1, 2**31 - 1).astype(np.int32)
        turns = np.nan_to_num(np.rint(rows[:, split:] * _TURN)).astype(np.int16)
        self._poses.append((positions, turns))
        self._filled = 0

    def _joined_poses(self) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
        """Return positions and quaternions of all frames, (numbers of all bodies, frames) each."""
        positions = np.concatenate([part for part, _ in self._poses]).T
        turns = np.concatenate([part for _, part in self._poses]).reshape(len(self._times), -1, 4)
        # Both signs are the same rotation: without jumps differences are small.
        same = np.einsum("tbi,tbi->tb", turns[1:].astype(np.float32), turns[:-1].astype(np.float32)) >= 0
        signs = np.cumprod(np.where(same, 1, -1).astype(np.int8), axis=0)
        turns[1:] *= signs[..., None]
        return positions.astype("<i4"), turns.reshape(len(turns), -1).T.astype("<i2")

    def _halve_frames(self) -> None:
        """Keep only every second frame."""
        if (block := self._forces.pop_block()) is not None:
            self._add_curves(block)
        self._pack_poses()
        positions, turns = (np.concatenate([each[part] for each in self._poses]) for part in (0, 1))
        self._poses = [(positions[::2], turns[::2])]
        curves = np.concatenate(self._curves)
        count = len(curves)
        # Frame 2i takes the largest value of frame 2i - 1, too.
        merged = curves[::2].copy()
        merged[1:] = np.fmax(merged[1:], curves[1 : 2 * len(merged) - 2 : 2])
        if count % 2 == 0:
            self._pending = np.concatenate([curves[-1:], self._pending])
        self._curves = [merged]
        self._numbers, self._times, self._touch = self._numbers[::2], self._times[::2], self._touch[::2]
        self.stride *= 2
        # Contacts of every second frame at least are those of each frame now.
        self.every = max(1, self.every // 2)
        kept = [each.kept(each.frame % 2 == 0) for each in self._contacts]
        self._contacts = [each._replace(frame=each.frame // 2) for each in kept]
        self._contact_bytes = sum(each.size for each in kept)

    def _add_contacts(self, rows: Block) -> None:
        step, sensor, slot = (np.asarray(_codes(rows[name])) for name in ("step", "sensor", "slot"))
        number = {name: np.asarray(rows[name]) for name in (*_LOCAL, *_WORLD, *_PLACES, "found")}
        geoms1, geoms2 = rows["geom1"], rows["geom2"]
        assert isinstance(geoms1, Texts)
        assert isinstance(geoms2, Texts)
        self._geoms = geoms1.names
        local = np.stack([number[name] for name in _LOCAL], axis=1)
        world = np.stack([number[name] for name in _WORLD], axis=1)
        places = np.stack([number[name] for name in _PLACES], axis=1)
        is_known = ~np.isnan(places).all(axis=1) | ~np.isnan(local).all(axis=1) | ~np.isnan(world).all(axis=1)
        # A row without a contact has no numbers, and a contact's place is always known.
        is_net = is_known & np.isnan(local).all(axis=1) & ~np.isnan(world).all(axis=1)
        no_world = is_known & np.isnan(world).all(axis=1) & ~np.isnan(local).all(axis=1)
        flags = FILLED * is_known + WORLD * is_net + UNKNOWN_WORLD * no_world
        codes1, codes2 = np.minimum(geoms1.codes, len(self._weights)), np.minimum(geoms2.codes, len(self._weights))
        weights = np.append(self._weights, np.nan)
        flags += TURNED * (self._turns[sensor] & (weights[codes1] < weights[codes2])) if len(self._turns) else 0
        values = np.where(is_net[:, None], world, local)
        found = _Contacts(
            step // self.stride if step.size else step,
            sensor.astype(np.int32),
            slot.astype(np.int32),
            flags.astype(np.uint8),
            number["found"],
            geoms1.codes.astype(np.int32),
            geoms2.codes.astype(np.int32),
            np.concatenate([values, places], axis=1)[is_known],
        )
        # Frames that were still to be decoded may have been dropped meanwhile.
        found = found.kept((step % self.stride == 0) & (found.frame % self.every == 0))
        self._contacts.append(found)
        self._contact_bytes += found.size
        while self._contact_bytes > self._budget:
            self.every *= 2
            self._contacts = [each.kept(each.frame % self.every == 0) for each in self._contacts]
            self._contact_bytes = sum(each.size for each in self._contacts)

    def _finish_contacts(self, sections: Sections, count: int) -> dict[str, Any]:
        contacts = _Contacts.joined(self._contacts)
        frames = -(-count // self.every)
        rows = np.bincount(contacts.frame // self.every, minlength=frames)
        sections.add("frame_rows", rows.astype("<u4"), planes=True)
        for name in ("sensor", "slot", "geom1", "geom2"):
            sections.add(f"row_{name}", small_integers(getattr(contacts, name)), planes=True)
        sections.add("row_flags", contacts.flags)
        sections.add("row_found", contacts.found.astype("<f8"), planes=True)
        filled = (contacts.flags & FILLED) > 0
        # One slot after another, and in each from step to step, for then differences are small.
        order = np.lexsort((contacts.slot[filled], contacts.sensor[filled]))
        values = contacts.values[order].T
        sections.add("values", values.astype(f"<f{self._precision // 8}"), delta=True, planes=True)
        used = max((int(codes.max(initial=0)) for codes in (contacts.geom1, contacts.geom2)), default=0)
        return {
            "every": self.every,
            "frames": frames,
            "rows": len(contacts.frame),
            "values": int(filled.sum()),
            "torques": bool(np.any(np.nan_to_num(values[3:6]))),
            "precision": self._precision,
            "columns": COLUMNS,
            "geoms": self._geoms[: used + 1],
        }


class _Contacts(NamedTuple):
    """Rows of contacts of some frames, (rows,), and the numbers of the rows that hold a contact."""

    frame: NDArray[Any]
    sensor: NDArray[Any]
    slot: NDArray[Any]
    flags: NDArray[Any]
    found: NDArray[Any]
    geom1: NDArray[Any]
    geom2: NDArray[Any]
    values: NDArray[Any]
    """Values of the filled rows, (filled rows, columns)."""

    @property
    def size(self) -> int:
        """Approximate size in memory [bytes]."""
        return self.values.nbytes + 33 * len(self.frame)

    def kept(self, keep: NDArray[np.bool_]) -> "_Contacts":
        """Return the rows for which `keep` is True."""
        if keep.all():
            return self
        rows = {name: each[keep] for name, each in self._asdict().items() if name != "values"}
        return _Contacts(**rows, values=self.values[keep[(self.flags & FILLED) > 0]])

    @classmethod
    def joined(cls, parts: list["_Contacts"]) -> "_Contacts":
        """Return the rows of all parts."""
        none = np.zeros(0, np.int64)
        empty = cls(none, none, none, none.astype(np.uint8), none, none, none, np.zeros((0, len(COLUMNS))))
        return cls(*(np.concatenate(column) for column in zip(*(parts or [empty]), strict=True)))


def _codes(values: Any) -> NDArray[Any]:
    return values.codes if isinstance(values, Texts) else values


def _precision(session: Session) -> int:
    """Return the bits of a number of the engine's arrays: 64 or 32."""
    batches = (session.engine.contacts(sensor.name) for sensor in session.shown_sensors)
    return min((8 * batch.found.dtype.itemsize for batch in batches), default=64)


def _ordinal(number: int) -> str:
    """Return an ordinal number, from two on: second, 4th."""
    return "second" if number == 2 else f"{number}th"
