"""`contact-viewer audit SCENE FILE.py:FUNCTION`: test a user's contact function, and name its errors."""

import argparse
import json
from pathlib import Path

from ..audits.audit import AuditReport, audit
from ..audits.causes import ROLES
from ..audits.term import LIBRARIES
from ..files import save_text
from .parsing import Parser, number
from .progress import plural


def parser() -> Parser:
    parser = Parser(
        "audit",
        "Test your own reward, observation or termination against MuJoCo's contacts: standing, falling, pushed\n"
        "round, upside down, grasping. Reports the named values that it reads, the situations in which it is\n"
        "wrong, and the cause if it is known. The function runs in a separate process.\n"
        "Exit code 0 if it agrees, 1 for findings, 2 if it could not be audited.",
        examples=(
            "audit robot.xml terms.py:feet_contact             # contact of the feet, found by their sensors",
            "audit robot.xml terms.py:FeetAirTime --as air-time --control-steps 4",
            "audit robot.xml terms.py:load --as force --of left=left_foot,right=right_foot",
            "audit hand.xml terms.py:is_grasped --of left_finger,right_finger --against cube",
            "audit robot.xml terms.py:feet --call 'f(data.sensordata, 0.5)' --lib torch --junit audit.xml",
        ),
    )
    parser.add_argument("scene", metavar="SCENE", help="file or name of a bundled scene")
    parser.add_argument("term", metavar="FILE.py:NAME", help="function or class to test")
    group = parser.add_argument_group("function")
    group.add_argument(
        "--as", dest="role", choices=ROLES, help="quantity that it returns; default: by its name and values"
    )
    group.add_argument(
        "--of", metavar="[NAME=]BODY,...", help="bodies, geoms or contact sensors of its outputs, in their order"
    )
    group.add_argument(
        "--against",
        metavar="floor|any|BODY",
        help="other side of the contacts, or the object of a grasp; default: floor",
    )
    group.add_argument(
        "--control-steps", type=number(1, 10000, int), default=1, metavar="N", help="physics steps per call; default: 1"
    )
    group.add_argument(
        "--call", metavar="EXPRESSION", help="expression that calls it as f, with model, data, sensordata, env"
    )
    group.add_argument("--lib", choices=LIBRARIES, help="library of the arrays; default: by the names in the code")
    group.add_argument(
        "--rel",
        type=number(1e-6, 10.0),
        default=0.05,
        metavar="X",
        help="relative error that a force may have; default: 0.05",
    )
    group = parser.add_argument_group("runs")
    group.add_argument("--log", metavar="FILE", help="log or saved run to use in place of the built-in runs")
    group.add_argument(
        "--control", metavar="FILE[:NAME]", help="Python file with control(model, data), for an additional run"
    )
    group.add_argument(
        "--limit", type=number(0.1, 1e5), default=60.0, metavar="S", help="most wall time of all calls [s]; default: 60"
    )
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument("--junit", metavar="FILE", help="write a JUnit XML report")
    group.add_argument("--save-run", metavar="DIR", help="save a run (.cvrun) of each disagreement")
    return parser


def run(arguments: argparse.Namespace) -> int:
    report = audit(
        arguments.term,
        arguments.scene,
        arguments.role,
        of=arguments.of,
        against=arguments.against,
        control_steps=arguments.control_steps,
        call=arguments.call,
        lib=arguments.lib,
        log=arguments.log,
        control=arguments.control,
        save=arguments.save_run,
        rel=arguments.rel,
        limit=arguments.limit,
    )
    if arguments.junit is not None:
        save_text(Path(arguments.junit), report.junit() + "\n")
    print(json.dumps(report.to_json(), indent=2) if arguments.json else _text(report))
    return 0 if report.ok else 1


def _text(report: AuditReport) -> str:
    return f"{report}\n{plural(len(report.findings), 'finding')} in {report.seconds:.1f} s"
