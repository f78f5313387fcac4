"""The report of a sweep: the page in a real browser, and the table."""

import io
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from contact_viewer.app.application import open_application
from contact_viewer.cli import main
from contact_viewer.cli.parsing import control_options
from contact_viewer.cli.view import parser as view_parser
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Options
from contact_viewer.sweeps.result_store import ResultStore
from contact_viewer.sweeps.summary import Distribution, summarise, worst_runs
from PIL import Image

from ..browser.driver import browse

CONTROL = """
drawn = 0.0

def control(model, data):
    if data.time > 0.05 and drawn > 0.9:
        raise ValueError("<b>too fast</b>")

def reset(model, data, rng):
    global drawn
    drawn = rng.uniform()
    data.qvel[1:3] += drawn
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep, some of whose runs failed."""
    root = tmp_path_factory.mktemp("sweep")
    (root / "push.py").write_text(CONTROL)
    words = ["sweep", "slope", "-o", str(root / "out"), "--seeds", "0:24", "--duration", "0.4", "--workers", "2"]
    words += ["--vary", "friction=0.2:1.5", "--vary", "mass:box=0.8:1.2", "--control", str(root / "push.py")]
    assert main(words) == 1
    assert main(["report", str(root / "out")]) == 0
    return root / "out"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browse(tmp_path_factory.mktemp("profile")) as browser:
        browser.set_window_size(1280, 1800)
        yield browser


def test_the_page_shows_the_sweep_and_asks_no_server(folder: Path, browser: Any) -> None:
    text = (folder / "report.html").read_text()
    # The names of XML namespaces are no addresses that anything is asked of.
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'; script-src 'sha256-" in text
    browser.get((folder / "report.html").as_uri())
    inject = "const added = document.createElement('script'); added.textContent = 'window.added = 1';"
    assert browser.execute_script(f"{inject} document.body.append(added); return window.added") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))
    browser.refresh()
    table = polars.read_parquet(folder / "metrics.parquet")
    runs = table["seed"].n_unique()
    script = browser.execute_script
    assert script("return performance.getEntriesByType('resource').length") == 0
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert script("return document.querySelector('h1').innerText") == "slope"
    assert script("return document.querySelector('.tile b').innerText") == str(runs)
    figures = script("return [...document.querySelectorAll('#histograms figcaption b')].map(e => e.innerText)")
    assert figures == ["box_on_slope", "box_at_front_stop", "box_at_back_stop"]
    assert script("return document.querySelectorAll('circle').length") == 3 * runs
    worst = script("return [...document.querySelectorAll('#worst tbody tr')][0].innerText").split()
    peak = table.sort("peak_force", descending=True).row(0, named=True)
    assert worst[1:3] == [peak["sensor"], str(peak["seed"])]
    assert float(worst[3]) == pytest.approx(peak["peak_force"], rel=0.01)
    # What failed is listed, and is text, whatever a controller says.
    failures = script("return document.querySelector('#failures').innerText")
    assert "ValueError: <b>too fast</b>" in failures
    assert script("return document.querySelectorAll('#failures b').length") == 0
    picture = np.asarray(Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 30


def test_choices_change_the_page(folder: Path, browser: Any) -> None:
    browser.get((folder / "report.html").as_uri())
    script = browser.execute_script
    script("document.querySelector('[data-metric=slip_distance]').click()")
    assert "Slip distance [mm]" in script("return document.querySelector('#worst').innerText")
    table = polars.read_parquet(folder / "metrics.parquet")
    slip = table.sort("slip_distance", descending=True).row(0, named=True)
    first = script("return document.querySelector('#worst tbody tr').innerText").split()
    assert float(first[3]) == pytest.approx(1e3 * slip["slip_distance"], rel=0.01)
    assert f"--go-to {slip['slip_start']:.6g}" in script("return document.querySelector('#worst code').innerText")
    before = script("return document.querySelector('circle').getAttribute('cx')")
    script("const s = document.querySelector('#against'); s.value = 'mass:box'; s.dispatchEvent(new Event('change'))")
    assert script("return document.querySelector('circle').getAttribute('cx')") != before
    assert "factor of mass:box" in script("return document.querySelector('#plot svg').textContent")
    count = script("return document.querySelectorAll('circle').length")
    script("document.querySelector('#legend button').click()")
    assert script("return document.querySelectorAll('circle').length") == count * 2 // 3
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_the_command_of_a_run_shows_what_the_table_says(folder: Path) -> None:
    """Not approximately: the window takes the same steps, to the last bit."""
    summary = summarise(ResultStore(folder))
    for metric in ("peak_force", "penetration"):
        row = worst_runs(summary, metric, 1)[0]
        instant = "peak_time" if metric == "peak_force" else "penetration_time"
        words = summary.command(row, row[instant])
        assert words[0] == "contact-viewer"
        assert shlex.join(words).endswith(f"--go-to {row[instant]:.6g}")
        arguments = view_parser().parse_args(words[1:])
        scene = find_scene(arguments.scene)
        app = open_application(Options(scene=scene, go_to=arguments.go_to, **control_options(arguments)))
        app.start()
        session = app.session
        assert session.paused
        assert session.engine.time == row[instant]
        contacts = session.engine.contacts(row["sensor"])
        if metric == "penetration":
            assert float(-contacts.dist[contacts.filled].min()) == row["penetration"]  # type: ignore[index]
        else:
            assert session.engine.get_contact_force_magnitude(row["sensor"])[0] == row["peak_force"]
        app.close()


def test_the_table_in_the_terminal(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "-o", str(folder / "other.html"), "--by", "slip_distance", "--worst", "2"]) == 0
    out = capfd.readouterr().out
    assert "box_at_front_stop" in out
    assert "worst by slip distance" in out
    assert out.count("contact-viewer slope --seed") == 2
    assert "failed: slope, seed" in out
    assert f"{folder / 'other.html'}: " in out


