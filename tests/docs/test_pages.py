"""Every code block of README and of the pages runs as it is printed, and every link leads somewhere."""

import contextlib
import io
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from contact_viewer.cli import main

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCENES = ROOT / "docs" / "symptoms" / "scenes"
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*) -->\n+)?^```(?P<language>\w+)\n(?P<code>.*?)^```$(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.M | re.S,
)


class Block(NamedTuple):
    """A block of code on a page. `note`: why it is not run, if it is not. `output`: the text block right after it."""

    line: int
    language: str
    code: str
    note: str
    output: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for match in BLOCK.finditer(text):
        line = text[: match.start("code")].count("\n")
        yield Block(line, match["language"], match["code"], match["note"] or "", match["output"] or "")


def pages_with(*languages: str) -> list[Any]:
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in PAGES
        if any(block.language in languages and not block.note.startswith("not run") for block in blocks(page))
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the scenes that the pages name."""
    for scene in SCENES.glob("*.xml"):
        shutil.copy(scene, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_runs_as_printed(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language != "python" or block.note.startswith("not run"):
            continue
        code = "\n" * block.line + block.code
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names)
        check_output(block, printed.getvalue())


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_run_as_printed(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        if block.language != "sh" or block.note.startswith("not run"):
            continue
        capsys.readouterr()
        for line in block.code.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            assert words[0] == "contact-viewer", f"{page.name}: {line}: mark the block with <!-- not run: why -->"
            expected = (1,) if "# exit code 1" in line else (0,)
            assert main(words[1:]) in expected, line
        check_output(block, capsys.readouterr().out)


def check_output(block: Block, printed: str) -> None:
    """Each printed line of the page must be in the output; "…" stands for anything."""
    found = [" ".join(line.split()) for line in printed.splitlines()]
    for line in block.output.splitlines():
        parts = [re.escape(part) for part in " ".join(line.split()).split("…")]
        assert any(re.search(".*".join(parts), line) for line in found), f"line {block.line}: {line!r} in {printed}"


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not re.match(r"https?:|mailto:", target):
            assert (page.parent / target).exists(), target
