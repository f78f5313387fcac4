"""Writes blocks of rows to CSV, NPZ and Parquet files, in bounded memory."""

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import IO, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..events.event_log import LogEntry
from ..files import PartFile
from ..session.session import Session
from .tables import (
    CHANNEL_COLUMNS,
    CONTACT_COLUMNS,
    EVENT_COLUMNS,
    NO_FRAME,
    TOUCH_COLUMNS,
    Block,
    Columns,
    ContactRows,
    Kind,
    SeenEvent,
    Texts,
    TouchStep,
    Values,
    channel_rows,
    event_rows,
    shown_columns,
    touch_rows,
    touch_samples,
    unit_of,
)

_CHUNK = 1 << 16
"""Number of values that are copied at once."""
_FAST = 2
"""Compression level of NumPy arrays: files are a twelfth larger than by default, and take half the time."""
_SAMPLE = 256
"""Number of values from which it is decided whether a column repeats few values."""
_VALUE_SIZE = 8
"""Size of a number, and of the number that stands for a text [bytes]."""
SPARE = 1 << 20
"""Room for events when a file is completed on a full disk [bytes], besides another block and the format's own data."""


class TableFile(Protocol):
    """File of columns."""

    def __init__(self, file: PartFile, columns: Columns, notes: dict[str, str]) -> None:
        """Begin a file. `notes`: metadata, if the format can hold it."""
        ...

    def write(self, block: Block) -> None:
        """Add a block of rows; columns that the file does not have are ignored."""
        ...

    def close(self) -> None:
        """Complete the file."""
        ...

    def abort(self) -> None:
        """Close the file in its present state."""
        self.close()


class CsvFile(TableFile):
    """Text file: a heading, then a line for each row. Numbers read back exactly; an unknown number is NaN.

    An unknown number is not written as an empty cell, because a reader that finds only empty cells in the first rows
    takes the column for text. An unknown integer is an empty cell: the first rows of such a column have integers, and a
    reader that expects integers cannot read NaN.
    """

    def __init__(self, file: PartFile, columns: Columns, notes: dict[str, str]) -> None:
        self._columns = columns
        self._part = file
        self._stream = file.open()
        self._file = io.TextIOWrapper(io.BufferedWriter(self._stream), encoding="utf-8", newline="")
        self._file.write(_csv_line(columns))

    def write(self, block: Block) -> None:
        before = self._stream.tell()
        self._file.write(_csv_text(self._columns, block))
        self._part.reserve(SPARE + 2 * (self._stream.tell() - before))

    def close(self) -> None:
        self._file.close()


def events_as_csv(entries: Iterable[LogEntry]) -> str:
    """Return the events of pairs as CSV, without steps."""
    columns = {name: kind for name, kind in EVENT_COLUMNS.items() if name not in ("step", "video_frame")}
    events = [SeenEvent(0, NO_FRAME, entry) for entry in entries if entry.pair_id is not None]
    return _csv_line(columns) + _csv_text(columns, event_rows(events))


