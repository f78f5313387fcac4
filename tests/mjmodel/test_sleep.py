"""Which sensors sleep: those whose arrays a step leaves as they were."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.sleep import is_sensor_asleep, sleeping_bodies

pytestmark = pytest.mark.skipif(
    not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"), reason="in this MuJoCo nothing sleeps"
)

TARGETS = (
    "",
    'geom1="floor"',
    'geom2="floor" geom1="box"',
    'body1="box"',
    'body2="ball"',
    'subtree1="box" body2="world"',
    'body1="box" body2="ball"',
    'geom1="wall" geom2="floor"',
    'site="pad"',
    'site="pad" body2="box"',
    'subtree2="world"',
    'body1="stand"',
    'subtree1="stand"',
    'subtree1="stand" geom2="floor"',
    'subtree1="ball" subtree2="stand"',
)
SCENE = """
<mujoco>
  <option><flag sleep="enable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/><geom name="wall" type="box" size=".1 .1 .1" pos="3 0 0"/>
    <site name="pad" size="1"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
    <body name="ball" pos="1 0 .9"><freejoint/><geom name="ball" size=".1" solref=".01 .05"/></body>
    <body name="stand" pos="-1 0 .5"><geom size=".02"/>
      <body name="arm"><joint axis="0 1 0" damping=".03"/>
        <geom type="capsule" size=".02" fromto=".05 0 0 .3 0 0"/></body>
    </body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""


def scene() -> str:
    sensors = "".join(f'<contact name="s{i}" {target} data="found force"/>' for i, target in enumerate(TARGETS))
    return SCENE.format(sensors=sensors)


def test_sensors_that_a_step_does_not_write_are_asleep() -> None:
    model = mujoco.MjModel.from_xml_string(scene())
    data = mujoco.MjData(model)
    seen: dict[str, set[bool]] = {target: set() for target in TARGETS}
    for step in range(2500):
        sleeps = [is_sensor_asleep(model, data, i) for i in range(model.nsensor)]
        data.sensordata[:] = -7.0
        before = data.body_awake.copy()
        mujoco.mj_step(model, data)
        if step % 10 or not np.array_equal(before, data.body_awake):
            continue
        for i, target in enumerate(TARGETS):
            start = model.sensor_adr[i]
            assert sleeps[i] == (data.sensordata[start] == -7.0), (step, target)
            seen[target].add(sleeps[i])
    # The scene must put both states to the test.
    assert seen['body1="box"'] == {False, True}
    assert seen['body1="box" body2="ball"'] == {False, True}
    assert seen['subtree1="stand"'] == {False, True}
    assert seen[""] == {False}


def test_sleeping_trees_are_reported(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "scene.xml"
    path.write_text(scene())
    engine = open_engine(path)
    everything = engine.watch_all().name
    diagnostics = engine.diagnostics
    assert diagnostics is not None
    assert diagnostics.asleep("s3") is None
    assert diagnostics.asleep(everything) is None
    assert sleeping_bodies(engine.model, engine.data) == 0
    engine.step(100)
    # The sensor has the force of before, the list is without the contact.
    assert engine.contacts("s3").filled.any()
    assert engine.contacts(everything).found == 0
    assert diagnostics.asleep("s3") is not None
    assert str(diagnostics.asleep("s3")).startswith("Asleep: ")
    assert str(diagnostics.asleep(everything)).startswith("A body sleeps: ")
    assert diagnostics.asleep("s4") is None
    why = diagnostics.why_zero(everything, engine.contacts(everything))
    assert str(why).endswith("but MuJoCo does not list contacts of what sleeps.")
