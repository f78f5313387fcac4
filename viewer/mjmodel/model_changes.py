"""Reads, writes and describes a changed value of a compiled model, such as `friction:block=1.2` or `cone=elliptic`."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError, did_you_mean
from .names import body_names, geom_names, read_names
from .types import MjModel

_CONES = ("pyramidal", "elliptic")
_CONTACT = {"friction": 5, "solref": 2, "solimp": 5, "condim": 1, "margin": 1, "gap": 1}
"""Values that geoms and <pair>s have for contacts, and how many numbers each has at most."""
_OPTIONS = {"cone": 1, "impratio": 1, "timestep": 1, "noslip_iterations": 1, "iterations": 1, "gravity": 3}
_NAMED = {"mass": ("body", 1), "gain": ("actuator", 1), "force": ("body", 3)}
QUANTITIES = {**dict.fromkeys(_CONTACT, "geom or pair"), **dict.fromkeys(_OPTIONS, "")} | {
    name: kind for name, (kind, _) in _NAMED.items()
}
"""Quantities that can be changed, each with the kind of object that has it; empty for options of the scene."""
_SIZES = _CONTACT | _OPTIONS | {name: size for name, (_, size) in _NAMED.items()}
_WHOLE = ("condim", "noslip_iterations", "iterations", "cone")
_POSITIVE = ("timestep", "impratio", "mass", "iterations")
_NOT_NEGATIVE = ("friction", "noslip_iterations", "margin", "gap")
_LARGEST = 1e12
CONSTANT = "constant"
"""Quantity of a change of a controller's constant."""
Values = tuple[float, ...]


