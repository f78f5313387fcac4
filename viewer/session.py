"""One open scene and what a person chose to see of it: engine, view and choices to readings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from .engines.contract import ContactDetails, ContactSensor, Engine
from .engines.errors import EngineError, SceneError, UnstableError
from .engines.following.tracking import ContactTracker
from .engines.mujoco.engine import MujocoEngine
from .engines.pace import Pace
from .reasons import Reasons
from .render.scale import GlyphScale, glyph_scale
from .render.view import View
from .sensors.contacts import Array, ContactBatch
from .settings import MAX_HISTORY_MEGABYTES, MAX_SPEED, MIN_SPEED, Options, Reduce, ViewState
from .timeline import Timeline

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Speeds that the slower and faster keys walk through."""


@dataclass(frozen=True)
class Highlight:
    """A contact, or one of its components, that a person points at."""

    sensor: str
    slot: int
    component: int | None = None
    """0 normal, 1 tangent0, 2 tangent1; None for the whole contact."""


@dataclass(frozen=True)
class SensorReading:
    """One sensor at one instant."""

    sensor: ContactSensor
    batch: ContactBatch
    array: Array
    """The declared sensor's array."""
    found: int
    """Number of matching contacts."""
    reported: int
    """Number of filled slots."""
    net_force: Array
    """Sum of the reported contacts' forces on object 2 [N], world, (3,)."""

    @property
    def dropped(self) -> int:
        """Matching contacts that did not fit into the slots."""
        return 0 if self.sensor.reduce is Reduce.NETFORCE else max(0, self.found - self.reported)


class StepWatcher(Protocol):
    """Something that looks at every physics step: events, touch sensors."""

    def after_step(self, engine: Engine) -> None: ...
    def after_reset(self, engine: Engine) -> None:
        """The state jumped: the start, a keyframe, or another instant."""
        ...


