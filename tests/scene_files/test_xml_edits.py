"""Sensors saved into a scene's text: MuJoCo sees the change, and a comparison of the files nothing else."""

import difflib
import os
import stat
from pathlib import Path

import mujoco
import pytest
from contact_viewer.assets import BundledScene, bundled_scenes
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.names import read_names
from contact_viewer.scene_files.xml_edits import Edit, change_sensor, contact_element, insert_elements
from hypothesis import given
from hypothesis import strategies as st

NEW = contact_element({"name": "new", "geom1": "g", "data": "found force", "num": "3"})
WORLD = '<worldbody><geom name="g" size="1"/><site name="s"/></worldbody>'


def changed_lines(edit: Edit) -> tuple[list[str], list[str]]:
    """Lines that a change takes away and adds, byte for byte."""
    before, after = (text.decode("latin-1").splitlines(keepends=True) for text in (edit.before, edit.after))
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def sensors_of(path: Path) -> list[str]:
    return read_names(mujoco.MjModel.from_xml_path(str(path)), "sensor")


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("scene", bundled_scenes(), ids=lambda scene: scene.name)
def test_inserting_adds_one_line_and_undo_takes_it_away(scene: BundledScene, tmp_path: Path) -> None:
    original = scene.path.read_bytes()
    path = write(tmp_path / "scene.xml", original)
    before = sensors_of(path)
    edit = insert_elements(path, "sensor", ['<contact name="new"/>'])
    edit.save()
    removed, added = changed_lines(edit)
    assert removed == []
    assert [line.strip() for line in added] == ['<contact name="new"/>']
    assert sensors_of(path) == [*before, "new"]
    edit.undone().save()
    assert path.read_bytes() == original


def test_a_file_of_thousands_of_lines_changes_only_where_lines_are_added(tmp_path: Path) -> None:
    lines = ["<mujoco>", "\t<!-- umlauts in Latin-1: \xe4\xf6\xfc -->", "\t<worldbody>"]
    lines += [f"\t\t<geom  name = 'g{i}'   size=\".1\" />  <!-- <sensor> {i} -->" for i in range(6000)]
    lines += ["\t</worldbody>", "\t<sensor>", "\t\t<contact geom1='g1'/>   <!-- last -->", "", "\t</sensor>", "\t"]
    lines += [f"\t<!-- {i} -->" for i in range(500)]
    text = "\r\n".join([*lines, "</mujoco>"]).encode("latin-1")
    path = write(tmp_path / "scene.xml", text)
    edit = insert_elements(path, "sensor", [contact_element({"name": f"new{i}", "geom1": f"g{i}"}) for i in range(3)])
    edit.save()
    removed, added = changed_lines(edit)
    assert removed == []
    assert added == [f'\t\t<contact name="new{i}" geom1="g{i}"/>\r\n' for i in range(3)]
    assert sensors_of(path) == ["", "new0", "new1", "new2"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "<mujoco>\n  <sensor>\n    <touch site='s'/>\n  </sensor>\n  {w}\n</mujoco>\n",
            "<mujoco>\n  <sensor>\n    <touch site='s'/>\n    {n}\n  </sensor>\n  {w}\n</mujoco>\n",
        ),
        ("<mujoco>\n  {w}\n  <sensor/>\n</mujoco>", "<mujoco>\n  {w}\n  <sensor>\n    {n}\n  </sensor>\n</mujoco>"),
        ("<mujoco>\n    {w}\n</mujoco>\n", "<mujoco>\n    {w}\n    <sensor>\n        {n}\n    </sensor>\n</mujoco>\n"),
        (
            "<mujoco>\n  <option/>\n\n  {w}\n</mujoco>\n",
            "<mujoco>\n  <option/>\n\n  {w}\n\n  <sensor>\n    {n}\n  </sensor>\n</mujoco>\n",
        ),
        (
            "<mujoco>{w}<sensor><touch site='s'/></sensor></mujoco>",
            "<mujoco>{w}<sensor><touch site='s'/>\n  {n}\n</sensor></mujoco>",
        ),
        ("<mujoco>{w}<sensor></sensor></mujoco>", "<mujoco>{w}<sensor>\n  {n}\n</sensor></mujoco>"),
        ("<mujoco>{w}</mujoco>", "<mujoco>{w}\n  <sensor>\n    {n}\n  </sensor>\n</mujoco>"),
        (
            "<mujoco>\n  {w}\n  <sensor>\n  </sensor>\n</mujoco>",
            "<mujoco>\n  {w}\n  <sensor>\n    {n}\n  </sensor>\n</mujoco>",
        ),
        (
            "<mujoco>\n  {w}\n  <sensor>\n    <!-- none yet -->\n  </sensor>\n</mujoco>",
            "<mujoco>\n  {w}\n  <sensor>\n    <!-- none yet -->\n    {n}\n  </sensor>\n</mujoco>",
        ),
        (
            "<mujoco>\n  <!-- <sensor></sensor> -->\n  {w}\n  <sensor>\n    <touch site='s'/>\n  </sensor>\n"
            "  <sensor>\n    <touch site='s'/>\n    <gyro site='s'>\n    </gyro>\n  </sensor>\n</mujoco>",
            "<mujoco>\n  <!-- <sensor></sensor> -->\n  {w}\n  <sensor>\n    <touch site='s'/>\n  </sensor>\n"
            "  <sensor>\n    <touch site='s'/>\n    <gyro site='s'>\n    </gyro>\n    {n}\n  </sensor>\n</mujoco>",
        ),
        ("\ufeff<mujoco>\r\n\t{w}\r\n\t<sensor/>\r\n</mujoco>", None),
    ],
)
def test_where_an_element_goes(before: str, after: str | None, tmp_path: Path) -> None:
    path = write(tmp_path / "scene.xml", before.replace("{w}", WORLD))
    count = len(sensors_of(path))
    edit = insert_elements(path, "sensor", [NEW])
    edit.save()
    if after is not None:
        assert path.read_text() == after.replace("{w}", WORLD).replace("{n}", NEW)
    else:
        assert edit.after.decode() == before.replace("{w}", WORLD).replace(
            "<sensor/>", f"<sensor>\r\n\t\t{NEW}\r\n\t</sensor>"
        )
    names = sensors_of(path)
    assert names[-1] == "new"
    assert len(names) == count + 1


