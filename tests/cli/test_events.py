"""The events command: what it lists, writes and refuses."""

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import mujoco
import pytest
from contact_viewer.cli import main

DROP = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="ball" pos="0 0 1.1"><freejoint/><geom name="ball" size=".1" solref=".004 .1"/></body>
    <body name="other" pos="1 0 2"><freejoint/><geom name="other" size=".1"/></body>
  </worldbody>
  <keyframe><key name="low" qpos="0 0 .3 1 0 0 0 1 0 2 1 0 0 0"/></keyframe>
</mujoco>
"""


def euler_root(height: float) -> float:
    """The discrete fall in closed form: x after n steps is g h^2 n (n + 1) / 2, and a last step is cut short."""
    n = math.floor((math.sqrt(1 + 8 * height / (9.81 * 0.002**2)) - 1) / 2)
    left, speed = height - 9.81 * 0.002**2 * n * (n + 1) / 2, 9.81 * n * 0.002
    return n * 0.002 + (-speed + math.sqrt(speed**2 + 4 * 9.81 * left)) / (2 * 9.81)


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    path = tmp_path / "drop.xml"
    path.write_text(DROP.format(integrator="Euler"))
    return path


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["events", *arguments, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_a_table_by_default(drop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", str(drop), "--duration", "0.6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["time", "[s]", "event", "pair", "speed", "[m/s]", "peak", "[N]", "duration", "[s]"]
    time, kind, *names, speed, _ = lines[1].split()
    assert float(time) == pytest.approx(euler_root(1.0), abs=1e-6)
    assert (kind, names) == ("begin", ["floor", "×", "ball"])
    assert float(speed) == pytest.approx(math.sqrt(2 * 9.81), rel=1e-3)
    assert lines[2].split()[1] == "end"


@pytest.mark.parametrize(("integrator", "precise"), [("Euler", False), ("Euler", True), ("RK4", False), ("RK4", True)])
def test_a_ball_dropped_from_a_metre(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], integrator: str, precise: bool
) -> None:
    path = tmp_path / "drop.xml"
    path.write_text(DROP.format(integrator=integrator))
    first = listed(capsys, str(path), "--duration", "0.6", *["--precise"] * precise)[0]
    root = math.sqrt(2 / 9.81) if integrator == "RK4" else euler_root(1.0)
    assert first["time"] == pytest.approx(root, abs=1e-9)
    assert first["geoms"] == ["floor", "ball"]
    assert first["kind"] == "begin"
    assert first["approach_speed"] == -first["normal_velocity"] == pytest.approx(math.sqrt(2 * 9.81), rel=1e-3)
    assert abs(first["distance"]) < 1e-12
    assert first["duration"] == 0


def test_events_end_with_the_duration(drop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = listed(capsys, str(drop), "--duration", "2")
    times = [record["time"] for record in everything]
    assert len(times) > 6
    for end in (times[0], times[0] - 1e-4, times[2] + 1e-4, 1.0):
        part = listed(capsys, str(drop), "--duration", str(end))
        assert [record["time"] for record in part] == [time for time in times if time <= end]
    assert listed(capsys, str(drop), "--duration", "0") == []
    assert listed(capsys, str(drop)) == listed(capsys, str(drop), "--duration", "10")


def test_pairs_can_be_chosen(drop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = (str(drop), "--duration", "1")
    everything = {tuple(record["geoms"]) for record in listed(capsys, *run, "--all")}
    assert everything == {("floor", "ball"), ("floor", "other")}
    assert {tuple(record["geoms"]) for record in listed(capsys, *run, "--pair", "other,floor")} == {("other", "floor")}
    assert {tuple(record["geoms"]) for record in listed(capsys, *run, "--body", "ball")} == {("ball", "floor")}
    both = listed(capsys, *run, "--pair", "ball,floor", "--pair", "other,floor")
    assert {record["pair_id"] for record in both} == {0, 1}


def test_a_keyframe_and_a_wider_band(drop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    low = listed(capsys, str(drop), "--duration", "0.3", "--key", "low", "--pair", "ball,floor")
    assert low[0]["time"] == pytest.approx(math.sqrt(2 * 0.2 / 9.81), abs=0.002)
    fine = listed(capsys, str(drop), "--duration", "3", "--pair", "ball,floor")
    coarse = listed(capsys, str(drop), "--duration", "3", "--eps", "1e-3", "--pair", "ball,floor")
    assert 0 < len(coarse) < len(fine)


def test_files(drop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = listed(capsys, str(drop), "--duration", "1")
    for name in ("events.json", "events.csv"):
        assert main(["events", str(drop), "--duration", "1", "-o", str(tmp_path / name)]) == 0
        assert f"{len(records)} events" in capsys.readouterr().out
    assert json.loads((tmp_path / "events.json").read_text()) == records
    rows = list(csv.DictReader((tmp_path / "events.csv").read_text().splitlines()))
    assert [float(row["time"]) for row in rows] == [record["time"] for record in records]
    assert [(row["geom1"], row["geom2"], row["kind"]) for row in rows] == [
        (*record["geoms"], record["kind"]) for record in records
    ]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_nothing_happens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rest.xml"
    path.write_text('<mujoco><worldbody><geom type="plane" size="1 1 .1"/></worldbody></mujoco>')
    assert main(["events", str(path), "--duration", "0.1"]) == 0
    assert "no contact of 0 pairs began or ended" in capsys.readouterr().out


def test_an_engine_that_does_not_know_what_slides_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("motrixsim")
    assert main(["events", "slope", "--duration", "0.1", "--engine", "motrix"]) == 0
    assert "slips and creep are not known: " in capsys.readouterr().err
    assert main(["events", "slope", "--duration", "0.1"]) == 0
    assert "not known" not in capsys.readouterr().err


def test_a_simulation_that_diverges_keeps_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wild.xml"
    path.write_text("""
        <mujoco>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 .15"><freejoint/><geom name="ball" size=".1"/></body>
            <body pos="3 0 5">
              <joint type="slide" axis="0 0 1" stiffness="-1e3" springref="-.1"/><geom size=".1" mass=".1"/>
            </body>
          </worldbody>
        </mujoco>""")
    assert main(["events", str(path), "--duration", "20", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["geoms"] == ["floor", "ball"]
    assert "unstable" in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bounce", "--duration", "-1"], "between"),
        (["bounce", "--duration", "1", "--eps", "0"], "between"),
        (["bounce", "--duration", "1", "--pair", "slab"], "two names"),
        (["bounce", "--duration", "1", "--pair", "slab,nobody"], "no geom or body named 'nobody'"),
        (["bounce", "--duration", "1", "--body", "nobody"], "no body named 'nobody'"),
        (["bounce", "--duration", "1", "--key", "nobody"], "no keyframe"),
        (["bounce", "--duration", "1", "-o", "events.txt"], "unknown suffix"),
        (["bounce", "--duration", "1", "-o", "/nowhere/events.csv"], "no folder"),
        (["bounce", "--duration", "1", "--all", "--body", "soft"], "not allowed"),
        (["bounce", "--duration", "1", "--precise", "--engine", "motrix"], "MuJoCo"),
        (["nothing.xml", "--duration", "1"], "no such file"),
    ],
)
def test_bad_arguments_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert words in captured.err


def test_contacts_of_flexes_are_said_to_make_no_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cloth.xml"
    path.write_text("""
    <mujoco><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
      <flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass=".3" pos="0 0 .05">
        <edge equality="true"/></flexcomp></worldbody></mujoco>""")
    assert main(["events", str(path), "--duration", "0.2"]) == 0
    told = capsys.readouterr()
    assert "contacts of flex cloth make no events of pairs" in told.err
    assert main(["export", str(path), "--duration", "0.01", "-o", str(tmp_path / "cloth.csv")]) == 0
    assert "contacts of flex cloth make no events of pairs" in capsys.readouterr().err


def test_modia_begins_a_contact_where_the_band_is_passed(drop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = (str(drop), "--duration", "0.5", "--eps", "1e-4", "--pair", "floor,ball")
    (ours, *_), (theirs, *_) = listed(capsys, *options), listed(capsys, *options, "--rule", "modia")
    assert (ours["kind"], theirs["kind"]) == ("begin", "begin")
    assert (ours["distance"], theirs["distance"]) == (0.0, -2e-4)
    assert theirs["time"] - ours["time"] == pytest.approx(2e-4 / ours["approach_speed"], rel=1e-2)
    assert main(["events", *options, "--rule", "other"]) == 2
    assert "choose from surface, modia" in capsys.readouterr().err.replace("'", "")


UNEVEN = """<mujoco><option {option}/><worldbody>
<body pos="-.06 0 .5"><joint type="slide" axis="1 0 0" name="left"/>
  <geom name="left" type="box" size=".01 .02 .02" mass="2"/></body>
<body pos=".06 0 .5"><joint type="slide" axis="-1 0 0" name="right"/>
  <geom name="right" type="box" size=".01 .02 .02" mass=".05"/></body>
<body name="box" pos="0 0 .5"><freejoint/><geom name="box" type="box" size=".05 .03 .03" mass=".5"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator><keyframe><key ctrl="30 30"/></keyframe></mujoco>"""


def test_what_an_uneven_grip_takes_is_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "uneven.xml"
    scene.write_text(UNEVEN.format(option=""), encoding="utf-8")
    assert main(["events", str(scene), "--key", "0", "--duration", "4", "--why"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^left × box +creep +1 +\d+\.\d+", out, re.MULTILINE), "the table of the run"
    (tried,) = re.findall(r'tried: cone="elliptic" impratio="(\S+)" gives', out)
    model = mujoco.MjModel.from_xml_string(UNEVEN.format(option=f'cone="elliptic" impratio="{tried}"'))
    data, heights = mujoco.MjData(model), []
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(2000):
        mujoco.mj_step(model, data)
        heights.append(data.body("box").xpos[2])
    assert (heights[1000] - heights[-1]) / (999 * 0.002) == pytest.approx(1e-5, rel=0.2)
