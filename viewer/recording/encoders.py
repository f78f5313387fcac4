"""Writes pictures to files, with one encoder for each kind of file."""

import os
import re
from fractions import Fraction
from pathlib import Path
from typing import IO

import av
import numpy as np
from av.filter import Graph
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL import Image

from ..errors import RecordingError, write_error
from ..files import PartFile
from .formats import FOLDER, GIF, PNG, WEBP, Codec, Format

Picture = NDArray[np.uint8]
"""RGB, (height, width, 3), top row first; in memory, rows may be bottom up, and pixels may have alpha."""
BT709 = 1
"""FFmpeg's number of BT.709, as matrix, primaries and transfer: players assume it for pictures of these sizes."""
_SPARE = 1 << 21
"""Room for encoded pictures that an encoder has not written yet [bytes]."""
_INDEX_SIZE = 64
"""Size of a frame's entry in a video's index, which is written last [bytes]."""
_MEASURED = 10
"""Interval between two measurements of a picture's size [pictures of an animation]."""
_KEY_SECONDS = 2
"""Time between two key frames, which a player can jump to [s]."""


class Encoder:
    """Base of encoders, which write pictures of one size, in order."""

    def write(self, picture: Picture, count: int = 1) -> None:
        """Add a picture, shown for `count` frames."""
        raise NotImplementedError

    def close(self) -> None:
        """Complete the file."""

    def abort(self) -> None:
        """Close the file in its present state. Safe at any time."""


def open_encoder(kind: Format, file: PartFile, size: tuple[int, int], fps: Fraction) -> Encoder:
    """Return an encoder that writes a kind of file."""
    if kind is PNG:
        return StillEncoder(file)
    if kind is FOLDER:
        return FolderEncoder(file)
    if kind is GIF:
        return GifEncoder(file, size, fps)
    if kind is WEBP:
        return WebpEncoder(file, kind, size, fps)
    return VideoEncoder(file, kind, size, fps)


def spare_room(kind: Format, size: tuple[int, int]) -> int:
    """Return the bytes needed to complete a file on a full disk: buffered frames of the encoder, and the end of the
    file."""
    return 0 if kind is PNG else _SPARE + 3 * size[0] * size[1]


