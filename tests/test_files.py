"""Files are replaced whole or not at all, and sizes are short."""

from pathlib import Path

import pytest
from contact_viewer.errors import RecordingError
from contact_viewer.files import replace_file, save_text, size_text


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
