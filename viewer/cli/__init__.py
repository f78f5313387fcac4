"""Command line to one command: one file a command, imported only when it runs."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from ..engines.errors import SceneError
from .parsing import PROGRAM, UsageError

COMMANDS = {
    "scenes": "list the bundled scenes",
    "inspect": "describe every contact sensor's array",
    "compare": "set both engines' contacts side by side",
    "record": "record a video without a window",
    "export": "write the contacts of every step to a data file",
    "events": "list when contacts begin and end",
}
"""Command and summary. Each is a module here with `parser()` and `run(arguments)`; `view` is the one without a name."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "view"
    try:
        command = import_module(f".{name}", __name__)
        return int(command.run(command.parser().parse_args(arguments)))
    except (UsageError, SceneError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe left early, as `| head` does; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