@dataclass(frozen=True)
class ModelChange:
    """Changed value of one quantity of a model, force on a body, or constant of a controller."""

    quantity: str
    """A name in QUANTITIES, or CONSTANT."""
    name: str
    """Geom, <pair>, body or actuator; empty for an option, and for all geoms and pairs."""
    value: Values
    """New numbers; if the model has more of them, they replace the first ones. The cone is 0 (pyramidal) or 1
    (elliptic)."""

    @property
    def key(self) -> str:
        """Return the changed quantity, such as `friction:block`."""
        return f"{self.quantity}:{self.name}" if self.name else self.quantity

    @property
    def text(self) -> str:
        """Return the value as MJCF has it."""
        return _CONES[int(self.value[0])] if self.quantity == "cone" else " ".join(f"{v:.9g}" for v in self.value)

    def __str__(self) -> str:
        return f"{self.key}={self.text}"

    def apply(self, model: MjModel) -> None:
        """Write the value into a model; do nothing for a force. Raises SceneError if the model has no such object."""
        name, value = self.quantity, np.array(self.value)
        if name in _OPTIONS:
            setattr(model.opt, name, value if name == "gravity" else int(value[0]) if name in _WHOLE else value[0])
        elif name in _CONTACT:
            geoms, pairs = self.places(model)
            count = len(value)
            if name == "friction":
                model.geom_friction[geoms, : min(count, 3)] = value[:3]
                # A <pair> has two sliding and two rolling coefficients.
                full = np.repeat(value, (2, 1, 2)[: len(value)])[:5] if count <= 3 else value
                model.pair_friction[pairs, : len(full)] = full
            elif name in ("condim", "margin", "gap"):
                getattr(model, f"geom_{name}")[geoms] = value[0]
                getattr(model, {"condim": "pair_dim"}.get(name, f"pair_{name}"))[pairs] = value[0]
            else:
                getattr(model, f"geom_{name}")[geoms, :count] = value
                getattr(model, f"pair_{name}")[pairs, :count] = value
        else:
            place = self.place(model)
            if name == "mass":
                factor = value[0] / model.body_mass[place] if model.body_mass[place] > 0 else math.nan
                if not math.isfinite(factor):
                    raise SceneError(f"{self}: the body has no mass of its own")
                model.body_mass[place] *= factor
                model.body_inertia[place] *= factor
                mujoco.mj_setConst(model, mujoco.MjData(model))
            elif name == "gain":
                before = model.actuator_gainprm[place, 0]
                if not before:
                    raise SceneError(f"{self}: the actuator has no gain")
                # Gain and bias together: a servo gets stiffer and stays a servo.
                model.actuator_gainprm[place, :3] *= value[0] / before
                model.actuator_biasprm[place, :3] *= value[0] / before

    def now(self, model: MjModel) -> "ModelChange":
        """Return the same quantity with the present value of a model, with as many numbers; with none for a force."""
        name, count = self.quantity, len(self.value)
        if name in _OPTIONS:
            found = np.atleast_1d(getattr(model.opt, name))
        elif name in _CONTACT:
            geoms, pairs = self.places(model)
            kind, place = ("geom", geoms[0]) if len(geoms) else ("pair", pairs[0])
            field = "pair_dim" if (kind, name) == ("pair", "condim") else f"{kind}_{name}"
            found = np.atleast_1d(getattr(model, field)[place])
            if kind == "pair" and name == "friction" and count <= 3:
                found = found[[0, 2, 3]]
        elif name == "force":
            found = np.zeros(3)
        else:
            place = self.place(model)
            found = np.atleast_1d(model.body_mass[place] if name == "mass" else model.actuator_gainprm[place, 0])
        return ModelChange(name, self.name, tuple(float(each) for each in found[:count]))

    def places(self, model: MjModel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the geoms and the <pair>s whose contact values change. In a <pair> the geoms' own values are not
        used."""
        if not self.name:
            return np.arange(model.ngeom), np.arange(model.npair)
        geoms, pairs = geom_names(model), read_names(model, "pair")
        if self.name in geoms:
            return np.array([geoms.index(self.name)]), np.empty(0, np.intp)
        if self.name in pairs:
            return np.empty(0, np.intp), np.array([pairs.index(self.name)])
        raise _missing("geom or <pair>", self.name, [*geoms, *filter(None, pairs)])

    def place(self, model: MjModel) -> int:
        """Return the number of the body or actuator."""
        kind = _NAMED[self.quantity][0]
        names = body_names(model) if kind == "body" else actuator_names(model)
        if self.name not in names:
            raise _missing(kind, self.name, names)
        return names.index(self.name)


def deciding_geom(model: MjModel, geoms: tuple[str, str]) -> str:
    """Return which of two geoms gives the sliding friction of their contacts: that of higher priority, else of larger
    friction."""
    names = geom_names(model)
    places = [names.index(name) for name in geoms if name in names]
    return (
        names[max(places, key=lambda geom: (model.geom_priority[geom], model.geom_friction[geom, 0]))] if places else ""
    )


def actuator_names(model: MjModel) -> list[str]:
    """Return the names of all actuators, made up for those without one."""
    return [text or f"actuator {place}" for place, text in enumerate(read_names(model, "actuator"))]


def read_change(text: str) -> ModelChange:
    """Return the change that a text such as `friction:block=1.2` describes. Raises SceneError."""
    # A name may hold `=` and `:` itself.
    key, equals, words = text.rpartition("=")
    quantity, _, name = key.partition(":")
    if not equals or not key:
        raise SceneError(
            f"{text!r} changes nothing: write for example friction:block=1.2, cone=elliptic, timestep=0.001"
        )
    check_quantity(quantity, name)
    if quantity == "cone" and words.strip() in _CONES:
        return ModelChange(quantity, "", (float(_CONES.index(words.strip())),))
    try:
        value = tuple(float(word) for word in words.replace(",", " ").split())
    except ValueError:
        value = ()
    most = _SIZES[quantity]
    if quantity == "cone" or not value or len(value) > most or not all(abs(each) < _LARGEST for each in value):
        wanted = " or ".join(_CONES) if quantity == "cone" else "a number" if most == 1 else f"up to {most} numbers"
        raise SceneError(f"{text!r}: {words!r} is not {wanted}")
    low = min(value)
    too_low = (quantity in _POSITIVE and low <= 0) or (quantity in _NOT_NEGATIVE and low < 0)
    if too_low or (quantity in _WHOLE and low != int(low)) or (quantity == "condim" and low not in (1, 3, 4, 6)):
        raise SceneError(f"{text!r}: {words.strip()} is no {quantity} that MuJoCo takes")
    if quantity in ("gravity", "force") and len(value) != 3:
        raise SceneError(f"{text!r}: {quantity} has three numbers, along x, y and z")
    return ModelChange(quantity, name, value)


def check_quantity(quantity: str, name: str) -> None:
    """Raise SceneError for a quantity that cannot be changed, and for a missing or superfluous name."""
    if quantity not in QUANTITIES:
        hint = did_you_mean(quantity, QUANTITIES)
        raise SceneError(f"{quantity!r} cannot be changed{hint}; choose from {', '.join(QUANTITIES)}")
    if name and not QUANTITIES[quantity]:
        raise SceneError(f"{quantity}:{name}: there is one {quantity} in a scene, without a name")
    if not name and quantity in _NAMED:
        raise SceneError(f"{quantity}: name the {QUANTITIES[quantity]}, such as {quantity}:NAME=VALUE")


def apply_changes(model: MjModel, changes: Iterable[ModelChange]) -> None:
    """Write all changes into a model. Raises SceneError."""
    for change in changes:
        change.apply(model)


def _missing(kind: str, name: str, names: list[str]) -> SceneError:
    return SceneError(f"no {kind} named {name!r}{did_you_mean(name, names)}")