@given(st.dictionaries(st.sampled_from(["name", "geom1", "site"]), st.text(min_size=1, max_size=20)))
def test_whatever_is_in_an_attribute_survives(values: dict[str, str]) -> None:
    """Read back by another parser."""
    from xml.etree import ElementTree

    readable = {name: "".join(c for c in value if c.isprintable()) for name, value in values.items()}
    element = ElementTree.fromstring(contact_element(readable))
    assert element.tag == "contact"
    assert element.attrib == readable


ROBOT = {
    "scene.xml": """<mujoco>
  <include file="parts/robot.xml"/>
  <sensor>
    <contact name='floor'
             geom1="g"   num="2"
             data='found'/>  <!-- spread over lines -->
    <include file="more.xml"/>
    <contact/>
    <touch site="s"></touch>
  </sensor>
</mujoco>
""",
    "parts/robot.xml": f"""<mujocoinclude>{WORLD}
  <sensor><contact geom1="g"/><!-- <contact/> --><touch name="t" site="s"/></sensor></mujocoinclude>""",
    "more.xml": '<x>\n  <contact geom2="g" data="force"/>\n</x>',
}


def make_robot(folder: Path) -> Path:
    for name, text in ROBOT.items():
        write(folder / name, text)
    return folder / "scene.xml"


@pytest.mark.parametrize(
    ("index", "file", "before", "after"),
    [
        (0, "parts/robot.xml", '<contact geom1="g"/>', '<contact geom1="g" num="7" reduce="netforce"/>'),
        (
            2,
            "scene.xml",
            "num=\"2\"\n             data='found'/>",
            'num="7"\n             data=\'found\' reduce="netforce"/>',
        ),
        (3, "more.xml", 'geom2="g" data="force"/>', 'geom2="g" data="force" num="7" reduce="netforce"/>'),
        (4, "scene.xml", "<contact/>", '<contact num="7" reduce="netforce"/>'),
    ],
)
def test_attributes_change_in_the_file_that_declares_the_sensor(
    index: int, file: str, before: str, after: str, tmp_path: Path
) -> None:
    """The sensor that changes is the one that MuJoCo gives this number, and no other."""
    scene = make_robot(tmp_path)
    old = mujoco.MjModel.from_xml_path(str(scene))
    names = read_names(old, "sensor")
    assert names == ["", "t", "floor", "", "", ""]
    edit = change_sensor(scene, names, index, {"num": "7", "reduce": "netforce"})
    edit.save()
    assert edit.path == tmp_path / file
    assert edit.path.read_text() == ROBOT[file].replace(before, after)
    new = mujoco.MjModel.from_xml_path(str(scene))
    changed = [i for i in range(new.nsensor) if (new.sensor_intprm[i] != old.sensor_intprm[i]).any()]
    assert changed == [index]
    assert tuple(new.sensor_intprm[index, 1:]) == (3, 7)


