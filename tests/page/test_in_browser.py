"""Pages in a real browser: what they show is what the run had, in every place where a page may be opened."""

import csv
import html
import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.page.page_file import PageOptions
from contact_viewer.render.camera import Eye
from contact_viewer.session.layers import session_glyphs
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .driver import SOFTWARE, ask, browse, press, ready, show, wait
from .firefox import firefox
from .written import HOSTILE, opened, write, write_shapes

LOG = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1" mass="5"/></body>
  <body pos="0 0 .23"><freejoint/><geom type="capsule" size=".03 .1" mass=".5" euler="90 0 20"/></body>
  </worldbody></mujoco>"""
"""It has no contact sensors: all contacts are shown, with the force on what is lighter."""
KINDS = ("normal", "tangent0", "tangent1", "total", "torque")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browse(tmp_path_factory.mktemp("profile"), *SOFTWARE) as browser:
        yield browser


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the walker, two seconds."""
    path = tmp_path_factory.mktemp("walker") / "walker.html"
    write(path, opened("walker"), 2.0, PageOptions(command="contact-viewer walker", at=1.0))
    return path


def write_damaged(page: Path, path: Path) -> Path:
    """Write a page with one wrong letter in its contacts."""
    text = page.read_text()
    place = text.index(">", text.index('id="cv-values"')) + 5000
    path.write_text(text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :])
    return path


def csv_of(browser: Any) -> str:
    # Text in one piece would be a message of many megabytes.
    size = browser.execute_script("window.text = contactViewer.csv(); return text.length")
    parts = range(0, size, 2**22)
    return "".join(
        browser.execute_script("return text.slice(arguments[0], arguments[0] + 4194304)", at) for at in parts
    )


@pytest.mark.parametrize(("scene", "engine"), [("targets", "mujoco"), ("hand", "mujoco"), ("rolling", "motrix")])
def test_the_csv_of_a_page_is_that_of_export(browser: Any, scene: str, engine: str, tmp_path: Path) -> None:
    write(tmp_path / "run.html", opened(scene, engine), 0.5)
    show(browser, tmp_path / "run.html")
    assert csv_of(browser) == (tmp_path / "run.csv").read_text()
    assert ask(browser, "errors") == []


@pytest.mark.long
@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
def test_the_csv_of_ten_seconds_of_every_bundled_scene(browser: Any, scene: str, tmp_path: Path) -> None:
    seconds = 1.0 if scene == "pile" else 10.0
    write(tmp_path / "run.html", opened(scene), seconds, PageOptions(all_contacts=True))
    show(browser, tmp_path / "run.html")
    assert csv_of(browser) == (tmp_path / "run.csv").read_text()
    if scene in ("walker", "quadruped"):
        assert (tmp_path / "run.html").stat().st_size < 1.2e6


@pytest.mark.long
def test_firefox_shows_what_chromium_shows(browser: Any, walker: Path, tmp_path: Path) -> None:
    glyphs = "goTo(arguments[0]); return contactViewer.glyphs()"
    show(browser, walker)
    wanted = browser.execute_script(f"contactViewer.{glyphs}", 450)
    (tmp_path / "profile").mkdir()
    with firefox(tmp_path / "profile") as other:
        show(other, walker, "#t=0.6")
        assert ask(other, "frame()") == 300
        assert csv_of(other) == walker.with_suffix(".csv").read_text()
        found = other.execute_script(f"contactViewer.{glyphs}", 450)
        names = [[(each["sensor"], each["slot"], each["kind"]) for each in one["tips"]] for one in (found, wanted)]
        assert names[0] == names[1] != []
        # The windows have other sizes: places are compared in heights of the picture, from its middle.
        places = [
            [
                [(each[axis] - one[size] / 2) / one["height"] for axis, size in (("x", "width"), ("y", "height"))]
                for each in one["spheres"]
            ]
            for one in (found, wanted)
        ]
        np.testing.assert_allclose(places[0], places[1], atol=1e-6)
        drawn = (
            "const canvas = document.createElement('canvas'), context = canvas.getContext('2d');"
            "context.drawImage(document.querySelector('#ui-canvas'), 0, 0, 300, 150);"
            "return new Set(context.getImageData(0, 0, 300, 150).data).size"
        )
        assert other.execute_script(f"contactViewer.glyphs(); {drawn}") > 20
        wait(lambda: other.current_url.endswith("#t=0.900"))
        assert ask(other, "errors") == []
        show(other, write_damaged(walker, tmp_path / "damaged.html"))
        assert "damaged" in other.execute_script("return document.querySelector('[role=alert]').innerText")


