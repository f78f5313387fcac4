"""Holds one open scene: its simulation, its camera, and the user's choices of what is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..channels.channel import Limit
from ..engines.abilities import Diagnostics
from ..engines.contact_sensor import ContactDetails, ContactSensor
from ..engines.contract import Engine
from ..errors import EngineError, SceneError, UnstableError
from ..events.event_log import EventLog
from ..events.tracker import ContactTracker
from ..mjmodel.support import heaviest_root
from ..render.camera import Eye
from ..render.style import Gauge, GlyphScale, glyph_scale
from ..render.view import USUAL_PICTURE, View
from ..sensors.contacts import ContactBatch
from ..sensors.friction import FrictionCones
from ..settings import MAX_HISTORY_MEGABYTES, MAX_SPEED, MIN_SPEED, Options, ViewState
from .drive import Drive
from .episodes import Episode
from .force_scale import CutArrows, ForceScale, ScaleBar, scale_bar
from .history import History
from .model_channels import ModelChannels
from .pace import Pace
from .past_filling import PastFilling
from .readings import ReadingCache, SensorGroup, SensorReading, SensorTotals, distinct_contacts
from .simulation import Change, Simulation, StepSource

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Speeds that the slower and faster keys step through, as multiples of real time."""


@dataclass(frozen=True)
class Highlight:
    """Contact, or one of its components, under the mouse."""

    sensor: str
    slot: int
    component: int | None = None
    """Number of the component: 0 normal, 1 tangent0, 2 tangent1; None for the whole contact."""


