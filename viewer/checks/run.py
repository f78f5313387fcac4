"""Steps a scene for a short time, and keeps the contacts at a hundred instants for the rules."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..engines.contract import Engine
from ..engines.controller import Controller
from ..engines.registry import open_engine, open_log
from ..errors import EngineError, SceneError, UnstableError
from ..mjmodel.matching import contact_forces, relative_velocities
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel
from ..settings import Reduce
from .subject import Start, Subject

Values = NDArray[np.float64]
_INSTANTS = 100
_STATES = 12
"""Number of instants whose states are kept."""
_DROPPED = (int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL))
_TOUCH = int(mujoco.mjtSensor.mjSENS_TOUCH)


@dataclass(frozen=True)
class RunOptions:
    """Options of runs."""

    duration: float = 1.0
    """Simulated time [s]."""
    limit: float = 20.0
    """Wall time after which a run is ended [s]."""
    control: Callable[[], Controller] | None = None
    """Function that makes the controller of the scene; None without one."""
    log: str | None = None
    """File of states and controls to re-simulate in place of runs; None to simulate."""


@dataclass
class Run:
    """Contacts of a run. A row is one contact at one instant; rows are in the order of the instants."""

    start: Start
    subject: Subject
    steps: list[int] = field(default_factory=list)
    """Step of each instant; 0 is the first step."""
    trouble: str = ""
    """Reason why the run ended early; empty if it did not."""
    unstable: bool = False
    """True if the run ended because the simulation diverged."""
    dropped: int = 0
    """Number of warnings about contacts or constraints that did not fit into memory."""
    touch: list[Values] = field(default_factory=list)
    """Values of all touch sensors at each instant [N]."""
    found: dict[str, int] = field(default_factory=dict)
    """Largest number of contacts that each contact sensor matched at an instant, by the sensor's name."""
    states: list[Values] = field(default_factory=list)
    """States at some instants, in the format of mjSTATE_INTEGRATION."""
    cut: bool = False
    """True if the run was ended because its time was up."""
    _parts: list[tuple[NDArray[np.generic], ...]] = field(default_factory=list)

    def add(self, step: int, model: MjModel, data: MjData) -> None:
        """Add an instant: the contacts of the state from which a step started, and their forces."""
        self.steps.append(step)
        contact, every = data.contact, np.arange(data.ncon)
        forces = contact_forces(model, data, every)
        linear, angular = relative_velocities(model, data, every)
        self._parts.append(
            (
                np.full(data.ncon, len(self.steps) - 1),
                contact.geom.copy(),
                contact.dist.copy(),
                contact.includemargin.copy(),
                forces[:, :3],
                contact.friction[:, :2].copy(),
                contact.dim.copy(),
                contact.pos.copy(),
                contact.frame.reshape(-1, 3, 3).copy(),
                linear,
                angular,
                *self._poses(model, data),
            )
        )

    @staticmethod
    def _poses(model: MjModel, data: MjData) -> tuple[NDArray[np.generic], ...]:
        """Return positions [m] and orientations of the two geoms of each contact, world; zeros if the scene has no
        meshes."""
        if not model.nmesh:
            return (np.zeros((data.ncon, 2, 3)), np.zeros((data.ncon, 2, 9)))
        geoms = data.contact.geom
        return data.geom_xpos[geoms], data.geom_xmat[geoms]

    def pose_of(self, row: int, side: int) -> tuple[Values, Values]:
        """Return the orientation, (3, 3), and the position [m], (3,), of a geom at the instant of a row, world."""
        return self._column(12)[row, side].reshape(3, 3).astype(float), self._column(11)[row, side].astype(float)

    def _column(self, place: int) -> NDArray[np.generic]:
        if not self._parts:
            return np.zeros(
                (0, *(((), (2,), (), (), (3,), (2,), (), (3,), (3, 3), (3,), (3,), (2, 3), (2, 9))[place])), float
            )
        return np.concatenate([part[place] for part in self._parts])

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """Instant of each row."""
        return self._column(0).astype(np.intp)

    @cached_property
    def geoms(self) -> NDArray[np.intp]:
        """The two geoms of each row, -1 for a flex, (rows, 2)."""
        return self._column(1).astype(np.intp).reshape(-1, 2)

    @cached_property
    def bodies(self) -> NDArray[np.intp]:
        """The two bodies of each row, the smaller number first; -1 for a flex, (rows, 2)."""
        owners = np.append(self.subject.model.geom_bodyid, -1)
        return np.sort(owners[self.geoms], axis=1)

    @cached_property
    def dist(self) -> Values:
        """Distance of the surfaces [m], negative where they overlap."""
        return self._column(2).astype(float)

    @cached_property
    def limit(self) -> Values:
        """Distance of the surfaces below which forces act [m]."""
        return self._column(3).astype(float)

    @cached_property
    def forces(self) -> Values:
        """Normal and tangential forces [N], contact frame, (rows, 3)."""
        return self._column(4).astype(float)

    @property
    def normal(self) -> Values:
        """Normal forces [N]."""
        return self.forces[:, 0]

    @cached_property
    def tangential(self) -> Values:
        """Magnitudes of the tangential forces [N]."""
        return np.linalg.norm(self.forces[:, 1:], axis=1)

    @cached_property
    def use(self) -> Values:
        """Used part of the possible friction, 1 on the friction cone; 0 without friction."""
        friction = np.maximum(self._column(5).astype(float), 1e-9)
        normal = np.maximum(self.normal, 1e-12)
        shares = np.abs(self.forces[:, 1:]) / friction
        pyramidal = self.subject.model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
        used = shares.sum(axis=1) if pyramidal else np.linalg.norm(shares, axis=1)
        return np.where(self._column(6).astype(int) >= 3, used / normal, 0.0)

    @cached_property
    def positions(self) -> Values:
        """Contact positions [m], world, (rows, 3)."""
        return self._column(7).astype(float)

    @cached_property
    def slip(self) -> Values:
        """Velocity of the second geom along the surface of the first [m/s], world, (rows, 3)."""
        normals = self._column(8).astype(float)[:, 0]
        velocity = self._column(9).astype(float)
        return velocity - (velocity * normals).sum(axis=1, keepdims=True) * normals

    @cached_property
    def turning(self) -> Values:
        """Magnitude of the relative angular velocity of the two bodies [rad/s]."""
        return np.linalg.norm(self._column(10).astype(float), axis=1)

    @property
    def instants(self) -> int:
        """Number of instants."""
        return len(self.steps)

    def body_pairs(self) -> list[tuple[int, int, NDArray[np.intp]]]:
        """Return the pairs of bodies that have contacts, each with its rows; flexes are left out."""
        rigid = np.flatnonzero((self.bodies >= 0).all(axis=1))
        if not len(rigid):
            return []
        pairs, place = np.unique(self.bodies[rigid], axis=0, return_inverse=True)
        order = np.argsort(place.ravel(), kind="stable")
        parts = np.split(rigid[order], np.cumsum(np.bincount(place.ravel()))[:-1])
        return [(int(a), int(b), rows) for (a, b), rows in zip(pairs, parts, strict=True)]

    def total(self, rows: NDArray[np.intp], values: Values) -> Values:
        """Return the sum of the values of some rows at each instant, (instants,)."""
        return np.bincount(self.at[rows], values[rows], minlength=self.instants).astype(float)


