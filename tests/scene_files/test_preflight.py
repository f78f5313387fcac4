"""A look at a scene's files: what it finds is what MuJoCo reads, and what it suspects is what MuJoCo dies of."""

import os
import re
import struct
import time
import zlib
from pathlib import Path

import mujoco
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.cli import main
from contact_viewer.scene_files.preflight import NESTING_MAX, SceneRefused, Survey, png_pixels, survey_scene
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.xml_tags import find_tags

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def compiles(path: Path) -> bool:
    mujoco.mj_clearCache(mujoco.mj_getCache())
    try:
        mujoco.MjSpec.from_file(str(path)).compile()
    except ValueError:
        return False
    return True


def make_robot(folder: Path) -> tuple[Path, set[Path]]:
    """A scene spread over many files in every way that MJCF has, and the files it consists of."""
    scene = write(
        folder / "scene.xml",
        """<mujoco>
          <compiler meshdir="meshes" texturedir="pictures" assetdir="assets"/>
          <include file="parts/arm.xml"/>
          <asset>
            <mesh name="a" file="a.obj"/>
            <texture name="t" type="2d" file="t.png"/>
            <texture name="sky" type="skybox" fileright="r.png" fileleft="r.png" fileup="u.png" filedown="r.png"
                     filefront="r.png" fileback="r.png"/>
            <hfield name="h" file="h.png" size="1 1 1 1"/>
            <model name="gripper" file="grippers/gripper.xml"/>
          </asset>
          <worldbody><geom type="mesh" mesh="a"/><geom type="hfield" hfield="h"/>
            <frame><attach model="gripper" body="palm" prefix="left_"/></frame></worldbody>
          <!-- <include file="decoy.xml"/> -->
        </mujoco>""",
    )
    files = {
        scene,
        write(folder / "meshes" / "a.obj", TETRAHEDRON),
        write(folder / "pictures" / "t.png", png(4, 4)),
        write(folder / "pictures" / "r.png", png(4, 4)),
        write(folder / "pictures" / "u.png", png(4, 4)),
        write(folder / "meshes" / "h.png", png(4, 4)),
        write(
            folder / "parts" / "arm.xml",
            """<mujocoinclude><include file="hand.xml"/><asset><mesh name="b" file="b.obj"/></asset>
               <worldbody><geom type="mesh" mesh="b"/></worldbody></mujocoinclude>""",
        ),
        write(folder / "parts" / "hand.xml", "<x><worldbody><geom name='hand' size='1'/></worldbody></x>"),
        write(folder / "parts" / "b.obj", TETRAHEDRON),
        write(
            folder / "grippers" / "gripper.xml",
            """<mujoco><compiler assetdir="../shared"/><asset><mesh name="c" file="old\\..\\c.obj"/>
               </asset><worldbody><body name="palm"><geom type="mesh" mesh="c"/></body></worldbody></mujoco>""",
        ),
        write(folder / "shared" / "c.obj", TETRAHEDRON),
    }
    for decoy in ("decoy.xml", "a.obj", "parts/a.obj", "pictures/h.png", "meshes/b.png", "shared/d.obj"):
        write(folder / decoy, "decoy")
    return scene, files


def existing(survey: Survey) -> set[Path]:
    return {path for path, stamp in survey.files.items() if stamp is not None}


def test_the_files_found_are_those_that_mujoco_cannot_do_without(tmp_path: Path) -> None:
    scene, files = make_robot(tmp_path)
    survey = survey_scene(scene)
    assert existing(survey) == files
    assert survey.missing == ()
    assert survey.doubts == ()
    assert survey.notes == ()
    assert compiles(scene)
    for path in sorted(files - {scene}):
        away = path.rename(path.with_name("away"))
        assert not compiles(scene), path
        without = survey_scene(scene)
        assert existing(without) == files - {path} - (files - existing(without))
        assert path in without.files
        assert path.name in "".join(without.missing)
        away.rename(path)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path not in files:
            path.unlink()
    assert compiles(scene)


