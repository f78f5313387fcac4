"""All contact sensors of a model, decoded from rows of its sensordata."""

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout, open_engine

from ..array_libraries import Library, assert_close, each_library
from .boxes import contact_force

FIELDS = ("found", "force", "dist", "pos", "normal", "tangent")
TARGET = 'geom1="floor" geom2="box" num="4" reduce="{}"'
MODEL = f"""
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <site name="s"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor>
    <contact name="whole" {TARGET.format("none")} data="{" ".join(FIELDS)}"/>
    <clock/>
    <rangefinder site="s"/>
    <contact name="net" {TARGET.format("netforce")} data="found force"/>
    <contact {TARGET.format("none")} data="{" ".join(FIELDS)}"/>
    {"".join(f'<contact name="feet_box_{field}" {TARGET.format("maxforce")} data="{field}"/>' for field in FIELDS)}
    <contact name="toe_found" {TARGET.format("none")} data="found"/>
    <contact name="heel_force" {TARGET.format("none")} data="force"/>
    <contact name="odd_found" {TARGET.format("none")} data="found"/>
    <contact name="odd_force" {TARGET.format("mindist")} data="force"/>
  </sensor>
</mujoco>"""


def rows(steps: int = 50) -> tuple[mujoco.MjModel, np.ndarray, np.ndarray]:
    """A model, its sensordata, (steps, n), and the force on the box in each step, (steps, 3)."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    kept, forces = [], []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        kept.append(data.sensordata.copy())
        forces.append(contact_force(model, data))
    return model, np.array(kept), np.array(forces)


@each_library
def test_every_sensor_by_name(library: Library) -> None:
    model, values, forces = rows()
    layouts = ContactLayout.for_model(model)
    names = ["whole", "net", "sensor-4", "feet_box", "toe_found", "heel_force", "odd_found", "odd_force"]
    assert list(layouts) == names
    assert len(layouts) == len(names)
    assert layouts["whole"] == ContactLayout(FIELDS, 4)
    assert layouts["feet_box"] == ContactLayout(FIELDS, 4, "maxforce")
    batches = layouts.decode(library.array(values.reshape(2, 25, -1)))
    assert list(batches) == names
    for name in ("whole", "net", "sensor-4", "feet_box"):
        assert_close(library, batches[name].net_force, forces.reshape(2, 25, 3))
    # The same contacts, whether their fields come in one array or in six; the strongest first.
    merged, whole = batches["feet_box"], batches["whole"]
    assert_close(library, merged.found, library.numpy(whole.found))
    assert_close(library, merged.filled, library.numpy(whole.filled))
    for name in ("force", "pos", "dist"):
        ours, theirs = (library.numpy(getattr(batch, name))[-1, -1] for batch in (merged, whole))
        np.testing.assert_array_equal(np.sort(ours, axis=0), np.sort(theirs, axis=0))
    one = layouts.decode_one("net", library.array(values[3]))
    assert_close(library, one.net_force, forces[3])


@each_library
def test_grouped(library: Library) -> None:
    model, values, forces = rows()
    layouts = ContactLayout.for_model(model)
    for shape in ((50,), (2, 25)):
        groups = dict(layouts.grouped(library.array(values.reshape(*shape, -1))))
        assert sorted(name for names in groups for name in names) == sorted(layouts)
        batch = groups["whole", "sensor-4"]
        assert tuple(batch.filled.shape) == (*shape, 2, 4)
        expected = forces.reshape(*shape, 1, 3)
        assert_close(library, batch.net_force, np.concatenate([expected, expected], axis=-2))
        assert_close(library, groups[("feet_box",)].net_force, expected)


@each_library
def test_wrong_rows_are_named(library: Library) -> None:
    model, values, _ = rows(1)
    layouts = ContactLayout.for_model(model)
    for wrong in (values[:, 1:], values[0, 0]):
        with pytest.raises(ValueError, match=rf"\(\.\.\., {model.nsensordata}\), not"):
            layouts.decode(library.array(wrong))
        with pytest.raises(ValueError, match=rf"\(\.\.\., {model.nsensordata}\), not"):
            layouts.decode_one("net", library.array(wrong))
        with pytest.raises(ValueError, match=rf"\(\.\.\., {model.nsensordata}\), not"):
            list(layouts.grouped(library.array(wrong)))
    with pytest.raises(TypeError, match="real numbers"):
        layouts.decode(library.array(values, "int32"))
    with pytest.raises(KeyError, match="no contact sensor named 'foot'; the model has: whole, net"):
        layouts["foot"]


def test_a_name_that_is_made_up_is_that_of_no_other_sensor() -> None:
    model = mujoco.MjModel.from_xml_string(
        MODEL.replace("<clock/>", "").replace('name="whole"', "").replace('name="net"', 'name="sensor-0"')
    )
    assert list(ContactLayout.for_model(model))[:3] == ["sensor-0'", "sensor-0", "sensor-3"]


def test_fields_alone_without_found() -> None:
    """Where no sensor reports `found`, directions or any value that is not zero show the contacts."""
    text = MODEL.replace('name="feet_box_found"', 'name="other"')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 50)
    batch = ContactLayout.for_model(model).decode(data.sensordata)["feet_box"]
    assert batch.found == 4
    np.testing.assert_allclose(batch.net_force, contact_force(model, data))  # type: ignore[arg-type]


def test_companions_are_left_out() -> None:
    engine = open_engine("quadruped")
    assert list(ContactLayout.for_model(engine.model)) == list(engine.sensors.names)
    engine.step(100)
    decoded = ContactLayout.for_model(engine.model).decode(engine.data.sensordata)
    for name, batch in decoded.items():
        assert batch.found == engine.contacts(name).found
