"""Touch sensors at steps to rows of named columns: what the device reports beside the true force."""

from collections.abc import Iterable

from .columns import Block, Columns, Kind, as_column
from .instants import Instant

COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "sensor": Kind.TEXT,
    "component": Kind.INTEGER,
    "value": Kind.NUMBER,
    "force": Kind.NUMBER,
    "found": Kind.INTEGER,
}
"""`component` is 0, or 0, 1, 2 for the x, y, z of force-3d. `value` is in units of the device's table; `force` is what
an ideal device would report [N]."""


def touch_rows(instants: Iterable[Instant]) -> Block:
    """A row for each value of each touch sensor."""
    rows = [
        (instant.step, instant.time, instant.video_frame, touch.name, component, value, force, touch.found)
        for instant in instants
        for touch in instant.touches
        for component, (value, force) in enumerate(zip(touch.values.tolist(), touch.force.tolist(), strict=True))
    ]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    return {name: as_column(COLUMNS[name], values) for name, values in columns.items()}
