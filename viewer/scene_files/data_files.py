"""Reads measured data as columns over time: .csv, .parquet, .npz, .hdf5 and recordings of ROS 2, .mcap."""

import csv
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..channels.alignment import Curve
from ..errors import SceneError
from ..processes import import_extra
from .run_file import attempt_reading, read_arrays

DATA_SUFFIXES = (".csv", ".parquet", ".npz", ".hdf5", ".h5", ".mcap")
"""Suffixes of files with measured data."""
_TIMES = ("time", "t", "timestamp", "timestamps", "stamp", "times", "seconds", "sec", "log_time", "time_stamp")
"""Names of columns of times, without their unit."""
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
_NANOSECONDS, _MICROSECONDS = 1e5, 500.0
"""Usual differences of integer times from which on the times count as nanoseconds, and as microseconds."""
_EPISODES = ("episode_index", "episode")
_WIDEST = 512
"""Most numbers in a row of one array that become columns."""
_ROWS = 1 << 16
"""Rows of text that are turned into numbers at once."""
_DEEPEST = 8
_LISTED = 20
"""Number of first messages of a topic that are decoded to list its fields."""
Numbers = NDArray[np.float64]
Progress = Callable[[float], None]
"""Function that is called from time to time with the fraction of the file that was read; a SceneError from it stops
reading."""


class Column(NamedTuple):
    """Numbers over time in a file."""

    name: str
    values: int
    """Number of values."""
    rate: float
    """Usual number of values a second; NaN if there are less than two."""


def list_columns(path: str | Path, rate: float | None = None, progress: Progress | None = None) -> list[Column]:
    """Return the quantities over time in a file. `rate`: rows per second [Hz], for a file without times. Raises
    SceneError."""
    path = Path(path).expanduser()
    if path.suffix.lower() == ".mcap" and path.is_file():
        return _list_mcap(path, progress or (lambda part: None))
    curves = read_columns(path, None, rate, progress)
    return [
        Column(name, len(curve.times), 1.0 / curve.period if len(curve.times) > 1 and curve.period > 0 else np.nan)
        for name, curve in curves.items()
    ]


def read_columns(
    path: str | Path,
    names: Iterable[str] | None = None,
    rate: float | None = None,
    progress: Progress | None = None,
    episode: int = 0,
) -> dict[str, Curve]:
    """Read columns of measured data.

    Args:
        path: A .csv, .parquet, .npz, .hdf5, .h5 or .mcap file.
        names: Names of the columns; None for all. Part k of an array has the name `array[k]`.
        rate: Rows per second [Hz], for a file without times.
        progress: Function that is called with the fraction that was read.
        episode: Number of the episode, for a LeRobot file with several.

    Returns:
        Times [s] and values of each column, by name.

    Raises:
        SceneError: The file cannot be read, or has no such column; one line.
    """
    path = Path(path).expanduser()
    suffix = path.suffix.lower()
    if suffix not in DATA_SUFFIXES:
        raise SceneError(f"{path}: unknown kind of data; expected {', '.join(DATA_SUFFIXES)}")
    if not path.is_file():
        raise SceneError(f"{path}: {'is a folder, not a file of data' if path.is_dir() else 'no such file'}")
    wanted = None if names is None else set(names)
    progress = progress or (lambda part: None)
    found: dict[str, Curve] = {}
    if suffix == ".mcap":
        found = _read_mcap(path, wanted or {each.name for each in _list_mcap(path, progress)}, progress)
    else:
        for prefix, arrays in _tables(path, suffix, progress, episode):
            found |= _as_curves(path, prefix, arrays, wanted, rate)
    if not found and wanted is None:
        raise SceneError(f"{path}: has no numbers over time")
    if wanted is not None and (missing := sorted(wanted - set(found))):
        raise SceneError(f"{path}: has no column {missing[0]!r}; --columns lists those that it has")
    return found


def _tables(
    path: Path, suffix: str, progress: Progress, episode: int
) -> Iterator[tuple[str, Mapping[str, NDArray[Any]]]]:
    """Yield arrays that belong together, with the prefix of their names."""
    if suffix == ".csv":
        yield "", attempt_reading(path, lambda: _read_csv(path, progress))
    elif suffix == ".npz":
        yield "", read_arrays(path, lambda name: True)
    elif suffix == ".parquet":
        parquet = import_extra("pyarrow.parquet", "parquet", f"{path}: .parquet files need", SceneError)
        yield "", attempt_reading(path, lambda: _read_parquet(parquet, path, episode))
    else:
        h5py = import_extra("h5py", "hdf5", f"{path}: {suffix} files need", SceneError)
        yield from attempt_reading(path, lambda: _read_hdf5(h5py, path)).items()


