"""Steps and events to the tables of a data file: contacts, events and touch values."""

from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from . import contact_table, event_table, touch_table
from .columns import Block, Columns, shown_columns
from .contact_table import contact_rows
from .event_table import SeenEvent, event_rows
from .instants import Instant
from .tablefiles import TableFile
from .touch_table import touch_rows

T = TypeVar("T")

_SAMPLES = 1024
"""Sensors and steps whose rows are written at once."""


class Table(StrEnum):
    """What a data file can hold."""

    CONTACTS = "contacts"
    EVENTS = "events"
    TOUCH = "touch"


_COLUMNS = {
    Table.CONTACTS: contact_table.COLUMNS,
    Table.EVENTS: event_table.COLUMNS,
    Table.TOUCH: touch_table.COLUMNS,
}
_PREFIXES = {Table.CONTACTS: "", Table.EVENTS: "event_", Table.TOUCH: "touch_"}
"""Of columns, where one file holds several tables."""


class TableWriter:
    """Collects steps, and hands them over as blocks of rows."""

    def __init__(
        self, kind: type[TableFile], paths: Mapping[Table, Path], notes: dict[str, str], has_video: bool
    ) -> None:
        """`paths`: of each table that is written. Tables with the same path share a file."""
        self._paths = paths
        self._shared = len(set(paths.values())) < len(paths)
        self._instants: list[Instant] = []
        self._sample_count = 0
        self._files: dict[Path, TableFile] = {}
        columns: dict[Path, Columns] = {}
        for table, path in paths.items():
            own = self._named(table, shown_columns(_COLUMNS[table], has_video))
            columns[path] = {**columns.get(path, {}), **own}
        try:
            for path, all_columns in columns.items():
                self._files[path] = kind(path, all_columns, notes)
        except BaseException:
            self.abort()
            raise

    def write(self, instant: Instant) -> None:
        self._instants.append(instant)
        self._sample_count += len(instant.contacts) + len(instant.touches)
        if self._sample_count >= _SAMPLES:
            self._flush()

    def write_events(self, events: list[SeenEvent]) -> None:
        self._write_block(Table.EVENTS, event_rows(events))

    def close(self) -> None:
        self._flush()
        for file in self._files.values():
            file.close()

    def abort(self) -> None:
        for file in self._files.values():
            # What cannot be written is not wanted any more.
            with suppress(OSError):
                file.abort()

    def _flush(self) -> None:
        instants, self._instants, self._sample_count = self._instants, [], 0
        if instants:
            self._write_block(Table.CONTACTS, contact_rows(instants))
            if Table.TOUCH in self._paths:
                self._write_block(Table.TOUCH, touch_rows(instants))

    def _write_block(self, table: Table, block: Block) -> None:
        self._files[self._paths[table]].write(self._named(table, block))

    def _named(self, table: Table, columns: Mapping[str, T]) -> dict[str, T]:
        """Columns of a table under their names in its file."""
        prefix = _PREFIXES[table] if self._shared else ""
        return {prefix + name: column for name, column in columns.items()}
