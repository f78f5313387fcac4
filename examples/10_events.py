"""Count the steps of a walking robot: when each foot touches down, how fast, and how hard it presses."""

import json
import tempfile
from pathlib import Path

from contact_viewer.cli import main

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "events.json")
    main(["events", "walker", "--duration", "3", "-o", str(file)])
    events = json.loads(file.read_text())
begins = [event for event in events if event["kind"] == "begin"]
print(len(begins), "touchdowns")
for event in begins[:3]:
    print(f"{event['time']:.3f} s {' × '.join(event['geoms'])}, {event['approach_speed']:.3f} m/s")
