"""What the Help menu and other texts refer to exists in an installed package."""

import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import contact_viewer
import pytest
from contact_viewer.cli import COMMANDS

from ..driver import drive, make_window, screenshot
from ..text_room import recorded_text

PROGRAM = Path(sys.executable).with_name("contact-viewer")
_FILES = re.compile(r"README|CONTRIBUTING|CHANGELOG|ARCHITECTURE|\bdocs/|\bexamples/|\bbenchmarks/|\.md\b")
"""Of the repository, which the package does not hold."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All that the window says on its page about documentation."""
    window = make_window("slope", width=900, height=700, quality="low")
    texts: list[str] = []

    def test(ctx: Any) -> None:
        ctx.menu_click("//##MainMenuBar/Help/Documentation")
        ctx.yield_(2)
        with recorded_text() as drawn:
            ctx.yield_(1)
            drawn.clear()
            ctx.yield_(1)
            inside = [each for each in drawn if "help page" in each.panel]
            assert all(each.in_sight and not each.cut for each in inside)
            texts.extend(each.text for each in inside)
        screenshot(ctx, tmp_path_factory.mktemp("help") / "page.png")

    drive(window, test)
    return "\n".join(texts)


def test_the_documentation_page_names_commands_that_work(page: str) -> None:
    commands = re.findall(r"`contact-viewer ([^`]+)`", page)
    assert {"--help", "COMMAND --help"} <= set(commands)
    for command in commands:
        for name in COMMANDS if "COMMAND" in command else [""]:
            words = command.replace("COMMAND", name).replace("SCENE", "slope").split()
            run = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False)
            assert run.returncode == 0, words
            assert run.stdout, words


def test_the_documentation_page_names_python_help_that_says_something(page: str) -> None:
    names = re.findall(r"`help\((contact_viewer[^)]*)\)`", page)
    assert "contact_viewer" in names
    for name in names:
        described = getattr(contact_viewer, name.partition(".")[2]) if "." in name else contact_viewer
        assert len(pydoc.getdoc(described)) > 200
    overview = pydoc.getdoc(contact_viewer)
    assert all(name in overview for name in contact_viewer.__all__ if name != "__version__")


def test_no_text_of_the_package_names_a_file_that_is_not_installed() -> None:
    (folder,) = contact_viewer.__path__
    kinds = (".py", ".js", ".html", ".css", ".xml", ".vert", ".frag")
    texts = [path for path in Path(folder).rglob("*") if path.suffix in kinds]
    assert len(texts) > 150
    for path in texts:
        assert not _FILES.findall(path.read_text(encoding="utf-8")), path


def test_first_steps_name_the_button_that_pulls() -> None:
    """What a new user is told first is what the list of keys says: with the other button a body turns."""
    window = make_window("slope", width=900, height=700, quality="low")
    texts: list[str] = []

    def test(ctx: Any) -> None:
        window.help_shown = True
        ctx.menu_click("//##MainMenuBar/Help/First steps")
        ctx.yield_(2)
        with recorded_text() as drawn:
            ctx.yield_(2)
            texts.extend(each.text for each in drawn)

    drive(window, test)
    pull = texts[texts.index("Pull the selected body") - 1]
    assert pull == "Ctrl+right drag"
    assert any(f"{pull} pulls it" in text for text in texts)
    assert "Menu of a body" in texts
