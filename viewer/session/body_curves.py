"""Turns the contacts of a scene without contact sensors into curves: of all contacts, and of each touched body."""

import copy
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..engines.steps import StepBlock, StepBuffer
from ..mjmodel.matching import GeomReader, ListedContacts, ReportedContacts
from ..mjmodel.names import body_names
from ..sensors.contacts import Array
from ..sensors.curves import BYTES_PER_VALUE, Values
from ..sensors.signals import Signal
from .history_curves import SIGNAL_PLACES, SignalCurves
from .ring import StepRing

_ALL = "all contacts"
_MOST_BODIES = 16
"""Largest number of bodies that have curves: those that touched first; the others are only counted."""
_ROWS = _MOST_BODIES + 1
_FORCES = (Signal.NORMAL, Signal.TANGENT0, Signal.TANGENT1, Signal.MAGNITUDE)
BODY_CURVE_BYTES = math.ceil(_ROWS * len(Signal) * BYTES_PER_VALUE)
"""Memory that these curves take per step [bytes]."""


class _Loads(NamedTuple):
    """Contacts, (n,), each with the curve to which its force is added; forces [N]."""

    row: NDArray[np.intp]
    """Index of the curve that the contact is added to."""
    step: NDArray[np.intp]
    force: Array
    """Force on the object of the curve [N], world, (n, 3)."""
    components: Array
    """Force along normal, tangent0 and tangent1 of the contact [N], (n, 3); positive normal forces press."""
    dist: Array
    slip: Array


