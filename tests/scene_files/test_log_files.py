"""Logs as other programs write them: what is read of them, and what is refused in one line."""

import csv
import json
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import mujoco
import numpy as np
import pytest
from contact_viewer.cli import main
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.state import state_parts
from contact_viewer.mjmodel.state_log import StateLog
from contact_viewer.scene_files.log_files import read_log
from numpy.typing import NDArray

XML = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .2"><freejoint name="root"/><geom name="ball" size=".1"/>
<body pos="0 0 .2"><joint name="hinge" axis="0 1 0"/><geom size=".05"/></body></body></worldbody>
<actuator><motor name="turn" joint="hinge"/><velocity joint="hinge"/></actuator></mujoco>"""
STEPPED = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .05" mass="1"/>
<body pos="0 0 .1"><joint name="hinge" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"
/></body></body></worldbody><actuator><position joint="hinge" kp="3"/><motor joint="hinge"/></actuator></mujoco>"""
ROWS = 5
Array = NDArray[Any]


@pytest.fixture(scope="module")
def model() -> Any:
    return mujoco.MjModel.from_xml_string(XML)


@pytest.fixture(scope="module")
def stepped() -> Any:
    return mujoco.MjModel.from_xml_string(STEPPED)


@pytest.fixture(scope="module")
def run(model: Any) -> dict[str, Array]:
    """A few states, all values different."""
    rng = np.random.default_rng(3)
    return {
        "time": 0.002 * np.arange(ROWS),
        "qpos": rng.normal(size=(ROWS, model.nq)),
        "qvel": rng.normal(size=(ROWS, model.nv)),
        "ctrl": rng.normal(size=(ROWS, model.nu)),
    }


def part(log: StateLog, model: Any, name: str) -> Array:
    """Values of a part of the states in a log."""
    span = state_parts(model)[name]
    return log.values[:, [int(np.flatnonzero(log.columns == place)[0]) for place in range(span.start, span.stop)]]


def check(log: StateLog, model: Any, run: dict[str, Array]) -> None:
    for name, values in run.items():
        assert part(log, model, name).tobytes() == values.reshape(ROWS, -1).tobytes(), name
    assert log.missing == ()