@pytest.mark.parametrize("name", ["C:\\\\old\\\\c.obj", "/old/c.obj", "old/c.obj"])
def test_paths_are_stripped_where_the_scene_says_so(name: str, tmp_path: Path) -> None:
    mesh = write(tmp_path / "meshes" / "c.obj", TETRAHEDRON)
    write(tmp_path / "meshes" / "old" / "c.obj", "decoy")
    scene = write(
        tmp_path / "scene.xml",
        f"""<mujoco><compiler meshdir="meshes" strippath="true"/><asset><mesh name="c" file="{name}"/></asset>
            <worldbody><geom type="mesh" mesh="c"/></worldbody></mujoco>""",
    )
    assert compiles(scene)
    assert existing(survey_scene(scene)) == {scene, mesh}


def test_meshes_of_a_urdf_are_found(tmp_path: Path) -> None:
    mesh = write(tmp_path / "c.obj", TETRAHEDRON)
    scene = write(
        tmp_path / "robot.urdf",
        """<robot name="r"><mujoco><compiler strippath="true"/></mujoco><link name="l">
           <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
           iyz="0"/></inertial><collision><geometry><mesh filename="package://r/meshes/c.obj"/></geometry></collision>
           </link></robot>""",
    )
    assert compiles(scene)
    assert existing(survey_scene(scene)) == {scene, mesh}


def test_missing_files_are_named_with_the_place_that_names_them(tmp_path: Path) -> None:
    write(tmp_path / "part.xml", '<mujoco>\n<asset>\n\n<mesh name="m" file="m.stl"/></asset></mujoco>')
    scene = write(tmp_path / "scene.xml", '<mujoco>\n<include file="part.xml"/><include file="gone.xml"/></mujoco>')
    assert survey_scene(scene).missing == ("gone.xml (scene.xml line 2)", "m.stl (part.xml line 4)")


def test_a_path_that_climbs_out_is_followed_and_noted(tmp_path: Path) -> None:
    write(tmp_path / "shared.xml", '<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    scene = write(tmp_path / "mine" / "scene.xml", '<mujoco><include file="../shared.xml"/></mujoco>')
    survey = survey_scene(scene)
    assert compiles(scene)
    assert existing(survey) == {scene, tmp_path / "shared.xml"}
    assert survey.notes == ("reads files outside its folder: ../shared.xml",)


def test_character_references_hide_no_file(tmp_path: Path) -> None:
    part = write(tmp_path / "a&b.xml", '<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    scene = write(tmp_path / "scene.xml", '<mujoco><include file="&#97;&amp;&#x62;.xml"/></mujoco>')
    assert compiles(scene)
    assert part in survey_scene(scene).files


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        ({"a.xml": '<mujoco><include file="a.xml"/></mujoco>'}, "a.xml > a.xml"),
        (
            {"a.xml": '<mujoco><include file="b.xml"/></mujoco>', "b.xml": '<mujoco><include file="a.xml"/></mujoco>'},
            "a.xml > b.xml > a.xml",
        ),
        ({"a.xml": '<mujoco><asset><model file="a.xml"/></asset></mujoco>'}, "a.xml > a.xml"),
        (
            {
                "a.xml": '<mujoco><asset><model file="b.xml"/></asset></mujoco>',
                "b.xml": '<mujoco><include file="c.xml"/></mujoco>',
                "c.xml": '<mujoco><asset><model name="x" file="./sub/../b.xml"/></asset></mujoco>',
                "sub/x": "",
            },
            "b.xml > b.xml",
        ),
    ],
)
def test_circles_are_refused_with_their_files(files: dict[str, str], circle: str, tmp_path: Path) -> None:
    for name, content in files.items():
        write(tmp_path / name, content)
    with pytest.raises(SceneRefused, match=circle) as refused:
        survey_scene(tmp_path / "a.xml")
    assert {path.name for path in refused.value.files} == {Path(name).name for name in files} - {"x"}


