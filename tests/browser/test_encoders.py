"""What a browser receives, decoded by another library's hands."""

import io

import av
import numpy as np
import pytest
from contact_viewer.browser.encoders import DELTA, JPEG, KEY, H264Encoder, JpegEncoder, Picture
from PIL import Image


def pattern(width: int, height: int, shift: int = 0) -> Picture:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack([(x + shift) % 256, y % 256, (x + y) // 4 % 256], axis=-1).astype(np.uint8)


def test_every_picture_comes_out_as_it_goes_in() -> None:
    encoder, decoder = H264Encoder(), av.CodecContext.create("h264", "r")
    kinds = []
    for shift in range(5):
        picture = pattern(320, 240, 8 * shift)
        kind, data = encoder.encode(picture)
        kinds.append(kind)
        frames = decoder.decode(av.Packet(data))
        assert len(frames) == 1
        shown = frames[0].to_ndarray(format="rgb24").astype(int)
        assert np.abs(shown - picture).mean() < 12
    assert kinds == [KEY, DELTA, DELTA, DELTA, DELTA]


def test_another_size_begins_again() -> None:
    encoder = H264Encoder()
    assert [encoder.encode(pattern(*size))[0] for size in ((64, 64), (64, 64), (80, 64), (80, 64))] == [
        KEY,
        DELTA,
        KEY,
        DELTA,
    ]


@pytest.mark.parametrize("size", [(321, 241), (2, 2), (3840, 2160)])
def test_any_size_is_taken(size: tuple[int, int]) -> None:
    assert H264Encoder().encode(pattern(*size))[0] == KEY


def test_a_single_picture_is_a_file() -> None:
    picture = pattern(100, 50)
    kind, data = JpegEncoder().encode(picture)
    assert kind == JPEG
    shown = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    assert np.abs(shown - picture).mean() < 5
