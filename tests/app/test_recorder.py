"""Recording in the real window, judged by ffprobe and by pixels."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.recording.encoders import VideoEncoder
from imgui_bundle import imgui
from PIL import Image

from ..window.driver import count_green, drive, make_window, screenshot, wait

FALL = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <body name="cube" pos="0 0 1.5"><freejoint/><geom name="cube" type="box" size="0.1 0.1 0.1" mass="1"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="cube" num="4"/></sensor>
</mujoco>"""


def probe(path: Path) -> dict[str, str]:
    entries = "stream=width,height,nb_read_frames,r_frame_rate,codec_name"
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", entries, "-of", "default=nw=1", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split("=") for line in text.splitlines())


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("panels", [False, True])
def test_f9_records_the_scene_or_the_window(tmp_path: Path, panels: bool) -> None:
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.settings.record_panels = panels
        size = imgui.get_io().display_size
        ctx.key_press(imgui.Key.f9)
        ctx.yield_(20)
        assert app.recorder.running is not None
        app.recorder.toggle_paused()
        ctx.yield_(2)
        frames = app.recorder.running.frames
        ctx.yield_(5)
        assert app.recorder.running.frames == frames
        app.recorder.toggle_paused()
        ctx.yield_(5)
        ctx.key_press(imgui.Key.f9)
        assert app.recorder.running is None
        # The file appears under its name when it is complete.
        wait(ctx, lambda: app.notices.items and "slope-001.mp4 (" in app.notices.items[-1].text)
        assert imgui.get_io().display_size == size
        found = probe(tmp_path / "slope-001.mp4")
        expected = (1200, 1000) if panels else tuple(v - v % 2 for v in window.viewport.pixels[2:])
        assert (int(found["width"]), int(found["height"])) == expected
        assert int(found["nb_read_frames"]) > 5
        assert found["r_frame_rate"] == "60/1"

    drive(window, test, drawn=True)
    picture = tmp_path / "frame.png"
    subprocess.run(["ffmpeg", "-v", "error", "-i", "slope-001.mp4", "-frames:v", "1", str(picture)], check=True)
    assert count_green(np.asarray(Image.open(picture).convert("RGB"))) > 100


def test_f9_again_while_the_last_file_completes_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three recordings one after the other, each started while the one before is still being encoded."""
    gate = threading.Event()
    close = VideoEncoder.close
    monkeypatch.setattr(VideoEncoder, "close", lambda self: (gate.wait(30), close(self)))
    window = make_window("slope", steps=300)
    app = window.app
    names = [f"slope-{number:03d}.mp4" for number in (1, 2, 3)]

    def test(ctx: Any) -> None:
        for _ in names:
            ctx.key_press(imgui.Key.f9)
            ctx.yield_(5)
            ctx.key_press(imgui.Key.f9)
            ctx.yield_(2)
        assert not list(tmp_path.glob("*.mp4"))
        gate.set()
        wait(ctx, lambda: not app.recorder.is_busy)
        told = " ".join(notice.text for notice in app.notices.items)
        assert [name in told for name in names] == [True] * 3

    drive(window, test)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "imgui.ini") == names
    for name in names:
        assert int(probe(tmp_path / name)["nb_read_frames"]) > 1


def test_closing_the_window_tells_of_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    close, slow = VideoEncoder.close, threading.Event()
    monkeypatch.setattr(VideoEncoder, "close", lambda self: (slow.wait(0.2), close(self)))
    window = make_window("slope", steps=300)

    def test(ctx: Any) -> None:
        for _ in range(2):
            ctx.key_press(imgui.Key.f9)
            ctx.yield_(3)
            ctx.key_press(imgui.Key.f9)
        ctx.key_press(imgui.Key.f9)
        ctx.yield_(3)

    drive(window, test)
    told = capsys.readouterr().out + " ".join(notice.text for notice in window.app.notices.items)
    for number in (1, 2, 3):
        path = tmp_path / f"slope-{number:03d}.mp4"
        assert f"recorded {path}" in told
        assert int(probe(path)["nb_read_frames"]) > 0


def test_closing_the_window_says_what_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long animation takes its time to be completed; a video does not, and nothing is said of it."""
    close = VideoEncoder.close
    for seconds, said in ((0.0, []), (1.6, [f"completing {tmp_path / 'slow.mp4'} ..."])):

        def close_later(encoder: VideoEncoder, seconds: float = seconds) -> None:
            threading.Event().wait(seconds)
            close(encoder)

        monkeypatch.setattr(VideoEncoder, "close", close_later)
        window = make_window("slope", steps=300)
        app = window.app
        app.start_recording(tmp_path / ("slow.mp4" if seconds else "fast.mp4"))
        app.take_picture(lambda: np.zeros((300, 400, 3), np.uint8), whole_window=False)
        assert app.begin_closing() == bool(said)
        assert any("completing slow.mp4" in notice.text for notice in app.notices.items) == bool(said)
        app.close()
        told = capsys.readouterr()
        assert told.err.splitlines() == said
        assert told.out.startswith(f"recorded {tmp_path}")


