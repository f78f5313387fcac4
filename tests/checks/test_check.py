"""`contact-viewer check` and its Python face: places, ignores, baselines, formats, fixes, exit codes, many scenes."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import contact_viewer
import mujoco
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.checks.check import NAMES, check_file
from contact_viewer.checks.finding import Finding, family, listing
from contact_viewer.checks.many import check_many, find_scenes
from contact_viewer.checks.settings import CheckOptions, find_table
from contact_viewer.cli import main
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.element_places import ElementPlaces

from .scenes import one, report, scene

ROOT = Path(__file__).parents[2]
JAMMED = scene("""<body name="base" pos="0 0 1"><geom name="base" type="box" size=".1 .1 .1"/>
      <body name="link" pos="0 0 .19"><joint axis="0 1 0"/>
        <geom name="link" type="box" size=".08 .08 .1"/></body></body>""")
LOST = scene(
    '<body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>',
    '<sensor><contact name="c" geom2="box" data="force" num="2"/></sensor>',
)
CLEAN = scene('<body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>')


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Places


def test_lines_are_right_in_includes_attached_models_and_copies(tmp_path: Path) -> None:
    (tmp_path / "leg.xml").write_text(
        '<mujocoinclude>\n<worldbody>\n  <body name="leg"><freejoint/>\n    <geom class="foot"\n      size=".1"/>'
        '<geom name="toe" size=".05"/>\n  </body>\n</worldbody>\n</mujocoinclude>'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "arm.xml").write_text(
        '<mujoco model="arm">\n<worldbody>\n <body name="arm"><joint/>\n\n  <geom name="hand" size=".1"/></body>\n'
        "</worldbody>\n</mujoco>"
    )
    path = tmp_path / "scene.xml"
    path.write_text("""<!-- a scene -->
<mujoco>
  <asset><model name="arm" file="sub/arm.xml"/></asset>
  <default><default class="foot"><geom friction="2"/></default></default>
  <include file="leg.xml"/>
  <worldbody>
    <replicate count="2" offset="1 0 0">
      <body name="crate" pos="0 2 1"><freejoint/>
        <geom name="crate" size=".1"/></body>
    </replicate>
    <frame pos="0 0 3"><attach model="arm" body="arm" prefix="left_"/></frame>
  </worldbody>
  <keyframe>
    <key/>
  </keyframe>
