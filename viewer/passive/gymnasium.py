"""Wraps Gymnasium's environments: a window, films of episodes, and the contact events of every step."""

import contextlib
import inspect
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any, SupportsFloat

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from ..engines.mujoco.engine import MujocoEngine
from ..engines.steps import Step
from ..errors import RecordingError, SceneError
from ..events.contact_events import SensorEvent
from ..events.event_log import event_record
from ..events.tracker import ContactTracker
from ..files import printable
from ..mjmodel.pair_selection import find_touchable, pairs_with
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel
from ..processes import Message
from ..scene_files.scene import LoadedScene
from .launch import following_view, launch_passive
from .program import RowWriter, check_simulation
from .shared_memory import SharedMemory, read_values, write_values
from .tap import TAP
from .viewer import PassiveViewer

CONTACTS = "contacts"
"""Key of the events in `info`."""
_OPTIONS = [
    name
    for name in inspect.signature(launch_passive).parameters
    if name not in ("model", "data", "every_step", "follow")
]
"""Names of the window's options."""
FILM_MODULE = "contact_viewer.passive.film_process"
_FILM_RING = 16 * 2**20
"""Memory for states that are not drawn yet [bytes]."""
_LATE = 100
"""Number of samples of motion, one every 20 ms, in which slip and creep are searched for together: a search in every
step would take too long. Slip and creep are reported up to two seconds late."""
_REST = 0.002
"""Time between two checks of a film's progress [s]."""


