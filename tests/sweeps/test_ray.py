"""Sweeps on a Ray cluster of three nodes, all of them on this machine and reached from it alone."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars
import psutil
import pytest
from contact_viewer.cli import main

from .running import HERE, columns, finish, finished, free_port, start, wait_for
from .scenes import write_log

os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
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


class Nodes:
    """A cluster whose nodes can be lost."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        self._count = count
        self._own = {"num_cpus": 1, "node_ip_address": HERE, "object_store_memory": 200 * 2**20}
        head = {**self._own, "include_dashboard": False, "ray_client_server_port": free_port()}
        self.client = f"ray://{HERE}:{head['ray_client_server_port']}"
        """Address for machines that are not of the cluster."""
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.nodes: list[Any] = []
        self.complete()

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def lose_one(self) -> None:
        """A node goes away without a word, and another one comes in its place when the next test needs it."""
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)

    def complete(self) -> None:
        """Have as many nodes as in the beginning."""
        while len(self.nodes) < self._count - 1:
            self.nodes.append(self.cluster.add_node(**self._own))

    def kill_worker(self) -> None:
        """End a process that is busy with a task."""
        for _ in range(200):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if "ray::simulate_runs" in " ".join(process.cmdline()):
                        process.kill()
                        return
            time.sleep(0.05)
        raise AssertionError("no worker is busy")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where all programs of these tests have their temporary files."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("temporary")
        # Ray's own sockets want a short path.
        patch.setenv("RAY_TMPDIR", tempfile.gettempdir())
        patch.setenv("TMPDIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def cluster(temporary: Path) -> Iterator[Nodes]:
    """One for all tests; on a busy machine its parts may be too late for each other, so that it is tried again."""
    for attempt in range(3):
        try:
            nodes = Nodes(3)
            break
        except Exception:
            if attempt == 2:
                raise
            time.sleep(2)
    try:
        yield nodes
    finally:
        nodes.cluster.shutdown()


@pytest.fixture
def nodes(cluster: Nodes) -> Nodes:
    """That cluster, with all its nodes."""
    cluster.complete()
    return cluster


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
def test_a_cluster_gives_the_same_bits_whatever_it_loses(tmp_path: Path, nodes: Nodes, temporary: Path) -> None:
    """And keeps no temporary files."""
    words = ["quadruped", "slope", "--seeds", "0:12", "--duration", "0.1", "--vary", "friction=0.5:1.5"]
    words += ["--contacts", "--events", "--control", str(controller(tmp_path)), "-o"]
    process = start(tmp_path, *words, "ray", "--ray", nodes.address, "--param", "WAIT=0.3")
    wait_for(lambda: list(temporary.glob("contact-viewer-*/control/beside.py")), process, 200)
    nodes.kill_worker()
    wait_for(lambda: finished(tmp_path / "ray") >= 4, process, 200)
    nodes.lose_one()
    assert "24 runs" in finish(process, 200)[0]
    assert not list(temporary.glob("contact-viewer-*"))
    assert main(["sweep", *words[:-1], "-o", str(tmp_path / "local"), "--workers", "2"]) == 0
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))
    parts = {
        name: {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).glob("*/*/*/*")}
        for name in ("ray", "local")
    }
    assert len(parts["ray"]) == 2 * 24
    assert parts["ray"] == parts["local"]


@pytest.mark.long
@pytest.mark.timeout(400)
def test_an_interrupted_sweep_leaves_no_temporary_files(tmp_path: Path, cluster: Nodes, temporary: Path) -> None:
    words = ["slope", "--seeds", "0:40", "--duration", "0.1", "--contacts", "--ray", cluster.address]
    process = start(tmp_path, *words, "--control", str(controller(tmp_path)), "--param", "WAIT=0.4", "-o", "part")
    wait_for(lambda: finished(tmp_path / "part") >= 2, process, 200)
    # A worker between two runs has none for a moment.
    wait_for(lambda: list(temporary.glob("contact-viewer-*")), process, 60)
    process.send_signal(signal.SIGINT)
    finish(process, code=130)
    assert not list(temporary.glob("contact-viewer-*"))


@pytest.mark.long
@pytest.mark.timeout(400)
def test_logs_travel_to_the_cluster(tmp_path: Path, cluster: Nodes) -> None:
    """The same rows and the same words as from processes of this machine."""
    for name in ("first", "second"):
        write_log(tmp_path / f"{name}.npz", runs=2, steps=40)
    words = ["slope", "--log", "first.npz", "second.npz", "--seeds", "0:3", "--contacts", "-o"]
    ray = start(tmp_path, *words, "ray", "--ray", cluster.address)
    local = start(tmp_path, *words, "local", "--workers", "1")
    for process in (ray, local):
        _, error = finish(process, 200, code=1)
        assert f"{tmp_path}/first.npz: has no run '2'; there are: from 0 to 1" in error
    assert columns(tmp_path / "ray").height == 2 * 2 * 3
    for name in ("metrics", "failures"):
        tables = [polars.read_parquet(tmp_path / folder / f"{name}.parquet") for folder in ("ray", "local")]
        assert tables[0].drop("wall_time", strict=False).equals(tables[1].drop("wall_time", strict=False))
    parts = [sorted(path.read_bytes() for path in tmp_path.glob(f"{name}/contacts/*/*/*")) for name in ("ray", "local")]
    assert len(parts[0]) == 4
    assert parts[0] == parts[1]


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
def test_two_hundred_runs_on_one_worker_two_and_three_nodes(tmp_path: Path, nodes: Nodes) -> None:
    words = ["quadruped", "slope", "--seeds", "0:200", "--duration", "2", "--vary", "friction=0.5:1.5"]
    words += ["--vary", "mass=0.8:1.2", "--noise", "qpos=0.01,qvel=0.1", "-o"]
    for workers in ("1", "2"):
        finish(start(tmp_path, *words, workers, "--workers", workers), 300)
    finish(start(tmp_path, *words, "ray", "--ray", nodes.address), 300)
    process = start(tmp_path, *words, "lossy", "--ray", nodes.address)
    wait_for(lambda: finished(tmp_path / "lossy") >= 6, process)
    nodes.kill_worker()
    nodes.lose_one()
    finish(process, 300)
    # From a machine that is not of the cluster.
    few = ["slope", "--seeds", "0:10", "--duration", "1", "-o"]
    finish(start(tmp_path, *few, "few", "--workers", "1"), 100)
    finish(start(tmp_path, *few, "client", "--ray", nodes.client), 200)
    assert columns(tmp_path / "client").equals(columns(tmp_path / "few"))
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
def test_what_was_interrupted_on_a_cluster_goes_on_where_it_stopped(tmp_path: Path, nodes: Nodes) -> None:
    words = ["slope", "--seeds", "0:40", "--duration", "0.2", "--control", str(controller(tmp_path))]
    words += ["--param", "WAIT=0.3", "-o"]
    finish(start(tmp_path, *words, "local", "--workers", "2"), 120)
    more: list[str] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        enough = finished(tmp_path / "ray") + 4
        process = start(tmp_path, *words, "ray", "--ray", nodes.address, *more)
        while finished(tmp_path / "ray") < enough:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        _, error = finish(process, code=128 + number)
        assert "missing; continue with --resume" in error
        assert enough <= columns(tmp_path / "ray")["seed"].n_unique() < 40
        more = ["--resume"]
    finish(start(tmp_path, *words, "ray", "--ray", nodes.address, "--resume"), 200)
    assert columns(tmp_path / "ray").equals(columns(tmp_path / "local"))