@pytest.mark.parametrize(
    ("scene", "times"), [("walker", (0.3, 0.9, 1.7)), ("gripper", (1.5,)), ("rolling", (0.5,)), (LOG, (0.9,))]
)
def test_spheres_and_arrow_tips_are_where_the_window_has_them(
    browser: Any, scene: str, times: tuple[float, ...], tmp_path: Path
) -> None:
    if scene is LOG:
        scene = str(tmp_path / "log.xml")
        Path(scene).write_text(LOG)
    shown, session = opened(scene), opened(scene)
    shown.settings.gizmos.torque = session.settings.gizmos.torque = True
    page = write(tmp_path / "run.html", shown, 2.0)
    if scene.endswith("log.xml"):
        assert (page.array("row_flags") & 2).any()
    show(browser, tmp_path / "run.html")
    timestep, kinds = session.engine.timestep, list[str]()
    for number, time in enumerate(times):
        frame = round(time / timestep)
        session.simulation.step(frame - round(session.engine.time / timestep))
        camera: dict[str, Any] = {"azimuth": 100.0 + 40.0 * number, "elevation": -15.0 - 8.0 * number}
        start = page.manifest["camera"]
        camera |= {"lookat": start["lookat"], "distance": start["distance"] * (0.7 if number else 1.0)}
        browser.execute_script("contactViewer.goTo(arguments[0]); contactViewer.setCamera(arguments[1])", frame, camera)
        found = ask(browser, "glyphs()")
        viewport = 0, 0, found["width"], found["height"]
        model, data = session.engine.model, session.engine.data
        session.view.look_at(**camera)
        eye = Eye(session.view.matrices(model, data, viewport), viewport, max(found["height"] / 720, 0.75))
        session.force_scale.newtons, session.force_scale.locked = page.manifest["scale"]["newtons"], True
        glyphs = session_glyphs(session, eye)

        def pixels(points: Any, eye: Eye = eye, viewport: Any = viewport) -> Any:
            places, _ = eye.matrices.project(points, viewport)
            return np.stack([places[:, 0], viewport[3] - places[:, 1]], axis=1)

        spheres = {
            (int(sensor), int(slot)): place
            for (sensor, slot), place in zip(glyphs.sphere_owner, pixels(glyphs.spheres[:, :3]), strict=True)
        }
        tips = {
            (int(sensor), int(slot), KINDS[component]): place
            for (sensor, slot, component), place in zip(
                glyphs.arrow_owner, pixels(glyphs.arrows[:, :3] + glyphs.arrows[:, 4:7]), strict=True
            )
            if sensor >= 0
        }
        assert spheres.keys() == {(each["sensor"], each["slot"]) for each in found["spheres"]}
        assert tips.keys() == {
            (each["sensor"], each["slot"], each["kind"].replace("net", "total")) for each in found["tips"]
        }
        for each in found["spheres"]:
            assert np.hypot(*(spheres[each["sensor"], each["slot"]] - (each["x"], each["y"]))) < 2.0
        for each in found["tips"]:
            assert (
                np.hypot(
                    *(tips[each["sensor"], each["slot"], each["kind"].replace("net", "total")] - (each["x"], each["y"]))
                )
                < 2.0
            )
        kinds += [each["kind"] for each in found["tips"]]
    assert len(kinds) >= 3
    assert scene != "rolling" or kinds.count("torque") >= 2


