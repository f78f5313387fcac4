"""Measured data beside a run: files as their own libraries write them, compared, and devices fitted."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.channels.alignment import Curve
from contact_viewer.cli import main
from contact_viewer.scene_files.data_files import read_columns
from contact_viewer.session.saved_run import RunSaver
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

SCENE = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="3 3 .1"/>
  <body name="left_leg" pos="0 .2 .15"><joint name="left" type="slide" axis="0 0 1" damping="8"/>
    <geom name="left_sole" size=".05" mass="1"/><site name="left_site" zaxis="1 0 0" euler="0 90 0"/></body>
  <body name="right_leg" pos="0 -.2 .15"><joint name="right" type="slide" axis="0 0 1" damping="8"/>
    <geom name="right_sole" size=".05" mass="1"/></body>
</worldbody>
<actuator><motor name="left" joint="left"/><motor name="right" joint="right"/></actuator>
<sensor><contact name="left" geom1="floor" geom2="left_sole" data="found force"/>
<contact name="right" geom1="floor" geom2="right_sole" data="found force"/></sensor></mujoco>""".replace(
    'zaxis="1 0 0" ', ""
)
SECONDS, OFFSET, DRIFT = 16.0, -4.321, 1e-4


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Curve]]:
    """A scene, a saved run of two feet that step at irregular times, and the force under each."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "feet.xml").write_text(SCENE)
    session = Session(open_engine(folder / "feet.xml"), ViewState())
    rng = np.random.default_rng(2)
    steps = round(SECONDS / 0.002)
    controls = np.zeros((steps, 2))
    for foot in range(2):
        step = 0
        while step < steps:
            down, up = rng.integers(120, 240, 2)
            controls[step : step + down, foot] = -rng.uniform(20, 60)
            controls[step + down : step + down + up, foot] = rng.uniform(14, 18)
            step += down + up
    times, forces = np.zeros(steps), np.zeros((steps, 2))
    for step in range(steps):
        session.engine.data.ctrl[:] = controls[step]
        session.take_steps(1)
        times[step] = session.engine.time
        for foot, name in enumerate(("left", "right")):
            net = session.engine.contacts(name).net_force
            forces[step, foot] = 0.0 if net is None else np.linalg.norm(net)
    path = RunSaver(session.simulation, folder / "feet.cvrun").write()
    return folder / "feet.xml", path, {name: Curve(times, forces[:, i]) for i, name in enumerate(("left", "right"))}


def measure(forces: dict[str, Curve], period: float, gain: float = 2.0, bias: float = 20.0) -> dict[str, Any]:
    """What a robot records: times of its own clock, and raw values of both feet."""
    rng = np.random.default_rng(7)
    times = np.arange(0.1, SECONDS - 0.1, period)
    found = {
        name: gain * np.interp(times, *curve) + bias + rng.normal(size=len(times)) for name, curve in forces.items()
    }
    kept = rng.random(len(times)) > 0.03
    return {"time": ((times - OFFSET) / (1 + DRIFT))[kept], **{name: values[kept] for name, values in found.items()}}


def write_csv(path: Path, data: dict[str, Any]) -> dict[str, str]:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time_ms", "left", "right", "note"])
        for row in zip(1e3 * data["time"], data["left"], data["right"], strict=True):
            writer.writerow([*map(repr, map(float, row)), "walk"])
    return {"left": "left", "right": "right"}


def write_parquet(path: Path, data: dict[str, Any]) -> dict[str, str]:
    """As LeRobot has it: lists, and two episodes."""
    import pyarrow
    from pyarrow import parquet

    feet = np.stack([data["left"], data["right"]], axis=1).astype(np.float32)
    count = len(feet)
    table = {
        "timestamp": np.concatenate([data["time"], data["time"][:50]]),
        "episode_index": np.repeat([0, 1], [count, 50]),
        "observation.force": [*feet.tolist(), *feet[:50].tolist()],
    }
    parquet.write_table(pyarrow.table(table), path)
    return {"left": "observation.force[0]", "right": "observation.force[1]"}


def write_npz(path: Path, data: dict[str, Any]) -> dict[str, str]:
    np.savez(path, t=(1e9 * data["time"]).astype(np.int64), force=np.stack([data["left"], data["right"]], axis=1))
    return {"left": "force[0]", "right": "force[1]"}


def write_hdf5(path: Path, data: dict[str, Any]) -> dict[str, str]:
    with h5py.File(path, "w") as file:
        file["time"] = data["time"]
        file["feet/left"], file["feet/right"] = data["left"], data["right"]
        file.attrs["robot"] = "two feet"
    return {"left": "feet/left", "right": "feet/right"}


WRENCH = """std_msgs/Header header
geometry_msgs/Wrench wrench
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""


