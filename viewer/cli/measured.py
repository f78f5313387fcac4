"""Measured data on the command line: `compare RUN DATA --map SENSOR=COLUMN`, and a touch device fitted to it."""

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..app.interruption import interruption
from ..errors import SceneError
from .parsing import UsageError, number
from .progress import plural, report, work_through
from .runs import USUAL_DURATION, check_run_arguments, open_run

if TYPE_CHECKING:
    from ..channels.device_fit import DeviceFit
    from ..channels.mapping import Mapping
    from ..compare.measured import Measured

_SHOWN = 6
"""Largest number of printed events that only one side has, and of printed columns without a hint."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for measured data."""
    group = parser.add_argument_group("measured data: compare RUN DATA, a .csv, .parquet, .npz, .hdf5 or .mcap file")
    group.add_argument("--columns", action="store_true", help="list the columns of DATA with their rates")
    group.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="SENSOR=COLUMN",
        help=(
            "column to compare with a sensor's force, such as left_foot=/lowstate.foot_force[0] or "
            "sole.normal=-2*fz+3; repeatable"
        ),
    )
    group.add_argument("--rate", type=number(1e-3, 1e6), metavar="HZ", help="rate of DATA without times [Hz]")
    group.add_argument(
        "--shift",
        type=number(-1e12, 1e12),
        metavar="S",
        help="simulated time at DATA's time 0 [s]; default: found by alignment",
    )
    group.add_argument("--fit", metavar="SENSOR", help="fit a touch device to the column of this sensor")
    group.add_argument("--site", metavar="NAME", help="with --fit: site of the device, whose x axis points outwards")
    group.add_argument("--save", action="store_true", help="with --fit: write the device into the scene's file")


def is_measured(arguments: argparse.Namespace) -> bool:
    """Return True if a command line is about measured data."""
    from ..scene_files.data_files import DATA_SUFFIXES

    suffixes = [Path(side.scene).suffix.lower() for side in arguments.sides]
    wanted = bool(arguments.map or arguments.columns or arguments.fit)
    if not wanted and len(suffixes) == 2 and suffixes[1] in DATA_SUFFIXES:
        raise UsageError(f"{arguments.sides[1].scene}: give --map SENSOR=COLUMN for the columns to compare; --columns")
    return wanted


def run(arguments: argparse.Namespace) -> int:
    """Compare a run with measured data, or list the columns of a file."""
    from ..channels.mapping import parse_mapping
    from ..compare.measured import compare_measured, read_curves, take_steps
    from ..scene_files.data_files import list_columns, read_columns

    data = Path(arguments.sides[-1].scene).expanduser()
    columns = list_columns(data, arguments.rate)
    if arguments.columns:
        _print_columns(columns, arguments.json)
        return 0
    if len(arguments.sides) != 2:
        raise UsageError("compare RUN DATA --map SENSOR=COLUMN")
    if not arguments.map:
        raise UsageError("--fit needs --map with the column of the device")
    # Data have no options of their own: what follows them is meant for the run too.
    own, other = map(vars, arguments.sides)
    side = {**own, **{name: value for name, value in other.items() if value and not own.get(name)}}
    given = {"engine": "mujoco", "no_watch_all": False, "reduce": None, "save_run": None, "channel": []}
    first = argparse.Namespace(**{**side, **given})
    check_run_arguments(first)
    first.save_run = str(data)
    # A run with a history, which is not saved.
    session = open_run(first)
    history, source = session.history, session.source
    assert history is not None
    sensors = list(history.curves.names) or list(session.engine.sensors.names)
    mappings = [parse_mapping(text, sensors, [column.name for column in columns]) for text in arguments.map]
    measured = read_columns(data, [mapping.column for mapping in mappings], arguments.rate)
    span = max(float(np.ptp(curve.times)) for curve in measured.values() if len(curve.times))
    seconds = arguments.duration or source.duration or max(span, USUAL_DURATION)
    with interruption() as interrupt:
        total = max(1, round(seconds / session.engine.timestep))
        trouble, code = work_through(take_steps(session, seconds), total, "steps", interrupt)
    if code and history.last < 2:
        raise SceneError(trouble or "interrupted before the first step")
    if trouble:
        report(f"warning: {trouble}; the run ends there")
    read_curves(history)
    if history.first:
        report(f"note: the first {plural(history.first, 'step')} did not fit into the history")
    found = compare_measured(history, mappings, measured, arguments.shift)
    fit = _fit(arguments, mappings, measured, found, history) if arguments.fit else None
    document = found.to_json() | ({} if fit is None else {"device": fit[1]})
    if arguments.json:
        print(json.dumps(_known(document), indent=2))
    else:
        _print(found)
        if fit is not None:
            _print_device(fit[0], fit[1], found)
    if fit is not None and arguments.save:
        _save(session.engine.path, fit[1])
    return interrupt.exit_code or code