def test_a_time_in_the_address_is_shown_and_follows_what_is_shown(browser: Any, walker: Path) -> None:
    show(browser, walker)
    assert ask(browser, "frame()") == 500
    show(browser, walker, "#t=1.234")
    assert ask(browser, "frame()") == 617
    assert "--go-to 1.234" in browser.execute_script("return document.body.innerText")
    press(browser, Keys.ARROW_RIGHT)
    assert ask(browser, "frame()") == 618
    wait(lambda: browser.current_url.endswith("#t=1.236"))


def test_keys_play_step_and_jump_as_in_the_window(browser: Any, walker: Path) -> None:
    show(browser, walker, "#t=0.5")
    press(browser, Keys.ARROW_LEFT)
    assert ask(browser, "frame()") == 249
    press(browser, " ")
    wait(lambda: ask(browser, "frame()") > 260)
    press(browser, " ")
    frame = ask(browser, "frame()")
    press(browser, "n")
    assert ask(browser, "frame()") > frame
    spheres = len(ask(browser, "glyphs()")["spheres"])
    press(browser, "c")
    assert spheres
    assert not ask(browser, "glyphs()")["spheres"]
    press(browser, "p")
    assert {each["kind"] for each in ask(browser, "glyphs()")["tips"]} == {"total"}
    press(browser, "f")
    assert not ask(browser, "glyphs()")["tips"]
    shadows = browser.find_elements("css selector", "#ui-layers button")[-1]
    assert shadows.get_attribute("aria-pressed") == "true"
    press(browser, "s")
    assert shadows.get_attribute("aria-pressed") == "false"


def test_pointing_at_a_contact_shows_its_numbers(browser: Any, walker: Path) -> None:
    show(browser, walker, "#t=0.3")
    sphere = ask(browser, "glyphs()")["spheres"][0]
    box = browser.execute_script("return document.querySelector('#ui-canvas').getBoundingClientRect().toJSON()")
    # From the middle of the browser's picture.
    actions = ActionChains(browser)
    actions.w3c_actions.pointer_action.move_to_location(round(box["x"] + sphere["x"]), round(box["y"] + sphere["y"]))
    actions.perform()
    wait(lambda: ask(browser, "hoverText()"))
    rows = csv.DictReader(walker.with_suffix(".csv").open())
    row = next(row for row in rows if row["step"] == "150" and row["pos_x"] != "NaN")
    text = ask(browser, "hoverText()")
    assert row["sensor"] in text
    assert f"{float(row['force_normal']):.6g}" in text.replace("−", "-")


def test_hostile_names_are_text(browser: Any, tmp_path: Path) -> None:
    title = '</title><script>document.title = "hacked"</script>'
    write(tmp_path / "run.html", opened(write_shapes(tmp_path)), 0.4, PageOptions(title=title))
    show(browser, tmp_path / "run.html")
    assert browser.title.split() == title.split()
    assert HOSTILE in browser.execute_script("return document.body.innerText")
    assert len(browser.find_elements("css selector", "img")) <= 1
    assert ask(browser, "errors") == []


def test_a_damaged_file_says_so_in_one_sentence(browser: Any, walker: Path, tmp_path: Path) -> None:
    text = walker.read_text()
    place = text.index(">", text.index('id="cv-values"')) + 5000
    damaged = tmp_path / "run.html"
    for change in (
        write_damaged(walker, damaged).read_text(),
        text[:place] + text[place + 400 :],
        text.replace('"format":1', '"format":9', 1),
    ):
        damaged.write_text(change)
        show(browser, damaged)
        said = browser.find_element("css selector", "[role=alert]").text
        assert 20 < len(said) < 200, said
        assert said.count("\n") == 0


