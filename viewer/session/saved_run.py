"""Writes the history of a session into a file that shows the same steps on any machine."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..files import PartFile
from ..scene_files.file_watch import read_stamp
from ..scene_files.run_file import SUFFIX, RunFile, RunWriter
from .episodes import Episode
from .simulation import Simulation

_SOURCES_MAX = 500_000_000
"""Total size of a scene's files above which they are not saved with a run [bytes]."""
_SOURCE_SUFFIXES = (".xml", ".mjcf", ".urdf")


class RunSaver:
    """Run as it is when the saver is made; `write` can be called in another thread while the simulation goes on."""

    def __init__(
        self,
        simulation: Simulation,
        path: str | Path,
        changes: tuple[Mapping[str, Any], ...] = (),
        episode: Episode | None = None,
    ) -> None:
        """Copy a run. `changes`: sensors made in the viewer, as `SensorChange.to_json` returns them. `episode`: ended
        episode to save in place of the present one. Raises SceneError if there is nothing that can be saved."""
        self.path = Path(path)
        check_run_path(self.path)
        engine, episode = simulation.shown, episode or simulation.newest_episode
        history = None if episode is None else episode.history
        spans = history.spans() if history is not None else []
        retraced = engine.past.retrace(spans) if spans else None
        if history is None or episode is None or retraced is None:
            raise SceneError(f"{path}: only runs of MuJoCo with one environment can be saved, not of {engine.name}")
        self._retraced, self._first_row = retraced, history.first_row()
        self.steps = history.last - history.first + (history.first > 0)
        """Number of steps in the run."""
        self.forgotten = max(history.first - 1, 0)
        """Number of earlier steps, which the history has forgotten."""
        start = history.time(history.first) if history.first else -math.inf
        self._channels = episode.channels.samples(start, history.time(history.last))
        self._sources = _sources(engine.path, engine.files)
        self._about = {
            "scene": engine.path.name if engine.path is not None else None,
            "companions": list(retraced.companions.items()),
            "hidden": list(retraced.hidden),
            "version": retraced.version,
            "changes": list(changes),
            "watch_all": any(sensor.virtual for sensor in engine.sensors),
            "steps": self.steps,
        }

    def write(self) -> Path:
        """Write the file, whole or not at all. Raises RecordingError."""
        retraced = self._retraced
        writer = RunWriter(
            self.path,
            retraced.model,
            self._about,
            retraced.columns,
            retraced.rest,
            self._first_row,
            self._sources,
            retraced.versions,
            self._channels,
        )
        try:
            for block in retraced.blocks():
                writer.add(block)
            return writer.finish()
        except BaseException:
            writer.discard()
            raise


def check_run_path(path: Path) -> None:
    """Raise an error if a run cannot be written to a path."""
    if path.suffix.lower() != SUFFIX:
        raise SceneError(f"{path}: a run is saved as {SUFFIX}")
    PartFile(path).discard()


def _sources(path: Path | None, files: Mapping[Path, Any]) -> dict[str, bytes]:
    """Return the files of a scene, the scene first, by their paths from a common folder; none if they have changed."""
    if path is not None and path.suffix.lower() == SUFFIX:
        return RunFile(path).sources()
    if path is None or path.suffix.lower() not in _SOURCE_SUFFIXES or path not in files:
        return {}
    known = [path, *(file for file, stamp in files.items() if file != path and stamp is not None)]
    try:
        if any(read_stamp(file) != files[file] for file in known):
            return {}
        if sum(file.stat().st_size for file in known) > _SOURCES_MAX:
            return {}
        folder = os.path.commonpath([file.parent for file in known])
        return {file.relative_to(folder).as_posix(): file.read_bytes() for file in known}
    except (OSError, ValueError):
        return {}
