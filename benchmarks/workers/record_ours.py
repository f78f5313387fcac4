"""Our command that records a video; prints how long it took and its peak memory."""

import json
import re
import sys
import time
from pathlib import Path

# The peer imports all it needs before its clock starts.
import av  # noqa: F401
import contact_viewer.cli.record
import contact_viewer.recording.data_file
import contact_viewer.recording.scene_frames  # noqa: F401
import mujoco  # noqa: F401
import numpy  # noqa: F401
from contact_viewer.cli import main

start = time.perf_counter()
code = main(["record", *sys.argv[1:]])
seconds = time.perf_counter() - start
if code:
    raise SystemExit(code)
# Of this program alone: what the system counts for a process starts with the memory of whoever started it.
peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
assert peak is not None
print(json.dumps({"seconds": seconds, "peak": int(peak[1]) / 1e3}))
