"""The scenes that are shown on the pages of rules."""

from pathlib import Path

import pytest
from contact_viewer.checks.check import check_file, explain
from contact_viewer.checks.settings import CheckOptions

PAGES = Path(__file__).parent.parent.parent / "docs" / "rules"
SCENES = sorted((PAGES / "scenes").glob("*-*.xml"))


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_the_scene_on_a_rules_page_breaks_the_rule(scene: Path) -> None:
    report = check_file(str(scene), CheckOptions(select=(scene.stem,)))
    assert {finding.rule for finding in report.findings} == {scene.stem}
    assert f"(pictures/{scene.stem}.png)" in (PAGES / f"{scene.stem}.md").read_text()
    assert (PAGES / "pictures" / f"{scene.stem}.png").is_file()
    assert ".png" not in explain(scene.stem)
