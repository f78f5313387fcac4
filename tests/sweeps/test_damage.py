"""Sweeps whose folders are damaged, wanted by two programs at once, or in a machine that loses its power."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import contact_viewer
import polars
import psutil
import pyarrow
import pyarrow.compute
import pytest
from contact_viewer.cli import main
from contact_viewer.sweeps import result_store
from pyarrow import parquet

from .running import columns, journal, launch, start, wait_for

CONTROL = """
drawn = 0.0

def control(model, data):
    if data.time > 0.01 and drawn > 0.8:
        raise ValueError("too fast")

def reset(model, data, rng):
    global drawn
    drawn = rng.uniform()
    data.qvel[1:3] += drawn
"""
RUNS = 10
FAILED = 3


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of a sweep some of whose runs fail, so that it keeps its journal; the last word is its folder."""
    root = tmp_path_factory.mktemp("sweep")
    (root / "push.py").write_text(CONTROL)
    words = ["sweep", "slope", "--seeds", f"0:{RUNS}", "--duration", "0.04", "--workers", "2", "--contacts"]
    words += ["--vary", "friction=0.5:1.5", "--control", str(root / "push.py"), "-o", str(root / "out")]
    assert main(words) == 1
    return words


def copied(sweep: list[str], folder: Path) -> Path:
    shutil.copytree(sweep[-1], folder)
    return folder


def resumed(sweep: list[str], folder: Path) -> int:
    return main([*sweep[:-1], str(folder), "--resume"])


