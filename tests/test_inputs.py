"""Whatever is given to the program: it opens and works, or ends in one line that names the problem and exit code 2."""

import ctypes
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.cli import main
from contact_viewer.engines import compiling
from contact_viewer.engines.errors import SceneError
from contact_viewer.engines.loading import find_scene
from contact_viewer.engines.mujoco_engine import MujocoEngine
from contact_viewer.engines.vetting import open_safely

WORLD = '<worldbody><geom name="g" size="1"/></worldbody>'
FREE_BODY = '<body><freejoint/><geom size=".1"/></body>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "DEFAULT_LIMITS", compiling.Limits(time=5, memory=1_500_000_000))


@pytest.fixture(autouse=True)
def checked_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.cli.inspect.load_scene", open_safely, raising=False)


@dataclass(frozen=True)
class Input:
    """Files, of which `scene.xml` or the one named is opened."""

    what: str
    files: dict[str, str | bytes]
    words: str = ""
    """In the message of one that is refused."""
    scene: str = "scene.xml"
    sensors: int = 0
    notes: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / self.scene


def one(what: str, content: str | bytes, words: str = "", sensors: int = 0, notes: tuple[str, ...] = ()) -> Input:
    """A scene in one file; text that is no root element stands inside one."""
    if isinstance(content, str) and "<mujoco" not in content and "<robot" not in content:
        content = f"<mujoco>{content}</mujoco>"
    return Input(what, {"scene.xml": content}, words, sensors=sensors, notes=notes)


def sensor(attributes: str) -> str:
    return f"{WORLD}<sensor><contact {attributes}/></sensor>"


def png_bomb(size: int) -> bytes:
    """A picture of black pixels that packs a thousand to one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(1 + 3 * size)
    data = b"".join(packer.compress(row) for _ in range(size)) + packer.flush()
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def compiled_model(change: Callable[[bytearray], object]) -> bytes:
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{sensor('geom1="g"' if False else 'geom1=' + repr('g'))}</mujoco>")
    data = np_buffer(model)
    change(data)
    return bytes(data)


def np_buffer(model: object) -> bytearray:
    import numpy as np

    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return bytearray(buffer.tobytes())
