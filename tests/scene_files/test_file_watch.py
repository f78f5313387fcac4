"""Changes among a scene's files: each reported once, when it is whole."""

import os
import time
from pathlib import Path

import mujoco
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.file_watch import ABSENCE_TIME, POLL_INTERVAL, STILL_TIME, FileWatch, read_stamp
from contact_viewer.scene_files.safe_open import open_safely


class Clock:
    """A watch asked ten times a second, in no time."""

    def __init__(self, watch: FileWatch) -> None:
        self.watch = watch
        self.now = 0.0

    def run(self, seconds: float) -> list[frozenset[Path]]:
        """What the watch reported during so long."""
        reports = []
        for _ in range(round(seconds / POLL_INTERVAL)):
            self.now += POLL_INTERVAL * 1.001
            if report := self.watch.poll(self.now):
                reports.append(report)
        return reports


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("scene.xml", "part.xml", "mesh.stl")]
    for path in paths:
        path.write_text("old")
    return paths


@pytest.fixture
def clock(files: list[Path]) -> Clock:
    return Clock(FileWatch({path: read_stamp(path) for path in files}))


def test_nothing_is_reported_while_nothing_changes(clock: Clock) -> None:
    assert clock.run(10) == []


def test_a_change_is_reported_once_and_not_before_it_is_written(clock: Clock, files: list[Path]) -> None:
    files[1].write_text("new")
    assert clock.run(STILL_TIME - POLL_INTERVAL) == []
    assert clock.run(1) == [{files[1]}]
    assert clock.run(10) == []


def test_a_file_that_is_still_being_written_is_waited_for(clock: Clock, files: list[Path]) -> None:
    with files[0].open("w") as file:
        for _ in range(20):
            file.write("more")
            file.flush()
            os.utime(files[0], ns=(0, int(clock.now * 1e9)))
            assert clock.run(POLL_INTERVAL) == []
    assert clock.run(1) == [{files[0]}]


def test_changes_of_several_files_are_one_change(clock: Clock, files: list[Path]) -> None:
    files[0].write_text("new")
    clock.run(POLL_INTERVAL)
    files[2].write_text("new")
    assert clock.run(1) == [{files[0], files[2]}]


def test_an_atomic_replacement_of_the_same_size_and_time_is_seen(clock: Clock, files: list[Path]) -> None:
    status = files[0].stat()
    other = files[0].with_name("temporary")
    other.write_text("new")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(files[0])
    assert clock.run(1) == [{files[0]}]


def test_an_editor_that_deletes_before_it_writes_causes_one_report(clock: Clock, files: list[Path]) -> None:
    files[0].unlink()
    assert clock.run(ABSENCE_TIME / 2) == []
    files[0].write_text("new")
    assert clock.run(2) == [{files[0]}]


def test_a_file_that_disappears_and_comes_back_is_reported_twice(clock: Clock, files: list[Path]) -> None:
    files[0].unlink()
    assert clock.run(ABSENCE_TIME + 1) == [{files[0]}]
    files[0].write_text("again")
    assert clock.run(1) == [{files[0]}]


def test_a_change_that_is_taken_back_in_time_is_none(clock: Clock, files: list[Path]) -> None:
    away = files[0].rename(files[0].with_name("away"))
    clock.run(POLL_INTERVAL)
    away.rename(files[0])
    # Renaming changes the time of change, which is reason enough to look; but not for two reports.
    assert len(clock.run(2)) <= 1


def test_a_missing_file_that_appears_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "missing.stl"
    clock = Clock(FileWatch({path: None}))
    assert clock.run(2) == []
    path.write_text("here")
    assert clock.run(1) == [{path}]


def test_a_change_between_reading_and_watching_is_not_missed(files: list[Path]) -> None:
    stamps = {path: read_stamp(path) for path in files}
    files[0].write_text("changed while it was being compiled")
    assert Clock(FileWatch(stamps)).run(1) == [{files[0]}]


def test_files_of_a_scene_that_failed_can_be_added(clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "new.xml"
    clock.watch.add({path: None})
    path.write_text("here")
    assert clock.run(1) == [{path}]


def test_files_are_not_looked_at_in_every_frame(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Path] = []
    monkeypatch.setattr("contact_viewer.scene_files.file_watch.read_stamp", looks.append)
    watch = FileWatch(dict.fromkeys(files))
    for frame in range(100):
        watch.poll(frame / 1000)
    assert len(looks) == len(files)


def test_a_mesh_rewritten_within_a_second_is_read_again(tmp_path: Path) -> None:
    """MuJoCo alone keeps the old one: it compares whole seconds."""
    mesh, scene = tmp_path / "mesh.obj", tmp_path / "scene.xml"
    scene.write_text(
        """<mujoco><asset><mesh name="m" file="mesh.obj"/></asset>
           <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    )

    def write(size: float) -> None:
        mesh.write_text(f"v 0 0 0\nv {size} 0 0\nv 0 {size} 0\nv 0 0 {size}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        os.utime(mesh, (1e9, 1e9))

    def reload_size() -> float:
        return float(mujoco.MjModel.from_xml_path(str(scene)).geom_rbound[0])

    write(1)
    size = float(open_safely(scene).model.geom_rbound[0])
    write(2)
    assert reload_size() == pytest.approx(size), "MuJoCo's cache has changed: this test shows nothing any more"
    assert float(open_safely(scene).model.geom_rbound[0]) == pytest.approx(2 * size)


def test_after_two_hundred_saves_the_last_good_one_is_open(tmp_path: Path) -> None:
    """Some broken, some half-written, some replaced at once, while scenes are being opened."""
    scene = tmp_path / "scene.xml"
    part = tmp_path / "part.xml"
    part.write_text('<mujoco><worldbody><geom name="part" size="1"/></worldbody></mujoco>')

    def text(count: int) -> str:
        geoms = "".join(f'<geom name="g{i}" size="1"/>' for i in range(count))
        return f'<mujoco><include file="part.xml"/><worldbody>{geoms}</worldbody></mujoco>'

    scene.write_text(text(0))
    opened = open_safely(scene)
    assert opened.survey is not None
    watch = FileWatch(opened.survey.files)
    failures = []

    def look() -> None:
        nonlocal opened, watch
        if watch.poll():
            try:
                opened = open_safely(scene)
            except SceneError as error:
                failures.append(str(error))
                watch.add(getattr(error, "files", {}))
            else:
                assert opened.survey is not None
                watch = FileWatch(opened.survey.files)

    for save in range(1, 201):
        whole = text(save)
        if save == 200 or save % 4 == 0:
            other = tmp_path / "temporary"
            other.write_text(whole)
            other.replace(scene)
        elif save % 4 == 1:
            scene.write_text(whole.replace("</worldbody>", "", 1))
        else:
            scene.write_text(whole[: len(whole) // 2])
        # Long enough, now and then, for what is broken to be taken for settled.
        pause = time.monotonic() + (0.5 if save % 50 == 1 else 0.003)
        while time.monotonic() < pause:
            look()
            time.sleep(0.002)
    assert failures
    assert opened.model.ngeom < 201
    end = time.monotonic() + 10
    while opened.model.ngeom != 201 and time.monotonic() < end:
        look()
        time.sleep(0.01)
    assert opened.model.ngeom == 201
