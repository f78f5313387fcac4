"""Files are replaced whole or not at all, and sizes are short."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from contact_viewer.errors import RecordingError
from contact_viewer.files import PartFile, describe_strays, free_path, naming, replace_file, save_text, size_text


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text("old")
    path.chmod(0o640)
    assert replace_file(path, b"new") == path
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "curves.csv"
    save_text(path, "old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(RecordingError, match=r"curves.csv: cannot be written \(No space left on device\)"):
        save_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    target, link, ahead = tmp_path / "large" / "clip.mp4", tmp_path / "clip.mp4", tmp_path / "next.mp4"
    target.write_text("old")
    link.symlink_to(target)
    ahead.symlink_to(tmp_path / "large" / "next.mp4")
    assert replace_file(link, b"new") == link
    assert replace_file(ahead, b"next") == ahead
    assert link.is_symlink()
    assert ahead.is_symlink()
    assert target.read_bytes() == b"new"
    assert (tmp_path / "large" / "next.mp4").read_bytes() == b"next"
    round_trip = tmp_path / "round"
    round_trip.symlink_to(round_trip)
    with pytest.raises(RecordingError, match="the link has no target"):
        PartFile(round_trip)


def test_a_file_takes_the_place_of_another_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_text("old")
    file = PartFile(path)
    file.part.write_text("half of the new")
    assert path.read_text() == "old"
    file.discard()
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


WRITE = "import sys; from contact_viewer.files import replace_file; replace_file(sys.argv[1], b'new')"


def test_a_read_only_file_of_an_ordinary_user_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_text("precious")
    path.chmod(0o444)
    # Root without the right to overrule permissions is an ordinary user.
    ordinary = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    command = [*ordinary, sys.executable, "-c", WRITE, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "clip.mp4: cannot be written (it is there already, and read-only)" in result.stderr
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_removed_meanwhile_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    file = PartFile(folder / "clip.mp4")
    file.check()
    file.part.unlink()
    folder.rmdir()
    with pytest.raises(RecordingError, match=r"clip\.mp4: cannot be written \(the folder .*out was removed\)"):
        file.check()
    file.discard()


def test_two_programs_that_start_at_once_take_different_names(tmp_path: Path) -> None:
    """Threads are as good as programs here: locks of files belong to whoever has opened them."""
    files: list[PartFile] = []
    start = threading.Barrier(8)

    def take() -> None:
        start.wait()
        with naming(tmp_path):
            files.append(PartFile(free_path(tmp_path, "slope", ".mp4")))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(file.final.name for file in files) == [f"slope-{number:03d}.mp4" for number in range(1, 9)]
    with pytest.raises(RecordingError, match=r"slope-003\.mp4: is being written already"):
        PartFile(tmp_path / "slope-003.mp4")
    for file in files:
        file.discard()
    assert free_path(tmp_path, "slope", ".mp4").name == "slope-001.mp4"


def test_one_of_many_programs_that_are_given_one_name_at_once_writes_it(tmp_path: Path) -> None:
    """Threads are as good as programs here, as above."""
    for number in range(20):
        path, start = tmp_path / f"{number}.mp4", threading.Barrier(8)
        files: list[PartFile] = []
        refusals: list[str] = []

        def take(path: Path, start: threading.Barrier, files: list[PartFile], refusals: list[str]) -> None:
            start.wait()
            try:
                files.append(PartFile(path))
            except RecordingError as error:
                refusals.append(str(error))

        threads = [threading.Thread(target=take, args=(path, start, files, refusals)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(files) == 1
        assert refusals == [f"{path}: is being written already, here or by another program"] * 7
        files[0].discard()


def test_a_name_of_two_lines_is_reserved_and_its_stray_told(tmp_path: Path) -> None:
    path = tmp_path / "two\nlines.mp4"
    running = PartFile(path)
    with pytest.raises(RecordingError, match="is being written already"):
        PartFile(path)
    running._let_go()
    assert running.part.name in str(describe_strays(tmp_path))


@pytest.mark.parametrize("length", [240, 300])
def test_a_name_that_is_too_long_is_one_clear_line(tmp_path: Path, length: int) -> None:
    with pytest.raises(RecordingError, match=r"x\.mp4: cannot be written \(File name too long\)"):
        PartFile(tmp_path / f"{length * 'x'}.mp4")


@pytest.mark.parametrize("name", ["clip.mp4", "frames", "data.csv", "run.cvrun"])
def test_a_closed_folder_of_an_ordinary_user_is_one_clear_line(tmp_path: Path, name: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    ordinary = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    arguments = {
        "data.csv": ["export", "slope", "-o", str(closed / name)],
        "run.cvrun": ["events", "slope", "--save-run", str(closed / name)],
    }.get(name, ["record", "slope", "-o", str(closed / name)])
    command = [*ordinary, sys.executable, "-m", "contact_viewer", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    closed.chmod(0o700)
    assert result.returncode == 2
    assert result.stderr.startswith(f"contact-viewer: {closed}")
    assert result.stderr.endswith(": cannot be written (Permission denied)\n")
    assert result.stderr.count("\n") == 1


def test_a_complete_file_that_cannot_have_its_name_is_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    file = PartFile(path)
    file.part.write_text("recorded")
    # Somebody makes a folder of that name meanwhile; a folder that becomes read-only is no other case.
    path.mkdir()
    (path / "theirs").touch()
    with pytest.raises(RecordingError) as raised:
        file.commit()
    assert str(raised.value).startswith(f"{path}: cannot be written (")
    assert str(raised.value).endswith(f"; what was recorded is complete in {file.part}")
    assert file.part.read_text() == "recorded"


KILLED = """
import os, signal, sys
from contact_viewer.files import PartFile
file = PartFile(sys.argv[1])
print(file.part.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_program_left_is_told_and_what_a_running_one_writes_is_not(tmp_path: Path) -> None:
    running = PartFile(tmp_path / "mine.mp4")
    assert describe_strays(tmp_path) is None
    command = [sys.executable, "-c", KILLED, str(tmp_path / "lost.mp4")]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    part = killed.stdout.strip()
    assert describe_strays(tmp_path) == f"{tmp_path}: a file left unfinished by a program that was killed: {part}"
    # It is a user's to remove, and keeps nobody from writing that file.
    assert replace_file(tmp_path / "lost.mp4", b"new").read_bytes() == b"new"
    assert (tmp_path / part).exists()
    running.discard()


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (52_300, "52 kB"),
        (1_340_000, "1.3 MB"),
        (12_340_000, "12.3 MB"),
        (1e8, "100 MB"),
        (4e9, "4.0 GB"),
    ],
)
def test_sizes_are_for_people(size: float, text: str) -> None:
    assert size_text(size) == text