def save(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def table(path: Path, heading: list[str], columns: Array) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows([[repr(float(value)) for value in row] for row in columns])
    return path


def test_arrays_by_their_names(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    check(read_log(save(tmp_path / "a.npz", **run, reward=np.zeros(ROWS)), model), model, run)
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        for name, values in run.items():
            file["infos/" + name if name == "qpos" else name] = values
    check(read_log(tmp_path / "a.hdf5", model), model, run)


def test_states_of_a_rollout(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    states = np.concatenate([run["time"][:, None], run["qpos"], run["qvel"]], axis=1)
    other = states + 1.0
    np.savez(tmp_path / "a.npz", state=np.stack([other, states]), control=np.stack([run["ctrl"] + 1, run["ctrl"]]))
    log = read_log(tmp_path / "a.npz", model, episode=1)
    check(log, model, run)
    assert log.notes == ("run 1 of 2 (--episode)",)
    np.savez(tmp_path / "b.npz", state=states[None, 1:], control=run["ctrl"][None, 1:], initial_state=states[0])
    log = read_log(tmp_path / "b.npz", model)
    assert len(log) == ROWS
    assert part(log, model, "qpos").tobytes() == run["qpos"].tobytes()


def test_demonstrations_of_robomimic(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    states = np.concatenate([run["time"][:, None], run["qpos"], run["qvel"]], axis=1)
    with h5py.File(tmp_path / "d.hdf5", "w") as file:
        for number in (0, 2, 10):
            file[f"data/demo_{number}/states"] = states + number
            file[f"data/demo_{number}/actions"] = np.zeros((ROWS, 7))
    for demo, number in ((None, 0), ("2", 2), ("demo_10", 10)):
        log = read_log(tmp_path / "d.hdf5", model, demo)
        assert part(log, model, "qvel").tobytes() == (run["qvel"] + number).tobytes()
        assert log.missing == ("ctrl",)
        unused = "its actions are not controls of this scene: the states do not follow from them"
        assert log.notes == (f"demo_{number} of 3 (--episode)", unused, "it has no ctrl")
    with pytest.raises(SceneError, match="has no demo_7; it has 3, from demo_0 to demo_10"):
        read_log(tmp_path / "d.hdf5", model, "7")


def test_tables_with_names(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    values = np.concatenate([run["time"][:, None], run["qpos"], run["qvel"], run["ctrl"], np.ones((ROWS, 1))], axis=1)
    positions, speeds = [f"qpos_{k}" for k in range(8)], [f"qvel[{k}]" for k in range(7)]
    plain = table(tmp_path / "a.csv", ["time", *positions, *speeds, "ctrl_0", "ctrl_1", "reward"], values)
    check(read_log(plain, model), model, run)
    named = [f"qpos_root_{k}" for k in range(7)] + ["qpos_hinge"]
    speeds = [f"qvel/root_{k}" for k in range(6)] + ["qvel/hinge"]
    shuffled = ["time", *named, *speeds, "ctrl_turn", "ctrl_1", "reward"]
    order = np.random.default_rng(0).permutation(len(shuffled))
    path = table(tmp_path / "b.csv", [shuffled[place] for place in order], values[:, order])
    check(read_log(path, model), model, run)


def test_runs_one_after_the_other(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    twice = {name: np.concatenate([values, values]) for name, values in run.items()}
    log = read_log(save(tmp_path / "a.npz", **twice), model, "1")
    check(log, model, run)
    assert "run 1 of 2 (--episode)" in log.notes


def test_what_is_missing_is_said(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", qpos=run["qpos"].astype(np.float32))
    log = read_log(tmp_path / "a.npz", model, period=0.05)
    assert log.missing == ("qvel", "ctrl")
    assert log.times.tolist() == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert "single precision" in " ".join(log.notes)
    assert "0.05 s" in " ".join(log.notes)


def simulate(model: Any, rows: int, steps: int, seed: int) -> dict[str, Array]:
    """States of a run that bare MuJoCo takes, a row every few steps, with the controls that lead to the next row."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    data.qpos[2] = 0.06
    kept: dict[str, list[Array]] = {"qpos": [], "qvel": [], "ctrl": []}
    for _ in range(rows):
        data.ctrl[:] = 0.3 * rng.normal(size=model.nu)
        for name, values in kept.items():
            values.append(getattr(data, name).copy())
        mujoco.mj_step(model, data, steps)
    return {name: np.array(values) for name, values in kept.items()}


@pytest.mark.parametrize("steps", [1, 5, 20, 50])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_time_between_rows_is_found_by_trying(stepped: Any, tmp_path: Path, steps: int, kind: type) -> None:
    run: dict[str, Array] = {name: values.astype(kind) for name, values in simulate(stepped, 40, steps, steps).items()}
    log = read_log(save(tmp_path / "a.npz", **run), stepped)
    assert np.diff(log.times) == pytest.approx(steps * 0.002)
    assert any(f"found by trying: {steps} steps" in note for note in log.notes)
    given = read_log(tmp_path / "a.npz", stepped, period=0.03)
    assert np.diff(given.times) == pytest.approx(0.03)


def test_rows_that_do_not_follow_count_as_one_step(model: Any, run: dict[str, Array], tmp_path: Path) -> None:
    log = read_log(save(tmp_path / "a.npz", **{name: run[name] for name in ("qpos", "qvel", "ctrl")}), model)
    assert np.diff(log.times) == pytest.approx(0.002)
    assert "it has no time: a row counts as 0.002 s (--period)" in log.notes


def test_actions_are_controls_only_if_the_states_follow(stepped: Any, tmp_path: Path) -> None:
    run = simulate(stepped, 40, 5, 1)
    states = {"qpos": run["qpos"], "qvel": run["qvel"]}
    log = read_log(save(tmp_path / "a.npz", **states, actions=run["ctrl"]), stepped)
    assert part(log, stepped, "ctrl").tobytes() == run["ctrl"].tobytes()
    assert log.missing == ()
    assert np.diff(log.times) == pytest.approx(0.01)
    assert "its actions are taken as controls: the states follow from them" in log.notes
    scaled = read_log(save(tmp_path / "b.npz", **states, actions=0.5 * run["ctrl"]), stepped)
    assert scaled.missing == ("ctrl",)
    assert any("its actions are not controls of this scene" in note for note in scaled.notes)


def test_episodes_of_d4rl(stepped: Any, tmp_path: Path) -> None:
    runs = [simulate(stepped, rows, 5, rows) for rows in (30, 20, 25)]
    ends = np.zeros((2, 75), bool)
    ends[0, 29] = ends[1, 49] = True
    with h5py.File(tmp_path / "d.hdf5", "w") as file:
        for name in ("qpos", "qvel"):
            file[f"infos/{name}"] = np.concatenate([run[name] for run in runs]).astype(np.float32)
        file["actions"] = np.concatenate([run["ctrl"] for run in runs]).astype(np.float32)
        file["terminals"], file["timeouts"], file["rewards"] = ends[0], ends[1], np.zeros(75)
    for number, run in enumerate(runs):
        log = read_log(tmp_path / "d.hdf5", stepped, number)
        assert part(log, stepped, "qpos").astype(np.float32).tobytes() == run["qpos"].astype(np.float32).tobytes()
        assert log.missing == ()
        assert np.diff(log.times) == pytest.approx(0.01)
        assert f"run {number} of 3 (--episode)" in log.notes
    with pytest.raises(SceneError, match="has no run '3'; there are: from 0 to 2"):
        read_log(tmp_path / "d.hdf5", stepped, 3)


@pytest.mark.parametrize("name", ["Ant-v5", "Hopper-v5"])
def test_logs_of_gymnasium_need_no_time_and_no_ctrl(name: str, tmp_path: Path) -> None:
    env = gymnasium.make(name)
    env.reset(seed=1)
    env.action_space.seed(1)
    unwrapped: Any = env.unwrapped
    data = unwrapped.data
    kept: dict[str, list[Any]] = {key: [] for key in ("qpos", "qvel", "actions", "terminals")}
    for _ in range(100):
        kept["actions"].append(env.action_space.sample())
        kept["qpos"].append(data.qpos.astype(np.float32))
        kept["qvel"].append(data.qvel.astype(np.float32))
        kept["terminals"].append(env.step(kept["actions"][-1])[2])
        if kept["terminals"][-1]:
            env.reset()
    env.close()
    model = mujoco.MjModel.from_xml_path(unwrapped.fullpath)
    log = read_log(save(tmp_path / "a.npz", **{key: np.array(rows) for key, rows in kept.items()}), model)
    assert log.missing == ()
    assert np.diff(log.times) == pytest.approx(unwrapped.dt)


def test_episodes_of_minari(stepped: Any, tmp_path: Path) -> None:
    """A state more than there are actions, as Minari writes them."""
    runs = [simulate(stepped, 31, 5, seed) for seed in (1, 2)]
    with h5py.File(tmp_path / "main_data.hdf5", "w") as file:
        for number, run in enumerate(runs):
            for name in ("qpos", "qvel"):
                file[f"episode_{number}/infos/{name}"] = run[name]
            file[f"episode_{number}/actions"] = run["ctrl"][:-1]
            file[f"episode_{number}/terminations"] = np.zeros(30, bool)
    log = read_log(tmp_path / "main_data.hdf5", stepped, 1)
    assert part(log, stepped, "qpos").tobytes() == runs[1]["qpos"].tobytes()
    assert part(log, stepped, "ctrl")[:-1].tobytes() == runs[1]["ctrl"][:-1].tobytes()
    assert "episode_1 of 2 (--episode)" in log.notes


def test_a_log_of_robosuite_opens_on_the_scene_that_it_holds(
    stepped: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = simulate(stepped, 200, 1, 3)
    times = 0.002 * np.arange(200)[:, None]
    with h5py.File(tmp_path / "demos.hdf5", "w") as file:
        file["data/demo_1/states"] = np.concatenate([times, run["qpos"], run["qvel"]], axis=1)
        file["data/demo_1/actions"] = run["ctrl"]
        file["data/demo_1"].attrs["model_file"] = STEPPED
        file["data/demo_2/states"] = np.zeros((3, 16))
    assert main(["events", str(tmp_path / "demos.hdf5"), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)
    assert "its actions are taken as controls" in said.err
    assert main(["events", str(tmp_path / "demos.hdf5"), "--episode", "2"]) == 2
    assert "holds no scene (model_file): name one" in capsys.readouterr().err


def test_bad_logs_are_one_line_and_exit_code_2(
    model: Any, run: dict[str, Array], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(XML)

    def npz(name: str, **changes: Any) -> Path:
        np.savez(tmp_path / name, **{**run, **changes})
        return tmp_path / name

    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    folder = tmp_path / "folder.npz"
    folder.mkdir()
    broken = run["qpos"].copy()
    broken[3, 1] = np.nan
    whole = npz("whole.npz").read_bytes()
    with h5py.File(tmp_path / "whole.hdf5", "w") as file:
        file["data/demo_0/states"] = np.zeros((400, 16))
    heading = "time," + ",".join(f"qpos_{k}" for k in range(8))
    cases = {
        "qpos has 9 values a row; this scene has 8": npz("wide.npz", qpos=np.zeros((ROWS, 9))),
        "state has 23 values a row; this scene has 16": npz("states.npz", state=np.zeros((ROWS, 23))),
        "qpos has a value that is not a number, in row 3": npz("nan.npz", qpos=broken),
        "ctrl has 3 rows, and qpos 5": npz("rows.npz", ctrl=run["ctrl"][:3]),
        "holds pickled Python objects, which are never loaded": npz("pickled.npz", qpos=np.array([{}], object)),
        "qpos is not made of numbers": npz("texts.npz", qpos=np.array([["a"] * 8] * ROWS)),
        "damaged, cut off, or of another kind": written("cut.npz", whole[: len(whole) // 2]),
        "of another kind": written("text.npz", b"no archive"),
        "it is damaged": written("cut.hdf5", (tmp_path / "whole.hdf5").read_bytes()[:3000]),
        "no such file": tmp_path / "none.npz",
        "unknown kind of log": written("log.bag", b""),
        "is a folder": folder,
        "has no column qpos_7": written("few.csv", f"{heading.removesuffix(',qpos_7')}\n".encode()),
        "nothing for the column 'qpos_8'": written("many.csv", f"{heading},qpos_8\n".encode()),
        "is it cut off?": written("cut.csv", f"{heading}\n{','.join('0' * 9)}\n0,0".encode()),
        "has a value that is not a number": written("words.csv", f"{heading}\n{','.join('x' * 9)}\n".encode()),
        "has no rows": written("empty.csv", f"{heading}\n".encode()),
        "has no columns qpos_0": written("other.csv", b"a,b\n1,2\n"),
    }
    np.savez(tmp_path / "empty.npz", reward=np.zeros(3))
    cases["has no states"] = tmp_path / "empty.npz"
    for words, path in cases.items():
        assert main(["events", str(scene), "--log", str(path)]) == 2, words
        said = capsys.readouterr().err.strip()
        assert words in said, (words, said)
        assert "\n" not in said
    for more, words in {
        ("--episode", "0"): "--episode needs a log",
        ("--log", str(tmp_path / "whole.npz"), "--engine", "motrix"): "is shown by MuJoCo",
        ("--log", str(tmp_path / "whole.npz"), "--demo", "4"): "has no run '4'",
        ("--log", str(tmp_path / "whole.npz"), "--key", "0"): "leave out --key",
    }.items():
        assert main(["events", str(scene), *more]) == 2
        assert words in capsys.readouterr().err