def test_a_file_that_is_named_twice_is_no_circle(tmp_path: Path) -> None:
    write(tmp_path / "leg.xml", '<mujoco><worldbody><body name="leg"><geom size="1"/></body></worldbody></mujoco>')
    scene = write(
        tmp_path / "scene.xml",
        """<mujoco><asset><model name="l" file="leg.xml"/><model name="r" file="leg.xml"/></asset><worldbody>
           <frame><attach model="l" body="leg" prefix="l_"/></frame>
           <frame><attach model="r" body="leg" prefix="r_"/></frame></worldbody></mujoco>""",
    )
    assert compiles(scene)
    assert survey_scene(scene).doubts == ()


def test_chains_of_includes_have_an_end(tmp_path: Path) -> None:
    for i in range(3000):
        write(tmp_path / f"{i}.xml", f'<mujoco><include file="{i + 1}.xml"/></mujoco>')
    with pytest.raises(SceneRefused, match=f"more than {NESTING_MAX} deep"):
        survey_scene(tmp_path / "0.xml")
    write(tmp_path / "3000.xml", '<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    assert survey_scene(tmp_path / "2900.xml").doubts == ()
    assert compiles(tmp_path / "2900.xml")


FREE_BODY = "<body><freejoint/><geom size='1'/></body>"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "<worldbody>" + "<replicate count='20'>" * 4 + FREE_BODY + "</replicate>" * 4 + "</worldbody>",
            "160,000 copies",
        ),
        (f"<worldbody><replicate count='99999'>{FREE_BODY}</replicate></worldbody>", "99,999 copies"),
        (f"<worldbody>{FREE_BODY * 25000}</worldbody>", "1.0 MB of XML"),
        ("<worldbody><body name='b'><flexcomp name='f' count='200 200 200'/></body></worldbody>", "8,000,000 copies"),
        (
            "<worldbody><body name='b'><flexcomp name='f' type='mesh' file='flex.obj'/></body></worldbody>",
            "90 kB in flex",
        ),
        ("<size nkey='1000000'/>", "nkey"),
        ("<size memory='900G'/>", "memory"),
        ("<size memory='2000000000'/>", "memory"),
        ("<size nuser_geom='2000000000'/>", "nuser_geom"),
        ("<size njmax='100000'/>", "njmax"),
        ("<compiler><lengthrange inttotal='1000000000'/></compiler>", "lengthrange"),
        ("<actuator><muscle joint='j'/></actuator>", "muscle"),
        ("<asset><texture name='t' type='2d' builtin='flat' width='30000' height='30000'/></asset>", "width='30000'"),
        ("<asset><hfield name='h' nrow='90000' ncol='90000' size='1 1 1 1'/></asset>", "nrow='90000' of hfield"),
        ("<asset><mesh name='m' builtin='supersphere' params='20000 1 1'/></asset>", "params"),
        ("<asset><texture name='t' type='2d' file='bomb.png'/></asset>", "400,000,000 pixels in bomb.png"),
        (f"<worldbody>{'<body>' * 300}{'</body>' * 300}</worldbody>", "nested more than 200 deep"),
        ("<sensor>" + "<contact num='90000'/>" * 2 + "</sensor>", "num='90000' of contact"),
        ("<sensor><contact nsample='99999' num='99'/></sensor>", "nsample"),
        ("<sensor><user dim='1e7'/></sensor>", "dim"),
        ("<custom><numeric name='n' size='100000000'/></custom>", "size='100000000' of numeric"),
        ("<extension><plugin plugin='mujoco.sdf.torus'/></extension>", "plugin"),
        ("<worldbody><geom size='1'", "broken XML"),
        ("<worldbody><!-- ", "broken XML"),
    ],
)
def test_what_exhausts_mujoco_is_suspected(content: str, words: str, tmp_path: Path) -> None:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 20000, 20000)
    write(tmp_path / "bomb.png", head)
    write(tmp_path / "flex.obj", "v 0 0 0 \n" * 10_000)
    scene = write(tmp_path / "scene.xml", f"<mujoco>{content}</mujoco>")
    doubts = survey_scene(scene).doubts
    assert any(re.search(words, doubt) for doubt in doubts), doubts


