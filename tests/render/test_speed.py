"""What the gizmo pass costs, against the same glyphs as geoms of the scene, in one run."""

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.canvas import add_shapes
from contact_viewer.render.contexts import load_opengl
from contact_viewer.render.glyphs import Glyphs
from contact_viewer.render.style import reference_force
from contact_viewer.settings import GizmoSettings, Quality

from .pictures import forwarded, make_contacts, make_glyphs, renderer_of

CONTACTS = 500
REPEATS = 9
SIZE = (1280, 720)
XML = """
<mujoco>
  <statistic extent="1.5" center="0 0 0.2" meansize="0.1"/>
  <worldbody>
    <light pos="0 0 3"/><geom type="plane" size="3 3 0.1"/>
    <body><freejoint/><geom size="0.05"/></body>
  </worldbody>
</mujoco>
"""


def pile_of_contacts(model: Any) -> Glyphs:
    """Forces spread over decades and friction within its cone, as in a pile."""
    random = np.random.default_rng(0)
    pos = random.uniform((-0.7, -0.7, 0), (0.7, 0.7, 0.5), (CONTACTS, 3))
    normal = random.normal(size=(CONTACTS, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    tangent0 = np.cross(normal, random.normal(size=(CONTACTS, 3)))
    tangent0 /= np.linalg.norm(tangent0, axis=1, keepdims=True)
    push = reference_force(model) * np.exp(random.normal(np.log(0.07), 1.0, CONTACTS))
    force = np.column_stack([push, push[:, None] * random.uniform(-0.5, 0.5, (CONTACTS, 2))])
    batch = make_contacts(pos, force, normal=normal, tangent0=tangent0)
    return make_glyphs(model, batch, GizmoSettings(min_force=0))


@pytest.mark.alone
@pytest.mark.parametrize("quality", [Quality.LOW, Quality.HIGH])
def test_gizmos_cost_at_most_a_tenth_of_the_same_glyphs_as_geoms(
    quality: Quality, record_property: Callable[[str, object], None]
) -> None:
    model = mujoco.MjModel.from_xml_string(XML)
    # Without shadows and multisampling, which would cost MuJoCo's glyphs even more.
    model.vis.quality.shadowsize = model.vis.quality.offsamples = 0
    data, glyphs, viewport = forwarded(model), pile_of_contacts(model), (0, 0, *SIZE)
    assert len(glyphs.spheres) == CONTACTS
    # But for those of less than half a pixel.
    assert 2.8 * CONTACTS < len(glyphs.arrows) <= 3 * CONTACTS
    times: dict[str, list[float]] = {"scene": [], "gizmos": [], "geoms": []}
    with renderer_of(model, *SIZE, quality) as renderer:
        scene_pass, gizmo_pass = renderer.canvas.scene_pass, renderer.canvas.gizmo_pass
        assert scene_pass is not None
        assert gizmo_pass is not None
        gl = load_opengl()
        renderer.draw(data, glyphs)
        matrices, plain = scene_pass.matrices(viewport), scene_pass.scene
        crowded = mujoco.MjvScene(model, 5000)
        scene_pass.scene = crowded
        scene_pass.update(model, data, renderer.view)
        add_shapes(crowded, glyphs)

        def measure(name: str, draw: Callable[[], None]) -> None:
            gl.glFinish()
            start = time.process_time()
            draw()
            gl.glFinish()
            times[name].append(time.process_time() - start)

        for _ in range(REPEATS):
            scene_pass.scene = plain
            measure("scene", lambda: scene_pass.draw(viewport))
            measure("gizmos", lambda: gizmo_pass.draw(glyphs, matrices, viewport))
            scene_pass.scene = crowded
            measure("geoms", lambda: scene_pass.draw(viewport))
    median = {name: float(np.median(values[1:])) for name, values in times.items()}
    ratio = (median["geoms"] - median["scene"]) / median["gizmos"]
    record_property("ratio", round(ratio, 1))
    record_property("milliseconds", {name: round(1e3 * value, 1) for name, value in median.items()})
    assert ratio >= 10, median


@pytest.mark.alone
def test_glyphs_of_many_contacts_are_built_quickly() -> None:
    model = mujoco.MjModel.from_xml_string(XML)
    few, many = (make_contacts(np.zeros((count, 3)), [1, 0.5, 0.5]) for count in (10, 2000))
    times = {}
    for name, batch in (("few", few), ("many", many)):
        samples = []
        for _ in range(30):
            start = time.process_time()
            make_glyphs(model, batch)
            samples.append(time.process_time() - start)
        times[name] = float(np.median(samples))
    # Two hundred times the contacts: a Python loop over them would cost two hundred times as much.
    assert times["many"] < 20 * times["few"]
