"""Says why sensors cannot be made in a running scene, or written into its file."""

from ..assets import is_bundled
from ..scene_files.scene import COMPILED
from ..session.session import Session


def why_not_live(session: Session) -> str | None:
    """Why sensors cannot be made in the running scene; None if they can."""
    path = session.engine.path
    if session.loop is not None and session.loop.makes_sensors:
        return None
    if session.stepped_outside or path is None:
        return "This model belongs to another program and is not changed: copy the element into its scene."
    if path.suffix.lower() in COMPILED:
        return "A compiled model cannot be changed: copy the element into its source."
    if not session.engine.can_edit_sensors or session.ghost is not None:
        return "MotrixSim takes new sensors only from the file: save them there, and it is opened again."
    return None


def why_not_saved(session: Session) -> str | None:
    """Why sensors cannot be written into the scene's file; None if they can."""
    path = session.engine.path
    if session.stepped_outside or path is None or path.suffix.lower() in COMPILED:
        return "There is no scene file to write into"
    if path.suffix.lower() == ".urdf":
        return "URDF has no sensors: copy the element into an MJCF file"
    if is_bundled(path):
        return "Bundled scenes stay as they are: copy the element into a scene of your own"
    return None
