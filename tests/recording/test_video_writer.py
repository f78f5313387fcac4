"""Pictures to files: formats, complete files only, bounded memory, errors in words."""

import os
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contact_viewer.errors import RecordingError
from contact_viewer.files import free_path, replace_file
from contact_viewer.recording.encoders import Picture, VideoEncoder
from contact_viewer.recording.video_writer import LiveVideoWriter, VideoWriter, png_bytes
from PIL import Image, ImageSequence

from .judges import decode, gradient, leftovers, probe, stripes

SIZE = (160, 120)


def record_all(path: Path, count: int = 10, size: tuple[int, int] = SIZE, fps: float = 25) -> Path:
    with VideoWriter(path, size, fps) as recorder:
        for number in range(count):
            recorder.add(stripes(*size, number))
        return recorder.finish()


def add_for_ever(recorder: VideoWriter) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        recorder.add(gradient(*SIZE))


@pytest.mark.parametrize(
    ("suffix", "codec", "pixels"),
    [(".mp4", "h264", "yuv420p"), (".webm", "vp9", "yuv420p"), (".gif", "gif", "bgra")],
)
def test_videos_have_their_frames_size_rate_and_colours(tmp_path: Path, suffix: str, codec: str, pixels: str) -> None:
    path = record_all(tmp_path / f"video{suffix}")
    stream = probe(path)
    assert stream["codec_name"] == codec
    assert stream["pix_fmt"] == pixels
    assert (stream["width"], stream["height"]) == SIZE
    assert int(stream["nb_read_frames"]) == 10
    assert Fraction(stream["r_frame_rate"]) == 25
    pictures = decode(path, SIZE)
    for number in range(10):
        assert np.abs(pictures[number].astype(int) - stripes(*SIZE, number)).mean() < 5
    assert leftovers(tmp_path) == []


def test_mp4_plays_while_it_loads_and_names_its_colours(tmp_path: Path) -> None:
    path = record_all(tmp_path / "video.mp4")
    data = path.read_bytes()
    # Browsers need the index, which FFmpeg writes last, before the pictures.
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    stream = probe(path)
    assert [stream[f"color_{name}"] for name in ("space", "primaries", "transfer", "range")] == ["bt709"] * 3 + ["tv"]


def test_webp_animation(tmp_path: Path) -> None:
    path = record_all(tmp_path / "animation.webp")
    with Image.open(path) as animation:
        frames = [np.asarray(frame.convert("RGB")).astype(int) for frame in ImageSequence.Iterator(animation)]
        assert animation.info["loop"] == 0
        durations = []
        for number in range(len(frames)):
            animation.seek(number)
            animation.load()
            durations.append(animation.info["duration"])
    assert len(frames) == 10
    assert set(durations) == {40}
    assert max(np.abs(frame - stripes(*SIZE, number)).mean() for number, frame in enumerate(frames)) < 5


def test_gif_keeps_pure_colours_that_come_late(tmp_path: Path) -> None:
    grey = np.full((120, 160, 3), 128, np.uint8)
    late = grey.copy()
    late[50:60, 50:60] = (230, 30, 30)
    with VideoWriter(tmp_path / "late.gif", SIZE, 25) as recorder:
        for number in range(40):
            recorder.add(late if number == 39 else grey)
        path = recorder.finish()
    with Image.open(path) as animation:
        animation.seek(39)
        seen = np.asarray(animation.convert("RGB"))[50:60, 50:60]
    assert np.abs(seen.astype(int) - (230, 30, 30)).max() < 24


def test_png_is_the_last_picture_and_a_folder_holds_all(tmp_path: Path) -> None:
    still = record_all(tmp_path / "still.png", 3)
    np.testing.assert_array_equal(np.asarray(Image.open(still)), stripes(*SIZE, 2))
    folder = record_all(tmp_path / "frames", 3)
    names = [f"frame-{number:06d}.png" for number in range(3)]
    assert sorted(path.name for path in folder.iterdir()) == names
    for number, name in enumerate(names):
        np.testing.assert_array_equal(np.asarray(Image.open(folder / name)), stripes(*SIZE, number))
    # A shorter recording to the same place leaves no frames of the longer one; other people's files are safe.
    record_all(folder, 2)
    assert len(list(folder.iterdir())) == 2
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(RecordingError, match="other files"):
        VideoWriter(folder, SIZE)
    assert leftovers(tmp_path) == []


def test_odd_sizes_lose_one_pixel_and_other_sizes_are_fitted(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "odd.mp4", (161, 121), 25) as recorder:
        assert recorder.size == (160, 120)
        recorder.add(gradient(161, 121))
        wide = np.full((50, 400, 3), 255, np.uint8)
        recorder.add(wide)
        # As the graphics card has them: with alpha, upside down.
        recorder.add(np.full((50, 400, 4), 255, np.uint8)[::-1, :, :3])
        path = recorder.finish()
    first, *others = decode(path, (160, 120)).astype(int)
    assert np.abs(first - gradient(161, 121)[:120, :160]).mean() < 6
    assert len(others) == 2
    for picture in others:
        # 400 x 50 becomes 160 x 20, in the middle, with black above and below.
        assert picture[52:68].min() > 240
        assert picture[:48].max() < 15
        assert picture[72:].max() < 15


def test_the_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    path.write_text("before")
    with VideoWriter(path, SIZE) as recorder:
        recorder.add(gradient(*SIZE), count=30)
        assert path.read_text() == "before"
        assert recorder.seconds == 0.5
        recorder.stop()
        deadline = time.monotonic() + 20
        while not recorder.completed and time.monotonic() < deadline:
            time.sleep(0.01)
        assert recorder.completed
        assert path.read_text() == "before"
        recorder.finish()
        assert recorder.bytes_written == path.stat().st_size > 500
    assert int(probe(path)["nb_read_frames"]) == 30


