"""Rows of contacts to CSV, NPZ and Parquet files, block by block: memory does not grow with the file."""

import csv
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from .table import INTEGERS, NUMBERS, TEXTS, Block, Sample, rows

_SAMPLES = 1024
"""Sensors and steps whose rows are written at once."""
_CHUNK = 1 << 16
"""Values that are copied at once."""


class TableWriter:
    """Collects samples, and hands them over as blocks of rows."""

    def __init__(self, path: Path, columns: tuple[str, ...], notes: dict[str, str]) -> None:
        """`notes`: what the file says of itself, where its format can."""
        self._columns = columns
        self._samples: list[Sample] = []
        self._open(path, notes)

    def write(self, samples: list[Sample]) -> None:
        self._samples += samples
        if len(self._samples) >= _SAMPLES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._complete()

    def abort(self) -> None:
        self._release()

    def _flush(self) -> None:
        samples, self._samples = self._samples, []
        if samples:
            self._write_block(rows(samples))

    def _open(self, path: Path, notes: dict[str, str]) -> None:
        raise NotImplementedError

    def _write_block(self, block: Block) -> None:
        raise NotImplementedError

    def _complete(self) -> None:
        self._release()

    def _release(self) -> None:
        raise NotImplementedError


class CsvWriter(TableWriter):
    """Text: a heading, then a line a row. Numbers read back exactly; what is not known is empty."""

    def _open(self, path: Path, notes: dict[str, str]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._csv.writerow(self._columns)

    def _write_block(self, block: Block) -> None:
        self._csv.writerows(zip(*(self._texts(block, name) for name in self._columns), strict=True))

    def _release(self) -> None:
        self._file.close()

    @staticmethod
    def _texts(block: Block, name: str) -> list[Any]:
        values = block.column(name)
        if isinstance(values, list):
            return values
        if name == "found":
            # A whole number, unless the sensor is interpolated between steps.
            return [int(value) if value == int(value) else value for value in values.tolist()]
        if name in INTEGERS:
            return ["" if value < 0 else value for value in values.tolist()]
        return ["" if value != value else value for value in values.tolist()]


class NpzWriter(TableWriter):
    """NumPy arrays, one a column; text as unicode arrays, so that no pickle is needed."""

    def _open(self, path: Path, notes: dict[str, str]) -> None:
        self._notes = notes
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4)
        self._names: dict[str, int] = {}
        self._rows = 0
        # An array's length stands before its values: each column waits in a file without a name.
        self._spools: dict[str, IO[bytes]] = {
            name: tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115
            for name in self._columns
        }

    def _write_block(self, block: Block) -> None:
        self._rows += len(block.texts)
        for name, spool in self._spools.items():
            values = block.column(name)
            if isinstance(values, list):
                values = np.array([self._names.setdefault(text, len(self._names)) for text in values], np.int64)
            spool.write(values.tobytes())

    def _complete(self) -> None:
        names = np.array(list(self._names) or [""])
        for column, spool in self._spools.items():
            spool.seek(0)
            kind: Any = names.dtype if column in TEXTS else np.dtype(np.float64 if column in NUMBERS else np.int64)
            with self._entry(column, kind, (self._rows,)) as entry:
                while data := spool.read(8 * _CHUNK):
                    entry.write(names[np.frombuffer(data, np.int64)].tobytes() if column in TEXTS else data)
        for note, text in self._notes.items():
            value = np.array(float(text) if note == "timestep" else text)
            with self._entry(note, value.dtype, ()) as entry:
                entry.write(value.tobytes())
        self._release()

    def _release(self) -> None:
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


class ParquetWriter(TableWriter):
    """Parquet, a row group a block; what is not known is null."""

    def _open(self, path: Path, notes: dict[str, str]) -> None:
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        types = {"found": pyarrow.float64()}
        types |= dict.fromkeys(TEXTS, pyarrow.string())
        types |= dict.fromkeys(NUMBERS, pyarrow.float64())
        types |= dict.fromkeys(INTEGERS, pyarrow.int64())
        self._schema = pyarrow.schema([(name, types[name]) for name in self._columns], metadata=notes)
        self._file = path.open("wb")
        self._parquet = parquet.ParquetWriter(self._file, self._schema)

    def _write_block(self, block: Block) -> None:
        arrays = [
            self._arrow.array(block.column(name), self._schema.field(name).type, from_pandas=True)
            for name in self._columns
        ]
        self._parquet.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))

    def _release(self) -> None:
        self._parquet.close()
        self._file.close()
