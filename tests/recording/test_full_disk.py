"""A disk that is really full: what was recorded so far is a file that plays, by the word of ffprobe and others."""

import csv
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from contact_viewer.errors import DiskFullError
from contact_viewer.recording.encoders import VideoEncoder
from contact_viewer.recording.video_writer import VideoWriter
from numpy.typing import NDArray
from PIL import Image, ImageSequence
from pyarrow import parquet

from .judges import BALL, command, gradient, headless, leftovers, probe, run_on_small_disk

MIB = 1 << 20


FILLING = """
import sys, time
from pathlib import Path
import numpy as np
from contact_viewer.errors import DiskFullError
from contact_viewer.recording.encoders import VideoEncoder
from contact_viewer.recording.video_writer import VideoWriter

random, deadline = np.random.default_rng(0), time.monotonic() + 60
with VideoWriter(Path(sys.argv[1]), (320, 240), 25) as writer:
    try:
        while time.monotonic() < deadline:
            writer.add(random.integers(0, 255, (240, 320, 3), np.uint8))
    except DiskFullError as error:
        print(error)
    print(writer.finish(), writer.frames)
"""


@pytest.mark.parametrize("name", ["v.mp4", "v.webm", "v.gif", "v.webp", "frames"])
def test_a_video_that_fills_the_disk_plays_up_to_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / "disk" / name
    result = run_on_small_disk(tmp_path, 6 * MIB, sys.executable, "-c", FILLING, str(path))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == f"{path}: the disk is full"
    frames = int(result.stdout.split()[-1])
    assert frames > 8
    if path.is_dir():
        pictures = [np.asarray(Image.open(picture)) for picture in sorted(path.iterdir())]
        assert [picture.shape for picture in pictures] == [(240, 320, 3)] * frames
    elif name in ("v.gif", "v.webp"):
        with Image.open(path) as animation:
            assert sum(1 for _ in ImageSequence.Iterator(animation)) == frames
    else:
        assert int(probe(path)["nb_read_frames"]) == frames
    assert leftovers(path.parent) == []


def test_record_on_a_full_disk_keeps_video_and_data(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    disk = tmp_path / "disk"
    arguments = command("record", scene, "-o", disk / "v.mp4", "--size", "64x64", "--duration", 600)
    result = run_on_small_disk(tmp_path, 5 * MIB, *arguments, "--data", str(disk / "v.csv"))
    assert result.returncode == 1
    assert re.search(r"^warning: .*v\.(csv|mp4): the disk is full; the recording ends there$", result.stderr, re.M)
    assert "Traceback" not in result.stderr
    frames = int(probe(disk / "v.mp4")["nb_read_frames"])
    assert result.stdout.startswith(f"{disk / 'v.mp4'}: {frames} frames")
    with (disk / "v.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    steps = [int(row["step"]) for row in rows]
    assert steps == sorted(steps)
    assert len(set(steps)) > 500
    assert all(None not in row.values() and None not in row for row in rows)
    assert leftovers(disk) == []


def rerun_steps(path: Path) -> NDArray[np.int64]:
    """The steps, two milliseconds each, at which a Rerun file has a force."""
    from rerun.chunk import RrdReader

    chunks = [chunk for chunk in RrdReader(path).stream() if chunk.entity_path == "/forces/box_on_slope/normal"]
    times = [np.array(chunk.to_record_batch()["simulation"].cast("int64")) for chunk in chunks if not chunk.is_static]
    return np.concatenate(times) // 2_000_000


@pytest.mark.parametrize(("name", "size"), [("d.csv", 6), ("d.npz", 6), ("d.parquet", 3), ("d.rrd", 4)])
def test_export_on_a_full_disk_keeps_the_steps_so_far(tmp_path: Path, name: str, size: int) -> None:
    path = tmp_path / "disk" / name
    result = run_on_small_disk(tmp_path, size * MIB, *command("export", "slope", "-o", path, "--duration", 10000))
    assert result.returncode == 1
    assert f"warning: {path}: the disk is full; the file ends there" in result.stderr
    if name == "d.csv":
        with path.open(newline="") as file:
            steps = np.array([int(row["step"]) for row in csv.DictReader(file)])
    elif name == "d.npz":
        with np.load(path) as arrays:
            steps = arrays["step"]
            assert {len(arrays[column]) for column in ("time", "sensor", "force_x", "geom2")} == {len(steps)}
    elif name == "d.rrd":
        steps = rerun_steps(path)
    else:
        steps = parquet.read_table(path)["step"].to_numpy()
    unique = np.unique(steps)
    assert len(unique) > 100
    np.testing.assert_array_equal(unique, np.arange(unique[0], unique[-1] + 1))
    told = re.search(rf"{re.escape(str(path))}: (\d+) step", result.stdout)
    assert told is not None
    assert int(told[1]) == len(unique)
    assert leftovers(path.parent) == []


@pytest.mark.parametrize("more", [False, True])
def test_only_a_recording_that_lacks_pictures_is_said_to_end_early(tmp_path: Path, more: bool) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 25) as writer:
        for number in range(5):
            writer.add(gradient(64, 48, number))
        assert isinstance(writer._encoder, VideoEncoder)
        while writer._encoder._frames < 5:
            time.sleep(0.01)
        # The disk is full from here on: the room that was reserved is used.
        writer._file.release()
        if more:
            with pytest.raises(DiskFullError):
                writer.add(gradient(64, 48))
        writer.finish()
    assert writer.is_cut_short == more


def test_a_data_file_that_fails_leaves_the_video_and_a_video_the_data(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    for lost, kept in (("v.csv", "v.mp4"), ("v.mp4", "v.csv")):
        gone, stays = tmp_path / "gone", tmp_path / f"with {kept}"
        gone.mkdir()
        stays.mkdir()
        paths = {lost: gone / lost, kept: stays / kept}
        arguments = command("record", scene, "-o", paths["v.mp4"], "--data", paths["v.csv"], "--duration", 6000)
        with subprocess.Popen(
            [*arguments, "--size", "64x64"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=headless()
        ) as process:
            assert process.stderr is not None
            assert process.stdout is not None
            process.stderr.readline()
            # Progress: there are frames.
            process.stderr.readline()
            shutil.rmtree(gone)
            assert process.wait(30) == 2
            output, errors = process.stdout.read(), process.stderr.read()
        assert errors.splitlines()[-1].startswith(f"contact-viewer: {gone}")
        assert errors.endswith(f": cannot be written (the folder {gone} was removed)\n")
        assert output.startswith(f"{stays / kept}: ")
        if kept == "v.mp4":
            assert int(probe(stays / kept)["nb_read_frames"]) == int(output.split(": ")[1].split()[0])
        else:
            steps = {line.split(",")[0] for line in (stays / kept).read_text().splitlines()[1:]}
            assert len(steps) == int(output.split(": ")[1].split()[0])
        assert leftovers(stays) == []
