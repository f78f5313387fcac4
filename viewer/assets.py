"""Finds the bundled shaders and scenes."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

DEFAULT_SCENE = "slope"


@dataclass(frozen=True)
class BundledScene:
    """A scene that ships with the package."""

    name: str
    path: Path
    description: str
    """Description in one sentence, from the comment on the file's first line."""
    control: Path | None
    """File of the controller for the scene, beside it; None if there is none."""


def shader_source(filename: str) -> str:
    """Return the text of a file in shaders/."""
    return files(f"{__package__}.shaders").joinpath(filename).read_text(encoding="utf-8")


def bundled_scenes() -> list[BundledScene]:
    """Return all bundled scenes, the default one first, then by name."""
    folder = Path(str(files(f"{__package__}.scenes")))
    scenes = [BundledScene(path.stem, path, _description(path), _control(path)) for path in folder.glob("*.xml")]
    return sorted(scenes, key=lambda scene: (scene.name != DEFAULT_SCENE, scene.name))


def bundled_scene(name: str) -> BundledScene | None:
    """Return the bundled scene of a name; None if there is none."""
    return next((scene for scene in bundled_scenes() if scene.name == name), None)


def is_bundled(path: Path | None) -> bool:
    """Return True if a file ships with the package, and so must not be changed."""
    return path is not None and path.resolve().is_relative_to(Path(str(files(f"{__package__}.scenes"))).resolve())


def bundled_control(path: Path | None) -> Path | None:
    """Return the controller that lies beside a bundled scene; None for scenes without one, and for a user's own
    scenes."""
    return _control(path) if path is not None and is_bundled(path) else None


def _control(path: Path) -> Path | None:
    beside = path.with_suffix(".py")
    return beside if beside.is_file() else None


def _description(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        first_line = file.readline().strip()
    return first_line.removeprefix("<!--").removesuffix("-->").strip()
