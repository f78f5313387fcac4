"""Sweeps in processes of this machine, by the command and from Python."""

import json
import os
import signal
import sys
import tracemalloc
from pathlib import Path

import contact_viewer
import duckdb
import polars
import psutil
import pyarrow
import pytest
from contact_viewer.cli import main
from contact_viewer.sweeps.result_store import ResultStore
from contact_viewer.sweeps.results import METRIC_COLUMNS, Results
from contact_viewer.sweeps.sweep import make_plan
from contact_viewer.sweeps.task import RunResult
from pyarrow import parquet

from ..recording.judges import command, run_on_small_disk
from .running import columns, finish, finished, journal, start, wait_for
from .scenes import write_log

PUSH = """
import os, signal, time
from contact_viewer.mjmodel.variation import generator
FAIL = -1
KILL = -1
WAIT = 0.0
seed = None

def control(model, data):
    if data.time > 0.05 and seed == FAIL:
        raise ValueError("out of ideas")
    if data.time > 0.05 and seed == KILL:
        os.kill(os.getpid(), signal.SIGKILL)

def reset(model, data, rng):
    global seed
    drawn = rng.normal(size=2)
    seed = next(k for k in range(99) if (generator(k, "reset", 0, 0).normal(size=2) == drawn).all())
    data.qvel[:2] += drawn
    time.sleep(WAIT)
"""
"""Finds out which seed it has, to fail, or to end its process, in one run."""


def controller(folder: Path) -> Path:
    path = folder / "push.py"
    path.write_text(PUSH)
    return path


def swept(*words: str) -> int:
    return main(["sweep", *words])


def test_one_worker_and_two_give_the_same_bits(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["quadruped", "slope", "--seeds", "0:12", "--duration", "0.4", "--vary", "friction=0.5:1.5"]
    words += ["--vary", "mass=0.8:1.2", "--noise", "qpos=0.01,qvel=0.1"]
    for workers in ("1", "2"):
        assert swept(*words, "-o", str(tmp_path / workers), "--workers", workers) == 0
        assert "24 runs" in capfd.readouterr().out
    one, two = columns(tmp_path / "1"), columns(tmp_path / "2")
    assert one.equals(two)
    assert one.height == 12 * 5 + 12 * 3
    assert one["seed"].to_list()[: 12 * 5 : 5] == list(range(12))
    assert one["friction"].n_unique() == 12
    # And they are not all the same run.
    assert one.filter(polars.col("sensor") == "foot_FL")["peak_force"].n_unique() == 12
    assert sorted(os.listdir(tmp_path / "1")) == ["metrics.parquet", "sweep.json"]


def test_the_table_has_units_and_sweep_json_says_what_was_run(tmp_path: Path) -> None:
    assert swept("slope", "-o", str(tmp_path / "s"), "--seeds", "0:2", "--duration", "0.1", "--workers", "1") == 0
    schema = parquet.read_schema(tmp_path / "s" / "metrics.parquet")
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in schema}
    assert units["peak_force"] == units["mean_force"] == "N"
    assert units["impulse"] == units["impulse_x"] == "N s"
    assert units["slip_distance"] == units["penetration"] == "m"
    assert units["contact_time"] == units["unstable_at"] == units["wall_time"] == "s"
    assert units["scene"] == units["duty_factor"] == ""
    rows = duckdb.execute(f"select sum(steps), min(unstable_at) from '{tmp_path}/s/metrics.parquet'").fetchall()
    assert rows == [(2 * 3 * 50, None)]
    about = json.loads((tmp_path / "s" / "sweep.json").read_text())
    assert about["plan"]["seeds"] == "0:2:1"
    assert about["versions"]["mujoco"]
    assert [len(digits) for digits in about["files"].values()] == [64]
    assert (about["runs"], about["finished"], about["failed"]) == (2, 2, 0)


def test_a_table_from_python() -> None:
    table = contact_viewer.sweep("slope", seeds=3, duration=0.1, vary="friction=0.5:1.5", sensors=["box_on_slope"])
    assert isinstance(table, pyarrow.Table)
    assert table.num_rows == 3
    assert table.column("seed").to_pylist() == [0, 1, 2]


