"""Measured data beside the open run: columns of a file, read in a thread, as channels in simulated time."""

import threading
from pathlib import Path

import numpy as np

from ..channels.alignment import Alignment, Curve
from ..channels.channel import ChannelName, Samples
from ..channels.mapping import Mapping, parse_mapping
from ..compare.measured import GROUP, Measured, as_channels, compare_measured, read_curves
from ..errors import SceneError
from ..scene_files.data_files import Column, list_columns, read_columns
from ..session.session import Session
from .notices import Notices

_SHOWN = 8
"""Number of columns that are shown if there is no mapping."""


class MeasuredData:
    """File of measured data, with the column of each sensor."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self.path: Path | None = None
        """Path of the file; None if there is none."""
        self.columns: list[Column] = []
        """Columns of the file; empty until they were listed."""
        self.mappings: dict[str, Mapping] = {}
        """Column of each mapped sensor, by the sensor's name."""
        self.progress = 0.0
        """Part of the file that was read, 0 to 1."""
        self._texts: tuple[str, ...] = ()
        self._curves: dict[str, Curve] = {}
        self._shift: float | None = None
        self._thread: threading.Thread | None = None
        self._error = ""
        self._is_cancelled = False
        self._waits = False
        """True if columns that were read are to be shown."""

    @property
    def is_busy(self) -> bool:
        """True while the file is being read, or is about to be shown."""
        return self._thread is not None or self._waits

    def open(self, path: Path, texts: tuple[str, ...] = ()) -> None:
        """Read a file; `texts`: mappings as in `--map`."""
        self.close()
        self.path, self.columns, self.mappings, self._curves = path, [], {}, {}
        self._texts, self._shift = texts, None
        self._read(None)

    def choose(self, session: Session, sensor: str, column: str | None) -> None:
        """Map another column, or None, to a sensor; then read and show it."""
        self.mappings.pop(sensor, None)
        if column is None:
            session.simulation.live_channels.remove(f"{GROUP}/{sensor}")
            return
        self.mappings[sensor] = parse_mapping(f"{sensor}={column}", [sensor], [column])
        if column not in self._curves:
            self._read([column])
        else:
            self._waits = True

    def shift(self, session: Session, seconds: float) -> None:
        """Set the simulated time at the measured time 0 [s], by hand."""
        self._shift = seconds
        self._show(session)

    @property
    def offset(self) -> float:
        """Simulated time at the measured time 0 [s]."""
        return self._shift or 0.0

    def align(self, session: Session) -> None:
        """Align the clocks by the curves of the whole history, and report the agreement. Raises SceneError."""
        history = session.simulation.live_history
        if history is None or not self.mappings:
            raise SceneError("no sensor has a measured column: choose one")
        read_curves(history)
        found = compare_measured(history, list(self.mappings.values()), self._curves)
        self._shift = found.alignment.offset
        self._show(session, found.alignment)
        self._notices.add(_summary(found), warning=bool(found.swap))

    def cancel(self) -> None:
        """Stop reading."""
        self._is_cancelled = True

    def poll(self, session: Session) -> None:
        """Show columns that were read, once."""
        if self._thread is not None and not self._thread.is_alive():
            self._thread, self._waits = None, True
        if self._thread is not None or not self._waits:
            return
        self._waits = False
        if self._error:
            error, self._error = self._error, ""
            self._notices.add(error, warning=True)
            return
        texts, self._texts = self._texts, ()
        names = [column.name for column in self.columns]
        sensors = list(session.engine.sensors.names)
        found = [self._notices.attempt(lambda text=text: parse_mapping(text, sensors, names)) for text in texts]  # type: ignore[misc]
        self.mappings |= {each.label: each for each in found if each is not None}
        wanted = {each.column for each in self.mappings.values()} or set(names[:_SHOWN])
        if missing := sorted(wanted - set(self._curves)):
            self._read(missing)
        else:
            self._show(session)

    def close(self) -> None:
        """Stop reading, and wait for the thread."""
        if self._thread is not None:
            self._is_cancelled = True
            self._thread.join()
            self._thread = None

    def _read(self, names: list[str] | None) -> None:
        """Read the named columns in a thread; list all columns if `names` is None."""
        path = self.path
        assert path is not None
        self.close()
        self.progress, self._is_cancelled, self._error = 0.0, False, ""

        def progress(part: float) -> None:
            self.progress = part
            if self._is_cancelled:
                raise SceneError(f"{path}: reading was cancelled")

        def work() -> None:
            try:
                if names is None:
                    self.columns = list_columns(path, None, progress)
                else:
                    self._curves |= read_columns(path, names, None, progress)
            except SceneError as error:
                self._error = str(error)
            except Exception as error:
                self._error = f"{path}: cannot be read ({error!r})"

        self._thread = threading.Thread(target=work, name="read data", daemon=True)
        self._thread.start()

    def _show(self, session: Session, found: Alignment | None = None) -> None:
        """Make channels of the read columns: those of mapped sensors, else the first ones."""
        history, channels = session.simulation.live_history, session.simulation.live_channels
        if not self._curves:
            return
        if self._shift is None:
            # From the first step that is kept on.
            start = 0.0 if history is None else history.time(history.first)
            self._shift = start - min(float(curve.times[0]) for curve in self._curves.values() if len(curve.times))
        clock = found or Alignment(self._shift, 0.0, "by hand")
        mapped = {each.column: each for each in self.mappings.values()}
        samples = as_channels(list(mapped.values()), self._curves, clock)
        samples += [
            Samples(ChannelName(f"{GROUP}/{name.replace('/', '.').strip('.')}"), *clock.apply(curve))
            for name, curve in self._curves.items()
            if not mapped
        ]
        for name in [channel.name.name for channel in channels if channel.name.group == GROUP]:
            channels.remove(name)
        for each in samples:
            channels.open(each.channel, is_whole=True).extend(each.times, each.values)


def _summary(found: Measured) -> str:
    parts = [
        f"{mapping.label}: rms {agreement.rms:.3g} {mapping.signal.unit}, correlation {agreement.correlation:.2f}, "
        f"delay {1e3 * float(np.median([delay for _, delay in agreement.delays] or [np.nan])):.1f} ms"
        for mapping, agreement in found.agreements
    ]
    swap = ", ".join(f"{sensor}={column}" for sensor, column in found.swap)
    clock = f"aligned by {found.alignment.method}"
    return "; ".join([clock, *parts, *([f"the mapping looks swapped: {swap} fits better"] if swap else [])])
