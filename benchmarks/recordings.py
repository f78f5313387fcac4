"""Videos without a window, against MuJoCo's renderer with mediapy, and the memory that long ones take."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.recording.formats import MP4
from contact_viewer.render.contexts import open_context
from contact_viewer.scene_files.scene import find_scene

from .environments import PEERS, run_worker
from .measuring import OURS, Measured, Row, constant, per_repeat, take_turns
from .run import Run

SIZE, FPS = "1280x720", 60
MEDIAPY = "mujoco.Renderer + mediapy"


def record_same(run: Run) -> list[Row]:
    # The encoder's settings are ours, shadows and multisampling MuJoCo's; each draws contacts in its own way.
    ours = ("--quality", "high", "--no-overlay")
    codec = MP4.codecs[0].options
    encoding = ("--crf", codec["crf"], "--preset", codec["preset"], "--x264", codec["x264-params"])
    measured = _record(run, run.sized(1.0, 0.05), ours, ("--contacts", *encoding))
    case = f"{DEFAULT_SCENE}, {SIZE}, shadows and multisampling, same encoder settings"
    return [measured.row("record-same", case, MEDIAPY, "frames/s", goal=1.0, higher_is_better=True)]


def record_default(run: Run) -> list[Row]:
    measured = _record(run, run.sized(6.0, 0.05), ("--quality", "low"), ())
    case = f"{DEFAULT_SCENE}, {SIZE}, ours a draft without shadows, theirs at its defaults"
    return [measured.row("record-default", case, MEDIAPY, "frames/s", goal=5.0, higher_is_better=True)]


def record_memory(run: Run) -> list[Row]:
    short, long = run.sized((6.0, 60.0), (0.1, 0.3))

    def record(duration: float) -> float:
        return float(_record_ours(run, duration, "--fps", "30")["peak"])

    # Memory hardly varies: one turn is enough.
    measured = take_turns({str(duration): partial(record, duration) for duration in (short, long)}, 1)
    peaks = [measured.figures[str(duration)] for duration in (short, long)]
    growth = Measured({OURS: per_repeat(lambda first, last: last / first, *peaks), "constant": constant(1.0)}, {})
    note = ", ".join(
        f"{duration:g} s: {peak.median:.0f} MB" for duration, peak in zip((short, long), peaks, strict=True)
    )
    case = f"peak memory at {long:g} s over {short:g} s"
    return [growth.row("record-memory", case, "constant", "x", goal=1 / 1.2, note=note)]


def _record(run: Run, duration: float, ours: tuple[str, ...], theirs: tuple[str, ...]) -> Measured:
    """Frames a second of ours and of mediapy, from the scene file to the complete video."""
    frames = round(duration * FPS)
    with open_context() as context:
        backend = context.backend

    def record_theirs() -> float:
        output = run.folder / "theirs.mp4"
        said = run.environments.work(PEERS, "record_mediapy.py", *_task(duration, output), "--gl", backend, *theirs)
        return frames / float(said["seconds"])

    def record_ours() -> float:
        return frames / float(_record_ours(run, duration, *ours)["seconds"])

    works = {OURS: record_ours, MEDIAPY: record_theirs}
    return take_turns(works, run.sized(3, 1))


def _record_ours(run: Run, duration: float, *options: str) -> dict[str, Any]:
    return run_worker(sys.executable, "record_ours.py", *_task(duration, run.folder / "ours.mp4"), *options)


def _task(duration: float, output: Path) -> list[str]:
    return [
        str(find_scene(DEFAULT_SCENE)),
        "-o",
        str(output),
        "--duration",
        str(duration),
        "--fps",
        str(FPS),
        "--size",
        SIZE,
    ]