def test_attributes_are_removed_and_replaced_in_place(tmp_path: Path) -> None:
    scene = make_robot(tmp_path)
    changes = {"geom1": None, "site": "s", "num": None, "data": "found pos", "name": "it's <&\">"}
    edit = change_sensor(scene, ["", "t", "floor", "", "", ""], 2, changes)
    edit.save()
    removed, added = changed_lines(edit)
    assert [line.strip() for line in removed] == [
        "<contact name='floor'",
        'geom1="g"   num="2"',
        "data='found'/>  <!-- spread over lines -->",
    ]
    assert "".join(line.strip(" ") for line in added) == (
        "<contact name='it&apos;s &lt;&amp;&quot;&gt;'\ndata='found pos' site=\"s\"/>  <!-- spread over lines -->\n"
    )
    model = mujoco.MjModel.from_xml_path(str(scene))
    assert model.sensor(2).name == "it's <&\">"
    assert model.sensor_objtype[2] == mujoco.mjtObj.mjOBJ_SITE


def test_a_sensor_without_an_element_of_its_own_is_refused(tmp_path: Path) -> None:
    scene = write(
        tmp_path / "scene.xml",
        """<mujoco><worldbody><replicate count="2" offset="1 0 0"><body><geom name="g" size=".1"/></body></replicate>
           <geom name="floor" type="plane" size="1 1 1"/></worldbody>
           <sensor><contact name="c" geom1="g"/><contact geom1="floor"/><contact name="f" geom1="floor"/></sensor>
           </mujoco>""",
    )
    names = sensors_of(scene)
    assert len(names) > 3
    copy = next(i for i, name in enumerate(names) if name.startswith("c") and name != "c")
    with pytest.raises(SceneError, match="has no element of its own"):
        change_sensor(scene, names, copy, {"num": "2"})
    with pytest.raises(SceneError, match="unnamed sensor"):
        change_sensor(scene, names, names.index(""), {"num": "2"})
    change_sensor(scene, names, names.index("f"), {"num": "2"}).save()
    assert 'name="f" geom1="floor" num="2"' in scene.read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot name='r'><link name='l'/></robot>", "MJCF only"),
        ("<mujoco><worldbody>", "broken XML"),
        ("<mujoco><!-- ", "broken XML"),
        ("", "broken XML"),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = write(tmp_path / "scene.xml", text)
    with pytest.raises(SceneError, match=words):
        insert_elements(path, "sensor", [NEW])
    assert path.read_text() == text


def test_someone_elses_changes_are_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "scene.xml", f"<mujoco>{WORLD}</mujoco>")
    edit = insert_elements(path, "sensor", [NEW])
    path.write_text("<mujoco/>")
    with pytest.raises(SceneError, match="changed by another program"):
        edit.save()
    with pytest.raises(SceneError, match="changed by another program"):
        edit.undone().save()
    assert path.read_text() == "<mujoco/>"


def test_saving_keeps_permissions_and_links(tmp_path: Path) -> None:
    path = write(tmp_path / "real" / "scene.xml", f"<mujoco>{WORLD}</mujoco>")
    path.chmod(0o640)
    link = tmp_path / "link.xml"
    link.symlink_to(path)
    insert_elements(link, "sensor", [NEW]).save()
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "new" in path.read_text()
    assert os.listdir(path.parent) == ["scene.xml"]


def test_a_failing_save_leaves_the_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "scene.xml", f"<mujoco>{WORLD}</mujoco>")
    edit = insert_elements(path, "sensor", [NEW])

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SceneError, match="No space left"):
        edit.save()
    assert path.read_bytes() == edit.before
    assert os.listdir(tmp_path) == ["scene.xml"]
