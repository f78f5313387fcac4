"""Contact events in data files: against the `events` command, the contact rows beside them, and a ball's fall."""

import csv
import json
import math
import resource
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.cli import main
from contact_viewer.engines.registry import open_engine
from contact_viewer.recording.data_file import DataFile
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from pyarrow import parquet

from ..touch.robots import write_robot
from .judges import BALL, DIVERGING, contact_viewer, leftovers

Rows = list[dict[str, str]]
NUMBERS = ("time", "distance", "normal_velocity", "approach_speed", "duration", "peak_force")


def export(path: Path, scene: str | Path, *arguments: object) -> Path:
    assert main(["export", str(scene), "-o", str(path), *map(str, arguments)]) == 0
    assert leftovers(path.parent) == []
    return path.with_name(f"{path.stem}.events{path.suffix}")


def read_csv(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Empty where a number is not known.
    return [{name: "" if text == "NaN" else text for name, text in row.items()} for row in rows]


def listed(tmp_path: Path, scene: str | Path, *arguments: object) -> list[dict[str, Any]]:
    """What the `events` command lists."""
    path = tmp_path / "judge.json"
    assert main(["events", str(scene), "-o", str(path), *map(str, arguments)]) == 0
    events: list[dict[str, Any]] = json.loads(path.read_text())
    return events


def assert_same(rows: Rows, events: list[dict[str, Any]]) -> None:
    assert [row["kind"] for row in rows] == [event["kind"] for event in events]
    assert [int(row["pair_id"]) for row in rows] == [event["pair_id"] for event in events]
    assert [[row["geom1"], row["geom2"]] for row in rows] == [event["geoms"] for event in events]
    for name in NUMBERS:
        assert [float(row[name]) if row[name] else None for row in rows] == [event[name] for event in events]


@pytest.mark.parametrize(
    ("scene", "seconds", "least"), [("slope", 3, 4), ("bounce", 2, 20), ("touch", 2, 3), ("pile", 0.3, 200)]
)
def test_events_are_those_of_the_events_command(tmp_path: Path, scene: str, seconds: float, least: int) -> None:
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", seconds))
    assert len(rows) >= least
    assert_same(rows, listed(tmp_path, scene, "--duration", seconds))


@pytest.mark.parametrize("integrator", ["RK4", "implicitfast"])
def test_events_of_other_integrators(tmp_path: Path, integrator: str) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL.replace("timestep=", f'integrator="{integrator}" timestep='))
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 0.5))
    assert rows
    assert_same(rows, listed(tmp_path, scene, "--duration", 0.5))


def test_a_scene_without_sensors_has_the_events_of_all_pairs(tmp_path: Path) -> None:
    scene = write_robot(tmp_path / "robot.xml", height=0.2)
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 0.5))
    assert [row["kind"] for row in rows][:1] == ["begin"]
    assert_same(rows, listed(tmp_path, scene, "--duration", 0.5))


def test_the_fall_of_a_ball(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 0.2))
    begin = rows[0]
    assert (begin["kind"], begin["geom1"], begin["geom2"]) == ("begin", "floor", "ball")
    # Two centimetres; Euler's steps fall half a step's time ahead.
    assert float(begin["time"]) == pytest.approx(math.sqrt(2 * 0.02 / 9.81) - 0.001, abs=1e-4)
    assert float(begin["approach_speed"]) == pytest.approx(math.sqrt(2 * 9.81 * 0.02), rel=0.01)
    contacts = read_csv(tmp_path / "c.csv")
    largest = max(float(row["force_normal"] or 0) for row in contacts)
    assert float(begin["peak_force"]) == pytest.approx(largest, rel=1e-6)
    # The contact rows show it from this step on.
    assert next(int(row["step"]) for row in contacts if float(row["found"]) == 1) == int(begin["step"])


def test_contact_rows_begin_and_end_where_events_say(tmp_path: Path) -> None:
    events = read_csv(export(tmp_path / "c.csv", "bounce", "--duration", 2))
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in read_csv(tmp_path / "c.csv"):
        if row["geom1"]:
            found[row["geom1"], row["geom2"]].add(int(row["step"]))
    checked = 0
    for event in events:
        steps = found[event["geom1"], event["geom2"]]
        step = int(event["step"])
        begins = event["kind"] == "begin"
        if step <= 1000:
            assert (step in steps, step - 1 in steps) == (begins, not begins)
            checked += 1
    assert checked == 20


