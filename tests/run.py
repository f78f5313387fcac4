"""Runs all tests against the installed package, the window tests on a virtual display of their own.

Without arguments, in three parts: tests with and without a window side by side, then those that measure time, alone.
SHUFFLE in the environment is a number that gives them another order.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
WINDOWS = ("tests/window", "tests/app", "tests/passive", "tests/render")
"""Tests that open windows, or draw: about half of the time. All others run beside them."""


def main() -> int:
    import contact_viewer

    installed = Path(contact_viewer.__file__)
    if installed.is_relative_to(ROOT / "viewer"):
        raise SystemExit("the tests run against the installed wheel, not against the source folder")
    with virtual_display() as display, tempfile.TemporaryDirectory() as config:
        environment = os.environ | {"DISPLAY": display, "XDG_CONFIG_HOME": config, "HOME": config}
        if sys.argv[1:]:
            return subprocess.run(pytest(*sys.argv[1:]), cwd=ROOT, env=environment, check=False).returncode
        return run_in_parts(environment)


def run_in_parts(environment: Mapping[str, str]) -> int:
    """All tests; the exit code of the first part that failed."""
    with tempfile.TemporaryFile() as output:
        ignored = [f"--ignore={path}" for path in WINDOWS]
        windowless = subprocess.Popen(
            pytest("-m", "not alone and not long", *ignored), cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        codes = [
            subprocess.run(
                pytest("-m", "not alone and not long", *WINDOWS), cwd=ROOT, env=environment, check=False
            ).returncode
        ]
        codes.append(windowless.wait())
        output.seek(0)
        print(output.read().decode(errors="replace"), flush=True)
    codes.append(subprocess.run(pytest("-m", "alone and not long"), cwd=ROOT, env=environment, check=False).returncode)
    return next((code for code in codes if code), 0)


def pytest(*arguments: str) -> list[str]:
    seed = os.environ.get("SHUFFLE")
    return [sys.executable, "-m", "pytest", *([f"--shuffle={seed}"] if seed else []), *arguments]


@contextmanager
def virtual_display() -> Iterator[str]:
    """The name of a display that lasts as long as the block."""
    # -displayfd picks a free display; without -noreset the server resets when the last window closes.
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "3840x2160x24", "-noreset"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            yield f":{int(pipe.readline())}"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    raise SystemExit(main())
