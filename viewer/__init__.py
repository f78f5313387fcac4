"""contact-viewer: see what a scene's contact sensors say.

The layers, each importing only from those below it:

    cli, scripting      command line; the viewer inside a user's program
    window              the application from its first frame to its last
    app                 the application, one frame at a time
    filming, reopening, inheriting    its recordings; the scenes it opens; what a scene leaves to the next
    recording           video and data files
    panels              what a person sees and clicks
    drawing, legend     what is drawn of a session, in the window and in recordings
    session             one open scene and what a person chose to see of it
    timeline, reasons   every step so far; what lies behind the arrays
    render              contacts to pixels
    engines             who steps the physics
    sensors             flat arrays to contacts
    settings, assets    choices; bundled files
"""

from typing import TYPE_CHECKING, Any

from .sensors.contacts import ContactBatch
from .sensors.events import ContactEvent, ContactEvents
from .sensors.layout import ContactLayout
from .sensors.touch import TouchSensor
from .version import __version__

if TYPE_CHECKING:
    from .engines.opening import open_engine
    from .scripting import launch, launch_passive

__all__ = [
    "ContactBatch",
    "ContactEvent",
    "ContactEvents",
    "ContactLayout",
    "TouchSensor",
    "__version__",
    "launch",
    "launch_passive",
    "open_engine",
]


def __getattr__(name: str) -> Any:
    # Decoding needs numpy alone: engines and windows are imported when they are first asked for.
    if name == "open_engine":
        from .engines.opening import open_engine

        return open_engine
    if name in ("launch", "launch_passive"):
        from . import scripting

        return getattr(scripting, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
