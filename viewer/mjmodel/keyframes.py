"""Turns the state of a scene into a keyframe: MJCF text, Python text, and back."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from .types import MjData, MjModel

_PARTS = {"qpos": "qpos", "qvel": "qvel", "act": "act", "ctrl": "ctrl", "mpos": "mocap_pos", "mquat": "mocap_quat"}
"""Attributes of `<key>`, and the arrays of an mjData that they hold."""
_OPTIONAL = ("qvel", "act", "ctrl")
"""Attributes that are left out where all their values are zero, which is the default."""


@dataclass(frozen=True)
class Keyframe:
    """A state with a name."""

    name: str
    time: float
    """Simulated time [s]."""
    values: dict[str, NDArray[np.float64]]
    """Flat arrays by the attribute of `<key>`; attributes for which a scene has no values are left out."""

    @classmethod
    def of(cls, name: str, data: MjData) -> "Keyframe":
        """Return the present state of a scene."""
        arrays = {part: np.array(getattr(data, array), np.float64).ravel() for part, array in _PARTS.items()}
        return cls(name, float(data.time), {part: array for part, array in arrays.items() if array.size})

    @classmethod
    def parse(cls, text: str, model: MjModel) -> "Keyframe":
        """Return the keyframe of a `<key>` element for a model. Raises ValueError, in one line, if the text is no such
        element or does not fit."""
        try:
            element = ElementTree.fromstring(text.strip())
            if element.tag != "key":
                raise SceneError(f"a keyframe is a <key> element, not <{element.tag}>")
            attributes = dict(element.attrib)
            name, time = attributes.pop("name", ""), float(attributes.pop("time", "0"))
            values = {part: np.array([float(word) for word in words.split()]) for part, words in attributes.items()}
        except ElementTree.ParseError:
            raise SceneError("this is no <key> element") from None
        except ValueError as error:
            raise SceneError(f"this keyframe cannot be read: {error}") from None
        sizes = {"qpos": model.nq, "qvel": model.nv, "act": model.na, "ctrl": model.nu}
        sizes |= {"mpos": 3 * model.nmocap, "mquat": 4 * model.nmocap}
        for part, array in values.items():
            if part not in sizes:
                raise SceneError(f"a keyframe has no {part}")
            if array.size != sizes[part] or not np.isfinite(array).all():
                raise SceneError(f"{part} has {array.size} numbers, and this scene needs {sizes[part]} finite ones")
        return cls(name, time, values)

    def write(self, data: MjData) -> None:
        """Write the keyframe into an mjData; values that it does not have become 0, except for positions, which
        stay."""
        data.time = self.time
        for part, array in _PARTS.items():
            target = getattr(data, array)
            if part in self.values:
                target[:] = self.values[part].reshape(target.shape)
            elif part in _OPTIONAL:
                target[:] = 0.0

    def element(self) -> str:
        """Return the MJCF element, which MuJoCo reads back as the same numbers."""
        parts = {part: array for part, array in self.values.items() if part not in _OPTIONAL or array.any()}
        words = "".join(f' {part}="{" ".join(map(_number, array))}"' for part, array in parts.items())
        time = f' time="{_number(self.time)}"' if self.time else ""
        return f'<key name="{escape(self.name)}"{time}{words}/>'

    def python(self) -> str:
        """Return Python statements that set an mjData to the keyframe."""
        lines = [f"data.time = {_number(self.time)}"]
        for part, array in self.values.items():
            numbers = ", ".join(map(_number, array))
            lines.append(f"data.{_PARTS[part]}.flat[:] = [{numbers}]")
        return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    """Return the shortest text that reads back as the same number."""
    text = repr(float(value))
    return text.removesuffix(".0")
