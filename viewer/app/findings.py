"""Check the running scene: rules on the model in a thread, rules on a run in a process, and fixes with undo."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..assets import is_bundled
from ..checks.check import Report, check_subject
from ..checks.finding import Finding
from ..checks.many import WORKER
from ..checks.settings import CheckOptions, with_table
from ..checks.subject import Subject
from ..errors import SceneError
from ..processes import Limits, Worker
from ..render.view import Pick
from ..scene_files.scene import LoadedScene
from ..scene_files.sensor_edits import SensorEdits
from ..session.session import Session
from ..session.simulation import Change

_TIME = 180.0
"""Wall time that a check of a scene may take [s]."""


class Findings:
    """Findings of the contact rules in the open scene."""

    def __init__(self, edits: SensorEdits) -> None:
        """Prepare checks. `edits`: undo stack for fixes."""
        self._edits = edits
        self._path: Path | None = None
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None
        self.found: tuple[Finding, ...] = ()
        """Findings, the worst first."""
        self.unchecked: tuple[str, ...] = ()
        """Parts of the scene that were not checked, each with the reason."""
        self.trouble = ""
        """Reason why the last check failed; empty if it did not."""
        self.ran = False
        """True if runs were checked too."""

    @property
    def is_busy(self) -> bool:
        """True while a check goes on."""
        return self._worker is not None or (self._thread is not None and self._thread.is_alive())

    @property
    def is_running(self) -> bool:
        """True while a process checks runs, whose progress is shown; a check of the model shows none."""
        return self._worker is not None

    def attach(self, session: Session) -> None:
        """Check the model of an opened scene in a thread, without simulating."""
        self.close()
        self._path = session.engine.path
        self.found, self.unchecked, self.trouble, self.ran = (), (), "", False
        engine = session.engine
        companions: dict[int, int] = dict(getattr(engine, "companions", {}))
        hidden: tuple[int, ...] = tuple(getattr(engine, "hidden", ()))
        scene = LoadedScene(engine.path, engine.model, companions, hidden=hidden)
        self._thread = threading.Thread(target=self._look, args=(scene,), name="findings", daemon=True)
        self._thread.start()

    def why_not(self) -> str | None:
        """Return the reason why runs cannot be checked; None if they can."""
        return "The scene has no file: use contact_viewer.check(model, data) in Python." if self._path is None else None

    def check(self) -> None:
        """Start to check the scene's file with runs, in another process."""
        if self._path is None or self._worker is not None:
            return
        request = {"files": [str(self._path)], "options": CheckOptions().to_json()}
        try:
            self._worker = Worker(WORKER, request, Limits(time=_TIME))
        except OSError as error:
            self.trouble = f"cannot start a process for the check ({error.strerror})"

    def poll(self) -> None:
        """Read the findings of the process."""
        worker = self._worker
        if worker is None or not worker.poll():
            return
        if worker.results:
            self._keep(Report.from_json(worker.results[0]))
            self.ran = not self.trouble
        else:
            self.trouble = f"took longer than {_TIME:.0f} s" if worker.timed_out else "the check ended unexpectedly"
        worker.close()
        self._worker = None

    def apply(self, finding: Finding) -> None:
        """Write the fix of a finding into the scene's files, in a step that can be undone. Raises SceneError."""
        assert finding.fix is not None
        if any(is_bundled(edit.path) for edit in finding.fix.edits):
            raise SceneError("bundled scenes are not changed: save a copy first")
        self._edits.save_edits(f"{finding.rule}: {finding.fix.description}", finding.fix.edits)

    def go_to(self, session: Session, finding: Finding) -> None:
        """Go to the start, the step and the contact that show a finding."""
        if finding.start and session.why_not(Change.RESET) is None:
            key = finding.start.removeprefix("key ") if finding.start.startswith("key ") else None
            known = session.engine.keys
            session.reset(next((name for name in known if name in (key, finding.start)), None))
            session.paused = True
            session.run_to(session.engine.time + ((finding.step or 0) + 1) * session.engine.timestep)
        model = session.engine.model
        bodies = [int(model.geom_bodyid[geom]) for geom in finding.geoms if 0 <= geom < model.ngeom]
        moving = next((body for body in reversed(bodies) if body), None)
        if moving is not None:
            geom = next(geom for geom in finding.geoms if int(model.geom_bodyid[geom]) == moving)
            session.view.select(Pick(moving, geom, session.engine.pose().geom_xpos[geom].copy(), np.zeros(3)))
            session.frame()
        names = [name for name in finding.objects if session.engine.sensors.has(name)]
        if names:
            session.selected = names[0]

    def of_sensor(self, name: str) -> Sequence[Finding]:
        """Return the findings that concern a sensor."""
        return [finding for finding in self.found if name in finding.objects]

    def close(self) -> None:
        """Stop checking. Calling it twice is safe."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _look(self, scene: LoadedScene) -> None:
        try:
            options = with_table(CheckOptions(static=True, tries_fixes=False), scene.path)
            report = check_subject(Subject(scene), options)
        except SceneError as error:
            self.trouble = str(error)
            return
        # Of a scene that was opened meanwhile, another thread finds the same and more.
        if scene.path == self._path and not self.ran:
            self._keep(report)

    def _keep(self, report: Report) -> None:
        self.found, self.unchecked, self.trouble = report.findings, report.unchecked, report.trouble
