"""`contact-viewer audit SCENE FILE.py:FUNCTION`: find what is wrong with a contact function of your own."""

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
        "Compare a reward, an observation or a termination of your own with the truth: standing, falling,\n"
        "pushed round, upside down, grasping. Says which named values it reads, in which situations it is wrong,\n"
        "and the cause where a rule is specific. The function runs in a process of its own.\n"
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
    parser.add_argument("term", metavar="FILE.py:NAME", help="the function or class")
    group = parser.add_argument_group("what it is")
    group.add_argument("--as", dest="role", choices=ROLES, help="default: by its name and value")
    group.add_argument(
        "--of", metavar="[NAME=]BODY,...", help="bodies, geoms or contact sensors of its outputs, in order"
    )
    group.add_argument(
        "--against", metavar="floor|any|BODY", help="the other side; the object of a grasp; default: floor"
    )
    group.add_argument(
        "--control-steps", type=number(1, 10000, int), default=1, metavar="N", help="physics steps a call; default: 1"
    )
    group.add_argument("--call", metavar="EXPRESSION", help="how to call it as f, with model, data, sensordata, env")
    group.add_argument("--lib", choices=LIBRARIES, help="library of the arrays; default: by the names in the code")
    group.add_argument(
        "--rel", type=number(1e-6, 10.0), default=0.05, metavar="X", help="error of forces; default: 0.05"
    )
    group = parser.add_argument_group("runs")
    group.add_argument("--log", metavar="FILE", help="a log or saved run of your own, in place of runs of ours")
    group.add_argument("--control", metavar="FILE[:NAME]", help="Python file with control(model, data): a run more")
    group.add_argument(
        "--limit", type=number(0.1, 1e5), default=60.0, metavar="S", help="wall time of all calls [s]; default: 60"
    )
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument("--junit", metavar="FILE", help="write JUnit's XML")
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
