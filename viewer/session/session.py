"""Holds one open scene: its simulation, its picture, and what a person chose to see of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import Diagnostics
from ..engines.contact_sensor import ContactDetails, ContactSensor
from ..engines.contract import Engine
from ..engines.logged_steps import LoggedSteps
from ..errors import EngineError, SceneError, UnstableError
from ..events.tracker import ContactTracker
from ..render.camera import Eye
from ..render.style import Gauge, GlyphScale, glyph_scale
from ..render.view import USUAL_PICTURE, View
from ..settings import MAX_HISTORY_MEGABYTES, MAX_SPEED, MIN_SPEED, Options, ViewState
from .drive import Drive
from .force_scale import CutArrows, ForceScale, ScaleBar, scale_bar
from .history import History
from .log_playback import LogPlayback
from .loop import Loop, LoopSteps
from .pace import Pace
from .readings import Readings
from .sensor_reading import SensorGroup, SensorReading, SensorTotals, distinct_contacts
from .simulation import Simulation

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Speeds that the slower and faster keys walk through."""


@dataclass(frozen=True)
class Highlight:
    """A contact, or one of its components, that a person points at."""

    sensor: str
    slot: int
    component: int | None = None
    """0 normal, 1 tangent0, 2 tangent1; None for the whole contact."""


