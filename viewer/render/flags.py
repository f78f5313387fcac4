"""Names what MuJoCo can show in a picture, with its numbers for them."""

import mujoco

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
"""In `mjvOption.flags`. MuJoCo's own contact drawing is not among them: gizmos are ours."""
RENDER_FLAGS = {
    "wireframe": int(_RND.mjRND_WIREFRAME),
    "shadow": int(_RND.mjRND_SHADOW),
    "reflection": int(_RND.mjRND_REFLECTION),
    "fog": int(_RND.mjRND_FOG),
    "haze": int(_RND.mjRND_HAZE),
    "skybox": int(_RND.mjRND_SKYBOX),
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
