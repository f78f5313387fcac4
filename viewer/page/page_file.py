"""Writes the steps of a session as one HTML page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RecordingError
from ..files import PartFile
from ..recording.tables import EVENT_COLUMNS, EventCollector, SeenEvent, event_rows
from ..recording.talk import scene_title
from ..render.style import BAR, Gauge, palette_colors, sensor_color
from ..session.force_scale import nice_above
from ..session.session import Session
from ..settings import Reduce
from ..version import __version__
from .child import check_page_path
from .geometry import Geometry
from .html import build_page
from .poster import Instant, draw_poster, keep_instant
from .recorder import RunRecorder
from .sections import Sections

FORMAT = 1
"""Version of the format."""
_MOST_EVENTS = 5000
"""Events that a page lists; the first ones, if there are more."""
_USUAL_START = 1.0
"""Time after the begin of the run that is shown first [s]: what was dropped lies on the ground by then ..."""
_AT_HALF = 0.5
"""... or this part of a shorter run."""


@dataclass(frozen=True)
class PageOptions:
    """Options of a page: the parts of a run that it keeps and shows."""

    at: float | None = None
    """Simulated time that is shown first [s]; None for one soon after the start."""
    all_contacts: bool = False
    """True to keep the contacts of every step, however large the page becomes."""
    detail: float | None = None
    """Distance at which vertices of meshes are merged [m]; 0 for none, None as many as a usual size takes."""
    title: str = ""
    """Title; the name of the scene without one."""
    command: str | None = None
    """Command that shows a step in a window, with `{time}` in place of its time; None if there is none."""
    findings: Sequence[dict[str, Any]] = ()
    """Findings of the contact rules: rule, severity and message of each."""


class PageFile:
    """A page of the contact sensors that a session shows: `write` at each step, then `finish`.

    The file gets its name when it is complete; without `finish` nothing is left.
    """

    def __init__(self, path: str | Path, session: Session, duration: float, options: PageOptions | None = None) -> None:
        """`duration`: of the run, if it does not end before [s]."""
        check_page_path(path)
        self.path = Path(path)
        self.event_count = 0
        """Events that were found; known from `finish` on."""
        self._session, self._options = session, options or PageOptions()
        self._part = PartFile(self.path)
        self._sections = Sections()
        self._closed = False
        self._start: float | None = self._options.at
        self._duration = duration
        self._instant: tuple[float, Instant] | None = None
        self._span = (math.inf, -math.inf)
        self.notes: list[str] = []
        """Parts of the run that the page leaves out, as sentences; known after `finish`."""
        try:
            self._events = EventCollector(session)
            self._recorder: RunRecorder | None = None
        except BaseException:
            self._part.discard()
            raise

    @property
    def steps(self) -> int:
        """Steps written so far."""
        return 0 if self._recorder is None else self._recorder.steps

    def write(self, step: int, time: float) -> None:
        """Keep the step that the session is at: its number and simulated time [s]; nothing once it is finished."""
        if self._closed:
            return
        if self._recorder is None:
            self._begin(time)
        assert self._recorder is not None
        assert self._start is not None
        self._recorder.write(step, time)
        if self._instant is None or abs(time - self._start) < abs(self._instant[0] - self._start) - 1e-9:
            half = 0.5 * self._session.engine.timestep
            if self._instant is None or time > self._start - half:
                self._instant = time, keep_instant(self._session)
        self._span = min(self._span[0], time), time

    def finish(self) -> Path:
        """Complete the file under its name. Takes one more step."""
        if self._recorder is None:
            raise RecordingError(f"{self.path}: there is no step to show")
        session, recorder, options = self._session, self._recorder, self._options
        self._closed = True
        try:
            events = self._events.finish(*self._span)
            self.event_count = len(events)
            gauge = self._gauge(recorder)
            # Of that instant, so that a camera which follows a body is where the first picture has it.
            assert self._instant is not None
            start, instant = self._instant
            model, view = session.engine.model, session.view
            geometry = Geometry(model, instant.data, view, self._sections, options.detail)
            title = options.title or scene_title(session) or "scene"
            manifest = {
                "format": FORMAT,
                "title": title,
                "program": session.engine.path.name if session.engine.path is not None else "",
                "versions": self._versions(),
                "command": options.command,
                "timestep": session.engine.timestep,
                **recorder.finish(self._sections),
                **geometry.manifest(),
                **self._looks(gauge),
            }
            times = recorder.times
            manifest["start"] = int(np.argmin(np.abs(times - start)))
            manifest["events"] = self._add_events(events, times)
            if options.findings:
                self._sections.add_json("findings", list(options.findings))
            self.notes += [*geometry.notes, *recorder.notes(), *self._event_notes()]
            manifest["notes"] = self.notes
            poster = draw_poster(session, instant, gauge)
            self._part.write(build_page(title, manifest, self._sections, poster))
        except BaseException:
            self.abort()
            raise
        return self.path

    def abort(self) -> None:
        """Stop and leave nothing behind. Safe at any time, also after `finish`."""
        self._closed = True
        self._events.close()
        self._part.discard()

    def __enter__(self) -> "PageFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def _begin(self, time: float) -> None:
        session = self._session
        self._recorder = RunRecorder(session, self._options.all_contacts)
        if self._start is None:
            self._start = time + min(_USUAL_START, _AT_HALF * self._duration)

    def _gauge(self, recorder: RunRecorder) -> Gauge:
        """Choose the scale of the arrows by the usual force of the whole run: no arrow changes its scale."""
        session = self._session
        gauge = session.force_scale.last or session.force_scale.first(session.engine.data, session.usual_eye)
        forces = recorder.strongest()
        newtons = nice_above(float(np.median(forces)) * BAR / gauge.longest) if len(forces) else gauge.newtons
        return Gauge(gauge.eye, gauge.anchor, newtons, gauge.longest, gauge.sphere, gauge.reach)

    def _versions(self) -> dict[str, str]:
        return {"viewer": __version__, "mujoco": version("mujoco"), "engine": self._session.engine.name}

    def _looks(self, gauge: Gauge) -> dict[str, Any]:
        session, recorder = self._session, self._recorder
        assert recorder is not None
        gizmos, sensors = session.settings.gizmos, session.engine.sensors
        colors = palette_colors(session.engine.model, gizmos.palette)
        return {
            "sensors": [
                {
                    "name": name,
                    "label": sensors[name].label,
                    "reduce": str(sensors[name].reduce),
                    "slots": sensors[name].slots,
                    "net": sensors[name].reduce is Reduce.NETFORCE,
                    "color": sensor_color(sensors.position(name)),
                }
                for name in recorder.names
            ],
            "palette": {name: getattr(colors, name) for name in _COLORS},
            "layers": {name: getattr(gizmos, name) for name in _LAYERS},
            "scale": {
                "bar": BAR,
                "newtons": gauge.newtons,
                "longest": gauge.longest,
                "sphere": gauge.sphere,
                "reach": gauge.reach,
            },
        }

    def _add_events(self, events: list[SeenEvent], times: Any) -> dict[str, Any]:
        shown = events[:_MOST_EVENTS]
        rows = event_rows(shown)
        records = []
        for place, event in enumerate(shown):
            record: dict[str, Any] = {name: _cell(rows[name], place) for name in EVENT_COLUMNS if name != "video_frame"}
            record["frame"] = max(0, min(int(np.searchsorted(times, event.entry.seen - 1e-9)), len(times) - 1))
            record["why"] = getattr(event.entry.event, "why", "")
            records.append(record)
        self._sections.add_json("events", records)
        return {"count": len(shown), "left_out": len(events) - len(shown)}

    def _event_notes(self) -> list[str]:
        left = self.event_count - _MOST_EVENTS
        notes = [f"The first {_MOST_EVENTS} of {self.event_count} events are listed."] if left > 0 else []
        return notes + ([self._events.untracked] if self._events.untracked else [])


_COLORS = ("normal", "tangent0", "tangent1", "point", "total", "torque", "open")
_LAYERS = ("points", "forces", "normal", "tangents", "total", "torque")


def _cell(column: Any, place: int) -> Any:
    """Return a value of a column of a table."""
    if hasattr(column, "codes"):
        return column.names[int(column.codes[place])]
    return column[place].item()
