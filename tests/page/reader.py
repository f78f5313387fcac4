"""Reads a page as a script does, in Python: checks lengths and checksums, and rebuilds arrays and CSV from them."""

import base64
import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_XYZ = ("x", "y", "z")


class Page:
    """One page, taken apart."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8")
        elements = re.findall(r'<script type="[^"]+" id="cv-([^"]+)">(.*?)</script>', self.text, re.DOTALL)
        self.texts = dict(elements)
        self.manifest: dict[str, Any] = json.loads(self.texts["manifest"])

    def content(self, name: str) -> bytes:
        """Return the bytes of a section, whose length and checksum are right."""
        about = self.manifest["sections"][name]
        packed = base64.b64decode(self.texts[name], validate=True)
        assert (len(packed), zlib.crc32(packed)) == (about["bytes"], about["crc32"])
        raw = packed if about["dtype"] == "file" else gzip.decompress(packed)
        assert len(raw) == about["raw"]
        return raw

    def json(self, name: str) -> Any:
        return json.loads(self.content(name))

    def array(self, name: str) -> NDArray[Any]:
        """Return the array of a section."""
        about, raw = self.manifest["sections"][name], self.content(name)
        kind = np.dtype(about["dtype"])
        values = np.frombuffer(raw, np.uint8)
        if about["planes"]:
            values = np.ascontiguousarray(values.reshape(kind.itemsize, -1).T)
        integers = values.ravel().view(f"u{kind.itemsize}").reshape(about["shape"])
        if about["delta"]:
            integers = np.add.accumulate(integers, axis=-1, dtype=integers.dtype)
        return integers.view(kind)

    def csv(self) -> str:
        """Return the contacts as a CSV file."""
        manifest = self.manifest
        contacts, names = manifest["contacts"], [sensor["name"] for sensor in manifest["sensors"]]
        frames = np.repeat(np.arange(contacts["frames"]) * contacts["every"], self.array("frame_rows"))
        rows = {name: self.array(f"row_{name}") for name in ("sensor", "slot", "flags", "found", "geom1", "geom2")}
        filled = np.flatnonzero(rows["flags"] & 1)
        order = filled[np.lexsort((rows["slot"][filled], rows["sensor"][filled]))]
        kind = np.float64 if contacts["precision"] == 64 else np.float32
        columns = {name: np.full(len(frames), np.nan, kind) for name in contacts["columns"]}
        for name, values in zip(contacts["columns"], self.array("values"), strict=True):
            columns[name][order] = values

        def vector(name: str, axes: tuple[str, ...]) -> list[NDArray[Any]]:
            return [columns[f"{name}_{axis}"] for axis in axes]

        normal, tangent = vector("normal", _XYZ), vector("tangent0", _XYZ)
        other = [
            normal[1] * tangent[2] - normal[2] * tangent[1],
            normal[2] * tangent[0] - normal[0] * tangent[2],
            normal[0] * tangent[1] - normal[1] * tangent[0],
        ]
        is_world, no_world = (rows["flags"] & 4) > 0, (rows["flags"] & 8) > 0
        for which in ("force", "torque"):
            local = vector(which, ("normal", "tangent0", "tangent1"))
            for i, axis in enumerate(_XYZ):
                turned = local[0] * normal[i] + local[1] * tangent[i] + local[2] * other[i]
                columns[f"{which}_{axis}"] = np.where(is_world, local[i], np.where(no_world, np.nan, turned))
            for name, values in zip(("normal", "tangent0", "tangent1"), local, strict=True):
                columns[f"{which}_{name}"] = np.where(is_world, np.nan, values)
        columns |= {f"tangent1_{axis}": values for axis, values in zip(_XYZ, other, strict=True)}
        times, steps = self.array("times"), self.array("steps")
        texts: dict[str, list[str]] = {
            name: [repr(value) if value == value else "NaN" for value in values.astype(float).tolist()]
            for name, values in (columns | {"found": rows["found"], "time": times[frames]}).items()
        }
        texts |= {"step": list(map(str, steps[frames].tolist())), "slot": list(map(str, rows["slot"].tolist()))}
        texts["sensor"] = [_cell(names[place]) for place in rows["sensor"].tolist()]
        for name in ("geom1", "geom2"):
            texts[name] = [_cell(contacts["geoms"][code]) for code in rows[name].tolist()]
        heading = manifest["csv"]["columns"]
        lines = zip(*(texts[name] for name in heading), strict=True)
        return "\n".join([",".join(heading), *map(",".join, lines), ""])


def _cell(text: str) -> str:
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if any(letter in text for letter in ',"\n\r') else text
