"""Named columns of a data file's tables, and blocks of their rows."""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_FRAME = -1
"""In place of a video frame's number: no frame shows this step."""


class Kind(Enum):
    """What a column holds."""

    INTEGER = auto()
    """A whole number; negative where there is none."""
    NUMBER = auto()
    """NaN where it is not known."""
    COUNT = auto()
    """A number that is nearly always whole, and always known."""
    TEXT = auto()


Columns = Mapping[str, Kind]
"""In the order of a row."""
Values = NDArray[np.int64] | NDArray[np.float64] | list[str]
Block = Mapping[str, Values]
"""Some rows, column by column."""


def shown_columns(columns: Columns, has_video: bool) -> Columns:
    """Those of a file that stands alone, or beside a video."""
    return {name: kind for name, kind in columns.items() if has_video or name != "video_frame"}


def as_column(kind: Kind, values: list[Any]) -> Values:
    """Values of rows as a column; None is a number that is not known."""
    if kind is Kind.TEXT:
        return values
    return np.array(values, np.int64) if kind is Kind.INTEGER else np.array(values, np.float64)
