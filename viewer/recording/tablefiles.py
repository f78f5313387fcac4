"""Blocks of rows to CSV, NPZ and Parquet files: memory does not grow with the file."""

import csv
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from .columns import Block, Columns, Kind, Values

_CHUNK = 1 << 16
"""Values that are copied at once."""
_VALUE_SIZE = 8
"""Bytes of a number, and of a text's number."""


class TableFile(Protocol):
    """One file of columns."""

    def __init__(self, path: Path, columns: Columns, notes: dict[str, str]) -> None:
        """`notes`: what the file says of itself, where its format can."""
        ...

    def write(self, block: Block) -> None:
        """Add some rows; of a block, the columns that the file has."""
        ...

    def close(self) -> None:
        """Complete the file."""
        ...

    def abort(self) -> None:
        """Let go of the file as it is."""
        ...


class CsvFile(TableFile):
    """Text: a heading, then a line a row. Numbers read back exactly; what is not known is empty."""

    def __init__(self, path: Path, columns: Columns, notes: dict[str, str]) -> None:
        self._columns = columns
        self._file = path.open("w", encoding="utf-8", newline="")
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._csv.writerow(columns)

    def write(self, block: Block) -> None:
        self._csv.writerows(zip(*(_texts(block[name], kind) for name, kind in self._columns.items()), strict=True))

    def close(self) -> None:
        self._file.close()

    def abort(self) -> None:
        self._file.close()


def _texts(values: Values, kind: Kind) -> list[Any]:
    if isinstance(values, list):
        return values
    if kind is Kind.COUNT:
        return [int(value) if value == int(value) else value for value in values.tolist()]
    if kind is Kind.INTEGER:
        return ["" if value < 0 else value for value in values.tolist()]
    return ["" if value != value else value for value in values.tolist()]


class NpzFile(TableFile):
    """NumPy arrays, one a column; text as unicode arrays, so that no pickle is needed.

    A block may leave columns out: they need not be equally long.
    """

    def __init__(self, path: Path, columns: Columns, notes: dict[str, str]) -> None:
        self._columns = columns
        self._notes = notes
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4)
        self._names: dict[str, int] = {}
        # An array's length stands before its values: each column waits in a file without a name.
        self._spools: dict[str, IO[bytes]] = {
            name: tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115
            for name in columns
        }

    def write(self, block: Block) -> None:
        for name, values in block.items():
            spool = self._spools.get(name)
            if spool is None:
                continue
            if isinstance(values, list):
                values = np.array([self._names.setdefault(text, len(self._names)) for text in values], np.int64)
            spool.write(values.tobytes())

    def close(self) -> None:
        names = np.array(list(self._names) or [""])
        for name, kind in self._columns.items():
            spool = self._spools[name]
            count = spool.tell() // _VALUE_SIZE
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

    def _entry(self, name: str, kind: Any, shape: tuple[int, ...]) -> IO[bytes]:
        # An entry without a date: the same contacts make the same file.
        info = zipfile.ZipInfo(f"{name}.npy")
        info.compress_type = zipfile.ZIP_DEFLATED
        entry = self._zip.open(info, "w", force_zip64=True)
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(entry, header)
        return entry


class ParquetFile(TableFile):
    """Parquet, a row group a block; what is not known is null."""

    def __init__(self, path: Path, columns: Columns, notes: dict[str, str]) -> None:
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        number, types = pyarrow.float64(), {Kind.INTEGER: pyarrow.int64(), Kind.TEXT: pyarrow.string()}
        fields = [(name, types.get(kind, number)) for name, kind in columns.items()]
        self._schema = pyarrow.schema(fields, metadata=notes)
        self._file = path.open("wb")
        self._parquet = parquet.ParquetWriter(self._file, self._schema)

    def write(self, block: Block) -> None:
        arrays = [self._arrow.array(block[field.name], field.type, from_pandas=True) for field in self._schema]
        self._parquet.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        self._parquet.close()
        self._file.close()

    def abort(self) -> None:
        self.close()
