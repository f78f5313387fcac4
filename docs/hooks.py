"""Hooks of the documentation's build: the first page from README, and the command line's reference from its parsers."""

import re
import shlex
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from contact_viewer.cli import COMMANDS
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"(!?\[[^\]]*\])\((?!https?:|#)([^)]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from other sources."""
    readme = _LINK.sub(_from_docs, (ROOT / "README.md").read_text())
    files.append(File.generated(config, "index.md", content=readme))
    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    with tempfile.TemporaryDirectory() as folder:
        for words in gallery():
            subprocess.run([sys.executable, "-m", "contact_viewer", *words[1:]], cwd=folder, check=True)
            page = Path(folder, words[-1])
            files.append(File.generated(config, f"gallery/{page.name}", content=page.read_bytes()))
    return files


def gallery() -> list[list[str]]:
    """Return the commands that write the pages of the gallery, as it names them."""
    text = (ROOT / "docs" / "gallery.md").read_text()
    return [shlex.split(command) for command in re.findall(r"`(contact-viewer page [^`]+)`", text)]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Name files of the repository that are not pages instead of linking to them."""
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)]+\)", r"\1", markdown)


def _from_docs(link: re.Match[str]) -> str:
    """Return a link of README as one of a page in docs/; the name alone if it leads to a file that is no page."""
    text, target = link.groups()
    if target.startswith("docs/"):
        return f"{text}({target.removeprefix('docs/')})"
    return text.strip("![]")


def command_line() -> str:
    """Return the reference of the command line: every command with its options, from the parsers."""
    pages = ["# Command line", _EXIT_CODES]
    for name in ("view", *COMMANDS):
        parser = import_module(f"contact_viewer.cli.{name}").parser()
        title = "contact-viewer [SCENE]" if name == "view" else f"contact-viewer {name}"
        pages += [f"## {title}", *_describe(parser)]
    return "\n\n".join(pages)


_EXIT_CODES = """Every command ends with one of these exit codes: 0, it did what it should; 1, something was found, or a
file is complete but ends early because the disk is full; 2, bad input, with one line on standard error; 130, Ctrl-C."""


def _describe(parser: Any) -> list[str]:
    parts = [(parser.description or "").split("\n\n")[0]]
    for group in parser._action_groups:
        rows = [row for action in group._group_actions if (row := _row(action))]
        if rows:
            heading = {"positional arguments": "Arguments", "options": "Options"}.get(
                group.title, group.title.capitalize()
            )
            parts.append("\n".join([f"| {heading} | |", "|---|---|", *rows]))
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog}\n```")
    return parts


def _row(action: Any) -> str:
    if action.help == "==SUPPRESS==":
        return ""
    value = action.metavar or ("" if action.nargs == 0 else "|".join(map(str, action.choices or ())) or action.dest)
    names = [f"{name} {value}".strip() for name in action.option_strings[-1:]] or [str(value)]
    name = names[0].replace("|", "\\|")
    return f"| `{name}` | {_cell(action.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("%%", "%").replace("<", "&lt;")
