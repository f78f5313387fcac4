"""Holds one open scene: its simulation, its picture, and what a person chose to see of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import Diagnostics
from ..engines.contact_sensor import ContactDetails, ContactSensor
from ..engines.contract import Engine
from ..errors import SceneError
from ..render.camera import Eye
from ..render.style import Gauge, GlyphScale, glyph_scale
from ..render.view import USUAL_PICTURE
from ..settings import Options, ViewState
from .force_scale import CutArrows, ForceScale, ScaleBar, scale_bar
from .playback import Playback
from .readings import Readings, SensorGroup, SensorReading, SensorTotals, distinct_contacts
from .simulation import Change, Simulation, StepSource


@dataclass(frozen=True)
class Highlight:
    """A contact, or one of its components, that a person points at."""

    sensor: str
    slot: int
    component: int | None = None
    """0 normal, 1 tangent0, 2 tangent1; None for the whole contact."""


class VisibleSensors(dict[str, bool]):
    """True for the sensors that are shown, by name."""

    def __init__(self, shown: Mapping[str, bool]) -> None:
        super().__init__(shown)
        self._flags: tuple[tuple[str, ...], NDArray[np.bool_]] | None = None

    def __setitem__(self, name: str, shown: bool) -> None:
        if self.get(name) is not shown:
            super().__setitem__(name, shown)
            self._flags = None

    def flags(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        """Those of some sensors, (names,): the same array until something changes, for there may be ten thousand."""
        if self._flags is None or self._flags[0] is not names:
            self._flags = names, np.fromiter(map(self.__getitem__, names), bool, len(names))
        return self._flags[1]


class Session(Playback):
    """A scene that is played, with its picture, what its sensors say and what a person chose. Knows no window."""

    def __init__(
        self,
        source: StepSource | Engine,
        settings: ViewState,
        options: Options | None = None,
        beside: Sequence[Engine] = (),
        keeps_history: bool = True,
    ) -> None:
        """Of an engine with several environments the first is shown. The engines `beside` it are stepped along, each
        in a run of its own, for comparison.

        A session that only goes forward, such as that of a recording, needs no history.
        """
        super().__init__(Simulation(source, beside=[Simulation(each) for each in beside]), settings)
        engine = self.simulation.engine
        self.selected: str | None = None
        """Name of the sensor that the inspector shows."""
        self.highlight: Highlight | None = None
        """What the mouse points at; the window sets it in every frame."""
        self.picked: tuple[str, int] | None = None
        """Sensor and slot of the contact that a person clicked."""
        self.watches_by_itself = False
        """True if all contacts are shown because the scene has no contact sensors, not because a person asked."""
        self.force_scale = ForceScale(engine.model)
        """How many newtons a length on screen stands for."""
        self.cut = CutArrows()
        """What the last picture does not show whole."""
        self._readings = Readings(self.simulation)
        self._scale: tuple[Gauge, tuple[object, ...], GlyphScale] | None = None
        """Of the last picture and settings, with these."""
        self._visible = VisibleSensors(dict.fromkeys(engine.sensors.names, True))
        if options is not None:
            self._apply(options)
        if options is None or options.camera is None:
            self.view.show_moving(engine.model, self.engine.data)
        if keeps_history:
            self.keep_history()
        if self.selected is None:
            self.selected = next((name for name, shown in self.visible.items() if shown), None)

    @property
    def engines(self) -> list[Engine]:
        """The engine of this run, and those of the runs beside it."""
        return [self.simulation.engine, *(run.engine for run in self.beside)]

    @property
    def diagnostics(self) -> Diagnostics | None:
        """What is behind the arrays; None where the engine does not report it."""
        return self.engine.diagnostics

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
        """Add a sensor that matches every contact, show and select it."""
        sensor = self.engine.watch_all()
        self.visible[sensor.name] = True
        self.selected = sensor.name
        if self.history is not None:
            # Curves of bodies begin with the step that is shown.
            self.history.curves.update()
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
    def visible(self) -> VisibleSensors:
        """Which sensors are shown."""
        return self._visible

    @visible.setter
    def visible(self, shown: Mapping[str, bool]) -> None:
        self._visible = VisibleSensors(shown)

    @property
    def are_visible(self) -> NDArray[np.bool_]:
        """Which of the engine's sensors are visible, (sensors,): the same array until that changes."""
        return self._visible.flags(self.engine.sensors.names)

    @property
    def shown_groups(self) -> list[SensorGroup]:
        """What the visible sensors say now, those that are laid out alike in one batch; of many, those that match a
        contact."""
        return self._readings.touched_groups(self.settings.gizmos.moment, self.are_visible)

    def groups_now(self) -> list[SensorGroup]:
        """What all visible sensors say at the step that the engine is at, read for the caller alone."""
        return self._readings.groups_now(self.are_visible)

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
