"""Turns a number into a scene: bodies, mocap, equalities, flexes, sleep, margins and gaps, sensors of all kinds."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from contact_viewer.mjmodel.matching import full_layout
from contact_viewer.settings import Reduce

FIELDS = full_layout(1).fields
SLEEPS = hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP")
_SHAPES = (
    'type="sphere" size=".08"',
    'type="capsule" size=".05 .07"',
    'type="box" size=".09 .07 .05"',
    'type="cylinder" size=".07 .05"',
    'type="ellipsoid" size=".1 .07 .06"',
    'type="mesh" mesh="rock"',
)
_FLEXES = (
    'type="grid" dim="2" count="4 4 1" spacing=".07 .07 .07"',
    'type="grid" dim="1" count="6 1 1" spacing=".05 .05 .05"',
    'type="grid" dim="3" count="3 3 3" spacing=".07 .07 .07"',
    'type="grid" dim="3" count="3 3 3" spacing=".07 .07 .07" dof="trilinear"',
)
_SITES = ('type="sphere" size=".3"', 'type="box" size=".3 .2 .2"', 'type="cylinder" size=".3 .2"')


@dataclass(frozen=True)
class DeclaredSensor:
    """A contact sensor of a random scene."""

    name: str
    target: str
    fields: tuple[str, ...]
    slots: int
    reduce: Reduce

    @property
    def element(self) -> str:
        data = " ".join(self.fields)
        return f'<contact name="{self.name}" {self.target} data="{data}" num="{self.slots}" reduce="{self.reduce}"/>'

    def complete(self, reduce: Reduce) -> "DeclaredSensor":
        """The same sensor with all fields, in any mode."""
        fields = tuple(map(str, full_layout(self.slots, reduce).fields))
        return DeclaredSensor(f"{self.name}/{reduce}", self.target, fields, self.slots, reduce)


class RandomScene:
    """A scene and what its contact sensors declare."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.integrator = self._pick("Euler", "implicitfast", "implicit", "RK4")
        self.sleeps = SLEEPS and self._chance(0.2)
        self._names: dict[str, list[str]] = {"geom": ["floor"], "body": ["world"], "site": []}
        self._world = "".join(self._make_body(i) for i in range(self._random.integers(2, 7)))
        if self._chance(0.3):
            self._world += self._make_mocap()
        if self._chance(0.3):
            self._world += self._make_flex()
        self._equality = self._make_equality() if self._chance(0.3) else ""
        for i in range(2):
            self._world += f'<site name="site{i}" {self._pick(*_SITES)} pos="{self._place(0.3, 0.0, 0.3)}"/>'
            self._names["site"].append(f"site{i}")
        self._header = self._make_header()
        count = self._random.integers(3, 8)
        self.sensors = tuple(self._make_sensor(f"s{i}") for i in range(count))

    def xml(self, sensors: tuple[DeclaredSensor, ...] = ()) -> str:
        """The scene with its own sensors, or with others."""
        elements = "".join(sensor.element for sensor in sensors or self.sensors)
        return f"""<mujoco>{self._header}
          <worldbody><geom name="floor" type="plane" size="5 5 .1" {self._floor}/>{self._world}</worldbody>
          {self._equality}<sensor>{elements}</sensor></mujoco>"""

    def _chance(self, share: float) -> bool:
        return bool(self._random.random() < share)

    def _pick(self, *values: Any) -> Any:
        return values[self._random.integers(len(values))]

    def _place(self, spread: float, low: float, high: float) -> str:
        x, y = self._random.uniform(-spread, spread, 2)
        return f"{x:.4f} {y:.4f} {self._random.uniform(low, high):.4f}"

    def _turn(self) -> str:
        return " ".join(f"{angle:.1f}" for angle in self._random.uniform(-180, 180, 3))

    def _make_header(self) -> str:
        # Whole flexes are stiff: they need short steps.
        timestep = 0.001 if "flexcomp" in self._world else self._pick(0.001, 0.002, 0.004)
        cone, solver = self._pick("pyramidal", "elliptic"), self._pick("Newton", "CG", "PGS")
        self._floor = self._surface()
        gravity = " ".join(f"{value:.2f}" for value in self._random.normal((0, 0, -9.81), (1.5, 1.5, 1)))
        vertices = " ".join(f"{value:.3f}" for value in self._random.uniform(-0.09, 0.09, 36))
        return f"""
          <option timestep="{timestep}" integrator="{self.integrator}" cone="{cone}" solver="{solver}"
            gravity="{gravity}"><flag {'sleep="enable"' if self.sleeps else ""}/></option>
          <asset><mesh name="rock" vertex="{vertices}"/></asset>"""

    def _surface(self) -> str:
        """Attributes of a geom that decide how it touches."""
        text = f'condim="{self._pick(1, 3, 3, 4, 6)}" friction="{self._random.uniform(0.1, 1.5):.2f} .01 .001"'
        if self._chance(0.3):
            text += f' margin="{self._random.uniform(0, 0.02):.4f}"'
        if self._chance(0.3):
            text += f' gap="{self._random.uniform(0, 0.02):.4f}"'
        return text

    def _geom(self, name: str) -> str:
        self._names["geom"].append(name)
        shape = self._pick(*_SHAPES)
        return f'<geom name="{name}" {shape} pos="{self._place(0.05, -0.05, 0.05)}" {self._surface()}/>'

    def _make_body(self, number: int) -> str:
        name = f"b{number}"
        self._names["body"].append(name)
        geoms = "".join(self._geom(f"{name}g{i}") for i in range(self._random.integers(1, 3)))
        child = ""
        if self._chance(0.4):
            self._names["body"].append(f"{name}c")
            joint = self._pick('<joint axis="0 1 0" damping=".1"/>', '<joint type="ball" damping=".1"/>', "")
            child = f'<body name="{name}c" pos=".15 0 .05">{joint}{self._geom(f"{name}cg")}</body>'
        pose = f'pos="{self._place(0.25, 0.05, 0.5)}" euler="{self._turn()}"'
        return f'<body name="{name}" {pose}><freejoint/>{geoms}{child}</body>'

    def _make_mocap(self) -> str:
        self._names["body"].append("paddle")
        pose = f'pos="{self._place(0.2, 0.05, 0.3)}" euler="{self._turn()}"'
        return f'<body name="paddle" mocap="true" {pose}>{self._geom("paddleg")}</body>'

    def _make_equality(self) -> str:
        first, second = "b0", "b1"
        kind = self._pick("weld", "connect")
        anchor = 'anchor="0 0 0"' if kind == "connect" else ""
        return f'<equality><{kind} body1="{first}" body2="{second}" {anchor}/></equality>'

    def _make_flex(self) -> str:
        shape = self._pick(*_FLEXES)
        interpolated = "trilinear" in shape
        if interpolated:
            # The implicit integrators refuse elasticity.
            self.integrator = "Euler"
        inside = '<elasticity young="2e3" poisson=".2" damping=".01"/>' if interpolated else '<edge equality="true"/>'
        inside += '<contact selfcollide="none"/>' if interpolated or self._chance(0.5) else ""
        if self._chance(0.5):
            inside += f'<pin id="0 {self._random.integers(1, 5)}"/>'
        place, radius = self._place(0.1, 0.15, 0.3), self._random.uniform(0.005, 0.02)
        flex = f'<flexcomp name="flex" {shape} mass=".3" radius="{radius:.3f}" pos="{place}">{inside}</flexcomp>'
        names = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{flex}</worldbody></mujoco>").bodies
        self._names["body"] += [body.name for body in names if body.name.startswith("flex")][::5]
        return flex

    def _make_sensor(self, name: str) -> DeclaredSensor:
        sides = []
        for side in (1, 2):
            kind = self._pick("geom", "body", "subtree", "site" if side == 1 else "", "")
            if kind:
                named = self._pick(*self._names["body" if kind == "subtree" else kind])
                sides.append(f'site="{named}"' if kind == "site" else f'{kind}{side}="{named}"')
        reduce, slots = self._pick(*Reduce), int(self._pick(1, 2, 5, 60))
        allowed = full_layout(slots, reduce).fields
        chosen = tuple(str(field) for field in allowed if self._chance(0.5)) or ("found",)
        return DeclaredSensor(name, " ".join(sides), chosen, slots, reduce)