class BodyCurves(SignalCurves):
    """Curves of a scene without contact sensors, in place of `HistoryCurves`: of all contacts, and of each body.

    The forces come from the sensor that watches all contacts; nothing is written into the scene. Steps are buffered as
    they come, and read together once a frame.
    """

    def __init__(self, engine: Engine, ring: StepRing) -> None:
        super().__init__(_ROWS, ring)
        self._engine = engine
        ring.derived.append(self)
        self._buffer: StepBuffer | None = None
        """Buffer of steps whose curves are yet to be computed; None until all contacts are watched."""
        self._is_frozen = False
        """True if the values are those of an episode that has ended."""
        self._read_geoms = GeomReader()
        model = engine.model
        self._labels = body_names(model)
        self._geom_bodies = np.append(model.geom_bodyid, 0)
        """Body of each geom; the last entry is for unknown geoms, (ngeom + 1,)."""
        self._moves = np.asarray(model.body_weldid != 0)
        self._rows = np.full(model.nbody, -1, np.intp)
        """Row of each body, (nbody,); -1 before it first touches, `_ROWS` where no row was left."""
        self._bodies: list[int] = []
        """Bodies with a row of their own, in the order of rows, from row 1 on."""
        self._impulse = np.zeros(_ROWS)
        """Sum of the forces over all steps, by row [N]."""

    @property
    def names(self) -> tuple[str, ...]:
        """All contacts, then the bodies with curves, the most strongly pressed first."""
        if self._buffer is None and not self._is_frozen:
            return ()
        # Ranks are powers of two, so that bodies with similar forces keep their order.
        ranks = -np.frexp(self._impulse[1 : len(self._bodies) + 1])[1]
        order = np.argsort(ranks, kind="stable").tolist()
        return (_ALL, *(self._labels[self._bodies[place]] for place in order))

    @property
    def more(self) -> int:
        """Number of bodies that have touched something and have no curves."""
        return int((self._rows == _ROWS).sum())

    def place(self, name: str) -> int:
        """Return the row of a name: 0 for all contacts, then bodies in the order in which they first touched."""
        return 0 if name == _ALL else 1 + self._bodies.index(self._labels.index(name))

    def add(self) -> None:
        """Keep the step that the engine is at, the newest of the ring."""
        if self._buffer is None:
            engine = self._engine
            if not engine.sensors.has(_ALL):
                return
            self._buffer = StepBuffer(engine, [_ALL], lambda: self._read_geoms(engine.contact_data()))
            self._curves.restart(self._ring.last)
        self._compute(self._buffer.add())

    def frozen(self, ring: StepRing) -> "BodyCurves":
        """Return a copy for `ring`, which has the same steps and gets no more."""
        curves = copy.copy(self)
        curves._ring, curves._curves, curves._buffer = ring, self._curves.compacted(), None
        curves._is_frozen = self._buffer is not None
        curves._rows, curves._bodies, curves._impulse = self._rows.copy(), list(self._bodies), self._impulse.copy()
        return curves

    @property
    def pending(self) -> int:
        """Number of steps that are buffered."""
        return 0 if self._buffer is None else len(self._buffer)

    def update(self) -> bool:
        """Compute the curves of all new steps; return True: no step is left."""
        if self._is_frozen:
            return True
        if self._buffer is None and self._ring.last >= 0 and self._engine.sensors.has(_ALL):
            # All contacts have been watched since the newest step.
            self.add()
        if self._buffer is not None:
            self._compute(self._buffer.pop_block())
        return True

    def truncate(self, stop: int) -> None:
        """Forget the steps from `stop` on."""
        if self._buffer is not None:
            self._compute(self._buffer.pop_block())
            self._curves.truncate(stop)

    def _compute(self, block: StepBlock | None) -> None:
        if block is None:
            return
        values = np.full((_ROWS, len(Signal), len(block)), np.nan, np.float32)
        values[:, SIGNAL_PLACES[Signal.FOUND]] = 0.0
        for signal in _FORCES:
            values[:, SIGNAL_PLACES[signal]] = 0.0
        for _, _, batch in block.groups():
            steps, _, slots = batch.filled.nonzero()
            if batch.in_world_frame or not len(steps):
                # Net forces: which bodies touch is not known.
                continue
            used = batch.cut(0, int(slots.max()) + 1)
            assert used.force is not None
            assert used.pos is not None
            assert used.dist is not None
            assert used.normal is not None
            force, force_world = used.force[used.filled], np.asarray(used.force_world)[used.filled]
            dist = used.dist[used.filled]
            # Before MuJoCo 3.16 contact sensors have no velocities.
            slip = np.full(len(dist), np.nan) if used.linvel is None else np.hypot(*used.linvel[used.filled][:, 1:].T)
            reported = ReportedContacts(steps, used.pos[used.filled], dist, used.normal[used.filled])
            everywhere = np.ones(len(self._geom_bodies), bool)
            geoms = ListedContacts(block.lists).geoms(reported, [(np.arange(len(steps)), everywhere, everywhere)])
            bodies = self._geom_bodies[geoms]
            self._find_rows(bodies, np.linalg.norm(force, axis=1))
            sides = []
            for side, sign in ((0, -1.0), (1, 1.0)):
                # Forces are those on object 2; between two moving bodies the opposite force acts on object 1.
                mine = np.flatnonzero(self._moves[bodies[:, side]] & (self._rows[bodies[:, side]] < _ROWS))
                components = force[mine] * (1.0, sign, sign)
                rows = self._rows[bodies[mine, side]]
                sides.append(_Loads(rows, steps[mine], sign * force_world[mine], components, dist[mine], slip[mine]))
            self._sum_up(values, _Loads(*(np.concatenate(parts) for parts in zip(*sides, strict=True))))
            every = _Loads(np.zeros_like(steps), steps, force_world, force, dist, slip)
            self._sum_up(values, every)
            # All contacts have the sum of magnitudes, in which forces from both sides of a gripped box do not cancel.
            sizes = np.bincount(steps, np.linalg.norm(force, axis=1), len(block))
            values[0, SIGNAL_PLACES[Signal.MAGNITUDE]] = sizes
            values[0, [SIGNAL_PLACES[Signal.TANGENT0], SIGNAL_PLACES[Signal.TANGENT1]]] = np.nan
        self._impulse += np.nan_to_num(values[:, SIGNAL_PLACES[Signal.MAGNITUDE]]).sum(axis=1)
        self._curves.extend(values.reshape(-1, len(block)))

    def _find_rows(self, bodies: NDArray[np.intp], forces: Array) -> None:
        """Give rows to bodies, (n, 2), that touch for the first time, in the order of their forces [N], (n,)."""
        sums = np.bincount(bodies.ravel(), np.repeat(forces, 2), len(self._rows))
        new = np.flatnonzero((np.bincount(bodies.ravel(), minlength=len(self._rows)) > 0) & self._moves)
        new = new[self._rows[new] < 0]
        for body in new[np.argsort(-sums[new], kind="stable")].tolist():
            has_room = len(self._bodies) < _MOST_BODIES
            self._rows[body] = len(self._bodies) + 1 if has_room else _ROWS
            if has_room:
                self._bodies.append(body)

    def _sum_up(self, values: Values, loads: _Loads) -> None:
        """Write the signals of all rows with contacts into `values`, (rows, signals, steps)."""
        count = values.shape[-1]
        keys, place = np.unique(loads.row * count + loads.step, return_inverse=True)
        row, step = np.divmod(keys, count)

        def put(signal: Signal, found: NDArray[Any]) -> None:
            values[row, SIGNAL_PLACES[signal], step] = found

        def total(each: Array) -> Array:
            return np.asarray(np.bincount(place, each, len(keys)), float)

        put(Signal.FOUND, np.bincount(place, minlength=len(keys)))
        for signal, each in zip(_FORCES, loads.components.T, strict=False):
            put(signal, total(each))
        put(Signal.MAGNITUDE, np.sqrt(sum(total(each) ** 2 for each in loads.force.T)))
        nearest, fastest = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
        np.minimum.at(nearest, place, loads.dist)
        with np.errstate(invalid="ignore"):
            np.maximum.at(fastest, place, loads.slip)
        put(Signal.DISTANCE, nearest)
        put(Signal.SLIP, fastest)
