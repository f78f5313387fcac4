"""Writes the steps of a session as one HTML page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RecordingError
from ..events.event_log import event_record
from ..files import PartFile
from ..recording.tables import EventCollector, SeenEvent
from ..recording.talk import scene_title
from ..render.style import BAR, Gauge, glyph_scale, palette_colors, sensor_color
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
_MOST_EVENTS = 20_000
"""Largest number of events that a page lists: the first events of the run."""
_USUAL_START = 1.0
"""Time after the start of the run that is shown first [s]: a dropped object then lies on the ground."""
_AT_HALF = 0.5
"""Fraction of a run's duration that is shown first, if this is earlier."""


@dataclass(frozen=True)
class PageOptions:
    """Options of a page: the parts of a run that it keeps and shows."""

    at: float | None = None
    """Simulated time that the page shows first [s]; None for a time soon after the start."""
    all_contacts: bool = False
    """True to keep the contacts of every step, however large the page becomes."""
    detail: float | None = None
    """Distance at which vertices of meshes are merged [m]; 0 merges none, None lets the number of triangles decide."""
    title: str = ""
    """Title of the page; if it is empty, the name of the scene."""
    command: str | None = None
    """Command that opens the run in a window, to which the page adds `--go-to TIME`; None if there is none."""
    findings: Sequence[dict[str, Any]] = ()
    """Findings of the contact rules: rule, severity and message of each."""


class PageFile:
    """A page of the contact sensors that a session shows: `write` at each step, then `finish`.

    The file gets its name when it is complete; without `finish` no file is left.
    """

    def __init__(self, path: str | Path, session: Session, duration: float, options: PageOptions | None = None) -> None:
        """Open the file.

        Args:
            path: File to write, `.html`.
            session: Session whose steps are written.
            duration: Simulated time of the run, which may end earlier [s].
            options: Choices for the page.
        """
        check_page_path(path)
        self.path = Path(path)
        self.event_count = 0
        """Number of events in the run; known from `finish` on."""
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
        """Number of steps written so far."""
        return 0 if self._recorder is None else self._recorder.steps

    def write(self, step: int, time: float) -> None:
        """Keep the session's step, with its number and simulated time [s]. Does nothing after `finish`."""
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
        """Complete the file under its name, and return its path. Simulates one more step."""
        if self._recorder is None:
            raise RecordingError(f"{self.path}: there is no step to show")
        session, recorder, options = self._session, self._recorder, self._options
        self._closed = True
        try:
            events = self._events.finish(*self._span)
            self.event_count = len(events)
            gauge = self._gauge(recorder)
            # The scene is read at that instant: a camera that follows a body is where the first picture has it.
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
        """Stop, and leave no file behind. Safe at any time, also after `finish`."""
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
        """Return a scale for arrows that fits the median force of the run: a page never rescales its arrows."""
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
        model = session.engine.model
        colors, scale = palette_colors(model, gizmos.palette), glyph_scale(model, gizmos, gauge)
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
                "torque": scale.torque / scale.force,
                "longest": gauge.longest,
                "sphere": gauge.sphere,
                "reach": gauge.reach,
            },
        }

    def _add_events(self, events: list[SeenEvent], times: Any) -> dict[str, Any]:
        shown = events[:_MOST_EVENTS]
        frames = np.searchsorted(times, np.array([event.entry.seen for event in shown]) - 1e-9).clip(0, len(times) - 1)
        records = [
            {
                "time": round(event["time"], 9),
                "frame": frame,
                "geoms": event["geoms"],
                "kind": event["kind"],
                "why": event.get("why", ""),
            }
            for event, frame in zip((event_record(each.entry) for each in shown), frames.tolist(), strict=True)
        ]
        self._sections.add_json("events", records)
        return {"count": len(shown), "left_out": len(events) - len(shown)}

    def _event_notes(self) -> list[str]:
        left = self.event_count - _MOST_EVENTS
        notes = [f"The first {_MOST_EVENTS} of {self.event_count} events are listed."] if left > 0 else []
        untracked = self._events.untracked
        return notes + ([f"{untracked[0].upper()}{untracked[1:]}."] if untracked else [])


_COLORS = ("normal", "tangent0", "tangent1", "point", "total", "torque", "open")
_LAYERS = ("points", "forces", "normal", "tangents", "total", "torque")
