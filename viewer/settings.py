"""Defines the user's choices: the options of one launch, and the view state that is saved."""

import dataclasses
import json
import os
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, get_type_hints


class Reduce(StrEnum):
    """Selection of the matching contacts that a sensor reports, in MuJoCo's numbering."""

    NONE = "none"
    MINDIST = "mindist"
    MAXFORCE = "maxforce"
    NETFORCE = "netforce"


class Quality(StrEnum):
    """Rendering quality of the scene; auto follows the renderer."""

    AUTO = "auto"
    LOW = "low"
    HIGH = "high"


class VideoStyle(StrEnum):
    """Audience that a recording is made for."""

    DEBUG = "debug"
    """Style for finding a fault: all that the window shows."""
    TALK = "talk"
    """Style for an audience: total forces and friction cones, large, with few words."""


class ScaleMode(StrEnum):
    """Basis of the length of a force arrow."""

    AUTO = "auto"
    """Forces that were drawn lately, and their size on screen."""
    FIXED = "fixed"
    """`GizmoSettings.fixed_scale`, in metres per newton."""
    MUJOCO = "mujoco"
    """The model's visual/map/force and mean mass, as MuJoCo's own arrows."""


class ColorMode(StrEnum):
    """Meaning of an arrow's colour."""

    COMPONENT = "component"
    SENSOR = "sensor"


class Palette(StrEnum):
    """Colours of normal, tangents, points, total and torque."""

    STANDARD = "standard"
    COLORBLIND = "colorblind"
    MUJOCO = "mujoco"
    """Colours of the model's visual/rgba."""


class Moment(StrEnum):
    """Choice of the step since the last frame that the gizmos show."""

    INSTANT = "instant"
    """Newest step."""
    PEAK = "peak"
    """Step in which the sensor is pressed hardest."""
    MEAN = "mean"


class ValueAxis(StrEnum):
    """Division of a plot's value axis, and its range."""

    LINEAR = "linear"
    LOG = "log"
    FIXED = "fixed"
    """Linear, from `PlotSettings.value_low` to `value_high`."""


class Theme(StrEnum):
    """Look of the panels."""

    DARK = "dark"
    LIGHT = "light"


MIN_SPEED, MAX_SPEED = 0.01, 10.0
"""Bounds of the playback speed, as a multiple of real time."""
MAX_HISTORY_MEGABYTES = 65536.0
_BOUNDS = {
    "history_megabytes": (1.0, MAX_HISTORY_MEGABYTES),
    "min_force": (0.0, 1e5),
    "record_fps": (1.0, 240.0),
    "record_height": (0.0, 8192.0),
    "value_low": (-1e9, 1e9),
    "value_high": (-1e9, 1e9),
    "ui_scale": (0.5, 4.0),
    "font_size": (8.0, 40.0),
}
"""Bounds of saved numbers, by name. All other numbers are factors, lengths and durations, within `_POSITIVE`."""
_POSITIVE = (1e-6, 1e5)


@dataclass(frozen=True)
class Options:
    """Options of a launch, as given on the command line."""

    scene: Path
    paused: bool = False
    speed: float = 1.0
    camera: str | None = None
    key: str | None = None
    """Name or number of a keyframe."""
    sensors: tuple[str, ...] = ()
    """Sensors that start visible; all when empty."""
    watched: tuple[str, ...] = ()
    """Patterns of bodies and geoms that get contact sensors."""
    channels: tuple[str, ...] = ()
    """Names or patterns of quantities of the model that are kept as channels."""
    data: Path | None = None
    """File of measured data that is shown beside the run."""
    maps: tuple[str, ...] = ()
    """Columns of sensors, as in `--map`."""
    reduce: Reduce | None = None
    """Reduce mode that every shown sensor starts with."""
    width: int = 1600
    height: int = 900
    quality: Quality = Quality.AUTO
    engine: str = "mujoco"
    """The engine that steps the scene: a name in the registry."""
    envs: int = 1
    """Environments that run side by side."""
    control: str | None = None
    """File of a controller, with the name of its function if that is not `control`: `walk.py:trot`."""
    params: tuple[tuple[str, Any], ...] = ()
    """Names and values of constants of that file."""
    seed: int = 0
    """Seed of a controller's random numbers, and of `vary` and `noise`."""
    vary: tuple[str, ...] = ()
    """Quantities of the model that the seed multiplies by factors, such as `friction=0.5:1.5`."""
    noise: str | None = None
    """Noise on the state that the scene starts from, such as `qpos=0.01,qvel=0.1`."""
    go_to: float | None = None
    """Simulated time up to which steps are taken before the scene is shown, paused [s]."""
    watch_all: bool = True
    """True if all contacts are shown of a scene without contact sensors."""
    watch: bool = True
    """True if the scene is opened again when its files change."""
    frames: int | None = None
    """Stop after this many frames."""
    log: Path | None = None
    """Log whose steps are re-simulated."""
    episode: str | None = None
    """Episode of the log, by number or name."""
    period: float | None = None
    """Time between two rows of a log without times [s]."""
    beside: str | None = None
    """Scene, run, log, `scene@engine` or engine to show beside."""
    save_run: Path | None = None
    """File to which the run is saved when the window closes."""


