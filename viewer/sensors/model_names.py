"""Turns the bytes of a MuJoCo model into names, also where they are empty or not UTF-8."""

from typing import Any

COMPANION = "contact_viewer/companion/"
"""Prefix of the names of companions, before the number of their sensor."""


def read_names(model: Any, kind: str) -> list[str]:
    """Names of all objects of a kind (`geom`, `body`, ...), as written in the model; empty for unnamed ones."""
    # The accessors of the bindings raise on bytes that are not UTF-8, so read the bytes themselves.
    raw: bytes = model.names
    names = []
    for start in getattr(model, f"name_{kind}adr").tolist():
        end = raw.index(b"\0", start)
        names.append(raw[start:end].decode("utf-8", "replace"))
    return names


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