def simulate(subject: Subject, start: Start, options: RunOptions) -> Run:
    """Run a scene from a start, and return its contacts."""
    run = Run(start, subject)
    ends = time.monotonic() + options.limit
    model = subject.model
    try:
        # Sensors of an engine take longer to set up than many steps: all runs of a scene share it.
        engine = subject.engine or open_engine(subject.scene, control=options.control() if options.control else None)
        subject.engine = engine
    except (SceneError, EngineError) as error:
        run.trouble = str(error)
        return run
    touch = _touch_columns(model)
    declared = [each.name for each in subject.declared if each.name in engine.sensors.names]
    limited = [name for name in declared if engine.sensors[name].layout.reduce is not Reduce.NETFORCE]

    def keep(step: int) -> None:
        data = engine.contact_data()
        run.add(step, model, data)
        run.touch.append(np.array(data.sensordata[touch]))
        for name in limited:
            run.found[name] = max(run.found.get(name, 0), int(np.max(engine.contacts(name).found)))

    try:
        if options.log is not None:
            _replay(engine, options, keep, ends, run)
        else:
            _begin(engine, start)
            _step(engine, options, keep, ends, run)
    except UnstableError as error:
        run.trouble, run.unstable = error.reason, True
    except EngineError as error:
        run.trouble = str(error)
    run.dropped = sum(int(engine.pose().warning[kind].number) for kind in _DROPPED)
    return run


def _begin(engine: Engine, start: Start) -> None:
    engine.reset(start.key)
    if start.data is not None:
        model, data = engine.model, engine.pose()
        state = np.empty(mujoco.mj_stateSize(model, STATE))
        mujoco.mj_getState(model, start.data, state, STATE)
        mujoco.mj_setState(model, data, state, STATE)
        mujoco.mj_forward(model, data)


def _step(engine: Engine, options: RunOptions, keep: Callable[[int], None], ends: float, run: Run) -> None:
    total = max(1, round(options.duration / engine.timestep))
    marks = np.unique(np.linspace(0, total - 1, min(_INSTANTS, total)).round().astype(int)).tolist()
    kept = set(np.linspace(0, len(marks) - 1, min(_STATES, len(marks))).round().astype(int).tolist())
    done = 0
    for number, mark in enumerate(marks):
        if mark > done:
            engine.step(mark - done)
        if number in kept:
            state = np.empty(mujoco.mj_stateSize(engine.model, STATE))
            mujoco.mj_getState(engine.model, engine.pose(), state, STATE)
            run.states.append(state)
        engine.step(1)
        done = mark + 1
        keep(mark)
        if time.monotonic() > ends:
            run.cut, run.trouble = True, f"ended after {options.limit:g} s, at {engine.time:.3g} s of simulated time"
            return


def _replay(engine: Engine, options: RunOptions, keep: Callable[[int], None], ends: float, run: Run) -> None:
    if engine.log is None:
        open_log(engine, str(options.log))
    assert engine.log is not None
    logged = engine.resimulate(engine.log)
    total = max(1, round(logged.duration / engine.timestep))
    every, step = max(1, total // _INSTANTS), 0
    while logged.next_step() is not None:
        if step % every == 0 and step:
            keep(step)
        step += 1
        if time.monotonic() > ends:
            run.cut, run.trouble = True, f"ended after {options.limit:g} s, at step {step} of the log"
            return


def _touch_columns(model: MjModel) -> NDArray[np.intp]:
    """Return the columns of the touch sensors in `sensordata`, in their order."""
    return model.sensor_adr[model.sensor_type == _TOUCH]
