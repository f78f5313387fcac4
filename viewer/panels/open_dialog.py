"""Dialog that chooses a scene file."""

from pathlib import Path

from imgui_bundle import im_file_dialog

from ..session import Session

_KEY = "open scene"
_FILTER = "Scene (*.xml;*.mjcf;*.urdf;*.mjb){.xml,.mjcf,.urdf,.mjb},.*"
_RECENT_MAX = 10


def open_dialog(session: Session) -> None:
    """Show the dialog, beginning beside the running scene."""
    path = session.engine.path
    folder = path.parent if path is not None else Path.cwd()
    im_file_dialog.FileDialog.instance().open(_KEY, "Open a scene", _FILTER, False, str(folder))


def chosen_scene() -> str | None:
    """The file that was chosen, once. Call it once a frame: it also draws the dialog."""
    dialog = im_file_dialog.FileDialog.instance()
    if not dialog.is_done(_KEY):
        return None
    chosen = dialog.get_result().path() if dialog.has_result() else None
    dialog.close()
    return chosen


def remember_scene(session: Session) -> None:
    """Put the running scene first among the recent ones."""
    path = session.engine.path
    if path is not None:
        others = [line for line in session.settings.recent_scenes.splitlines() if line != str(path)]
        session.settings.recent_scenes = "\n".join([str(path), *others][:_RECENT_MAX])
