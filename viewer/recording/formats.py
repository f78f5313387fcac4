"""Finds the format of a file name: container, codecs, and their limits."""

import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ..errors import RecordingError

_VIDEO = (1280, 720)
_ANIMATION = (640, 360)


@dataclass(frozen=True)
class Codec:
    """Codec and options to encode a video."""

    name: str
    """Name of the codec in FFmpeg."""
    pixel_format: str = "yuv420p"
    options: dict[str, str] = field(default_factory=dict)

    @property
    def is_yuv(self) -> bool:
        """True if the codec stores brightness and colour separately, by a matrix that we choose."""
        return self.pixel_format in ("yuv420p", "nv12")


@dataclass(frozen=True)
class Format:
    """A kind of file that pictures are recorded to."""

    name: str
    """Name of the format for messages."""
    suffix: str
    """Suffix of the file name; empty for a folder of pictures."""
    container: str | None = None
    """Name of FFmpeg's muxer; None if no video is encoded."""
    codecs: tuple[Codec, ...] = ()
    """Codecs, of which the first one that this machine has is used."""
    muxer_options: dict[str, str] = field(default_factory=dict)
    fps: int = 60
    """Default number of frames per second."""
    fps_max: int = 1000
    size: tuple[int, int] = _VIDEO
    """Default width and height [px]."""
    size_max: int = 8192
    """Largest width and height [px]."""
    pixels_max: int = 8192 * 4320
    """Largest number of pixels in a picture, that of 8K: encoders hold dozens of pictures in memory."""
    even: bool = False
    """True if width and height must be even: colour is stored for blocks of 2 x 2 pixels."""
    last_only: bool = False
    """True if the file holds only the last picture."""


# x264's presets: veryfast gives smaller files than superfast by two thirds and hardly costs more than rendering leaves
# idle; slower ones gain nothing on rendered pictures. Nor does the finest search for motion between pixels, a third of
# its time: without it, and as sharp, files are a sixth larger.
_H264 = (
    Codec("libx264", options={"preset": "veryfast", "crf": "17.5", "x264-params": "subme=1"}),
    Codec("h264_videotoolbox", options={"q": "65"}),
    Codec("libopenh264", options={"b": "12M"}),
    Codec("h264_mf", "nv12", {"quality": "90"}),
)
_VP = (
    Codec("libvpx-vp9", options={"crf": "28", "b": "0", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"}),
    Codec("libvpx", options={"crf": "8", "b": "8M", "deadline": "realtime", "cpu-used": "6"}),
)
# WebP fixes its own colour matrix, so it is given RGB.
_WEBP = (Codec("libwebp_anim", "bgra", options={"quality": "85", "compression_level": "3"}),)

MP4 = Format("video (H.264)", ".mp4", "mp4", _H264, {"movflags": "+faststart"}, even=True)
WEBM = Format("video (WebM)", ".webm", "webm", _VP)
# Browsers show delays below 2 hundredths of a second as 10.
GIF = Format("GIF animation", ".gif", "gif", (Codec("gif", "pal8"),), fps=25, fps_max=50, size=_ANIMATION)
WEBP = Format("WebP animation", ".webp", "webp", _WEBP, {"loop": "0"}, fps=30, size=_ANIMATION)
PNG = Format("picture", ".png", pixels_max=8192 * 8192, last_only=True)
FOLDER = Format("folder of pictures", "")
FORMATS = (MP4, WEBM, GIF, WEBP, PNG, FOLDER)


def format_of(path: str | Path) -> Format:
    """Return the format of a path; a path without a suffix, or of a folder, is a folder of images."""
    name = str(path)
    if not name.strip():
        raise RecordingError("the name of the file to record to is empty")
    if any(Path(name).name.lower() == candidate.suffix for candidate in FORMATS):
        raise RecordingError(f"{name}: a name is missing before the suffix")
    suffix = Path(name).suffix.lower()
    if name.endswith(("/", "\\")) or os.path.isdir(name) or not suffix:
        return FOLDER
    for candidate in FORMATS:
        if candidate.suffix == suffix:
            return candidate
    known = ", ".join(candidate.suffix for candidate in FORMATS if candidate.suffix)
    raise RecordingError(f"{name}: unknown suffix {suffix!r}; record to {known}, or a folder")


def check_rate(kind: Format, fps: Fraction) -> None:
    """Raise RecordingError for a frame rate that players of the format cannot show."""
    if fps > kind.fps_max:
        raise RecordingError(f"{float(fps):g} frames a second are too many for a {kind.name}: at most {kind.fps_max}")


def check_size(kind: Format, size: tuple[int, int]) -> None:
    """Raise RecordingError for a size [px] that the format, or a machine's memory, cannot hold."""
    width, height = size
    if min(size) < (2 if kind.even else 1):
        raise RecordingError(f"{width}x{height} is too small for a {kind.name}")
    if max(size) > kind.size_max or width * height > kind.pixels_max:
        raise RecordingError(
            f"{width}x{height} is too large for a {kind.name}: "
            f"at most {kind.size_max} pixels wide or high, and {kind.pixels_max // 1_000_000} million in all"
        )


def even_size(kind: Format, size: tuple[int, int]) -> tuple[int, int]:
    """Return a size [px], rounded up to even numbers if the format needs them."""
    return (size[0] + size[0] % 2, size[1] + size[1] % 2) if kind.even else size