class VideoEncoder(Encoder):
    """Encoder that writes a video or animation as pictures arrive."""

    def __init__(self, file: PartFile, kind: Format, size: tuple[int, int], fps: Fraction) -> None:
        codec = _available(kind)
        self._file = file
        self._spare = spare_room(kind, size)
        self._pixel_format = codec.pixel_format
        self._reformatter = VideoReformatter()
        self._frames = 0
        self._stream_file = file.open()
        self._container = av.open(self._stream_file, "w", format=kind.container, options=dict(kind.muxer_options))
        try:
            self._stream = _add_stream(self._container, codec, size, fps)
            context = self._stream.codec_context
            context.gop_size = max(1, round(_KEY_SECONDS * fps))
            # The other half is left to the renderer.
            context.thread_count = max(1, (os.cpu_count() or 1) // 2)
            if codec.is_yuv:
                context.colorspace = context.color_primaries = context.color_trc = BT709
                context.color_range = ColorRange.MPEG
            context.open()
        except BaseException:
            self.abort()
            raise
        self._colors = {"dst_colorspace": Colorspace.ITU709, "dst_color_range": ColorRange.MPEG} if codec.is_yuv else {}

    def write(self, picture: Picture, count: int = 1) -> None:
        frame = rgb_frame(picture)
        frame = self._reformatter.reformat(frame, format=self._pixel_format, **self._colors)
        for _ in range(count):
            frame.pts = self._frames
            self._frames += 1
            self._container.mux(self._stream.encode(frame))
        self._file.reserve(self._spare + _INDEX_SIZE * self._frames)

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        self.abort()

    def abort(self) -> None:
        try:
            self._container.close()
        finally:
            self._stream_file.close()


class WebpEncoder(VideoEncoder):
    """Encoder that holds an animation in memory until its end, and meanwhile reserves room for it on the disk."""

    def __init__(self, file: PartFile, kind: Format, size: tuple[int, int], fps: Fraction) -> None:
        super().__init__(file, kind, size, fps)
        self._options = dict(_available(kind).options)
        self._pictures = self._picture_size = 0

    def write(self, picture: Picture, count: int = 1) -> None:
        # Most take less, because only what has changed is stored.
        if self._pictures % _MEASURED == 0:
            self._picture_size = self._measure(picture)
        self._pictures += 1
        self._spare += self._picture_size
        super().write(picture, count)

    def _measure(self, picture: Picture) -> int:
        """Return the size of a frame that is encoded alone [bytes]."""
        frame = rgb_frame(picture).reformat(format=self._pixel_format)
        context = av.VideoCodecContext.create("libwebp", "w")
        context.width, context.height, context.pix_fmt = frame.width, frame.height, self._pixel_format
        context.time_base, context.options = Fraction(1), self._options
        return sum(packet.size for packet in [*context.encode(frame), *context.encode(None)])


class StillEncoder(Encoder):
    """Encoder that writes only the last picture."""

    def __init__(self, file: PartFile) -> None:
        self._path = file.part
        self._picture: Picture | None = None

    def write(self, picture: Picture, count: int = 1) -> None:
        self._picture = picture

    def close(self) -> None:
        if self._picture is not None:
            save_png(self._path, self._picture)


class FolderEncoder(Encoder):
    """Encoder that writes one numbered image per frame."""

    def __init__(self, file: PartFile) -> None:
        self._file = file
        self._frames = 0

    def write(self, picture: Picture, count: int = 1) -> None:
        for _ in range(count):
            with self._file.open(f"/frame-{self._frames:06d}.png") as file:
                # Zlib's fastest level: a slower one would take longer than rendering does.
                save_png(file, picture, compress_level=1)
            self._frames += 1

    @staticmethod
    def owns(path: Path) -> bool:
        """Return True if a folder holds frames of an earlier recording, or nothing."""
        try:
            return all(re.fullmatch(r"frame-\d{6,}\.png", name) for name in os.listdir(path))
        except OSError as error:
            raise write_error(path, error) from None


def rgb_frame(picture: Picture) -> av.VideoFrame:
    """Return pixels as a frame of FFmpeg."""
    # Pixels that are stored with alpha are passed on with it: 1280 x 720 take 0.3 ms, without it 10 ms.
    pixels = with_alpha(picture)
    if pixels is None:
        pixels = picture
    height, width, size = pixels.shape
    frame = av.VideoFrame(width, height, "rgb0" if size == 4 else "rgb24")
    plane = frame.planes[0]
    # Straight into the frame: pictures come upside down, and a copy less is a millisecond.
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    rows[:height, : size * width] = pixels.reshape(height, size * width)
    return frame


def with_alpha(picture: Picture) -> Picture | None:
    """Return the pixels with their alpha, (height, width, 4), if they are stored with alpha; else None."""
    if picture.strides[1:] != (4, 1):
        return None
    return np.lib.stride_tricks.as_strided(picture, (*picture.shape[:2], 4), picture.strides, writeable=False)


def fitted(picture: Picture, size: tuple[int, int]) -> Picture:
    """Return a picture fitted to a width and height: an odd last pixel is cut off; other sizes are scaled, with black
    borders."""
    (width, height), (rows, columns) = size, picture.shape[:2]
    if columns - width in (0, 1) and rows - height in (0, 1):
        return picture[:height, :width]
    factor = min(width / columns, height / rows)
    inner = max(1, round(columns * factor)), max(1, round(rows * factor))
    frame = rgb_frame(picture).reformat(*inner, "rgb24", interpolation="AREA" if factor < 1 else "BICUBIC")
    framed = np.zeros((height, width, 3), np.uint8)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    framed[top : top + inner[1], left : left + inner[0]] = frame.to_ndarray()
    return framed


def save_png(file: Path | IO[bytes], picture: Picture, compress_level: int = 6) -> None:
    """Write a PNG image to a file, whatever its suffix is."""
    Image.fromarray(np.ascontiguousarray(picture)).save(file, format="PNG", compress_level=compress_level)


def _available(kind: Format) -> Codec:
    for codec in kind.codecs:
        try:
            av.codec.Codec(codec.name, "w")
        except ValueError:
            continue
        return codec
    names = ", ".join(codec.name for codec in kind.codecs)
    raise RecordingError(f"this PyAV cannot encode a {kind.name} ({names})")


_SPOOL_CODEC = Codec("ffv1", "bgr0")
"""Lossless codec that is part of every FFmpeg."""


class GifEncoder(Encoder):
    """Encoder that spools pictures to a lossless video, and makes the animation of it once all colours are known.

    A palette for each picture would flicker, and the first picture's palette would lack colours of later contacts.
    """

    def __init__(self, file: PartFile, size: tuple[int, int], fps: Fraction) -> None:
        self._file = file
        self._spare = spare_room(GIF, size)
        self._size = size
        self._fps = fps
        self._frames = 0
        self._spool_file = file.open_unnamed()
        self._spool = av.open(self._spool_file, "w", format="matroska")
        self._stream = _add_stream(self._spool, _SPOOL_CODEC, size, fps)
        self._palette = Graph()
        source = self._add_source(self._palette)
        maker = self._palette.add("palettegen", "reserve_transparent=0:stats_mode=full")
        sink = self._palette.add("buffersink")
        source.link_to(maker)
        maker.link_to(sink)
        self._palette.configure()

    def write(self, picture: Picture, count: int = 1) -> None:
        frame = rgb_frame(picture).reformat(format=_SPOOL_CODEC.pixel_format)
        frame.time_base = 1 / self._fps
        frame.pts = self._frames
        self._palette.push(frame)
        for _ in range(count):
            frame.pts = self._frames
            self._frames += 1
            self._spool.mux(self._stream.encode(frame))
        # The animation is written while the spool is there. Its colours are fewer, and so are its bytes.
        self._file.reserve(self._spare + self._spool_file.tell())

    def close(self) -> None:
        try:
            self._spool.mux(self._stream.encode(None))
            self._spool.close()
            self._palette.push(None)
            palette = self._palette.pull()
            assert isinstance(palette, av.VideoFrame)
            self._convert(palette)
        finally:
            self._spool_file.close()

    def abort(self) -> None:
        try:
            self._spool.close()
        finally:
            self._spool_file.close()

    def _convert(self, palette: av.VideoFrame) -> None:
        graph = Graph()
        source = self._add_source(graph)
        palette_source = graph.add_buffer(
            width=palette.width, height=palette.height, format=palette.format, time_base=1 / self._fps
        )
        # Ordered dither stays where it is from frame to frame: what rests does not crawl, and costs no bytes.
        painter = graph.add("paletteuse", "dither=bayer:bayer_scale=4:diff_mode=rectangle")
        sink = graph.add("buffersink")
        source.link_to(painter, 0, 0)
        palette_source.link_to(painter, 0, 1)
        painter.link_to(sink)
        graph.configure()
        palette_source.push(palette)
        palette_source.push(None)
        self._spool_file.seek(0)
        with (
            av.open(self._spool_file, "r") as spool,
            self._file.open() as file,
            av.open(file, "w", format="gif", options={"loop": "0"}) as animation,
        ):
            stream = _add_stream(animation, GIF.codecs[0], self._size, self._fps)
            for number, frame in enumerate(spool.decode(video=0)):
                frame.pts, frame.time_base = number, 1 / self._fps
                source.push(frame)
                painted = sink.pull()
                assert isinstance(painted, av.VideoFrame)
                painted.pts, painted.time_base = number, 1 / self._fps
                animation.mux(stream.encode(painted))
            animation.mux(stream.encode(None))

    def _add_source(self, graph: Graph) -> "av.filter.FilterContext":
        width, height = self._size
        return graph.add_buffer(
            width=width, height=height, format=av.VideoFormat(_SPOOL_CODEC.pixel_format), time_base=1 / self._fps
        )


def _add_stream(
    container: av.container.OutputContainer, codec: Codec, size: tuple[int, int], fps: Fraction
) -> VideoStream:
    stream = container.add_stream(codec.name, rate=fps, options=dict(codec.options))
    assert isinstance(stream, VideoStream)
    context = stream.codec_context
    context.width, context.height = size
    context.pix_fmt = codec.pixel_format
    context.time_base = 1 / fps
    return stream
