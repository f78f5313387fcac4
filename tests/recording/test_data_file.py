"""Contacts in files: against MuJoCo's own contact forces, and the same in every format."""

import csv
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import mujoco
import numpy as np
import polars
import pytest
from contact_viewer.cli import main
from contact_viewer.engines.registry import open_engine
from contact_viewer.recording.tables import CONTACT_COLUMNS
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from numpy.typing import NDArray
from pyarrow import parquet

from .judges import BALL, DIVERGING, export, read_csv

Rows = list[dict[str, str]]


def vectors(rows: Rows, name: str) -> NDArray[np.float64]:
    return np.array([[float(row[f"{name}_{axis}"]) for axis in "xyz"] for row in rows]).reshape(-1, 3)


def by_step(rows: Rows, sensor: str) -> dict[int, Rows]:
    steps: dict[int, Rows] = defaultdict(list)
    for row in rows:
        if row["sensor"] == sensor:
            steps[int(row["step"])].append(row)
    return steps


def contact_forces(model: Any, data: Any, geom1: str, geom2: str) -> list[tuple[NDArray[Any], NDArray[Any], Any]]:
    """World force on geom2, contact-frame force and contact of every contact between two geoms, by mj_contactForce."""
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in (geom1, geom2)]
    found = []
    for i in range(data.ncon):
        contact = data.contact[i]
        if sorted(contact.geom) != sorted(ids):
            continue
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, force)
        world = contact.frame.reshape(3, 3).T @ force[:3]
        found.append((world if contact.geom[1] == ids[1] else -world, force, contact))
    return found


def test_rows_are_the_contact_forces_of_every_step(tmp_path: Path) -> None:
    rows = read_csv(export(tmp_path / "slope.csv", "slope", "--duration", 1.6))
    sensors = {
        "box_on_slope": ("slope", "box"),
        "box_at_front_stop": ("stop_front", "box"),
        "box_at_back_stop": ("stop_back", "box"),
    }
    steps = {name: by_step(rows, name) for name in sensors}
    # The scene as it is, without the viewer.
    model = mujoco.MjModel.from_xml_path(str(find_scene("slope")))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touching = 0
    for step in range(801):
        if step:
            mujoco.mj_step(model, data)
        for name, pair in sensors.items():
            own = steps[name][step]
            assert all(float(row["time"]) == data.time for row in own)
            judged = contact_forces(model, data, *pair)
            assert all(float(row["found"]) == len(judged) for row in own)
            if not judged:
                assert len(own) == 1
                assert own[0]["force_x"] == own[0]["force_normal"] == own[0]["geom1"] == ""
                continue
            touching += 1
            assert [int(row["slot"]) for row in own] == list(range(len(judged)))
            assert {(row["geom1"], row["geom2"]) for row in own} == {pair}
            total = np.sum([world for world, _, _ in judged], axis=0)
            np.testing.assert_allclose(vectors(own, "force").sum(axis=0), total, rtol=0, atol=1e-9)
            for row in own:
                place = [float(row[f"pos_{axis}"]) for axis in "xyz"]
                _, force, contact = min(judged, key=lambda item: float(np.abs(item[2].pos - place).max()))
                np.testing.assert_allclose(place, contact.pos, rtol=0, atol=1e-12)
                assert float(row["force_normal"]) == pytest.approx(force[0], abs=1e-9)
                assert float(row["dist"]) == pytest.approx(contact.dist, abs=1e-12)
    assert touching > 700


def test_world_vectors_are_the_components_along_the_frame(tmp_path: Path) -> None:
    rows = [row for row in read_csv(export(tmp_path / "t.csv", "turntable", "--duration", 0.6)) if row["force_x"]]
    assert len(rows) > 100
    frame = np.stack([vectors(rows, name) for name in ("normal", "tangent0", "tangent1")], axis=1)
    identity = np.broadcast_to(np.eye(3), frame.shape)
    np.testing.assert_allclose(frame @ frame.transpose(0, 2, 1), identity, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(frame), 1.0, atol=1e-9)
    for name in ("force", "torque"):
        local = np.array(
            [[float(row[f"{name}_{part}"]) for part in ("normal", "tangent0", "tangent1")] for row in rows]
        )
        np.testing.assert_allclose(np.einsum("ni,nij->nj", local, frame), vectors(rows, name), atol=1e-9)


