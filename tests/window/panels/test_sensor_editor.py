"""Sensors made and changed in the real window: clicks and typing in, arrays, pixels and file out."""

import difflib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.sensors.contact_declaration import ContactTarget, TargetKind
from contact_viewer.settings import Options
from contact_viewer.window.panels.sensor_editor import SensorEditor
from contact_viewer.window.shell import SENSOR_EDITOR
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, imgui

from ...passive.loops import still_loop
from ..driver import count_green, drive, make_window, scene_part, screenshot, wait

SCENE = """<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 .1" rgba=".5 .5 .5 1"/>
    <body name="cart" pos="0 0 .3">
      <freejoint/>
      <geom name="deck" type="box" size=".3 .2 .05" mass="3"/>
      <geom name="left" size=".1" pos=".2 .15 -.2"/>
      <geom name="right" size=".1" pos=".2 -.15 -.2"/>
      <geom name="back" size=".1" pos="-.2 0 -.2"/>
      <site name="zone" size=".3" pos=".2 .15 -.2"/>
    </body>
    <body name="load" pos="0 0 .45"><freejoint/><geom name="load" type="box" size=".1 .1 .1" mass="2"/></body>
    {filling}
  </worldbody>
  {sensors}
</mujoco>
"""
DECLARED = """<sensor>
    <contact name="wheels" body1="world" subtree2="cart" num="2" data="found force"/>  <!-- too few -->
  </sensor>"""
EDITOR = "//Sensor editor"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(filling="", sensors=""))
    return path


def names(app: Application) -> list[str]:
    return [sensor.name for sensor in app.session.engine.sensors]


def click(ctx: Any, item: str) -> None:
    ctx.item_click(f"{EDITOR}/{item}")
    ctx.yield_(2)


def is_disabled(ctx: Any, item: str) -> bool:
    return bool(ctx.item_info(f"{EDITOR}/{item}").item_flags & imgui.ItemFlags_.disabled.value)


def choose(ctx: Any, item: str, choice: str) -> None:
    """Open a list and click a line of it."""
    ctx.item_click(f"{EDITOR}/{item}")
    ctx.item_click(f"//$FOCUSED/{choice}")
    ctx.yield_(2)


def choose_name(ctx: Any, side: int, typed: str) -> None:
    """Open a list of names, type a part of one and take the first that is left."""
    ctx.item_click(f"{EDITOR}/$${side}/##name")
    ctx.yield_(3)
    ctx.key_chars_append(typed)
    ctx.key_press(imgui.Key.enter)
    ctx.yield_(3)


