"""Robots by name, from the package robot_descriptions, which downloads them: here a package of the same form."""

import sys
from pathlib import Path

import pytest
from contact_viewer import SceneError
from contact_viewer.scene_files.scene import find_scene


@pytest.fixture
def robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a robot, of which a package of that name tells the path; another one cannot be downloaded."""
    package = tmp_path / "packages" / "robot_descriptions"
    package.mkdir(parents=True)
    folder = tmp_path / "unitree_go2"
    folder.mkdir()
    for name in ("go2.xml", "scene.xml"):
        (folder / name).write_text("<mujoco/>")
    (package / "__init__.py").write_text("")
    (package / "go2_mj_description.py").write_text(f"MJCF_PATH = {str(folder / 'go2.xml')!r}")
    (package / "h1_mj_description.py").write_text("raise OSError('no route to\\nhost')")
    monkeypatch.syspath_prepend(str(package.parent))
    for module in [name for name in sys.modules if name.startswith("robot_descriptions")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.chdir(tmp_path / "packages")
    return folder


@pytest.mark.parametrize("name", ["go2", "robot:go2", "robot:unitree_go2"])
def test_a_robot_is_opened_by_its_name_with_the_floor_beside_it(robots: Path, name: str) -> None:
    assert find_scene(name) == robots / "scene.xml"


def test_a_download_that_fails_is_one_line(robots: Path) -> None:
    with pytest.raises(SceneError, match=r"h1: robot_descriptions could not download it \(no route to host\)"):
        find_scene("h1")


def test_an_unknown_robot_is_one_line(robots: Path) -> None:
    with pytest.raises(SceneError, match="has no MJCF robot of that name"):
        find_scene("robot:nothing")
    with pytest.raises(SceneError, match="no such file"):
        find_scene("nothing")


def test_without_the_package_the_line_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    monkeypatch.setattr("contact_viewer.scene_files.scene.find_spec", lambda name: None)
    with pytest.raises(SceneError, match="pip install robot_descriptions"):
        find_scene("robot:go2")