def test_netforce_has_world_forces_only(tmp_path: Path) -> None:
    path = export(tmp_path / "net.csv", "slope", "--sensor", "box_on_slope", "--reduce", "netforce", "--duration", 0.5)
    rows = read_csv(path)
    assert {row["sensor"] for row in rows} == {"box_on_slope"}
    assert len(rows) == 251
    assert {row["force_normal"] + row["normal_x"] + row["torque_tangent1"] for row in rows} == {""}
    # The slope carries the box, nearly at rest: one kilogram.
    assert vectors(rows[-50:], "force")[:, 2].mean() == pytest.approx(9.81, rel=0.1)


def test_all_formats_hold_the_same(tmp_path: Path) -> None:
    arguments = ("--duration", 0.8, "--start", 0.2)
    rows = read_csv(export(tmp_path / "c.csv", "slope", *arguments))
    arrays = np.load(export(tmp_path / "c.npz", "slope", *arguments), allow_pickle=False)
    table = parquet.read_table(export(tmp_path / "c.parquet", "slope", *arguments))
    assert list(rows[0]) == table.column_names == [name for name in CONTACT_COLUMNS if name != "video_frame"]
    assert {int(row["step"]) for row in rows} == set(range(100, 501))
    for name in table.column_names:
        texts = [row[name] for row in rows]
        column = table[name].to_pylist()
        if name in ("sensor", "geom1", "geom2"):
            assert texts == column == arrays[name].tolist()
            continue
        numbers = np.array([float(text) if text else np.nan for text in texts])
        np.testing.assert_array_equal(numbers, arrays[name])
        np.testing.assert_array_equal(numbers, np.array([np.nan if value is None else value for value in column]))
    assert float(arrays["timestep"]) == 0.002
    assert str(arrays["scene"]).endswith("slope.xml")
    assert table.schema.metadata[b"timestep"] == b"0.002"
    again = export(tmp_path / "again.npz", "slope", *arguments)
    assert again.read_bytes() == (tmp_path / "c.npz").read_bytes()


def test_rerun_opens_the_recording_and_finds_the_same_forces(tmp_path: Path) -> None:
    from rerun.chunk import RrdReader

    path = export(tmp_path / "c.rrd", "slope", "--duration", 1.6)
    judge = subprocess.run(
        [Path(sys.executable).parent / "rerun", "rrd", "verify", path], capture_output=True, text=True, check=False
    )
    assert judge.returncode == 0, judge.stderr
    curves: dict[str, dict[int, float]] = defaultdict(dict)
    arrows: dict[str, list[list[float]]] = defaultdict(list)
    for chunk in RrdReader(path).stream():
        batch, entity = chunk.to_record_batch(), str(chunk.entity_path)
        if chunk.is_static:
            continue
        if entity.startswith("/forces/"):
            times = np.array(batch["simulation"].cast("int64"))
            values = [value[0] for value in batch["Scalars:scalars"].to_pylist()]
            curves[entity.removeprefix("/forces/")].update(zip(times.tolist(), values, strict=True))
        elif entity.startswith("/contacts/") and "Arrows3D:vectors" in batch.schema.names:
            for vectors_now in batch["Arrows3D:vectors"].to_pylist():
                arrows[entity.removeprefix("/contacts/")] += vectors_now
    rows = read_csv(export(tmp_path / "c.csv", "slope", "--duration", 1.6))
    scale = Session(open_engine("slope"), ViewState()).scale.force
    for sensor in ("box_on_slope", "box_at_front_stop"):
        own = by_step(rows, sensor)
        for part in ("normal", "tangent0", "tangent1"):
            sums = [sum(float(row[f"force_{part}"] or 0) for row in own[step]) for step in range(801)]
            curve = curves[f"{sensor}/{part}"]
            assert list(curve) == [2_000_000 * step for step in range(801)]
            np.testing.assert_allclose(list(curve.values()), sums, rtol=0, atol=1e-6)
            touching = [row for step in range(801) for row in own[step] if row["force_normal"]]
            forces = np.array([float(row[f"force_{part}"]) for row in touching])
            expected = scale * forces[:, None] * vectors(touching, part)
            assert np.abs(expected).max() > 0.01 or part == "tangent1"
            np.testing.assert_allclose(arrows[f"{sensor}/{part}"], expected, rtol=0, atol=1e-6)


