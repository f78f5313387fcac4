"""Holds camera, selection, perturbation and visual flags of a picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import body_names, read_names
from ..mjmodel.types import MjData, MjModel
from ..settings import Quality
from .camera import (
    FIXED,
    FREE,
    TRACKING,
    Box,
    CameraMatrices,
    Eye,
    Viewport,
    body_geoms,
    box_around,
    camera_axes,
    look_at_box,
    moving_geoms,
    scene_size,
    scenery,
    set_planes,
    shown_badly,
    zoom_camera,
)

_MOST_MOVING = 1000
"""Largest number of moving geoms that are considered when free room beside them is searched for."""
_ORBIT_SPEED = 180.0
"""Rotation by a drag as long as the viewport is high [degrees], as in MuJoCo's viewers."""
_ZOOM_SPEED = 2.4
_FRAMED = 0.75
"""Fraction of the picture that a framed object fills."""
_FOLLOWED = 0.4
"""Fraction of the picture that a followed body fills: the objects that it touches are in the picture too."""
USUAL_PICTURE: Viewport = (0, 0, 1280, 720)
"""Viewport that is assumed while the size of the picture is not known yet."""
_FARTHEST = 1e6
"""Largest depth that a picture shows, in sizes of the scene."""
_STEEPEST = 89.0
"""Largest elevation [degrees]: straight up and down have no azimuth."""
_VIS, _RND = mujoco.mjtVisFlag, mujoco.mjtRndFlag
VISUAL_FLAGS = {
    "transparent": int(_VIS.mjVIS_TRANSPARENT),
    "hull": int(_VIS.mjVIS_CONVEXHULL),
    "joints": int(_VIS.mjVIS_JOINT),
    "actuators": int(_VIS.mjVIS_ACTUATOR),
    "tendons": int(_VIS.mjVIS_TENDON),
    "cameras": int(_VIS.mjVIS_CAMERA),
    "lights": int(_VIS.mjVIS_LIGHT),
    "com": int(_VIS.mjVIS_COM),
    "inertia": int(_VIS.mjVIS_INERTIA),
    "islands": int(_VIS.mjVIS_ISLAND),
    "static": int(_VIS.mjVIS_STATIC),
    "perturb_force": int(_VIS.mjVIS_PERTFORCE),
    "perturb_object": int(_VIS.mjVIS_PERTOBJ),
}
"""Indices in `mjvOption.flags`. MuJoCo's own contact drawing is not among them: the viewer draws contacts itself."""
RENDER_FLAGS = {
    "wireframe": int(_RND.mjRND_WIREFRAME),
    "shadow": int(_RND.mjRND_SHADOW),
    "reflection": int(_RND.mjRND_REFLECTION),
    "fog": int(_RND.mjRND_FOG),
    "haze": int(_RND.mjRND_HAZE),
    "skybox": int(_RND.mjRND_SKYBOX),
}
"""Indices in `mjvScene.flags`."""
COSTLY_FLAGS = ("shadow", "reflection")
"""Flags that are off at first at low quality."""
LABELS = tuple(
    label
    for label in range(mujoco.mjtLabel.mjNLABEL)
    # These two label MuJoCo's own contact drawing.
    if label not in (mujoco.mjtLabel.mjLABEL_CONTACTPOINT, mujoco.mjtLabel.mjLABEL_CONTACTFORCE)
)
"""Values of `mjvOption.label` that a user can choose."""
GROUPS = {"geom": "geomgroup", "site": "sitegroup", "joint": "jointgroup"}
"""Names of the arrays in `mjvOption` that say which groups are shown."""


@dataclass(frozen=True, eq=False)
class Pick:
    """Object under a pixel."""

    body: int
    geom: int
    """Index of the geom; -1 for skins and flexes."""
    point: NDArray[np.float64]
    """Point of the surface that was hit [m], world, (3,)."""
    local_point: NDArray[np.float64]
    """The same point in the body's frame [m], (3,)."""


