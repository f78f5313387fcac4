"""Touch values in data files: against the weight of what stands on the sensors, and MuJoCo's own contact forces."""

import csv
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.cli import main
from contact_viewer.scene_files.scene import find_scene
from numpy.typing import NDArray
from pyarrow import parquet

from ..touch.robots import write_robot
from .judges import BALL, leftovers

Rows = list[dict[str, str]]


def export(path: Path, scene: str | Path, *arguments: object) -> Path:
    assert main(["export", str(scene), "-o", str(path), *map(str, arguments)]) == 0
    assert leftovers(path.parent) == []
    return path.with_name(f"{path.stem}.touch{path.suffix}")


def read_csv(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Empty where a number is not known.
    return [{name: "" if text == "NaN" else text for name, text in row.items()} for row in rows]


def curves(rows: Rows, sensor: str, column: str) -> NDArray[np.float64]:
    """A column of one sensor, (steps, components); NaN where it is empty."""
    own = [row for row in rows if row["sensor"] == sensor]
    size = 1 + max(int(row["component"]) for row in own)
    assert [int(row["component"]) for row in own] == [*range(size)] * (len(own) // size)
    return np.array([float(row[column] or "nan") for row in own]).reshape(-1, size)


def test_a_robot_of_5_kg_on_one_foot(tmp_path: Path) -> None:
    entries = {
        "site=down": ([1], [49.05]),
        "type=force site=down": ([490.5], [49.05]),
        "type=force site=down table='' resolution=5": ([50], [49.05]),
        "type=force-3d site=down table=''": ([-49.05, 0, 0], [-49.05, 0, 0]),
        "type=force site=slanted table=''": ([49.05 / 2], [49.05 / 2]),
        "type=force site=down table='' measure=mount": ([39.24], [39.24]),
    }
    scene = write_robot(tmp_path / "robot.xml", *entries, height=0.05)
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 2))
    assert sorted({row["sensor"] for row in rows}) == [str(i) for i in range(6)]
    for i, (value, force) in enumerate(entries.values()):
        assert curves(rows, str(i), "value")[-1] == pytest.approx(value, rel=1e-3, abs=0.02)
        assert curves(rows, str(i), "force")[-1] == pytest.approx(force, rel=1e-3, abs=0.02)
        # Four corners on the floor at the end, none in the fall.
        assert curves(rows, str(i), "found")[-1, 0] == 4
        assert not curves(rows, str(i), "found")[:10].any()
        assert curves(rows, str(i), "force")[5:10] == pytest.approx(0, abs=1e-9)
    for row in rows:
        assert float(row["time"]) == pytest.approx(0.002 * int(row["step"]), abs=1e-12)
    # The same steps as those of the contacts.
    contacts = {(row["step"], row["time"]) for row in read_csv(tmp_path / "c.csv")}
    assert {(row["step"], row["time"]) for row in rows} == contacts


def body_force(model: Any, data: Any, body: int) -> NDArray[np.float64]:
    """World force of all contacts on a body, by mj_contactForce."""
    total = np.zeros(3)
    for i in range(data.ncon):
        contact, wrench = data.contact[i], np.zeros(6)
        mujoco.mj_contactForce(model, data, i, wrench)
        for side, geom in enumerate(contact.geom):
            if model.geom_bodyid[geom] == body:
                total += (2 * side - 1) * contact.frame.reshape(3, 3).T @ wrench[:3]
    return total


