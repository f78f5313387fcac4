"""What may be done to the contact sensors of the scene that runs, and why not."""

from ..assets import is_bundled
from ..engines.mujoco.engine import MujocoEngine
from ..session import Session


def why_not_live(session: Session) -> str | None:
    """Why sensors cannot be made in the running scene; None if they can."""
    path = session.engine.path
    if session.stepped_outside or path is None:
        return "This model belongs to a program of its own and is left as it is: copy the element into its scene."
    if path.suffix.lower() == ".mjb":
        return "A compiled model cannot be changed: copy the element into its source."
    if not isinstance(session.batch, MujocoEngine) or session.ghost is not None:
        return "MotrixSim takes up new sensors only when it starts anew: save them into the file, and it is read again."
    return None


def why_not_saved(session: Session) -> str | None:
    """Why sensors cannot be written into the scene's file; None if they can."""
    path = session.engine.path
    if session.stepped_outside or path is None or path.suffix.lower() == ".mjb":
        return "There is no scene file to write into"
    if path.suffix.lower() == ".urdf":
        return "URDF has no sensors: copy the element into an MJCF file"
    if is_bundled(path):
        return "Bundled scenes stay as they are: copy the element into a scene of your own"
    return None
