"""Pictures to a GIF animation with one palette made for all of them."""

from fractions import Fraction
from pathlib import Path

import av
from av.filter import Graph
from av.video.stream import VideoStream

from .encoders import Picture, rgb_frame

_SPOOL_CODEC, _SPOOL_PIXELS = "ffv1", "bgr0"
"""Lossless, and part of every FFmpeg."""


class GifEncoder:
    """Spools pictures to a lossless video beside the file; once all colours are known, that becomes the animation.

    A palette of each picture's own would flicker, and one of the first picture's would miss contacts that come later.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: Fraction) -> None:
        self._path = path
        self._size = size
        self._fps = fps
        self._frames = 0
        self._spool_path = path.with_name(f"{path.name}.spool")
        self._spool = av.open(str(self._spool_path), "w", format="matroska")
        self._stream = _add_stream(self._spool, _SPOOL_CODEC, _SPOOL_PIXELS, size, fps)
        self._palette = Graph()
        source = self._add_source(self._palette)
        maker = self._palette.add("palettegen", "reserve_transparent=0:stats_mode=full")
        sink = self._palette.add("buffersink")
        source.link_to(maker)
        maker.link_to(sink)
        self._palette.configure()

    def write(self, picture: Picture, count: int = 1) -> None:
        frame = rgb_frame(picture).reformat(format=_SPOOL_PIXELS)
        frame.time_base = 1 / self._fps
        frame.pts = self._frames
        self._palette.push(frame)
        for _ in range(count):
            frame.pts = self._frames
            self._frames += 1
            self._spool.mux(self._stream.encode(frame))

    def close(self) -> None:
        try:
            self._spool.mux(self._stream.encode(None))
            self._spool.close()
            self._palette.push(None)
            palette = self._palette.pull()
            assert isinstance(palette, av.VideoFrame)
            self._convert(palette)
        finally:
            self._spool_path.unlink()

    def abort(self) -> None:
        try:
            self._spool.close()
        finally:
            self._spool_path.unlink(missing_ok=True)

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
        with (
            av.open(str(self._spool_path)) as spool,
            av.open(str(self._path), "w", format="gif", options={"loop": "0"}) as animation,
        ):
            stream = _add_stream(animation, "gif", "pal8", self._size, self._fps)
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
            width=width, height=height, format=av.VideoFormat(_SPOOL_PIXELS), time_base=1 / self._fps
        )


def _add_stream(
    container: av.container.OutputContainer, codec: str, pixels: str, size: tuple[int, int], fps: Fraction
) -> VideoStream:
    stream = container.add_stream(codec, rate=fps)
    assert isinstance(stream, VideoStream)
    context = stream.codec_context
    context.width, context.height = size
    context.pix_fmt = pixels
    context.time_base = 1 / fps
    return stream
