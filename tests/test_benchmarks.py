"""Every benchmark, once and small: what it measures must still exist. How fast it is, is nobody's failure."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import BENCHMARKS, is_chosen
from benchmarks.measuring import OURS, Figure, Measured, Row, Unavailable, per_repeat, take_turns
from benchmarks.report import format_table, verdict, write_report

ROOT = Path(__file__).parent.parent
PEERS_OF = {
    "gizmos-500": {"mjvGeoms in the scene"},
    "gizmos-built-in": {"MuJoCo's contact points and forces"},
    "gizmos-growth": {"linear"},
    "decode-4096": {"the documents' Python loop"},
    "decode-limit": {"copying the array (numpy)"},
    "decode-numpy": {"the decoder of version 0.1", "copying the array (numpy)"},
    "decode-jax": {"copying the array (numpy)"},
    "decode-torch": set(),  # in an environment of its own
    "running-window": {"bare mj_step loop"},
    "export-speed": {"bare mj_step loop"},
    "events-speed": {"bare mj_step loop"},
    "sweep-overhead": {"bare mj_step loop"},
    "sweep-workers": {"one worker"},
    "sweep-ray": {"Ray, 10 s tasks"},
    "frame-window": {"simulate (mujoco.viewer)", "MuJoCo Studio", "MotrixSim viewer"},
    "frame-equal": {"simulate (mujoco.viewer)"},
    "frame-python": {"scene and empty panels", "budget"},
    "record-same": {"mujoco.Renderer + mediapy"},
    "record-default": {"mujoco.Renderer + mediapy"},
    "record-memory": {"constant"},
    "startup": {"mujoco.viewer.launch_passive", "MuJoCo Studio"},
    "reload": {"MjSpec.recompile"},
    "envs": {"MotrixSim's batch, undecoded", "Python loop over MjData, undecoded"},
    "idle": {"mujoco.viewer.launch_passive"},
    "serve": {"what is asked for", "mjviser"},
    "own-loop": {"bare mj_step loop", "mujoco.viewer.launch_passive", "budget"},
}
"""Benchmarks and their peers."""
WINDOWS = {"frame-window", "frame-equal", "frame-python", "startup", "idle", "serve", "own-loop"}
ELSEWHERE = {
    "Ray, 10 s tasks",
    "simulate (mujoco.viewer)",
    "MuJoCo Studio",
    "MotrixSim viewer",
    "mujoco.Renderer + mediapy",
    "mujoco.viewer.launch_passive",
    "mjviser",
    "MotrixSim's batch, undecoded",
}
"""Peers that live in environments of their own, or are not measured in a tiny run."""
NOTES = {"Ray, 10 s tasks": "a cluster takes longer to start than all other benchmarks"}
"""Why the latter are not."""


def run_benchmarks(folder: Path, *names: str) -> tuple[str, list[dict[str, Any]]]:
    """What the command prints and reports, in a folder without peers."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "benchmarks", "--tiny", "--report", str(report), "--environments", str(folder)]
    done = subprocess.run(
        [*command, *(word for name in names for word in ("--only", name))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(report.read_text())


def check_entry(entry: dict[str, Any]) -> None:
    assert entry["ours"] > 0
    assert entry["ours_range"][0] <= entry["ours"] <= entry["ours_range"][1]
    assert entry["renderer"]
    assert entry["versions"]["mujoco"]
    assert entry["date"].startswith("20")
    if entry["peer_name"] in ELSEWHERE:
        assert entry["peer"] is None
        assert entry["ratio"] is None
        assert entry["note"] == NOTES.get(entry["peer_name"], "peer not installed")
    else:
        better, worse = entry["ours"], entry["peer"]
        if not entry["higher_is_better"]:
            better, worse = worse, better
        assert entry["ratio"] == pytest.approx(better / worse)


@pytest.mark.parametrize(
    "names", [sorted(BENCHMARKS.keys() - WINDOWS), sorted(WINDOWS)], ids=["without a window", "windows"]
)
def test_each_benchmark_runs(tmp_path: Path, names: list[str]) -> None:
    printed, entries = run_benchmarks(tmp_path, *names)
    assert {name: {entry["peer_name"] for entry in entries if entry["name"] == name} for name in names} == {
        name: PEERS_OF[name] for name in names
    }
    for entry in entries:
        check_entry(entry)
        assert entry["case"] in printed


def test_all_benchmarks_are_known() -> None:
    assert set(BENCHMARKS) == set(PEERS_OF)


def test_repeats_are_taken_in_turns() -> None:
    order: list[str] = []
    counts = {name: iter(range(1, 10)) for name in (OURS, "peer")}

    def work_of(name: str) -> float:
        order.append(name)
        return float(next(counts[name]))

    measured = take_turns({OURS: lambda: work_of(OURS), "peer": lambda: work_of("peer")}, 3)
    assert order == [OURS, "peer"] * 3
    assert measured.figures[OURS].median == 2
    assert measured.figures["peer"].range == (1, 3)


def test_a_missing_peer_is_reported_and_not_tried_again() -> None:
    tries = []

    def missing() -> float:
        tries.append(1)
        raise Unavailable("peer not installed")

    measured = take_turns({OURS: lambda: 1.0, "peer": missing}, 5)
    row = measured.row("some", "case", "peer", "ms", goal=2.0)
    assert len(tries) == 1
    assert len(measured.figures[OURS].values) == 5
    assert row.peer is None
    assert row.ratio is None
    assert row.note == "peer not installed"
    assert verdict(row) == "no peer"
    assert "peer not installed" in format_table([row])
    with pytest.raises(Unavailable):
        take_turns({OURS: missing}, 1)


@pytest.mark.parametrize(
    ("ours", "peer", "higher_is_better", "ratio"),
    [(2.0, 10.0, False, 5.0), (2.0, 10.0, True, 0.2), (0.0, 1.0, False, None)],
)
def test_a_ratio_above_one_is_a_lead(ours: float, peer: float, higher_is_better: bool, ratio: float | None) -> None:
    row = Row("some", "case", "peer", "ms", Figure((ours,)), Figure((peer,)), 1.0, higher_is_better)
    assert row.ratio == (None if ratio is None else pytest.approx(ratio))
    assert verdict(row) == ("no peer" if ratio is None else "reached" if ratio >= 1 else "SHORT")


def test_figures_of_the_same_turns_combine() -> None:
    assert per_repeat(lambda a, b: b / a, Figure((1.0, 2.0)), Figure((3.0, 8.0))).values == (3.0, 4.0)


def test_a_report_keeps_the_rows_of_other_benchmarks(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    first, second = (
        Measured({OURS: Figure((value,)), "peer": Figure((1.0,))}, {}).row(name, "case", "peer", "ms")
        for name, value in (("one", 1.0), ("two", 2.0))
    )
    write_report(report, [second, first], {"renderer": "old"}, ["one", "two"])
    write_report(report, [first], {"renderer": "new"}, ["one", "two"])
    assert [(entry["name"], entry["renderer"]) for entry in json.loads(report.read_text())] == [
        ("one", "new"),
        ("two", "old"),
    ]


def test_benchmarks_are_chosen_by_name_or_by_how_names_begin() -> None:
    chosen = {only: [name for name in BENCHMARKS if is_chosen(name, [only])] for only in ("sweep", "reload", "swe")}
    assert chosen == {"sweep": ["sweep-overhead", "sweep-workers", "sweep-ray"], "reload": ["reload"], "swe": []}
