"""Keyframes that a user makes: exact, saved as one line, undone, copied and pasted."""

import time
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.keyframes import Keyframe
from contact_viewer.settings import Options

from ..scenes import ROBOT


def long_scene(tmp_path: Path) -> Path:
    path = tmp_path / "robot.xml"
    text = ROBOT.format(option="", flag="", actuator="", sensor="")
    comments = "".join(f"  <!-- line {i} -->\n" for i in range(4000))
    path.write_text(text.replace("  <worldbody>", comments + "  <worldbody>"))
    return path


def make_app(path: Path) -> Application:
    app = Application(open_engine(path), Options(scene=path, paused=True))
    app.start()
    app.session.simulation.step(70)
    return app


def state_of(app: Application) -> bytes:
    data = app.session.engine.data
    arrays = (data.qpos, data.qvel, data.act, data.ctrl, data.mocap_pos, data.mocap_quat, np.array([data.time]))
    return b"".join(array.tobytes() for array in arrays)


def test_a_keyframe_is_kept_saved_as_one_line_and_undone(tmp_path: Path) -> None:
    path = long_scene(tmp_path)
    app = make_app(path)
    before, state = path.read_text(), state_of(app)
    app.keyframes.make(app.session, 'on "its" side')
    app.session.simulation.step(30)
    app.keyframes.go_to(app.session, 'on "its" side')
    assert state_of(app) == state
    assert app.session.drive.is_posed
    app.keyframes.save(app.session, 'on "its" side')
    old, new = before.splitlines(), path.read_text().splitlines()
    added = [line for line in new if line not in old]
    assert [line.strip()[:4] for line in added if "keyframe" not in line] == ["<key"]
    assert len(new) - len(old) == 3
    # A second one is one line.
    app.keyframes.make(app.session, "second")
    app.keyframes.save(app.session, "second")
    assert len(path.read_text().splitlines()) - len(new) == 1
    # MuJoCo reads the same numbers, and so does the running scene once it was opened again.
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.key_qpos[0].tobytes() == np.frombuffer(state)[: model.nq].tobytes()
    deadline, session = time.monotonic() + 60, app.session
    while app.session is session:
        assert time.monotonic() < deadline
        app.advance()
        time.sleep(0.01)
    assert 'on "its" side' in app.session.engine.keys
    assert app.keyframes.made == {}
    app.undo()
    assert path.read_text().splitlines() == new
    # What is no longer in the file is kept in the running scene, until that is undone too.
    assert set(app.keyframes.made) == {"second"}
    for _ in range(3):
        app.undo()
    assert path.read_text() == before
    assert app.keyframes.made == {}
    app.close()


def test_undo_takes_back_what_was_done_last(tmp_path: Path) -> None:
    app = make_app(long_scene(tmp_path))
    drive, data = app.session.drive, app.session.engine.data
    place = next(joint.place for joint in drive.joints if joint.size == 1)
    posed = []
    for name, angle in (("first", 0.2), ("second", 0.4)):
        drive.begin("pose")
        drive.set_position(place, [angle])
        app.keyframes.make(app.session, name)
        posed.append(state_of(app))
    app.keyframes.remove("first")
    assert app.undo_stack.last == "remove keyframe first"
    app.undo()
    assert set(app.keyframes.made) == {"first", "second"}
    app.keyframes.go_to(app.session, "first")
    assert state_of(app) == posed[0]
    app.undo()
    assert state_of(app) == posed[1]
    # Going somewhere begins a history; what was posed before is part of the past.
    app.undo()
    assert list(app.keyframes.made) == ["first"]
    app.undo()
    assert app.keyframes.made == {}
    assert app.undo_stack.last is None
    drive.begin("pose")
    drive.set_position(place, [0.9])
    app.keyframes.make(app.session, "third")
    app.undo()
    assert data.qpos[place] == 0.9
    assert app.keyframes.made == {}
    app.undo()
    assert state_of(app) == posed[1]
    # A running scene has steps in between, and keyframes are undone all the same.
    app.keyframes.make(app.session, "fourth")
    app.session.simulation.step(5)
    app.undo()
    assert app.keyframes.made == {}
    app.close()


def test_a_copied_state_is_pasted_as_it_was(tmp_path: Path) -> None:
    app = make_app(long_scene(tmp_path))
    state, key = state_of(app), app.keyframes.state(app.session)
    text, script = key.element(), key.python()
    app.session.simulation.step(100)
    app.keyframes.paste(app.session, text)
    assert state_of(app) == state
    data = mujoco.MjData(app.session.engine.model)
    exec(script, {"data": data})
    assert data.qpos.tobytes() == app.session.engine.data.qpos.tobytes()
    assert data.mocap_pos.tobytes() == app.session.engine.data.mocap_pos.tobytes()
    app.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "no <key> element"),
        ("<body/>", "not <body>"),
        ('<key qpos="1 2"/>', "qpos has 2 numbers"),
        ('<key qpos="a b"/>', "cannot be read"),
        ('<key weight="3"/>', "has no weight"),
    ],
)
def test_what_is_no_keyframe_is_refused_in_one_line(text: str, reason: str) -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(SceneError, match=reason) as caught:
        Keyframe.parse(text, model)
    assert "\n" not in str(caught.value)
