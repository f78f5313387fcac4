"""Turns the bytes of a MuJoCo model into names, also where they are empty or not UTF-8."""

from typing import Any

import numpy as np

COMPANION = "contact_viewer/companion/"
"""Prefix of the names of companions, before the number of their sensor."""


def read_names(model: Any, kind: str) -> list[str]:
    """Names of all objects of a kind (`geom`, `body`, ...), as written in the model; empty for unnamed ones."""
    # The accessors of the bindings raise on bytes that are not UTF-8, so read the bytes themselves.
    starts = getattr(model, f"name_{kind}adr")
    if not len(starts):
        return []
    # All at once: a call for each of many takes several times as long.
    first = int(starts.min())
    raw: bytes = model.names[first : model.names.index(b"\0", int(starts.max()))]
    texts = raw.decode("utf-8", "replace").split("\0")
    ends = np.flatnonzero(np.frombuffer(raw, np.uint8) == 0)
    return [texts[i] for i in np.searchsorted(ends, starts - first).tolist()]


def label_sensors(written: list[str]) -> list[str]:
    """Names of sensors with one made up for each that has none."""
    names = list(written)
    taken = set(names)
    if "" not in taken:
        return names
    for i, name in enumerate(names):
        if not name:
            name = f"sensor-{i}"
            while name in taken:
                name += "'"
            names[i] = name
            taken.add(name)
    return names
