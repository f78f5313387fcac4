"""`contact-viewer record`, as people run it: without a display, in a process of its own."""

import csv
import os
import pty
import resource
import shutil
import signal
import subprocess
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contact_viewer.cli import main
from numpy.typing import NDArray
from PIL import Image

from ..recording.judges import (
    BALL,
    DIVERGING,
    color_counts,
    command,
    contact_viewer,
    decode,
    headless,
    leftovers,
    probe,
    record,
)


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    path = tmp_path / "scenes" / "ball.xml"
    path.parent.mkdir()
    path.write_text(BALL)
    return path


def test_a_video_has_its_length_and_size_and_gizmos_of_every_colour(tmp_path: Path) -> None:
    path = tmp_path / "demo.mp4"
    result = record("turntable", "-o", path, "--duration", 3, "--size", "1280x720", "--no-overlay", "--quality", "low")
    assert result.returncode == 0, result.stderr
    # Plain lines report the backend and the progress.
    assert "180 frames, 1280x720, 60 fps · EGL" in result.stderr
    assert "s left" in result.stderr
    assert "\x1b" not in result.stderr
    assert result.stdout.startswith(f"{path}: 180 frames, 3.00 s")
    stream = probe(path)
    assert int(stream["nb_read_frames"]) == 180
    assert (stream["width"], stream["height"]) == (1280, 720)
    assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p")
    assert float(stream["duration"]) == pytest.approx(3.0)
    assert Fraction(stream["avg_frame_rate"]) == 60
    some = tmp_path / "some"
    some.mkdir()
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-vf", "select='not(mod(n,30))'", "-vsync", "0", some / "%d.png"],
        check=True,
    )
    pictures = np.stack([np.asarray(Image.open(file)) for file in sorted(some.iterdir())])
    assert len(pictures) == 6
    assert 60 < pictures.mean() < 220
    counts = color_counts(pictures)
    assert all(counts[name] > 100 for name in ("white", "green", "red", "blue")), counts
    assert leftovers(tmp_path) == []


def test_the_same_command_gives_the_same_pictures(tmp_path: Path, ball: Path) -> None:
    arguments = ("--duration", 0.5, "--size", "640x360", "--overlay", "plots", "--orbit", 10)
    for name in ("one", "two"):
        assert record(ball, "-o", tmp_path / f"{name}.mp4", *arguments).returncode == 0
    assert (tmp_path / "one.mp4").read_bytes() == (tmp_path / "two.mp4").read_bytes()
    pictures = decode(tmp_path / "one.mp4", (640, 360))
    assert len(pictures) == 30
    assert (pictures[0] != pictures[-1]).any()


@pytest.mark.parametrize("backend", ["egl", "osmesa"])
def test_mujoco_gl_chooses_who_draws(tmp_path: Path, ball: Path, backend: str) -> None:
    environment = headless() | {"MUJOCO_GL": backend}
    arguments = command("record", ball, "-o", tmp_path / "b.png", "--duration", 0.1, "--size", "320x240")
    result = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert backend.upper() in result.stderr
    assert np.asarray(Image.open(tmp_path / "b.png")).std() > 5


def run(*arguments: object) -> int:
    return main(["record", *map(str, arguments)])


def last_frame(ball: Path, tmp_path: Path, *arguments: object) -> NDArray[np.int64]:
    path = tmp_path / "last.png"
    assert run(ball, "-o", path, "--size", "480x320", "--duration", 0.5, *arguments) == 0
    return np.asarray(Image.open(path)).astype(int)


def test_options_change_the_picture(tmp_path: Path, ball: Path) -> None:
    plain = last_frame(ball, tmp_path)
    for arguments in (
        ("--no-overlay",),
        ("--overlay", "plots"),
        ("--azimuth", 30),
        ("--lookat", "-0.2,0,0.1", "--distance", 2, "--elevation", -10),
        ("--start", 3),
        ("--reduce", "netforce"),
        ("--quality", "low"),
        ("--speed", 0.1),
        ("--key", "later"),
    ):
        changed = last_frame(ball, tmp_path, *arguments)
        assert changed.shape == plain.shape
        assert (changed != plain).any(), arguments
    assert color_counts(last_frame(ball, tmp_path, "--no-overlay").astype(np.uint8))["blue"] == 0
    assert color_counts(plain.astype(np.uint8))["blue"] > 20


