"""Pytest fixture `contact_truth`, which tests your contact functions against MuJoCo."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .audit import AuditReport
    from .situations import Stage


class ContactTruth:
    """Assertions about your own contact functions on one model. Each takes the arguments of `contact_viewer.audit`."""

    def __init__(self, model: Any, folder: Path) -> None:
        self._model, self._folder = model, folder

    def assert_contact(
        self, term: Any, of: Mapping[str, str] | Sequence[str] | None = None, **options: Any
    ) -> "AuditReport":
        """Fail unless a term is true where its targets are in contact, and only there."""
        return self._audit(term, "contact", of=of, **options)

    def assert_force(self, term: Any, rel: float = 0.05, world: bool = False, **options: Any) -> "AuditReport":
        """Fail unless a term returns the force on its targets [N]; `world`: True for vectors in the world frame."""
        return self._audit(term, "force-world" if world else "force", rel=rel, **options)

    def assert_air_time(self, term: Any, **options: Any) -> "AuditReport":
        """Fail unless a term returns the time in the air [s], or a reward for it that is paid at touchdown."""
        return self._audit(term, "air-time", **options)

    def assert_grasp(self, term: Any, fingers: Sequence[str], object: str, **options: Any) -> "AuditReport":
        """Fail unless a term is true where fingers push an object from opposite sides, and only there."""
        return self._audit(term, "grasp", of=list(fingers), against=object, **options)

    def assert_reads(self, term: Any, *patterns: str, role: str | None = None, **options: Any) -> None:
        """Fail unless all values on which a term depends match one of some patterns, such as `*.force.normal`."""
        from .audit import audit

        report = audit(term, self._model, role, **options)
        other = [name for name in report.reads if not any(fnmatch(name, pattern) for pattern in patterns)]
        if other or not report.reads:
            wanted = " or ".join(patterns)
            pytest.fail(f"{report.term} reads {', '.join(other) or 'nothing'}, not only {wanted}", pytrace=False)

    def assert_never(self, *events: str, control: Any = None, duration: float = 2.0, settle: float = 0.1) -> None:
        """Fail if something happens in runs from all keyframes.

        Args:
            events: `self contact`, or `peak above 400 N` of the force between the robot and geoms that never move.
            control: Function of model and data that is called before every step.
            duration: Simulated time of a run [s].
            settle: Time at the start of a run that does not count [s].
        """
        import numpy as np

        from ..mjmodel.matching import contact_forces
        from ..mjmodel.names import geom_names
        from .audit import as_model
        from .situations import Stage

        stage = Stage(as_model(self._model))
        limits = [re.fullmatch(r"peak above (\d+\.?\d*) ?N", event) for event in events]
        unknown = [
            event for event, limit in zip(events, limits, strict=True) if limit is None and event != "self contact"
        ]
        if unknown or not events:
            pytest.fail(f"assert_never knows 'self contact' and 'peak above 400 N', not {unknown}", pytrace=False)
        names, model = geom_names(stage.model), stage.model
        most = min((float(limit[1]) for limit in limits if limit), default=float("inf"))
        for situation in stage.controlled(control or (lambda model, data: None), duration):
            states: list[Any] = []
            for time in stage.run(situation):
                states.append(stage.state.copy())
                if time < settle:
                    continue
                geoms = stage.data.contact.geom
                forces = contact_forces(model, stage.data, np.arange(len(geoms)))[:, 0]
                floor = stage.static[geoms].any(axis=1)
                trees = model.body_rootid[model.geom_bodyid[geoms]]
                own = ~floor & (trees[:, 0] == trees[:, 1]) & (forces > 1.0)
                if "self contact" in events and own.any():
                    first, second = geoms[np.argmax(own * forces)]
                    self._fail(
                        f"{names[first]} touches {names[second]} at {time:.3f} s, {situation.name}", stage, states
                    )
                peak = float(forces[floor].sum())
                if peak > most:
                    self._fail(f"{peak:.0f} N at {time:.3f} s, above {most:g} N, {situation.name}", stage, states)

    def _fail(self, text: str, stage: "Stage", states: list[Any]) -> None:
        """Save the steps up to the present one, and fail."""
        import mujoco

        from ..mjmodel.state import STATE
        from .audit import save_states

        last = stage.state.copy()
        mujoco.mj_getState(stage.model, stage.data, last, STATE)
        file = self._folder / "never.cvrun"
        save_states(file, stage.model, [*states, last])
        pytest.fail(f"{text}\ncontact-viewer {file} --go-to {last[0]:.6g}", pytrace=False)

    def _audit(self, term: Any, role: str, **options: Any) -> "AuditReport":
        from .audit import audit

        report = audit(term, self._model, role, save=self._folder, **options)
        if not report.ok:
            pytest.fail(str(report), pytrace=False)
        return report


@pytest.fixture
def contact_truth(tmp_path: Path) -> Callable[[Any], ContactTruth]:
    """Return a function of a model, or of a scene's file, whose result has assertions about your contact functions.

    Example:
        def test_terms(contact_truth):
            truth = contact_truth("robot.xml")
            truth.assert_contact(feet_contact, of=["left_foot", "right_foot"])
            truth.assert_reads(feet_contact, "*.force.normal")
    """
    return lambda model: ContactTruth(model, tmp_path / "disagreements")
