"""The script of a page draws shapes as MuJoCo does, keeps each value of a curve, and works in print and by hand."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .driver import SOFTWARE, ask, browse, press, show, wait
from .reader import Page
from .written import opened, write

PLAIN = 'rgba=".8 .5 .2 1" material="plain"'
SHAPES = f"""<mujoco><visual><headlight ambient=".2 .2 .2" diffuse=".3 .3 .3" specular="0 0 0"/><global fovy="40"/>
  </visual><statistic center="0 0 .3" extent="2"/><asset>
  <hfield name="hills" nrow="3" ncol="4" size=".4 .4 .2 .05" elevation="0 0 .5 0 0 1 .25 0 0 0 0 0"/>
  <mesh name="wedge" vertex="-.2 -.2 0 .3 -.2 0 -.2 .3 0 -.2 -.2 .5"/>
  <texture name="chess" type="2d" builtin="checker" width="64" height="64" rgb1=".9 .2 .1" rgb2=".1 .2 .8"/>
  <texture name="dice" type="cube" builtin="flat" mark="cross" width="32" height="32" rgb1=".9 .8 .2"
    rgb2=".1 .7 .3" markrgb="0 0 0"/>
  <material name="chess" texture="chess" texrepeat="3 2" texuniform="true" specular="0"/>
  <material name="dice" texture="dice" specular="0"/><material name="plain" specular="0"/></asset><worldbody>
  <light pos="0 0 4" dir=".3 .4 -1" directional="true" diffuse=".6 .6 .6" specular="0 0 0" castshadow="false"/>
  <geom type="plane" size="1.6 1.2 .1" material="chess"/><geom type="hfield" hfield="hills" pos="-1 .6 .1" {PLAIN}/>
  <body pos="-.9 -.6 .35" euler="20 30 40"><freejoint/><geom type="box" size=".2 .3 .15" material="dice"/></body>
  <body pos="-.2 -.7 .4" euler="40 30 0"><freejoint/><geom type="capsule" size=".12 .25" {PLAIN}/></body>
  <body pos=".5 -.6 .3" euler="30 0 20"><freejoint/><geom type="cylinder" size=".15 .25" {PLAIN}/></body>
  <body pos="1.1 -.4 .4" euler="0 40 20"><freejoint/><geom type="ellipsoid" size=".3 .12 .2" {PLAIN}/></body>
  <body pos=".1 .4 .4"><freejoint/><geom type="sphere" size=".22" material="dice"/></body>
  <body pos=".9 .5 .25" euler="0 0 30"><freejoint/><geom type="mesh" mesh="wedge" {PLAIN}/></body>
  </worldbody></mujoco>"""
ROUND = 12
"""Difference of brightness, of 255, where shapes are made of flat pieces."""
FLAT = 3


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browse(tmp_path_factory.mktemp("profile"), *SOFTWARE) as browser:
        yield browser


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stack") / "stack.html"
    write(path, opened("stack"), 1.5)
    return path


def test_shapes_lights_and_textures_look_as_mujoco_draws_them(browser: Any, tmp_path: Path) -> None:
    scene = tmp_path / "shapes.xml"
    scene.write_text(SHAPES)
    write(tmp_path / "shapes.html", opened(scene), 0.01)
    show(browser, tmp_path / "shapes.html")
    camera: dict[str, Any] = {"lookat": [0, 0, 0.2], "distance": 3.4, "azimuth": 70, "elevation": -35}
    browser.execute_script(
        "document.documentElement.dataset.theme = 'light';"
        "document.querySelectorAll('#ui-legend, #ui-quality').forEach((each) => each.remove());"
        "contactViewer.goTo(0); contactViewer.setCamera(arguments[0])",
        camera,
    )
    press(browser, "c", "f")
    found = ask(browser, "glyphs()")
    width, height = found["width"], found["height"]
    picture = browser.find_element("css selector", "#ui-canvas").screenshot_as_png
    drawn = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), int)
    model = mujoco.MjModel.from_xml_string(SHAPES)
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    data, free = mujoco.MjData(model), mujoco.MjvCamera()
    mujoco.mj_forward(model, data)
    free.lookat[:], free.distance = camera["lookat"], camera["distance"]
    free.azimuth, free.elevation = camera["azimuth"], camera["elevation"]
    with mujoco.Renderer(model, height, width) as renderer:  # type: ignore[attr-defined]
        renderer.update_scene(data, free)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            renderer.scene.flags[flag] = False
        wanted = renderer.render().astype(int)
        renderer.enable_segmentation_rendering()
        geoms = renderer.render()[..., 0]
    difference = np.abs(drawn[:height, :width] - wanted).mean(axis=2)
    for geom in range(model.ngeom):
        seen = geoms == geom
        assert np.count_nonzero(seen) > 500
        is_flat = model.geom_type[geom] in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_BOX)
        # Of a mesh MuJoCo blends the normals of faces that are at a right angle.
        if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH:
            assert difference[seen].mean() < (FLAT if is_flat else ROUND), model.geom_type[geom]
        # It has its outline: what is drawn there is not what lies behind it, and around it nothing has its colour.
        assert np.median(difference[seen]) < 40


def test_a_curve_keeps_its_least_and_its_largest_value_at_every_width(browser: Any, stack: Path) -> None:
    show(browser, stack)
    curves = Page(stack).array("curves")
    generator = np.random.default_rng(5)
    for _ in range(30):
        number = int(generator.integers(len(curves)))
        start, stop = sorted(generator.integers(0, curves.shape[1] + 1, 2).tolist())
        if start == stop:
            continue
        values = curves[number, start:stop]
        assert ask(browser, f"range({number}, {start}, {stop})") == [np.nanmin(values), np.nanmax(values)]


def test_print_has_the_present_picture_on_a_light_ground(browser: Any, stack: Path) -> None:
    show(browser, stack)
    browser.execute_script("document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))")
    theme = "return document.documentElement.dataset.theme"
    assert browser.execute_script(theme) == "light"
    source = "return document.querySelector('#ui-canvas + img').src"
    wait(lambda: browser.execute_script("return document.querySelector('#ui-canvas + img').complete"))
    middle = browser.execute_script(
        "const image = document.querySelector('#ui-canvas + img'), canvas = document.createElement('canvas');"
        "canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;"
        "const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);"
        "return [...context.getImageData(canvas.width / 4, canvas.height / 2, canvas.width / 2, 1).data]"
    )
    assert browser.execute_script(source).startswith("data:image/png")
    pixels = np.reshape(middle, (-1, 4))[:, :3]
    assert pixels.max() > 60
    assert len(np.unique(pixels, axis=0)) > 8
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    names = "[...document.querySelectorAll('#ui-sensor-list b')].map((each) => each.scrollWidth - each.clientWidth)"
    assert set(browser.execute_script(f"return {names}")) == {0}
    cursor, plot = (
        browser.execute_script(f"return document.querySelector('{each}').getBoundingClientRect().toJSON()")
        for each in ("#ui-cursor", "#ui-plot")
    )
    # The curves have margins of 52 and 10 pixels.
    share = (cursor["x"] - plot["x"] - 52) / (plot["width"] - 62)
    assert abs(share - ask(browser, "time()") / 1.5) < 0.01
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(theme) == "dark"
    assert not browser.find_elements("css selector", "#ui-canvas + img")


def test_a_pinned_contact_stays_and_keeps_up_with_the_time(browser: Any, stack: Path) -> None:
    show(browser, stack, "#t=1.2")
    sphere = ask(browser, "glyphs()")["spheres"][0]
    box = browser.execute_script("return document.querySelector('#ui-canvas').getBoundingClientRect().toJSON()")
    actions = ActionChains(browser)
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(round(box["x"] + sphere["x"]), round(box["y"] + sphere["y"]))
    pointer.click()
    pointer.move_to_location(round(box["x"]) + 5, round(box["y"]) + 5)
    actions.perform()
    wait(lambda: browser.execute_script("return document.querySelector('#ui-tip').classList.contains('pinned')"))
    first = ask(browser, "hoverText()")
    assert f"slot {sphere['slot']}" in first
    browser.execute_script("contactViewer.goTo(20)")
    wait(lambda: ask(browser, "hoverText()") != first)
    press(browser, Keys.ESCAPE)
    assert ask(browser, "hoverText()") == ""


def test_a_slow_machine_gets_a_simpler_picture_and_says_so(browser: Any, stack: Path) -> None:
    show(browser, stack, "#t=0")
    press(browser, " ")
    # The browser of these tests draws with the processor.
    wait(lambda: "no shadows" in browser.find_element("css selector", "#ui-quality").text)
    press(browser, " ")
    wait(lambda: browser.find_element("css selector", "#ui-quality").text == "")


@pytest.mark.alone
def test_a_frame_takes_two_milliseconds_of_script(browser: Any, stack: Path) -> None:
    # Of processor time: software draws in other threads.
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

    def script_time() -> float:
        metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "ScriptDuration"))

    show(browser, stack, "#t=0")
    press(browser, "-", "-", "-", " ")
    wait(lambda: ask(browser, "frame()") > 10)
    browser.execute_script("window.count = 0; (function next() { count++; requestAnimationFrame(next); })()")
    begun = script_time()
    wait(lambda: browser.execute_script("return count") > 40)
    spent = script_time() - begun
    assert 0.0 < spent / browser.execute_script("return count") < 2e-3


def test_a_file_that_ends_early_says_so(browser: Any, stack: Path, tmp_path: Path) -> None:
    text = stack.read_text()
    (tmp_path / "part.html").write_text(text[: text.index('id="cv-values"') + 2000])
    browser.get((tmp_path / "part.html").as_uri())
    # It appears after some seconds: a page may take so long to arrive.
    browser.execute_script("document.getAnimations().forEach((each) => each.finish())")
    assert "incomplete" in browser.find_element("css selector", "[role=alert]").text
