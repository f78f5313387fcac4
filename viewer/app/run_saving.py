"""Saves the run of a session into a file, in a thread of its own while the simulation goes on."""

import threading
from pathlib import Path

from ..errors import SceneError
from ..files import size_text
from ..scene_files.sensor_edits import SensorEdits
from ..session.saved_run import RunSaver
from ..session.simulation import Simulation


class RunSaving:
    """At most one run is being saved."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._path: Path | None = None
        self._done: str | SceneError | None = None

    @property
    def is_busy(self) -> bool:
        """True if a run is being saved, or its end was not reported yet."""
        return self._thread is not None

    def start(self, simulation: Simulation, path: Path, edits: SensorEdits) -> None:
        """Save the run as it is now. Raises SceneError where that cannot be."""
        if self._thread is not None:
            raise SceneError(f"{self._path}: is still being saved")
        saver = RunSaver(simulation, path, tuple(change.to_json() for change in edits.changes))
        self._path = path
        # Not a daemon: the program ends when the file is complete.
        self._thread = threading.Thread(target=self._save, args=(saver,), name=f"save {path.name}")
        self._thread.start()

    def poll(self) -> tuple[Path, str] | None:
        """The file that was completed, and what to say of it, once; None if there is none. Raises SceneError."""
        if self._thread is None or self._thread.is_alive():
            return None
        return self.wait()

    def wait(self) -> tuple[Path, str] | None:
        """As `poll`, once it has ended."""
        thread, path, self._thread = self._thread, self._path, None
        if thread is None or path is None:
            return None
        thread.join()
        if isinstance(self._done, SceneError):
            raise self._done
        return path, str(self._done)

    def _save(self, saver: RunSaver) -> None:
        try:
            path = saver.write()
            left_out = f"; the {saver.forgotten} before them are forgotten" if saver.forgotten else ""
            self._done = f"saved {path}: {saver.steps} steps, {size_text(path.stat().st_size)}{left_out}"
        except SceneError as error:
            self._done = error
        except BaseException as error:  # Shown to a person, whatever it is.
            self._done = SceneError(f"{saver.path}: the run could not be saved ({error})")