def test_a_camera_of_the_scene(tmp_path: Path) -> None:
    assert run("slope", "-o", tmp_path / "c.png", "--size", "320x180", "--camera", "three_quarter") == 0
    assert run("slope", "-o", tmp_path / "f.png", "--size", "320x180") == 0
    camera, free = (np.asarray(Image.open(tmp_path / name)) for name in ("c.png", "f.png"))
    assert (camera != free).any()


def test_both_engines_are_drawn_and_told_apart(tmp_path: Path) -> None:
    for engine in ("mujoco", "motrix", "both"):
        path = tmp_path / f"{engine}.png"
        assert run("slope", "-o", path, "--size", "640x360", "--duration", 1, "--engine", engine, "--no-overlay") == 0
    mujoco, motrix, both = (
        np.asarray(Image.open(tmp_path / f"{engine}.png")) for engine in ("mujoco", "motrix", "both")
    )
    assert (motrix != mujoco).any()
    # The picture is MuJoCo's, with some faint arrows more.
    assert 0 < (both != mujoco).any(axis=2).mean() < 0.05


def test_odd_sizes_are_handled_and_said(tmp_path: Path, ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ball, "-o", tmp_path / "odd.mp4", "--size", "321x241", "--duration", 0.1) == 0
    assert "322x242" in capsys.readouterr().err
    assert probe(tmp_path / "odd.mp4")["width"] == 322
    assert run(ball, "-o", tmp_path / "odd.webm", "--size", "321x241", "--duration", 0.1) == 0
    assert probe(tmp_path / "odd.webm")["height"] == 241


