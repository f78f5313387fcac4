"""The reference of tables names every column that is written, with its unit."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="tables of sweeps need pyarrow")

from contact_viewer.recording.tables import (
    CHANNEL_COLUMNS,
    CONTACT_COLUMNS,
    EVENT_COLUMNS,
    TOUCH_COLUMNS,
    Columns,
    Kind,
    unit_of,
)
from contact_viewer.sweeps.results import METRIC_COLUMNS

PAGE = Path(__file__).parent.parent.parent / "docs/reference/tables.md"
SWEEP = {"scene": Kind.TEXT, "seed": Kind.INTEGER, "sensor": Kind.TEXT, **METRIC_COLUMNS}


@pytest.mark.parametrize(
    ("title", "columns"),
    [
        ("Contacts", CONTACT_COLUMNS),
        ("Events", EVENT_COLUMNS),
        ("Touch values", TOUCH_COLUMNS),
        ("Channels", CHANNEL_COLUMNS),
        ("Metrics of a sweep", SWEEP),
    ],
)
def test_every_column_is_described_with_its_unit(title: str, columns: Columns) -> None:
    written = described(title)
    assert set(written) == set(columns)
    units = {name: unit_of(name) for name in columns}
    if title == "Touch values":
        units["value"] = ""  # in the unit of the device's table
    assert {name: unit for name, unit in written.items() if unit != units[name]} == {}


def test_the_forces_of_two_runs_are_described(tmp_path: Path) -> None:
    import polars
    from contact_viewer.cli import main

    path = tmp_path / "diff.parquet"
    assert main(["compare", "stack", "stack", "--duration", "0.05", "-o", str(path)]) == 0
    assert set(described("Forces of two runs")) == set(polars.read_parquet(path).columns)


def described(title: str) -> dict[str, str]:
    """Return the unit of each column in the table below a heading."""
    section = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `")]
    return {name: unit.strip() for names, unit in rows for name in re.findall(r"`(\w+)`", names)}