def test_a_gif_is_recorded_from_the_window(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        app.start_recording(tmp_path / "clip.gif")
        running = app.recorder.running
        assert running is not None
        # One picture has no rate.
        wait(ctx, lambda: running.frames > 3)

    drive(window, test)
    found = probe(tmp_path / "clip.gif")
    assert found["codec_name"] == "gif"
    assert found["r_frame_rate"] == "25/1"


def test_two_windows_in_one_folder_take_different_names(tmp_path: Path) -> None:
    """The other window is another program, which has started to record and not ended."""
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "slope-001.mp4\n"
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.f9)
        ctx.yield_(5)
        assert app.recorder.running is not None
        assert app.recorder.running.path == tmp_path / "slope-002.mp4"
        app.recorder.stop()
        app.start_recording(tmp_path / "slope-001.mp4")
        assert "slope-001.mp4: is being written already" in app.notices.items[-1].text

    drive(window, test)
    other.communicate("end")
    assert sorted(path.name for path in tmp_path.glob("*.mp4")) == ["slope-001.mp4", "slope-002.mp4"]


OTHER = """
import sys
from pathlib import Path
from contact_viewer.files import PartFile, free_path, naming

with naming(Path(sys.argv[1])):
    file = PartFile(free_path(Path(sys.argv[1]), "slope", ".mp4"))
print(file.final.name, flush=True)
sys.stdin.read()
file.commit()
"""


def test_what_a_killed_program_left_is_told_when_a_recording_starts(tmp_path: Path) -> None:
    stray = tmp_path / ".slope-001.mp4.1-0.part"
    stray.write_bytes(b"half of it")
    window = make_window("slope", steps=300)

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.f9)
        ctx.yield_(5)
        assert any(stray.name in notice.text for notice in window.app.notices.items)

    drive(window, test)
    assert (tmp_path / "slope-002.mp4").exists()
    assert stray.exists()


def test_closing_the_window_completes_the_recording(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.f9)
        ctx.yield_(20)

    drive(window, test)
    assert int(probe(tmp_path / "slope-001.mp4")["nb_read_frames"]) > 5
    assert not list(tmp_path.glob("*.part"))


def test_the_dialog_names_the_file_and_refuses_bad_ones(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)
    app = window.app

    def test(ctx: Any) -> None:
        app.start_recording(tmp_path / "nowhere" / "a.mp4")
        assert app.recorder.running is None
        assert "nowhere" in app.notices.items[-1].text
        app.start_recording(tmp_path / "a.doc")
        assert app.recorder.running is None
        app.start_recording(tmp_path / "b.webm")
        ctx.yield_(5)
        app.recorder.stop()
        assert app.next_recording == tmp_path / "slope-001.webm"

    drive(window, test)


def test_a_screenshot_is_the_scene(tmp_path: Path) -> None:
    window = make_window("slope", steps=300)

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.p.value)
        ctx.yield_(3)
        picture = np.asarray(Image.open(tmp_path / "slope-001.png"))
        assert picture.shape[1::-1] == window.viewport.pixels[2:]
        assert count_green(picture) > 100
        whole = screenshot(ctx, tmp_path / "whole.png")
        assert whole.shape != picture.shape

    drive(window, test, drawn=True)


