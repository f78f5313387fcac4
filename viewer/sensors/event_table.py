"""Logged contact events of pairs to rows for files and programs."""

import csv
import io
import json
import math
from collections.abc import Iterable
from typing import Any

from .event_log import LogEntry
from .events import ContactEvent

COLUMNS = (
    "time",
    "pair_id",
    "geom1",
    "geom2",
    "kind",
    "distance",
    "normal_velocity",
    "approach_speed",
    "duration",
    "peak_force",
)
"""SI units. `peak_force` is the largest normal force of the contact so far; empty where it is not known."""


def event_record(entry: LogEntry) -> dict[str, Any]:
    """An event of a pair with its fields by name, fit for JSON: what is not known is None."""
    event = entry.event
    assert isinstance(event, ContactEvent)
    return {
        "time": event.time,
        "pair_id": event.pair_id,
        "geoms": list(event.geoms),
        "kind": str(event.kind),
        "distance": _known(event.distance),
        "normal_velocity": _known(event.normal_velocity),
        "approach_speed": _known(event.approach_speed),
        "duration": event.duration,
        "peak_force": _known(entry.contact.peak_force),
    }


def events_as_json(entries: Iterable[LogEntry]) -> str:
    """A list of objects, one a line."""
    records = [json.dumps(event_record(entry)) for entry in entries if entry.pair_id is not None]
    return "[\n" + ",\n".join(records) + "\n]\n" if records else "[]\n"


def events_as_csv(entries: Iterable[LogEntry]) -> str:
    """Comma-separated values with COLUMNS as their heading."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        if entry.pair_id is not None:
            record = event_record(entry)
            record["geom1"], record["geom2"] = record.pop("geoms")
            writer.writerow(["" if record[name] is None else record[name] for name in COLUMNS])
    return text.getvalue()


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
