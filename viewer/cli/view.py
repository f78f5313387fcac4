"""`contact-viewer [SCENE]`: open a scene in a window."""

import argparse
import gc

from ..cli import COMMANDS
from ..engines.registry import CHOICES
from ..settings import Options, Quality, Reduce
from ..version import __version__
from .parsing import PROGRAM, Parser, UsageError, add_control_arguments, add_scene_arguments, control_options, number
from .runs import add_run_arguments, check_run_arguments, run_options


def parser() -> Parser:
    rows = [(f"{PROGRAM} [SCENE]", "open a scene in a window")]
    rows += [(f"{PROGRAM} {name}", summary) for name, summary in COMMANDS.items()]
    commands = "\n".join(f"  {command:28}{summary}" for command, summary in rows)
    parser = Parser(
        "",
        "See what a scene's contact sensors say: where, how hard, in which direction.",
        f"commands:\n{commands}\n\n`{PROGRAM} COMMAND --help` lists its options.",
    )
    add_scene_arguments(parser)
    add_control_arguments(parser)
    parser.add_argument("--engine", choices=list(CHOICES), default="mujoco", help="who steps the scene")
    parser.add_argument(
        "--envs", type=number(1, 65536, int), default=1, metavar="N", help="environments; , and . choose"
    )
    parser.add_argument("--no-watch", action="store_true", help="do not open the scene again when its files change")
    parser.add_argument("--paused", action="store_true", help="start paused")
    parser.add_argument(
        "--go-to", type=number(0, 1e6), metavar="S", help="start paused after so many simulated seconds"
    )
    parser.add_argument("--width", type=number(320, 16384, int), default=Options.width, help="of the window")
    parser.add_argument("--height", type=number(240, 16384, int), default=Options.height, help="of the window")
    parser.add_argument(
        "--serve",
        nargs="?",
        type=number(1, 65535, int),
        const=0,
        metavar="PORT",
        help="open no window, and show it in browsers; without a port, on the first free one from 8090 on",
    )
    parser.add_argument("--host", metavar="ADDRESS", help="where to serve; default: 127.0.0.1")
    parser.add_argument("--frames", type=number(1, 1e12, int), metavar="N", help="stop after N frames")
    add_run_arguments(parser)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def run(arguments: argparse.Namespace) -> int:
    if arguments.host is not None and arguments.serve is None:
        raise UsageError("--host is for --serve")
    # Modules stay: searching them for garbage would take a fifteenth of the time to the first frame.
    gc.disable()
    # The window first: whoever imports MuJoCo before ImGui has another GLFW library than ImGui's, and looks for it.
    from ..window.main_loop import open_window

    from ..scene_files.scene import find_scene  # isort: skip

    gc.freeze()
    gc.enable()
    check_run_arguments(arguments)
    options = Options(
        scene=find_scene(arguments.scene),
        paused=arguments.paused,
        go_to=arguments.go_to,
        speed=arguments.speed,
        camera=arguments.camera,
        key=arguments.key,
        sensors=tuple(arguments.sensor),
        reduce=Reduce(arguments.reduce) if arguments.reduce else None,
        width=arguments.width,
        height=arguments.height,
        quality=Quality(arguments.quality),
        engine=arguments.engine,
        envs=arguments.envs,
        watch_all=not arguments.no_watch_all,
        watch=not arguments.no_watch,
        frames=arguments.frames,
        **run_options(arguments),
        **control_options(arguments),
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
