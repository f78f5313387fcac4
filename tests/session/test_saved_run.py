"""A saved run shows the same steps, bit for bit, in another process."""

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.controller import as_controller
from contact_viewer.engines.logged_steps import LoggedSteps
from contact_viewer.engines.steps import Step
from contact_viewer.errors import LogEnd, SceneError
from contact_viewer.session.history import History
from contact_viewer.session.saved_run import RunSaver
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import LogSteps
from contact_viewer.settings import Options, ViewState
from numpy.typing import NDArray

Array = NDArray[Any]
READ = """
import hashlib, json, sys
from pathlib import Path
from contact_viewer import open_engine
from contact_viewer.errors import LogEnd
from contact_viewer.session.simulation import Simulation

simulation = Simulation(open_engine(Path(sys.argv[1])))
engine, prints = simulation.shown, []

class Look:
    def after_step(self, step):
        engine, data = step.engine, step.engine.data
        seen = [data.qpos, data.qvel, data.sensordata, data.contact.pos, data.efc_force]
        seen += [engine.contacts(name).force for name in engine.sensors.names]
        prints.append(hashlib.sha256(b"".join(array.tobytes() for array in seen)).hexdigest())
    def after_reset(self, engine):
        pass

simulation.observers.append(Look())
try:
    simulation.step(10**6)
except LogEnd:
    pass
print(json.dumps({"prints": prints, "words": simulation.source.recorded.summary(), "notes": engine.notes}))
"""


class Look:
    """Fingerprints of all that a step shows."""

    def __init__(self) -> None:
        self.prints: list[str] = []

    def after_step(self, step: Step) -> None:
        engine, data = step.engine, step.engine.data
        seen: list[Any] = [data.qpos, data.qvel, data.sensordata, data.contact.pos, data.efc_force]
        seen += [engine.contacts(name).force for name in engine.sensors.names]
        self.prints.append(hashlib.sha256(b"".join(array.tobytes() for array in seen)).hexdigest())

    def after_reset(self, engine: Engine) -> None:
        """Nothing."""


def read_elsewhere(path: Path) -> Any:
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shake(model: Any, data: Any) -> None:
    data.ctrl[:] = np.sin(40 * data.time + np.arange(model.nu)) * model.actuator_ctrlrange[:, 1]


def kept(session: Session) -> History:
    assert session.history is not None
    return session.history


def logged(session: Session) -> LoggedSteps:
    assert isinstance(session.source, LogSteps)
    return session.source.recorded


def row(session: Session, step: int) -> bytes:
    """What the sensors said after a step."""
    return kept(session).row(step).tobytes()


def play_to_the_end(session: Session) -> None:
    with pytest.raises(LogEnd):
        session.simulation.step(10**6)


@pytest.mark.parametrize("scene", ["gripper", "pile"])
def test_another_process_takes_the_same_steps_bit_for_bit(scene: str, tmp_path: Path) -> None:
    engine = open_engine(scene)
    if engine.model.nu:
        engine.controller = as_controller(shake)
    session, look = Session(engine, ViewState()), Look()
    session.simulation.observers.append(look)
    session.simulation.step(300)
    path = RunSaver(session.simulation, tmp_path / "run.cvrun").write()
    read = read_elsewhere(path)
    assert read["words"] == "all 300 steps are exact"
    assert read["prints"] == look.prints


def test_what_a_hand_changed_between_steps_is_in_the_run(tmp_path: Path) -> None:
    session = Session(open_engine("quadruped"), ViewState())
    simulation, data = session.simulation, session.engine.data
    simulation.step(40)
    data.qpos[2] += 0.1
    simulation.step(30)
    data.xfrc_applied[1, 2] = 50.0
    simulation.step(30)
    session.go_to(80)
    data.ctrl[:] = 0.3
    simulation.step(50)
    history = kept(session)
    rows = [row(session, step) for step in range(history.last + 1)]
    path = RunSaver(simulation, tmp_path / "run.cvrun").write()
    again = Session(open_engine(path), ViewState())
    play_to_the_end(again)
    assert logged(again).summary() == f"all {history.last} steps are exact"
    assert [row(again, step) for step in range(kept(again).last + 1)] == rows
    for step in (0, 39, 40, 41, 77, 110):
        assert kept(again).go_to(step)
        history.go_to(step)
        assert again.engine.data.qpos.tobytes() == data.qpos.tobytes()
        assert again.engine.time == session.engine.time


def test_a_run_whose_oldest_steps_are_forgotten(tmp_path: Path) -> None:
    session = Session(open_engine("quadruped"), ViewState(history_megabytes=1.0))
    session.simulation.step(5000)
    history = kept(session)
    assert history.first > 100
    path = RunSaver(session.simulation, tmp_path / "run.cvrun").write()
    again = Session(open_engine(path), ViewState())
    play_to_the_end(again)
    assert logged(again).exactness.first is None
    assert row(again, kept(again).last) == row(session, history.last)
    assert again.engine.time == session.engine.time


def test_a_pushed_run_whose_oldest_steps_are_forgotten(tmp_path: Path) -> None:
    """With a state at every step, those run out first, and the oldest step that is left has one of its own."""

    def push(model: Any, data: Any) -> None:
        data.xfrc_applied[1, :3] = 5 * np.sin(40 * data.time + np.arange(3))

    session = Session(open_engine("quadruped", control=push), ViewState(history_megabytes=1.0))
    session.simulation.step(1500)
    history = kept(session)
    assert history.first > 100
    path = RunSaver(session.simulation, tmp_path / "run.cvrun").write()
    again = Session(open_engine(path), ViewState())
    play_to_the_end(again)
    assert logged(again).summary() == f"all {history.last - history.first + 1} steps are exact"
    assert row(again, kept(again).last) == row(session, history.last)


