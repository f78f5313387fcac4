"""Tells from the first bytes of a file what is in it: the size of a picture, the version of a compiled model."""

import struct
from pathlib import Path

import mujoco

from ..errors import SceneError
from .xml_tags import read_bytes

ASSET_SIZE_MAX = 2**31 - 1
"""Longest file that MuJoCo can read [bytes]."""
_MJB_ID = 54321
_PNG = b"\x89PNG\r\n\x1a\n"


def png_pixels(path: Path) -> int:
    """Pixels of a PNG, by its header; 0 for other files, which are no smaller than what they hold."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError:
        return 0
    if len(head) < 24 or not head.startswith(_PNG):
        return 0
    width, height = struct.unpack(">2I", head[16:24])
    return int(width) * int(height)


def check_compiled(path: Path) -> None:
    """The head of a compiled model, of which MuJoCo itself says no more than that it failed."""
    head = read_bytes(path, ASSET_SIZE_MAX, "compiled model", count=20)
    if len(head) < 20:
        raise SceneError(f"{path}: not a compiled MuJoCo model: it is cut off")
    numbers = struct.unpack("<5i", head)
    if numbers[0] != _MJB_ID:
        raise SceneError(f"{path}: not a compiled MuJoCo model")
    if numbers[3] != mujoco.mj_version():
        raise SceneError(
            f"{path}: compiled by MuJoCo {_version_text(numbers[3])}, which MuJoCo {mujoco.__version__} cannot read; "
            "open the scene it was compiled from"
        )


def _version_text(number: int) -> str:
    if number >= 1_000_000:
        return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    # Earlier, a version was three digits.
    return ".".join(str(number)) if 100 <= number <= 999 else f"version {number}"