@dataclass
class GizmoSettings:
    """Settings of drawn contacts. Each layer that the user can switch on has its flag here: see `session.layers`."""

    points: bool = True
    forces: bool = True
    """True if any force arrows are drawn."""
    normal: bool = True
    tangents: bool = True
    total: bool = False
    torque: bool = False
    cones: bool = False
    """Friction cones."""
    balance: bool = False
    """Weight, contact forces and m·a of the selected sensor's body."""
    force_kinds: bool = False
    """True to draw all kinds of force on a body."""
    body_alone: bool = False
    """True if the forces are of the body itself, without its child bodies."""
    support: bool = False
    """Support polygon and centre of pressure of a robot."""
    pressure: bool = False
    """Centre of pressure of each sensor."""
    slip_velocity: bool = False
    """Velocity of the surfaces of contacts against each other."""
    dropped: bool = True
    """Ghosts of the contacts for which a sensor has no slot."""
    beside: bool = True
    """Contacts of the runs beside this one."""
    beside_bodies: bool = True
    """Bodies of the runs beside this one, where they are elsewhere."""
    scale_mode: ScaleMode = ScaleMode.AUTO
    fixed_scale: float = 0.01
    """Arrow length per force in `fixed` mode [m/N]."""
    length: float = 1.0
    """Factor on all arrow lengths."""
    width: float = 1.0
    """Factor on all arrow widths."""
    point_size: float = 1.0
    """Factor on the spheres' radius."""
    min_force: float = 0.0
    """Components below this draw no arrow [N]."""
    log_length: bool = False
    """True if arrow length grows with the logarithm of the force."""
    labels: bool = False
    """The force of each contact as a number beside it."""
    moment: Moment = Moment.INSTANT
    see_through: bool = True
    """True if gizmos behind geometry stay visible, dimmed."""
    color_mode: ColorMode = ColorMode.COMPONENT
    palette: Palette = Palette.STANDARD


@dataclass
class PlotSettings:
    """Settings of the Plots panel."""

    signals: str = "force"
    """Names of the signals that are drawn, separated by commas."""
    by_sensor: bool = False
    """True for one plot per sensor instead of one per signal."""
    follow: bool = True
    """True if the plots move along with the time."""
    seconds: float = 5.0
    """Simulated time that the plots show while they follow [s]."""
    axis: ValueAxis = ValueAxis.LINEAR
    fit_usual: bool = True
    """True if the value axis shows the usual values, and marks rare impacts that are far above it."""
    value_low: float = 0.0
    """Ends of the value axis in `fixed` mode, in the unit of the values."""
    value_high: float = 100.0


@dataclass
class ViewState:
    """Live choices in the window, saved between launches."""

    gizmos: GizmoSettings = field(default_factory=GizmoSettings)
    plots: PlotSettings = field(default_factory=PlotSettings)
    theme: Theme = Theme.DARK
    ui_scale: float = 1.0
    """Factor on the size of everything in the window, in addition to the scale that the screen's density requires."""
    font_size: float = 15.0
    """Text size before `ui_scale` is applied [px]."""
    history_megabytes: float = 256.0
    """Memory for the history of a simulation."""
    contact_columns: str = ""
    """Columns of the Inspector's table of contacts, separated by commas; as many as fit if empty."""
    show_legend: bool = True
    fold_legend: bool = False
    """True if the legend shows the scale alone."""
    watch_all: bool = True
    """True if all contacts are shown of scenes without contact sensors."""
    recent_scenes: str = ""
    """Paths of scenes that were opened, newest first, one a line."""
    record_panels: bool = False
    """True if recordings show the whole window, not the scene alone."""
    record_folder: str = ""
    """Folder of recordings; the working folder if empty."""
    record_suffix: str = ".mp4"
    record_fps: float = 60.0
    """Pictures a second of recordings."""
    record_height: float = 0.0
    """Height of recordings, whose width follows [px]; 0 for the height of the recorded area."""
    record_style: VideoStyle = VideoStyle.DEBUG
    record_last: float = 10.0
    """Simulated time that "record the last seconds" takes from the history [s]."""

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ViewState":
        """Return the saved state; missing, unknown and invalid values become their defaults."""
        try:
            saved = json.loads(text)
        except (ValueError, RecursionError):
            saved = {}
        state = cls()
        _restore(state, saved)
        return state


def _restore(target: Any, saved: Any) -> None:
    if not isinstance(saved, dict):
        return
    hints = get_type_hints(type(target))
    for item in dataclasses.fields(target):
        if item.name not in saved:
            continue
        value, kind = saved[item.name], hints[item.name]
        if dataclasses.is_dataclass(kind):
            _restore(getattr(target, item.name), value)
        elif issubclass(kind, StrEnum):
            if value in list(kind):
                setattr(target, item.name, kind(value))
        elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            low, high = _BOUNDS.get(item.name, _POSITIVE)
            # False for NaN too.
            if low <= value <= high:
                setattr(target, item.name, float(value))
        elif type(value) is kind and (kind is not str or _is_text(value)):
            setattr(target, item.name, value)


def _is_text(value: str) -> bool:
    """Return True if a text can be shown, and be part of a path: JSON may contain surrogates and NUL, which cannot."""
    try:
        return b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


E = TypeVar("E", bound=StrEnum)


def member(enum: type[E], word: str, what: str) -> E:
    """Return the member of an enum with a value. Raises ValueError with all values; `what`: name of the value, for the
    message."""
    try:
        return enum(word)
    except ValueError:
        raise ValueError(f"unknown {what} {word!r}: choose from {', '.join(enum)}") from None
