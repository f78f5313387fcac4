"""What a page holds is what the run had: contacts, poses, curves, shapes; and nothing that could do harm."""

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import show
from contact_viewer.cli import main
from contact_viewer.errors import SceneError
from contact_viewer.page import recorder
from contact_viewer.page.geometry import merged
from contact_viewer.page.page_file import PageOptions

from .reader import Page
from .written import HOSTILE, opened, write, write_shapes


@pytest.mark.parametrize(
    ("scene", "engine", "seconds"),
    [("targets", "mujoco", 0.8), ("hand", "mujoco", 0.6), ("gripper", "motrix", 0.8), ("rolling", "motrix", 0.3)],
)
def test_contacts_of_a_page_are_those_of_an_exported_file(
    scene: str, engine: str, seconds: float, tmp_path: Path
) -> None:
    page = write(tmp_path / "run.html", opened(scene, engine), seconds)
    assert page.manifest["contacts"]["values"] > 50
    assert page.csv() == (tmp_path / "run.csv").read_text()


def test_shapes_are_where_the_engine_has_them_in_every_frame(tmp_path: Path) -> None:
    session, places = opened(write_shapes(tmp_path)), []
    data = session.engine.data
    page = write(
        tmp_path / "run.html",
        session,
        0.3,
        see=lambda *_: places.append((data.geom_xpos.copy(), data.geom_xmat.copy())),
    )
    manifest, model = page.manifest, session.engine.model
    bodies, frames = len(manifest["bodies"]), manifest["frames"]["count"]
    assert (bodies, frames) == (3, len(places))
    positions = page.array("positions").reshape(bodies, 3, frames) * manifest["poses"]["unit"]
    turns = page.array("quaternions").reshape(bodies, 4, frames) / manifest["poses"]["quat"]
    assert np.abs(np.diff(turns, axis=-1)).max() < 0.1
    assert [geom["type"] for geom in manifest["geoms"]] == ["hfield", "box", "capsule", "mesh"]
    for geom, number in zip(manifest["geoms"], (0, 1, 2, 4), strict=True):
        for frame in (0, 70, frames - 1):
            place, matrix = np.array(geom["pos"]), np.zeros(9)
            mujoco.mju_quat2Mat(matrix, np.array(geom["quat"]))
            if geom["body"] >= 0:
                turn = np.zeros(9)
                mujoco.mju_quat2Mat(turn, turns[geom["body"], :, frame])
                place = positions[geom["body"], :, frame] + turn.reshape(3, 3) @ place
                matrix = (turn.reshape(3, 3) @ matrix.reshape(3, 3)).ravel()
            np.testing.assert_allclose(place, places[frame][0][number], atol=5e-5)
            np.testing.assert_allclose(matrix, places[frame][1][number], atol=3e-4)
    mesh, steps = manifest["meshes"][0], page.array("mesh0_v").T
    vertices = np.array(mesh["low"]) + steps * np.array(mesh["step"])
    corners = {tuple(np.round(corner, 5)) for corner in vertices[page.array("mesh0_t").T].reshape(-1, 3)}
    assert corners == {tuple(np.round(vertex, 5)) for vertex in model.mesh_vert.astype(float)}
    heights = page.array("hfield0") / 65535
    np.testing.assert_allclose(heights.ravel(), model.hfield_data, atol=1e-4)
    assert manifest["notes"] == ["Not drawn in this page: 1 site.", "1 of 5 geoms are hidden, as in the window."]


def test_a_long_or_crowded_run_keeps_fewer_steps_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = write(tmp_path / "whole.html", opened("stack"), 1.0)
    monkeypatch.setattr(recorder, "_POSE_BYTES", 12_000)
    monkeypatch.setattr(recorder, "_CONTACT_BYTES", 60_000)
    monkeypatch.setattr(recorder, "_READINGS", 64)
    page = write(tmp_path / "run.html", opened("stack"), 1.0)
    stride, every = page.manifest["frames"]["stride"], page.manifest["contacts"]["every"]
    assert stride > 1
    assert every > 1
    assert len(page.manifest["notes"]) == 2
    assert f"{stride * every}th physics step" in page.manifest["notes"][1]
    assert page.array("steps").tolist() == list(range(0, whole.manifest["frames"]["count"], stride))
    np.testing.assert_array_equal(page.array("positions"), whole.array("positions")[:, ::stride])
    curves, kept = whole.array("curves"), page.array("curves")
    for frame in range(1, kept.shape[1]):
        most = curves[:, (frame - 1) * stride + 1 : frame * stride + 1].max(axis=1)
        np.testing.assert_array_equal(kept[:, frame], most)
    heading, *rows = (tmp_path / "whole.csv").read_text().splitlines()
    wanted = [row for row in rows if int(row.split(",")[0]) % (stride * every) == 0]
    assert page.csv().splitlines() == [heading, *wanted]
    everything = write(tmp_path / "all.html", opened("stack"), 0.2, PageOptions(all_contacts=True))
    assert everything.manifest["contacts"]["every"] == 1


