"""What recorded files hold, by the word of programs that did not write them."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from contact_viewer.cli import main
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

BALL = """<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <light pos="0 0 3" dir="0 0 -1"/>
    <geom name="floor" type="plane" size="2 2 .1" rgba=".4 .4 .4 1"/>
    <body name="ball" pos="0 0 .12"><freejoint/><geom name="ball" size=".1" mass="1" rgba=".7 .5 .3 1"/></body>
  </worldbody>
  <keyframe><key name="later" time="2.5" qpos="0 0 .1 1 0 0 0"/></keyframe>
  <sensor><contact name="touch" geom1="floor" geom2="ball" num="2" data="found force"/></sensor>
</mujoco>"""
"""A ball that drops two centimetres onto a floor and stays there."""

DIVERGING = """<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="1 0 1"><joint type="hinge" axis="0 1 0" stiffness="-80"/><geom size=".1" pos=".2 0 0" mass="1"/></body>
  </worldbody>
  <sensor><contact name="touch" num="2" data="found"/></sensor>
</mujoco>"""
"""A spring that pushes away from its rest: unstable after about half a second."""


def probe(path: Path) -> dict[str, Any]:
    """The video stream as ffprobe sees it, frames counted by decoding."""
    command = ["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_streams", "-of", "json"]
    result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    stream: dict[str, Any] = json.loads(result.stdout)["streams"][0]
    return stream


def decode(path: Path, size: tuple[int, int]) -> Picture:
    """All pictures of a video, (frames, height, width, 3), decoded by ffmpeg."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-vsync", "0", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, size[1], size[0], 3)


def record(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """`contact-viewer record`, in a process of its own that has no display."""
    return contact_viewer("record", *arguments, **options)


def contact_viewer(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, env=headless(), check=False, **options)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "contact_viewer", *map(str, arguments)]


def headless() -> dict[str, str]:
    """The environment without a display, and without a say in how OpenGL is found."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def leftovers(folder: Path) -> list[str]:
    """Hidden files that a recording left behind."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def color_counts(pictures: Picture) -> dict[str, int]:
    """Pixels that are clearly white, green, red or blue."""
    red, green, blue = (pictures[..., i].astype(int) for i in range(3))
    masks = {
        "white": (red > 220) & (green > 220) & (blue > 220),
        "green": (green > red + 60) & (green > blue + 60),
        "red": (red > green + 70) & (red > blue + 70),
        "blue": (blue > red + 70) & (blue > green + 50),
    }
    return {name: int(mask.sum()) for name, mask in masks.items()}


def gradient(width: int, height: int, number: int = 0) -> Picture:
    """A picture in which every place, and every number, looks different."""
    picture = np.empty((height, width, 3), np.uint8)
    picture[..., 0] = np.linspace(0, 255, width)[None, :]
    picture[..., 1] = np.linspace(0, 255, height)[:, None]
    picture[..., 2] = (number * 40) % 256
    return picture


def stripes(width: int, height: int, number: int = 0) -> Picture:
    """Sixteen colours side by side, in another order for every number."""
    palette = np.array([(40 + 50 * (i % 4), 60 + 45 * (i // 4), 200 - 12 * i) for i in range(16)], np.uint8)
    columns = (np.arange(width) * 16 // width + number) % 16
    return np.broadcast_to(palette[columns], (height, width, 3)).copy()


def export(path: Path, scene: str | Path, *arguments: object) -> Path:
    assert main(["export", str(scene), "-o", str(path), *map(str, arguments)]) == 0
    assert leftovers(path.parent) == []
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Empty where a number is not known.
    return [{name: "" if text == "NaN" else text for name, text in row.items()} for row in rows]


def run_on_small_disk(tmp_path: Path, size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that writes into `tmp_path / "disk"`, a disk of `size` bytes; its files are in there afterwards."""
    disk, files = tmp_path / "disk", tmp_path / "files"
    disk.mkdir()
    files.mkdir()
    # A file system of its own, which only this command sees.
    script = 'mount -t tmpfs -o size="$1" none "$2" && shift && disk="$1" && files="$2" && shift 2 && "$@"'
    script += '; code=$?; cp -a "$disk/." "$files" && exit $code'
    whole = ["unshare", "-rm", "sh", "-c", script, "sh", str(size), str(disk), str(files), *arguments]
    result = subprocess.run(whole, capture_output=True, text=True, env=headless(), check=False, timeout=120)
    disk.rmdir()
    files.rename(disk)
    return result
