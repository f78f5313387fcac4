"""Packs arrays into the sections of a page: differences, byte planes, gzip and base64, with length and checksum."""

import base64
import gzip
import io
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEVEL = 8
"""Level of compression: the highest level takes twice as long, and files are a hundredth smaller."""
_KINDS = {"<f8": "f8", "<f4": "f4", "<i4": "i4", "<u4": "u4", "<i2": "i2", "<u2": "u2", "|u1": "u1"}


class Sections:
    """Sections of one page, in the order in which they were added."""

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        """Description of each section for a reader, by name."""
        self._texts: list[tuple[str, str]] = []

    def add(self, name: str, values: NDArray[Any], delta: bool = False, planes: bool = False) -> None:
        """Add an array. `delta`: store differences along the last axis; `planes`: store all lowest bytes first."""
        values = np.ascontiguousarray(values)
        stored = values.view(f"<u{values.itemsize}")
        if delta and stored.size:
            # Modulo the range of the integer: sums give back every bit.
            stored = np.concatenate([stored[..., :1], stored[..., 1:] - stored[..., :-1]], axis=-1)
        raw = stored.tobytes()
        if planes:
            raw = np.frombuffer(raw, np.uint8).reshape(-1, values.itemsize).T.tobytes()
        kind = _KINDS[values.dtype.newbyteorder("<").str]
        self._put(name, _gzip(raw), {"dtype": kind, "shape": values.shape, "delta": delta, "planes": planes}, len(raw))

    def add_json(self, name: str, value: Any) -> None:
        """Add a value as JSON."""
        raw = as_json(value).encode("ascii")
        self._put(name, _gzip(raw), {"dtype": "json"}, len(raw))

    def add_file(self, name: str, kind: str, content: bytes) -> None:
        """Add a file, such as a PNG, unchanged."""
        self._put(name, content, {"dtype": kind}, len(content))

    @property
    def size(self) -> int:
        """Number of characters of all sections."""
        return sum(len(text) for _, text in self._texts)

    def html(self) -> str:
        """Return an inert script element for each section."""
        kind = "application/octet-stream"
        return "".join(f'<script type="{kind}" id="cv-{name}">{text}</script>\n' for name, text in self._texts)

    def _put(self, name: str, content: bytes, about: dict[str, Any], raw: int) -> None:
        self.index[name] = about | {"bytes": len(content), "crc32": zlib.crc32(content), "raw": raw}
        self._texts.append((name, base64.b64encode(content).decode("ascii")))


def as_json(value: Any) -> str:
    """Return JSON in ASCII that cannot end its HTML element; NaN and infinity become null."""
    return json.dumps(_finite(value), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of pixels, (height, width, 3 or 4)."""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(content, "PNG", optimize=True)
    return content.getvalue()


def small_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Return non-negative integers in the smallest type of at least two bytes that holds them."""
    return values.astype("<u2" if int(values.max(initial=0)) < 2**16 else "<u4")


def _gzip(raw: bytes) -> bytes:
    # Without a time: the same run gives the same file.
    return gzip.compress(raw, _LEVEL, mtime=0)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return _finite(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
