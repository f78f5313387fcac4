"""The documentation is built without a warning, and its pages ask no other host for anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="make docs installs it")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_fetches_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        text = page.read_text()
        assert not re.findall(r"<(?:script|img|iframe|source)[^>]+src=\"?https?:[^>]*>", text), page
        assert not re.findall(r"<link[^>]+rel=\"?(?:stylesheet|preload|preconnect)[^>]+https?:[^>]*>", text), page


def test_the_reference_has_every_command_and_public_name(site: Path) -> None:
    from contact_viewer import __all__ as names
    from contact_viewer.cli import COMMANDS

    commands = (site / "reference" / "command-line.html").read_text()
    assert all(f"contact-viewer {command}" in commands for command in COMMANDS)
    python = (site / "reference" / "python.html").read_text()
    assert all(name in python for name in names if not name.startswith("_"))


def test_search_finds_symptoms(site: Path) -> None:
    assert "reads 0" in (site / "search" / "search_index.json").read_text()