@pytest.mark.parametrize("name", ["video.mp4", "video.webm", "video.gif", "video.webp", "still.png", "frames"])
def test_who_leaves_early_leaves_nothing(tmp_path: Path, name: str) -> None:
    with VideoWriter(tmp_path / name, SIZE, 25) as recorder:
        recorder.add(gradient(*SIZE))
    assert list(tmp_path.iterdir()) == []
    with (
        VideoWriter(tmp_path / name, SIZE, 25) as writer,
        pytest.raises(RecordingError, match="nothing was recorded"),
    ):
        writer.finish()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RecordingError, match="closed"):
        recorder.add(gradient(*SIZE))


def test_the_queue_is_bounded_and_add_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    write = VideoEncoder.write

    def slow(self: VideoEncoder, picture: Picture, count: int = 1) -> None:
        gate.wait(20)
        write(self, picture, count)

    monkeypatch.setattr(VideoEncoder, "write", slow)
    with VideoWriter(tmp_path / "video.mp4", SIZE) as recorder:
        taken = 0
        while recorder.add(gradient(*SIZE, taken), timeout=0.05):
            taken += 1
            assert taken < 20
        assert taken == recorder.frames
        assert 2 <= taken <= 8
        gate.set()
        assert recorder.add(gradient(*SIZE))
        recorder.finish()
    assert int(probe(tmp_path / "video.mp4")["nb_read_frames"]) == taken + 1


def test_an_error_of_the_encoder_reaches_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: VideoEncoder, picture: Picture, count: int = 1) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(VideoEncoder, "write", fail)
    message = r"video\.mp4: cannot be written \(No space left on device\)"
    with VideoWriter(tmp_path / "video.mp4", SIZE) as recorder, pytest.raises(RecordingError, match=message):
        add_for_ever(recorder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "size", "fps", "words"),
    [
        ("video.avi", SIZE, 25, "unknown suffix '.avi'"),
        ("nowhere/video.mp4", SIZE, 25, "no folder"),
        ("video.gif", SIZE, 60, "too many"),
        ("video.mp4", (1, 100), 25, "too small"),
        ("video.mp4", (20000, 100), 25, "too large"),
        ("video.webm", (8192, 8192), 25, "too large"),
    ],
)
def test_what_cannot_be_recorded(tmp_path: Path, name: str, size: tuple[int, int], fps: int, words: str) -> None:
    with pytest.raises(RecordingError, match=words):
        VideoWriter(tmp_path / name, size, fps)
    assert list(tmp_path.iterdir()) == []


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("window_fps", [144, 60, 30, 17])
def test_live_video_lasts_as_long_as_it_took(tmp_path: Path, window_fps: int) -> None:
    clock = Clock()
    with LiveVideoWriter(tmp_path / "live.mp4", SIZE, 60, clock) as recorder:
        for number in range(2 * window_fps):
            clock.now = 100.0 + number / window_fps
            recorder.add_now(gradient(*SIZE, number))
        assert recorder.missed == 0
        assert abs(recorder.seconds - 2.0) <= 1 / window_fps + 1 / 60
        recorder.finish()


def test_a_pause_is_not_in_the_video(tmp_path: Path) -> None:
    clock = Clock()
    with LiveVideoWriter(tmp_path / "live.mp4", SIZE, 50, clock) as recorder:
        # The first picture is that of the first instant.
        assert recorder.due == 1
        recorder.add_now(gradient(*SIZE))
        assert (recorder.due, recorder.frames) == (0, 1)
        clock.now += 0.5
        recorder.pause()
        assert recorder.paused
        assert recorder.due == 0
        clock.now += 100
        recorder.add_now(gradient(*SIZE))
        recorder.resume()
        clock.now += 0.5
        assert recorder.due == 50
        recorder.add_now(gradient(*SIZE))
        assert recorder.due == 0
        assert recorder.seconds == pytest.approx(1.0, abs=0.03)


@pytest.mark.alone
def test_a_window_does_not_wait_long_for_a_stuck_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    write = VideoEncoder.write

    def stuck(self: VideoEncoder, picture: Picture, count: int = 1) -> None:
        gate.wait(20)
        write(self, picture, count)

    monkeypatch.setattr(VideoEncoder, "write", stuck)
    clock = Clock()
    with LiveVideoWriter(tmp_path / "live.mp4", SIZE, 50, clock) as recorder:
        for number in range(10):
            clock.now = 100.0 + number / 50
            started = time.monotonic()
            recorder.add_now(gradient(*SIZE, number))
            assert time.monotonic() - started < 0.5
        assert recorder.missed > 0
        gate.set()
        clock.now = 100.2
        recorder.add_now(gradient(*SIZE))
        # Pictures were lost, but not the time that they stand for.
        recorder.finish()
    assert int(probe(tmp_path / "live.mp4")["nb_read_frames"]) == 11


def test_pictures_and_free_names(tmp_path: Path) -> None:
    first = free_path(tmp_path, "slope", ".png")
    assert first.name == "slope-001.png"
    replace_file(first, png_bytes(gradient(*SIZE)[::-1]))
    np.testing.assert_array_equal(np.asarray(Image.open(first)), gradient(*SIZE)[::-1])
    assert free_path(tmp_path, "slope", ".png").name == "slope-002.png"
    with pytest.raises(RecordingError, match="no folder"):
        replace_file(tmp_path / "nowhere" / "picture.png", b"")
    assert os.listdir(tmp_path) == ["slope-001.png"]
