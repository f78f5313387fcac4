"""Indices of compiled models: each of these once led out of an array, and killed the process."""

from pathlib import Path

import mujoco
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.compile_worker import compile_scene
from contact_viewer.scene_files.index_checks import check_references
from contact_viewer.scene_files.preflight import survey_scene
from contact_viewer.scene_files.scene import load_scene

SCENE = """<mujoco>
  <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody><body name="b"><freejoint/><geom name="g" type="mesh" mesh="m"/><site name="s"/></body>
    <body name="cloth"><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".01"/></body>
  </worldbody>
  <sensor><contact geom1="g"/><contact subtree2="b"/></sensor></mujoco>"""


def test_models_of_the_compiler_pass() -> None:
    check_references(mujoco.MjModel.from_xml_string(SCENE))
    for scene in bundled_scenes():
        check_references(load_scene(scene.path.resolve()).model)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("mesh_graphadr", 0, 10),
        ("mesh_graph", 0, 100_000),
        ("mesh_graph", 1, 2**31 - 1),
        ("mesh_graph", 2, -(2**31)),
        ("mesh_graph", 6, 77),
        ("mesh_graph", -1, 4),
        ("mesh_face", 0, 4),
        ("mesh_vertnum", 0, 5),
        ("flex_vertnum", 0, 1),
        ("flex_vertnum", 0, 1000),
        ("flex_shellnum", 0, 50),
        ("flex_elem", 3, 9),
        ("flex_dim", 0, 9),
        ("geom_bodyid", 0, 1000),
        ("geom_type", 0, 99),
        ("geom_dataid", 0, -1),
        ("site_type", 0, -1),
        ("dof_bodyid", 0, -2),
        ("sensor_intprm", 0, 0),
        ("sensor_intprm", 1, 4),
        ("sensor_intprm", 2, -1),
        ("sensor_objid", 0, 2),
        ("sensor_refid", 1, -1),
        ("sensor_adr", 1, 10**6),
        ("name_geomadr", 0, 10**6),
        ("name_sensoradr", 0, -1),
    ],
)
def test_an_index_that_leads_out_is_refused(name: str, place: int, value: int, tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    getattr(model, name).reshape(-1)[place] = value
    mujoco.mj_saveModel(model, str(tmp_path / "damaged.mjb"), None)
    with pytest.raises(SceneError, match=r"damaged.mjb: damaged compiled model: .*\w+"):
        compile_scene(survey_scene(tmp_path / "damaged.mjb"))