def write_mcap(path: Path, data: dict[str, Any]) -> dict[str, str]:
    """One foot by a wrench with a stamp, which pushes downwards, the other in an array that has none."""
    writer_library = pytest.importorskip("mcap_ros2.writer")
    with path.open("wb") as file:
        writer = writer_library.Writer(file)
        wrench = writer.register_msgdef("geometry_msgs/msg/WrenchStamped", WRENCH)
        state = writer.register_msgdef("unitree_go/msg/LowState", "float32[2] foot_force\nuint32 tick\n")
        zero = {"x": 0.0, "y": 0.0, "z": 0.0}
        for k, (time, left, right) in enumerate(zip(data["time"], data["left"], data["right"], strict=True)):
            at = round(1e9 * (time + 1000))
            header = {"stamp": {"sec": at // 10**9, "nanosec": at % 10**9}, "frame_id": "foot"}
            message = {"header": header, "wrench": {"force": {**zero, "z": -left}, "torque": zero}}
            # It arrives late: the stamp counts.
            writer.write_message("/ft", wrench, message, log_time=at + 3_000_000, publish_time=at)
            message = {"foot_force": [0.0, right], "tick": k}
            writer.write_message("/lowstate", state, message, log_time=at, publish_time=at)
        writer.finish()
    return {"left": "-/ft.wrench.force.z", "right": "/lowstate.foot_force[1]"}


WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".npz": write_npz, ".hdf5": write_hdf5, ".mcap": write_mcap}


def compare(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main(["compare", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_is_aligned_with_the_run(
    run: tuple[Path, Path, dict[str, Curve]], suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, saved, forces = run
    path = tmp_path / f"data{suffix}"
    write: Callable[[Path, dict[str, Any]], dict[str, str]] = WRITERS[suffix]
    columns = write(path, measure(forces, 0.01))
    names = {column["name"]: column["rate"] for column in compare(capsys, path, "--columns")}
    assert all(rate == pytest.approx(100, rel=0.05) for rate in names.values())
    assert {column.lstrip("-") for column in columns.values()} <= set(names)
    maps = [word for foot, column in columns.items() for word in ("--map", f"{foot}={column}")]
    found = compare(capsys, saved, path, *maps)
    alignment = found["alignment"]
    start = -1000.0 if suffix == ".mcap" else 0.0
    ends = np.array([0.0, SECONDS])
    theirs = alignment["offset"] + (1 + alignment["drift"]) * (ends - start)
    error = theirs - (OFFSET + (1 + DRIFT) * ends)
    assert np.abs(error).max() < 0.01
    assert alignment["method"] == "touchdowns"
    for foot in ("left", "right"):
        assert found["sensors"][foot]["correlation"] > 0.97
    assert found["swapped"] == {}


def test_a_swapped_mapping_is_said(
    run: tuple[Path, Path, dict[str, Curve]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, saved, forces = run
    write_csv(tmp_path / "data.csv", measure(forces, 0.01))
    assert main(["compare", str(saved), str(tmp_path / "data.csv"), "--map", "left=right", "--map", "right=left"]) == 0
    assert "the mapping looks swapped" in capsys.readouterr().out


def test_a_fitted_device_is_written_into_the_scene(
    run: tuple[Path, Path, dict[str, Curve]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, saved, forces = run
    data = tmp_path / "data.csv"
    write_csv(data, measure(forces, 0.02))
    fit = compare(capsys, saved, data, "--map", "left=0.5*left-10", "--fit", "left")["device"]
    assert fit["gain"] == pytest.approx(2.0, rel=0.02)
    assert fit["bias"] == pytest.approx(20.0, rel=0.02)
    assert fit["noise"] == pytest.approx(1.0, rel=0.1)
    assert fit["period"] == pytest.approx(0.02, rel=0.02)
    copy = tmp_path / "feet.xml"
    copy.write_text(scene.read_text())
    before = copy.read_text()
    engine = open_engine(saved)
    controller = tmp_path / "again.py"
    assert engine.log is not None
    np.save(tmp_path / "ctrl.npy", engine.log.values)
    controller.write_text(
        "import numpy as np\nR = np.random.default_rng(0)\n"
        "def control(model, data):\n    data.ctrl[:] = 30 * np.sin(7 * data.time + 5 * np.sin(data.time)) - 15\n"
    )
    arguments = ["--control", str(controller), "--duration", "16"]
    assert main(["export", str(copy), "-o", str(tmp_path / "truth.csv"), *arguments]) == 0
    truth: dict[str, list[tuple[float, float]]] = {"left": [], "right": []}
    with (tmp_path / "truth.csv").open() as file:
        for row in csv.DictReader(file):
            force = [float(row[f"force_{axis}"]) for axis in "xyz"]
            truth[row["sensor"]].append((float(row["time"]), np.nan_to_num(np.linalg.norm(force))))
    curves = {name: Curve(*np.array(values).T) for name, values in truth.items()}
    write_csv(data, {name: values[:700] for name, values in measure(curves, 0.02).items()})
    capsys.readouterr()
    options = ["--map", "left=left", "--fit", "left", "--site", "left_site", "--save", *arguments]
    assert main(["compare", str(copy), str(data), *options]) == 0
    assert "touch sensor written" in capsys.readouterr().out
    after = copy.read_text()
    assert after != before
    assert 'name="touch:left"' in after
    touch = open_engine(copy).touch_sensors
    assert touch is not None
    assert touch["left"].device.get_sampling_period() == pytest.approx(20, rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--map", "lef=left"], "no sensor 'lef'; the scene has: left, right; did you mean left?"),
        (["--map", "left=lft"], "no column 'lft' in the data; did you mean left?"),
        (["--map", "left=left", "--fit", "left", "--save"], "--save needs --site"),
        ([], "give --map SENSOR=COLUMN"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    run: tuple[Path, Path, dict[str, Curve]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    _, saved, forces = run
    write_csv(tmp_path / "data.csv", measure(forces, 0.02))
    assert main(["compare", str(saved), str(tmp_path / "data.csv"), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"left,right\n1,2\n3,4\n", "has no times"),
        ("a.csv", b"", "is empty"),
        ("a.mcap", b"\x89MCAP0\r\nrubbish" * 50, "not an MCAP file, or damaged"),
        ("a.mcap", b"", "not an MCAP file, or damaged"),
        ("a.npz", b"rubbish", "cannot be read"),
        ("a.parquet", b"rubbish", "cannot be read"),
        ("a.hdf5", b"rubbish", "cannot be read"),
        ("a.txt", b"x", "unknown kind of data"),
    ],
)
def test_a_damaged_file_is_one_line(
    tmp_path: Path, name: str, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["compare", str(tmp_path / name), "--columns"]) == 2
    assert message in capsys.readouterr().err


def test_a_recording_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    times = np.arange(20_000) * 0.002
    write_mcap(tmp_path / "whole.mcap", {"time": times, "left": times, "right": times})
    content = (tmp_path / "whole.mcap").read_bytes()
    (tmp_path / "cut.mcap").write_bytes(content[: 2 * len(content) // 3])
    curve = read_columns(tmp_path / "cut.mcap", ["/lowstate.foot_force[1]"])["/lowstate.foot_force[1]"]
    assert 5_000 < len(curve.times) < 20_000
    np.testing.assert_allclose(curve.values, times[: len(curve.values)], rtol=1e-6)