@pytest.mark.parametrize(
    "content",
    [f"<worldbody><replicate count='100000'>{FREE_BODY}</replicate></worldbody>", "<size nkey='100000000'/>"],
)
def test_what_never_compiles_is_refused_at_once(content: str, tmp_path: Path) -> None:
    scene = write(tmp_path / "scene.xml", f"<mujoco>\n{content}</mujoco>")
    with pytest.raises(SceneRefused, match=r"scene.xml line 2: \w+='\d+'; MuJoCo needs hours"):
        survey_scene(scene)


@pytest.mark.alone
def test_models_that_multiply_are_suspected_without_being_read_again_and_again(tmp_path: Path) -> None:
    write(tmp_path / "0.xml", '<mujoco><worldbody><body name="b"><geom size="1"/></body></worldbody></mujoco>')
    for i in range(1, 100):
        write(
            tmp_path / f"{i}.xml",
            f"""<mujoco><asset><model name="m" file="{i - 1}.xml"/></asset><worldbody><body name="b">
                <frame><attach model="m" body="b" prefix="x"/></frame>
                <frame><attach model="m" body="b" prefix="y"/></frame></body></worldbody></mujoco>""",
        )
    assert survey_scene(tmp_path / "3.xml").doubts == ()
    start = time.process_time()
    doubts = survey_scene(tmp_path / "99.xml").doubts
    assert time.process_time() - start < 2
    assert any("copies" in doubt for doubt in doubts)


@pytest.mark.parametrize(
    "content",
    [
        "<worldbody><body><joint stiffness='1e6' damping='250000' range='-1e9 1e9'/><geom size='1' mass='1e6'"
        " contype='1048576' name='part 1234567'/></body></worldbody>",
        "<option timestep='0.00123456789' impratio='1e-7'/>",
        "<sensor>" + "<contact name='s' data='found force' num='4'/>" * 3000 + "</sensor>",
        f"<worldbody>{FREE_BODY * 1500}</worldbody>",
        "<actuator><position joint='j' kp='1000000' forcerange='-1e7 1e7'/></actuator>",
        "<asset><mesh name='m' vertex='1000000 0 0 0 1000000 0 0 0 1000000 0 0 0'/></asset>",
    ],
)
def test_ordinary_scenes_are_not_suspected(content: str, tmp_path: Path) -> None:
    assert survey_scene(write(tmp_path / "scene.xml", f"<mujoco>{content}</mujoco>")).doubts == ()


@pytest.mark.alone
def test_bundled_scenes_are_looked_at_in_no_time() -> None:
    for scene in bundled_scenes():
        path = scene.path.resolve()
        times = []
        for _ in range(5):
            start = time.process_time()
            survey = survey_scene(path)
            times.append(time.process_time() - start)
        assert min(times) < 0.02
        assert survey.doubts == survey.missing == survey.notes == ()


@pytest.mark.alone
@pytest.mark.parametrize("content", ["<!--" * 250_000, "<a b='" * 200_000, "<" * 1_000_000, "<a " + " " * 1_000_000])
def test_damaged_text_takes_linear_time(content: str, tmp_path: Path) -> None:
    scene = write(tmp_path / "scene.xml", content)
    start = time.process_time()
    assert any("broken XML" in doubt for doubt in survey_scene(scene).doubts)
    assert time.process_time() - start < 1


@pytest.mark.alone
def test_much_text_is_left_to_a_thorough_survey(tmp_path: Path) -> None:
    body = "<worldbody>" + "<geom size='.1' pos='1 2 3'/>" * 200_000 + "</worldbody>"
    scene = write(tmp_path / "scene.xml", f'<mujoco>{body}<include file="part.xml"/></mujoco>')
    part = write(tmp_path / "part.xml", "<mujoco><worldbody/></mujoco>")
    start = time.process_time()
    survey = survey_scene(scene)
    assert time.process_time() - start < 0.05
    assert survey.doubts
    assert part in survey_scene(scene, thorough=True).files


