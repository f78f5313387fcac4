"""`contact-viewer export SCENE -o FILE`: write the contacts, events and touch values of every step to a data file."""

import argparse
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from ..app.interruption import interruption
from ..engines.registry import ENGINES
from ..settings import Reduce
from .parsing import Parser, UsageError, add_control_arguments, add_patterns_argument, add_watch_argument
from .progress import report, report_warnings, work_through
from .record import DISK_FULL, add_output_arguments, data_lines, report_omissions, report_strays
from .runs import add_run_arguments, check_run_arguments, duration, open_run, report_exactness, save_run

if TYPE_CHECKING:
    from ..recording.schedule import OnStep, Schedule
    from ..session.session import Session

_CHUNK_SECONDS = 0.05
"""Wall time of the steps between two checks for interruptions and progress [s]."""
_EPILOG = """formats:
  .csv            text, numbers read back exactly
  .npz            NumPy, an array a column
  .parquet        needs: pip install 'contact-viewer[parquet]'
  .rrd            opens in Rerun with arrows and curves; needs: pip install 'contact-viewer[rerun]'

A row is one contact of one sensor at one step; a sensor that finds nothing has one row, with found = 0.
Columns: step, time, sensor, slot, found,
  force_normal, force_tangent0, force_tangent1, force_x, force_y, force_z, torque_... likewise,
  dist, pos_x..z, normal_x..z, tangent0_x..z, tangent1_x..z, geom1, geom2.
SI units, which .parquet files hold, and contacts.schema.json beside a .csv file. What is not known is NaN.
Forces and torques act on geom2, along the contact's normal and tangents and along the world's x, y, z. They
are those that were applied in the step that ends at `time`.

Events list when contacts begin and end, as in `contact-viewer events`: step, time, pair_id, geom1, geom2, kind,
distance, normal_velocity, approach_speed, duration, peak_force. `time` is located inside a step; `step` is the first
that shows the event.
Touch values, of scenes with touch sensors: step, time, sensor, component, value, force, found. `value` is what the
device reports, `force` what an ideal one would, in newtons; components 0, 1, 2 are the x, y, z of force-3d.
Channels, of --channel or in a saved run: step, time, channel, value, unit.
contacts.csv has them beside it in contacts.events.csv, contacts.touch.csv and contacts.channels.csv, a .parquet file
likewise; an .npz file holds them as event_time, touch_time, channel_time, ...; an .rrd file as texts, marks, curves."""


def parser() -> Parser:
    parser = Parser("export", "Write contacts, events and touch values of every physics step to a data file.", _EPILOG)
    parser.add_argument("scene", metavar="SCENE", help="path or bundled scene")
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument("--sensor", action="append", default=[], metavar="NAME", help="only this sensor; repeatable")
    parser.add_argument("--reduce", choices=[str(mode) for mode in Reduce], help="reduce mode of the sensors")
    parser.add_argument("--engine", choices=list(ENGINES), default="mujoco", help="physics engine")
    add_watch_argument(parser)
    add_patterns_argument(parser)
    add_output_arguments(parser)
    add_control_arguments(parser)
    add_run_arguments(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..recording.data_file import DataFile, check_data_path
    from ..recording.schedule import Schedule

    check_data_path(arguments.output)
    check_run_arguments(arguments)
    session = open_run(arguments)
    seconds = duration(arguments, session.source)
    schedule = Schedule.every_step(session.engine.timestep, seconds, arguments.start)
    report_strays(arguments.output)
    with interruption() as interrupt, DataFile(arguments.output, session) as data:
        report_omissions(data, session)
        trouble, code = work_through(
            take_steps(session, schedule, data.write), schedule.frame_count, "steps", interrupt
        )
        if not data.steps:
            raise UsageError(f"{trouble or 'interrupted'}, before the first step to export")
        try:
            # Before one more step is taken, for the events.
            lines = save_run(arguments, session.simulation)
        finally:
            data.finish()
    report_warnings(session.engine)
    if trouble:
        report(f"warning: {trouble}; the file ends there")
    print(*lines, *data_lines(data), sep="\n")
    report_exactness(session.source)
    return interrupt.exit_code or (DISK_FULL if data.full and trouble else code)


def take_steps(session: "Session", schedule: "Schedule", write: "OnStep") -> Iterator[int]:
    """Take the steps of a schedule and hand each to `write`; yield how many were written, a few times a second."""
    from ..recording.schedule import StepCounter

    counter = StepCounter(session, schedule, [write])
    chunk = 1
    while (left := schedule.last_step - counter.step) > 0:
        began = perf_counter()
        session.simulation.step(min(chunk, left))
        yield max(0, counter.step - schedule.first_step + 1)
        chunk = max(1, min(round(chunk * _CHUNK_SECONDS / (perf_counter() - began)), 2 * chunk))
