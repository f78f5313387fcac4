"""What drawing contacts costs: our gizmo pass against MuJoCo's geoms and MuJoCo's own contact drawing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from contact_viewer import ContactBatch, ContactLayout, open_engine
from contact_viewer.render.camera import Eye
from contact_viewer.render.canvas import add_shapes
from contact_viewer.render.contexts import load_opengl, open_context
from contact_viewer.render.gizmos import GizmoPass
from contact_viewer.render.glyphs import Glyphs
from contact_viewer.render.scene import ScenePass
from contact_viewer.render.style import GlyphScale, palette_colors, reference_force, sensor_color
from contact_viewer.render.view import View
from contact_viewer.session.contact_glyphs import SensorGlyphs, build_glyphs
from contact_viewer.session.layers import contact_parts, session_glyphs
from contact_viewer.session.session import Session
from contact_viewer.settings import GizmoSettings, Quality, ViewState

from .measuring import OURS, Measured, Row, constant, per_repeat, seconds, take_turns
from .run import Run

SIZE = (1280, 720)
VIEWPORT = (0, 0, *SIZE)
_PLAIN = """
<mujoco>
  <statistic extent="1.5" center="0 0 0.2" meansize="0.1"/>
  <worldbody>
    <light pos="0 0 3"/><geom type="plane" size="3 3 0.1"/>
    <body><freejoint/><geom size="0.05"/></body>
  </worldbody>
</mujoco>
"""
_BOXES = """
<mujoco>
  <option gravity="1 0.5 -9.7"/>
  <worldbody>
    <light pos="0 0 3"/><geom name="floor" type="plane" size="3 3 0.1"/>
    {boxes}
  </worldbody>
  <sensor><contact name="boxes" geom1="floor" num="{contacts}"/></sensor>
