"""Run all tests against the installed package, the window tests on a virtual display of their own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    import contact_viewer

    installed = Path(contact_viewer.__file__)
    if installed.is_relative_to(ROOT / "viewer"):
        raise SystemExit("the tests run against the installed wheel, not against the source folder")
    # -displayfd picks a free display; without -noreset the server resets when the last window closes.
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1920x1200x24", "-noreset"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            display = f":{int(pipe.readline())}"
        with tempfile.TemporaryDirectory() as config:
            environment = os.environ | {"DISPLAY": display, "XDG_CONFIG_HOME": config, "HOME": config}
            command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
            return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    raise SystemExit(main())
