"""Reports which of a scene's files have changed, once they are completely written."""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

Stamp = tuple[int, int, int, int]
"""Modification and change time [ns], size [bytes] and inode of a file: any way to write a file changes one of them."""

STILL_TIME = 0.2
"""Time without changes after which a file counts as written [s]."""
POLL_INTERVAL = 0.1
"""Shortest time between two checks of the files [s]: a check of 200 files takes half a millisecond."""
ABSENCE_TIME = 1.0
"""Time after which a missing file counts as deleted [s]: some editors delete a file before they write it again."""


def read_stamp(path: Path) -> Stamp | None:
    """Return a file's present stamp; None if there is no such file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return stamp_of(status)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file from its `stat` result: times, size and inode, which change with the content."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class FileWatch:
    """Watches files when it is polled. It has neither threads nor handles, and needs no closing."""

    def __init__(self, files: Mapping[Path, Stamp | None]) -> None:
        """Watch files. `files`: stamps from before the files were read, so that no change in between is missed."""
        self._known = dict(files)
        self._seen = dict(files)
        self._changed_at: float | None = None
        self._looked_at = float("-inf")

    def add(self, files: Mapping[Path, Stamp | None]) -> None:
        """Watch further files, such as those that a scene that failed to load would have read."""
        for path, stamp in files.items():
            self._known.setdefault(path, stamp)
            self._seen.setdefault(path, stamp)

    def poll(self, now: float | None = None) -> frozenset[Path]:
        """Return files that have changed and are completely written, each change once. `now`: a clock [s]."""
        now = time.monotonic() if now is None else now
        if now - self._looked_at < POLL_INTERVAL:
            return frozenset()
        self._looked_at = now
        current = {path: read_stamp(path) for path in self._known}
        if current != self._seen:
            self._seen = current
            self._changed_at = now
        changed = frozenset(path for path, stamp in current.items() if stamp != self._known[path])
        if not changed:
            self._changed_at = None
            return changed
        if self._changed_at is None:
            # Changed between the stamps that the watch was made from and its first poll.
            self._changed_at = now
        wait = ABSENCE_TIME if _any_gone(changed, current) else STILL_TIME
        if now - self._changed_at < wait:
            return frozenset()
        self._known = current
        self._changed_at = None
        return changed


def _any_gone(paths: Iterable[Path], stamps: Mapping[Path, Stamp | None]) -> bool:
    return any(stamps[path] is None for path in paths)