def test_data_names_the_frame_that_shows_it(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    arguments = ["record", scene, "-o", tmp_path / "v.mp4", "--size", "64x64", "--fps", 60, "--duration", 0.5]
    assert main([*map(str, arguments), "--data", str(tmp_path / "v.csv"), "--speed", "0.5"]) == 0
    rows = read_csv(tmp_path / "v.csv")
    assert [int(row["step"]) for row in rows] == list(range(121))
    for frame in range(30):
        # In slow motion frame k shows k / 120 s, and a step is 2 ms.
        shown = [row for row in rows if row["video_frame"] == str(frame)]
        assert [int(row["step"]) for row in shown] == [int(frame / 120 / 0.002 + 1e-9)]
    assert sum(row["video_frame"] == "" for row in rows) == 121 - 30


@pytest.mark.parametrize("timestep", ["0.002", "0.0033333333333333335"])
def test_times_in_tables_join_with_data_time_bit_for_bit(timestep: str, tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_file(str(find_scene("touch")))
    spec.option.timestep = float(timestep)
    spec.compile()
    scene = tmp_path / "touch.xml"
    scene.write_text(spec.to_xml())
    bare = mujoco.MjModel.from_xml_path(str(scene))
    data, times = mujoco.MjData(bare), [0.0]
    for _ in range(300):
        mujoco.mj_step(bare, data)
        times.append(data.time)
    duration = ("--duration", 300.5 * float(timestep))
    for suffix in (".csv", ".npz", ".parquet"):
        path = export(tmp_path / f"c{suffix}", scene, *duration)
        tables = [path] if suffix == ".npz" else [path, path.with_name(f"c.touch{suffix}")]
        for table in tables:
            if suffix == ".csv":
                rows = read_csv(table)
                steps, read = [int(row["step"]) for row in rows], [float(row["time"]) for row in rows]
            else:
                columns: Any = np.load(table) if suffix == ".npz" else parquet.read_table(table).to_pydict()
                steps, read = list(columns["step"]), list(columns["time"])
            assert set(steps) == set(range(301))
            assert read == [times[step] for step in steps]


def test_times_go_on_from_a_keyframe(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    rows = read_csv(export(tmp_path / "b.csv", scene, "--key", "later", "--duration", 0.01))
    assert [float(row["time"]) for row in rows] == pytest.approx([2.5 + 0.002 * i for i in range(6)], abs=1e-12)


def test_a_scene_without_sensors_exports_all_contacts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "bare.xml"
    scene.write_text(
        BALL.replace('<sensor><contact name="touch" geom1="floor" geom2="ball"', "<!--").replace(
            'num="2" data="found force"/></sensor>', "-->"
        )
    )
    rows = read_csv(export(tmp_path / "b.csv", scene, "--duration", 1))
    assert "no contact sensors" in capsys.readouterr().err
    assert vectors(rows[-1:], "force")[0, 2] == pytest.approx(9.81, rel=1e-3)


def test_a_diverging_scene_leaves_what_came_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "diverging.xml"
    scene.write_text(DIVERGING)
    rows = read_csv(export(tmp_path / "d.csv", scene, "--duration", 5))
    assert 40 < len(rows) < 60
    assert "warning: the simulation became unstable" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "extra", "module"), [(".parquet", "parquet", "pyarrow"), (".rrd", "rerun", "rerun")]
)
def test_a_missing_extra_names_the_command(
    suffix: str,
    extra: str,
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["export", "slope", "-o", str(tmp_path / f"c{suffix}")]) == 2
    assert f"pip install 'contact-viewer[{extra}]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_rerun_file_leaves_the_environment_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUST_LOG", raising=False)
    assert main(["export", "slope", "-o", str(tmp_path / "c.rrd"), "--duration", "0.01"]) == 0
    assert "RUST_LOG" not in os.environ


FALL = BALL.replace('pos="0 0 .12"', 'pos="0 0 2"')
"""The ball falls for 0.6 s: until then the table knows no force."""


