"""`python -m benchmarks`: measure, print a table, write the report."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import batches, decoding, gizmos, own_loops, recordings, reloading, serving, stepping, sweeps, tensors, windows
from .environments import ROOT, Environments
from .measuring import Row
from .report import REPORT, describe_machine, format_table, write_report
from .run import Run

BENCHMARKS: dict[str, Callable[[Run], list[Row]]] = {
    "gizmos-500": gizmos.gizmos_500,
    "gizmos-built-in": gizmos.gizmos_built_in,
    "gizmos-growth": gizmos.gizmos_growth,
    "decode-4096": decoding.decode_4096,
    "decode-limit": decoding.decode_limit,
    "decode-numpy": tensors.decode_numpy,
    "decode-jax": tensors.decode_jax,
    "decode-torch": tensors.decode_torch,
    "running-window": stepping.running_window,
    "export-speed": stepping.export_speed,
    "events-speed": stepping.events_speed,
    "sweep-overhead": sweeps.sweep_overhead,
    "sweep-workers": sweeps.sweep_workers,
    "sweep-ray": sweeps.sweep_ray,
    "frame-window": windows.frame_window,
    "frame-equal": windows.frame_equal,
    "frame-python": windows.frame_python,
    "record-same": recordings.record_same,
    "record-default": recordings.record_default,
    "record-memory": recordings.record_memory,
    "startup": windows.startup,
    "reload": reloading.reload,
    "envs": batches.envs,
    "idle": windows.idle,
    "serve": serving.serve,
    "own-loop": own_loops.own_loop,
}


def is_chosen(name: str, only: list[str] | None) -> bool:
    """True for all without a choice; `sweep` chooses sweep-ray, and `reload` reload alone."""
    return only is None or any(name == each or name.startswith(f"{each}-") for each in only)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ours and a peer, in one run.")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="one benchmark, or all whose names begin so; repeatable"
    )
    parser.add_argument("--tiny", action="store_true", help="only see that everything runs; writes no report by itself")
    parser.add_argument("--report", type=Path, metavar="FILE", help="default: benchmarks/report.json")
    parser.add_argument("--environments", type=Path, default=ROOT, metavar="FOLDER", help="where the peers are")
    arguments = parser.parse_args()
    chosen = [name for name in BENCHMARKS if is_chosen(name, arguments.only)]
    if not chosen:
        parser.error(f"--only: no benchmark is named so; choose from {', '.join(BENCHMARKS)}")
    report = arguments.report or (None if arguments.tiny else REPORT)
    machine = describe_machine(Environments(arguments.environments))
    print(f"{machine['machine']}, load {machine['load']:.2f}, {machine['renderer']}", flush=True)
    if arguments.tiny:
        print("tiny: everything runs, but the figures mean nothing")
    started = time.perf_counter()
    rows: list[Row] = []
    failed = []
    with Run(Environments(arguments.environments), arguments.tiny) as run:
        for name in chosen:
            before = time.perf_counter()
            try:
                rows += BENCHMARKS[name](run)
            except Exception as error:
                # The others are still worth measuring.
                failed.append(f"{name}: {type(error).__name__}: {error}")
            print(f"{name}: {time.perf_counter() - before:.0f} s", file=sys.stderr, flush=True)
    print(format_table(rows))
    print(f"{time.perf_counter() - started:.0f} s in all")
    if report is not None:
        write_report(report, rows, machine, list(BENCHMARKS))
        print(f"written to {report}")
    for message in failed:
        print(message, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
