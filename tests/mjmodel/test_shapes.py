"""Names of shapes, against MuJoCo's reading of MJCF."""

import mujoco
import pytest
from contact_viewer.mjmodel.names import shape_name


@pytest.mark.parametrize("shape", ["plane", "sphere", "capsule", "ellipsoid", "cylinder", "box"])
def test_a_shape_has_its_name_in_mjcf(shape: str) -> None:
    xml = f'<mujoco><worldbody><geom type="{shape}" size=".1 .2 .3"/></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    assert shape_name(model.geom_type[0]) == shape


def test_an_unknown_number_has_no_name() -> None:
    assert shape_name(mujoco.mjtGeom.mjGEOM_MESH.value) == "mesh"
    assert shape_name(-5) == ""
