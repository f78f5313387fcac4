"""Search in other processes for changes that avoid given conditions in the open scene; the window continues."""

import threading
from collections.abc import Sequence
from pathlib import Path

from ..compare.cures import Cures, search_cures
from ..compare.trials import TrialOptions
from ..errors import SceneError
from ..session.session import Session
from ..settings import Options
from .controllers import Controllers


class CureSearch:
    """Search for changes that avoid given conditions, one at a time, with its results."""

    def __init__(self, options: Options | None) -> None:
        """Prepare searches. `options`: options of the launch; all runs use their seed."""
        self._options = options
        self._thread: threading.Thread | None = None
        self._ends = False
        self._path: Path | None = None
        self.cures: Cures | None = None
        """Results of the running search so far, or of the last search."""
        self.done, self.planned = 0, 0
        """Number of finished runs, and number of runs that are known to be needed so far."""
        self.trouble = ""
        """Reason why the last search failed; empty if it did not."""

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def why_not(self, session: Session) -> str | None:
        """Return the reason why a search is not possible, as a sentence; None if it is."""
        if session.engine.path is None:
            return "The scene has no file: use contact_viewer.find_cure in Python."
        if session.source.name and session.engine.path.name != session.source.name:
            return f"{session.source.name} is a log: use `contact-viewer cure SCENE --log FILE`."
        return None

    def attach(self, session: Session) -> None:
        """Drop the results of another scene."""
        if session.engine.path != self._path:
            self.cancel()
            self._path, self.cures, self.trouble = session.engine.path, None, ""

    def start(self, avoid: Sequence[str], seconds: float, session: Session, controllers: Controllers) -> None:
        """Search for the smallest changes that avoid given conditions in the first `seconds` of the scene's file."""
        if self.is_running or session.engine.path is None:
            return
        given, file = self._options, controllers.file
        options = TrialOptions(
            str(session.engine.path),
            tuple(avoid),
            duration=seconds,
            key=session.key,
            control=None if file is None else f"{file.path}:{file.name}",
            params={} if file is None else dict(file.params),
            seed=0 if given is None else given.seed,
            noise=None if given is None else given.noise,
        )
        self.cures, self.trouble, self._ends, self.done, self.planned = None, "", False, 0, 1
        self._thread = threading.Thread(target=self._run, args=(options,), name="find a cure", daemon=False)
        self._thread.start()

    def _run(self, options: TrialOptions) -> None:
        try:
            search = search_cures(options)
            try:
                while not self._ends:
                    step = next(search)
                    self.cures, self.done, self.planned = step.cures, step.done, step.planned
            except StopIteration as end:
                self.cures = end.value
            finally:
                search.close()
        except (SceneError, OSError) as error:
            self.trouble = str(error)

    def cancel(self) -> None:
        """End the search and keep its results. Calling it twice is safe."""
        self._ends = True

    def close(self) -> None:
        """End the search, and wait for its processes."""
        self.cancel()
        if self._thread is not None:
            self._thread.join()