@pytest.mark.parametrize("panels", [False, True])
def test_the_last_seconds_are_recorded_from_the_history(tmp_path: Path, panels: bool) -> None:
    """A cube falls for a second and lies still; the last seconds show it in the air at first, then on the floor."""
    scene = tmp_path / "fall.xml"
    scene.write_text(FALL)
    window = make_window(scene)
    app = window.app
    pictures: list[Path] = [tmp_path / "first.png", tmp_path / "last.png"]

    def test(ctx: Any) -> None:
        session = app.session
        assert session.history is not None
        session.settings.record_panels = panels
        session.take_steps(700)
        state = session.engine.data.qpos.copy(), session.engine.time
        session.paused = False
        session.settings.record_last = 1.2
        ctx.key_press(imgui.Key.mod_shift.value | imgui.Key.f9.value)
        # The first notice says where it goes, and may have gone when the last one says that it is complete.
        wait(ctx, lambda: app.notices.items and "fall-001.mp4 (1.2 s, 73 frames)" in app.notices.items[-1].text)
        assert not session.paused
        session.paused = True
        # The run went on from where it was.
        assert state[1] <= session.engine.time < state[1] + 2
        session.go_to_time(state[1])
        np.testing.assert_array_equal(session.engine.data.qpos, state[0])

    drive(window, test, drawn=True)
    found = probe(tmp_path / "fall-001.mp4")
    assert found["nb_read_frames"] == "73"
    for picture, frame in zip(pictures, (0, 72), strict=True):
        select = ["-vf", f"select=eq(n\\,{frame})", "-frames:v", "1"]
        subprocess.run(["ffmpeg", "-v", "error", "-i", "fall-001.mp4", *select, str(picture)], check=True)
    first, last = (count_green(np.asarray(Image.open(picture).convert("RGB"))) for picture in pictures)
    assert last > first + 100


def test_the_last_seconds_may_be_stopped_or_lost_to_a_reset(tmp_path: Path) -> None:
    scene = tmp_path / "fall.xml"
    scene.write_text(FALL)
    window = make_window(scene)
    app = window.app

    def test(ctx: Any) -> None:
        app.session.take_steps(1500)
        app.record_last(tmp_path / "stopped.mp4")
        ctx.yield_(10)
        app.recorder.stop()
        assert app.session.engine.time == pytest.approx(3.0)
        app.record_last(tmp_path / "reset.mp4")
        ctx.yield_(10)
        app.session.reset()
        ctx.yield_(5)
        assert app.recorder.running is None
        assert app.session.engine.time == 0.0
        app.session.settings.record_last = 0.001
        app.record_last(tmp_path / "short.mp4")
        ctx.yield_(30)

    drive(window, test)
    for name in ("stopped", "reset"):
        assert 5 < int(probe(tmp_path / f"{name}.mp4")["nb_read_frames"]) < 150
    assert int(probe(tmp_path / "short.mp4")["nb_read_frames"]) == 1


def test_a_working_folder_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    window = make_window("slope")
    app = window.app

    def test(ctx: Any) -> None:
        folder.rmdir()
        control = imgui.Key.mod_ctrl.value
        for key in (control | imgui.Key.p.value, imgui.Key.f9.value, imgui.Key.mod_shift.value | imgui.Key.f9.value):
            app.notices.items.clear()
            ctx.key_press(key)
            ctx.yield_(3)
            assert str(folder) in app.notices.items[-1].text
        for save in (lambda: app.start_recording(Path("a.mp4")), lambda: app.save_curves("time\n")):
            app.notices.items.clear()
            save()
            assert str(folder) in app.notices.items[-1].text
        ctx.item_click("//**/###record")
        ctx.yield_(3)
        assert app.recorder.running is None
        app.start_recording(tmp_path / "a.mp4")
        assert app.recorder.running is not None
        window.choose_scene()
        ctx.yield_(5)

    drive(window, test)
