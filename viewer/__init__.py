"""contact-viewer: see what a scene's contact sensors say.

What a program can use; `help(contact_viewer.launch)` explains one of them:

    launch(scene)                    a window on a scene, until it is closed
    launch_passive(model, data)      a window on your own loop, which calls `sync` after every step
    launch_batch(model, num_envs)    a window on one environment of a batch, whichever engine steps it
    open_engine(scene)               a scene to step, and its contacts to read, without a window
    ContactLayout, ContactBatch      flat arrays of contact sensors to contacts
    ContactEvents, ContactEvent      when contacts begin and end
    TouchSensor                      what a touch sensor would report
    metrics                          contacts over time to times, slip, peaks and impulses
    sweep(scenes, seeds)             many runs to tables
    gymnasium.ContactViewer(env)     a window, films and contact events for environments

How it is built. A line imports only from the lines after it:

    gymnasium       Gymnasium's wrapper, under its public name
    cli             one file a command
    sweeps          many runs: one pure task, local workers, Ray, the report
    passive         the viewer inside a user's own program: launch, launch_passive, launch_batch
    window          the face: Hello ImGui, keys, layout; window/panels one file a panel
    app             what a person can do, without a toolkit: open and reload scenes, record
    recording       frames to video, steps to data files
    session         one open scene: simulation, history, what is drawn of it, choices
    events          steps to contact begins and ends
    render          glyphs to pixels
    engines         contract, registry; mujoco, motrix
    touch           contacts to what a touch sensor would report
    scene_files     any file to a scene that is safe to step
    mjmodel         what can be read off an mjModel and its mjData
    metrics         contacts over time to what rewards and reports are made of
    sensors         flat arrays to contacts: no engine; of numpy, torch and JAX
    files, standard_error, worker    complete files, captured output, processes that may crash
    settings, assets, version, errors
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from . import gymnasium as gymnasium
    from . import metrics
    from .engines.registry import open_engine
    from .events.contact_events import ContactEvent, ContactEvents
    from .passive.launch import launch, launch_batch, launch_passive
    from .sensors.contacts import ContactBatch
    from .sensors.layout import ContactLayout
    from .sweeps.sweep import sweep
    from .touch.device import TouchSensor

__all__ = [
    "ContactBatch",
    "ContactEvent",
    "ContactEvents",
    "ContactLayout",
    "TouchSensor",
    "__version__",
    "launch",
    "launch_batch",
    "launch_passive",
    "metrics",
    "open_engine",
    "sweep",
]
_HOMES = {
    "ContactBatch": ".sensors.contacts",
    "ContactEvent": ".events.contact_events",
    "ContactEvents": ".events.contact_events",
    "ContactLayout": ".sensors.layout",
    "TouchSensor": ".touch.device",
    "launch": ".passive.launch",
    "launch_batch": ".passive.launch",
    "launch_passive": ".passive.launch",
    "open_engine": ".engines.registry",
    "sweep": ".sweeps.sweep",
}
"""Where each public name is. Imported when it is first asked for: decoding needs numpy alone, and the command line
must be able to catch Ctrl-C before any library is loaded."""


def __getattr__(name: str) -> Any:
    if name in ("gymnasium", "metrics"):
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
