"""Names of a MuJoCo model's objects, safe for names that are empty or not UTF-8."""

from typing import Any

import mujoco

COMPANION = "contact_viewer/companion/"
"""Names of companions begin so; the number of their sensor follows."""


def read_names(model: Any, kind: str) -> list[str]:
    """Names of all objects of a kind (`geom`, `body`, ...), as written in the model; empty for unnamed ones."""
    # The accessors of the bindings raise on bytes that are not UTF-8, so read the bytes themselves.
    raw: bytes = model.names
    names = []
    for start in getattr(model, f"name_{kind}adr"):
        end = raw.index(b"\0", start)
        names.append(raw[start:end].decode("utf-8", "replace"))
    return names


def body_names(model: Any) -> list[str]:
    """A name for every body; unnamed ones get their number."""
    return [name or f"body {i}" for i, name in enumerate(read_names(model, "body"))]


def geom_names(model: Any) -> list[str]:
    """A name for every geom; unnamed ones get their number and their body."""
    bodies = body_names(model)
    return [name or f"geom {i} of {bodies[model.geom_bodyid[i]]}" for i, name in enumerate(read_names(model, "geom"))]


def sensor_names(model: Any) -> list[str]:
    """A name for every sensor; unnamed ones get their number. No two are the same."""
    return label_sensors(read_names(model, "sensor"))


def label_sensors(written: list[str]) -> list[str]:
    """Names of sensors with one made up for each that has none."""
    names = list(written)
    taken = set(names)
    for i, name in enumerate(names):
        if not name:
            name = f"sensor-{i}"
            while name in taken:
                name += "'"
            names[i] = name
            taken.add(name)
    return names


def target_label(model: Any, kind: int, index: int) -> str:
    """What one side of a contact sensor matches, such as `geom bar`."""
    objects = mujoco.mjtObj
    if kind == objects.mjOBJ_GEOM:
        return f"geom {geom_names(model)[index]}"
    if kind == objects.mjOBJ_BODY:
        return f"body {body_names(model)[index]}"
    if kind == objects.mjOBJ_XBODY:
        return f"subtree {body_names(model)[index]}"
    if kind == objects.mjOBJ_SITE:
        return f"site {read_names(model, 'site')[index] or index}"
    return "any"