def test_only_events_in_the_written_span(tmp_path: Path) -> None:
    everything = read_csv(export(tmp_path / "all.csv", "bounce", "--duration", 2))
    late = read_csv(export(tmp_path / "late.csv", "bounce", "--start", 0.3, "--duration", 1.7))
    assert late == [row for row in everything if float(row["time"]) >= 0.3]
    # Contacts that began before end with their whole length.
    assert late[0]["kind"] == "end"
    assert float(late[0]["time"]) - float(late[0]["duration"]) < 0.3
    assert 0 < len(late) < len(everything)
    early = read_csv(export(tmp_path / "early.csv", "bounce", "--duration", 0.5))
    assert [row["time"] for row in early] == [row["time"] for row in everything if float(row["time"]) <= 0.5]


def test_times_go_on_from_a_keyframe(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL.replace('qpos="0 0 .1 ', 'qpos="0 0 .12 '))
    (begin, *_) = read_csv(export(tmp_path / "c.csv", scene, "--key", "later", "--duration", 0.2))
    (plain, *_) = read_csv(export(tmp_path / "d.csv", scene, "--duration", 0.2))
    assert float(begin["time"]) == pytest.approx(2.5 + float(plain["time"]), abs=1e-9)
    assert begin["step"] == plain["step"]


def test_a_ball_that_just_touches_the_floor(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    # At a distance of exactly 0 the contact is listed, and nothing presses yet.
    assert main(["export", str(scene), "-o", str(tmp_path / "c.csv"), "--key", "later", "--duration", "0.1"]) == 0
    (begin,) = read_csv(tmp_path / "c.events.csv")
    assert begin["kind"] == "begin"
    assert 2.5 <= float(begin["time"]) <= 2.502


def test_all_formats_hold_the_same(tmp_path: Path) -> None:
    rows = read_csv(export(tmp_path / "c.csv", "bounce", "--duration", 1.5))
    table = parquet.read_table(export(tmp_path / "c.parquet", "bounce", "--duration", 1.5))
    export(tmp_path / "c.npz", "bounce", "--duration", 1.5)
    arrays = np.load(tmp_path / "c.npz", allow_pickle=False)
    assert list(rows[0]) == table.column_names
    assert {name for name in arrays.files if name.startswith("event_")} == {f"event_{name}" for name in rows[0]}
    for name in rows[0]:
        texts, column, array = [row[name] for row in rows], table[name].to_pylist(), arrays[f"event_{name}"].tolist()
        if name in ("geom1", "geom2", "kind", "body1", "body2"):
            assert texts == column == array
        elif name == "slip_speed":
            assert {str(value).lower() for value in (*texts, *column, *array)} <= {"", "nan", "none"}, "nothing slides"
        else:
            assert [float(text) for text in texts] == column == array
    # The contacts are as they were, an array a column.
    assert len(arrays["time"]) == len(read_csv(tmp_path / "c.csv")) > len(rows) > 10
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("c.csv", "c.events.csv", "c.events.parquet", "c.npz", "c.parquet", "c.schema.json"),
    ]


def test_rerun_has_a_line_and_a_mark_for_each_event(tmp_path: Path) -> None:
    from rerun.chunk import RrdReader

    rows = read_csv(export(tmp_path / "c.csv", "bounce", "--duration", 1.5))
    export(tmp_path / "c.rrd", "bounce", "--duration", 1.5)
    texts: dict[tuple[str, int], str] = {}
    speeds: dict[tuple[str, int], float] = {}
    for chunk in RrdReader(tmp_path / "c.rrd").stream():
        batch, entity = chunk.to_record_batch(), str(chunk.entity_path)
        if not entity.startswith("/events/") or chunk.is_static:
            continue
        times = np.array(batch["simulation"].cast("int64")).tolist()
        keys = [(entity, time) for time in times]
        if "TextLog:text" in batch.schema.names:
            texts.update(zip(keys, (value[0] for value in batch["TextLog:text"].to_pylist()), strict=True))
        if "Scalars:scalars" in batch.schema.names:
            speeds.update(zip(keys, (value[0] for value in batch["Scalars:scalars"].to_pylist()), strict=True))
    assert len(texts) == len(speeds) == len(rows)
    for row in rows:
        pair = f"{row['geom1']} × {row['geom2']}"
        (key,) = [
            key
            for key, text in texts.items()
            if text.startswith(f"{pair} {row['kind']}") and abs(key[1] - 1e9 * float(row["time"])) <= 1
        ]
        assert speeds[key] == pytest.approx(float(row["approach_speed"]), rel=1e-6)


