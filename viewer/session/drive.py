"""Set controls, poses and mocap bodies by hand, or by rules that act before every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.actuators import Actuator, Servo, read_actuators, read_joints
from ..mjmodel.names import body_names
from ..mjmodel.types import MjData
from ..render.view import View
from ..scene_files.sensor_edits import UndoStack
from .simulation import Simulation

_POSE = ("qpos", "mocap_pos", "mocap_quat")
_INPUTS = ("ctrl", "qvel", *_POSE)
"""Arrays of an mjData that the user may change."""
Values = NDArray[np.float64]


@dataclass
class Noise:
    """Random changes of the controls, as simulate makes them: an Ornstein-Uhlenbeck process on each."""

    deviation: float = 0.0
    """Standard deviation, as a part of half the control's range; 0 for none."""
    rate: float = 0.1
    """Time in which a change fades [s]; 0 for a new change in every step."""
    levels: Values = field(default_factory=lambda: np.zeros(0))
    """Present change of each control, as a part of half its range, (num_envs, nu)."""
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


@dataclass
class Hold:
    """Spring and damper that hold motors in the pose that they had when holding began."""

    stiffness: float = 50.0
    """Stiffness of the spring [N·m/rad] or [N/m]."""
    damping: float = 2.0
    """Damping [N·m·s/rad] or [N·s/m]."""
    targets: Values | None = None
    """Positions of the held joints, (num_envs, motors); None while nothing is held."""