def test_animations_have_sizes_and_rates_of_their_own(tmp_path: Path, ball: Path) -> None:
    assert run(ball, "-o", tmp_path / "a.gif", "--duration", 0.4) == 0
    stream = probe(tmp_path / "a.gif")
    assert (stream["width"], stream["height"], int(stream["nb_read_frames"])) == (640, 360, 10)
    assert run(ball, "-o", tmp_path / "frames", "--duration", 0.1, "--fps", 20, "--size", "64x48") == 0
    assert len(list((tmp_path / "frames").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["slope", "-o", "{tmp}/v.avi"], "unknown suffix '.avi'"),
        (["slope", "-o", "{tmp}/nowhere/v.mp4"], "no folder"),
        (["slope", "-o", "/sys/v.mp4"], "cannot be written"),
        (["slope", "-o", "{tmp}/v.mp4", "--duration", "0"], "--duration"),
        (["slope", "-o", "{tmp}/v.mp4", "--duration", "nan"], "--duration"),
        (["slope", "-o", "{tmp}/v.mp4", "--fps", "0"], "--fps"),
        (["slope", "-o", "{tmp}/v.gif", "--fps", "60"], "at most 50"),
        (["slope", "-o", "{tmp}/v.mp4", "--size", "0x0"], "too small"),
        (["slope", "-o", "{tmp}/v.mp4", "--size", "wide"], "not a size"),
        (["slope", "-o", "{tmp}/v.mp4", "--size", "100000x100000"], "too large"),
        (["slope", "-o", "{tmp}/v.mp4", "--size", "160x120", "--overlay", "plots"], "no room for plots"),
        (["slope", "-o", "{tmp}/v.mp4", "--lookat", "1,2"], "not a point"),
        (["slope", "-o", "{tmp}/v.mp4", "--camera", "three_quarter", "--orbit", "5"], "--orbit cannot move"),
        (["slope", "-o", "{tmp}/v.mp4", "--camera", "nobody"], "no camera named 'nobody'"),
        (["slope", "-o", "{tmp}/v.mp4", "--sensor", "nobody"], "no contact sensor named 'nobody'"),
        (["slope", "-o", "{tmp}/v.mp4", "--key", "nobody"], "no keyframe 'nobody'"),
        (["slope", "-o", "{tmp}/v.mp4", "--engine", "nobody"], "invalid choice: 'nobody'"),
        (["slope", "-o", "{tmp}/v.mp4", "--data", "{tmp}/d.txt"], "unknown suffix '.txt'"),
        (["nothing.xml", "-o", "{tmp}/v.mp4"], "no such file"),
        (["slope"], "required: -o"),
        (["slope", "-o", ""], "the name of the file to record to is empty"),
        (["slope", "-o", "{tmp}/.mp4"], "a name is missing before the suffix"),
        (["slope", "-o", ".GIF"], "a name is missing before the suffix"),
        (["slope", "-o", "{tmp}/v.mp4", "--data", ".csv"], "a name is missing before the suffix"),
        (["-o", "{tmp}/v.mp4"], "required: SCENE"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", *(argument.format(tmp=tmp_path) for argument in arguments)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert len(output.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def heed_signals() -> None:
    """In the child: the test may itself run in the background, or under nohup, where signals are ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_a_playable_file_and_says_so(tmp_path: Path, ball: Path, number: int) -> None:
    arguments = command("record", ball, "-o", tmp_path / "v.mp4", "--duration", 600, "--size", "320x240", "--data")
    process = subprocess.Popen(
        [*arguments, str(tmp_path / "v.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=headless(),
        preexec_fn=heed_signals,
    )
    assert process.stderr is not None
    # The second line is progress, so there are frames.
    assert "36000 frames" in process.stderr.readline()
    assert "left" in process.stderr.readline()
    assert not (tmp_path / "v.mp4").exists()
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "warning: interrupted" in errors
    frames = int(probe(tmp_path / "v.mp4")["nb_read_frames"])
    assert output.startswith(f"{tmp_path / 'v.mp4'}: {frames} frame{'' if frames == 1 else 's'},")
    last_row = (tmp_path / "v.csv").read_text().splitlines()[-1]
    # The data ends with the last frame's step.
    assert int(last_row.split(",")[0]) == int((frames - 1) / 60 / 0.002 + 1e-9)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_completes_what_is_exported(tmp_path: Path, ball: Path, number: int) -> None:
    process = subprocess.Popen(
        command("export", ball, "-o", tmp_path / "d.csv", "--duration", 100000),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=headless(),
        preexec_fn=heed_signals,
    )
    assert process.stderr is not None
    assert "left" in process.stderr.readline()
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "warning: interrupted; the file ends there" in errors
    steps = int(output.split(": ")[1].split()[0])
    assert (tmp_path / "d.csv").read_text().splitlines()[-1].startswith(f"{steps - 1},")
    assert leftovers(tmp_path) == []


def test_a_closed_terminal_leaves_a_playable_file(tmp_path: Path, ball: Path) -> None:
    """The terminal is really gone: nothing can be written to it, and the system sends SIGHUP."""
    pid, terminal = pty.fork()
    if pid == 0:
        heed_signals()
        arguments = command("record", ball, "-o", tmp_path / "v.mp4", "--duration", 600, "--size", "160x120")
        os.execvpe(arguments[0], arguments, headless())
    seen = b""
    while b"/36000" not in seen or b" 0/36000" in seen[-400:]:
        seen += os.read(terminal, 4096)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert int(probe(tmp_path / "v.mp4")["nb_read_frames"]) > 0
    assert leftovers(tmp_path) == []


def test_a_folder_removed_while_recording_is_told_at_once(tmp_path: Path, ball: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = command("record", ball, "-o", folder / "v.mp4", "--duration", 6000, "--size", "160x120")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=headless()) as process:
        assert process.stderr is not None
        process.stderr.readline()
        shutil.rmtree(folder)
        assert process.wait(20) == 2
        errors = process.stderr.read()
    assert errors.splitlines()[-1].endswith(f"{folder / 'v.mp4'}: cannot be written (the folder {folder} was removed)")
    assert "Traceback" not in errors


def test_what_a_killed_recording_left_is_told_by_the_next(tmp_path: Path, ball: Path) -> None:
    arguments = command("record", ball, "-o", tmp_path / "lost.mp4", "--duration", 600, "--size", "64x64")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=headless()) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.kill()
    (stray,) = leftovers(tmp_path)
    result = record(ball, "-o", tmp_path / "v.png", "--size", "64x64", "--duration", 0.1)
    assert result.returncode == 0
    assert f"note: {tmp_path}: a file left unfinished by a program that was killed: {stray}" in result.stderr
    result = contact_viewer("export", ball, "-o", tmp_path / "d.csv", "--duration", 0.1)
    assert stray in result.stderr


def limit_file_size() -> None:
    """In the child: a disk with room for 20 kB in each file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def limit_larger_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


@pytest.mark.parametrize("name", ["v.mp4", "v.webm", "v.gif", "v.webp", "v.png", "frames"])
def test_a_full_disk_is_one_clear_line(tmp_path: Path, name: str) -> None:
    result = record("slope", "-o", tmp_path / name, "--duration", 1.5, "--size", "480x270", preexec_fn=limit_file_size)
    assert result.returncode == 2
    assert f"{tmp_path / name}: cannot be written (File too large)" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["d.csv", "d.npz", "d.parquet", "d.rrd"])
def test_a_full_disk_for_data_too(tmp_path: Path, name: str) -> None:
    result = contact_viewer("export", "slope", "-o", tmp_path / name, "--duration", 2, preexec_fn=limit_larger_files)
    assert result.returncode == 2
    assert f"{tmp_path / name}: cannot be written" in result.stderr
    # On a slow machine progress comes before it.
    assert len([line for line in result.stderr.splitlines() if not line.endswith(" s left")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_diverging_scene_gives_the_frames_before_and_a_warning(tmp_path: Path) -> None:
    scene = tmp_path / "diverging.xml"
    scene.write_text(DIVERGING)
    result = record(scene, "-o", tmp_path / "v.mp4", "--size", "160x120", "--duration", 5)
    assert result.returncode == 0
    assert "warning: the simulation became unstable after 0.4" in result.stderr
    assert 20 < int(probe(tmp_path / "v.mp4")["nb_read_frames"]) < 40
    result = record(scene, "-o", tmp_path / "v.png", "--size", "160x120", "--duration", 5)
    assert result.returncode == 2
    assert "before the first frame" in result.stderr
    assert not (tmp_path / "v.png").exists()


def peak_memory(tmp_path: Path, ball: Path, seconds: float) -> int:
    """Of a recording, in bytes."""
    arguments = command(
        "record",
        ball,
        "-o",
        tmp_path / "m.mp4",
        "--size",
        "320x180",
        "--fps",
        30,
        "--duration",
        seconds,
        "--quality",
        "low",
    )
    process = subprocess.Popen(arguments, env=headless(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


def test_memory_does_not_grow_with_the_length(tmp_path: Path, ball: Path) -> None:
    # The pictures of the longer one would take 280 MB more.
    short, long = (peak_memory(tmp_path, ball, seconds) for seconds in (6, 60))
    assert long < 1.2 * short


def test_a_terminal_gets_a_bar_with_the_time_left(tmp_path: Path, ball: Path) -> None:
    master, slave = os.openpty()
    arguments = command("record", ball, "-o", tmp_path / "v.mp4", "--size", "160x120", "--duration", 2)
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=slave, env=headless() | {"TERM": "xterm-256color", "COLUMNS": "100"}
    )
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(master)
    assert process.wait() == 0
    assert process.stdout is not None
    process.stdout.close()
    text = seen.decode()
    assert "━" in text
    assert "120" in text
    assert "time left" in text


def seen_times(folder: Path) -> list[float]:
    """Of the frames of a recording, by its table of contacts."""
    with (folder / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    times = {int(row["video_frame"]): float(row["time"]) for row in rows if row["video_frame"].isdigit()}
    return [times[frame] for frame in sorted(times)]


def test_slow_motion_is_around_the_event_that_is_listed(tmp_path: Path) -> None:
    """A box that falls 0.1 m meets the floor after sqrt(2 h / g): 0.143 s."""
    (tmp_path / "box.xml").write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="2 2 .1"/><body pos="0 0 .2"><freejoint/>
<geom name="box" type="box" size=".1 .1 .1"/></body></worldbody>
<sensor><contact name="touch" geom1="floor" geom2="box" data="found force"/></sensor></mujoco>"""
    )
    options = ("--slow-around", "event:1", "--slow", 0.1, "--slow-for", 0.8, "--duration", 1, "--fps", 25)
    result = record(
        "box.xml", "-o", "a.mp4", "--data", "a.csv", *options, "--size", "64x48", "--quality", "low", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    # MuJoCo's falling bodies are half a step ahead.
    assert float(result.stderr.split("event 1 is at ")[1].split(" s")[0]) == pytest.approx(0.143, abs=0.0015)
    steps = np.diff(seen_times(tmp_path))
    # 0.08 s around it in 0.8 s of video, the rest as it is.
    assert np.allclose(np.round(steps[5:20], 3), 0.004)
    assert np.allclose(steps[0], 0.04)
    assert np.allclose(steps[-1], 0.04)
    times = seen_times(tmp_path)
    assert sum(0.103 <= time <= 0.183 for time in times) == pytest.approx(20, abs=1)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--slow-around", "event:0"), "event:1"),
        (("--slow-around", "soon"), "event:1"),
        (("--slow-around", "event:99", "--duration", "0.1"), "within 0.1 s"),
        (("--follow", "nobody"), "box"),
        (("--follow", "box", "--lookat", "0,0,0"), "--lookat"),
        (("--style", "loud"), "talk"),
    ],
)
def test_films_that_cannot_be_made_are_refused_in_a_line(options: tuple[str, ...], named: str, tmp_path: Path) -> None:
    result = record("slope", "-o", tmp_path / "a.mp4", *options)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].count(named)
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())
