"""A scene's keyframes, by name or number."""

from typing import Any

from ..errors import SceneError
from .names import read_names


def key_names(model: Any) -> tuple[str, ...]:
    """A name for every keyframe; unnamed ones get their number."""
    return tuple(name or f"key {i}" for i, name in enumerate(read_names(model, "key")))


def find_key(model: Any, key: str | int) -> int:
    """Number of the keyframe that a person names."""
    keys = key_names(model)
    if key in keys:
        return keys.index(str(key))
    try:
        index = int(key)
    except ValueError:
        index = -1
    if not 0 <= index < len(keys):
        known = ", ".join(f"{name} ({i})" for i, name in enumerate(keys)) or "none"
        raise SceneError(f"no keyframe {key!r}; the scene has: {known}")
    return index
