"""Pytest fixture `contact_check`, which fails a test if a scene's contacts have problems."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest


@pytest.fixture
def contact_check() -> Callable[..., None]:
    """Return a function that fails the test with the findings of a scene.

    It takes a scene's file, or `model=` and `data=`, and other arguments of `contact_viewer.check`. `fail_on`:
    lowest severity that fails the test: `note`, `warning` or `error`.

    Example:
        def test_scene(contact_check):
            contact_check("robot.xml")
            contact_check(model=env.model, data=env.data, ignore=["friction-mixing"])
    """

    def run(
        scene: Any = None,
        *,
        model: Any = None,
        data: Any = None,
        ignore: Sequence[str] = (),
        fail_on: str = "warning",
        **options: Any,
    ) -> None:
        # Imported here: pytest loads this module in every run of every project.
        from .check import check
        from .settings import read_severity

        if (scene is None) == (model is None):
            raise TypeError("contact_check needs a scene's file or model=, and not both")
        least = read_severity(fail_on, "contact_check")
        found = check(scene if model is None else model, data, ignore=tuple(ignore), **options)
        bad = [finding for finding in found if finding.severity >= least]
        if bad:
            lines = [f"{each.severity.word} {each.rule}: {each.text} {each.remedy}".rstrip() for each in bad]
            pytest.fail("\n".join(lines), pytrace=False)

    return run
