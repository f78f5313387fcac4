"""What people, accidents and attackers give to the program, and what becomes of it."""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

WORLD = '<worldbody><geom name="g" size="1"/></worldbody>'
FREE_BODY = '<body><freejoint/><geom size=".1"/></body>'


@dataclass(frozen=True)
class Input:
    """Files, one of which is opened."""

    what: str
    files: Mapping[str, str | bytes]
    words: str = ""
    """In the message of one that is refused."""
    scene: str = "scene.xml"
    sensors: int = 0
    """Of one that opens."""
    notes: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / self.scene


def one(what: str, content: str | bytes, words: str = "", sensors: int = 0, notes: tuple[str, ...] = ()) -> Input:
    """A scene in one file."""
    whole = isinstance(content, bytes) or "<mujoco" in content or "<robot" in content
    return Input(
        what, {"scene.xml": content if whole else f"<mujoco>{content!s}</mujoco>"}, words, "scene.xml", sensors, notes
    )


def sensor(attributes: str) -> str:
    return f"{WORLD}<sensor><contact {attributes}/></sensor>"


def png_bomb(size: int) -> bytes:
    """A picture of black pixels, packed a thousand to one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(1 + 3 * size)
    data = b"".join(packer.compress(row) for _ in range(size)) + packer.flush()
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def compiled(content: str = sensor('geom1="g" num="2"')) -> bytes:
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{content}</mujoco>")
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def compiled_with(place: int, value: int) -> bytes:
    """A compiled model with one 32-bit number replaced."""
    data = bytearray(compiled())
    data[place : place + 4] = struct.pack("<i", value)
    return bytes(data)


def binary(what: str, content: bytes, words: str = "", sensors: int = 0) -> Input:
    return Input(what, {"scene.mjb": content}, words, "scene.mjb", sensors)


ENTITIES = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
BOMB = f'<!DOCTYPE m [<!ENTITY a0 "ha">{ENTITIES}]><mujoco>' + sensor('name="&a9;"') + "</mujoco>"
ONE_SENSOR = "<mujoco>" + sensor('geom1="g"') + "</mujoco>"
LONG_NAME = "n" * 100_000
URDF = """<robot name="r"><link name="l"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="1"/></geometry></collision></link></robot>"""

OPENS = [
    one("an XML bomb", BOMB, sensors=1),
    one(
        "thousands of sensors",
        WORLD + "<sensor>" + "".join(f'<contact name="s{i}" geom1="g"/>' for i in range(3000)) + "</sensor>",
        sensors=3000,
    ),
    one("unicode names", sensor('name="Fuß 足 🤖 \u202e"'), sensors=1),
    one("a very long name", sensor(f'name="{LONG_NAME}"'), sensors=1),
    one("an empty name", sensor('name=""'), sensors=1),
    one("odd names", sensor('name="a/b &lt;c&gt; &quot;%s&quot; {} \\n ##x"'), sensors=1),
    one("unnamed sensors", WORLD + "<sensor>" + "<contact/>" * 3 + "</sensor>", sensors=3),
    one("a name like one of ours", sensor('name="contact_viewer/companion/7"'), sensors=1),
    one("no bodies", WORLD + '<sensor><contact geom1="g"/></sensor>', sensors=1),
    one("no geoms", "<worldbody><body><inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/></body></worldbody>"),
    one("nothing at all", "<mujoco/>"),
    one("no lights", "<visual><headlight active='0'/></visual>" + WORLD),
    Input("a URDF", {"robot.urdf": URDF}, scene="robot.urdf"),
    Input("a URDF called XML", {"scene.xml": URDF}),
    Input(
        "a path that climbs out of the folder",
        {"part.xml": f"<mujoco>{WORLD}</mujoco>", "mine/scene.xml": '<mujoco><include file="../part.xml"/></mujoco>'},
        scene="mine/scene.xml",
        notes=("reads files outside its folder: ../part.xml",),
    ),
    one(
        "a comment that is not UTF-8",
        ONE_SENSOR.replace("<mujoco>", "<mujoco><!-- Gr\xfc\xdfe -->").encode("latin-1"),
        sensors=1,
        notes=("scene.xml line 1: not UTF-8",),
    ),
    one(
        "names that are not UTF-8",
        ONE_SENSOR.replace('"g"', '"gr\xfcn"').encode("latin-1"),
        sensors=1,
        notes=("scene.xml line 1: not UTF-8",),
    ),
    one(
        "endless solver iterations",
        '<option iterations="2000000000" tolerance="0"/>' + WORLD,
        notes=("iterations lowered from 2,000,000,000 to 1,000",),
    ),
    one(
        "round shapes of many slices",
        '<visual><quality numslices="20000"/></visual>' + WORLD,
        notes=("numslices lowered from 20,000 to 256",),
    ),
    binary("a compiled model", compiled(), sensors=1),
]

REFUSED = [
    one("broken XML", "<mujoco>\n<worldbody>\n</mujoco>", "line 2: broken XML: mismatched element (worldbody)"),
    one("half a file", "<mujoco><worldbody><geom size='1", "line 1: broken XML"),
    one("no XML", "hello <mujoco", "broken XML"),
    one("random bytes", bytes(range(256)) * 100, "broken XML"),
    one("UTF-16", f"<mujoco>{WORLD}</mujoco>".encode("utf-16"), "broken XML"),
    one("an empty file", b"", "the file is empty"),
    one("a file of spaces", b"   \n", "empty document"),
    one("a wrong root", "<robots><mujoco/></robots>", "Unrecognized XML model type: 'robots'"),
    Input(
        "broken XML in an include",
        {"scene.xml": '<mujoco>\n<include file="p.xml"/></mujoco>', "p.xml": "<mujoco>\n\n<worldbody></mujoco>"},
        "p.xml line 3: broken XML: mismatched element (worldbody) (included by scene.xml line 2)",
    ),
    Input(
        "an error in an include",
        {
            "scene.xml": '<mujoco>\n\n<include file="p.xml"/>\n</mujoco>',
            "p.xml": '<mujoco>\n<worldbody>\n<geom size="1"/>\n<geom sise="1"/></worldbody></mujoco>',
        },
        "p.xml line 4: Schema violation: unrecognized attribute: 'sise' (geom)",
    ),
    Input(
        "a compiler's error in an include",
        {
            "scene.xml": '<mujoco>\n\n<include file="p.xml"/>\n</mujoco>',
            "p.xml": '<mujoco>\n<worldbody>\n\n<geom name="a" size="0"/></worldbody></mujoco>',
        },
        "p.xml line 4: size 0 must be positive in geom (a)",
    ),
    one("a recursive include", '<include file="scene.xml"/>', "includes or nests itself: scene.xml > scene.xml"),
    Input(
        "mutual includes",
        {
            "scene.xml": '<mujoco><include file="b.xml"/></mujoco>',
            "b.xml": '<mujoco><include file="scene.xml"/></mujoco>',
        },
        "includes or nests itself: scene.xml > b.xml > scene.xml",
    ),
    Input(
        "deep includes",
        {f"{i or 'scene'}.xml": f'<mujoco><include file="{i + 1}.xml"/></mujoco>' for i in range(3000)},
        "includes or nested models more than 200 deep, at 200.xml",
    ),
    one("a missing include", '\n<include file="gone.xml"/>', "no such file: gone.xml (scene.xml line 2)"),
    one(
        "a name that no terminal should see",
        '<include file="a&#10;b&#27;[31m&#x202e;c.xml"/>',
        "no such file: a b [31m c.xml (scene.xml line 1)",
    ),
    one("a name that is no text", b'<mujoco><include file="\xff.xml"/></mujoco>', "no such file: ?.xml"),
    one(
        "an error in what is no text",
        b'<mujoco><worldbody>\n<geom na\xffe="a"/></worldbody></mujoco>',
        "an error, scene.xml line 2: not UTF-8",
    ),
    one("a model that names itself", '<asset><model file="scene.xml"/></asset>', "nests itself: scene.xml > scene.xml"),
    Input(
        "models that name each other",
        {
            "scene.xml": '<mujoco><asset><model file="b.xml"/></asset></mujoco>',
            "b.xml": '<mujoco><asset><model file="scene.xml"/></asset></mujoco>',
        },
        "nests itself: scene.xml > b.xml > scene.xml",
    ),
    Input(
        "models that multiply",
        {
            f"{'scene' if i == 40 else i}.xml": f"""<mujoco>
                <asset><model name="m" file="{i - 1}.xml"/></asset><worldbody><body name="b">
                <frame><attach model="m" body="b" prefix="x"/></frame>
                <frame><attach model="m" body="b" prefix="y"/></frame></body></worldbody></mujoco>"""
            for i in range(1, 41)
        }
        | {"0.xml": '<mujoco><worldbody><body name="b"><geom size="1"/></body></worldbody></mujoco>'},
        "scene.xml: ",
    ),
    one("a missing mesh", '<asset>\n<mesh name="m" file="m.stl"/></asset>', "no such file: m.stl (scene.xml line 2)"),
    one("a missing texture", '<asset><texture type="2d" name="t" file="t.png"/></asset>', "no such file: t.png"),
    Input(
        "a mesh that is a folder",
        {"scene.xml": '<mujoco><asset><mesh name="m" file="m.stl"/></asset></mujoco>', "m.stl/x": ""},
        "m.stl is not a regular file (scene.xml line 1)",
    ),
    one("a device", '<asset><texture type="2d" name="t" file="/dev/zero"/></asset>', "/dev/zero is not a regular file"),
    one("a geom of no size", "\n<worldbody>\n<geom size='0'/></worldbody>", "line 3: size 0 must be positive in geom"),
    one(
        "an attribute that is not a number",
        '<worldbody><body name="b" pos="0 nan 0"><geom size="1"/></body></worldbody>',
        "body_pos of body b is not a finite number",
    ),
    one("an infinite attribute", '<worldbody><geom name="g" size="inf"/></worldbody>', "geom_size of geom g is not"),
    one("gravity that is not a number", '<option gravity="0 0 nan"/>' + WORLD, "gravity of option is not a finite"),
    one("num of a billion", "\n" + sensor('num="1000000000"'), "scene.xml line 2: num='1000000000'; at most 200,000"),
    one("num of ten million", sensor('num="10000000"'), "num='10000000'; at most 200,000 contacts can be shown"),
    one(
        "many sensors of large num",
        WORLD + "<sensor>" + '<contact num="100000"/>' * 3 + "</sensor>",
        "num is 300,000 in all; at most 200,000",
    ),
    one(
        "very many sensors, hidden ones not counted",
        WORLD + "<sensor>" + '<contact num="2100"/>' * 100 + "</sensor>",
        "num is 210,000 in all; at most 200,000",
    ),
    one("a num that is no number", "\n" + sensor('num="many"'), "line 2: problem reading attribute 'num' (contact)"),
    one(
        "a name given twice",
        "<worldbody>\n<geom name='a' size='1'/>\n<geom name='a' size='1'/></worldbody>",
        "line 3: repeated name 'a' in geom",
    ),
    one("a target that is not there", "\n" + sensor('name="s" geom1="nobody"'), "line 2: "),
    *(
        one(f"a timestep of {value}", f'<option timestep="{value}"/>' + WORLD, f"timestep is {value} s")
        for value in ("0", "-1", "nan", "inf", "1e-30")
    ),
    one(
        "a replicate bomb",
        f'<worldbody><replicate count="100000">{FREE_BODY}</replicate></worldbody>',
        "scene.xml line 1: count='100000'; MuJoCo needs hours for replicate",
    ),
    one(
        "replicates within each other",
        "<worldbody>" + '<replicate count="20">' * 4 + FREE_BODY + "</replicate>" * 4 + "</worldbody>",
        "scene.xml: ",
    ),
    one("25,000 free bodies", f"<worldbody>{FREE_BODY * 25_000}</worldbody>", "suspected: 1.1 MB of XML"),
    one(
        "a flex of eight million points",
        '<worldbody><body name="b"><flexcomp name="f" type="grid" count="200 200 200" spacing=".1 .1 .1" dim="3"/>'
        "</body></worldbody>",
        "needs more than 1.5 GB of memory",
    ),
    one(
        "nkey of a hundred million", '<size nkey="100000000"/>' + WORLD, "nkey='100000000'; MuJoCo needs hours for size"
    ),
    one(
        "an endless search for the length of a muscle",
        '<compiler><lengthrange inttotal="1000000000"/></compiler><worldbody><body><joint name="j" limited="true" '
        'range="-1 1"/><geom size=".1"/></body></worldbody><actuator><muscle joint="j"/></actuator>',
        "stopped after 5 s of compiling; suspected: a lengthrange element",
    ),
    one(
        "a texture bomb",
        '<asset><texture name="t" type="2d" builtin="flat" width="30000" height="30000"/></asset>',
        "needs more than 1.5 GB of memory",
    ),
    Input(
        "a picture bomb",
        {
            "scene.xml": '<mujoco><asset><texture name="t" type="2d" file="t.png"/></asset></mujoco>',
            "t.png": png_bomb(16_000),
        },
        "suspected: 256,000,000 pixels in t.png",
    ),
    one("a terabyte of workspace", '<size memory="1T"/>', "needs more than 1.5 GB of memory"),
    one("a workspace of nothing", '<size memory="1K"/><worldbody>' + FREE_BODY * 50 + "</worldbody>", "scene.xml: "),
    binary("a compiled model of another version", compiled_with(12, 3001007), "compiled by MuJoCo 3.1.7"),
    binary("a compiled model of an old version", compiled_with(12, 335), "compiled by MuJoCo 3.3.5"),
    binary("a compiled model of another kind", compiled_with(0, 1), "not a compiled MuJoCo model"),
    binary("half a compiled model", compiled()[:2000], "damaged compiled model: "),
    binary("a compiled model with a tail", compiled() + b"tail", "damaged compiled model: "),
    binary("the head of a compiled model", compiled()[:10], "it is cut off"),
    binary("a compiled model of absurd sizes", compiled_with(24, 2**30), "scene.mjb: "),
    binary("text called a compiled model", b"<mujoco/>" * 9, "not a compiled MuJoCo model"),
]