def test_a_controller_that_raises_fails_its_run_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = controller(tmp_path)
    words = ["slope", "--seeds", "0:20", "--duration", "0.1", "--control", str(path), "--workers", "2"]
    assert swept(*words, "--param", "FAIL=17", "-o", str(tmp_path / "s")) == 1
    error = capfd.readouterr().err
    assert f"1 run failed; the first: slope, seed 17: {path}, line" in error
    assert "ValueError: out of ideas" in error
    assert "Traceback" not in error
    assert sorted(set(columns(tmp_path / "s")["seed"])) == [seed for seed in range(20) if seed != 17]
    failures = polars.read_parquet(tmp_path / "s" / "failures.parquet")
    assert failures["seed"].to_list() == [17]
    assert "out of ideas" in failures["reason"][0]


def test_a_worker_that_dies_is_replaced_and_its_run_tried_once_more(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = controller(tmp_path)
    words = ["slope", "--seeds", "0:12", "--duration", "0.1", "--control", str(path), "--workers", "2"]
    assert swept(*words, "-o", str(tmp_path / "good")) == 0
    assert swept(*words, "--param", "KILL=5", "-o", str(tmp_path / "bad")) == 1
    assert "seed 5: ended its process, 2 times (SIGKILL)" in capfd.readouterr().err
    good, bad = columns(tmp_path / "good"), columns(tmp_path / "bad")
    assert bad.equals(good.filter(polars.col("seed") != 5))


def test_what_was_interrupted_or_killed_goes_on_where_it_stopped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = controller(tmp_path)
    common = ["slope", "--seeds", "0:40", "--duration", "0.1", "--control", str(path), "--workers", "2"]
    assert swept(*common, "-o", str(tmp_path / "whole")) == 0
    words = [*common, "-o", "s", "--param", "WAIT=0.2"]
    # A worker that is killed from outside does not show in the result.
    process = start(tmp_path, *words)
    wait_for(lambda: finished(tmp_path / "s") >= 3, process)
    (child, *_) = psutil.Process(process.pid).children()
    child.kill()
    wait_for(lambda: finished(tmp_path / "s") >= 6, process)
    process.send_signal(signal.SIGINT)
    out, error = finish(process, code=130)
    assert "missing; continue with --resume" in error
    kept = columns(tmp_path / "s")
    assert 6 <= kept["seed"].n_unique() < 40
    assert f"{kept['seed'].n_unique()} runs" in out
    # Killed without a word, with half a file in its journal.
    before = finished(tmp_path / "s")
    process = start(tmp_path, *words, "--resume")
    wait_for(lambda: finished(tmp_path / "s") >= before + 3, process)
    process.kill()
    process.communicate(timeout=30)
    half = journal(tmp_path / "s")[0].read_bytes()[:2000]
    (tmp_path / "s" / ".runs" / f"{0:010d}-{39:010d}-half.parquet").write_bytes(half)
    words[words.index("s")] = str(tmp_path / "s")
    # The same command refuses to write over it, and another one to go on with it.
    capfd.readouterr()
    assert swept(*words) == 2
    assert "has a sweep already: continue it with --resume" in capfd.readouterr().err
    assert swept(*words, "--resume", "--noise", "qpos=1") == 2
    assert "holds another sweep: noise was null" in capfd.readouterr().err
    # Once it is complete, there is nothing to go on with.
    for part in ("runs/s", "kB\n"):
        assert swept(*words, "--resume") == 0
        assert part in capfd.readouterr().out
        assert columns(tmp_path / "s").equals(columns(tmp_path / "whole"))


def test_a_run_that_takes_too_long_is_given_up(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slow.py"
    words = ["slope", "--seeds", "0:2", "--duration", "0.1", "--timeout", "1", "--control", str(path)]
    path.write_text("import time\ndef control(model, data):\n    time.sleep(9)\n")
    assert swept(*words, "-o", str(tmp_path / "s"), "--workers", "2") == 1
    assert "2 runs failed; the first: slope, seed" in (error := capfd.readouterr().err)
    assert "took longer than 1 s" in error


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--seeds", "5:5"], "--seeds 5:5: the range is empty"),
        (["--seeds", "0:x"], "'0:x' is not a seed, nor a range such as 0:1000"),
        (["--seeds", "1,2,1"], "a seed is given twice"),
        (["--seeds", "0:2", "--sensor", "nose"], "no contact sensor named 'nose'; the scene has: box_on_slope"),
        (["--seeds", "0:2", "--vary", "mass:nose=1:2"], "--vary mass:nose=1:2: no body named 'nose'"),
        (["--seeds", "0:2", "--vary", "nose=1:2"], "'nose' cannot be varied"),
        (["--seeds", "0:2", "--noise", "nose=1"], "is not noise"),
        (["--seeds", "0:2", "--control", "none.py"], "none.py: cannot be read"),
        (["--seeds", "0:2", "--param", "A=1"], "controller: give --control"),
        (["--seeds", "0:2", "--key", "nose"], "no keyframe 'nose'"),
        (["--seeds", "0:2", "--workers", "0"], "is not between"),
        ([], "--seeds"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    assert swept("slope", "-o", str(tmp_path / "s"), *words) == 2
    error = capfd.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / "s").exists()


def test_a_scene_among_many_that_cannot_be_opened_fails_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenes = []
    for number in range(10):
        scenes.append(tmp_path / f"scene{number}.xml")
        scenes[-1].write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    scenes[9].write_text("<mujoco><worldbody><geom size='-1'/></worldbody></mujoco>")
    words = [*map(str, scenes), "--seeds", "0:1", "--duration", "0.01", "-o", str(tmp_path / "s"), "--workers", "1"]
    assert swept(*words) == 1
    assert "1 run failed; the first: scene9, seed 0:" in capfd.readouterr().err
    table = columns(tmp_path / "s")
    assert table["scene"].to_list() == [f"scene{number}" for number in range(9)]
    assert set(table["sensor"]) == {"all contacts"}


def test_contacts_and_events_are_partitions_that_others_read(tmp_path: Path) -> None:
    words = ["quadruped", "slope", "--seeds", "0:2", "--duration", "0.2", "--noise", "qpos=0.01", "--workers", "2"]
    assert swept(*words, "-o", str(tmp_path / "s"), "--contacts", "--events") == 0
    rows = duckdb.execute(
        f"select scene, seed, sensor, max(sqrt(force_x**2 + force_y**2 + force_z**2)) as force, count(distinct step) "
        f"from read_parquet('{tmp_path}/s/contacts/*/*/*.parquet') where sensor like 'foot%' group by all"
    ).fetchall()
    assert {row[:3] for row in rows} == {
        ("quadruped", seed, f"foot_{foot}") for seed in (0, 1) for foot in ("FL", "FR", "RL", "RR")
    }
    assert {row[4] for row in rows} == {101}
    peaks = {(row["scene"], row["seed"], row["sensor"]): row for row in columns(tmp_path / "s").iter_rows(named=True)}
    for *key, force, _ in rows:
        # A foot has one contact.
        assert force == pytest.approx(peaks[tuple(key)]["peak_force"], rel=1e-12)
    # The events of a run are those that the other command writes.
    path = tmp_path / "events.csv"
    assert main(["events", "slope", "--duration", "0.2", "--seed", "1", "--noise", "qpos=0.01", "-o", str(path)]) == 0
    ours = polars.read_parquet(tmp_path / "s" / "events" / "scene=slope" / "seed=1" / "part.parquet")
    theirs = polars.read_csv(path)
    assert ours["time"].to_list() == theirs["time"].to_list()
    assert ours["kind"].to_list() == theirs["kind"].to_list()
    units = {field.name: field.metadata for field in parquet.read_schema(next(tmp_path.glob("s/contacts/*/*/*")))}
    assert units["force_x"] == {b"unit": b"N"}


def test_the_contacts_of_a_sweep_are_those_of_export_from_the_first_state_on(tmp_path: Path) -> None:
    words = ["--duration", "0.2", "--noise", "qpos=0.01"]
    assert swept("slope", "--seeds", "1:2", *words, "-o", str(tmp_path / "s"), "--contacts", "--workers", "1") == 0
    assert main(["export", "slope", "--seed", "1", *words, "-o", str(tmp_path / "c.parquet")]) == 0
    ours = polars.read_parquet(tmp_path / "s" / "contacts" / "scene=slope" / "seed=1" / "part.parquet")
    theirs = polars.read_parquet(tmp_path / "c.parquet")
    assert ours["step"].unique().sort().to_list() == list(range(101))
    assert ours.select(theirs.columns).equals(theirs)


def test_a_full_disk_ends_with_one_line_and_loses_no_finished_run(tmp_path: Path) -> None:
    words = ["quadruped", "--seeds", "0:40", "--duration", "0.1", "--noise", "qpos=0.01", "--workers", "2"]
    words += ["--control", str(controller(tmp_path)), "--param", "WAIT=0.2"]
    folder = tmp_path / "disk" / "s"
    result = run_on_small_disk(tmp_path, 60_000, *command("sweep", *words, "-o", str(folder)))
    assert result.returncode == 1
    assert "the disk is full; the finished runs are kept" in result.stderr
    assert "Traceback" not in result.stderr
    assert 0 < finished(folder) < 40
    assert sorted(path.name for path in folder.iterdir()) == [".runs", "sweep.json"]
    # There is room again.
    assert swept(*words, "-o", str(folder), "--resume") == 0
    assert swept(*words, "-o", str(tmp_path / "whole")) == 0
    assert columns(folder).equals(columns(tmp_path / "whole"))


def test_logs_are_resimulated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The figures of a log's runs are those of the runs that were logged."""
    path = tmp_path / "log.npz"
    write_log(path, runs=3, steps=150)
    common = ["slope", "--workers", "1", "-o"]
    assert swept(*common, str(tmp_path / "log"), "--log", str(path), "--seeds", "0:3") == 0
    control = tmp_path / "push.py"
    control.write_text(
        "import numpy as np\nSEED = 0\ndef control(model, data):\n    pass\n"
        "def reset(model, data, rng):\n    data.qvel[1:3] = np.random.default_rng(SEED).normal(size=2)\n"
    )
    logged = columns(tmp_path / "log")
    assert set(logged["scene"]) == {"log"}
    for seed in range(3):
        words = ["--seeds", "0", "--duration", "0.3", "--control", str(control), "--param", f"SEED={seed}"]
        assert swept(*common, str(tmp_path / f"s{seed}"), *words) == 0
        ours = columns(tmp_path / f"s{seed}").drop("scene", "seed", "sensor").to_numpy()
        theirs = logged.filter(polars.col("seed") == seed).drop("scene", "seed", "sensor").to_numpy()
        # Its states lack what the solver starts from.
        assert theirs.astype(float) == pytest.approx(ours.astype(float), rel=1e-6, abs=1e-9, nan_ok=True)
    capfd.readouterr()
    assert swept(*common, str(tmp_path / "n"), "--log", str(path), "--noise", "qpos=1") == 2
    assert "a log has its own start and controls" in capfd.readouterr().err
    assert swept(*common, str(tmp_path / "n"), "--log", str(path), "--seeds", "2:4") == 1
    assert "has no run '3'; there are: from 0 to 2" in capfd.readouterr().err
    assert main(["report", str(tmp_path / "log"), "--worst", "1"]) == 0
    assert f"contact-viewer slope --log {path} --" in capfd.readouterr().out


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path) -> None:
    peaks = []
    counts = (2048, 6144)
    for count in counts:
        plan = make_plan(["slope"], range(count), 1.0, vary=["friction=0.5:1.5"])
        row = dict.fromkeys(METRIC_COLUMNS, 0.125)
        results = Results(ResultStore(tmp_path / str(count)), plan, {"plan": {}, "files": {}}, resume=False)
        tracemalloc.start()
        for run in plan.runs():
            results.add(RunResult(run.number, None, ("a", "b"), (row, row)))
        results.finish({})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        results.close()
        assert columns(tmp_path / str(count)).height == 2 * count
    # A byte a run says whether it has finished. Python's garbage, up to 80 kB, is not collected at the same instants.
    assert peaks[1] < peaks[0] + 29 * (counts[1] - counts[0])


def test_a_sweep_on_a_cluster_asks_for_all_its_extras_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert main(["sweep", "slope", "--seeds", "0:2", "--ray", "auto", "-o", "s3://bucket/sweep"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "contact-viewer: this sweep needs: pip install 'contact-viewer[ray,fsspec]'"
    ]
