"""Finds the scenes among files and folders, and checks several in parallel."""

import glob
import os
import re
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..assets import bundled_scene
from ..errors import SceneError
from ..processes import Limits, Worker, describe_signal
from ..scene_files.includes import find_include
from ..scene_files.scene import SUFFIXES
from ..scene_files.xml_tags import XmlError, find_tags, read_text
from .check import Report, check_file
from .settings import CheckOptions

_CHUNK = 6
"""Largest number of scenes that a process gets at a time."""
_OPENING = 60.0
"""Wall time that a scene may take in addition to its runs, for loading and for fixes [s]."""
WORKER = f"{__package__}.worker"
"""Module of the process that checks scenes."""
_ROOT = re.compile(r"<mujoco[\s>/]")
_HEAD = 20_000
"""Number of characters in which the root element of a scene's file is searched."""


def find_scenes(targets: Sequence[str]) -> tuple[list[str], int]:
    """Return the scenes that a user has named by files, folders, patterns or names of bundled scenes.

    Args:
        targets: Files, folders, patterns or names, as the user wrote them.

    Returns:
        Files, each once, and the number of files in folders that are left out because other scenes include them.

    Raises:
        SceneError: A target does not exist, or a folder or pattern has no scenes.
    """
    found: dict[str, None] = {}
    left_out = 0
    for target in targets:
        path = Path(target)
        if path.is_dir():
            scenes, included = _in_folder(path)
            left_out += included
        elif path.exists() or bundled_scene(target) is not None or not glob.has_magic(target):
            scenes = [target]
        else:
            scenes = sorted(name for name in glob.glob(target, recursive=True) if os.path.isfile(name))
        if not scenes:
            raise SceneError(f"{target}: no scenes there")
        found.update(dict.fromkeys(scenes))
    return list(found), left_out


def _in_folder(folder: Path) -> tuple[list[str], int]:
    """Return the scenes in a folder, and the number of files that are left out because scenes include them."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES[:2] and path.is_file())
    scenes, included = [], set()
    for path in files:
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        try:
            text = read_text(path)
            if not _ROOT.search(text[:_HEAD]):
                continue
            scenes.append(path)
            for tag in find_tags(text):
                if tag.opens and tag.name == "include":
                    name = tag.attributes.get("file", "")
                    if (target := find_include(name, path, path)) is not None:
                        included.add(target.resolve())
        except (SceneError, XmlError):
            # Whatever is wrong with it, its report will say.
            scenes += [] if path in scenes else [path]
    kept = [str(path) for path in scenes if path.resolve() not in included]
    return kept, len(scenes) - len(kept)


@dataclass
class _Process:
    """Worker process, and the scenes that it has not checked yet."""

    worker: Worker
    files: deque[str]
    done: int = 0
    since: float = field(default_factory=time.monotonic)
    """Time at which the process began its first unfinished scene, monotonic clock [s]."""


def check_many(files: Sequence[str], options: CheckOptions, jobs: int) -> Generator[Report | None, None, None]:
    """Yield the reports of scenes as they come, and None from time to time while there are none.

    A single scene is checked in this process. Of several scenes, one that crashes or hangs loses only its own report.

    Args:
        files: The scenes.
        options: Options of the check.
        jobs: Number of processes.
    """
    if len(files) <= 1:
        yield from (check_file(file, options) for file in files)
        return
    waiting, running = deque(files), list[_Process]()
    allowed = options.limit + _OPENING
    chunk = max(1, min(_CHUNK, len(files) // (2 * jobs)))
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                part = [waiting.popleft() for _ in range(min(chunk, len(waiting)))]
                running.append(_start(part, options, allowed))
            for process in list(running):
                ended = process.worker.poll()
                for answer in process.worker.results[process.done :]:
                    process.done += 1
                    process.files.popleft()
                    process.since = time.monotonic()
                    yield Report.from_json(answer)
                late = process.files and time.monotonic() - process.since > allowed
                if ended or late:
                    running.remove(process)
                    if process.files:
                        yield Report(process.files.popleft(), trouble=_end(process.worker, bool(late), allowed))
                        waiting.extendleft(reversed(process.files))
                    process.worker.close()
            yield None
            if running:
                running[0].worker.wait(0.02)
    finally:
        for process in running:
            process.worker.close()


def _start(files: list[str], options: CheckOptions, allowed: float) -> _Process:
    request = {
        "files": [str(Path(f).absolute()) if Path(f).exists() else f for f in files],
        "options": options.to_json(),
    }
    return _Process(Worker(WORKER, request, Limits(time=allowed * len(files) + 10)), deque(files))


def _end(worker: Worker, late: bool, allowed: float) -> str:
    """Return the reason why a process has not reported on a scene."""
    if late or worker.timed_out:
        return f"took longer than {allowed:g} s"
    if worker.over_memory:
        return "needs too much memory"
    how = describe_signal(worker.exit_code) or (worker.stderr.splitlines() or [f"exit code {worker.exit_code}"])[-1]
    return f"ended the process that checked it ({how})"
