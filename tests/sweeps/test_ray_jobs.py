"""Sweeps as jobs that are submitted to a Ray cluster which asks for a token, as docs/sweeps.md has it."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from .running import HERE, columns, finish, finished, free_port, launch, start

RAY = str(Path(sys.executable).with_name("ray"))
PUSH = """
import time
import beside

def control(model, data):
    pass

def reset(model, data, rng):
    data.qvel[:2] += beside.SIZE * rng.normal(size=2)
    time.sleep(WAIT)
WAIT = 0.0
"""
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Head:
    """A cluster of one node with its server of jobs, reached from this machine alone."""

    address: str
    client: str
    settings: dict[str, str]
    """Of the environment of those who submit jobs."""

    def submit(self, folder: Path, *words: str) -> "subprocess.Popen[str]":
        command = [RAY, "job", "submit", "--working-dir", ".", "--", "contact-viewer", "sweep", *words]
        return launch(folder, *command, **self.settings)


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Head]:
    folder = tmp_path_factory.mktemp("ray")
    port, board, client = free_port(), free_port(), free_port()
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    more = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    # A busy machine has more time to end a job in good order.
    more["RAY_JOB_STOP_WAIT_TIME_S"] = "60"
    # The command of a job is found by PATH, on the node that runs it.
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [RAY, "start", "--head", "--block", "--node-ip-address", HERE, "--dashboard-host", HERE]
    command += ["--port", str(port), "--dashboard-port", str(board), "--ray-client-server-port", str(client)]
    command += ["--num-cpus", "2", "--object-store-memory", str(200 * 2**20)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | token | more | path)
    try:
        end = time.monotonic() + 120
        while "Ray runtime started" not in (folder / "log").read_text():
            assert time.monotonic() < end
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.2)
        yield Head(
            f"{HERE}:{port}", f"ray://{HERE}:{client}", token | {"RAY_API_SERVER_ADDRESS": f"http://{HERE}:{board}"}
        )
    finally:
        parts = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        for part in psutil.wait_procs(parts, 20)[1]:
            part.kill()


def job(folder: Path) -> Path:
    """A folder as it is submitted: a scene, a controller, and a module beside it."""
    from contact_viewer.scene_files.scene import find_scene

    (folder / "job").mkdir()
    (folder / "job" / "slope.xml").write_text(find_scene("slope").read_text())
    (folder / "job" / "beside.py").write_text("SIZE = 0.5\n")
    (folder / "job" / "push.py").write_text(PUSH)
    return folder / "job"


def test_a_sweep_is_submitted_as_a_job(tmp_path: Path, head: Head) -> None:
    folder = job(tmp_path)
    words = ["slope.xml", "--seeds", "0:12", "--duration", "0.3", "--vary", "friction=0.5:1.5", "--control", "push.py"]
    out, _ = finish(head.submit(folder, *words, "--ray", "-o", str(tmp_path / "ray")), 300)
    assert "metrics.parquet: 12 runs" in out
    finish(start(folder, *words, "-o", str(tmp_path / "local"), "--workers", "1"), 100)
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))
    about = json.loads((tmp_path / "ray" / "sweep.json").read_text())
    # It ran where the cluster had unpacked the folder, not here.
    assert str(folder) not in about["plan"]["control"]
    assert about["versions"]["ray"]


def test_a_job_that_fails_has_its_exit_code(tmp_path: Path, head: Head) -> None:
    words = ["slope.xml", "--seeds", "0:2", "--sensor", "nose", "--ray", "-o", str(tmp_path / "ray")]
    process = head.submit(job(tmp_path), *words)
    out, error = process.communicate(timeout=200)
    assert process.returncode != 0
    assert "contact-viewer: no contact sensor named 'nose'" in out + error


def test_a_job_that_is_stopped_goes_on_where_it_stopped(tmp_path: Path, head: Head) -> None:
    folder = job(tmp_path)
    words = ["slope.xml", "--seeds", "0:40", "--duration", "0.2", "--control", "push.py", "--ray"]
    words += ["--param", "WAIT=0.3", "-o", str(tmp_path / "ray")]
    command = [RAY, "job", "submit", "--no-wait", "--submission-id", "long-one", "--working-dir", ".", "--"]
    finish(launch(folder, *command, "contact-viewer", "sweep", *words, **head.settings), 100)
    end = time.monotonic() + 100
    while finished(tmp_path / "ray") < 4:
        assert time.monotonic() < end
        time.sleep(0.1)
    finish(launch(folder, RAY, "job", "stop", "long-one", **head.settings), 100)
    assert 4 <= columns(tmp_path / "ray")["seed"].n_unique() < 40
    finish(head.submit(folder, *words, "--resume"), 300)
    local = ["slope", "--seeds", "0:40", "--duration", "0.2", "--control", str(folder / "push.py"), "-o"]
    finish(start(folder, *local, str(tmp_path / "local")), 100)
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))


@pytest.mark.parametrize("token", [None, "0" * 64])
def test_a_cluster_that_asks_for_a_token_says_so_at_once(tmp_path: Path, head: Head, token: str | None) -> None:
    given = {"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")} if token is None else {"RAY_AUTH_TOKEN": token}
    for address in (head.address, head.client):
        began = time.monotonic()
        _, error = finish(start(tmp_path, "slope", "--seeds", "0:2", "-o", "s", "--ray", address, **given), code=2)
        words = "asks for a token" if token is None else "refuses our token"
        assert error == (
            f"contact-viewer: --ray {address}: the cluster {words}: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN\n"
        )
        # Ray itself tries for 20 and 30 s.
        assert time.monotonic() - began < 15
    assert not (tmp_path / "s").exists()


def test_a_token_in_a_file_is_used(tmp_path: Path, head: Head) -> None:
    (tmp_path / "token").write_text(head.settings["RAY_AUTH_TOKEN"])
    words = ["slope", "--seeds", "0:2", "--duration", "0.1", "-o", "s", "--ray", head.client]
    finish(start(tmp_path, *words, RAY_AUTH_TOKEN_PATH=str(tmp_path / "token")), 100)
    assert columns(tmp_path / "s")["seed"].n_unique() == 2
