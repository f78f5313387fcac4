"""Names what MuJoCo can show in a picture, with its numbers for them."""

import mujoco

_VIS, _RND = mujoco.mjtVisFlag, mujoco.mjtRndFlag
VISUAL_FLAGS = {
    "transparent": _VIS.mjVIS_TRANSPARENT,
    "hull": _VIS.mjVIS_CONVEXHULL,
    "joints": _VIS.mjVIS_JOINT,
    "actuators": _VIS.mjVIS_ACTUATOR,
    "tendons": _VIS.mjVIS_TENDON,
    "cameras": _VIS.mjVIS_CAMERA,
    "lights": _VIS.mjVIS_LIGHT,
    "com": _VIS.mjVIS_COM,
    "inertia": _VIS.mjVIS_INERTIA,
    "islands": _VIS.mjVIS_ISLAND,
    "static": _VIS.mjVIS_STATIC,
    "perturb_force": _VIS.mjVIS_PERTFORCE,
    "perturb_object": _VIS.mjVIS_PERTOBJ,
}
"""In `mjvOption.flags`. MuJoCo's own contact drawing is not among them: gizmos are ours."""
RENDER_FLAGS = {
    "wireframe": _RND.mjRND_WIREFRAME,
    "shadow": _RND.mjRND_SHADOW,
    "reflection": _RND.mjRND_REFLECTION,
    "fog": _RND.mjRND_FOG,
    "haze": _RND.mjRND_HAZE,
    "skybox": _RND.mjRND_SKYBOX,
}
"""In `mjvScene.flags`."""
COSTLY_FLAGS = ("shadow", "reflection")
"""They start off at low quality."""
LABELS = tuple(
    label
    for label in range(mujoco.mjtLabel.mjNLABEL)
    # These two label MuJoCo's own contact drawing.
    if label not in (mujoco.mjtLabel.mjLABEL_CONTACTPOINT, mujoco.mjtLabel.mjLABEL_CONTACTFORCE)
)
"""Values of `mjvOption.label`."""
GROUPS = {"geom": "geomgroup", "site": "sitegroup", "joint": "jointgroup"}
"""Arrays of `mjvOption`."""