@pytest.mark.parametrize("element", ["<include file='{}'/>", "<asset><mesh name='m' file='{}'/></asset>"])
def test_what_is_not_a_file_is_refused_before_mujoco_waits_for_it(element: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero"):
        scene = write(tmp_path / "scene.xml", f"<mujoco>\n{element.format(name)}</mujoco>")
        with pytest.raises(SceneRefused, match=r"is not a regular file \(scene.xml line 2\)"):
            survey_scene(scene)


def test_tags_are_those_that_mujoco_sees() -> None:
    text = """<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "b">]><m a="1>2"b='"'><!-- <x/> --><![CDATA[<y/>]]><z
      c = "&lt;&unknown;&#65;"/></m >"""
    tags = list(find_tags(text))
    assert [(tag.name, tag.opens, tag.closes) for tag in tags] == [
        ("m", True, False),
        ("z", True, True),
        ("m", False, True),
    ]
    assert tags[0].attributes == {"a": "1>2", "b": '"'}
    assert tags[1].attributes == {"c": "<&unknown;A"}
    assert text[tags[1].start : tags[1].end] == '<z\n      c = "&lt;&unknown;&#65;"/>'


def test_pixels_are_counted_without_unpacking(tmp_path: Path) -> None:
    assert png_pixels(write(tmp_path / "a.png", png(7, 5))) == 35
    assert png_pixels(write(tmp_path / "b.png", "no picture")) == 0


LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 123456\n"


@pytest.mark.parametrize(
    ("element", "name"),
    [
        ("<include file='part.xml'/>", "part.xml"),
        ("<asset><mesh name='m' file='m.stl'/></asset>", "m.stl"),
        ("<asset><texture name='t' type='2d' file='t.png'/></asset>", "t.png"),
        ("<asset><hfield name='h' file='h.png' size='1 1 1 1'/></asset>", "h.png"),
        ("<asset><model name='n' file='n.xml'/></asset>", "n.xml"),
    ],
)
def test_a_git_lfs_pointer_is_named_with_the_line_that_asks_for_it(
    element: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = write(tmp_path / "scene.xml", f"<mujoco>\n{element}</mujoco>")
    pointer = write(tmp_path / name, LFS_POINTER)
    assert main(["inspect", str(scene)]) == 2
    line = f"{pointer}: a Git LFS pointer: run git lfs pull (scene.xml line 2)"
    assert capsys.readouterr().err == f"contact-viewer: {line}\n"
    with pytest.raises(SceneRefused) as refused:
        survey_scene(scene)
    # What a window watches, to try again after the pull.
    assert refused.value.files.keys() == {scene, pointer}


@pytest.mark.parametrize("suffix", [".xml", ".urdf", ".mjb"])
def test_a_scene_that_is_a_git_lfs_pointer_itself(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = write(tmp_path / f"scene{suffix}", LFS_POINTER)
    assert main(["inspect", str(scene)]) == 2
    assert capsys.readouterr().err == f"contact-viewer: {scene}: a Git LFS pointer: run git lfs pull\n"


def test_pointers_for_visuals_that_mujoco_leaves_out_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path / "v.stl", LFS_POINTER)
    robot = """<robot name="r">{}<link name="a"><visual><geometry>
      <mesh filename="v.stl"/></geometry></visual><collision><geometry>{}</geometry></collision></link></robot>"""
    keep = '<mujoco><compiler discardvisual="false"/></mujoco>'
    sphere, mesh = '<sphere radius="1"/>', '<mesh filename="v.stl"/>'
    scene = write(tmp_path / "robot.urdf", robot.format("", sphere))
    assert compiles(scene)
    assert open_safely(scene).model.ngeom == 1
    for refused in (robot.format(keep, sphere), robot.format("", mesh)):
        write(scene, refused)
        assert not compiles(scene)
        with pytest.raises(SceneRefused, match=r"v\.stl: a Git LFS pointer: .*\(robot.urdf line 2\)"):
            open_safely(scene)
