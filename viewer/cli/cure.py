"""`contact-viewer cure SCENE --avoid ...`: find the smallest change after which something no longer happens."""

import argparse
import json
import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ..app.interruption import interruption
from .parsing import Parser, UsageError, add_control_arguments, control_options, number
from .progress import RunProgress, plural, report
from .runs import add_log_arguments, check_run_arguments

if TYPE_CHECKING:
    from ..compare.cures import Cure, Cures

_NONE_FOUND = 1
_EPILOG = """--avoid takes one of these, with its limit; NAME is a contact sensor, a geom, a body, or a pair such
as "floor x box":
  slip:NAME>1mm      surfaces slide farther than this from where they touched
  creep:NAME>10um/s  surfaces slide faster than this: the mean over half a second, after another half to settle
  lost:NAME          the contact opens; with >50ms, for longer than this
  force:NAME>20N     net contact force above this; for a geom or body that of its strongest pair
  drop:NAME<0.1m     height of a body or geom below this
  unstable           the simulation diverges
Without --vary these are tried: friction, cone, impratio, solref, timestep, noslip_iterations; of the geoms that touch
the objects of --avoid. First every parameter alone, from small changes to large ones, then pairs of changes that
are too small to help alone. Every listed cure was run to its end; changes after which bodies that touched no longer do
are not listed. A controller is called in every run; a log or saved run is continued with its recorded inputs.

Exit code 0 if there is a cure, or nothing to cure; 1 if none was found; 2 for bad input."""


def parser() -> Parser:
    parser = Parser(
        "cure",
        "Find the smallest change of a scene that avoids slip, creep, lost contact, large forces, a drop or\n"
        "instability, and its cost in solver iterations. Runs are simulated in separate processes.",
        _EPILOG,
        examples=(
            'cure grasp.xml --key held --avoid "creep:box>100um/s"',
            'cure robot.xml --avoid "slip:left_foot>2mm" --avoid "force:left_foot>500N" --duration 3',
            'cure golden.cvrun --avoid "drop:cup<0.1m" --vary friction:cup --vary gain:grip=10:100',
        ),
    )
    parser.add_argument("scene", metavar="SCENE", help="file or name of a bundled scene; a saved run (.cvrun)")
    parser.add_argument(
        "--avoid", action="append", default=[], metavar="WHAT", help="event or value to avoid, see below; repeatable"
    )
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument(
        "--duration",
        type=number(0.001, 3600.0),
        metavar="S",
        help="simulated time of each run [s]; default: 5, or all of a saved run or log",
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=number(0.0, 3600.0),
        default=0.0,
        metavar="S",
        help="simulated time before which nothing counts [s]; default: 0",
    )
    parser.add_argument(
        "--jobs", type=number(1, 1024, int), default=0, metavar="N", help="number of processes; default: one per core"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_control_arguments(parser, random=False)
    parser.add_argument(
        "--vary",
        dest="parameters",
        action="append",
        default=[],
        metavar="WHAT[:NAME][=LOW:HIGH]",
        help=(
            "parameter that may be changed: friction, friction:box, solref:ball, timestep, gain:grip=10:100, "
            "cone=elliptic; repeatable"
        ),
    )
    add_log_arguments(parser)
    parser.set_defaults(vary=[], save_run=None)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..compare.cures import Cures, SearchProgress, search_cures
    from ..compare.trials import TrialOptions

    if not arguments.avoid:
        raise UsageError('nothing to avoid: give for example --avoid "slip:left_finger>1mm"')
    check_run_arguments(arguments)
    driven: dict[str, Any] = {"control": None, "params": ()} if arguments.log else control_options(arguments)
    options = TrialOptions(
        arguments.scene,
        tuple(arguments.avoid),
        tuple(arguments.parameters),
        control=driven["control"],
        params=dict(driven["params"]),
        **{
            name: getattr(arguments, name)
            for name in ("duration", "start", "key", "seed", "noise", "log", "episode", "period")
        },
    )
    if arguments.log is not None or arguments.scene.endswith(".cvrun"):
        report("note: every run uses the recorded inputs; the controller that made them does not react to the changes")
    cures: Cures | None = None
    with (
        interruption() as interrupt,
        closing(search_cures(options, arguments.jobs)) as search,
        RunProgress(1) as progress,
    ):
        try:
            while not interrupt.requested:
                step: SearchProgress = next(search)
                cures = step.cures
                progress.update(step.done, 0, step.planned)
        except StopIteration as end:
            cures = end.value
    if cures is None or cures.before is None:
        return interrupt.exit_code
    if arguments.json:
        print(json.dumps(_document(cures, arguments.scene), indent=2))
    else:
        _print(cures, arguments.scene)
    if interrupt.requested:
        report(f"interrupted after {plural(cures.tried, 'run')}")
        return interrupt.exit_code
    return 0 if cures.singles or cures.pairs or not cures.happens else _NONE_FOUND


def _document(cures: "Cures", scene: str) -> dict[str, Any]:
    return {
        "scene": scene,
        "avoid": [str(each) for each in cures.unwanted],
        "duration": cures.seconds,
        "happens": cures.happens,
        "complete": cures.complete,
        "runs": cures.tried,
        "varied": list(cures.parameters),
        "before": None if cures.before is None else _row(cures, cures.before),
        "singles": [_row(cures, each) for each in cures.singles],
        "pairs": [_row(cures, each) for each in cures.pairs],
    }


def _row(cures: "Cures", cure: "Cure") -> dict[str, Any]:
    return {
        "changes": [str(each) for each in cure.changes],
        "values": [value if math.isfinite(value) else None for value in cure.values],
        "iterations_per_second": cure.iterations,
        "steps_per_second": cure.steps,
        "cost": cures.cost(cure),
    }


def _print(cures: "Cures", scene: str) -> None:
    from ..compare.unwanted import Kind

    assert cures.before is not None
    print(f"{scene}, {cures.seconds:g} s")
    for each, value in zip(cures.unwanted, cures.before.values, strict=True):
        verdict = "happens" if each.happens(value) else "is not known" if math.isnan(value) else "does not happen"
        print(f"  {each}: {verdict}{'' if math.isnan(value) else f', {each.text(value)}'}")
    print(f"  {_cost(cures.before)}")
    if cures.before.trouble:
        print(f"  ends early: {cures.before.trouble}")
    if not cures.happens:
        if not cures.touched and any(each.kind not in (Kind.DROP, Kind.UNSTABLE) for each in cures.unwanted):
            print("nothing touched there: is the name right, and the --duration long enough?")
        elif any(math.isnan(value) for value in cures.before.values):
            print("no contact lasted one second, which is needed to measure creep: give a longer --duration")
        else:
            print("nothing to cure")
        return
    rows = [(title, found) for title, found in (("one change", cures.singles), ("two", cures.pairs)) if found]
    if not rows:
        print(f"no cure among {plural(cures.tried - 1, 'change')} of {', '.join(cures.parameters) or 'nothing'}")
        return
    width = max(len(cure.text) for _, found in rows for cure in found)
    for title, found in rows:
        print(f"{title}:")
        for cure in found:
            values = ", ".join(
                f"{each.kind} {each.text(value)}" for each, value in zip(cures.unwanted, cure.values, strict=True)
            )
            print(f"  {cure.text:{width}}  {values}; {_cost(cure)}")
    print(f"{plural(cures.tried, 'run')}; every listed cure was run to its end")


def _cost(cure: "Cure") -> str:
    return f"{cure.iterations / max(cure.steps, 1e-9):.2g} solver iterations a step, {cure.steps:.0f} steps a second"