def set_about(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    about = json.loads((folder / "sweep.json").read_text())
    change(about)
    (folder / "sweep.json").write_text(json.dumps(about))


def set_column(folder: Path, name: str, values: pyarrow.Array) -> None:
    table = parquet.read_table(folder / "metrics.parquet")
    parquet.write_table(table.set_column(table.column_names.index(name), name, values), folder / "metrics.parquet")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


ROWS = 3 * (RUNS - FAILED)
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "sweep.json is missing": (lambda f: (f / "sweep.json").unlink(), "sweep.json: is missing"),
    "sweep.json is garbage": (lambda f: (f / "sweep.json").write_bytes(b"\xff\0{"), "sweep.json: cannot be read"),
    "sweep.json is a list": (lambda f: (f / "sweep.json").write_text("[]"), "cannot be read (it is not an object)"),
    "sweep.json is deep": (lambda f: (f / "sweep.json").write_text("[" * 100_000), "cannot be read (it is nested"),
    "no plan": (lambda f: set_about(f, lambda a: a.pop("plan")), "sweep.json: is damaged (plan)"),
    "plan of wrong types": (
        lambda f: set_about(f, lambda a: a.update(plan={"vary": 3, "scenes": [], "duration": "x"}, runs=None)),
        "sweep.json: is damaged (runs, scenes, duration, vary)",
    ),
    "text without letters": (lambda f: set_about(f, lambda a: a.update(note="\ud800")), ""),
    "failures.parquet is empty": (lambda f: (f / "failures.parquet").write_bytes(b""), "failures.parquet: cannot be"),
    "metrics.parquet is cut": (lambda f: os.truncate(f / "metrics.parquet", 900), "metrics.parquet: cannot be read"),
    "metrics.parquet is a folder": (lambda f: make_folder(f / "metrics.parquet"), "metrics.parquet: cannot be read"),
    "a column is missing": (
        lambda f: parquet.write_table(
            parquet.read_table(f / "metrics.parquet").drop(["slip_time"]), f / "metrics.parquet"
        ),
        "",
    ),
    "a column is text": (lambda f: set_column(f, "impulse", pyarrow.array(["x"] * ROWS)), ""),
    "infinite forces": (lambda f: set_column(f, "peak_force", pyarrow.array([float("inf")] * ROWS)), ""),
    "seeds are text": (
        lambda f: set_column(f, "seed", pyarrow.array(["x"] * ROWS)),
        f"metrics.parquet: rows that are damaged: {ROWS}",
    ),
    "videos is a file": (lambda f: (f / "videos").write_text(""), ""),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_report_leaves_out_what_is_damaged_and_names_it(
    sweep: list[str], name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = copied(sweep, tmp_path / "s")
    damage, words = DAMAGE[name]
    damage(folder)
    assert main(["report", str(folder)]) == 0
    out, error = capfd.readouterr()
    assert words in error
    assert error.count("\n") == bool(words)
    assert "</html>" in (folder / "report.html").read_text()
    if "metrics" not in name and name != "seeds are text":
        assert f"{RUNS - FAILED} runs" in out


def test_a_report_of_which_nothing_can_be_read_is_one_line(
    sweep: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = copied(sweep, tmp_path / "s")
    for name in ("metrics.parquet", "failures.parquet", "sweep.json"):
        (folder / name).write_bytes(b"\0" * 99)
    assert main(["report", str(folder)]) == 2
    error = capfd.readouterr().err
    assert all(f"{name}: cannot be read" in error for name in ("metrics.parquet", "failures.parquet", "sweep.json"))
    assert error.count("\n") == 1
    assert not (folder / "report.html").exists()


def scramble(path: Path, random: random.Random) -> None:
    """Change a file in one of the ways of disks, programs and people."""
    data = path.read_bytes()
    place = random.randrange(len(data) + 1)
    middle = random.choice([b"", b"\0" * 40, random.randbytes(40), b"\n", data[:40]])
    path.write_bytes(random.choice([data[:place], data[:place] + middle + data[place + 40 :], b"", data + data]))


def test_no_damage_of_bytes_ends_a_report_in_a_traceback(sweep: list[str], tmp_path: Path) -> None:
    for seed in range(60):
        folder = copied(sweep, tmp_path / str(seed))
        generator = random.Random(seed)
        for _ in range(2):
            scramble(folder / generator.choice(["metrics.parquet", "failures.parquet", "sweep.json"]), generator)
        assert main(["report", str(folder)]) in (0, 2)


def test_a_sweep_goes_on_with_a_damaged_journal(
    sweep: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Runs whose files are lost are simulated again, and no row is there twice."""
    folder = copied(sweep, tmp_path / "s")
    whole = polars.concat([polars.read_parquet(path) for path in journal(folder)]).unique("run").height
    assert whole == RUNS
    data = journal(folder)[0].read_bytes()
    good = pyarrow.concat_tables([parquet.read_table(path) for path in journal(folder)])
    for path in journal(folder):
        path.unlink()
    finished_run = next(row["run"] for row in good.to_pylist() if row["failure"] is None)
    own = good.filter(pyarrow.compute.equal(good["run"], finished_run))
    another = own.replace_schema_metadata({"sweep": "17"})
    middle = len(data) // 3
    damaged = [b"", b"\0" * 512, data[:-20], data[:middle] + b"\0" * 40 + data[middle + 40 :], b"[0,[1,null]]\n"]
    for number, content in enumerate(damaged):
        (folder / ".runs" / f"{0:010d}-{RUNS:010d}-{number}.parquet").write_bytes(content)
    parquet.write_table(another, folder / ".runs" / f"{0:010d}-{RUNS:010d}-another.parquet")
    for name in ("one", "two"):
        parquet.write_table(own, folder / ".runs" / f"{finished_run:010d}-{finished_run:010d}-{name}.parquet")
    (folder / "metrics.parquet").unlink()
    capfd.readouterr()
    assert resumed(sweep, folder) == 1
    out, error = capfd.readouterr()
    assert f"files of the journal .runs that could not be read: {len(damaged) + 1}\n" in error
    assert f"{RUNS - FAILED} runs" in out
    assert columns(folder).equals(columns(Path(sweep[-1])))
    assert polars.read_parquet(folder / "metrics.parquet").filter(seed=finished_run)["wall_time"].to_list() == (
        own["wall_time"].to_pylist()
    )


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: (f / "sweep.json").write_bytes(b"\0" * 99), "sweep.json could not be read"),
        (lambda f: (f / "sweep.json").write_text('{"plan": 3}'), "sweep.json could not be read (its plan is missing)"),
        (lambda f: (f / "sweep.json").unlink(), "sweep.json could not be read"),
        (lambda f: (f / "metrics.parquet").write_bytes(b""), ""),
        (lambda f: shutil.rmtree(f / ".runs"), ""),
        (
            lambda f: os.truncate(next(f.glob("contacts/*/seed=0/*")), 99),
            "runs whose contacts are missing or damaged: 1",
        ),
        (lambda f: shutil.rmtree(f / "contacts"), f"runs whose contacts are missing or damaged: {RUNS - FAILED}"),
    ],
)
def test_a_sweep_goes_on_and_says_what_was_lost(
    sweep: list[str],
    damage: Callable[[Path], object],
    words: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = copied(sweep, tmp_path / "s")
    damage(folder)
    assert resumed(sweep, folder) == 1
    error = capfd.readouterr().err
    assert words in error
    assert ("warning: damaged, and simulated again where needed: " in error) == bool(words)
    assert columns(folder).equals(columns(Path(sweep[-1])))
    for part in Path(sweep[-1]).glob("contacts/*/*/*"):
        assert part.read_bytes() == (folder / part.relative_to(sweep[-1])).read_bytes()


@pytest.mark.parametrize("name", [".runs", "metrics.parquet", "sweep.json"])
def test_a_folder_in_place_of_a_file_is_one_line_before_the_first_run(
    sweep: list[str], name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = copied(sweep, tmp_path / "s")
    if name == ".runs":
        shutil.rmtree(folder / name)
        (folder / name).touch()
    else:
        make_folder(folder / name)
    assert resumed(sweep, folder) == 2
    error = capfd.readouterr().err
    assert f"{folder / name}: " in error
    assert "remove it to continue" in error
    assert error.count("\n") == 1


def test_a_complete_sweep_whose_table_is_damaged_is_made_again(tmp_path: Path) -> None:
    words = {"duration": 0.04, "workers": 1, "output": tmp_path / "s"}
    whole = contact_viewer.sweep("slope", 3, **words)  # type: ignore[arg-type]
    data = (tmp_path / "s" / "metrics.parquet").read_bytes()
    for damaged in (data[:2000], data[:500] + b"\0" * 500 + data[1000:], b""):
        (tmp_path / "s" / "metrics.parquet").write_bytes(damaged)
        with pytest.warns(UserWarning, match=r"simulated again where needed: .*metrics\.parquet"):
            again = contact_viewer.sweep("slope", 3, resume=True, **words)  # type: ignore[arg-type]
        assert again.drop(["wall_time"]).equals(whole.drop(["wall_time"]))
    # What an end in the middle of tidying up may leave does not make it incomplete.
    (tmp_path / "s" / ".runs").mkdir()
    (tmp_path / "s" / ".runs" / "x.parquet").write_text("x\n")
    assert contact_viewer.sweep("slope", 3, resume=True, **words).equals(again)  # type: ignore[arg-type]
    assert sorted(os.listdir(tmp_path / "s")) == ["metrics.parquet", "sweep.json"]


@pytest.mark.parametrize("damage", [Path.unlink, lambda part: part.write_bytes(part.read_bytes()[:-9])])
def test_a_complete_sweep_of_which_contacts_are_lost_is_made_again(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    words = {"duration": 0.04, "workers": 1, "output": tmp_path / "s", "contacts": True}
    contact_viewer.sweep("slope", 2, **words)  # type: ignore[arg-type]
    part = next(tmp_path.glob("s/contacts/*/seed=1/*"))
    data = part.read_bytes()
    damage(part)
    with pytest.warns(UserWarning, match="runs whose contacts are missing or damaged: 1$"):
        contact_viewer.sweep("slope", 2, resume=True, **words)  # type: ignore[arg-type]
    assert part.read_bytes() == data


RACE = """
import multiprocessing, random, sys, time
from pathlib import Path
from contact_viewer.errors import SceneError
from contact_viewer.sweeps.result_store import ResultStore
from contact_viewer.sweeps.results import METRIC_COLUMNS, Results
from contact_viewer.sweeps.sweep import make_plan
from contact_viewer.sweeps.task import RunResult

folder, times = Path(sys.argv[1]), int(sys.argv[2])
plan, row = make_plan(["slope"], range(2), 1.0), dict.fromkeys(METRIC_COLUMNS, 0.125)

def work(barrier, pipe):
    for turn in range(times):
        barrier.wait()
        if turn % 4 == 3:
            time.sleep(random.uniform(0, 0.01))
        try:
            results = Results(ResultStore(folder / str(turn)), plan, {"plan": {}, "files": {}}, resume=False)
        except SceneError as error:
            pipe.send(str(error))
            continue
        try:
            if turn % 3:
                time.sleep(random.uniform(0, 0.01))
            for run in plan.runs():
                results.add(RunResult(run.number, None, ("a",), (row,)))
            results.finish({})
        except Exception as error:
            pipe.send(f"lost: {error!r}")
        else:
            pipe.send("won")
        finally:
            results.close()

context = multiprocessing.get_context("fork")
barrier, pipes = context.Barrier(3), [context.Pipe() for _ in range(3)]
workers = [context.Process(target=work, args=(barrier, pipe[1]), daemon=True) for pipe in pipes]
for worker in workers:
    worker.start()
for turn in range(times):
    said = sorted(pipe[0].recv() for pipe in pipes)
    found = sorted(path.name for path in (folder / str(turn)).iterdir())
    texts = ("has a sweep already", "another program is writing a sweep into it")
    refused = [text for text in said if any(words in text for words in texts)]
    if said.count("won") != 1 or len(refused) != 2 or found != ["metrics.parquet", "sweep.json"]:
        print(turn, said, found)
"""


def test_of_sweeps_that_begin_together_in_one_folder_one_wins_and_keeps_its_files(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RACE, str(tmp_path), "60"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_refused_sweep_leaves_a_folder_as_it_was(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also one that a user has made, with files in it."""
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "notes.txt").touch()
    words = ["sweep", "slope", "-o", str(tmp_path / "s"), "--seeds", "0:2", "--ray", "nowhere"]
    assert main(words) == 2
    assert "is not an address such as" in capfd.readouterr().err
    assert os.listdir(tmp_path / "s") == ["notes.txt"]


def test_a_loss_of_power_takes_no_more_than_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted reaches the disk while the sweep runs, and the table before the journal is removed."""
    synced: list[str] = []
    fsync = os.fsync

    def record(file: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{file}"))
        there = (tmp_path / "s" / ".runs").exists()
        synced.append(f"{path.relative_to(tmp_path / 's')}{'' if there else ' without journal'}")
        fsync(file)

    monkeypatch.setattr(os, "fsync", record)
    monkeypatch.setattr(result_store.ResultStore, "patience", 0.0)
    words = ["slope", "--seeds", "0:4", "--duration", "0.02", "--workers", "1", "--events"]
    assert main(["sweep", *words, "-o", str(tmp_path / "s")]) == 0
    parts = [name for name in synced if name.startswith("events/")]
    assert parts == [f"events/scene=slope/seed={seed}/part.parquet" for seed in range(4)]
    noted = [place for place, name in enumerate(synced) if name.startswith(".runs/")]
    assert len(noted) == 4
    table = next(place for place, name in enumerate(synced) if name.startswith(".metrics.parquet."))
    assert table > max(noted)
    assert synced[-1] == "."
    assert not [name for name in synced if "without" in name]
    assert polars.read_parquet(tmp_path / "s" / "metrics.parquet")["seed"].n_unique() == 4


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (None, "need an extra: pip install 'contact-viewer[parquet]'"),
        (
            'raise ImportError("needs NumPy 2\\nor newer")',
            "cannot be imported (needs NumPy 2): pip install --upgrade pyarrow",
        ),
        (
            'import sys\nsys.stderr.write("A module\\nfails\\n")\nraise AttributeError("_ARRAY_API")',
            "imported (_ARRAY_API)",
        ),
        ("import nowhere", "cannot be imported (No module named 'nowhere')"),
        ("", "cannot be imported (No module named 'pyarrow.parquet')"),
    ],
)
def test_without_a_pyarrow_that_works_it_is_one_line_and_nothing_is_left(
    sweep: list[str], init: str | None, words: str, tmp_path: Path
) -> None:
    folder = copied(sweep, tmp_path / "done")
    before = sorted(folder.rglob("*"))
    first, environment = "import sys; ", {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(tmp_path / "modules")}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").mkdir()
    if init is None:
        first += "sys.modules['pyarrow'] = None; "
    else:
        (tmp_path / "modules" / "pyarrow").mkdir(parents=True)
        (tmp_path / "modules" / "pyarrow" / "__init__.py").write_text(init)
    commands = [
        ["report", str(folder)],
        ["sweep", "slope", "--seeds", "0:2", "-o", "s"],
        ["export", "slope", "-o", "c.parquet"],
    ]
    run = f"{first}from contact_viewer.cli import main; assert [main(line) for line in {commands}] == [2] * 3\n"
    run += "import contact_viewer; contact_viewer.sweep('slope', 2, 0.1)"
    process = launch(tmp_path / "out", sys.executable, "-c", run, **environment)
    lines, _, traceback = process.communicate()[1].partition("Traceback")
    for line in [*lines.splitlines(), traceback.splitlines()[-1]]:
        assert words in line
    assert lines.count("\n") == len(commands)
    assert not [*(tmp_path / "tmp").iterdir(), *(tmp_path / "out").iterdir()]
    assert sorted(folder.rglob("*")) == before


SLOW = """
import time

def control(model, data):
    time.sleep(0.005)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_sweep_that_is_ended_leaves_no_temporary_folder(tmp_path: Path, number: signal.Signals) -> None:
    """Nor does a worker that is killed on the way."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "tmp").mkdir()
    words = [
        "slope",
        "--seeds",
        "0:80",
        "--duration",
        "0.1",
        "--control",
        "slow.py",
        "--contacts",
        "--events",
        "-o",
        "s",
    ]
    process = start(tmp_path, *words, "--workers", "2", TMPDIR=str(tmp_path / "tmp"))
    wait_for(lambda: list(tmp_path.glob("s/contacts/*/*/*")), process)
    workers = psutil.Process(process.pid).children()
    workers[0].kill()
    wait_for(lambda: len(list(tmp_path.glob("s/contacts/*/*/*"))) > 3, process)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode in (128 + number, -number)
    psutil.wait_procs(workers, 10)
    assert not list((tmp_path / "tmp").iterdir())
