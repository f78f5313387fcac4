"""Checks the English of the source and the documentation: python .ci/words.py.

Docstrings are sentences that stand without their name, and the usual words of the field are used: see CONTRIBUTING.md.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
BANNED = {
    r"(taken?|takes|taking) again": "re-simulate, replay",
    r"(a|the|for|of) person('s)?": "the user",
    r"anew": "again",
    r"so many": "the number, as a parameter",
    r"(somebody|whoever)": "the user, the caller, a program",
    r"(is|are|was|were|been|be) told": "shown, reported, named",
}
OPENINGS = re.compile(r"(What|How|Of|Where|Whether)\b")
_PHRASES = [(re.compile(rf"\b{phrase}\b", re.IGNORECASE), better) for phrase, better in BANNED.items()]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every docstring of a module, those of attributes too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def complaints() -> Iterator[str]:
    """Yield a line for every place that should be worded otherwise."""
    sources = sorted((ROOT / "viewer").rglob("*.py"))
    for path in sources:
        for line, text in docstrings(path):
            if found := OPENINGS.match(text.strip()):
                yield f"{path.relative_to(ROOT)}:{line}: a docstring begins with {found[0]!r}: write a whole sentence"
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    for path in [*sources, *(ROOT / "viewer").rglob("*.js"), *(ROOT / "viewer").rglob("*.html"), *pages]:
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for phrase, better in _PHRASES:
                if found := phrase.search(text):
                    yield f"{path.relative_to(ROOT)}:{number}: {found[0]!r}: better {better}"


if __name__ == "__main__":
    lines = list(complaints())
    print(*lines, sep="\n") if lines else print("plain words")
    sys.exit(bool(lines))
