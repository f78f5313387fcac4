"""Brings a robot into situations in which contact code is often wrong: standing, falling, tilted, pushed, grasping."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.actuators import Servo, read_actuators
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel

_FREE, _SLIDE = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_HOLD = 0.15
"""Time between two changes of random controls [s]."""
_SWEEP = 0.4
"""Time in which a pinned object moves from one place to the next [s]."""
_PULL = 12.0
"""Largest force with which an object is pressed against fingers [N]."""
_TURN = 1.3
"""Frequency at which the direction of a push rotates [1/s]."""
_LOWERED = 40
"""Number of heights through which a robot is lowered if contacts have a gap."""
_TAPS = 6
"""Number of contacts that are shorter than a control step."""
_KNOTS, _TRIES = 4, 40
"""Number of poses in which limbs touch each other, and of random poses that are tried to find them."""
_HELD = 10
"""Number of steps for which each pose with touching limbs is shown."""
_HIGH = 2.0
"""Height of the robot in poses with touching limbs [m]."""
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Situation:
    """Situation in which a term is tested: a run of some tenths of a second."""

    name: str
    duration: float
    """Simulated time [s]."""
    start: Callable[[], None]
    """Function that writes the first state into the mjData."""
    drive: Callable[[float], None]
    """Function that sets controls and pushes for a time since the start [s]."""


class Stage:
    """Model with the actions of situations: held joints, pushes, and a base that can be placed anywhere."""

    def __init__(self, model: MjModel, seed: int = 0) -> None:
        """Prepare a model, which is only read."""
        self.model, self.data = model, mujoco.MjData(model)
        self._random = np.random.default_rng(seed)
        self._reset()
        mujoco.mj_forward(model, self.data)
        self.static = model.body_weldid[model.geom_bodyid] == 0
        """True for geoms that never move, (ngeom,)."""
        self._base = self._find_base()
        masses = model.body_mass[1:].sum()
        tree = model.body_rootid == model.body_rootid[self._base] if self._base else np.ones(model.nbody, bool)
        self.mass = float(model.body_mass[tree].sum()) if self._base else float(masses)
        """Mass of the robot [kg]."""
        self.state = np.empty(mujoco.mj_stateSize(model, STATE))
        """State from which the last step started, with its inputs."""
        self.weight = max(self.mass * float(np.linalg.norm(model.opt.gravity)), 1e-3)
        """Weight of the robot [N]."""
        self._free = self._free_joint(self._base)
        self._slide = self._vertical_slide(self._base)
        self._actuators = read_actuators(model)
        self._servos = [each for each in self._actuators if each.servo is Servo.POSITION]
        held = {each.joint for each in self._actuators if each.servo is not Servo.POSITION and each.joint is not None}
        self._held = np.array(sorted(held), np.intp)
        self._settle()
        self.home = self.data.qpos.copy()
        self._home_ctrl = self._holding_controls()
        self._targets = self.home.copy()
        dofs = model.jnt_dofadr[self._held] if len(self._held) else np.zeros(0, np.intp)
        inertia = model.dof_M0[dofs] if hasattr(model, "dof_M0") else np.maximum(model.dof_armature[dofs], 0.02)
        inertia = np.maximum(inertia, 1e-4)
        stiff = np.minimum(0.8 * self.weight, 0.04 * inertia / model.opt.timestep**2)
        self._dofs, self._stiff = dofs, stiff
        self._damp = np.minimum(1.4 * np.sqrt(stiff * inertia), 0.3 * inertia / model.opt.timestep)

    @property
    def can_fall(self) -> bool:
        """True if a base can be lifted off the floor."""
        return self._free is not None or self._slide is not None

    def situations(self, every: int = 1) -> Iterator[Situation]:
        """Yield the situations that fit any robot. `every`: physics steps of a control step."""
        if self.can_fall:
            yield Situation("standing", 0.5, self._place(), self._still)
            yield Situation("pushed round", 1.2, self._place(), self._turning(0.35))
            yield Situation("in the air", 0.3, self._place(height=2.0), self._random_controls(0.6))
            yield Situation("dropped", 0.6, self._place(height=0.12), self._still)
            yield Situation("hopping", 1.4, self._place(), self._hopping)
            if self._free is not None:
                for name, roll, pitch in (
                    ("dropped on one side", 0.3, 0.15),
                    ("dropped on the other side", -0.3, -0.2),
                ):
                    yield Situation(name, 0.5, self._place(height=0.1, roll=roll, pitch=pitch), self._turning(0.2))
                yield Situation("sliding", 0.4, self._place(speed=(0.8, -0.5)), self._still)
                yield Situation("upside down", 0.6, self._place(height=0.25, roll=np.pi), self._random_controls(0.5))
            yield from self._posed(every)
        yield Situation("random controls", 1.0, self._place(), self._random_controls(1.0))

    def _posed(self, every: int) -> Iterator[Situation]:
        """Yield situations of poses at rest: contacts within their gap or shorter than a control step, and limbs that
        touch."""
        if every > 1:
            touching, above = self._pose(self.home, -1e-3), self._pose(self.home, 0.1)
            taps = [[touching] * (1 + tap % (every - 1)) + [above] * (2 * every) for tap in range(_TAPS)]
            yield self._shown("tapping", [state for tap in taps for state in tap], 1)
        gap = max((float(array.max(initial=0.0)) for array in (self.model.geom_gap, self.model.pair_gap)), default=0.0)
        if gap > 0:
            heights = np.linspace(1.5 * gap, -1e-3, _LOWERED)
            yield self._shown("within the gap", [self._pose(self.home, height) for height in heights], 2)
        knotted = list(self._knotted())
        if knotted:
            yield self._shown("self-contact", knotted, _HELD)

    def _knotted(self) -> Iterator[Vector]:
        """Yield states high above the floor in which limbs just touch each other, on the way to random poses."""
        model, random = self.model, np.random.default_rng(1)
        places = [int(model.jnt_qposadr[j]) for j in range(model.njnt) if model.jnt_limited[j]]
        ranges = model.jnt_range[model.jnt_limited.astype(bool)]
        if not places:
            return
        start = self.home.copy()
        tree = model.body_rootid[model.geom_bodyid] == model.body_rootid[self._base]
        found = 0
        for _ in range(_TRIES):
            end = start.copy()
            end[places] = random.uniform(ranges[:, 0], ranges[:, 1])
            low, high = 0.0, 1.0
            if not self._is_knotted(end, tree) or self._is_knotted(start, tree):
                continue
            for _ in range(12):
                middle = (low + high) / 2
                touches = self._is_knotted(start + middle * (end - start), tree)
                low, high = (low, middle) if touches else (middle, high)
            yield self._pose(start + high * (end - start), _HIGH)
            found += 1
            if found == _KNOTS:
                return

    def _is_knotted(self, qpos: Vector, tree: NDArray[np.bool_]) -> bool:
        self.data.qpos[:] = qpos
        self._lift(_HIGH)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        geoms = self.data.contact.geom
        return bool((tree[geoms].all(axis=1) & (geoms >= 0).all(axis=1) & (self.data.contact.dist < 0)).any())

    def _pose(self, qpos: Vector, height: float) -> Vector:
        """Return the state of a configuration at rest, lifted by a height [m]."""
        self._reset()
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = qpos, 0.0, self._home_ctrl
        self._lift(height)
        state = np.empty_like(self.state)
        mujoco.mj_getState(self.model, self.data, state, STATE)
        return state

    def _shown(self, name: str, states: Sequence[Vector], steps: int) -> Situation:
        """Return a situation that shows each of some states for a number of steps."""
        timestep = self.model.opt.timestep

        def drive(time: float) -> None:
            state = states[min(round(time / timestep) // steps, len(states) - 1)].copy()
            state[0] = time
            mujoco.mj_setState(self.model, self.data, state, STATE)

        return Situation(name, len(states) * steps * timestep, lambda: None, drive)

    def keyframes(self) -> Iterator[Situation]:
        """Yield situations of the scene as a program starts it: from every keyframe, with its controls."""
        keys = range(min(self.model.nkey, 3)) if self.model.nkey else (-1,)
        for key in keys:
            name = "scene" if key < 0 else f"keyframe {self.model.key(key).name or key}"
            yield Situation(name, 1.2, lambda key=key: self._reset(key), lambda time: None)  # type: ignore[misc]

    def grasps(self, fingers: Sequence[NDArray[np.bool_]], thing: NDArray[np.bool_]) -> Iterator[Situation]:
        """Yield situations for fingers and an object with a free joint. `fingers`, `thing`: masks of their geoms,
        (ngeom,)."""
        body = int(self.model.geom_bodyid[np.flatnonzero(thing)[0]])
        joint = self._free_joint(int(self.model.body_rootid[body]))
        if joint is None or len(fingers) < 2:
            return
        self._reset()
        mujoco.mj_forward(self.model, self.data)
        rest = self.data.qpos.copy()
        first, second = (np.mean(self.data.geom_xpos[np.flatnonzero(each)], axis=0) for each in fingers[:2])
        middle, across = (first + second) / 2, second - first
        across = across / max(np.linalg.norm(across), 1e-9)
        place = int(self.model.jnt_qposadr[joint])
        quat = rest[place + 3 : place + 7].copy()
        size = float(np.max(self.model.geom_rbound[np.flatnonzero(thing)]))
        reach = max(float(np.linalg.norm(second - first)), 2 * size)
        others = np.cross(across, [0.0, 0.0, 1.0]) if abs(across[2]) < 0.9 else np.cross(across, [1.0, 0.0, 0.0])
        others /= np.linalg.norm(others)
        down = np.cross(others, across)
        grip = [each for each in self._actuators if each.joint is None or self._moves(each.joint, fingers)]

        def sweep(direction: Vector, opening: float, span: float, outwards: bool = False) -> Callable[[float], None]:
            def drive(time: float) -> None:
                self._grip(grip, opening)
                share = min(time / _SWEEP, 1.0)
                self._pin(joint, middle + direction * span * (share if outwards else 1.0 - share), quat, not time)

            return drive

        def held(opening: Callable[[float], float], point: Vector) -> Callable[[float], None]:
            def drive(time: float) -> None:
                self._grip(grip, opening(time))
                self._pin(joint, point, quat, not time)

            return drive

        def start() -> None:
            self.data.qpos[:] = rest
            self.data.qvel[:] = self.data.qacc_warmstart[:] = 0.0

        for first_limit in (0.0, 1.0):
            yield Situation("squeezed", 1.6, start, held(lambda time, at=first_limit: _swing(time, at), middle))  # type: ignore[misc]
        for name, direction in (("first finger", -across), ("second finger", across)):
            for opening in (0.0, 0.5, 1.0):
                yield Situation(f"against the {name}", _SWEEP + 0.1, start, sweep(direction, opening, reach, True))
        for direction in (others, down, -others, -down):
            for opening in (0.0, 1.0):
                yield Situation("across the fingertips", _SWEEP + 0.1, start, sweep(direction, opening, 2 * reach))
        for opening in (0.0, 1.0):
            beside = middle + (reach + size + 0.025) * down
            yield Situation("beside the fingers", 0.2, start, held(lambda time, at=opening: at, beside))  # type: ignore[misc]

    def logged(self, states: Sequence[Vector]) -> Situation:
        """Return the steps of a user's own run as a situation; its recorded states may be several steps apart."""
        timestep = self.model.opt.timestep
        steps = np.round((np.array([state[0] for state in states]) - states[0][0]) / timestep).astype(int)
        places = {int(step): place for place, step in enumerate(steps)}

        def drive(time: float) -> None:
            place = places.get(round(time / timestep))
            if place is not None:
                mujoco.mj_setState(self.model, self.data, states[place], STATE)

        return Situation("log", (int(steps[-1]) + 1) * timestep, lambda: None, drive)

    def controlled(self, control: Callable[[MjModel, MjData], object], duration: float) -> Iterator[Situation]:
        """Yield situations of the scene under a user's own controller, from every keyframe."""
        for each in self.keyframes():
            name = f"controlled, {each.name}"
            yield Situation(name, duration, each.start, lambda time: (control(self.model, self.data), None)[1])

    def run(self, situation: Situation) -> Iterator[float]:
        """Step a situation; yield the time since its start [s] after every physics step."""
        model, data = self.model, self.data
        self._reset()
        situation.start()
        data.time = 0.0
        mujoco.mj_forward(model, data)
        for step in range(max(1, round(situation.duration / model.opt.timestep))):
            data.xfrc_applied[:] = data.qfrc_applied[:] = 0.0
            situation.drive(step * model.opt.timestep)
            mujoco.mj_getState(model, data, self.state, STATE)
            mujoco.mj_step(model, data)
            if not np.isfinite(data.qpos).all() or data.time < 0.5 * model.opt.timestep:
                return
            yield step * model.opt.timestep

    def _reset(self, key: int | None = None) -> None:
        if key is None:
            names = [self.model.key(i).name for i in range(self.model.nkey)]
            key = next(
                (names.index(name) for name in ("home", "stand", "standing") if name in names), 0 if names else -1
            )
        if key >= 0:
            mujoco.mj_resetDataKeyframe(self.model, self.data, key)
        else:
            mujoco.mj_resetData(self.model, self.data)

    def _find_base(self) -> int:
        """Return the root body of the heaviest free-floating tree; 0 if there is none."""
        model = self.model
        roots = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
        roots = [root for root in roots if self._free_joint(root) is not None or self._vertical_slide(root) is not None]
        return max(
            roots,
            key=lambda root: (int((model.body_rootid == root).sum()), float(model.body_subtreemass[root])),
            default=0,
        )

    def _free_joint(self, body: int) -> int | None:
        joint = int(self.model.body_jntadr[body]) if body else -1
        return joint if joint >= 0 and self.model.jnt_type[joint] == _FREE else None

    def _vertical_slide(self, body: int) -> int | None:
        if not body:
            return None
        first, count = int(self.model.body_jntadr[body]), int(self.model.body_jntnum[body])
        for joint in range(first, first + count):
            driven = any(each == joint for each in self.model.actuator_trnid[:, 0]) if self.model.nu else False
            if self.model.jnt_type[joint] == _SLIDE and abs(self.model.jnt_axis[joint][2]) > 0.99 and not driven:
                return joint
        return None

    def _touches_floor(self) -> bool:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        geoms = self.data.contact.geom
        static = self.static[geoms].any(axis=1) & (geoms >= 0).all(axis=1)
        tree = self.model.body_rootid[self.model.geom_bodyid[geoms]] == self.model.body_rootid[self._base]
        return bool((static & tree.any(axis=1) & (self.data.contact.dist < 0)).any())

    def _lift(self, height: float) -> None:
        if self._free is not None:
            self.data.qpos[self.model.jnt_qposadr[self._free] + 2] += height
        elif self._slide is not None:
            joint = self._slide
            self.data.qpos[self.model.jnt_qposadr[joint]] += height * np.sign(self.model.jnt_axis[joint][2])

    def _settle(self) -> None:
        """Lower the robot to the floor in its pose."""
        if not self.can_fall:
            return
        height = 0.0
        while self._touches_floor() and height < 4.0:
            self._lift(0.1)
            height += 0.1
        fallen = 0.0
        while not self._touches_floor() and fallen < 4.0:
            self._lift(-0.1)
            fallen += 0.1
        if fallen >= 4.0:
            self._lift(fallen)
            return
        low, high = 0.0, 0.1
        for _ in range(10):
            middle = (low + high) / 2
            self._lift(middle)
            inside = self._touches_floor()
            self._lift(-middle)
            low, high = (middle, high) if inside else (low, middle)
        self._lift(low)
        mujoco.mj_forward(self.model, self.data)

    def _holding_controls(self) -> Vector:
        """Return the controls with which servos keep their position: those of the keyframe, or of the pose."""
        controls = self.data.ctrl.copy()
        if not controls.any():
            for each in self._servos:
                constant, slope = each.balance
                controls[each.index] = constant + slope * float(self.data.actuator_length[each.index])
        for each in self._actuators:
            if each.servo is not Servo.POSITION:
                controls[each.index] = 0.0
        return controls

    def _place(
        self, height: float = 0.0, roll: float = 0.0, pitch: float = 0.0, speed: tuple[float, float] = (0.0, 0.0)
    ) -> Callable[[], None]:
        def start() -> None:
            data = self.data
            data.qpos[:], data.qvel[:] = self.home, 0.0
            self._targets = self.home.copy()
            if self._free is not None and (roll or pitch):
                place = int(self.model.jnt_qposadr[self._free]) + 3
                turn, result = np.zeros(4), np.zeros(4)
                mujoco.mju_euler2Quat(turn, np.array([roll, pitch, 0.0]), "xyz")
                mujoco.mju_mulQuat(result, turn, data.qpos[place : place + 4])
                data.qpos[place : place + 4] = result
                self._settle()
            self._lift(height)
            if self._free is not None:
                dof = int(self.model.jnt_dofadr[self._free])
                data.qvel[dof : dof + 2] = speed

        return start

    def _hold(self) -> None:
        """Hold joints with motors by a spring, and joints with servos by their control."""
        data = self.data
        data.ctrl[:] = self._home_ctrl
        places = self.model.jnt_qposadr[self._held] if len(self._held) else np.zeros(0, np.intp)
        data.qfrc_applied[self._dofs] = (
            self._stiff * (self._targets[places] - data.qpos[places]) - self._damp * data.qvel[self._dofs]
        )

    def _still(self, time: float) -> None:
        self._hold()

    def _turning(self, share: float) -> Callable[[float], None]:
        def drive(time: float) -> None:
            self._hold()
            angle, force = 2 * np.pi * _TURN * time, share * self.weight
            self._push(np.array([force * np.cos(angle), force * np.sin(angle), 0.5 * force * np.sin(0.7 * angle)]))

        return drive

    def _hopping(self, time: float) -> None:
        self._hold()
        phase = time % 0.35
        push = 2.0 if phase < 0.08 else 0.0
        angle = 2 * np.pi * time
        side = 0.3 * self.weight
        self._push(np.array([side * np.cos(angle), side * np.sin(angle), push * self.weight]))

    def _push(self, force: Vector) -> None:
        if self._base:
            point = self.data.xipos[self._base]
            center = self.data.subtree_com[self._base]
            self.data.xfrc_applied[self._base, :3] = force
            # At the centre of mass of all, so that a vertical push does not tip the robot over.
            self.data.xfrc_applied[self._base, 3:] = np.cross(center - point, force)

    def _random_controls(self, share: float) -> Callable[[float], None]:
        last = -1

        def drive(time: float) -> None:
            nonlocal last
            if int(time / _HOLD) != last or time == 0:
                last = int(time / _HOLD)
                self._wanted = self._home_ctrl.copy()
                for each in self._actuators:
                    width = 0.35 * share * (each.high - each.low) if np.isfinite(each.high - each.low) else share
                    if each.servo is Servo.POSITION or each.joint is None or self._free_base_less:
                        value = self._home_ctrl[each.index] + self._random.uniform(-1, 1) * width
                        self._wanted[each.index] = np.clip(value, each.low, each.high)
                self._targets = self.home.copy()
                places = self.model.jnt_qposadr[self._held] if len(self._held) else np.zeros(0, np.intp)
                self._targets[places] += share * self._random.uniform(-0.5, 0.5, len(places))
            self._hold()
            self.data.ctrl[:] = self._wanted

        return drive

    @property
    def _free_base_less(self) -> bool:
        return not self.can_fall

    def _moves(self, joint: int, fingers: Sequence[NDArray[np.bool_]]) -> bool:
        """Return True if a joint moves a finger but not all fingers at once."""
        body = int(self.model.jnt_bodyid[joint])
        moved = []
        for finger in fingers:
            holder = int(self.model.geom_bodyid[np.flatnonzero(finger)[0]])
            while holder > body:
                holder = int(self.model.body_parentid[holder])
            moved.append(holder == body)
        return any(moved) and not all(moved)

    def _grip(self, actuators: Sequence[object], opening: float) -> None:
        self.data.ctrl[:] = self._home_ctrl
        for each in self._actuators:
            if each in actuators and np.isfinite(each.high - each.low):
                self.data.ctrl[each.index] = each.low + opening * (each.high - each.low)

    def _pin(self, joint: int, point: Vector, quat: Vector, jump: bool) -> None:
        """Pull an object to a point by a spring that yields to contacts; `jump`: True to place the object there at
        once."""
        model, data = self.model, self.data
        place, dof, body = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]), int(model.jnt_bodyid[joint])
        if jump:
            data.qpos[place : place + 3], data.qpos[place + 3 : place + 7] = point, quat
            data.qvel[dof : dof + 6] = 0.0
            return
        rate, mass = min(100.0, 0.2 / model.opt.timestep), float(model.body_subtreemass[body])
        pull = mass * (rate**2 * (point - data.qpos[place : place + 3]) - 2 * rate * data.qvel[dof : dof + 3])
        size = float(np.linalg.norm(pull))
        data.qfrc_applied[dof : dof + 3] = pull * min(1.0, _PULL / max(size, 1e-9)) - mass * model.opt.gravity
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, quat, data.qpos[place + 3 : place + 7])
        inertia = np.diag(model.body_inertia[body])
        data.qfrc_applied[dof + 3 : dof + 6] = inertia @ (rate**2 * turn - 2 * rate * data.qvel[dof + 3 : dof + 6])


def _swing(time: float, start: float) -> float:
    """Return the opening of the fingers at a time [s], which swings from one limit to the other and back, 0 to 1."""
    return float(0.5 + (start - 0.5) * np.cos(2 * np.pi * time / 0.8))