</mujoco>
""")
    model = mujoco.MjModel.from_xml_path(str(path))
    places = ElementPlaces(path, model)

    def where(kind: str, index: int) -> tuple[str, int, int]:
        place = places.place(kind, index)
        assert place is not None
        return place.path.name, place.line, place.column

    geoms = [(model.geom(i).name, where("geom", i)) for i in range(model.ngeom)]
    assert geoms == [
        ("", ("leg.xml", 4, 5)),
        ("toe", ("leg.xml", 5, 18)),
        ("crate0", ("scene.xml", 9, 9)),
        ("crate1", ("scene.xml", 9, 9)),
        ("left_hand", ("arm.xml", 5, 3)),
    ]
    assert where("body", model.body("left_arm").id) == ("arm.xml", 3, 2)
    assert where("key", 0) == ("scene.xml", 14, 5)


def test_fix_goes_into_the_included_file(folder: Path) -> None:
    twins = """<mujocoinclude>\n  <body name="box" pos="0 0 .1"><freejoint/>
    <geom type="box" size=".1 .1 .1"/>\n    <geom type="box" size=".1 .1 .1"/>\n  </body>\n</mujocoinclude>\n"""
    (folder / "box.xml").write_text(twins)
    text = scene('<include file="box.xml"/>')
    (folder / "scene.xml").write_text(text)
    assert main(["check", "scene.xml", "--fix"]) == 0
    assert (folder / "scene.xml").read_text() == text
    assert (folder / "box.xml").read_text() == twins.replace(
        'size=".1 .1 .1"/>\n  </body>', 'size=".1 .1 .1" contype="0" conaffinity="0"/>\n  </body>'
    )


# Exit codes and fixes


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clean.xml").write_text(CLEAN)
    (folder / "lost.xml").write_text(LOST)
    (folder / "broken.xml").write_text("<mujoco><worldbody><geom/></worldbody>")
    assert main(["check", "clean.xml"]) == 0
    assert main(["check", "lost.xml"]) == 1
    assert main(["check", "lost.xml", "--fail-on", "error"]) == 0
    assert main(["check", "lost.xml", "--exit-zero"]) == 0
    assert main(["check", "lost.xml", "--ignore", "contacts-lost(c)"]) == 0
    assert main(["check", "lost.xml", "--ignore", "contacts-lost(other)"]) == 1
    assert main(["check", "lost.xml", "--select", "never-collides"]) == 0
    assert main(["check", "lost.xml", "--static"]) == 0
    assert main(["check", "broken.xml"]) == 2
    assert main(["check", "missing.xml"]) == 2
    capsys.readouterr()
    # One bad file costs one line, and the others are checked.
    assert main(["check", "clean.xml", "broken.xml", "lost.xml"]) == 2
    told = capsys.readouterr().out
    assert [line.split(":")[0] for line in told.splitlines() if ": not checked" in line] == ["broken.xml"]
    assert main(["check", "missing.xml"]) == 2
    assert capsys.readouterr().out.count("missing.xml") == 1
    assert "lost.xml:7:11: warning contacts-lost" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["--ignore", "friction-mixin"],
        ["--select", "nonsense"],
        ["--mujoco", "4"],
        ["--update-baseline"],
        ["--statistics", "--format", "json"],
    ],
)
def test_bad_arguments_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    (folder / "clean.xml").write_text(CLEAN)
    assert main(["check", "clean.xml", *words]) == 2
    out, err = capsys.readouterr()
    assert len(f"{out}{err}".strip().splitlines()) <= 2
    assert "Traceback" not in out + err


def test_fix_applies_what_is_safe_and_unsafe_fix_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "scene.xml"
    path.write_text(JAMMED)
    assert main(["check", "scene.xml", "--fix", "--diff"]) == 1
    assert '+  <contact>\n+    <exclude body1="base" body2="link"/>' in capsys.readouterr().out
    assert path.read_text() == JAMMED
    assert main(["check", "scene.xml", "--fix"]) == 0
    assert '<exclude body1="base" body2="link"/>' in path.read_text()
    slippery = scene('<body pos="0 0 .1"><freejoint/><geom name="b" type="box" size=".1 .1 .1" friction=".2"/></body>')
    path.write_text(slippery)
    assert main(["check", "scene.xml", "--fix"]) == 1
    assert path.read_text() == slippery
    assert main(["check", "scene.xml", "--unsafe-fix"]) == 0
    assert 'friction=".2" priority="1"' in path.read_text()


def test_bundled_scenes_are_not_changed(capsys: pytest.CaptureFixture[str]) -> None:
    path = bundled_scenes()[0].path
    before = path.read_bytes()
    assert main(["check", bundled_scenes()[0].name, "--unsafe-fix"]) in (0, 2)
    assert path.read_bytes() == before


# Ignores and settings


def test_ignores_in_the_scene_and_notes_on_unused_ones(tmp_path: Path) -> None:
    text = LOST.replace("<mujoco>", '<mujoco><custom><text name="contact-viewer:ignore" data="{}"/></custom>', 1)
    found = report(tmp_path, text.format("contacts-lost(c)"))
    assert not found.findings
    assert found.ignored == 1
    unused = one(tmp_path, text.format("contacts-lost(c) friction-creep(box)"), "unused-ignore")
    assert "friction-creep(box)" in unused.message
    with pytest.raises(AssertionError, match="unknown rule 'contact-lost'; did you mean contacts-lost"):
        report(tmp_path, text.format("contact-lost"))


def test_pyproject_has_settings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "robots").mkdir()
    (folder / "robots" / "lost.xml").write_text(LOST)
    table = folder / "pyproject.toml"
    table.write_text('[tool.contact-viewer.check.per-file-ignores]\n"robots/*.xml" = ["contacts-lost(c)"]\n')
    find_table.cache_clear()
    assert main(["check", "robots"]) == 0
    table.write_text('[tool.contact-viewer.check]\nfail-on = "error"\n')
    find_table.cache_clear()
    assert main(["check", "robots"]) == 0
    table.write_text("[tool.contact-viewer.check]\nignored = []\n")
    find_table.cache_clear()
    assert main(["check", "robots"]) == 2
    assert "did you mean ignore" in capsys.readouterr().err
    find_table.cache_clear()


def test_baseline_hides_what_is_known_by_names_and_not_by_lines(folder: Path) -> None:
    path = folder / "scene.xml"
    path.write_text(LOST)
    assert main(["check", "scene.xml", "--baseline", "known.json", "--update-baseline"]) == 0
    path.write_text("<!-- moved -->\n\n" + LOST.replace('num="2"', 'num="3"'))
    assert main(["check", "scene.xml", "--baseline", "known.json"]) == 0
    path.write_text(LOST.replace('name="c"', 'name="d"'))
    assert main(["check", "scene.xml", "--baseline", "known.json"]) == 1
    path.write_text(CLEAN)
    main(["check", "scene.xml", "--baseline", "known.json", "--update-baseline"])
    assert json.loads((folder / "known.json").read_text())["findings"] == []
    (folder / "known.json").write_text("{}")
    assert main(["check", "scene.xml", "--baseline", "known.json"]) == 2


# Formats


def test_formats_say_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "scene.xml").write_text(LOST)

    def told(kind: str) -> str:
        main(["check", "scene.xml", "--format", kind])
        return capsys.readouterr().out

    text, github = told("text"), told("github")
    assert "scene.xml:7:11: warning contacts-lost" in text
    assert 'tried: num="4": 2 of 4 reported before, 4 of 4 after (--fix applies it)' in text
    assert github.startswith("::warning file=scene.xml,line=7,col=11,title=contacts-lost::default state")
    saved = json.loads(told("json"))["reports"][0]
    assert saved["findings"][0]["numbers"]["matched"] == {"value": 4.0, "unit": ""}
    assert saved["starts"] == ["default state"]
    suite = ElementTree.fromstring(told("junit"))[0]
    assert suite.attrib["failures"] == "1"
    assert suite[0].attrib["name"] == "contacts-lost"
    assert Finding.from_json(check_file("scene.xml", CheckOptions()).findings[0].to_json()).rule == "contacts-lost"


def test_sarif_has_places_rules_and_replacements_that_mend(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "scene.xml"
    path.write_text("<!-- é -->\n" + LOST)
    main(["check", "scene.xml", "--format", "sarif"])
    log = json.loads(capsys.readouterr().out)
    run = log["runs"][0]
    result = run["results"][0]
    assert (log["version"], result["level"]) == ("2.1.0", "warning")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "contacts-lost"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "scene.xml"
    assert place["region"] == {"startLine": 8, "startColumn": 11}
    change = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    start, length = change["deletedRegion"]["charOffset"], change["deletedRegion"]["charLength"]
    text = path.read_text()
    path.write_text(text[:start] + change["insertedContent"]["text"] + text[start + length :])
    assert main(["check", "scene.xml"]) == 0


def test_explain_list_and_statistics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", "friction-creep"]) == 0
    assert capsys.readouterr().out.startswith("# friction-creep")
    assert main(["check", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(NAMES)
    (folder / "lost.xml").write_text(LOST)
    main(["check", "lost.xml", "--statistics"])
    assert "1 scenes  contacts-lost" in capsys.readouterr().out
    assert main(["check", "--explain", "friction-crep"]) == 2


# A new user


def test_lines_of_ci_find_and_mend_a_robot_repository(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = ROOT / "examples" / "audit"
    shutil.copytree(project, folder, dirs_exist_ok=True)
    find_table.cache_clear()
    lines = re.findall(r"- run: contact-viewer (.*)", (folder / ".github/workflows/contacts.yml").read_text())
    (words,) = [line.split() for line in lines]
    assert main(words) == 0
    capsys.readouterr()
    # Two mistakes of a change: too few slots, and a foot that is there twice, in a file that the scene includes.
    robot = (folder / "robot.xml").read_text()
    foot = '<geom name="right_foot" class="foot"/>'
    assert robot.count(foot) == 1
    (folder / "foot.xml").write_text(f"<mujocoinclude>\n  {foot}\n  <geom class='foot'/>\n</mujocoinclude>\n")
    broken = robot.replace(foot, '<include file="foot.xml"/>').replace('num="4"', 'num="2"', 1)
    (folder / "robot.xml").write_text(broken)
    assert main(words) == 1
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::warning")]
    line = 1 + broken[: broken.index('num="2"')].count("\n")
    assert any(f"file=robot.xml,line={line},col=5,title=contacts-lost::" in each for each in told), told
    assert any("file=foot.xml,line=3,col=3,title=duplicate-geoms::" in each for each in told), told
    assert main(["check", "robot.xml", "--fix"]) == 0
    assert (folder / "robot.xml").read_text() == broken.replace('num="2"', 'num="4"')
    assert "contype=" in (folder / "foot.xml").read_text()
    assert main(words) == 0


# Python and pytest


def test_python_checks_the_model_of_a_program(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(LOST)
    assert [each.rule for each in contact_viewer.check(model)] == ["contacts-lost"]
    assert not contact_viewer.check(model, ignore=["contacts-lost"])
    model.geom_contype[1] = model.geom_conaffinity[1] = 0
    assert [each.rule for each in contact_viewer.check(model)] == ["never-collides"]
    with pytest.raises(SceneError, match="unknown rule"):
        contact_viewer.check(model, select=["nonsense"])


def test_run_begins_with_the_state_that_is_given() -> None:
    model = mujoco.MjModel.from_xml_string(CLEAN)
    data = mujoco.MjData(model)
    assert not contact_viewer.check(model, data)
    data.qpos[2] = 0.05
    before = data.qpos.copy()
    assert [each.rule for each in contact_viewer.check(model, data)] == ["overlap-at-start"]
    assert (data.qpos == before).all()


def test_controller_drives_the_run() -> None:
    text = scene('<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1"/></body>')
    model = mujoco.MjModel.from_xml_string(text)

    def explode(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.qfrc_applied[0] = 1e20

    assert not contact_viewer.check(model)
    assert contact_viewer.check(model, control=explode)[0].rule == "unstable"


def test_pytest_fixture_fails_a_test_with_the_finding(tmp_path: Path) -> None:
    (tmp_path / "lost.xml").write_text(LOST)
    (tmp_path / "clean.xml").write_text(CLEAN)
    (tmp_path / "test_scene.py").write_text(
        "import mujoco\n"
        "def test_lost(contact_check):\n    contact_check('lost.xml')\n"
        "def test_clean(contact_check):\n    contact_check('clean.xml')\n"
        "def test_model(contact_check):\n"
        "    contact_check(model=mujoco.MjModel.from_xml_path('lost.xml'), ignore=['contacts-lost'])\n"
    )
    plugin = ["-p", "contact_viewer.checks.pytest_plugin", "-p", "no:cacheprovider"]
    command, alone = [sys.executable, "-m", "pytest", "-q", *plugin], {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **alone}, capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in done.stdout
    assert "warning contacts-lost: default state: c has 2 slots" in done.stdout


# Many scenes


def test_folder_has_the_scenes_and_not_what_they_include(folder: Path) -> None:
    (folder / "box.xml").write_text("<mujoco><worldbody/></mujoco>")
    (folder / "scene.xml").write_text(scene('<include file="box.xml"/>').replace("worldbody>\n", "worldbody>"))
    (folder / "package.xml").write_text("<package/>")
    (folder / "a").mkdir()
    (folder / "a" / "clean.xml").write_text(CLEAN)
    assert find_scenes(["."]) == (["a/clean.xml", "scene.xml"], 1)
    assert find_scenes(["**/*.xml"])[0] == ["a/clean.xml", "box.xml", "package.xml", "scene.xml"]
    with pytest.raises(SceneError, match="no scenes"):
        find_scenes(["*.mjcf"])


def test_many_scenes_beside_each_other(folder: Path) -> None:
    files = []
    for i in range(6):
        path = folder / f"{i:02}.xml"
        path.write_text((CLEAN, LOST, "<mujoco>")[i % 3])
        files.append(str(path))
    reports = [each for each in check_many(files, CheckOptions(), 2) if each is not None]
    found = {Path(each.path).name: (len(each.findings), bool(each.trouble)) for each in reports}
    assert found == {f"{i:02}.xml": ((0, False), (1, False), (0, True))[i % 3] for i in range(6)}


def test_run_has_a_limit_of_wall_time(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(CLEAN)
    began = time.monotonic()
    found = check_file(str(path), CheckOptions(duration=1e4, limit=0.3))
    assert time.monotonic() - began < 10
    assert "ended after" in found.unchecked[0]


def test_what_is_not_checked_is_said(tmp_path: Path) -> None:
    fragment = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    assert "fragment" in report(tmp_path, fragment).unchecked[0]
    hinge = '<body pos="0 0 1"><joint name="j" range="10 20"/><geom size=".1"/></body>'
    assert "j out of range" in report(tmp_path, scene(hinge)).unchecked[0]
    keys = "<keyframe>" + "".join(f'<key name="k{i}"/>' for i in range(6)) + "</keyframe>"
    found = report(tmp_path, scene(hinge, keys))
    assert found.starts == ("key k0", "key k1", "key k2", "key k3")
    assert found.unchecked == ("4 of 6 keys",)


def test_same_mistake_in_several_keys_is_one_finding(tmp_path: Path) -> None:
    keys = '<keyframe><key name="a" qpos="0"/><key name="b" qpos="0.01"/></keyframe>'
    found = one(tmp_path, JAMMED.replace("</mujoco>", f"{keys}</mujoco>"), "self-contact-at-rest")
    assert found.start == "key a"
    assert "also from key b" in found.message


@pytest.mark.parametrize(
    ("one_name", "other"), [("FL_foot", "RR_foot"), ("left_hip", "right_hip"), ("ball_01", "ball_549")]
)
def test_names_of_one_family(one_name: str, other: str) -> None:
    assert family(one_name) == family(other)
    assert family("left_hip") != family("left_knee")


def test_long_lists_are_shortened() -> None:
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing([str(i) for i in range(549)]) == "0, 1, 2, 3 and 545 more"


@pytest.mark.parametrize("known", bundled_scenes(), ids=lambda known: known.name)
def test_bundled_scenes_are_clean(known) -> None:  # type: ignore[no-untyped-def]
    found = check_file(str(known.path), CheckOptions())
    assert not found.trouble
    assert not [each.text for each in found.findings]


def test_examples_are_clean() -> None:
    path = ROOT / "examples" / "controllers" / "trot.xml"
    found = check_file(str(path), CheckOptions())
    assert not [each.text for each in found.findings]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for key in (None, 0):
        mujoco.mj_resetData(model, data) if key is None else mujoco.mj_resetDataKeyframe(model, data, key)
        mujoco.mj_forward(model, data)
        assert min(data.contact.dist, default=0) > -1e-3