def _read_csv(path: Path, progress: Progress) -> dict[str, NDArray[Any]]:
    size = max(path.stat().st_size, 1)
    blocks: list[Numbers] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        start = file.read(4096)
        file.seek(0)
        first = start.partition("\n")[0]
        rows = csv.reader(file, delimiter="\t" if "\t" in first else ";" if ";" in first else ",")
        heading = [name.strip() for name in next(rows, [])]
        if not heading:
            raise SceneError(f"{path}: is empty")
        waiting: list[list[float]] = []
        read = 0
        for row in rows:
            if not row:
                continue
            waiting.append([_number(text) for text in row[: len(heading)]] + [np.nan] * (len(heading) - len(row)))
            read += sum(map(len, row)) + len(row)
            if len(waiting) >= _ROWS:
                blocks.append(np.array(waiting))
                waiting.clear()
                progress(min(read / size, 1.0))
        blocks.append(np.array(waiting).reshape(-1, len(heading)))
    values = np.concatenate(blocks)
    return {name: values[:, k] for k, name in enumerate(heading) if np.isfinite(values[:, k]).any()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        word = text.strip().lower()
        return 1.0 if word == "true" else 0.0 if word == "false" else np.nan


def _read_parquet(parquet: Any, path: Path, episode: int) -> dict[str, NDArray[Any]]:
    table = parquet.read_table(path)
    arrays: dict[str, NDArray[Any]] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        kind = str(column.type)
        if "list" in kind:
            flat = np.asarray(column.flatten().to_numpy(zero_copy_only=False))
            if len(column) and flat.dtype.kind in "fiub" and len(flat) % len(column) == 0:
                arrays[name] = flat.reshape(len(column), -1)
        else:
            values = np.asarray(column.to_numpy(zero_copy_only=False))
            if values.dtype.kind in "fiubM":
                arrays[name] = values
    index = next((arrays[name] for name in _EPISODES if name in arrays), None)
    if index is not None and index.ndim == 1:
        numbers = np.unique(index)
        if not 0 <= episode < len(numbers):
            raise SceneError(f"{path}: has episodes 0 to {len(numbers) - 1}, not {episode}")
        arrays = {name: values[index == numbers[episode]] for name, values in arrays.items()}
    return arrays


def _read_hdf5(h5py: Any, path: Path) -> dict[str, dict[str, NDArray[Any]]]:
    groups: dict[str, dict[str, NDArray[Any]]] = defaultdict(dict)
    with h5py.File(path) as file:

        def visit(name: str, node: Any) -> None:
            if isinstance(node, h5py.Dataset) and node.ndim in (1, 2) and node.dtype.kind in "fiub":
                group, _, own = name.rpartition("/")
                groups[f"{group}/" if group else ""][own] = node[()]

        file.visititems(visit)
        shared = dict(groups.get("", {}))
    for prefix, arrays in groups.items():
        # Times may stand above the groups that they are of.
        if prefix and _time_name(arrays) is None and (name := _time_name(shared)) is not None:
            arrays[name] = shared[name]
    return groups


def _time_name(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Return the name of the array that holds the times; None if there is none."""
    plain = {name: _split_unit(name)[0] for name, values in arrays.items() if values.ndim == 1}
    return next((name for word in _TIMES for name, stem in plain.items() if stem == word), None)


def _split_unit(name: str) -> tuple[str, float | None]:
    """Return a name in lower case without its unit, and the unit [s]; None if there is none."""
    stem = name.strip().lower().rpartition("/")[2]
    for unit, seconds in _UNITS.items():
        for end in (f" [{unit}]", f"[{unit}]", f" ({unit})", f"({unit})", f"_{unit}"):
            if stem.endswith(end):
                return stem.removesuffix(end), seconds
    return stem, None


def _as_curves(
    path: Path, prefix: str, arrays: Mapping[str, NDArray[Any]], wanted: set[str] | None, rate: float | None
) -> dict[str, Curve]:
    """Return the columns of arrays that belong together."""
    name = _time_name(arrays)
    curves: dict[str, Curve] = {}
    times = None if name is None else _seconds(path, name, arrays[name])
    for own, column in arrays.items():
        if own == name or column.ndim not in (1, 2) or column.dtype.kind not in "fiub":
            continue
        if times is None:
            if rate is None:
                if wanted is None or any(each.startswith(prefix + own) for each in wanted):
                    raise SceneError(
                        f"{path}: has no times: none of its columns is called {', '.join(_TIMES[:3])}; "
                        "give the rows a second with --rate"
                    )
                continue
            at = np.arange(len(column)) / rate
        elif len(times) != len(column):
            continue
        else:
            at = times
        parts = column[:, np.newaxis] if column.ndim == 1 else column[:, :_WIDEST]
        for k in range(parts.shape[1]):
            label = f"{prefix}{own}" if column.ndim == 1 else f"{prefix}{own}[{k}]"
            if wanted is None or label in wanted:
                curves[label] = _clean(at, parts[:, k])
    return curves


def _seconds(path: Path, name: str, values: NDArray[Any]) -> Numbers:
    if values.dtype.kind == "M":
        return np.asarray(values.astype("datetime64[ns]").astype(np.int64) * 1e-9)
    unit = _split_unit(name)[1]
    whole = np.asarray(values, np.float64)
    if unit is None and len(whole) > 1 and (np.nan_to_num(whole) == np.rint(np.nan_to_num(whole))).all():
        step = float(np.median(np.abs(np.diff(whole))))
        unit = 1e-9 if step >= _NANOSECONDS else 1e-6 if step >= _MICROSECONDS else 1e-3 if step >= 1 else None
    # Long times lose digits as floats: they count from the first.
    first = values[0] if len(values) and values.dtype.kind in "iu" else 0
    return np.asarray((values - first).astype(np.float64) * (unit or 1.0) + float(first) * (unit or 1.0))


def _clean(times: NDArray[Any], values: NDArray[Any]) -> Curve:
    """Return a curve sorted by time, without values that are not finite; of several values at one time, the last."""
    at, own = np.asarray(times, np.float64), np.asarray(values, np.float64)
    known = np.isfinite(at) & np.isfinite(own)
    at, own = at[known], own[known]
    order = np.argsort(at, kind="stable")
    at, own = at[order], own[order]
    newest = np.append(at[1:] != at[:-1], True) if len(at) else np.zeros(0, bool)
    return Curve(at[newest], own[newest])


def _read_mcap(path: Path, wanted: set[str], progress: Progress) -> dict[str, Curve]:
    """Read numbers of ROS 2 messages, by their stamps, else by the time at which they were recorded."""
    times: dict[str, array[float]] = defaultdict(lambda: array("d"))
    values: dict[str, array[float]] = defaultdict(lambda: array("d"))
    topics = tuple({name[:place] for name in wanted for place in range(len(name)) if name[place] == "."})
    for topic, seconds, decode in _messages(path, progress):
        if topic not in topics:
            continue
        message = decode()
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        at = stamp.sec + 1e-9 * stamp.nanosec if stamp is not None and stamp.sec else seconds
        for field, number in _fields(message, _DEEPEST):
            name = f"{topic}.{field}"
            if name in wanted:
                times[name].append(at)
                values[name].append(number)
    return {name: _clean(np.array(times[name]), np.array(values[name])) for name in values}


def _list_mcap(path: Path, progress: Progress) -> list[Column]:
    """List the numbers of ROS 2 messages. The first messages of each topic are decoded; of the others only times are
    read."""
    fields: dict[str, dict[str, None]] = defaultdict(dict)
    spans: dict[str, list[float]] = {}
    for topic, seconds, decode in _messages(path, progress):
        count, first, _ = spans.get(topic, (0, seconds, 0.0))
        spans[topic] = [count + 1, first, seconds]
        if count < _LISTED:
            fields[topic] |= dict.fromkeys(name for name, _ in _fields(decode(), _DEEPEST))
    return [
        Column(f"{topic}.{name}", int(count), (count - 1) / (last - first) if last > first else np.nan)
        for topic, (count, first, last) in spans.items()
        for name in fields[topic]
    ]


def _messages(path: Path, progress: Progress) -> Iterator[tuple[str, float, Callable[[], Any]]]:
    """Yield topic, time of recording [s] and decoder of each ROS 2 message, in bounded memory.

    A recording that was cut off, such as by the fall of a robot, is read up to there.
    """
    for name in ("mcap", "mcap_ros2"):
        import_extra(name, "mcap", f"{path}: .mcap files need", SceneError)
    from mcap.reader import NonSeekingReader
    from mcap_ros2.decoder import DecoderFactory

    size, count, found = max(path.stat().st_size, 1), 0, False
    factory, decoders = DecoderFactory(), dict[int, Callable[[bytes], Any] | None]()
    with path.open("rb") as file:
        try:
            for schema, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
                count += 1
                if count % 1000 == 0:
                    progress(min(file.tell() / size, 1.0))
                if channel.id not in decoders:
                    decoders[channel.id] = factory.decoder_for(channel.message_encoding, schema)
                decoder = decoders[channel.id]
                if decoder is not None:
                    found = True
                    yield channel.topic, 1e-9 * message.log_time, partial(decoder, message.data)
        except SceneError:
            raise
        except Exception as error:
            # What a library raises for a damaged file is not documented.
            if not found:
                raise SceneError(f"{path}: is not an MCAP file, or damaged ({type(error).__name__})") from None
    if not found:
        raise SceneError(f"{path}: has no messages of ROS 2 with a description of their fields")


def _fields(message: Any, depth: int) -> Iterator[tuple[str, float]]:
    """Yield names and values of the numbers of a message, also of nested ones and of arrays."""
    for name in getattr(message, "__slots__", None) or vars(message):
        if name.startswith("_") or name in ("stamp",):
            continue
        value = getattr(message, name)
        if isinstance(value, bool | int | float):
            yield name, float(value)
        elif isinstance(value, list | tuple | np.ndarray):
            for k, each in enumerate(value[:_WIDEST]):
                if isinstance(each, bool | int | float | np.number):
                    yield f"{name}[{k}]", float(each)
                elif depth and hasattr(each, "__dict__" if not hasattr(each, "__slots__") else "__slots__"):
                    yield from ((f"{name}[{k}].{field}", number) for field, number in _fields(each, depth - 1))
        elif depth and not isinstance(value, str | bytes) and value is not None:
            yield from ((f"{name}.{field}", number) for field, number in _fields(value, depth - 1))
