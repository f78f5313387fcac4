"""Film a scene with its contacts, and write the numbers of the same steps. No display is needed."""

import tempfile
from pathlib import Path

from contact_viewer.cli import main

with tempfile.TemporaryDirectory() as folder:
    film, table = Path(folder, "slope.mp4"), Path(folder, "slope.csv")
    code = main(["record", "slope", "--duration", "0.2", "--size", "320x180", "--data", str(table), "-o", str(film)])
    print("exit code", code, "-", sorted(path.suffix for path in Path(folder).iterdir()))
