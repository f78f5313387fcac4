"""Writes logs and saved runs that are damaged, odd, or hostile: several hundred, each from one small run."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import mujoco
import numpy as np
from contact_viewer.mjmodel.model_values import ModelValues
from numpy.typing import NDArray

SCENE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="box" pos="0 0 .1"><freejoint name="root"/><geom name="ball" size=".1"/>
<body pos="0 0 .2"><joint name="hinge" axis="0 1 0"/><geom size=".05"/></body></body>
<body name="hand" mocap="true" pos="1 0 1"/></worldbody>
<actuator><motor name="turn" joint="hinge"/></actuator>
<sensor><contact name="touch" geom1="ball" geom2="floor" data="found force"/></sensor></mujoco>"""
"""A scene with 8 values of qpos, 7 of qvel and 1 of ctrl."""
ROWS = 6
Array = NDArray[Any]
Make = Callable[[Path], None]
_MARK = "INFINITY-HERE"


def good_run() -> dict[str, Array]:
    """A log of the scene that can be read."""
    qpos = np.zeros((ROWS, 8))
    qpos[:, 2:4] = 0.1, 1.0
    return {
        "time": 0.002 * np.arange(ROWS),
        "qpos": qpos,
        "qvel": np.zeros((ROWS, 7)),
        "ctrl": np.zeros((ROWS, 1)),
    }


def odd_arrays(array: Array) -> Iterator[tuple[str, Any]]:
    """Other things in place of an array: of other types, shapes and values."""
    shape = array.shape
    yield "scalar", np.float64(3.0)
    yield "empty", np.empty(0)
    yield "empty-rows", np.empty((0, *shape[1:]))
    yield "empty-columns", np.empty((len(array) if array.ndim else 1, 0))
    yield "flat", array.ravel()
    yield "transposed", array.T
    yield "deep", array.reshape(*shape, 1, 1)
    yield "batch-of-one", array[None]
    yield "short", array[:1] if array.ndim else array
    yield "long", np.concatenate([array, array]) if array.ndim else array
    yield "text", np.full(shape, "a")
    yield "bytes", np.full(shape, b"a")
    yield "complex", array.astype(complex)
    yield "flags", array.astype(bool)
    yield "dates", np.zeros(shape, "datetime64[s]")
    yield "records", np.zeros(shape, [("a", "f8"), ("b", "i4")])
    yield "half", array.astype(np.float16)
    yield "big-endian", array.astype(">f8")
    yield "unsigned", array.astype(np.uint64)
    yield "fortran", np.asfortranarray(array)
    for name, value in {"nan": np.nan, "infinite": np.inf, "negative": -1.0, "huge": 1e300}.items():
        odd = np.array(array, np.float64)
        odd.reshape(-1)[-1:] = value
        yield name, odd


