"""Turns the steps of a session into contact events, and these into rows of named columns."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import EngineError, UnstableError
from ..events.event_log import LogEntry, event_record
from ..events.tracker import ContactTracker
from ..session.session import Session
from .schedule import Schedule
from .tables import NO_FRAME, Block, Columns, Kind, as_column

EVENT_COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "pair_id": Kind.INTEGER,
    "geom1": Kind.TEXT,
    "geom2": Kind.TEXT,
    "kind": Kind.TEXT,
    "distance": Kind.NUMBER,
    "normal_velocity": Kind.NUMBER,
    "approach_speed": Kind.NUMBER,
    "duration": Kind.NUMBER,
    "peak_force": Kind.NUMBER,
}
"""SI units. `time` is inside a step; `step` and `video_frame` are the first that show the event. `peak_force` is the
largest normal force of the contact so far."""


@dataclass(frozen=True)
class SeenEvent:
    """A contact event and where it is seen first."""

    step: int
    video_frame: int
    """NO_FRAME without a video, and after its last frame."""
    entry: LogEntry


class EventCollector:
    """Finds contact events from now on: of the contact sensors' pairs, or of all pairs where there are no sensors."""

    def __init__(self, session: Session, video: Schedule | None = None) -> None:
        """`video`: of a video whose frames the events are to name."""
        self._session = session
        self._video = video
        self._origin = session.engine.time
        self._tracker = ContactTracker(session.engine, limit=None)
        session.simulation.observers.append(self._tracker)

    @property
    def pair_count(self) -> int:
        """Pairs that are followed."""
        return len(self._tracker.pairs.labels)

    @property
    def pair_total(self) -> int:
        """Pairs that should be followed; beyond a limit they are not."""
        return self._tracker.pairs.choice.total

    @property
    def untracked(self) -> str:
        """Which contacts of the scene make no events, for people; empty if there are none."""
        return self._tracker.pairs.choice.untracked

    def finish(self, start: float, end: float) -> list[SeenEvent]:
        """The events in a span of time [s] that ends now, in order. Takes one more step and stops observing.

        The state after a step, with what touches there, is known to MuJoCo only when the next step starts from it.
        """
        simulation, tracker = self._session.simulation, self._tracker
        # Not after a simulation that diverged, and is back at its start.
        if simulation.shown.time == tracker.time:
            with suppress(UnstableError, EngineError):
                # Without a controller: it may be what ended the simulation.
                simulation.step(1, lambda: None)
        self.close()
        return [self._seen(entry) for entry in tracker.log if entry.pair_id is not None and start <= entry.time <= end]

    def close(self) -> None:
        """Stop observing the session. Safe twice."""
        if self._tracker in self._session.simulation.observers:
            self._session.simulation.observers.remove(self._tracker)

    def _seen(self, entry: LogEntry) -> SeenEvent:
        step = round((entry.seen - self._origin) / self._session.engine.timestep)
        if self._video is None:
            return SeenEvent(step, NO_FRAME, entry)
        later = range(step, self._video.last_step + 1)
        frames = (frame for frame in map(self._video.frame, later) if frame is not None)
        return SeenEvent(step, next(frames, NO_FRAME), entry)


def event_rows(events: Iterable[SeenEvent]) -> Block:
    """A row for each event."""
    records: list[dict[str, Any]] = []
    for event in events:
        record = event_record(event.entry)
        record["geom1"], record["geom2"] = record.pop("geoms")
        records.append(record | {"step": event.step, "video_frame": event.video_frame})
    return {name: as_column(kind, [record[name] for record in records]) for name, kind in EVENT_COLUMNS.items()}
