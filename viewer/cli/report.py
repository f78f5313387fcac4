"""`contact-viewer report DIR`: show the results of a sweep, as a page and as a table."""

import argparse
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import save_text, size_text
from .parsing import Parser, number
from .progress import plural, report

if TYPE_CHECKING:
    from ..sweeps.result_store import ResultStore
    from ..sweeps.summary import Summary

_EPILOG = """The page is one file that opens in any browser, without a server or a network: distributions for each
sensor and metric, scatter over varied values, the worst runs with the command that opens each in the window, and
failures."""
_PAGE = "report.html"
_COLUMNS = {
    "peak_force": "peak [N]",
    "impulse": "impulse [N s]",
    "slip_distance": "slip [mm]",
    "penetration": "depth [mm]",
    "duty_factor": "duty",
    "touchdowns": "landings",
    "dropped_contacts": "dropped",
}
"""Metrics of the table, and their headings."""


def parser() -> Parser:
    from ..sweeps.summary import BY_NAME

    parser = Parser("report", "Summarise a sweep: a page for a browser, and a table here.", _EPILOG)
    parser.add_argument("folder", metavar="DIR", help="folder of a sweep, or its address")
    parser.add_argument("-o", "--output", metavar="FILE", help="page to write; default: DIR/report.html")
    parser.add_argument("--by", choices=list(BY_NAME), default="peak_force", help="metric by which runs are the worst")
    parser.add_argument(
        "--worst", type=number(0, 20, int), default=5, metavar="N", help="number of worst runs to list; default: 5"
    )
    parser.add_argument(
        "--pages",
        type=number(0, 20, int),
        default=0,
        metavar="N",
        help="also write the N worst runs as pages, with links",
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..sweeps.report_page import report_page
    from ..sweeps.result_store import open_store
    from ..sweeps.summary import summarise

    with open_store(arguments.folder) as store:
        summary = summarise(store)
        for text in summary.lost:
            report(f"warning: left out: {text}")
        if arguments.pages:
            _write_pages(store, summary, arguments.by, arguments.pages)
        path = Path(arguments.output) if arguments.output else store.folder / _PAGE
        size = size_text(save_text(path, report_page(summary)).stat().st_size)
        if not arguments.output:
            store.publish(_PAGE)
        _print_table(summary, arguments.by, arguments.worst)
        print(f"{arguments.output or store.path(_PAGE)}: {size}")
    return 0


def _write_pages(store: "ResultStore", summary: "Summary", by: str, count: int) -> None:
    """Write the worst runs as pages into DIR/pages; each page opens at the worst step."""
    from ..errors import SceneError
    from ..page.child import write_page
    from ..sweeps.summary import BY_NAME, PAGES, page_name, worst_runs

    (store.folder / PAGES).mkdir(exist_ok=True)
    for row in worst_runs(summary, by, count):
        name = f"{PAGES}/{page_name(row)}"
        instant = row.get("unstable_at") or row.get(BY_NAME[by].instant)
        try:
            words = summary.command(row)[1:]
            options = [*words[1:], *([] if instant is None or isnan(instant) else ["--at", f"{instant:.6g}"])]
            if not summary.about["plan"].get("logs"):
                options += ["--duration", str(summary.about["plan"]["duration"])]
            write_page(words[0], store.folder / name, *options)
        except (LookupError, SceneError) as error:
            report(f"warning: {page_name(row)} could not be written: {error}")
        else:
            store.publish(name)
            print(f"{store.path(name)}: {row['sensor']}, seed {row['seed']}, {by} {row[by]:.4g}")
    summary.pages = frozenset(store.names(PAGES))


def _print_table(summary: "Summary", by: str, count: int) -> None:
    from ..sweeps.summary import BY_NAME, worst_runs

    columns = _COLUMNS if by in _COLUMNS else {by: BY_NAME[by].label.lower(), **_COLUMNS}
    counts = [f"{summary.failure_count} failed", f"{summary.unstable_count} unstable"]
    print(f"{plural(summary.runs, 'run')}, {', '.join(counts)}; median and worst of")
    for scene, sensors in summary.sensors.items():
        width = max(len(name) for name in (scene, *sensors))
        print(f"\n{scene:{width}}" + "".join(f"  {heading:>16}" for heading in columns.values()))
        for sensor in sensors:
            line = f"{sensor:{width}}"
            for name in columns:
                each = summary.distributions.get((scene, sensor, name))
                line += "  " + (
                    "-".rjust(16) if each is None else f"{_text(each.quantile(0.5)):>8}{_text(each.high):>8}"
                )
            print(line)
    metric = BY_NAME[by]
    worst = worst_runs(summary, by, count)
    if worst:
        print(f"\nworst by {metric.label.lower()}")
    for row in worst:
        value = f"{row[by] * metric.scale:.4g} {metric.unit}".rstrip()
        command = summary.shell(row, metric)
        print(f"  {row['sensor']}, seed {row['seed']}: {value}" + (f"\n    {command}" if command else ""))
    for row in summary.failures[:count]:
        print(f"failed: {row['scene']}, seed {row['seed']}: {row['reason']}")


def _text(value: float) -> str:
    """Return a number in at most seven letters, most of which are digits."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"
