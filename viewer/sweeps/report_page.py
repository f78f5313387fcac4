"""Writes the report of a sweep as one page of HTML, which needs no server and no other file."""

import json
import math
import shlex
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from ..page.html import content_policy
from .summary import METRICS, PAGES, VIDEOS, Metric, Summary, page_name, video_name

_SHOWN = 60
"""Number of rows in a table of worst runs."""


def report_page(summary: Summary) -> str:
    """Return the page as HTML."""
    folder = files(__package__).joinpath("page")
    page, style, script = (folder.joinpath(name).read_text("utf-8") for name in _FILES)
    # Inside a script element only an end tag has a meaning.
    data = json.dumps(_page_data(summary), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    policy = f"{content_policy(style, script)}; media-src 'self' file:"
    for name, text in {"policy": policy, "style": style, "script": script, "data": data}.items():
        page = page.replace(f"{{{{{name}}}}}", text, 1)
    # Names of files may hold bytes that are no letters.
    return page.encode("utf-8", "replace").decode()


_FILES = ("report.html", "report.css", "report.js")


def _page_data(summary: Summary) -> dict[str, Any]:
    about, plan = summary.about, summary.about["plan"]
    names = list(plan["scenes"])
    known = [name for name in names if name in summary.sensors] or names
    shown = [metric for metric in METRICS if any(key[2] == metric.name for key in summary.distributions)] or METRICS
    columns = ["scene", "sensor", "seed", *summary.varied, *(metric.name for metric in shown)]
    scales = {metric.name: metric.scale for metric in shown}
    return {
        "title": ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else ""),
        "subtitle": _subtitle(summary),
        "tiles": _tiles(summary),
        "scenes": [{"name": name, "sensors": summary.sensors.get(name, [])} for name in known],
        "metrics": [{"name": metric.name, "label": metric.label, "unit": metric.unit} for metric in shown],
        "varied": list(summary.varied),
        "histograms": [each for name in known for metric in shown for each in _histograms(summary, name, metric)],
        "samples": {
            "columns": columns,
            "rows": [[_scaled(row[name], scales.get(name, 1.0)) for name in columns] for row in summary.samples],
            "every": max(1, round(summary.rows / max(1, len(summary.samples)))),
        },
        "worst": {metric.name: [_worst(summary, row, metric) for row in _rows(summary, metric)] for metric in shown},
        "unstable": [
            {**_named(row), "at": row["unstable_at"], "command": summary.shell(row, METRICS[0])}
            for row in summary.unstable
        ],
        "failures": [{**_named(row), "reason": row["reason"]} for row in summary.failures],
        "about": json.dumps({name: about[name] for name in about if name != "command"}, indent=1, ensure_ascii=False)
        if not about.get("command")
        else f"{shlex.join(about['command'])}\n\n" + json.dumps(about, indent=1, ensure_ascii=False),
    }


def _subtitle(summary: Summary) -> str:
    about, plan = summary.about, summary.about["plan"]
    versions = about["versions"]
    parts = [f"{plan['duration']:g} s a run"]
    parts += [f"varied: {', '.join(plan['vary'])}"] if plan["vary"] else []
    parts += [f"noise: {plan['noise']}"] if plan["noise"] else []
    parts += [f"controller: {plan['control'].rpartition('/')[2].removesuffix(':control')}"] if plan["control"] else []
    parts += [f"MuJoCo {versions.get('mujoco', '?')}", about["began"][:16].replace("T", " ")]
    return " · ".join(parts)


def _tiles(summary: Summary) -> list[tuple[str, str, bool]]:
    missing = summary.about["runs"] - summary.runs - summary.failure_count
    tiles = [(f"{summary.runs:,}", "runs" if summary.runs != 1 else "run", False)]
    tiles += [(f"{missing:,}", "missing", True)] if missing > 0 else []
    tiles.append((f"{summary.failure_count:,}", "failed", summary.failure_count > 0))
    tiles.append((f"{summary.unstable_count:,}", "unstable", summary.unstable_count > 0))
    tiles.append((f"{summary.dropping_count:,}", "dropped contacts", summary.dropping_count > 0))
    if rate := summary.about.get("runs_per_second"):
        tiles.append((f"{rate:.3g}", "runs/s", False))
    return tiles


def _histograms(summary: Summary, scene: str, metric: Metric) -> list[dict[str, Any]]:
    """Return the histograms of all sensors of a scene, on one scale."""
    sensors = summary.sensors.get(scene, ())
    found = [(sensor, summary.distributions.get((scene, sensor, metric.name))) for sensor in sensors]
    known = [(sensor, each) for sensor, each in found if each is not None]
    if not known:
        return []
    low = min(each.low for _, each in known)
    high = max(each.high for _, each in known)
    return [
        {
            "scene": scene,
            "sensor": sensor,
            "metric": metric.name,
            "low": low,
            "high": high,
            "count": each.count,
            "bins": each.histogram(low, high),
            "q05": each.quantile(0.05),
            "q50": each.quantile(0.5),
            "q95": each.quantile(0.95),
            "worst": each.high,
        }
        for sensor, each in known
    ]


def _rows(summary: Summary, metric: Metric) -> list[dict[str, Any]]:
    return summary.worst.get(metric.name, [])[:_SHOWN]


def _worst(summary: Summary, row: dict[str, Any], metric: Metric) -> dict[str, Any]:
    video, page = video_name(row), page_name(row)
    instant = row.get("unstable_at") or row.get(metric.instant)
    place = "" if instant is None or math.isnan(instant) else f"#t={instant:.6g}"
    return {
        **_named(row),
        "sensor": row["sensor"],
        "value": row[metric.name] * metric.scale,
        "at": row.get(metric.instant),
        "varied": [row[name] for name in summary.varied],
        "command": summary.shell(row, metric),
        "video": f"{VIDEOS}/{video}" if video in summary.videos else None,
        "page": f"{PAGES}/{quote(page)}{place}" if page in summary.pages else None,
    }


def _named(row: dict[str, Any]) -> dict[str, Any]:
    return {"scene": row["scene"], "seed": row["seed"]}


def _scaled(value: Any, scale: float) -> Any:
    return value * scale if scale != 1.0 and value is not None else value