def test_touch_sensors_and_channels_are_curves(tmp_path: Path) -> None:
    run = [str(tmp_path / "run.html"), "--to", "0.6", "--channel", "joint position/lift"]
    assert main(["page", "touch", "-o", *run]) == 0
    exported = [str(tmp_path / "run.npz"), "--duration", "0.6", "--channel", "joint position/lift"]
    assert main(["export", "touch", "-o", *exported]) == 0
    page, data = Page(tmp_path / "run.html"), np.load(tmp_path / "run.npz")
    curves = dict(zip([curve["name"] for curve in page.manifest["curves"]], page.array("curves"), strict=True))
    for name, sensor, component in (("sole", "sole", 0), ("pad x", "pad", 0), ("pad z", "pad", 2)):
        wanted = data["touch_value"][(data["touch_sensor"] == sensor) & (data["touch_component"] == component)]
        np.testing.assert_array_equal(curves[name], wanted.astype(np.float32))
    lift = curves["joint position/lift"]
    assert lift[1:].std() > 0
    values = dict(zip(data["channel_step"].tolist(), data["channel_value"].tolist(), strict=True))
    np.testing.assert_allclose(lift[1:], [values[step] for step in range(1, len(lift))], rtol=1e-6)


class _Elements(HTMLParser):
    """Elements of a page and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def test_names_stay_text_and_folders_stay_away(tmp_path: Path) -> None:
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    write_shapes(folder).rename(folder / "scene.xml")
    title = '"><svg onload=alert(1)>'
    assert (
        main(["page", str(folder / "scene.xml"), "-o", str(tmp_path / "run.html"), "--to", "0.1", "--title", title])
        == 0
    )
    page = Page(tmp_path / "run.html")
    elements = _Elements(page.text).found
    pictures = [attributes for tag, attributes in elements if tag == "img"]
    assert [str(attributes["src"])[:11] for attributes in pictures] == ["data:image/"]
    assert not any(tag == "svg" for tag, _ in elements) or title not in page.text
    assert not any(name.startswith("on") for _, attributes in elements for name in attributes)
    assert page.manifest["title"] == title
    assert page.manifest["sensors"][0]["name"] == HOSTILE
    assert page.manifest["geoms"][0]["name"] == HOSTILE
    assert "secret-folder" not in page.text
    for name in page.manifest["sections"]:
        assert b"secret-folder" not in page.content(name), name
    assert page.manifest["command"] == "contact-viewer scene.xml"
    assert main(["page", str(folder / "scene.xml"), "-o", str(tmp_path / "untitled.html"), "--to", "0.1"]) == 0
    assert Page(tmp_path / "untitled.html").manifest["title"] == "shapes"


def test_a_notebook_shows_a_run_in_a_sandboxed_frame(tmp_path: Path) -> None:
    write(tmp_path / "run.html", opened("slope"), 0.02)
    for run in (tmp_path / "run.html", "slope"):
        [(tag, frame)] = _Elements(show(run, duration=0.02, height=300)._repr_html_()).found
        assert tag == "iframe"
        assert frame["sandbox"] == "allow-scripts allow-downloads"
        page = tmp_path / "shown.html"
        page.write_text(str(frame["srcdoc"]))
        assert Page(page).csv() == (tmp_path / "run.csv").read_text()
    with pytest.raises(SceneError, match=r"none\.html: cannot be read"):
        show(tmp_path / "none.html")


def test_the_policy_allows_these_scripts_and_this_style_alone(tmp_path: Path) -> None:
    page = write(tmp_path / "run.html", opened("slope"), 0.02)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page.text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    scripts = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    assert len(scripts) == 1
    # It unpacks the other one.
    packed = re.search(r'id="cv-script">([^<]+)</script>', page.text)
    assert packed is not None
    assert len(packed[0]) + len(scripts[0]) < 60_000
    scripts.append(gzip.decompress(base64.b64decode(packed[1])).decode())
    styles = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    for kind, texts in (("script-src", scripts), ("style-src", styles)):
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules.pop(kind) == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    # An attribute with a style would need another rule, as would another script.
    assert not any("style" in attributes for _, attributes in _Elements(page.text).found)


def test_near_vertices_are_merged(tmp_path: Path) -> None:
    page = write(tmp_path / "run.html", opened(write_shapes(tmp_path)), 0.01, PageOptions(detail=0.002))
    assert "Vertices of meshes nearer than 2 mm are merged." in page.manifest["notes"]
    around = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    rim = np.stack([np.cos(around), np.sin(around), np.zeros(200)], axis=1)
    vertices = np.concatenate([rim, [[0, 0, 0]]])
    triangles = np.stack([np.arange(200), (np.arange(200) + 1) % 200, np.full(200, 200)], axis=1)
    fewer, kept, _ = merged(vertices, triangles, None, 0.2)
    assert 20 < len(kept) < 60
    sides = fewer[kept]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1).sum()
    assert abs(area - np.pi) < 0.1
    assert merged(vertices, triangles, None, 0.0)[1] is triangles


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["slope", "-o", "run.png"], "run.png: a page is an .html file"),
        (["slope", "-o", "x.html", "--from", "3", "--to", "2"], "--to 2 is not after --from 3"),
        (["slope", "-o", "nowhere/x.html"], "there is no folder"),
        (["slope", "-o", "x.html", "--sensor", "foot"], "no contact sensor named 'foot'"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