class View:
    """Camera, selection and flags of one picture. Needs no OpenGL."""

    def __init__(self, model: MjModel) -> None:
        self.option = mujoco.MjvOption()
        self.perturb = mujoco.MjvPerturb()
        self.camera = mujoco.MjvCamera()
        self._chosen_flags: dict[str, bool] = {}
        """Render flags that the user has set; the others follow the quality."""
        self._quality = Quality.HIGH
        self._eye: CameraMatrices | None = None
        """Matrices of the model's camera in the last frame that used one."""
        self._pushed: tuple[int, NDArray[np.float64]] | None = None
        """Body that perturbation pushes, and its `xfrc_applied` before the push [N, N m], world."""
        self._sketch = mujoco.MjvScene()
        """Scene without geoms, to compute the camera."""
        self._attach(model)
        mujoco.mjv_defaultFreeCamera(model, self.camera)
        if 0 <= model.vis.global_.cameraid < model.ncam:
            self.set_camera(self.cameras[model.vis.global_.cameraid])

    def _attach(self, model: MjModel) -> None:
        self._model = model
        self.cameras = [name or f"camera {i}" for i, name in enumerate(read_names(model, "cam"))]
        """Names of the model's cameras."""
        self._bodies = body_names(model)
        self._size = scene_size(model)
        self._moving = np.flatnonzero(model.body_treeid >= 0)
        geoms = moving_geoms(model)
        self.moving_geoms = geoms[:: 1 + len(geoms) // _MOST_MOVING]
        """Moving geoms, (n,); only some of them if there are thousands."""
        self._scenery, self._reach = scenery(model)

    def matrices(self, model: MjModel, data: MjData, viewport: Viewport) -> CameraMatrices:
        """Return the camera for a frame in a viewport."""
        # A copy: a camera that tracks a body moves whenever it is asked.
        mujoco.mjv_updateCamera(model, data, _copy(self.camera), self._sketch)
        self.set_planes(model, data, self._sketch)
        return CameraMatrices.from_scene(self._sketch, viewport)

    def set_planes(self, model: MjModel, data: MjData, scene: Any) -> None:
        """Fit the clipping planes of an updated `MjvScene` to the objects in front of the camera.

        MuJoCo's own planes are at multiples of the scene's declared extent, wherever the camera is.
        """
        eye, size = scene.camera[0].pos, self._size
        bodies = np.linalg.norm(data.xpos[self._moving] - eye, axis=1)
        scenery = np.linalg.norm(data.geom_xpos[self._scenery] - eye, axis=1) + self._reach
        is_fixed = self.camera.type == FIXED
        distance = float(np.median(bodies) if is_fixed and len(bodies) else self.camera.distance)
        # NaN, as in a state that has diverged, is ignored.
        farthest = np.fmax.reduce(scenery, initial=np.fmax.reduce(bodies, initial=distance) + size)
        factor = size / max(float(model.stat.extent), 1e-300)
        set_planes(scene, factor, min(float(farthest), _FARTHEST * size), distance, is_fixed)

    def reattach(self, model: MjModel) -> None:
        """Continue with another model, such as the same scene loaded again.

        Camera, tracked body and selected body are found by name. If they do not exist, the camera is free and nothing
        is selected.
        """
        camera_name, tracked = self.camera_name, self.tracking
        selected = self._bodies[self.selected_body] if self.selected_body else None
        self.end_perturb()
        self._pushed = None
        self._attach(model)
        if camera_name in self.cameras:
            self.set_camera(camera_name)
        elif tracked in self._bodies:
            self.track(self._bodies.index(tracked))
        else:
            self.free_camera()
        if selected in self._bodies:
            self.perturb.select = self._bodies.index(selected)
        else:
            self.select(None)

    def copy_from(self, other: "View", model: MjModel) -> None:
        """Copy camera, flags and selection of another view, and continue with a model."""
        self.__dict__.update(
            {
                **other.__dict__,
                "option": _copy(other.option),
                "perturb": _copy(other.perturb),
                "camera": _copy(other.camera),
                "_chosen_flags": dict(other._chosen_flags),
            }
        )
        self.reattach(model)

    @property
    def camera_name(self) -> str | None:
        """Name of the model's camera in use; None for the free and the tracking camera."""
        if self.camera.type != FIXED:
            return None
        return self.cameras[self.camera.fixedcamid]

    @property
    def focus(self) -> NDArray[np.float64]:
        """Point of interest [m], world, (3,): the centre that a movable camera turns about; for a fixed one the scene's
        centre."""
        fixed = self.camera.type == FIXED
        return np.array(self._model.stat.center if fixed else self.camera.lookat, float)

    @property
    def tracking(self) -> str | None:
        """Name of the body that the camera follows; None if it follows no body."""
        if self.camera.type != TRACKING:
            return None
        return self._bodies[self.camera.trackbodyid]

    def set_camera(self, name: str | None) -> None:
        """Use the camera of a name from `cameras`; None for the free camera."""
        if name is None:
            self.free_camera()
            return
        if name not in self.cameras:
            raise ValueError(f"no camera named {name!r}")
        self.camera.type = FIXED
        self.camera.fixedcamid = self.cameras.index(name)
        self.camera.trackbodyid = -1

    def free_camera(self) -> None:
        self.camera.type = FREE
        self.camera.fixedcamid = -1
        self.camera.trackbodyid = -1

    def next_camera(self) -> None:
        """Use the next camera: free camera, first, second, ..., last, free camera."""
        self._cycle_camera(1)

    def previous_camera(self) -> None:
        self._cycle_camera(-1)

    def track(self, body: int) -> None:
        """Follow a body; the world cannot be followed."""
        if not 0 < body < len(self._bodies):
            return
        self._leave_fixed()
        self.camera.type = TRACKING
        self.camera.trackbodyid = body
        self.camera.fixedcamid = -1

    def follow_body(self, name: str, model: MjModel, data: MjData, aspect: float) -> None:
        """Look at a body with its subtree from close by, and follow it.

        `aspect`: width of the picture divided by its height. Raises ValueError if there is no such body.
        """
        if name not in self._bodies[1:]:
            raise ValueError(f"no body named {name!r}; the scene has: {', '.join(self._bodies[1:]) or 'none'}")
        body = self._bodies.index(name)
        box = box_around(model, data, body_geoms(model, body))
        distance = self.camera.distance
        if box is not None:
            self._look_at_box(box, _FOLLOWED, aspect)
        self.camera.distance = min(self.camera.distance, distance)
        self.track(body)

    def align(self) -> None:
        """Reset the camera to the free camera that the model declares."""
        mujoco.mjv_defaultFreeCamera(self._model, self.camera)

    def show_moving(self, model: MjModel, data: MjData, has_sensors: bool = True) -> None:
        """Keep the camera if it shows the moving geoms; else look at them, from the same side.

        `has_sensors`: True if the scene has contact sensors: its author may then want to show only a part of it.
        """
        box = box_around(model, data, moving_geoms(model))
        if box is None:
            return
        eye = Eye(self.matrices(model, data, USUAL_PICTURE), USUAL_PICTURE)
        if self.camera.type == FIXED:
            self._eye = eye.matrices
        fill = shown_badly(model, data, eye, box, has_sensors or self.camera.type == FIXED)
        if fill is not None:
            self._look_at_box(box, fill, USUAL_PICTURE[2] / USUAL_PICTURE[3])

    def frame(self, model: MjModel, data: MjData, aspect: float) -> None:
        """Look at the selected body with its subtree, or at all moving geoms, or at the whole scene.

        `aspect`: width of the picture divided by its height.
        """
        geoms = body_geoms(model, self.selected_body) if self.selected_body else moving_geoms(model)
        box = box_around(model, data, geoms)
        if box is None:
            center, size = np.array(model.stat.center), float(model.stat.extent)
            box = center - 0.5 * size, center + 0.5 * size
        self._look_at_box(box, _FRAMED, aspect)

    def _look_at_box(self, box: Box, fill: float, aspect: float) -> None:
        self._leave_fixed()
        self.free_camera()
        look_at_box(self.camera, box, fill, aspect, float(self._model.vis.global_.fovy))

    def look_at(
        self, lookat: Sequence[float] | NDArray[Any], distance: float, azimuth: float, elevation: float
    ) -> None:
        """Place the free camera: point `lookat`, world, and distance [m], angles [degrees]."""
        self.free_camera()
        self.camera.lookat[:] = lookat
        self.camera.distance, self.camera.azimuth, self.camera.elevation = distance, azimuth, elevation

    def center(self, point: Sequence[float] | NDArray[Any]) -> None:
        """Move the free camera's centre to a point [m], world."""
        self._leave_fixed()
        self.free_camera()
        self.camera.lookat[:] = point

    def orbit(self, dx: float, dy: float) -> None:
        """Turn the camera around its centre by a drag to the right and down [viewport heights]."""
        self._leave_fixed()
        azimuth = self.camera.azimuth - _ORBIT_SPEED * dx
        self.camera.azimuth = (azimuth + 180.0) % 360.0 - 180.0
        elevation = self.camera.elevation - _ORBIT_SPEED * dy
        self.camera.elevation = min(max(elevation, -_STEEPEST), _STEEPEST)

    def pan(self, dx: float, dy: float, horizontal: bool = False) -> None:
        """Move the scene with a drag to the right and down [viewport heights]; `horizontal`: True to move along the
        floor."""
        self._leave_fixed()
        if self.camera.type == TRACKING:
            return
        right, up, _ = camera_axes(self.camera)
        rise = np.cross([0, 0, 1.0], right) if horizontal else up
        height = self._height_at_center()
        self.camera.lookat[:] = self.camera.lookat + height * (dy * rise - dx * right)

    def zoom(self, amount: float, toward: Sequence[float] | NDArray[Any] | None = None) -> None:
        """Move the camera nearer by a positive amount; 0.05 is one notch of a mouse wheel.

        `toward`: point that keeps its place in the picture [m], world; None for the camera's centre.
        """
        self._leave_fixed()
        zoom_camera(self.camera, math.exp(-_ZOOM_SPEED * amount), self._size, toward)

    def follow(self, scene: Any) -> None:
        """Remember the matrices of the model's camera in an updated `MjvScene`: dragging starts from them."""
        if self.camera.type == FIXED:
            self._eye = CameraMatrices.from_scene(scene, (0, 0, 1, 1))

    @property
    def selected_body(self) -> int:
        """Index of the selected body; 0 if nothing is selected."""
        return int(self.perturb.select)

    @property
    def perturbing(self) -> bool:
        return bool(self.perturb.active)

    def pick(self, model: MjModel, data: MjData, scene_pass: Any, x: float, y: float, aspect: float) -> Pick | None:
        """Return the object that is drawn at `x`, `y`, fractions of the viewport from its lower left corner; None
        without one. `aspect`: width of the viewport divided by its height."""
        point = np.zeros((3, 1))
        geom, flex, skin = (np.full((1, 1), -1, np.int32) for _ in range(3))
        body = mujoco.mjv_select(model, data, self.option, aspect, x, y, scene_pass.scene, point, geom, flex, skin)
        if body < 0:
            return None
        hit = point[:, 0]
        return Pick(
            body=body,
            geom=int(geom[0, 0]),
            point=hit,
            local_point=data.xmat[body].reshape(3, 3).T @ (hit - data.xpos[body]),
        )

    def select(self, pick: Pick | None) -> None:
        """Select the picked body; nothing if `pick` is None or the world."""
        self.end_perturb()
        self.perturb.select = pick.body if pick is not None else 0
        self.perturb.localpos[:] = pick.local_point if pick is not None else 0.0

    def select_parent(self, model: MjModel) -> None:
        """Select the parent of the selected body, if that is not the world."""
        parent = int(model.body_parentid[self.selected_body])
        if parent > 0:
            self.end_perturb()
            self.perturb.select = parent
            self.perturb.localpos[:] = 0.0

    def begin_perturb(self, model: MjModel, data: MjData, scene_pass: Any, translate: bool) -> None:
        """Start to pull the selected body, or to turn it unless `translate`."""
        if self.selected_body <= 0:
            return
        mujoco.mjv_initPerturb(model, data, scene_pass.scene, self.perturb)
        bits = mujoco.mjtPertBit
        self.perturb.active = int(bits.mjPERT_TRANSLATE if translate else bits.mjPERT_ROTATE)

    def move_perturb(
        self, model: MjModel, data: MjData, scene_pass: Any, dx: float, dy: float, horizontal: bool = False
    ) -> None:
        """Move the target of the pull by a drag to the right and down [viewport heights]."""
        if not self.perturbing:
            return
        mouse = mujoco.mjtMouse
        if self.perturb.active == int(mujoco.mjtPertBit.mjPERT_TRANSLATE):
            action = mouse.mjMOUSE_MOVE_H if horizontal else mouse.mjMOUSE_MOVE_V
        else:
            action = mouse.mjMOUSE_ROTATE_H if horizontal else mouse.mjMOUSE_ROTATE_V
        mujoco.mjv_movePerturb(model, data, action, dx, dy, scene_pass.scene, self.perturb)

    def end_perturb(self) -> None:
        """Stop pulling. The next `apply_perturb` removes the force."""
        self.perturb.active = 0

    def apply_perturb(self, model: MjModel, data: MjData, paused: bool) -> bool:
        """Push the selected body, or while paused move it; call before steps and, while paused, before drawing.

        Returns True if poses have changed: then only kinematics are up to date, not contacts and sensors.
        """
        self._release(data)
        if not self.perturbing:
            return False
        mujoco.mjv_applyPerturbPose(model, data, self.perturb, int(paused))
        if paused:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
            return True
        body = self.selected_body
        self._pushed = body, data.xfrc_applied[body].copy()
        data.xfrc_applied[body] = 0.0
        mujoco.mjv_applyPerturbForce(model, data, self.perturb)
        return False

    def flag(self, name: str) -> bool:
        """Return True if one of VISUAL_FLAGS or RENDER_FLAGS is on."""
        if name in VISUAL_FLAGS:
            return bool(self.option.flags[VISUAL_FLAGS[name]])
        default = mujoco.mjRNDSTRING[RENDER_FLAGS[name]][1] == "1"
        if name in COSTLY_FLAGS and self._quality is Quality.LOW:
            default = False
        return self._chosen_flags.get(name, default)

    def toggle(self, name: str) -> None:
        """Switch one of VISUAL_FLAGS or RENDER_FLAGS."""
        if name in VISUAL_FLAGS:
            self.option.flags[VISUAL_FLAGS[name]] = not self.flag(name)
        else:
            self._chosen_flags[name] = not self.flag(name)

    def set_quality(self, quality: Quality) -> None:
        """Set the rendering quality, which decides whether costly flags are on at first."""
        self._quality = quality

    def render_flags(self) -> dict[int, bool]:
        """Return the values for `mjvScene.flags`, by index."""
        return {index: self.flag(name) for name, index in RENDER_FLAGS.items()}

    def group(self, kind: str, number: int) -> bool:
        """Return True if a group (0 to 5) of `geom`, `site` or `joint` is shown."""
        return bool(getattr(self.option, GROUPS[kind])[number])

    def toggle_group(self, kind: str, number: int) -> None:
        getattr(self.option, GROUPS[kind])[number] = not self.group(kind, number)

    def cycle_frame(self) -> None:
        self.option.frame = (self.option.frame + 1) % int(mujoco.mjtFrame.mjNFRAME)

    def cycle_label(self) -> None:
        self.option.label = LABELS[(LABELS.index(self.option.label) + 1) % len(LABELS)]

    def _cycle_camera(self, step: int) -> None:
        places: list[str | None] = [None, *self.cameras]
        self.set_camera(places[(places.index(self.camera_name) + step) % len(places)])

    def _leave_fixed(self) -> None:
        """Change from the model's camera to the free camera, at the same place."""
        if self.camera.type != FIXED:
            return
        self.free_camera()
        eye = self._eye
        if eye is None:
            return
        stat = self._model.stat
        distance = max(float((stat.center - eye.position) @ eye.forward), 0.1 * float(stat.extent))
        elevation = math.degrees(math.asin(min(max(float(eye.forward[2]), -1.0), 1.0)))
        self.camera.lookat[:] = eye.position + distance * eye.forward
        self.camera.azimuth = math.degrees(math.atan2(eye.forward[1], eye.forward[0]))
        self.camera.elevation = min(max(elevation, -_STEEPEST), _STEEPEST)
        if not eye.orthographic:
            # The free camera may see a wider or narrower angle: what is at the centre keeps its size.
            distance *= math.tan(math.radians(0.5 * self._model.vis.global_.fovy)) ** -1 / eye.projection[1, 1]
        self.camera.distance = distance

    def _height_at_center(self) -> float:
        """Return the height of the free camera's view at its centre [m]."""
        fovy = float(self._model.vis.global_.fovy)
        if self.camera.orthographic:
            return fovy
        return 2.0 * math.tan(math.radians(0.5 * fovy)) * float(self.camera.distance)

    def _release(self, data: MjData) -> None:
        """Undo the last push: restore the forces that a user's program had applied to the body."""
        if self._pushed is not None:
            body, before = self._pushed
            data.xfrc_applied[body] = before
            self._pushed = None


def _copy(value: Any) -> Any:
    return value.__copy__()