def test_polars_and_duckdb_read_numbers_as_numbers(tmp_path: Path) -> None:
    scene = tmp_path / "fall.xml"
    scene.write_text(FALL)
    path = export(tmp_path / "contacts.csv", scene, "--duration", 1)
    texts = {"sensor", "geom1", "geom2"}
    table = polars.read_csv(path)
    assert {name for name, kind in table.schema.items() if not kind.is_numeric()} == texts
    described = duckdb.execute(f"describe from read_csv('{path}')").fetchall()
    assert {name for name, kind, *_ in described if kind == "VARCHAR"} == texts
    force = table["force_normal"].to_numpy()
    assert np.isnan(force[:280]).all()
    # The ball rests on the floor, or bounces there.
    touching = table.filter(polars.col("found") > 0)
    assert len(touching) > 0
    ((count, total),) = duckdb.execute(
        f"select count(*), sum(force_normal) from read_csv('{path}') where found > 0"
    ).fetchall()
    assert count == len(touching)
    assert total == pytest.approx(touching["force_normal"].sum())
    events = polars.read_csv(tmp_path / "contacts.events.csv")
    assert events.schema["approach_speed"].is_numeric()


CRATES = "".join(
    f'<body pos="{0.1 * (i % 6)} {0.1 * (i // 6)} .0449"><freejoint/><geom type="box" size=".045 .045 .045"/></body>'
    for i in range(30)
)


def test_polars_reads_hundreds_of_contacts_of_a_recording(tmp_path: Path) -> None:
    """Those of the first step all have a frame, and many later ones have none."""
    scene = tmp_path / "crates.xml"
    scene.write_text(f"<mujoco><worldbody><geom type='plane' size='2 2 .1'/>{CRATES}</worldbody></mujoco>")
    arguments = ["record", scene, "-o", tmp_path / "v.mp4", "--size", "64x64", "--fps", 50, "--duration", 0.1]
    assert main([*map(str, arguments), "--data", str(tmp_path / "v.csv")]) == 0
    table = polars.read_csv(tmp_path / "v.csv")
    frames = table.group_by("step").agg(polars.col("video_frame").unique()).sort("step")
    assert frames["video_frame"].to_list() == [[None if step % 10 else step // 10] for step in range(41)]
    assert table["video_frame"][:120].to_list() == [0] * 120


def test_polars_reads_what_a_delayed_sensor_finds(tmp_path: Path) -> None:
    """MuJoCo interpolates the number of its contacts too, in the one step in which they begin."""
    scene = tmp_path / "delayed.xml"
    sensor = '<contact name="c" nsample="20" delay="0.011" interp="linear" data="found"/>'
    scene.write_text(f"""
        <mujoco><worldbody><geom type="plane" size="1 1 .1"/>
          <body pos="0 0 .4"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
          <sensor>{sensor}</sensor></mujoco>""")
    path = export(tmp_path / "contacts.csv", scene, "--duration", 0.5)
    found = polars.read_csv(path)["found"].to_numpy()
    assert sorted(set(found)) == pytest.approx([0, 2, 4])


def test_columns_have_their_units(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    export(tmp_path / "contacts.csv", scene, "--duration", 0.1)
    export(tmp_path / "contacts.parquet", scene, "--duration", 0.1)
    package = json.loads((tmp_path / "contacts.schema.json").read_text())
    for resource in package["resources"]:
        path = tmp_path / resource["path"]
        with path.open(encoding="utf-8", newline="") as file:
            fields = resource["schema"]["fields"]
            assert [field["name"] for field in fields] == next(csv.reader(file))
        units = {field["name"]: field.get("unit") for field in fields}
        own = {
            field.name: (field.metadata or {}).get(b"unit", b"").decode() or None
            for field in parquet.read_schema(path.with_suffix(".parquet"))
        }
        assert own == units
        assert units["time"] == "s"
        if resource["name"] == "contacts":
            expected = {"force_normal": "N", "torque_x": "N m", "dist": "m", "pos_z": "m", "normal_x": None}
            assert {name: units[name] for name in expected} == expected
        else:
            assert {name: units[name] for name in ("distance", "approach_speed")} == {
                "distance": "m",
                "approach_speed": "m/s",
            }
