"""Runs tests on a virtual display of their own.

With arguments, which are pytest's, those tests, against whatever is installed: the wheel, or an editable install.
Without, all tests against the wheel, in parts that run side by side, then those that measure time, alone.
SHUFFLE in the environment is a number that gives them another order.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = (
    ("tests/window",),
    ("tests/sweeps",),
    ("tests/passive",),
    ("tests/browser", "tests/page"),
    ("tests/app", "tests/render", "tests/test_benchmarks.py", "tests/test_install.py"),
    ("tests/cli", "tests/test_examples.py"),
)
"""Tests that open windows, draw, install, or wait for other processes. All others are a part of their own. The longest
begin first."""
_SOME_FAILED = 1
"""Exit code of pytest where tests failed; others mean that it could not run them."""
BESIDE = 3
"""Parts that run at a time: with one more than cores, another works while one waits for processes of its own."""


def main() -> int:
    import contact_viewer

    installed = Path(contact_viewer.__file__)
    # Only the wheel shows that a file is missing from it.
    if not sys.argv[1:] and installed.is_relative_to(ROOT / "viewer"):
        raise SystemExit("all tests run against the installed wheel, not against the source folder: use make test")
    with virtual_display() as display, tempfile.TemporaryDirectory() as config:
        environment = os.environ | {"DISPLAY": display, "XDG_CONFIG_HOME": config, "HOME": config}
        if sys.argv[1:]:
            return subprocess.run(pytest(*sys.argv[1:]), cwd=ROOT, env=environment, check=False).returncode
        return run_in_parts(environment)


def run_in_parts(environment: Mapping[str, str]) -> int:
    """Run all tests and return the exit code of the first part that failed.

    Tests that fail beside others, or because another program took the machine's time, run once more, alone: what fails
    again, fails. Those that pass then are printed too.
    """
    others = tuple(f"--ignore={path}" for part in PARTS for path in part)
    with tempfile.TemporaryDirectory() as caches:

        def run(marks: str, paths: Sequence[str], *options: str) -> int:
            cache = Path(caches, "".join(letter for letter in "".join(paths) + marks if letter.isalnum()))
            command = pytest("-m", marks, "-o", f"cache_dir={cache}", *options, *paths)
            with tempfile.TemporaryFile() as output:
                done = subprocess.run(
                    command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
                )
                output.seek(0)
                print(output.read().decode(errors="replace"), flush=True)
            return done.returncode

        beside, timed = "not alone and not long", "alone and not long"
        parts: list[Sequence[str]] = [others, *PARTS]
        with ThreadPoolExecutor(BESIDE) as pool:
            runs = list(
                zip([beside] * len(parts), parts, pool.map(lambda paths: run(beside, paths), parts), strict=True)
            )
        runs.append((timed, (), run(timed, ())))
        codes = []
        for marks, paths, code in runs:
            if code == _SOME_FAILED:
                print(f"once more, alone, what failed in {' '.join(paths) or 'the timed tests'}", flush=True)
                code = run(marks, paths, "--last-failed", "--last-failed-no-failures=none")
            codes.append(code)
    return next((code for code in codes if code), 0)


def pytest(*arguments: str) -> list[str]:
    seed = os.environ.get("SHUFFLE")
    return [sys.executable, "-m", "pytest", "--durations=15", *([f"--shuffle={seed}"] if seed else []), *arguments]


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
