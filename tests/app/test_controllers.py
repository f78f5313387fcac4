"""An application whose scene a controller drives: reading it again, errors, other scenes."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.app.application import Application
from contact_viewer.app.controllers import Controllers
from contact_viewer.engines.registry import open_engines
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Options

from ..scenes import ARM

GOOD = "LEVEL = {level}\ncalls = 0\n\ndef control(model, data):\n    data.ctrl[0] = LEVEL\n"


class Rig:
    """An application on an arm with a controller."""

    def __init__(self, folder: Path, text: str, engine: str = "mujoco") -> None:
        self.scene, self.file = folder / "arm.xml", folder / "steer.py"
        self.scene.write_text(ARM)
        self.file.write_text(text)
        options = Options(scene=self.scene, control=str(self.file), engine=engine)
        controllers = Controllers(options)
        engine_, *beside = open_engines(self.scene, engine, 1, *controllers.load())
        self.app = Application(engine_, options, beside, controllers)
        self.app.start()

    @property
    def notices(self) -> list[str]:
        return [notice.text for notice in self.app.notices.items]

    @property
    def angle(self) -> float:
        return float(self.app.session.engine.data.qpos[0])

    def until(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.notices
            self.app.advance()
            time.sleep(0.005)

    def save(self, text: str) -> None:
        self.file.write_text(text)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path, GOOD.format(level=0.6))
    yield rig
    rig.app.close()


def test_a_saved_controller_is_read_again_and_a_broken_one_is_not(rig: Rig) -> None:
    rig.until(lambda: rig.angle > 0.55)
    at = rig.app.session.engine.time
    rig.save("def control(model, data)\n    data.ctrl[0] = 0.2\n")
    rig.until(lambda: any("line 1: SyntaxError" in text for text in rig.notices))
    assert len(rig.notices) == 1
    before = rig.app.session.engine.time
    rig.until(lambda: rig.app.session.engine.time > before + 0.05)
    assert rig.angle > 0.55
    assert not rig.app.session.paused
    rig.save(GOOD.format(level=-0.2))
    rig.until(lambda: rig.angle < 0)
    assert rig.app.session.engine.time > at
    assert any(text.startswith("reloaded ") for text in rig.notices)


def test_an_exception_pauses_with_one_notice_and_a_mended_file_goes_on(rig: Rig) -> None:
    rig.until(lambda: rig.app.session.engine.time > 0.05)
    rig.save("def control(model, data):\n    if data.time > 0.2:\n        data.ctrl[3] = 1\n")
    session = rig.app.session
    rig.until(lambda: session.paused)
    errors = [text for text in rig.notices if "steer.py, line 3: IndexError" in text]
    assert len(errors) == 1
    at = session.engine.time
    assert at >= 0.2
    session.toggle_paused()
    rig.until(lambda: session.paused)
    assert session.engine.time == at
    assert len([text for text in rig.notices if "IndexError" in text]) == 1
    rig.save(GOOD.format(level=0.5))
    rig.until(lambda: not any("IndexError" in text for text in rig.notices))
    session.toggle_paused()
    rig.until(lambda: session.engine.time > at + 0.05)


def test_a_scene_that_is_read_again_keeps_its_controller(rig: Rig) -> None:
    rig.until(lambda: rig.app.session.engine.time > 0.1)
    before = rig.app.session
    rig.scene.write_text(ARM.replace('damping=".5"', 'damping=".6"'))
    rig.until(lambda: rig.app.session is not before)
    assert rig.app.session.engine.time > 0.1
    assert rig.app.session.engine.model.dof_damping[0] == 0.6
    rig.save(GOOD.format(level=-0.3))
    rig.until(lambda: rig.angle < -0.1)
    # Another scene has other actuators.
    rig.app.open_scene("bounce")
    rig.until(lambda: rig.app.session.engine.path != rig.scene)
    assert rig.app.session.simulation.engine.controller is None
    rig.app.advance()
    assert any("another scene" in text for text in rig.notices)
    # A bundled one may have a controller beside it.
    rig.app.open_scene("walker")
    rig.until(lambda: rig.app.session.engine.path == find_scene("walker"))
    file = rig.app.controllers.file
    assert file is not None
    assert file.path.name == "walker.py"
    turn = rig.app.session.engine.data.joint("turn")
    rig.until(lambda: turn.qpos[0] > 0.1)
    rig.app.controllers.set_constant("STEP", -0.09)
    rig.app.session.simulation.step(500)
    assert turn.qpos[0] < 0.1


def test_a_second_engine_that_is_chosen_later_is_driven_too(rig: Rig) -> None:
    before = rig.app.session
    rig.app.switch_engine("both")
    rig.until(lambda: rig.app.session is not before)
    session = rig.app.session
    (ghost,) = session.beside
    session.simulation.step(400)
    assert ghost.engine.data.qpos[0] == pytest.approx(0.6, abs=0.1)
    # Stopped, neither is driven; what sliders say stays.
    rig.app.controllers.set_drives(False, session.engines)
    session.drive.set_controls({0: 0.1})
    session.simulation.step(600)
    for engine in session.engines:
        assert engine.data.qpos[0] == pytest.approx(0.1, abs=0.1)
    rig.save(GOOD.format(level=-0.4))
    rig.until(lambda: any(text.startswith("reloaded ") for text in rig.notices))
    assert session.engine.data.ctrl[0] == 0.1
    rig.app.controllers.set_drives(True, session.engines)
    session.simulation.step(600)
    assert ghost.engine.data.ctrl[0] == session.engine.data.ctrl[0] == -0.4


def test_a_second_engine_is_driven_along_with_a_state_of_its_own(tmp_path: Path) -> None:
    text = "t = 0.0\ndef control(model, data):\n    global t\n    t += 1\n    data.ctrl[0] = 0.001 * t\n"
    rig = Rig(tmp_path, text, "both")
    session = rig.app.session
    session.simulation.step(300)
    (ghost,) = session.beside
    assert session.engine.data.ctrl[0] == ghost.engine.data.ctrl[0] == pytest.approx(0.3)
    rig.app.close()


def test_a_controller_that_is_too_slow_for_real_time_is_named(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "import time\ndef control(model, data):\n    time.sleep(0.003)\n")
    rig.until(lambda: any("too long for real time" in text for text in rig.notices), 60)
    text = next(text for text in rig.notices if "too long" in text)
    assert text.startswith("the controller takes ")
    assert "for a step of 2 ms" in text
    rig.app.close()


def test_sliders_drive_a_second_engine_too(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    app = Application(*_both(path))
    session = app.session
    (ghost,) = session.beside
    session.drive.set_controls({0: 0.7})
    session.simulation.step(800)
    assert session.engine.data.qpos[0] == pytest.approx(ghost.engine.data.qpos[0], abs=0.02)
    assert ghost.engine.data.qpos[0] > 0.65
    app.close()


def _both(path: Path) -> tuple[Any, Options, Any]:
    engine, *beside = open_engines(path, "both")
    return engine, Options(scene=path, engine="both"), beside
