"""`contact-viewer [SCENE]`: open a scene in a window."""

import argparse
import gc

from ..cli import COMMANDS
from ..engines.registry import CHOICES
from ..settings import Options
from ..version import __version__
from .parsing import (
    PROGRAM,
    Parser,
    UsageError,
    add_control_arguments,
    add_scene_arguments,
    number,
    pixel_size,
)
from .runs import add_beside_argument, add_run_arguments, check_run_arguments, read_options


def parser() -> Parser:
    rows = [(f"{PROGRAM} [SCENE]", "open a scene in a window")]
    rows += [(f"{PROGRAM} {name}", summary) for name, summary in COMMANDS.items()]
    commands = "\n".join(f"  {command:28}{summary}" for command, summary in rows)
    parser = Parser(
        "",
        "Open a scene and see its contacts: where, how strong, in which direction, and why.\n\n"
        f"commands:\n{commands}\n\n`{PROGRAM} COMMAND --help` lists the options of a command.",
        examples=(
            "walker                          # a bundled scene in a window",
            "robot.xml --key home --paused   # your robot, in its keyframe",
            "robot.xml --serve               # in a browser, for machines without a display",
        ),
    )
    parser.usage = f"{PROGRAM} [SCENE] [options]\n       {PROGRAM} COMMAND ..."
    add_scene_arguments(parser)
    add_control_arguments(parser)
    add_run_arguments(parser)
    add_beside_argument(parser)
    group = parser.add_argument_group("simulation and window")
    group.add_argument("--engine", choices=list(CHOICES), default="mujoco", help="physics engine")
    group.add_argument(
        "--envs", type=number(1, 65536, int), default=1, metavar="N", help="number of environments; switch with , and ."
    )
    group.add_argument("--no-reload", action="store_true", help="do not reload the scene when its files change")
    group.add_argument("--no-watch", action="store_true", dest="no_reload", help=argparse.SUPPRESS)
    group.add_argument("--data", dest="data_file", metavar="FILE", help="show measured data in Plots")
    group.add_argument(
        "--map", action="append", default=[], metavar="SENSOR=COLUMN", help="with --data: column of a sensor"
    )
    group.add_argument("--paused", action="store_true", help="start paused")
    group.add_argument("--go-to", type=number(0, 1e6), metavar="S", help="start paused at this simulated time [s]")
    group.add_argument("--size", type=pixel_size(240, 16384), metavar="WxH", help="window size [px]; default: 1600x900")
    group.add_argument("--width", type=number(320, 16384, int), default=Options.width, help=argparse.SUPPRESS)
    group.add_argument("--height", type=number(240, 16384, int), default=Options.height, help=argparse.SUPPRESS)
    group.add_argument(
        "--serve",
        nargs="?",
        type=number(1, 65535, int),
        const=0,
        metavar="PORT",
        help="serve the window to browsers instead of opening it; default port: the first free one from 8090",
    )
    group.add_argument("--host", metavar="ADDRESS", help="address to serve on; default: 127.0.0.1")
    group.add_argument("--frames", type=number(1, 1e12, int), metavar="N", help="stop after N frames")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def run(arguments: argparse.Namespace) -> int:
    if arguments.host is not None and arguments.serve is None:
        raise UsageError("--host needs --serve")
    # Modules stay: searching them for garbage would take a fifteenth of the time to the first frame.
    gc.disable()
    # The window first: MuJoCo imported before ImGui has another GLFW library than ImGui's, and looks for it.
    from ..window.main_loop import open_window

    gc.freeze()
    gc.enable()
    check_run_arguments(arguments)
    width, height = arguments.size or (arguments.width, arguments.height)
    options = read_options(
        arguments, width=width, height=height, watch_all=not arguments.no_watch_all, watch=not arguments.no_reload
    )
    if arguments.serve is None:
        open_window(options)
    else:
        from ..browser.serve import serve_scene
        from ..passive.served import announce

        serve_scene(
            options, arguments.host or "127.0.0.1", arguments.serve or None, lambda server: announce(server.url)
        )
    return 0