def odd_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Other things in place of a value of JSON."""
    others: dict[str, Any] = {
        "null": None,
        "true": True,
        "negative": -1,
        "fraction": 0.5,
        "large": 10**30,
        "text": "\x1b[31mtext",
        "infinite": _MARK,
        "list": [],
        "numbers": [1, 2],
        "lists": [[]],
        "pairs": [[0, 99], [-1, 0]],
        "table": {"a": None},
        "nested": {"a": {"a": [None]}},
    }
    yield from others.items()
    if isinstance(value, dict):
        for key in value:
            sizes: dict[str, Any] = {"null": None, "negative": -1, "infinite": _MARK, "large": 10**9, "list": []}
            for name, other in sizes.items():
                yield f"{key}-{name}", {**value, key: other}


def odd_bytes(content: bytes) -> Iterator[tuple[str, bytes]]:
    """A file that was cut off, or changed."""
    for k in range(1, 12):
        yield f"cut-{k}", content[: len(content) * k // 12]
    rng = np.random.default_rng(5)
    for k in range(24):
        odd = bytearray(content)
        # Most of a saved run is its model: the ends hold what says where everything is.
        span = min(len(odd), 3000)
        for place in rng.integers(0, span, 3):
            odd[-1 - place if k % 2 else place] ^= 1 << int(rng.integers(8))
        yield f"flipped-{k}", bytes(odd)
    yield "doubled", content + content
    yield "preceded", b"#!/bin/sh\n" + content
    yield "nothing", b""
    yield "zeros", bytes(4096)


def write_zip(path: Path, members: Mapping[str, bytes] | list[tuple[str, bytes]]) -> None:
    """An archive with any members, also several of one name."""
    import warnings

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members.items() if isinstance(members, Mapping) else members:
            file.writestr(name, content)


def as_npy(array: Any, pickled: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=pickled)
    return stream.getvalue()


def npy_header(text: str, content: bytes = b"") -> bytes:
    """A .npy file that declares what it likes."""
    header = text.encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


ODD_HEADERS = {
    "huge": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 8), }\n"),
    "overflow": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8), }\n"),
    "negative": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-6, 8), }\n"),
    "float-shape": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (6.5, 8), }\n"),
    "unbalanced": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': ((((((\n"),
    "deep": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 5000 + ")" * 5000 + ", }\n"),
    "long": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (6, 8), }" + " " * 40000 + "\n"),
    "odd-type": npy_header("{'descr': '<q9', 'fortran_order': False, 'shape': (6, 8), }\n"),
    "list-type": npy_header("{'descr': [('a',)], 'fortran_order': False, 'shape': (6, 8), }\n"),
    "no-keys": npy_header("{}\n"),
    "no-dictionary": npy_header("7\n"),
    "version": b"\x93NUMPY\x09\x09" + bytes(20),
    "not-latin": npy_header("{'descr': '<f8', '\xff\x00': False, 'shape': (6, 8), }\n"),
    "short": as_npy(np.zeros((6, 8)))[:-40],
    "no-array": b"hello",
    "none": b"",
    "pickled": as_npy(np.array([{}], object), pickled=True),
}


def npz_logs() -> Iterator[tuple[str, Make]]:
    run = good_run()
    packed = {f"{name}.npy": as_npy(array) for name, array in run.items()}
    for part, array in run.items():
        for name, odd in odd_arrays(array):
            yield f"{part}-{name}.npz", _saved({**run, part: odd})
        yield f"{part}-missing.npz", _saved({name: other for name, other in run.items() if name != part})
    for name, content in ODD_HEADERS.items():
        yield f"header-{name}.npz", _zipped({**packed, "qpos.npy": content})
    states = np.concatenate([run["time"][:, None], run["qpos"], run["qvel"]], axis=1)
    for name, odd in odd_arrays(states):
        yield f"state-{name}.npz", _saved({"state": odd, "control": run["ctrl"]})
        yield f"initial-{name}.npz", _saved({"state": states, "control": run["ctrl"], "initial_state": odd})
    for name, odd in odd_arrays(run["ctrl"]):
        yield f"control-{name}.npz", _saved({"state": states[None], "control": odd, "initial_state": states[0]})
    stream = io.BytesIO()
    np.savez_compressed(stream, **run)  # type: ignore[arg-type]
    for name, content in odd_bytes(stream.getvalue()):
        yield f"{name}.npz", _written(content)
    yield "twice.npz", _zipped([*packed.items(), ("qpos.npy", as_npy(np.zeros((2, 8))))])
    yield "folder.npz", _zipped({**packed, "qpos.npy/": b""})
    yield "outside.npz", _zipped({**packed, "../../qpos.npy": packed["qpos.npy"]})
    yield "batch-of-none.npz", _saved({name: array[None][:0] for name, array in run.items()})
    yield "batch-ragged.npz", _saved({**{name: array[None] for name, array in run.items()}, "ctrl": np.zeros((0, 2))})
    yield "single-array.npz", _written(packed["qpos.npy"])
    yield "pickle.npz", _written(b"\x80\x04N.")


def csv_logs() -> Iterator[tuple[str, Make]]:
    names = ["time", *(f"qpos_{k}" for k in range(8)), *(f"qvel_{k}" for k in range(7)), "ctrl_0"]
    heading, row = ",".join(names), ",".join(["0"] * 17)
    tables: dict[str, str | bytes] = {
        "long-field": f"{heading},note\n{row},{'x' * 200_000}\n",
        "long-heading": f"{heading},{'x' * 200_000}\n{row},0\n",
        "long-quoted": f'{heading},note\n{row},"{"x" * 200_000}\n',
        "open-quote": f'{heading}\n"0{row}\n',
        "zero-byte": f"{heading}\n{row[:-1]}\0\n",
        "zero-heading": f"\0{heading}\n{row}\n",
        "not-utf8": heading.encode() + b",\xff\xfe\n" + row.encode() + b",1\n",
        "utf16": f"{heading}\n{row}\n".encode("utf-16"),
        "twice": f"{heading},qpos_0\n{row},7\n",
        "superscript": f"{heading},qpos_²\n{row},7\n",
        "arabic": f"{heading},qpos_٣٤\n{row},7\n",
        "large-number": f"{heading},qpos_{'9' * 5000}\n{row},7\n",
        "negative": f"{heading},qpos_-1\n{row},7\n",
        "nan": f"{heading}\n{row[:-1]}nan\n",
        "infinite": f"{heading}\n{row[:-1]}inf\n",
        "overflow": f"{heading}\n{row[:-1]}1e999\n",
        "hex": f"{heading}\n{row[:-1]}0x10\n",
        "underscore": f"{heading}\n{row[:-1]}1_0\n",
        "semicolons": f"{heading}\n{row}\n".replace(",", ";"),
        "escape": f"\x1b[2J{heading}\n{row}\n",
        "blank": "\n\n\n",
        "empty": "",
        "heading-only": heading,
        "returns": f"{heading}\r{row}\r",
        "time-only": "time\n0\n",
        "wide": f"{heading}\n{row},0\n",
        "escape-value": f"{heading}\n{row[:-1]}\x1b[31mred\n",
    }
    for name, text in tables.items():
        yield f"{name}.csv", _written(text if isinstance(text, bytes) else text.encode())


def hdf5_logs() -> Iterator[tuple[str, Make]]:
    run = good_run()
    states = np.concatenate([run["time"][:, None], run["qpos"], run["qvel"]], axis=1)

    def put(group: Any, name: str, value: Any) -> None:
        array = np.asarray(value)
        if array.dtype.kind == "M":
            array = array.astype("i8").astype("V8")
        group.create_dataset(name, data=array.astype("S") if array.dtype.kind == "U" else array)

    def file_of(fill: Callable[[Any], object]) -> Make:
        def make(path: Path) -> None:
            with h5py.File(path, "w") as file:
                fill(file)

        return make

    def arrays(values: Mapping[str, Any]) -> Make:
        def fill(file: Any) -> None:
            for name, value in values.items():
                put(file, name, value)

        return file_of(fill)

    for part in ("time", "qpos"):
        for name, odd in odd_arrays(run[part]):
            yield f"{part}-{name}.hdf5", arrays({**run, part: odd})
    for name, odd in odd_arrays(states):
        yield f"demo-{name}.hdf5", arrays({"data/demo_0/states": odd})

    def external(file: Any) -> None:
        raw = Path(file.filename).with_suffix(".raw")
        raw.write_bytes(run["qpos"].tobytes())
        file.create_dataset("qpos", (ROWS, 8), "f8", external=[(str(raw), 0, raw.stat().st_size)])

    def external_link(file: Any) -> None:
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["qpos"] = run["qpos"]
        file["qpos"] = h5py.ExternalLink(str(other), "/qpos")

    def external_group(file: Any) -> None:
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["demo_0/states"] = states
        file["data"] = h5py.ExternalLink(str(other), "/")

    def external_demo(file: Any) -> None:
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["demo_0/states"] = states
        file.create_group("data")["demo_0"] = h5py.ExternalLink(str(other), "/demo_0")

    def external_infos(file: Any) -> None:
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["infos/qpos"] = run["qpos"]
        file["infos"] = h5py.ExternalLink(str(other), "/infos")

    def hidden_link(file: Any) -> None:
        """A soft link whose path crosses a link to another file."""
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["qpos"] = run["qpos"]
        file["elsewhere"] = h5py.ExternalLink(str(other), "/")
        file["qpos"] = h5py.SoftLink("/elsewhere/qpos")

    def virtual(file: Any) -> None:
        other = Path(file.filename).with_suffix(".other")
        with h5py.File(other, "w") as second:
            second["qpos"] = run["qpos"]
        layout = h5py.VirtualLayout((ROWS, 8), "f8")
        layout[:] = h5py.VirtualSource(str(other), "qpos", (ROWS, 8))
        file.create_virtual_dataset("qpos", layout)

    def reference(file: Any) -> None:
        file.create_dataset("qpos", (ROWS, 8), h5py.ref_dtype)

    fills: dict[str, Callable[[Any], object]] = {
        "external": external,
        "external-link": external_link,
        "external-group": external_group,
        "external-demo": external_demo,
        "external-infos": external_infos,
        "hidden-link": hidden_link,
        "virtual": virtual,
        "references": reference,
        "group-for-array": lambda file: file.create_group("qpos"),
        "array-for-data": lambda file: put(file, "data", run["qpos"]),
        "array-for-infos": lambda file: put(file, "infos", run["qpos"]),
        "array-for-demo": lambda file: put(file, "data/demo_0", states),
        "type-for-demo": lambda file: file.create_group("data").__setitem__("demo_0", np.dtype("f8")),
        "type-for-infos": lambda file: file.__setitem__("infos", np.dtype("f8")),
        "type-for-array": lambda file: file.__setitem__("qpos", np.dtype("f8")),
        "group-for-states": lambda file: file.create_group("data/demo_0/states"),
        "no-demos": lambda file: file.create_group("data"),
        "no-arrays": lambda file: None,
        "dangling": lambda file: file.__setitem__("qpos", h5py.SoftLink("/nothing")),
        "dangling-demo": lambda file: file.create_group("data").__setitem__("demo_0", h5py.SoftLink("/nothing")),
        "endless-link": lambda file: file.__setitem__("qpos", h5py.SoftLink("/qpos")),
        "cycle": lambda file: file.create_group("data").__setitem__("demo_0", file["data"]),
        "null-space": lambda file: file.create_dataset("qpos", data=h5py.Empty("f8")),
        "huge": lambda file: file.create_dataset("qpos", (2**40, 8), "f8", chunks=(1024, 8)),
        "large": lambda file: file.create_dataset("qpos", (2**27, 8), "i1", chunks=(2**20, 8)),
        "ragged": lambda file: file.create_dataset("qpos", (ROWS,), h5py.vlen_dtype("f8")),
        "texts": lambda file: file.create_dataset("qpos", (ROWS, 8), h5py.string_dtype()),
        "array-type": lambda file: file.create_dataset("qpos", (ROWS,), np.dtype(("f8", (8,)))),
        "names-not-utf8": lambda file: file.create_group("data").create_group(b"demo_\xff"),
    }
    for name, fill in fills.items():
        yield f"{name}.hdf5", file_of(fill)
    good = io.BytesIO()
    with h5py.File(good, "w") as file:
        file["data/demo_0/states"] = states
    for name, content in odd_bytes(good.getvalue()):
        yield f"{name}.hdf5", _written(content)


def saved_runs(good: Path) -> Iterator[tuple[str, Make]]:
    """Runs like a saved one."""
    content = good.read_bytes()
    with zipfile.ZipFile(good) as file:
        packed = {name: file.read(name) for name in file.namelist()}
    with np.load(good) as arrays:
        run = {name: arrays[name] for name in arrays.files}
    about = json.loads(str(run["about"]))

    def with_about(text: str) -> Make:
        return _zipped({**packed, "about.npy": as_npy(np.array(text))})

    for key, value in about.items():
        yield f"{key}-missing.cvrun", with_about(json.dumps({name: about[name] for name in about if name != key}))
        for name, odd in odd_values(value):
            text = json.dumps({**about, key: odd}).replace(f'"{_MARK}"', "Infinity")
            yield f"{key}-{name}.cvrun", with_about(text)
    for name, text in {
        "list": "[]",
        "number": "7",
        "nothing": "",
        "deep": "[" * 100_000,
        "digits": '{"format": ' + "1" * 6000 + "}",
        "words": "no JSON",
    }.items():
        yield f"about-{name}.cvrun", with_about(text)
    others = dict(odd_values(None))
    other_mujoco = {**about, "mujoco": "3.5.0"}
    for name, odd in others.items():
        text = json.dumps({**other_mujoco, "changes": odd}).replace(f'"{_MARK}"', "Infinity")
        yield f"changes-of-another-{name}.cvrun", with_about(text)
        text = json.dumps({**other_mujoco, "changes": [{"after": odd, "before": None, "replaces": ""}]})
        yield f"change-of-another-{name}.cvrun", with_about(text.replace(f'"{_MARK}"', "Infinity"))
    for name, sources in {
        "outside": ["../../scene.xml"],
        "absolute": ["/scene.xml"],
        "empty": [""],
        "dot": ["."],
        "zero": ["a\0.xml"],
        "long": ["a" * 5000 + ".xml"],
        "many": ["a.xml"] * 3,
        "suffix": ["a.txt"],
        "itself": ["a.cvrun"],
    }.items():
        yield f"sources-{name}.cvrun", with_about(json.dumps({**other_mujoco, "sources": sources}))
    for part, array in run.items():
        if part == "model" or part.startswith("source"):
            continue
        for name, odd in odd_arrays(array) if array.dtype.kind != "U" else odd_arrays(np.zeros(3)):
            yield f"{part}-{name}.cvrun", _zipped({**packed, f"{part}.npy": as_npy(odd)})
        yield (
            f"{part}-missing-array.cvrun",
            _zipped({name: other for name, other in packed.items() if name != f"{part}.npy"}),
        )
    for part in ("about", "model", "states_0", "columns", "source_0"):
        for name, header in ODD_HEADERS.items():
            yield f"{part}-header-{name}.cvrun", _zipped({**packed, f"{part}.npy": header})
    states = run["states_0"]
    extra = {
        "version-small": ("version_1", np.zeros(3, np.uint8)),
        "version-none": ("version_1", np.zeros(0, np.uint8)),
        "version-floats": ("version_1", np.zeros(3)),
        "version-large": (f"version_{'9' * 40}", np.zeros(3, np.uint8)),
        "version-digits": (f"version_{'9' * 5000}", np.zeros(3, np.uint8)),
        "version-superscript": ("version_²", np.zeros(3, np.uint8)),
        "states-gap": ("states_7", states),
        "states-text": ("states_x", states),
        "states-none": ("states_1", states[:0]),
        "first-row-texts": ("first_row", np.array(["a"])),
        "first-row-nan": ("first_row", np.full(50, np.nan)),
    }
    for name, (part, array) in extra.items():
        yield f"{name}.cvrun", _zipped({**packed, f"{part}.npy": as_npy(array)})
    ids: dict[str, Any] = {
        "twice": np.zeros_like(run["columns"]),
        "no-time": run["columns"] + 1,
        "outside": run["columns"] + 10**6,
        "minimum": np.full_like(run["columns"], np.iinfo(np.int64).min),
    }
    for name, array in ids.items():
        yield f"columns-{name}.cvrun", _zipped({**packed, "columns.npy": as_npy(array)})
    nothing = {"columns.npy": as_npy(np.empty(0, np.int64)), "states_0.npy": as_npy(np.empty((3, 0)))}
    yield "no-columns.cvrun", _zipped({**packed, **nothing})
    yield "rest-shorter.cvrun", _zipped({**packed, "rest.npy": as_npy(run["rest"][:-1])})
    yield "rest-longer.cvrun", _zipped({**packed, "rest.npy": as_npy(np.append(run["rest"], [0.0, 1.0]))})
    # What sleeps is at the end of a state, and is made of indices.
    for place in range(max(0, len(run["rest"]) - 30), len(run["rest"])):
        for value in (-7.0, 1e6, 1e300):
            odd, odd_rest = states.copy(), run["rest"].copy()
            odd[-2:, run["columns"] == place] = odd_rest[place] = value
            changed = {"states_0.npy": as_npy(odd), "rest.npy": as_npy(odd_rest)}
            yield f"value-{place}-{value:g}.cvrun", _zipped({**packed, **changed})
    versions = {"rest.npy": as_npy(np.append(run["rest"], 1.0)), "about.npy": as_npy(np.array(json.dumps(about)))}
    values = _model_values(run["model"])
    for name, version in {
        "same": values,
        "zeros": np.zeros_like(values),
        "ones": np.full_like(values, 1),
        "indices": np.full_like(values, 127),
        "infinite": np.frombuffer(np.full(len(values) // 8 + 1, np.inf).tobytes()[: len(values)], np.uint8),
    }.items():
        yield f"version-{name}.cvrun", _zipped({**packed, **versions, "version_1.npy": as_npy(version)})
    for name, number in odd_values(None):
        text = json.dumps({**about, "version": number}).replace(f'"{_MARK}"', "Infinity")
        changed = {**versions, "version_1.npy": as_npy(values), "about.npy": as_npy(np.array(text))}
        yield f"version-number-{name}.cvrun", _zipped({**packed, **changed})
    yield "twice.cvrun", _zipped([*packed.items(), ("states_0.npy", as_npy(np.zeros((2, 2))))])
    for name, odd in odd_bytes(content):
        yield f"{name}.cvrun", _written(odd)


def _model_values(compiled: Array) -> Array:
    """The values of a compiled model as a version of it holds them."""
    model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": compiled.tobytes()})
    return np.frombuffer(ModelValues(model).read(), np.uint8)


def _written(content: bytes) -> Make:
    return lambda path: _drop(path.write_bytes(content))


def _saved(arrays: Mapping[str, Any]) -> Make:
    return lambda path: np.savez(path, **arrays)


def _zipped(members: Mapping[str, bytes] | list[tuple[str, bytes]]) -> Make:
    return lambda path: write_zip(path, members)


def _drop(_: object) -> None:
    """Nothing is made of it."""
