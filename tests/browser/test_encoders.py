"""What a browser receives, decoded by another library's hands."""

import io

import av
import numpy as np
import psutil
import pytest
from contact_viewer.browser.encoders import DELTA, JPEG, KEY, H264Encoder, JpegEncoder
from contact_viewer.recording.encoders import Picture
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


def test_pictures_as_a_graphics_card_has_them_are_taken_as_they_are() -> None:
    """From the bottom up, with alpha behind the colours."""
    picture = pattern(322, 242)
    stored = np.zeros((242, 322, 4), np.uint8)
    stored[::-1, :, :3] = picture
    assert np.array_equal(stored[::-1, :, :3], picture)
    for encoder in (H264Encoder, JpegEncoder):
        assert encoder().encode(stored[::-1, :, :3]) == encoder().encode(picture)


@pytest.mark.parametrize("color", [(200, 30, 30), (30, 160, 60), (30, 90, 220), (255, 255, 255), (16, 16, 16)])
def test_colours_are_those_that_a_player_expects(color: tuple[int, int, int]) -> None:
    """The stream names its matrix and range, and keeps to them."""
    picture = np.full((64, 64, 3), color, np.uint8)
    (frame,) = av.CodecContext.create("h264", "r").decode(av.Packet(H264Encoder().encode(picture)[1]))
    assert (frame.colorspace, frame.color_range) == (1, 1)
    shown = frame.to_ndarray(format="rgb24", src_colorspace="ITU709", dst_colorspace="ITU709")[32, 32].astype(int)
    assert np.abs(shown - color).max() < 8


def test_another_size_begins_again() -> None:
    encoder = H264Encoder()
    assert [encoder.encode(pattern(*size))[0] for size in ((64, 64), (64, 64), (80, 64), (80, 64))] == [
        KEY,
        DELTA,
        KEY,
        DELTA,
    ]


def test_a_closed_encoder_holds_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.encoders._THREADS", 4)
    process = psutil.Process()
    before = process.num_threads()
    encoder = H264Encoder()
    encoder.encode(pattern(640, 480))
    assert process.num_threads() > before
    encoder.close()
    # A thread that was about to encode with it begins nothing.
    encoder.encode(pattern(640, 480))
    assert process.num_threads() == before


@pytest.mark.parametrize("size", [(321, 241), (2, 2), (3840, 2160)])
def test_any_size_is_taken(size: tuple[int, int]) -> None:
    assert H264Encoder().encode(pattern(*size))[0] == KEY


def test_a_single_picture_is_a_file() -> None:
    picture = pattern(100, 50)
    kind, data = JpegEncoder().encode(picture)
    assert kind == JPEG
    shown = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    assert np.abs(shown - picture).mean() < 5
