"""Finds arrows that leave the picture, and marks where they are cut."""

import numpy as np
from numpy.typing import NDArray

from .camera import Eye
from .glyphs import NO_OWNER, Glyphs

_INSET = 6.0
"""Distance of a mark's tip from the edge of the picture [measures]."""
_MARK, _STEP = 15.0, 9.0
"""Length of the two heads that make a mark, and distance between them [measures]."""
_WHITE = (1.0, 1.0, 1.0, 1.0)


def cut_arrows(glyphs: Glyphs, eye: Eye) -> tuple[Glyphs, NDArray[np.intp]]:
    """Marks for the arrows that begin in the picture and end outside of it, and which arrows these are.

    A mark is a pair of white heads at the edge: the arrow goes on.
    """
    starts, vectors = glyphs.arrows[:, :3].astype(float), glyphs.arrows[:, 4:7].astype(float)
    rest = _to_edges(starts + vectors, eye)
    leaving = (rest < 0).any(axis=1)
    # Mostly none does.
    inside = _to_edges(starts, eye) if leaving.any() else rest
    cut = np.flatnonzero(leaving & (inside > 0).all(axis=1))
    if not len(cut):
        return Glyphs(), cut
    inside, rest = inside[cut], rest[cut]
    leaves = rest < 0
    share = np.where(leaves, inside / np.where(leaves, inside - rest, 1.0), 1.0).min(axis=1)
    tips = starts[cut] + share[:, None] * vectors[cut]
    measure = eye.pixel_size(tips) * eye.unit
    along = vectors[cut] / np.linalg.norm(vectors[cut], axis=1, keepdims=True) * measure[:, None]
    rows = np.zeros((2, len(cut), 12), np.float32)
    for row, back in zip(rows, (_MARK, _MARK + _STEP), strict=True):
        row[:, :3] = tips - back * along
        row[:, 3] = _MARK * measure
        row[:, 4:7] = _MARK * along
        row[:, 8:] = _WHITE
    marks = rows.reshape(-1, 12)
    return Glyphs(arrows=marks, arrow_owner=np.full((len(marks), 3), NO_OWNER, np.int32)), cut


def _to_edges(points: NDArray[np.float64], eye: Eye) -> NDArray[np.float64]:
    """How far world points (n, 3) are inside of the left, right, lower and upper edge, and in front of the eye, (n, 5):
    positive inside, and linear along a straight line."""
    across, up = (1.0 - 2.0 * _INSET * eye.unit / size for size in eye.viewport[2:])
    edges = np.array([[1, 0, 0, across], [-1, 0, 0, across], [0, 1, 0, up], [0, -1, 0, up], [0, 0, 0, 1]])
    to_edges = edges @ eye.matrices.to_clip
    distances: NDArray[np.float64] = points @ to_edges[:, :3].T + to_edges[:, 3]
    distances[:, 4] -= 1e-9
    return distances
