"""Logs and saved runs that are damaged, odd, or hostile: each is read, or refused in one line with the file's name."""

import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.cli import main
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.state_log import StateLog
from contact_viewer.scene_files.log_files import read_log
from contact_viewer.scene_files.run_file import RunFile

from .odd_logs import SCENE, Make, csv_logs, good_run, hdf5_logs, npz_logs, saved_runs

SLEEPING = SCENE.replace("<mujoco>", '<mujoco><option><flag sleep="enable"/></option>')
EACH = 0.02
"""Simulated time of the good runs [s]."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("odd") / "scene.xml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="module")
def good(scene: Path) -> Path:
    return _saved(scene)


def _saved(scene: Path) -> Path:
    path = scene.with_suffix(".cvrun")
    run = ["export", str(scene), "-o", str(scene.with_suffix(".csv")), "--duration", str(EACH), "--save-run", str(path)]
    assert main(run) == 0
    return path


Read = Callable[[Path], tuple[StateLog, Any]]
"""Reads a file: its log, and the model that it is a log of."""


def refused(files: Iterator[tuple[str, Make]], folder: Path, read: Read) -> list[str]:
    """Read every file, and take the steps of those that can be read; the names of those that were refused."""
    lines: dict[Path, str] = {}
    for name, make in files:
        path = folder / name
        make(path)
        try:
            log, model = read(path)
            engine = open_engine(model)
            logged = engine.resimulate(log)
            while not logged.done:
                logged.next_step()
        except SceneError as error:
            lines[path] = str(error)
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
        path.unlink()
    assert [line for path, line in lines.items() if str(path) not in line or "\n" in line] == []
    return [path.name for path in lines]


@pytest.mark.parametrize(("logs", "least"), [(npz_logs, 150), (csv_logs, 20), (hdf5_logs, 80)])
def test_odd_logs_are_read_or_refused_in_one_line_that_names_the_file(logs: Any, least: int, tmp_path: Path) -> None:
    def read(path: Path) -> tuple[StateLog, Any]:
        model = mujoco.MjModel.from_xml_string(SCENE)
        return read_log(path, model), model

    assert len(refused(logs(), tmp_path, read)) >= least


@pytest.mark.parametrize("xml", [SCENE, SLEEPING], ids=["awake", "sleeping"])
def test_odd_saved_runs_are_read_or_refused_in_one_line_that_names_the_file(xml: str, tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(xml)
    run = _saved(scene)
    with np.load(run) as arrays:
        content = arrays["model"].tobytes()

    def read(path: Path) -> tuple[StateLog, Any]:
        # The model of a damaged file is compiled in a process of its own, which tests of compiled models are about.
        model = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": content})
        return RunFile(path).log(model), model

    assert len(refused(saved_runs(run), tmp_path, read)) > 250


def _named(name: str, scene: Path) -> Path:
    path = scene.parent / name
    files = {".npz": npz_logs, ".csv": csv_logs, ".hdf5": hdf5_logs}
    made = dict(files[path.suffix]()) if path.suffix in files else dict(saved_runs(scene.with_suffix(".cvrun")))
    made[name](path)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "time-scalar.npz",
        "time-huge.npz",
        "header-unbalanced.npz",
        "header-none.npz",
        "batch-of-none.npz",
        "long-field.csv",
        "large-number.csv",
        "array-for-infos.hdf5",
        "array-for-demo.hdf5",
        "null-space.hdf5",
        "parts-qpos-infinite.cvrun",
        "no-columns.cvrun",
        "about-deep.cvrun",
        "columns-header-none.cvrun",
        "states_0-header-unbalanced.cvrun",
        "rest-shorter.cvrun",
        "version-number-null.cvrun",
        "changes-of-another-numbers.cvrun",
    ],
)
def test_an_odd_log_or_run_is_one_line_and_exit_code_2(
    name: str, scene: Path, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _named(name, scene)
    log = [] if name.endswith(".cvrun") else ["--log", str(path)]
    capsys.readouterr()
    assert main(["export", str(scene if log else path), *log, "-o", str(scene.parent / "x.csv")]) == 2
    said = capsys.readouterr().err.strip()
    assert path.name in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "name",
    [
        "external.hdf5",
        "external-link.hdf5",
        "external-group.hdf5",
        "external-demo.hdf5",
        "external-infos.hdf5",
        "hidden-link.hdf5",
        "virtual.hdf5",
    ],
)
def test_a_log_shows_no_bytes_of_other_files(name: str, scene: Path) -> None:
    path = _named(name, scene)
    with pytest.raises(SceneError, match=r"another file|is a link"):
        read_log(path, mujoco.MjModel.from_xml_string(SCENE))


def test_small_files_that_unpack_to_gigabytes_are_refused_at_once(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    header = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (50000000, 8), }".ljust(
        118
    )
    packed = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("qpos.npy", "w", force_zip64=True) as out,
    ):
        out.write(header)
        for _ in range(68):
            out.write(bytes(8_000_000))
    with h5py.File(tmp_path / "bomb.hdf5", "w") as hdf5:
        hdf5.create_dataset("qpos", (50_000_000, 8), "f8", chunks=(1024, 8))
    for name in ("bomb.npz", "bomb.hdf5"):
        began = time.process_time()
        with pytest.raises(SceneError, match=r"its arrays take (3[.]2 GB|544 MB)"):
            read_log(tmp_path / name, model)
        assert time.process_time() - began < 1.0


def test_a_log_with_empty_parts_and_a_long_constant_one_is_read(tmp_path: Path) -> None:
    """What programs write that dump every array of mjData, whatever the scene has of it."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    run = good_run()
    path = tmp_path / "all.npz"
    rows = len(run["qpos"])
    all_parts: dict[str, Any] = {**run, "act": np.empty((rows, 0)), "xfrc_applied": np.zeros((rows, 4, 6))}
    np.savez_compressed(path, **all_parts)
    assert len(read_log(path, model)) == rows


def test_a_run_in_which_bodies_sleep_is_shown_on_the_scene_without_sleep(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(SLEEPING)
    run = _saved(scene)
    (tmp_path / "awake.xml").write_text(SCENE)
    log = ["--log", str(run), "-o", str(tmp_path / "x.csv")]
    assert main(["export", str(tmp_path / "awake.xml"), *log]) == 0
    assert main(["export", str(scene), *log]) == 0
