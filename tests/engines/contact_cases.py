"""Two bodies with children that rest on each other on a tilt, and sensors of every kind between them."""

import itertools
from dataclasses import dataclass

TARGETS = {"geom": ("top", "foot"), "body": ("table", "thing"), "subtree": ("table", "thing")}
MATCHES = {"geom": 4, "body": 4, "subtree": 8}
"""Contacts of each kind of target: four corners of a box, or of two."""
REDUCES = ("none", "mindist", "maxforce", "netforce")
DATA = ("found", "force", "found force", "force normal tangent", "found force torque dist pos normal tangent")

SCENE = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81" timestep="0.002"/>
  <default><geom friction="1.5"/></default>
  <worldbody>
    <frame euler="6 -4 30">
      <body name="table">
        <geom name="top" type="box" size=".2 .5 .05" pos="0 0 -.05"/>
        <body name="leaf" pos=".6 0 0"><geom name="leaf" type="box" size=".2 .5 .05" pos="0 0 -.05"/></body>
      </body>
      <body name="thing" pos="0 0 .0999">
        <freejoint/>
        <geom name="foot" type="box" size=".1 .1 .1" mass="2"/>
        <body name="toe" pos=".6 0 0"><geom name="toe" type="box" size=".1 .1 .1" mass="1"/></body>
      </body>
    </frame>
  </worldbody>
  <sensor>
    {sensors}
  </sensor>
</mujoco>"""


@dataclass(frozen=True)
class Case:
    """One sensor of the scene."""

    kind: str
    turned: bool
    """The thing is object 1, the table object 2."""
    reduce: str
    num: int
    data: str

    @property
    def name(self) -> str:
        return f"{self.kind} {'turned' if self.turned else 'plain'} {self.reduce} {self.num} {self.data}"

    @property
    def sign(self) -> int:
        """Of the force on object 2, with the force on the thing as 1."""
        return -1 if self.turned else 1

    @property
    def element(self) -> str:
        first, second = TARGETS[self.kind][::-1] if self.turned else TARGETS[self.kind]
        return (
            f'<contact name="{self.name}" {self.kind}1="{first}" {self.kind}2="{second}" '
            f'data="{self.data}" num="{self.num}" reduce="{self.reduce}"/>'
        )


CASES = [
    Case(kind, turned, reduce, num, data)
    for kind, turned, reduce, data in itertools.product(TARGETS, (False, True), REDUCES, DATA)
    for num in (MATCHES[kind] - 1, MATCHES[kind], MATCHES[kind] + 3)
]


def scene_text(sensors: str | None = None) -> str:
    return SCENE.format(sensors="\n".join(case.element for case in CASES) if sensors is None else sensors)
