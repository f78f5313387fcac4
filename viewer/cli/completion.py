"""`contact-viewer completion SHELL`: print the script that completes command lines in a shell."""

import argparse
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.shell_integration import shellcode

from ..assets import bundled_scenes
from ..cli import COMMANDS
from .parsing import PROGRAM, Parser

SHELLS = ("bash", "zsh", "fish")


def parser() -> Parser:
    result = Parser(
        "completion",
        "Print the script that completes commands, options, bundled scenes, sensors and keyframes in a shell.",
        examples=(
            "completion bash >> ~/.bashrc",
            "completion zsh >> ~/.zshrc",
            "completion fish > ~/.config/fish/completions/contact-viewer.fish",
        ),
    )
    result.add_argument("shell", choices=SHELLS, help="shell that reads the script")
    return result


def run(arguments: argparse.Namespace) -> int:
    print(shellcode([PROGRAM], shell=arguments.shell))
    return 0


def answer() -> None:
    """Write the completions of the line that a shell has in the environment, and end the program."""
    words = os.environ.get("COMP_LINE", "").split()
    name = words[1] if len(words) > 1 and words[1] in COMMANDS else ""
    command = import_module(f".{name or 'view'}", __package__).parser()
    for action in command._actions:
        if action.dest in _COMPLETERS:
            action.completer = _COMPLETERS[action.dest]
    whole = command
    if name:
        whole = argparse.ArgumentParser(PROGRAM, add_help=False)
        commands = whole.add_subparsers()
        commands.add_parser(name, parents=[command], add_help=False, conflict_handler="resolve")
    CompletionFinder()(whole, always_complete_options=False)


def _scenes(prefix: str, parser: argparse.ArgumentParser, **_: Any) -> Iterable[str]:
    names = [scene.name for scene in bundled_scenes()]
    if parser.prog == PROGRAM:
        names += COMMANDS
    return [*names, *FilesCompleter(("xml", "mjb", "cvrun"))(prefix)]


def _names(parsed: argparse.Namespace, parent: str, element: str) -> Iterator[str]:
    """Yield the names of one kind of element in the scene of a command line, without compiling it."""
    from ..errors import SceneError
    from ..scene_files.includes import read_elements
    from ..scene_files.scene import find_scene

    try:
        for each in read_elements(find_scene(Path(parsed.scene))):
            name = each.tag.attributes.get("name")
            if name and each.tag.name == element and each.around[-1:] == (parent,):
                yield name
    except (SceneError, OSError, TypeError):
        return


def _sensors(parsed_args: argparse.Namespace, **_: Any) -> Iterator[str]:
    return _names(parsed_args, "sensor", "contact")


def _keys(parsed_args: argparse.Namespace, **_: Any) -> Iterator[str]:
    return _names(parsed_args, "keyframe", "key")


_COMPLETERS: dict[str, Any] = {"scene": _scenes, "sensor": _sensors, "key": _keys}
