"""`contact-viewer doctor`: check this machine, and name the commands that install missing parts."""

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from importlib import metadata

from ..version import __version__
from .parsing import Parser

_EXTRAS = {
    "gymnasium": "gymnasium",
    "motrix": "motrixsim",
    "parquet": "pyarrow",
    "hdf5": "h5py",
    "rerun": "rerun-sdk",
    "ray": "ray",
    "fsspec": "fsspec",
}
"""Distribution that each optional feature needs, by the name of its extra."""
_LIBRARIES = ("mujoco", "numpy", "imgui-bundle", "glfw", "PyOpenGL", "av", "aiohttp", "pillow")
_DEBIAN = "apt-get install libgl1 libegl1 libgl1-mesa-dri libosmesa6"
_OPENGL = """
from contact_viewer.render.contexts import open_context
with open_context() as context:
    print(f"{context.backend}: {context.renderer}")
"""
_VIDEO = """
import av
found = [name for name in ("libx264", "h264", "libopenh264") if name in av.codecs_available]
if not found:
    raise LookupError("PyAV has no H.264 encoder")
print(f"{found[0]} in PyAV {av.__version__}")
"""
_PROBE_SECONDS = 60.0


@dataclass(frozen=True)
class Check:
    """Result of one check of this machine."""

    name: str
    ok: bool
    found: str
    """Version, name or path that was found; the reason if the check failed."""
    needed: bool = True
    """True if the program does not work without this."""
    remedy: str = ""
    """Command or sentence that fixes the problem; empty if there is none."""


def parser() -> Parser:
    parser = Parser(
        "doctor",
        "Check versions, graphics, video and optional packages, and list what to install.\nExit code 0 if "
        "everything needed is there, 1 if not. Paste the output into bug reports.",
        examples=("doctor", "doctor --json"),
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    checks = [*_libraries(), _offscreen(), _display(), _video(), _settings(), *_extras()]
    fails = any(check.needed and not check.ok for check in checks)
    if arguments.json:
        print(json.dumps({"version": __version__, "ok": not fails, "checks": [asdict(c) for c in checks]}, indent=2))
        return int(fails)
    print(f"contact-viewer {__version__} · Python {platform.python_version()} · {platform.platform()}")
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = "ok" if check.ok else ("MISSING" if check.needed else "-")
        print(f"{mark:8}{check.name:{width}}  {check.found}{f' · {check.remedy}' if check.remedy else ''}")
    return int(fails)


def _libraries() -> list[Check]:
    """Check the versions of the required libraries."""
    return [_distribution(name, True, f"pip install {name}") for name in _LIBRARIES]


def _extras() -> list[Check]:
    """Check the optional packages; the remedy names the extra that installs each."""
    return [
        _distribution(name, False, f"pip install 'contact-viewer[{extra}]'", f"extra {extra}")
        for extra, name in _EXTRAS.items()
    ]


def _distribution(name: str, needed: bool, remedy: str, label: str = "") -> Check:
    try:
        return Check(label or name, True, metadata.version(name) if not label else f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        return Check(label or name, False, "not installed", needed, remedy)


def _offscreen() -> Check:
    """Check that an OpenGL context opens without a display."""
    remedy = _DEBIAN if sys.platform.startswith("linux") else "install a graphics driver"
    return _probe("OpenGL", _OPENGL, remedy)


def _display() -> Check:
    names = [os.environ[name] for name in ("WAYLAND_DISPLAY", "DISPLAY") if os.environ.get(name)]
    if names or not sys.platform.startswith("linux"):
        return Check("display", True, ", ".join(names) or "native", False)
    return Check("display", False, "none: no window can open", False, "use --serve, or `contact-viewer record`")


def _video() -> Check:
    """Check that there is an encoder of .mp4 files."""
    return _probe("H.264 video", _VIDEO, "pip install --force-reinstall av")


def _settings() -> Check:
    """Check the settings file; the result says how to reset the settings."""
    code = "from contact_viewer.window.layout import settings_path; print(settings_path(), end='')"
    found = _probe("settings", code, "set HOME to a folder that can be written")
    return replace(found, found=f"{found.found}; delete it to reset all settings") if found.ok else found


def _probe(name: str, code: str, remedy: str) -> Check:
    """Run a few lines of Python, which print their result, in another process: a library or driver may crash."""
    try:
        probe = [sys.executable, "-c", code]
        done = subprocess.run(probe, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Check(name, False, f"no answer in {_PROBE_SECONDS:.0f} s", remedy=remedy)
    if done.returncode == 0:
        return Check(name, True, done.stdout.strip())
    return Check(name, False, (done.stderr.strip().splitlines() or ["crashed"])[-1], remedy=remedy)
