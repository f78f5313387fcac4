"""Runs in other releases of MuJoCo: the same release equals itself from another process, and bisection finds the first
that differs. `make test-versions` installs the releases in which contacts changed."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import SceneError, open_engine
from contact_viewer.cli import main
from contact_viewer.compare import versions
from contact_viewer.compare.links import Divergence, Link
from contact_viewer.compare.sides import FOUND, NET, PRESSED, TOTAL, SimulationSide
from contact_viewer.compare.versions import Bisection, VersionSide, bisect, read_version, record_steps
from contact_viewer.session.simulation import Simulation

MARGINS = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1" margin=".01" {floor}/>
    <body pos="0 0 .1"><freejoint/><geom name="ball" size=".05" {ball}/></body>
  </worldbody>
  <sensor><contact name="lands" geom1="floor" geom2="ball" data="found force" num="2"/></sensor>
</mujoco>"""
CAN = """
<mujoco>
  <worldbody>
    <geom name="table" type="box" size="1 1 .1" pos="0 0 -.1"/>
    <body pos="0 0 .051"><freejoint/><geom name="can" type="cylinder" size=".03 .05"/></body>
  </worldbody>
  <sensor><contact name="stands" geom1="table" geom2="can" data="found"/></sensor>
</mujoco>"""
SUMMED, GAP = MARGINS.format(floor="", ball='margin=".01"'), MARGINS.format(floor='gap=".01"', ball="")
SMALL = [(GAP, "3.8.1..3.9.0", "contacts", "3.9.0", "pair list", "floor × ball is only in the list of B")]
ALL = [
    (SUMMED, "3.3.7..3.8.1", "contacts", "3.5.0", "pair list", "floor × ball is only in the list of B"),
    (GAP, "3.5.0..4.0.0", "contacts", "3.9.0", "pair list", "floor × ball is only in the list of B"),
    (GAP, "3.5.0..4.0.0", "sensor:lands", "3.9.0", "pair list", "floor × ball"),
    (CAN, "3.13.0..4.0.0", "contacts", "4.0.0", "contact points", "position of table × can"),
    (CAN, "3.5.0..3.9.0", "state", "3.8.0", "contact points", "number of contacts of table × can: 1 in A, 5 in B"),
    (CAN, "3.5.0..3.9.0", "sensor:stands", "3.8.0", "contact points", "number of contacts of table × can"),
]
HERE = f"@mujoco=={__import__('mujoco').__version__}"


def compared(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    code = main(["compare", *map(str, words), "--json"])
    output = capsys.readouterr()
    assert output.out, output.err
    return code, json.loads(output.out)


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "releases", "until", "first", "link", "said"), ALL if "RELEASES" in os.environ else SMALL
)
def test_the_release_in_which_contacts_changed_is_found(
    text: str,
    releases: str,
    until: str,
    first: str,
    link: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(text)
    # 3.17 solves forces of the can otherwise, by some micronewtons.
    words = ["--mujoco", releases, "--until", until, "--duration", "0.2", "--tolerance", "1e-4"]
    code, found = compared(capsys, path, *words)
    assert (code, found["first"]) == (1, first)
    assert (found["found"]["link"], found["found"]["text"].startswith(said)) == (link, True)
    assert {trial["version"] for trial in found["trials"]} >= {first}
    # A run of its own in the release before and the one after: what differs is there too.
    before = found["before"]
    code, table = compared(capsys, f"{path}@mujoco=={before}", f"{path}@mujoco=={first}", "--duration", "0.2")
    assert (code, table["first_contacts"]["link"]) == (1, link)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_the_same_release_in_another_process_takes_the_same_steps(
    integrator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(
        MARGINS.format(floor="", ball="").replace("<worldbody>", f'<option integrator="{integrator}"/><worldbody>')
    )
    for words in (["walker"], [str(path), "--set", "friction:ball=0.3", "--noise", "qpos=1e-3"]):
        code, found = compared(capsys, *words, words[0] + HERE, *words[1:], "--duration", "0.4")
        assert (code, found["equal"], found["compared"]) == (0, True, 200)
    code, found = compared(capsys, path, f"{path}{HERE}", "--set", "solref:ball=0.05 1", "--duration", "0.4")
    # The later stages of RK4 feel the contact one step before the first one does.
    assert (code, found["first_contacts"]["link"]) == (1, "state" if integrator == "RK4" else "mixed parameters")
    assert integrator == "RK4" or found["first_contacts"]["text"].startswith("solref of floor × ball")


@pytest.mark.parametrize("scene", ["stack", "gripper", "targets"])
def test_figures_of_a_contact_list_are_those_of_the_arrays(scene: str) -> None:
    like = SimulationSide(Simulation(open_engine(scene)), scene)
    other = VersionSide(read_version(HERE[9:]), like, record_steps(Simulation(open_engine(scene)), 0.2))
    assert len(other.sensors) + len(set(other.unread) - set(like.unread)) == len(like.sensors)
    places = [[each.name for each in like.sensors].index(sensor.name) for sensor in other.sensors]
    forces = 0.0
    try:
        for _ in range(40):
            assert like.advance()
            assert other.advance()
            ours, theirs = like.read(True).sensors[places], other.read(True).sensors
            np.testing.assert_array_equal(theirs[:, FOUND], ours[:, FOUND])
            for column in (PRESSED, NET, TOTAL):
                np.testing.assert_allclose(theirs[:, column], ours[:, column], atol=1e-9)
            forces += float(theirs[:, PRESSED].sum())
    finally:
        other.close()
    assert forces > 0


@pytest.mark.parametrize("change", range(1, 8))
def test_bisection_finds_the_first_as_brute_force_does(change: int, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [(3, number, 0) for number in range(8)]
    tried = []

    def differs(low: Any, version: Any, *_: Any) -> Divergence | None:
        tried.append(version)
        if version == (3, 4, 0):
            raise SceneError("does not compile")
        return Divergence(1, 0.0, Link.PAIRS, "") if version >= listed[change] else None

    monkeypatch.setattr(versions, "_differs", differs)
    *_, outcome = bisect(None, listed)  # type: ignore[arg-type]
    assert isinstance(outcome, Bisection)
    assert outcome.first is not None
    assert outcome.first.version == next(each for each in listed[change:] if each != (3, 4, 0))
    assert outcome.before == next(each for each in reversed(listed[:change]) if each != (3, 4, 0))
    assert len(tried) <= 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["slope@mujoco==3.9.17"], "MuJoCo 3.9.17 cannot be installed: the package index cannot be reached"),
        (["slope", "--mujoco", "3.5.0..3.6.0"], "cannot be listed: the package index cannot be reached"),
        (["slope@mujoco==x"], "'x' is no release"),
        (["slope@motrix==1"], "only MuJoCo is run in another release"),
        (["slope", "--mujoco", "3.5"], "two releases such as 3.5.0..4.0.0"),
        (["slope", "--mujoco", "3.6..3.5"], "two releases such as 3.5.0..4.0.0"),
        (["slope", "--mujoco", "3.5..3.6", "--until", "x"], "--until x"),
        (["slope", "slope", "--until", "state"], "--until is for --mujoco"),
        (["slope", "slope", "--mujoco", "3.5..3.6"], "takes one scene"),
    ],
)
def test_without_a_network_or_a_release_it_is_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    for name, value in {"PIP_INDEX_URL": "http://127.0.0.1:9", "UV_INDEX_URL": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["compare", *words, "--duration", "0.01"]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert len(output.err.splitlines()) == 1
    assert not list(tmp_path.rglob("*.part*"))
