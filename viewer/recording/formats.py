"""File name to the kind of file: container, codecs, and what they can show."""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from .errors import RecordingError

_VIDEO = (1280, 720)
_ANIMATION = (640, 360)


@dataclass(frozen=True)
class Codec:
    """One way to encode a video."""

    name: str
    """As FFmpeg calls it."""
    pixel_format: str = "yuv420p"
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A kind of file that pictures are recorded to."""

    name: str
    """For people."""
    suffix: str
    """Empty for a folder of pictures."""
    container: str | None = None
    """FFmpeg's muxer; None where no video is encoded."""
    codecs: tuple[Codec, ...] = ()
    """The first that this machine has is used."""
    muxer_options: dict[str, str] = field(default_factory=dict)
    fps: int = 60
    """Frames per second unless asked otherwise."""
    fps_max: int = 1000
    size: tuple[int, int] = _VIDEO
    """Width and height unless asked otherwise [px]."""
    size_max: int = 16384
    even: bool = False
    """Width and height must be even: colour is stored for blocks of 2 x 2 pixels."""
    last_only: bool = False
    """Holds one picture, the last."""


# x264's presets: veryfast gives smaller files than superfast by two thirds and hardly costs more than rendering leaves
# idle; slower ones gain nothing on rendered pictures.
_H264 = (
    Codec("libx264", options={"preset": "veryfast", "crf": "18"}),
    Codec("h264_videotoolbox", options={"q": "65"}),
    Codec("libopenh264", options={"b": "12M"}),
    Codec("h264_mf", "nv12", {"quality": "90"}),
)
_VP = (
    Codec("libvpx-vp9", options={"crf": "28", "b": "0", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"}),
    Codec("libvpx", options={"crf": "8", "b": "8M", "deadline": "realtime", "cpu-used": "6"}),
)
_WEBP = (Codec("libwebp_anim", options={"quality": "85", "compression_level": "3"}),)

MP4 = Format("H.264 video", ".mp4", "mp4", _H264, {"movflags": "+faststart"}, even=True)
WEBM = Format("WebM video", ".webm", "webm", _VP)
# Browsers show delays below 2 hundredths of a second as 10.
GIF = Format("GIF animation", ".gif", "gif", (Codec("gif", "pal8"),), fps=25, fps_max=50, size=_ANIMATION)
WEBP = Format("WebP animation", ".webp", "webp", _WEBP, {"loop": "0"}, fps=30, size=_ANIMATION, size_max=16383)
PNG = Format("picture", ".png", last_only=True)
FOLDER = Format("folder of pictures", "")
FORMATS = (MP4, WEBM, GIF, WEBP, PNG, FOLDER)


def format_of(path: str | Path) -> Format:
    """The format that a name asks for; a name without a suffix, or that of a folder, asks for a folder."""
    name = str(path)
    suffix = Path(name).suffix.lower()
    if name.endswith(("/", "\\")) or Path(name).is_dir() or not suffix:
        return FOLDER
    for candidate in FORMATS:
        if candidate.suffix == suffix:
            return candidate
    known = ", ".join(candidate.suffix for candidate in FORMATS if candidate.suffix)
    raise RecordingError(f"{name}: unknown suffix {suffix!r}; record to {known}, or a folder")


def check_rate(kind: Format, fps: Fraction) -> None:
    """Refuse a rate that players of the format do not show."""
    if fps > kind.fps_max:
        raise RecordingError(f"a {kind.name} shows at most {kind.fps_max} frames a second, not {float(fps):g}")


def check_size(kind: Format, size: tuple[int, int]) -> None:
    """Refuse a size that the format cannot hold."""
    if min(size) < (2 if kind.even else 1) or max(size) > kind.size_max:
        raise RecordingError(f"{size[0]} x {size[1]} pixels cannot be a {kind.name}; at most {kind.size_max} each way")


def even_size(kind: Format, size: tuple[int, int]) -> tuple[int, int]:
    """The nearest size above that the format can hold."""
    return (size[0] + size[0] % 2, size[1] + size[1] % 2) if kind.even else size
