"""Compares two runs step by step: differences of the scenes, the first step that differs and why, and metrics."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..files import size_text
from ..metrics import OFF, ON, contact_times, impulse, in_contact, peak
from .links import Divergence, Judge, Link
from .sides import FOUND, NET, PRESSED, TOTAL, WIDTH, Side, StepFacts

Values = NDArray[Any]
_MOST_BYTES = 2**30
"""Largest memory for the readings of both runs [bytes]."""
MATCH = 0.02
"""Time within which events of the two runs count as the same [s]."""
Row = dict[str, Any]


class Comparison:
    """Comparison of two runs at equal simulated times. Iterate over `steps`, then read the other members."""

    def __init__(self, a: Side, b: Side, tolerance: float = 0.0) -> None:
        """Prepare a comparison. `tolerance`: see `Judge`."""
        self.a, self.b, self.tolerance = a, b, tolerance
        self.scene_differences = scene_differences(a, b)
        self.only = {key: _without_counterpart(own, other) for key, own, other in (("a", a, b), ("b", b, a))}
        """Bodies, joints, geoms and sensors that only one scene has, as `kind name`, under the keys `a` and `b`."""
        self.first_state: Divergence | None = None
        """First step after which the states differ; step 0 is the start."""
        self.first_contacts: Divergence | None = None
        """First step whose contacts or contact forces differ."""
        self.compared = 0
        """Number of steps that both runs have at the same time."""
        self.has_unmatched_steps = False
        """True if a step of one run has no step of the same time in the other run."""
        self._judge = Judge(a.scene, b.scene, tolerance)
        self._logs: tuple[_SensorLog, _SensorLog] = _SensorLog(a), _SensorLog(b)
        names = [[sensor.name for sensor in side.sensors] for side in (a, b)]
        self._names = [name for name in names[0] if name in names[1]]
        self._places = [np.array([each.index(name) for name in self._names], int) for each in names]
        self._states_equal = True
        self._newest: StepFacts | None = None
        """Values of the newest step of the second run."""

    def steps(self, duration: float) -> Iterator[int]:
        """Step both runs for a simulated time [s]; after each step, yield the number of steps so far."""
        a, b = self.a, self.b
        width = max(len(a.sensors), len(b.sensors))
        size = round(duration / min(a.timestep, b.timestep)) * width * WIDTH * 16
        if size > _MOST_BYTES:
            raise SceneError(
                f"the readings of {width} sensors in {duration:g} s take {size_text(size)}: choose with --sensor, or "
                "take a shorter --duration"
            )
        half = 0.5 * min(a.timestep, b.timestep)
        begin, end = max(a.time, b.time), max(a.time, b.time) + duration - half
        for side in (a, b):
            while side.time < begin - half and side.advance():
                pass
        first = a.read(False), b.read(False)
        if abs(a.time - b.time) <= half:
            self._compare_states(0, *first, None)
        step = 0
        while a.time < end and a.advance():
            step += 1
            wanted = self.first_contacts is None
            # Contacts of a step are read before the other run may end, or fail.
            facts = a.read(wanted)
            self._logs[0].add(facts)
            other = self._follow(a.time - half, wanted)
            if other is not None and abs(other.time - facts.time) <= half:
                self.compared += 1
                self._compare(step, facts, other)
            else:
                self.has_unmatched_steps = True
            if b.ending:
                break
            yield step
        else:
            if a.ending and not b.ending and b.time < end and b.advance():
                # It goes on where the first one has ended.
                self.has_unmatched_steps = True

    def _follow(self, time: float, with_contacts: bool) -> StepFacts | None:
        """Step the second run up to a time [s], and return its newest step; None if it has none."""
        while self.b.time < time and self.b.advance():
            self._newest = self.b.read(with_contacts)
            self._logs[1].add(self._newest)
        return self._newest

    @property
    def first(self) -> Divergence | None:
        """Earliest difference, with the first link of the chain that differs; None without a difference."""
        found = [each for each in (self.first_contacts, self.first_state) if each is not None]
        return min(found, key=lambda each: each.step, default=None)

    @property
    def taken(self) -> tuple[int, int]:
        """Numbers of steps that were read from the two runs."""
        return len(self._logs[0]), len(self._logs[1])

    @property
    def equal(self) -> bool:
        """True if states, contacts and readings were the same within the tolerance in all steps."""
        same = self.first_state is None and self.first_contacts is None
        return same and self.compared > 0 and not self.has_unmatched_steps

    def _compare(self, step: int, a: StepFacts, b: StepFacts) -> None:
        found: tuple[Link, str] | None = None
        if self.first_contacts is None:
            if a.contacts is not None and b.contacts is not None:
                found = self._judge.link(a, b, self._states_equal)
            if found is None and not (a.summed or b.summed):
                # Arrays can differ where the list does not: intervals and delays of sensors.
                readings = a.sensors[self._places[0]], b.sensors[self._places[1]]
                found = self._judge.sensors(*readings, self._names)
                if found is not None and not self._states_equal:
                    found = Link.STATE, f"the states before it differ; then {found[0]}: {found[1]}"
            if found is not None:
                self.first_contacts = Divergence(step, a.time, *found)
        self._compare_states(step, a, b, found)

    def _compare_states(self, step: int, a: StepFacts, b: StepFacts, found: tuple[Link, str] | None) -> None:
        if not self._states_equal:
            return
        if text := self._judge.state(a, b):
            self._states_equal = False
            link, cause = (Link.STATE, "") if step == 0 else found or self._judge.inputs(a, b) or (Link.MOTION, "")
            self.first_state = Divergence(step, a.time, link, f"{cause}; then {text}" if cause else text)

    def sensors(self, match: float = MATCH) -> list[Row]:
        """Return the metrics of each sensor in both runs, and their differences. `match`: time within which events of
        both runs count as the same [s]."""
        logs = self._logs
        times = [each.times() for each in logs]
        both = _nearest(times[0], times[1], 0.5 * min(self.a.timestep, self.b.timestep))
        rows: list[Row] = []
        sides = [{sensor.name: place for place, sensor in enumerate(side.sensors)} for side in (self.a, self.b)]
        for sensor in [*self.a.sensors, *(each for each in self.b.sensors if each.name not in sides[0])]:
            columns = [
                each.of(place[sensor.name]) if sensor.name in place else None
                for each, place in zip(logs, sides, strict=True)
            ]
            timesteps = self.a.timestep, self.b.timestep
            row: Row = {"name": sensor.name, "label": sensor.label, "reduce": str(sensor.reduce)}
            # Against forces that are not known every event would be one of a single run.
            unknown = any(each is not None and np.isnan(each[:, PRESSED]).any() for each in columns)
            for key, values, time, step in zip("ab", columns, times, timesteps, strict=True):
                row[key] = None if values is None else _record(values)
                row[f"metrics_{key}"] = None if values is None else _metrics(values[:, PRESSED], step)
                row[f"events_{key}"] = [] if values is None or unknown else find_events(values[:, PRESSED], time)
            if columns[0] is not None and columns[1] is not None:
                row |= _differences(row, columns[0][both[0]], columns[1][both[1]])
            row["unread"] = self.b.unread.get(sensor.name) or self.a.unread.get(sensor.name)
            row |= match_events(row.pop("events_a"), row.pop("events_b"), match)
            rows.append(row)
        return rows

    def columns(self) -> dict[str, Values | list[str]]:
        """Return a table with a row for each common step and sensor: numbers of contacts and forces [N] of both
        runs."""
        times = [each.times() for each in self._logs]
        both = _nearest(times[0], times[1], 0.5 * min(self.a.timestep, self.b.timestep))
        count = len(self._names)
        table: dict[str, Any] = {
            "step": np.repeat(both[0] + 1, count),
            "time": np.repeat(times[0][both[0]], count),
            "sensor": self._names * len(both[0]),
        }
        taken = [each.all()[rows][:, places] for each, rows, places in zip(self._logs, both, self._places, strict=True)]
        for key, values in zip("ab", taken, strict=True):
            table[f"found_{key}"] = values[..., FOUND].ravel()
            table[f"force_{key}"] = values[..., PRESSED].ravel()
            for axis, name in enumerate("xyz"):
                table[f"force_{name}_{key}"] = values[..., NET.start + axis].ravel()
        table["force_difference"] = np.linalg.norm(taken[1][..., NET] - taken[0][..., NET], axis=-1).ravel()
        return table


@dataclass
class _SensorLog:
    """Values of all sensors of a run, step by step."""

    side: Side
    _times: list[float] = field(default_factory=list)
    _rows: list[Values] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._times)

    def add(self, facts: StepFacts) -> None:
        self._times.append(facts.time)
        self._rows.append(facts.sensors)

    def times(self) -> Values:
        return np.array(self._times)

    def all(self) -> Values:
        return np.stack(self._rows) if self._rows else np.zeros((0, len(self.side.sensors), WIDTH))

    def of(self, place: int) -> Values:
        return np.array([row[place] for row in self._rows]).reshape(-1, WIDTH)


def scene_differences(a: Side, b: Side) -> list[Row]:
    """Return the differences between two scenes that concern contacts: kind, name, attribute and both values."""
    rows: list[Row] = []
    for kind in ("option", "geom", "pair", "exclude", "body", "sensor"):
        first, second = a.scene[kind], b.scene[kind]
        if kind == "option":
            names: list[tuple[str, Any, Any]] = [("", ..., ...)]
        else:
            places = [{name: i for i, name in enumerate(each["names"])} for each in (first, second)]
            wanted = {sensor.name for sensor in (*a.sensors, *b.sensors)} if kind == "sensor" else places[0]
            names = [
                (name, i, places[1][name]) for name, i in places[0].items() if name in places[1] and name in wanted
            ]
        for attribute in (name for name in first if name in second and name not in ("names", "sizes")):
            old, new = first[attribute], second[attribute]
            for name, i, j in names:
                if not np.array_equal(old[i], new[j]):
                    values = {"a": np.asarray(old[i]).tolist(), "b": np.asarray(new[j]).tolist()}
                    rows.append({"kind": kind, "name": name, "attribute": attribute, **values})
    return rows


def _without_counterpart(own: Side, other: Side) -> list[str]:
    found = []
    for kind in ("body", "joint", "geom"):
        known = set(other.scene[kind]["names"])
        found += [f"{kind} {name}" for name in own.scene[kind]["names"] if name not in known]
    names = {sensor.name for sensor in other.sensors}
    return found + [f"sensor {sensor.name}" for sensor in own.sensors if sensor.name not in names]


def _record(values: Values) -> dict[str, float]:
    """Return mean and maximum of the number of contacts, and of the net force of reported and of all matching contacts
    [N]."""
    record = {}
    for name, series in (
        ("found", values[:, FOUND]),
        ("force", np.linalg.norm(values[:, NET], axis=1)),
        ("total", np.linalg.norm(values[:, TOTAL], axis=1)),
    ):
        record[f"{name}_mean"] = float(series.mean()) if len(series) else 0.0
        record[f"{name}_max"] = float(np.nanmax(series)) if np.isfinite(series).any() else 0.0
    return record


def _metrics(forces: Values, timestep: float) -> dict[str, float]:
    """Return metrics of a sensor from its forces [N]; empty if a force is not known."""
    if not len(forces) or np.isnan(forces).any():
        return {}
    times = contact_times(in_contact(forces, ON, OFF), timestep)
    return {
        "peak_force": float(peak(forces)),
        "mean_force": float(forces.mean()),
        "impulse": float(impulse(forces, timestep)),
        "contact_time": float(times.contact_steps[-1] * timestep),
        "duty_factor": float(times.duty_factor[-1]),
        "contacts": float(times.contact_count[-1]),
    }


def find_events(forces: Values, times: Values) -> list[tuple[str, float]]:
    """Return kind and time [s] of each touchdown and lift-off, which are found by force with hysteresis."""
    if not len(forces):
        return []
    touching = in_contact(forces, ON, OFF)
    changes = np.flatnonzero(np.diff(touching.astype(int), prepend=int(touching[0])))
    return [("touchdown" if touching[i] else "lift-off", float(times[i])) for i in changes]


def _differences(row: Row, a: Values, b: Values) -> Row:
    record = {key: row["b"][key] - row["a"][key] for key in row["a"]}
    metrics = {key: row["metrics_b"][key] - value for key, value in row["metrics_a"].items() if row["metrics_b"]}
    apart = np.linalg.norm(b[:, NET] - a[:, NET], axis=1)
    known = apart[np.isfinite(apart)]
    force = {"max": float(known.max()), "mean": float(known.mean())} if len(known) else None
    return {"difference": record, "metrics_difference": metrics, "force_difference": force}


def match_events(a: list[tuple[str, float]], b: list[tuple[str, float]], match: float = MATCH) -> Row:
    """Pair the events of two runs within `match` [s], in the order of time; return the number of pairs and the other
    events."""
    left, matched, only = list(b), 0, []
    for kind, time in a:
        near = [event for event in left if event[0] == kind and abs(event[1] - time) <= match]
        if near:
            left.remove(min(near, key=lambda event: abs(event[1] - time)))
            matched += 1
        else:
            only.append((kind, time))
    as_rows = [[{"kind": kind, "time": time} for kind, time in events] for events in (only, left)]
    return {"events_matched": matched, "events_only_a": as_rows[0], "events_only_b": as_rows[1]}


def _nearest(a: Values, b: Values, within: float) -> tuple[Values, Values]:
    """Return the indices of the times that both arrays have, within a tolerance [s], in ascending order."""
    if not len(a) or not len(b):
        return np.zeros(0, int), np.zeros(0, int)
    places = np.clip(np.searchsorted(b, a - within), 0, len(b) - 1)
    fits = np.abs(b[places] - a) <= within
    return np.flatnonzero(fits), places[fits]
