"""Sweeps whose results go to another machine: a real server in a process of its own, and a store without folders."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contact_viewer
import fsspec
import polars
import psutil
import pytest
from contact_viewer.cli import main
from contact_viewer.sweeps import result_store

from .running import HERE, columns, finish, finished, free_port, start, wait_for

SERVER = """
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

folder, port, rights = sys.argv[1:]
authorizer = DummyAuthorizer()
authorizer.add_user("robot", "secret", folder, perm=rights)
FTPHandler.authorizer = authorizer
FTPServer(("127.0.0.1", int(port)), FTPHandler).serve_forever()
"""
SLOW = """
import time
WAIT = 0.0

def control(model, data):
    pass

def reset(model, data, rng):
    data.qvel[:2] += rng.normal(size=2)
    time.sleep(WAIT)
"""


class Server:
    """Files of a folder, over FTP."""

    def __init__(self, folder: Path, rights: str = "elradfmwMT") -> None:
        self.folder = folder
        port = free_port()
        self.address = f"ftp://robot:secret@{HERE}:{port}/out"
        self.name = f"ftp://{HERE}:{port}/out"
        """As it is shown, without the password."""
        folder.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(folder), str(port), rights], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        while "starting FTP server" not in self.process.stderr.readline():
            assert self.process.poll() is None

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "there")
    yield server
    server.close()


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


def test_results_go_to_a_server_and_the_sweep_goes_on_from_there(
    tmp_path: Path, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ended in the middle, twice; on the other machine nothing is ever half there."""
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["slope", "--seeds", "0:24", "--duration", "0.1", "--workers", "2", "--events"]
    words += ["--control", str(tmp_path / "slow.py")]
    there = server.folder / "out"
    slow = [*words, "--param", "WAIT=0.6", "-o", server.address]
    process = start(tmp_path, *slow)
    wait_for(lambda: finished(there), process)
    # A run is noted when its parts are there.
    noted = finished(there)
    assert noted <= len(list(there.glob("events/scene=slope/*/part.parquet")))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert not (there / "metrics.parquet").exists()
    process = start(tmp_path, *slow, "--resume")
    wait_for(lambda: len(psutil.Process(process.pid).children()) == 2, process)
    process.send_signal(signal.SIGINT)
    _, error = finish(process, code=130)
    assert "missing; continue with --resume" in error
    assert noted <= columns(there)["seed"].n_unique() < 24
    capfd.readouterr()
    assert main(["sweep", *slow, "--resume"]) == 0
    assert f"{server.name}/metrics.parquet: 24 runs" in capfd.readouterr().out
    assert main(["sweep", *words, "-o", str(tmp_path / "local")]) == 0
    assert columns(there).equals(columns(tmp_path / "local"))
    found = {path.relative_to(there) for path in there.rglob("*") if path.is_file()}
    assert found == {path.relative_to(tmp_path / "local") for path in (tmp_path / "local").rglob("*") if path.is_file()}
    assert "secret" not in (there / "sweep.json").read_text()
    for path in there.glob("events/*/*/*"):
        assert path.read_bytes() == (tmp_path / "local" / path.relative_to(there)).read_bytes()


def test_a_report_of_results_on_a_server(
    tmp_path: Path, server: Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["slope", "--seeds", "0:3", "--duration", "0.1", "--workers", "1", "-o", server.address]
    assert main(["sweep", *words]) == 0
    assert main(["sweep", *words]) == 2
    assert f"{server.name}: has a sweep already: continue it with --resume" in capfd.readouterr().err
    assert main(["report", server.address]) == 0
    out = capfd.readouterr().out
    assert "3 runs, 0 failed" in out
    assert f"{server.name}/report.html: " in out
    assert b"</html>" in (server.folder / "out" / "report.html").read_bytes()
    assert main(["report", server.address, "-o", str(tmp_path / "here.html")]) == 0
    assert (tmp_path / "here.html").read_bytes() == (server.folder / "out" / "report.html").read_bytes()


def test_a_server_that_refuses_or_goes_away_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Server(tmp_path / "there", rights="elr")
    words = ["slope", "--seeds", "0:3", "--duration", "0.1", "--workers", "1", "-o", server.address]
    try:
        assert main(["sweep", *words]) == 2
        error = capfd.readouterr().err
        assert error.startswith(f"contact-viewer: {server.name}: cannot be written (550 ")
        assert error.count("\n") == 1
        assert not list(server.folder.iterdir())
    finally:
        server.close()
    assert main(["sweep", *words]) == 2
    error = capfd.readouterr().err
    assert error.startswith(f"contact-viewer: {server.name}: cannot be opened (")
    assert "Connection refused" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("protocol", ["file", "local"])
def test_an_address_of_this_machine_is_a_folder(tmp_path: Path, protocol: str) -> None:
    words = ["slope", "--seeds", "0:2", "--duration", "0.05", "--workers", "1", "-o"]
    assert main(["sweep", *words, f"{protocol}://{tmp_path}/out put"]) == 0
    # As fsspec understands the address.
    with fsspec.open(f"{protocol}://{tmp_path}/out put/metrics.parquet") as file:
        assert polars.read_parquet(file)["seed"].n_unique() == 2


def test_a_store_without_folders(
    memory: fsspec.AbstractFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_store._RemoteStore, "patience", 0.0)
    more: dict[str, Any] = {"duration": 0.05, "noise": "qpos=0.01", "contacts": True, "workers": 1}
    table = contact_viewer.sweep("slope", 3, output="memory://bucket/out", **more)
    assert table.num_rows == 9
    local = contact_viewer.sweep("slope", 3, output=tmp_path / "local", **more)
    assert table.drop(["wall_time"]).equals(local.drop(["wall_time"]))
    files = sorted(path.removeprefix("/bucket/out/") for path in memory.find("/bucket/out"))
    assert files == sorted(str(path.relative_to(tmp_path / "local")) for path in tmp_path.rglob("*") if path.is_file())
    part = "contacts/scene=slope/seed=1/part.parquet"
    assert memory.cat(f"/bucket/out/{part}") == (tmp_path / "local" / part).read_bytes()
    # Once more, from what is there.
    again = contact_viewer.sweep("slope", 3, output="memory://bucket/out", resume=True, **more)
    assert again.equals(table)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nowhere://bucket/out", "cannot be opened (Protocol not known: nowhere)"),
        ("abfs://bucket/out", "cannot be opened (Install adlfs to access Azure Datalake Gen2 and Azure Blob Storage)"),
    ],
)
def test_an_address_that_is_not_known_is_one_line(capfd: pytest.CaptureFixture[str], address: str, reason: str) -> None:
    assert main(["sweep", "slope", "--seeds", "0:2", "-o", address]) == 2
    assert capfd.readouterr().err == f"contact-viewer: {address}: {reason}\n"