class ContactViewer(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Wrapper that shows every physics step of a MuJoCo environment, also those inside one step of the environment.

    Only a user who pulls a body in the window changes the environment's arrays. Closing the window does not end the
    environment.

    `ContactViewer(envs)` of Gymnasium's SyncVectorEnv or of stable-baselines3's DummyVecEnv, wrapped or not, returns
    `envs`: its environments share one window, in which `,` and `.` choose. See `show_one` for environments in processes
    of their own.

    Example:
        ```python
        import gymnasium
        from contact_viewer.gymnasium import ContactViewer

        env = ContactViewer(gymnasium.make("Hopper-v5"), events=True)
        env.reset(seed=0)
        *_, info = env.step(env.action_space.sample())
        print(info["contacts"])
        env.close()
        ```
    """

    def __new__(cls, env: Any = None, **options: Any) -> Any:
        """Return `env` itself if it is a vector environment, whose environments are then wrapped."""
        envs = None if env is None else vector_members(env)
        if envs is None:
            return super().__new__(cls)
        shared, first = _SharedWindow(len(envs)), options.pop("environment", 0)
        _check_number(first, len(envs))
        shared.env = first
        record, window = options.pop("record", None), options.pop("window", None)
        for number, each in enumerate(envs):
            envs[number] = cls(
                each,
                record=record if number == first else None,
                window=window is not False and (record is None or window),
                **options,
            )
            envs[number]._shared, envs[number]._number = shared, number
        return env

    def __init__(
        self,
        env: Any,
        *,
        window: bool | None = None,
        record: str | Path | None = None,
        events: bool | Sequence[str] = False,
        episode_trigger: Callable[[int], bool] | None = None,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        camera: str | None = None,
        channels: Sequence[str] = ("reward",),
        **options: Any,
    ) -> None:
        """Wrap an environment; the window opens in its first reset.

        Args:
            env: MuJoCo environment, or a vector environment of this process.
            window: True for a window, False for none; None for one unless `record` is given.
            record: Path of the films of episodes, such as `episode-{}.mp4` with `{}` for the episode's number from 0.
                They need no window and no display. None for no films.
            events: True to put the begin and end of each contact of the last step into `info["contacts"]`; or patterns
                of the bodies and geoms whose contacts count, such as `("geom:*foot*", "body:left_hand")`.
            episode_trigger: Function from the episode's number to True if it is filmed; None for all.
            size: Width and height of films [px]; None for those of the format.
            fps: Frames per second of films; None for those of the format.
            camera: Camera of the model; None for a free one that follows a robot that can leave.
            channels: Patterns of the values that have curves in the window, one value per step: `reward`, `info/NAME`,
                `action/0` and `observation/0`, such as `("reward", "info/reward_*")`.
            options: Options of the window: see `launch_passive`. For a vector environment also `environment`: number of
                the one that is shown first, and filmed.

        Raises:
            SceneError: The environment is not one of MuJoCo, or the camera is unknown.
            TypeError: An option is unknown.
        """
        gymnasium.utils.RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            window=window,
            record=record,
            events=events,
            episode_trigger=episode_trigger,
            size=size,
            fps=fps,
            camera=camera,
            channels=channels,
            **options,
        )
        super().__init__(env)
        if unknown := [name for name in options if name not in _OPTIONS]:
            raise TypeError(
                f"ContactViewer takes no {unknown[0]!r}; besides its own options it takes {', '.join(_OPTIONS)}"
            )
        model, _ = find_simulation(env)
        cameras = [model.camera(i).name for i in range(model.ncam)]
        if camera is not None and camera not in cameras:
            raise SceneError(f"no camera named {camera!r}; the model has: {', '.join(filter(None, cameras)) or 'none'}")
        if record is not None:
            check_path(str(record), size, fps)
        self._record = None if record is None else str(record)
        self._wants_window = record is None if window is None else window
        self._wants_events, self._options = (events,) if isinstance(events, str) else events, options
        if self._wants_events and self._wants_events is not True:
            find_touchable(model, self._wants_events)
        self._trigger = episode_trigger
        self._film_options: dict[str, Any] = {"size": size, "fps": fps}
        self._camera, self._picker = camera, ChannelPicker(channels)
        self.episode = -1
        """Number of the episode, from 0; -1 before the first reset."""
        self.viewer: PassiveViewer | None = None
        """Window, after the first reset; its `gizmos`, `pause` and `is_running` are for the program."""
        self._film: EpisodeRecorder | None = None
        self._events: StepEvents | None = None
        self._data: MjData | None = None
        """Data of the environment that is shown."""
        self._shared: _SharedWindow | None = None
        """Window of all environments of a vector environment; None if this environment is in none."""
        self._number = 0
        """Number of this environment in it."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment, and begin another episode."""
        if self._film is not None:
            self._film.finish()
        observation, info = self.env.reset(seed=seed, options=options)
        self._attach()
        self.episode += 1
        if self.viewer is not None:
            self.viewer.sync()
        wanted = self._trigger is None or self._trigger(self.episode)
        if self._film is not None and self._record is not None and wanted:
            self._film.begin(Path(self._record.format(self.episode)))
        if self._events is not None:
            self._events.restart()
        return observation, self._with_events(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment, and show every physics step. It waits while the user pauses the window."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._shared is not None and self._shared.is_wanted(self):
            self._shared.move_to(self)
        if self.viewer is not None:
            self.viewer.sync()
            for name, value in self._picker.pick(reward=reward, info=info, action=action, observation=observation):
                self.viewer.plot(name, value)
            if terminated or truncated:
                self.viewer.plot("episode/terminated" if terminated else "episode/truncated", 1.0)
        film = self._film
        if film is not None and film.filming:
            if terminated or truncated:
                film.finish()
            else:
                film.sync()
        return observation, reward, terminated, truncated, self._with_events(info, terminated or truncated)

    def close(self) -> None:
        """Complete the film, and close the window and the environment."""
        self._detach()
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copies: each copy opens a window of its own in its first reset."""
        return {
            **self.__dict__,
            "viewer": None,
            "_film": None,
            "_events": None,
            "_data": None,
            "_shared": None,
            "episode": -1,
        }

    def _with_events(self, info: dict[str, Any], ended: bool = False) -> dict[str, Any]:
        return info if self._events is None else {**info, CONTACTS: self._events.pop_events(ended)}

    def _attach(self) -> None:
        """Show the environment's data, which some environments replace in a reset."""
        model, data = find_simulation(self.env)
        if data is self._data:
            return
        viewer, self.viewer = self.viewer, None
        self._detach()
        self._data = data
        view = self._view(model, data)
        if viewer is not None:
            self.viewer = viewer
            viewer.show(model, data, scene=self._options.get("scene"))
        elif self._wants_window and (self._shared is None or self._shared.env == self._number):
            self.viewer = launch_passive(model, data, every_step=True, **self._options)
            write_values(self.viewer.cam, view)
            if self._shared is not None:
                self._shared.open(self)
        if self._record is not None:
            self._film = EpisodeRecorder(model, data, view=view, **self._film_options)
        if self._wants_events:
            self._events = StepEvents(model, data, () if self._wants_events is True else self._wants_events)

    def _view(self, model: MjModel, data: MjData) -> dict[str, Any]:
        """Return values of the requested camera; without one, of the environment's renderer, to follow the robot."""
        if self._camera is not None:
            camera = mujoco.MjvCamera()
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(self._camera).id
            return read_values(camera, ("type", "fixedcamid"))
        renderer = getattr(self.env.unwrapped, "mujoco_renderer", None)
        return following_view(model, data, getattr(renderer, "default_cam_config", None))

    def _detach(self) -> None:
        for part in (self.viewer, self._film, self._events):
            if part is not None:
                part.close()
        self.viewer = self._film = self._events = self._data = None


class _SharedWindow:
    """The window of a vector environment's environments, one of which is shown."""

    def __init__(self, count: int) -> None:
        self.env = 0
        """Number of the environment that is shown."""
        self._count = count
        self._viewer: PassiveViewer | None = None
        self._shown: ContactViewer | None = None

    def open(self, member: ContactViewer) -> None:
        """Offer all environments in the window that one of them has opened."""
        assert member.viewer is not None
        self._viewer, self._shown = member.viewer, member
        self._viewer.offer_environments(self._count, self.env)

    def is_wanted(self, member: ContactViewer) -> bool:
        """Return True if an environment was chosen in the window and is not shown yet."""
        viewer = self._viewer
        return viewer is not None and viewer.env == member._number != self.env and viewer.is_running()

    def move_to(self, member: ContactViewer) -> None:
        """Show another environment."""
        viewer, shown = self._viewer, self._shown
        assert viewer is not None
        assert shown is not None
        model, data = find_simulation(member.env)
        viewer.show(model, data)
        write_values(viewer.cam, member._view(model, data))
        shown.viewer, member.viewer = None, viewer
        self.env, self._shown = member._number, member


def _check_number(environment: int, count: int) -> None:
    """Raise SceneError if there is no environment of that number."""
    if not 0 <= environment < count:
        raise SceneError(f"no environment {environment}; there are {count}, from 0 to {count - 1}")


def vector_members(env: Any) -> list[Any] | None:
    """Return the vector environment's own list of environments; None if `env` is no vector environment.

    Raises:
        SceneError: The environments are in other processes.
    """
    if not any(kind.__name__ in ("VectorEnv", "VecEnv") for kind in type(env).__mro__):
        return None
    envs = getattr(env.unwrapped, "envs", None)
    if not isinstance(envs, list):
        kind = type(env.unwrapped).__name__
        raise SceneError(
            f"{kind}: its environments are in other processes, where one of them can be shown: make it with"
            f" {kind}(show_one(env_fns, 0)), by contact_viewer.gymnasium.show_one"
        )
    return envs


def show_one(
    env_fns: Sequence[Callable[[], gymnasium.Env[Any, Any]]], environment: int = 0, **options: Any
) -> list[Callable[[], gymnasium.Env[Any, Any]]]:
    """Return functions that make environments, of which one has a window or is filmed.

    For environments in processes of their own: AsyncVectorEnv of Gymnasium, SubprocVecEnv of stable-baselines3.

    Args:
        env_fns: Functions that make an environment each.
        environment: Number of the environment that is shown.
        options: Options of `ContactViewer`.

    Raises:
        SceneError: There is no such environment.

    Example:
        ```python
        envs = AsyncVectorEnv(show_one([make] * 8, 3, serve=True))
        ```
    """
    _check_number(environment, len(env_fns))
    make = partial(_make_shown, env_fns[environment], options)
    return [make if number == environment else each for number, each in enumerate(env_fns)]


def _make_shown(make: Callable[[], gymnasium.Env[Any, Any]], options: dict[str, Any]) -> ContactViewer:
    return ContactViewer(make(), **options)


class ChannelPicker:
    """Finder of the numbers of a step whose names fit some patterns, such as `info/reward_*`."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._sources = {pattern.partition("/")[0] for pattern in patterns}
        self._fitting: dict[str, bool] = {}
        self._places: dict[tuple[str, int], list[tuple[int, str]]] = {}
        """Indices and names of the values of an array that fit, by the array's name and length."""

    def pick(self, **values: Any) -> Iterator[tuple[str, float]]:
        """Yield names and values of the numbers that fit, also those in mappings and arrays of one dimension."""
        for name in self._sources.intersection(values):
            yield from self._pick(name, values[name])

    def _pick(self, name: str, value: Any) -> Iterator[tuple[str, float]]:
        if isinstance(value, Mapping):
            for key, each in value.items():
                yield from self._pick(f"{name}/{key}", each)
        elif isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiub":
            key = name, len(value)
            if key not in self._places:
                names = [f"{name}/{place}" for place in range(len(value))]
                self._places[key] = [(place, each) for place, each in enumerate(names) if self._fits(each)]
            yield from ((each, value[place]) for place, each in self._places[key])
        elif isinstance(value, bool | int | float | np.number | np.bool_) and self._fits(name):
            yield name, float(value)

    def _fits(self, name: str) -> bool:
        if name not in self._fitting:
            self._fitting[name] = any(fnmatchcase(name, pattern) for pattern in self._patterns)
        return self._fitting[name]


def find_simulation(env: gymnasium.Env[Any, Any]) -> tuple[MjModel, MjData]:
    """Return the model and data of a MuJoCo environment. Raises SceneError for another environment."""
    inner: Any = env.unwrapped
    # dm_control, also inside Shimmy's environments, keeps them in a physics object, robosuite in a simulation.
    for owner in (inner, getattr(getattr(inner, "_env", inner), "physics", None), getattr(inner, "sim", None)):
        model, data = getattr(owner, "model", None), getattr(owner, "data", None)
        with contextlib.suppress(SceneError):
            return check_simulation(model, data)
    raise SceneError(f"{inner}: not a MuJoCo environment: it has no `model` and `data`")


class _FilmRows(RowWriter):
    """Writer of rows that writes only while there is a film."""

    __slots__ = ("_film",)

    def __init__(self, film: "EpisodeRecorder", shared: SharedMemory) -> None:
        super().__init__(film.m, film.d, shared, film.room())
        self._film = weakref.ref(film)

    def write(self, kind: int, time: float) -> None:
        film = self._film()
        # The first row is written before any process can read it.
        if film is not None and (not self.count or film.filming):
            super().write(kind, time)


class EpisodeRecorder(PassiveViewer):
    """Recorder of parts of a user's loop, without a window or a display: each film goes from `begin` to `finish`.

    A process of its own draws the frames. Unlike a window, a film leaves no step out: a faster loop waits for it.
    """

    _filming = False

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        *,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        view: dict[str, Any] | None = None,
    ) -> None:
        """Begin to send states. `size`: width and height [px], and `fps`: frames per second; by default those of the
        format. `view`: values of the camera, as `read_values` returns them."""
        options = {"size": size, "fps": fps, "view": view or {}}
        ring, request = _FILM_RING, {"film": options}
        super().__init__(model, data, every_step=True, wait=True, ring_bytes=ring, module=FILM_MODULE, request=request)

    @property
    def filming(self) -> bool:
        """True between `begin` and `finish`."""
        return self._filming

    def begin(self, path: Path) -> None:
        """Begin a film at the present state."""
        self._filming = True
        self.sync()
        self._ask({"begin": str(path.absolute())}, "begun")

    def finish(self) -> None:
        """Wait until all steps so far are in the file, and complete it."""
        if self._filming:
            # The last step is known to be exact only after the model was checked for changes.
            self._next_look = 0.0
            self.sync()
            self._ask({"finish": True}, "finished")
            self._filming = False

    def close(self) -> None:
        with self._lock:
            if self._running:
                self.finish()
            super().close()

    def _open_rows(self) -> RowWriter:
        return _FilmRows(self, self._shared)

    def _ask(self, message: Message, answer: str) -> None:
        """Send a message and wait for the answer; an error of the film is printed as one line, and the loop goes on."""
        while self._running and not self._link.send(message):
            sleep(_REST)
        while self._running:
            self._link.wait(1.0)
            for received in self._receive():
                if received.get("failed"):
                    print(f"contact-viewer: {printable(received['failed'])}", file=sys.stderr)
                else:
                    self._handle(received)
                if answer in received:
                    return
        self._filming = False


class StepEvents:
    """Contact events in the steps of some data, also of steps inside one call.

    The state from which each step starts is kept. The contacts and forces of this state are computed beside the loop,
    bit for bit as in the step, without taking the step. The model is shared, so that changes of it are seen.
    """

    def __init__(self, model: MjModel, data: MjData, patterns: Sequence[str] = ()) -> None:
        """Begin to observe. `patterns`: patterns of the geoms and bodies whose events are wanted; empty for all."""
        self._model, self._data = model, data
        self._starts: list[tuple[float, NDArray[np.float64]]] = []
        """Times [s] and states from which steps have started since the last call of `pop_events`."""
        self._empty = partial(np.empty, mujoco.mj_stateSize(model, STATE))
        self._get_state, self._set_state, self._forward = mujoco.mj_getState, mujoco.mj_setState, mujoco.mj_forward
        self._engine = MujocoEngine(LoadedScene(None, model, owned=False))
        self._names = self._engine.sensors.names
        choice = pairs_with(model, patterns) if patterns else None
        follow = bool(self._names) and choice is None
        self._tracker = ContactTracker(self._engine, choice, limit=None, follow_sensors=follow)
        self._tracker.least_samples = _LATE
        TAP.add(model, data, self._record)

    def restart(self) -> None:
        """Continue from another state that the loop has set: the jump makes no contact events."""
        self._starts.clear()
        self._record(self._data.time)
        self._compute(self._engine.data, self._starts.pop()[1])
        self._tracker.after_reset(self._engine)
        self._tracker.log.clear()

    def pop_events(self, ended: bool = False) -> list[dict[str, Any]]:
        """Return the events since the last call, in order of time, for JSON; unknown values are None.

        `ended`: True after the last step of an episode, to get all remaining events.

        Fields for a pair of geoms: see `event_record`; for a contact sensor of the model, by its force: `time` [s],
        `sensor`, `kind`, `force` [N], `duration` [s].
        """
        self._observe()
        TAP.renew(self._data)
        tracker = self._tracker
        tracker.least_samples = 0 if ended else _LATE
        if not tracker.may_have_news:
            return []
        log = tracker.log
        records = [
            self._sensor_record(entry.event) if isinstance(entry.event, SensorEvent) else event_record(entry)
            for entry in log
        ]
        log.clear()
        return records

    def close(self) -> None:
        """Stop observing steps. A second call does nothing."""
        TAP.remove(self._record)

    def _record(self, time: float) -> None:
        state = self._empty()
        self._get_state(self._model, self._data, state, STATE)
        self._starts.append((time, state))

    def _observe(self) -> None:
        """Pass the steps since the last call to the tracker."""
        starts, self._starts = self._starts, []
        if not starts:
            return
        engine, data, tracker, compute = self._engine, self._engine.data, self._tracker, self._compute
        ends = [time for time, _ in starts[1:]]
        ends.append(self._data.time)
        for (time, state), end in zip(starts, ends, strict=True):
            # Otherwise no step began there: the loop called `mj_forward`, or the step diverged.
            if end > time:
                compute(data, state)
                data.time = end
                if not tracker.buffer(end):
                    tracker.after_step(Step(engine))

    def _compute(self, data: MjData, state: NDArray[np.float64]) -> None:
        self._set_state(self._model, data, state, STATE)
        try:
            self._forward(self._model, data)
        except mujoco.FatalError:
            # This frees the memory that the step has taken from MuJoCo's arena.
            mujoco.mj_resetData(self._model, data)

    def _sensor_record(self, event: SensorEvent) -> dict[str, Any]:
        return {
            "time": event.time,
            "sensor": self._names[event.sensor],
            "kind": str(event.kind),
            "force": event.force,
            "duration": event.duration,
        }


def check_path(pattern: str, size: tuple[int, int] | None, fps: float | None) -> None:
    """Raise RecordingError for a name, size or rate with which no film can be written."""
    from ..recording.formats import check_rate, check_size, format_of
    from ..recording.schedule import frame_rate

    first, second = (pattern.format(episode) for episode in (0, 1))
    if first == second:
        raise RecordingError(f"{pattern}: each episode is a file of its own; put {{}} where its number goes")
    kind = format_of(first)
    check_rate(kind, frame_rate(fps or kind.fps))
    check_size(kind, size or kind.size)
    folder = Path(first).absolute().parent
    if not os.path.isdir(folder):
        raise RecordingError(f"{folder}: no such folder")
