"""Rows to a table for people and a file for programs, with the machine that they were measured on."""

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


def write_report(path: Path, rows: Sequence[Row], machine: dict[str, Any]) -> None:
    """Add rows to a report, in place of earlier ones of the same benchmarks."""
    measured = {row.name for row in rows}
    try:
        kept = [entry for entry in json.loads(path.read_text()) if entry["name"] not in measured]
    except (OSError, ValueError):
        kept = []
    entries = kept + [entry_of(row) | machine for row in rows]
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


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
            "-" if row.ratio is None else f"{row.ratio:.3g}",
            "" if row.goal is None else f"{row.goal:.3g}",
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


def verdict(row: Row) -> str:
    if row.ratio is None:
        return "no peer"
    if row.goal is None:
        return ""
    return "reached" if row.ratio >= row.goal else "SHORT"


def _figure(figure: Figure) -> str:
    low, high = figure.range
    return f"{figure.median:.3g}" if low == high else f"{figure.median:.3g} ({low:.3g} to {high:.3g})"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