</mujoco>
"""
"""Boxes that lean on a floor with friction: four contacts each, with forces along all three axes."""
_BOX = '<body pos="{x:.2f} {y:.2f} 0.0499"><freejoint/><geom type="box" size="0.05 0.05 0.05"/></body>'
_PEER_GEOMS = "mjvGeoms in the scene"
_PEER_FORCES = "MuJoCo's contact points and forces"


@dataclass(frozen=True)
class Passes:
    """Scene and gizmos without a window, as recordings draw them."""

    scene: ScenePass
    gizmos: GizmoPass
    renderer: str

    def time(self, draw: Any) -> float:
        """Milliseconds until everything is drawn."""
        finish = load_opengl().glFinish
        finish()

        def drawn() -> None:
            draw()
            finish()

        return 1e3 * seconds(drawn)


@contextmanager
def open_passes(model: Any) -> Iterator[Passes]:
    """At the quality that a user gets on this machine."""
    with open_context(*SIZE) as context:
        scene = ScenePass(model, Quality.AUTO, context.renderer, offscreen=SIZE)
        gizmos = GizmoPass()
        try:
            yield Passes(scene, gizmos, context.renderer)
        finally:
            gizmos.close()
            scene.close()


def gizmos_500(run: Run) -> list[Row]:
    count = run.sized(500, 20)
    model = mujoco.MjModel.from_xml_string(_PLAIN)
    data, view, glyphs = _forwarded(model), View(model), pile_of_glyphs(model, count)
    with open_passes(model) as passes:
        plain, crowded = passes.scene.scene, mujoco.MjvScene(model, 5 * count + 100)
        passes.scene.update(model, data, view)
        matrices = passes.scene.matrices(VIEWPORT)
        passes.scene.scene = crowded
        passes.scene.update(model, data, view)
        add_shapes(crowded, glyphs)

        def draw_scene(scene: Any) -> float:
            passes.scene.scene = scene
            return passes.time(lambda: passes.scene.draw(VIEWPORT))

        def draw_gizmos() -> float:
            draw_scene(plain)
            return passes.time(lambda: passes.gizmos.draw(glyphs, matrices, VIEWPORT))

        draw_gizmos()
        works = {OURS: draw_gizmos, _PEER_GEOMS: lambda: draw_scene(crowded) - draw_scene(plain)}
        measured = take_turns(works, run.sized(9, 1))
    case = f"gizmo pass, {count} contacts x 4 glyphs, {SIZE[0]}x{SIZE[1]}"
    return [measured.row("gizmos-500", case, _PEER_GEOMS, "ms", goal=15.0, note="without the time to append them")]


def gizmos_built_in(run: Run) -> list[Row]:
    boxes = run.sized(25, 4)
    path = write_boxes(run.folder / "boxes.xml", boxes)
    session = Session(open_engine(path), ViewState())
    session.engine.step(300)
    model, data = session.engine.model, session.engine.data
    view = View(model)
    view.option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTPOINT] = True
    view.option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTFORCE] = True
    with open_passes(model) as passes:

        def draw_ours() -> None:
            session.forget()
            passes.scene.update(model, data, session.view)
            passes.scene.draw(VIEWPORT)
            matrices = passes.scene.matrices(VIEWPORT)
            passes.gizmos.draw(session_glyphs(session, Eye(matrices, VIEWPORT)), matrices, VIEWPORT)

        def draw_theirs() -> None:
            passes.scene.update(model, data, view)
            passes.scene.draw(VIEWPORT)

        passes.time(draw_ours)
        works = {OURS: lambda: passes.time(draw_ours), _PEER_FORCES: lambda: passes.time(draw_theirs)}
        measured = take_turns(works, run.sized(15, 1))
    case = f"frame with {data.ncon} contacts, decoded and drawn by us"
    return [measured.row("gizmos-built-in", case, _PEER_FORCES, "ms", goal=1.0)]


def gizmos_growth(run: Run) -> list[Row]:
    few, many = run.sized((500, 5000), (20, 200))
    model = mujoco.MjModel.from_xml_string(_PLAIN)
    data, view = _forwarded(model), View(model)
    with open_passes(model) as passes:
        passes.scene.update(model, data, view)
        matrices = passes.scene.matrices(VIEWPORT)

        def draw(glyphs: Glyphs) -> float:
            passes.scene.draw(VIEWPORT)
            return passes.time(lambda: passes.gizmos.draw(glyphs, matrices, VIEWPORT))

        piles = {count: pile_of_glyphs(model, count) for count in (few, many)}
        draw(piles[many])
        measured = take_turns({str(count): partial(draw, pile) for count, pile in piles.items()}, run.sized(9, 1))
    growth = per_repeat(lambda small, large: large / small, measured.figures[str(few)], measured.figures[str(many)])
    times = {str(count): measured.figures[str(count)].median for count in piles}
    note = ", ".join(f"{count} contacts {time:.1f} ms" for count, time in times.items())
    linear = Measured({OURS: growth, "linear": constant(many / few)}, {})
    return [
        linear.row("gizmos-growth", f"cost at {many} contacts over cost at {few}", "linear", "x", goal=1.0, note=note)
    ]


_SCALE = GlyphScale(force=0.01, torque=0.1, radius=0.01, width=0.009, lift=0.01, reference=30.0)


def pile_of_glyphs(model: Any, count: int) -> Glyphs:
    """Spheres and three arrows a contact, as of a pile: forces spread over decades, friction within its cone."""
    random = np.random.default_rng(0)
    layout = ContactLayout("found force pos normal tangent", count)
    slots = np.empty((count, layout.slot_size))
    normal = _unit(random.normal(size=(count, 3)))
    push = reference_force(model) * np.exp(random.normal(np.log(0.07), 1.0, count))
    slots[:, 0] = count
    slots[:, 1] = push
    slots[:, 2:4] = push[:, np.newaxis] * random.uniform(-0.5, 0.5, (count, 2))
    slots[:, 4:7] = random.uniform((-0.7, -0.7, 0.0), (0.7, 0.7, 0.5), (count, 3))
    slots[:, 7:10] = normal
    slots[:, 10:13] = _unit(np.cross(normal, random.normal(size=(count, 3))))
    batch: ContactBatch = layout.decode(slots.ravel())
    settings = GizmoSettings(min_force=0.0)
    glyphs = build_glyphs(
        [SensorGlyphs(0, batch, sensor_color(0))],
        contact_parts(settings),
        settings,
        _SCALE,
        palette_colors(model, settings.palette),
    )
    assert len(glyphs.spheres) == count
    assert len(glyphs.arrows) == 3 * count
    return glyphs


def write_boxes(path: Path, count: int) -> Path:
    """A scene of boxes side by side."""
    side = int(np.ceil(np.sqrt(count)))
    boxes = "\n".join(_BOX.format(x=0.15 * (i % side), y=0.15 * (i // side)) for i in range(count))
    path.write_text(_BOXES.format(boxes=boxes, contacts=4 * count))
    return path


def _forwarded(model: Any) -> Any:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