def _csv_line(texts: Iterable[str]) -> str:
    """Return texts as a line of CSV, with quotes where they are needed."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(texts)
    return line.getvalue()


def _csv_text(columns: Columns, block: Block) -> str:
    """Return the lines of all rows."""
    lines = map(",".join, zip(*(_csv_column(block[name], kind) for name, kind in columns.items()), strict=True))
    return "".join(f"{line}\n" for line in lines)


def _csv_column(values: Values, kind: Kind) -> list[str]:
    if isinstance(values, Texts):
        # Two of them, for a single empty text has quotes.
        names = [_csv_line((name, ""))[:-2] for name in values.names]
        return [names[code] for code in values.codes.tolist()]
    known = values >= 0 if kind is Kind.INTEGER else values == values
    if known.all():
        return _number_texts(values)
    # Of many sensors most touch nothing: of their numbers none is looked at.
    texts = np.full(len(values), "" if kind is Kind.INTEGER else "NaN", object)
    texts[known] = _number_texts(values[known])
    return texts.tolist()


def _number_texts(values: NDArray[Any]) -> list[str]:
    """Return numbers as texts that read back exactly."""
    # By their bits, for -0.0 is another text than 0.0, and equal to it.
    bits = values.view(np.int64).tolist()
    if len(set(bits[:_SAMPLE])) > _SAMPLE // 2:
        return list(map(repr, values.tolist()))
    # Many columns repeat few values: most of the time goes into the texts of numbers.
    known = dict(zip(bits, values.tolist(), strict=True))
    texts = {bit: repr(value) for bit, value in known.items()}
    return [texts[bit] for bit in bits]


_TYPES = {Kind.INTEGER: "integer", Kind.NUMBER: "number", Kind.TEXT: "string"}
"""Names of the kinds in the Table Schema standard."""


def csv_schema(names: Mapping["Table", str], has_video: bool) -> str:
    """Return types and units of the columns of CSV files, which cannot hold them, as JSON: a tabular data package.

    `names`: file name of each table.
    """
    resources = []
    for table, name in names.items():
        columns = shown_columns(_COLUMNS[table], has_video)
        fields = [
            {"name": column, "type": _TYPES[kind], **({"unit": unit_of(column)} if unit_of(column) else {})}
            for column, kind in columns.items()
        ]
        schema = {"fields": fields, "missingValues": ["NaN", ""]}
        resources.append({"name": str(table), "path": name, "schema": schema})
    return json.dumps({"profile": "tabular-data-package", "resources": resources}, indent=1) + "\n"


class NpzFile(TableFile):
    """File of NumPy arrays, one for each column; texts are unicode arrays, so that no pickle is needed.

    A block may lack columns: the arrays need not be equally long.
    """

    def __init__(self, file: PartFile, columns: Columns, notes: dict[str, str]) -> None:
        self._columns = columns
        self._notes = notes
        self._file = file
        self._stream = file.open()
        self._zip = zipfile.ZipFile(self._stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST)
        self._names: dict[str, int] = {}
        # An array's length stands before its values: each column is buffered in a file without a name.
        self._spools = {name: file.open_unnamed() for name in columns}

    def write(self, block: Block) -> None:
        before = self._spooled
        for name, values in block.items():
            spool = self._spools.get(name)
            if spool is None:
                continue
            spool.write((self._codes(values) if isinstance(values, Texts) else values).tobytes())
        # The arrays are written while the spools are there, and are smaller, because they are compressed.
        self._file.reserve(SPARE + 2 * self._spooled - before)

    def _codes(self, texts: Texts) -> NDArray[np.int64]:
        """Return the index of each text among all names so far; new names are added in the order of their rows."""
        used, firsts = np.unique(texts.codes, return_index=True)
        places = np.zeros(len(texts.names), np.int64)
        for code in used[np.argsort(firsts)].tolist():
            places[code] = self._names.setdefault(texts.names[code], len(self._names))
        return places[texts.codes]

    def close(self) -> None:
        names = np.array(list(self._names) or [""])
        for name, kind in self._columns.items():
            spool = self._spools[name]
            count = spool.seek(0, os.SEEK_END) // _VALUE_SIZE
            spool.seek(0)
            number: Any = np.dtype(np.int64 if kind is Kind.INTEGER else np.float64)
            with self._entry(name, names.dtype if kind is Kind.TEXT else number, (count,)) as entry:
                while data := spool.read(_VALUE_SIZE * _CHUNK):
                    entry.write(names[np.frombuffer(data, np.int64)].tobytes() if kind is Kind.TEXT else data)
        for note, text in self._notes.items():
            value = np.array(float(text) if note == "timestep" else text)
            with self._entry(note, value.dtype, ()) as entry:
                entry.write(value.tobytes())
        self.abort()

    def abort(self) -> None:
        for spool in self._spools.values():
            spool.close()
        self._zip.close()
        self._stream.close()

    @property
    def _spooled(self) -> int:
        """Size of all spools [bytes]."""
        return sum(spool.tell() for spool in self._spools.values())

    def _entry(self, name: str, kind: Any, shape: tuple[int, ...]) -> IO[bytes]:
        # Opened so, an entry has no date: the same contacts make the same file.
        entry = self._zip.open(f"{name}.npy", "w", force_zip64=True)
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(entry, header)
        return entry


def parquet_schema(columns: Columns, notes: Mapping[str, str]) -> Any:
    """Return the schema of a Parquet file, with the units of its columns and with notes as metadata."""
    import pyarrow

    types = {Kind.INTEGER: pyarrow.int64(), Kind.NUMBER: pyarrow.float64(), Kind.TEXT: pyarrow.string()}
    fields = [
        pyarrow.field(name, types[kind], metadata={"unit": unit_of(name)} if unit_of(name) else None)
        for name, kind in columns.items()
    ]
    return pyarrow.schema(fields, metadata=notes)


class ParquetFile(TableFile):
    """Parquet file with a row group for each block; unknown values are null."""

    def __init__(self, file: PartFile, columns: Columns, notes: dict[str, str]) -> None:
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        self._schema = parquet_schema(columns, notes)
        self._part = file
        self._file = file.open()
        self._parquet = parquet.ParquetWriter(self._file, self._schema)

    def write(self, block: Block) -> None:
        before = self._file.tell()
        arrays = [self._array(block[field.name], field.type) for field in self._schema]
        self._parquet.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        # The description of all blocks is written last.
        size = self._file.tell()
        self._part.reserve(SPARE + size // 4 + 2 * (size - before))

    def _array(self, values: Values, kind: Any) -> Any:
        if isinstance(values, Texts):
            return self._arrow.DictionaryArray.from_arrays(values.codes, values.names).cast(kind)
        return self._arrow.array(values, kind, from_pandas=True)

    def close(self) -> None:
        self._parquet.close()
        self._file.close()


T = TypeVar("T")

_BUFFERED = 1024
"""Number of readings, one for each sensor and step, whose rows are written as one block."""


class Table(StrEnum):
    """Tables of a data file."""

    CONTACTS = "contacts"
    EVENTS = "events"
    TOUCH = "touch"
    CHANNELS = "channels"


_COLUMNS = {
    Table.CONTACTS: CONTACT_COLUMNS,
    Table.EVENTS: EVENT_COLUMNS,
    Table.TOUCH: TOUCH_COLUMNS,
    Table.CHANNELS: CHANNEL_COLUMNS,
}
_PREFIXES = {Table.CONTACTS: "", Table.EVENTS: "event_", Table.TOUCH: "touch_", Table.CHANNELS: "channel_"}
"""Prefixes of columns if one file holds several tables."""


class TableWriter:
    """Writer that buffers steps of a session and writes them as blocks of rows."""

    def __init__(
        self,
        session: Session,
        kind: type[TableFile],
        parts: Mapping[Table, PartFile],
        notes: dict[str, str],
        has_video: bool,
    ) -> None:
        """Open the files. `parts`: file of each table that is written; tables may share a file."""
        self._session, self._parts = session, parts
        self._shared = len(set(parts.values())) < len(parts)
        self._contacts = ContactRows(session, _BUFFERED) if Table.CONTACTS in parts else None
        self._touches: list[TouchStep] = []
        self._written: list[tuple[int, float, int]] = []
        """Number, time [s] and video frame of each step, if channels are written."""
        self._files: dict[PartFile, TableFile] = {}
        columns: dict[PartFile, Columns] = {}
        for table, part in parts.items():
            own = self._named(table, shown_columns(_COLUMNS[table], has_video))
            columns[part] = {**columns.get(part, {}), **own}
        try:
            for part, all_columns in columns.items():
                self._files[part] = kind(part, all_columns, notes)
        except BaseException:
            self.abort()
            raise

    def write(self, step: int, time: float, video_frame: int = NO_FRAME) -> None:
        """Add the values of all sensors at the session's step, with its number and simulated time [s]."""
        if Table.CHANNELS in self._parts:
            self._written.append((step, time, video_frame))
        if Table.TOUCH in self._parts:
            self._touches.append((step, time, video_frame, touch_samples(self._session)))
        if self._contacts is not None and (rows := self._contacts.add(step, video_frame)) is not None:
            self._write(rows)

    def write_events(self, events: list[SeenEvent]) -> None:
        """Add all events, once, after the last step."""
        self._write_block(Table.EVENTS, event_rows(events))

    def write_channels(self) -> None:
        """Add the values of all channels in the steps that were written, once, after the last step."""
        if self._written:
            samples = self._session.simulation.channels.samples(self._written[0][1], self._written[-1][1])
            if samples:
                self._write_block(Table.CHANNELS, channel_rows(samples, self._written))

    def close(self) -> None:
        """Complete the files."""
        rows = None if self._contacts is None else self._contacts.pop_block()
        if rows is not None:
            self._write(rows)
        for file in self._files.values():
            file.close()

    def abort(self) -> None:
        """Close the files in their present state."""
        for file in self._files.values():
            # A file that is discarded need not be complete.
            with suppress(OSError):
                file.abort()

    def _write(self, rows: Block) -> None:
        """Write a block of contacts, and the touch values so far."""
        self._write_block(Table.CONTACTS, rows)
        touches, self._touches = self._touches, []
        if touches:
            self._write_block(Table.TOUCH, touch_rows(touches))

    def _write_block(self, table: Table, block: Block) -> None:
        self._files[self._parts[table]].write(self._named(table, block))

    def _named(self, table: Table, columns: Mapping[str, T]) -> dict[str, T]:
        """Return the columns of a table under their names in its file."""
        prefix = _PREFIXES[table] if self._shared else ""
        return {prefix + name: column for name, column in columns.items()}
