"""Sweeps on a Ray cluster of three nodes, all of them on this machine and reached from it alone."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars
import psutil
import pytest
from contact_viewer.cli import main

os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
HERE = "127.0.0.1"
SLOW = """
import time
import beside
WAIT = 0.0

def control(model, data):
    pass

def reset(model, data, rng):
    data.qvel[:2] += beside.SIZE * rng.normal(size=2)
    time.sleep(WAIT)
"""


def free_port() -> int:
    with socket.create_server((HERE, 0)) as server:
        return int(server.getsockname()[1])


class Nodes:
    """A cluster whose nodes can be lost."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        own = {"num_cpus": 1, "node_ip_address": HERE, "object_store_memory": 200 * 2**20}
        head = {**own, "include_dashboard": False, "ray_client_server_port": free_port()}
        self.client = f"ray://{HERE}:{head['ray_client_server_port']}"
        """Address for machines that are not of the cluster."""
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.cluster.add_node(**own) for _ in range(count - 1)]

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def lose_one(self) -> None:
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)

    def kill_worker(self) -> None:
        """End a process that is busy with a task."""
        for _ in range(200):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if "ray::take_runs" in " ".join(process.cmdline()):
                        process.kill()
                        return
            time.sleep(0.05)
        raise AssertionError("no worker is busy")


@contextmanager
def started(count: int) -> Iterator[Nodes]:
    """A cluster; on a busy machine its parts may be too late for each other, so that it is tried again."""
    nodes: Nodes | None = None
    for attempt in range(3):
        try:
            nodes = Nodes(count)
            break
        except Exception:
            if attempt == 2:
                raise
            time.sleep(2)
    assert nodes is not None
    try:
        yield nodes
    finally:
        nodes.cluster.shutdown()


def start(folder: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "contact_viewer", "sweep", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Jobs in the background have Ctrl-C ignored.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(command, cwd=folder, env=os.environ | environment, **pipes)


def finish(process: "subprocess.Popen[str]", seconds: float) -> str:
    out, error = process.communicate(timeout=seconds)
    assert process.returncode == 0, error
    assert "Traceback" not in error
    return out


def wait_for(condition: Callable[[], object], process: "subprocess.Popen[str]", seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def finished(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in (folder / ".runs").glob("*.jsonl"))


def columns(folder: Path) -> polars.DataFrame:
    return polars.read_parquet(folder / "metrics.parquet").drop("wall_time")


def listens_elsewhere(process: psutil.Process) -> list[Any]:
    """Addresses other than the loopback's on which a process can be reached."""
    connections = process.net_connections(kind="inet")
    return [each.laddr for each in connections if each.status == "LISTEN" and not each.laddr.ip.endswith(HERE)]


def controller(folder: Path) -> Path:
    """A controller in a folder that the nodes know nothing of, with a module beside it."""
    (folder / "control").mkdir()
    (folder / "control" / "beside.py").write_text("SIZE = 0.5\n")
    path = folder / "control" / "slow.py"
    path.write_text(SLOW)
    return path


@pytest.mark.timeout(400)
def test_a_cluster_gives_the_same_bits_whatever_it_loses(tmp_path: Path) -> None:
    words = ["quadruped", "slope", "--seeds", "0:30", "--duration", "0.3", "--vary", "friction=0.5:1.5", "--events"]
    words += ["--control", str(controller(tmp_path)), "--param", "WAIT=0.2", "-o"]
    local = start(tmp_path, *words, "local", "--workers", "2")
    with started(3) as nodes:
        finish(local, 120)
        process = start(tmp_path, *words, "ray", "--ray", nodes.address)
        wait_for(lambda: finished(tmp_path / "ray") >= 8, process)
        nodes.kill_worker()
        nodes.lose_one()
        assert "60 runs" in finish(process, 200)
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))
    parts = {
        name: {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).glob("events/*/*/*")}
        for name in ("ray", "local")
    }
    assert len(parts["ray"]) == 60
    assert parts["ray"] == parts["local"]


@pytest.mark.parametrize("address", [f"{HERE}:1", f"ray://{HERE}:1", "nowhere"])
def test_a_cluster_that_cannot_be_reached_is_one_line(
    tmp_path: Path, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "slope", "-o", str(tmp_path / "s"), "--seeds", "0:2", "--ray", address]) == 2
    error = capfd.readouterr().err
    assert error.startswith(f"contact-viewer: --ray {address}: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "s").exists()


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_two_hundred_runs_on_one_worker_two_and_three_nodes(tmp_path: Path) -> None:
    words = ["quadruped", "slope", "--seeds", "0:200", "--duration", "2", "--vary", "friction=0.5:1.5"]
    words += ["--vary", "mass=0.8:1.2", "--noise", "qpos=0.01,qvel=0.1", "-o"]
    for workers in ("1", "2"):
        finish(start(tmp_path, *words, workers, "--workers", workers), 300)
    with started(3) as nodes:
        finish(start(tmp_path, *words, "ray", "--ray", nodes.address), 300)
        process = start(tmp_path, *words, "lossy", "--ray", nodes.address)
        wait_for(lambda: finished(tmp_path / "lossy") >= 6, process)
        nodes.kill_worker()
        nodes.lose_one()
        finish(process, 300)
        # From a machine that is not of the cluster, and as in a job that was submitted to it.
        few = ["slope", "--seeds", "0:10", "--duration", "1", "-o"]
        finish(start(tmp_path, *few, "few", "--workers", "1"), 100)
        finish(start(tmp_path, *few, "client", "--ray", nodes.client), 200)
        finish(start(tmp_path, *few, "job", "--ray", RAY_ADDRESS=nodes.address), 200)
    for other in ("client", "job"):
        assert columns(tmp_path / other).equals(columns(tmp_path / "few"))
    one = columns(tmp_path / "1")
    assert one.height == 200 * 5 + 200 * 3
    for other in ("2", "ray", "lossy"):
        assert columns(tmp_path / other).equals(one)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_cluster_of_this_machine_is_started_and_ends(tmp_path: Path) -> None:
    words = ["slope", "--seeds", "0:20", "--duration", "0.5", "-o"]
    finish(start(tmp_path, *words, "local"), 100)
    process = start(tmp_path, *words, "ray", "--ray", "--workers", "2")
    reached: list[Any] = []
    seen = False
    while process.poll() is None:
        with suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                seen |= child.name() == "raylet"
                reached += listens_elsewhere(child)
        time.sleep(0.5)
    finish(process, 10)
    assert seen
    assert not reached
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_what_was_interrupted_on_a_cluster_goes_on_where_it_stopped(tmp_path: Path) -> None:
    words = ["slope", "--seeds", "0:40", "--duration", "0.2", "--control", str(controller(tmp_path))]
    words += ["--param", "WAIT=0.3", "-o"]
    finish(start(tmp_path, *words, "local", "--workers", "2"), 120)
    with started(2) as nodes:
        process = start(tmp_path, *words, "ray", "--ray", nodes.address)
        wait_for(lambda: finished(tmp_path / "ray") >= 4, process)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "missing; go on with --resume" in error
        assert "Traceback" not in error
        assert 4 <= columns(tmp_path / "ray")["seed"].n_unique() < 40
        finish(start(tmp_path, *words, "ray", "--ray", nodes.address, "--resume"), 200)
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))
