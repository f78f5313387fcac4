"""Gymnasium's environments with their contacts: a window, films of episodes, and contact events of every step."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import mujoco
import numpy as np

from ..errors import SceneError
from ..mjmodel.types import MjData, MjModel
from ..render.camera_motion import look_at_box
from ..render.framing import body_geoms, box_around, moving_geoms
from .film import EpisodeFilm, check_path
from .launch import launch_passive
from .step_events import StepEvents
from .view_values import CAMERA, read_values, write_values
from .viewer import PassiveViewer

CONTACTS = "contacts"
"""The key of the events in `info`."""
_FILL, _ASPECT = 0.5, 16 / 9
"""Part of the picture that the robot fills where its environment names no distance, and width by height."""


class ContactViewer(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Shows every physics step of a MuJoCo environment, also those inside one step of the environment.

    The environment's own arrays are never changed but by a person who pulls a body in the window. Closing the window
    does not end the environment.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        window: bool | None = None,
        record: str | Path | None = None,
        events: bool = False,
        episode_trigger: Callable[[int], bool] | None = None,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        camera: str | None = None,
        **options: Any,
    ) -> None:
        """`window`: False for none; opened unless only `record` is asked for. `options`: see `launch_passive`.

        `record`: films episodes, without a window or a display, into files such as `episode-{}.mp4`; `{}` is the
        number of the episode, from 0. `episode_trigger(number)`: True if it is filmed; all are without. `size`: width
        and height [px], `fps`: frames per second; those of the format if not given. `camera`: one of the model's; else
        a free one that follows the robot, if that can leave.
        `events`: True to put the begins and ends of contacts that the last step has shown into `info["contacts"]`:
        see `StepEvents.take`.
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
            **options,
        )
        super().__init__(env)
        model, _ = find_simulation(env)
        cameras = [model.camera(i).name for i in range(model.ncam)]
        if camera is not None and camera not in cameras:
            raise SceneError(f"no camera named {camera!r}; the model has: {', '.join(filter(None, cameras)) or 'none'}")
        if record is not None:
            check_path(str(record), size, fps)
        self._record = None if record is None else str(record)
        self._wants_window = record is None if window is None else window
        self._wants_events, self._options = events, options
        self._trigger = episode_trigger or (lambda episode: True)
        self._film_options: dict[str, Any] = {"size": size, "fps": fps}
        self._camera = camera
        self.episode = -1
        """Number of the episode, from 0; -1 before the first reset."""
        self.viewer: PassiveViewer | None = None
        """The window, once there was a reset; its `gizmos`, `pause` and `is_running` are for the program."""
        self._film: EpisodeFilm | None = None
        self._events: StepEvents | None = None
        self._data: MjData | None = None
        """What is shown."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the environment's; begins another episode."""
        if self._film is not None:
            self._film.finish()
        observation, info = self.env.reset(seed=seed, options=options)
        self._attach()
        self.episode += 1
        if self.viewer is not None:
            self.viewer.sync()
        if self._film is not None and self._record is not None and self._trigger(self.episode):
            self._film.begin(Path(self._record.format(self.episode)))
        if self._events is not None:
            self._events.restart()
        return observation, self._with_events(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """As the environment's, with every physics step handed over; waits while a person pauses the window."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self.viewer is not None:
            self.viewer.sync()
        film = self._film
        if film is not None and film.filming:
            if terminated or truncated:
                film.finish()
            else:
                film.sync()
        return observation, reward, terminated, truncated, self._with_events(info)

    def close(self) -> None:
        """Complete what is filmed, close the window and the environment."""
        self._detach()
        super().close()

    def _with_events(self, info: dict[str, Any]) -> dict[str, Any]:
        return info if self._events is None else {**info, CONTACTS: self._events.take()}

    def _attach(self) -> None:
        """Show the environment's data, which some environments make again in a reset."""
        model, data = find_simulation(self.env)
        if data is self._data:
            return
        self._detach()
        self._data = data
        view = self._view(model, data)
        if self._wants_window:
            self.viewer = launch_passive(model, data, every_step=True, **self._options)
            write_values(self.viewer.cam, view)
        if self._record is not None:
            self._film = EpisodeFilm(model, data, view=view, **self._film_options)
        if self._wants_events:
            self._events = StepEvents(model, data)

    def _view(self, model: MjModel, data: MjData) -> dict[str, Any]:
        """Values of the camera: the one that was asked for, else as the environment renders itself, following the
        robot.
        """
        camera = mujoco.MjvCamera()
        if self._camera is not None:
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(self._camera).id
            return read_values(camera, ("type", "fixedcamid"))
        mujoco.mjv_defaultFreeCamera(model, camera)
        body = travelling_body(model)
        box = box_around(model, data, body_geoms(model, body) if body else moving_geoms(model))
        if box is not None:
            look_at_box(camera, box, _FILL, _ASPECT, float(model.vis.global_.fovy))
        renderer = getattr(self.env.unwrapped, "mujoco_renderer", None)
        own = getattr(renderer, "default_cam_config", None) or {}
        for name in ("distance", "azimuth", "elevation", *(() if body else ("lookat",))):
            if name in own:
                write_values(camera, {name: np.asarray(own[name], float).tolist()})
        if body:
            camera.type, camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, body
        return read_values(camera, CAMERA)

    def _detach(self) -> None:
        for part in (self.viewer, self._film, self._events):
            if part is not None:
                part.close()
        self.viewer = self._film = self._events = self._data = None


def find_simulation(env: gymnasium.Env[Any, Any]) -> tuple[MjModel, MjData]:
    """The model and data of a MuJoCo environment. Raises SceneError if it is none."""
    inner: Any = env.unwrapped
    # dm_control's, also inside Shimmy's environments, have them in a physics object.
    physics = getattr(getattr(inner, "_env", inner), "physics", None)
    for owner, part in ((inner, ""), (physics, "ptr")):
        found = [getattr(owner, name, None) for name in ("model", "data")]
        model, data = (getattr(each, part, each) if part else each for each in found)
        if isinstance(model, mujoco.MjModel) and isinstance(data, mujoco.MjData):
            return model, data
    raise SceneError(f"{inner}: not a MuJoCo environment: it has no `model` and `data`")


def travelling_body(model: MjModel) -> int:
    """The heaviest body that can leave its place with all that hangs from it; 0 if there is none."""
    roots = {int(model.body_rootid[body]) for body in range(1, model.nbody)}
    moving = [int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)]

    def can_leave(body: int) -> bool:
        joints = model.body_jntadr[body] + range(model.body_jntnum[body]) if model.body_jntnum[body] else ()
        return any(model.jnt_type[joint] in moving and not model.jnt_limited[joint] for joint in joints)

    return max(filter(can_leave, sorted(roots)), key=lambda body: float(model.body_subtreemass[body]), default=0)