def _print_columns(columns: list[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(_known([column._asdict() for column in columns]), indent=2))
        return
    width = max((len(column.name) for column in columns), default=0)
    for column in columns:
        rate = "        -" if math.isnan(column.rate) else f"{column.rate:9.2f}"
        print(f"{column.name:{width}}  {rate} Hz  {column.values:9d} values")


def _print(found: "Measured") -> None:
    alignment = found.alignment
    events = f", {plural(alignment.matched, 'touchdown')} matched" if alignment.matched else ""
    drift = f", clock {1e6 * alignment.drift:+.0f} ppm" if alignment.drift else ""
    print(f"aligned {'' if alignment.method == 'by hand' else 'by '}{alignment.method}: simulated time is "
          f"measured time {alignment.offset:+.6g} s{drift}{events}")  # fmt: skip
    rows = [("sensor", "column", "rms", "correlation", "delay [ms]", "events", "only simulated", "only measured")]
    for mapping, agreement in found.agreements:
        delays = [1e3 * delay for _, delay in agreement.delays]
        unit = mapping.signal.unit
        rows.append(
            (
                mapping.label,
                mapping.column,
                f"{agreement.rms:.4g} {unit}".rstrip(),
                f"{agreement.correlation:.3f}",
                f"{np.median(delays):+.2f} ± {np.std(delays):.2f}" if delays else "-",
                str(len(delays)),
                str(len(agreement.only_simulated)),
                str(len(agreement.only_measured)),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    for mapping, agreement in found.agreements:
        for who, times in (("simulation", agreement.only_simulated), ("data", agreement.only_measured)):
            if times:
                shown = ", ".join(f"{time:.3f}" for time in times[:_SHOWN]) + (", ..." if len(times) > _SHOWN else "")
                print(f"{mapping.label}: touchdowns that only the {who} has: {shown} s")
    if found.swap:
        pairs = ", ".join(f"{sensor}={column}" for sensor, column in found.swap)
        low, high = found.correlations
        print(f"warning: the mapping looks swapped: correlation {low:.2f}, and {high:.2f} with {pairs}")


def _fit(
    arguments: argparse.Namespace, mappings: list["Mapping"], measured: Any, found: "Measured", history: Any
) -> tuple["DeviceFit", dict[str, Any]]:
    from ..channels.device_fit import FitError, fit_device
    from ..compare.measured import simulated_curve
    from ..touch.declaration import TouchDeclaration

    mapping = next((each for each in mappings if arguments.fit in (each.sensor, each.label)), None)
    if mapping is None:
        raise UsageError(f"--fit {arguments.fit}: is not among the sensors of --map")
    if found.swap:
        raise SceneError("the mapping looks swapped: correct --map before fitting a device")
    try:
        # The device's own unit is that of the column, whatever the mapping makes of it.
        fit = fit_device(simulated_curve(history, mapping), measured[mapping.column], found.alignment)
    except FitError as error:
        raise SceneError(f"--fit {arguments.fit}: {error}") from None
    document: dict[str, Any] = {**vars(fit), "mjcf": None}
    if arguments.site is not None:
        try:
            declaration = TouchDeclaration(
                arguments.fit,
                type="force",  # type: ignore[arg-type]
                site=arguments.site,
                lookup_table=fit.table(),
                resolution=-1.0 if fit.resolution is None else float(f"{fit.resolution:.6g}"),
                sampling_period=float(f"{1e3 * fit.period:.6g}"),
            )
        except ValueError as error:
            raise SceneError(f"--fit {arguments.fit}: no touch sensor can be declared so: {error}") from None
        document |= {"mjcf": declaration.to_mjcf(), "declaration": declaration}
    elif arguments.save:
        raise UsageError("--save needs --site, the site of the device, whose x axis points outwards")
    return fit, document


def _print_device(fit: "DeviceFit", document: dict[str, Any], found: "Measured") -> None:
    print(f"\ndevice, by {fit.count} values (correlation {fit.correlation:.3f}):")
    print(f"  gain        {fit.gain:.5g} by newton")
    print(f"  bias        {fit.bias:.5g}")
    print(f"  noise       {fit.noise:.4g} in contact ({100 * fit.noise / max(abs(fit.typical), 1e-300):.2g} %)")
    rest = "not known: there is always contact" if fit.noise_at_rest is None else f"{fit.noise_at_rest:.4g}"
    print(f"  at rest     {rest}; a touch sensor's noise is a part of its output, so that this cannot be declared")
    print(f"  period      {1e3 * fit.period:.5g} ms")
    print(f"  resolution  {'finer than can be seen' if fit.resolution is None else f'{fit.resolution:.5g}'}")
    print(f"  saturation  {'not reached' if fit.saturation is None else f'{fit.saturation:.5g}'}")
    if found.alignment.method == "by hand":
        print("  delay       see the table: the clocks are aligned by --shift")
    else:
        print(
            "  delay       not known: the clocks were aligned by the same values; give --shift if they are synchronous"
        )
    if document["mjcf"] is not None:
        print(f"\n{document['mjcf']}")
    else:
        print("\n--site NAME makes the entry of a touch sensor of it, and --save writes that into the scene")


def _save(path: Path | None, document: dict[str, Any]) -> None:
    from ..touch.declaration import save_touch

    if path is None or path.suffix.lower() not in (".xml", ".mjcf"):
        raise SceneError(f"{path}: touch sensors can be saved into MJCF only")
    save_touch(path, document["declaration"]).save()
    print(f"{path}: touch sensor written")


def _known(value: Any) -> Any:
    """Return a document for JSON, with null for values that are not known."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items() if key != "declaration"}
    if isinstance(value, list | tuple):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
