"""Encode frames of the window for browsers: H.264 or JPEG."""

import io
import os
from fractions import Fraction

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from PIL import Image

from ..recording.encoders import BT709, Picture, rgb_frame, with_alpha

KEY, DELTA, JPEG = 0, 1, 2
"""Kinds of a message's data: a whole frame, changes of the frame before, a JPEG file."""
QUICK, SHARP = 85, 95
"""JPEG quality of a frame in motion, and of a frame that stays."""
_THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Number of threads of the encoder: half of the processors; the others are left to the renderer."""
_CRF = "21"
"""Constant rate factor of x264, at which small text stays readable."""


class JpegEncoder:
    """Encoder that sends each frame as a JPEG file, which every browser can show."""

    def __init__(self, quality: int = QUICK) -> None:
        self._quality = quality

    def encode(self, picture: Picture) -> tuple[int, bytes]:
        """Encode a frame; return the kind and the data of its message."""
        buffer = io.BytesIO()
        pixels = with_alpha(picture)
        if pixels is None:
            image = Image.fromarray(picture)
        else:
            size = picture.shape[1], picture.shape[0]
            # The fourth byte is skipped by the encoder, in half the time that it takes to leave it out before.
            image = Image.frombuffer("RGBX", size, np.ascontiguousarray(pixels), "raw", "RGBX", 0, 1)
        image.save(buffer, "JPEG", quality=self._quality, subsampling=0)
        return JPEG, buffer.getvalue()

    def close(self) -> None:
        """Do nothing: this encoder holds no resources."""


class H264Encoder:
    """H.264 encoder without delay. The first frame, and the first of another size, is sent whole."""

    def __init__(self) -> None:
        self._context: VideoCodecContext | None = None
        self._reformatter: VideoReformatter | None = VideoReformatter()
        self._number = 0

    def encode(self, picture: Picture) -> tuple[int, bytes]:
        """Encode a frame; return the kind and the data of its message."""
        reformatter = self._reformatter
        if reformatter is None:
            # Closed while a thread was about to use it.
            return DELTA, b""
        # Half the colours' resolution needs even sizes.
        height, width = picture.shape[0] & ~1, picture.shape[1] & ~1
        context = self._context
        if context is None or (context.width, context.height) != (width, height):
            context = self._context = _open_context(width, height)
            self._number = 0
        frame = reformatter.reformat(
            rgb_frame(picture[:height, :width]),
            format="yuv420p",
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            threads=_THREADS,
        )
        frame.pts = self._number
        kind = KEY if self._number == 0 else DELTA
        if kind == KEY:
            frame.pict_type = PictureType.I
        self._number += 1
        return kind, b"".join(bytes(packet) for packet in context.encode(frame))

    def close(self) -> None:
        """Free the encoder."""
        # Their threads end now, and not when Python next looks for garbage.
        self._context = self._reformatter = None


def _open_context(width: int, height: int) -> VideoCodecContext:
    context = av.CodecContext.create("libx264", "w")
    assert isinstance(context, VideoCodecContext)
    context.width, context.height = width, height
    context.pix_fmt = "yuv420p"
    context.time_base = Fraction(1, 60)
    context.thread_count = _THREADS
    context.colorspace = context.color_primaries = context.color_trc = BT709
    context.color_range = ColorRange.MPEG
    # A new picture follows whenever something changed, so whole pictures are sent only where a browser begins.
    context.options = {
        "preset": "ultrafast",
        "tune": "zerolatency",
        "profile": "baseline",
        "crf": _CRF,
        "x264-params": "keyint=infinite:scenecut=0",
    }
    return context