def test_a_page_fits_a_phone_and_its_fingers(browser: Any, walker: Path) -> None:
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        )
        show(browser, walker)
        assert browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [390, 390]
        # The curves begin in the first screen.
        plot = browser.find_element("css selector", "#ui-curves").rect
        assert plot["y"] < 844
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})

        def touch(kind: str, *places: tuple[float, float]) -> None:
            points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        def spheres() -> Any:
            return np.array([[each["x"], each["y"]] for each in ask(browser, "glyphs()")["spheres"]])

        box = browser.execute_script("return document.querySelector('#ui-canvas').getBoundingClientRect().toJSON()")
        left, top, before = box["x"], box["y"], spheres()
        # A pinch zooms, a drag turns, a tap pins a contact.
        touch("touchStart", (left + 150, top + 60), (left + 200, top + 60))
        touch("touchMove", (left + 110, top + 60), (left + 240, top + 60))
        touch("touchEnd")
        near = spheres()
        assert np.ptp(near, axis=0).max() > 1.5 * np.ptp(before, axis=0).max()
        show(browser, walker)
        touch("touchStart", (left + 150, top + 60))
        touch("touchMove", (left + 190, top + 60))
        touch("touchEnd")
        turned = spheres()
        assert np.abs(turned - before).max() > 5
        touch("touchStart", (left + turned[0, 0], top + turned[0, 1]))
        touch("touchEnd")
        wait(lambda: "slot" in ask(browser, "hoverText()"))
    finally:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_page_asks_for_nothing_and_runs_in_a_sandboxed_frame(browser: Any, walker: Path, tmp_path: Path) -> None:
    requests: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            requests.append(self.path)
            super().do_GET()

    embedded = html.escape(walker.read_text())
    (tmp_path / "frame.html").write_text(
        f'<!doctype html><meta charset="latin1"><iframe sandbox="allow-scripts" width="1000" height="700" '
        f'srcdoc="{embedded}"></iframe>'
    )
    (tmp_path / "walker.html").write_text(walker.read_text())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.get_log("performance")
        browser.get(f"http://127.0.0.1:{server.server_port}/walker.html")
        ready(browser)
        assert ask(browser, "errors") == []
        assert set(requests) <= {"/walker.html", "/favicon.ico"}
        browser.get(f"http://127.0.0.1:{server.server_port}/frame.html")
        browser.switch_to.frame(0)
        ready(browser)
        assert ask(browser, "errors") == []
        assert ask(browser, "frame()") == 500
        assert len(csv_of(browser)) == walker.with_suffix(".csv").stat().st_size
        browser.switch_to.default_content()
    finally:
        server.shutdown()
        server.server_close()
    sent = [
        entry["message"] for entry in browser.get_log("performance") if "Network.requestWillBeSent" in entry["message"]
    ]
    assert all("127.0.0.1" in message or "data:" in message or "blob:" in message for message in sent)
    assert set(requests) <= {"/walker.html", "/frame.html", "/favicon.ico"}


def test_without_webgl_there_are_poster_curves_events_and_contacts(walker: Path, tmp_path: Path) -> None:
    with browse(tmp_path, "--disable-3d-apis") as browser:
        show(browser, walker, "#t=0.9")
        poster = browser.find_element("css selector", "#cv-poster")
        assert poster.is_displayed()
        assert browser.execute_script("return arguments[0].naturalWidth", poster) == 960
        plot = browser.find_element("css selector", "#ui-plot")
        assert browser.execute_script(
            "const { width, height } = arguments[0];"
            "return arguments[0].getContext('2d').getImageData(0, 0, width, height).data.some((each) => each > 0)",
            plot,
        )
        assert len(browser.find_elements("css selector", "#ui-events li")) > 10
        assert len(browser.find_elements("css selector", "#ui-contacts tbody tr")) >= 1
        press(browser, Keys.ARROW_RIGHT)
        assert ask(browser, "frame()") == 451
        assert csv_of(browser) == walker.with_suffix(".csv").read_text()
        assert ask(browser, "errors") == []
