"""Rows to a table for people and a file for programs; `python -m benchmarks.report` prints the file as Markdown."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from contact_viewer.render.contexts import open_context

from .environments import Environments
from .measuring import Figure, Row

REPORT = Path(__file__).parent / "report.json"
_PACKAGES = ("contact-viewer", "mujoco", "numpy", "imgui-bundle", "glfw", "PyOpenGL", "av")


def describe_machine(environments: Environments) -> dict[str, Any]:
    """Where and with what something is measured now."""
    with open_context() as context:
        renderer = context.renderer
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "renderer": renderer,
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
            **environments.versions(),
        },
    }


def write_report(path: Path, rows: Sequence[Row], machine: dict[str, Any], order: Sequence[str]) -> None:
    """Add rows to a report, in place of earlier ones of the same benchmarks. `order`: names of all benchmarks."""
    measured = {row.name for row in rows}
    kept = [entry for entry in read_report(path) if entry["name"] in order and entry["name"] not in measured]
    entries = kept + [entry_of(row) | machine for row in rows]
    entries.sort(key=lambda entry: order.index(entry["name"]))
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def read_report(path: Path) -> list[dict[str, Any]]:
    """The entries of a report; none if there is no report."""
    try:
        return list(json.loads(path.read_text()))
    except (OSError, ValueError):
        return []


def entry_of(row: Row) -> dict[str, Any]:
    """A row as the report has it."""
    return {
        "name": row.name,
        "case": row.case,
        "ours": row.ours.median,
        "ours_range": row.ours.range,
        "peer": row.peer.median if row.peer else None,
        "peer_range": row.peer.range if row.peer else None,
        "peer_name": row.peer_name,
        "unit": row.unit,
        "ratio": row.ratio,
        "goal": row.goal,
        "higher_is_better": row.higher_is_better,
        "repeats": len(row.ours.values),
        "note": row.note,
    }


def format_table(rows: Sequence[Row]) -> str:
    """Medians with the lowest and the highest; a ratio above 1 says that ours is ahead."""
    cells = [("benchmark", "ours", "peer", "", "unit", "ratio", "goal", "")]
    cells += [
        (
            row.name,
            _figure(row.ours),
            _figure(row.peer) if row.peer else "-",
            row.peer_name,
            row.unit,
            _number(row.ratio),
            _number(row.goal),
            verdict(row),
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    for place in range(len(rows), 0, -1):
        row = rows[place - 1]
        lines.insert(place + 1, "    " + row.case + (f" ({row.note})" if row.note else ""))
    return "\n".join(lines)


def format_markdown(entries: Sequence[dict[str, Any]]) -> str:
    """A report as a table for a README."""
    lines = ["| benchmark | ours | peer | | ratio | goal |", "|---|--:|--:|---|--:|--:|"]
    for entry in entries:
        numbers = [_number(entry[key]) for key in ("peer", "ratio", "goal")]
        ours = f"{_number(entry['ours'])} {entry['unit']}"
        peer = entry["peer_name"] + (f" ({entry['note']})" if entry["note"] else "")
        cells = [f"{entry['name']}: {entry['case']}", ours, numbers[0], peer, *numbers[1:]]
        lines.append(f"| {' | '.join(cells)} |")
    described = {
        f"{entry['date'][:10]}, {entry['machine']}, {entry['renderer']}, "
        + ", ".join(f"{name} {number}" for name, number in entry["versions"].items())
        for entry in entries
    }
    return "\n".join([*lines, "", *sorted(described)])


def verdict(row: Row) -> str:
    if row.ratio is None:
        return "no peer"
    if row.goal is None:
        return ""
    return "reached" if row.ratio >= row.goal else "SHORT"


def _figure(figure: Figure) -> str:
    low, high = figure.range
    median = _number(figure.median)
    return median if low == high else f"{median} ({_number(low)} to {_number(high)})"


def _number(value: float | None) -> str:
    """Three digits, none of them a power of ten."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


if __name__ == "__main__":
    print(format_markdown(read_report(REPORT)))