class Session:
    """An engine with its picture, pace and choices. Knows nothing of windows."""

    def __init__(
        self,
        engine: Engine,
        settings: ViewState,
        options: Options | None = None,
        ghost: Engine | None = None,
        keeps_history: bool = True,
    ) -> None:
        """Of an engine with several environments the first is shown. A ghost is stepped along for comparison.

        A session that only goes forward, such as that of a recording, needs no history.
        """
        self.simulation = Simulation(engine, ghost)
        self.drive = Drive(self.simulation)
        """Controls and poses, as far as a person changes them."""
        self.env = 0
        self.settings = settings
        self.view = View(engine.model)
        self.pace = Pace()
        self.loop: Loop | None = None
        """The user's loop that takes the steps; None if the session takes them itself."""
        self._paused = False
        self._loop_steps = LoopSteps()
        self._playback = LogPlayback()
        self.selected: str | None = None
        """Name of the sensor that the inspector shows."""
        self.highlight: Highlight | None = None
        """What the mouse points at; the window sets it in every frame."""
        self.picked: tuple[str, int] | None = None
        """Sensor and slot of the contact that a person clicked."""
        self.watches_by_itself = False
        """True if all contacts are shown because the scene has no contact sensors, not because a person asked."""
        self.trouble: str | None = None
        """Why the simulation was stopped, to show to a person."""
        self.events: ContactTracker | None = None
        """When contacts begin and end, once `track_events` was called."""
        self.force_scale = ForceScale(engine.model)
        """How many newtons a length on screen stands for."""
        self.cut = CutArrows()
        """What the last picture does not show whole."""
        self._readings = Readings(self.simulation)
        self._scale: tuple[Gauge, tuple[object, ...], GlyphScale] | None = None
        """Of the last picture and settings, with these."""
        self.key: str | None = None
        """Keyframe that a reset returns to; the scene's start without one."""
        self.visible = dict.fromkeys(engine.sensors.names, True)
        if options is not None:
            self._apply(options)
        if options is None or options.camera is None:
            self.view.show_moving(engine.model, self.engine.data)
        if keeps_history:
            self.keep_history()
        if self.selected is None:
            self.selected = next((name for name, shown in self.visible.items() if shown), None)

    @property
    def engine(self) -> Engine:
        """Reads the environment that is shown."""
        return self.simulation.shown

    @property
    def ghost(self) -> Engine | None:
        """A second engine on the same scene, of which only the contacts are shown."""
        return self.simulation.ghost

    @property
    def history(self) -> History | None:
        """Every step so far; None where none are kept."""
        return self.simulation.history

    @property
    def diagnostics(self) -> Diagnostics | None:
        """What is behind the arrays; None where the engine does not report it."""
        return self.engine.diagnostics

    @property
    def logged(self) -> LoggedSteps | None:
        """The steps of a saved run or a log that are taken again; None if the session takes its own."""
        return self.simulation.engine.logged

    @property
    def num_envs(self) -> int:
        """Environments of which one is shown."""
        return self.simulation.engine.num_envs if self.loop is None else self.loop.environments

    @property
    def stepped_outside(self) -> bool:
        """True if a user's loop takes the steps."""
        return self.loop is not None

    @property
    def is_fixed(self) -> bool:
        """True if the steps are not ours to change: those of a user's loop, of a saved run or of a log."""
        return self.stepped_outside or self.logged is not None

    @property
    def paused(self) -> bool:
        """True if no steps are taken; a user's loop then waits."""
        return self._paused if self.loop is None else self.loop.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        if self.loop is None:
            self._paused = paused
        else:
            self.loop.paused = paused

    @property
    def live(self) -> bool:
        """True if the newest step is shown."""
        return self.history is None or self.history.at_end

    @property
    def shows_inexact_step(self) -> bool:
        """True if the step that is shown was taken elsewhere and could not be taken again exactly."""
        return self.history is not None and self.history.current in self.history.marks

    @property
    def log_verdict(self) -> tuple[str, bool] | None:
        """What is known of the step of a log that is shown, for a person, and True if its forces are in doubt; None if
        it is exact, or no log's."""
        history, logged = self.history, self.logged
        if history is None or logged is None:
            return None
        step = history.current + self.simulation.log_start
        verdicts = logged.verdicts
        return None if verdicts.is_exact(step) else (verdicts.describe(step), verdicts.is_doubtful(step))

    def advance(self, budget: float) -> None:
        """Physics up to real time, for at most `budget` seconds of wall time; or the steps of a user's loop."""
        if self.loop is not None:
            loop = self.loop
            self._attempt(lambda: self._loop_steps.advance(loop, self.simulation, self.view, budget))
            return
        if self.logged is not None and self.history is not None:
            self._advance_logged(self.logged, budget)
            return
        if self.paused:
            self.pace.restart()
            self.drive.drag(self.view)
            return
        self._begin_frame()
        self._attempt(lambda: self.pace.advance(self._step_on, self.engine.timestep, budget))

    def _advance_logged(self, logged: LoggedSteps, budget: float) -> None:
        """Play a log, and read it ahead."""
        if self.paused:
            self.pace.restart()
        else:
            breaks = self._has_breaks
            self._attempt(lambda: self._playback.play(self.simulation, logged, self.pace, budget, breaks))
        if self.reads_ahead:
            self._playback.read_ahead(self.simulation, logged)

    @property
    def reads_ahead(self) -> bool:
        """True if steps of a log are being read beyond the one that is shown."""
        history, logged = self.history, self.logged
        return history is not None and logged is not None and not (logged.done or self._has_breaks or history.full)

    @property
    def _has_breaks(self) -> bool:
        return self.events is not None and any(each.enabled for each in self.events.breaks)

    def track_events(self) -> None:
        """Find contact events from now on, after every step."""
        self.events = ContactTracker(self.engine)
        self.events.on_break = self._break
        self.simulation.observers.append(self.events)

    def keep_history(self) -> None:
        """Keep every step from now on, within the memory that the settings allow."""
        self.simulation.keep_history(round(self.settings.history_megabytes * 2**20))

    def set_history(self, megabytes: float) -> None:
        """Allow the history another amount of memory; it starts again."""
        self.settings.history_megabytes = min(max(megabytes, 1.0), MAX_HISTORY_MEGABYTES)
        self.keep_history()

    def step_once(self) -> None:
        """Pause and take one step, or show the next one of the history. Of a user's loop, let one step through."""
        self.paused = True
        if self.history is not None and not self.history.at_end:
            self.go_to(self.history.current + 1)
        elif self.loop is not None:
            self._loop_steps.let_one_through(self.loop)
        else:
            self._begin_frame()
            self._attempt(lambda: self._step(1))

    def run_to(self, time: float) -> None:
        """Pause, and take steps at once up to a simulated time [s]."""
        self.paused = True
        count = round((time - self.engine.time) / self.engine.timestep)
        if count > 0:
            self._attempt(lambda: self._step(count))

    def step_back(self) -> None:
        """Pause and show the step before."""
        if self.history is not None:
            self.go_to(self.history.current - 1)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Pause and show a step of the history. `since`: see `History.go_to`. A user's loop goes on meanwhile."""
        if self.history is not None:
            self.paused = self.paused or self.loop is None
            self.simulation.go_to(step, since)

    def go_to_event(self, direction: int) -> None:
        """Pause and show the next (1) or the previous (-1) event."""
        if self.events is None or self.history is None:
            return
        time, half = self.engine.time, 0.5 * self.engine.timestep
        log = self.events.log
        entry = log.following(time + half) if direction > 0 else log.preceding(time - half)
        if entry is not None:
            self.go_to_time(entry.seen)

    def go_to_time(self, time: float) -> None:
        """Pause and show the step of a simulated time."""
        if self.history is not None:
            self.go_to(self.history.step_at(time))

    def reset(self, key: str | None = None) -> None:
        """Back to the start, to a keyframe, or to the one chosen last. A user's loop is never reset."""
        if self.loop is not None:
            return
        self.key = key if key is not None else self.key
        self.simulation.reset(self.key)
        self.drive.after_reset()
        self.view.end_perturb()
        self.trouble = None
        self.pace.restart()

    def show_environment(self, env: int) -> None:
        """Show another environment; past the last comes the first."""
        self.view.end_perturb()
        self.env = env % self.num_envs
        if self.loop is not None:
            self.loop.show_environment(self.env)
        else:
            self.simulation.show(self.env)

    def toggle_paused(self) -> None:
        """Pause or go on. With a user's loop, from a past step, go on with the newest."""
        self.trouble = None
        if self.logged is not None and self.logged.done and self.live and self.paused:
            # Once more from the beginning.
            self.reset()
        if self.loop is None or self.live:
            self.paused = not self.paused
            return
        self.paused = False
        assert self.history is not None
        self.simulation.go_to(self.history.last)

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

    def watch_without_sensors(self) -> bool:
        """Show all contacts if the scene has no contact sensors; True if that is so now."""
        if not len(self.engine.sensors) and self.engine.can_watch_all:
            self.watch_all()
            self.watches_by_itself = True
        return self.watches_by_itself

    def forget(self) -> None:
        """Drop what was read: the engine's state has changed."""
        self._readings.forget()

    def reading(self, name: str) -> SensorReading:
        """A sensor's contacts now; read once a step, however many panels need it."""
        return self._readings.reading(name, self.settings.gizmos.moment)

    @property
    def totals(self) -> SensorTotals:
        """What every sensor, shown or not, reports now in all; read once a step."""
        return self._readings.totals(self.settings.gizmos.moment)

    def details(self, name: str) -> ContactDetails:
        """Geom names and friction of a sensor's contacts now."""
        return self._readings.details(name)

    @property
    def are_visible(self) -> NDArray[np.bool_]:
        """Which of the engine's sensors are visible, (sensors,)."""
        names = self.engine.sensors.names
        return np.fromiter(map(self.visible.__getitem__, names), bool, len(names))

    @property
    def shown_groups(self) -> list[SensorGroup]:
        """What the visible sensors that match a contact say now, those that are laid out alike in one batch."""
        return self._readings.touched_groups(self.settings.gizmos.moment, self.are_visible)

    @property
    def scale(self) -> GlyphScale:
        """Sizes of gizmos in the last picture; before the first, in one of the usual size."""
        gauge, gizmos = self._last_gauge, self.settings.gizmos
        sizes = gizmos.length, gizmos.width, gizmos.point_size
        wanted = (gizmos.scale_mode, gizmos.fixed_scale, gizmos.log_length, *sizes)
        # Picture, legend and scale bar ask for the same one.
        if self._scale is None or self._scale[0] is not gauge or self._scale[1] != wanted:
            self._scale = gauge, wanted, glyph_scale(self.engine.model, gizmos, gauge)
        return self._scale[2]

    @property
    def scale_bar(self) -> ScaleBar:
        """How long a force is in the last picture, where the contacts are."""
        before = self.force_scale.news(self.engine.time, self.pace.speed, self.settings.gizmos.scale_mode)
        return scale_bar(self.scale, self._last_gauge, before)

    @property
    def _last_gauge(self) -> Gauge:
        return self.force_scale.last or self.force_scale.first(self.engine.data, self.usual_eye)

    def frame(self) -> None:
        """Look at the selected body with all that hangs from it, or at all that moves."""
        self.view.frame(self.engine.model, self.engine.data, self._last_gauge.eye.aspect)

    @property
    def usual_eye(self) -> Eye:
        """What sees the scene where no picture is drawn."""
        return Eye(self.view.matrices(self.engine.model, self.engine.data, USUAL_PICTURE), USUAL_PICTURE)

    @property
    def shown_sensors(self) -> list[ContactSensor]:
        """The visible sensors, in the engine's order."""
        return [sensor for sensor in self.engine.sensors if self.visible[sensor.name]]

    @property
    def contact_count(self) -> int:
        """Contacts that are drawn now; one that two sensors report is drawn twice."""
        return sum(int(group.batch.filled.sum()) for group in self.shown_groups)

    @property
    def distinct_contacts(self) -> tuple[int, int]:
        """Contacts that the shown sensors report, each counted once; and their net contacts."""
        return distinct_contacts(self.shown_groups)

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
            if self.logged is not None:
                raise SceneError(f"{self.logged.path}: starts with its own first state: leave out --key")
            self.reset(options.key)
        self.paused = options.paused
        self.set_speed(options.speed)

    def _begin_frame(self) -> None:
        if self.history is not None:
            self.history.begin_frame()

    def _step_on(self, count: int) -> None:
        """Take steps unless a break has paused the simulation in this frame."""
        if not self.paused:
            self._step(count)

    def _step(self, count: int) -> None:
        self.simulation.resume()
        self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
        self.simulation.step(count, self.drive.driver())

    def _break(self, reason: str) -> None:
        """Pause at the step that a break asks for."""
        if self.loop is not None and self.paused:
            # What the loop did before it came to wait.
            return
        self.simulation.halt()
        self.paused = True
        self.trouble = f"paused: {reason}"

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
            trouble = self.simulation.engine.warning()
        except (UnstableError, EngineError) as error:
            trouble = str(error)
        if trouble is not None:
            self.paused = True
            self.trouble = trouble