def test_a_run_of_a_run_has_its_steps_and_its_sources(tmp_path: Path) -> None:
    session = Session(open_engine("gripper"), ViewState())
    session.simulation.step(100)
    first = RunSaver(session.simulation, tmp_path / "a.cvrun").write()
    again = Session(open_engine(first), ViewState())
    play_to_the_end(again)
    second = RunSaver(again.simulation, tmp_path / "b.cvrun").write()
    with np.load(first) as a, np.load(second) as b:
        assert a["states_0"].tobytes() == b["states_0"].tobytes()
        assert a["source_0"].tobytes() == b["source_0"].tobytes()


def rewritten(path: Path, **changes: Callable[[Array], Array]) -> Path:
    """A copy of a run with other arrays."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    target = path.with_name("changed.cvrun")
    with target.open("wb") as stream:
        np.savez(stream, **arrays)
    return target


@pytest.fixture
def run(tmp_path: Path) -> Path:
    session = Session(open_engine("gripper"), ViewState())
    session.simulation.step(60)
    return RunSaver(session.simulation, tmp_path / "run.cvrun").write()


def test_another_version_of_mujoco_is_reported_and_its_model_compiled_again(run: Path) -> None:
    older = rewritten(run, about=lambda text: np.array(str(text).replace(mujoco.__version__, "3.1.4")))
    engine = open_engine(older)
    assert any("saved with MuJoCo 3.1.4" in note and mujoco.__version__ in note for note in engine.notes)
    session = Session(engine, ViewState())
    play_to_the_end(session)
    assert logged(session).summary() == "all 60 steps are exact"


def test_the_first_step_that_differs_is_named(run: Path) -> None:
    def heavier(source: Array) -> Array:
        return np.frombuffer(source.tobytes().replace(b"</mujoco>", b'<option gravity="0 0 -9.9"/></mujoco>'), np.uint8)

    def older(text: Array) -> Array:
        return np.array(str(text).replace(mujoco.__version__, "3.1.4"))

    def nudged(states: Array) -> Array:
        states[30:, 3] += 1e-9
        return states

    session = Session(open_engine(rewritten(run, states_0=nudged)), ViewState())
    play_to_the_end(session)
    assert "the first that is not exact is step 30, at 0.06 s" in logged(session).summary()
    session = Session(open_engine(rewritten(run, about=older, source_0=heavier)), ViewState())
    play_to_the_end(session)
    assert logged(session).exactness.first == 1
    assert "the first" in logged(session).summary()


def without(path: Path, name: str) -> Path:
    target = path.with_name("short.cvrun")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.namelist():
            if entry != name:
                new.writestr(entry, old.read(entry))
    return target


def test_damaged_runs_are_one_line(run: Path, tmp_path: Path) -> None:
    other = Session(open_engine("pile"), ViewState())
    other.simulation.step(2)
    with np.load(RunSaver(other.simulation, tmp_path / "pile.cvrun").write()) as file:
        model = file["model"]
    pickled = tmp_path / "pickled.cvrun"
    with pickled.open("wb") as stream:
        np.savez(stream, about=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    cut = tmp_path / "cut.cvrun"
    cut.write_bytes(run.read_bytes()[:-2000])
    text = tmp_path / "text.cvrun"
    text.write_text("<mujoco/>")
    plain = tmp_path / "plain.cvrun"
    with plain.open("wb") as stream:
        np.save(stream, np.zeros(3))

    def with_nan(states: Array) -> Array:
        states[7, 2] = np.nan
        return states

    cases = {
        "holds pickled Python objects, which are never loaded": lambda: pickled,
        "cannot be read: it is damaged, cut off": lambda: cut,
        "of another kind": lambda: text,
        "damaged, cut off, or of another kind": lambda: plain,
        "not a saved run": lambda: rewritten(run, about=lambda _: np.array("[]")),
        "not numbers": lambda: rewritten(run, states_0=with_nan),
        "do not fit each other": lambda: rewritten(run, states_0=lambda states: states[:, :-1]),
        "its sensors are not those of its model": lambda: rewritten(run, model=lambda _: model),
        "its columns are not those of a state": lambda: rewritten(run, columns=lambda columns: columns + 1),
        "time runs backwards": lambda: rewritten(run, states_0=lambda states: states[::-1]),
        "cannot be read": lambda: without(run, "model.npy"),
        "damaged compiled model": lambda: rewritten(run, model=lambda model: model[:-100]),
        "this one cannot read": lambda: rewritten(
            run, about=lambda about: np.array(str(about).replace('"format": 1', '"format": 9'))
        ),
    }
    for words, make in cases.items():
        with pytest.raises(SceneError) as caught:
            open_engine(make())
        assert words in str(caught.value), (words, str(caught.value))
        assert "\n" not in str(caught.value)


def test_what_a_run_cannot_be_combined_with(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="no other engine"):
        open_engine(run, "motrix")
    with pytest.raises(SceneError, match="one environment"):
        open_engine(run, num_envs=3)
    with pytest.raises(SceneError, match="its own controls"):
        open_engine(run, control=shake)
    with pytest.raises(SceneError, match="leave out --key"):
        Session(open_engine(run), ViewState(), Options(run, key="0"))
    many = Session(open_engine("gripper", num_envs=2), ViewState())
    with pytest.raises(SceneError, match="one environment"):
        RunSaver(many.simulation, tmp_path / "b.cvrun")
    with pytest.raises(SceneError, match="a run is saved as"):
        RunSaver(Session(open_engine("gripper"), ViewState()).simulation, tmp_path / "b.npz")
