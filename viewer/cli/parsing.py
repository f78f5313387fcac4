"""Arguments that several commands share, and one-line errors for bad ones."""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..assets import DEFAULT_SCENE, bundled_control
from ..errors import did_you_mean
from ..settings import MAX_SPEED, MIN_SPEED, Quality, Reduce

if TYPE_CHECKING:
    from ..engines.controller import Controller

PROGRAM = "contact-viewer"


class UsageError(Exception):
    """Error about bad arguments, as one line for the user."""


class Parser(argparse.ArgumentParser):
    """Parser that raises UsageError for bad arguments instead of printing the usage."""

    def __init__(self, command: str, description: str, epilog: str | None = None, examples: Sequence[str] = ()) -> None:
        """Prepare the parser. `examples`: command lines without the program's name, each with a comment after `  #`."""
        lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
        super().__init__(
            prog=f"{PROGRAM} {command}".strip(),
            description=description,
            epilog="\n\n".join(part for part in (f"examples:\n{lines}" if lines else "", epilog) if part),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        # Python 3.14 would colour the help, with codes that the standard output shows as text.
        self.color = False

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a command line. Raises UsageError; for an unknown option it names the closest one."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            hint = did_you_mean(unknown[0].split("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try {self.prog} --help)")


def number(low: float, high: float, kind: Callable[[str], Any] = float) -> Callable[[str], Any]:
    """Return an argparse type for a number within bounds."""

    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")
        return value

    return convert


def pixel_size(least: int, most: int = 2**31) -> Callable[[str], tuple[int, int]]:
    """Return an argparse type for width and height [px], such as 1280x720, each within bounds."""

    def convert(text: str) -> tuple[int, int]:
        try:
            width, height = (int(side) for side in text.lower().replace("×", "x").split("x"))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1280x720") from None
        if min(width, height) < least:
            raise argparse.ArgumentTypeError(f"{text} is too small: {least} pixels is the least")
        if max(width, height) > most:
            raise argparse.ArgumentTypeError(f"{text} is too large: {most} pixels is the most")
        return width, height

    return convert


def add_scene_arguments(parser: argparse.ArgumentParser, *, scene_required: bool = False) -> None:
    """Add the options for the scene, its start and its view, which every command with a run has."""
    nargs, default = (None, "") if scene_required else ("?", f"; default: {DEFAULT_SCENE}")
    group = parser.add_argument_group("scene")
    group.add_argument("scene", nargs=nargs, metavar="SCENE", help=f"file or name of a bundled scene{default}")
    group.add_argument("--key", metavar="NAME|N", help="start from a keyframe")
    group.add_argument(
        "--sensor", action="append", default=[], metavar="NAME", help="show only this sensor; repeatable"
    )
    group.add_argument(
        "--reduce", type=str, choices=[str(mode) for mode in Reduce], help="reduce mode of the shown sensors"
    )
    add_watch_argument(group)
    group = parser.add_argument_group("view")
    group.add_argument(
        "--speed", type=number(MIN_SPEED, MAX_SPEED), default=1.0, metavar="X", help="multiple of real time; default: 1"
    )
    group.add_argument("--camera", metavar="NAME", help="camera of the scene")
    group.add_argument(
        "--quality",
        choices=[str(quality) for quality in Quality],
        default=str(Quality.AUTO),
        help="rendering quality: high has shadows and multisampling",
    )


def add_watch_argument(parser: argparse._ActionsContainer) -> None:
    """Add the option for scenes without contact sensors."""
    parser.add_argument(
        "--no-watch-all", action="store_true", help="do not show all contacts of a scene without contact sensors"
    )


def add_patterns_argument(parser: argparse._ActionsContainer) -> None:
    """Add the option that adds contact sensors to a scene with few or none."""
    parser.add_argument(
        "--watch",
        action="append",
        default=[],
        dest="watched",
        metavar="WHAT",
        help="add a contact sensor for each-body, or for bodies or geoms by name, such as 'geom:*foot*'; repeatable",
    )


def add_control_arguments(parser: argparse.ArgumentParser, random: bool = True) -> None:
    """Add the options for a controller and the seed. `random`: True to add the variation of the model."""
    group = parser.add_argument_group("control and variation")
    group.add_argument(
        "--control",
        metavar="FILE[:NAME]",
        help="Python file with control(model, data), called before every step; it may also have "
        "reset(model, data, rng) and vary(model, rng)",
    )
    group.add_argument(
        "--param", action="append", default=[], metavar="KEY=VALUE", help="set a constant of that file; repeatable"
    )
    group.add_argument("--seed", type=number(0, 2**63, int), default=0, metavar="N", help="random seed; default: 0")
    if random:
        add_randomisation_arguments(group)
    else:
        _add_noise(group)


def add_randomisation_arguments(parser: argparse._ActionsContainer) -> None:
    """Add the options for random variations, which follow from the seed."""
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="WHAT[:NAME]=LOW:HIGH",
        help="multiply friction, mass, gravity, timestep, gain or size by a random factor, for the whole scene or for "
        "one geom, body or actuator: friction=0.5:1.5, mass:torso=0.8:1.2; repeatable",
    )
    _add_noise(parser)


def _add_noise(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--noise", metavar="qpos=S,qvel=S", help="add noise to the initial state: standard deviations")


def control_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of controllers and variation, as fields of Options."""
    from ..engines.controller_file import read_param
    from ..scene_files.scene import find_scene

    control = arguments.control
    if control is None and (beside := bundled_control(find_scene(arguments.scene))) is not None:
        control = str(beside)
    if arguments.param and control is None:
        raise UsageError("--param sets a constant of a controller: give --control")
    params = tuple(read_param(text) for text in arguments.param)
    return {
        "control": control,
        "params": params,
        "seed": arguments.seed,
        "vary": tuple(arguments.vary),
        "noise": arguments.noise,
    }


def load_controller(arguments: argparse.Namespace) -> "Controller | None":
    """Return a new controller if one was given, or if the options vary the model or the start; else None."""
    from ..engines.controller import Controller, no_control
    from ..engines.controller_file import ControllerFile
    from ..mjmodel.variation import read_randomisation

    options = control_options(arguments)
    seed, randomisation = options["seed"], read_randomisation(options["vary"], options["noise"])
    if options["control"] is None:
        return Controller(no_control, seed=seed, randomisation=randomisation) if randomisation else None
    return ControllerFile(options["control"], dict(options["params"]), seed, randomisation).load()