class Session:
    """An engine with its picture, pace and choices. Knows nothing of windows."""

    def __init__(
        self, engine: Engine, settings: ViewState, options: Options | None = None, ghost: Engine | None = None
    ) -> None:
        """Of an engine with several environments the first is shown. A ghost is stepped along for comparison."""
        self.batch = engine
        """Runs all environments."""
        self.engine = engine.environment(0)
        """Reads the environment that is shown."""
        self.env = 0
        self.ghost = ghost
        """A second engine on the same scene, of which only the contacts are shown."""
        self.settings = settings
        self.view = View(engine.model)
        self.pace = Pace()
        self.paused = False
        self.selected: str | None = None
        """Name of the sensor that the inspector shows."""
        self.highlight: Highlight | None = None
        """What the mouse points at; the window sets it anew in every frame."""
        self.picked: tuple[str, int] | None = None
        """Sensor and slot of the contact that a person clicked."""
        self.stepped_outside = False
        """Someone else steps the engine: a user's own loop."""
        self.trouble: str | None = None
        """Why the simulation was stopped, for a person."""
        self.watchers: list[StepWatcher] = []
        """They see every step."""
        touch = self.engine.touch_sensors
        if touch is not None and len(touch):
            self.watchers.append(touch)
        self.reasons = Reasons.of(self.engine)
        """What lies behind the arrays; None where the engine does not tell."""
        self.timeline: Timeline | None = None
        """Every step so far; None where the engine cannot return to them."""
        self.events: ContactTracker | None = None
        """When contacts begin and end, once `track_events` was called."""
        self._break: tuple[str, float] | None = None
        """A break that was hit: why, and the simulated time of the step that shows it [s]."""
        self._readings: dict[str, SensorReading] = {}
        self._details: dict[str, ContactDetails] = {}
        self.key: str | None = None
        """Keyframe that a reset returns to; the scene's start without one."""
        self.visible = dict.fromkeys(engine.sensors.names, True)
        if options is not None:
            self._apply(options)
        self.keep_history()
        if self.selected is None:
            self.selected = next((name for name, shown in self.visible.items() if shown), None)

    def advance(self, budget: float) -> None:
        """Physics up to real time, for at most `budget` seconds of wall time."""
        if self.paused or self.stepped_outside:
            self.pace.restart()
            # A paused body follows the hand; what its contacts say stays that of the last step.
            if self.paused and not self.stepped_outside:
                self.view.apply_perturb(self.engine.model, self.engine.data, paused=True)
            return
        if self.timeline is not None:
            self.timeline.begin_frame()
        self._attempt(lambda: self.pace.advance(self._step, self.engine.timestep, budget))
        self._heed_break()

    def track_events(self) -> None:
        """Follow contacts from now on, after every step."""
        self.events = ContactTracker(self.engine)
        self.events.on_break = self._note_break
        self.watchers.append(self.events)

    def keep_history(self) -> None:
        """Keep every step from now on, within the memory that the settings allow."""
        self.timeline = Timeline.of(self.engine, round(self.settings.history_megabytes * 2**20))

    def set_history(self, megabytes: float) -> None:
        """Allow the history another amount of memory; it begins anew."""
        self.settings.history_megabytes = min(max(megabytes, 1.0), MAX_HISTORY_MEGABYTES)
        self.keep_history()

    def step_once(self) -> None:
        """Pause and take one step, or go one step on in the history."""
        self.paused = True
        if self.timeline is not None and not self.timeline.at_end:
            self.go_to(self.timeline.current + 1)
        else:
            if self.timeline is not None:
                self.timeline.begin_frame()
            self._attempt(lambda: self._step(1))
            self._heed_break()

    def step_back(self) -> None:
        """Pause and go back one step."""
        if self.timeline is not None:
            self.go_to(self.timeline.current - 1)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Pause and show a step of the history. Playing on continues from there. `since`: see `Timeline.go_to`."""
        if self.timeline is not None:
            self.paused = True
            self.timeline.go_to(step, since)
            self.forget()

    def go_to_event(self, direction: int) -> None:
        """Pause and show the next (1) or the previous (-1) event."""
        if self.events is None or self.timeline is None:
            return
        time, half = self.engine.time, 0.5 * self.engine.timestep
        log = self.events.log
        entry = log.following(time + half) if direction > 0 else log.preceding(time - half)
        if entry is not None:
            self.go_to_time(entry.seen)

    def go_to_time(self, time: float) -> None:
        """Pause and show the step of a simulated time."""
        if self.timeline is not None:
            self.go_to(self.timeline.step_at(time))

    def reset(self, key: str | None = None) -> None:
        """Back to the start, to a keyframe, or to the one chosen last."""
        self.key = key if key is not None else self.key
        self.engine.reset(self.key)
        if self.ghost is not None:
            self.ghost.reset(self.key)
        if self.timeline is not None:
            self.timeline.start()
        for watcher in self.watchers:
            watcher.after_reset(self.engine)
        self.view.end_perturb()
        self.trouble = None
        self.pace.restart()
        self.forget()

    def show_environment(self, env: int) -> None:
        """Show another environment; past the last comes the first."""
        self.view.end_perturb()
        self.env = env % self.batch.num_envs
        self.engine = self.batch.environment(self.env)
        self.forget()

    def toggle_paused(self) -> None:
        self.paused = not self.paused
        self.trouble = None

    def set_speed(self, speed: float) -> None:
        self.pace.speed = min(max(speed, MIN_SPEED), MAX_SPEED)

    def change_speed(self, direction: int) -> None:
        """To the next slower (-1) or faster (+1) of SPEEDS."""
        nearest = int(np.argmin(np.abs(np.log(np.array(SPEEDS) / self.pace.speed))))
        self.set_speed(SPEEDS[min(max(nearest + direction, 0), len(SPEEDS) - 1)])

    def set_reduce(self, name: str, mode: str) -> None:
        """Switch a sensor's reduce mode, in all environments."""
        self.engine.set_reduce(name, mode)
        if self.ghost is not None and name in self.ghost.sensors.names:
            self.ghost.set_reduce(name, mode)
        self.forget()

    def watch_all(self) -> None:
        """Add a sensor that matches every contact, show and select it."""
        sensor = self.engine.watch_all()
        self.visible[sensor.name] = True
        self.selected = sensor.name
        self.forget()

    def forget(self) -> None:
        """Drop what was read: the engine's state has changed."""
        self._readings.clear()
        self._details.clear()

    def reading(self, name: str) -> SensorReading:
        """A sensor's contacts now; read once an instant, however many panels ask."""
        if name not in self._readings:
            batch = self._moment(name) or self.engine.contacts(name)
            net_force = batch.net_force
            self._readings[name] = SensorReading(
                sensor=self.engine.sensors[name],
                batch=batch,
                array=self.engine.array(name),
                found=round(float(batch.found)),
                reported=int(batch.filled.sum()),
                net_force=np.zeros(3) if net_force is None else net_force,
            )
        return self._readings[name]

    def details(self, name: str) -> ContactDetails:
        """Geom names and friction of a sensor's contacts now."""
        if name not in self._details:
            self._details[name] = self.engine.details(name)
        return self._details[name]

    @property
    def scale(self) -> GlyphScale:
        return glyph_scale(self.engine.model, self.settings.gizmos)

    @property
    def contact_count(self) -> int:
        """Contacts that are drawn now."""
        return sum(self.reading(name).reported for name, shown in self.visible.items() if shown)

    def _apply(self, options: Options) -> None:
        sensors = self.engine.sensors
        for name in options.sensors:
            sensors.position(name)
        if options.sensors:
            self.visible = {name: name in options.sensors for name in sensors.names}
        if options.reduce is not None:
            for name, shown in self.visible.items():
                if shown:
                    self.set_reduce(name, options.reduce)
        if options.camera is not None:
            if options.camera not in self.view.cameras:
                known = ", ".join(self.view.cameras) or "none"
                raise SceneError(f"no camera named {options.camera!r}; the scene has: {known}")
            self.view.set_camera(options.camera)
        if options.key is not None:
            self.reset(options.key)
        self.paused = options.paused
        self.set_speed(options.speed)

    def _step(self, count: int) -> None:
        if self._break is not None:
            return
        if self.timeline is None:
            self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
            for _ in range(count) if self.watchers else ():
                self.engine.step()
                self._tell_watchers()
            if not self.watchers:
                self.engine.step(count)
        else:
            if not self.timeline.at_end:
                self.timeline.resume()
                for watcher in self.watchers:
                    watcher.after_reset(self.engine)
            self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
            # A tracker that is alone need not see steps singly.
            taker = self.watchers[0] if len(self.watchers) == 1 else None
            self.timeline.step(count, self._after_step(), taker if isinstance(taker, ContactTracker) else None)
        if self.ghost is not None:
            self.ghost.step(count)
        self.forget()

    def _note_break(self, reason: str, time: float) -> None:
        if self._break is None:
            self._break = reason, time

    def _heed_break(self) -> None:
        """Pause at the step that a break asked for; those that were taken after it are still in the history."""
        if self._break is None:
            return
        (reason, time), self._break = self._break, None
        self.paused = True
        self.trouble = f"paused: {reason}"
        self.go_to_time(time)

    def _after_step(self) -> Callable[[], object] | None:
        """What tells all watchers of a step; None without any."""
        if len(self.watchers) == 1:
            return partial(self.watchers[0].after_step, self.engine)
        return self._tell_watchers if self.watchers else None

    def _tell_watchers(self) -> None:
        for watcher in self.watchers:
            watcher.after_step(self.engine)

    def _moment(self, name: str) -> ContactBatch | None:
        return self.timeline.moment(name, self.settings.gizmos.moment) if self.timeline is not None else None

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
            trouble = self.batch.warning() if isinstance(self.batch, MujocoEngine) else None
        except (UnstableError, EngineError) as error:
            trouble = str(error)
        if trouble is not None:
            self.paused = True
            self.trouble = trouble
            self.forget()
