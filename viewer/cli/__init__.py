"""Run a command line by one of the commands. Each has a file of its own, imported only when it runs."""

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TextIO

COMMANDS = {
    "scenes": "list the bundled scenes",
    "check": "find and fix problems of the contacts of scenes",
    "audit": "test your own contact function, and name its errors",
    "inspect": "describe every contact sensor's array",
    "compare": "compare two runs: the first step that differs, and why",
    "cure": "find the smallest change that avoids slip, creep, lost contact, ...",
    "record": "record a video without a window",
    "page": "write a run as one HTML page to share",
    "export": "write the contacts of every step to a data file",
    "events": "list when contacts begin and end",
    "sweep": "simulate many runs and save metrics of every sensor",
    "report": "summarise a sweep, as a page and a table",
    "sensors": "write contact sensors for a robot without any",
    "doctor": "check this machine, and list what to install",
    "completion": "print the completion script for bash, zsh or fish",
}
"""Summary of each named command. Each is a module here with `parser()` and `run(arguments)`; so is `view`."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return the exit code."""
    if argv is None:
        if "_ARGCOMPLETE" in os.environ:
            import_module(".completion", __name__).answer()
        _prepare_streams()
        _name_glfw()
    try:
        with _quiet_imports():
            return _run(argv)
    finally:
        if argv is None:
            _drop_unwritten()


def _run(argv: Sequence[str] | None) -> int:
    from ..errors import SceneError
    from .parsing import PROGRAM, UsageError

    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _with_help(arguments)
        name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "view"
        _check_command(arguments, name)
        command = import_module(f".{name}", __name__)
        code = int(command.run(command.parser().parse_args(arguments)))
        sys.stdout.flush()
        return code
    except (UsageError, SceneError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe left early, as `| head` does; what is still buffered has nowhere to go.
        _drop(sys.stdout)
        return 0
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            # Errors of files name them, and those of the standard output do not.
            _drop(sys.stdout)
            print(f"{PROGRAM}: cannot write to the standard output ({error.strerror})", file=sys.stderr)
            return 2
        if error.errno != errno.EIO:
            raise
        # The terminal was closed. Whatever was written to files is complete.
        return 128 + getattr(signal, "SIGHUP", 1)


def _with_help(arguments: list[str]) -> list[str]:
    """Return the command line with `help COMMAND`, `help RULE` and `version` written as options."""
    from ..errors import did_you_mean
    from .parsing import UsageError

    if arguments[:1] != ["help"]:
        return ["--version"] if arguments == ["version"] else arguments
    if not (topic := "".join(arguments[1:2])) or topic in COMMANDS:
        return [*arguments[1:2], "--help"]
    rules = import_module("..checks.check", __name__).NAMES
    if topic in rules:
        return ["check", "--explain", topic]
    hint = did_you_mean(topic, [*COMMANDS, *rules])
    raise UsageError(f"no help on {topic!r}{hint or '; topics are the commands, and the rules of check'}")


def _check_command(arguments: Sequence[str], name: str) -> None:
    """Raise UsageError if the first word is a misspelt command rather than a scene."""
    from ..assets import bundled_scene
    from ..errors import did_you_mean
    from .parsing import UsageError

    word = arguments[0] if name == "view" and arguments else ""
    if not word or "." in word or "/" in word or word.startswith("-") or Path(word).exists() or bundled_scene(word):
        return
    if hint := did_you_mean(word, COMMANDS):
        raise UsageError(f"{word}: neither a command nor a scene{hint}")


def _drop_unwritten() -> None:
    """Drop output that a closed terminal does not accept: Python would write it again at exit, and end with code
    120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            if error.errno == errno.EIO:
                _drop(stream)


def _drop(stream: TextIO) -> None:
    """Discard all buffered and future output of a stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepare_streams() -> None:
    """Make the standard streams usable, even if they are closed."""
    # A file that is opened in place of a closed stream would have libraries' messages in it.
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(file)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _safe(sys.stdout)  # type: ignore[assignment, misc]
    sys.stderr = sys.__stderr__ = _safe(sys.stderr)  # type: ignore[assignment, misc]


def _safe(stream: TextIO) -> TextIO:
    """Make a stream accept all names of files and scenes, also with control codes or characters that the terminal
    lacks."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    how = stream.encoding, "backslashreplace", None, stream.line_buffering, stream.write_through
    return _SafeStream(stream.detach(), *how)


class _SafeStream(io.TextIOWrapper):
    """Stream that writes control characters as escapes: a name in a scene must not control the terminal."""

    def write(self, text: str) -> int:
        from ..files import without_controls

        super().write(without_controls(text))
        return len(text)


def _name_glfw() -> None:
    """Make the GLFW package that MuJoCo imports use the GLFW library of the window.

    Else the package tries each library that it finds in another process, which prints a traceback at Ctrl-C.
    """
    bundle = find_spec("imgui_bundle")
    if bundle is not None and bundle.origin is not None:
        library = Path(bundle.origin).with_name("libglfw.3.dylib" if sys.platform == "darwin" else "libglfw.so.3")
        if library.exists():
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))


@contextmanager
def _quiet_imports() -> Iterator[None]:
    """Let Ctrl-C end the program at once while a library is imported: some libraries abort on the exception."""

    def leave(number: int, frame: FrameType | None) -> None:
        # No further than this command line: its caller may itself be imported.
        while frame is not None and frame.f_code is not _run.__code__:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                # Nothing is open that would have to be closed: what writes files catches the signal itself.
                os._exit(130)
            frame = frame.f_back
        raise KeyboardInterrupt

    # Jobs in the background ignore the signal, and a program that calls this may have its own handler: they stay.
    takes_over = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if takes_over:
        signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        if takes_over:
            signal.signal(signal.SIGINT, signal.default_int_handler)
