"""The Python environments that peers live in: made by `python -m benchmarks.environments`, never mixed with ours."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .measuring import Unavailable

ROOT = Path(__file__).parent.parent
NOT_INSTALLED = "peer not installed"
WORKERS = Path(__file__).parent / "workers"
_COMPLETE = ".complete"
_TIMEOUT = 300.0
"""Longest that a worker may take [s]."""
_READ_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment and what belongs into it."""

    name: str
    requirements: tuple[str, ...]
    python: tuple[int, int]
    """Least version."""


PEERS = Environment(
    ".venv-peers",
    (f"mujoco=={version('mujoco')}", "mediapy", "imageio-ffmpeg", "motrixsim>=0.10,<0.11", "mjviser==0.0.14"),
    (3, 11),
)
STUDIO = Environment(".venv-studio", ("mujoco>=4",), (3, 12))
"""Studio needs a later Python than we do."""


TORCH = Environment(".venv-torch", (), (3, 11))
"""`make test-torch` sets it up, with our own package beside torch."""


@dataclass(frozen=True)
class Environments:
    """The peers' environments in one folder."""

    folder: Path = ROOT

    def python(self, environment: Environment) -> str:
        """The interpreter of an environment; Unavailable if it was not set up."""
        folder = self.folder / environment.name
        if not ((folder / _COMPLETE).exists() or (folder / ".torch").exists()):
            raise Unavailable(NOT_INSTALLED)
        return str(folder / "bin" / "python")

    def work(self, environment: Environment, worker: str, *arguments: object) -> dict[str, Any]:
        """What a worker of a peer prints; Unavailable if it fails."""
        try:
            return run_worker(self.python(environment), worker, *arguments)
        except subprocess.SubprocessError as error:
            raise Unavailable(_last_words(error)) from None

    def versions(self) -> dict[str, str]:
        """Of the peers that are there."""
        found: dict[str, str] = {}
        for environment, names in (
            (PEERS, ("mujoco", "mediapy", "motrixsim", "mjviser", "viser")),
            (STUDIO, ("mujoco-studio",)),
        ):
            try:
                command = [self.python(environment), "-c", _READ_VERSIONS, *names]
            except Unavailable:
                continue
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found |= {f"peer {name}": number for name, number in json.loads(said).items()}
        return found


def run_worker(
    python: str, worker: str, *arguments: object, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run one of `workers/` and read the JSON that it prints last."""
    command = [python, str(WORKERS / worker), *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=_TIMEOUT,
        env={**os.environ, **(environment or {})},
    )
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _last_words(error: subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in error.stderr.splitlines() if line.strip()]
        return f"the program ended: {lines[-1] if lines else f'exit code {error.returncode}'}"
    return f"the program took longer than {_TIMEOUT:.0f} s"


def set_up(folder: Path = ROOT) -> None:
    """Make the environments that are missing or out of date. What cannot be installed is reported, and is no error."""
    for environment in (PEERS, STUDIO):
        place, wanted = folder / environment.name, "\n".join(environment.requirements)
        complete = place / _COMPLETE
        if complete.exists() and complete.read_text() == wanted:
            continue
        python = _find_python(environment.python)
        if python is None:
            print(f"{environment.name}: no Python {'.'.join(map(str, environment.python))} or later; left out")
            continue
        print(f"{environment.name}: installing {', '.join(environment.requirements)}", flush=True)
        try:
            subprocess.run([python, "-m", "venv", "--clear", str(place)], check=True)
            # As later versions of venv do by themselves.
            (place / ".gitignore").write_text("*\n")
            install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *environment.requirements]
            subprocess.run(install, check=True)
        except subprocess.CalledProcessError as error:
            print(f"{environment.name}: {error}; left out")
            continue
        complete.write_text(wanted)


def _find_python(least: tuple[int, int]) -> str | None:
    """An interpreter of at least that version, our own if possible."""
    if sys.version_info >= least:
        return sys.executable
    return next((python for python in _interpreters(least) if _works(python, least)), None)


def _interpreters(least: tuple[int, int]) -> Iterator[str]:
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 3)]
    for name in names:
        found = shutil.which(name)
        if found:
            yield found
    # pyenv's own commands stand for versions that are not switched on.
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in names:
        yield from (str(path) for path in sorted(versions.glob(f"*/bin/{name}")))


def _works(python: str, least: tuple[int, int]) -> bool:
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info < {least})"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    set_up()