class VisibleSensors(dict[str, bool]):
    """Visibility of each sensor by name: True if it is shown."""

    def __init__(self, shown: Mapping[str, bool]) -> None:
        super().__init__(shown)
        self._flags: tuple[tuple[str, ...], NDArray[np.bool_]] | None = None

    def __setitem__(self, name: str, shown: bool) -> None:
        if self.get(name) is not shown:
            super().__setitem__(name, shown)
            self._flags = None

    def flags(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return the visibility of some sensors, (names,): the same array until something changes."""
        if self._flags is None or self._flags[0] is not names:
            self._flags = names, np.fromiter(map(self.__getitem__, names), bool, len(names))
        return self._flags[1]


_BESIDE = 0.01
"""Longest wall time in a frame for runs beside to catch up [s]."""
_PATIENCE = 1.0
"""Longest delay until a running scene shows that a contact has begun to slide or creep [s]."""


class Session:
    """Scene that a user plays, steps and scrubs, with its camera, sensor values and the user's choices.

    It implements `simulation.Player` and knows no window.
    """

    def __init__(
        self,
        source: StepSource | Engine,
        settings: ViewState,
        options: Options | None = None,
        beside: Sequence[Engine] = (),
        keeps_history: bool = True,
    ) -> None:
        """Show the first environment of an engine. The engines `beside` it are stepped along, each in a run of its own,
        for comparison.

        `keeps_history`: False for a session that only goes forward, such as that of a recording.
        """
        self.simulation = simulation = Simulation(source, beside=[Simulation(each) for each in beside])
        self.settings = settings
        engine = simulation.engine
        self.view = View(engine.model)
        """Camera, and the body that the user pulls."""
        self.drive = Drive(simulation)
        """Changes of controls and poses by the user."""
        self.model_channels = ModelChannels(simulation)
        """Quantities of the model that are recorded as channels."""
        simulation.live_channels.on_limit = self._reach_limit
        simulation.episodes.read_events = lambda: None if self.events is None else self.events.log
        self.pace = Pace()
        self.trouble: str | None = None
        """Reason why the simulation was stopped, to show to the user; None if it was not."""
        self.events: ContactTracker | None = None
        """Tracker of contact events; None before `track_events` is called."""
        self.filling: PastFilling | None = None
        """Filling of the past values of new sensors; None when it is done."""
        self.key: str | None = None
        """Keyframe that a reset returns to; None for the start of the scene."""
        self.selected: str | None = None
        """Name of the sensor that the inspector shows."""
        self.highlight: Highlight | None = None
        """Contact under the mouse; the window sets it in every frame."""
        self.picked: tuple[str, int] | None = None
        """Sensor and slot of the contact that the user clicked."""
        self.watches_by_itself = False
        """True if all contacts are shown because the scene has no contact sensors, not because the user chose so."""
        self.force_scale = ForceScale(engine.model)
        """Force that a length on screen stands for."""
        self.cut = CutArrows()
        """Arrows that end outside the last frame."""
        self._readings = ReadingCache(self.simulation)
        self._scale: tuple[Gauge, tuple[object, ...], GlyphScale] | None = None
        """Cached sizes of gizmos, with the gauge and the settings that they were computed from."""
        self._said: tuple[object, int, float, list[str]] = (None, -1, 0.0, [])
        """Request for reasons of motion, `changes` and wall time [s] of its answer, and the answer in sentences."""
        self._visible = VisibleSensors(dict.fromkeys(engine.sensors.names, True))
        if options is not None:
            self._apply(options)
        if options is None or options.camera is None:
            self.view.show_moving(engine.model, self.engine.data, bool(len(engine.sensors)))
        if keeps_history:
            simulation.keeps_episodes = True
            self.keep_history()
        if self.selected is None:
            self.selected = next((name for name, shown in self.visible.items() if shown), None)

    @property
    def engine(self) -> Engine:
        """Engine of the environment that is shown."""
        return self.simulation.shown

    @property
    def history(self) -> History | None:
        """Steps of the episode that is shown; None where none are kept."""
        return self.simulation.history

    @property
    def source(self) -> StepSource:
        """Source of the steps."""
        return self.simulation.source

    @property
    def beside(self) -> list[Simulation]:
        """Runs that are shown beside this one."""
        return self.simulation.beside

    @property
    def twins(self) -> list[Simulation]:
        """Runs beside of the same scene on another engine: they are reset and changed like this one."""
        return [run for run in self.beside if not run.guest]

    def why_not(self, change: Change) -> str | None:
        """Return why something cannot be changed in this run or in its twins, as a sentence; None if it can."""
        reasons = (run.source.why_not(change) for run in (self.simulation, *self.twins))
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def env(self) -> int:
        """Number of the environment that is shown."""
        return self.source.environment(self.simulation)

    @property
    def num_envs(self) -> int:
        """Number of environments, of which one is shown."""
        return self.source.environments

    @property
    def paused(self) -> bool:
        """True if no steps are taken; a user's loop then waits."""
        return self.source.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self.source.paused = paused

    @property
    def live(self) -> bool:
        """True if the newest step is shown."""
        return self.history is None or self.history.at_end

    @property
    def shows_inexact_step(self) -> bool:
        """True if the step that is shown was taken elsewhere and could not be re-simulated exactly."""
        return self.history is not None and self.history.current in self.history.marks

    @property
    def shown_exactness(self) -> tuple[str, bool] | None:
        """Exactness of the shown step of a log, in words, and True if its forces are in doubt; else None."""
        return self.source.exactness_of(self.history.current) if self.history is not None else None

    @property
    def is_posed(self) -> bool:
        """True if the user has set the pose that is shown by hand."""
        return self.drive.is_posed

    @property
    def has_breaks(self) -> bool:
        """True if a break may stop the run at a step."""
        breaks = [] if self.events is None else self.events.breaks
        return any(each.enabled for each in breaks) or any(each.enabled for each in self.simulation.channels.limits)

    @property
    def _live_log(self) -> EventLog | None:
        """Events of the present episode."""
        return None if self.events is None else self.events.live_log

    def advance(self, budget: float) -> None:
        """Take or show the steps that are due, for at most `budget` seconds of wall time."""
        if self.events is not None:
            self.events.patience = 0.0 if self.paused else _PATIENCE
        self._attempt(lambda: self.source.advance(self, budget))
        if (live := self.simulation.live_history) is not None and len(self.simulation.episodes):
            self.simulation.episodes.fit(live.budget - live.bytes, self.simulation.episode)
        self._follow_episode()
        if self.filling is not None:
            self.filling.advance()
            if self.filling.progress is None:
                self.filling = None
        self.simulation.catch_up(_BESIDE)

    def drag(self) -> None:
        """Move the dragged body of the paused scene with the mouse."""
        self.drive.drag(self.view)

    def track_events(self) -> None:
        """Find contact events from now on, after every step."""
        self.events = ContactTracker(self.engine)
        self.events.on_break = self._break
        self.simulation.observers.append(self.events)

    def add_limit(self, limit: Limit) -> None:
        """Pause when a channel passes a value, from the next step on."""
        channels = self.simulation.channels
        channels.limits.append(limit)
        if limit.channel in channels:
            # Past values are no reason to pause.
            limit.first_beyond(channels[limit.channel], self.engine.time)
        self.model_channels.observe()

    def keep_history(self) -> None:
        """Keep every step from now on, within the memory that the settings allow."""
        self.simulation.keep_history(round(self.settings.history_megabytes * 2**20))

    def set_history(self, megabytes: float) -> None:
        """Allow the history another amount of memory; it starts again."""
        self.settings.history_megabytes = min(max(megabytes, 1.0), MAX_HISTORY_MEGABYTES)
        self.keep_history()

    @property
    def episodes(self) -> list[Episode]:
        """Episodes that have ended and are kept, then the present one, oldest first."""
        newest = self.simulation.newest_episode
        return [*self.simulation.episodes, *([] if newest is None else [newest])]

    @property
    def episode_number(self) -> int:
        """Number of the episode that is shown, from 1."""
        shown = self.simulation.episode
        return self.simulation.episodes.count + 1 if shown is None else shown.number

    def show_episode(self, number: int, step: int | None = None) -> None:
        """Show a step of an episode, by default its last. Pauses a run that would play on from the shown step."""
        episode = next((each for each in self.simulation.episodes if each.number == number), None)
        self.paused = self.paused or self.source.continues_from_shown
        self.simulation.show_episode(episode, step)
        self._follow_episode()

    def _follow_episode(self) -> None:
        """Let `events` hold the events of the episode that is shown."""
        episode = self.simulation.episode
        if self.events is not None:
            first = 0.0 if episode is None else episode.history.time(episode.history.first)
            self.events.past = None if episode is None or episode.events is None else (episode.events, first)

    def _go_to_neighbour(self, direction: int) -> bool:
        """Show the last step of the previous episode (-1) or the first of the next one (1); False if there is none."""
        episodes = self.episodes
        place = next((i for i, each in enumerate(episodes) if each.number == self.episode_number), 0) + direction
        if not 0 <= place < len(episodes):
            return False
        history = episodes[place].history
        self.show_episode(episodes[place].number, history.first if direction > 0 else history.last)
        return True

    def step_once(self) -> None:
        """Pause and take one step, or show the next step of the history. A user's loop is let through one step."""
        self.paused = True
        if self.history is not None and not self.history.at_end:
            if self.history.current < self.history.last or not self._go_to_neighbour(1):
                self.go_to(self.history.current + 1)
        else:
            self._attempt(lambda: self.source.step_once(self))

    def run_to(self, time: float) -> None:
        """Pause, and take steps at once up to a simulated time [s]."""
        self.paused = True
        count = round((time - self.engine.time) / self.engine.timestep)
        if count > 0:
            self._attempt(lambda: self.take_steps(count))

    def step_back(self) -> None:
        """Pause and show the step before."""
        history = self.history
        if history is not None and (history.current > history.first or not self._go_to_neighbour(-1)):
            self.go_to(history.current - 1)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Pause and show a step of the history. `since`: see `History.go_to`. A user's loop goes on meanwhile."""
        if self.history is not None:
            self.paused = self.paused or self.source.continues_from_shown
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
            return
        # Continue with the nearest episode that has events.
        for episode in self.episodes[:: 1 if direction > 0 else -1]:
            if (episode.number - self.episode_number) * direction <= 0:
                continue
            other = episode.events if episode.events is not None else self._live_log
            if other is not None and len(other):
                entry = other.entries[0 if direction > 0 else -1]
                self.show_episode(episode.number, episode.history.step_at(entry.seen))
                return

    def go_to_time(self, time: float) -> None:
        """Pause and show the step nearest to a simulated time [s]."""
        if self.history is not None:
            self.go_to(self.history.step_at(time))

    def reset(self, key: str | None = None) -> None:
        """Return to a keyframe, by default the last chosen one, or to the start, if the source can be reset."""
        if self.why_not(Change.RESET) is not None:
            return
        self.key = key if key is not None else self.key
        self.simulation.episode = None
        self.simulation.reset(self.key)
        self._follow_episode()
        self.drive.after_reset()
        self.view.end_perturb()
        self.trouble = None
        self.pace.restart()

    def show_environment(self, env: int) -> None:
        """Show another environment; past the last comes the first."""
        self.view.end_perturb()
        self.source.show_environment(self.simulation, env % self.num_envs)

    def toggle_paused(self) -> None:
        """Pause or play on: from the step that is shown, or from the newest where the source has gone on."""
        self.trouble = None
        if self.source.finished and self.live and self.paused:
            # Play a finished run from its beginning.
            self.reset()
        if self.live or self.source.continues_from_shown:
            self.paused = not self.paused
            return
        self.paused = False
        self.simulation.show_episode(None)
        self._follow_episode()

    def set_speed(self, speed: float) -> None:
        self.pace.speed = min(max(speed, MIN_SPEED), MAX_SPEED)

    def change_speed(self, direction: int) -> None:
        """Change to the next slower (-1) or faster (+1) of SPEEDS."""
        nearest = int(np.argmin(np.abs(np.log(np.array(SPEEDS) / self.pace.speed))))
        self.set_speed(SPEEDS[min(max(nearest + direction, 0), len(SPEEDS) - 1)])

    def take_steps(self, count: int = 1) -> None:
        """Take steps at once with the inputs that the user has set, from the step that is shown."""
        self.simulation.resume()
        self._follow_episode()
        self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
        self.simulation.step(count, self.drive.driver())

    @property
    def engines(self) -> list[Engine]:
        """Engines of this run and of its twins."""
        return [self.simulation.engine, *(run.engine for run in self.twins)]

    @property
    def diagnostics(self) -> Diagnostics | None:
        """Model, contact list and solver values behind the arrays; None where the engine does not report them."""
        return self.engine.diagnostics

    @property
    def state_time(self) -> float:
        """Simulated time of the state that the arrays belong to [s]: the one from which the shown step started."""
        return self.engine.time - self.engine.timestep

    def cones(self, batch: ContactBatch) -> FrictionCones | None:
        """Return the present friction cones of a sensor's contacts, with those that creep marked; None if not known."""
        cones = self.diagnostics.cones(batch) if self.diagnostics is not None else None
        friction = self.events.friction if self.events is not None else None
        if cones is None or friction is None:
            return cones
        return cones.with_creep(friction.creeping_at(self.state_time))

    def reasons(self, name: str, slot: int | None = None) -> list[str]:
        """Return sentences on why contacts of a sensor move, all or one in a slot: one for pairs with the same reason.

        While the scene runs, reasons are found a few times a second: in every frame they took half of its time.
        """
        asked, (last, changes, when, said) = (name, slot, self.paused), self._said
        late = self.paused or monotonic() - when > _PATIENCE
        if asked != last or (late and changes != self.simulation.changes):
            said = self._find_reasons(name, slot)
            self._said = asked, self.simulation.changes, monotonic(), said
        return said

    def _find_reasons(self, name: str, slot: int | None) -> list[str]:
        if self.events is None or self.diagnostics is None:
            return []
        geoms = self.details(name).geoms
        pairs = dict.fromkeys(geoms if slot is None else geoms[slot : slot + 1])
        found: dict[str, list[str]] = {}
        for pair in pairs:
            sides = [self.events.geoms.get(geom, -1) for geom in pair]
            reason = None if min(sides) < 0 else self.events.explain(np.array(sides), self.state_time)
            if reason is not None:
                found.setdefault(reason.text, []).append(" on ".join(pair))
        if len(pairs) == 1:
            return list(found)
        more = {text: f" and {len(those) - 1} more" if len(those) > 1 else "" for text, those in found.items()}
        return [f"{those[0]}{more[text]}: {text}" for text, those in found.items()]

    def set_reduce(self, name: str, mode: str) -> None:
        """Switch a sensor's reduce mode, in all environments."""
        self.set_reduce_modes({name: mode})

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        """Switch the reduce modes of some sensors, by name, in all environments and in the runs beside."""
        self.engine.set_reduce_modes(modes)
        for run in self.beside:
            known = run.engine.sensors
            run.engine.set_reduce_modes({name: mode for name, mode in modes.items() if known.has(name)})
        self.forget()

    def watch_all(self) -> None:
        """Add a sensor that matches every contact, and show and select it."""
        sensor = self.engine.watch_all()
        self.visible[sensor.name] = True
        self.selected = sensor.name
        if self.history is not None:
            # Curves of bodies begin with the step that is shown.
            self.history.curves.update()
        self.forget()

    def watch_without_sensors(self) -> bool:
        """Show all contacts if the scene has no contact sensors; return True if they are shown for that reason."""
        if not len(self.engine.sensors) and self.engine.can_watch_all:
            self.watch_all()
            self.watches_by_itself = True
        return self.watches_by_itself

    def forget(self) -> None:
        """Clear cached sensor values: the engine's state has changed."""
        self._readings.forget()

    def reading(self, name: str) -> SensorReading:
        """Return a sensor's contacts; they are read once a step, however many panels need them."""
        return self._readings.reading(name, self.settings.gizmos.moment)

    @property
    def totals(self) -> SensorTotals:
        """Totals of every sensor, shown or not; they are read once a step."""
        return self._readings.totals(self.settings.gizmos.moment)

    def details(self, name: str) -> ContactDetails:
        """Return geom names and friction of a sensor's contacts."""
        return self._readings.details(name)

    @property
    def visible(self) -> VisibleSensors:
        """Visibility of each sensor, by name."""
        return self._visible

    @visible.setter
    def visible(self, shown: Mapping[str, bool]) -> None:
        self._visible = VisibleSensors(shown)

    @property
    def are_visible(self) -> NDArray[np.bool_]:
        """Visibility of the engine's sensors, (sensors,): the same array until it changes."""
        return self._visible.flags(self.engine.sensors.names)

    @property
    def shown_groups(self) -> list[SensorGroup]:
        """Contacts of the visible sensors by layout; in large groups only of sensors in contact."""
        return self._readings.touched_groups(self.settings.gizmos.moment, self.are_visible)

    def groups_now(self) -> list[SensorGroup]:
        """Return the contacts of all visible sensors at the step that the engine is at; they are not cached."""
        return self._readings.groups_now(self.are_visible)

    @property
    def scale(self) -> GlyphScale:
        """Sizes of gizmos in the last frame; before the first, in a frame of the usual size."""
        gauge, gizmos = self._last_gauge, self.settings.gizmos
        sizes = gizmos.length, gizmos.width, gizmos.point_size
        wanted = (gizmos.scale_mode, gizmos.fixed_scale, gizmos.log_length, *sizes)
        # The scene, the legend and the scale bar need the same sizes.
        if self._scale is None or self._scale[0] is not gauge or self._scale[1] != wanted:
            self._scale = gauge, wanted, glyph_scale(self.engine.model, gizmos, gauge)
        return self._scale[2]

    @property
    def scale_bar(self) -> ScaleBar:
        """Scale bar of the last frame, for arrows at the depth of the contacts."""
        before = self.force_scale.news(self.engine.time, self.pace.speed, self.settings.gizmos.scale_mode)
        return scale_bar(self.scale, self._last_gauge, before)

    @property
    def _last_gauge(self) -> Gauge:
        return self.force_scale.last or self.force_scale.first(self.engine.data, self.usual_eye)

    def frame(self) -> None:
        """Point the camera at the selected body and its descendants, or at all bodies that move."""
        self.view.frame(self.engine.model, self.engine.data, self._last_gauge.eye.aspect)

    @property
    def usual_eye(self) -> Eye:
        """Camera matrices and size of a usual frame, where none is drawn."""
        return Eye(self.view.matrices(self.engine.model, self.engine.data, USUAL_PICTURE), USUAL_PICTURE)

    @property
    def explained_body(self) -> int | None:
        """Body whose forces are shown: the selected one, else the root of the heaviest robot."""
        return self.view.selected_body or heaviest_root(self.engine.model)

    @property
    def shown_sensors(self) -> list[ContactSensor]:
        """Visible sensors, in the engine's order."""
        return [sensor for sensor in self.engine.sensors if self.visible[sensor.name]]

    @property
    def contact_count(self) -> int:
        """Number of contacts that are drawn; a contact that two sensors report counts twice."""
        return sum(int(group.batch.filled.sum()) for group in self.shown_groups)

    @property
    def unwatched_contacts(self) -> NDArray[np.float64]:
        """Positions of the contacts that no sensor matches, shown or not [m], world, (n, 3)."""
        return self._readings.unwatched()

    @property
    def distinct_contacts(self) -> tuple[int, int]:
        """Number of contacts that the shown sensors report, each counted once, and number of net contacts."""
        return distinct_contacts(self.shown_groups)

    def _apply(self, options: Options) -> None:
        sensors = self.engine.sensors
        for name in options.sensors:
            sensors.position(name)
        if options.sensors:
            self.visible = {name: name in options.sensors for name in sensors.names}
        self.model_channels.choose(self.model_channels.matching(options.channels))
        if options.reduce is not None:
            self.set_reduce_modes({name: options.reduce for name, shown in self.visible.items() if shown})
        if options.camera is not None:
            if options.camera not in self.view.cameras:
                known = ", ".join(self.view.cameras) or "none"
                raise SceneError(f"no camera named {options.camera!r}; the scene has: {known}")
            self.view.set_camera(options.camera)
        if options.key is not None:
            if (reason := self.why_not(Change.KEYFRAME)) is not None:
                raise SceneError(f"{reason}: leave out --key")
            self.reset(options.key)
        self.paused = options.paused
        self.set_speed(options.speed)

    def _break(self, reason: str) -> None:
        """Pause at the step of a break."""
        if self.source.hold(self.simulation):
            self.trouble = f"paused: {reason}"

    def _reach_limit(self, limit: Limit, time: float, value: float) -> None:
        """Pause at the step at which a channel has passed a limit. `time`: simulated time of that step [s]."""
        if self.source.hold(self.simulation):
            self.simulation.halted_at = time
            self.trouble = f"paused: {limit.text}: {value:.6g} at {time:.6f} s"

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
            trouble = self.simulation.engine.warning()
        except (UnstableError, EngineError) as error:
            trouble = str(error)
        if trouble is not None:
            self.source.stop()
            self.trouble = trouble
