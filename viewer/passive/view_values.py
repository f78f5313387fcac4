"""Turns a camera and the visual options of MuJoCo into plain values and back, to hand them to another process."""

from typing import Any

import numpy as np

CAMERA = ("type", "fixedcamid", "trackbodyid", "lookat", "distance", "azimuth", "elevation")
OPTIONS = (
    "label",
    "frame",
    "geomgroup",
    "sitegroup",
    "jointgroup",
    "tendongroup",
    "actuatorgroup",
    "skingroup",
    "flexgroup",
    "flags",
    "bvh_depth",
)
"""Fields of an MjvCamera and of an MjvOption that a program may set."""


def read_values(owner: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """Fields as numbers and lists of them."""
    values = {name: getattr(owner, name) for name in fields if hasattr(owner, name)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def write_values(owner: Any, values: dict[str, Any]) -> None:
    """Set fields that `read_values` has read of another owner."""
    for name, value in values.items():
        if isinstance(value, list):
            getattr(owner, name)[:] = value
        else:
            setattr(owner, name, value)