def test_the_bundled_devices(tmp_path: Path) -> None:
    steps = 600
    rows = read_csv(export(tmp_path / "c.csv", "touch", "--duration", 0.002 * steps))
    # The scene as it is, without the viewer.
    model = mujoco.MjModel.from_xml_path(str(find_scene("touch")))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    true: dict[str, list[NDArray[np.float64]]] = {"sole": [], "pad": [], "bumper": []}
    for step in range(steps + 1):
        if step:
            mujoco.mj_step(model, data)
        for name, forces in true.items():
            site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, name)
            force = body_force(model, data, model.site_bodyid[site])
            forces.append(data.site_xmat[site].reshape(3, 3).T @ force)
    sole, pad, bumper = (np.array(true[name]) for name in ("sole", "pad", "bumper"))
    np.testing.assert_allclose(curves(rows, "sole", "force")[:, 0], np.maximum(0, -sole[:, 0]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(curves(rows, "pad", "force"), pad, rtol=0, atol=1e-9)
    # How hard a bumper is touched: the length of the force.
    np.testing.assert_allclose(curves(rows, "bumper", "force")[:, 0], np.linalg.norm(bumper, axis=1), atol=1e-9)
    assert np.abs(pad).max() > 10
    assert bumper.any()
    assert sole.any()
    # Each device holds the value of its last period, of 32, 20 and 10 ms; there is none before the first.
    values = {name: curves(rows, name, "value") for name in true}
    for name, period in {"bumper": 16, "sole": 10, "pad": 5}.items():
        assert np.isnan(values[name][:period]).all()
        assert not np.isnan(values[name][period:]).any()
        held = np.arange(period, steps + 1) // period * period
        np.testing.assert_array_equal(values[name][period:], values[name][held])
    sampled = np.arange(5, steps + 1, 5)
    np.testing.assert_allclose(values["pad"][sampled], np.round(pad[sampled], 1), atol=1e-9)
    sampled = np.arange(16, steps + 1, 16)
    np.testing.assert_array_equal(values["bumper"][sampled, 0], bumper[sampled].any(axis=1))
    # A table of ten a newton up to 20 N, with 2 % of noise.
    sampled = np.arange(10, steps + 1, 10)
    exact = 10 * np.clip(-sole[sampled, 0], 0, 20)
    np.testing.assert_allclose(values["sole"][sampled, 0], exact, rtol=0.08)
    assert exact.max() == 200


def test_all_formats_hold_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("touch", "--start", 0.3, "--duration", 0.5)
    rows = read_csv(export(tmp_path / "c.csv", *arguments))
    paths = [tmp_path / name for name in ("c.csv", "c.events.csv", "c.touch.csv", "c.schema.json")]
    contents = ["251 steps", "1 event", "3 touch sensors", "types and units of the columns"]
    expected = [f"{path}: {content}" for path, content in zip(paths, contents, strict=True)]
    assert capsys.readouterr().out.splitlines() == expected
    table = parquet.read_table(export(tmp_path / "c.parquet", *arguments))
    export(tmp_path / "c.npz", *arguments)
    arrays = np.load(tmp_path / "c.npz", allow_pickle=False)
    assert [int(row["step"]) for row in rows] == np.repeat(np.arange(150, 401), 5).tolist()
    assert list(rows[0]) == table.column_names == ["step", "time", "sensor", "component", "value", "force", "found"]
    for name in rows[0]:
        texts, column, array = [row[name] for row in rows], table[name].to_pylist(), arrays[f"touch_{name}"]
        if name == "sensor":
            assert texts == column == array.tolist()
            continue
        numbers = np.array([float(text or "nan") for text in texts])
        np.testing.assert_array_equal(numbers, array)
        np.testing.assert_array_equal(numbers, np.array([np.nan if value is None else value for value in column]))
    assert table.schema.metadata[b"timestep"] == b"0.002"


def test_rerun_has_curves_of_device_and_force(tmp_path: Path) -> None:
    from rerun.chunk import RrdReader

    rows = read_csv(export(tmp_path / "c.csv", "touch", "--duration", 0.8))
    export(tmp_path / "c.rrd", "touch", "--duration", 0.8)
    found: dict[str, dict[int, list[float]]] = {}
    for chunk in RrdReader(tmp_path / "c.rrd").stream():
        batch, entity = chunk.to_record_batch(), str(chunk.entity_path)
        if entity.startswith("/touch/") and not chunk.is_static:
            times = np.array(batch["simulation"].cast("int64")).tolist()
            values = batch["Scalars:scalars"].to_pylist()
            found.setdefault(entity, {}).update(zip(times, values, strict=True))
    assert sorted(found) == [
        f"/touch/{name}/{part}" for name in ("bumper", "pad", "sole") for part in ("force", "value")
    ]
    for entity, curve in found.items():
        _, _, sensor, part = entity.split("/")
        assert list(curve) == [2_000_000 * step for step in range(401)]
        np.testing.assert_array_equal(list(curve.values()), curves(rows, sensor, part))


def test_a_recording_names_the_frame(tmp_path: Path) -> None:
    scene = write_robot(tmp_path / "robot.xml", "type=force site=down table=''")
    arguments = ["record", scene, "-o", tmp_path / "v.mp4", "--size", "64x64", "--fps", 50, "--duration", 0.4]
    assert main([*map(str, arguments), "--data", str(tmp_path / "v.csv")]) == 0
    rows = read_csv(tmp_path / "v.touch.csv")
    frames = {int(row["step"]): row["video_frame"] for row in rows}
    # A frame shows every tenth step.
    assert frames == {step: "" if step % 10 else str(step // 10) for step in range(191)}
    assert float(rows[-1]["force"]) == pytest.approx(49.05, rel=0.01)


def test_mujocos_own_touch_sensors(tmp_path: Path) -> None:
    scene = write_robot(tmp_path / "robot.xml", sensors='<touch name="own" site="sole"/>')
    values = curves(read_csv(export(tmp_path / "c.csv", scene, "--duration", 1)), "own", "value")
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for step in range(501):
        if step:
            mujoco.mj_step(model, data)
        assert values[step] == data.sensordata
    assert values[-1] == pytest.approx([49.05], rel=1e-3)


def test_scenes_without_touch_sensors_have_no_such_table(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    assert not export(tmp_path / "c.csv", scene, "--duration", 0.1).exists()
    export(tmp_path / "c.npz", scene, "--duration", 0.1)
    assert not [name for name in np.load(tmp_path / "c.npz").files if name.startswith("touch")]
    disabled = write_robot(tmp_path / "robot.xml", "site=down period=0")
    assert not export(tmp_path / "d.csv", disabled, "--duration", 0.1).exists()


def test_a_wrong_entry_is_told_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = write_robot(tmp_path / "robot.xml", "type=force site=down", "type=force site=nowhere")
    rows = read_csv(export(tmp_path / "c.csv", scene, "--duration", 0.1))
    assert {row["sensor"] for row in rows} == {"0"}
    assert "no site named 'nowhere'" in capsys.readouterr().err


def test_motrix_has_touch_values_too(tmp_path: Path) -> None:
    scene = write_robot(tmp_path / "robot.xml", "type=force site=down table=''")
    scene.write_text(
        scene.read_text().replace("<sensor>", '<sensor><contact geom1="floor" geom2="foot" data="found"/>')
    )
    rows = read_csv(export(tmp_path / "c.csv", scene, "--engine", "motrix", "--duration", 1))
    assert curves(rows, "0", "value")[-1] == pytest.approx([49.05], rel=1e-3)
    assert curves(rows, "0", "force")[-1] == pytest.approx([49.05], rel=1e-3)