def test_the_worst_runs_are_pages_that_the_report_links_at_their_worst_step(folder: Path, browser: Any) -> None:
    assert (
        main(["report", str(folder), "-o", str(folder / "linked.html"), "--pages", "1", "--by", "slip_distance"]) == 0
    )
    row = worst_runs(summarise(ResultStore(folder)), "slip_distance", 1)[0]
    browser.get((folder / "linked.html").as_uri())
    browser.execute_script(
        "[...document.querySelectorAll('#metrics button')].find((each) => /Slip/.test(each.innerText)).click()"
    )
    links = browser.execute_script("return [...document.querySelectorAll('#worst a')].map((link) => link.href)")
    page = folder / "pages" / f"slope-{row['seed']}.html"
    assert links == [f"{page.as_uri()}#t={row['slip_start']:.6g}"]
    browser.get(links[0])
    browser.execute_async_script("contactViewer.ready.then(arguments[0], arguments[0])")
    assert browser.execute_script("return contactViewer.time()") == pytest.approx(row["slip_start"], abs=0.002)
    assert browser.execute_script("return contactViewer.csv().split('\\n').length") > 200


def test_quantiles_and_bins_are_those_of_the_values() -> None:
    values = np.random.default_rng(1).gamma(2.0, 3.0, 5000)
    each = Distribution(len(values), values.min(), values.max())
    each.fine += np.bincount(np.rint((values - each.low) / (each.high - each.low) * 4095).astype(int), minlength=4096)
    for share in (0.05, 0.5, 0.95):
        assert each.quantile(share) == pytest.approx(np.quantile(values, share), abs=(each.high - each.low) / 1000)
    assert sum(each.histogram(0.0, each.high)) == len(values)


def test_bad_input_is_one_line(tmp_path: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert capfd.readouterr().err == f"contact-viewer: {tmp_path}: holds no sweep (sweep.json is missing)\n"
    (tmp_path / "sweep.json").write_text("{")
    assert main(["report", str(tmp_path)]) == 2
    assert "cannot be read" in capfd.readouterr().err
    (tmp_path / "sweep.json").write_text(json.dumps(json.loads((folder / "sweep.json").read_text())))
    assert main(["report", str(tmp_path)]) == 2
    assert "no run of this sweep has finished yet" in capfd.readouterr().err
    (tmp_path / "metrics.parquet").write_bytes(b"PAR1 not at all")
    assert main(["report", str(tmp_path)]) == 2
    assert "metrics.parquet: cannot be read" in capfd.readouterr().err
    assert main(["sweep", "slope", "-o", str(tmp_path / "s"), "--seeds", "0:2", "--video", "best:3"]) == 2
    assert "must be like worst:5" in capfd.readouterr().err


def test_the_worst_runs_are_filmed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "bounce", "-o", str(tmp_path / "s"), "--seeds", "0:3", "--duration", "0.1", "--noise", "qvel=0.3"]
    assert main([*words, "--workers", "1", "--video", "worst:1:peak_force"]) == 0
    table = polars.read_parquet(tmp_path / "s" / "metrics.parquet").sort("peak_force", descending=True)
    videos = list((tmp_path / "s" / "videos").iterdir())
    if table["peak_force"][0] > 0:
        assert [video.name for video in videos] == [f"bounce-{table['seed'][0]}.mp4"]
        assert videos[0].stat().st_size > 1000
        assert main(["report", str(tmp_path / "s")]) == 0
        assert f"videos/bounce-{table['seed'][0]}.mp4" in (tmp_path / "s" / "report.html").read_text()
