"""Arguments that several commands share, and one-line errors for bad ones."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..assets import DEFAULT_SCENE, bundled_control
from ..settings import MAX_SPEED, MIN_SPEED, Options, Quality, Reduce, ViewState
from .progress import report

if TYPE_CHECKING:
    from ..engines.contract import Engine
    from ..engines.controller import Controller
    from ..session.session import Session

PROGRAM = "contact-viewer"


class UsageError(Exception):
    """Bad arguments: one line for a person."""


class Parser(argparse.ArgumentParser):
    """Bad arguments raise UsageError instead of printing the usage."""

    def __init__(self, command: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=f"{PROGRAM} {command}".strip(),
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        # Python 3.14 would colour the help, with codes that the standard output shows as text.
        self.color = False

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try {self.prog} --help)")


def number(low: float, high: float, kind: Callable[[str], Any] = float) -> Callable[[str], Any]:
    """An argument type: a number within bounds."""

    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")
        return value

    return convert


def add_scene_arguments(parser: argparse.ArgumentParser, *, scene_required: bool = False) -> None:
    """The scene and how it starts; every command that runs one takes these."""
    nargs, default = (None, "") if scene_required else ("?", f"; default: {DEFAULT_SCENE}")
    parser.add_argument("scene", nargs=nargs, metavar="SCENE", help=f"path or bundled scene{default}")
    parser.add_argument(
        "--speed", type=number(MIN_SPEED, MAX_SPEED), default=1.0, metavar="X", help="multiple of real time"
    )
    parser.add_argument("--camera", metavar="NAME", help="camera of the scene")
    parser.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    parser.add_argument(
        "--sensor", action="append", default=[], metavar="NAME", help="show only this sensor; repeatable"
    )
    parser.add_argument(
        "--reduce", type=str, choices=[str(mode) for mode in Reduce], help="reduce mode of the shown sensors"
    )
    parser.add_argument(
        "--quality",
        choices=[str(quality) for quality in Quality],
        default=str(Quality.AUTO),
        help="of the picture: high has shadows and multisampling",
    )
    add_watch_argument(parser)


def add_watch_argument(parser: argparse.ArgumentParser) -> None:
    """What becomes of a scene without sensors."""
    parser.add_argument(
        "--no-watch-all", action="store_true", help="do not show all contacts of a scene without contact sensors"
    )


def add_control_arguments(parser: argparse.ArgumentParser) -> None:
    """What drives the scene."""
    parser.add_argument(
        "--control",
        metavar="FILE[:NAME]",
        help="a Python file with control(model, data), called before every step; also reset(model, data, rng) and "
        "vary(model, rng)",
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="KEY=VALUE", help="a constant of that file; repeatable"
    )
    parser.add_argument(
        "--seed", type=number(0, 2**63, int), default=0, metavar="N", help="of what is drawn at random; default: 0"
    )
    add_randomisation_arguments(parser)


def add_randomisation_arguments(parser: argparse.ArgumentParser) -> None:
    """What the seed changes without a program."""
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="WHAT[:NAME]=LOW:HIGH",
        help="multiply friction, mass, gravity, timestep, gain or size, of all or of one geom, body or actuator, by a "
        "factor that the seed draws, as friction=0.5:1.5 or mass:torso=0.8:1.2; repeatable",
    )
    parser.add_argument(
        "--noise", metavar="qpos=S,qvel=S", help="standard deviations of noise on the state at the start"
    )


def control_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What drives the scene, as fields of Options."""
    from ..engines.controller_file import read_param
    from ..scene_files.scene import find_scene

    control = arguments.control
    if control is None and (beside := bundled_control(find_scene(arguments.scene))) is not None:
        control = str(beside)
    if arguments.param and control is None:
        raise UsageError("--param is a constant of a controller, which --control names")
    params = tuple(read_param(text) for text in arguments.param)
    return {
        "control": control,
        "params": params,
        "seed": arguments.seed,
        "vary": tuple(arguments.vary),
        "noise": arguments.noise,
    }


def load_controller(arguments: argparse.Namespace) -> "Controller | None":
    """A controller with a state of its own, if one was given, or if the seed changes something."""
    from ..engines.controller import Controller, no_control
    from ..engines.controller_file import ControllerFile
    from ..mjmodel.variation import read_randomisation

    options = control_options(arguments)
    seed, randomisation = options["seed"], read_randomisation(options["vary"], options["noise"])
    if options["control"] is None:
        return Controller(no_control, seed=seed, randomisation=randomisation) if randomisation else None
    return ControllerFile(options["control"], dict(options["params"]), seed, randomisation).load()


def open_session(
    arguments: argparse.Namespace,
    keeps_history: bool = False,
    prepare: "Callable[[Engine], object]" = lambda engine: None,
) -> "Session":
    """The scene with the sensors, keyframe and camera that were given. `prepare`: called with its engine first."""
    from ..engines.registry import CHOICES, open_engines
    from ..scene_files.scene import find_scene
    from ..session.session import Session

    path = find_scene(arguments.scene)
    options = Options(
        scene=path,
        camera=getattr(arguments, "camera", None),
        key=arguments.key,
        sensors=tuple(arguments.sensor),
        reduce=Reduce(arguments.reduce) if arguments.reduce else None,
    )
    beside_control = load_controller(arguments) if CHOICES[arguments.engine].beside is not None else None
    engine, *beside = open_engines(path, arguments.engine, 1, load_controller(arguments), beside_control)
    prepare(engine)
    session = Session(engine, ViewState(), options, beside, keeps_history)
    for note in session.engine.notes:
        report(f"note: {note}")
    for name, reason in session.engine.unread.items():
        report(f"note: sensor {name} is left out: {reason}")
    if not arguments.no_watch_all and session.watch_without_sensors():
        report("note: the scene has no contact sensors, so all contacts are shown")
    elif session.source.watches_all:
        session.watch_all()
    return session