class Drive:
    """Controls and poses of the environments of a simulation."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        model = simulation.engine.model
        self.actuators = read_actuators(model)
        self.joints = read_joints(model)
        names, places = body_names(model), model.body_mocapid.tolist()
        self.mocap_names = [names[places.index(index)] for index in range(model.nmocap)]
        """Names of the mocap bodies, by mocap index."""
        self.noise = Noise(levels=np.zeros((simulation.engine.num_envs, model.nu)))
        self.hold = Hold()
        self.all_environments = False
        """True if the user's changes apply to every environment, not only to the one that is shown."""
        self._wanted: Values | None = None
        """Controls without noise, (num_envs, nu), while there is noise."""
        self.undo_stack = UndoStack()
        """Changes that the user can undo; the application sets its own stack, which holds edits of the scene too."""
        self._done_at = -1
        """`Simulation.steps` at the last change by hand."""
        self._posed_at = -1
        """`Simulation.changes` when a pose was last set by hand."""
        self._drags = False
        """True while the user drags a body of the paused scene."""
        motors = [each for each in self.actuators if each.servo is Servo.FORCE and each.joint is not None]
        self._held = [each for each in motors if each.ratio]
        addresses = np.array([each.joint for each in self._held], np.intp)
        self._held_qpos, self._held_dofs = model.jnt_qposadr[addresses], model.jnt_dofadr[addresses]
        self._ratios = np.array([each.ratio for each in self._held])
        self._indices = np.array([each.index for each in self._held], np.intp)
        self._low = np.array([each.low for each in self.actuators])
        self._high = np.array([each.high for each in self.actuators])

    @property
    def is_posed(self) -> bool:
        """True if the pose that is shown was set by hand: its contacts are found, its forces not yet known."""
        return self._posed_at == self._simulation.changes

    @property
    def can_write(self) -> bool:
        """True if the next step starts from the shown state; False at a past step that the engine cannot return to."""
        history = self._simulation.history
        return history is None or history.at_end or history.can_resume

    @property
    def controls(self) -> Values:
        """Controls of the environment that is shown, without noise, (nu,)."""
        if self._wanted is not None:
            return self._wanted[self._shown]
        return self._simulation.shown.data.ctrl

    def begin(self, description: str, envs: Sequence[int] | None = None) -> None:
        """Group the changes until the next call into one undo step. `envs`: by default those that the user drives."""
        self.record(description, self._restorer(self._environments if envs is None else envs))

    def _restorer(self, envs: Sequence[int]) -> Callable[[], None]:
        """Return a function that sets the inputs of environments back to their present values."""
        before = {env: [np.copy(getattr(self._data(env), name)) for name in _INPUTS] for env in envs}
        held = self.hold.targets

        def restore() -> None:
            self.hold.targets = held
            moved = False
            for env, arrays in before.items():
                data = self._data(env)
                for name, values in zip(_INPUTS, arrays, strict=True):
                    array = getattr(data, name)
                    moved = moved or (name != "ctrl" and bool((array != values).any()))
                    array[:] = values
                if self._wanted is not None:
                    self._wanted[env] = data.ctrl
            if moved:
                self._pose(envs)

        return restore

    def record(self, description: str, restore: Callable[[], None]) -> None:
        """Put a change by hand on the undo stack until the next step; `restore` undoes it."""
        steps = self._simulation.steps
        if steps != self._done_at:
            self.undo_stack.forget(self)
        self._done_at = steps
        self.undo_stack.push(self, description, restore, lambda: self._simulation.steps == steps)

    def set_controls(self, values: dict[int, float]) -> None:
        """Set controls, by actuator index, from the next step on."""
        for env in self._environments:
            for index, value in values.items():
                self._data(env).ctrl[index] = value
                if self._wanted is not None:
                    self._wanted[env, index] = value
        for run in self._simulation.beside:
            for index, value in values.items():
                run.engine.data.ctrl[index] = value

    def move_together(self, actuators: Sequence[Actuator], moved: Actuator, value: float) -> None:
        """Set a control, and move others by the same part of their ranges."""
        now = self.controls
        part = (value - now[moved.index]) / (moved.high - moved.low)
        values = {
            each.index: float(np.clip(now[each.index] + part * (each.high - each.low), each.low, each.high))
            for each in actuators
        }
        self.set_controls(values | {moved.index: value})

    def set_position(self, place: int, values: Sequence[float]) -> None:
        """Set values of `qpos` from an index on, with quaternions normalised, and show the pose at once."""
        for env in self._environments:
            data = self._data(env)
            data.qpos[place : place + len(values)] = values
            for joint in self.joints:
                if joint.size > 1 and place <= joint.place < place + len(values):
                    _normalize(data.qpos[joint.place + joint.size - 4 : joint.place + joint.size])
        self._pose()

    def set_mocap(self, index: int, position: Sequence[float], quaternion: Sequence[float]) -> None:
        """Move a mocap body."""
        for env in self._environments:
            data = self._data(env)
            data.mocap_pos[index] = position
            data.mocap_quat[index] = quaternion
            _normalize(data.mocap_quat[index])
        self._pose()

    def drag(self, view: View) -> None:
        """Move a body, or a mocap body, of the paused scene with the mouse that drags it."""
        env, model = self._shown, self._simulation.engine.model
        data = self._data(env)
        self._drags = self._drags and view.perturbing
        if not self.can_write and view.perturbing:
            return
        before, restore = [getattr(data, name).copy() for name in _POSE], self._restorer([env])
        if not view.apply_perturb(model, data, paused=True):
            return
        if all((getattr(data, name) == old).all() for name, old in zip(_POSE, before, strict=True)):
            return
        if not self._drags:
            self._drags = True
            self.record(f"pose of {body_names(model)[view.selected_body]}", restore)
        self._pose([env])

    def set_noise(self, deviation: float, rate: float) -> None:
        """Change the noise of all controls; with a deviation of 0, controls return to the values that were set."""
        self.noise.deviation, self.noise.rate = max(deviation, 0.0), max(rate, 0.0)
        datas = [self._data(env) for env in range(self._simulation.engine.num_envs)]
        if deviation > 0 and self._wanted is None:
            self._wanted = np.array([data.ctrl for data in datas]).reshape(len(datas), -1)
        elif deviation <= 0 and self._wanted is not None:
            for data, wanted in zip(datas, self._wanted, strict=True):
                data.ctrl[:] = wanted
            self._wanted = None

    @property
    def held(self) -> list[Actuator]:
        """Motors that can hold a joint where it is."""
        return self._held

    @property
    def can_hold(self) -> bool:
        """True if there are actuators that can hold joints where they are."""
        return any(each.joint is not None and each.servo in (Servo.POSITION, Servo.FORCE) for each in self.actuators)

    def hold_pose(self, on: bool) -> None:
        """Hold the present pose: servos are set to it, motors act as a spring and a damper towards it."""
        self.begin("hold", range(self._simulation.engine.num_envs))
        if not on:
            self.hold.targets = None
            return
        engine = self._simulation.engine
        targets = []
        for env in range(engine.num_envs):
            data = self._data(env)
            for each in self.actuators:
                if each.servo is Servo.POSITION and each.joint is not None:
                    length = each.gear * float(data.qpos[engine.model.jnt_qposadr[each.joint]])
                    value = each.balance[0] + each.balance[1] * length
                    data.ctrl[each.index] = float(np.clip(value, each.low, each.high))
            targets.append(data.qpos[self._held_qpos].copy())
            if self._wanted is not None:
                self._wanted[env] = data.ctrl
        self.hold.targets = np.array(targets).reshape(engine.num_envs, -1) if self._held else None

    def after_reset(self) -> None:
        """Handle a jump of the state: forget what can be undone, and take the controls of the new state."""
        self.undo_stack.forget(self)
        if self._wanted is not None:
            self._wanted[:] = [self._data(env).ctrl for env in range(self._simulation.engine.num_envs)]

    def driver(self) -> Callable[[], object] | None:
        """Return a function that sets the inputs of every step, the engine's controller included; None if the user
        changes nothing, so that the engine's own controller is enough."""
        engine = self._simulation.engine
        if self._wanted is None and self.hold.targets is None:
            return None
        control = engine.driver()
        datas = [self._data(env) for env in range(engine.num_envs)]

        def drive() -> None:
            if self._wanted is not None:
                for data, wanted in zip(datas, self._wanted, strict=True):
                    data.ctrl[:] = wanted
            if self.hold.targets is not None:
                for data, targets in zip(datas, self.hold.targets, strict=True):
                    self._push_back(data, targets)
            if control is not None:
                control()
            if self._wanted is not None:
                self._shake(datas, engine.timestep)

        return drive

    def _push_back(self, data: MjData, targets: Values) -> None:
        position, velocity = data.qpos[self._held_qpos], data.qvel[self._held_dofs]
        force = self.hold.stiffness * (targets - position) - self.hold.damping * velocity
        data.ctrl[self._indices] = force / self._ratios

    def _shake(self, datas: Sequence[MjData], timestep: float) -> None:
        assert self._wanted is not None
        noise = self.noise
        fade = np.exp(-timestep / noise.rate) if noise.rate > 0 else 0.0
        fresh = noise.random.standard_normal(noise.levels.shape)
        noise.levels = fade * noise.levels + noise.deviation * np.sqrt(1 - fade**2) * fresh
        half = (self._high - self._low) / 2
        for env, data in enumerate(datas):
            self._wanted[env] = data.ctrl
            shaken = self._wanted[env] + half * noise.levels[env]
            data.ctrl[:] = np.clip(shaken, self._low, self._high)

    def mark_posed(self) -> None:
        """Note that the state that is shown was set by hand, and no step has led to it."""
        if self._wanted is not None:
            self._wanted[:] = [self._data(env).ctrl for env in range(self._simulation.engine.num_envs)]
        self._posed_at = self._simulation.changes

    def _pose(self, envs: Sequence[int] | None = None) -> None:
        """Show the poses that were set in some environments."""
        for env in self._environments if envs is None else envs:
            self._simulation.engine.adopt_pose(env)
        self._simulation.changes += 1
        self._posed_at = self._simulation.changes

    @property
    def _shown(self) -> int:
        return self._simulation.shown_env

    @property
    def _environments(self) -> Sequence[int]:
        return range(self._simulation.engine.num_envs) if self.all_environments else [self._shown]

    def _data(self, env: int) -> MjData:
        return self._simulation.engine.pose(env)


def _normalize(quaternion: Values) -> None:
    length = float(np.linalg.norm(quaternion))
    quaternion[:] = quaternion / length if length > 1e-9 else (1.0, 0.0, 0.0, 0.0)