def test_a_touching_pair_is_a_click_away_from_a_sensor(scene: Path, tmp_path: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app
    app.session.keep_history()
    app.session.take_steps(5)

    def test(ctx: Any) -> None:
        ctx.item_click("//Sensors/###new")
        ctx.yield_(3)
        before = count_green(scene_part(window, screenshot(ctx, tmp_path / "before.png")))
        data = app.session.engine.data
        time, qpos, qvel = data.time, data.qpos.tobytes(), data.qvel.tobytes()
        forces = {pair.labels: pair.force for pair in window.contents[SENSOR_EDITOR]._suggestions.touching(data)}
        click(ctx, "**/floor × back/###make")
        wait(ctx, lambda: names(app) == ["back_floor"])
        ctx.yield_(3)
        data = app.session.engine.data
        assert (data.time, data.qpos.tobytes(), data.qvel.tobytes()) == (time, qpos, qvel)
        # The reading is that of the step that was taken, to the last digit, though the sensor was not there then.
        batch = app.session.reading("back_floor").batch
        assert batch.force is not None
        assert float(batch.force[batch.filled, 0].sum()) == forces["floor", "back"]
        assert app.session.selected == "back_floor"
        assert scene.read_text() == SCENE.format(filling="", sensors="")
        assert count_green(scene_part(window, screenshot(ctx, tmp_path / "after.png"))) > before + 40
        # It has a history and curves like any other.
        app.session.take_steps(50)
        assert app.session.history is not None
        app.session.step_back()
        assert app.session.reading("back_floor").reported == 1
        # The row now leads to the sensor.
        app.session.selected = None
        click(ctx, "**/floor × back/###make")
        assert app.session.selected == "back_floor"
        assert names(app) == ["back_floor"]
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        wait(ctx, lambda: names(app) == [])

    drive(window, test)


def test_a_sensor_from_the_form_and_its_copy(scene: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        choose(ctx, "$$1/##kind", "subtree")
        assert "choose the subtree" in (window.contents[SENSOR_EDITOR]._problem() or "")
        choose_name(ctx, 1, "CAR")
        choose(ctx, "$$2/##kind", "geom")
        choose_name(ctx, 2, "oad")
        choose(ctx, "reduce", "maxforce")
        click(ctx, "dist")
        click(ctx, "torque")
        ctx.item_input(f"{EDITOR}/###num")
        ctx.key_chars_replace_enter("6")
        ctx.yield_(2)
        element = (
            '<contact name="load_cart" subtree1="cart" geom2="load" num="6" '
            'data="found force torque pos normal tangent" reduce="maxforce"/>'
        )
        click(ctx, "Copy MJCF")
        assert imgui.get_clipboard_text() == element
        click(ctx, "###apply")
        wait(ctx, lambda: names(app) == ["load_cart"])
        sensor = app.session.engine.sensors["load_cart"]
        assert (sensor.label, sensor.slots, sensor.reduce) == ("subtree cart × geom load", 6, "maxforce")
        assert sensor.size == 6 * 16
        net = app.session.reading("load_cart").net_force
        np.testing.assert_allclose(net, [0, 0, 2 * 9.81], rtol=0.01, atol=0.05)
        # Another of the same name is not possible.
        click(ctx, "###new")
        ctx.item_input(f"{EDITOR}/name")
        ctx.key_chars_replace("load_cart")
        ctx.yield_(2)
        assert window.contents[SENSOR_EDITOR]._problem() == "the scene has a sensor named load_cart"

    drive(window, test)


def test_things_are_picked_in_the_scene(scene: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app

    def place(point: Any) -> ImVec2:
        viewport = window.viewport.pixels
        assert window.canvas is not None
        pixels, _ = window.canvas.scene_pass.matrices(viewport).project(point, viewport)
        return ImVec2(float(pixels[0, 0]), imgui.get_io().display_size.y - float(pixels[0, 1]))

    def pick(ctx: Any, side: int, point: Any) -> ContactTarget:
        click(ctx, f"$${side}/###pick")
        assert window.contents[SENSOR_EDITOR].picking
        ctx.mouse_move_to_pos(place(point))
        ctx.yield_(2)
        ctx.mouse_click(0)
        ctx.yield_(3)
        editor: SensorEditor = window.contents[SENSOR_EDITOR]
        assert not editor.picking
        return editor.draft.first if side == 1 else editor.draft.second

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        data = app.session.engine.data
        top = data.geom("load").xpos + np.array([0, 0, 0.1])
        assert pick(ctx, 2, top) == ContactTarget(TargetKind.GEOM, "load")
        choose(ctx, "$$2/##kind", "subtree")
        deck = data.geom("deck").xpos + data.geom("deck").xmat.reshape(3, 3) @ [0.25, -0.15, 0.05]
        assert pick(ctx, 2, deck) == ContactTarget(TargetKind.SUBTREE, "cart")
        choose(ctx, "$$1/##kind", "site")
        assert pick(ctx, 1, data.site("zone").xpos) == ContactTarget(TargetKind.SITE, "zone")
        click(ctx, "###apply")
        wait(ctx, lambda: names(app) == ["cart_zone"])
        assert app.session.engine.sensors["cart_zone"].label == "site zone × subtree cart"

    drive(window, test, drawn=True)


def test_an_existing_sensor_is_changed_saved_and_restored(tmp_path: Path) -> None:
    filling = "\n".join(f"    <site name='s{i}'   group='5'/>   <!-- {i}: <sensor> -->" for i in range(4000))
    text = SCENE.format(filling=filling, sensors=DECLARED)
    path = tmp_path / "scene.xml"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    original = path.read_bytes()
    window = make_window(path, watch_all=False, steps=400)
    app = window.app

    def test(ctx: Any) -> None:
        assert app.session.reading("wheels").dropped == 1
        ctx.item_click("//Sensors/$$0/###edit")
        ctx.yield_(3)
        ctx.item_input(f"{EDITOR}/###num")
        ctx.key_chars_replace_enter("8")
        ctx.yield_(2)
        click(ctx, "###apply")
        wait(ctx, lambda: app.session.engine.sensors["wheels"].slots == 8)
        assert app.session.reading("wheels").dropped == 0
        assert app.session.engine.time == pytest.approx(0.8)
        # And a new one, made without leaving the file: both are saved at once.
        click(ctx, "**/deck × load/###make")
        wait(ctx, lambda: "load_deck" in names(app))
        assert path.read_bytes() == original
        ctx.yield_(3)
        model = app.session.engine.model
        click(ctx, "###save all")
        element = DECLARED.splitlines()[1].strip()
        lines = difflib.unified_diff(
            original.decode().splitlines(keepends=True), path.read_bytes().decode().splitlines(keepends=True), n=0
        )
        assert [line for line in lines if line[0] in "+-" and line[1] not in "+-"] == [
            f"-    {element}\r\n",
            "+    " + element.replace('num="2"', 'num="8"') + "\r\n",
            '+    <contact name="load_deck" geom1="deck" geom2="load" num="4"'
            ' data="found force dist pos normal tangent"/>\r\n',
        ]
        wait(ctx, lambda: app.session.engine.model is not model)
        ctx.yield_(30)
        assert names(app) == ["wheels", "load_deck"]
        assert app.sensor_edits.changes == ()
        assert app.session.engine.time == pytest.approx(0.8)
        click(ctx, "###undo")
        assert path.read_bytes() == original
        ctx.yield_(30)
        # Out of the file, but still there to be saved again.
        assert list(app.sensor_edits.unsaved) == ["wheels", "load_deck"]
        assert names(app) == ["wheels", "load_deck"]
        click(ctx, "###undo")
        click(ctx, "###undo")
        wait(ctx, lambda: names(app) == ["wheels"] and app.session.engine.sensors["wheels"].slots == 2)

    drive(window, test)


def test_saving_a_new_sensor_adds_its_line_alone(scene: Path) -> None:
    filling = "\n".join(f"    <site name='s{i}'   group='5'/>" for i in range(3000))
    scene.write_text(SCENE.format(filling=filling, sensors=DECLARED))
    before = scene.read_text()
    window = make_window(scene, watch_all=False, steps=400, watch=False)
    app = window.app

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        choose(ctx, "$$2/##kind", "body")
        choose_name(ctx, 2, "load")
        click(ctx, "Save to file")
        added = [line for line in difflib.ndiff(before.splitlines(), scene.read_text().splitlines()) if line[0] != " "]
        assert added == ['+     <contact name="load" body2="load" num="4" data="found force dist pos normal tangent"/>']
        wait(ctx, lambda: names(app) == ["wheels", "load"])
        assert app.session.selected == "load"
        assert app.sensor_edits.changes == ()

    drive(window, test)


def test_all_contacts_and_one_sensor_per_geom(scene: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        click(ctx, "###per geom")
        wait(ctx, lambda: names(app) == ["deck", "left", "right", "back"])
        ctx.yield_(2)
        assert app.session.reading("deck").found == 4
        weight = np.sum([app.session.reading(name).net_force for name in ("left", "right", "back")], axis=0)
        np.testing.assert_allclose(weight[2], app.session.engine.model.body_mass.sum() * 9.81, rtol=0.01)
        click(ctx, "Watch all contacts")
        wait(ctx, lambda: "all_contacts" in names(app))
        assert app.session.reading("all_contacts").found == app.session.engine.data.ncon == 7
        app.undo()
        app.undo()
        wait(ctx, lambda: names(app) == [])

    drive(window, test)


def test_what_was_made_outlives_a_reload_unless_it_no_longer_fits(scene: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        for pair in ("floor × back", "deck × load"):
            click(ctx, f"**/{pair}/###make")
            ctx.yield_(20)
        assert names(app) == ["back_floor", "load_deck"]
        app.session.set_reduce("load_deck", "netforce")
        scene.write_text("<mujoco")
        wait(ctx, lambda: any("scene.xml" in notice.text for notice in app.notices.items))
        assert names(app) == ["back_floor", "load_deck"]
        scene.write_text(SCENE.format(filling="", sensors="").replace('"back"', '"rear"'))
        wait(ctx, lambda: names(app) == ["load_deck"])
        assert app.session.engine.sensors["load_deck"].reduce == "netforce"
        assert any("no geom named 'back'" in notice.text for notice in app.notices.items)
        assert list(app.sensor_edits.unsaved) == ["load_deck"]
        app.open_scene("slope")
        wait(ctx, lambda: "box_on_slope" in names(app))
        assert app.sensor_edits.changes == ()
        # A bundled scene can have sensors, but its file is not written.
        ctx.yield_(3)
        click(ctx, "Watch all contacts")
        wait(ctx, lambda: "all_contacts" in names(app))
        assert is_disabled(ctx, "Save to file")

    drive(window, test)


def test_motrixsim_takes_sensors_from_the_file(scene: Path) -> None:
    pytest.importorskip("motrixsim")
    options = Options(scene=scene, paused=True, width=1200, height=1000, engine="motrix")
    window = Window(Application(open_engine(scene, "motrix"), options))
    app = window.app
    window.keeps_settings = False
    original = scene.read_text()

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        assert is_disabled(ctx, "###apply")
        for side, name in ((1, "floor"), (2, "back")):
            choose(ctx, f"$${side}/##kind", "geom")
            choose_name(ctx, side, name)
        click(ctx, "Save to file")
        assert '<contact name="back_floor" geom1="floor" geom2="back"' in scene.read_text()
        wait(ctx, lambda: names(app) == ["back_floor"])
        app.session.take_steps(400)
        assert app.session.reading("back_floor").net_force[2] > 5
        app.undo()
        assert scene.read_text() == original
        wait(ctx, lambda: names(app) == [])

    drive(window, test)


def test_models_of_others_can_only_be_copied_from(scene: Path) -> None:
    window = make_window(scene, watch_all=False, steps=400)
    app = window.app
    app.session.simulation.source = still_loop(app.session.simulation.engine)

    def test(ctx: Any) -> None:
        window.edit_sensor(None)
        ctx.yield_(3)
        click(ctx, "**/floor × back/###make")
        ctx.yield_(20)
        assert names(app) == []
        click(ctx, "Copy MJCF")
        assert imgui.get_clipboard_text().startswith('<contact name="back_floor" geom1="floor" geom2="back"')
        assert is_disabled(ctx, "###apply")
        assert is_disabled(ctx, "Save to file")

    drive(window, test)