def test_events_name_the_first_frame_that_shows_them(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    arguments = ["record", scene, "-o", tmp_path / "v.mp4", "--size", "64x64", "--fps", 60, "--duration", 0.5]
    assert main([*map(str, arguments), "--data", str(tmp_path / "v.csv")]) == 0
    (begin, *_) = read_csv(tmp_path / "v.events.csv")
    frame = math.ceil(int(begin["step"]) * 0.002 * 60 - 1e-9)
    assert int(begin["video_frame"]) == frame > 0
    assert_same([begin], listed(tmp_path, scene, "--duration", 0.48)[:1])


def test_motrix_has_events_too(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    arguments = (scene, "--engine", "motrix", "--duration", 0.3)
    rows = read_csv(export(tmp_path / "c.csv", *arguments))
    assert rows[0]["kind"] == "begin"
    assert_same(rows, listed(tmp_path, *arguments))


def test_a_scene_without_events_has_their_heading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = export(tmp_path / "c.csv", "quadruped", "--duration", 0.1)
    assert path.read_text().startswith("step,time,pair_id,geom1,geom2,kind,")
    assert len(path.read_text().splitlines()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{tmp_path / 'c.csv'}: 51 steps", f"{path}: 0 events"]
    export(tmp_path / "c.npz", "quadruped", "--duration", 0.1)
    assert np.load(tmp_path / "c.npz")["event_time"].shape == (0,)
    assert capsys.readouterr().out == f"{tmp_path / 'c.npz'}: 51 steps, 0 events\n"


def test_a_diverging_scene_leaves_the_events_before(tmp_path: Path) -> None:
    scene = tmp_path / "diverging.xml"
    floor = '<body pos="5 0 .06"><freejoint/><geom size=".05"/></body>'
    scene.write_text(DIVERGING.replace("</worldbody>", floor + "</worldbody>"))
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 5))
    assert 0.04 < float(rows[0]["time"]) < 0.05
    assert float(read_csv(tmp_path / "c.csv")[-1]["time"]) < 0.6


def test_a_folder_in_the_way_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.events.csv").mkdir()
    assert main(["export", "slope", "-o", str(tmp_path / "c.csv"), "--duration", "0.1"]) == 2
    assert capsys.readouterr().err == f"contact-viewer: {tmp_path / 'c.events.csv'}: is a folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["c.events.csv"]


def limit_file_size() -> None:
    """In the child: a disk with room for 100 kB in each file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_full_disk_beside_the_contacts_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    # High above the floor: many touch values, and of contacts one short row a step.
    entries = [f"type=force-3d site=down period={period} seed={period}" for period in range(2, 20)]
    scene = write_robot(tmp_path / "robot.xml", *entries, height=50)
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = ("export", scene, "-o", folder / f"c{suffix}", "--duration", 2)
    result = contact_viewer(*arguments, preexec_fn=limit_file_size)
    assert result.returncode == 2
    assert f"{folder / 'c'}{suffix}: cannot be written (File too large)" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(folder.iterdir()) == []
    assert contact_viewer(*arguments).returncode == 0
    assert all(path.stat().st_size for path in folder.iterdir())


def test_a_session_is_let_go_of(tmp_path: Path) -> None:
    session = Session(open_engine("slope"), ViewState())
    before = list(session.simulation.observers)
    for finish in (True, False):
        with DataFile(tmp_path / "c.csv", session) as data:
            data.write(0, 0.0)
            assert session.simulation.observers != before
            if finish:
                data.finish()
        assert session.simulation.observers == before
